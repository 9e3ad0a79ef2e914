/** What a worker of promises is asked for, and what it gives. */
import type { Assignment } from "../../Platform.js"
import type { TaskRecord } from "../../Record.js"
import type { TelemetryFailure } from "../../Reporter.js"
import type { LogCompression, LogLevel } from "../../WorkerLog.js"
import type { PromiseTaskContext } from "../promiseTask.js"

/**
 * Which worker to take, and how it reports. Intervals are in milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReportingOptions {
  readonly benchmarkSlug: string
  readonly runId: string
  readonly participantSlug: string
  /** Records per batch, 1 to 5000. Default 1000. */
  readonly batchSize?: number | undefined
  /** How long a partial batch may wait. Default 30 000. */
  readonly flushIntervalMs?: number | undefined
  /** How often progress is reported at least, which also keeps the worker's lease. Default 30 000. */
  readonly heartbeatIntervalMs?: number | undefined
  /** Default `BENCHMARK_LOG_LEVEL`, else `info`. */
  readonly logLevel?: LogLevel | undefined
  /** Default `BENCHMARK_LOG_MAX_LINES`, else 100 000. */
  readonly maxLogLines?: number | undefined
  /** How often the log is uploaded while the worker runs; 0 for only at its end. Default `BENCHMARK_LOG_FLUSH_INTERVAL_MS`, else 0. */
  readonly logFlushIntervalMs?: number | undefined
  /** Default `BENCHMARK_LOG_COMPRESSION`, else `none`. */
  readonly logCompression?: LogCompression | undefined
  /** How often system metrics are sampled; 0 for never. Default `BENCHMARK_METRICS_INTERVAL_MS`, else 30 000. */
  readonly metricsIntervalMs?: number | undefined
  /** Told of everything beside the results that did not work; the worker goes on. */
  readonly onTelemetryError?: ((failure: TelemetryFailure) => unknown) | undefined
  /** What kind of process claims the worker. Default `worker`. */
  readonly processKind?: string | undefined
  /** Which one. Default the name of the host. */
  readonly processKey?: string | undefined
}

/**
 * What the task of a worker is called with: what every task is, and what the platform assigned.
 *
 * @since 0.1.0
 * @category models
 */
export interface WorkerTaskContext extends PromiseTaskContext {
  /** The task's index among all of its participant is `taskRange.start + taskIndex`. */
  readonly assignment: Assignment
}

/**
 * @since 0.1.0
 * @category models
 */
export interface RunWorkerOptions extends ReportingOptions {
  /** What `defineTask` takes is one, too. */
  readonly task: (context: WorkerTaskContext) => unknown
  /** Tasks in flight at most. Default: what the platform assigns, else 1. */
  readonly concurrency?: number | undefined
  /** Between the starts of tasks. Default 0. */
  readonly staggerDelayMs?: number | undefined
  /** How often steps with `readiness: "poll"` ask, unless they say so themselves. Default 1000. */
  readonly readyPollIntervalMs?: number | undefined
  /** Called with each record before it is reported. Has to be quick: it runs between tasks. */
  readonly onResult?: ((record: TaskRecord) => void) | undefined
  /** Called when everything is delivered, and waited for before the worker is closed. */
  readonly onFinish?: ((result: WorkerResult) => unknown) | undefined
  /** Aborting it ends the worker as an interruption: what was measured is delivered, and the promise is rejected. */
  readonly signal?: AbortSignal | undefined
}

/**
 * What a worker did.
 *
 * @since 0.1.0
 * @category models
 */
export interface WorkerResult {
  readonly workerId: string
  /** The worker's number among those of its participant, from 0. */
  readonly workerIndex: number
  /** Counts from 1: how many processes have had this worker. */
  readonly attemptNumber: number
  /** Task indexes, both included. */
  readonly taskRange: Assignment["taskRange"]
  readonly taskCount: number
  readonly successCount: number
  readonly errorCount: number
  /** Advice about how the task is written. */
  readonly warnings: ReadonlyArray<string>
}
