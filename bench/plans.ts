/**
 * How the platform's listings and results find their rows: fills a store and prints, for every reading operation, how long
 * it takes (the best of three) and the plan of each of its queries. One run has 100 000 tasks, the others 10 000 each.
 *
 *   npm run bench:plans                               # 1 million step rows, in SQLite and in a PostgreSQL of its own
 *   npm run bench:plans -- --steps 10000000 postgres  # 10 million, only in PostgreSQL
 *   npm run bench:plans -- postgres://…/empty         # in this database, which keeps them
 *   npm run bench:plans -- --full                     # every node of every plan
 */
import * as Fs from "node:fs/promises"
import * as Os from "node:os"
import * as Path from "node:path"
import * as SqlClient from "@effect/sql/SqlClient"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { Duration, Effect, Layer, Redacted } from "effect"
import * as Artifacts from "../src/Artifacts.js"
import * as Postgres from "../src/internal/sql/postgres.js"
import { Platform } from "../src/Platform.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import { fill } from "../test/support/filled.js"
import { startServer } from "../test/support/postgresServer.js"
import type { Query } from "../test/support/queries.js"
import { captured, planOf } from "../test/support/queries.js"

const args = process.argv.slice(2)
const full = args.includes("--full")
const stepRows = Number(args[args.indexOf("--steps") + 1] ?? 0) || 1_000_000
const given = args.find((arg) => Postgres.isPostgresUrl(arg))
const targets = given !== undefined ? [] : ["sqlite", "postgres"].filter((name) => args.includes(name))

const small = { participants: 2, tasks: 5000, workers: 10, heartbeats: 60 }
const large = { ...small, runs: 1, tasks: 50_000 }

const fillAll = Effect.gen(function* () {
  const platform = yield* Platform
  if ((yield* platform.listBenchmarks({})).length > 0) return
  const rowsOf = ({ participants, tasks }: typeof small) => participants * tasks * 3
  const runs = Math.max(1, Math.round((stepRows - rowsOf(large)) / rowsOf(small)))
  yield* fill("small", { ...small, runs: Math.ceil(runs / 2) })
  yield* fill("large", large)
  yield* fill("other", { ...small, runs: Math.max(1, Math.floor(runs / 2)) })
})

const run = { benchmark: "large", run: "large-0" }
const participant = { ...run, participant: "p0" }
const worker = { ...participant, worker: "large-0-p0-w3" }

const operations: Record<string, (platform: Platform["Type"]) => Effect.Effect<unknown, unknown>> = {
  listBenchmarks: (platform) => platform.listBenchmarks({}),
  listRuns: (platform) => platform.listRuns("small", {}),
  "listRuns, last page": (platform) =>
    platform.listRuns("small", { offset: Math.max(0, Math.round(stepRows / 60_000) - 60) }),
  listAllRuns: (platform) => platform.listAllRuns({}),
  getRun: (platform) => platform.getRun(run),
  listParticipants: (platform) => platform.listParticipants(run),
  listWorkers: (platform) => platform.listWorkers(participant),
  listRunArtifacts: (platform) => platform.listRunArtifacts(run),
  listWorkerArtifacts: (platform) => platform.listWorkerArtifacts(worker),
  getArtifact: (platform) => platform.getArtifact(run, "large-0-p0-w3-x0"),
  participantLogs: (platform) => platform.participantLogs(participant, {}),
  getSummary: (platform) => platform.getSummary(run),
  runProgress: (platform) => platform.runProgress(run),
  runResults: (platform) => platform.runResults(run),
  "runResults, small": (platform) => platform.runResults({ benchmark: "small", run: "small-0" }),
  "benchmarkResults, 10 runs": (platform) => platform.benchmarkResults("small", { limit: 10 }),
  taskBuckets: (platform) => platform.taskBuckets(run, {}),
  runTimeline: (platform) => platform.runTimeline(run, {}),
  runImports: (platform) => platform.runImports(run),
  "iterations, tasks": (platform) => platform.iterations(participant, { participant: "p0" }),
  "iterations, one step": (platform) => platform.iterations(participant, { type: "steps", steps: ["read"] })
}

const print = (query: Query) =>
  Effect.gen(function* () {
    const { lines, tables } = yield* planOf(query)
    console.log(
      `  ${query.text
        .replace(/\s+/g, " ")
        .trim()
        .slice(0, full ? Infinity : 150)}`
    )
    for (const line of full ? lines : tables) console.log(`    ${line}`)
  })

const report = Effect.gen(function* () {
  const platform = yield* Platform
  for (const [name, operation] of Object.entries(operations)) {
    const queries = yield* captured(operation(platform))
    const timed = Effect.map(Effect.timed(operation(platform)), ([elapsed]) => Duration.toMillis(elapsed))
    console.log(`\n${name}: ${Math.round(Math.min(...(yield* Effect.replicateEffect(timed, 3))))} ms`)
    for (const query of queries) yield* print(query)
  }
})

const analyze = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql`VACUUM ANALYZE`),
    orElse: () => Effect.void
  })
)

const measure = <E>(name: string, client: Layer.Layer<SqlClient.SqlClient, E>) =>
  Effect.gen(function* () {
    const [elapsed] = yield* Effect.timed(Effect.zipRight(fillAll, analyze))
    const sql = yield* SqlClient.SqlClient
    const [counted] = yield* sql<{ readonly n: number }>`SELECT CAST(COUNT(*) AS INTEGER) AS n FROM step_results`
    console.log(`\n== ${name}: ${counted?.n} step rows, ready after ${Math.round(Duration.toSeconds(elapsed))} s`)
    yield* report
  }).pipe(Effect.provide(SqlPlatform.layer.pipe(Layer.provideMerge(client), Layer.provide(Artifacts.layerMemory))))

const inSqlite = Effect.gen(function* () {
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => Fs.mkdtemp(Path.join(Os.tmpdir(), "effect-bench-plans-"))),
    (directory) => Effect.promise(() => Fs.rm(directory, { recursive: true }))
  )
  yield* measure("SQLite", SqliteClient.layer({ filename: Path.join(directory, "store.db") }))
}).pipe(Effect.scoped)

const inPostgres = Effect.gen(function* () {
  const { url } = yield* startServer({
    settings: { shared_buffers: "512MB", max_wal_size: "8GB", synchronous_commit: "off" }
  })
  yield* measure("PostgreSQL", Postgres.layer(url("postgres"), { statementTimeout: 0 }))
}).pipe(Effect.scoped)

const inGiven = (url: string) => measure("PostgreSQL", Postgres.layer(Redacted.make(url), { statementTimeout: 0 }))

await Effect.runPromise(
  given !== undefined
    ? inGiven(given)
    : Effect.gen(function* () {
        if (targets.length === 0 || targets.includes("sqlite")) yield* inSqlite
        if (targets.length === 0 || targets.includes("postgres")) yield* inPostgres
      })
)
