/**
 * `bench results SLUG`
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Analysis from "../Analysis.js"
import { Platform } from "../Platform.js"
import { json, print } from "./output.js"
import { resolveRun } from "./resolveRun.js"
import { style } from "./style.js"
import { render } from "./summary.js"

export interface ResultsOptions {
  readonly benchmark: string | undefined
  readonly run: string | undefined
  readonly json: boolean
}

/** A run judged by everything that is stored about it. */
export const show = Effect.fnUntraced(function* (options: ResultsOptions) {
  const platform = yield* Platform
  const { benchmark, run } = yield* resolveRun(options.benchmark, options.run)
  const ref = { benchmark, run: run.id }
  const data = yield* Analysis.load(ref)
  const analysis = Analysis.make(data)
  if (options.json) {
    const results = yield* platform.runResults(ref)
    return yield* json({ ...results, summary: data.summary ?? null, analysis: withoutPoints(analysis) })
  }
  const skipped = analysis.participants.flatMap(({ name, skipped }) => (skipped ? [`${name} has no tasks`] : []))
  yield* Console.log(render({ analysis, notes: skipped }, yield* style))
  yield* print(`\nRun ${run.id}, ${run.status}, ${run.createdAt}`)
})

/** Single values are in what `bench iterations` and `bench export` give; the run is there already. */
const withoutPoints = ({ run: _, ...analysis }: Analysis.RunAnalysis) => ({
  ...analysis,
  participants: analysis.participants.map((participant) => ({
    ...participant,
    metrics: participant.metrics.map(({ distribution, key, total }) => ({ key, total, distribution }))
  }))
})
