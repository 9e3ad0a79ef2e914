/**
 * `bench report RUN`
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { RunAnalysis } from "../Analysis.js"
import * as Analysis from "../Analysis.js"
import { verdictsOf } from "../internal/report/verdicts.js"
import type { Format, ReportOptions } from "../Report.js"
import * as Report from "../Report.js"
import { CliError } from "./CliError.js"
import { say } from "./output.js"
import { Stdout, writeFile, writeStdout } from "./outputFile.js"
import { resolveRun } from "./resolveRun.js"
import { lines, oneLine, plural } from "./text.js"

export interface ReportCommandOptions {
  readonly run: string | undefined
  readonly benchmark: string | undefined
  /** A file, which is replaced when it exists, or `-` for stdout. Default: stdout, and for a page `SLUG-ID.html`. */
  readonly out: string | undefined
  /** Default: what the name of the file ends with, else `html`. */
  readonly format: Format | undefined
}

/** Writes what a run found, for people or for other programs. */
export const report = Effect.fnUntraced(function* (options: ReportCommandOptions) {
  const format = options.format ?? (yield* formatOf(options.out))
  const { benchmark, run } = yield* resolveRun(options.benchmark, options.run)
  if (run.status === "planned" || run.status === "in_progress") {
    yield* say(`Run ${run.id} has not ended: this is what it has recorded so far.`)
  }
  const data = yield* Analysis.load({ benchmark, run: run.id })
  const analysis = Analysis.make(data)
  const text = yield* render(format, analysis, {
    generatedAt: DateTime.formatIso(yield* DateTime.now),
    gates: verdictsOf(data, analysis.participants)
  })
  const file = options.out ?? (format === "html" ? pageName(benchmark, run.id) : "-")
  if (file === "-") {
    const { isTerminal } = yield* Stdout
    yield* writeStdout(Stream.encodeText(Stream.make(isTerminal ? lines(text) : text)))
    return
  }
  const bytes = yield* writeFile({ file, overwrite: true, content: Stream.encodeText(Stream.make(text)) })
  yield* say(`Wrote the report of run ${run.id} to ${oneLine(file)} (${plural(bytes, "byte")}).`)
})

/** The formats by the names that they have on the command line. */
export const formats = {
  html: "html",
  md: "markdown",
  json: "json",
  csv: "csv",
  junit: "junit"
} as const satisfies Readonly<Record<string, Format>>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const render = (format: Format, analysis: RunAnalysis, options: ReportOptions): Effect.Effect<string> => {
  switch (format) {
    case "html":
      return Report.html(analysis, options)
    case "csv":
      return Effect.sync(() => Report.csv(analysis))
    default:
      return Effect.sync(() => Report[format](analysis, options))
  }
}

const endings: ReadonlyMap<string, Format> = new Map<string, Format>([
  ["html", "html"],
  ["htm", "html"],
  ["md", "markdown"],
  ["markdown", "markdown"],
  ["json", "json"],
  ["csv", "csv"],
  ["junit", "junit"],
  ["xml", "junit"]
])

const formatOf = (file: string | undefined): Effect.Effect<Format, CliError> => {
  if (file === undefined || file === "-") return Effect.succeed("html")
  const [, ending = ""] = /\.([^./\\]+)$/.exec(file) ?? []
  const format = endings.get(ending.toLowerCase())
  return format === undefined
    ? Effect.fail(
        new CliError({
          detail: `${oneLine(file)} does not say its format: end it in .html, .md, .json, .csv or .xml, or pass --format.`
        })
      )
    : Effect.succeed(format)
}

const pageName = (benchmark: string, run: string): string =>
  `${benchmark.replace(/[^\w-]+/g, "-")}-${run.replace(/[^\w-]+/g, "").slice(0, 8)}.html`
