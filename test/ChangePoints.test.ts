/**
 * Outside values were computed with NumPy by the definition, every division of every part: the energy distance between both
 * sides from all pairs, scaled, and as many permutations (generator default_rng(11)). Samples: default_rng(7).normal, rounded.
 */
import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as ChangePoints from "../src/ChangePoints.js"

const indexes = (values: ReadonlyArray<number>, options?: ChangePoints.ChangePointOptions) =>
  ChangePoints.changePoints(values, options).map(({ index }) => index)

// 14 around 100, 12 around 112, standard deviation 4
// prettier-ignore
const one = [100, 101.2, 98.9, 96.4, 98.2, 96, 100.2, 105.4, 98, 97.5, 102, 101.4, 100.4, 96.3, 111.9, 114.8, 106.6, 110.2, 104.4, 106.8, 104.6, 111.1, 106.9, 113.1, 112.6, 111.3]
// 12 around 50, 10 around 60, 11 around 45, standard deviation 2
// prettier-ignore
const two = [45, 48.9, 49.9, 50.2, 46.9, 49, 48, 48.4, 52.1, 48.4, 49.9, 51.8, 58.8, 59.8, 60.2, 60.1, 57.5, 60.2, 62.7, 56.9, 61.7, 60.2, 43.7, 49, 46.5, 42.6, 45.1, 46.2, 44.6, 46.4, 44.9, 46.3, 47.9]
// prettier-ignore
const none = [97.3, 100.8, 98.1, 100.5, 95.3, 97.7, 99.2, 103.6, 104.6, 94.7, 96.8, 102.6, 92, 98.1, 99.6, 105, 102.8, 98.7, 98.5, 99, 106.1, 98.3, 98.8, 101.4]
// 10 around 100 and 10 around 104: p = 0.18
// prettier-ignore
const small = [99.5, 99.2, 95.5, 100, 98.2, 104.7, 102.6, 99.9, 102.7, 98.6, 108.2, 104, 106.3, 98.8, 105.4, 97.2, 95.9, 102.8, 100.4, 104.7]

describe("changePoints", () => {
  it("says where the level changes and by how much", () =>
    assert.deepStrictEqual(ChangePoints.changePoints(one), [
      { index: 14, before: 99.45, after: 110.65, change: (110.65 - 99.45) / 99.45, p: 0.001 }
    ]))

  it("finds several, between the levels next to each other", () => {
    const found = ChangePoints.changePoints(two)
    assert.deepStrictEqual(
      found.map(({ after, before, index }) => [index, before, after]),
      [
        [12, 48.95, (60.1 + 60.2) / 2],
        [22, (60.1 + 60.2) / 2, 46.2]
      ]
    )
    for (const { p } of found) assert.isAtMost(p, 0.01)
  })

  it("finds none where chance explains it", () => {
    assert.deepStrictEqual(indexes(none), [])
    assert.deepStrictEqual(indexes(small), [])
  })

  it("has the p of the definition", () => {
    const [found] = ChangePoints.changePoints(small, { alpha: 1, permutations: 999 }).filter(({ index }) => index === 5)
    assert.approximately(found?.p ?? 0, 0.178, 0.05)
  })

  it("calls about as many series changed that are not as alpha says", () => {
    // Weyl sequences of irrational steps, shuffled by their digits: no level changes.
    const series = Array.from({ length: 200 }, (_, s) =>
      Array.from({ length: 20 }, (_, i) => Math.abs((Math.sin((s * 20 + i + 1) * 12.9898) * 43758.5453) % 1))
    )
    const changed = series.filter((values) => indexes(values, { alpha: 0.1, permutations: 99 }).length > 0)
    assert.isAtMost(changed.length, 40)
    assert.isAtLeast(changed.length, 4)
  })

  it("needs so many values that permutations can be rare", () => {
    assert.deepStrictEqual(indexes([]), [])
    assert.deepStrictEqual(indexes([1]), [])
    assert.deepStrictEqual(indexes([1, 2]), [])
    assert.deepStrictEqual(indexes([1, 1, 1, 9, 9, 9]), [])
    assert.deepStrictEqual(indexes([1, 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9]), [6])
  })

  it("keeps so many values on each level", () => {
    const values = [...Array.from({ length: 20 }, (_, i) => i % 3), 50, 51, 52]
    assert.deepStrictEqual(indexes(values, { fewest: 3 }), [20])
    for (const index of indexes(values, { fewest: 6 })) assert.isTrue(index >= 6 && index <= values.length - 6)
    assert.deepStrictEqual(indexes(values, { fewest: 12 }), [])
    const reversed = [...values].reverse()
    assert.deepStrictEqual(indexes(reversed), [3])
    for (const index of indexes(reversed, { fewest: 6, alpha: 0.2 })) assert.isTrue(index >= 6)
  })

  it("has no fraction of 0, and nothing that is not finite", () => {
    const steps = (before: number, after: number) =>
      ChangePoints.changePoints([...new Array<number>(8).fill(before), ...new Array<number>(8).fill(after)])
    assert.deepStrictEqual(
      [steps(0, 5), steps(-0, 5), steps(-4, -2), steps(1e-9, 1e12)].map(([found]) => [
        found?.before,
        found?.after,
        found?.change
      ]),
      [
        [0, 5, undefined],
        [0, 5, undefined],
        [-4, -2, 0.5],
        [1e-9, 1e12, (1e12 - 1e-9) / 1e-9]
      ]
    )
    const largest = steps(-Number.MAX_VALUE, Number.MAX_VALUE)
    assert.deepStrictEqual(
      largest.map(({ change, index }) => [index, change]),
      [[8, undefined]]
    )
    for (const value of [0, -0, -3, 1e12]) assert.deepStrictEqual(steps(value, value), [])
  })

  it("does not depend on the unit, nor on where its 0 is", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.integer({ min: 0, max: 9 }), { minLength: 8, maxLength: 12 }),
        FastCheck.array(FastCheck.integer({ min: 5, max: 30 }), { minLength: 8, maxLength: 12 }),
        (before, after) => {
          const values = [...before, ...after]
          const found = ChangePoints.changePoints(values, { permutations: 199 })
          const scaled = ChangePoints.changePoints(
            values.map((value) => value * 1024 - 4096),
            { permutations: 199 }
          )
          assert.deepStrictEqual(
            scaled.map(({ index, p }) => [index, p]),
            found.map(({ index, p }) => [index, p])
          )
          found.forEach(({ index }, i) => assert.isTrue(index > (found[i - 1]?.index ?? 0) && index < values.length))
        }
      ),
      { numRuns: 40 }
    ))

  it("is the same for the same seed", () =>
    assert.deepStrictEqual(ChangePoints.changePoints(two, { seed: 4 }), ChangePoints.changePoints(two, { seed: 4 })))
})
