import * as Fs from "node:fs/promises"
import * as Os from "node:os"
import * as Path from "node:path"
import * as SqlClient from "@effect/sql/SqlClient"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { Context, Effect, Layer } from "effect"
import * as Artifacts from "../../src/Artifacts.js"
import { Platform } from "../../src/Platform.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"

export const temporaryDirectory = Effect.acquireRelease(
  Effect.promise(() => Fs.mkdtemp(Path.join(Os.tmpdir(), "effect-bench-"))),
  (directory) => Effect.promise(() => Fs.rm(directory, { recursive: true, force: true }))
)

/** Where a store may be created, in a directory that does not exist yet. */
export const temporaryFile = Effect.map(temporaryDirectory, (directory) => Path.join(directory, "nested", "store.db"))

export const open = (
  filename: string,
  options: SqlPlatform.SqlPlatformOptions & { readonly artifacts?: string | undefined } = {}
) =>
  Layer.build(SqlPlatform.layerSqlite({ filename, ...options })).pipe(
    Effect.map((context) => Context.get(context, Platform))
  )

/** A connection of its own, past the platform. */
export const connect = (filename: string) =>
  Effect.map(Layer.build(SqliteClient.layer({ filename })), (context) => Context.get(context, SqlClient.SqlClient))

/** A platform together with the client under it. */
export const layerBoth = SqlPlatform.layer.pipe(
  Layer.provideMerge(SqliteClient.layer({ filename: ":memory:" })),
  Layer.provide(Artifacts.layerMemory)
)
