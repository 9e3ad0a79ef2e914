import * as Fs from "node:fs"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Exit, FastCheck as fc, Fiber, Layer, Redacted, Schema, Scope } from "effect"
import * as Artifacts from "../src/Artifacts.js"
import * as Postgres from "../src/internal/sql/postgres.js"
import { Platform } from "../src/Platform.js"
import type { TaskRecord } from "../src/Record.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import { suite } from "./contract/platform.js"
import { batch, claim, createRun, failure } from "./contract/support.js"
import { connect, layerPlatform, sharedServer } from "./support/postgres.js"
import { password, startServer, user } from "./support/postgresServer.js"
import { runTogether } from "./support/processes.js"

const postgres = sharedServer()

suite("SqlPlatform in PostgreSQL", postgres.layer)

/** The same database by another URL. */
const changed = (url: Redacted.Redacted, change: (url: URL) => void) => {
  const result = new URL(Redacted.value(url))
  change(result)
  return Redacted.make(result.href)
}

const refusal = (url: Redacted.Redacted | string) =>
  Effect.scoped(Effect.flip(connect(typeof url === "string" ? Redacted.make(url) : url)))

const layerOver = (sql: SqlClient.SqlClient) =>
  SqlPlatform.layer.pipe(Layer.provide([Layer.succeed(SqlClient.SqlClient, sql), Artifacts.layerMemory]))

/** A platform that is built once, over a pool of its own. */
const opened = (url: Redacted.Redacted) =>
  Effect.map(Layer.build(layerPlatform(url)), (context) => Layer.succeedContext(context))

describe("PostgreSQL connections", () => {
  it.scopedLive("whoever cannot connect is told host and database, and never the password", () =>
    Effect.gen(function* () {
      const { port, url } = yield* postgres.server
      const wrong = yield* refusal(changed(url("postgres"), (url) => (url.password = "secret-1")))
      assert.strictEqual(
        wrong.message,
        `open the database: cannot connect to the database "postgres" on 127.0.0.1:${port}: password authentication failed for user "${user}"; check user and password of the URL`
      )
      assert.isFalse(wrong.retryable)
      const missing = yield* refusal(url("no such"))
      assert.include(
        missing.message,
        `"no such" on 127.0.0.1:${port}: database "no such" does not exist; create it first`
      )
      const closed = yield* refusal("postgres://u:secret-1@127.0.0.1:1/d")
      assert.include(closed.message, `"d" on 127.0.0.1:1: connect ECONNREFUSED`)
      assert.isTrue(closed.retryable)
      for (const error of [wrong, missing, closed]) {
        assert.notInclude(JSON.stringify(error), "secret-1")
        assert.notInclude(JSON.stringify(error), password)
      }
    })
  )

  it.effect("a URL that is not one is refused, and nothing of it shown", () =>
    Effect.gen(function* () {
      for (const url of [
        "",
        "mysql://u:secret@h/d",
        "postgres://u:secret/1@h/d",
        "postgres://u:12/secret@h/d",
        "postgres://u:12#secret@h/d",
        "postgres://u:12?secret@h/d",
        "postgres://u%zz:secret@h/d"
      ]) {
        const error = yield* refusal(url)
        assert.include(error.message, "the database URL is not valid")
        assert.isFalse(error.retryable)
        assert.notInclude(JSON.stringify(error), "secret")
        assert.notInclude(error.message, "12")
      }
    })
  )

  it.effect("where a database is can be told without credentials", () =>
    Effect.gen(function* () {
      const location = (url: string) => Postgres.locationOf(Redacted.make(url))
      assert.strictEqual(yield* location("postgres://u:p@h/d?sslmode=require"), "postgresql://h:5432/d")
      assert.strictEqual(yield* location("postgresql://u:p%40@h:1/"), "postgresql://h:1/u")
      assert.strictEqual(yield* location("postgres:///d?host=/run/pg"), "postgresql://%2Frun%2Fpg/d")
    })
  )

  it.scopedLive("what a session is like comes from the options, unless the URL says otherwise", () =>
    Effect.gen(function* () {
      const url = yield* postgres.database
      const settings = (sql: SqlClient.SqlClient) =>
        Effect.map(
          sql`SELECT current_setting('application_name') AS name, current_setting('statement_timeout') AS statement,
            current_setting('lock_timeout') AS lock`,
          ([row]) => row
        )
      assert.deepStrictEqual(yield* settings(yield* connect(url)), {
        name: "effect-bench",
        statement: "2min",
        lock: "10s"
      })
      const chosen = { applicationName: "mine", statementTimeout: "3 seconds", lockTimeout: 250 } as const
      assert.deepStrictEqual(yield* settings(yield* connect(url, chosen)), {
        name: "mine",
        statement: "3s",
        lock: "250ms"
      })
      const said = changed(url, (url) => (url.search = "?application_name=theirs&statement_timeout=0"))
      assert.deepStrictEqual(yield* settings(yield* connect(said, chosen)), {
        name: "theirs",
        statement: "0",
        lock: "250ms"
      })
    })
  )

  it.scopedLive("a statement that takes too long is given up", () =>
    Effect.gen(function* () {
      const sql = yield* connect(yield* postgres.database, { statementTimeout: 50 })
      const error = yield* Effect.flip(sql`SELECT pg_sleep(60)`)
      assert.include(String(error.cause), "statement timeout")
      assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
    })
  )

  it.scopedLive("whoever stops waiting for a connection takes none away", () =>
    Effect.gen(function* () {
      const sql = yield* connect(yield* postgres.database, { maxConnections: 1, connectTimeout: "5 seconds" })
      yield* Effect.gen(function* () {
        const platform = yield* Platform
        const held = yield* Scope.make()
        yield* Scope.extend(sql.reserve, held)
        const waiting = yield* Effect.forEach(Arr.range(1, 3), () => Effect.fork(platform.listBenchmarks({})))
        yield* Effect.sleep("50 millis")
        const interrupting = yield* Effect.fork(Fiber.interruptAll(waiting))
        yield* Effect.sleep("50 millis")
        yield* Scope.close(held, Exit.void)
        yield* Fiber.join(interrupting)
        assert.deepStrictEqual(yield* platform.listBenchmarks({}), [])
      }).pipe(Effect.provide(layerOver(sql)))
    })
  )

  it.scopedLive("a platform goes on once the server is back", () =>
    Effect.gen(function* () {
      const { restart, stop, url } = yield* startServer()
      const layer = yield* opened(url("postgres"))
      yield* Effect.gen(function* () {
        const platform = yield* Platform
        yield* platform.upsertBenchmark("kv", {})
        yield* restart
        const again = yield* Effect.retry(platform.getBenchmark("kv"), {
          while: (error) => error._tag === "PlatformFailure" && error.retryable,
          times: 20
        })
        assert.strictEqual(again.slug, "kv")
        yield* stop
        const down = yield* Effect.flip(
          Effect.retry(platform.getBenchmark("kv"), {
            while: (error) => error._tag === "PlatformFailure" && !error.detail.includes("ECONNREFUSED"),
            times: 20
          })
        )
        assert(down._tag === "PlatformFailure")
        assert.isTrue(down.retryable)
        yield* restart
        assert.strictEqual((yield* platform.getBenchmark("kv")).slug, "kv")
      }).pipe(Effect.provide(layer))
    })
  )

  it.scopedLive("a connection that the server ends is a failure that may be tried again", () =>
    Effect.gen(function* () {
      const url = yield* postgres.database
      const sql = yield* connect(url, { maxConnections: 1 })
      const admin = yield* connect(url)
      yield* Effect.gen(function* () {
        const platform = yield* Platform
        yield* platform.upsertBenchmark("kv", {})
        const [session] = yield* sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`
        const blocker = yield* admin`LOCK TABLE benchmarks`.pipe(
          Effect.zipRight(Effect.sleep("200 millis")),
          Effect.zipRight(admin`SELECT pg_terminate_backend(${session?.pid ?? 0})`),
          admin.withTransaction,
          Effect.fork
        )
        yield* Effect.sleep("100 millis")
        const error = yield* Effect.flip(platform.getBenchmark("kv"))
        assert(error._tag === "PlatformFailure")
        assert.isTrue(error.retryable, error.message)
        yield* Fiber.join(blocker)
        assert.strictEqual((yield* platform.getBenchmark("kv")).slug, "kv")
      }).pipe(Effect.provide(layerOver(sql)))
    })
  )

  it.effect("text that PostgreSQL cannot store is refused", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      assert.strictEqual(
        yield* failure(platform.upsertBenchmark("kv", { name: "a\u0000b" })),
        "InvalidRequest request must not contain the character NUL"
      )
      const data = { config: { text: "a\u0000b" } }
      assert.deepStrictEqual((yield* platform.upsertBenchmark("kv", data)).config, data.config)
    }).pipe(Effect.provide(postgres.layer))
  )
})

describe("PostgreSQL over TLS", () => {
  const fixture = (name: string) => new URL(`./fixtures/tls/${name}`, import.meta.url)
  const encrypted = (url: Redacted.Redacted) =>
    Effect.scoped(
      Effect.flatMap(
        connect(url),
        (sql) => sql`SELECT ssl, current_user AS "user" FROM pg_stat_ssl WHERE pid = pg_backend_pid()`
      )
    )

  it.scopedLive("sslmode decides whether a connection is encrypted, and how the server is verified", () =>
    Effect.gen(function* () {
      const [key, certificate] = ["key.pem", "certificate.pem"].map((name) => Fs.readFileSync(fixture(name), "utf8"))
      assert(key !== undefined && certificate !== undefined)
      const server = yield* startServer({ tls: { key, certificate } })
      const url = (search: string, host = "127.0.0.1") =>
        changed(server.url("postgres"), (url) => {
          url.hostname = host
          url.search = search
        })
      const authority = `sslrootcert=${fixture("certificate.pem").pathname}`
      assert.deepStrictEqual(yield* encrypted(url("")), [{ ssl: false, user }])
      for (const search of ["?sslmode=require", "?sslmode=no-verify", `?sslmode=verify-ca&${authority}`]) {
        assert.deepStrictEqual(yield* encrypted(url(search)), [{ ssl: true, user }], search)
      }
      assert.deepStrictEqual(yield* encrypted(url(`?sslmode=verify-full&${authority}`, "localhost")), [
        { ssl: true, user }
      ])
      assert.include((yield* refusal(url(`?sslmode=verify-full&${authority}`))).message, "127.0.0.1")
      assert.include((yield* refusal(url("?sslmode=verify-full", "localhost"))).message, "sslrootcert")
    })
  )

  it.scopedLive("a server without TLS is not spoken to when it is asked for", () =>
    Effect.gen(function* () {
      const url = (search: string) =>
        Effect.map(postgres.server, ({ url }) => changed(url("postgres"), (url) => (url.search = search)))
      assert.include((yield* refusal(yield* url("?sslmode=require"))).message, "does not support SSL")
      assert.deepStrictEqual(yield* encrypted(yield* url("?sslmode=disable")), [{ ssl: false, user }])
      for (const mode of ["prefer", "allow", "always"]) {
        const error = yield* refusal(yield* url(`?sslmode=${mode}`))
        assert.include(error.message, `sslmode=${mode}: use disable, require, verify-ca or verify-full`)
      }
      assert.include((yield* refusal(yield* url("?sslmode=verify-ca"))).message, "sslrootcert")
    })
  )
})

describe("PostgreSQL migrations", () => {
  it.scopedLive("eight at once leave one schema", () =>
    Effect.gen(function* () {
      const url = yield* postgres.emptyDatabase
      yield* Effect.all(
        Arr.makeBy(8, () => Effect.scoped(Layer.build(layerPlatform(url)))),
        { concurrency: "unbounded" }
      )
      const sql = yield* connect(url)
      const found = yield* sql`SELECT migration_id AS id FROM effect_bench_migrations ORDER BY migration_id`
      assert.deepStrictEqual(
        found,
        Arr.range(1, found.length).map((id) => ({ id }))
      )
      assert.isAtLeast(found.length, 4)
      assert.strictEqual((yield* sql`SELECT 1 FROM organizations`).length, 1)
    })
  )

  it.scopedLive("a database that a newer version has written is refused", () =>
    Effect.gen(function* () {
      const url = yield* postgres.database
      const sql = yield* connect(url)
      yield* sql`INSERT INTO effect_bench_migrations (migration_id, name) VALUES (999, 'future')`
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(layerPlatform(url))))
      assert.include(String(Exit.isFailure(exit) && exit.cause), "upgrade effect-bench")
    })
  )
})

describe("PostgreSQL with many at once", () => {
  it.scopedLive(
    "50 claimers in 4 processes do 200 workers, each once",
    () =>
      Effect.gen(function* () {
        const url = yield* postgres.emptyDatabase
        const answers = yield* runTogether(
          new URL("./fixtures/postgresProcess.ts", import.meta.url),
          [13, 13, 12, 12].map((claimers) => [Redacted.value(url), `${claimers}`])
        )
        const Answer = Schema.Struct({
          run: Schema.String,
          claimed: Schema.Array(Schema.Struct({ workerIndex: Schema.Int, attemptNumber: Schema.Int }))
        })
        const decoded = answers.map((answer) => Schema.decodeUnknownSync(Answer)(answer))
        const all = decoded.flatMap(({ claimed }) => claimed)
        assert.deepStrictEqual(
          all.map(({ workerIndex }) => workerIndex).sort((a, b) => a - b),
          Arr.range(0, 199)
        )
        assert.isTrue(all.every(({ attemptNumber }) => attemptNumber === 1))
        assert.strictEqual(new Set(decoded.map(({ run }) => run)).size, 1)
        yield* Effect.gen(function* () {
          const platform = yield* Platform
          const run = { benchmark: "bench", run: decoded[0]?.run ?? "" }
          const { overall, steps } = yield* platform.runResults(run)
          assert.deepStrictEqual([overall.taskCount, overall.successCount, steps[0]?.stepCount], [2000, 2000, 2000])
          const { participants, summary } = yield* platform.runProgress(run)
          assert.strictEqual(summary.status, "completed")
          assert.strictEqual(participants[0]?.workers.completed, 200)
          assert.strictEqual((yield* platform.runImports(run)).summary.imported, 400)
        }).pipe(Effect.provide(layerPlatform(url)))
      }),
    180_000
  )

  it.scopedLive("batches, closes and changes from many connections end in the status they add up to", () =>
    Effect.gen(function* () {
      const url = yield* postgres.database
      const platforms = yield* Effect.forEach(Arr.range(1, 3), () => opened(url))
      const on = <A, E>(place: number, effect: Effect.Effect<A, E, Platform>) =>
        Effect.provide(effect, platforms[place % platforms.length] ?? Layer.die("no platform"))
      const names = ["a", "b", "c"]
      const run = yield* on(0, createRun(Object.fromEntries(names.map((name) => [name, { totalTasks: 8 }]))))
      const work = (name: string, index: number) =>
        Effect.gen(function* () {
          const platform = yield* Platform
          const { assignment, attemptId, worker } = yield* claim({ ...run, participant: name }, 8)
          const send = platform.sendTaskResults(
            worker,
            batch(attemptId, 0, [{ taskIndex: assignment.taskRange.start, status: "success", latencyMs: index }])
          )
          yield* Effect.all(
            [
              send,
              platform.heartbeat(worker, { attemptId, concurrency: [{ step: "get", active: 1, target: 1 }] }),
              platform.updateParticipant(worker, { label: `${index}` }),
              platform.updateRun(run, { config: { index } }),
              platform.upsertParticipant({ ...run, participant: name }, { provider: "x" }),
              platform.submitSummary(run, { run: {}, results: [] }),
              platform.runProgress(run),
              platform.runResults(run),
              send
            ],
            { concurrency: "unbounded" }
          )
          yield* platform.completeWorker(worker, { attemptId })
        })
      yield* Effect.forEach(names, (name) => on(0, planned(run, name)))
      yield* Effect.forEach(Arr.range(0, 23), (index) => on(index, work(names[index % 3] ?? "", index)), {
        concurrency: "unbounded"
      })
      yield* on(
        0,
        Effect.gen(function* () {
          const platform = yield* Platform
          assert.strictEqual((yield* platform.getRun(run)).status, "completed")
          const { participants, summary } = yield* platform.runProgress(run)
          assert.deepStrictEqual(summary.participants, { planned: 0, inProgress: 0, completed: 3, failed: 0, total: 3 })
          assert.deepStrictEqual(
            participants.map(({ workers }) => workers.completed),
            [8, 8, 8]
          )
          assert.strictEqual((yield* platform.runResults(run)).overall.taskCount, 24)
        })
      )
    })
  )

  const planned = (run: { readonly benchmark: string; readonly run: string }, participant: string) =>
    Effect.flatMap(Platform, (platform) => platform.planWorkers({ ...run, participant }, { workerCount: 8 }))
})

describe("PostgreSQL and SQLite", () => {
  const latency = fc.oneof(
    fc.integer({ min: 0, max: 50 }),
    fc.double({ min: 0, max: 1e6, noNaN: true }),
    fc.constant(null)
  )
  const time = fc.integer({ min: 0, max: 100_000 }).map((ms) => new Date(1.7e12 + ms).toISOString())
  const stepRecord = fc.record({
    name: fc.constantFrom("a", "B", "ä", "Z z"),
    status: fc.constantFrom("success", "error", "odd"),
    latencyMs: latency,
    startedAt: fc.option(time),
    completedAt: fc.option(time)
  })
  const records = fc.array(
    fc.record({
      status: fc.constantFrom("success", "success", "error", "odd"),
      latencyMs: latency,
      startedAt: fc.option(time),
      completedAt: fc.option(time),
      errorCode: fc.option(fc.constant("timeout")),
      steps: fc.array(stepRecord, { maxLength: 4 })
    }),
    { minLength: 1, maxLength: 60 }
  )

  /** Everything that is computed of these records. */
  const computed = (participants: ReadonlyArray<ReadonlyArray<Omit<TaskRecord, "taskIndex">>>) =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun(
        Object.fromEntries(participants.map((records, index) => [`p${index}`, { totalTasks: records.length }]))
      )
      yield* Effect.forEach(participants, (records, index) =>
        Effect.gen(function* () {
          const { attemptId, worker } = yield* claim({ ...run, participant: `p${index}` })
          const tasks = records.map((record, taskIndex) => ({ ...record, taskIndex }))
          yield* platform.sendTaskResults(worker, batch(attemptId, 0, tasks))
        })
      )
      const { overall, participants: summaries, steps } = yield* platform.runResults(run)
      const { items } = yield* platform.benchmarkResults(run.benchmark, { limit: 1 })
      const { bucketSize, buckets, failures } = yield* platform.taskBuckets(run, {})
      return rounded({
        overall,
        summaries,
        steps,
        ofBenchmark: items.flatMap((item) => item.participants.map(({ runId: _, ...summary }) => summary)),
        bucketSize,
        buckets,
        failures,
        eventRate: (yield* platform.runTimeline(run, { bucketMs: 1000 })).eventRate,
        iterations: yield* platform.iterations(run, { type: "steps" })
      })
    })

  // Averages are sums in whatever order; percentiles and all else are what was stored.
  const rounded = (value: unknown) =>
    JSON.parse(JSON.stringify(value), (key, value: unknown) =>
      key === "avg" && typeof value === "number" ? Number(value.toPrecision(9)) : value
    )

  it.effect.prop(
    "results of the same records are the same",
    [fc.array(records, { minLength: 1, maxLength: 3 })],
    ([participants]) =>
      Effect.gen(function* () {
        const [inPostgres, inSqlite] = yield* Effect.all([
          Effect.provide(computed(participants), postgres.layer),
          Effect.provide(computed(participants), SqlPlatform.layerMemory)
        ])
        assert.deepStrictEqual(inPostgres, inSqlite)
      }),
    { fastCheck: { numRuns: 15 } }
  )
})
