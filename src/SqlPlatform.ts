/**
 * The platform kept in a SQL database: a SQLite file beside the project, or whatever database a `SqlClient` reaches.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Platform } from "effect-bench/Platform"
 * import * as SqlPlatform from "effect-bench/SqlPlatform"
 *
 * const runs = Platform.pipe(
 *   Effect.flatMap((platform) => platform.listAllRuns({ limit: 10 })),
 *   Effect.provide(SqlPlatform.layerSqlite({ filename: ".bench/store.db" }))
 * )
 * ```
 *
 * Any number of processes may use one database at the same time. This is the only module that loads SQL code.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ArtifactStorage from "./Artifacts.js"
import * as Artifacts from "./internal/sql/artifacts.js"
import * as Attempts from "./internal/sql/attempts.js"
import * as Benchmarks from "./internal/sql/benchmarks.js"
import * as Database from "./internal/sql/database.js"
import * as Imports from "./internal/sql/imports.js"
import * as Logs from "./internal/sql/logs.js"
import * as Lookups from "./internal/sql/lookups.js"
import * as Migrations from "./internal/sql/migrations.js"
import * as Organizations from "./internal/sql/organizations.js"
import * as Origin from "./internal/sql/origin.js"
import * as Participants from "./internal/sql/participants.js"
import * as Planning from "./internal/sql/planning.js"
import * as Progress from "./internal/sql/progress.js"
import * as Readiness from "./internal/sql/readiness.js"
import * as Results from "./internal/sql/results.js"
import * as RollUp from "./internal/sql/rollUp.js"
import * as Runs from "./internal/sql/runs.js"
import * as Sqlite from "./internal/sql/sqlite.js"
import * as Summaries from "./internal/sql/summaries.js"
import * as TaskBuckets from "./internal/sql/taskBuckets.js"
import * as TaskResults from "./internal/sql/taskResults.js"
import * as Timeline from "./internal/sql/timeline.js"
import * as WorkerPatches from "./internal/sql/workerPatches.js"
import * as Workers from "./internal/sql/workers.js"
import type { PlatformError, PlatformFailure } from "./Platform.js"
import { Platform } from "./Platform.js"

/**
 * Whose rows a SQL platform sees, how long a claimed worker may be silent, and what the database is called.
 *
 * @since 0.1.0
 * @category models
 */
export interface SqlPlatformOptions {
  /** Slug of the organization, created when missing. Default `"local"`. */
  readonly organization?: string | undefined
  /** A running worker that is silent for longer may be claimed again. Default 5 minutes. */
  readonly lease?: Duration.DurationInput | undefined
  /**
   * A worker whose last heartbeat is not younger is stale, and no step of its participant becomes ready. Default 15
   * seconds, at most a year.
   */
  readonly freshness?: Duration.DurationInput | undefined
  /** What `origin` says about where the database is. Default: its file, or server and name without credentials. */
  readonly location?: string | undefined
}

// -----------------------------------------------------------------------------
// constructors
// -----------------------------------------------------------------------------

/**
 * The platforms of all organizations of one database, over a `SqlClient`, with the bytes of artifacts in
 * {@link ArtifactStorage.Artifacts}. Creates the tables, or brings them to the schema of this version, first; fails with
 * {@link PlatformFailure} when it cannot, or when a newer version of effect-bench has written the database.
 *
 * The platform of an organization that exists is made without asking the database.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeByOrganization: (
  options: Omit<SqlPlatformOptions, "organization">
) => Effect.Effect<
  (organization: { readonly id: string; readonly slug: string }) => Platform["Type"],
  PlatformFailure,
  SqlClient.SqlClient | ArtifactStorage.Artifacts
> = Effect.fnUntraced(
  function* (options: Omit<SqlPlatformOptions, "organization">) {
    const database = yield* Database.make
    yield* Migrations.migrate(database)
    return yield* makeOn(database, options)
  },
  Effect.catchAll((error) => failureOrDie(error))
)

/**
 * The platform of one organization, like {@link makeByOrganization}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (
  options: SqlPlatformOptions
) => Effect.Effect<Platform["Type"], PlatformFailure, SqlClient.SqlClient | ArtifactStorage.Artifacts> =
  Effect.fnUntraced(
    function* ({ organization, ...options }: SqlPlatformOptions) {
      const database = yield* Database.make
      yield* Migrations.migrate(database)
      const platformOf = yield* makeOn(database, options)
      return platformOf(yield* Organizations.ensure(database, organization ?? "local"))
    },
    Effect.catchAll((error) => failureOrDie(error))
  )

// -----------------------------------------------------------------------------
// layers
// -----------------------------------------------------------------------------

/**
 * The platform over a `SqlClient`, with options.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (
  options: SqlPlatformOptions
): Layer.Layer<Platform, PlatformFailure, SqlClient.SqlClient | ArtifactStorage.Artifacts> =>
  Layer.effect(Platform, make(options))

/**
 * The platform over a `SqlClient`: organization `"local"`, lease 5 minutes, freshness 15 seconds.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Platform, PlatformFailure, SqlClient.SqlClient | ArtifactStorage.Artifacts> = layerWith(
  {}
)

/**
 * The platform in a SQLite file, which is created with its directory when missing and closed with the layer; the bytes of
 * artifacts are files in a directory (default: `artifacts` beside the file). Fails with {@link PlatformFailure} when the file
 * cannot be opened for writing or is not a database.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerSqlite = (
  options: SqlPlatformOptions & { readonly filename: string; readonly artifacts?: string | undefined }
): Layer.Layer<Platform, PlatformFailure> => {
  const { artifacts, filename, ...others } = options
  const inMemory = filename === Sqlite.memory
  const storage =
    inMemory && artifacts === undefined
      ? ArtifactStorage.layerMemory
      : ArtifactStorage.layerFiles({ directory: artifacts ?? Path.join(Path.dirname(filename), "artifacts") })
  return layerWith({ ...others, location: others.location ?? (inMemory ? filename : Path.resolve(filename)) }).pipe(
    Layer.provide([Sqlite.layer(filename), storage])
  )
}

/**
 * The platform in memory, artifacts included, empty each time it is built.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<Platform, PlatformFailure> = layerSqlite({ filename: Sqlite.memory })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const failureOrDie = (error: PlatformError): Effect.Effect<never, PlatformFailure> =>
  error._tag === "PlatformFailure" ? Effect.fail(error) : Effect.die(error)

const makeOn = Effect.fnUntraced(function* (
  database: Database.Database,
  options: Omit<SqlPlatformOptions, "organization">
) {
  const storage = yield* ArtifactStorage.Artifacts
  const location = options.location ?? (yield* Origin.locate(database))
  const rollUp = RollUp.make(database)
  const freshness = Duration.min(Duration.decode(options.freshness ?? "15 seconds"), Duration.days(365))
  const readiness = Readiness.make(database, freshness)
  const addParticipant = Participants.makeAdd(database, rollUp)
  const lease = Duration.decode(options.lease ?? "5 minutes")
  return (organization: Organizations.Organization): Platform["Type"] => {
    const find = Lookups.make(database.sql, organization.id)
    const attempts = Attempts.make(database, find)
    return Platform.of({
      ...Benchmarks.make(database, organization, find),
      ...Runs.make(database, organization, find, rollUp, addParticipant),
      ...Participants.make(database, find, rollUp, addParticipant),
      ...Planning.make(database, find),
      ...Workers.make(database, find, attempts, rollUp, readiness, lease),
      ...WorkerPatches.make(database, find, attempts, rollUp, readiness),
      ...TaskResults.make(database, find, attempts),
      ...Summaries.make(database, find),
      ...Results.make(database, find),
      ...Progress.make(database, find, readiness, freshness),
      ...TaskBuckets.make(database, find),
      ...Timeline.make(database, find),
      ...Imports.make(database, find),
      ...Artifacts.make(database, organization, find, attempts, storage),
      ...Logs.make(database, find, storage),
      origin: { kind: "store", location }
    })
  }
})
