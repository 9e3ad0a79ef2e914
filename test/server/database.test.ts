import * as Path from "node:path"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Redacted } from "effect"
import * as Database from "../../src/internal/server/database.js"
import { temporaryFile } from "../support/stores.js"

const parse = (name: string) =>
  Either.match(Database.parse(Redacted.make(name)), {
    onLeft: (error) => error.message,
    onRight: (location) =>
      location._tag === "Sqlite" ? location.filename : `${location._tag} ${Redacted.value(location.url)}`
  })

describe("the database of a server", () => {
  it("is a file, however it is named", () => {
    assert.strictEqual(parse("a/b.db"), Path.resolve("a/b.db"))
    assert.strictEqual(parse("sqlite:a/b.db"), Path.resolve("a/b.db"))
    for (const name of ["/a/b.db", "sqlite:/a/b.db", "sqlite:///a/b.db", "file:///a/b.db", "SQLite:/a/b.db"]) {
      assert.strictEqual(parse(name), "/a/b.db")
    }
    assert.strictEqual(parse("sqlite::memory:"), ":memory:")
  })

  it("is a PostgreSQL server by its URL", () => {
    assert.strictEqual(parse("postgres://u:p@h/d"), "Postgres postgres://u:p@h/d")
    assert.strictEqual(parse("postgresql://h/d?sslmode=require"), "Postgres postgresql://h/d?sslmode=require")
  })

  it("is refused without repeating what may be a password", () => {
    for (const name of ["mysql://root:hunter2@h/d", "sqlite:", "", "file://hunter2.example.com/x.db"]) {
      const message = parse(name)
      assert.include(message, "give a file, sqlite:PATH or postgres://user:password@host:5432/database")
      assert.notInclude(message, "hunter2")
    }
  })

  it.effect("is called without its password", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Database.locationOf(Redacted.make("/a/b.db")), "/a/b.db")
      const location = yield* Database.locationOf(Redacted.make("postgres://me:hunter2@db.example.com/bench"))
      assert.strictEqual(location, "postgresql://db.example.com:5432/bench")
    })
  )

  it.scoped("answers once it is open", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      const answer = Effect.gen(function* () {
        yield* Database.ping
        const sql = yield* SqlClient.SqlClient
        return yield* sql<{ one: number }>`SELECT 1 AS one`
      }).pipe(Effect.provide(Database.layerDatabase(Redacted.make(`sqlite:${filename}`))))
      assert.deepStrictEqual(yield* answer, [{ one: 1 }])
    })
  )
})
