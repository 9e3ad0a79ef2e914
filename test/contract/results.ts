import { assert, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Effect, FastCheck } from "effect"
import type { ResultSummary, RunSummary } from "../../src/Platform.js"
import { Platform } from "../../src/Platform.js"
import type { StepRecord, TaskRecord } from "../../src/Record.js"
import { batch, claim, claimed, completedAt, createRun, failure, startedAt, step, task } from "./support.js"

export const summaries = (layer: Layer.Layer<Platform, unknown>) => {
  const summary = (compositeScore: number): RunSummary => ({
    run: { gitSha: "abc", gitRef: null, nodeVersion: "v20", platform: "linux", arch: "x64" },
    results: [
      {
        provider: "alpha",
        dimensions: { region: "eu" },
        metrics: [
          {
            name: "roundTripMs",
            unit: "ms",
            median: 1.5,
            p95: 2,
            p99: 3,
            raw: { count: 3, min: 1, median: 1.5, p95: 2, p99: 3, max: 3 }
          }
        ],
        compositeScore,
        successRate: 1,
        skipped: false
      }
    ],
    scoring: { metrics: [{ key: "roundTripMs" }] }
  })

  it.effect("a summary is stored, and replaced by a later one", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 1 } })
      assert.strictEqual(yield* failure(platform.getSummary(run)), "ResourceNotFound summary")
      for (const score of [98.5, 12]) {
        assert.deepStrictEqual(yield* platform.submitSummary(run, summary(score)), summary(score))
        assert.deepStrictEqual(yield* platform.getSummary(run), summary(score))
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("the summary of an unknown run is not stored", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { benchmark } = yield* createRun({})
      assert.strictEqual(
        yield* failure(platform.submitSummary({ benchmark, run: "nope" }, summary(1))),
        "ResourceNotFound run"
      )
    }).pipe(Effect.provide(layer))
  )
}

// -----------------------------------------------------------------------------
// results
// -----------------------------------------------------------------------------

const nothing: ResultSummary = {
  taskCount: 0,
  successCount: 0,
  errorCount: 0,
  otherCount: 0,
  latencyCount: 0,
  successRate: null,
  latencyMs: { min: null, avg: null, p50: null, p95: null, p99: null, max: null },
  firstStartedAt: null,
  lastCompletedAt: null
}

const nearestRank = (sorted: ReadonlyArray<number>, percent: number) =>
  sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? null

const count = (records: ReadonlyArray<TaskRecord | StepRecord>, status: string) =>
  records.filter((record) => record.status === status).length

/** Everything but the average, which is compared with a tolerance. */
const summarize = (records: ReadonlyArray<TaskRecord | StepRecord>, taskCount = records.length) => {
  const latencies = records.flatMap((record) => (typeof record.latencyMs === "number" ? [record.latencyMs] : []))
  const sorted = latencies.sort((a, b) => a - b)
  const times = (times: ReadonlyArray<string | null | undefined>) =>
    times.flatMap((time) => (typeof time === "string" ? [time] : [])).sort()
  return {
    taskCount,
    successCount: count(records, "success"),
    errorCount: count(records, "error"),
    otherCount: records.length - count(records, "success") - count(records, "error"),
    latencyCount: sorted.length,
    successRate: records.length === 0 ? null : count(records, "success") / records.length,
    latencyMs: {
      min: sorted[0] ?? null,
      p50: nearestRank(sorted, 50),
      p95: nearestRank(sorted, 95),
      p99: nearestRank(sorted, 99),
      max: sorted.at(-1) ?? null
    },
    firstStartedAt: times(records.map((record) => record.startedAt))[0] ?? null,
    lastCompletedAt: times(records.map((record) => record.completedAt)).at(-1) ?? null
  }
}

const assertSummary = (
  actual: ResultSummary,
  records: ReadonlyArray<TaskRecord | StepRecord>,
  taskCount = records.length
) => {
  const { avg, ...latencyMs } = actual.latencyMs
  const { errorCount, firstStartedAt, lastCompletedAt, latencyCount, otherCount, successCount, successRate } = actual
  assert.deepStrictEqual(
    {
      taskCount: actual.taskCount,
      successCount,
      errorCount,
      otherCount,
      latencyCount,
      successRate,
      latencyMs,
      firstStartedAt,
      lastCompletedAt
    },
    summarize(records, taskCount)
  )
  const latencies = records.flatMap((record) => (typeof record.latencyMs === "number" ? [record.latencyMs] : []))
  if (latencies.length === 0) return assert.isNull(avg)
  const mean = latencies.reduce((sum, latency) => sum + latency, 0) / latencies.length
  assert.closeTo(avg ?? Number.NaN, mean, 1e-9 * Math.max(1, mean))
}

const outcome = {
  status: FastCheck.constantFrom("success", "error", "cancelled"),
  latencyMs: FastCheck.oneof(
    { weight: 5, arbitrary: FastCheck.integer({ min: 0, max: 50_000 }).map((micros) => micros / 1000) },
    { weight: 1, arbitrary: FastCheck.constant(null) }
  ),
  startedAt: FastCheck.constantFrom(null, startedAt, "2025-12-31T23:59:59.999Z", "2026-01-02T03:04:05.001Z"),
  completedAt: FastCheck.constantFrom(null, completedAt, "2026-01-02T03:05:00.000Z")
}

const recordsArbitrary = FastCheck.array(
  FastCheck.record({
    ...outcome,
    steps: FastCheck.array(FastCheck.record({ ...outcome, name: FastCheck.constantFrom("get", "set", "ü", "Zap") }), {
      maxLength: 4
    })
  }),
  { maxLength: 60 }
).map((records) => records.map((record, taskIndex): TaskRecord => ({ taskIndex, ...record })))

export const results = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("a run without records has counts of zero and nulls", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const ref = yield* createRun({ alpha: { provider: "p" }, beta: {} })
      const { benchmark, generatedAt, overall, participants, run, steps } = yield* platform.runResults(ref)
      assert.deepStrictEqual(benchmark, yield* platform.getBenchmark("bench"))
      assert.deepStrictEqual(run, yield* platform.getRun(ref))
      assert.strictEqual(new Date(generatedAt).toISOString(), generatedAt)
      assert.deepStrictEqual(overall, nothing)
      assert.deepStrictEqual(participants, [
        { participantSlug: "alpha", provider: "p", ...nothing },
        { participantSlug: "beta", provider: null, ...nothing }
      ])
      assert.deepStrictEqual(steps, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("percentiles are nearest-rank over all latencies", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed(20)
      const records = Array.from({ length: 20 }, (_, i) =>
        task(19 - i, {
          latencyMs: i + 1,
          status: i < 15 ? "success" : i < 19 ? "error" : "cancelled",
          steps: [step("get", { latencyMs: 2 * (i + 1) }), ...(i === 0 ? [step("get", { latencyMs: 100 })] : [])]
        })
      )
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, records))
      const { overall, participants, steps } = yield* platform.runResults(run)
      assert.deepStrictEqual(overall, {
        taskCount: 20,
        successCount: 15,
        errorCount: 4,
        otherCount: 1,
        latencyCount: 20,
        successRate: 0.75,
        latencyMs: { min: 1, avg: 10.5, p50: 10, p95: 19, p99: 20, max: 20 },
        firstStartedAt: startedAt,
        lastCompletedAt: completedAt
      })
      assert.deepStrictEqual(participants, [{ participantSlug: "alpha", provider: null, ...overall }])
      assert.strictEqual(steps.length, 1)
      const [get] = steps
      assert.deepStrictEqual(
        [get?.stepName, get?.stepCount, get?.taskCount, get?.successCount, get?.successRate],
        ["get", 21, 20, 21, 1]
      )
      assert.deepStrictEqual(get?.latencyMs, { min: 2, avg: 520 / 21, p50: 22, p95: 40, p99: 100, max: 100 })
    }).pipe(Effect.provide(layer))
  )

  it.effect.prop(
    "results equal those computed from the records",
    { alpha: recordsArbitrary, beta: recordsArbitrary },
    (sent) =>
      Effect.gen(function* () {
        const platform = yield* Platform
        const run = yield* createRun({ beta: { totalTasks: 60 }, alpha: { totalTasks: 60 } })
        for (const participant of ["alpha", "beta"] as const) {
          const { attemptId, worker } = yield* claim({ ...run, participant })
          const half = sent[participant].length >> 1
          yield* platform.sendTaskResults(worker, batch(attemptId, 0, sent[participant].slice(half)))
          yield* platform.sendTaskResults(worker, batch(attemptId, 1, sent[participant].slice(0, half)))
        }
        const { overall, participants, steps } = yield* platform.runResults(run)
        assertSummary(overall, [...sent.alpha, ...sent.beta])
        assert.deepStrictEqual(
          participants.map((summary) => summary.participantSlug),
          ["beta", "alpha"]
        )
        const expectedSteps: Array<string> = []
        for (const participant of ["beta", "alpha"] as const) {
          const summary = participants.find((summary) => summary.participantSlug === participant)
          assertSummary(summary ?? nothing, sent[participant])
          const names = new Set(sent[participant].flatMap((record) => (record.steps ?? []).map((s) => s.name)))
          for (const name of names) {
            expectedSteps.push(`${participant} ${name}`)
            const records = sent[participant].flatMap((record) => (record.steps ?? []).filter((s) => s.name === name))
            const tasks = sent[participant].filter((record) => record.steps?.some((s) => s.name === name))
            const found = steps.find((s) => s.participantSlug === participant && s.stepName === name)
            assert.strictEqual(found?.stepCount, records.length)
            assertSummary(found ?? nothing, records, tasks.length)
          }
        }
        assert.deepStrictEqual(steps.map((s) => `${s.participantSlug} ${s.stepName}`).sort(), expectedSteps.sort())
      }).pipe(Effect.provide(layer)),
    { fastCheck: { numRuns: 25 } }
  )

  it.effect("steps are summed up in the order in which tasks take them", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ beta: { totalTasks: 1 }, alpha: { totalTasks: 1 } })
      for (const participant of ["alpha", "beta"]) {
        const { attemptId, worker } = yield* claim({ ...run, participant })
        yield* platform.sendTaskResults(
          worker,
          batch(attemptId, 0, [task(0, { steps: [step("z"), step("m"), step("a"), step("m")] })])
        )
      }
      assert.deepStrictEqual(
        (yield* platform.runResults(run)).steps.map((s) => [s.participantSlug, s.stepName, s.stepCount]),
        [
          ["beta", "z", 1],
          ["beta", "m", 2],
          ["beta", "a", 1],
          ["alpha", "z", 1],
          ["alpha", "m", 2],
          ["alpha", "a", 1]
        ]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("names and codes that hold a NUL are stored with what stands for it", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed(1)
      const steps = [step("ge\u0000t", { status: "error", errorCode: "E\u0000" })]
      const records = [task(0, { status: "error", errorCode: "\u0000", data: { text: "a\u0000b" }, steps })]
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, records))
      const [stored] = yield* platform.iterations(run, { type: "steps" })
      assert.deepStrictEqual([stored?.stepName, stored?.errorCode], ["ge\ufffdt", "E\ufffd"])
      const [kept] = yield* platform.iterations(run, {})
      assert.deepStrictEqual(kept?.data, { text: "a\u0000b" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("iterations are ordered by participant, task and step, and filtered by participant and step", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ beta: { totalTasks: 12, provider: "b" }, alpha: { totalTasks: 12 } })
      for (const participant of ["alpha", "beta"]) {
        const { attemptId, worker } = yield* claim({ ...run, participant })
        for (const [sequenceNumber, taskIndex] of [10, 2, 9].entries()) {
          const record = task(taskIndex, { steps: [step("z"), step("a b"), step("a")] })
          yield* platform.sendTaskResults(worker, batch(attemptId, sequenceNumber, [record]))
        }
      }
      const tasks = yield* platform.iterations(run, { type: "tasks" })
      const order = ["beta", "alpha"].flatMap((slug) => [2, 9, 10].map((taskIndex) => [slug, taskIndex]))
      assert.deepStrictEqual(
        tasks.map((iteration) => [iteration.participantSlug, iteration.taskIndex]),
        order
      )
      assert.deepStrictEqual(yield* platform.iterations(run, {}), tasks)
      assert.deepStrictEqual(yield* platform.iterations(run, { steps: ["z"] }), tasks)
      assert.deepStrictEqual(yield* platform.iterations(run, { participant: "alpha" }), tasks.slice(3))
      assert.strictEqual(tasks[0]?.provider, "b")
      assert.isUndefined(tasks[0]?.stepName)
      const steps = yield* platform.iterations(run, { type: "steps" })
      assert.deepStrictEqual(
        steps.map((iteration) => [iteration.participantSlug, iteration.taskIndex, iteration.stepName]),
        order.flatMap(([slug, taskIndex]) => ["z", "a b", "a"].map((name) => [slug, taskIndex, name]))
      )
      const some = yield* platform.iterations(run, { type: "steps", participant: "beta", steps: ["a", "a b"] })
      assert.deepStrictEqual(
        some,
        steps.slice(0, 9).filter((iteration) => iteration.stepName !== "z")
      )
      assert.deepStrictEqual(yield* platform.iterations(run, { type: "steps", steps: ["nope"] }), [])
      assert.strictEqual(
        yield* failure(platform.iterations(run, { participant: "nobody" })),
        "ResourceNotFound participant"
      )
    }).pipe(Effect.provide(layer))
  )
}
