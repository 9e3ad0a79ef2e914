import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Assignment, Attempt, PlatformError, TaskResultsInput, Worker } from "../../src/Platform.js"
import { Platform, PlatformFailure } from "../../src/Platform.js"
import type { TaskRecord } from "../../src/Record.js"

/** Operations that a run uses. */
export type Operation =
  | "upsertBenchmark"
  | "createRun"
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
          run: {
            id: "run-id",
            benchmarkId: "benchmark-id",
            status: "planned" as const,
            totalTasks: 100,
            createdAt,
            updatedAt: createdAt
          },
          participants: [],
          organizationSlug: "org"
        })),
      planWorkers: (ref, input) => this.call("planWorkers", [ref, input], () => [this.worker]),
      claimWorker: (ref, input) => this.call("claimWorker", [ref, input], () => this.assignment),
      heartbeat: (ref, input) => this.call("heartbeat", [ref, input], () => closed),
      sendTaskResults: (ref, input) =>
        this.call("sendTaskResults", [ref, input], () => {
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

  private call<A>(operation: Operation, input: unknown, carryOut: () => A): Effect.Effect<A, PlatformError> {
    return Effect.gen(this, function* () {
      this.calls.push({ operation, input, at: yield* Clock.currentTimeMillis })
      const behaviour = this.behaviours.get(operation)
      const { after, before } = behaviour?.next.shift() ?? behaviour?.then ?? well
      if (before !== undefined) yield* before
      const result = carryOut()
      if (after !== undefined) yield* after
      return result
    })
  }

  private readonly worker: Worker = {
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
