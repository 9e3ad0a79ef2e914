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
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Attempts from "./internal/sql/attempts.js"
import * as Benchmarks from "./internal/sql/benchmarks.js"
import * as Database from "./internal/sql/database.js"
import * as Lookups from "./internal/sql/lookups.js"
import * as Migrations from "./internal/sql/migrations.js"
import * as Organizations from "./internal/sql/organizations.js"
import * as Participants from "./internal/sql/participants.js"
import * as Planning from "./internal/sql/planning.js"
import * as Results from "./internal/sql/results.js"
import * as RollUp from "./internal/sql/rollUp.js"
import * as Runs from "./internal/sql/runs.js"
import * as Sqlite from "./internal/sql/sqlite.js"
import * as Summaries from "./internal/sql/summaries.js"
import * as TaskResults from "./internal/sql/taskResults.js"
import * as Workers from "./internal/sql/workers.js"
import type { PlatformError, PlatformFailure } from "./Platform.js"
import { Platform } from "./Platform.js"

/**
 * Whose rows a SQL platform sees, and how long a claimed worker may be silent.
 *
 * @since 0.1.0
 * @category models
 */
export interface SqlPlatformOptions {
  /** Slug of the organization, created when missing. Default `"local"`. */
  readonly organization?: string | undefined
  /** A running worker that is silent for longer may be claimed again. Default 5 minutes. */
  readonly lease?: Duration.DurationInput | undefined
}

// -----------------------------------------------------------------------------
// constructors
// -----------------------------------------------------------------------------

/**
 * The platform over a `SqlClient`. Creates its tables, or brings them to the schema of this version, first; fails with
 * {@link PlatformFailure} when it cannot, or when a newer version of effect-bench has written the database.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (
  options: SqlPlatformOptions
) => Effect.Effect<Platform["Type"], PlatformFailure, SqlClient.SqlClient> = Effect.fnUntraced(
  function* (options: SqlPlatformOptions) {
    const database = yield* Database.make
    yield* Migrations.migrate(database)
    const organization = yield* Organizations.ensure(database, options.organization ?? "local")
    const find = Lookups.make(database.sql, organization.id)
    const attempts = Attempts.make(database, find)
    const rollUp = RollUp.make(database)
    const addParticipant = Participants.makeAdd(database, rollUp)
    const lease = Duration.decode(options.lease ?? "5 minutes")
    return Platform.of({
      ...Benchmarks.make(database, organization, find),
      ...Runs.make(database, organization, find, rollUp, addParticipant),
      ...Participants.make(database, find, rollUp, addParticipant),
      ...Planning.make(database, find),
      ...Workers.make(database, find, attempts, rollUp, lease),
      ...TaskResults.make(database, find, attempts),
      ...Summaries.make(database, find),
      ...Results.make(database, find)
    })
  },
  Effect.catchAll((error: PlatformError) => (error._tag === "PlatformFailure" ? error : Effect.die(error)))
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
export const layerWith = (options: SqlPlatformOptions): Layer.Layer<Platform, PlatformFailure, SqlClient.SqlClient> =>
  Layer.effect(Platform, make(options))

/**
 * The platform over a `SqlClient`: organization `"local"`, lease 5 minutes.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Platform, PlatformFailure, SqlClient.SqlClient> = layerWith({})

/**
 * The platform in a SQLite file, which is created with its directory when missing and closed with the layer. Fails with
 * {@link PlatformFailure} when the file cannot be opened for writing or is not a database.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerSqlite = (
  options: SqlPlatformOptions & { readonly filename: string }
): Layer.Layer<Platform, PlatformFailure> => Layer.provide(layerWith(options), Sqlite.layer(options.filename))

/**
 * The platform in memory, empty each time it is built.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<Platform, PlatformFailure> = layerSqlite({ filename: Sqlite.memory })
