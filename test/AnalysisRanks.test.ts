import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import * as Analysis from "../src/Analysis.js"
import type { ScoringConfig } from "../src/Config.js"
import { rank } from "../src/internal/analysis/ranks.js"
import * as Scoring from "../src/Scoring.js"
import type { GivenTask } from "./support/analysis.js"
import { failed, runData, upTo } from "./support/analysis.js"

const scoring: ScoringConfig = {
  metrics: [{ key: "waitMs", ceiling: 200, weights: { median: 0.5, p95: 0.3, p99: 0.2 }, trim: 0 }]
}

const waits = (values: ReadonlyArray<number>): ReadonlyArray<GivenTask> =>
  values.map((waitMs) => ({ data: { waitMs } }))

const ranks = (
  participants: Readonly<Record<string, ReadonlyArray<GivenTask>>>,
  fields: Partial<Analysis.RunData> = {}
) => Analysis.make(runData(participants, fields)).participants.map(({ name, rank, tied }) => [name, rank, tied])

/** So many values around a center, spread evenly. */
const around = (center: number, spread: number, count = 40) =>
  upTo(count).map((n) => center + spread * (n / count - 0.5))

describe("rank", () => {
  const letters = (values: Readonly<Record<string, number | undefined>>, margin: number) =>
    rank(Object.entries(values), [
      { value: ([, value]) => value, isBetter: ([, a = 0], [, b = 0]) => a - b > margin }
    ]).map(({ participant: [name], rank, tied }) => `${tied ? "=" : ""}${rank} ${name}`)

  it("leaves out as many ranks as are shared", () => {
    assert.deepStrictEqual(letters({ a: 1, b: 9, c: 9.5, d: 5, e: 1 }, 0.9), ["=1 c", "=1 b", "3 d", "=4 a", "=4 e"])
  })

  it("compares with the best of a rank, so that small differences do not add up to one rank for all", () => {
    assert.deepStrictEqual(letters({ a: 5, b: 4, c: 3, d: 2, e: 1 }, 1), ["=1 a", "=1 b", "=3 c", "=3 d", "5 e"])
  })

  it("puts those without a value last", () => {
    assert.deepStrictEqual(letters({ a: undefined, b: 1, c: 2 }, 0), ["1 c", "2 b", "3 a"])
  })

  it("orders those that share a rank by the next criterion", () => {
    const places = rank(
      [
        { name: "a", first: 1, second: 1 },
        { name: "b", first: 1, second: 2 },
        { name: "c", first: 0, second: 9 }
      ],
      [
        { value: ({ first }) => first, isBetter: (a, b) => a.first > b.first },
        { value: ({ second }) => second, isBetter: (a, b) => a.second > b.second }
      ]
    )
    assert.deepStrictEqual(
      places.map(({ participant, rank, tied }) => [participant.name, rank, tied]),
      [
        ["b", 1, false],
        ["a", 2, false],
        ["c", 3, false]
      ]
    )
  })
})

describe("without scores", () => {
  it("ranks by the median where success rates are alike", () => {
    assert.deepStrictEqual(ranks({ slow: around(30, 5), fast: around(10, 5), middle: around(20, 5) }), [
      ["fast", 1, false],
      ["middle", 2, false],
      ["slow", 3, false]
    ])
  })

  it("shows a tie where medians cannot be told apart", () => {
    assert.deepStrictEqual(ranks({ b: around(20.1, 30), a: around(20, 30), far: around(90, 10) }), [
      ["a", 1, true],
      ["b", 1, true],
      ["far", 3, false]
    ])
  })

  it("ranks identical samples alike", () => {
    assert.deepStrictEqual(ranks({ a: around(20, 1), b: around(20, 1) }), [
      ["a", 1, true],
      ["b", 1, true]
    ])
  })

  it("puts success before speed when it is clearly better, and only then", () => {
    const failing = (failures: number) => [...around(5, 1, 40 - failures), ...upTo(failures).map(() => failed("E"))]
    assert.deepStrictEqual(ranks({ fast: failing(20), slow: around(50, 1) }), [
      ["slow", 1, false],
      ["fast", 2, false]
    ])
    assert.deepStrictEqual(ranks({ fast: failing(1), slow: around(50, 1) }), [
      ["fast", 1, false],
      ["slow", 2, false]
    ])
  })

  it("tells nobody apart by a handful of tasks", () => {
    assert.deepStrictEqual(ranks({ slow: [90, 91, 92, 93, 94], fast: [1, 2, 3, 4, 5], failing: [failed("E")] }), [
      ["fast", 1, true],
      ["slow", 1, true],
      ["failing", 1, true]
    ])
    assert.deepStrictEqual(ranks({ slow: upTo(6).map((n) => 90 + n), fast: upTo(6) }), [
      ["fast", 1, false],
      ["slow", 2, false]
    ])
  })

  it("ranks by the declared direction", () => {
    const display = { metrics: [{ key: "waitMs", label: "Rows", direction: "higher-better" as const, unit: "rows" }] }
    const data = runData({ few: waits(around(10, 1)), many: waits(around(99, 1)) }, { display })
    const { participants, rankedBy } = Analysis.make(data)
    assert.deepStrictEqual(
      participants.map(({ name }) => name),
      ["many", "few"]
    )
    assert.strictEqual(rankedBy, "success rate, then median of Rows (rows), higher is better")
  })

  it("gives participants without tasks no rank, and puts them last", () => {
    assert.deepStrictEqual(ranks({ idle: [], alpha: [1] }), [
      ["alpha", 1, false],
      ["idle", undefined, false]
    ])
  })
})

describe("with scores", () => {
  it("ranks by score, with the interval of each", () => {
    const { participants, rankedBy } = Analysis.make(
      runData({ slow: waits(around(150, 20)), fast: waits(around(50, 20)) }, { scoring })
    )
    assert.deepStrictEqual(
      participants.map(({ name, rank, score, tied }) => [name, rank, tied, score]),
      // 50 % of the median 50.25, 30 % of 59, 20 % of 60, each against 200; and 100 more of each.
      [
        ["fast", 1, false, 72.59],
        ["slow", 2, false, 22.59]
      ]
    )
    assert.strictEqual(rankedBy, "composite score")
    for (const { score = 0, scoreInterval } of participants) {
      assert.strictEqual(scoreInterval?.level, 0.95)
      assert.isBelow(scoreInterval?.low ?? 0, score)
      assert.isAbove(scoreInterval?.high ?? 0, score)
      assert.isBelow((scoreInterval?.high ?? 0) - (scoreInterval?.low ?? 0), 10)
    }
  })

  it("shows a tie where scores cannot be told apart", () => {
    const participants = { b: waits(around(20.3, 30)), a: waits(around(20, 30)), far: waits(around(180, 10)) }
    assert.deepStrictEqual(ranks(participants, { scoring }), [
      ["a", 1, true],
      ["b", 1, true],
      ["far", 3, false]
    ])
  })

  it("counts failures into the interval", () => {
    const steady = waits(upTo(40).map(() => 100))
    const flaky = [...waits(upTo(30).map(() => 100)), ...upTo(10).map(() => failed("E"))]
    const { participants } = Analysis.make(runData({ steady, flaky }, { scoring }))
    assert.deepStrictEqual(
      participants.map(({ name, scoreInterval }) => [name, scoreInterval?.low === scoreInterval?.high]),
      [
        ["steady", true],
        ["flaky", false]
      ]
    )
    // 50 × the success rate, whose binomial interval around 30 of 40 is about 0.60 to 0.88.
    assert.approximately(participants[1]?.scoreInterval?.low ?? 0, 50 * 0.6, 2)
    assert.approximately(participants[1]?.scoreInterval?.high ?? 0, 50 * 0.88, 2)
  })

  it("is not wrong more often than it says", () => {
    // Two participants of one distribution: at 95 %, about 2.5 % of pairs may have the first one better beyond doubt.
    let state = 1
    const random = () => (state = (state * 16807) % 2147483647) / 2147483647
    let wrong = 0
    for (let i = 0; i < 100; i++) {
      const sample = () => waits(upTo(30).map(() => 50 + 100 * random() * random()))
      const { participants } = Analysis.make(runData({ a: sample(), b: sample() }, { scoring }))
      if (participants.some(({ rank }) => rank === 2)) wrong++
    }
    assert.isAtMost(wrong, 15)
  })

  it("trusts a benchmark that scores in its own way, without an interval", () => {
    const row = (provider: string, compositeScore: number) => ({
      provider,
      dimensions: {},
      metrics: [],
      compositeScore,
      successRate: 1,
      skipped: false
    })
    const summary = { run: {}, results: [row("a", 10), row("b", 90), row("c", 10)] }
    const { participants, rankedBy } = Analysis.make(runData({ a: [1], b: [2], c: [3] }, { summary }))
    assert.deepStrictEqual(
      participants.map(({ name, rank, scoreInterval, tied }) => [name, rank, tied, scoreInterval]),
      [
        ["b", 1, false, undefined],
        ["a", 2, true, undefined],
        ["c", 2, true, undefined]
      ]
    )
    assert.strictEqual(rankedBy, "composite score, as the benchmark computes it")
  })

  it("does not take a score apart that the config does not explain", () => {
    const data = runData({ a: waits(upTo(10)) }, { scoring })
    const [row] = Analysis.make(data).participants
    assert.isAbove(row?.scoreParts.length ?? 0, 0)
    const odd = {
      provider: "a",
      dimensions: {},
      metrics: [],
      compositeScore: 12.34,
      successRate: 1,
      skipped: false
    }
    const [other] = Analysis.make({ ...data, summary: { run: {}, results: [odd] } }).participants
    assert.deepStrictEqual([other?.score, other?.scoreParts], [12.34, []])
  })

  it("scores from the tasks what has no row", () => {
    const { participants } = Analysis.make(
      runData({ a: waits([100]), b: waits([50]) }, { scoring, summary: { run: {}, results: [] } })
    )
    assert.deepStrictEqual(
      participants.map(({ name, score }) => [name, score]),
      [
        ["b", 75],
        ["a", 50]
      ]
    )
  })

  it("has the intervals of a run whatever the order in which its tasks ended", () => {
    const data = runData({ a: waits(upTo(50).map((n) => (n * 37) % 101)) }, { scoring })
    assert.deepStrictEqual(
      Analysis.make({ ...data, tasks: data.tasks.toReversed() }).participants[0]?.scoreInterval,
      Analysis.make(data).participants[0]?.scoreInterval
    )
  })
})

describe("score parts", () => {
  const finite = (max: number) => FastCheck.double({ min: 0, max, noNaN: true })
  const metric = FastCheck.record({
    weights: FastCheck.tuple(finite(1), finite(1), finite(1)),
    ceiling: FastCheck.double({ min: 1, max: 1000, noNaN: true }),
    higherIsBetter: FastCheck.boolean(),
    trim: FastCheck.constantFrom(undefined, 0, 0.05, 0.25),
    values: FastCheck.array(FastCheck.double({ min: -100, max: 2000, noNaN: true }), { minLength: 0, maxLength: 40 })
  })

  it.prop(
    "add up to the composite score",
    [FastCheck.array(metric, { minLength: 1, maxLength: 3 }), FastCheck.nat(5)],
    ([metrics, failures]) => {
      const total = metrics.reduce((sum, { weights }) => sum + weights[0] + weights[1] + weights[2], 0)
      FastCheck.pre(total > 0.001)
      const config: ScoringConfig = {
        metrics: metrics.map(({ ceiling, higherIsBetter, trim, weights: [median, p95, p99] }, i) => ({
          key: `m${i}`,
          ceiling,
          higherIsBetter,
          trim,
          weights: { median: median / total, p95: p95 / total, p99: p99 / total }
        }))
      }
      const most = Math.max(...metrics.map(({ values }) => values.length))
      const tasks = Array.from({ length: most }, (_, i): GivenTask => ({
        data: Object.fromEntries(
          metrics.flatMap(({ values }, at) => (i < values.length ? [[`m${at}`, values[i]]] : []))
        )
      }))
      const data = runData({ a: [...tasks, ...upTo(failures).map(() => failed("E"))] }, { scoring: config })
      const rows = Either.getOrThrow(
        Scoring.score(
          { participants: [{ participant: "a", records: data.tasks.map((task) => ({ ...task })) }] },
          Scoring.scoringConfigToSpec(config)
        )
      )
      const analysis = Analysis.make({ ...data, summary: { run: {}, results: rows } })
      const [participant] = analysis.participants
      FastCheck.pre(participant?.skipped === false)
      const points = participant?.scoreParts.reduce((sum, part) => sum + part.points, 0) ?? Number.NaN
      assert.strictEqual(participant?.scoreParts.length, 3 * metrics.length)
      assert.approximately(points, rows[0]?.compositeScore ?? Number.NaN, 0.0051)
      for (const part of participant?.scoreParts ?? []) {
        assert.isTrue(part.statScore >= 0 && part.statScore <= 100)
        assert.approximately(part.points, part.weight * part.statScore * (rows[0]?.successRate ?? 0), 1e-9)
      }
    }
  )
})
