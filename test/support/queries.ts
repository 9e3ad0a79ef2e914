/** What an effect asks a database, and how the database goes about it. */
import * as Statement from "@effect/sql/Statement"
import { Effect, Schema } from "effect"
import * as Databases from "../../src/internal/sql/database.js"

export interface Query {
  readonly text: string
  readonly parameters: ReadonlyArray<unknown>
}

/** Every statement that an effect sends. */
export const captured = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const queries: Array<Query> = []
    yield* Statement.withTransformer(effect, (statement) =>
      Effect.sync(() => {
        const [text, parameters] = statement.compile()
        queries.push({ text, parameters })
        return statement
      })
    )
    return queries
  })

/** A plan as the database prints it, and of that only how tables are read. */
export interface Plan {
  readonly lines: ReadonlyArray<string>
  readonly tables: ReadonlyArray<string>
}

/**
 * The plan by which a platform would read. On PostgreSQL the query is carried out, so that the plan tells how many rows and
 * pages were read.
 */
export const planOf = ({ parameters, text }: Query) =>
  Effect.gen(function* () {
    const { read, sql } = yield* Databases.make
    const explain = sql.onDialectOrElse({
      pg: () => "EXPLAIN (ANALYZE, BUFFERS, SUMMARY OFF)",
      orElse: () => "EXPLAIN QUERY PLAN"
    })
    const rows = yield* read("explain a query", sql.unsafe(`${explain} ${text}`, [...parameters]))
    const lines = rows.map((row) => {
      const { detail, "QUERY PLAN": line } = Schema.decodeUnknownSync(PlanRow)(row)
      return line ?? detail ?? ""
    })
    return { lines, tables: lines.filter((line) => /\b(SCAN|SEARCH)\b|Scan.* (on|using) /.test(line)) }
  })

const PlanRow = Schema.Struct({
  detail: Schema.optional(Schema.String),
  "QUERY PLAN": Schema.optional(Schema.String)
})

/** One node of a plan of PostgreSQL, as far as it says what is read. */
export interface PlanNode {
  readonly "Node Type": string
  readonly "Relation Name"?: string | undefined
  /** Per loop, and so are those that are removed. */
  readonly "Actual Rows"?: number | undefined
  readonly "Actual Loops"?: number | undefined
  readonly "Rows Removed by Filter"?: number | undefined
  readonly Plans?: ReadonlyArray<PlanNode> | undefined
}

/** Every node of a query's plan in PostgreSQL, by which a platform would read; with `analyze` it is carried out. */
export const nodesOf = ({ parameters, text }: Query, options: { readonly analyze: boolean }) =>
  Effect.gen(function* () {
    const { read, sql } = yield* Databases.make
    const explain = `EXPLAIN (FORMAT JSON${options.analyze ? ", ANALYZE" : ""}) ${text}`
    const [row] = yield* read("explain a query", sql.unsafe(explain, [...parameters]))
    const plans = Schema.decodeUnknownSync(JsonPlan)(row)["QUERY PLAN"]
    const all = (node: PlanNode): ReadonlyArray<PlanNode> => [node, ...(node.Plans ?? []).flatMap(all)]
    return plans.flatMap(({ Plan }) => all(Plan))
  })

const PlanNode: Schema.Schema<PlanNode> = Schema.Struct({
  "Node Type": Schema.String,
  "Relation Name": Schema.optional(Schema.String),
  "Actual Rows": Schema.optional(Schema.Number),
  "Actual Loops": Schema.optional(Schema.Number),
  "Rows Removed by Filter": Schema.optional(Schema.Number),
  Plans: Schema.optional(Schema.Array(Schema.suspend((): Schema.Schema<PlanNode> => PlanNode)))
})

const JsonPlan = Schema.Struct({ "QUERY PLAN": Schema.Array(Schema.Struct({ Plan: PlanNode })) })
