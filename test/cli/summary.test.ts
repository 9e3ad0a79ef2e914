import { Terminal } from "@effect/platform"
import { assert, describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import * as Analysis from "../../src/Analysis.js"
import { Stdout } from "../../src/cli/outputFile.js"
import type { Style } from "../../src/cli/style.js"
import { coloured, plain, plainAscii, style } from "../../src/cli/style.js"
import { render } from "../../src/cli/summary.js"
import { fit, number, oneLine, percent, table, truncate, widthOf, wrap } from "../../src/cli/text.js"
import type { ScoringConfig } from "../../src/Config.js"
import type { GivenTask } from "../support/analysis.js"
import { failed, runData, upTo } from "../support/analysis.js"

const scaled = (n: number, scale = 1): ReadonlyArray<number> => upTo(n).map((i) => i * scale)

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

const measured = (n: number, data: (i: number) => Readonly<Record<string, unknown>>): ReadonlyArray<GivenTask> =>
  upTo(n).map((i) => ({ latencyMs: i, data: data(i) }))

const hostile = "red \u001b[31mALERT\u001b[0m\r\nfast: 100 %"

const runs: { readonly [name: string]: Analysis.RunData } = {
  unscored: runData({ slow: scaled(100, 2.5), fast: scaled(100, 0.0125), middle: scaled(100) }),
  scored: runData(
    {
      steady: measured(100, (n) => ({ waitMs: 20 + n / 10, rowsPerSecond: 500 + n })),
      moody: measured(100, (n) => ({ waitMs: n * 2, rowsPerSecond: 900 }))
    },
    { scoring }
  ),
  tie: runData({ a: scaled(40), b: upTo(40).map((n) => n + 0.5), far: upTo(40).map((n) => n + 90) }),
  "one-participant": runData({ alone: scaled(30) }),
  "no-tasks": runData({ skipped: [], idle: [] }, { scoring, summary: { run: {}, results: [] } }),
  "no-participants": runData({}),
  "single-sample": runData({ once: [12.3456] }),
  "single-scored-sample": runData({ once: [{ data: { waitMs: 0.00012345, rowsPerSecond: 1e9 } }] }, { scoring }),
  steps: runData(
    {
      alpha: upTo(20).map((n) => ({ latencyMs: 3 * n, steps: { create: n, use: 2 * n } })),
      beta: upTo(20).map((n) => ({ latencyMs: 4 * n, steps: { create: n % 7 === 0 ? null : 2 * n, use: 2 * n } }))
    },
    { display: { steps: [{ key: "create", label: "Create a sandbox" }] } }
  ),
  failures: runData({
    flaky: [
      ...scaled(29),
      ...upTo(8).map(() => ({
        ...Object(failed("step_timeout", 'Step "create" timed out after 500ms for participant "flaky"')),
        steps: { create: null }
      })),
      ...upTo(2).map(() => failed("ECONNRESET", "read ECONNRESET\n    at TCP.onStreamRead")),
      failed("ERROR")
    ],
    dead: upTo(40).map(() => failed("NO", "x".repeat(300))),
    almost: [...scaled(1999), failed("ONCE", "bad luck")]
  }),
  "failures-scored": runData(
    {
      half: [{ data: { waitMs: 10, rowsPerSecond: 400 } }, failed("E")],
      none: [failed("E"), failed("E")]
    },
    { scoring }
  ),
  groups: runData(
    {
      alpha: measured(20, (n) => ({ waitMs: n, rowsPerSecond: 500, size: n % 2 === 0 ? "small" : "large" })),
      beta: measured(20, (n) => ({ waitMs: 2 * n, rowsPerSecond: 700, size: n % 3 === 0 ? null : 4 }))
    },
    { scoring: { ...scoring, groupBy: "size" } }
  ),
  display: runData(
    { alpha: measured(100, (n) => ({ waitMs: n / 3, rowsPerSecond: 800 + n / 7, unnamed: n })) },
    {
      scoring,
      display: {
        metrics: [
          { key: "waitMs", label: "Wait", unit: "ms", decimals: 1 },
          { key: "rowsPerSecond", label: "Rows a second", decimals: 0 }
        ],
        overview: { defaultMetric: "rowsPerSecond" }
      }
    }
  ),
  unfinished: runData({ alpha: scaled(4) }, { run: { ...runData({}).run, status: "failed", totalTasks: 10 } }),
  "many-metrics": runData({
    alpha: measured(20, (n) => Object.fromEntries(upTo(9).map((i) => [`metric${i}`, n * i])))
  }),
  "wide-characters": runData({
    数据库: scaled(20),
    "🚀 rocket": scaled(20, 2),
    "한국어 서버": scaled(20, 3),
    "naïve e\u0301": scaled(20, 4),
    "👩‍👩‍👧‍👦 family": scaled(20, 5),
    plain: scaled(20, 6)
  }),
  "control-characters": runData(
    {
      [hostile]: [
        ...upTo(20).map((n) => ({ latencyMs: n, data: { "key\u001b[2J": n }, steps: { "step\u001b[1A\n": 1 } })),
        failed("E\u0007\u009b2J", "gone\u001b]0;title\u0007\nsecond \u202eline")
      ],
      "tab\there\u2028there": scaled(20)
    },
    { benchmark: { slug: "evil", name: "Evil\u001b[2J" } }
  ),
  "long-names": runData(
    {
      ["a".repeat(10_000)]: measured(20, (n) => ({ waitMs: n, rowsPerSecond: 500 })),
      ["b c ".repeat(3000)]: [...measured(20, (n) => ({ waitMs: n, rowsPerSecond: 500 })), failed("E".repeat(9999))],
      short: measured(20, (n) => ({ waitMs: n, rowsPerSecond: 500 }))
    },
    { scoring, benchmark: { slug: "long", name: "Long ".repeat(2000) } }
  )
}

const notes = ["Skipping redis: missing REDIS_URL", "note\nof two lines\u001b[2J"]

const show = (name: string, style: Style): string =>
  render(
    { analysis: Analysis.make(runs[name] ?? runData({})), notes: name === "control-characters" ? notes : [] },
    style
  )

const escapes = /\u001b\[\d+m/g

describe("render", () => {
  for (const name of Object.keys(runs)) {
    it(`shows ${name.replaceAll("-", " ")}`, async () => {
      const text = show(name, plain)
      assert.notMatch(text, /NaN|Infinity|undefined|null %/)
      assert.notMatch(text, /[^\P{Cc}\n]|[\u2028\u202e]|[ \n]$|[ ]\n/u)
      await expect(`${text}\n`).toMatchFileSnapshot(`../snapshots/summary/${name}.txt`)
    })

    for (const columns of [80, 40]) {
      it(`keeps ${name.replaceAll("-", " ")} within ${columns} columns`, () => {
        const lines = show(name, { ...plain, columns }).split("\n")
        assert.deepStrictEqual(
          lines.filter((line) => widthOf(line) > columns),
          []
        )
      })
    }
  }

  it("fits a usual run into 80 columns without a second table", async () => {
    await expect(`${show("scored", { ...plain, columns: 80 })}\n`).toMatchFileSnapshot(
      "../snapshots/summary/80-columns.txt"
    )
  })

  it("has nothing but ASCII of its own where that is all there is", async () => {
    for (const name of ["unscored", "scored", "tie", "failures", "groups", "no-tasks", "long-names"]) {
      assert.notMatch(show(name, plainAscii), /[^\n -~]/, name)
    }
    await expect(`${show("tie", plainAscii)}\n`).toMatchFileSnapshot("../snapshots/summary/ascii.txt")
  })

  it("colours nothing but what is plain without colours", () => {
    for (const name of Object.keys(runs)) {
      const text = show(name, coloured(undefined))
      assert.strictEqual(text.replace(escapes, ""), show(name, plain), name)
      assert.match(text, escapes)
    }
  })

  for (const name of ["wide-characters", "unscored"]) {
    it(`aligns the columns of ${name.replaceAll("-", " ")}`, () => {
      const [, ranking = ""] = show(name, plain).split("\n\n")
      const widths = ranking.split("\n").slice(1, -1).map(widthOf)
      assert.isAbove(widths.length, 3)
      assert.deepStrictEqual(new Set(widths).size, 1)
    })
  }

  it("says how many warnings it does not show", () => {
    const many = Object.fromEntries(upTo(15).map((n) => [`p${n}`, [...scaled(99), failed("E")]]))
    const text = render({ analysis: Analysis.make(runData(many)), notes: [] }, plain)
    assert.match(text, /\n {2}and \d+ more warnings: bench results --json$/)
  })
})

describe("style", () => {
  const chosen = (isTerminal: boolean, env: Readonly<Record<string, string>>, columns = 100) =>
    style.pipe(
      Effect.provide(
        Layer.succeed(
          Terminal.Terminal,
          Terminal.Terminal.of({
            columns: Effect.succeed(columns),
            rows: Effect.succeed(24),
            isTTY: Effect.succeed(isTerminal),
            display: () => Effect.void,
            readInput: Effect.never,
            readLine: Effect.never
          })
        )
      ),
      Effect.provideService(Stdout, { isTerminal, write: () => Effect.succeed(true) }),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))),
      Effect.map(({ columns, red, signs }) => [red("x") !== "x", columns, signs.absent])
    )

  it.effect("has colours and a width on a terminal only", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* chosen(true, {}), [true, 100, "–"])
      assert.deepStrictEqual(yield* chosen(false, {}), [false, undefined, "–"])
      assert.deepStrictEqual(yield* chosen(true, { NO_COLOR: "1" }), [false, 100, "–"])
      assert.deepStrictEqual(yield* chosen(true, { CI: "true" }), [false, undefined, "–"])
      assert.deepStrictEqual(yield* chosen(true, {}, 0), [true, undefined, "–"])
      assert.deepStrictEqual(yield* chosen(true, {}, 10), [true, 40, "–"])
    })
  )

  it.effect("is ASCII where nothing else can be shown", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* chosen(true, { TERM: "dumb" }), [false, 100, "-"])
      assert.deepStrictEqual(yield* chosen(false, { LANG: "C" }), [false, undefined, "-"])
      assert.deepStrictEqual(yield* chosen(false, { LANG: "C", LC_ALL: "C.UTF-8" }), [false, undefined, "–"])
      assert.deepStrictEqual(yield* chosen(false, { LC_CTYPE: "en_US.utf8", LANG: "C" }), [false, undefined, "–"])
      assert.deepStrictEqual(yield* chosen(false, { LC_ALL: "POSIX", LANG: "C.UTF-8" }), [false, undefined, "-"])
    })
  )
})

describe("table", () => {
  const columns = [{ title: "name", key: true, cut: true }, { title: "first" }, { title: "second" }, { title: "third" }]

  it("continues below, with its key columns, where it is too wide", () => {
    assert.strictEqual(
      table(columns, [["a name of some length", "1".repeat(10), "2".repeat(10), "3".repeat(10)]], { columns: 36 }),
      "name          first       second\na name of s…  1111111111  2222222222\n\nname          third\na name of s…  3333333333"
    )
  })

  it("cuts no more than it must", () => {
    assert.strictEqual(
      table(columns.slice(0, 2), [["a name of some length", "1"]], { columns: 26 }),
      "name                 first\na name of some len…  1"
    )
  })

  it("shows a cell of any length as one line", () => {
    const text = table(columns.slice(0, 1), [
      ["x\n".repeat(50_000)],
      ["\u0301".repeat(50_000)],
      ["\u200b".repeat(50_000)]
    ])
    assert.deepStrictEqual(
      text.split("\n").map((line) => [line.length < 500, widthOf(line) <= 60]),
      [
        [true, true],
        [true, true],
        [true, true],
        [true, true]
      ]
    )
  })
})

describe("oneLine", () => {
  it("leaves nothing that a terminal acts on", () => {
    const parts = [
      "\u001b[31m",
      "\u009b31m",
      "\u001b]8;;http://x\u0007",
      "\u001b]0;t",
      "\u001b",
      "\r",
      "\n",
      "\u0085",
      "\u2028",
      "\u202e",
      "\u2066",
      "\u061c",
      "\ud800",
      "\u0000",
      "\u0008"
    ]
    for (const a of parts) {
      for (const b of parts) {
        assert.notMatch(oneLine(`${a}${b}[0m x ${a}`), /\p{Cc}|[\u2028\u202e\u2066\u061c]|\p{Surrogate}/u)
      }
    }
  })

  it("keeps joined emoji and accents", () => {
    assert.strictEqual(oneLine("👩‍👩‍👧‍👦 e\u0301 العربية"), "👩‍👩‍👧‍👦 e\u0301 العربية")
  })

  it("takes time with the length of the text only", () => {
    for (const part of ["\u001b]", "\u001b[", "\u009b", "\u001b]8;;", "a\u0301", "\ud83d"]) {
      assert.isAbove(oneLine(part.repeat(100_000)).length, 0)
    }
  })
})

describe("fit", () => {
  it("counts columns, and cuts between characters", () => {
    assert.strictEqual(fit("abc", 3), "abc")
    assert.strictEqual(fit("abcd", 3), "ab…")
    assert.strictEqual(fit("数据库", 6), "数据库")
    assert.strictEqual(fit("数据库", 5), "数据…")
    assert.strictEqual(fit("数据库", 4), "数…")
    assert.strictEqual(fit("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3), "👩‍👩‍👧‍👦…")
    assert.strictEqual(fit("abcdef", 5, "..."), "ab...")
  })

  it("has an end where nothing takes a column", () => {
    assert.isBelow(fit(`a${"\u0301".repeat(10_000)}`, 10).length, 100)
    assert.isBelow(fit("\u200b".repeat(10_000), 10).length, 100)
  })
})

describe("wrap", () => {
  it("breaks between words, and indents what follows", () => {
    assert.strictEqual(wrap("one two three four", 9, "  ", "    "), "  one two\n    three\n    four")
    assert.strictEqual(wrap("one two", undefined), "one two")
  })

  it("cuts a word that has no room on a line of its own", () => {
    const text = wrap(`see ${"x".repeat(100)}`, 40, "  ", "    ")
    assert.isTrue(text.split("\n").every((line) => widthOf(line) <= 40))
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
