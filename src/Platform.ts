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
import type * as Stream from "effect/Stream"
import type { PlatformError } from "./internal/platform/errors.js"
import type {
  ArtifactDownload,
  ArtifactInput,
  ArtifactUpload,
  BenchmarkInput,
  ClaimInput,
  CloseInput,
  HeartbeatInput,
  Page,
  ParticipantInput,
  ParticipantRef,
  PlanWorkersInput,
  RunInput,
  RunPatch,
  RunRef,
  RunSummary,
  TaskResultsInput,
  WorkerPatch,
  WorkerRef
} from "./internal/platform/requests.js"
import type {
  Artifact,
  Assignment,
  Attempt,
  Benchmark,
  Participant,
  Run,
  Worker
} from "./internal/platform/resources.js"
import type {
  BenchmarkResults,
  Iteration,
  IterationsQuery,
  ParticipantLogs,
  RunImports,
  RunProgress,
  RunResults,
  RunTimeline,
  TaskBuckets,
  TaskBucketsQuery,
  TimelineQuery
} from "./internal/platform/results.js"

export * from "./internal/platform/errors.js"
export * from "./internal/platform/limits.js"
export * from "./internal/platform/requests.js"
export * from "./internal/platform/resources.js"
export * from "./internal/platform/results.js"

/**
 * Where a platform keeps its runs: in a database of its own (`location` is the file, or `:memory:`), or behind a base URL.
 *
 * @since 0.1.0
 * @category schemas
 */
export const PlatformOrigin = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("store"), location: Schema.String }),
  Schema.Struct({
    kind: Schema.Literal("remote"),
    baseUrl: Schema.String,
    organization: Schema.optional(Schema.String)
  })
)

/**
 * @since 0.1.0
 * @category models
 */
export type PlatformOrigin = typeof PlatformOrigin.Type

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
    /** Updates an existing participant. Fails with {@link ResourceNotFound}. */
    readonly updateParticipant: (
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
    /** Changes a worker by hand; participant and run follow its status. */
    readonly updateWorker: (ref: WorkerRef, patch: WorkerPatch) => Effect.Effect<Worker, PlatformError>
    /** Records progress and renews the lease. */
    readonly heartbeat: (
      ref: WorkerRef,
      input: HeartbeatInput
    ) => Effect.Effect<{ readonly worker: Worker; readonly attempt: Attempt }, PlatformError>
    /**
     * Stores one batch in one transaction; a repeated (attempt, sequence number) is acknowledged as a duplicate. Taken from
     * the worker's latest attempt while it runs, and also when that has failed: what a process could not deliver may come
     * later.
     */
    readonly sendTaskResults: (
      ref: WorkerRef,
      input: TaskResultsInput
    ) => Effect.Effect<
      { readonly accepted: number; readonly eventBatchId: string; readonly duplicate: boolean },
      PlatformError
    >
    /**
     * Closes the attempt and its worker; participant and run follow when it was the last one. A worker that failed only
     * because its results could not be delivered (`flush_failed`) may be completed once they are.
     */
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
    /** How far the run is, and which steps are ready. */
    readonly runProgress: (ref: RunRef) => Effect.Effect<RunProgress, PlatformError>
    /** A benchmark's runs with their results, newest first. */
    readonly benchmarkResults: (benchmark: string, page: Page) => Effect.Effect<BenchmarkResults, PlatformError>
    readonly taskBuckets: (ref: RunRef, query: TaskBucketsQuery) => Effect.Effect<TaskBuckets, PlatformError>
    readonly runTimeline: (ref: RunRef, query: TimelineQuery) => Effect.Effect<RunTimeline, PlatformError>
    readonly runImports: (ref: RunRef) => Effect.Effect<RunImports, PlatformError>
    /** The last `maxLines` (default 1000) lines of the newest log of each worker. */
    readonly participantLogs: (
      ref: ParticipantRef,
      query: { readonly maxLines?: number | undefined }
    ) => Effect.Effect<ParticipantLogs, PlatformError>
    /** First step of an upload: the artifact is listed from now on, its bytes follow. */
    readonly createArtifact: (ref: WorkerRef, input: ArtifactInput) => Effect.Effect<ArtifactUpload, PlatformError>
    /** Second step: stores the bytes. Doing it again replaces them. */
    readonly uploadArtifact: (upload: ArtifactUpload, content: Uint8Array) => Effect.Effect<void, PlatformError>
    /** Newest first. */
    readonly listRunArtifacts: (ref: RunRef) => Effect.Effect<ReadonlyArray<Artifact>, PlatformError>
    /** Newest first. */
    readonly listWorkerArtifacts: (ref: WorkerRef) => Effect.Effect<ReadonlyArray<Artifact>, PlatformError>
    /** Fails with {@link ResourceNotFound} `artifact` when the run has none with this id. */
    readonly getArtifact: (ref: RunRef, id: string) => Effect.Effect<ArtifactDownload, PlatformError>
    /** The bytes as they were uploaded. Fails with {@link ResourceNotFound} `artifact` when they never were. */
    readonly downloadArtifact: (download: ArtifactDownload) => Stream.Stream<Uint8Array, PlatformError>
    /** What this platform is, for people and for delivering to it later. */
    readonly origin: PlatformOrigin
  }
>() {}
