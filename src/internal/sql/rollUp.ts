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
  const participantEnded = Effect.fnUntraced(function* (runId: string, now: string, before: Outcome = "open") {
    yield* lock("runs", runId)
    const outcome = yield* participantsOutcome(runId)
    if (outcome !== "open") {
      yield* sql`UPDATE runs SET status = ${outcome}, updated_at = ${now}
        WHERE id = ${runId} AND status <> ${outcome} AND status IN ('planned', 'in_progress', ${before})`
    }
  })

  const participantStarted = (runId: string, now: string) =>
    sql`UPDATE runs SET status = 'in_progress', updated_at = ${now}
      WHERE id = ${runId} AND status <> 'in_progress'`

  const participantOpened = (runId: string, now: string) =>
    sql`UPDATE runs SET status = 'in_progress', updated_at = ${now}
      WHERE id = ${runId} AND status IN ('completed', 'failed')`

  return {
    /** What a participant's workers add up to; nobody else changes its outcome until the transaction ends. */
    workersOutcome: (participantId: string) =>
      Effect.zipRight(lock("participants", participantId), workersOutcome(participantId)),
    /** What a run's participants add up to; nobody else changes its outcome until the transaction ends. */
    participantsOutcome: (runId: string) => Effect.zipRight(lock("runs", runId), participantsOutcome(runId)),
    /** A worker has been claimed. */
    workerStarted: Effect.fnUntraced(function* (participantId: string, runId: string, now: string) {
      yield* sql`UPDATE participants SET status = 'in_progress', updated_at = ${now}
        WHERE id = ${participantId} AND status <> 'in_progress'`
      yield* participantStarted(runId, now)
    }),
    /** A worker that had ended is pending again. */
    workerReopened: Effect.fnUntraced(function* (participantId: string, runId: string, now: string) {
      yield* sql`UPDATE participants SET status = 'in_progress', updated_at = ${now}
        WHERE id = ${participantId} AND status IN ('completed', 'failed')`
      yield* participantOpened(runId, now)
    }),
    /** A worker has completed or failed. What had ended follows where it still was what its workers added up to `before`. */
    workerEnded: Effect.fnUntraced(function* (
      participantId: string,
      runId: string,
      now: string,
      before: Outcome = "open"
    ) {
      yield* lock("participants", participantId)
      const outcome = yield* workersOutcome(participantId)
      if (outcome !== "open") {
        yield* lock("runs", runId)
        const runBefore = yield* participantsOutcome(runId)
        yield* sql`UPDATE participants SET status = ${outcome}, updated_at = ${now}
          WHERE id = ${participantId} AND status <> ${outcome} AND status IN ('planned', 'in_progress', ${before})`
        yield* participantEnded(runId, now, runBefore)
      }
    }),
    /** A participant works on something. */
    participantStarted,
    /** A participant has been added, or is to be done again: a run that had ended goes on. */
    participantOpened,
    /** A participant has completed or failed. A run that had ended follows if it still was what those added up to `before`. */
    participantEnded
  }
}

/** What several workers or participants add up to: some have not ended, all have completed, or some of them failed. */
export type Outcome = typeof Outcome.Type
const Outcome = Schema.Literal("open", "completed", "failed")

export type RollUp = ReturnType<typeof make>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const outcomeOf = (execute: (id: string) => Effect.Effect<ReadonlyArray<unknown>, SqlError>) => {
  const find = SqlSchema.single({
    Request: Schema.String,
    Result: Schema.Struct({ outcome: Outcome }),
    execute
  })
  return (id: string) =>
    find(id).pipe(
      Effect.map((row) => row.outcome),
      Effect.catchTag("NoSuchElementException", Effect.die)
    )
}
