/**
 * `bench worker FILE --run ID --participant NAME`: takes workers of a run that was started elsewhere.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RunWorkerOptions, WorkerRunOutcome } from "../Benchmark.js"
import * as Benchmark from "../Benchmark.js"
import { Platform } from "../Platform.js"
import type { BenchFile } from "./benchFile.js"
import { choose, layerPlatform } from "./destination.js"
import { ExitWith, json, say } from "./output.js"
import * as Project from "./project.js"
import { resolveRun } from "./resolveRun.js"
import { asJson, didNothingSucceed, layerFailure, layerReporter, overrides, prepare } from "./run.js"
import type { RunFlags } from "./runFlags.js"
import { workerFlagTable } from "./runFlags.js"
import { oneLine, plural } from "./text.js"
import { UsageError } from "./UsageError.js"
import { watching, withLogFormat } from "./watch.js"

/** How long to wait before asking again whether there is work. */
const pause = "5 seconds"

/** Runs what the arguments after `bench worker` ask for. */
export const worker = (argv: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { bench, flags } = yield* prepare(argv, workerFlagTable)
    const { taken } = yield* withLogFormat(flags)(take(bench, flags))
    if (didNothingSucceed(taken.map(({ participant }) => participant))) return yield* new ExitWith({ code: 1 })
  })

/** Takes workers as the flags say, says how it goes, and gives what each of them did, with the id of the run. */
export const take = Effect.fnUntraced(function* (
  bench: BenchFile,
  flags: RunFlags,
  settings: Pick<RunWorkerOptions, "keepRecords"> = {}
) {
  const { participant, run } = flags
  if (run === undefined || participant === undefined) {
    return yield* new UsageError({
      detail: `${run === undefined ? "--run" : "--participant"} is missing: bench worker FILE --run ID --participant NAME`
    })
  }
  const project = yield* Project.settings(flags.config)
  const destination = yield* choose(flags, project)
  const platform = layerPlatform(destination, "write")
  return yield* work(bench, flags, { ...(yield* overrides(flags, project)), ...settings, run, participant }).pipe(
    Effect.provide(Layer.merge(platform, layerReporter("bench worker", destination)))
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const work = Effect.fnUntraced(function* (bench: BenchFile, flags: RunFlags, options: RunWorkerOptions) {
  const slug = yield* Benchmark.slugOf(bench.benchmark, options)
  const { run } = yield* resolveRun(slug, options.run)
  const platform = yield* Platform
  const ref = { benchmark: slug, run: run.id }
  const taken: Array<WorkerRunOutcome> = []
  const next = (outcome: WorkerRunOutcome | undefined) =>
    Effect.gen(function* () {
      if (outcome !== undefined) {
        taken.push(outcome)
        yield* sayOutcome(outcome, flags)
        return flags.forever === true
      }
      if (flags.forever !== true) return false
      const { status } = yield* platform.getRun(ref)
      if (status === "completed" || status === "failed") return false
      yield* Effect.sleep(pause)
      return true
    })
  yield* watching(
    flags,
    Effect.mapError(Benchmark.runWorkers(bench.benchmark, { ...options, run: run.id }, next), layerFailure(bench))
  )
  if (asJson(flags)) yield* json({ runId: run.id, workers: taken.map(toJson) })
  if (taken.length === 0) {
    yield* say(`No worker of participant "${oneLine(options.participant)}" is left to claim in run ${run.id}.`)
  }
  if (didNothingSucceed(taken.map(({ participant }) => participant))) yield* say("No task succeeded.")
  return { runId: run.id, taken }
})

const sayOutcome = ({ participant, worker }: WorkerRunOutcome, flags: RunFlags) =>
  flags.quiet === true
    ? Effect.void
    : say(
        `Worker ${worker.workerIndex + 1} of ${oneLine(participant.participant)} (tasks ${worker.taskRange.start} to ${worker.taskRange.end}, attempt ${worker.attemptNumber}): ${plural(participant.taskCount, "task")}, ${participant.errorCount} failed.`
      )

const toJson = ({ participant: { log: _log, records: _records, ...participant }, worker }: WorkerRunOutcome) => ({
  ...worker,
  ...participant
})
