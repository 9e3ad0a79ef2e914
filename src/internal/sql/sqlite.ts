import * as Fs from "node:fs/promises"
import * as Path from "node:path"
import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { PlatformFailure } from "../../Platform.js"
import { makeDirectory } from "../artifacts/directory.js"
import { busySchedule, codeOf, driverFailure, isBusy, unprepared } from "./database.js"

export const memory = ":memory:"

/**
 * A SQLite file, created with its directory when missing; every reason why it cannot be opened is a failure. `durable`
 * writes through to the disk with every transaction, so that a power failure takes none of them; the wait for that stops
 * the process, which a server can bear and a measurement cannot.
 */
export const layer = (
  filename: string,
  options: { readonly durable?: boolean } = {}
): Layer.Layer<SqlClient.SqlClient, PlatformFailure> =>
  Layer.scoped(SqlClient.SqlClient, open(filename, options.durable === true)).pipe(Layer.provide(Reactivity.layer))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const operation = "open the store"

const refuse = (detail: string, cause: unknown) => new PlatformFailure({ operation, detail, retryable: false, cause })

const open = Effect.fnUntraced(function* (filename: string, durable: boolean) {
  if (filename !== memory) yield* ensureWritable(filename)
  const sql = yield* connect(filename)
  yield* configure(sql, durable).pipe(
    Effect.retry({ schedule: busySchedule, while: isBusy }),
    Effect.mapError((error) => explain(filename, error))
  )
  return sql
})

// The driver's constructor throws inside the client's effect.
const connect = (filename: string) =>
  SqliteClient.make({ filename, disableWAL: true }).pipe(
    Effect.catchAllDefect((defect) => Effect.fail(explain(filename, defect)))
  )

/**
 * Waiting for a lock inside SQLite stops the whole process, measurements included, so nearly all of the waiting is
 * left to the retries around every operation.
 */
const pragmas = (durable: boolean) => [
  "busy_timeout = 20",
  "journal_mode = WAL",
  `synchronous = ${durable ? "FULL" : "NORMAL"}`,
  "foreign_keys = ON"
]

const configure = (sql: SqlClient.SqlClient, durable: boolean) =>
  Effect.scoped(
    Effect.flatMap(sql.reserve, (connection) =>
      Effect.forEach(pragmas(durable), (pragma) => unprepared(connection, `PRAGMA ${pragma}`), { discard: true })
    )
  )

const explain = (filename: string, error: unknown): PlatformFailure => {
  const { cause, detail, retryable } = driverFailure(operation, error)
  return new PlatformFailure({
    operation,
    detail:
      codeOf(cause) === "SQLITE_NOTADB"
        ? `"${filename}" is not a SQLite database; move it away or choose another file`
        : `cannot open "${filename}": ${detail}`,
    retryable,
    cause
  })
}

// SQLite itself opens what it cannot write, and fails at the first write.
const ensureWritable = Effect.fnUntraced(function* (filename: string) {
  const directory = Path.dirname(filename)
  yield* makeDirectory(directory).pipe(
    Effect.mapError((cause) => refuse(`cannot create the directory "${directory}" (${String(cause)})`, cause))
  )
  yield* Effect.tryPromise({
    try: () => Fs.access(directory, Fs.constants.W_OK | Fs.constants.X_OK),
    catch: (cause) => refuse(`the directory "${directory}" is not writable (${String(cause)})`, cause)
  })
  const found = yield* Effect.option(Effect.tryPromise(() => Fs.stat(filename)))
  if (Option.isNone(found)) return
  if (found.value.isDirectory()) {
    return yield* refuse(`"${filename}" is a directory`, undefined)
  }
  yield* Effect.tryPromise({
    try: () => Fs.access(filename, Fs.constants.R_OK | Fs.constants.W_OK),
    catch: (cause) => refuse(`"${filename}" is not writable (${String(cause)})`, cause)
  })
})
