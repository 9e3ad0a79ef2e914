/** The REST contract as promises: what a client of it offers. Identifiers come in the order of the path, then the body. */
import type { Me, Organization } from "../../Accounts.js"
import type {
  Artifact,
  ArtifactDownload,
  ArtifactInput,
  ArtifactUpload,
  Assignment,
  Attempt,
  Benchmark,
  BenchmarkInput,
  BenchmarkResults,
  ClaimInput,
  CloseInput,
  HeartbeatInput,
  Iteration,
  IterationsQuery,
  Page,
  Participant,
  ParticipantInput,
  ParticipantLogs,
  PlanWorkersInput,
  Run,
  RunImports,
  RunInput,
  RunPatch,
  RunProgress,
  RunResults,
  RunSummary,
  RunTimeline,
  TaskBuckets,
  TaskBucketsQuery,
  TaskResultsInput,
  TimelineQuery,
  Worker,
  WorkerPatch
} from "../../Platform.js"

/** Where the platform is, and who asks. What is absent is looked for in the environment. */
export interface BenchmarkClientOptions {
  /** Root of the platform; `/api/v1` is appended. Default `BENCHMARKS_PLATFORM_URL`, else the public platform. */
  readonly baseUrl?: string | undefined
  /** Default `BENCHMARKS_PLATFORM_API_KEY`. */
  readonly apiKey?: string | undefined
  /** An access token of a login; goes before `apiKey`. Default `BENCHMARKS_PLATFORM_TOKEN`. */
  readonly token?: string | undefined
  /** Slug of the organization to act for, where the token gives access to several. */
  readonly orgSlug?: string | undefined
  /** Its id, instead of the slug. */
  readonly orgId?: string | undefined
  /** Sends every request, uploads and downloads of artifacts included. Default the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface Items<A> {
  readonly items: ReadonlyArray<A>
}

export interface Closed {
  readonly worker: Worker
  readonly attempt: Attempt
}

export interface UploadInput extends ArtifactInput {
  readonly body: Uint8Array | string
  /**
   * Whether the bytes are compressed before they are sent; content type and `metadata.encoding` say so then. Default
   * `"none"`.
   */
  readonly compression?: "none" | "gzip" | undefined
}

/** Every method rejects with a `BenchmarkApiError`. */
export interface PlatformMethods {
  readonly listBenchmarks: (page?: Page) => Promise<Items<Benchmark>>
  readonly getBenchmark: (benchmarkSlug: string) => Promise<{ readonly benchmark: Benchmark }>
  readonly upsertBenchmark: (
    benchmarkSlug: string,
    input?: BenchmarkInput
  ) => Promise<{ readonly benchmark: Benchmark }>
  readonly updateBenchmark: (benchmarkSlug: string, input: BenchmarkInput) => Promise<{ readonly benchmark: Benchmark }>
  readonly getBenchmarkResults: (benchmarkSlug: string, page?: Page) => Promise<BenchmarkResults>

  readonly createRun: (
    benchmarkSlug: string,
    input?: RunInput
  ) => Promise<{
    readonly run: Run
    readonly participants: ReadonlyArray<Participant>
    readonly organizationSlug: string
  }>
  readonly listRuns: (benchmarkSlug: string, page?: Page) => Promise<Items<Run>>
  readonly listAllRuns: (page?: Page) => Promise<Items<Run>>
  readonly getRun: (benchmarkSlug: string, runId: string) => Promise<{ readonly run: Run }>
  readonly updateRun: (benchmarkSlug: string, runId: string, patch: RunPatch) => Promise<{ readonly run: Run }>
  /** Sets the status of the run: `completed` unless told otherwise. */
  readonly closeRun: (
    benchmarkSlug: string,
    runId: string,
    input?: { readonly status?: "completed" | "failed" | undefined }
  ) => Promise<{ readonly run: Run }>
  readonly getRunProgress: (benchmarkSlug: string, runId: string) => Promise<RunProgress>
  readonly submitRunSummary: (
    benchmarkSlug: string,
    runId: string,
    summary: RunSummary
  ) => Promise<{ readonly summary: RunSummary }>
  readonly getRunSummary: (benchmarkSlug: string, runId: string) => Promise<{ readonly summary: RunSummary }>

  readonly listParticipants: (benchmarkSlug: string, runId: string) => Promise<Items<Participant>>
  readonly getParticipant: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string
  ) => Promise<{ readonly participant: Participant }>
  readonly upsertParticipant: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    input?: ParticipantInput
  ) => Promise<{ readonly participant: Participant }>
  readonly updateParticipant: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    input: ParticipantInput
  ) => Promise<{ readonly participant: Participant }>
  readonly getParticipantLogs: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    query?: { readonly maxLines?: number | undefined }
  ) => Promise<ParticipantLogs>

  readonly createWorkers: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    input?: PlanWorkersInput
  ) => Promise<{ readonly workers: ReadonlyArray<Worker> }>
  readonly listWorkers: (benchmarkSlug: string, runId: string, participantSlug: string) => Promise<Items<Worker>>
  readonly getWorker: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    workerId: string
  ) => Promise<{ readonly worker: Worker }>
  readonly updateWorker: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    workerId: string,
    patch: WorkerPatch
  ) => Promise<{ readonly worker: Worker }>
  readonly claimWorker: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    input?: ClaimInput
  ) => Promise<{ readonly assignment: Assignment | null }>
  readonly heartbeatWorker: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    workerId: string,
    input: HeartbeatInput
  ) => Promise<Closed>
  readonly releaseWorker: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    workerId: string,
    input: CloseInput
  ) => Promise<Closed>
  readonly completeWorker: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    workerId: string,
    input: CloseInput
  ) => Promise<Closed>
  readonly failWorker: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    workerId: string,
    input: CloseInput
  ) => Promise<Closed>
  /** Sends one batch of at most 5000 records. Sending it again under its sequence number stores it once. */
  readonly sendTaskResults: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    workerId: string,
    input: Omit<TaskResultsInput, "type"> & { readonly type?: "task_results" | undefined }
  ) => Promise<{ readonly accepted: number; readonly eventBatchId: string; readonly duplicate: boolean }>

  readonly createArtifact: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    workerId: string,
    input: ArtifactInput
  ) => Promise<ArtifactUpload>
  /** Creates an artifact and sends its bytes. */
  readonly uploadArtifact: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    workerId: string,
    input: UploadInput
  ) => Promise<ArtifactUpload>
  readonly listRunArtifacts: (benchmarkSlug: string, runId: string) => Promise<Items<Artifact>>
  readonly listWorkerArtifacts: (
    benchmarkSlug: string,
    runId: string,
    participantSlug: string,
    workerId: string
  ) => Promise<Items<Artifact>>
  readonly getArtifact: (benchmarkSlug: string, runId: string, artifactId: string) => Promise<ArtifactDownload>
  /** The bytes of an artifact, uncompressed if they were sent compressed. */
  readonly downloadArtifact: (
    benchmarkSlug: string,
    runId: string,
    artifactId: string
  ) => Promise<{ readonly artifact: Artifact; readonly content: Uint8Array }>

  readonly getRunResults: (benchmarkSlug: string, runId: string) => Promise<RunResults>
  readonly getTaskResults: (benchmarkSlug: string, runId: string, query?: TaskBucketsQuery) => Promise<TaskBuckets>
  readonly getRunTimeline: (benchmarkSlug: string, runId: string, query?: TimelineQuery) => Promise<RunTimeline>
  readonly getRunImports: (benchmarkSlug: string, runId: string) => Promise<RunImports>
  readonly getRunIterations: (
    benchmarkSlug: string,
    runId: string,
    query?: IterationsQuery
  ) => Promise<{ readonly items: ReadonlyArray<Iteration> }>

  readonly getMe: () => Promise<Me>
  readonly listOrganizations: () => Promise<Items<Organization>>
  readonly setActiveOrganization: (slug: string) => Promise<{ readonly organization: Organization }>
}
