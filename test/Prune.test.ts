import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Console, Duration, Effect, Either, Exit, Fiber, Layer, Stream, TestClock } from "effect"
import * as Artifacts from "../src/Artifacts.js"
import * as Cli from "../src/cli/prune.js"
import type { PruneOptions } from "../src/internal/sql/prune.js"
import { prune } from "../src/internal/sql/prune.js"
import * as Sqlite from "../src/internal/sql/sqlite.js"
import { Platform, PlatformFailure } from "../src/Platform.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import { batch, claim, createRun, failure, step, task } from "./contract/support.js"
import { fill } from "./support/filled.js"
import { sharedServer } from "./support/postgres.js"

const postgres = sharedServer()

const layerSqlite = SqlPlatform.layer.pipe(
  Layer.provideMerge(Layer.merge(Sqlite.layer(Sqlite.memory), Artifacts.layerMemory))
)

type Everything = Platform | SqlClient.SqlClient | Artifacts.Artifacts

const day = 86_400_000

const old: PruneOptions = { olderThan: "90 days" }

/** A run of two participants, with something of everything, whose workers have completed. */
const leaveRun = (runKey: string) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const run = yield* createRun({ alpha: { totalTasks: 4 }, beta: { totalTasks: 2 } }, runKey)
    const uploads = yield* Effect.forEach(["alpha", "beta"], (participant) =>
      Effect.gen(function* () {
        const { assignment, attemptId, worker } = yield* claim({ ...run, participant })
        const { end, start } = assignment.taskRange
        for (let index = start; index <= end; index++) {
          const steps = [step("get"), step("set"), step("get")]
          yield* platform.sendTaskResults(worker, batch(attemptId, index - start, [task(index, { steps })]))
        }
        yield* platform.heartbeat(worker, {
          attemptId,
          concurrency: [
            { step: "get", active: 1, target: 1 },
            { step: "set", active: 0, target: 1 }
          ]
        })
        const upload = yield* platform.createArtifact(worker, { attemptId, kind: "notes" })
        yield* platform.uploadArtifact(upload, new TextEncoder().encode(runKey))
        yield* platform.completeWorker(worker, { attemptId })
        return upload
      })
    )
    yield* platform.submitSummary(run, { run: {}, results: [] })
    return { run, uploads }
  })

const ofOne = {
  runs: 1,
  participants: 2,
  workers: 2,
  attempts: 2,
  eventBatches: 6,
  taskResults: 6,
  stepResults: 18,
  heartbeats: 4,
  artifacts: 2
}

const none = {
  runs: 0,
  participants: 0,
  workers: 0,
  attempts: 0,
  eventBatches: 0,
  taskResults: 0,
  stepResults: 0,
  heartbeats: 0,
  artifacts: 0
}

/** What is left of runs in the database, by table. */
const rows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = [
    ...["runs", "participants", "workers", "attempts", "event_batches", "task_results", "step_results", "heartbeats"],
    ...["artifacts", "run_summaries", "ready_steps"]
  ]
  return yield* Effect.forEach(tables, (table) =>
    Effect.map(sql<{ readonly n: number }>`SELECT CAST(COUNT(*) AS INTEGER) AS n FROM ${sql(table)}`, ([row]) => row?.n)
  )
})

const stored = (objectKey: string) =>
  Effect.flatMap(Artifacts.Artifacts, ({ read }) => Stream.mkString(Stream.decodeText(read(objectKey))))

const suite = (name: string, layer: Layer.Layer<Everything, unknown>) =>
  describe(`removing old runs from ${name}`, () => {
    it.effect("a run goes with everything in it, a younger one stays as it is", () =>
      Effect.gen(function* () {
        const platform = yield* Platform
        const gone = yield* leaveRun("old")
        yield* TestClock.adjust("60 days")
        const kept = yield* leaveRun("new")
        const before = yield* platform.runResults(kept.run)
        yield* TestClock.adjust("31 days")
        const pruned = yield* prune(old)
        assert.deepStrictEqual(pruned, { before: new Date(day).toISOString(), ...ofOne })
        assert.strictEqual(yield* failure(platform.getRun(gone.run)), "ResourceNotFound run")
        const after = yield* platform.runResults(kept.run)
        assert.deepStrictEqual({ ...after, generatedAt: "" }, { ...before, generatedAt: "" })
        for (const { objectKey } of gone.uploads) assert.isTrue(Exit.isFailure(yield* Effect.exit(stored(objectKey))))
        for (const { objectKey } of kept.uploads) assert.strictEqual(yield* stored(objectKey), "new")
        assert.deepStrictEqual(yield* prune(old), { before: pruned.before, ...none })
        yield* TestClock.adjust("60 days")
        assert.include(yield* prune(old), ofOne)
        assert.deepStrictEqual(new Set(yield* rows), new Set([0]))
        assert.strictEqual((yield* platform.listBenchmarks({})).length, 1)
      }).pipe(Effect.provide(layer))
    )

    it.effect("a dry run counts the same and removes nothing", () =>
      Effect.gen(function* () {
        const { uploads } = yield* leaveRun("old")
        yield* TestClock.adjust("91 days")
        const before = yield* rows
        const counted = yield* prune({ ...old, dryRun: true })
        assert.include(counted, ofOne)
        assert.deepStrictEqual(yield* rows, before)
        for (const { objectKey } of uploads) assert.strictEqual(yield* stored(objectKey), "old")
        assert.deepStrictEqual(yield* prune(old), counted)
      }).pipe(Effect.provide(layer))
    )

    it.effect("a run whose worker was heard of within the lease stays, however old it may be", () =>
      Effect.gen(function* () {
        const platform = yield* Platform
        const run = yield* createRun({ alpha: { totalTasks: 2 } })
        const { attemptId, worker } = yield* claim({ ...run, participant: "alpha" })
        yield* TestClock.adjust("4 minutes")
        assert.strictEqual((yield* prune({ olderThan: "1 minute" })).runs, 0)
        yield* platform.heartbeat(worker, { attemptId })
        yield* TestClock.adjust("6 minutes")
        assert.strictEqual((yield* prune({ olderThan: "1 minute", lease: "10 minutes" })).runs, 0)
        assert.strictEqual((yield* prune({ olderThan: "1 minute", lease: Duration.infinity })).runs, 0)
        assert.strictEqual((yield* prune({ olderThan: "1 minute" })).runs, 1)
        assert.strictEqual(yield* failure(platform.heartbeat(worker, { attemptId })), "ResourceNotFound run")
      }).pipe(Effect.provide(layer))
    )

    it.effect("what has changed since keeps a run", () =>
      Effect.gen(function* () {
        const platform = yield* Platform
        const run = yield* createRun({ alpha: { totalTasks: 2 } })
        const { attemptId, worker } = yield* claim({ ...run, participant: "alpha" })
        yield* platform.failWorker(worker, { attemptId, errorCode: "flush_failed" })
        const changes = [
          platform.updateRun(run, { config: {} }),
          platform.updateParticipant(worker, { label: "A" }),
          platform.sendTaskResults(worker, batch(attemptId, 0, [task(0)])),
          platform.submitSummary(run, { run: {}, results: [] }),
          platform.completeWorker(worker, { attemptId })
        ]
        for (const change of changes) {
          yield* TestClock.adjust("89 days")
          yield* change
          yield* TestClock.adjust("2 days")
          assert.strictEqual((yield* prune(old)).runs, 0)
        }
        yield* TestClock.adjust("89 days")
        assert.strictEqual((yield* prune(old)).runs, 1)
      }).pipe(Effect.provide(layer))
    )

    it.effect("the key of a removed run makes a new one", () =>
      Effect.gen(function* () {
        const { run } = yield* leaveRun("nightly")
        yield* TestClock.adjust("91 days")
        yield* prune(old)
        assert.notStrictEqual((yield* leaveRun("nightly")).run.run, run.run)
      }).pipe(Effect.provide(layer))
    )

    it.effect("what fails on the way is out of sight, and is finished by the next one", () =>
      Effect.gen(function* () {
        const platform = yield* Platform
        const { run, uploads } = yield* leaveRun("nightly")
        yield* TestClock.adjust("91 days")
        const storage = yield* Artifacts.Artifacts
        const broken = new PlatformFailure({ operation: "remove", detail: "storage is away", retryable: true })
        const failed = yield* prune(old).pipe(
          Effect.provideService(Artifacts.Artifacts, { ...storage, remove: () => Effect.fail(broken) }),
          Effect.flip
        )
        assert.strictEqual(failed, broken)
        const ref = { ...run, participant: "alpha" }
        for (const operation of [
          platform.getRun(run),
          platform.runResults(run),
          platform.runProgress(run),
          platform.getSummary(run),
          platform.claimWorker(ref, {}),
          platform.upsertParticipant(ref, {}),
          platform.upsertParticipant({ ...run, participant: "gamma" }, {}),
          platform.getArtifact(run, uploads[0]?.artifactId ?? "")
        ]) {
          assert.strictEqual(yield* failure(operation), "ResourceNotFound run")
        }
        assert.deepStrictEqual(yield* platform.listAllRuns({}), [])
        assert.deepStrictEqual(yield* platform.listRuns("bench", {}), [])
        assert.deepStrictEqual((yield* platform.benchmarkResults("bench", {})).items, [])
        const again = yield* leaveRun("nightly")
        assert.include(yield* prune(old), ofOne)
        assert.deepStrictEqual(
          (yield* platform.listAllRuns({})).map(({ id }) => id),
          [again.run.run]
        )
      }).pipe(Effect.provide(layer))
    )

    it.effect("references are checked again afterwards", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* prune(old)
        const orphan = sql`INSERT INTO run_summaries ${sql.insert({ run_id: "none", summary: "{}", created_at: "", updated_at: "" })}`
        assert.isTrue(Exit.isFailure(yield* Effect.exit(orphan)))
      }).pipe(Effect.provide(layer))
    )

    it.live("many rows go in turns while others are written", () =>
      Effect.gen(function* () {
        const platform = yield* Platform
        yield* fill("filled", { runs: 2, participants: 2, tasks: 1500, workers: 3, heartbeats: 200 })
        const run = yield* createRun({ alpha: { totalTasks: 10_000 } })
        const { attemptId, worker } = yield* claim({ ...run, participant: "alpha" })
        const pruning = yield* Effect.fork(prune(old))
        let sent = 0
        while ((yield* Fiber.poll(pruning))._tag === "None") {
          yield* platform.sendTaskResults(worker, batch(attemptId, sent, [task(sent)]))
          sent++
        }
        const { heartbeats, runs, stepResults, taskResults } = yield* Fiber.join(pruning)
        assert.deepStrictEqual([runs, taskResults, stepResults, heartbeats], [2, 6000, 18_000, 7200])
        assert.isAbove(sent, 10)
        assert.strictEqual((yield* platform.runResults(run)).overall.taskCount, sent)
        assert.strictEqual((yield* platform.listAllRuns({})).length, 1)
      }).pipe(Effect.provide(layer))
    )
  })

suite("SQLite", layerSqlite)
suite("PostgreSQL", postgres.layerBoth)

describe("bench serve prune", () => {
  const written = (options: Partial<Cli.PruneOptions>) =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const console = { ...(yield* Console.consoleWith(Effect.succeed)) }
      const log = (...args: ReadonlyArray<unknown>) => Effect.sync(() => void lines.push(args.join(" ")))
      yield* Effect.withConsole(Cli.prune({ olderThan: "90d", dryRun: false, json: false, ...options }), {
        ...console,
        log,
        error: log
      })
      return lines.join("\n")
    })

  it.effect("says what it would remove, what it has, and how to get the space back", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* written({}), "No runs unchanged since 1970-01-01T00:00:00.000Z: nothing to remove.")
      yield* leaveRun("old")
      yield* TestClock.adjust("100 days")
      const counts = [
        "what               count",
        "participants           2",
        "workers                2",
        "attempts               2",
        "batches                6",
        "task results           6",
        "step results          18",
        "heartbeat samples      4",
        "artifacts              2"
      ].join("\n")
      const since = "1 run unchanged since 1970-01-11T00:00:00.000Z:"
      assert.strictEqual(yield* written({ dryRun: true }), `Would remove ${since}\n\n${counts}`)
      const removed = yield* written({})
      assert.isTrue(removed.startsWith(`Removed ${since}\n\n${counts}\n`), removed)
      assert.include(removed, "VACUUM")
    }).pipe(Effect.provide(layerSqlite))
  )

  it.effect("prints JSON", () =>
    Effect.gen(function* () {
      yield* leaveRun("old")
      yield* TestClock.adjust("100 days")
      assert.deepStrictEqual(JSON.parse(yield* written({ json: true, dryRun: true })), {
        before: "1970-01-11T00:00:00.000Z",
        ...ofOne,
        dryRun: true
      })
    }).pipe(Effect.provide(layerSqlite))
  )

  it("ages have a unit", () => {
    const millis = (text: string) => Either.map(Cli.parseAge("--older-than", text), Duration.toMillis)
    assert.deepStrictEqual(
      ["90d", "12h", "2w", "1.5m", "30s"].map((text) => Either.getOrNull(millis(text))),
      [90 * day, day / 2, 14 * day, 90_000, 30_000]
    )
    for (const text of ["", "90", "d", "-1d", "1y", "90 d", "1e3d", "0d"]) {
      const parsed = Cli.parseAge("--older-than", text)
      assert(Either.isLeft(parsed))
      assert.match(parsed.left.message, /^--older-than expects an age .*\(got "/)
    }
  })
})
