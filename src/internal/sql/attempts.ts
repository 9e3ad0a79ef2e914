import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { WorkerRef } from "../../Platform.js"
import { Attempt, ResourceConflict } from "../../Platform.js"
import type { Database } from "./database.js"
import type { Lookups, WorkerState } from "./lookups.js"

/** An attempt with why it has failed. */
export const AttemptState = Schema.Struct({ ...Attempt.fields, errorCode: Schema.NullOr(Schema.String) })
export type AttemptState = typeof AttemptState.Type

/** Attempts, and whether one of them still speaks for its worker. */
export const make = ({ lock, sql }: Database, find: Lookups) => {
  const getAs = <A, I>(row: Schema.Schema<A, I>) => {
    const single = SqlSchema.single({
      Request: Schema.String,
      Result: row,
      execute: (id) => sql`
        SELECT a.id, r.benchmark_id AS "benchmarkId", p.run_id AS "runId", w.participant_id AS "participantId",
          a.worker_id AS "workerId", a.attempt_number AS "attemptNumber", a.status, a.error_code AS "errorCode"
        FROM attempts a JOIN workers w ON w.id = a.worker_id JOIN participants p ON p.id = w.participant_id
          JOIN runs r ON r.id = p.run_id
        WHERE a.id = ${id}`
    })
    return (id: string) => single(id).pipe(Effect.catchTag("NoSuchElementException", Effect.die))
  }
  const get = getAs(Attempt)
  const getState = getAs(AttemptState)

  const countStored = SqlSchema.single({
    Request: Schema.Struct({ participantSeq: Schema.Int, taskIndexStart: Schema.Int, taskIndexEnd: Schema.Int }),
    Result: Schema.Struct({ done: Schema.Int, errors: Schema.Int }),
    execute: ({ participantSeq, taskIndexEnd, taskIndexStart }) => sql`
      SELECT CAST(COUNT(*) AS INTEGER) AS done,
        CAST(COUNT(CASE WHEN status = 'error' THEN 1 END) AS INTEGER) AS errors
      FROM task_results
      WHERE participant_seq = ${participantSeq} AND task_index BETWEEN ${taskIndexStart} AND ${taskIndexEnd}`
  })

  /** The worker as it is now; nobody else changes it until the transaction ends. */
  const lockWorker = Effect.fnUntraced(function* (ref: WorkerRef) {
    yield* lock("workers", ref.worker)
    return yield* find.workerState(ref)
  })

  return {
    lockWorker,
    /** The worker's latest attempt, running or ended: `attemptId` must be its id. */
    latest: Effect.fnUntraced(function* (worker: WorkerState, attemptId: string) {
      if (worker.currentAttemptId !== attemptId) {
        return yield* new ResourceConflict({
          reason: "StaleAttempt",
          detail: `Attempt "${attemptId}" is not the current one of worker "${worker.id}".`
        })
      }
      return yield* getState(attemptId)
    }),
    /** How many of the worker's tasks are stored. */
    countStored: (worker: WorkerState) =>
      countStored(worker).pipe(Effect.catchTag("NoSuchElementException", Effect.die)),
    /** What an operation answers after it has changed a worker. */
    result: (ref: WorkerRef, attemptId: string) => Effect.all({ worker: find.worker(ref), attempt: get(attemptId) })
  }
}

export type Attempts = ReturnType<typeof make>

/** Fails unless the worker's latest attempt is running. */
export const ensureRunning = (worker: WorkerState, attempt: Attempt): Effect.Effect<void, ResourceConflict> => {
  if (attempt.status === "running") return Effect.void
  return attempt.status === "released" || worker.status === "pending"
    ? Effect.fail(
        new ResourceConflict({
          reason: "StaleAttempt",
          detail: `Attempt ${attempt.attemptNumber} of worker "${worker.id}" has been released.`
        })
      )
    : Effect.fail(
        new ResourceConflict({ reason: "WorkerClosed", detail: `Worker "${worker.id}" is already ${attempt.status}.` })
      )
}

/** Fails unless the worker's latest attempt is running, or has failed: what it could not deliver may come later. */
export const ensureDelivering = (worker: WorkerState, attempt: Attempt): Effect.Effect<void, ResourceConflict> =>
  attempt.status === "failed" ? Effect.void : ensureRunning(worker, attempt)
