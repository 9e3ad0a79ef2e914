/**
 * A run judged: distributions with intervals, ranks with ties, scores taken apart, failures grouped, and warnings about the
 * numbers in words. What every view of a run shows.
 *
 * ```ts
 * import { Analysis } from "effect-bench"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const data = yield* Analysis.load({ benchmark: "kv-roundtrip", run: "0198…" })
 *   const { participants, rankedBy, warnings } = Analysis.make(data)
 *   return { best: participants.filter(({ rank }) => rank === 1).map(({ name }) => name), rankedBy, warnings }
 * })
 * ```
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Outcome } from "./Benchmark.js"
import type { ScoringConfig } from "./Config.js"
import type { Options } from "./internal/analysis/judge.js"
import { judge } from "./internal/analysis/judge.js"
import * as Load from "./internal/analysis/load.js"
import { Measurements } from "./internal/analysis/measurements.js"
import type { Judgement, RunAnalysis, RunData } from "./internal/analysis/model.js"
import { judgeOutcome } from "./internal/analysis/outcome.js"
import type { Platform, PlatformError, RunRef, SummaryRow } from "./Platform.js"
import * as Scoring from "./Scoring.js"

export * from "./internal/analysis/model.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface AnalysisOptions extends Options {}

/**
 * Reads everything that is stored about a run, all of its tasks and steps included. Fails with `ResourceNotFound` when
 * there is no such run.
 *
 * @since 0.1.0
 * @category constructors
 */
export const load: (ref: RunRef) => Effect.Effect<RunData, PlatformError, Platform> = Load.load

/**
 * Judges a stored run. A run that has no summary, or none of some participant, is scored from its tasks.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (data: RunData, options?: AnalysisOptions): RunAnalysis => {
  const { benchmark, display, run, scoring, summary } = data
  const measurements = new Measurements(scoring, display)
  for (const task of data.tasks) measurements.add(task.participantSlug, task)
  for (const step of data.steps) {
    if (step.stepName !== undefined) measurements.addStep(step.participantSlug, step.taskIndex, step.stepName, step)
  }
  const judgement = judge(
    measurements,
    {
      benchmark,
      participants: data.participants,
      rows: rowsOf(data),
      summary,
      scoring,
      display,
      config: run.config,
      workerCounts: data.workerCounts,
      progress: run
    },
    options
  )
  return { ...judgement, run }
}

/**
 * Judges what a run in this process found out, recorded or not. Needs its records: run it with `keepRecords`. Of a run that
 * several processes share, it is this one's part.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromOutcome = (outcome: Outcome, options?: AnalysisOptions): Judgement => {
  const { display, scoring } = outcome.config.config
  const measurements = new Measurements(scoring, display)
  for (const { participant, records } of outcome.participants) {
    for (const record of records) measurements.add(participant, record, record.steps)
  }
  return judgeOutcome(measurements, outcome, options)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The stored rows, and those of participants that have none there. */
const rowsOf = ({ display, scoring, summary, tasks }: RunData): ReadonlyArray<SummaryRow> | undefined => {
  const stored = summary?.results ?? []
  if (scoring === undefined) return summary?.results
  const known = new Set(stored.map(({ provider }) => provider))
  const rest = tasks.filter(({ participantSlug }) => !known.has(participantSlug))
  return rest.length === 0 && summary !== undefined ? stored : [...stored, ...score(rest, scoring, display)]
}

const score = (
  tasks: RunData["tasks"],
  scoring: ScoringConfig,
  display: RunData["display"]
): ReadonlyArray<SummaryRow> => {
  const accumulator = Scoring.accumulator(Scoring.scoringConfigToSpec(scoring, undefined, display))
  if (Either.isLeft(accumulator)) return []
  const participants = new Set<string>()
  for (const { participantSlug, ...task } of tasks) {
    participants.add(participantSlug)
    accumulator.right.add(participantSlug, task)
  }
  return accumulator.right.rows([...participants])
}
