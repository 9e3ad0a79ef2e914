import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import * as Histogram from "../src/Histogram.js"
import * as Statistics from "../src/Statistics.js"

const of = (samples: Iterable<number>, accuracy?: number): Histogram.Histogram => {
  const histogram = Histogram.make({ accuracy })
  for (const sample of samples) histogram.add(sample)
  return histogram
}

const merged = (first: Histogram.Histogram, second: Histogram.Histogram): Histogram.Histogram =>
  Either.getOrThrow(Histogram.merge(first, second))

const percents = [0, 1, 25, 50, 90, 95, 99, 99.9, 100]

const numbers = FastCheck.oneof(
  FastCheck.double({ min: -1e12, max: 1e12, noNaN: true }),
  FastCheck.constantFrom(0, -0, 1e-9, -1e-9, 1e12, 5, 5, 5, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE)
)
const samples = FastCheck.array(numbers, { maxLength: 80 })
const accuracies = FastCheck.constantFrom(0.001, 0.01, 0.1)
/** Sums of them are exact in any order. */
const whole = FastCheck.array(FastCheck.integer({ min: -1000, max: 1000 }), { maxLength: 60 })

describe("Histogram", () => {
  it("has the exact percentiles, but for its accuracy", () =>
    FastCheck.assert(
      FastCheck.property(samples, accuracies, (values, accuracy) => {
        const histogram = of(values, accuracy)
        const sorted = Float64Array.from(values).sort()
        for (const p of percents) {
          const [found, exact] = [histogram.percentile(p), Statistics.percentileNearestRank(sorted, p)]
          if (exact === undefined) return assert.isUndefined(found)
          assert.isDefined(found)
          assert.isTrue(Number.isFinite(found) && !Object.is(found, -0))
          const off = accuracy * (1 + 1e-9) * Math.abs(exact) + 3e-308
          assert.isAtMost(Math.abs(found - exact), off, `p${p} is ${found} instead of ${exact}`)
        }
      }),
      { numRuns: 300 }
    ))

  it("of latencies has percentiles within 1 %", () => {
    const latencies = Float64Array.from({ length: 20_000 }, (_, i) => 0.2 * Math.exp(((i * 7919) % 20_000) / 2500))
    const histogram = of(latencies)
    latencies.sort()
    for (const p of percents) {
      const exact = Statistics.percentileNearestRank(latencies, p) ?? 0
      assert.isAtMost(Math.abs((histogram.percentile(p) ?? 0) / exact - 1), 0.01 + 1e-9)
    }
    assert.isBelow(histogram.toJSON().positive.length, 116 * 4)
  })

  it("knows count, sum, mean and extremes exactly", () => {
    const histogram = of([2.5, -4, 0, 10])
    assert.deepStrictEqual(
      [histogram.count, histogram.sum, histogram.mean, histogram.min, histogram.max],
      [4, 8.5, 2.125, -4, 10]
    )
  })

  it("is empty without samples", () => {
    const empty = Histogram.make()
    assert.deepStrictEqual(
      [empty.count, empty.sum, empty.mean, empty.min, empty.max],
      [0, 0, undefined, undefined, undefined]
    )
    assert.isUndefined(empty.percentile(50))
  })

  it("of one sample, or of equal ones, has that sample as every percentile", () => {
    for (const value of [0, -0, 7, -7, 1e-9, 1e12, Number.MAX_VALUE, Number.MIN_VALUE]) {
      for (const times of [1, 2, 5]) {
        const histogram = of(new Float64Array(times).fill(value))
        for (const p of percents) assert.strictEqual(histogram.percentile(p), value + 0)
        assert.strictEqual(histogram.mean, value + 0)
      }
    }
  })

  it("refuses samples that are not finite, and accuracies that are none", () => {
    for (const sample of [NaN, Infinity, -Infinity]) {
      const histogram = Histogram.make()
      assert.throws(() => histogram.add(sample), RangeError, `finite number, not ${sample}`)
      assert.strictEqual(histogram.count, 0)
    }
    for (const accuracy of [0, 1, -0.1, NaN]) assert.throws(() => Histogram.make({ accuracy }), RangeError)
  })
})

describe("merge", () => {
  it("counts what counting all samples would", () =>
    FastCheck.assert(
      FastCheck.property(whole, whole, (first, second) => {
        const [a, b] = [of(first), of(second)]
        const before = [a.toJSON(), b.toJSON()]
        assert.deepStrictEqual(merged(a, b).toJSON(), of([...first, ...second]).toJSON())
        assert.deepStrictEqual([a.toJSON(), b.toJSON()], before, "both are left as they are")
      })
    ))

  it("is associative and commutative, with an empty one as the neutral element", () =>
    FastCheck.assert(
      FastCheck.property(whole, whole, whole, (first, second, third) => {
        const [a, b, c] = [of(first), of(second), of(third)]
        assert.deepStrictEqual(merged(merged(a, b), c).toJSON(), merged(a, merged(b, c)).toJSON())
        assert.deepStrictEqual(merged(a, b).toJSON(), merged(b, a).toJSON())
        assert.deepStrictEqual(merged(a, Histogram.make()).toJSON(), a.toJSON())
      })
    ))

  it("does not overflow", () => {
    const largest = of([Number.MAX_VALUE, Number.MAX_VALUE])
    const both = merged(largest, largest)
    assert.deepStrictEqual([both.count, both.sum], [4, Number.MAX_VALUE])
  })

  it("fails when the accuracies differ, and says so", () => {
    const error = Either.getOrThrow(Either.flip(Histogram.merge(of([1], 0.01), of([1], 0.02))))
    assert.strictEqual(error._tag, "AccuracyMismatch")
    assert.strictEqual(
      error.message,
      'Histograms of accuracy 0.01 and 0.02 cannot be merged; count both with the same "accuracy".'
    )
  })
})

describe("FromJson", () => {
  const decode = Schema.decodeUnknownEither(Histogram.FromJson)

  it("keeps everything through JSON", () =>
    FastCheck.assert(
      FastCheck.property(samples, accuracies, (values, accuracy) => {
        const histogram = of(values, accuracy)
        const text = JSON.stringify(Schema.encodeSync(Histogram.FromJson)(histogram))
        const decoded = Either.getOrThrow(decode(JSON.parse(text)))
        assert.deepStrictEqual(decoded.toJSON(), histogram.toJSON())
        assert.strictEqual(JSON.stringify(decoded), text)
        for (const p of percents) assert.strictEqual(decoded.percentile(p), histogram.percentile(p))
        decoded.add(3)
        assert.strictEqual(decoded.count, values.length + 1)
      })
    ))

  it("is written with its bins", () =>
    assert.deepStrictEqual(Schema.encodeSync(Histogram.FromJson)(of([1, 1, 0, -2], 0.5)), {
      version: 1,
      accuracy: 0.5,
      zeros: 1,
      negative: [[1, 1]],
      positive: [[0, 2]],
      sum: 0,
      min: -2,
      max: 1
    }))

  const valid = { version: 1, accuracy: 0.01, zeros: 0, negative: [], positive: [[0, 2]], sum: 2, min: 1, max: 1 }
  const wrong: ReadonlyArray<readonly [what: string, change: Readonly<Record<string, unknown>>, says: RegExp]> = [
    ["another version", { version: 2 }, /version/],
    ["an accuracy of 1", { accuracy: 1 }, /accuracy/],
    ["a count of 0", { positive: [[0, 0]] }, /positive/],
    ["a bin between two", { positive: [[0.5, 2]] }, /positive/],
    [
      "a bin that is there twice",
      {
        positive: [
          [0, 1],
          [0, 1]
        ]
      },
      /not in ascending order/
    ],
    ["no extremes", { min: undefined, max: undefined }, /"min" and "max"/],
    ["extremes elsewhere", { min: 0.5 }, /lowest/],
    ["extremes without samples", { positive: [] }, /without samples/],
    ["a sum that is not finite", { sum: Infinity }, /sum/],
    ["too many samples", { zeros: Number.MAX_SAFE_INTEGER, min: 0 }, /more samples than can be counted/]
  ]
  for (const [what, change, says] of wrong) {
    it(`refuses ${what}`, () => {
      assert.isTrue(Either.isRight(decode(valid)))
      assert.match(String(Either.getOrThrow(Either.flip(decode({ ...valid, ...change })))), says)
    })
  }
})
