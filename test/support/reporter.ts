import { Effect, Logger, Schedule } from "effect"
import type { TaskRecord } from "../../src/Record.js"
import type { ReporterOptions, RunPlan, RunReporter, WorkerReporter, WorkerSource } from "../../src/Reporter.js"
import * as Reporter from "../../src/Reporter.js"
import type { RunMetadata } from "../../src/RunMetadata.js"
import * as Spool from "../../src/Spool.js"
import { WorkerLog } from "../../src/WorkerLog.js"
import type { FakePlatform } from "./fakePlatform.js"

export const runPlan: RunPlan = {
  benchmarkSlug: "demo",
  benchmarkName: "Demo",
  identityIsOurs: true,
  benchmarkConfig: { scoring: { metrics: [] } },
  runConfig: { iterations: 100 },
  runKey: undefined,
  participants: ["alpha", "beta"],
  tasksPerParticipant: 100
}

export const record = (taskIndex: number, status = "success"): TaskRecord => ({
  taskIndex,
  status,
  latencyMs: taskIndex
})

export const records = (count: number, from = 0) => Array.from({ length: count }, (_, i) => record(from + i))

export const metadata: RunMetadata = {
  gitSha: "abc",
  triggeredBy: "manual",
  nodeVersion: "v20.19.0",
  platform: "linux",
  arch: "x64",
  cpuCount: 2,
  memoryBytes: 1024,
  container: "none",
  packageName: "effect-bench"
}

export const openRun = (platform: FakePlatform, options: ReporterOptions = {}, plan: RunPlan = runPlan) =>
  Effect.flatMap(Reporter.make({ metadata: Effect.succeed(metadata), ...options }), (reporter) =>
    reporter.openRun(plan)
  ).pipe(Effect.provide([platform.layer, Spool.layerMemory]))

/** One task at a time, and nothing in the log. */
export const source: WorkerSource = { log: new WorkerLog(), concurrency: () => 1 }

export const workerRef = { benchmark: "demo", run: "run-id", participant: "alpha", worker: "worker-id" }

/** Uses the worker of `alpha` for as long as `use` takes, and closes it with its exit. */
export const withWorker = <A, E>(
  platform: FakePlatform,
  options: ReporterOptions,
  use: (worker: WorkerReporter, run: RunReporter) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const run = yield* openRun(platform, options)
    const result = yield* Effect.scoped(
      Effect.gen(function* () {
        const worker = yield* run.openWorker("alpha", source)
        return yield* worker === undefined ? Effect.dieMessage("no worker to claim") : use(worker, run)
      })
    )
    return { result, undelivered: yield* run.undelivered }
  })

export const recordAll = (worker: WorkerReporter, all: ReadonlyArray<TaskRecord>) =>
  Effect.forEach(all, worker.record, { discard: true })

/** Size, number and finality of every batch that was sent. */
export const sent = (platform: FakePlatform) =>
  platform.inputs("sendTaskResults").map((input) => {
    const [, batch] = Array.isArray(input) ? input : []
    return [batch.sequenceNumber, batch.records.length, batch.isFinal]
  })

export const retries = (times: number) => Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(times))

export const withoutLogs = Effect.provide(Logger.remove(Logger.defaultLogger))

const closing = ["completeWorker", "failWorker", "releaseWorker"] as const

export const closes = (platform: FakePlatform) =>
  platform.calls.flatMap(({ input, operation }) =>
    closing.some((name) => name === operation) && Array.isArray(input) ? [[operation, input[1]]] : []
  )

export const completed = [["completeWorker", { attemptId: "attempt-id" }]]
