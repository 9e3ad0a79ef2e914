/** SVG as the chart library writes it, made fit to stand in a page. */

/**
 * Without what is meant for interaction, and with ids of its own: those of the library are counted over all charts that
 * the process has drawn. Only markup is changed; text is escaped in it, so it has no angle brackets.
 */
export const normalised = (svg: string, id: string): string => {
  const names = new Map<string, string>()
  const own = (name: string): string => {
    const known = names.get(name)
    if (known !== undefined) return known
    const made = `${id}-${names.size + 1}`
    names.set(name, made)
    return made
  }
  return svg
    .replace(/<style\b[^>]*>[\s\S]*?<\/style>/g, "")
    .replace(/<[^>]+>/g, (tag) =>
      tag
        .replace(/ (?:class|xmlns:xlink|version|baseProfile|pointer-events|ecmeta_\w+)="[^"]*"/g, "")
        .replace(/ id="([^"]*)"/g, (_, name: string) => ` id="${own(name)}"`)
        .replace(/url\(#([^)"]*)\)/g, (_, name: string) => `url(#${own(name)})`)
        .replace(/^<svg width="\d+" height="\d+"/, `<svg aria-hidden="true" focusable="false"`)
    )
    .replace(/^(<svg[^>]*>)\s*<rect [^>]*fill="none"[^>]*><\/rect>/, "$1")
    .replace(/>\s*\n\s*</g, "><")
}
