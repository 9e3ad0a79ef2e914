import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { RunData } from "../src/Analysis.js"
import * as Analysis from "../src/Analysis.js"
import * as Report from "../src/Report.js"
import { runData } from "./support/analysis.js"

const formats: Readonly<Record<Report.Format, (data: RunData) => Effect.Effect<string>>> = {
  html: (data) => Report.html(Analysis.make(data)),
  markdown: (data) => Effect.sync(() => Report.markdown(Analysis.make(data))),
  json: (data) => Effect.sync(() => Report.json(Analysis.make(data))),
  csv: (data) => Effect.sync(() => Report.csv(Analysis.make(data))),
  junit: (data) => Effect.sync(() => Report.junit(Analysis.make(data)))
}

const evil = [
  "<script>alert(1)</script>",
  "</script><img src=x onerror=alert(1)>",
  "a|b`c*d [x](javascript:alert(1)) @you #1",
  "line\nbreak\r\nand\ttab",
  "\"quoted\" 'single' & ]]> --> ${x} {{x}}",
  "\u001b[31mred\u0007\u009b2J",
  "\u202egnp.exe\u2066",
  "👩‍👩‍👧‍👦 日本語 \ud800",
  "=cmd()|'/c calc'!A1",
  "x".repeat(10_000)
]

/** Every name and message is of these. */
const hostile = runData(
  Object.fromEntries(
    evil.map((name) => [
      name,
      [
        12,
        { latencyMs: 15, data: { phase: name, [name]: 3, "ms<b>": 4 }, steps: { [name]: 5 } },
        { status: "error", errorCode: name, data: { errorMessage: name, phase: name } }
      ]
    ])
  ),
  { display: { metrics: [{ key: "ms<b>", label: evil[0] ?? "", unit: evil[1] ?? "" }] } }
)

/** What no text may hold, wherever it is shown. */
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

describe("reports of hostile names", () => {
  for (const format of ["html", "markdown", "json", "csv", "junit"] as const) {
    it.effect(`are only text as ${format}`, () =>
      Effect.gen(function* () {
        const text = yield* formats[format](hostile)
        assert.notMatch(text, controls)
        // CSV is never read as HTML; its cells are looked at below.
        if (format !== "csv") assert.notMatch(text, /<script|<img/i)
        assert.isBelow(text.length, 2_000_000)
      })
    )
  }

  it.effect("have no elements but those of the page, and load nothing", () =>
    Effect.gen(function* () {
      const page = yield* formats.html(hostile)
      const plain = yield* formats.html(runData({ a: [1, 2, 3], b: [2, 3, 4] }))
      const elements = (text: string): ReadonlySet<string> =>
        new Set([...text.matchAll(/<([a-zA-Z][\w:-]*)/g)].map(([, name]) => name?.toLowerCase() ?? ""))
      const known = new Set([
        ...elements(plain),
        "code",
        "details",
        "summary",
        "ul",
        "li",
        "g",
        "circle",
        "polyline",
        "rect"
      ])
      assert.deepStrictEqual(
        [...elements(page)].filter((name) => !known.has(name)),
        []
      )
      assert.match(plain, /<meta http-equiv="content-security-policy" content="default-src 'none'/i)
      for (const [tag] of page.matchAll(/<[a-zA-Z](?:[^<>"]|"[^"]*")*>/g)) {
        const attributes = tag.replace(/"[^"]*"/g, (value) => (/^"(?:#|data:,")/.test(value) ? '"#"' : '"-"'))
        assert.notMatch(attributes, /\s(?:src|action|formaction|on\w+)=|\s(?:xlink:)?href="-"/i, tag.slice(0, 200))
      }
      assert.notMatch(page.match(/<style>.*?<\/style>/s)?.[0] ?? "", /@import|url\(/i)
    })
  )

  it("have as many columns in every row of Markdown", () => {
    const text = Report.markdown(Analysis.make(hostile))
    let columns: number | undefined = undefined
    for (const line of text.split("\n")) {
      const count = line.startsWith("|") ? (line.match(/(?<!\\)\|/g) ?? []).length : undefined
      if (columns !== undefined && count !== undefined) assert.strictEqual(count, columns, line.slice(0, 200))
      columns = count
    }
    assert.notMatch(text, /(?<!\w)@you/)
  })

  it("have no formula in CSV, and rows of one length", () => {
    const text = Report.csv(Analysis.make(hostile))
    const rows = [...text.matchAll(/(?:"(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|$)/g)]
    assert.isAbove(rows.length, 30)
    for (const [cell = ""] of rows) assert.notMatch(cell, /^"?[=+@\t]/)
    assert.match(text, /^participant,taskIndex,passed,phase,startedAfterMs,/)
  })

  it("are well-formed XML", () => {
    const text = Report.junit(Analysis.make(hostile))
    assert.match(text, /^<\?xml version="1.0" encoding="UTF-8"\?>/)
    assert.notMatch(text.replace(/&(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-f]+);/gi, ""), /&/)
    const open: Array<string> = []
    for (const [, close, name = "", attributes = ""] of text.matchAll(/<(\/?)([a-z]+)((?:[^<>"]|"[^"<]*")*)>/g)) {
      if (close === "/") assert.strictEqual(open.pop(), name)
      else if (!attributes.trimEnd().endsWith("/")) open.push(name)
    }
    assert.deepStrictEqual(open, [])
  })

  it("read back as JSON", () => {
    const document = Schema.decodeUnknownSync(Schema.parseJson(Report.Document))(Report.json(Analysis.make(hostile)))
    assert.strictEqual(document.participants.length, evil.length)
  })
})

describe("reports of degenerate runs", () => {
  const runs: Readonly<Record<string, RunData>> = {
    nobody: runData({}),
    "no tasks": runData({ a: [] }),
    "one sample": runData({ a: [5] }),
    "two equal": runData({ a: [5, 5] }),
    "all zero": runData({ a: [0, 0, 0, 0, 0, 0, 0], b: [0] }),
    negative: runData({ a: [-1, -0, -5] }),
    "tiny and huge": runData({ a: [1e-9, 1e12, 1e-9], b: [1e12] }),
    "all failed": runData({ a: [{ status: "error" }, { status: "error", latencyMs: null }] }),
    "one skipped": runData({ a: [1, 2, 3], b: [] })
  }

  for (const [name, data] of Object.entries(runs)) {
    it.effect(`hold only numbers and words: ${name}`, () =>
      Effect.gen(function* () {
        for (const [format, render] of Object.entries(formats)) {
          const text = (yield* render(data)).replace(/<style>.*?<\/style>/gs, "")
          assert.notMatch(text, /\bNaN\b|\bInfinity\b|\bundefined\b|>-0<|\[object/, format)
        }
      })
    )
  }
})

describe("a page", () => {
  it.effect("of very many samples is small, with their true numbers", () =>
    Effect.gen(function* () {
      const values = Array.from({ length: 20_000 }, (_, i) => 10 + ((i * 7919) % 10_007) / 1000)
      const page = yield* formats.html(runData({ a: values, b: values.map((value) => value * 2) }))
      assert.isBelow(page.length, 1_500_000)
      assert.include(page.replace(/[\u00a0\u202f,]/g, ""), "20000")
    })
  )

  it.effect("is the same for the same run", () =>
    Effect.gen(function* () {
      const data = runData({ a: [1, 2, 3, 9], b: [2, 3, 4, 5] })
      assert.strictEqual(yield* formats.html(data), yield* formats.html(data))
    })
  )
})
