import type { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import type * as Statement from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { isOneOf } from "./database.js"

/** The participants of a run, by the numbers that their results carry. */
export const findParticipantSeqs = (sql: SqlClient) => {
  const find = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ seq: Schema.Int }),
    execute: (runId) => sql`SELECT seq FROM participants WHERE run_id = ${runId} ORDER BY seq`
  })
  return (runId: string) => Effect.map(find(runId), (rows) => rows.map(({ seq }) => seq))
}

/**
 * Results of these participants. Told which ones, PostgreSQL knows how many rows to expect; given a query of them, it would
 * rather read the results of everybody.
 */
export const ofParticipants = (sql: SqlClient, seqs: ReadonlyArray<number>): Statement.Fragment =>
  isOneOf(sql, "participant_seq", "INTEGER", seqs)
