import type { SqlError } from "@effect/sql/SqlError"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Database } from "./database.js"

/**
 * How the status of a worker reaches its participant, and that of a participant its run. What ended on its own or was
 * set by hand stays ended until something below it starts again.
 */
export const make = ({ lock, sql }: Database) => {
  const workersOutcome = outcomeOf(
    (participantId) => sql`SELECT CASE
      WHEN EXISTS (SELECT 1 FROM workers WHERE participant_id = ${participantId} AND status IN ('pending', 'running'))
        THEN 'open'
      WHEN EXISTS (SELECT 1 FROM workers WHERE participant_id = ${participantId} AND status = 'failed') THEN 'failed'
      ELSE 'completed' END AS outcome`
  )
  const participantsOutcome = outcomeOf(
    (runId) => sql`SELECT CASE
      WHEN EXISTS (SELECT 1 FROM participants WHERE run_id = ${runId} AND status IN ('planned', 'in_progress'))
        THEN 'open'
      WHEN EXISTS (SELECT 1 FROM participants WHERE run_id = ${runId} AND status = 'failed') THEN 'failed'
      ELSE 'completed' END AS outcome`
  )

  // Two that end at once must see each other's end: whoever gets the lock second does.
  const participantEnded = Effect.fnUntraced(function* (runId: string, now: string) {
    yield* lock("runs", runId)
    const outcome = yield* participantsOutcome(runId)
    if (outcome !== "open") {
      yield* sql`UPDATE runs SET status = ${outcome}, updated_at = ${now}
        WHERE id = ${runId} AND status IN ('planned', 'in_progress')`
    }
  })

  return {
    /** A worker has been claimed. */
    workerStarted: Effect.fnUntraced(function* (participantId: string, runId: string, now: string) {
      yield* sql`UPDATE participants SET status = 'in_progress', updated_at = ${now}
        WHERE id = ${participantId} AND status <> 'in_progress'`
      yield* sql`UPDATE runs SET status = 'in_progress', updated_at = ${now}
        WHERE id = ${runId} AND status <> 'in_progress'`
    }),
    /** A worker has completed or failed. */
    workerEnded: Effect.fnUntraced(function* (participantId: string, runId: string, now: string) {
      yield* lock("participants", participantId)
      const outcome = yield* workersOutcome(participantId)
      if (outcome !== "open") {
        yield* sql`UPDATE participants SET status = ${outcome}, updated_at = ${now}
          WHERE id = ${participantId} AND status IN ('planned', 'in_progress')`
        yield* participantEnded(runId, now)
      }
    }),
    /** A participant has completed or failed. */
    participantEnded,
    /** A participant has been added: a run that had ended goes on. */
    participantAdded: (runId: string, now: string) =>
      sql`UPDATE runs SET status = 'in_progress', updated_at = ${now}
        WHERE id = ${runId} AND status IN ('completed', 'failed')`
  }
}

export type RollUp = ReturnType<typeof make>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const outcomeOf = (execute: (id: string) => Effect.Effect<ReadonlyArray<unknown>, SqlError>) => {
  const find = SqlSchema.single({
    Request: Schema.String,
    Result: Schema.Struct({ outcome: Schema.Literal("open", "completed", "failed") }),
    execute
  })
  return (id: string) =>
    find(id).pipe(
      Effect.map((row) => row.outcome),
      Effect.catchTag("NoSuchElementException", Effect.die)
    )
}
