import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Platform, TaskResultsInput, WorkerRef } from "../../Platform.js"
import { limits, refuse } from "../platform/validation.js"
import type { Attempts } from "./attempts.js"
import { ensureDelivering } from "./attempts.js"
import { bulkInsert } from "./bulkInsert.js"
import type { Database } from "./database.js"
import { newId, now } from "./database.js"
import type { Lookups, WorkerState } from "./lookups.js"
import type { ResultRows } from "./resultRows.js"
import { encodeResults, stepTable, taskTable } from "./resultRows.js"

/**
 * Storing batches of results. Of two records of one task the later attempt's counts; within an attempt, that of the
 * later batch; within a batch, the later one.
 */
export const make = (
  database: Database,
  find: Lookups,
  attempts: Attempts
): Pick<Platform["Type"], "sendTaskResults"> => {
  const { read, sql, write } = database

  const findBatch = SqlSchema.findOne({
    Request: Schema.Struct({ workerId: Schema.String, attemptId: Schema.String, sequenceNumber: Schema.Int }),
    Result: Schema.Struct({ id: Schema.String, eventCount: Schema.Int }),
    execute: ({ attemptId, sequenceNumber, workerId }) => sql`SELECT id, event_count AS "eventCount" FROM event_batches
      WHERE attempt_id = ${attemptId} AND sequence_number = ${sequenceNumber} AND worker_id = ${workerId}`
  })

  const findStored = SqlSchema.findAll({
    Request: Schema.Struct({ participantSeq: Schema.Int, taskIndexes: Schema.Array(Schema.Int) }),
    Result: Schema.Struct({ taskIndex: Schema.Int, attemptNumber: Schema.Int, sequenceNumber: Schema.Int }),
    execute: ({ participantSeq, taskIndexes }) => sql`
      SELECT task_index AS "taskIndex", attempt_number AS "attemptNumber", sequence_number AS "sequenceNumber"
      FROM task_results WHERE participant_seq = ${participantSeq} AND task_index IN ${sql.in(taskIndexes)}`
  })

  // Skips from name to name instead of reading every row.
  const findStepNames = SqlSchema.findAll({
    Request: Schema.Int,
    Result: Schema.Struct({ name: Schema.String }),
    execute: (participantSeq) => sql`
      WITH RECURSIVE names (name) AS (
        SELECT MIN(name) FROM step_results WHERE participant_seq = ${participantSeq}
        UNION ALL
        SELECT (SELECT MIN(s.name) FROM step_results s WHERE s.participant_seq = ${participantSeq} AND s.name > names.name)
        FROM names WHERE names.name IS NOT NULL
      )
      SELECT name FROM names WHERE name IS NOT NULL LIMIT ${manyNames + 1}`
  })

  const deleteTasks = Effect.fnUntraced(function* (participantSeq: number, taskIndexes: ReadonlyArray<number>) {
    const names = (yield* findStepNames(participantSeq)).map((row) => row.name)
    const ofNames = names.length > manyNames ? sql`` : sql`AND name IN ${sql.in(names)}`
    if (names.length > 0) {
      yield* sql`DELETE FROM step_results
        WHERE participant_seq = ${participantSeq} ${ofNames} AND task_index IN ${sql.in(taskIndexes)}`
    }
    yield* sql`DELETE FROM task_results
      WHERE participant_seq = ${participantSeq} AND task_index IN ${sql.in(taskIndexes)}`
  })

  const insert = bulkInsert(sql)

  // Records that a later batch of the same attempt has overtaken are left out; those that are older are replaced.
  const insertResults = Effect.fnUntraced(function* (participantSeq: number, { steps, tasks }: ResultRows) {
    const stored = new Map<number, { readonly attemptNumber: number; readonly sequenceNumber: number }>()
    for (const taskIndexes of Arr.chunksOf(
      tasks.map((task) => task.task_index),
      lookupChunk
    )) {
      for (const row of yield* findStored({ participantSeq, taskIndexes: padded(taskIndexes) })) {
        stored.set(row.taskIndex, row)
      }
    }
    if (stored.size === 0) {
      yield* insert(taskTable, tasks)
      return yield* insert(stepTable, steps)
    }
    const overtaken = new Set<number>()
    for (const { attempt_number, sequence_number, task_index } of tasks) {
      const other = stored.get(task_index)
      if (other !== undefined && other.attemptNumber === attempt_number && other.sequenceNumber > sequence_number) {
        overtaken.add(task_index)
      }
    }
    const replaced = [...stored.keys()].filter((taskIndex) => !overtaken.has(taskIndex))
    if (replaced.length > 0) yield* deleteTasks(participantSeq, replaced)
    yield* insert(
      taskTable,
      tasks.filter((task) => !overtaken.has(task.task_index))
    )
    yield* insert(
      stepTable,
      steps.filter((step) => !overtaken.has(step.task_index))
    )
  })

  /** The attempt that may store the batch, or what has been answered to the same batch before. */
  const examine = Effect.fnUntraced(function* (worker: WorkerState, input: TaskResultsInput) {
    const { attemptId, sequenceNumber } = input
    const batch = yield* findBatch({ workerId: worker.id, attemptId, sequenceNumber })
    if (Option.isSome(batch)) {
      return { duplicate: true, eventBatchId: batch.value.id, accepted: batch.value.eventCount } as const
    }
    const attempt = yield* attempts.latest(worker, attemptId)
    yield* ensureDelivering(worker, attempt)
    return { duplicate: false, attemptNumber: attempt.attemptNumber, late: attempt.status === "failed" } as const
  })

  const store = Effect.fnUntraced(function* (ref: WorkerRef, input: TaskResultsInput, rows: ResultRows) {
    const worker = yield* attempts.lockWorker(ref)
    const examined = yield* examine(worker, input)
    if (examined.duplicate) return examined
    const id = yield* newId
    const time = yield* now
    yield* sql`INSERT INTO event_batches ${sql.insert({
      id,
      run_id: worker.runId,
      worker_id: worker.id,
      attempt_id: input.attemptId,
      sequence_number: input.sequenceNumber,
      batch_type: input.type,
      is_final: input.isFinal ? 1 : 0,
      event_count: input.records.length,
      created_at: time
    })}`
    yield* insertResults(worker.participantSeq, rows)
    if (examined.late) {
      const { done, errors } = yield* attempts.countStored(worker)
      yield* sql`UPDATE workers SET progress_done = ${done}, progress_errors = ${errors}, updated_at = ${time}
        WHERE id = ${worker.id}`
    } else {
      yield* sql`UPDATE workers SET last_seen_at = ${time}, updated_at = ${time} WHERE id = ${worker.id}`
    }
    return { accepted: input.records.length, eventBatchId: id, duplicate: false }
  })

  return {
    // Everything that can be done before the database is locked for writing is.
    sendTaskResults: Effect.fnUntraced(function* (ref, input) {
      yield* refuse(limits(input))
      const { examined, worker } = yield* Effect.gen(function* () {
        const worker = yield* find.workerState(ref)
        return { worker, examined: yield* examine(worker, input) }
      }).pipe((queries) => read("sendTaskResults", queries))
      if (examined.duplicate) return examined
      const rows = yield* encodeResults(worker, examined.attemptNumber, input)
      return yield* write("sendTaskResults", store(ref, input, rows))
    })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const lookupChunk = 500

/** With more step names than this a participant's steps are searched as a whole. */
const manyNames = 100

// Always the same number of parameters, so that the statement is prepared once.
const padded = (taskIndexes: Arr.NonEmptyArray<number>): ReadonlyArray<number> => [
  ...taskIndexes,
  ...Arr.makeBy(lookupChunk, () => taskIndexes[0]).slice(taskIndexes.length)
]
