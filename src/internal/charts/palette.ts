/** Colours of charts: custom properties of the page around them, so that one drawing serves both themes. */

interface Theme {
  readonly text: string
  readonly muted: string
  readonly rule: string
  readonly surface: string
  readonly accent: string
  /** Areas under or between what is drawn in the accent. */
  readonly soft: string
  readonly bad: string
  /** Told apart by people with any of the usual colour-vision deficiencies. */
  readonly series: readonly [string, string, string, string, string, string]
}

export const light: Theme = {
  text: "#1b2129",
  muted: "#56606c",
  rule: "#dde2e8",
  surface: "#ffffff",
  accent: "#0e4ea3",
  soft: "#c9daf1",
  bad: "#b3261e",
  series: ["#0e4ea3", "#db761b", "#07a76a", "#8c406c", "#574f10", "#0c0b29"]
}

export const dark: Theme = {
  text: "#e6eaef",
  muted: "#9ba7b4",
  rule: "#2c343d",
  surface: "#11151a",
  accent: "#6aa8f8",
  soft: "#23406b",
  bad: "#ff8a80",
  series: ["#4d94ff", "#d84b11", "#18d286", "#b7558e", "#f6cf11", "#d1ddeb"]
}

/** How many colours {@link seriesColour} has before it begins again. */
export const seriesCount = light.series.length

const variable = (name: string, fallback: string): string => `var(--chart-${name},${fallback})`

/** What charts are painted with. Outside a page that has {@link properties} they are light. */
export const paint = {
  text: variable("text", light.text),
  muted: variable("muted", light.muted),
  rule: variable("rule", light.rule),
  surface: variable("surface", light.surface),
  accent: variable("accent", light.accent),
  soft: variable("soft", light.soft),
  bad: variable("bad", light.bad)
} as const

export const seriesColour = (index: number): string => {
  const place = index % seriesCount
  return variable(`series-${place + 1}`, light.series[place] ?? light.accent)
}

/** The custom properties of a theme, as declarations of CSS. */
export const properties = ({ series, ...colours }: Theme): string =>
  [
    ...Object.entries(colours).map(([name, value]) => `--chart-${name}:${value}`),
    ...series.map((value, i) => `--chart-series-${i + 1}:${value}`)
  ].join(";")
