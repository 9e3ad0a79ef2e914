import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type * as Statement from "@effect/sql/Statement"
import * as Effect from "effect/Effect"

/**
 * What it takes to remove old runs: they are found by their age, and are out of sight from when their removal begins.
 *
 * What a worker reports names its run, and a result its participant, without the database checking it. PostgreSQL would do so
 * for every row that is inserted, and search all heartbeats, batches and artifacts for every attempt that is removed.
 */
export const prepareRetention = (sql: SqlClient, { sorted }: { readonly sorted: Statement.Fragment }) =>
  Effect.all(
    [
      sql`ALTER TABLE runs ADD COLUMN pruned_at ${sorted}`,
      sql`CREATE INDEX runs_least_recent ON runs (updated_at, seq)`,
      sql`CREATE INDEX runs_pruned ON runs (pruned_at) WHERE pruned_at IS NOT NULL`,
      sql.onDialectOrElse({
        pg: (): Effect.Effect<unknown, SqlError> =>
          Effect.forEach(unchecked, ([table, column]) => dropReference(sql, table, column), { discard: true }),
        orElse: () => Effect.void
      })
    ],
    { discard: true }
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unchecked = [
  ["task_results", "participant_seq"],
  ["step_results", "participant_seq"],
  ["heartbeats", "worker_id"],
  ["heartbeats", "attempt_id"],
  ["event_batches", "worker_id"],
  ["event_batches", "attempt_id"],
  ["artifacts", "worker_id"],
  ["artifacts", "attempt_id"]
] as const

const dropReference = (sql: SqlClient, table: string, column: string) =>
  sql`ALTER TABLE ${sql(table)} DROP CONSTRAINT ${sql(`${table}_${column}_fkey`)}`
