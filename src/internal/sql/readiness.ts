import * as SqlSchema from "@effect/sql/SqlSchema"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ConcurrencySample } from "../../Platform.js"
import type { Database } from "./database.js"

/** A step of a participant that somebody may be waiting for. */
export interface ReadyStep {
  readonly participantId: string
  readonly step: string
}

/**
 * Which steps the workers of a participant are ready for: every unfinished one has said so lately. A step that has been
 * ready once stays so, since whoever waits for it may ask only after the workers have moved on.
 */
export const make = ({ sql }: Database, freshness: Duration.Duration) => {
  /** A worker is fresh when its last heartbeat came after this. */
  const freshSince = Effect.map(DateTime.now, (time) => DateTime.formatIso(DateTime.subtractDuration(time, freshness)))

  /** One row per step that a running worker has reported; `fresh` is 1 or 0. */
  const samples = (since: string) => sql`
    SELECT participant_id, step, target, CASE WHEN step IN ${sql.in(countedAsTasks)} THEN in_flight ELSE active END AS active,
      CASE WHEN last_heartbeat_at > ${since} THEN 1 ELSE 0 END AS fresh
    FROM (
      SELECT w.participant_id, w.last_heartbeat_at, w.progress_in_flight AS in_flight, ${sampleFields}
      WHERE w.status = 'running'
    ) reported`

  const sampleFields = sql.onDialectOrElse({
    pg: () => sql`s.step, s.active, s.target FROM workers w
      CROSS JOIN LATERAL json_to_recordset(CAST(w.concurrency AS json)) AS s (step TEXT, active INTEGER, target INTEGER)`,
    orElse: () => sql`json_extract(s.value, '$.step') AS step, json_extract(s.value, '$.active') AS active,
      json_extract(s.value, '$.target') AS target FROM workers w JOIN json_each(w.concurrency) s`
  })

  const findReady = SqlSchema.findAll({
    Request: Schema.Struct({ participantId: Schema.String, since: Schema.String }),
    Result: Schema.Struct({ step: Schema.String }),
    execute: ({ participantId, since }) => sql`
      SELECT step FROM (${samples(since)}) sample
      WHERE participant_id = ${participantId} AND fresh = 1 AND active >= target
        AND NOT EXISTS (SELECT 1 FROM workers WHERE participant_id = ${participantId} AND status = 'pending')
      GROUP BY step
      HAVING COUNT(*) = (SELECT COUNT(*) FROM workers WHERE participant_id = ${participantId} AND status = 'running')`
  })

  const findLatched = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ step: Schema.String }),
    execute: (participantId) => sql`SELECT step FROM ready_steps WHERE participant_id = ${participantId}`
  })

  const latch = (steps: ReadonlyArray<ReadyStep>, time: string) =>
    steps.length === 0
      ? Effect.void
      : sql`INSERT INTO ready_steps ${sql.insert(
          steps.map(({ participantId, step }) => ({ participant_id: participantId, step, ready_at: time }))
        )} ON CONFLICT (participant_id, step) DO NOTHING`

  const latchReady = Effect.fnUntraced(function* (participantId: string, time: string) {
    const ready = yield* findReady({ participantId, since: yield* freshSince })
    yield* latch(
      ready.map(({ step }) => ({ participantId, step })),
      time
    )
  })

  return {
    freshSince,
    samples,
    /** Keeps that these steps are ready. */
    latch,
    /** Workers have ended or been changed: what the others are ready for may now be ready. */
    workersChanged: latchReady,
    /** A worker has reported these steps: they may now be ready. */
    reported: Effect.fnUntraced(function* (
      participantId: string,
      concurrency: ReadonlyArray<ConcurrencySample>,
      time: string
    ) {
      const reached = concurrency.filter(
        ({ active, step, target }) => active >= target || countedAsTasks.includes(step)
      )
      if (reached.length === 0) return
      const latched = new Set((yield* findLatched(participantId)).map(({ step }) => step))
      if (reached.some(({ step }) => !latched.has(step))) yield* latchReady(participantId, time)
    })
  }
}

export type Readiness = ReturnType<typeof make>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Of these steps as many are active as the worker has tasks in flight. */
const countedAsTasks = ["worker.ready", "sandbox.live"]
