/**
 * The platform kept in a SQL database: a SQLite file beside the project, or whatever database a `SqlClient` reaches.
 *
 * ```ts
 * import { Effect } from "effect"
 * import { Platform, SqlPlatform } from "effect-bench"
 *
 * const runs = Platform.Platform.pipe(
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
import * as Catalog from "./internal/sql/catalog.js"
import * as Database from "./internal/sql/database.js"
import * as Lookups from "./internal/sql/lookups.js"
import * as Migrations from "./internal/sql/migrations.js"
import * as Organizations from "./internal/sql/organizations.js"
import * as Planning from "./internal/sql/planning.js"
import * as Results from "./internal/sql/results.js"
import * as RollUp from "./internal/sql/rollUp.js"
import * as Sqlite from "./internal/sql/sqlite.js"
import * as Summaries from "./internal/sql/summaries.js"
import * as TaskResults from "./internal/sql/taskResults.js"
import * as Workers from "./internal/sql/workers.js"
import type { PlatformError } from "./Platform.js"
import { Platform, PlatformFailure } from "./Platform.js"
