import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { PlatformFailure } from "../../Platform.js"
import * as Accounts from "./accounts/tables.js"
import type { Database } from "./database.js"
import { driverFailure } from "./database.js"
import { prepareRetention } from "./retention.js"

const operation = "open the store"
const migrationsTable = "effect_bench_migrations"

/**
 * Brings the tables to the schema this version knows; any number of processes may do so at once. Fails when a newer
 * version has written them.
 */
export const migrate = Effect.fnUntraced(function* (database: Database) {
  const { sql } = database
  const found = yield* database.read(operation, findVersion(sql))
  yield* refuseNewer(found)
  if (found < version) {
    yield* database.write(operation, migrateLocked(sql))
  }
})

/** Tables grow by new entries only: what a released version has created is never edited. */
const migrations: Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>> = {
  "1_tables": Effect.flatMap(SqlClient.SqlClient, (sql) => createTables(sql)),
  "2_progress_and_artifacts": Effect.flatMap(SqlClient.SqlClient, (sql) => addProgressAndArtifacts(sql)),
  "3_accounts": Effect.flatMap(SqlClient.SqlClient, (sql) => Accounts.createTables(sql, columnTypes(sql))),
  "4_retention": Effect.flatMap(SqlClient.SqlClient, (sql) => prepareRetention(sql, columnTypes(sql)))
}

const version = Math.max(...Object.keys(migrations).map((name) => Number.parseInt(name, 10)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// The newest migration that has been run here; 0 when none was.
const findVersion = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const tables = yield* sql.onDialectOrElse({
    pg: () => sql`SELECT 1 FROM pg_class WHERE oid = to_regclass(${migrationsTable})`,
    orElse: () => sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${migrationsTable}`
  })
  if (tables.length === 0) return 0
  const rows = yield* SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ version: Schema.NullOr(Schema.Int) }),
    execute: () => sql`SELECT MAX(migration_id) AS version FROM ${sql(migrationsTable)}`
  })(undefined)
  return rows[0]?.version ?? 0
})

const refuseNewer = (found: number) =>
  found <= version
    ? Effect.void
    : Effect.fail(
        new PlatformFailure({
          operation,
          detail: `a newer version of effect-bench has written it (schema ${found}, this one knows ${version}): upgrade effect-bench`,
          retryable: false
        })
      )

const migrateLocked = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    yield* lockMigrations(sql)
    yield* refuseNewer(yield* findVersion(sql))
    yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: migrationsTable })
  }).pipe(
    Effect.provideService(SqlClient.SqlClient, sql),
    Effect.catchAllDefect((defect) => (defect instanceof Migrator.MigrationError ? defect : Effect.die(defect))),
    Effect.catchTag("MigrationError", (error) => driverFailure(operation, error))
  )

// The migrator creates its table before it locks anything, so two processes could collide there. What a large table needs
// may take longer than any operation.
const lockMigrations = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    yield* sql.onDialectOrElse({
      pg: (): Effect.Effect<unknown, SqlError> =>
        sql`SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)`.pipe(
          Effect.zipRight(sql`SELECT pg_advisory_xact_lock(7223372036)`)
        ),
      orElse: () => Effect.void
    })
    yield* sql`CREATE TABLE IF NOT EXISTS ${sql(migrationsTable)} (
      migration_id INTEGER PRIMARY KEY NOT NULL,
      created_at ${sql.onDialectOrElse({ pg: () => sql.literal("TIMESTAMP WITH TIME ZONE"), orElse: () => sql.literal("DATETIME") })} NOT NULL DEFAULT CURRENT_TIMESTAMP,
      name TEXT NOT NULL
    )`
  })

/**
 * Ids are UUIDs, times ISO-8601 text, JSON is text (so that it comes back as it went in), booleans are 0 or 1. `seq`
 * numbers rows in the order of their creation. Text that is sorted compares by code point on every database. The two
 * tables with a row per task or step name their participant by `seq`, which keeps them small, and are laid out in the
 * order in which they are summed up.
 */
const createTables = (sql: SqlClient.SqlClient) => {
  const { seq, sorted } = columnTypes(sql)
  const clustered = sql.onDialectOrElse({ sqlite: () => sql.literal("WITHOUT ROWID"), orElse: () => sql.literal("") })
  return Effect.all(
    [
      sql`CREATE TABLE organizations (
        ${seq},
        id TEXT NOT NULL UNIQUE,
        slug TEXT NOT NULL UNIQUE,
        created_at ${sorted} NOT NULL
      )`,
      sql`CREATE TABLE benchmarks (
        ${seq},
        id TEXT NOT NULL UNIQUE,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        slug TEXT NOT NULL,
        name TEXT NOT NULL,
        status TEXT,
        config TEXT,
        default_run_config TEXT,
        created_at ${sorted} NOT NULL,
        updated_at ${sorted} NOT NULL,
        UNIQUE (organization_id, slug)
      )`,
      sql`CREATE INDEX benchmarks_newest ON benchmarks (organization_id, created_at, seq)`,
      // No total_tasks: the run is sized by its participants.
      sql`CREATE TABLE runs (
        ${seq},
        id TEXT NOT NULL UNIQUE,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        benchmark_id TEXT NOT NULL REFERENCES benchmarks (id),
        run_key TEXT,
        name TEXT,
        status TEXT NOT NULL,
        total_tasks INTEGER,
        worker_count INTEGER,
        config TEXT,
        created_at ${sorted} NOT NULL,
        updated_at ${sorted} NOT NULL,
        UNIQUE (benchmark_id, run_key)
      )`,
      sql`CREATE INDEX runs_newest_of_benchmark ON runs (benchmark_id, created_at, seq)`,
      sql`CREATE INDEX runs_newest ON runs (organization_id, created_at, seq)`,
      sql`CREATE TABLE participants (
        ${seq},
        id TEXT NOT NULL UNIQUE,
        run_id TEXT NOT NULL REFERENCES runs (id),
        slug TEXT NOT NULL,
        label TEXT,
        provider TEXT,
        status TEXT NOT NULL,
        total_tasks INTEGER NOT NULL,
        worker_count INTEGER NOT NULL,
        config TEXT,
        worker_config TEXT,
        created_at ${sorted} NOT NULL,
        updated_at ${sorted} NOT NULL,
        UNIQUE (run_id, slug)
      )`,
      sql`CREATE INDEX participants_registered ON participants (run_id, seq)`,
      sql`CREATE INDEX participants_by_status ON participants (run_id, status)`,
      sql`CREATE TABLE workers (
        ${seq},
        id TEXT NOT NULL UNIQUE,
        participant_id TEXT NOT NULL REFERENCES participants (id),
        worker_index INTEGER NOT NULL,
        worker_count INTEGER NOT NULL,
        task_index_start INTEGER NOT NULL,
        task_index_end INTEGER NOT NULL,
        target_concurrency INTEGER,
        status TEXT NOT NULL,
        progress_done INTEGER NOT NULL,
        progress_in_flight INTEGER NOT NULL,
        progress_errors INTEGER NOT NULL,
        progress_total INTEGER NOT NULL,
        current_step TEXT,
        concurrency TEXT NOT NULL,
        attempt_count INTEGER NOT NULL,
        current_attempt_id TEXT,
        last_seen_at ${sorted},
        created_at ${sorted} NOT NULL,
        updated_at ${sorted} NOT NULL,
        UNIQUE (participant_id, worker_index)
      )`,
      sql`CREATE INDEX workers_by_status ON workers (participant_id, status, worker_index)`,
      sql`CREATE TABLE attempts (
        ${seq},
        id TEXT NOT NULL UNIQUE,
        worker_id TEXT NOT NULL REFERENCES workers (id),
        attempt_number INTEGER NOT NULL,
        status TEXT NOT NULL,
        process_kind TEXT,
        process_key TEXT,
        error_code TEXT,
        error_message TEXT,
        started_at ${sorted} NOT NULL,
        ended_at ${sorted},
        UNIQUE (worker_id, attempt_number)
      )`,
      sql`CREATE TABLE event_batches (
        id TEXT PRIMARY KEY NOT NULL,
        run_id TEXT NOT NULL REFERENCES runs (id),
        worker_id TEXT NOT NULL REFERENCES workers (id),
        attempt_id TEXT NOT NULL REFERENCES attempts (id),
        sequence_number INTEGER NOT NULL,
        batch_type TEXT NOT NULL,
        is_final INTEGER NOT NULL,
        event_count INTEGER NOT NULL,
        created_at ${sorted} NOT NULL,
        UNIQUE (attempt_id, sequence_number)
      )`,
      sql`CREATE INDEX event_batches_of_run ON event_batches (run_id, created_at)`,
      sql`CREATE TABLE task_results (
        participant_seq INTEGER NOT NULL REFERENCES participants (seq),
        task_index INTEGER NOT NULL,
        attempt_number INTEGER NOT NULL,
        sequence_number INTEGER NOT NULL,
        status TEXT NOT NULL,
        started_at ${sorted},
        completed_at ${sorted},
        latency_ms DOUBLE PRECISION,
        first_command_ms DOUBLE PRECISION,
        error_code TEXT,
        data TEXT,
        PRIMARY KEY (participant_seq, task_index)
      ) ${clustered}`,
      sql`CREATE TABLE step_results (
        participant_seq INTEGER NOT NULL REFERENCES participants (seq),
        name ${sorted} NOT NULL,
        task_index INTEGER NOT NULL,
        step_index INTEGER NOT NULL,
        status TEXT NOT NULL,
        started_at ${sorted},
        completed_at ${sorted},
        latency_ms DOUBLE PRECISION,
        error_code TEXT,
        data TEXT,
        concurrency DOUBLE PRECISION,
        timeout_ms DOUBLE PRECISION,
        PRIMARY KEY (participant_seq, name, task_index, step_index)
      ) ${clustered}`,
      // One row a sample; a heartbeat without samples is one row without a step.
      sql`CREATE TABLE heartbeats (
        id TEXT NOT NULL,
        position INTEGER NOT NULL,
        run_id TEXT NOT NULL REFERENCES runs (id),
        worker_id TEXT NOT NULL REFERENCES workers (id),
        attempt_id TEXT NOT NULL REFERENCES attempts (id),
        recorded_at ${sorted} NOT NULL,
        step TEXT,
        active INTEGER,
        target INTEGER,
        PRIMARY KEY (id, position)
      )`,
      sql`CREATE INDEX heartbeats_of_run ON heartbeats (run_id, recorded_at)`,
      sql`CREATE TABLE run_summaries (
        run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id),
        summary TEXT NOT NULL,
        created_at ${sorted} NOT NULL,
        updated_at ${sorted} NOT NULL
      )`
    ],
    { discard: true }
  )
}

const addProgressAndArtifacts = (sql: SqlClient.SqlClient) => {
  const { seq, sorted } = columnTypes(sql)
  return Effect.all(
    [
      // Unlike last_seen_at it does not count batches of results.
      sql`ALTER TABLE workers ADD COLUMN last_heartbeat_at ${sorted}`,
      sql`UPDATE workers SET last_heartbeat_at = last_seen_at`,
      // Steps that a participant's workers have all been ready for, once.
      sql`CREATE TABLE ready_steps (
        participant_id TEXT NOT NULL REFERENCES participants (id),
        step ${sorted} NOT NULL,
        ready_at ${sorted} NOT NULL,
        PRIMARY KEY (participant_id, step)
      )`,
      sql`CREATE TABLE artifacts (
        ${seq},
        id TEXT NOT NULL UNIQUE,
        run_id TEXT NOT NULL REFERENCES runs (id),
        worker_id TEXT NOT NULL REFERENCES workers (id),
        attempt_id TEXT NOT NULL REFERENCES attempts (id),
        kind TEXT NOT NULL,
        name TEXT,
        content_type TEXT,
        metadata TEXT,
        object_key TEXT NOT NULL,
        created_at ${sorted} NOT NULL
      )`,
      sql`CREATE INDEX artifacts_newest_of_run ON artifacts (run_id, created_at, seq)`,
      sql`CREATE INDEX artifacts_newest_of_worker ON artifacts (worker_id, created_at, seq)`
    ],
    { discard: true }
  )
}

const columnTypes = (sql: SqlClient.SqlClient) => ({
  seq: sql.onDialectOrElse({
    pg: () => sql.literal("seq INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    orElse: () => sql.literal("seq INTEGER PRIMARY KEY AUTOINCREMENT")
  }),
  sorted: sql.onDialectOrElse({ pg: () => sql.literal(`TEXT COLLATE "C"`), orElse: () => sql.literal("TEXT") })
})
