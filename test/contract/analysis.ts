import { assert, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Effect, TestClock } from "effect"
import { Platform } from "../../src/Platform.js"
import type { TaskRecord } from "../../src/Record.js"
import { batch, claim, claimed, createRun, failure, task } from "./support.js"

/** A time of the day on which everything here happens. */
const at = (millis: number) => new Date(Date.UTC(2026, 0, 2) + millis).toISOString()

const timed = (taskIndex: number, started: number, completed: number, status = "success"): TaskRecord =>
  task(taskIndex, { status, startedAt: at(started), completedAt: at(completed) })

export const buckets = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("a run without records has no buckets", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const ref = yield* createRun({ alpha: { totalTasks: 10 } })
      assert.deepStrictEqual(yield* platform.taskBuckets(ref, {}), {
        run: yield* platform.getRun(ref),
        generatedAt: "1970-01-01T00:00:00.000Z",
        bucketSize: 1,
        buckets: [],
        failures: []
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("a single task is a bucket of its own", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(7, { latencyMs: 2.5 })]))
      const { bucketSize, buckets } = yield* platform.taskBuckets(run, {})
      assert.strictEqual(bucketSize, 1)
      assert.deepStrictEqual(buckets, [
        {
          participantSlug: "alpha",
          provider: null,
          bucketStart: 7,
          bucketEnd: 7,
          taskIndexMidpoint: 7,
          taskCount: 1,
          successCount: 1,
          errorCount: 0,
          latencyMs: { p50: 2.5, p95: 2.5, max: 2.5 }
        }
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("buckets have counts and nearest-rank percentiles of their own", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ beta: { totalTasks: 50, provider: "b" }, alpha: { totalTasks: 50 } })
      const beta = yield* claim({ ...run, participant: "beta" })
      const alpha = yield* claim({ ...run, participant: "alpha" })
      yield* platform.sendTaskResults(
        beta.worker,
        batch(beta.attemptId, 0, [
          ...Array.from({ length: 20 }, (_, i) => task(i, { latencyMs: 20 - i, status: i < 18 ? "success" : "error" })),
          task(20, { latencyMs: 100 }),
          task(21, { latencyMs: null, status: "skipped" }),
          task(22, { latencyMs: 50 }),
          task(23, { latencyMs: 10 }),
          task(41, { latencyMs: null, status: "error" })
        ])
      )
      yield* platform.sendTaskResults(alpha.worker, batch(alpha.attemptId, 0, [task(19, { latencyMs: 0.5 })]))
      const { bucketSize, buckets } = yield* platform.taskBuckets(run, { bucketSize: 20 })
      assert.strictEqual(bucketSize, 20)
      assert.deepStrictEqual(buckets, [
        {
          participantSlug: "beta",
          provider: "b",
          bucketStart: 0,
          bucketEnd: 19,
          taskIndexMidpoint: 9.5,
          taskCount: 20,
          successCount: 18,
          errorCount: 2,
          latencyMs: { p50: 10, p95: 19, max: 20 }
        },
        {
          participantSlug: "beta",
          provider: "b",
          bucketStart: 20,
          bucketEnd: 39,
          taskIndexMidpoint: 29.5,
          taskCount: 4,
          successCount: 3,
          errorCount: 0,
          latencyMs: { p50: 50, p95: 100, max: 100 }
        },
        {
          participantSlug: "beta",
          provider: "b",
          bucketStart: 40,
          bucketEnd: 59,
          taskIndexMidpoint: 49.5,
          taskCount: 1,
          successCount: 0,
          errorCount: 1,
          latencyMs: { p50: null, p95: null, max: null }
        },
        {
          participantSlug: "alpha",
          provider: null,
          bucketStart: 0,
          bucketEnd: 19,
          taskIndexMidpoint: 9.5,
          taskCount: 1,
          successCount: 1,
          errorCount: 0,
          latencyMs: { p50: 0.5, p95: 0.5, max: 0.5 }
        }
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("by default there are at most 100 buckets of a participant", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed(1000)
      for (const [sequenceNumber, [from, to, bucketSize, count]] of [
        [0, 100, 1, 100],
        [100, 101, 2, 51],
        [101, 250, 3, 84]
      ].entries()) {
        const records = Array.from({ length: (to ?? 0) - (from ?? 0) }, (_, i) => task((from ?? 0) + i))
        yield* platform.sendTaskResults(worker, batch(attemptId, sequenceNumber, records))
        const found = yield* platform.taskBuckets(run, {})
        assert.deepStrictEqual([found.bucketSize, found.buckets.length], [bucketSize, count])
        assert.strictEqual(
          found.buckets.reduce((sum, bucket) => sum + bucket.taskCount, 0),
          to
        )
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("the first failures are listed, by task", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ beta: { totalTasks: 300, provider: "b" }, alpha: { totalTasks: 300 } })
      const failed = (from: number, count: number) =>
        Array.from({ length: count }, (_, i) => task(from + i, { status: "error", errorCode: `E${from + i}` }))
      const beta = yield* claim({ ...run, participant: "beta" })
      yield* platform.sendTaskResults(
        beta.worker,
        batch(beta.attemptId, 0, [task(0), task(1, { status: "skipped" }), ...failed(2, 150)])
      )
      const alpha = yield* claim({ ...run, participant: "alpha" })
      yield* platform.sendTaskResults(
        alpha.worker,
        batch(alpha.attemptId, 0, [task(3, { status: "error", errorCode: null })])
      )
      const { failures } = yield* platform.taskBuckets(run, {})
      assert.strictEqual(failures.length, 100)
      const first = [
        { participantSlug: "beta", provider: "b", taskIndex: 2, errorCode: "E2" },
        { participantSlug: "beta", provider: "b", taskIndex: 3, errorCode: "E3" },
        { participantSlug: "alpha", provider: null, taskIndex: 3, errorCode: null },
        { participantSlug: "beta", provider: "b", taskIndex: 4, errorCode: "E4" }
      ]
      assert.deepStrictEqual(failures.slice(0, 4), first)
      assert.deepStrictEqual((yield* platform.taskBuckets(run, { failureLimit: 2 })).failures, first.slice(0, 2))
      assert.deepStrictEqual((yield* platform.taskBuckets(run, { failureLimit: 0 })).failures, [])
      assert.strictEqual((yield* platform.taskBuckets(run, { failureLimit: 1000 })).failures.length, 151)
    }).pipe(Effect.provide(layer))
  )
}

export const timeline = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("a run without records has an empty timeline", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const ref = yield* createRun({ alpha: { totalTasks: 10 } })
      assert.deepStrictEqual(yield* platform.runTimeline(ref, {}), {
        run: yield* platform.getRun(ref),
        generatedAt: "1970-01-01T00:00:00.000Z",
        eventRate: { bucketMs: 1000, buckets: [] },
        concurrency: { firstRecordedAt: null, heartbeatCount: 0, points: [] }
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("tasks are counted when they complete, since the first one started", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ beta: { totalTasks: 10, provider: "b" }, alpha: { totalTasks: 10 } })
      const beta = yield* claim({ ...run, participant: "beta" })
      const alpha = yield* claim({ ...run, participant: "alpha" })
      yield* platform.sendTaskResults(
        beta.worker,
        batch(beta.attemptId, 0, [
          timed(0, 500, 1499),
          timed(1, 600, 1499, "error"),
          timed(2, 700, 1500),
          timed(3, 700, 4700, "skipped"),
          { taskIndex: 4, status: "success" },
          task(5, { startedAt: "whenever", completedAt: "now" })
        ])
      )
      yield* platform.sendTaskResults(alpha.worker, batch(alpha.attemptId, 0, [timed(0, 2000, 2500)]))
      const { eventRate } = yield* platform.runTimeline(run, {})
      const ofBeta = { participantSlug: "beta", provider: "b" }
      const ofAlpha = { participantSlug: "alpha", provider: null }
      assert.deepStrictEqual(eventRate, {
        bucketMs: 1000,
        buckets: [
          { ...ofBeta, tMs: 0, completed: 2, succeeded: 1, failed: 1 },
          { ...ofBeta, tMs: 1000, completed: 1, succeeded: 1, failed: 0 },
          { ...ofAlpha, tMs: 2000, completed: 1, succeeded: 1, failed: 0 },
          { ...ofBeta, tMs: 4000, completed: 1, succeeded: 0, failed: 0 }
        ]
      })
      const wide = yield* platform.runTimeline(run, { bucketMs: 10_000 })
      assert.deepStrictEqual(wide.eventRate, {
        bucketMs: 10_000,
        buckets: [
          { ...ofBeta, tMs: 0, completed: 4, succeeded: 2, failed: 1 },
          { ...ofAlpha, tMs: 0, completed: 1, succeeded: 1, failed: 0 }
        ]
      })
      const narrow = yield* platform.runTimeline(run, { bucketMs: 1 })
      assert.deepStrictEqual(
        narrow.eventRate.buckets.map(({ completed, tMs }) => [tMs, completed]),
        [
          [999, 2],
          [1000, 1],
          [2000, 1],
          [4200, 1]
        ]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("a single task completes in the bucket of its latency", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, [timed(0, 10, 2010)]))
      assert.deepStrictEqual((yield* platform.runTimeline(run, {})).eventRate, {
        bucketMs: 1000,
        buckets: [{ participantSlug: "alpha", provider: null, tMs: 2000, completed: 1, succeeded: 1, failed: 0 }]
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("by default there are at most 100 buckets", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed(1000)
      const records = Array.from({ length: 1000 }, (_, i) => timed(i, i * 400, i * 400 + 400))
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, records))
      const { bucketMs, buckets } = (yield* platform.runTimeline(run, {})).eventRate
      assert.strictEqual(bucketMs, 4001)
      assert.strictEqual(buckets.length, 100)
      assert.strictEqual(
        buckets.reduce((sum, bucket) => sum + bucket.completed, 0),
        1000
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("heartbeats are points of concurrency, since the first one", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ beta: { totalTasks: 1, provider: "b" }, alpha: { totalTasks: 1 } })
      const beta = yield* claim({ ...run, participant: "beta" })
      const alpha = yield* claim({ ...run, participant: "alpha" })
      yield* TestClock.adjust("2 seconds")
      yield* platform.heartbeat(alpha.worker, { attemptId: alpha.attemptId })
      yield* TestClock.adjust("500 millis")
      yield* platform.heartbeat(alpha.worker, {
        attemptId: alpha.attemptId,
        concurrency: [
          { step: "set", active: 2, target: 4 },
          { step: "get", active: 1, target: 4 }
        ]
      })
      yield* TestClock.adjust("1 millis")
      yield* platform.heartbeat(beta.worker, {
        attemptId: beta.attemptId,
        concurrency: [{ step: "get", active: 0, target: 1 }]
      })
      const ofAlpha = {
        participantSlug: "alpha",
        provider: null,
        workerId: alpha.worker.worker,
        recordedAt: "1970-01-01T00:00:02.500Z",
        tMs: 500
      }
      assert.deepStrictEqual((yield* platform.runTimeline(run, {})).concurrency, {
        firstRecordedAt: "1970-01-01T00:00:02.000Z",
        heartbeatCount: 3,
        points: [
          { ...ofAlpha, step: "set", active: 2, target: 4 },
          { ...ofAlpha, step: "get", active: 1, target: 4 },
          {
            participantSlug: "beta",
            provider: "b",
            workerId: beta.worker.worker,
            recordedAt: "1970-01-01T00:00:02.501Z",
            tMs: 501,
            step: "get",
            active: 0,
            target: 1
          }
        ]
      })
    }).pipe(Effect.provide(layer))
  )
}

export const imports = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("every batch that was accepted has been imported", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const empty = yield* platform.runImports(run)
      assert.deepStrictEqual(empty, {
        run: yield* platform.getRun(run),
        generatedAt: "1970-01-01T00:00:00.000Z",
        summary: { pending: 0, importing: 0, imported: 0, failed: 0, missing: 0 },
        items: []
      })
      const first = yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0), task(1)]))
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0), task(1)]))
      yield* TestClock.adjust("1 second")
      const second = yield* platform.sendTaskResults(worker, batch(attemptId, 1, [], true))
      const { items, summary } = yield* platform.runImports(run)
      assert.deepStrictEqual(summary, { pending: 0, importing: 0, imported: 2, failed: 0, missing: 0 })
      assert.deepStrictEqual(items[0], {
        eventBatchId: first.eventBatchId,
        batchType: "task_results",
        sequenceNumber: 0,
        batchStatus: "persisted",
        eventCount: 2,
        objectKey: null,
        batchErrorMessage: null,
        createdAt: "1970-01-01T00:00:00.000Z",
        persistedAt: "1970-01-01T00:00:00.000Z",
        sink: "sql",
        importStatus: "imported",
        importAttempts: 1,
        importedAt: "1970-01-01T00:00:00.000Z",
        failedAt: null,
        importErrorMessage: null
      })
      assert.deepStrictEqual(
        items.map(({ eventBatchId, eventCount, sequenceNumber }) => [eventBatchId, sequenceNumber, eventCount]),
        [
          [first.eventBatchId, 0, 2],
          [second.eventBatchId, 1, 0]
        ]
      )
    }).pipe(Effect.provide(layer))
  )
}

export const benchmarkResults = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("a benchmark without runs has no results", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const benchmark = yield* platform.upsertBenchmark("kv", {})
      const { analytics, benchmark: shown, generatedAt, items } = yield* platform.benchmarkResults("kv", {})
      assert.deepStrictEqual(shown, benchmark)
      assert.strictEqual(generatedAt, "1970-01-01T00:00:00.000Z")
      assert.isString(analytics.status)
      assert.deepStrictEqual(items, [])
      assert.strictEqual(yield* failure(platform.benchmarkResults("nope", {})), "ResourceNotFound benchmark")
    }).pipe(Effect.provide(layer))
  )

  it.effect("its runs are listed newest first, each with what its own results say", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const runs = yield* Effect.forEach([1, 2, 3], (count) =>
        Effect.gen(function* () {
          const run = yield* createRun({ beta: { totalTasks: 10, provider: "b" }, alpha: { totalTasks: 10 } })
          const { attemptId, worker } = yield* claim({ ...run, participant: "alpha" })
          for (let i = 0; i < count; i++) {
            yield* platform.sendTaskResults(worker, batch(attemptId, i, [task(i, { latencyMs: 10 * count + i })]))
          }
          return run
        })
      )
      const other = yield* platform.upsertBenchmark("other", {})
      yield* platform.createRun(other.slug, {})
      const empty = yield* createRun({})
      const { items } = yield* platform.benchmarkResults("bench", {})
      assert.deepStrictEqual(
        items.map(({ run }) => run.id),
        [empty, ...runs.toReversed()].map(({ run }) => run)
      )
      assert.deepStrictEqual(items[0]?.participants, [])
      for (const [index, ref] of runs.toReversed().entries()) {
        const item = items[index + 1]
        const results = yield* platform.runResults(ref)
        assert.deepStrictEqual(item?.run, results.run)
        assert.deepStrictEqual(
          item?.participants,
          results.participants.map((summary) => ({ runId: ref.run, ...summary }))
        )
        const batches = 3 - index
        assert.deepStrictEqual(item?.participants[1]?.latencyMs.max, 10 * batches + batches - 1)
        assert.deepStrictEqual(
          { ...item?.analytics, status: "" },
          {
            status: "",
            eventBatches: batches,
            persisted: batches,
            queued: 0,
            failed: 0,
            imports: { pending: 0, importing: 0, imported: batches, failed: 0, missing: 0 }
          }
        )
      }
      const page = yield* platform.benchmarkResults("bench", { limit: 2, offset: 1 })
      assert.deepStrictEqual(page.items, items.slice(1, 3))
    }).pipe(Effect.provide(layer))
  )
}
