/** A worker that runs an async task, on the engine that every task runs on. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Assignment } from "../../Platform.js"
import { Reporter, UndeliveredResults } from "../../Reporter.js"
import * as Worker from "../../Worker.js"
import { fromFunction } from "../promiseTask.js"
import { asApiError } from "./client.js"
import type { WorkerClient } from "./reporting.js"
import * as Reporting from "./reporting.js"
import { runPromise } from "./runtime.js"
import type { RunWorkerOptions, WorkerResult } from "./workerModel.js"

/**
 * Claims one worker of a run that exists, runs its range of tasks, delivers the results and closes it; null when there is no
 * worker to claim. A task that fails is a result. Rejects with a `BenchmarkApiError`, or an error that says what could not be
 * delivered and where it is kept.
 *
 * @since 0.1.0
 * @category running
 */
export const runWorker = async (client: WorkerClient, options: RunWorkerOptions): Promise<WorkerResult | null> => {
  Reporting.check("runWorker", options)
  if (typeof options.task !== "function") throw new TypeError("runWorker requires a task function.")
  try {
    return await runPromise(work(client, options), { signal: options.signal })
  } catch (error) {
    throw asApiError("runWorker", error)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const work = (client: WorkerClient, options: RunWorkerOptions) =>
  Effect.gen(function* () {
    const { benchmarkSlug, onFinish, onResult, participantSlug, readyPollIntervalMs, runId, task } = options
    const reporter = yield* Reporter
    const run = yield* reporter.joinRun({ benchmark: benchmarkSlug, run: runId })
    const counts = { done: 0, errors: 0 }
    let assigned: Assignment | undefined = undefined
    const result = (): WorkerResult | null => (assigned === undefined ? null : resultOf(assigned, counts))
    const outcome = yield* Worker.run({
      task: fromFunction(task, readyPollIntervalMs === undefined ? {} : { readyPollIntervalMs }),
      participant: { name: participantSlug },
      run: {
        ...run,
        openWorker: (participant, source) =>
          Effect.tap(run.openWorker(participant, source), (opened) =>
            Effect.sync(() => {
              assigned = opened?.assignment
            })
          )
      },
      phaseAt: () => undefined,
      concurrency: (target) => options.concurrency ?? target ?? 1,
      staggerDelayMs: options.staggerDelayMs,
      onFinish:
        onFinish === undefined
          ? undefined
          : Effect.suspend(() => {
              const finished = result()
              return finished === null ? Effect.void : Effect.promise(async () => void (await onFinish(finished)))
            }),
      onOpen: () => {},
      onRecord: (record) => {
        counts.done++
        if (record.status !== "success") counts.errors++
        onResult?.(record)
      },
      onClose: () => {},
      onWarning: () => {}
    })
    const undelivered = yield* run.undelivered
    if (undelivered.length > 0) return yield* new UndeliveredResults({ runId, undelivered })
    return Option.getOrNull(Option.flatMap(Option.fromNullable(outcome), () => Option.fromNullable(result())))
  }).pipe(Effect.provide(Reporting.layer(client, options)), Reporting.configured(client, options))

const resultOf = (
  { attemptNumber, taskRange, workerId, workerIndex }: Assignment,
  { done, errors }: { readonly done: number; readonly errors: number }
): WorkerResult => ({
  workerId,
  workerIndex,
  attemptNumber,
  taskRange,
  taskCount: done,
  successCount: done - errors,
  errorCount: errors
})
