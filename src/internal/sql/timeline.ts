import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Platform } from "../../Platform.js"
import { integer, refuse } from "../platform/validation.js"
import type { Database } from "./database.js"
import { isOneOf, now } from "./database.js"
import type { Lookups } from "./lookups.js"
import { findParticipantSeqs, ofParticipants } from "./participantSeqs.js"
import { epochMillis } from "./time.js"

/** What happened when: tasks as they completed, concurrency as heartbeats reported it. */
export const make = ({ read, sql }: Database, find: Lookups): Pick<Platform["Type"], "runTimeline"> => {
  const seqsOf = findParticipantSeqs(sql)

  // Else PostgreSQL computes the times anew wherever they are named.
  const computedOnce = sql.onDialectOrElse({ pg: () => sql.literal("OFFSET 0"), orElse: () => sql.literal("") })

  const completions = (seqs: ReadonlyArray<number>) => sql`
    SELECT participant_seq, status, ${epochMillis(sql, "started_at")} AS started_ms,
      ${epochMillis(sql, "completed_at")} AS completed_ms
    FROM task_results WHERE ${ofParticipants(sql, seqs)} ${computedOnce}`

  const findTaskSpan = SqlSchema.findAll({
    Request: Seqs,
    Result: Span,
    execute: (seqs) => sql`
      SELECT CAST(MIN(CASE WHEN started_ms <= completed_ms OR completed_ms IS NULL THEN started_ms ELSE completed_ms END)
          AS DOUBLE PRECISION) AS "first",
        CAST(MAX(completed_ms) AS DOUBLE PRECISION) AS "last"
      FROM (${completions(seqs)}) tasks`
  })

  const countCompletions = SqlSchema.findAll({
    Request: Schema.Struct({ seqs: Seqs, first: Schema.Number, bucketMs: Schema.Int }),
    Result: RateRow,
    execute: ({ bucketMs, first, seqs }) => sql`
      SELECT p.slug AS "participantSlug", p.provider, CAST(b.bucket AS INTEGER) AS "bucket", b.completed,
        b.succeeded, b.failed
      FROM (
        SELECT participant_seq, bucket, CAST(COUNT(*) AS INTEGER) AS completed,
          CAST(COUNT(CASE WHEN status = 'success' THEN 1 END) AS INTEGER) AS succeeded,
          CAST(COUNT(CASE WHEN status = 'error' THEN 1 END) AS INTEGER) AS failed
        FROM (
          SELECT participant_seq, status,
            (completed_ms - CAST(${first} AS BIGINT)) / CAST(${bucketMs} AS BIGINT) AS bucket
          FROM (${completions(seqs)}) tasks WHERE completed_ms IS NOT NULL
        ) bucketed GROUP BY participant_seq, bucket
      ) b JOIN participants p ON p.seq = b.participant_seq WHERE ${isOneOf(sql, "p.seq", "INTEGER", seqs)}
      ORDER BY b.bucket, b.participant_seq`
  })

  const countHeartbeats = SqlSchema.findAll({
    Request: Schema.String,
    Result: HeartbeatCounts,
    execute: (runId) => sql`
      SELECT CAST(COUNT(CASE WHEN position = 0 THEN 1 END) AS INTEGER) AS "heartbeats",
        CAST(COUNT(step) AS INTEGER) AS "samples", MIN(recorded_at) AS "firstRecordedAt",
        CAST(MIN(${recordedMillis}) AS DOUBLE PRECISION) AS "first",
        CAST(MAX(${recordedMillis}) AS DOUBLE PRECISION) AS "last"
      FROM heartbeats h WHERE run_id = ${runId}`
  })
  // Else PostgreSQL may read the workers of all runs; SQLite would try each worker of this one with each heartbeat.
  const withinRun = (runId: string) =>
    sql.onDialectOrElse({ pg: () => sql`AND p.run_id = ${runId}`, orElse: () => sql.literal("") })
  const recordedMillis = epochMillis(sql, "h.recorded_at")

  const countSeries = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ series: Schema.Int }),
    execute: (runId) => sql`SELECT CAST(COUNT(*) AS INTEGER) AS "series" FROM (
      SELECT DISTINCT worker_id, step FROM heartbeats WHERE run_id = ${runId} AND step IS NOT NULL
    ) series`
  })

  // The first sample of each worker and step in each slot of time; of very many of those pairs, every so many only.
  const findPoints = SqlSchema.findAll({
    Request: Schema.Struct({ runId: Schema.String, first: Schema.Number, slotMs: Schema.Int, stride: Schema.Int }),
    Result: PointRow,
    execute: ({ first, runId, slotMs, stride }) => sql`
      SELECT p.slug AS "participantSlug", p.provider, h.worker_id AS "workerId", h.recorded_at AS "recordedAt",
        CAST(h.since_first AS DOUBLE PRECISION) AS "tMs", h.step, h.active, h.target
      FROM (
        SELECT slotted.*, DENSE_RANK() OVER (ORDER BY worker_id, step) AS series,
          ROW_NUMBER() OVER (PARTITION BY worker_id, step, slot ORDER BY recorded_at, id) AS place
        FROM (
          SELECT timed.*, since_first / CAST(${slotMs} AS BIGINT) AS slot FROM (
            SELECT h.id, h.position, h.worker_id, h.recorded_at, h.step, h.active, h.target,
              ${recordedMillis} - CAST(${first} AS BIGINT) AS since_first
            FROM heartbeats h WHERE h.run_id = ${runId} AND h.step IS NOT NULL
          ) timed
        ) slotted
      ) h JOIN workers w ON w.id = h.worker_id JOIN participants p ON p.id = w.participant_id
      WHERE h.place = 1 AND (h.series - 1) % CAST(${stride} AS BIGINT) = 0 ${withinRun(runId)}
      ORDER BY h.recorded_at, p.seq, w.worker_index, h.id, h.position`
  })

  const findAllPoints = SqlSchema.findAll({
    Request: Schema.Struct({ runId: Schema.String, first: Schema.Number }),
    Result: PointRow,
    execute: ({ first, runId }) => sql`
      SELECT p.slug AS "participantSlug", p.provider, h.worker_id AS "workerId", h.recorded_at AS "recordedAt",
        CAST(${recordedMillis} - CAST(${first} AS BIGINT) AS DOUBLE PRECISION) AS "tMs", h.step, h.active, h.target
      FROM heartbeats h JOIN workers w ON w.id = h.worker_id JOIN participants p ON p.id = w.participant_id
      WHERE h.run_id = ${runId} AND h.step IS NOT NULL ${withinRun(runId)}
      ORDER BY h.recorded_at, p.seq, w.worker_index, h.id, h.position`
  })

  const eventRate = Effect.fnUntraced(function* (runId: string, asked: number | undefined) {
    const seqs = yield* seqsOf(runId)
    const [span] = yield* findTaskSpan(seqs)
    if (span === undefined || span.first === null || span.last === null) {
      return { bucketMs: asked ?? minBucketMs, buckets: [] }
    }
    const { first, last } = span
    const bucketMs = asked ?? Math.max(minBucketMs, Math.ceil((last - first + 1) / defaultBuckets))
    const rows = yield* countCompletions({ seqs, first, bucketMs })
    return { bucketMs, buckets: rows.map(({ bucket, ...counts }) => ({ ...counts, tMs: bucket * bucketMs })) }
  })

  const thinned = Effect.fnUntraced(function* (runId: string, first: number, last: number) {
    const [counted] = yield* countSeries(runId)
    const series = counted?.series ?? 1
    const stride = Math.ceil(series / maxPoints)
    const slots = Math.floor(maxPoints / Math.ceil(series / stride))
    return yield* findPoints({ runId, first, slotMs: Math.ceil((last - first + 1) / slots), stride })
  })

  const concurrency = Effect.fnUntraced(function* (runId: string) {
    const [counted] = yield* countHeartbeats(runId)
    if (counted === undefined || counted.first === null || counted.last === null) {
      return { firstRecordedAt: null, heartbeatCount: 0, points: [] }
    }
    const { first, firstRecordedAt, heartbeats, last, samples } = counted
    const points = samples > maxPoints ? thinned(runId, first, last) : findAllPoints({ runId, first })
    return { firstRecordedAt, heartbeatCount: heartbeats, points: yield* points }
  })

  return {
    runTimeline: (ref, query) =>
      Effect.gen(function* () {
        yield* refuse(integer("bucketMs", query.bucketMs, 1))
        const run = yield* find.run(ref)
        return {
          run,
          generatedAt: yield* now,
          eventRate: yield* eventRate(run.id, query.bucketMs),
          concurrency: yield* concurrency(run.id)
        }
      }).pipe((queries) => read("runTimeline", queries))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const defaultBuckets = 100
const minBucketMs = 1000
const maxPoints = 5000

const Seqs = Schema.Array(Schema.Int)

const Span = Schema.Struct({ first: Schema.NullOr(Schema.Number), last: Schema.NullOr(Schema.Number) })

const RateRow = Schema.Struct({
  participantSlug: Schema.String,
  provider: Schema.NullOr(Schema.String),
  bucket: Schema.Int,
  completed: Schema.Int,
  succeeded: Schema.Int,
  failed: Schema.Int
})

const HeartbeatCounts = Schema.Struct({
  ...Span.fields,
  heartbeats: Schema.Int,
  samples: Schema.Int,
  firstRecordedAt: Schema.NullOr(Schema.String)
})

const PointRow = Schema.Struct({
  participantSlug: Schema.String,
  provider: Schema.NullOr(Schema.String),
  workerId: Schema.String,
  recordedAt: Schema.String,
  tMs: Schema.Number,
  step: Schema.String,
  active: Schema.Int,
  target: Schema.Int
})
