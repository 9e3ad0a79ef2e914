/** Exact nearest-rank percentiles of groups of latencies: counted and ordered by the database. */
import type { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import type * as Statement from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { isOneOf } from "./database.js"

/** A percentile of one group in milliseconds; null when it has no latencies. */
export type Percentile = (percent: number) => number | null

/**
 * The percentiles of every group, in the order of the groups. `rows` is a query whose `latency_ms` are those of all groups
 * together, and `order` puts them group after group, each from the shortest to the longest.
 */
export const percentilesOf = Effect.fnUntraced(function* (
  sql: SqlClient,
  groups: ReadonlyArray<{ readonly latencyCount: number }>,
  percents: ReadonlyArray<number>,
  rows: Statement.Fragment,
  order: string
) {
  let before = 0
  const placed = groups.map(({ latencyCount }) => {
    const start = before
    before += latencyCount
    return { latencyCount, at: (percent: number) => start + nearestRank(percent, latencyCount) }
  })
  const places = placed.flatMap(({ at, latencyCount }) => (latencyCount === 0 ? [] : percents.map(at)))
  const found = places.length === 0 ? [] : yield* latenciesAt(sql, rows, order)(places)
  const latencies = new Map(found.map(({ latencyMs, place }) => [place, latencyMs]))
  return placed.map(
    ({ at, latencyCount }): Percentile =>
      (percent) =>
        latencyCount === 0 ? null : (latencies.get(at(percent)) ?? null)
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nearestRank = (percent: number, count: number): number => Math.ceil((percent * count) / 100)

// Latencies by their place in the order, counted from 1.
const latenciesAt = (sql: SqlClient, rows: Statement.Fragment, order: string) =>
  SqlSchema.findAll({
    Request: Schema.Array(Schema.Int),
    Result: Schema.Struct({ place: Schema.Int, latencyMs: Schema.Number }),
    execute: (places) => sql`
      SELECT place, latency_ms AS "latencyMs" FROM (
        SELECT latency_ms, CAST(ROW_NUMBER() OVER (ORDER BY ${sql.literal(order)}) AS INTEGER) AS place
        FROM (${rows}) grouped WHERE latency_ms IS NOT NULL
      ) ranked WHERE ${isOneOf(sql, "place", "INTEGER", places)}`
  })
