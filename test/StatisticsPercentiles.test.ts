/** Outside values: np.percentile(samples, p), which is type 7, and stats.median_abs_deviation(samples), NumPy 2.4.6 and SciPy 1.17.1. */
import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Statistics from "../src/Statistics.js"

const finite = FastCheck.double({ min: -1e12, max: 1e12, noNaN: true })
const sorted = FastCheck.array(finite, { minLength: 1, maxLength: 60 }).map((samples) => samples.sort((a, b) => a - b))
const percent = FastCheck.double({ min: 0, max: 100, noNaN: true })

describe("percentileInterpolated", () => {
  const check = (samples: ReadonlyArray<number>, expected: ReadonlyArray<readonly [p: number, value: number]>) => {
    for (const [p, value] of expected) {
      assert.approximately(Statistics.percentileInterpolated(samples, p) ?? NaN, value, 1e-12 * Math.abs(value))
    }
  }

  it("is that of NumPy", () => {
    check(
      [15, 20, 35, 40, 50],
      [
        [0, 15],
        [5, 16],
        [25, 20],
        [40, 29],
        [50, 35],
        [90, 46],
        [95, 48],
        [99.9, 49.96],
        [100, 50]
      ]
    )
    check(
      [-4, 1, 3.5, 3.5, 10.25],
      [
        [10, -2],
        [33, 1.8],
        [66.6, 3.5],
        [95, 8.9]
      ]
    )
  })

  it("takes the ends beyond 0 and 100, the only sample, and nothing of nothing", () => {
    assert.deepStrictEqual(
      [-5, 200].map((p) => Statistics.percentileInterpolated([1, 2, 3], p)),
      [1, 3]
    )
    assert.strictEqual(Statistics.percentileInterpolated([7], 95), 7)
    assert.isUndefined(Statistics.percentileInterpolated([], 50))
    const [least, most] = [-Number.MAX_VALUE, Number.MAX_VALUE]
    assert.strictEqual(Statistics.percentileInterpolated([least, most], 50), 0)
  })

  it.prop("at one half is the median", [sorted], ([samples]) => {
    const median = Statistics.median(samples) ?? NaN
    assert.approximately(
      Statistics.percentileInterpolated(samples, 50) ?? NaN,
      median,
      1e-12 * Math.abs(median) + 1e-300
    )
  })

  it.prop("lies within the samples", [sorted, percent], ([samples, p]) => {
    const found = Statistics.percentileInterpolated(samples, p) ?? NaN
    const slack = 1e-12 * Math.abs(found)
    assert.isTrue(found >= (samples[0] ?? NaN) - slack && found <= (samples[samples.length - 1] ?? NaN) + slack)
  })
})

describe("medianAbsoluteDeviation", () => {
  it("is that of SciPy", () => {
    assert.strictEqual(Statistics.medianAbsoluteDeviation([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 22, 100]), 3)
    assert.strictEqual(Statistics.medianAbsoluteDeviation([1, 5, 8, 100]), 3.5)
    assert.strictEqual(Statistics.medianAbsoluteDeviation([-1, 2.5, 3, 3, 7.75, 40]), 2.25)
  })

  it("is 0 of one or of equal samples, and undefined without samples", () => {
    assert.strictEqual(Statistics.medianAbsoluteDeviation([5]), 0)
    assert.strictEqual(Statistics.medianAbsoluteDeviation([0, 0, 0]), 0)
    assert.isUndefined(Statistics.medianAbsoluteDeviation([]))
  })

  it.prop(
    "does not depend on where the samples are",
    [FastCheck.array(FastCheck.integer({ min: -999, max: 999 }))],
    ([list]) => {
      const samples = [...list].sort((a, b) => a - b)
      assert.strictEqual(
        Statistics.medianAbsoluteDeviation(samples.map((sample) => sample + 4096)),
        Statistics.medianAbsoluteDeviation(samples)
      )
    }
  )
})
