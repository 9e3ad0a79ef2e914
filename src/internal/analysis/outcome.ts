/** Judging a run in the process that runs it. */
import * as Effect from "effect/Effect"
import type { Outcome } from "../../Benchmark.js"
import { RunListener } from "../../RunEvent.js"
import type { Options } from "./judge.js"
import { judge } from "./judge.js"
import type { Measurements } from "./measurements.js"
import type { Judgement } from "./model.js"

/** The measurements are those of the run's records. */
export const judgeOutcome = (measurements: Measurements, outcome: Outcome, options?: Options): Judgement => {
  const { config: resolved, participants, rows } = outcome
  const { display, scoring } = resolved.config
  return judge(
    measurements,
    {
      benchmark: { slug: resolved.benchmarkSlug, name: resolved.benchmarkName },
      participants: participants.map(({ participant }) => participant),
      rows,
      summary: undefined,
      scoring,
      display,
      config: { staggerDelayMs: resolved.staggerDelayMs, groupBy: resolved.groupBy },
      progress: undefined
    },
    options
  )
}

/** Takes the records of the runs within, besides whoever else listens to them. */
export const measuring =
  (measurements: Measurements) =>
  <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(RunListener, (others) =>
      Effect.provideService(run, RunListener, (event) => {
        if (event._tag === "TaskCompleted") measurements.add(event.participant, event.record, event.record.steps)
        others?.(event)
      })
    )
