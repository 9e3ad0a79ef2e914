import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Platform } from "../../Platform.js"
import { integer, refuse } from "../platform/validation.js"
import type { Database } from "./database.js"
import { isOneOf, now } from "./database.js"
import type { Lookups } from "./lookups.js"
import { findParticipantSeqs, ofParticipants } from "./participantSeqs.js"
import { percentilesOf } from "./percentiles.js"

/** Latency against task index, and what failed first. */
export const make = ({ read, sql }: Database, find: Lookups): Pick<Platform["Type"], "taskBuckets"> => {
  const findTaskCount = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ lastIndex: Schema.NullOr(Schema.Int) }),
    execute: (runId) => sql`
      SELECT MAX((SELECT MAX(t.task_index) FROM task_results t WHERE t.participant_seq = p.seq)) AS "lastIndex"
      FROM participants p WHERE p.run_id = ${runId}`
  })

  const seqsOf = findParticipantSeqs(sql)

  const bucketed = (seqs: ReadonlyArray<number>, bucketSize: number) => sql`
    SELECT participant_seq, task_index / CAST(${bucketSize} AS INTEGER) AS bucket, status, latency_ms
    FROM task_results WHERE ${ofParticipants(sql, seqs)}`

  const countBuckets = SqlSchema.findAll({
    Request: Schema.Struct({ seqs: Schema.Array(Schema.Int), bucketSize: Schema.Int }),
    Result: BucketCounts,
    execute: ({ bucketSize, seqs }) => sql`
      SELECT b.*, p.slug AS "participantSlug", p.provider FROM (
        SELECT participant_seq, bucket, CAST(COUNT(*) AS INTEGER) AS "taskCount",
          CAST(COUNT(CASE WHEN status = 'success' THEN 1 END) AS INTEGER) AS "successCount",
          CAST(COUNT(CASE WHEN status = 'error' THEN 1 END) AS INTEGER) AS "errorCount",
          CAST(COUNT(latency_ms) AS INTEGER) AS "latencyCount", MAX(latency_ms) AS "max"
        FROM (${bucketed(seqs, bucketSize)}) tasks GROUP BY participant_seq, bucket
      ) b JOIN participants p ON p.seq = b.participant_seq WHERE ${isOneOf(sql, "p.seq", "INTEGER", seqs)}
      ORDER BY b.participant_seq, b.bucket`
  })

  const findFailures = SqlSchema.findAll({
    Request: Schema.Struct({ runId: Schema.String, limit: Schema.Int }),
    Result: FailureRow,
    execute: ({ limit, runId }) => sql`
      SELECT p.slug AS "participantSlug", p.provider, t.task_index AS "taskIndex", t.error_code AS "errorCode"
      FROM participants p JOIN task_results t ON t.participant_seq = p.seq
      WHERE p.run_id = ${runId} AND t.status = 'error'
      ORDER BY t.task_index, p.seq LIMIT ${limit}`
  })

  return {
    taskBuckets: (ref, query) =>
      Effect.gen(function* () {
        yield* refuse([
          ...integer("bucketSize", query.bucketSize, 1),
          ...integer("failureLimit", query.failureLimit, 0, maxFailures)
        ])
        const run = yield* find.run(ref)
        const seqs = yield* seqsOf(run.id)
        const [last] = yield* findTaskCount(run.id)
        const bucketSize = query.bucketSize ?? Math.max(1, Math.ceil(((last?.lastIndex ?? 0) + 1) / defaultBuckets))
        const counts = yield* countBuckets({ seqs, bucketSize })
        const rows = bucketed(seqs, bucketSize)
        const percentiles = yield* percentilesOf(sql, counts, [50, 95], rows, "participant_seq, bucket, latency_ms")
        return {
          run,
          generatedAt: yield* now,
          bucketSize,
          buckets: Arr.zipWith(counts, percentiles, ({ bucket, latencyCount: _, max, ...shown }, percentile) => {
            const bucketStart = bucket * bucketSize
            const bucketEnd = bucketStart + bucketSize - 1
            return {
              ...shown,
              bucketStart,
              bucketEnd,
              taskIndexMidpoint: (bucketStart + bucketEnd) / 2,
              latencyMs: { p50: percentile(50), p95: percentile(95), max }
            }
          }),
          failures: yield* findFailures({ runId: run.id, limit: query.failureLimit ?? defaultFailures })
        }
      }).pipe((queries) => read("taskBuckets", queries))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const defaultBuckets = 100
const defaultFailures = 100
const maxFailures = 1000

const BucketCounts = Schema.Struct({
  participantSlug: Schema.String,
  provider: Schema.NullOr(Schema.String),
  bucket: Schema.Int,
  taskCount: Schema.Int,
  successCount: Schema.Int,
  errorCount: Schema.Int,
  latencyCount: Schema.Int,
  max: Schema.NullOr(Schema.Number)
})

const FailureRow = Schema.Struct({
  participantSlug: Schema.String,
  provider: Schema.NullOr(Schema.String),
  taskIndex: Schema.Int,
  errorCode: Schema.NullOr(Schema.String)
})
