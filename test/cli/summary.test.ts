import { assert, describe, expect, it } from "@effect/vitest"
import { Either } from "effect"
import type { ParticipantView, ResultView } from "../../src/cli/summary.js"
import { render } from "../../src/cli/summary.js"
import { number, percent, truncate } from "../../src/cli/text.js"
import type { ScoringConfig } from "../../src/Config.js"
import type { TaskRecord } from "../../src/Record.js"
import * as Scoring from "../../src/Scoring.js"
import { mean, percentileNearestRank } from "../../src/Statistics.js"

const latencies = (values: ReadonlyArray<number>): ParticipantView["latencyMs"] => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (p: number) => percentileNearestRank(sorted, p) ?? null
  return {
    min: sorted[0] ?? null,
    avg: mean(sorted) ?? null,
    p50: at(50),
    p95: at(95),
    p99: at(99),
    max: sorted.at(-1) ?? null
  }
}

const participant = (name: string, values: ReadonlyArray<number>, failed = 0): ParticipantView => ({
  name,
  count: values.length,
  successCount: values.length - failed,
  latencyMs: latencies(values),
  errors: []
})

const upTo = (n: number, scale = 1): ReadonlyArray<number> => Array.from({ length: n }, (_, i) => (i + 1) * scale)

const view = (participants: ReadonlyArray<ParticipantView>, fields: Partial<ResultView> = {}): ResultView => ({
  title: "Round trips (round-trips)",
  participants,
  rows: undefined,
  scoring: undefined,
  display: undefined,
  notes: [],
  ...fields
})

const scoring: ScoringConfig = {
  metrics: [
    { key: "waitMs", unit: "ms", ceiling: 250, weights: { median: 0.5, p95: 0.2, p99: 0.1 } },
    {
      key: "rowsPerSecond",
      ceiling: 1000,
      floor: 100,
      higherIsBetter: true,
      trim: 0,
      weights: { median: 0.2, p95: 0, p99: 0 }
    }
  ]
}

/** The view of a run whose records hold these data. */
const scored = (
  config: ScoringConfig,
  data: Readonly<Record<string, ReadonlyArray<Readonly<Record<string, unknown>>>>>,
  fields: Partial<ResultView> = {}
): ResultView => {
  const records = Object.entries(data).map(([name, all]) => ({
    participant: name,
    records: all.map((one, taskIndex): TaskRecord => ({
      taskIndex,
      status: one["fails"] === true ? "error" : "success",
      data: one
    }))
  }))
  const failures = (name: string) => data[name]?.filter((one) => one["fails"] === true).length
  return view(
    records.map(({ participant: name, records }) => participant(name, upTo(records.length), failures(name))),
    {
      scoring: config,
      rows: Either.getOrThrow(Scoring.score({ participants: records }, Scoring.scoringConfigToSpec(config))),
      ...fields
    }
  )
}

const views: { readonly [name: string]: ResultView } = {
  unscored: view([
    participant("slow", upTo(100, 2.5)),
    participant("fast", upTo(100, 0.0125)),
    participant("middle", upTo(100))
  ]),
  scored: scored(scoring, {
    steady: upTo(100).map((n) => ({ waitMs: 20 + n / 10, rowsPerSecond: 500 + n })),
    moody: upTo(100).map((n) => ({ waitMs: n * 2, rowsPerSecond: 900 }))
  }),
  "one-participant": view([participant("alone", upTo(30))]),
  "no-tasks": view([participant("skipped", []), participant("idle", [])], { rows: [], scoring }),
  "no-participants": view([]),
  "single-sample": view([participant("once", [12.3456])]),
  "single-scored-sample": scored(scoring, { once: [{ waitMs: 0.00012345, rowsPerSecond: 1e9 }] }),
  failures: view(
    [
      {
        ...participant("flaky", upTo(40), 11),
        errors: [
          { code: "step_timeout", count: 8, message: 'Step "create" timed out after 500ms for participant "flaky"' },
          { code: "ECONNRESET", count: 2, message: "read ECONNRESET\n    at TCP.onStreamRead" },
          { code: "ERROR", count: 1, message: undefined }
        ]
      },
      { ...participant("dead", upTo(40), 40), errors: [{ code: "NO", count: 40, message: "x".repeat(300) }] },
      participant("almost", upTo(2000), 1)
    ],
    { notes: ["Skipping redis: missing REDIS_URL"] }
  ),
  "failures-scored": scored(scoring, {
    half: [
      { waitMs: 10, rowsPerSecond: 400 },
      { waitMs: 20, fails: true }
    ],
    none: [{ fails: true }, { fails: true }]
  }),
  groups: scored(
    { ...scoring, groupBy: "size" },
    {
      alpha: upTo(20).map((n) => ({ waitMs: n, rowsPerSecond: 500, size: n % 2 === 0 ? "small" : "large" })),
      beta: upTo(20).map((n) => ({ waitMs: 2 * n, rowsPerSecond: 700, size: n % 3 === 0 ? null : 4 }))
    }
  ),
  display: scored(
    scoring,
    { alpha: upTo(100).map((n) => ({ waitMs: n / 3, rowsPerSecond: 800 + n / 7 })) },
    {
      display: {
        metrics: [
          { key: "waitMs", label: "Wait", unit: "ms", decimals: 1 },
          { key: "rowsPerSecond", label: "Rows a second", decimals: 0 }
        ],
        overview: { defaultMetric: "rowsPerSecond" }
      }
    }
  ),
  "wide-characters": view([
    participant("数据库", upTo(20)),
    participant("🚀 rocket", upTo(20, 2)),
    participant("한국어 서버", upTo(20, 3)),
    participant("naïve e\u0301", upTo(20, 4)),
    participant("👩‍👩‍👧‍👦 family", upTo(20, 5)),
    participant("plain", upTo(20, 6))
  ]),
  "control-characters": view(
    [
      {
        ...participant("red \u001b[31mALERT\u001b[0m\r\nfast: 100 %", upTo(20)),
        errors: [{ code: "E\u0007\u009b2J", count: 1, message: "gone\u001b]0;title\u0007\nsecond \u202eline" }]
      },
      participant("tab\there\u2028there", upTo(20))
    ],
    { title: "Evil\u001b[2J (evil)", notes: ["note\nof two lines"] }
  ),
  "long-names": view([
    participant("a".repeat(90), upTo(20)),
    participant("b c ".repeat(30).trim(), upTo(20)),
    participant("short", upTo(20))
  ])
}

/** Columns that a text takes in a terminal. */
const widthOf = (text: string): number =>
  Array.from(new Intl.Segmenter().segment(text), ({ segment }) =>
    /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3]/u.test(segment) ? 2 : 1
  ).reduce((sum, width) => sum + width, 0)

describe("render", () => {
  for (const [name, of] of Object.entries(views)) {
    it(`shows ${name.replaceAll("-", " ")}`, async () => {
      const text = render(of)
      assert.notMatch(text, /NaN|Infinity|undefined|null %/)
      assert.notMatch(text, /[^\P{Cc}\n]|[\u2028\u202e]|[ \n]$|[ ]\n/u)
      await expect(`${text}\n`).toMatchFileSnapshot(`../snapshots/summary/${name}.txt`)
    })
  }

  for (const name of ["wide-characters", "control-characters", "long-names", "unscored"]) {
    it(`aligns the columns of ${name.replaceAll("-", " ")}`, () => {
      const [, table = ""] = render(views[name] ?? view([])).split("\n\n")
      const widths = table.split("\n").map(widthOf)
      assert.isAbove(widths.length, 2)
      assert.deepStrictEqual(new Set(widths).size, 1)
    })
  }

  it("never shows a number that is none", () => {
    const row = {
      provider: "odd",
      dimensions: {},
      compositeScore: Number.NaN,
      successRate: Number.NaN,
      skipped: false,
      metrics: [
        {
          name: "x",
          unit: "",
          median: Number.NaN,
          p95: Infinity,
          p99: -Infinity,
          raw: { count: 0, min: Number.NaN, median: Number.NaN, p95: Number.NaN, p99: Number.NaN, max: Infinity }
        }
      ]
    }
    const text = render(view([participant("odd", [1])], { rows: [row, row], scoring: { ...scoring, groupBy: "size" } }))
    assert.notMatch(text, /NaN|Infinity|undefined/)
    assert.include(text, "odd")
  })
})

describe("number", () => {
  it("keeps three significant digits, and every digit of an integer part", () => {
    const shown = [0, 1e-9, 0.00012345, 0.0456, 0.1, 0.12345, 1.23456, 12.3456, 123.456, 1234.56, 123456789, 42, -1.5]
    assert.deepStrictEqual(
      shown.map((n) => number(n)),
      [
        "0",
        "1e-9",
        "0.000123",
        "0.0456",
        "0.100",
        "0.123",
        "1.235",
        "12.35",
        "123.5",
        "1235",
        "123456789",
        "42",
        "-1.500"
      ]
    )
  })
})

describe("percent", () => {
  it("rounds to a tenth, but neither to nothing nor to all", () => {
    const shown = [0, 0.0004, 0.001, 0.07, 0.29, 1 / 3, 0.9985, 0.99951, 0.99999, 1]
    assert.deepStrictEqual(shown.map(percent), [
      "0 %",
      "< 0.1 %",
      "0.1 %",
      "7 %",
      "29 %",
      "33.3 %",
      "99.9 %",
      "> 99.9 %",
      "> 99.9 %",
      "100 %"
    ])
  })
})

describe("truncate", () => {
  it("cuts no character in half", () => {
    assert.strictEqual(truncate("abc", 3), "abc")
    assert.strictEqual(truncate("abcd", 3), "ab…")
    assert.strictEqual(truncate("a🚀🚀", 3), "a…")
  })
})
