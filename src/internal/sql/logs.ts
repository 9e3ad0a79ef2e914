import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Artifacts } from "../../Artifacts.js"
import type { Platform } from "../../Platform.js"
import * as Tail from "../artifacts/tail.js"
import { integer, refuse } from "../platform/validation.js"
import type { Database } from "./database.js"
import { now } from "./database.js"
import type { Lookups } from "./lookups.js"
import { JsonColumn } from "./lookups.js"

/** The logs that workers left, read back from where artifacts are kept. */
export const make = (
  { read, sql }: Database,
  find: Lookups,
  storage: Artifacts["Type"]
): Pick<Platform["Type"], "participantLogs"> => {
  const findLogs = SqlSchema.findAll({
    Request: Schema.String,
    Result: LogRow,
    execute: (participantId) => sql`
      SELECT w.id AS "workerId", w.worker_index AS "workerIndex", a.attempt_id AS "attemptId", a.id AS "artifactId",
        a.created_at AS "createdAt", a.object_key AS "objectKey", a.content_type AS "contentType", a.metadata
      FROM workers w JOIN artifacts a ON a.worker_id = w.id
      WHERE w.participant_id = ${participantId} AND a.kind = ${logKind}
      ORDER BY w.worker_index, a.created_at DESC, a.seq DESC`
  })

  // One whose bytes never came is passed over, and so is a worker without any.
  const newest = Effect.fnUntraced(function* (logs: ReadonlyArray<LogRow>, maxLines: number) {
    for (const { contentType, metadata, objectKey, ...log } of logs) {
      const gzip = contentType === "application/gzip" || metadata?.encoding === "gzip"
      const tail = yield* Tail.read(storage.read(objectKey), { gzip, maxLines }).pipe(
        Effect.catchTag("ResourceNotFound", () => Effect.succeed(undefined))
      )
      if (tail !== undefined) return [{ ...log, ...tail }]
    }
    return []
  })

  return {
    participantLogs: (ref, query) =>
      Effect.gen(function* () {
        yield* refuse(integer("maxLines", query.maxLines, 1, mostLines))
        const logs = yield* read(
          "participantLogs",
          Effect.flatMap(find.participant(ref), (participant) => findLogs(participant.id))
        )
        const byWorker = Object.values(Arr.groupBy(logs, ({ workerIndex }) => `${workerIndex}`))
        const workers = yield* Effect.forEach(byWorker, (logs) => newest(logs, query.maxLines ?? defaultLines), {
          concurrency: readers
        })
        return { participantSlug: ref.participant, generatedAt: yield* now, workers: workers.flat() }
      })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const logKind = "coordinator.log"
const defaultLines = 1000
const mostLines = 100_000
const readers = 4

const LogRow = Schema.Struct({
  workerId: Schema.String,
  workerIndex: Schema.Int,
  attemptId: Schema.String,
  artifactId: Schema.String,
  createdAt: Schema.String,
  objectKey: Schema.String,
  contentType: Schema.NullOr(Schema.String),
  metadata: JsonColumn
})
type LogRow = typeof LogRow.Type
