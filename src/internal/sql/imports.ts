import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Platform } from "../../Platform.js"
import type { Database } from "./database.js"
import { now } from "./database.js"
import type { Lookups } from "./lookups.js"

/** What became of batches of results: each was imported when it was accepted, in the same transaction. */
export const make = ({ read, sql }: Database, find: Lookups): Pick<Platform["Type"], "runImports"> => {
  const findBatches = SqlSchema.findAll({
    Request: Schema.String,
    Result: BatchRow,
    execute: (runId) => sql`SELECT id AS "eventBatchId", batch_type AS "batchType",
        sequence_number AS "sequenceNumber", event_count AS "eventCount", created_at AS "createdAt"
      FROM event_batches WHERE run_id = ${runId} ORDER BY created_at, sequence_number, id`
  })

  return {
    runImports: (ref) =>
      Effect.gen(function* () {
        const run = yield* find.run(ref)
        const batches = yield* findBatches(run.id)
        return {
          run,
          generatedAt: yield* now,
          summary: allImported(batches.length),
          items: batches.map((batch) => ({
            ...batch,
            batchStatus: "persisted",
            objectKey: null,
            batchErrorMessage: null,
            persistedAt: batch.createdAt,
            sink: "sql",
            importStatus: "imported",
            importAttempts: 1,
            importedAt: batch.createdAt,
            failedAt: null,
            importErrorMessage: null
          }))
        }
      }).pipe((queries) => read("runImports", queries))
  }
}

/** The counts of so many batches. */
export const allImported = (batches: number) => ({
  pending: 0,
  importing: 0,
  imported: batches,
  failed: 0,
  missing: 0
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const BatchRow = Schema.Struct({
  eventBatchId: Schema.String,
  batchType: Schema.String,
  sequenceNumber: Schema.Int,
  eventCount: Schema.Int,
  createdAt: Schema.String
})
