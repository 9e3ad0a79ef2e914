import type { SqlClient } from "@effect/sql/SqlClient"
import type * as Statement from "@effect/sql/Statement"

/** Milliseconds since 1970 of a column with an ISO-8601 UTC time; null for any other text. */
export const epochMillis = (sql: SqlClient, column: string): Statement.Fragment =>
  sql.onDialectOrElse({
    pg: () => sql.literal(`CASE WHEN ${column} ~ '${isoPattern}' THEN ${fromParts(column)} END`),
    orElse: () =>
      sql.literal(`CASE WHEN ${column} GLOB '[1-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T*Z'
        THEN CAST(ROUND(unixepoch(${column}, 'subsec') * 1000) AS INTEGER) END`)
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isoPattern =
  "^[1-9]\\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?Z$"

// A cast of the whole text fails on days that do not exist, such as February 30, and the query with it.
const fromParts = (column: string) => {
  const part = (start: number, length: number) => `CAST(SUBSTR(${column}, ${start}, ${length}) AS INTEGER)`
  const days = `(MAKE_DATE(${part(1, 4)}, ${part(6, 2)}, 1) - DATE '1970-01-01' + ${part(9, 2)} - 1)`
  const seconds = `CAST(SUBSTR(${column}, 18, LENGTH(${column}) - 18) AS NUMERIC)`
  return `${days} * CAST(86400000 AS BIGINT) + ${part(12, 2)} * 3600000 + ${part(15, 2)} * 60000
    + CAST(TRUNC(${seconds} * 1000) AS BIGINT)`
}
