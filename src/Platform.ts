/**
 * The one contract for where runs are kept: an organization's benchmarks, their runs, the participants of a run, the
 * workers that split a participant's tasks, and the results those workers report. Implemented over SQL by
 * `SqlPlatform`; anything else that satisfies the contract suite can take its place.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Data, TaskRecord } from "./Record.js"

// -----------------------------------------------------------------------------
// limits
// -----------------------------------------------------------------------------

/**
 * The most records one batch of results may hold.
 *
 * @since 0.1.0
 * @category models
 */
export const maxBatchRecords = 5000

/**
 * The most steps one record may hold.
 *
 * @since 0.1.0
 * @category models
 */
export const maxRecordSteps = 100

/**
 * The most concurrency samples (of different steps) one heartbeat may hold.
 *
 * @since 0.1.0
 * @category models
 */
export const maxHeartbeatSamples = 20

// -----------------------------------------------------------------------------
// resources
// -----------------------------------------------------------------------------

const optionalOrNull = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/**
 * Status of a run or of a participant in it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RunStatus = Schema.Literal("planned", "in_progress", "completed", "failed")

/**
 * @since 0.1.0
 * @category models
 */
export type RunStatus = typeof RunStatus.Type

/**
 * Status of a worker.
 *
 * @since 0.1.0
 * @category schemas
 */
export const WorkerStatus = Schema.Literal("pending", "running", "completed", "failed")

/**
 * @since 0.1.0
 * @category models
 */
export type WorkerStatus = typeof WorkerStatus.Type

/**
 * @since 0.1.0
 * @category schemas
 */
export const Benchmark = Schema.Struct({
  id: Schema.String,
  slug: Schema.String,
  name: Schema.String,
  status: optionalOrNull(Schema.String),
  config: optionalOrNull(Data),
  defaultRunConfig: optionalOrNull(Data)
}).annotations({ identifier: "Benchmark" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Benchmark extends Schema.Schema.Type<typeof Benchmark> {}

/**
 * `participantSized` runs sum the tasks of their participants instead of declaring a total. Times are ISO-8601 UTC.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Run = Schema.Struct({
  id: Schema.String,
  benchmarkId: Schema.String,
  benchmarkSlug: optionalOrNull(Schema.String),
  name: optionalOrNull(Schema.String),
  status: RunStatus,
  runKey: optionalOrNull(Schema.String),
  totalTasks: Schema.Int,
  participantSized: optionalOrNull(Schema.Boolean),
  workerCount: optionalOrNull(Schema.Int),
  config: optionalOrNull(Data),
  createdAt: Schema.String,
  updatedAt: Schema.String
}).annotations({ identifier: "Run" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Run extends Schema.Schema.Type<typeof Run> {}

/**
 * A participant's `slug` is its name in the benchmark config, whatever characters that has.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Participant = Schema.Struct({
  id: Schema.String,
  benchmarkId: Schema.String,
  runId: Schema.String,
  slug: Schema.String,
  label: optionalOrNull(Schema.String),
  provider: optionalOrNull(Schema.String),
  status: RunStatus,
  totalTasks: Schema.Int,
  workerCount: Schema.Int,
  config: optionalOrNull(Data)
}).annotations({ identifier: "Participant" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Participant extends Schema.Schema.Type<typeof Participant> {}

/**
 * How many invocations of a step are running, against how many there should be.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ConcurrencySample = Schema.Struct({
  step: Schema.String,
  active: Schema.Int.pipe(Schema.nonNegative()),
  target: Schema.Int.pipe(Schema.nonNegative())
}).annotations({ identifier: "ConcurrencySample" })

/**
 * @since 0.1.0
 * @category models
 */
export interface ConcurrencySample extends Schema.Schema.Type<typeof ConcurrencySample> {}

/**
 * A worker owns the tasks `taskIndexStart` to `taskIndexEnd`, both included, of one participant.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Worker = Schema.Struct({
  id: Schema.String,
  benchmarkId: Schema.String,
  runId: Schema.String,
  participantId: Schema.String,
  workerIndex: Schema.Int,
  workerCount: Schema.Int,
  taskIndexStart: Schema.Int,
  taskIndexEnd: Schema.Int,
  targetConcurrency: optionalOrNull(Schema.Int),
  status: WorkerStatus,
  progressDone: Schema.Int,
  progressInFlight: Schema.Int,
  progressErrors: Schema.Int,
  progressTotal: Schema.Int,
  currentStep: optionalOrNull(Schema.String),
  concurrency: optionalOrNull(Schema.Array(ConcurrencySample))
}).annotations({ identifier: "Worker" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Worker extends Schema.Schema.Type<typeof Worker> {}

/**
 * One process's turn at a worker. `attemptNumber` counts from 1; `status` is running, completed, failed or released
 * (or abandoned, when another process took over after the lease).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Attempt = Schema.Struct({
  id: Schema.String,
  benchmarkId: Schema.String,
  runId: Schema.String,
  participantId: Schema.String,
  workerId: Schema.String,
  attemptNumber: Schema.Int,
  status: Schema.String
}).annotations({ identifier: "Attempt" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Attempt extends Schema.Schema.Type<typeof Attempt> {}

/**
 * What a claimed worker is to do. `taskRange.end` is inclusive.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Assignment = Schema.Struct({
  benchmarkId: Schema.String,
  benchmarkSlug: Schema.String,
  runId: Schema.String,
  participantId: Schema.String,
  participantSlug: Schema.String,
  provider: optionalOrNull(Schema.String),
  workerId: Schema.String,
  workerIndex: Schema.Int,
  workerCount: Schema.Int,
  attemptId: Schema.String,
  attemptNumber: Schema.Int,
  taskRange: Schema.Struct({ start: Schema.Int, end: Schema.Int, count: Schema.Int }),
  targetConcurrency: optionalOrNull(Schema.Int),
  config: optionalOrNull(Data)
}).annotations({ identifier: "Assignment" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Assignment extends Schema.Schema.Type<typeof Assignment> {}

// -----------------------------------------------------------------------------
// requests
// -----------------------------------------------------------------------------

/**
 * Names a run within a benchmark. `run` is its full id.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunRef {
  readonly benchmark: string
  readonly run: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ParticipantRef extends RunRef {
  readonly participant: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface WorkerRef extends ParticipantRef {
  readonly worker: string
}

/**
 * Page of a listing, newest first: `limit` 1 to 500 (default 50), `offset` from 0 (default).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Page = Schema.Struct({
  limit: Schema.optional(Schema.Int.pipe(Schema.between(1, 500))),
  offset: Schema.optional(Schema.Int.pipe(Schema.nonNegative()))
})

/**
 * @since 0.1.0
 * @category models
 */
export interface Page extends Schema.Schema.Type<typeof Page> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const BenchmarkInput = Schema.Struct({
  name: optionalOrNull(Schema.String),
  status: optionalOrNull(Schema.String),
  config: optionalOrNull(Data),
  defaultRunConfig: optionalOrNull(Data)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface BenchmarkInput extends Schema.Schema.Type<typeof BenchmarkInput> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ParticipantInput = Schema.Struct({
  label: optionalOrNull(Schema.String),
  provider: optionalOrNull(Schema.String),
  status: optionalOrNull(RunStatus),
  totalTasks: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  workerCount: optionalOrNull(Schema.Int.pipe(Schema.positive())),
  config: optionalOrNull(Data)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface ParticipantInput extends Schema.Schema.Type<typeof ParticipantInput> {}

/**
 * Creating a run with the `runKey` of an existing one (of the same benchmark) returns that run.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RunInput = Schema.Struct({
  runKey: optionalOrNull(Schema.String),
  name: optionalOrNull(Schema.String),
  totalTasks: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  workerCount: optionalOrNull(Schema.Int.pipe(Schema.positive())),
  participants: optionalOrNull(
    Schema.Array(Schema.Struct({ slug: Schema.NonEmptyString, ...ParticipantInput.fields }))
  ),
  config: optionalOrNull(Data)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface RunInput extends Schema.Schema.Type<typeof RunInput> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const RunPatch = Schema.Struct({ status: optionalOrNull(RunStatus), config: optionalOrNull(Data) })

/**
 * @since 0.1.0
 * @category models
 */
export interface RunPatch extends Schema.Schema.Type<typeof RunPatch> {}

/**
 * With `targetConcurrency` every worker gets that many tasks (`workerCount` follows from it); otherwise the
 * participant's tasks are split evenly over `workerCount` (default 1) contiguous ranges.
 *
 * @since 0.1.0
 * @category schemas
 */
export const PlanWorkersInput = Schema.Struct({
  workerCount: optionalOrNull(Schema.Int.pipe(Schema.positive())),
  targetConcurrency: optionalOrNull(Schema.Int.pipe(Schema.positive())),
  config: optionalOrNull(Data)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface PlanWorkersInput extends Schema.Schema.Type<typeof PlanWorkersInput> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ClaimInput = Schema.Struct({
  processKind: optionalOrNull(Schema.String),
  processKey: optionalOrNull(Schema.String)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface ClaimInput extends Schema.Schema.Type<typeof ClaimInput> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const HeartbeatInput = Schema.Struct({
  attemptId: Schema.String,
  progressDone: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  progressInFlight: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  progressErrors: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  progressTotal: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  currentStep: optionalOrNull(Schema.String),
  concurrency: optionalOrNull(Schema.Array(ConcurrencySample))
})

/**
 * @since 0.1.0
 * @category models
 */
export interface HeartbeatInput extends Schema.Schema.Type<typeof HeartbeatInput> {}

/**
 * One batch of results. `sequenceNumber` counts from 0 per attempt; a repeated one is acknowledged and stored once.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TaskResultsInput = Schema.Struct({
  type: Schema.Literal("task_results"),
  attemptId: Schema.String,
  sequenceNumber: Schema.Int.pipe(Schema.nonNegative()),
  isFinal: Schema.Boolean,
  records: Schema.Array(TaskRecord)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface TaskResultsInput extends Schema.Schema.Type<typeof TaskResultsInput> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const CloseInput = Schema.Struct({
  attemptId: Schema.String,
  errorCode: optionalOrNull(Schema.String),
  errorMessage: optionalOrNull(Schema.String)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface CloseInput extends Schema.Schema.Type<typeof CloseInput> {}

/**
 * One scored row: a participant, or one group of its records. `median`, `p95`, `p99` are the trimmed statistics that
 * the score is computed from; `raw`, where present, are those of all samples.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SummaryRow = Schema.Struct({
  provider: Schema.String,
  dimensions: Data,
  metrics: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      unit: Schema.String,
      median: Schema.Number,
      p95: Schema.Number,
      p99: Schema.Number,
      raw: optionalOrNull(
        Schema.Struct({
          count: Schema.Int,
          min: Schema.Number,
          median: Schema.Number,
          p95: Schema.Number,
          p99: Schema.Number,
          max: Schema.Number
        })
      )
    })
  ),
  compositeScore: Schema.Number,
  successRate: Schema.Number,
  skipped: Schema.Boolean
}).annotations({ identifier: "SummaryRow" })

/**
 * @since 0.1.0
 * @category models
 */
export interface SummaryRow extends Schema.Schema.Type<typeof SummaryRow> {}

/**
 * The scored summary of a run, with where and on what it ran.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RunSummary = Schema.Struct({
  run: Schema.Struct({
    gitSha: optionalOrNull(Schema.String),
    gitRef: optionalOrNull(Schema.String),
    triggeredBy: optionalOrNull(Schema.String),
    nodeVersion: optionalOrNull(Schema.String),
    platform: optionalOrNull(Schema.String),
    arch: optionalOrNull(Schema.String)
  }),
  results: Schema.Array(SummaryRow),
  scoring: optionalOrNull(Schema.Unknown)
}).annotations({ identifier: "RunSummary" })

/**
 * @since 0.1.0
 * @category models
 */
export interface RunSummary extends Schema.Schema.Type<typeof RunSummary> {}

// -----------------------------------------------------------------------------
// results
// -----------------------------------------------------------------------------

const NullableNumber = Schema.NullOr(Schema.Number)

/**
 * Counts and latencies of a set of tasks or steps. Percentiles are nearest-rank over all latencies, exact; every number
 * is null when there is nothing to compute it from. `successRate` is a fraction.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ResultSummary = Schema.Struct({
  taskCount: Schema.Int,
  successCount: Schema.Int,
  errorCount: Schema.Int,
  otherCount: Schema.Int,
  latencyCount: Schema.Int,
  successRate: NullableNumber,
  latencyMs: Schema.Struct({
    min: NullableNumber,
    avg: NullableNumber,
    p50: NullableNumber,
    p95: NullableNumber,
    p99: NullableNumber,
    max: NullableNumber
  }),
  firstStartedAt: Schema.NullOr(Schema.String),
  lastCompletedAt: Schema.NullOr(Schema.String)
}).annotations({ identifier: "ResultSummary" })

/**
 * @since 0.1.0
 * @category models
 */
export interface ResultSummary extends Schema.Schema.Type<typeof ResultSummary> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ParticipantSummary = Schema.Struct({
  participantSlug: Schema.String,
  provider: Schema.NullOr(Schema.String),
  ...ResultSummary.fields
}).annotations({ identifier: "ParticipantSummary" })

/**
 * @since 0.1.0
 * @category models
 */
export interface ParticipantSummary extends Schema.Schema.Type<typeof ParticipantSummary> {}

/**
 * Like {@link ParticipantSummary}, for one step; `stepCount` equals the number of step records.
 *
 * @since 0.1.0
 * @category schemas
 */
export const StepSummary = Schema.Struct({
  stepName: Schema.String,
  stepCount: Schema.Int,
  ...ParticipantSummary.fields
}).annotations({ identifier: "StepSummary" })

/**
 * @since 0.1.0
 * @category models
 */
export interface StepSummary extends Schema.Schema.Type<typeof StepSummary> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const RunResults = Schema.Struct({
  benchmark: Benchmark,
  run: Run,
  generatedAt: Schema.String,
  overall: ResultSummary,
  participants: Schema.Array(ParticipantSummary),
  steps: Schema.Array(StepSummary)
}).annotations({ identifier: "RunResults" })

/**
 * @since 0.1.0
 * @category models
 */
export interface RunResults extends Schema.Schema.Type<typeof RunResults> {}

/**
 * One stored task or step: `stepName` is absent on tasks.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Iteration = Schema.Struct({
  participantSlug: Schema.String,
  provider: Schema.NullOr(Schema.String),
  stepName: Schema.optional(Schema.String),
  taskIndex: Schema.Int,
  status: Schema.String,
  latencyMs: NullableNumber,
  errorCode: Schema.optional(Schema.NullOr(Schema.String)),
  startedAt: Schema.NullOr(Schema.String),
  completedAt: Schema.NullOr(Schema.String),
  data: Schema.NullOr(Data)
}).annotations({ identifier: "Iteration" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Iteration extends Schema.Schema.Type<typeof Iteration> {}

/**
 * @since 0.1.0
 * @category models
 */
export interface IterationsQuery {
  /** Default `"tasks"`. */
  readonly type?: "tasks" | "steps" | undefined
  readonly participant?: string | undefined
  /** Only these steps. With `type: "tasks"` it has no effect. */
  readonly steps?: ReadonlyArray<string> | undefined
}

// -----------------------------------------------------------------------------
// errors
// -----------------------------------------------------------------------------

/**
 * No such benchmark, run, participant, worker or summary.
 *
 * @since 0.1.0
 * @category errors
 */
export class ResourceNotFound extends Schema.TaggedError<ResourceNotFound>("effect-bench/ResourceNotFound")(
  "ResourceNotFound",
  { resource: Schema.Literal("benchmark", "run", "participant", "worker", "summary"), id: Schema.String }
) {
  override get message(): string {
    return `No ${this.resource} "${this.id}".`
  }
}

/**
 * The resource is not in the state that the operation needs: its workers are already planned, or the attempt is no
 * longer the worker's current one. Nothing was changed.
 *
 * @since 0.1.0
 * @category errors
 */
export class ResourceConflict extends Schema.TaggedError<ResourceConflict>("effect-bench/ResourceConflict")(
  "ResourceConflict",
  { reason: Schema.Literal("AlreadyPlanned", "StaleAttempt", "WorkerClosed"), detail: Schema.String }
) {
  override get message(): string {
    return this.detail
  }
}

/**
 * The request was understood and refused: each issue names a field and what it must be. Nothing was changed.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>("effect-bench/InvalidRequest")(
  "InvalidRequest",
  { issues: Schema.Array(Schema.Struct({ field: Schema.String, message: Schema.String })) }
) {
  override get message(): string {
    return this.issues.map((issue) => `${issue.field} ${issue.message}`).join("; ")
  }
}

/**
 * The platform could not carry out the operation. `retryable` tells whether trying the same again can help (a busy
 * database, an unreachable server); a corrupt file or a full disk is not.
 *
 * @since 0.1.0
 * @category errors
 */
export class PlatformFailure extends Schema.TaggedError<PlatformFailure>("effect-bench/PlatformFailure")(
  "PlatformFailure",
  { operation: Schema.String, detail: Schema.String, retryable: Schema.Boolean, cause: Schema.optional(Schema.Defect) }
) {
  override get message(): string {
    return `${this.operation}: ${this.detail}`
  }
}

/**
 * @since 0.1.0
 * @category errors
 */
export type PlatformError = ResourceNotFound | ResourceConflict | InvalidRequest | PlatformFailure

// -----------------------------------------------------------------------------
// service
// -----------------------------------------------------------------------------

/**
 * Where runs are kept. Every operation fails with a {@link PlatformError}; an operation that fails has changed nothing.
 *
 * @since 0.1.0
 * @category services
 */
export class Platform extends Context.Tag("effect-bench/Platform")<
  Platform,
  {
    /** Creates the benchmark or updates it. An absent field leaves an existing value alone; a new name defaults to the slug. */
    readonly upsertBenchmark: (slug: string, input: BenchmarkInput) => Effect.Effect<Benchmark, PlatformError>
    /** Updates an existing benchmark. Fails with {@link ResourceNotFound}. */
    readonly updateBenchmark: (slug: string, input: BenchmarkInput) => Effect.Effect<Benchmark, PlatformError>
    readonly getBenchmark: (slug: string) => Effect.Effect<Benchmark, PlatformError>
    /** The organization's benchmarks, newest first. */
    readonly listBenchmarks: (page: Page) => Effect.Effect<ReadonlyArray<Benchmark>, PlatformError>
    /** Creates a run, or returns the one that has the same `runKey`; participants named in the input are added to either. */
    readonly createRun: (
      benchmark: string,
      input: RunInput
    ) => Effect.Effect<
      {
        readonly run: Run
        readonly participants: ReadonlyArray<Participant>
        readonly organizationSlug: string
      },
      PlatformError
    >
    readonly updateRun: (ref: RunRef, patch: RunPatch) => Effect.Effect<Run, PlatformError>
    readonly getRun: (ref: RunRef) => Effect.Effect<Run, PlatformError>
    /** A benchmark's runs, newest first. */
    readonly listRuns: (benchmark: string, page: Page) => Effect.Effect<ReadonlyArray<Run>, PlatformError>
    /** The organization's runs, newest first; each carries its `benchmarkSlug`. */
    readonly listAllRuns: (page: Page) => Effect.Effect<ReadonlyArray<Run>, PlatformError>
    readonly upsertParticipant: (
      ref: ParticipantRef,
      input: ParticipantInput
    ) => Effect.Effect<Participant, PlatformError>
    readonly getParticipant: (ref: ParticipantRef) => Effect.Effect<Participant, PlatformError>
    /** In the order in which they were registered. */
    readonly listParticipants: (ref: RunRef) => Effect.Effect<ReadonlyArray<Participant>, PlatformError>
    /** Plans a participant's workers once; a second time fails with {@link ResourceConflict} `AlreadyPlanned`. */
    readonly planWorkers: (
      ref: ParticipantRef,
      input: PlanWorkersInput
    ) => Effect.Effect<ReadonlyArray<Worker>, PlatformError>
    /**
     * Hands out the lowest pending worker, or the lowest running one that has been silent for longer than the lease, as
     * a new attempt; null when there is none. Two claimers never get the same worker.
     */
    readonly claimWorker: (ref: ParticipantRef, input: ClaimInput) => Effect.Effect<Assignment | null, PlatformError>
    /** By `workerIndex`. */
    readonly listWorkers: (ref: ParticipantRef) => Effect.Effect<ReadonlyArray<Worker>, PlatformError>
    readonly getWorker: (ref: WorkerRef) => Effect.Effect<Worker, PlatformError>
    /** Records progress and renews the lease. */
    readonly heartbeat: (
      ref: WorkerRef,
      input: HeartbeatInput
    ) => Effect.Effect<{ readonly worker: Worker; readonly attempt: Attempt }, PlatformError>
    /** Stores one batch in one transaction; a repeated (attempt, sequence number) is acknowledged as a duplicate. */
    readonly sendTaskResults: (
      ref: WorkerRef,
      input: TaskResultsInput
    ) => Effect.Effect<
      { readonly accepted: number; readonly eventBatchId: string; readonly duplicate: boolean },
      PlatformError
    >
    /** Closes the attempt and its worker; participant and run follow when it was the last one. */
    readonly completeWorker: (
      ref: WorkerRef,
      input: CloseInput
    ) => Effect.Effect<{ readonly worker: Worker; readonly attempt: Attempt }, PlatformError>
    readonly failWorker: (
      ref: WorkerRef,
      input: CloseInput
    ) => Effect.Effect<{ readonly worker: Worker; readonly attempt: Attempt }, PlatformError>
    /** Gives the worker back: pending again, its next claim gets the next attempt number. */
    readonly releaseWorker: (
      ref: WorkerRef,
      input: CloseInput
    ) => Effect.Effect<{ readonly worker: Worker; readonly attempt: Attempt }, PlatformError>
    /** Stores the scored summary; a later one replaces it. */
    readonly submitSummary: (ref: RunRef, summary: RunSummary) => Effect.Effect<RunSummary, PlatformError>
    /** Fails with {@link ResourceNotFound} `summary` when the run has none. */
    readonly getSummary: (ref: RunRef) => Effect.Effect<RunSummary, PlatformError>
    /** Counts and latencies over all stored records, per participant, and per participant and step. */
    readonly runResults: (ref: RunRef) => Effect.Effect<RunResults, PlatformError>
    /** Stored tasks or steps, by participant, task index and step order. Of two records of one task the later attempt's counts. */
    readonly iterations: (ref: RunRef, query: IterationsQuery) => Effect.Effect<ReadonlyArray<Iteration>, PlatformError>
  }
>() {}
