import type { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Database } from "./database.js"
import { memory } from "./sqlite.js"

/** Where a database is, for people: the file, or the address and name of what a server keeps; never a secret. */
export const locate = ({ read, sql }: Database) =>
  Effect.map(read("open the store", find(sql)), ([found]) => found?.location ?? memory)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const find = (sql: SqlClient) =>
  SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ location: Schema.NullOr(Schema.NonEmptyString) }),
    execute: () =>
      sql.onDialectOrElse({
        pg: () => sql`SELECT 'postgresql://' || COALESCE(HOST(INET_SERVER_ADDR()) || ':' || INET_SERVER_PORT(), '')
          || '/' || CURRENT_DATABASE() AS location`,
        orElse: () => sql`SELECT NULLIF(file, '') AS location FROM pragma_database_list WHERE name = 'main'`
      })
  })(undefined)
