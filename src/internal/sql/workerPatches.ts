import * as Effect from "effect/Effect"
import type { Platform, WorkerPatch } from "../../Platform.js"
import { integer, refuse } from "../platform/validation.js"
import type { Attempts } from "./attempts.js"
import type { Database } from "./database.js"
import { now } from "./database.js"
import type { Lookups, WorkerState } from "./lookups.js"
import type { Readiness } from "./readiness.js"
import type { RollUp } from "./rollUp.js"

/** Changing a worker by hand. Null means the same as absent. */
export const make = (
  { sql, write }: Database,
  find: Lookups,
  attempts: Attempts,
  rollUp: RollUp,
  readiness: Readiness
): Pick<Platform["Type"], "updateWorker"> => {
  const setProgress = (worker: WorkerState, patch: WorkerPatch, time: string) => sql`UPDATE workers SET
    progress_done = COALESCE(${patch.progressDone ?? null}, progress_done),
    progress_in_flight = COALESCE(${patch.progressInFlight ?? null}, progress_in_flight),
    progress_errors = COALESCE(${patch.progressErrors ?? null}, progress_errors),
    progress_total = COALESCE(${patch.progressTotal ?? null}, progress_total),
    current_step = COALESCE(${patch.currentStep ?? null}, current_step),
    updated_at = ${time}
    WHERE id = ${worker.id}`

  const endAttempt = (worker: WorkerState, status: string, time: string) => sql`UPDATE attempts
    SET status = ${status}, ended_at = ${time} WHERE id = ${worker.currentAttemptId} AND status = 'running'`

  // Whoever works on it loses it. As after a release it starts from nothing, or after its end keeps what it has counted.
  const setStatus = Effect.fnUntraced(function* (
    worker: WorkerState,
    status: "pending" | "running" | "completed" | "failed",
    time: string
  ) {
    const { id, participantId, runId } = worker
    const before = yield* rollUp.workersOutcome(participantId)
    switch (status) {
      case "pending":
        yield* endAttempt(worker, "released", time)
        yield* sql`UPDATE workers SET status = 'pending', progress_done = 0, progress_in_flight = 0,
          progress_errors = 0, current_step = NULL, concurrency = '[]' WHERE id = ${id}`
        return yield* rollUp.workerReopened(participantId, runId, time)
      case "running":
        yield* sql`UPDATE workers SET status = 'running', last_seen_at = ${time} WHERE id = ${id}`
        return yield* rollUp.workerStarted(participantId, runId, time)
      default:
        yield* endAttempt(worker, status, time)
        yield* sql`UPDATE workers SET status = ${status}, progress_in_flight = 0, current_step = NULL,
          concurrency = '[]' WHERE id = ${id}`
        return yield* rollUp.workerEnded(participantId, runId, time, before)
    }
  })

  return {
    updateWorker: (ref, patch) =>
      Effect.gen(function* () {
        yield* refuse([
          ...integer("progressDone", patch.progressDone),
          ...integer("progressInFlight", patch.progressInFlight),
          ...integer("progressErrors", patch.progressErrors),
          ...integer("progressTotal", patch.progressTotal)
        ])
        const worker = yield* attempts.lockWorker(ref)
        const time = yield* now
        const status = patch.status ?? worker.status
        if (status !== worker.status) yield* setStatus(worker, status, time)
        yield* setProgress(worker, patch, time)
        yield* readiness.workersChanged(worker.participantId, time)
        return yield* find.worker(ref)
      }).pipe((queries) => write("updateWorker", queries))
  }
}
