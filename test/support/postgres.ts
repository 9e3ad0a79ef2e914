import * as SqlClient from "@effect/sql/SqlClient"
import { afterAll, beforeAll } from "@effect/vitest"
import type { Redacted } from "effect"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import * as Artifacts from "../../src/Artifacts.js"
import * as Postgres from "../../src/internal/sql/postgres.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import type { PostgresServer } from "./postgresServer.js"
import { startServer } from "./postgresServer.js"

/** One server for all tests of a file (or of a `describe`), started before the first and ended after the last of them. */
export const sharedServer = () => {
  const scope = Effect.runSync(Scope.make())
  let shared: Shared | undefined
  beforeAll(async () => {
    const begin = Effect.gen(function* () {
      const server = yield* startServer()
      const admin = yield* connect(server.url("postgres"))
      yield* admin`CREATE DATABASE migrated`
      yield* Effect.scoped(Layer.build(layerPlatform(server.url("migrated"))))
      yield* admin`CREATE DATABASE common TEMPLATE migrated`
      return { server, admin, common: yield* connect(server.url("common")) }
    })
    shared = await Effect.runPromise(Scope.extend(begin, scope))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  const use = Effect.suspend(() =>
    shared === undefined ? Effect.dieMessage("the server is not started") : Effect.succeed(shared)
  )
  let count = 0
  const create = (template: string) =>
    Effect.gen(function* () {
      const { admin, server } = yield* use
      const name = `test_${count++}`
      yield* Effect.acquireRelease(
        admin`CREATE DATABASE ${admin(name)} TEMPLATE ${admin(template)} STRATEGY FILE_COPY`.pipe(Effect.orDie),
        () => Effect.orDie(admin`DROP DATABASE ${admin(name)} WITH (FORCE)`)
      )
      return server.url(name)
    })
  const database = create("migrated")

  return {
    server: Effect.map(use, ({ server }) => server),
    /** The URL of a database without tables. */
    emptyDatabase: create("template0"),
    /** The URL of a database with the tables of this version and no rows. */
    database,
    /** A platform for an organization of its own, in a database and over connections that others use too. */
    layer: Layer.unwrapEffect(
      Effect.map(use, ({ common }) =>
        SqlPlatform.layerWith({ organization: crypto.randomUUID() }).pipe(
          Layer.provide([Layer.succeed(SqlClient.SqlClient, common), Artifacts.layerMemory])
        )
      )
    ),
    /** A platform in a database of its own, together with the client and the artifacts under it. */
    layerBoth: Layer.unwrapScoped(
      Effect.map(database, (url) =>
        SqlPlatform.layer.pipe(Layer.provideMerge(Layer.merge(Postgres.layer(url), Artifacts.layerMemory)))
      )
    )
  }
}

/** A platform in this database, with artifacts in memory. */
export const layerPlatform = (url: Redacted.Redacted, options: SqlPlatform.SqlPlatformOptions = {}) =>
  SqlPlatform.layerWith(options).pipe(Layer.provide([Postgres.layer(url), Artifacts.layerMemory]))

/** A connection of its own, past the platform. */
export const connect = (url: Redacted.Redacted, options: Postgres.PostgresOptions = {}) =>
  Effect.map(Layer.build(Postgres.layer(url, options)), (context) => Context.get(context, SqlClient.SqlClient))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Shared {
  readonly server: PostgresServer
  readonly admin: SqlClient.SqlClient
  readonly common: SqlClient.SqlClient
}
