/** Which database a server keeps everything in. */
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { PlatformFailure } from "../../Platform.js"
import { parseUrl } from "../http/address.js"
import * as Sqlite from "../sql/sqlite.js"

/** What the name of a database stands for. */
export type DatabaseLocation = Data.TaggedEnum<{
  readonly Sqlite: { readonly filename: string }
  readonly Postgres: { readonly url: Redacted.Redacted }
}>

const DatabaseLocation = Data.taggedEnum<DatabaseLocation>()

/** A file, `sqlite:PATH` or `postgres://user:password@host:5432/database`. */
export const parse = (name: Redacted.Redacted): Either.Either<DatabaseLocation, PlatformFailure> => {
  const text = Redacted.value(name).trim()
  const [, scheme = "file", rest = text] = /^([a-z][a-z0-9+.-]+):(.*)$/is.exec(text) ?? []
  switch (scheme.toLowerCase()) {
    case "postgres":
    case "postgresql":
      return Either.right(DatabaseLocation.Postgres({ url: Redacted.make(text) }))
    case "sqlite":
      return sqlite(rest.replace(/^\/\/(?=\/|$)/, ""))
    case "file":
      return rest === text ? sqlite(text) : sqliteUrl(text)
    default:
      return refused(`databases at ${scheme}: are not supported`)
  }
}

/** The database that is named so; a SQLite file is created when missing. */
export const layerDatabase = (name: Redacted.Redacted): Layer.Layer<SqlClient.SqlClient, PlatformFailure> =>
  Layer.unwrapEffect(
    Effect.flatMap(
      parse(name),
      DatabaseLocation.$match({
        Sqlite: ({ filename }) => Effect.succeed(Sqlite.layer(filename, { durable: true })),
        Postgres: ({ url }) =>
          Effect.map(
            Effect.promise(() => import("../sql/postgres.js")),
            (Postgres) => Postgres.layer(url)
          )
      })
    )
  )

/** Where it is, for people: a file, or server and name without credentials. */
export const locationOf = (name: Redacted.Redacted): Effect.Effect<string, PlatformFailure> =>
  Effect.flatMap(
    parse(name),
    DatabaseLocation.$match({
      Sqlite: ({ filename }) => Effect.succeed(filename),
      Postgres: ({ url }) =>
        Effect.flatMap(
          Effect.promise(() => import("../sql/postgres.js")),
          (Postgres) => Postgres.locationOf(url)
        )
    })
  )

/** Fails when the database does not answer. */
export const ping: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.asVoid(sql`SELECT 1`)
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const expected = "give a file, sqlite:PATH or postgres://user:password@host:5432/database"

// The text may hold a password: it is not repeated.
const refused = (why: string) =>
  Either.left(new PlatformFailure({ operation: "open the database", detail: `${why}: ${expected}`, retryable: false }))

const sqlite = (path: string): Either.Either<DatabaseLocation, PlatformFailure> => {
  if (path === "") return refused("the database has no name")
  return Either.right(DatabaseLocation.Sqlite({ filename: path === Sqlite.memory ? path : Path.resolve(path) }))
}

const sqliteUrl = (text: string): Either.Either<DatabaseLocation, PlatformFailure> => {
  const url = parseUrl(text)
  return url === undefined || (url.hostname !== "" && url.hostname !== "localhost")
    ? refused("the database is at no file: URL of this machine")
    : sqlite(fileURLToPath(new URL(`file://${url.pathname}`)))
}
