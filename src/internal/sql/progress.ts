import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import type { Platform, Run, RunProgress, RunRef } from "../../Platform.js"
import { Participant } from "../../Platform.js"
import type { Database } from "./database.js"
import { now } from "./database.js"
import type { Lookups } from "./lookups.js"
import type { Readiness } from "./readiness.js"

/** How far a run is. */
export const make = (
  { read, sql, write }: Database,
  find: Lookups,
  readiness: Readiness,
  freshness: Duration.Duration
): Pick<Platform["Type"], "runProgress"> => {
  const sum = (column: string) => sql`CAST(COALESCE(SUM(${sql.literal(column)}), 0) AS DOUBLE PRECISION)`
  const count = (status: string) => sql`CAST(COUNT(CASE WHEN w.status = ${status} THEN 1 END) AS INTEGER)`

  const countParticipants = SqlSchema.findAll({
    Request: Schema.Struct({ runId: Schema.String, since: Schema.String }),
    Result: ParticipantCounts,
    execute: ({ runId, since }) => sql`
      SELECT p.id, p.slug, p.provider, p.status, p.total_tasks AS "totalTasks", p.worker_count AS "workerCount",
        CAST(COUNT(w.id) AS INTEGER) AS "workers", ${count("pending")} AS "pending", ${count("running")} AS "running",
        ${count("completed")} AS "completed", ${count("failed")} AS "failed",
        CAST(COUNT(CASE WHEN w.status = 'running' AND COALESCE(w.last_heartbeat_at, '') <= ${since} THEN 1 END) AS INTEGER)
          AS "stale",
        ${sum("w.progress_done")} AS "done", ${sum("w.progress_in_flight")} AS "inFlight",
        ${sum("w.progress_errors")} AS "errors"
      FROM participants p LEFT JOIN workers w ON w.participant_id = p.id
      WHERE p.run_id = ${runId} GROUP BY p.seq ORDER BY p.seq`
  })

  const countSteps = SqlSchema.findAll({
    Request: Schema.Struct({ runId: Schema.String, since: Schema.String }),
    Result: StepCounts,
    execute: ({ runId, since }) => sql`
      SELECT participant_id AS "participantId", step,
        CAST(SUM(CASE WHEN fresh = 1 THEN active ELSE 0 END) AS DOUBLE PRECISION) AS "active",
        CAST(SUM(CASE WHEN fresh = 1 THEN target ELSE 0 END) AS DOUBLE PRECISION) AS "target",
        CAST(SUM(fresh) AS INTEGER) AS "fresh",
        CAST(COUNT(CASE WHEN fresh = 1 AND active >= target THEN 1 END) AS INTEGER) AS "reached"
      FROM (${readiness.samples(since)}) sample
      WHERE participant_id IN (SELECT id FROM participants WHERE run_id = ${runId})
      GROUP BY participant_id, step`
  })

  const findLatched = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ participantId: Schema.String, step: Schema.String }),
    execute: (runId) => sql`SELECT participant_id AS "participantId", step FROM ready_steps
      WHERE participant_id IN (SELECT id FROM participants WHERE run_id = ${runId})`
  })

  const observe = Effect.fnUntraced(function* (ref: RunRef) {
    const run = yield* find.run(ref)
    const since = yield* readiness.freshSince
    const participants = yield* countParticipants({ runId: run.id, since })
    const steps = yield* countSteps({ runId: run.id, since })
    const latched = yield* findLatched(run.id)
    return { run, participants, steps, latched, time: yield* now }
  })

  return {
    runProgress: Effect.fnUntraced(function* (ref) {
      const { latched, participants, run, steps, time } = yield* read("runProgress", observe(ref))
      const stepsOf = Arr.groupBy(steps, ({ participantId }) => participantId)
      const latchedOf = Arr.groupBy(latched, ({ participantId }) => participantId)
      const progress = participants.map((participant) =>
        participantProgress(
          participant,
          stepsOf[participant.id] ?? [],
          (latchedOf[participant.id] ?? []).map(({ step }) => step)
        )
      )
      const fresh = progress.flatMap(({ becameReady, id }) => becameReady.map((step) => ({ participantId: id, step })))
      if (fresh.length > 0) yield* write("runProgress", readiness.latch(fresh, time))
      return {
        run: { id: run.id, status: run.status, totalTasks: run.totalTasks, workerCount: run.workerCount ?? null },
        summary: summaryOf(run, participants),
        freshnessWindowSeconds: Duration.toSeconds(freshness),
        generatedAt: time,
        participants: progress.map(({ becameReady: _, ...shown }) => shown)
      }
    })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ParticipantCounts = Schema.Struct({
  id: Schema.String,
  slug: Schema.String,
  provider: Schema.NullOr(Schema.String),
  status: Participant.fields.status,
  totalTasks: Schema.Int,
  workerCount: Schema.Int,
  workers: Schema.Int,
  pending: Schema.Int,
  running: Schema.Int,
  completed: Schema.Int,
  failed: Schema.Int,
  stale: Schema.Int,
  done: Schema.Int,
  inFlight: Schema.Int,
  errors: Schema.Int
})
type ParticipantCounts = typeof ParticipantCounts.Type

/** Sums over the fresh workers that have reported a step; `reached` is how many of them are at their target. */
const StepCounts = Schema.Struct({
  participantId: Schema.String,
  step: Schema.String,
  active: Schema.Int,
  target: Schema.Int,
  fresh: Schema.Int,
  reached: Schema.Int
})
type StepCounts = typeof StepCounts.Type

const summaryOf = ({ status }: Run, participants: ReadonlyArray<ParticipantCounts>): RunProgress["summary"] => {
  const count = (status: ParticipantCounts["status"]) =>
    participants.filter((participant) => participant.status === status).length
  return {
    status,
    started: status !== "planned",
    completed: status === "completed",
    participants: {
      planned: count("planned"),
      inProgress: count("in_progress"),
      completed: count("completed"),
      failed: count("failed"),
      total: participants.length
    }
  }
}

// A step that has been ready is shown even when nobody reports it any more.
const participantProgress = (
  participant: ParticipantCounts,
  steps: ReadonlyArray<StepCounts>,
  latched: ReadonlyArray<string>
) => {
  const { completed, done, errors, failed, inFlight, pending, running, stale, totalTasks, workers, ...shown } =
    participant
  const ready = steps.filter(({ reached }) => reached === pending + running).map(({ step }) => step)
  const unreported = latched.filter((name) => steps.every(({ step }) => step !== name))
  return {
    ...shown,
    totalTasks,
    workers: { pending, running, completed, failed, stale, total: workers },
    tasks: {
      done,
      inFlight,
      errors,
      total: totalTasks,
      completionRatio: totalTasks === 0 ? null : Math.min(1, done / totalTasks)
    },
    concurrency: [
      ...steps.map(({ active, fresh, step, target }) => ({
        step,
        active,
        target,
        ready: ready.includes(step) || latched.includes(step),
        freshWorkerCount: fresh
      })),
      ...unreported.map((step) => ({ step, active: 0, target: 0, ready: true, freshWorkerCount: 0 }))
    ].sort(byStep),
    becameReady: ready.filter((step) => !latched.includes(step))
  }
}

const byStep = Order.mapInput(Order.string, ({ step }: { readonly step: string }) => step)
