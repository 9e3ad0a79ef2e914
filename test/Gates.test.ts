import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, Schema } from "effect"
import * as Benchmark from "../src/Benchmark.js"
import * as Config from "../src/Config.js"
import * as Gates from "../src/Gates.js"
import { Keeper } from "../src/internal/gates/keeper.js"
import { Platform } from "../src/Platform.js"
import type { TaskRecord } from "../src/Record.js"
import * as Statistics from "../src/Statistics.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { onlyRun, recorded, stored, unrecorded } from "./support/runs.js"

const record = (taskIndex: number, fields: Partial<TaskRecord> = {}): TaskRecord => ({
  taskIndex,
  status: "success",
  latencyMs: taskIndex + 1,
  ...fields
})

/** Of latencies 1, 2, … n. */
const count = (n: number): ReadonlyArray<TaskRecord> => Array.from({ length: n }, (_, index) => record(index))

const verdictOf = (threshold: Gates.Threshold, records: ReadonlyArray<TaskRecord>) => {
  const [verdict] = Gates.evaluate([threshold], [{ participant: "alpha", records }])
  assert.isDefined(verdict)
  return verdict
}

const read = (input: string) => Either.getOrElse(Gates.parse(input), ({ detail }) => detail)

describe("parse", () => {
  const thresholds: ReadonlyArray<readonly [string, Gates.Threshold]> = [
    ["ttiMs.p95 <= 250", { metric: "ttiMs", stat: "p95", max: 250 }],
    ["ttiMs.p99.9>=.5", { metric: "ttiMs", stat: "p99.9", min: 0.5 }],
    ["task.median <= 12.5", { metric: "task", stat: "median", max: 12.5 }],
    ["a.b.max <= 1", { metric: "a.b", stat: "max", max: 1 }],
    ["step:create.p95 <= 300", { step: "create", stat: "p95", max: 300 }],
    ["step:create:bytes.mean >= 3", { step: "create", metric: "bytes", stat: "mean", min: 3 }],
    ["successRate >= 99%", { stat: "successRate", min: 0.99 }],
    ["compositeScore >= 80", { stat: "compositeScore", min: 80 }],
    [
      'x.min >= 1 phase=cold participant="two words" abortEarly',
      { metric: "x", stat: "min", min: 1, participant: "two words", phase: "cold", abortEarly: true }
    ]
  ]

  for (const [text, threshold] of thresholds) {
    it(`reads ${text}`, () => {
      assert.deepStrictEqual(Gates.parse(text), Either.right(threshold))
      assert.deepStrictEqual(Gates.parse(Gates.format(threshold)), Either.right(threshold))
    })
  }

  it("says what cannot be read", () => {
    assert.deepStrictEqual(
      [
        "",
        "ttiMs.p95",
        "ttiMs.p95 <= ",
        "ttiMs.p95 <= fast",
        "ttiMs.p95 < 5",
        "ttiMs.p95 <= +10%",
        "ttiMs <= 5",
        "ttiMs.p96 <= 5",
        ".p95 <= 5",
        "step:.p95 <= 5",
        "step:x:.p95 <= 5",
        "x.p95 <= 5 participant",
        "compositeScore >= 5 abortEarly"
      ].map(read),
      [
        "it needs an operator: <= or >=",
        "it needs an operator: <= or >=",
        'a number is missing after "<="',
        '"fast" does not start with a number',
        'write "<=": a bound belongs to what is good enough',
        "a change in per cent needs a run to compare with: write the bound itself",
        '"ttiMs" is not a metric and a statistic',
        `"p96" is no statistic: ${Gates.stats.join(", ")}`,
        '".p95" is not a metric and a statistic',
        '"step:" lacks the name of the step',
        '"step:x:" lacks the key',
        '"participant" is not participant=NAME, phase=NAME or abortEarly',
        "abortEarly is for what tasks alone decide, which a composite score is not"
      ]
    )
  })

  it("names the input and an example", () =>
    assert.match(
      Gates.parse("x").pipe(Either.flip, Either.getOrThrow).message,
      /the threshold "x": .* "ttiMs.p95 <= 250"/
    ))
})

describe("evaluate", () => {
  const measured: ReadonlyArray<readonly [Gates.Stat, number]> = [
    ["min", 1],
    ["median", 50.5],
    ["p90", 90],
    ["p95", 95],
    ["p99", 99],
    ["p99.9", 100],
    ["max", 100],
    ["mean", 50.5],
    ["count", 100],
    ["successRate", 1]
  ]

  for (const [stat, value] of measured) {
    it(`measures ${stat}, whose bounds are good enough`, () => {
      const bounded = (bounds: Partial<Gates.Threshold>) => verdictOf({ stat, ...bounds }, count(100))
      assert.deepStrictEqual([bounded({ max: value }).measured, bounded({ max: value }).passed], [value, true])
      assert.isTrue(bounded({ min: value }).passed)
      assert.isFalse(bounded({ max: value - 0.001 }).passed)
      assert.isFalse(bounded({ min: value + 0.001 }).passed)
    })
  }

  it("reads the score from the rows", () => {
    const row = { provider: "alpha", dimensions: {}, metrics: [], compositeScore: 81.5, successRate: 1, skipped: false }
    const evaluate = (rows: Parameters<typeof Gates.evaluate>[2]) =>
      Gates.evaluate([{ stat: "compositeScore", min: 80 }], [{ participant: "alpha", records: count(3) }], rows)
    assert.deepStrictEqual(
      [evaluate([row]), evaluate([{ ...row, skipped: true }]), evaluate(undefined)].map(([verdict]) => [
        verdict?.measured,
        verdict?.passed
      ]),
      [
        [81.5, true],
        [undefined, false],
        [undefined, false]
      ]
    )
  })

  it("counts only what passed, of the step and phase that are asked for", () => {
    const records = [
      record(0, {
        data: { phase: "cold", x: 5 },
        steps: [
          { name: "get", status: "success", latencyMs: 7, data: { x: 70 } },
          { name: "get", status: "error", latencyMs: 8 },
          { name: "put", status: "success", latencyMs: 9 }
        ]
      }),
      record(1, { data: { phase: "warm", x: [1, 2, Number.NaN, "3"] } }),
      record(2, { data: { phase: "warm", x: 1000 }, status: "error" })
    ]
    const max = (threshold: Partial<Gates.Threshold>) =>
      verdictOf({ stat: "max", max: 0, ...threshold }, records).measured
    assert.deepStrictEqual(
      [
        max({ metric: "x" }),
        max({ metric: "x", phase: "warm" }),
        max({ step: "get" }),
        max({ step: "get", metric: "x" }),
        max({ metric: "task" }),
        max({ metric: "__proto__" }),
        verdictOf({ stat: "successRate", min: 1, phase: "warm" }, records).measured
      ],
      [5, 2, 7, 70, 2, undefined, 0.5]
    )
  })

  it("is violated without samples, and by a participant that is not there", () => {
    assert.deepStrictEqual(
      [
        verdictOf({ stat: "p95", max: 1 }, []),
        verdictOf({ stat: "successRate", min: 0 }, []),
        verdictOf({ stat: "count", min: 0 }, []),
        verdictOf({ stat: "p95", max: 1, participant: "beta" }, count(3))
      ].map(({ passed, text }) => [passed, text]),
      [
        [false, "task p95 of alpha: nothing was measured, so it is violated (<= 1)"],
        [false, "successRate of alpha: nothing was measured, so it is violated (>= 0)"],
        [false, "task count of alpha: nothing was measured, so it is violated (>= 0)"],
        [false, "task p95 of beta: nothing was measured, so it is violated (<= 1)"]
      ]
    )
  })

  it("says what was measured on which side of which bound", () => {
    const both = { stat: "median", min: 1, max: 2 } as const
    assert.deepStrictEqual(
      [
        verdictOf(both, [record(0)]),
        verdictOf(both, [record(0, { latencyMs: 2.0000001 })]),
        verdictOf({ ...both, metric: "x", step: "get", phase: "cold" }, count(2)),
        verdictOf(both, [record(0, { latencyMs: 1e-9 })]),
        verdictOf({ stat: "max", max: -1 }, [record(0, { latencyMs: -0 })])
      ].map(({ text }) => text),
      [
        "task median of alpha: 1 >= 1 and <= 2 (1 sample)",
        "task median of alpha: 2.0000001 > 2 (1 sample)",
        'x of step "get" median in phase "cold" of alpha: nothing was measured, so it is violated (>= 1 and <= 2)',
        "task median of alpha: 1e-9 < 1 (1 sample)",
        "task max of alpha: 0 > -1 (1 sample)"
      ]
    )
  })
})

describe("abortEarly", () => {
  const after = (threshold: Gates.Threshold, planned: number, latencies: ReadonlyArray<number>, errors = 0) => {
    const keeper = new Keeper([{ ...threshold, abortEarly: true }], ["alpha"], undefined, () => planned)
    latencies.forEach((latencyMs, index) => keeper.add("alpha", record(index, { latencyMs })))
    for (let i = 0; i < errors; i++) keeper.add("alpha", record(latencies.length + i, { status: "error" }))
    return keeper.stoppedBy !== undefined
  }

  it("stops when so many have failed that the rest cannot make it up", () => {
    const rate = { stat: "successRate", min: 0.9 } as const
    assert.deepStrictEqual([after(rate, 100, [], 10), after(rate, 100, [], 11)], [false, true])
  })

  it("stops when more samples are beyond the bound than the percentile leaves", () => {
    const p95 = { stat: "p95", max: 1 } as const
    const slow = (n: number) => Array.from({ length: n }, () => 2)
    assert.deepStrictEqual([after(p95, 100, slow(5)), after(p95, 100, slow(6))], [false, true])
    const median = { stat: "median", max: 1 } as const
    assert.deepStrictEqual([after(median, 10, slow(5)), after(median, 10, slow(6))], [false, true])
  })

  it("stops at the first sample beyond an extreme, and when the sum is too large for the mean", () => {
    assert.deepStrictEqual(
      [
        after({ stat: "max", max: 1 }, 10, [1, 1]),
        after({ stat: "max", max: 1 }, 10, [1, 1.1]),
        after({ stat: "min", min: 1 }, 10, [0.9]),
        after({ stat: "mean", max: 1 }, 10, [10]),
        after({ stat: "mean", max: 1 }, 10, [10.1]),
        after({ stat: "count", min: 10 }, 10, [1], 1),
        after({ stat: "count", min: 10 }, 10, [1])
      ],
      [false, true, true, false, true, true, false]
    )
  })

  it("stops nothing where the number of tasks is not known", () => {
    const keeper = new Keeper([{ stat: "max", max: 0, abortEarly: true }], ["alpha"])
    keeper.add("alpha", record(0))
    assert.isUndefined(keeper.stoppedBy)
  })

  it("never stops a run whose remaining tasks could have kept the bound", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.double({ min: 0, max: 10, noNaN: true }), { minLength: 1, maxLength: 60 }),
        FastCheck.nat(60),
        FastCheck.double({ min: 0, max: 10, noNaN: true }),
        FastCheck.constantFrom(...(["min", "median", "p90", "p95", "p99", "max", "mean"] as const)),
        FastCheck.boolean(),
        (latencies, remaining, bound, stat, isMax) => {
          const threshold = { stat, ...(isMax ? { max: bound } : { min: bound }) } as const
          if (!after(threshold, latencies.length + remaining, latencies)) return
          const best = Array.from({ length: remaining }, () => (isMax ? 0 : 10))
          const all = [...latencies, ...best].map((latencyMs, index) => record(index, { latencyMs }))
          assert.isFalse(verdictOf(threshold, all).passed)
        }
      )
    ))

  it.effect("launches no further task, keeps what was measured, and fails the worker with the reason", () =>
    Effect.gen(function* () {
      let launched = 0
      const outcome = yield* Benchmark.run(
        Benchmark.make({
          benchmarkSlug: "bench",
          benchmarkName: "Bench",
          participants: [{ name: "alpha" }, { name: "beta" }],
          iterations: 50,
          thresholds: [{ stat: "successRate", min: 0.9, abortEarly: true }],
          task: Effect.suspend(() => (launched++ < 3 ? Effect.void : Effect.fail(new Task.TaskError("down"))))
        })
      )
      assert.strictEqual(launched, 9)
      assert.deepStrictEqual(
        outcome.verdicts.map(({ measured, participant, passed, samples, stoppedEarly }) => [
          participant,
          passed,
          measured,
          samples,
          stoppedEarly
        ]),
        [
          ["alpha", false, 1 / 3, 9, true],
          ["beta", false, undefined, 0, false]
        ]
      )
      assert.deepStrictEqual(outcome.warnings, [
        "stopping the run: successRate of alpha: 0.333333 < 0.9 (9 tasks; the run was stopped because of it)"
      ])
      const platform = yield* Platform
      assert.strictEqual((yield* platform.getRun(yield* onlyRun)).status, "failed")
      assert.strictEqual((yield* stored).length, 9)
    }).pipe(Effect.provide(recorded))
  )
})

describe("a run", () => {
  const base = {
    benchmarkSlug: "bench",
    benchmarkName: "Bench",
    participants: [{ name: "alpha" }, { name: "beta", requiredEnvVars: ["NOBODY_HAS_THIS"] }],
    iterations: 4,
    task: Step.run("get", Task.measure({ x: 3 }))
  }

  it.effect("gives verdicts of the config's thresholds and those asked for", () =>
    Effect.gen(function* () {
      const thresholds = [
        { metric: "x", step: "get", stat: "max", max: 3 },
        { stat: "successRate", min: 1, participant: "beta" }
      ] as const
      const outcome = yield* Benchmark.run(Benchmark.make({ ...base, thresholds }), {
        thresholds: [{ stat: "count", min: 5 }]
      })
      assert.deepStrictEqual(
        outcome.verdicts.map(({ measured, participant, passed }) => [participant, measured, passed]),
        [
          ["alpha", 3, true],
          ["beta", undefined, false],
          ["alpha", 4, false]
        ]
      )
    }).pipe(Effect.provide(unrecorded))
  )

  it.effect("has no verdict about a participant that was not asked for", () =>
    Effect.gen(function* () {
      const benchmark = Benchmark.make({
        ...base,
        participants: [{ name: "alpha" }, { name: "beta" }],
        thresholds: [{ stat: "successRate", min: 1, participant: "beta" }]
      })
      assert.deepStrictEqual((yield* Benchmark.run(benchmark, { providers: ["alpha"] })).verdicts, [])
    }).pipe(Effect.provide(unrecorded))
  )

  it.effect("is stored with its thresholds", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const threshold = { stat: "count", min: 4 } as const
      yield* Benchmark.run(Benchmark.make({ ...base, thresholds: [threshold] }))
      assert.deepStrictEqual(Gates.fromRunConfig((yield* platform.getRun(yield* onlyRun)).config), [threshold])
      assert.deepStrictEqual(Gates.fromRunConfig({ thresholds: [{ stat: "nope" }] }), [])
      assert.deepStrictEqual(Gates.fromRunConfig(null), [])
    }).pipe(Effect.provide(recorded))
  )

  it.effect("refuses thresholds that name nobody", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Benchmark.run(Benchmark.make(base), { thresholds: [{ stat: "count", min: 1, participant: "gamma" }] })
      )
      assert.strictEqual(error.message, "threshold [0].participant: unknown participant: gamma. Available: alpha, beta")
    }).pipe(Effect.provide(unrecorded))
  )
})

describe("the config", () => {
  it("says everything that is wrong with thresholds", () => {
    const decoded = Config.decodeEither({
      benchmarkSlug: "bench",
      benchmarkName: "Bench",
      participants: [{ name: "alpha" }],
      thresholds: [
        3,
        { stat: "p42" },
        { metric: "", stat: "p95", max: Number.NaN, extra: 1 },
        { metric: "x", stat: "successRate", min: 2, max: 1 },
        { stat: "compositeScore", min: 1, phase: "cold", abortEarly: true },
        { metric: "task", step: "get", stat: "max", max: 1, participant: "beta" }
      ]
    })
    assert.deepStrictEqual(
      decoded.pipe(Either.flip, Either.getOrThrow).issues.map(({ field, message }) => `${field} ${message}`),
      [
        "thresholds[0] must be an object",
        `thresholds[1].stat must be one of ${Gates.stats.join(", ")} (got p42)`,
        "thresholds[1] needs max or min",
        "thresholds[2] contains unexpected key: 'extra'",
        "thresholds[2].metric must be a non-empty string",
        "thresholds[2].max must be a finite number (got NaN)",
        "thresholds[3].min must be at most max (got 2, max 1)",
        "thresholds[3].metric must be absent with stat 'successRate', which is of the participant",
        "thresholds[4].phase unknown phase: cold. there are none",
        "thresholds[4].abortEarly must be absent with stat 'compositeScore', which tasks alone do not decide",
        "thresholds[5].participant unknown participant: beta. Available: alpha",
        "thresholds[5].metric must not be 'task' where a step is given"
      ]
    )
  })
})

it("measures percentiles as Statistics does", () =>
  FastCheck.assert(
    FastCheck.property(
      FastCheck.array(FastCheck.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
      FastCheck.constantFrom(...(["p90", "p95", "p99", "p99.9"] as const)),
      (values, stat) => {
        const records = values.map((x, index) => record(index, { data: { x } }))
        const expected = Statistics.percentileNearestRank(Float64Array.from(values).sort(), Number(stat.slice(1)))
        assert.strictEqual(verdictOf({ metric: "x", stat, max: 0 }, records).measured, expected)
      }
    )
  ))

it("is JSON that reads back", () => {
  const json = Schema.decodeUnknownSync(Schema.parseJson(Schema.Unknown))
  const verdicts = Gates.evaluate([{ stat: "max", max: 1 }], [{ participant: "alpha", records: count(2) }])
  assert.deepStrictEqual(json(JSON.stringify(verdicts)), verdicts)
})
