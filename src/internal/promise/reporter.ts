/** Reporting by hand: for programs that run their tasks themselves. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import type { Assignment, ConcurrencySample } from "../../Platform.js"
import { TaskRecord } from "../../Record.js"
import * as Redaction from "../../Redaction.js"
import type { RunReporter, WorkerReporter } from "../../Reporter.js"
import { Reporter, UndeliveredResults } from "../../Reporter.js"
import { TaskError } from "../../Task.js"
import * as WorkerLog from "../../WorkerLog.js"
import { Timeline } from "../timeline.js"
import { asApiError } from "./client.js"
import type { WorkerClient } from "./reporting.js"
import * as Reporting from "./reporting.js"
import type { Services } from "./runtime.js"
import { runPromise } from "./runtime.js"
import type { ReportingOptions } from "./workerModel.js"

/**
 * How far a worker is, beside the records it has reported.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReportedProgress {
  /** Tasks that have started and not ended. */
  readonly inFlight?: number | undefined
  /** What is going on now, in place of what was said before. */
  readonly currentStep?: string | undefined
  /** Running steps, in place of what was said before; `currentStep` is the busiest of them. */
  readonly concurrency?: ReadonlyArray<ConcurrencySample> | undefined
}

/**
 * How a barrier is waited at.
 *
 * @since 0.1.0
 * @category models
 */
export interface WaitOptions {
  /** How often the platform is asked, in milliseconds. Default 1000. */
  readonly pollIntervalMs?: number | undefined
  /** For how long. Default 15 minutes. */
  readonly timeoutMs?: number | undefined
  /** Tasks of this worker that have come to the step. Default: its concurrency. */
  readonly active?: number | undefined
  /** Tasks of this worker that the step needs. Default: its concurrency. */
  readonly target?: number | undefined
}

/**
 * How a worker ended.
 *
 * @since 0.1.0
 * @category models
 */
export interface FinishOptions {
  /** Default `completed`. A worker whose tasks all failed ends as failed whatever is said here. */
  readonly status?: "completed" | "failed" | undefined
  /** Of a failed one. Default `ERROR`. */
  readonly errorCode?: string | undefined
  readonly errorMessage?: string | undefined
}

/**
 * A file to keep with a worker.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReportedArtifact {
  /** What it is for, in a word. */
  readonly kind: string
  readonly name?: string | undefined
  readonly contentType?: string | undefined
  readonly metadata?: { readonly [key: string]: unknown } | undefined
  readonly body: Uint8Array | string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ReporterOptions extends ReportingOptions {
  /** Tasks in flight at most, which is what steps are measured against. Default: what the platform assigns, else 1. */
  readonly concurrency?: number | undefined
}

/**
 * A claimed worker that is reported by hand: its records go out in batches, are kept on disk until the platform has them,
 * and its heartbeats keep the lease until {@link BenchmarkReporter.finish}.
 *
 * @since 0.1.0
 * @category models
 */
export class BenchmarkReporter {
  private ending: Promise<void> | undefined = undefined

  private constructor(
    /** What the platform assigned. */
    readonly assignment: Assignment,
    private readonly worker: WorkerReporter,
    private readonly write: WriteLine,
    private readonly run: RunReporter,
    private readonly scope: Scope.CloseableScope,
    private readonly perform: <A>(effect: Effect.Effect<A, unknown, Services>) => Promise<A>
  ) {}

  /** Claims the next worker of a participant; null when there is none. Rejects with a `BenchmarkApiError`. */
  static async claim(client: WorkerClient, options: ReporterOptions): Promise<BenchmarkReporter | null> {
    Reporting.check("BenchmarkReporter.claim", options)
    const perform = async <A>(effect: Effect.Effect<A, unknown, Services>): Promise<A> => {
      try {
        return await runPromise(Reporting.configured(client, options)(effect))
      } catch (error) {
        throw asApiError("BenchmarkReporter", error)
      }
    }
    const opened = await perform(open(client, options))
    if (opened === undefined) return null
    const { assignment, run, scope, worker, write } = opened
    return new BenchmarkReporter(assignment, worker, write, run, scope, perform)
  }

  /** Says what is going on; it is told with the next heartbeat. */
  setProgress({ concurrency, currentStep, inFlight }: ReportedProgress): void {
    this.refuseIfEnded("setProgress")
    const { activity } = this.worker
    if (activity === undefined) return
    if (inFlight !== undefined) activity.inFlight = inFlight
    if (concurrency !== undefined) activity.set(concurrency)
    else if (currentStep !== undefined) {
      activity.set([{ step: currentStep, active: Math.max(1, activity.inFlight), target: this.worker.concurrency }])
    }
  }

  /**
   * Takes the record of a task, at once: it is delivered even if {@link finish} is called before this resolves. Waits while
   * the buffer is full, so that a slow platform slows down who calls this rather than filling the memory. Rejects when it is
   * not a record.
   */
  async recordResult(record: TaskRecord): Promise<void> {
    this.refuseIfEnded("recordResult")
    // The fiber runs by itself until it has to wait, which is after the record is taken.
    await this.perform(Effect.flatMap(Schema.validate(TaskRecord)(record), this.worker.record))
  }

  /** Writes a line to the worker's log: metadata, or `{ level, meta }`. What looks like a secret is left out. */
  log(message: string, argument?: unknown): void {
    this.refuseIfEnded("log")
    this.write(message, argument)
  }

  /** Tells the platform now how far the worker is. Never rejects: failures are told to `onTelemetryError`. */
  async heartbeat(): Promise<void> {
    this.refuseIfEnded("heartbeat")
    await this.perform(this.worker.heartbeat)
  }

  /** Waits until every worker of the participant has come to the step. Rejects when that takes too long, naming who is missing. */
  async waitForStepReady(step: string, options: WaitOptions = {}): Promise<void> {
    this.refuseIfEnded("waitForStepReady")
    const { activity, concurrency } = this.worker
    activity?.set([{ step, active: options.active ?? concurrency, target: options.target ?? concurrency }])
    await this.perform(
      this.worker.awaitReady(step, {
        pollIntervalMs: options.pollIntervalMs ?? 1000,
        timeoutMs: options.timeoutMs ?? 15 * 60_000
      })
    )
  }

  /** Keeps a file with the worker. */
  async uploadArtifact({ body, ...artifact }: ReportedArtifact): Promise<void> {
    this.refuseIfEnded("uploadArtifact")
    await this.perform(this.worker.uploadArtifact(artifact, typeof body === "string" ? Buffer.from(body) : body))
  }

  /** Sends everything recorded so far. Rejects when that cannot be done; it stays kept, and is tried again. */
  async flush(): Promise<void> {
    this.refuseIfEnded("flush")
    await this.perform(this.worker.flush)
  }

  /**
   * Sends what is left, then log and metrics, and closes the worker. Rejects when results could not be delivered: those wait
   * for `bench push`. Calling it again waits for the same end.
   */
  finish({ errorCode, errorMessage, status = "completed" }: FinishOptions = {}): Promise<void> {
    this.ending ??= this.end(
      status === "completed"
        ? Exit.void
        : Exit.fail(new TaskError(errorMessage ?? "The worker failed", { code: errorCode ?? "ERROR" }))
    )
    return this.ending
  }

  private async end(exit: Exit.Exit<void, unknown>): Promise<void> {
    await this.perform(Scope.close(this.scope, exit))
    const undelivered = await this.perform(this.run.undelivered)
    if (undelivered.length > 0) throw new UndeliveredResults({ runId: this.run.runId, undelivered })
  }

  private refuseIfEnded(method: string): void {
    if (this.ending !== undefined) throw new Error(`${method}: the worker has been finished`)
  }
}

/**
 * {@link BenchmarkReporter.claim} as a function.
 *
 * @since 0.1.0
 * @category constructors
 */
export const claimBenchmarkReporter = (
  client: WorkerClient,
  options: ReporterOptions
): Promise<BenchmarkReporter | null> => BenchmarkReporter.claim(client, options)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type WriteLine = (message: string, argument: unknown) => void

/** Everything that is open with the worker is in its scope, which outlives this. */
const open = (client: WorkerClient, options: ReporterOptions) =>
  Effect.uninterruptible(
    Effect.flatMap(Scope.make(), (scope) =>
      Effect.gen(function* () {
        const context = yield* Layer.build(Reporting.layer(client, options))
        const reporter = yield* Effect.provide(Reporter, context)
        const run = yield* reporter.joinRun({ benchmark: options.benchmarkSlug, run: options.runId })
        const redact = yield* Redaction.fromEnvironment([])
        const log = yield* WorkerLog.makeWith({ redact })
        const worker = yield* run.openWorker(options.participantSlug, {
          log,
          redact,
          concurrency: (target) => options.concurrency ?? target ?? 1
        })
        if (worker?.assignment === undefined) {
          yield* Scope.close(scope, Exit.void)
          return undefined
        }
        const timeline = new Timeline(yield* Effect.clock)
        const write: WriteLine = (message, argument) => log.line(timeline.timestamp(timeline.now()), message, argument)
        return { worker, write, run, scope, assignment: worker.assignment }
      }).pipe(
        Scope.extend(scope),
        Effect.tapErrorCause((cause) => Scope.close(scope, Exit.failCause(cause)))
      )
    )
  )
