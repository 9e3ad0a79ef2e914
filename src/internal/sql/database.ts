import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import type * as Statement from "@effect/sql/Statement"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ParseError } from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import type { PlatformError } from "../../Platform.js"
import { InvalidRequest, PlatformFailure } from "../../Platform.js"

/** Whatever a query may fail with before {@link Database} has named the operation that sent it. */
export type QueryError = PlatformError | SqlError | ParseError

/** A SQL database on which every operation is one transaction, and every failure a `PlatformError`. */
export interface Database {
  readonly sql: SqlClient.SqlClient
  /**
   * Keeps others from changing a row until the transaction ends. Those who lock several start with the worker, then its
   * participant, then the run.
   */
  readonly lock: (table: "workers" | "participants" | "runs", id: string) => Effect.Effect<void, SqlError>
  /** Ends a query that is to lock what it finds, and to pass over what others have locked. */
  readonly skipLocked: Statement.Fragment
  /** Runs queries against one snapshot. */
  readonly read: <A>(operation: string, queries: Effect.Effect<A, QueryError>) => Effect.Effect<A, PlatformError>
  /** Runs queries that write; they may run several times, but take effect once or not at all. */
  readonly write: <A>(operation: string, queries: Effect.Effect<A, QueryError>) => Effect.Effect<A, PlatformError>
}

/** How often and how long an operation tries while another process holds the database. */
export const busySchedule = Schedule.exponential("10 millis", 1.5).pipe(
  Schedule.union(Schedule.spaced("250 millis")),
  Schedule.jittered,
  Schedule.upTo("30 seconds")
)

export const make = Effect.map(SqlClient.SqlClient, (sql): Database => {
  // SQLite refuses to turn a reading transaction into a writing one once another process has written, without waiting.
  const beginWrite = sql.onDialectOrElse({ sqlite: () => ["BEGIN IMMEDIATE"], orElse: () => ["BEGIN"] })
  // The client remembers for minutes that a statement could not be prepared, even if the database was only busy; the
  // select meets that first, and is not remembered.
  // PostgreSQL takes the rows of a run, which lie together, for scattered ones, and would rather read those of all runs.
  const beginRead = sql.onDialectOrElse({
    sqlite: () => ["BEGIN", "SELECT 1 FROM sqlite_master LIMIT 1"],
    orElse: () => [
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_seqscan = off; SET LOCAL work_mem = '32MB'"
    ]
  })
  const operate =
    (begin: ReadonlyArray<string>) =>
    <A>(operation: string, queries: Effect.Effect<A, QueryError>) =>
      transaction(sql, begin, queries).pipe(
        Effect.retry({ schedule: busySchedule, while: isBusy }),
        Effect.mapError((error) => toPlatformError(operation, error))
      )
  return {
    sql,
    // SQLite has locked everything at the start of the transaction.
    lock: sql.onDialectOrElse({
      sqlite: () => () => Effect.void,
      orElse: () => (table, id) => Effect.asVoid(sql`SELECT id FROM ${sql(table)} WHERE id = ${id} FOR NO KEY UPDATE`)
    }),
    skipLocked: sql.onDialectOrElse({
      sqlite: () => sql.literal(""),
      orElse: () => sql.literal("FOR NO KEY UPDATE SKIP LOCKED")
    }),
    read: operate(beginRead),
    write: operate(beginWrite)
  }
})

/** The current time as stored: ISO-8601 UTC with milliseconds, which sorts as text. */
export const now: Effect.Effect<string> = Effect.map(DateTime.now, DateTime.formatIso)

export const newId: Effect.Effect<string> = Effect.sync(() => crypto.randomUUID())

/** Whether a column is one of these: one parameter, however many there are, which PostgreSQL looks at when it plans. */
export const isOneOf = (
  sql: SqlClient.SqlClient,
  column: string,
  type: "INTEGER" | "TEXT",
  values: ReadonlyArray<number | string>
): Statement.Fragment =>
  sql.onDialectOrElse({
    pg: () => sql`${sql(column)} = ANY(CAST(${arrayText(values)} AS ${sql.literal(type)}[]))`,
    orElse: () => sql`${sql(column)} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`
  })

/** Names the operation in what its queries failed with, and says what the driver said. */
export const toPlatformError = (operation: string, error: QueryError): PlatformError => {
  switch (error._tag) {
    case "SqlError":
      return codeOf(rootCause(error)) === unstorableText
        ? new InvalidRequest({ issues: [{ field: "request", message: "must not contain the character NUL" }] })
        : driverFailure(operation, error)
    case "ParseError":
      return new PlatformFailure({
        operation,
        detail: `a stored row cannot be read: ${error.message}`,
        retryable: false,
        cause: error
      })
    default:
      return error
  }
}

/** A failure that repeats the driver's message, which is found at the end of the chain of causes. */
export const driverFailure = (operation: string, error: unknown): PlatformFailure => {
  const cause = rootCause(error)
  const code = codeOf(cause)
  const detail = messageOf(cause)
  return new PlatformFailure({
    operation,
    detail,
    retryable: busyCodes.test(code) || unreachableCodes.test(code) || (code === "" && unreachableMessages.test(detail)),
    cause
  })
}

/** Whether the database was only busy with another process. */
export const isBusy = (error: unknown): boolean =>
  Predicate.isTagged(error, "SqlError") && busyCodes.test(codeOf(rootCause(error)))

export const codeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : ""

/** Sends a statement outside the cache of prepared ones. */
export const unprepared = (connection: Connection, statement: string): Effect.Effect<void, SqlError> =>
  Effect.suspend(() => connection.executeUnprepared(statement, [], undefined)).pipe(
    Effect.catchAllDefect((cause) => new SqlError({ cause })),
    Effect.asVoid
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// SQLite busy, locked, lock protocol; PostgreSQL serialization failure, deadlock, lock not available.
const busyCodes = /^(SQLITE_(BUSY|LOCKED|PROTOCOL)|40001$|40P01$|55P03$)/

// PostgreSQL connection exceptions, too many connections, shutdown, a stuck transaction, a primary that has become a
// standby; the operating system's words for the same.
const unreachableCodes =
  /^(08|53300$|57P0|25P03$|25006$|ECONN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|CONNECT)/

// PostgreSQL stores no text with the character NUL.
const unstorableText = "22021"

// What the driver of PostgreSQL says without a code.
const unreachableMessages =
  /^(Connection terminated|Connection timed out|Client has encountered a connection error|timeout exceeded when trying to connect|timeout expired)/

const rootCause = (error: unknown): unknown =>
  Predicate.hasProperty(error, "cause") && error.cause !== undefined && error.cause !== null
    ? rootCause(error.cause)
    : error

const messageOf = (error: unknown): string =>
  Predicate.hasProperty(error, "message") && typeof error.message === "string" && error.message !== ""
    ? error.message
    : codeOf(error) || String(error)

const arrayText = (values: ReadonlyArray<number | string>) =>
  `{${values.map((value) => `"${`${value}`.replace(/["\\]/g, "\\$&")}"`).join(",")}}`

// `SqlClient.withTransaction` always sends a plain BEGIN and turns a failing COMMIT into a defect that leaves the
// transaction open.
const transaction = <A>(
  sql: SqlClient.SqlClient,
  begin: ReadonlyArray<string>,
  queries: Effect.Effect<A, QueryError>
) =>
  Effect.uninterruptibleMask((restore) => {
    // The client of PostgreSQL loses a connection that arrives for somebody who has stopped waiting.
    const reserve = sql.onDialectOrElse({
      sqlite: () => sql.reserve,
      orElse: () => Effect.uninterruptible(sql.reserve)
    })
    return Effect.scoped(
      Effect.gen(function* () {
        const connection = yield* restore(reserve)
        const exit = yield* Effect.forEach(begin, (statement) => unprepared(connection, statement)).pipe(
          Effect.zipRight(Effect.provideService(queries, SqlClient.TransactionConnection, [connection, 0])),
          restore,
          Effect.zipLeft(unprepared(connection, "COMMIT")),
          Effect.exit
        )
        if (Exit.isFailure(exit)) {
          // Some failures, such as a full disk, have rolled back already. Cancelling a statement may hit this one.
          yield* Effect.ignore(Effect.retry(unprepared(connection, "ROLLBACK"), { times: 1 }))
        }
        return yield* exit
      })
      // Whoever waits for the only connection of SQLite gets it before this fiber asks for it again.
    ).pipe(Effect.ensuring(Effect.yieldNow()))
  })
