import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type {
  ArtifactInput,
  Assignment,
  Attempt,
  HeartbeatInput,
  PlatformError,
  Run,
  RunProgress,
  TaskResultsInput,
  Worker
} from "../../src/Platform.js"
import { Platform, PlatformFailure, RequestTooLarge, ResourceConflict } from "../../src/Platform.js"
import type { TaskRecord } from "../../src/Record.js"

/** Operations that a run uses. */
export type Operation =
  | "upsertBenchmark"
  | "createRun"
  | "getRun"
  | "planWorkers"
  | "claimWorker"
  | "heartbeat"
  | "updateRun"
  | "createArtifact"
  | "uploadArtifact"
  | "runProgress"
  | "listWorkers"
  | "sendTaskResults"
  | "completeWorker"
  | "failWorker"
  | "releaseWorker"
  | "submitSummary"

export interface Call {
  readonly operation: Operation
  readonly input: unknown
  /** When it was made, in milliseconds. */
  readonly at: number
}

/** What becomes of one call: `before` it is carried out, and `after`. An effect that fails makes the call fail. */
export interface Behaviour {
  readonly before?: Effect.Effect<void, PlatformError>
  readonly after?: Effect.Effect<void, PlatformError>
}

export const transient = new PlatformFailure({ operation: "fake", detail: "busy", retryable: true })

export const permanent = new PlatformFailure({ operation: "fake", detail: "disk full", retryable: false })

/** The worker has been given to another process. */
export const stale = new ResourceConflict({ reason: "StaleAttempt", detail: "the attempt is not the current one" })

export const tooLarge = new RequestTooLarge({ operation: "sendTaskResults" })

export const well: Behaviour = {}

export const refuses = (error: PlatformError): Behaviour => ({ before: Effect.fail(error) })

/** Carried out, but the answer is lost. */
export const losesAnswer: Behaviour = { after: Effect.fail(transient) }

/** Never carried out, never answered. */
export const hangs: Behaviour = { before: Effect.never }

/** Carried out, never answered. */
export const hangsAfter: Behaviour = { after: Effect.never }

export const dies: Behaviour = { before: Effect.die(new TypeError("broken")) }

const createdAt = "2026-01-01T00:00:00.000Z"

/** What a worker has left beside its results. */
export interface StoredArtifact {
  readonly input: ArtifactInput
  /** Undefined until the bytes have come. */
  content: Uint8Array | undefined
}

/** A platform in memory with one participant of one worker: keeps every call, and stores results as the contract says. */
export class FakePlatform {
  readonly calls: Array<Call> = []
  /** Results by sequence number. */
  readonly batches = new Map<number, TaskResultsInput>()
  /** Null when every worker is taken. */
  assignment: Assignment | null = {
    benchmarkId: "benchmark-id",
    benchmarkSlug: "demo",
    runId: "run-id",
    participantId: "participant-id",
    participantSlug: "alpha",
    workerId: "worker-id",
    workerIndex: 0,
    workerCount: 1,
    attemptId: "attempt-id",
    attemptNumber: 1,
    taskRange: { start: 5, end: 104, count: 100 }
  }
  /** By their id, in the order in which they were made. */
  readonly artifacts = new Map<string, StoredArtifact>()
  /** Steps that the progress of the run shows as ready. */
  readonly ready = new Set<string>()
  /** What a listing of the workers shows; the only one, unless a test says otherwise. */
  workers: ReadonlyArray<Worker> | undefined = undefined
  /** Whether a batch is larger than the platform takes. */
  isTooLarge: (batch: TaskResultsInput) => boolean = () => false
  private readonly behaviours = new Map<Operation, { readonly next: Array<Behaviour>; readonly then: Behaviour }>()

  /** What becomes of the next calls of an operation, one each, and of all further ones. */
  behave(operation: Operation, next: ReadonlyArray<Behaviour>, then: Behaviour = well): void {
    this.behaviours.set(operation, { next: [...next], then })
  }

  operations(): ReadonlyArray<Operation> {
    return this.calls.map(({ operation }) => operation)
  }

  inputs(operation: Operation): ReadonlyArray<unknown> {
    return this.calls.filter((call) => call.operation === operation).map(({ input }) => input)
  }

  times(operation: Operation): ReadonlyArray<number> {
    return this.calls.filter((call) => call.operation === operation).map(({ at }) => at)
  }

  get heartbeats(): ReadonlyArray<HeartbeatInput> {
    return this.inputs("heartbeat").map((input) => (Array.isArray(input) ? input[1] : undefined))
  }

  /** Every stored record, batch by batch. */
  get records(): ReadonlyArray<TaskRecord> {
    return Array.from(this.batches.entries())
      .sort(([a], [b]) => a - b)
      .flatMap(([, { records }]) => records)
  }

  get layer(): Layer.Layer<Platform> {
    const closed = { worker: this.worker, attempt: this.attempt }
    return Layer.mock(Platform, {
      origin: { kind: "remote", baseUrl: "https://bench.example" },
      upsertBenchmark: (slug, input) =>
        this.call("upsertBenchmark", [slug, input], () => ({ id: "benchmark-id", slug, name: slug })),
      createRun: (benchmark, input) =>
        this.call("createRun", [benchmark, input], () => ({
          run: this.run,
          participants: [],
          organizationSlug: "org"
        })),
      getRun: (ref) => this.call("getRun", [ref], () => this.run),
      updateRun: (ref, patch) => this.call("updateRun", [ref, patch], () => this.run),
      planWorkers: (ref, input) => this.call("planWorkers", [ref, input], () => [this.worker]),
      claimWorker: (ref, input) => this.call("claimWorker", [ref, input], () => this.assignment),
      heartbeat: (ref, input) => this.call("heartbeat", [ref, input], () => closed),
      runProgress: (ref) => this.call("runProgress", [ref], () => this.progress),
      listWorkers: (ref) => this.call("listWorkers", [ref], () => this.workers ?? [this.worker]),
      createArtifact: (ref, input) =>
        this.call("createArtifact", [ref, input], () => {
          const id = `artifact-${this.artifacts.size}`
          this.artifacts.set(id, { input, content: undefined })
          const artifact = { id, runId: "run-id", workerId: "worker-id", kind: input.kind, objectKey: id, createdAt }
          return { artifact, artifactId: id, uploadUrl: `https://objects.example/${id}`, objectKey: id }
        }),
      uploadArtifact: (upload, content) =>
        this.call("uploadArtifact", [upload, content], () => {
          const artifact = this.artifacts.get(upload.artifactId)
          if (artifact !== undefined) artifact.content = content
        }),
      sendTaskResults: (ref, input) =>
        this.call("sendTaskResults", [ref, input], () => {
          if (this.isTooLarge(input)) return tooLarge
          const duplicate = this.batches.has(input.sequenceNumber)
          if (!duplicate) this.batches.set(input.sequenceNumber, { ...input, records: [...input.records] })
          return { accepted: input.records.length, eventBatchId: `batch-${input.sequenceNumber}`, duplicate }
        }),
      completeWorker: (ref, input) => this.call("completeWorker", [ref, input], () => closed),
      failWorker: (ref, input) => this.call("failWorker", [ref, input], () => closed),
      releaseWorker: (ref, input) => this.call("releaseWorker", [ref, input], () => closed),
      submitSummary: (ref, summary) => this.call("submitSummary", [ref, summary], () => summary)
    })
  }

  private call<A>(
    operation: Operation,
    input: unknown,
    carryOut: () => A | RequestTooLarge
  ): Effect.Effect<A, PlatformError> {
    return Effect.gen(this, function* () {
      this.calls.push({ operation, input, at: yield* Clock.currentTimeMillis })
      const behaviour = this.behaviours.get(operation)
      const { after, before } = behaviour?.next.shift() ?? behaviour?.then ?? well
      if (before !== undefined) yield* before
      const result = carryOut()
      if (result instanceof RequestTooLarge) return yield* result
      if (after !== undefined) yield* after
      return result
    })
  }

  private readonly run: Run = {
    id: "run-id",
    benchmarkId: "benchmark-id",
    status: "planned",
    totalTasks: 100,
    createdAt,
    updatedAt: createdAt
  }

  /** As the contract has it, but only the readiness is true. */
  private get progress(): RunProgress {
    const participants = { planned: 0, inProgress: 1, completed: 0, failed: 0, total: 1 }
    return {
      run: { id: "run-id", status: "in_progress", totalTasks: 100, workerCount: 1 },
      summary: { status: "in_progress", started: true, completed: false, participants },
      freshnessWindowSeconds: 15,
      generatedAt: createdAt,
      participants: [
        {
          id: "participant-id",
          slug: "alpha",
          provider: "alpha",
          status: "in_progress",
          totalTasks: 100,
          workerCount: 1,
          workers: { pending: 0, running: 1, completed: 0, failed: 0, stale: 0, total: 1 },
          tasks: { done: 0, inFlight: 0, errors: 0, total: 100, completionRatio: 0 },
          concurrency: Array.from(this.ready, (step) => ({
            step,
            active: 1,
            target: 1,
            ready: true,
            freshWorkerCount: 1
          }))
        }
      ]
    }
  }

  readonly worker: Worker = {
    id: "worker-id",
    benchmarkId: "benchmark-id",
    runId: "run-id",
    participantId: "participant-id",
    workerIndex: 0,
    workerCount: 1,
    taskIndexStart: 5,
    taskIndexEnd: 104,
    status: "pending",
    progressDone: 0,
    progressInFlight: 0,
    progressErrors: 0,
    progressTotal: 100
  }

  private readonly attempt: Attempt = {
    id: "attempt-id",
    benchmarkId: "benchmark-id",
    runId: "run-id",
    participantId: "participant-id",
    workerId: "worker-id",
    attemptNumber: 1,
    status: "running"
  }
}
