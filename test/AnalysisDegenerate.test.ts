import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Analysis from "../src/Analysis.js"
import * as Benchmark from "../src/Benchmark.js"
import { plain } from "../src/cli/style.js"
import { render } from "../src/cli/summary.js"
import type { ScoringConfig } from "../src/Config.js"
import * as Reporter from "../src/Reporter.js"
import * as Scheduler from "../src/Scheduler.js"
import * as Task from "../src/Task.js"
import type { GivenTask } from "./support/analysis.js"
import { failed, runData, upTo } from "./support/analysis.js"

const scoring: ScoringConfig = {
  metrics: [
    { key: "value", ceiling: 100, weights: { median: 0.5, p95: 0.2, p99: 0.1 } },
    { key: "other", ceiling: 100, higherIsBetter: true, weights: { median: 0.2, p95: 0, p99: 0 } }
  ]
}

const measured = (values: ReadonlyArray<number>): ReadonlyArray<GivenTask> =>
  values.map((value) => ({ latencyMs: Math.abs(value), data: { value, other: value }, steps: { a: Math.abs(value) } }))

/** Every number in a document, with where it stands. */
const numbers = (value: unknown, path = ""): ReadonlyArray<readonly [path: string, value: number]> =>
  typeof value === "number"
    ? [[path, value]]
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, field]) => numbers(field, `${path}.${key}`))
      : []

const isNumber = (value: number): boolean => Number.isFinite(value) && !Object.is(value, -0)

/** Judged with and without scores; what is none of a number is nowhere in it, nor in the text. */
const judged = (participants: Readonly<Record<string, ReadonlyArray<GivenTask>>>) => {
  const analyses = [undefined, scoring].map((scoring) => Analysis.make(runData(participants, { scoring })))
  for (const analysis of analyses) {
    assert.deepStrictEqual(
      numbers(analysis).filter(([, value]) => !isNumber(value)),
      []
    )
    const text = render({ analysis, notes: [] }, plain)
    assert.notMatch(text, /NaN|Infinity|undefined|null|(?<![\w.])-0(?![.\d]*[1-9])/)
  }
  const [unscored, scored] = analyses
  if (unscored === undefined || scored === undefined) throw new Error("not judged")
  return { unscored, scored, text: render({ analysis: unscored, notes: [] }, plain) }
}

const distribution = ({ participants }: Analysis.Judgement, key = "task") =>
  participants[0]?.metrics.find((metric) => metric.key === key)?.distribution

describe("degenerate data", () => {
  it("nobody took part", () => {
    const { scored, unscored } = judged({})
    assert.deepStrictEqual([scored.participants, unscored.participants], [[], []])
  })

  it("no samples", () => {
    const { scored, unscored } = judged({ alpha: [] })
    assert.deepStrictEqual(
      [scored, unscored].map(({ participants }) => participants[0]?.skipped),
      [true, true]
    )
    assert.strictEqual(unscored.participants[0]?.successRate, undefined)
    assert.deepStrictEqual([unscored.startedAt, unscored.completedAt], [undefined, undefined])
  })

  it("tasks without any number or time", () => {
    const nothing = { latencyMs: null, startedAt: null, completedAt: null, data: {} }
    const { scored, unscored } = judged({ alpha: [nothing, nothing], beta: [{ ...nothing, startedAt: "yesterday" }] })
    assert.strictEqual(distribution(unscored), undefined)
    assert.strictEqual(unscored.participants[0]?.elapsedMs, undefined)
    assert.strictEqual(scored.participants[0]?.score, 0)
  })

  it("one sample", () => {
    const { scored, unscored } = judged({ alpha: measured([12.5]) })
    const { count, histogram, median, p99, stdDev } = distribution(unscored) ?? {}
    assert.deepStrictEqual([count, median, p99, stdDev], [1, 12.5, 12.5, undefined])
    assert.deepStrictEqual(histogram, [{ from: 12.5, to: 12.5, count: 1 }])
    assert.strictEqual(distribution(unscored)?.medianInterval, undefined)
    assert.strictEqual(scored.participants[0]?.scoreInterval, undefined)
    assert.strictEqual(unscored.participants[0]?.rank, 1)
  })

  it("two equal samples", () => {
    const { unscored } = judged({ alpha: measured([7, 7]) })
    const { histogram, median, stdDev } = distribution(unscored) ?? {}
    assert.deepStrictEqual([median, stdDev], [7, 0])
    assert.deepStrictEqual(histogram, [{ from: 7, to: 7, count: 2 }])
  })

  it("all zero", () => {
    const { scored, unscored } = judged({
      alpha: measured(upTo(20).map(() => 0)),
      beta: measured(upTo(20).map(() => 0))
    })
    assert.deepStrictEqual([distribution(unscored)?.max, distribution(unscored)?.stdDev], [0, 0])
    assert.deepStrictEqual(
      scored.participants.map(({ rank, score, tied }) => [rank, tied, score]),
      [
        [1, true, 80],
        [1, true, 80]
      ]
    )
  })

  it("negative samples, and the negative zero", () => {
    const { unscored } = judged({ alpha: measured([-5, -0, -3, -0.0001, -1, -2, -4]) })
    const { max, min } = distribution(unscored, "value") ?? {}
    assert.deepStrictEqual([min, max], [-5, 0])
  })

  it("very small samples", () => {
    const { text, unscored } = judged({ alpha: measured(upTo(30).map((n) => n * 1e-9)) })
    assert.approximately(distribution(unscored)?.median ?? 0, 15.5e-9, 1e-15)
    assert.include(text, "1.55e-8")
  })

  it("very large samples", () => {
    const { text, unscored } = judged({ alpha: measured(upTo(30).map((n) => n * 1e12)) })
    assert.strictEqual(distribution(unscored)?.max, 3e13)
    assert.include(text, "30000000000000")
  })

  it("the largest numbers there are, in both directions", () => {
    const most = Number.MAX_VALUE
    const { unscored } = judged({ alpha: measured([most, -most, most, -most, most, -most, 0, Number.MIN_VALUE]) })
    assert.deepStrictEqual([distribution(unscored, "value")?.min, distribution(unscored, "value")?.max], [-most, most])
  })

  it("numbers so close that nothing is between them", () => {
    const next = 1 + Number.EPSILON
    const { unscored } = judged({ alpha: measured([1, 1, 1, next, next, next, next, next]) })
    assert.deepStrictEqual(distribution(unscored)?.histogram, [{ from: 1, to: next, count: 8 }])
  })

  it("all failed", () => {
    const { scored, text, unscored } = judged({
      alpha: upTo(10).map(() => failed("E", "no")),
      beta: measured(upTo(10))
    })
    const alpha = unscored.participants.find(({ name }) => name === "alpha")
    assert.deepStrictEqual([alpha?.successRate, alpha?.rank, alpha?.skipped], [0, 2, false])
    assert.deepStrictEqual(scored.participants.map(({ name, score }) => [name, score]).at(-1), ["alpha", 0])
    assert.include(text, "all 10 tasks of alpha failed: nothing is known of its latencies")
  })

  it("one participant skipped", () => {
    const { unscored } = judged({ idle: [], alpha: measured(upTo(10)) })
    assert.deepStrictEqual(
      unscored.participants.map(({ name, rank, skipped }) => [name, rank, skipped]),
      [
        ["alpha", 1, false],
        ["idle", undefined, true]
      ]
    )
    const row = { provider: "gated", dimensions: {}, metrics: [], compositeScore: 0, successRate: 0, skipped: true }
    const named = Analysis.make(runData({ alpha: measured([1]) }, { scoring, summary: { run: {}, results: [row] } }))
    assert.deepStrictEqual(
      named.participants.map(({ name, score, skipped }) => [name, skipped, score]),
      [
        ["alpha", false, 79.4],
        ["gated", true, undefined]
      ]
    )
  })

  it("tasks that end as they start", () => {
    const now = "2026-01-02T03:04:05.000Z"
    const { unscored } = judged({ alpha: [{ startedAt: now, completedAt: now }] })
    assert.deepStrictEqual([unscored.participants[0]?.elapsedMs, unscored.participants[0]?.throughput], [0, undefined])
  })

  it("numbers that are none, in rows of a benchmark's own making", () => {
    const row = {
      provider: "alpha",
      dimensions: {},
      metrics: [{ name: "value", unit: "", median: Number.NaN, p95: Infinity, p99: -Infinity }],
      compositeScore: Number.NaN,
      successRate: Number.NaN,
      skipped: false
    }
    const groups = [row, row]
    const analysis = Analysis.make(
      runData(
        { alpha: measured([1]) },
        { scoring: { ...scoring, groupBy: "size" }, summary: { run: {}, results: groups } }
      )
    )
    assert.strictEqual(analysis.participants[0]?.score, undefined)
    assert.notMatch(render({ analysis, notes: [] }, plain), /NaN|Infinity|undefined/)
  })

  it.live("a measure that is not a number is refused where it is made", () =>
    Effect.gen(function* () {
      const outcome = yield* Benchmark.run(
        Benchmark.make({
          benchmarkSlug: "nan",
          benchmarkName: "NaN",
          participants: [{ name: "alpha" }],
          task: Task.measure({ value: Number.NaN })
        }),
        { keepRecords: true }
      )
      const [participant] = Analysis.fromOutcome(outcome).participants
      assert.deepStrictEqual(
        participant?.failures.map(({ count, message }) => [count, message]),
        [[1, 'Cannot record this measure: "value" is NaN, which JSON cannot hold.']]
      )
    }).pipe(Effect.provide(Layer.merge(Scheduler.layer, Reporter.layerNoIngest)))
  )
})
