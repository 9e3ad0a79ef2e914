import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import type { RunAnalysis, RunData } from "../src/Analysis.js"
import * as Analysis from "../src/Analysis.js"
import * as Comparison from "../src/Comparison.js"
import * as Conditions from "../src/internal/comparison/conditions.js"
import { markdown } from "../src/internal/comparison/markdown.js"

interface Samples {
  readonly [participant: string]: ReadonlyArray<number | "failed">
}

/** A run whose tasks took so long, with the double of it under `x`. */
const run = (samples: Samples, id = "run", config: { readonly [key: string]: unknown } = {}): RunAnalysis => {
  const data: RunData = {
    benchmark: { slug: "bench", name: "Bench" },
    run: {
      id,
      benchmarkId: "b",
      status: "completed",
      totalTasks: Object.values(samples).flat().length,
      createdAt: "2026-01-01T00:00:00.000Z",
      updatedAt: "2026-01-01T00:00:00.000Z",
      config
    },
    participants: Object.keys(samples),
    tasks: Object.entries(samples).flatMap(([participantSlug, values]) =>
      values.map((value, taskIndex) => ({
        participantSlug,
        provider: null,
        taskIndex,
        status: value === "failed" ? "error" : "success",
        latencyMs: value === "failed" ? 1 : value,
        startedAt: null,
        completedAt: null,
        data: value === "failed" ? null : { x: 2 * value }
      }))
    ),
    steps: [],
    summary: undefined,
    display: { metrics: [{ key: "x", label: "X", direction: "higher-better" }] },
    scoring: undefined
  }
  return Analysis.make(data)
}

const around = (center: number, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, i) => center + ((i * 7) % 11) / 10)

const of = ({ changes }: Comparison.Comparison, key: string) => changes.find(({ metric }) => metric.key === key)

describe("ofRuns", () => {
  it("calls a difference what chance does not explain, in words that fit the metric", () => {
    const comparison = Comparison.ofRuns(run({ a: around(10, 40) }), run({ a: around(15, 40) }))
    const [latency, x] = [of(comparison, "task"), of(comparison, "x")]
    assert.deepStrictEqual([latency?.verdict, x?.verdict], ["slower", "better"])
    assert.approximately(latency?.ratio ?? 0, 15.5 / 10.5, 1e-9)
    assert.isTrue((latency?.ratioInterval?.low ?? 0) > 1.4 && (latency?.ratioInterval?.high ?? 9) < 1.6)
    assert.deepStrictEqual([latency?.delta, latency?.shift], [1, 5])
    assert.isBelow(latency?.adjustedP ?? 1, 1e-6)
    const back = Comparison.ofRuns(run({ a: around(15, 40) }), run({ a: around(10, 40) }))
    assert.deepStrictEqual([of(back, "task")?.verdict, of(back, "x")?.verdict], ["faster", "worse"])
  })

  it("shows none between the same samples, and says when there are too few or none", () => {
    const same = Comparison.ofRuns(run({ a: around(10, 40) }), run({ a: around(10, 40) }))
    assert.deepStrictEqual(
      same.changes.map(({ verdict }) => verdict),
      ["no difference shown", "no difference shown"]
    )
    const few = Comparison.ofRuns(run({ a: [1, 2, 3, 4, 5] }), run({ a: around(100, 40) }))
    assert.deepStrictEqual([of(few, "task")?.verdict, of(few, "task")?.p], ["too few samples", undefined])
    const none = Comparison.ofRuns(run({ a: ["failed"] }), run({ a: around(1, 6) }))
    assert.deepStrictEqual([of(none, "task")?.verdict, of(none, "task")?.baseline], ["not measured", undefined])
    assert.deepStrictEqual(Comparison.ofRuns(run({}), run({})).changes, [])
  })

  it("adjusts p for everything that is compared", () => {
    const [before, after] = [around(10, 12), around(10.35, 12)]
    const alone = Comparison.ofRuns(run({ a: before }), run({ a: after }))
    const many = Comparison.ofRuns(
      run({ a: before, b: before, c: before, d: before }),
      run({ a: after, b: before, c: before, d: before })
    )
    const [single, among] = [of(alone, "task"), of(many, "task")]
    assert.strictEqual(single?.p, among?.p)
    assert.isAbove(among?.adjustedP ?? 0, single?.adjustedP ?? 1)
  })

  it("compares how often tasks succeeded", () => {
    const failing = (failures: number) => ({ a: around(10, 40).map((value, i) => (i < failures ? "failed" : value)) })
    const verdicts = (before: number, after: number) =>
      Comparison.ofRuns(run(failing(before)), run(failing(after))).successes.map(({ verdict }) => verdict)
    assert.deepStrictEqual(
      [verdicts(0, 20), verdicts(20, 0), verdicts(1, 2)],
      [["worse"], ["better"], ["no difference shown"]]
    )
  })

  it("names what only one of them has, and what else differs", () => {
    const comparison = Comparison.ofRuns(
      run({ a: [1], old: [1] }, "1", { concurrency: 1 }),
      run({ a: [1], fresh: [1] }, "2", { concurrency: 8 })
    )
    assert.sameMembers([...comparison.unmatched], ["old", "fresh"])
    assert.deepStrictEqual(comparison.notes, ["concurrency differs: 1 and 8"])
  })

  it("has no ratio with zeros and negatives, and nothing that is not finite", () => {
    const zeros = Array.from({ length: 20 }, () => 0)
    for (const [before, after] of [
      [zeros, around(5, 20)],
      [around(5, 20), zeros],
      [zeros, zeros],
      [around(-9, 20), around(3, 20)],
      [around(1e-9, 20), around(1e12, 20)]
    ] as const) {
      const comparison = Comparison.ofRuns(run({ a: before }), run({ a: after }))
      const json = JSON.stringify(comparison)
      assert.notMatch(json, /null|NaN|Infinity|-0[,}]/)
      assert.notMatch(markdown(comparison, []), /NaN|Infinity|undefined|\\-0 /)
    }
    assert.isUndefined(of(Comparison.ofRuns(run({ a: zeros }), run({ a: around(5, 20) })), "task")?.ratio)
    assert.strictEqual(of(Comparison.ofRuns(run({ a: zeros }), run({ a: around(5, 20) })), "task")?.verdict, "slower")
  })
})

describe("ofParticipants", () => {
  it("compares two of one run", () => {
    const comparison = Comparison.ofParticipants(run({ a: around(10, 20), b: around(5, 20) }), "a", "b")
    assert.strictEqual(comparison && of(comparison, "task")?.verdict, "faster")
    assert.isUndefined(Comparison.ofParticipants(run({ a: [1] }), "a", "nobody"))
  })
})

describe("conditions", () => {
  const finding = (text: string, before: Samples, after: Samples) => {
    const [baseline, candidate] = [run(before), run(after)]
    const pairs = baseline.participants.flatMap((each) => {
      const other = candidate.participants.find(({ name }) => name === each.name)
      return other === undefined ? [] : [{ baseline: each, candidate: other }]
    })
    const parsed = Either.getOrThrowWith(Conditions.parse(text), (detail) => new Error(detail))
    return Conditions.evaluate(parsed, pairs, Comparison.ofRuns(baseline, candidate)).map(
      ({ text, violated }) => `${violated ? "!" : "ok"} ${text}`
    )
  }

  it("are about the change, or about the value after it", () => {
    const [ten, twelve] = [Array.from({ length: 10 }, () => 10), Array.from({ length: 10 }, () => 12)]
    assert.deepStrictEqual(finding("task.p95 > +10%", { a: ten }, { a: twelve }), [
      "! task.p95 > +10%: a: 10 became 12 (+20 %)"
    ])
    assert.deepStrictEqual(finding("task.median > +20%", { a: ten }, { a: twelve }), [
      "ok task.median > +20%: a: 10 became 12 (+20 %)"
    ])
    assert.deepStrictEqual(finding("x.min < -5%", { a: twelve }, { a: ten }), [
      "! x.min < -5%: a: 24 became 20 (-16.7 %)"
    ])
    assert.deepStrictEqual(finding("task.max >= 12", { a: ten }, { a: twelve }), ["! task.max >= 12: a: it is 12"])
    assert.deepStrictEqual(finding("successRate < 99%", { a: [1] }, { a: [1, "failed"] }), [
      "! successRate < 99%: a: it is 0.5"
    ])
  })

  it("say where chance may explain it, or nothing can be said", () => {
    assert.deepStrictEqual(finding("task.mean > +1%", { a: [1, 2] }, { a: [2, 3] }), [
      "! task.mean > +1%: a: 1.5 became 2.5 (+66.7 %); there are too few samples to say whether that is chance"
    ])
    assert.match(
      finding("task.mean > +1%", { a: around(10, 20) }, { a: around(10.11, 20) }).join(),
      /chance alone may explain it/
    )
  })

  it("are violated by what was not measured, and know no change of 0", () => {
    assert.deepStrictEqual(finding("nope.p95 > +1%", { a: [1] }, { a: [1] }), [
      "! nope.p95 > +1%: a: it was not measured"
    ])
    assert.deepStrictEqual(finding("task.p95 > +1%", { a: ["failed"] }, { a: [1] }), [
      "! task.p95 > +1%: a: the baseline did not measure it"
    ])
    assert.deepStrictEqual(finding("task.p95 > +1%", { a: [0] }, { a: [3] }), [
      "! task.p95 > +1%: a: it was 0 and is 3: there is no change in per cent of that"
    ])
    assert.deepStrictEqual(finding("task.p95 > +1%", { a: [0] }, { a: [0] }), [
      "ok task.p95 > +1%: a: it was 0 and still is"
    ])
    assert.deepStrictEqual(finding("task.p95 > +1% participant=b", { a: [1] }, { a: [1] }), [
      "! task.p95 > +1% participant=b: b: no such participant is in both runs"
    ])
  })

  it("say what cannot be read", () =>
    assert.deepStrictEqual(
      ["task.p95 > +10", "task.p95 > 3 phase=cold", "step:a:b.p95 > 3", "task.p95 > 3 abortEarly"].map((text) =>
        Either.getOrElse(Conditions.parse(text), (detail) => detail)
      ),
      [
        "a change is said in per cent: +10%",
        "phases are not compared one by one",
        "compare the latency of a step (step:a), or a key in the data of tasks",
        "abortEarly is for thresholds of a run"
      ]
    ))
})

describe("markdown", () => {
  it("holds nothing of names that Markdown or HTML would read", () => {
    const evil = "<script>|a`b*[x](y)\n# @you"
    const text = markdown(Comparison.ofRuns(run({ [evil]: around(1, 20) }), run({ [evil]: around(9, 20) })), [])
    assert.notInclude(text, "<script>")
    for (const line of text.split("\n").filter((line) => line.startsWith("|"))) {
      assert.lengthOf(line.match(/(?<!\\)\|/g) ?? [], 12, line)
    }
    assert.notMatch(text, /@you/)
  })
})
