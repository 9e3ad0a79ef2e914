import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Database } from "./database.js"
import { newId, now } from "./database.js"

/** Whose rows a platform sees. */
export interface Organization {
  readonly id: string
  readonly slug: string
}

/** The organization with this slug, created when it is missing. */
export const ensure = Effect.fnUntraced(function* ({ read, sql, write }: Database, slug: string) {
  const find = SqlSchema.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ id: Schema.String, slug: Schema.String }),
    execute: (slug) => sql`SELECT id, slug FROM organizations WHERE slug = ${slug}`
  })
  const create = Effect.gen(function* () {
    yield* sql`INSERT INTO organizations ${sql.insert({ id: yield* newId, slug, created_at: yield* now })}
      ON CONFLICT (slug) DO NOTHING`
    return yield* Effect.flatMap(find(slug), Effect.orDie)
  })
  const found = yield* read("open the store", find(slug))
  return Option.isSome(found) ? found.value : yield* write("open the store", create)
})
