import * as Fs from "node:fs/promises"
import * as Path from "node:path"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Schema, TestClock } from "effect"
import { Platform } from "../src/Platform.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import { suite } from "./contract/platform.js"
import { batch, claim, claimed, createRun, failure, step, task } from "./contract/support.js"
import { runTogether } from "./support/processes.js"
import { connect, layerBoth, open, temporaryDirectory, temporaryFile } from "./support/stores.js"

// -----------------------------------------------------------------------------
// support
// -----------------------------------------------------------------------------

const layerFile = Layer.unwrapScoped(Effect.map(temporaryFile, (filename) => SqlPlatform.layerSqlite({ filename })))

/** Why a store cannot be opened. */
const refusal = (filename: string) => Effect.scoped(Effect.flip(open(filename)))

/** Processes compile what they load, on however few cores there are. */
const processTimeout = 180_000

const storeProcess = new URL("./fixtures/storeProcess.ts", import.meta.url)

suite("SqlPlatform in memory", SqlPlatform.layerMemory)
suite("SqlPlatform in a file", layerFile)

describe("SqlPlatform files", () => {
  it.scoped("what was stored is there after reopening", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      const write = Effect.gen(function* () {
        const { attemptId, run, worker } = yield* claimed()
        const platform = yield* Platform
        yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(3, { steps: [step("get")] })]))
        yield* platform.completeWorker(worker, { attemptId })
        const results = yield* platform.runResults(run)
        return { run, results, steps: yield* platform.iterations(run, { type: "steps" }) }
      })
      const written = yield* Effect.provide(write, SqlPlatform.layerSqlite({ filename }))
      const platform = yield* open(filename)
      assert.deepStrictEqual(yield* platform.runResults(written.run), written.results)
      assert.deepStrictEqual(yield* platform.iterations(written.run, { type: "steps" }), written.steps)
      assert.strictEqual(written.results.overall.taskCount, 1)
    })
  )

  it.scoped("the file is in WAL mode", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      yield* open(filename)
      const sql = yield* connect(filename)
      assert.deepStrictEqual(yield* sql`PRAGMA journal_mode`, [{ journal_mode: "wal" }])
    })
  )

  it.scoped("a file that is not a database is named", () =>
    Effect.gen(function* () {
      const filename = Path.join(yield* temporaryDirectory, "notes.txt")
      const text = "these are my notes, not a database\n".repeat(100)
      yield* Effect.promise(() => Fs.writeFile(filename, text))
      const error = yield* refusal(filename)
      assert.strictEqual(error._tag, "PlatformFailure")
      assert.strictEqual(error.retryable, false)
      assert.strictEqual(
        error.message,
        `open the store: "${filename}" is not a SQLite database; move it away or choose another file`
      )
      assert.strictEqual(yield* Effect.promise(() => Fs.readFile(filename, "utf8")), text)
    })
  )

  it.scoped("a directory is not a store", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      assert.strictEqual((yield* refusal(directory)).detail, `"${directory}" is a directory`)
    })
  )

  it.scoped("a path below a file is refused", () =>
    Effect.gen(function* () {
      const file = Path.join(yield* temporaryDirectory, "file")
      yield* Effect.promise(() => Fs.writeFile(file, ""))
      for (const filename of [Path.join(file, "store.db"), Path.join(file, "deeper", "store.db")]) {
        const error = yield* refusal(filename)
        assert.strictEqual(error.retryable, false)
        assert.include(error.message, `cannot create the directory "${Path.dirname(filename)}"`)
      }
    })
  )

  it.effect("a place where nothing can be created is refused", () =>
    Effect.gen(function* () {
      for (const filename of ["/proc/effect-bench/store.db", "/proc/store.db"]) {
        const error = yield* refusal(filename)
        assert.strictEqual(error._tag, "PlatformFailure")
        assert.strictEqual(error.retryable, false)
        assert.include(error.message, "/proc")
      }
    })
  )

  it.scoped(
    "a directory or file that is read-only is refused, and says which",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        const filename = Path.join(directory, "store.db")
        const closed = Path.join(directory, "closed")
        yield* Effect.scoped(open(filename))
        yield* Effect.promise(() => Fs.mkdir(closed))
        yield* Effect.promise(() => Fs.chmod(filename, 0o444))
        yield* Effect.promise(() => Fs.chmod(closed, 0o555))
        yield* Effect.promise(() => Fs.chmod(directory, 0o777))
        // Nothing is read-only to root, so there another user tries.
        const answers = yield* runTogether(
          storeProcess,
          [filename, Path.join(closed, "store.db")].map((filename) => [filename, "open"]),
          process.getuid?.() === 0 ? { uid: 65534 } : {}
        )
        const failures = answers.map((answer) =>
          Schema.decodeUnknownSync(Schema.Struct({ failure: Schema.String }))(answer)
        )
        assert.include(failures[0]?.failure, `open the store: "${filename}" is not writable`)
        assert.include(failures[1]?.failure, `open the store: the directory "${closed}" is not writable`)
      }),
    processTimeout
  )

  it.scoped("a store of a newer version asks for an upgrade", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      yield* Effect.scoped(open(filename))
      const sql = yield* connect(filename)
      yield* sql`INSERT INTO effect_bench_migrations (migration_id, name) VALUES (9999, 'future')`
      const error = yield* refusal(filename)
      assert.strictEqual(error.retryable, false)
      assert.match(
        error.message,
        /^open the store: a newer version of effect-bench has written it \(schema 9999, this one knows \d+\): upgrade effect-bench$/
      )
    })
  )
})

describe("SqlPlatform between processes", () => {
  it.scoped(
    "four processes open a new store at once and share the work of one run",
    () =>
      Effect.gen(function* () {
        const filename = yield* temporaryFile
        const answers = yield* runTogether(
          storeProcess,
          Array.from({ length: 4 }, () => [filename, "work"])
        )
        const Answer = Schema.Struct({
          run: Schema.String,
          planned: Schema.Boolean,
          workers: Schema.Array(Schema.Int)
        })
        const outcomes = answers.map((answer) => Schema.decodeUnknownSync(Answer)(answer))
        const run = { benchmark: "bench", run: outcomes[0]?.run ?? "" }
        assert.deepStrictEqual(
          outcomes.map((outcome) => outcome.run),
          [run.run, run.run, run.run, run.run]
        )
        assert.strictEqual(outcomes.filter((outcome) => outcome.planned).length, 1)
        assert.deepStrictEqual(
          outcomes.flatMap((outcome) => outcome.workers).sort((a, b) => a - b),
          Array.from({ length: 24 }, (_, i) => i)
        )
        const platform = yield* open(filename)
        const results = yield* platform.runResults(run)
        assert.strictEqual(results.overall.successCount, 2400)
        assert.strictEqual(results.participants.length, 5)
        assert.strictEqual(results.steps[0]?.stepCount, 2400)
        const alpha = yield* platform.getParticipant({ ...run, participant: "alpha" })
        assert.strictEqual(alpha.status, "completed")
      }),
    processTimeout
  )

  it.scopedLive("a write waits for another process to finish its own", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      const platform = yield* open(filename)
      const other = yield* connect(filename)
      yield* other`BEGIN IMMEDIATE`
      const write = yield* Effect.fork(platform.upsertBenchmark("kv", {}))
      yield* Effect.sleep("200 millis")
      assert.deepStrictEqual(yield* platform.listBenchmarks({}), [])
      yield* other`COMMIT`
      assert.strictEqual((yield* Fiber.join(write)).slug, "kv")
    })
  )

  it.scoped("a store that stays busy is a failure worth retrying", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      const platform = yield* open(filename)
      const other = yield* connect(filename)
      yield* other`BEGIN IMMEDIATE`
      const write = yield* Effect.fork(Effect.flip(platform.upsertBenchmark("kv", {})))
      yield* TestClock.adjust("2 minutes")
      const error = yield* Fiber.join(write)
      assert.strictEqual(error._tag === "PlatformFailure" && error.retryable, true)
      assert.strictEqual(error.message, "upsertBenchmark: database is locked")
      yield* other`ROLLBACK`
      yield* platform.upsertBenchmark("kv", {})
    })
  )
})

describe("SqlPlatform transactions", () => {
  const records = Array.from({ length: 5000 }, (_, i) => task(i, { steps: [step("a"), step("b"), step("c")] }))

  it.effect("an interrupted batch leaves nothing behind", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed(5000)
      const sending = yield* Effect.fork(platform.sendTaskResults(worker, batch(attemptId, 0, records)))
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve))).pipe(Effect.repeatN(20))
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(sending)))
      assert.deepStrictEqual(yield* platform.iterations(run, {}), [])
      const again = yield* platform.sendTaskResults(worker, batch(attemptId, 0, records))
      assert.isFalse(again.duplicate)
      assert.strictEqual((yield* platform.runResults(run)).overall.taskCount, 5000)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("a batch that does not fit on the disk leaves nothing behind", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const sql = yield* SqlClient.SqlClient
      const { attemptId, run, worker } = yield* claimed(5000)
      yield* sql`PRAGMA max_page_count = 150`
      const error = yield* Effect.flip(platform.sendTaskResults(worker, batch(attemptId, 0, records)))
      assert.strictEqual(error._tag === "PlatformFailure" && !error.retryable, true)
      assert.strictEqual(error.message, "sendTaskResults: database or disk is full")
      assert.deepStrictEqual(yield* platform.iterations(run, {}), [])
      yield* sql`PRAGMA max_page_count = 1000000`
      assert.isFalse((yield* platform.sendTaskResults(worker, batch(attemptId, 0, records))).duplicate)
    }).pipe(Effect.provide(layerBoth))
  )

  it.effect("a broken table is a failure that shows no SQL", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const sql = yield* SqlClient.SqlClient
      yield* sql`DROP TABLE run_summaries`
      const run = yield* createRun({})
      const error = yield* Effect.flip(platform.getSummary(run))
      assert.strictEqual(error._tag === "PlatformFailure" && !error.retryable, true)
      assert.strictEqual(error.message, "getSummary: no such table: run_summaries")
    }).pipe(Effect.provide(layerBoth))
  )

  it.effect("a row that cannot be read is a failure, not a defect", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const sql = yield* SqlClient.SqlClient
      const run = yield* createRun({})
      yield* sql`UPDATE runs SET config = '{"cut off'`
      const error = yield* Effect.flip(platform.getRun(run))
      assert.strictEqual(error._tag === "PlatformFailure" && !error.retryable, true)
      assert.match(error.message, /^getRun: a stored row cannot be read/)
    }).pipe(Effect.provide(layerBoth))
  )
})

describe("SqlPlatform options", () => {
  it.scoped("an organization sees only its own rows", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      const ours = yield* open(filename, { organization: "ours" })
      const theirs = yield* open(filename, { organization: "theirs" })
      yield* theirs.upsertBenchmark("kv", { name: "their KV" })
      const { organizationSlug, run } = yield* theirs.createRun("kv", { participants: [{ slug: "alpha" }] })
      assert.strictEqual(organizationSlug, "theirs")
      assert.deepStrictEqual(yield* ours.listBenchmarks({}), [])
      assert.deepStrictEqual(yield* ours.listAllRuns({}), [])
      const ref = { benchmark: "kv", run: run.id }
      const refused = "Unauthorized Not allowed: API key is not authorized for this organization."
      assert.strictEqual(yield* failure(ours.getRun(ref)), refused)
      assert.strictEqual((yield* ours.upsertBenchmark("kv", {})).name, "kv")
      for (const attempt of [
        ours.getRun(ref),
        ours.updateRun(ref, { status: "failed" }),
        ours.getParticipant({ ...ref, participant: "alpha" })
      ]) {
        assert.strictEqual(yield* failure(attempt), refused)
      }
      assert.strictEqual((yield* theirs.getBenchmark("kv")).name, "their KV")
    })
  )

  it.effect("the lease is configurable", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { worker } = yield* claimed()
      yield* TestClock.adjust("10 seconds")
      assert.isNull(yield* platform.claimWorker(worker, {}))
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* claim(worker)).assignment.attemptNumber, 2)
    }).pipe(Effect.provide(SqlPlatform.layerSqlite({ filename: ":memory:", lease: "10 seconds" })))
  )

  it.effect("the freshness window is configurable", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { run } = yield* claimed()
      yield* TestClock.adjust("1999 millis")
      const fresh = yield* platform.runProgress(run)
      assert.strictEqual(fresh.freshnessWindowSeconds, 2)
      assert.strictEqual(fresh.participants[0]?.workers.stale, 0)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* platform.runProgress(run)).participants[0]?.workers.stale, 1)
    }).pipe(Effect.provide(SqlPlatform.layerSqlite({ filename: ":memory:", freshness: "2 seconds" })))
  )

  it.effect("a window without end is a year", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { run } = yield* claimed()
      yield* TestClock.adjust("300 days")
      const { freshnessWindowSeconds, participants } = yield* platform.runProgress(run)
      assert.strictEqual(freshnessWindowSeconds, 365 * 24 * 60 * 60)
      assert.strictEqual(participants[0]?.workers.stale, 0)
    }).pipe(Effect.provide(SqlPlatform.layerSqlite({ filename: ":memory:", freshness: Duration.infinity })))
  )

  it.effect("an infinite lease never ends", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { worker } = yield* claimed()
      yield* TestClock.adjust("1000 days")
      assert.isNull(yield* platform.claimWorker(worker, {}))
    }).pipe(Effect.provide(SqlPlatform.layerSqlite({ filename: ":memory:", lease: Duration.infinity })))
  )
})

describe("SqlPlatform requests from code", () => {
  it.effect("numbers out of bounds are refused, all of them at once", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 1 } })
      const alpha = { ...run, participant: "alpha" }
      const messages = [
        yield* failure(platform.listAllRuns({ limit: 0, offset: -1 })),
        yield* failure(platform.listRuns("bench", { limit: 501 })),
        yield* failure(platform.listBenchmarks({ limit: 1.5 })),
        yield* failure(platform.createRun("bench", { runKey: "", totalTasks: -1, workerCount: 0 })),
        yield* failure(platform.upsertParticipant(alpha, { totalTasks: 2 ** 31 })),
        yield* failure(platform.planWorkers(alpha, { workerCount: 0, targetConcurrency: Number.NaN })),
        yield* failure(platform.updateParticipant(alpha, { workerCount: 0 })),
        yield* failure(platform.updateWorker({ ...alpha, worker: "w" }, { progressDone: -1, progressTotal: 0.5 })),
        yield* failure(platform.taskBuckets(run, { bucketSize: 0, failureLimit: 1001 })),
        yield* failure(platform.runTimeline(run, { bucketMs: 0 })),
        yield* failure(platform.participantLogs(alpha, { maxLines: 0 })),
        yield* failure(platform.benchmarkResults("bench", { limit: 0 }))
      ]
      assert.deepStrictEqual(messages, [
        "InvalidRequest limit must be at least 1 (got 0); offset must be at least 0 (got -1)",
        "InvalidRequest limit must be at most 500 (got 501)",
        "InvalidRequest limit must be a whole number (got 1.5)",
        "InvalidRequest runKey must be a non-empty string; totalTasks must be at least 0 (got -1); workerCount must be at least 1 (got 0)",
        "InvalidRequest totalTasks must be at most 2147483647 (got 2147483648)",
        "InvalidRequest workerCount must be at least 1 (got 0); targetConcurrency must be a whole number (got NaN)",
        "InvalidRequest workerCount must be at least 1 (got 0)",
        "InvalidRequest progressDone must be at least 0 (got -1); progressTotal must be a whole number (got 0.5)",
        "InvalidRequest bucketSize must be at least 1 (got 0); failureLimit must be at most 1000 (got 1001)",
        "InvalidRequest bucketMs must be at least 1 (got 0)",
        "InvalidRequest maxLines must be at least 1 (got 0)",
        "InvalidRequest limit must be at least 1 (got 0)"
      ])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("what JSON cannot hold is refused by name", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const cycle: Record<string, unknown> = {}
      cycle["self"] = cycle
      assert.match(
        yield* failure(
          platform.sendTaskResults(
            worker,
            batch(attemptId, 0, [
              task(0, { data: { size: 1n } }),
              task(1, { steps: [step("a"), step("b", { data: cycle })] })
            ])
          )
        ),
        /^InvalidRequest records\[0\]\.data must be JSON \(.*BigInt.*\); records\[1\]\.steps\[1\]\.data must be JSON \(.*circular/s
      )
      assert.deepStrictEqual(yield* platform.iterations(run, {}), [])
      assert.match(
        yield* failure(platform.updateRun(run, { config: { f: 1n } })),
        /^InvalidRequest config must be JSON/
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("numbers that are not finite are stored as null", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const sql = yield* SqlClient.SqlClient
      const { attemptId, run, worker } = yield* claimed()
      yield* platform.sendTaskResults(
        worker,
        batch(attemptId, 0, [
          task(0, {
            latencyMs: Number.NaN,
            steps: [
              step("a", { latencyMs: Number.POSITIVE_INFINITY, concurrency: 4, timeoutMs: 1.5 }),
              step("b", { concurrency: Number.NaN, timeoutMs: "500" })
            ]
          })
        ])
      )
      const { overall, steps } = yield* platform.runResults(run)
      assert.strictEqual(overall.latencyCount, 0)
      assert.isNull(overall.latencyMs.p50)
      assert.deepStrictEqual(
        steps.map((summary) => summary.latencyCount),
        [0, 1]
      )
      assert.deepStrictEqual(yield* sql`SELECT name, concurrency, timeout_ms FROM step_results ORDER BY name`, [
        { name: "a", concurrency: 4, timeout_ms: 1.5 },
        { name: "b", concurrency: null, timeout_ms: null }
      ])
    }).pipe(Effect.provide(layerBoth))
  )

  it.effect("a summary with a number that is not finite is refused by name", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({})
      const metric = { name: "ms", unit: "ms", median: 1, p95: Number.NaN, p99: 1 }
      const results = [
        { provider: "a", dimensions: {}, metrics: [metric], compositeScore: 1, successRate: 1, skipped: false }
      ]
      assert.match(
        yield* failure(platform.submitSummary(run, { run: {}, results })),
        /^InvalidRequest results\[0\]\.metrics\[0\]\.p95 cannot be stored as JSON/
      )
      assert.strictEqual(yield* failure(platform.getSummary(run)), "ResourceNotFound summary")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("of very many issues the first are named", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed(1)
      const records = Array.from({ length: 500 }, (_, i) => task(i + 1))
      const message = yield* failure(platform.sendTaskResults(worker, batch(attemptId, 0, records)))
      assert.include(message, "records[19].taskIndex must be from 0 to 0 (got 20); request has 480 more issues")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("heartbeats are kept, sample by sample", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const sql = yield* SqlClient.SqlClient
      const { attemptId, worker } = yield* claimed()
      const concurrency = [
        { step: "get", active: 1, target: 2 },
        { step: "set", active: 0, target: 2 }
      ]
      yield* platform.heartbeat(worker, { attemptId, concurrency })
      yield* TestClock.adjust("1 seconds")
      yield* platform.heartbeat(worker, { attemptId })
      assert.deepStrictEqual(
        yield* sql`SELECT recorded_at, worker_id, step, active, target FROM heartbeats ORDER BY recorded_at, position`,
        [
          ...concurrency.map((sample) => ({
            recorded_at: "1970-01-01T00:00:00.000Z",
            worker_id: worker.worker,
            ...sample
          })),
          { recorded_at: "1970-01-01T00:00:01.000Z", worker_id: worker.worker, step: null, active: null, target: null }
        ]
      )
    }).pipe(Effect.provide(layerBoth))
  )
})
