import { Effect } from "effect"
import type { ParticipantInput, PlatformError, TaskResultsInput, WorkerRef } from "../../src/Platform.js"
import { Platform } from "../../src/Platform.js"
import type { StepRecord, TaskRecord } from "../../src/Record.js"

export const startedAt = "2026-01-02T03:04:05.000Z"
export const completedAt = "2026-01-02T03:04:06.000Z"

export const step = (name: string, fields: Partial<StepRecord> = {}): StepRecord => ({
  name,
  status: "success",
  startedAt,
  completedAt,
  latencyMs: 1,
  ...fields
})

export const task = (taskIndex: number, fields: Partial<TaskRecord> = {}): TaskRecord => ({
  taskIndex,
  status: "success",
  startedAt,
  completedAt,
  latencyMs: 10,
  steps: [],
  ...fields
})

/** A run of the benchmark "bench" with these participants, in this order. */
export const createRun = (participants: Readonly<Record<string, ParticipantInput>>, runKey?: string) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    yield* platform.upsertBenchmark("bench", {})
    const { run } = yield* platform.createRun("bench", {
      runKey,
      participants: Object.entries(participants).map(([slug, input]) => ({ slug, ...input }))
    })
    return { benchmark: "bench", run: run.id }
  })

/** Plans and claims the first worker of a participant. */
export const claim = (ref: Omit<WorkerRef, "worker">, workerCount = 1) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    if ((yield* platform.listWorkers(ref)).length === 0) yield* platform.planWorkers(ref, { workerCount })
    const assignment = yield* platform.claimWorker(ref, {})
    if (assignment === null) return yield* Effect.dieMessage("no worker to claim")
    return { assignment, worker: { ...ref, worker: assignment.workerId }, attemptId: assignment.attemptId }
  })

/** A run with one participant "alpha" whose only worker is claimed. */
export const claimed = (totalTasks = 10) =>
  Effect.gen(function* () {
    const run = yield* createRun({ alpha: { totalTasks } })
    return { run, ...(yield* claim({ ...run, participant: "alpha" })) }
  })

export const batch = (
  attemptId: string,
  sequenceNumber: number,
  records: ReadonlyArray<TaskRecord>,
  isFinal = false
): TaskResultsInput => ({ type: "task_results", attemptId, sequenceNumber, isFinal, records })

/** The tag, and what tells one error of that tag from another. */
export const failure = <R>(effect: Effect.Effect<unknown, PlatformError, R>): Effect.Effect<string, never, R> =>
  Effect.matchEffect(effect, {
    onSuccess: () => Effect.dieMessage("expected a failure"),
    onFailure: (error) => {
      switch (error._tag) {
        case "ResourceNotFound":
          return Effect.succeed(`${error._tag} ${error.resource}`)
        case "ResourceConflict":
          return Effect.succeed(`${error._tag} ${error.reason}`)
        default:
          return Effect.succeed(`${error._tag} ${error.message}`)
      }
    }
  })
