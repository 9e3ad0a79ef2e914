import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Benchmark from "../src/Benchmark.js"
import type { SummaryRow } from "../src/Platform.js"
import { Platform } from "../src/Platform.js"
import * as Scoring from "../src/Scoring.js"
import * as Task from "../src/Task.js"
import { onlyRun, recorded, stored, unrecorded } from "./support/runs.js"

const base = {
  benchmarkSlug: "bench",
  benchmarkName: "Bench",
  participants: [{ name: "alpha" }, { name: "beta" }],
  iterations: 2,
  task: Task.measure({ x: 1 })
}

const row = (provider: string, compositeScore: number): SummaryRow => ({
  provider,
  dimensions: {},
  metrics: [],
  compositeScore,
  successRate: 1,
  skipped: false
})

/** One row a participant, scored by how many records it has. */
const byCount = ({ participants }: Benchmark.Outcome): ReadonlyArray<SummaryRow> =>
  participants.map(({ participant, records }) => row(participant, records.length))

const counted = [row("alpha", 2), row("beta", 2)]

class Unreadable {
  get provider(): string {
    throw new Error("private")
  }
}

const failureOf = (options: Partial<Benchmark.MakeOptions<never, never>>) =>
  Effect.map(Effect.flip(Benchmark.run(Benchmark.make({ ...base, ...options }))), (error) => [
    error._tag,
    error.message
  ])

describe("onScore", () => {
  it.effect("can give what `Scoring.score` gives", () =>
    Effect.gen(function* () {
      const metric = { name: "x", ceiling: 4, weights: { median: 1, p95: 0, p99: 0 } }
      const onScore = (outcome: Benchmark.Outcome) => Scoring.score(outcome, { metrics: [metric] })
      const { rows } = yield* Benchmark.run(Benchmark.make({ ...base, onScore }))
      assert.deepStrictEqual(
        rows?.map(({ compositeScore }) => compositeScore),
        [75, 75]
      )
      const unweighted = { ...metric, weights: { median: 0.5, p95: 0, p99: 0 } }
      assert.match(
        (yield* failureOf({ onScore: (outcome) => Scoring.score(outcome, { metrics: [unweighted] }) })).join(": "),
        /^HookError: onScore failed: Scoring spec weights sum to 0.500/
      )
    }).pipe(Effect.provide(unrecorded))
  )

  const kinds = {
    "a value": byCount,
    "a promise": (outcome: Benchmark.Outcome) => Promise.resolve(byCount(outcome)),
    "an effect": (outcome: Benchmark.Outcome) => Effect.sync(() => byCount(outcome))
  }

  for (const [kind, onScore] of Object.entries(kinds)) {
    it.effect(`gives ${kind} whose rows are stored`, () =>
      Effect.gen(function* () {
        const platform = yield* Platform
        const { rows } = yield* Benchmark.run(Benchmark.make({ ...base, onScore }))
        assert.deepStrictEqual(rows, counted)
        assert.deepStrictEqual((yield* platform.getSummary(yield* onlyRun)).results, counted)
      }).pipe(Effect.provide(recorded))
    )
  }

  it.effect("replaces the rows of `scoring`, which it sees", () =>
    Effect.gen(function* () {
      const benchmark = Benchmark.make({
        ...base,
        scoring: { metrics: [{ key: "x", ceiling: 2, weights: { median: 1, p95: 0, p99: 0 } }] },
        onScore: ({ rows = [] }) => rows.map((scored) => ({ ...scored, compositeScore: scored.compositeScore / 2 }))
      })
      const { rows } = yield* Benchmark.run(benchmark)
      assert.deepStrictEqual(
        rows?.map(({ compositeScore, provider }) => [provider, compositeScore]),
        [
          ["alpha", 25],
          ["beta", 25]
        ]
      )
    }).pipe(Effect.provide(unrecorded))
  )

  const expected = "onScore failed: it must return the scored rows, as `Scoring.score` does"
  const nonsense: ReadonlyArray<readonly [what: string, result: unknown, message: string]> = [
    ["nothing", undefined, expected],
    ["text", "rows", expected],
    ["rows without a score", [{ provider: "alpha" }], expected],
    ["one row", row("alpha", 1), expected],
    ["NaN", [row("alpha", Number.NaN)], `${expected} (got "[0].compositeScore" is NaN, which JSON cannot hold)`],
    [
      "an infinite rate",
      [{ ...row("alpha", 1), successRate: Infinity }],
      `${expected} (got "[0].successRate" is Infinity, which JSON cannot hold)`
    ],
    [
      "a dimension JSON cannot hold",
      [{ ...row("alpha", 1), dimensions: { size: 1n } }],
      `${expected} (got "[0].dimensions.size" is a bigint, which JSON cannot hold)`
    ],
    [
      "an object that cannot be read",
      [
        {
          ...row("alpha", 1),
          dimensions: Object.defineProperty({}, "x", { enumerable: true, get: () => new Unreadable().provider })
        }
      ],
      `${expected} (got the value is an object that cannot be read (private), which JSON cannot hold)`
    ]
  ]

  for (const [what, result, message] of nonsense) {
    it.effect(`that gives ${what} fails the run and stores no summary`, () =>
      Effect.gen(function* () {
        const platform = yield* Platform
        const parts = Benchmark.fromParts({ ...base, onScore: () => result }, base.task)
        const error = yield* Effect.flip(Benchmark.run(parts))
        assert.deepStrictEqual([error._tag, error.message], ["HookError", message])
        assert.lengthOf(yield* stored, 4)
        assert.strictEqual((yield* Effect.flip(platform.getSummary(yield* onlyRun)))._tag, "ResourceNotFound")
      }).pipe(Effect.provide(recorded))
    )
  }

  it.effect("that fails in any way fails the run with what it said", () =>
    Effect.gen(function* () {
      const ways: ReadonlyArray<() => Benchmark.HookResult<ReadonlyArray<SummaryRow>>> = [
        () => {
          throw new Error("no")
        },
        () => Promise.reject(new Error("no")),
        () => Effect.fail(new Error("no")),
        () => Effect.die(new Error("no")),
        () => Effect.fail("no")
      ]
      for (const onScore of ways) {
        assert.deepStrictEqual(yield* failureOf({ onScore }), ["HookError", "onScore failed: no"])
      }
    }).pipe(Effect.provide(unrecorded))
  )
})

describe("onComplete", () => {
  it.effect("sees the records and rows of a run that is reported already", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const seen: Array<unknown> = []
      const benchmark = Benchmark.make({
        ...base,
        onScore: byCount,
        onComplete: (outcome) =>
          Effect.gen(function* () {
            const ref = { benchmark: "bench", run: outcome.runId ?? "" }
            const { overall, run } = yield* platform.runResults(ref)
            const summary = yield* platform.getSummary(ref)
            seen.push(run.status, overall.taskCount, summary.results, outcome.rows)
            seen.push(outcome.participants.map(({ records }) => records.map(({ data }) => data)))
          })
      })
      const outcome = yield* Benchmark.run(benchmark)
      assert.deepStrictEqual(seen, [
        "completed",
        4,
        counted,
        counted,
        [
          [{ x: 1 }, { x: 1 }],
          [{ x: 1 }, { x: 1 }]
        ]
      ])
      assert.lengthOf(outcome.participants[0]?.records ?? [], 2)
    }).pipe(Effect.provide(recorded))
  )

  it.effect("gets the records whatever the caller wants kept", () =>
    Effect.gen(function* () {
      let records = 0
      const benchmark = Benchmark.make({
        ...base,
        onComplete: ({ participants }) => {
          records = participants.reduce((sum, participant) => sum + participant.records.length, 0)
        }
      })
      yield* Benchmark.run(benchmark, { keepRecords: false })
      assert.strictEqual(records, 4)
    }).pipe(Effect.provide(unrecorded))
  )

  it.effect("is awaited", () =>
    Effect.gen(function* () {
      let ended = false
      const onComplete = async () => {
        await new Promise((resolve) => setImmediate(resolve))
        ended = true
      }
      yield* Benchmark.run(Benchmark.make({ ...base, onComplete }))
      assert.isTrue(ended)
    }).pipe(Effect.provide(unrecorded))
  )

  it.effect("that fails fails the run, whose results and summary are stored", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const ways: ReadonlyArray<() => Benchmark.HookResult<unknown>> = [
        () => Promise.reject(new Error("no")),
        () => Effect.die("no"),
        () => Promise.reject("no")
      ]
      for (const onComplete of ways) {
        assert.deepStrictEqual(yield* failureOf({ onScore: byCount, onComplete }), [
          "HookError",
          "onComplete failed: no"
        ])
      }
      const runs = yield* platform.listAllRuns({})
      assert.deepStrictEqual(
        runs.map(({ status }) => status),
        ["completed", "completed", "completed"]
      )
      for (const run of runs) {
        const { results } = yield* platform.getSummary({ benchmark: "bench", run: run.id })
        assert.deepStrictEqual(results, counted)
      }
    }).pipe(Effect.provide(recorded))
  )
})
