/**
 * From records to where they are kept: a run's workers are claimed, their results sent in batches, and each worker is
 * closed by the exit of the scope it was opened in.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { Activity } from "./internal/reporting/activity.js"
import * as InMemory from "./internal/reporting/inMemory.js"
import * as OpenRun from "./internal/reporting/openRun.js"
import type { WorkerSettings } from "./internal/reporting/openWorker.js"
import type { Assignment, Iteration, PlatformError, RunRef, RunSummary, SummaryRow } from "./Platform.js"
import { maxBatchRecords, Platform } from "./Platform.js"
import type { Data as JsonObject, ParticipantRecords, TaskRecord } from "./Record.js"
import * as RunMetadata from "./RunMetadata.js"
import type { SpoolError } from "./Spool.js"
import * as Spools from "./Spool.js"
import type { StepNotReady } from "./Step.js"
import { SystemMetrics } from "./SystemMetrics.js"
import type { WorkerLog } from "./WorkerLog.js"

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
  /** Over how many workers the tasks of each participant are split. Default 1. */
  readonly workerPool?: number | undefined
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
  /** Where the run can be looked at in a browser, if its platform has pages. */
  readonly dashboardUrl: string | undefined
  /**
   * Claims a worker of the participant for the life of the scope, whose exit completes, fails or releases it. Undefined
   * when every worker of it is taken or done.
   */
  readonly openWorker: (
    participant: string,
    source: WorkerSource
  ) => Effect.Effect<WorkerReporter | undefined, PlatformError, Scope.Scope>
  /** Stores the scored rows, with where and on what they were measured. */
  readonly submitSummary: (scored: Scored) => Effect.Effect<void, PlatformError>
  /** The scored rows that are stored for this run; empty when there are none. */
  readonly storedRows: Effect.Effect<ReadonlyArray<SummaryRow>, PlatformError>
  /** Every task that is stored for this run, whichever process ran it. */
  readonly storedTasks: Effect.Effect<ReadonlyArray<Iteration>, PlatformError>
  /**
   * Marks the run failed, because it ends before all of its participants have run. A run that others may share by its key
   * is left as it is.
   */
  readonly abandon: Effect.Effect<void>
  /** What could not be delivered so far. */
  readonly undelivered: Effect.Effect<ReadonlyArray<Undelivered>>
}

/**
 * What a run was scored, and how.
 *
 * @since 0.1.0
 * @category models
 */
export type Scored = Omit<RunSummary, "run">

/**
 * What a worker's reporter needs to know of who does the work.
 *
 * @since 0.1.0
 * @category models
 */
export interface WorkerSource {
  /** Uploaded when the worker is closed. */
  readonly log: WorkerLog
  /** Tasks in flight at most; the target of steps that name none. A function of what the platform assigns. */
  readonly concurrency: (targetConcurrency: number | undefined) => number
  /** Takes what is secret out of what the platform is told about a failure. */
  readonly redact?: ((text: string) => string) | undefined
  /** Runs when everything is delivered, before the worker is closed. */
  readonly onFinish?: Effect.Effect<void> | undefined
  /** Why its remaining tasks were given up, which fails it; undefined when they were not. */
  readonly stoppedBy?: (() => string | undefined) | undefined
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
  /** Tasks in flight at most. */
  readonly concurrency: number
  /** The worker's number among those of its participant, from 0. */
  readonly workerIndex: number
  /** Counts from 1: how many processes have had this worker. */
  readonly attemptNumber: number
  /**
   * Takes a record; once it is called the record is kept, even if its caller is interrupted. Waits while the buffer is
   * full, so a slow platform slows down the start of further tasks rather than filling the memory.
   */
  readonly record: (record: TaskRecord) => Effect.Effect<void>
  /** False once the platform has given the worker to another process: further tasks would be for nothing. */
  readonly isCurrent: () => boolean
  /** Where steps and tasks are counted for heartbeats; undefined when there are none. */
  readonly activity: Activity | undefined
  /** Waits at a barrier until every worker of the participant has come to the step. */
  readonly awaitReady: (step: string, options: ReadyOptions) => Effect.Effect<void, StepNotReady>
  /** Keeps a file with the worker. */
  readonly uploadArtifact: (artifact: NewArtifact, content: Uint8Array) => Effect.Effect<void, PlatformError>
  /** Sends everything that was recorded so far; fails when that cannot be done, which loses nothing. */
  readonly flush: Effect.Effect<void, PlatformError | SpoolError>
  /** Tells the platform now how far the worker is. Failures are told to nobody but the telemetry hook. */
  readonly heartbeat: Effect.Effect<void>
  /** What the platform assigned; undefined when nothing is recorded. */
  readonly assignment: Assignment | undefined
}

/**
 * How a barrier is waited at: how often the platform is asked, and for how long, in milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReadyOptions {
  readonly pollIntervalMs: number
  readonly timeoutMs: number
}

/**
 * @since 0.1.0
 * @category models
 */
export interface NewArtifact {
  /** What it is for: `coordinator.log`, `system-metrics`, or a word of your own. */
  readonly kind: string
  /** What to call the file. */
  readonly name?: string | undefined
  readonly contentType?: string | undefined
  readonly metadata?: JsonObject | undefined
}

/**
 * Something beside the results that did not work; the run goes on.
 *
 * @since 0.1.0
 * @category models
 */
export interface TelemetryFailure {
  readonly telemetry: "heartbeat" | "readiness" | "log" | "metrics" | "artifact" | "spool" | "close" | "run"
  readonly participant: string
  readonly error: PlatformError | SpoolError
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
  /** Where they wait to be sent again; undefined when they are not kept. */
  readonly spool: string | undefined
  readonly error: PlatformError | SpoolError
}

/**
 * Some records of a run could not be delivered; all others are stored.
 *
 * @since 0.1.0
 * @category errors
 */
export class UndeliveredResults extends Data.TaggedError("UndeliveredResults")<{
  readonly runId: string | undefined
  readonly undelivered: ReadonlyArray<Undelivered>
}> {
  override get message(): string {
    const spools = new Set(this.undelivered.flatMap(({ spool }) => (spool === undefined ? [] : [spool])))
    const lines = this.undelivered.map(
      ({ error, participant, records, spool }) =>
        `  - ${participant}: ${records} record(s)${spool === undefined && spools.size > 0 ? ", which are not kept" : ""}: ${error.message}`
    )
    const kept =
      spools.size === 0
        ? "these are not stored:"
        : `these wait in ${[...spools].join(", ")} and can be sent again: bench push ${this.runId ?? "--all"}`
    return `Failed to flush task results; ${kept}\n${lines.join("\n")}`
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
    /** Opens a run that exists, to take workers of it. */
    readonly joinRun: (run: RunRef) => Effect.Effect<RunReporter, PlatformError>
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
  /** How often progress is reported at least, which also keeps the worker's lease. Default 30 seconds. */
  readonly heartbeatInterval?: Duration.DurationInput | undefined
  /** How many records may wait for delivery before tasks have to, at least one batch. Default 10 batches. */
  readonly bufferSize?: number | undefined
  /** When to try a request again after a transient failure. Default {@link defaultFlushSchedule}. */
  readonly flushSchedule?: Schedule.Schedule<unknown, PlatformError> | undefined
  /** How long the platform may take to answer while a worker is open; then the request counts as failed. Default 1 minute. */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /** What kind of process claims workers, and which. */
  readonly processKind?: string | undefined
  readonly processKey?: string | undefined
  /** Whether the worker's log is uploaded compressed. Default `"none"`. */
  readonly logCompression?: "none" | "gzip" | undefined
  /** How often the log is uploaded while the worker runs. Default never. */
  readonly logFlushInterval?: Duration.DurationInput | undefined
  /** How often system metrics are sampled; `Duration.zero` for never. Default 30 seconds. */
  readonly metricsInterval?: Duration.DurationInput | undefined
  /** What is stored with the run about where it ran. Default `RunMetadata.collect`. */
  readonly metadata?: Effect.Effect<RunMetadata.RunMetadata> | undefined
  /** Told of everything beside the results that did not work. A warning is logged anyway. */
  readonly onTelemetryError?: ((failure: TelemetryFailure) => Effect.Effect<void>) | undefined
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
 * Reports to the {@link Platform}. Records that it has not acknowledged are kept in the `Spool`. System metrics are sampled
 * where a `SystemMetrics` is in the context.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: ReporterOptions = {}): Effect.Effect<Reporter["Type"], never, Platform | Spools.Spool> =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const spool = yield* Spools.Spool
    const memory = yield* Effect.provide(Spools.Spool, Spools.layerMemory)
    const batchSize = Math.min(maxBatchRecords, Math.max(1, options.batchSize ?? 1000))
    const settings: WorkerSettings = {
      platform,
      spool,
      memory,
      metrics: yield* Effect.serviceOption(SystemMetrics),
      batchSize,
      bufferSize: Math.max(batchSize, options.bufferSize ?? 10 * batchSize),
      flushInterval: Duration.decode(options.flushInterval ?? "30 seconds"),
      heartbeatInterval: Duration.decode(options.heartbeatInterval ?? "30 seconds"),
      requestTimeout: Duration.decode(options.requestTimeout ?? "1 minute"),
      flushSchedule: options.flushSchedule ?? defaultFlushSchedule,
      claim: { processKind: options.processKind, processKey: options.processKey },
      metadata: options.metadata ?? RunMetadata.collect,
      logCompression: options.logCompression ?? "none",
      logFlushInterval: Duration.decode(options.logFlushInterval ?? Duration.zero),
      metricsInterval: Duration.decode(options.metricsInterval ?? "30 seconds"),
      onTelemetryError: options.onTelemetryError
    }
    return Reporter.of({
      openRun: (plan) => OpenRun.create(settings, plan),
      joinRun: (run) => OpenRun.join(settings, run)
    })
  })

/**
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (options: ReporterOptions): Layer.Layer<Reporter, never, Platform | Spools.Spool> =>
  Layer.effect(Reporter, make(options))

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Reporter, never, Platform | Spools.Spool> = layerWith({})

/**
 * Records nothing anywhere: no store, no network, no credentials. Barriers are open.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNoIngest: Layer.Layer<Reporter> = Layer.succeed(
  Reporter,
  Reporter.of({
    openRun: (plan) => Effect.succeed(OpenRun.nowhere({ count: plan.tasksPerParticipant })),
    joinRun: () => Effect.succeed(OpenRun.nowhere({ count: 0 }))
  })
)

// -----------------------------------------------------------------------------
// testing
// -----------------------------------------------------------------------------

/**
 * What a run reported, for tests to look at. `closed` has one entry per worker, in the order in which they ended.
 *
 * @since 0.1.0
 * @category testing
 */
export interface ReportedRun {
  /** Undefined for a run that was joined and never opened. */
  readonly plan: RunPlan | undefined
  readonly runId: string
  readonly records: ReadonlyArray<ParticipantRecords>
  readonly summaries: ReadonlyArray<Scored>
  readonly artifacts: ReadonlyArray<NewArtifact & { readonly participant: string; readonly content: Uint8Array }>
  readonly closed: ReadonlyArray<{ readonly participant: string; readonly exit: Exit.Exit<unknown, unknown> }>
  /** Whether the run was marked failed because it ended early. */
  readonly abandoned: boolean
}

/**
 * What the {@link Reporter} of `layerTest` was told.
 *
 * @since 0.1.0
 * @category testing
 */
export class TestReporter extends Context.Tag("effect-bench/TestReporter")<
  TestReporter,
  {
    /** In the order in which they were opened. */
    readonly runs: Effect.Effect<ReadonlyArray<ReportedRun>>
  }
>() {}

/**
 * Keeps everything in memory, for tests of programs that run benchmarks: barriers are open, every worker has all tasks of
 * its participant. A run that is joined has the plan of the one with its id (`run-1` for the first), else no tasks.
 *
 * @since 0.1.0
 * @category testing
 */
export const layerTest: Layer.Layer<Reporter | TestReporter> = Layer.effectContext(
  Effect.sync(() => {
    const runs: Array<InMemory.Run> = []
    const open = (plan: RunPlan | undefined, runId = `run-${runs.length + 1}`) => {
      const run = new InMemory.Run(plan, runId)
      runs.push(run)
      return run.reporter
    }
    return Context.make(
      Reporter,
      Reporter.of({
        openRun: (plan) => Effect.sync(() => open(plan)),
        joinRun: ({ run }) => Effect.sync(() => open(runs.find(({ runId }) => runId === run)?.plan, run))
      })
    ).pipe(Context.add(TestReporter, { runs: Effect.sync(() => runs.map((run) => run.reported)) }))
  })
)
