import { assert, describe, it } from "@effect/vitest"
import * as Analysis from "../src/Analysis.js"
import { dip } from "../src/internal/analysis/peaks.js"
import type { GivenTask } from "./support/analysis.js"
import { failed, runData, upTo } from "./support/analysis.js"

const warnings = (
  kind: Analysis.Warning["kind"],
  participants: Readonly<Record<string, ReadonlyArray<GivenTask>>>,
  fields: Parameters<typeof runData>[1] = {}
) =>
  Analysis.make(runData(participants, fields))
    .warnings.filter((warning) => warning.kind === kind)
    .map(({ text }) => text)

describe("incomplete", () => {
  const of = (status: "in_progress" | "failed" | "completed", totalTasks: number) =>
    warnings("incomplete", { alpha: [1, 2] }, { run: { ...runData({}).run, status, totalTasks } })

  it("says that a run has not ended, failed, or lacks tasks", () => {
    assert.deepStrictEqual(of("in_progress", 5), ["the run has not ended: 2 of 5 tasks are recorded so far"])
    assert.deepStrictEqual(of("failed", 5), ["the run failed: 2 of 5 tasks are recorded"])
    assert.deepStrictEqual(of("failed", 2), ["the run failed: all of its 2 tasks are recorded"])
    assert.deepStrictEqual(of("completed", 3), ["tasks are missing: 2 of 3 tasks are recorded"])
    assert.deepStrictEqual(of("completed", 2), [])
  })

  it("says that more was measured than is looked at", () => {
    const data = Object.fromEntries(upTo(150).map((n) => [`key${n}`, n]))
    assert.deepStrictEqual(warnings("incomplete", { alpha: [{ data }] }), [
      "tasks measured more keys than are looked at: the first 100 are, at least 51 are not"
    ])
  })
})

describe("failures", () => {
  it("says which numbers are left", () => {
    const some = [1, 2, failed("E")]
    assert.deepStrictEqual(warnings("failures", { alpha: some, beta: [failed("E")], gamma: [1] }), [
      "1 of 3 tasks of alpha failed: its numbers are those of the other 2",
      "the only task of beta failed: nothing is known of its latencies"
    ])
  })
})

describe("too few samples", () => {
  it("says how many percentiles need", () => {
    assert.deepStrictEqual(warnings("too-few-samples", { alpha: upTo(19) }), [
      "task latency (ms): with 19 samples, p95 and p99 are the maximum: p95 needs 20, p99 needs 100"
    ])
    assert.deepStrictEqual(warnings("too-few-samples", { alpha: upTo(99), beta: upTo(200) }), [
      "task latency (ms): with as few as 99 samples, p99 is the maximum: p99 needs 100"
    ])
    assert.deepStrictEqual(warnings("too-few-samples", { alpha: upTo(100) }), [])
  })

  it("says how many it takes to tell participants apart", () => {
    const [first] = warnings("too-few-samples", { alpha: upTo(3), beta: upTo(5), gamma: upTo(100) })
    assert.strictEqual(
      first,
      "with 3 to 5 tasks, alpha and beta cannot be told apart from others: 6 are needed at least"
    )
  })
})

describe("dip", () => {
  const of = (samples: ReadonlyArray<number>) => dip(Float64Array.from(samples).sort())

  // R 4.2.2, package diptest 0.76-0: sprintf("%.12f", dip(x)).
  it("is that of R", () => {
    const expected: ReadonlyArray<readonly [samples: ReadonlyArray<number>, dip: number]> = [
      [[1, 2, 3, 4, 5], 0.1],
      [[1, 1.1, 1.2, 5, 5.1, 5.2], 0.2375],
      [[0, 0, 0, 1, 1, 5, 6, 6, 7, 20], 0.133333333333],
      [upTo(40).map((n) => n ** 2), 0.0125],
      [upTo(60).map((n) => Math.sin(n)), 0.066792584443],
      [[...upTo(30).map((n) => Math.sin(n)), ...upTo(30).map((n) => 4 + Math.cos(n))], 0.125570795643],
      [[...upTo(30).map((n) => n ** 1.5), ...upTo(10).map((n) => 400 + 3 * n)], 0.112296902537]
    ]
    for (const [samples, value] of expected) assert.approximately(of(samples), value, 1e-11)
  })

  it("is none where all samples are equal", () => {
    assert.deepStrictEqual([of([]), of([1]), of([2, 2, 2])], [0, 0, 0])
  })
})

describe("bimodal", () => {
  /** Quantiles of the logistic distribution: one peak, at the center. */
  const peak = (center: number, count: number) =>
    upTo(count).map((n) => Number((center + Math.log((n - 0.5) / (count + 0.5 - n))).toFixed(3)))
  const mixed = (...parts: ReadonlyArray<ReadonlyArray<number>>) => {
    const all = parts.flat()
    return all.map((_, i) => all[(i * 37) % all.length] ?? 0)
  }
  const bimodal = (samples: ReadonlyArray<number>) => warnings("bimodal", { alpha: samples })

  it("says where the peaks are", () => {
    assert.deepStrictEqual(bimodal(mixed(peak(20, 60), peak(50, 40))), [
      "task latency (ms) of alpha has more than one peak (Hartigan's dip 0.15, p < 0.001): 60 % of the samples are around 20 ms, the others around 50 ms"
    ])
  })

  it("does not see peaks in one, whatever its tail and the resolution of its clock", () => {
    assert.deepStrictEqual(bimodal(mixed(peak(20, 100))), [])
    assert.deepStrictEqual(bimodal(mixed(upTo(500).map((n) => -10 * Math.log(n / 501)))), [])
    assert.deepStrictEqual(bimodal(mixed(peak(20, 997).map((value) => Math.round(10 * value) / 10))), [])
    assert.deepStrictEqual(bimodal(mixed(peak(20, 997).map(Math.round))), [])
    assert.deepStrictEqual(
      bimodal(
        mixed(
          upTo(100),
          upTo(9).map((n) => 1000 * n)
        )
      ),
      []
    )
  })

  it("does not see peaks in a few samples", () => {
    assert.deepStrictEqual(bimodal(mixed(peak(20, 9), peak(50, 10))), [])
  })
})

describe("outliers", () => {
  it("names the farthest ones", () => {
    const samples = [...upTo(40).map((n) => 10 + (n % 7)), 500, 11, 90, 80, 70]
    assert.deepStrictEqual(warnings("outliers", { alpha: samples }), [
      "task latency (ms) of alpha: 4 of 45 samples are far from the others: task 40 with 500 ms, task 42 with 90 ms, task 43 with 80 ms and 1 more"
    ])
  })

  it("looks at samples that count only", () => {
    const slow = { status: "error", latencyMs: 9000 }
    assert.deepStrictEqual(warnings("outliers", { alpha: [...upTo(40).map((n) => 10 + (n % 7)), slow] }), [])
  })
})

describe("drift", () => {
  it("says by how much samples grow or shrink, in the order of their tasks", () => {
    const tasks = upTo(40).map((n) => ({ taskIndex: n, latencyMs: 20 + n + (n % 3) }))
    const text = [
      "task latency (ms) of alpha grows from task to task (Mann-Kendall, tau 0.97): the median is 26.5 ms in the first quarter and 56.5 ms in the last"
    ]
    assert.deepStrictEqual(warnings("drift", { alpha: tasks }), text)
    assert.deepStrictEqual(warnings("drift", { alpha: tasks.toReversed() }), text)
    assert.deepStrictEqual(warnings("drift", { alpha: upTo(40).map((n) => 20 + ((n * 17) % 40)) }), [])
  })
})

describe("clock resolution", () => {
  it("says what all samples are multiples of", () => {
    assert.deepStrictEqual(warnings("clock-resolution", { alpha: upTo(30).map((n) => 15.6 * (1 + (n % 3))) }), [
      "task latency (ms) of alpha: all samples are whole multiples of 15.6 ms apart: the clock is too coarse for them"
    ])
  })

  it("says it of times only", () => {
    const display = (unit: string) => ({ metrics: [{ key: "n", label: "N", unit }] })
    const counted = { alpha: upTo(30).map((n) => ({ data: { n: n % 4 } })) }
    assert.lengthOf(warnings("clock-resolution", counted, { display: display("s") }), 1)
    assert.deepStrictEqual(warnings("clock-resolution", counted, { display: display("rows") }), [])
  })
})

describe("generator lag", () => {
  const origin = Date.parse("2026-01-02T03:04:05.000Z")
  const started = (...at: ReadonlyArray<number>): ReadonlyArray<GivenTask> =>
    at.map((ms) => ({ startedAt: new Date(origin + ms).toISOString() }))
  const lag = (tasks: ReadonlyArray<GivenTask>, config: Readonly<Record<string, unknown>>) =>
    warnings("generator-lag", { alpha: tasks }, { config })

  it("says how many tasks started later than scheduled, and by how much", () => {
    assert.deepStrictEqual(lag(started(0, 100, 340, 341, 400), { staggerDelayMs: 100, groupBy: "participant" }), [
      "2 of 5 tasks of alpha started later than scheduled, up to 140 ms (one was to start every 100 ms): the load was lower than planned; more concurrency or longer delays would keep to it"
    ])
  })

  it("does not mind what timers are off by", () => {
    assert.deepStrictEqual(lag(started(3, 104, 203, 309), { staggerDelayMs: 100 }), [])
    assert.deepStrictEqual(lag(started(3, 1103, 2003, 3003), { staggerDelayMs: 1000 }), [])
  })

  it("finds the schedule where the first task started late, and of a range of tasks", () => {
    assert.lengthOf(lag(started(90, 100, 200, 300), { staggerDelayMs: 100 }), 1)
    const range = started(0, 100, 200, 300).map((task, i) => ({ ...Object(task), taskIndex: 40 + i }))
    assert.deepStrictEqual(lag(range.slice(1), { staggerDelayMs: 100 }), [])
  })

  it("says nothing where nothing is scheduled", () => {
    const late = started(0, 500, 900)
    assert.deepStrictEqual(lag(late, {}), [])
    assert.deepStrictEqual(lag(late, { staggerDelayMs: 0 }), [])
    assert.deepStrictEqual(lag(late, { staggerDelayMs: "100" }), [])
    assert.deepStrictEqual(lag(late, { staggerDelayMs: 100, groupBy: "round" }), [])
    const pool = { config: { staggerDelayMs: 100 }, workerCounts: { alpha: 2 } }
    assert.deepStrictEqual(warnings("generator-lag", { alpha: late }, pool), [])
  })
})

describe("warnings", () => {
  it("say what matters most first, and keep names short", () => {
    const name = "n".repeat(10_000)
    const all = Analysis.make(
      runData({ [name]: [1, failed("E")] }, { run: { ...runData({}).run, status: "failed", totalTasks: 9 } })
    ).warnings
    assert.deepStrictEqual(
      all.map(({ kind }) => kind),
      ["incomplete", "failures", "too-few-samples"]
    )
    assert.strictEqual(all[1]?.participant, name)
    for (const { text } of all) assert.isBelow(text.length, 300)
  })
})
