import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Analysis from "../src/Analysis.js"
import * as Diagnostics from "../src/Diagnostics.js"

// Computed with NumPy and SciPy: S by its definition, p = 2 * stats.norm.sf((|S| - 1) / sqrt(var)) with var corrected for ties.
// prettier-ignore
const growing = [12.04, 7.49, 10.52, 9.58, 9.75, 10.03, 8.28, 10.12, 9.53, 13.77, 10.73, 10.2, 10.32, 9.98, 9.64, 10.36, 11.28, 10.61, 11.86, 10.75, 11.02, 12.6, 11.65, 10.64, 11.02, 11.79, 13.24, 11.08, 11.16, 12.45, 10.61, 11.26, 12.48, 12.23, 11.79, 12.42, 8.97, 12.87, 10.94, 10.28]

describe("trend", () => {
  it("is that of the definition", () => {
    const found = Diagnostics.trend(growing)
    assert.approximately(found?.tau ?? 0, 293 / 780, 1e-12)
    assert.approximately(found?.p ?? 0, 0.000667002965059499, 1e-10)
  })

  it("turns around with the samples, and is none between equals or in few", () => {
    assert.strictEqual(Diagnostics.trend([...growing].reverse())?.tau, -293 / 780)
    assert.deepStrictEqual(Diagnostics.trend(Array.from({ length: 20 }, () => 5)), { tau: 0, p: 1 })
    assert.isUndefined(Diagnostics.trend(growing.slice(0, 9)))
  })

  it("of very many samples takes evenly spaced ones", () =>
    assert.deepStrictEqual(Diagnostics.trend(Float64Array.from({ length: 100_000 }, (_, i) => i))?.tau, 1))
})

describe("outliers", () => {
  it("are beyond three interquartile ranges", () => {
    const sorted = Float64Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 100])
    assert.deepStrictEqual(Diagnostics.outliers(sorted), { count: 1, low: 4 - 18, high: 10 + 18 })
  })

  it("are none in few samples, nor where the middle half is equal", () => {
    assert.isUndefined(Diagnostics.outliers([]))
    assert.isUndefined(Diagnostics.outliers([1, 1, 1, 1, 1, 1, 1, 1, 100]))
    assert.isUndefined(Diagnostics.outliers([1, 2, 3]))
  })
})

describe("outliersByDeviation", () => {
  it("are more than 3.5 modified z-scores from the median", () => {
    // SciPy: stats.median_abs_deviation of these is 3, their median 7: 7 -+ 3.5 / 0.6745 * 3
    const found = Diagnostics.outliersByDeviation([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 22, 100])
    assert.strictEqual(found?.count, 1)
    assert.approximately(found?.low ?? 0, -8.567086730911787, 1e-12)
    assert.approximately(found?.high ?? 0, 22.567086730911786, 1e-12)
  })

  it("are found where they are many, unlike by the fences", () => {
    const samples = [10, 11, 12, 13, 14, 15, 16, 500, 501, 502, 503, 504]
    assert.strictEqual(Diagnostics.outliers(samples)?.count, 0)
    assert.strictEqual(Diagnostics.outliersByDeviation(samples)?.count, 5)
  })

  it("are none in few samples, nor where more than half are equal", () => {
    assert.isUndefined(Diagnostics.outliersByDeviation([]))
    assert.isUndefined(Diagnostics.outliersByDeviation([1, 2, 3]))
    assert.isUndefined(Diagnostics.outliersByDeviation([1, 1, 1, 1, 1, 1, 2, 3, 100]))
    assert.isUndefined(Diagnostics.outliersByDeviation(Array.from({ length: 10 }, () => 0)))
  })

  it("scale with the samples, and are the same in any unit", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.integer({ min: -1000, max: 1000 }), { minLength: 8, maxLength: 50 }),
        FastCheck.constantFrom(0.5, 2, 4096),
        (values, scale) => {
          const sorted = Float64Array.from(values).sort()
          const found = Diagnostics.outliersByDeviation(sorted)
          const scaled = Diagnostics.outliersByDeviation(sorted.map((value) => value * scale))
          assert.deepStrictEqual(
            scaled,
            found && { count: found.count, low: found.low * scale, high: found.high * scale }
          )
        }
      )
    ))
})

describe("coarseStep", () => {
  it("is the step that all samples are multiples of apart", () => {
    assert.strictEqual(Diagnostics.coarseStep([1, 1, 2, 2, 3, 3, 3, 4, 5, 5, 7]), 1)
    assert.isUndefined(Diagnostics.coarseStep([1, 1.1, 2.05, 2.2, 3, 3.7, 3.9, 4, 5, 5.01, 7]))
    assert.isUndefined(Diagnostics.coarseStep([100, 101, 102, 103, 104, 105, 106, 107, 108, 109]), "1 % is fine enough")
    assert.isUndefined(Diagnostics.coarseStep(Array.from({ length: 20 }, () => 3)))
    assert.isUndefined(Diagnostics.coarseStep([]))
  })
})

describe("warnings of an analysis", () => {
  const analysed = (values: ReadonlyArray<number>) =>
    Analysis.make({
      benchmark: { slug: "b", name: "B" },
      run: {
        id: "r",
        benchmarkId: "b",
        status: "completed",
        totalTasks: values.length,
        createdAt: "2026-01-01T00:00:00.000Z",
        updatedAt: "2026-01-01T00:00:00.000Z"
      },
      participants: ["a"],
      tasks: values.map((latencyMs, taskIndex) => ({
        participantSlug: "a",
        provider: null,
        taskIndex,
        status: "success",
        latencyMs,
        startedAt: null,
        completedAt: null,
        data: null
      })),
      steps: [],
      summary: undefined,
      display: undefined,
      scoring: undefined
    }).warnings.map(({ kind, text }) => [kind, text])

  it("name the samples that are far out, a drift, and a coarse clock", () => {
    const values = Array.from({ length: 120 }, (_, i) => 10 + ((i * 37) % 101) / 100)
    assert.deepStrictEqual(analysed(values), [])
    const far = values.map((value, i) => (i === 17 ? 250 : value))
    assert.deepStrictEqual(analysed(far), [
      ["outliers", "task latency (ms) of a: 1 of 120 samples is far from the others: task 17 with 250 ms"]
    ])
    assert.deepStrictEqual(analysed(values.map((value, i) => value + i / 50)), [
      [
        "drift",
        "task latency (ms) of a grows from task to task (Mann-Kendall, tau 0.76): the median is 10.79 ms in the first quarter and 12.58 ms in the last"
      ]
    ])
    assert.deepStrictEqual(analysed(values.map((_, i) => 1 + ((i * 37) % 3))), [
      [
        "clock-resolution",
        "task latency (ms) of a: all samples are whole multiples of 1 ms apart: the clock is too coarse for them"
      ]
    ])
  })

  it("say nothing that is not finite, whatever the samples", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.constantFrom(0, -0, 1, -5, 1e-9, 1e12, 3.3), { minLength: 0, maxLength: 40 }),
        (values) => {
          for (const [, text] of analysed(values)) assert.notMatch(text ?? "", /NaN|Infinity|-0\b(?!\.)/)
        }
      )
    ))
})
