/**
 * How text for people looks: colours, signs and width, as far as their terminal can show them.
 */
import * as Terminal from "@effect/platform/Terminal"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import { Stdout } from "./outputFile.js"

type Paint = (text: string) => string

export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly yellow: Paint
  readonly green: Paint
  readonly signs: Signs
  /** Columns of the terminal; undefined when lines may be as long as they are. */
  readonly columns: number | undefined
}

/** What is not a letter or a digit. */
export interface Signs {
  readonly absent: string
  readonly cut: string
  readonly times: string
  /** Between the ends of a range. */
  readonly to: string
  /** A bar by its height in eighths, from 1 to 8. */
  readonly bars: ReadonlyArray<string>
  readonly box: {
    readonly start: string
    readonly line: string
    readonly half: string
    readonly middle: string
    readonly end: string
  }
}

const unicode: Signs = {
  absent: "–",
  cut: "…",
  times: "×",
  to: "–",
  bars: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
  box: { start: "├", line: "─", half: "▒", middle: "█", end: "┤" }
}

const ascii: Signs = {
  absent: "-",
  cut: "...",
  times: "x",
  to: " to ",
  bars: [".", ".", ":", ":", "+", "+", "#", "#"],
  box: { start: "|", line: "-", half: "=", middle: "#", end: "|" }
}

const asItIs: Paint = (text) => text

/** For pipes and files: no colours, lines as long as they are. */
export const plain: Style = {
  bold: asItIs,
  dim: asItIs,
  red: asItIs,
  yellow: asItIs,
  green: asItIs,
  signs: unicode,
  columns: undefined
}

/** {@link plain} where nothing but ASCII can be shown. */
export const plainAscii: Style = { ...plain, signs: ascii }

const paint =
  (start: number, end: number): Paint =>
  (text) =>
    text === "" ? text : `\u001b[${start}m${text}\u001b[${end}m`

/** Colours of terminals, and lines that are broken where they would be too long. */
export const coloured = (columns: number | undefined): Style => ({
  ...plain,
  bold: paint(1, 22),
  dim: paint(2, 22),
  red: paint(31, 39),
  yellow: paint(33, 39),
  green: paint(32, 39),
  columns
})

/**
 * What stdout is to be written like. Without a terminal, or with `CI` or `NO_COLOR` set, there are no colours; lines are
 * broken on a terminal outside of CI. ASCII where `TERM` is `dumb` or the locale names another encoding than UTF-8.
 */
export const style: Effect.Effect<Style, never, Terminal.Terminal> = Effect.gen(function* () {
  const { isTerminal } = yield* Stdout
  const isForPeople = isTerminal && (yield* variable("CI")) === ""
  const locale = (yield* variable("LC_ALL")) || (yield* variable("LC_CTYPE")) || (yield* variable("LANG"))
  const isDumb = (yield* variable("TERM")) === "dumb"
  const width = yield* (yield* Terminal.Terminal).columns
  const columns = isForPeople && width > 0 ? Math.max(narrowest, width) : undefined
  const hasColours = isForPeople && !isDumb && (yield* variable("NO_COLOR")) === ""
  const isAscii = isDumb || (locale !== "" && !/utf-?8/i.test(locale))
  return { ...(hasColours ? coloured(columns) : plain), columns, signs: isAscii ? ascii : unicode }
})

/** Columns below which nothing can be laid out. */
const narrowest = 40

const variable = (name: string): Effect.Effect<string> => Effect.orElseSucceed(Config.string(name), () => "")
