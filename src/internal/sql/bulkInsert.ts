/** Inserting many rows of one table. */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"

export type ColumnType = "INTEGER" | "DOUBLE PRECISION" | "TEXT"

/** A row, with a value for every column. */
export type BulkRow<Columns extends Readonly<Record<string, ColumnType>>> = {
  readonly [Name in keyof Columns]: string | number | null
}

/** What a table is called, and what its columns hold. */
export interface BulkTable<Columns extends Readonly<Record<string, ColumnType>>> {
  readonly name: string
  readonly columns: Columns
}

/** Inserts rows, in few statements: with one parameter a column where there are arrays, and one a value where there are none. */
export const bulkInsert =
  (sql: SqlClient) =>
  <Columns extends Readonly<Record<string, ColumnType>>>(
    { columns, name }: BulkTable<Columns>,
    rows: ReadonlyArray<BulkRow<Columns>>
  ): Effect.Effect<void, SqlError> =>
    sql.onDialectOrElse({
      pg: () =>
        Effect.forEach(
          Arr.chunksOf(rows, arrayChunk),
          (chunk) => {
            const arrays = Object.entries(columns).map(
              ([column, type]) =>
                sql`CAST(${arrayText(chunk.map((row) => row[column] ?? null))} AS ${sql.literal(type)}[])`
            )
            const names = Object.keys(columns).map((column) => sql`${sql(column)}`)
            return sql`INSERT INTO ${sql(name)} (${sql.csv(names)}) SELECT * FROM UNNEST(${sql.csv(arrays)})`
          },
          { discard: true }
        ),
      // SQLite works in this thread, some tens of milliseconds a batch: what is being measured gets its turn in between.
      orElse: () =>
        Effect.forEach(
          Arr.chunksOf(rows, valuesChunk),
          (chunk) => Effect.zipRight(nextTurn, sql`INSERT INTO ${sql(name)} ${sql.insert(chunk)}`),
          { discard: true }
        )
    })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const arrayChunk = 5000
const valuesChunk = 128

/** An array as PostgreSQL writes it. */
const arrayText = (values: ReadonlyArray<string | number | null>): string => `{${values.map(elementText).join(",")}}`

const elementText = (value: string | number | null): string => {
  if (value === null) return "NULL"
  return typeof value === "number" ? `${value}` : `"${value.replace(/["\\]/g, "\\$&")}"`
}

const nextTurn = Effect.async<void>((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})
