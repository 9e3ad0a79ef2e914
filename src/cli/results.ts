/**
 * `bench results SLUG`
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Display, ScoringConfig } from "../Config.js"
import { BenchmarkConfig } from "../Config.js"
import type { RunResults, RunSummary } from "../Platform.js"
import { Platform } from "../Platform.js"
import { json, print } from "./output.js"
import { resolveRun } from "./resolveRun.js"
import type { ResultView } from "./summary.js"
import { render } from "./summary.js"
import { absent, number, percent, table } from "./text.js"

export interface ResultsOptions {
  readonly benchmark: string | undefined
  readonly run: string | undefined
  readonly json: boolean
}

/** Counts, latencies and the scored summary of a run. */
export const show = Effect.fnUntraced(function* (options: ResultsOptions) {
  const platform = yield* Platform
  const { benchmark, run } = yield* resolveRun(options.benchmark, options.run)
  const ref = { benchmark, run: run.id }
  const results = yield* platform.runResults(ref)
  const summary = yield* platform
    .getSummary(ref)
    .pipe(Effect.catchTag("ResourceNotFound", () => Effect.succeed(undefined)))
  if (options.json) return yield* json({ ...results, summary: summary ?? null })
  yield* print(render(toView(results, summary)))
  if (results.steps.length > 0) yield* print(`\nSteps:\n${stepTable(results)}`)
  yield* print(`\nRun ${run.id}, ${run.status}, ${run.createdAt}`)
})

const stepTable = ({ steps }: RunResults): string =>
  table(
    [
      { title: "participant" },
      { title: "step" },
      { title: "count", align: "right" },
      { title: "success", align: "right" },
      { title: "p50 (ms)", align: "right" },
      { title: "p95", align: "right" },
      { title: "p99", align: "right" },
      { title: "max", align: "right" }
    ],
    steps.map(({ latencyMs, participantSlug, stepCount, stepName, successRate }) => [
      participantSlug,
      stepName,
      String(stepCount),
      successRate === null ? absent : percent(successRate),
      ...[latencyMs.p50, latencyMs.p95, latencyMs.p99, latencyMs.max].map((value) =>
        value === null ? absent : number(value)
      )
    ])
  )

const toView = ({ benchmark, participants }: RunResults, summary: RunSummary | undefined): ResultView => {
  const { display, scoring } = manifest(benchmark.slug, benchmark.config)
  return {
    title: `${benchmark.name} (${benchmark.slug})`,
    participants: participants.map(({ latencyMs, participantSlug, successCount, taskCount }) => ({
      name: participantSlug,
      count: taskCount,
      successCount,
      latencyMs,
      errors: []
    })),
    rows: summary?.results,
    scoring,
    display,
    notes: []
  }
}

const isConfig = Schema.is(BenchmarkConfig)

/** How the stored benchmark says to show its results; nothing when it says nothing that can be followed. */
const manifest = (
  slug: string,
  config: { readonly [key: string]: unknown } | null | undefined
): { readonly display: Display | undefined; readonly scoring: ScoringConfig | undefined } => {
  const candidate: unknown = {
    benchmarkSlug: slug,
    benchmarkName: slug,
    participants: [{ name: slug }],
    display: config?.["display"],
    scoring: config?.["scoring"],
    onScore: () => []
  }
  return isConfig(candidate)
    ? { display: candidate.display, scoring: candidate.scoring }
    : { display: undefined, scoring: undefined }
}
