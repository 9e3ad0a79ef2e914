import { Effect, Layer } from "effect"
import type { CloseInput, RunRef } from "../../src/Platform.js"
import { Platform } from "../../src/Platform.js"
import * as Reporter from "../../src/Reporter.js"
import * as Scheduler from "../../src/Scheduler.js"
import * as Spool from "../../src/Spool.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import { metadata } from "./reporter.js"

/** Runs are recorded nowhere. */
export const unrecorded = Layer.merge(Scheduler.layer, Reporter.layerNoIngest)

/** Runs are recorded in a store of their own, which the test can ask. */
export const recorded = Layer.merge(
  Scheduler.layer,
  Layer.provideMerge(
    Layer.provide(Reporter.layerWith({ metadata: Effect.succeed(metadata) }), Spool.layerMemory),
    SqlPlatform.layerMemory
  )
)

/** Like {@link recorded}, with operations of the platform replaced. */
export const recordedOn = (
  replace: (platform: Platform["Type"]) => Partial<Platform["Type"]>,
  options: Reporter.ReporterOptions = {}
) => {
  const layerReplaced = Layer.effect(
    Platform,
    Effect.map(Platform, (platform) => ({ ...platform, ...replace(platform) }))
  )
  return Layer.merge(
    Scheduler.layer,
    Layer.provideMerge(
      Layer.provide(Reporter.layerWith({ metadata: Effect.succeed(metadata), ...options }), Spool.layerMemory),
      Layer.provide(layerReplaced, SqlPlatform.layerMemory)
    )
  )
}

export interface Closed extends Omit<CloseInput, "attemptId"> {
  readonly how: "completeWorker" | "failWorker" | "releaseWorker"
  readonly participant: string
}

/** Notes how each worker is closed. */
export const watchClosing =
  (into: Array<Closed>) =>
  (platform: Platform["Type"]): Partial<Platform["Type"]> => {
    const watched =
      (how: Closed["how"]): Platform["Type"][typeof how] =>
      (ref, { attemptId, ...reason }) =>
        Effect.suspend(() => {
          into.push({ how, participant: ref.participant, ...reason })
          return platform[how](ref, { attemptId, ...reason })
        })
    return {
      completeWorker: watched("completeWorker"),
      failWorker: watched("failWorker"),
      releaseWorker: watched("releaseWorker")
    }
  }

/** The only run that is recorded. */
export const onlyRun: Effect.Effect<RunRef, never, Platform> = Effect.gen(function* () {
  const platform = yield* Platform
  const runs = yield* Effect.orDie(platform.listAllRuns({}))
  const [run] = runs
  if (run === undefined || runs.length > 1) return yield* Effect.dieMessage(`${runs.length} runs are recorded`)
  return { benchmark: run.benchmarkSlug ?? "", run: run.id }
})

/** Name, status and progress of each participant's only worker. */
export const workersOf = (ref: RunRef) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    return yield* Effect.forEach(yield* platform.listParticipants(ref), ({ slug }) =>
      Effect.map(platform.listWorkers({ ...ref, participant: slug }), (workers) => [
        slug,
        ...workers.map(({ progressDone, status }) => `${status} ${progressDone}`)
      ])
    )
  })

/** Task index and data of every stored task, by participant. */
export const stored = Effect.gen(function* () {
  const platform = yield* Platform
  const items = yield* platform.iterations(yield* onlyRun, {})
  return items.map(({ data, participantSlug, status, taskIndex }) => ({ participantSlug, taskIndex, status, data }))
})
