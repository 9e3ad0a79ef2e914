/** A worker that runs an async task, on the engine that every task runs on. */
import * as Effect from "effect/Effect"
import type { Assignment } from "../../Platform.js"
import type { TaskRecord } from "../../Record.js"
import type { RunReporter } from "../../Reporter.js"
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
  Reporting.check("runWorker", options, ["task"])
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
    const { benchmarkSlug, concurrency, onFinish, onResult, participantSlug, runId, staggerDelayMs } = options
    const reporter = yield* Reporter
    const run = yield* reporter.joinRun({ benchmark: benchmarkSlug, run: runId })
    const progress = new Progress()
    yield* Worker.run({
      task: taskOf(options, progress),
      participant: { name: participantSlug },
      run: {
        ...run,
        openWorker: (participant, source) =>
          Effect.tap(run.openWorker(participant, source), (opened) =>
            Effect.sync(() => {
              progress.assignment = opened?.assignment
            })
          )
      },
      phaseAt: () => undefined,
      concurrency: (target) => concurrency ?? target ?? 1,
      staggerDelayMs,
      onFinish: onFinish && Effect.promise(async () => void (progress.result && (await onFinish(progress.result)))),
      onOpen: () => {},
      onRecord: (record) => {
        progress.count(record)
        onResult?.(record)
      },
      onClose: () => {},
      onWarning: (message) => {
        progress.warnings.add(message)
      }
    }).pipe(Effect.onError(() => warnOfUndelivered(run)))
    const error = yield* undelivered(run)
    return error === undefined ? (progress.result ?? null) : yield* error
  }).pipe(Effect.provide(Reporting.layer(client, options)), Reporting.configured(client, options))

/** What a worker has done so far. */
class Progress {
  assignment: Assignment | undefined = undefined
  readonly warnings = new Set<string>()
  private done = 0
  private errors = 0

  count({ status }: TaskRecord): void {
    this.done++
    if (status !== "success") this.errors++
  }

  /** Undefined until a worker is claimed. */
  get result(): WorkerResult | undefined {
    if (this.assignment === undefined) return undefined
    const { attemptNumber, taskRange, workerId, workerIndex } = this.assignment
    return {
      workerId,
      workerIndex,
      attemptNumber,
      taskRange,
      taskCount: this.done,
      successCount: this.done - this.errors,
      errorCount: this.errors,
      warnings: [...this.warnings]
    }
  }
}

const taskOf = ({ readyPollIntervalMs, task }: RunWorkerOptions, progress: Progress) =>
  fromFunction(
    (context) =>
      progress.assignment === undefined ? undefined : task({ ...context, assignment: progress.assignment }),
    readyPollIntervalMs === undefined ? {} : { readyPollIntervalMs }
  )

const undelivered = ({ runId, undelivered }: RunReporter): Effect.Effect<UndeliveredResults | undefined> =>
  Effect.map(undelivered, (left) =>
    left.length === 0 ? undefined : new UndeliveredResults({ runId, undelivered: left })
  )

/** A worker that ends early fails with something else: what could not be delivered is said at least. */
const warnOfUndelivered = (run: RunReporter): Effect.Effect<void> =>
  Effect.flatMap(undelivered(run), (error) => (error === undefined ? Effect.void : Effect.logWarning(error.message)))
