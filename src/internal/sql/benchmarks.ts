import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import type { Platform } from "../../Platform.js"
import { nonEmpty, refuse } from "../platform/validation.js"
import type { Database } from "./database.js"
import { newId, now } from "./database.js"
import type { Lookups } from "./lookups.js"
import { BenchmarkRow, PageRequest, selectBenchmarks } from "./lookups.js"
import type { Organization } from "./organizations.js"
import { encodeJson, page } from "./requests.js"

type Operations = Pick<Platform["Type"], "upsertBenchmark" | "updateBenchmark" | "getBenchmark" | "listBenchmarks">

/** An organization's benchmarks. In an update null means the same as absent. */
export const make = (database: Database, organization: Organization, find: Lookups): Operations => {
  const { read, sql, write } = database

  const list = SqlSchema.findAll({
    Request: PageRequest,
    Result: BenchmarkRow,
    execute: ({ limit, offset }) => sql`${selectBenchmarks(sql)} WHERE b.organization_id = ${organization.id}
      ORDER BY b.created_at DESC, b.seq DESC LIMIT ${limit} OFFSET ${offset}`
  })

  return {
    upsertBenchmark: (slug, input) =>
      Effect.gen(function* () {
        yield* refuse(nonEmpty("slug", slug))
        const config = yield* encodeJson("config", input.config)
        const defaultRunConfig = yield* encodeJson("defaultRunConfig", input.defaultRunConfig)
        const time = yield* now
        yield* sql`INSERT INTO benchmarks ${sql.insert({
          id: yield* newId,
          organization_id: organization.id,
          slug,
          name: input.name ?? slug,
          status: input.status ?? null,
          config,
          default_run_config: defaultRunConfig,
          created_at: time,
          updated_at: time
        })} ON CONFLICT (organization_id, slug) DO UPDATE SET
          name = COALESCE(${input.name ?? null}, benchmarks.name),
          status = COALESCE(excluded.status, benchmarks.status),
          config = COALESCE(excluded.config, benchmarks.config),
          default_run_config = COALESCE(excluded.default_run_config, benchmarks.default_run_config),
          updated_at = excluded.updated_at`
        return yield* find.benchmark(slug)
      }).pipe((queries) => write("upsertBenchmark", queries)),

    updateBenchmark: (slug, input) =>
      Effect.gen(function* () {
        const { id } = yield* find.benchmark(slug)
        yield* sql`UPDATE benchmarks SET
          name = COALESCE(${input.name ?? null}, name),
          status = COALESCE(${input.status ?? null}, status),
          config = COALESCE(${yield* encodeJson("config", input.config)}, config),
          default_run_config = COALESCE(${yield* encodeJson("defaultRunConfig", input.defaultRunConfig)},
            default_run_config),
          updated_at = ${yield* now}
          WHERE id = ${id}`
        return yield* find.benchmark(slug)
      }).pipe((queries) => write("updateBenchmark", queries)),

    getBenchmark: (slug) => read("getBenchmark", find.benchmark(slug)),

    listBenchmarks: (input) => read("listBenchmarks", Effect.flatMap(page(input), list))
  }
}
