/** HTML and XML that text cannot break out of: what is interpolated is escaped, unless it is markup itself. */

export class Markup {
  constructor(readonly text: string) {}
}

export type Content = Markup | string | number | undefined | ReadonlyArray<Content>

export const nothing = new Markup("")

/** Content of elements, and of attributes in double quotes. Lists are joined; `undefined` is nothing. */
export const markup = (parts: TemplateStringsArray, ...content: ReadonlyArray<Content>): Markup =>
  build(parts, content, escapeText)

/** As {@link markup}, without the characters that XML 1.0 cannot hold. */
export const xml = (parts: TemplateStringsArray, ...content: ReadonlyArray<Content>): Markup =>
  build(parts, content, (text) => escapeText(text.replace(notXml, "\ufffd")))

/** What is markup already and comes from this program. */
export const raw = (text: string): Markup => new Markup(text)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Escape = (text: string) => string

const build = (parts: ReadonlyArray<string>, content: ReadonlyArray<Content>, escape: Escape): Markup => {
  let text = parts[0] ?? ""
  content.forEach((value, i) => {
    text += render(value, escape) + (parts[i + 1] ?? "")
  })
  return new Markup(text)
}

const render = (content: Content, escape: Escape): string => {
  if (content === undefined) return ""
  if (content instanceof Markup) return content.text
  return typeof content === "object" ? content.map((item) => render(item, escape)).join("") : escape(String(content))
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const escapeText: Escape = (text) => text.replace(/[&<>"']/g, (character) => escapes[character] ?? "")

const notXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
