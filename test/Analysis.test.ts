import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Analysis from "../src/Analysis.js"
import * as Benchmark from "../src/Benchmark.js"
import type { ScoringConfig } from "../src/Config.js"
import * as Reporter from "../src/Reporter.js"
import * as Scheduler from "../src/Scheduler.js"
import * as Spool from "../src/Spool.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { failed, runData, upTo } from "./support/analysis.js"

const only = (analysis: Analysis.Judgement): Analysis.ParticipantAnalysis => {
  const [participant] = analysis.participants
  if (participant === undefined) throw new Error("no participant")
  return participant
}

const metricOf = (participant: Analysis.ParticipantAnalysis, key: string) =>
  participant.metrics.find((metric) => metric.key === key)

const scoring: ScoringConfig = {
  metrics: [{ key: "waitMs", unit: "ms", ceiling: 200, weights: { median: 0.5, p95: 0.3, p99: 0.2 } }]
}

describe("make", () => {
  it("describes the successful tasks by nearest rank", () => {
    const tasks = [...upTo(100), { status: "error", latencyMs: 5000 }]
    const metric = metricOf(only(Analysis.make(runData({ alpha: tasks }))), "task")
    const { histogram, medianInterval: _, p95Interval: __, ...distribution } = metric?.distribution ?? {}
    assert.deepStrictEqual(distribution, {
      count: 100,
      min: 1,
      q1: 25,
      median: 50.5,
      q3: 75,
      p90: 90,
      p95: 95,
      p99: 99,
      p999: 100,
      max: 100,
      mean: 50.5,
      // The sample standard deviation of 1 to n is the square root of n (n + 1) / 12.
      stdDev: Math.sqrt((100 * 101) / 12)
    })
    // Ten bins of 9.9.
    assert.deepStrictEqual(
      histogram?.map(({ count }) => count),
      [10, 10, 10, 10, 10, 10, 10, 10, 10, 10]
    )
    assert.deepStrictEqual([histogram?.[0]?.from, histogram?.[9]?.to], [1, 100])
    assert.strictEqual(metric?.total, 101)
  })

  it("gives every value in the order of task indexes, with its time and phase", () => {
    const data = runData({
      early: [{ startedAt: "2026-01-02T03:04:00.000Z" }],
      late: [
        { taskIndex: 7, data: { phase: "warm", waitMs: 3 } },
        { taskIndex: 2, status: "error", data: { phase: "cold", waitMs: 4 }, startedAt: null }
      ]
    })
    const late = Analysis.make(data).participants.find(({ name }) => name === "late")
    assert.deepStrictEqual(late?.metrics.find(({ key }) => key === "waitMs")?.points, [
      { taskIndex: 2, value: 4, ok: false, atMs: undefined, phase: "cold" },
      { taskIndex: 7, value: 3, ok: true, atMs: 5000, phase: "warm" }
    ])
    assert.deepStrictEqual(late?.phases, ["warm", "cold"])
  })

  it("orders metrics: the default one, scored, declared, others, steps, the task", () => {
    const data = runData(
      { alpha: [{ data: { other: 1, waitMs: 2, declared: 3, first: 4 }, steps: { b: 1, a: 2 } }] },
      {
        scoring,
        display: {
          metrics: [
            { key: "declared", label: "Declared", order: 2 },
            { key: "first", label: "First", unit: "rows", direction: "higher-better", decimals: 1, order: 1 }
          ],
          steps: [{ key: "a", label: "Step A" }],
          overview: { defaultMetric: "first" }
        }
      }
    )
    const { defaultMetric, metrics } = Analysis.make(data)
    assert.strictEqual(defaultMetric, "first")
    assert.deepStrictEqual(
      metrics.map(({ key, label, unit }) => [key, label, unit]),
      [
        ["first", "First", "rows"],
        ["waitMs", "waitMs", "ms"],
        ["declared", "Declared", ""],
        ["other", "other", ""],
        ["step:a", "Step A", "ms"],
        ["step:b", "b", "ms"],
        ["task", "task latency", "ms"]
      ]
    )
    assert.deepStrictEqual(
      metrics.slice(0, 2).map(({ decimals, higherIsBetter, kind, scored }) => [kind, decimals, higherIsBetter, scored]),
      [
        ["data", 1, true, false],
        ["data", undefined, false, true]
      ]
    )
  })

  it("shows the scored metric first, else a declared one that was measured, else the task", () => {
    const tasks = { alpha: [{ data: { waitMs: 1, declared: 2 } }] }
    const display = {
      metrics: [
        { key: "missing", label: "Missing" },
        { key: "declared", label: "Declared" }
      ]
    }
    const first = (fields: Partial<Analysis.RunData>) => Analysis.make(runData(tasks, fields)).defaultMetric
    assert.strictEqual(first({ scoring, display }), "waitMs")
    assert.strictEqual(first({ display }), "declared")
    assert.strictEqual(first({ display: { ...display, overview: { defaultMetric: "task" } } }), "task")
    assert.strictEqual(first({ scoring, display: { overview: { defaultMetric: "compositeScore" } } }), "waitMs")
    assert.strictEqual(first({}), "task")
  })

  it("takes lists apart where the key is scored or declared", () => {
    const data = runData({ alpha: [{ data: { waitMs: [3, 1, "x", 2], other: [1, 2] } }] }, { scoring })
    const { metrics } = only(Analysis.make(data))
    assert.deepStrictEqual(
      metrics.map(({ key, total }) => [key, total]),
      [
        ["waitMs", 3],
        ["task", 1]
      ]
    )
  })

  it("leaves the implicit step of a task without steps out", () => {
    const implicit = Analysis.make(runData({ alpha: [{ latencyMs: 10, steps: { task: 10 } }] }))
    assert.deepStrictEqual(
      implicit.metrics.map(({ key }) => key),
      ["task"]
    )
    const own = Analysis.make(runData({ alpha: [{ latencyMs: 10, steps: { task: 9 } }] }))
    assert.deepStrictEqual(
      own.metrics.map(({ key }) => key),
      ["task", "step:task"]
    )
  })

  it("keeps the names of latencies apart from keys of data", () => {
    const data = runData({ alpha: [{ latencyMs: 10, data: { task: 99, "step:a": 98 }, steps: { a: 1 } }] })
    const participant = only(Analysis.make(data))
    assert.strictEqual(metricOf(participant, "task")?.distribution?.max, 10)
    assert.strictEqual(metricOf(participant, "step:a")?.distribution?.max, 1)
  })

  it("groups failures by code, with the step that all of them failed in", () => {
    const inStep = (errorCode: string, step: string) => ({ status: "error", errorCode, steps: { ok: 1, [step]: null } })
    const data = runData({
      alpha: [
        { ...inStep("SLOW", "create"), data: { errorMessage: "too slow" } },
        inStep("SLOW", "create"),
        inStep("GONE", "create"),
        inStep("GONE", "delete"),
        failed("BAD"),
        5
      ]
    })
    const { errorCount, failures, successCount, successRate } = only(Analysis.make(data))
    assert.deepStrictEqual(failures, [
      { code: "SLOW", count: 2, step: "create", message: "too slow", taskIndexes: [0, 1] },
      { code: "GONE", count: 2, step: undefined, message: undefined, taskIndexes: [2, 3] },
      { code: "BAD", count: 1, step: undefined, message: undefined, taskIndexes: [4] }
    ])
    assert.deepStrictEqual([errorCount, successCount, successRate], [5, 1, 1 / 6])
  })

  it("bounds what hostile records can make it keep", () => {
    const tasks = upTo(300).map((n) => ({ ...Object(failed(`E${n}`)), data: { [`key${n}`]: n } }))
    const { failures, metrics } = only(Analysis.make(runData({ alpha: tasks })))
    assert.strictEqual(failures.length, 101)
    assert.deepStrictEqual([failures[0]?.code, failures[0]?.count], ["(other)", 200])
    assert.isAtMost(metrics.length, 101)
  })

  it("counts only tasks that hold the required data as passed", () => {
    const required = { ...scoring, success: { requireData: { verified: true } } }
    const data = runData(
      { alpha: [{ data: { verified: true, waitMs: 5 } }, { data: { verified: false, waitMs: 1 } }, failed("E")] },
      { scoring: required }
    )
    const participant = only(Analysis.make(data))
    assert.deepStrictEqual([participant.successCount, participant.errorCount], [1, 2])
    assert.strictEqual(metricOf(participant, "waitMs")?.distribution?.min, 5)
    assert.deepStrictEqual(
      participant.failures.map(({ code, taskIndexes }) => [code, taskIndexes]),
      [
        ["success.requireData", [1]],
        ["E", [2]]
      ]
    )
  })

  it("says where it ran, how long, and how fast", () => {
    const data = runData(
      { alpha: [1, 2, 3, 4, 5] },
      {
        config: {
          environment: {
            gitSha: "abc",
            gitDirty: true,
            nodeVersion: "v20.19.0",
            platform: "linux",
            arch: "x64",
            cpuCount: 8,
            cpuLimit: 1.5,
            memoryBytes: 16 * 2 ** 30
          },
          trigger: { source: "schedule", requestedBy: "mira" }
        }
      }
    )
    const { completedAt, environment, participants, startedAt } = Analysis.make(data)
    assert.deepStrictEqual(Object.fromEntries(environment.map(({ label, value }) => [label, value])), {
      Commit: "abc, changed",
      Trigger: "schedule, for mira",
      "Node.js": "v20.19.0",
      System: "linux x64",
      Processors: "1.5 of 8",
      Memory: "16 GiB"
    })
    assert.deepStrictEqual([startedAt, completedAt], ["2026-01-02T03:04:05.000Z", "2026-01-02T03:04:09.010Z"])
    assert.deepStrictEqual([participants[0]?.elapsedMs, participants[0]?.throughput], [4010, 5000 / 4010])
  })

  it("takes what the summary says about the environment where the run says nothing", () => {
    const summary = { run: { gitSha: "def", nodeVersion: null }, results: [] }
    const hostile = { environment: { nodeVersion: 20 }, trigger: "x" }
    assert.deepStrictEqual(Analysis.make(runData({}, { summary, config: hostile })).environment, [
      { label: "Commit", value: "def" }
    ])
  })

  it("is the same again with the same seed, and whatever the order of the records", () => {
    const data = runData({ alpha: upTo(40).map((n) => (n * 7) % 41), beta: upTo(40) }, {})
    const once = JSON.stringify(Analysis.make(data))
    assert.strictEqual(JSON.stringify(Analysis.make({ ...data, tasks: data.tasks.toReversed() })), once)
    assert.notStrictEqual(JSON.stringify(Analysis.make(data, { level: 0.9 })), once)
  })
})

// -----------------------------------------------------------------------------
// load
// -----------------------------------------------------------------------------

const benchmark = Benchmark.make({
  benchmarkSlug: "stored",
  benchmarkName: "Stored",
  participants: [{ name: "alpha" }, { name: "beta" }, { name: "gated", requiredEnvVars: ["ANALYSIS_TEST_TOKEN"] }],
  iterations: 8,
  scoring,
  display: { metrics: [{ key: "waitMs", label: "Wait", unit: "ms" }] },
  task: ({ participant, taskIndex }) =>
    Effect.gen(function* () {
      yield* Step.run("work", Effect.void)
      if (participant.name === "beta" && taskIndex === 3) return yield* Effect.fail(new Task.TaskError("no"))
      yield* Task.measure({ waitMs: taskIndex })
    })
})

const stored = Layer.mergeAll(
  Scheduler.layer,
  Layer.provideMerge(Reporter.layer, Layer.merge(SqlPlatform.layerMemory, Spool.layerMemory))
)

/** Everything that does not depend on where the records come from. */
const told = ({ defaultMetric, metrics, participants, rankedBy }: Analysis.Judgement) => ({
  defaultMetric,
  metrics,
  rankedBy,
  participants: participants.map(({ metrics, ...participant }) => ({
    ...participant,
    metrics: metrics.map(({ distribution, key, points, total }) => ({ key, total, distribution, points }))
  }))
})

describe("load", () => {
  it.live("reads a run with everything that judging it takes", () =>
    Effect.gen(function* () {
      const outcome = yield* Benchmark.run(benchmark, { keepRecords: true })
      const data = yield* Analysis.load({ benchmark: "stored", run: outcome.runId ?? "" })
      assert.deepStrictEqual(data.benchmark, { slug: "stored", name: "Stored" })
      assert.deepStrictEqual(data.participants, ["alpha", "beta"])
      assert.deepStrictEqual([data.tasks.length, data.steps.length], [16, 16])
      assert.deepStrictEqual(data.scoring, scoring)
      assert.strictEqual(data.display?.metrics?.[0]?.label, "Wait")

      const analysis = Analysis.make(data)
      assert.deepStrictEqual(told(Analysis.fromOutcome(outcome)), told(analysis))
      assert.strictEqual(analysis.run.id, outcome.runId)
      assert.include(
        analysis.environment.map(({ label }) => label),
        "Node.js"
      )
      assert.strictEqual(analysis.participants[0]?.score, outcome.rows?.[0]?.compositeScore)
    }).pipe(Effect.provide(stored))
  )

  it.effect("fails when there is no such run", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Analysis.load({ benchmark: "none", run: "none" }))
      assert.strictEqual(error._tag, "ResourceNotFound")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )
})
