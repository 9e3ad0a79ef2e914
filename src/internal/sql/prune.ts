import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as SqlSchema from "@effect/sql/SqlSchema"
import type * as Statement from "@effect/sql/Statement"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Artifacts } from "../../Artifacts.js"
import type { PlatformError } from "../../Platform.js"
import type { Database, QueryError } from "./database.js"
import * as Databases from "./database.js"
import { isOneOf, now, unprepared } from "./database.js"
import * as Migrations from "./migrations.js"
import { findParticipantSeqs } from "./participantSeqs.js"

/** Which runs are removed, of all organizations. */
export interface PruneOptions {
  /** Those that have not changed for longer. */
  readonly olderThan: Duration.DurationInput
  /** Only count what would be removed. Default false. */
  readonly dryRun?: boolean | undefined
  /** A running worker that was heard of within this time keeps its run. Default 5 minutes. */
  readonly lease?: Duration.DurationInput | undefined
}

/** What has been removed, or would be. */
export interface Pruned {
  /** Runs that have not changed since were removed; ISO-8601 UTC. */
  readonly before: string
  readonly runs: number
  readonly participants: number
  readonly workers: number
  readonly attempts: number
  readonly eventBatches: number
  readonly taskResults: number
  readonly stepResults: number
  /** Samples of heartbeats. */
  readonly heartbeats: number
  readonly artifacts: number
}

/**
 * Removes old runs with everything in them, the bytes of their artifacts included: in transactions of a few thousand rows,
 * each followed by a pause as long as it took, so that others go on. A run is out of sight once its removal has begun; when
 * that is interrupted or fails, the next one finishes it first.
 */
export const prune = (options: PruneOptions): Effect.Effect<Pruned, PlatformError, SqlClient.SqlClient | Artifacts> =>
  Effect.gen(function* () {
    const database = yield* Databases.make
    yield* Migrations.migrate(database)
    const storage = yield* Artifacts
    const selection = yield* select(options)
    const runs = makeRuns(database, selection)
    if (options.dryRun === true) return yield* count(database, runs, selection)
    return yield* withoutReferences(database.sql, remove(database, storage, runs, selection))
  })

// -----------------------------------------------------------------------------
// the runs
// -----------------------------------------------------------------------------

/** Times as they are stored. */
interface Selection {
  readonly before: string
  /** A running worker that was heard of since keeps its run; all of them do when there is no such time. */
  readonly heardSince: string
}

const select = Effect.fnUntraced(function* (options: PruneOptions) {
  const time = yield* DateTime.now
  const ago = (duration: Duration.Duration) =>
    DateTime.formatIso(DateTime.subtractDuration(time, Duration.min(duration, Duration.millis(time.epochMillis))))
  const lease = Duration.decode(options.lease ?? "5 minutes")
  const selection: Selection = {
    before: ago(Duration.decode(options.olderThan)),
    heardSince: Duration.isFinite(lease) ? ago(lease) : ""
  }
  return selection
})

const OldRun = Schema.Struct({ id: Schema.String, seq: Schema.Int, updatedAt: Schema.String })
type OldRun = typeof OldRun.Type

const makeRuns = ({ sql, write }: Database, { before, heardSince }: Selection) => {
  const isOld = sql`r.pruned_at IS NULL AND r.updated_at < ${before}
    AND NOT EXISTS (SELECT 1 FROM participants p WHERE p.run_id = r.id AND p.updated_at >= ${before})
    AND NOT EXISTS (SELECT 1 FROM participants p JOIN workers w ON w.participant_id = p.id WHERE p.run_id = r.id
      AND (w.updated_at >= ${before} OR (w.status = 'running' AND w.last_seen_at >= ${heardSince})))
    AND NOT EXISTS (SELECT 1 FROM run_summaries s WHERE s.run_id = r.id AND s.updated_at >= ${before})`

  const findOld = SqlSchema.findAll({
    Request: Schema.Struct({ updatedAt: Schema.String, seq: Schema.Int }),
    Result: OldRun,
    execute: ({ seq, updatedAt }) => sql`SELECT r.id, r.seq, r.updated_at AS "updatedAt" FROM runs r
      WHERE (r.updated_at, r.seq) > (${updatedAt}, ${seq}) AND ${isOld}
      ORDER BY r.updated_at, r.seq LIMIT ${runsAtOnce}`
  })

  const findBegun = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: Schema.String }),
    execute: () => sql`SELECT id FROM runs WHERE pruned_at IS NOT NULL ORDER BY pruned_at, id`
  })

  // Whoever reports something holds a lock of one of these meanwhile.
  const lockAll = (runId: string) =>
    sql.onDialectOrElse({
      sqlite: (): Effect.Effect<unknown, SqlError> => Effect.void,
      orElse: () =>
        sql`SELECT id FROM workers WHERE participant_id IN (SELECT id FROM participants WHERE run_id = ${runId})
          ORDER BY seq FOR NO KEY UPDATE`.pipe(
          Effect.zipRight(sql`SELECT id FROM participants WHERE run_id = ${runId} ORDER BY seq FOR NO KEY UPDATE`),
          Effect.zipRight(sql`SELECT id FROM runs WHERE id = ${runId} FOR NO KEY UPDATE`)
        )
    })

  return {
    /** Old ones, least recently changed first, that come after one in that order. */
    findOld,
    /** Those whose removal was begun, and not ended. */
    findBegun: findBegun(undefined),
    /** Takes a run out of sight; false when it is not old any more. Its key may be used again. */
    begin: (runId: string) =>
      Effect.gen(function* () {
        yield* lockAll(runId)
        const begun = yield* sql`UPDATE runs SET pruned_at = ${yield* now}, run_key = NULL
          WHERE id IN (SELECT r.id FROM runs r WHERE r.id = ${runId} AND ${isOld}) RETURNING id`
        return begun.length > 0
      }).pipe((queries) => write(operation, queries))
  }
}

type Runs = ReturnType<typeof makeRuns>

/** Carries out something for every old run. */
const forEachOld = <E, R>(
  { read }: Database,
  runs: Runs,
  { before }: Selection,
  use: (run: OldRun) => Effect.Effect<Pruned, E, R>
) =>
  Effect.gen(function* () {
    let total = nothing(before)
    let last: Pick<OldRun, "seq" | "updatedAt"> = { updatedAt: "", seq: 0 }
    for (;;) {
      const found: ReadonlyArray<OldRun> = yield* read(operation, runs.findOld(last))
      for (const run of found) {
        total = add(total, yield* use(run))
        last = run
      }
      if (found.length < runsAtOnce) return total
    }
  })

// -----------------------------------------------------------------------------
// counting
// -----------------------------------------------------------------------------

const count = (database: Database, runs: Runs, selection: Selection) => {
  const { read, sql } = database
  const participants = (runId: string) => sql`SELECT id FROM participants WHERE run_id = ${runId}`
  const seqs = (runId: string) => sql`SELECT seq FROM participants WHERE run_id = ${runId}`
  const countOf = (rows: Statement.Fragment) => sql`(SELECT CAST(COUNT(*) AS INTEGER) FROM ${rows})`
  const countRun = SqlSchema.single({
    Request: Schema.String,
    Result: Counts,
    execute: (runId) => sql`SELECT 1 AS "runs",
      ${countOf(sql`participants WHERE run_id = ${runId}`)} AS "participants",
      ${countOf(sql`workers WHERE participant_id IN (${participants(runId)})`)} AS "workers",
      ${countOf(
        sql`attempts WHERE worker_id IN (SELECT id FROM workers WHERE participant_id IN (${participants(runId)}))`
      )} AS "attempts",
      ${countOf(sql`event_batches WHERE run_id = ${runId}`)} AS "eventBatches",
      ${countOf(sql`task_results WHERE participant_seq IN (${seqs(runId)})`)} AS "taskResults",
      ${countOf(sql`step_results WHERE participant_seq IN (${seqs(runId)})`)} AS "stepResults",
      ${countOf(sql`heartbeats WHERE run_id = ${runId}`)} AS "heartbeats",
      ${countOf(sql`artifacts WHERE run_id = ${runId}`)} AS "artifacts"`
  })
  return forEachOld(database, runs, selection, ({ id }) =>
    countRun(id).pipe(
      Effect.catchTag("NoSuchElementException", Effect.die),
      (query) => read(operation, query),
      Effect.map((counts): Pruned => ({ before: selection.before, ...counts }))
    )
  )
}

// -----------------------------------------------------------------------------
// removing
// -----------------------------------------------------------------------------

const remove = (database: Database, storage: Artifacts["Type"], runs: Runs, selection: Selection) =>
  Effect.gen(function* () {
    const removeRun = makeRemoveRun(database, storage, selection)
    let finished = nothing(selection.before)
    for (const { id } of yield* database.read(operation, runs.findBegun)) finished = add(finished, yield* removeRun(id))
    const removed = yield* forEachOld(database, runs, selection, ({ id }) =>
      Effect.flatMap(runs.begin(id), (begun) => (begun ? removeRun(id) : Effect.succeed(nothing(selection.before))))
    )
    return add(finished, removed)
  })

const makeRemoveRun = (database: Database, storage: Artifacts["Type"], { before }: Selection) => {
  const { read, sql, write } = database

  // At most `rowsAtOnce` of those that fit; how many they were.
  const deleteSome = (table: string, where: Statement.Fragment) =>
    sql.onDialectOrElse({
      pg: () => sql`DELETE FROM ${sql(table)}
        WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${sql(table)} WHERE ${where} LIMIT ${rowsAtOnce})) RETURNING 1`,
      orElse: () => sql`DELETE FROM ${sql(table)}
        WHERE rowid IN (SELECT rowid FROM ${sql(table)} WHERE ${where} LIMIT ${rowsAtOnce}) RETURNING 1`
    })

  // In SQLite the tables with a row per task or step have no row ids.
  const deleteSomeTasks = (seq: number) =>
    sql.onDialectOrElse({
      pg: () => deleteSome("task_results", sql`participant_seq = ${seq}`),
      orElse: () => sql`DELETE FROM task_results WHERE participant_seq = ${seq} AND task_index IN (
        SELECT task_index FROM task_results WHERE participant_seq = ${seq} LIMIT ${rowsAtOnce}) RETURNING 1`
    })
  const deleteSomeSteps = (seq: number) =>
    sql.onDialectOrElse({
      pg: () => deleteSome("step_results", sql`participant_seq = ${seq}`),
      orElse: () => sql`DELETE FROM step_results WHERE participant_seq = ${seq} AND (name, task_index) IN (
        SELECT name, task_index FROM step_results WHERE participant_seq = ${seq} LIMIT ${rowsAtOnce}) RETURNING 1`
    })

  const inTurns = (queries: Effect.Effect<ReadonlyArray<unknown>, QueryError>) =>
    Effect.gen(function* () {
      let total = 0
      for (;;) {
        const [elapsed, rows] = yield* Effect.timed(write(operation, queries))
        total += rows.length
        if (rows.length === 0) return total
        yield* Effect.sleep(elapsed)
      }
    })

  const findArtifacts = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ id: Schema.String, objectKey: Schema.String }),
    execute: (runId) => sql`SELECT id, object_key AS "objectKey" FROM artifacts
      WHERE run_id = ${runId} LIMIT ${objectsAtOnce}`
  })

  // The bytes first: without its row nobody would find them again.
  const removeArtifacts = Effect.fnUntraced(function* (runId: string) {
    let total = 0
    for (;;) {
      const found = yield* read(operation, findArtifacts(runId))
      if (found.length === 0) return total
      yield* Effect.forEach(found, ({ objectKey }) => storage.remove(objectKey), { concurrency: 8, discard: true })
      const ids = found.map(({ id }) => id)
      yield* write(operation, sql`DELETE FROM artifacts WHERE ${isOneOf(sql, "id", "TEXT", ids)}`)
      total += found.length
    }
  })

  const ofRun = (runId: string) => sql`run_id = ${runId}`
  const participants = (runId: string) => sql`SELECT id FROM participants WHERE run_id = ${runId}`
  const workers = (runId: string) => sql`SELECT id FROM workers WHERE participant_id IN (${participants(runId)})`

  const removeRest = (runId: string) =>
    Effect.gen(function* () {
      yield* sql.onDialectOrElse({
        sqlite: (): Effect.Effect<unknown, SqlError> => Effect.void,
        orElse: () => sql`SELECT id FROM runs WHERE id = ${runId} FOR UPDATE`
      })
      yield* sql`DELETE FROM ready_steps WHERE participant_id IN (${participants(runId)})`
      yield* sql`DELETE FROM run_summaries WHERE ${ofRun(runId)}`
      const found = yield* sql`DELETE FROM participants WHERE ${ofRun(runId)} RETURNING 1`
      const gone = yield* sql`DELETE FROM runs WHERE id = ${runId} RETURNING 1`
      return { participants: found.length, runs: gone.length }
    })

  return Effect.fnUntraced(function* (runId: string) {
    const seqs = yield* read(operation, findParticipantSeqs(sql)(runId))
    const ofEach = (deleteSome: (seq: number) => Effect.Effect<ReadonlyArray<unknown>, QueryError>) =>
      Effect.map(
        Effect.forEach(seqs, (seq) => inTurns(deleteSome(seq))),
        (counts) => counts.reduce((total, count) => total + count, 0)
      )
    const removed: Omit<Pruned, "runs" | "participants"> = {
      before,
      artifacts: yield* removeArtifacts(runId),
      stepResults: yield* ofEach(deleteSomeSteps),
      taskResults: yield* ofEach(deleteSomeTasks),
      heartbeats: yield* inTurns(deleteSome("heartbeats", ofRun(runId))),
      eventBatches: yield* inTurns(deleteSome("event_batches", ofRun(runId))),
      attempts: yield* inTurns(deleteSome("attempts", sql`worker_id IN (${workers(runId)})`)),
      workers: yield* inTurns(deleteSome("workers", sql`participant_id IN (${participants(runId)})`))
    }
    return { ...removed, ...(yield* write(operation, removeRest(runId))) }
  })
}

// SQLite would search all heartbeats, batches and artifacts for every attempt that is removed.
const withoutReferences = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) => {
  const setReferences = (value: "ON" | "OFF") =>
    Effect.scoped(
      Effect.flatMap(sql.reserve, (connection) => unprepared(connection, `PRAGMA foreign_keys = ${value}`))
    ).pipe(Effect.mapError((error) => Databases.toPlatformError(operation, error)))
  return sql.onDialectOrElse({
    sqlite: () =>
      Effect.acquireUseRelease(
        setReferences("OFF"),
        () => effect,
        () => Effect.ignore(setReferences("ON"))
      ),
    orElse: () => effect
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const operation = "prune"

const runsAtOnce = 100
const rowsAtOnce = 2000
const objectsAtOnce = 100

const Counts = Schema.Struct({
  runs: Schema.Int,
  participants: Schema.Int,
  workers: Schema.Int,
  attempts: Schema.Int,
  eventBatches: Schema.Int,
  taskResults: Schema.Int,
  stepResults: Schema.Int,
  heartbeats: Schema.Int,
  artifacts: Schema.Int
})

const nothing = (before: string): Pruned => ({
  before,
  runs: 0,
  participants: 0,
  workers: 0,
  attempts: 0,
  eventBatches: 0,
  taskResults: 0,
  stepResults: 0,
  heartbeats: 0,
  artifacts: 0
})

const add = (left: Pruned, right: Pruned): Pruned => ({
  before: left.before,
  runs: left.runs + right.runs,
  participants: left.participants + right.participants,
  workers: left.workers + right.workers,
  attempts: left.attempts + right.attempts,
  eventBatches: left.eventBatches + right.eventBatches,
  taskResults: left.taskResults + right.taskResults,
  stepResults: left.stepResults + right.stepResults,
  heartbeats: left.heartbeats + right.heartbeats,
  artifacts: left.artifacts + right.artifacts
})
