import { assert, describe, it } from "@effect/vitest"
import * as Analysis from "../src/Analysis.js"
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
