/**
 * From records to where they are kept: a run's workers are claimed, their results sent in batches, and each worker is
 * closed by the exit of the scope it was opened in.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { fromCause, interrupted } from "./internal/failure.js"
import { messageOf } from "./internal/json.js"
import type { Assignment, CloseInput, PlatformError, RunRef, RunSummary, WorkerRef } from "./Platform.js"
import { maxBatchRecords, Platform, PlatformFailure } from "./Platform.js"
import type { Data as JsonObject, TaskRecord } from "./Record.js"

/**
 * What a run is going to do, as far as reporting needs to know.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunPlan {
  readonly benchmarkSlug: string
  readonly benchmarkName: string
  /** Whether the benchmark's name and config are this file's to set, or belong to a benchmark it was retargeted to. */
  readonly identityIsOurs: boolean
  /** What the benchmark says about itself: how to score and how to display it. */
  readonly benchmarkConfig: JsonObject
  readonly runConfig: JsonObject
  readonly runKey: string | undefined
  readonly participants: ReadonlyArray<string>
  readonly tasksPerParticipant: number
}

/**
 * A run that is open for reporting.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunReporter {
  /** Absent when nothing is recorded. */
  readonly runId: string | undefined
  /**
   * Claims a worker of the participant for the life of the scope, whose exit completes, fails or releases it. Undefined
   * when every worker of it is taken or done.
   */
  readonly openWorker: (participant: string) => Effect.Effect<WorkerReporter | undefined, PlatformError, Scope.Scope>
  readonly submitSummary: (summary: RunSummary) => Effect.Effect<void, PlatformError>
  /**
   * Marks the run failed, because it ends before all of its participants have run. A run that others may share by its key
   * is left as it is.
   */
  readonly abandon: Effect.Effect<void>
  /** What could not be delivered so far. */
  readonly undelivered: Effect.Effect<ReadonlyArray<Undelivered>>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface WorkerReporter {
  /** First task index of the worker's range. */
  readonly start: number
  /** How many tasks it has. */
  readonly count: number
  /**
   * Takes a record; once it is called the record is kept, even if its caller is interrupted. Waits while the buffer is
   * full, so a slow platform slows down the start of further tasks rather than filling the memory.
   */
  readonly record: (record: TaskRecord) => Effect.Effect<void>
}

/**
 * Records that the platform did not acknowledge.
 *
 * @since 0.1.0
 * @category models
 */
export interface Undelivered {
  readonly participant: string
  readonly records: number
  readonly error: PlatformError
}

/**
 * Some records of a run could not be delivered; all others are stored.
 *
 * @since 0.1.0
 * @category errors
 */
export class UndeliveredResults extends Data.TaggedError("UndeliveredResults")<{
  readonly undelivered: ReadonlyArray<Undelivered>
}> {
  override get message(): string {
    const lines = this.undelivered.map(
      ({ error, participant, records }) => `  - ${participant}: ${records} record(s): ${error.message}`
    )
    return `Failed to flush task results; these are not stored:\n${lines.join("\n")}`
  }
}

/**
 * @since 0.1.0
 * @category services
 */
export class Reporter extends Context.Tag("effect-bench/Reporter")<
  Reporter,
  {
    /** Creates the run (or joins the one with its key) and registers its participants. */
    readonly openRun: (plan: RunPlan) => Effect.Effect<RunReporter, PlatformError>
  }
>() {}

/**
 * @since 0.1.0
 * @category models
 */
export interface ReporterOptions {
  /** Records per batch, 1 to 5000. Default 1000. */
  readonly batchSize?: number | undefined
  /** How long a partial batch may wait. Default 30 seconds. */
  readonly flushInterval?: Duration.DurationInput | undefined
  /** How often progress is reported, which also keeps the worker's lease. Default 30 seconds. */
  readonly heartbeatInterval?: Duration.DurationInput | undefined
  /** How many records may wait for delivery before tasks have to, at least one batch. Default 10 batches. */
  readonly bufferSize?: number | undefined
  /** When to try a batch again after a transient failure. Default {@link defaultFlushSchedule}. */
  readonly flushSchedule?: Schedule.Schedule<unknown, PlatformError> | undefined
  /** How long the platform may take to answer while a worker is open; then the request counts as failed. Default 1 minute. */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /** What kind of process claims workers, and which. */
  readonly processKind?: string | undefined
  readonly processKey?: string | undefined
}

/**
 * Exponential from 250 ms with jitter, at most 15 s apart, for two minutes in total.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaultFlushSchedule: Schedule.Schedule<unknown, PlatformError> = Schedule.exponential("250 millis").pipe(
  Schedule.union(Schedule.spaced("15 seconds")),
  Schedule.jittered,
  Schedule.upTo("2 minutes")
)

/**
 * Reports to the {@link Platform}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: ReporterOptions = {}): Effect.Effect<Reporter["Type"], never, Platform> =>
  Effect.map(Platform, (platform) => {
    const batchSize = Math.min(maxBatchRecords, Math.max(1, options.batchSize ?? 1000))
    const settings: Settings = {
      platform,
      batchSize,
      bufferSize: Math.max(batchSize, options.bufferSize ?? 10 * batchSize),
      flushInterval: Duration.decode(options.flushInterval ?? "30 seconds"),
      heartbeatInterval: Duration.decode(options.heartbeatInterval ?? "30 seconds"),
      requestTimeout: Duration.decode(options.requestTimeout ?? "1 minute"),
      flushSchedule: options.flushSchedule ?? defaultFlushSchedule,
      claim: { processKind: options.processKind, processKey: options.processKey }
    }
    return Reporter.of({ openRun: (plan) => openRun(settings, plan) })
  })

/**
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (options: ReporterOptions): Layer.Layer<Reporter, never, Platform> =>
  Layer.effect(Reporter, make(options))

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Reporter, never, Platform> = layerWith({})

/**
 * Records nothing anywhere: no store, no network, no credentials.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNoIngest: Layer.Layer<Reporter> = Layer.succeed(
  Reporter,
  Reporter.of({
    openRun: (plan) =>
      Effect.succeed({
        runId: undefined,
        openWorker: () => Effect.succeed({ start: 0, count: plan.tasksPerParticipant, record: () => Effect.void }),
        submitSummary: () => Effect.void,
        abandon: Effect.void,
        undelivered: Effect.succeed([])
      })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Settings {
  readonly platform: Platform["Type"]
  readonly batchSize: number
  readonly bufferSize: number
  readonly flushInterval: Duration.Duration
  readonly heartbeatInterval: Duration.Duration
  readonly requestTimeout: Duration.Duration
  readonly flushSchedule: Schedule.Schedule<unknown, PlatformError>
  readonly claim: { readonly processKind: string | undefined; readonly processKey: string | undefined }
}

const openRun = Effect.fnUntraced(function* (settings: Settings, plan: RunPlan) {
  const { platform } = settings
  yield* platform.upsertBenchmark(
    plan.benchmarkSlug,
    plan.identityIsOurs ? { name: plan.benchmarkName, config: plan.benchmarkConfig } : {}
  )
  const created = yield* platform.createRun(plan.benchmarkSlug, {
    runKey: plan.runKey,
    name: plan.benchmarkName,
    config: plan.runConfig,
    participants: plan.participants.map((slug) => ({
      slug,
      provider: slug,
      totalTasks: plan.tasksPerParticipant,
      workerCount: 1
    }))
  })
  const undelivered: Array<Undelivered> = []
  const run = { benchmark: plan.benchmarkSlug, run: created.run.id }
  const reporter: RunReporter = {
    runId: created.run.id,
    openWorker: (participant) => openWorker(settings, { ...run, participant }, undelivered),
    submitSummary: (summary) => Effect.asVoid(platform.submitSummary(run, summary)),
    abandon: plan.runKey === undefined ? abandon(settings, run) : Effect.void,
    undelivered: Effect.sync(() => [...undelivered])
  }
  return reporter
})

const abandon = (settings: Settings, run: RunRef): Effect.Effect<void> =>
  answered(settings, "updateRun", settings.platform.updateRun(run, { status: "failed" })).pipe(
    Effect.catchAll((error) => Effect.logWarning("run could not be marked failed", error.message)),
    Effect.asVoid
  )

const openWorker = Effect.fnUntraced(function* (
  settings: Settings,
  participant: Omit<WorkerRef, "worker">,
  undelivered: Array<Undelivered>
) {
  const { platform } = settings
  yield* platform
    .planWorkers(participant, { workerCount: 1 })
    .pipe(Effect.catchIf(isAlreadyPlanned, () => Effect.succeed([])))
  const queue = yield* Effect.acquireRelease(
    Effect.map(answered(settings, "claimWorker", platform.claimWorker(participant, settings.claim)), (assignment) =>
      assignment === null
        ? undefined
        : new DeliveryQueue(settings, assignment, { ...participant, worker: assignment.workerId }, undelivered)
    ),
    (queue, exit) => (queue === undefined ? Effect.void : queue.close(exit))
  )
  if (queue === undefined) return undefined
  yield* Effect.forkScoped(Effect.interruptible(queue.flushForever()))
  yield* Effect.forkScoped(Effect.interruptible(queue.heartbeatForever()))
  const { count, start } = queue.assignment.taskRange
  const worker: WorkerReporter = { start, count, record: queue.record }
  return worker
})

/**
 * A request that has to end, wherever it is made: scopes are closed uninterruptibly, so there one without an answer could
 * not even be given up. A defect of the platform fails the request, not the run.
 */
const answered = <A>(
  settings: Settings,
  operation: string,
  request: Effect.Effect<A, PlatformError>
): Effect.Effect<A, PlatformError> =>
  request.pipe(
    Effect.catchAllDefect((cause) =>
      Effect.fail(new PlatformFailure({ operation, detail: messageOf(cause), retryable: false, cause }))
    ),
    Effect.interruptible,
    Effect.timeoutFail({
      duration: settings.requestTimeout,
      onTimeout: () => {
        const detail = `no answer within ${Duration.format(settings.requestTimeout)}`
        return new PlatformFailure({ operation, detail, retryable: true })
      }
    })
  )

const isAlreadyPlanned = (error: PlatformError): boolean =>
  error._tag === "ResourceConflict" && error.reason === "AlreadyPlanned"

const isTransient = (error: PlatformError): boolean => error._tag === "PlatformFailure" && error.retryable

/** The records of one worker between the task that made them and the platform that acknowledged them. */
class DeliveryQueue {
  private readonly waiting: Array<TaskRecord> = []
  private readonly wake = Effect.unsafeMakeLatch(false)
  private readonly space = Effect.unsafeMakeLatch(true)
  private readonly sending = Effect.unsafeMakeSemaphore(1)
  private sequenceNumber = 0
  /** The batch that has been sent under the current number but not been acknowledged; it may be stored already. */
  private unacknowledged: Batch | undefined = undefined
  private done = 0
  private errors = 0
  private broken: PlatformError | undefined = undefined

  constructor(
    private readonly settings: Settings,
    readonly assignment: Assignment,
    private readonly ref: WorkerRef,
    private readonly undelivered: Array<Undelivered>
  ) {}

  readonly record = (record: TaskRecord): Effect.Effect<void> =>
    Effect.suspend(() => {
      this.waiting.push(record)
      this.done++
      if (record.status !== "success") this.errors++
      if (this.waiting.length < this.settings.batchSize) return Effect.void
      this.wake.unsafeOpen()
      if (this.waiting.length < this.settings.bufferSize || this.broken !== undefined) return Effect.void
      this.space.unsafeClose()
      return Effect.interruptible(this.space.await)
    })

  /** Sends full batches as they fill up, and a partial one when it has waited long enough. Ends at the first failure. */
  flushForever(): Effect.Effect<void> {
    const full = Effect.as(this.wake.await, false)
    const waitedLong = Effect.delay(Effect.succeed(true), this.settings.flushInterval)
    return Effect.raceFirst(full, waitedLong).pipe(
      Effect.flatMap((partial) => this.flush(partial)),
      Effect.forever,
      Effect.catchAll((error) => Effect.sync(() => this.giveUp(error)))
    )
  }

  heartbeatForever(): Effect.Effect<void> {
    const { platform } = this.settings
    return Effect.suspend(() =>
      answered(
        this.settings,
        "heartbeat",
        platform.heartbeat(this.ref, {
          attemptId: this.assignment.attemptId,
          progressDone: this.done,
          progressErrors: this.errors,
          progressTotal: this.assignment.taskRange.count
        })
      )
    ).pipe(
      Effect.catchAll((error) => Effect.logWarning("heartbeat failed", error.message)),
      Effect.schedule(Schedule.spaced(this.settings.heartbeatInterval)),
      Effect.asVoid
    )
  }

  private flush(partial: boolean): Effect.Effect<void, PlatformError> {
    const { batchSize } = this.settings
    const fullBatches = Effect.whileLoop({
      while: () => this.waiting.length >= batchSize,
      body: () => this.send(batchSize, false),
      step: () => {}
    })
    const rest = Effect.suspend(() =>
      partial && this.waiting.length > 0 ? this.send(this.waiting.length, false) : Effect.void
    )
    return Effect.zipRight(fullBatches, rest).pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          if (this.waiting.length < batchSize) this.wake.unsafeClose()
        })
      ),
      this.sending.withPermits(1)
    )
  }

  /**
   * One batch of at most `size` records: it leaves the buffer, and the next number is used, only when the platform has
   * acknowledged it. Until then its number stays with exactly these records, even when sending is interrupted: the
   * platform may hold them, and takes whatever comes under the same number for a repetition.
   */
  private send(size: number, isFinal: boolean): Effect.Effect<void, PlatformError> {
    return Effect.suspend(() => {
      const batch = (this.unacknowledged ??= { records: this.waiting.slice(0, size), isFinal })
      const request = this.settings.platform.sendTaskResults(this.ref, {
        type: "task_results",
        attemptId: this.assignment.attemptId,
        sequenceNumber: this.sequenceNumber,
        ...batch
      })
      return answered(this.settings, "sendTaskResults", request).pipe(
        Effect.retry({ schedule: this.settings.flushSchedule, while: isTransient }),
        Effect.map(() => this.acknowledged(batch))
      )
    })
  }

  private acknowledged({ records }: Batch): void {
    this.waiting.splice(0, records.length)
    this.sequenceNumber++
    this.unacknowledged = undefined
    if (this.waiting.length < this.settings.bufferSize) this.space.unsafeOpen()
  }

  /** No further batch can be acknowledged in order: what waits stays for {@link close} to account for. */
  private giveUp(error: PlatformError): void {
    this.broken = error
    this.space.unsafeOpen()
  }

  private finish(): Effect.Effect<void, PlatformError> {
    if (this.broken !== undefined) return Effect.fail(this.broken)
    const interruptedBatch = Effect.suspend(() =>
      this.unacknowledged === undefined ? Effect.void : this.send(this.unacknowledged.records.length, false)
    )
    const last = Effect.suspend(() => this.send(this.waiting.length, true))
    return Effect.zipRight(interruptedBatch, Effect.zipRight(this.flush(false), last))
  }

  /** Flushes, then closes the worker as the exit says. What cannot be delivered is noted, never thrown away silently. */
  readonly close = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
    const verdict = this.verdict(exit)
    if (verdict.how === "releaseWorker") return this.end(verdict)
    return Effect.matchEffect(this.finish(), {
      onSuccess: () => this.end(verdict),
      onFailure: (error) => {
        this.undelivered.push({ participant: this.ref.participant, records: this.waiting.length, error })
        return this.end({
          how: "failWorker",
          errorCode: "flush_failed",
          errorMessage: `Failed to flush task results: ${error.message}`
        })
      }
    })
  }

  private verdict(exit: Exit.Exit<unknown, unknown>): Verdict {
    if (Exit.isFailure(exit)) {
      if (!Cause.isInterrupted(exit.cause)) {
        const { code, message } = fromCause(exit.cause)
        return { how: "failWorker", errorCode: code, errorMessage: message }
      }
      return this.done === 0
        ? { how: "releaseWorker" }
        : { how: "failWorker", errorCode: interrupted, errorMessage: "The run was interrupted" }
    }
    return this.done > 0 && this.errors === this.done
      ? { how: "failWorker", errorCode: "no_task_succeeded", errorMessage: "No task succeeded" }
      : { how: "completeWorker" }
  }

  private end({ how, ...reason }: Verdict): Effect.Effect<void> {
    const request = this.settings.platform[how](this.ref, { attemptId: this.assignment.attemptId, ...reason })
    return answered(this.settings, how, request).pipe(
      Effect.retry({ schedule: this.settings.flushSchedule, while: isTransient }),
      Effect.catchAll((error) => Effect.logWarning("worker could not be closed", error.message)),
      Effect.asVoid
    )
  }
}

interface Batch {
  readonly records: ReadonlyArray<TaskRecord>
  readonly isFinal: boolean
}

interface Verdict extends Omit<CloseInput, "attemptId"> {
  readonly how: "completeWorker" | "failWorker" | "releaseWorker"
}
