/**
 * `bench serve`: a platform on this machine, and what its subcommands need of it.
 */
import * as Path from "@effect/platform/Path"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Config from "effect/Config"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Artifacts from "../Artifacts.js"
import { formatUrl, isSecure, parseUrl } from "../internal/http/address.js"
import * as Database from "../internal/server/database.js"
import * as Listener from "../internal/server/listener.js"
import * as Objects from "../internal/server/objects.js"
import * as Settings from "../internal/server/settings.js"
import { localUrl, start } from "../internal/server/start.js"
import * as SqlAccounts from "../SqlAccounts.js"
import { layerHttp } from "./destination.js"
import { say } from "./output.js"
import * as Project from "./project.js"
import { UsageError } from "./UsageError.js"

/** What can be said about a server; what is absent has a default. */
export interface ServeOptions {
  readonly host: string
  readonly port: number
  /** A file, `sqlite:PATH` or `postgres://…`; else `BENCH_DATABASE`, else `server.db` in the project's `.bench`. */
  readonly database?: Redacted.Redacted | undefined
  /** A directory or `s3://…`; else `BENCH_ARTIFACTS`, else `server-artifacts` in the project's `.bench`. */
  readonly artifacts?: string | undefined
  readonly publicUrl?: string | undefined
  readonly lease: Duration.Duration
  /** Proxies that every request comes through. */
  readonly trustedProxies?: number | undefined
}

/** Serves until it is interrupted; then requests that are being carried out get their time. */
export const serve = (options: ServeOptions) =>
  Effect.gen(function* () {
    const publicUrl = options.publicUrl === undefined ? undefined : yield* parsePublicUrl(options.publicUrl)
    const database = yield* databaseOf(options.database)
    const artifacts = yield* artifactsOf(options.artifacts)
    const listener = yield* Listener.open({
      host: options.host,
      port: options.port,
      settings: Settings.make({}, {}, options.trustedProxies)
    })
    const url = publicUrl ?? localUrl(listener)
    const layer = SqlAccounts.layerAuthorization({ lease: options.lease }).pipe(
      Layer.provide(Layer.provide(Artifacts.layerFromUrl(artifacts, { publicUrl: url }), layerHttp)),
      Layer.provideMerge(SqlAccounts.layerConfig),
      Layer.provideMerge(Database.layerDatabase(database))
    )
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const deviceLogin = yield* SqlAccounts.deviceLogin({ publicUrl })
      yield* start(listener, {
        publicUrl: url,
        ready: Effect.provideService(Database.ping, SqlClient.SqlClient, sql),
        apps: [deviceLogin, ...(yield* objectsOf(artifacts))]
      })
      const own = localUrl(listener)
      yield* say(
        [
          `Listening on ${own}${url === own ? "" : `, for clients at ${url}`}`,
          `  database   ${yield* Database.locationOf(database)}`,
          `  artifacts  ${artifacts}`,
          ...exposure(options.host, url, publicUrl !== undefined),
          ...(yield* firstKey(options))
        ].join("\n")
      )
      return yield* Effect.never
    }).pipe(Effect.scoped, Effect.provide(layer))
  }).pipe(Effect.scoped, logging)

/** The accounts in the database of a server, for those who run it. */
export const layerAccounts = (database: Redacted.Redacted | undefined) =>
  Layer.unwrapEffect(
    Effect.map(databaseOf(database), (found) =>
      Layer.provideMerge(SqlAccounts.layerConfig, Database.layerDatabase(found))
    )
  )

/** The database and the artifacts of a server, for those who run it. */
export const layerStorage = (options: Pick<ServeOptions, "database" | "artifacts">) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const database = Database.layerDatabase(yield* databaseOf(options.database))
      const artifacts = Artifacts.layerFromUrl(yield* artifactsOf(options.artifacts))
      return Layer.merge(database, Layer.provide(artifacts, layerHttp))
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const setting = (name: string) => Effect.orDie(Config.option(Config.nonEmptyString(name)))

const databaseOf = Effect.fnUntraced(function* (flag: Redacted.Redacted | undefined) {
  const named = flag ?? Option.getOrUndefined(Option.map(yield* setting("BENCH_DATABASE"), Redacted.make))
  return named ?? Redacted.make(yield* inHome("server.db"))
})

const artifactsOf = Effect.fnUntraced(function* (flag: string | undefined) {
  const named = flag ?? Option.getOrUndefined(yield* setting("BENCH_ARTIFACTS"))
  if (named === undefined) return yield* inHome("server-artifacts")
  const location = yield* Artifacts.parseLocation(named)
  return location.kind === "directory" ? location.directory : named
})

/** A place in the project's `.bench`, which is kept out of git: it will hold hashes of keys, and a secret. */
const inHome = Effect.fnUntraced(function* (name: string) {
  const path = yield* Path.Path
  const home = yield* Project.home
  yield* Project.keepOutOfGit
  return path.join(home, name)
})

const objectsOf = Effect.fnUntraced(function* (artifacts: string) {
  const location = yield* Artifacts.parseLocation(artifacts)
  return location.kind === "directory" ? [yield* Objects.make({ directory: location.directory })] : []
})

const parsePublicUrl = (text: string): Effect.Effect<string, UsageError> => {
  const url = parseUrl(text)
  return url !== undefined &&
    (url.protocol === "https:" || url.protocol === "http:") &&
    url.username + url.password + url.search + url.hash === ""
    ? Effect.succeed(formatUrl(url).replace(/\/+$/, ""))
    : new UsageError({ detail: "--public-url expects a URL like https://bench.example.com" })
}

/** What the world can see, if it is more than this machine. */
const exposure = (host: string, url: string, isPublic: boolean): ReadonlyArray<string> => {
  const bound = parseUrl(`http://${host.includes(":") ? `[${host}]` : host}`)
  if ((bound !== undefined && isSecure(bound)) || url.startsWith("https:")) return []
  return [
    isPublic
      ? `warning: keys and results travel unencrypted to ${url}: put a proxy in front that does TLS, and pass its address as --public-url https://…`
      : "warning: other machines can reach this server, unencrypted: put a proxy in front that does TLS, and pass the address that clients use as --public-url https://…"
  ]
}

/** How to get a key, while there is none. */
const firstKey = Effect.fnUntraced(function* (options: ServeOptions) {
  const accounts = yield* SqlAccounts.SqlAccounts
  if ((yield* accounts.keys({})).length > 0) return []
  const elsewhere = options.database === undefined ? "" : " --database …"
  return [
    "There are no keys yet. Create the first one:",
    `  bench serve orgs create my-org${elsewhere}`,
    `  bench serve keys create --org my-org${elsewhere}`
  ]
})

/** A line for each request and each failure, on stderr; a level that was asked for is kept. */
const logging = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(FiberRef.get(FiberRef.currentMinimumLogLevel), (level) =>
    effect.pipe(
      Effect.locally(FiberRef.currentLoggers, HashSet.make(Logger.withConsoleError(Logger.logfmtLogger))),
      Logger.withMinimumLogLevel(level._tag === "Warning" ? LogLevel.Info : level)
    )
  )
