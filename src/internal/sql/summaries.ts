import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Platform } from "../../Platform.js"
import { InvalidRequest, ResourceNotFound, RunSummary } from "../../Platform.js"
import { issuesOf } from "../platform/validation.js"
import type { Database } from "./database.js"
import { now } from "./database.js"
import type { Lookups } from "./lookups.js"

/** The scored summary of a run, kept as it was sent. */
export const make = (database: Database, find: Lookups): Pick<Platform["Type"], "submitSummary" | "getSummary"> => {
  const { read, sql, write } = database

  const findSummary = SqlSchema.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ summary: SummaryColumn }),
    execute: (runId) => sql`SELECT summary FROM run_summaries WHERE run_id = ${runId}`
  })

  return {
    submitSummary: (ref, summary) =>
      Effect.gen(function* () {
        const text = yield* encode(summary)
        const stored = yield* decode(text)
        const { id } = yield* find.run(ref)
        const time = yield* now
        yield* sql`INSERT INTO run_summaries ${sql.insert({
          run_id: id,
          summary: text,
          created_at: time,
          updated_at: time
        })} ON CONFLICT (run_id) DO UPDATE SET summary = excluded.summary, updated_at = excluded.updated_at`
        return stored
      }).pipe((queries) => write("submitSummary", queries)),

    getSummary: (ref) =>
      Effect.gen(function* () {
        const { id } = yield* find.run(ref)
        const found = yield* findSummary(id)
        if (Option.isNone(found)) return yield* new ResourceNotFound({ resource: "summary", id })
        return found.value.summary
      }).pipe((queries) => read("getSummary", queries))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const SummaryColumn = Schema.parseJson(RunSummary)

const encode = (summary: RunSummary) =>
  Either.try({
    try: () => JSON.stringify(summary),
    catch: (error) => new InvalidRequest({ issues: [{ field: "summary", message: `must be JSON (${String(error)})` }] })
  })

// JSON turns a number that is not finite into null, so what is about to be stored is read back first.
const decode = (text: string) =>
  Effect.mapError(
    Schema.decode(SummaryColumn)(text),
    (error) =>
      new InvalidRequest({
        issues: issuesOf(error).map(({ field, message }) => ({
          field,
          message: `cannot be stored as JSON (${message})`
        }))
      })
  )
