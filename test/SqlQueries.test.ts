import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, TestClock } from "effect"
import type { WorkerRef } from "../src/Platform.js"
import { Platform } from "../src/Platform.js"
import { batch, claim, claimed, createRun, step, task } from "./contract/support.js"
import { fill, steps } from "./support/filled.js"
import { sharedServer } from "./support/postgres.js"
import type { Query } from "./support/queries.js"
import { captured, nodesOf } from "./support/queries.js"
import { layerBoth } from "./support/stores.js"

/** What grows with the number of runs: to read all of it takes ever longer. */
const tables = [
  "artifacts",
  "attempts",
  "event_batches",
  "heartbeats",
  "participants",
  "ready_steps",
  "runs",
  "step_results",
  "task_results",
  "workers"
]

/** The tables by what they are called in a query. */
const aliasesOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    Array.from(text.matchAll(/\b(?:FROM|JOIN|UPDATE|INTO)\s+"?(\w+)"?(?:\s+(?:AS\s+)?(\w+))?/g)).flatMap(
      ([, table = "", alias = ""]) => (tables.includes(table) ? [[table, table] as const, [alias, table] as const] : [])
    )
  )

/** The tables that SQLite would read from one end to the other. */
const scansOf = ({ parameters, text }: Query) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const aliases = aliasesOf(text)
    const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`, [...parameters])
    return plan.flatMap(({ detail }) => {
      const [, name = ""] = /^SCAN (\w+)/.exec(detail) ?? []
      return aliases.has(name) ? [`${detail} in ${text.replace(/\s+/g, " ")}`] : []
    })
  })

const page = { limit: 10 }

/** Everything that is asked of a platform while a worker, its first one, is at work. */
const work = (worker: WorkerRef, attemptId: string) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const concurrency = [{ step: "get", active: 1, target: 1 }]
    yield* platform.heartbeat(worker, { attemptId, concurrency })
    yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0, { steps: [step("get")] })]))
    yield* platform.sendTaskResults(worker, batch(attemptId, 1, [task(0, { steps: [step("get")] })]))
    const upload = yield* platform.createArtifact(worker, { attemptId, kind: "coordinator.log" })
    yield* platform.uploadArtifact(upload, new Uint8Array())
    yield* platform.claimWorker(worker, {})
    yield* platform.updateParticipant(worker, { label: "A" })
    yield* platform.failWorker(worker, { attemptId, errorCode: "flush_failed" })
    yield* platform.completeWorker(worker, { attemptId })
    yield* platform.updateWorker(worker, { status: "failed" })
    return upload.artifactId
  })

/** Everything that is read of a run. */
const look = (worker: WorkerRef, artifactId: string) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const { participant: _, worker: __, ...run } = worker
    yield* platform.runProgress(run)
    yield* platform.runResults(run)
    yield* platform.benchmarkResults(run.benchmark, { limit: 1 })
    yield* platform.iterations(run, {})
    yield* platform.iterations(run, { type: "steps" })
    yield* platform.iterations(run, { type: "steps", participant: worker.participant, steps: ["read"] })
    yield* platform.taskBuckets(run, {})
    yield* platform.runTimeline(run, {})
    yield* platform.runImports(run)
    yield* platform.listRuns(run.benchmark, page)
    yield* platform.listAllRuns(page)
    yield* platform.listParticipants(run)
    yield* platform.listWorkers(worker)
    yield* platform.getWorker(worker)
    yield* platform.listRunArtifacts(run)
    yield* platform.listWorkerArtifacts(worker)
    yield* platform.getArtifact(run, artifactId)
    yield* platform.participantLogs(worker, {})
  })

describe("SqlPlatform queries", () => {
  it.effect("a query that reads a whole table is noticed", () =>
    Effect.gen(function* () {
      yield* Platform
      const scans = yield* Effect.forEach(
        [
          { text: "SELECT * FROM heartbeats h WHERE h.step = ?", parameters: ["get"] },
          { text: "SELECT * FROM heartbeats h WHERE h.run_id = ?", parameters: ["r"] }
        ],
        scansOf
      )
      assert.deepStrictEqual(
        scans.map((found) => found.length),
        [1, 0]
      )
    }).pipe(Effect.provide(layerBoth))
  )

  it.effect("every operation finds its rows by an index", () =>
    Effect.gen(function* () {
      const { attemptId, worker } = yield* claimed()
      const queries = yield* captured(Effect.flatMap(work(worker, attemptId), (artifact) => look(worker, artifact)))
      assert.isAbove(queries.length, 60)
      assert.deepStrictEqual((yield* Effect.forEach(queries, scansOf)).flat(), [])
    }).pipe(Effect.provide(layerBoth))
  )
})

describe("SqlPlatform queries in PostgreSQL", () => {
  const postgres = sharedServer()
  const filling = { runs: 60, participants: 2, tasks: 150, workers: 10, heartbeats: 10 }
  const filled = Effect.gen(function* () {
    yield* fill("bench", filling)
    yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`VACUUM ANALYZE`)
  })

  it.scopedLive("what is read of a run reads nothing of others", () =>
    Effect.gen(function* () {
      yield* filled
      const { participants, heartbeats, tasks, workers } = filling
      const most: Readonly<Record<string, number>> = {
        participants: 2 * participants * page.limit,
        runs: page.limit,
        workers: 2 * participants * workers,
        attempts: participants * workers,
        event_batches: 2 * participants * workers,
        artifacts: 2 * participants * workers,
        ready_steps: participants,
        heartbeats: participants * workers * heartbeats * steps.length,
        task_results: participants * tasks,
        step_results: participants * tasks * steps.length
      }
      const worker = { benchmark: "bench", run: "bench-30", participant: "p1", worker: "bench-30-p1-w3" }
      const queries = yield* captured(look(worker, "bench-30-p1-w3-x0"))
      const seen = new Set<string>()
      for (const query of queries) {
        for (const node of yield* nodesOf(query, { analyze: true })) {
          const table = node["Relation Name"]
          if (table === undefined || !tables.includes(table)) continue
          seen.add(table)
          const rows =
            ((node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0)) * (node["Actual Loops"] ?? 0)
          assert.isAtMost(rows, most[table] ?? 0, `${node["Node Type"]} of ${table} in ${query.text}`)
        }
      }
      assert.includeMembers([...seen], ["heartbeats", "step_results", "task_results", "workers"])
    }).pipe(Effect.provide(postgres.layerBoth))
  )

  it.scopedLive("what a worker reports is found by an index among that of others", () =>
    Effect.gen(function* () {
      yield* filled
      const { attemptId, worker } = yield* claimed()
      const queries = yield* captured(work(worker, attemptId))
      const large = ["artifacts", "attempts", "event_batches", "heartbeats", "step_results", "task_results", "workers"]
      const scans = yield* Effect.forEach(queries, (query) =>
        Effect.map(nodesOf(query, { analyze: false }), (nodes) =>
          nodes
            .filter((node) => node["Node Type"] === "Seq Scan" && large.includes(node["Relation Name"] ?? ""))
            .map((node) => `${node["Relation Name"]} in ${query.text}`)
        )
      )
      assert.isAbove(queries.length, 40)
      assert.deepStrictEqual(scans.flat(), [])
    }).pipe(Effect.provide(postgres.layerBoth))
  )
})

describe("SqlPlatform points of concurrency", () => {
  /** Heartbeats, one a second, with samples of these steps. */
  const insertHeartbeats = (
    attempts: ReadonlyArray<{ readonly attemptId: string; readonly worker: { run: string; worker: string } }>,
    options: { readonly seconds: number; readonly steps: number }
  ) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const { attemptId, worker } of attempts) {
        yield* sql`
          WITH RECURSIVE seconds (second) AS (
            SELECT 0 UNION ALL SELECT second + 1 FROM seconds WHERE second < ${options.seconds - 1}
          ), steps (step) AS (
            SELECT 0 UNION ALL SELECT step + 1 FROM steps WHERE step < ${options.steps - 1}
          )
          INSERT INTO heartbeats (id, position, run_id, worker_id, attempt_id, recorded_at, step, active, target)
          SELECT ${worker.worker} || second, step, ${worker.run}, ${worker.worker}, ${attemptId},
            strftime('%Y-%m-%dT%H:%M:%fZ', 1000000000 + second, 'unixepoch'), 'step ' || step, second, 10
          FROM seconds JOIN steps`
      }
    })

  const seriesOf = (points: ReadonlyArray<{ readonly workerId: string; readonly step: string; tMs: number }>) =>
    Object.values(Arr.groupBy(points, ({ step, workerId }) => `${workerId} ${step}`))

  it.effect("up to 5000 are all there, however they are spread", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const first = yield* claimed(1)
      yield* insertHeartbeats([first], { seconds: 250, steps: 20 })
      const { concurrency } = yield* platform.runTimeline(first.run, {})
      assert.strictEqual(concurrency.heartbeatCount, 250)
      assert.strictEqual(concurrency.points.length, 5000)
    }).pipe(Effect.provide(layerBoth))
  )

  it.effect("more are thinned evenly in time, for every worker and step", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 2 } })
      const alpha = { ...run, participant: "alpha" }
      const workers = [yield* claim(alpha, 2), yield* claim(alpha)]
      yield* insertHeartbeats(workers, { seconds: 3600, steps: 5 })
      const { firstRecordedAt, heartbeatCount, points } = (yield* platform.runTimeline(run, {})).concurrency
      assert.strictEqual(firstRecordedAt, "2001-09-09T01:46:40.000Z")
      assert.strictEqual(heartbeatCount, 7200)
      assert.strictEqual(points.length, 5000)
      const series = seriesOf(points)
      assert.strictEqual(series.length, 10)
      for (const points of series) {
        const times = points.map(({ tMs }) => tMs)
        assert.strictEqual(times.length, 500)
        assert.strictEqual(times[0], 0)
        assert.isAtLeast(times.at(-1) ?? 0, 3_590_000)
        assert.isAtMost(Math.max(...times.slice(1).map((time, i) => time - (times[i] ?? 0))), 8000)
      }
    }).pipe(Effect.provide(layerBoth))
  )

  it.effect("of more than 5000 series some are left out", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed(1)
      yield* insertHeartbeats([{ attemptId, worker }], { seconds: 2, steps: 6000 })
      const { points } = (yield* platform.runTimeline(run, {})).concurrency
      assert.strictEqual(points.length, 3000)
      assert.strictEqual(seriesOf(points).length, 3000)
    }).pipe(Effect.provide(layerBoth))
  )
})

describe("SqlPlatform progress of many workers", () => {
  it.effect("a thousand workers become ready with the last one", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const sql = yield* SqlClient.SqlClient
      const run = yield* createRun({ alpha: { totalTasks: 1000 } })
      const last = yield* claim({ ...run, participant: "alpha" }, 1000)
      yield* TestClock.adjust("1 second")
      yield* sql`UPDATE workers SET status = 'running', last_heartbeat_at = '1970-01-01T00:00:01.000Z',
        concurrency = '[{"step":"get","active":2,"target":2}]' WHERE id <> ${last.worker.worker}`
      const shown = Effect.map(platform.runProgress(run), ({ participants }) => participants[0]?.concurrency[0])
      assert.deepStrictEqual(yield* shown, {
        step: "get",
        active: 1998,
        target: 1998,
        ready: false,
        freshWorkerCount: 999
      })
      yield* platform.heartbeat(last.worker, {
        attemptId: last.attemptId,
        concurrency: [{ step: "get", active: 2, target: 2 }]
      })
      assert.deepStrictEqual(yield* shown, {
        step: "get",
        active: 2000,
        target: 2000,
        ready: true,
        freshWorkerCount: 1000
      })
    }).pipe(Effect.provide(layerBoth))
  )

  it.effect("what is seen to be ready stays so", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const sql = yield* SqlClient.SqlClient
      const { run } = yield* claimed()
      yield* sql`UPDATE workers SET concurrency = '[{"step":"get","active":2,"target":2}]'`
      const ready = Effect.map(platform.runProgress(run), ({ participants }) => participants[0]?.concurrency[0]?.ready)
      assert.isTrue(yield* ready)
      yield* TestClock.adjust("1 hour")
      yield* sql`UPDATE workers SET concurrency = '[]'`
      assert.isTrue(yield* ready)
    }).pipe(Effect.provide(layerBoth))
  )
})
