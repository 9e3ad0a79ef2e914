import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { PlatformFailure } from "../../Platform.js"
import { messageOf } from "../json.js"
import { codeOf, driverFailure } from "./database.js"

/** How a process uses a PostgreSQL server. What the URL says about the same goes first. */
export interface PostgresOptions {
  /** Connections that are open at the same time, each for one operation. Default 10. */
  readonly maxConnections?: number | undefined
  /** How long to wait for a connection, a free one of the pool included. Default 10 seconds. */
  readonly connectTimeout?: Duration.DurationInput | undefined
  /** The server gives up a statement that takes longer. Default 2 minutes. */
  readonly statementTimeout?: Duration.DurationInput | undefined
  /** The server gives up waiting for a row that another transaction has locked; the operation is tried again. Default 10 seconds. */
  readonly lockTimeout?: Duration.DurationInput | undefined
  /** What `pg_stat_activity` shows. Default `effect-bench`. */
  readonly applicationName?: string | undefined
}

/** Whether this is how a PostgreSQL server is named. */
export const isPostgresUrl = (text: string): boolean => /^postgres(ql)?:\/\//i.test(text)

/**
 * A database of a PostgreSQL server, reached by a pool of connections which are opened again when the server has been away.
 * `sslmode` and its companions mean what they mean to `psql`; `allow` and `prefer` are refused. Why the server cannot be
 * reached is a failure which names host and database, never the password.
 */
export const layer = (
  url: Redacted.Redacted,
  options: PostgresOptions = {}
): Layer.Layer<SqlClient.SqlClient, PlatformFailure> =>
  Layer.scoped(SqlClient.SqlClient, connect(url, options)).pipe(Layer.provide(Reactivity.layer))

/** Host, port and name of a database, without credentials. */
export const locationOf = (url: Redacted.Redacted): Effect.Effect<string, PlatformFailure> =>
  Effect.map(parse(url), ({ address, database }) => `postgresql://${address}/${database}`)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const operation = "open the database"

const refuse = (detail: string, cause?: unknown) =>
  new PlatformFailure({ operation, detail, retryable: false, ...(cause !== undefined && { cause }) })

const connect = Effect.fnUntraced(function* (url: Redacted.Redacted, options: PostgresOptions) {
  const target = yield* parse(url)
  const parameters = yield* parametersOf(target.url, options)
  const { make } = yield* loadDriver
  return yield* make({
    url: Redacted.make(withParameters(target.url, parameters)),
    maxConnections: options.maxConnections ?? 10,
    connectTimeout: options.connectTimeout ?? "10 seconds",
    idleTimeout: "1 minute",
    applicationName: options.applicationName ?? "effect-bench"
  }).pipe(Effect.mapError((error) => explain(target, error)))
})

// Only those who use PostgreSQL need to have it installed.
const loadDriver = Effect.tryPromise({
  try: () => import("@effect/sql-pg/PgClient"),
  catch: (cause) =>
    codeOf(cause) === "ERR_MODULE_NOT_FOUND"
      ? refuse("PostgreSQL needs the package @effect/sql-pg: install it beside effect-bench", cause)
      : refuse(`the PostgreSQL driver cannot be loaded: ${messageOf(cause)}`, cause)
})

interface Target {
  readonly url: URL
  /** Host and port, or the directory of a socket. */
  readonly address: string
  readonly database: string
}

const expected = "postgres://user:password@host:5432/database"

// A password with unescaped characters ends up in other parts of the URL: nothing of one that looks odd is shown.
const parse = (redacted: Redacted.Redacted): Effect.Effect<Target, PlatformFailure> => {
  const text = Redacted.value(redacted)
  const withHost = text.replace(/^(postgres(?:ql)?:\/\/)(?=[/?]|$)/i, "$1localhost").replace("@/", "@localhost/")
  if (!isPostgresUrl(text) || !URL.canParse(withHost)) {
    return refuse(
      `the database URL is not valid: it must be like ${expected}, with special characters of the password percent-encoded`
    )
  }
  const url = new URL(withHost)
  if (url.hash !== "" || /@/.test(url.pathname + url.search)) {
    return refuse(
      `the database URL is not valid: @, / and # of user and password must be percent-encoded, as in ${expected}`
    )
  }
  return Effect.try({
    try: () => {
      const { searchParams } = url
      const host = searchParams.get("host") ?? decodeURIComponent(url.hostname)
      const user = searchParams.get("user") ?? decodeURIComponent(url.username)
      const port = searchParams.get("port") ?? (url.port || "5432")
      return {
        url,
        address: host.startsWith("/") ? encodeURIComponent(host) : `${host}:${port}`,
        database: decodeURIComponent(url.pathname.slice(1)) || user
      }
    },
    catch: () => refuse("the database URL is not valid: a % that starts no escape must be written %25")
  })
}

type Parameters = Readonly<Record<string, string | undefined>>

const parametersOf = (url: URL, options: PostgresOptions): Effect.Effect<Parameters, PlatformFailure> => {
  const tls = tlsParameters(url.searchParams)
  const millis = (name: string, duration: Duration.DurationInput) => ({
    [name]: url.searchParams.get(name) ?? `${Math.ceil(Duration.toMillis(duration))}`
  })
  return Effect.map(tls, (parameters) => ({
    ...millis("statement_timeout", options.statementTimeout ?? "2 minutes"),
    ...millis("lock_timeout", options.lockTimeout ?? "10 seconds"),
    // A process that stops in the middle of a transaction must not keep its locks.
    ...millis("idle_in_transaction_session_timeout", "1 minute"),
    ...parameters
  }))
}

const tlsModes = ["disable", "require", "no-verify", "verify-ca", "verify-full"]

// The driver verifies certificates for `require` too unless it is asked to do as libpq does.
const tlsParameters = (parameters: URLSearchParams): Effect.Effect<Parameters, PlatformFailure> => {
  const mode = parameters.get("sslmode")
  if (mode === null) return Effect.succeed({})
  if (!tlsModes.includes(mode)) {
    return refuse(
      `the database URL asks for sslmode=${mode}: use disable, require, verify-ca or verify-full` +
        (mode === "prefer" || mode === "allow" ? " (a connection that may or may not be encrypted is not offered)" : "")
    )
  }
  const authority = parameters.get("sslrootcert")
  if (mode === "verify-ca" && (authority === null || authority === "system")) {
    return refuse("the database URL asks for sslmode=verify-ca: name the authority's file in sslrootcert")
  }
  return Effect.succeed({
    sslmode: mode === "no-verify" ? "require" : mode,
    uselibpqcompat: "true",
    sslrootcert: authority === null || authority === "system" ? undefined : authority
  })
}

const withParameters = (url: URL, parameters: Parameters): string => {
  const result = new URL(url)
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) result.searchParams.delete(name)
    else result.searchParams.set(name, value)
  }
  return result.href
}

const explain = ({ address, database }: Target, error: unknown): PlatformFailure => {
  const { cause, detail, retryable } = driverFailure(operation, error)
  const hint = hints.find(({ applies }) => applies(codeOf(cause), detail))
  return new PlatformFailure({
    operation,
    detail: `cannot connect to the database "${database}" on ${address}: ${detail}${hint === undefined ? "" : `; ${hint.advice}`}`,
    retryable,
    ...(Predicate.isNotNullable(cause) && { cause })
  })
}

const hints = [
  { applies: (code: string) => code === "3D000", advice: "create it first, empty" },
  { applies: (code: string) => code === "28P01", advice: "check user and password of the URL" },
  {
    applies: (_: string, detail: string) => detail.includes("does not support SSL"),
    advice: "set up TLS there, or put sslmode=disable into the URL if the way to it is safe"
  },
  {
    applies: (_: string, detail: string) => /certificate/i.test(detail),
    advice: "name the authority's certificate in sslrootcert"
  }
]
