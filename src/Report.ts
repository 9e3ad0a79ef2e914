/**
 * Reports: a judged run as a page, as Markdown, and for other programs. Every function takes the analysis and gives text;
 * whatever names, units and messages hold, it is only text in what comes out.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { RunAnalysis } from "./Analysis.js"
import type { Verdict } from "./Gates.js"
import { csv as csvOf } from "./internal/report/csv.js"
import * as ReportDocument from "./internal/report/document.js"
import { junit as junitOf } from "./internal/report/junit.js"
import { markdown as markdownOf } from "./internal/report/markdown.js"

/**
 * What a report says besides the analysis.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReportOptions {
  /** When the report was made, ISO-8601. Default: it does not say. */
  readonly generatedAt?: string | undefined
  /** The gates that the run was measured by. Default: none. */
  readonly gates?: ReadonlyArray<Verdict> | undefined
}

/**
 * The formats that there are.
 *
 * @since 0.1.0
 * @category models
 */
export type Format = "html" | "markdown" | "json" | "csv" | "junit"

/**
 * One page that needs no network and no script, for screens of any size, light and dark, and for print. Charts are drawn
 * of fewer samples where there are more than one could see; numbers never are.
 *
 * An effect because the chart library is loaded when the first chart is drawn.
 *
 * @since 0.1.0
 * @category constructors
 */
export const html = (analysis: RunAnalysis, options: ReportOptions = {}): Effect.Effect<string> =>
  Effect.promise(async () => {
    const [{ page }, { draw }] = await Promise.all([
      import("./internal/report/page.js"),
      import("./internal/charts/engine.js")
    ])
    return page(analysis, { ...settled(options), draw })
  })

/**
 * GitHub-flavoured Markdown. Nothing in it mentions anybody or links anywhere.
 *
 * @since 0.1.0
 * @category constructors
 */
export const markdown = (analysis: RunAnalysis, options: ReportOptions = {}): string =>
  markdownOf(analysis, settled(options))

/**
 * The samples as CSV (RFC 4180), one row per task: `participant`, `taskIndex`, `passed`, `phase`, `startedAfterMs`, and a
 * column per metric, called by its key. A task that measured several values of a metric has a row for each of them. Text
 * has no control characters, and one that a spreadsheet would run as a formula gets an apostrophe before it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const csv = (analysis: RunAnalysis): string => csvOf(analysis)

/**
 * JUnit XML: a suite per participant with one case for its tasks, one per metric and one per gate. Tasks that failed and
 * gates that are violated are failures; where a gate says how many tasks may fail, it decides.
 *
 * @since 0.1.0
 * @category constructors
 */
export const junit = (analysis: RunAnalysis, options: ReportOptions = {}): string =>
  junitOf(analysis, settled(options).gates)

/**
 * A {@link Document} as JSON text. Angle brackets and what terminals act on are escaped, so it can be printed and embedded.
 *
 * @since 0.1.0
 * @category constructors
 */
export const json = (analysis: RunAnalysis, options: ReportOptions = {}): string =>
  ReportDocument.documentText(ReportDocument.documentOf(analysis, settled(options)))

/**
 * What {@link json} writes: the analysis without the samples, which {@link csv} has. What there is not is null; numbers are
 * finite and have all their digits.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Document: Schema.Schema<Document> = ReportDocument.Document

/**
 * A report for other programs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Document extends ReportDocument.Document {}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const settled = (
  options: ReportOptions
): { readonly generatedAt: string | undefined; readonly gates: ReadonlyArray<Verdict> } => ({
  generatedAt: options.generatedAt,
  gates: options.gates ?? []
})
