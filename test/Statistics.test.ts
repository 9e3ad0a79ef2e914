import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Statistics from "../src/Statistics.js"

const oneTo = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, index) => index + 1)

const finite = FastCheck.double({ noNaN: true, noDefaultInfinity: true })
const sorted = FastCheck.array(finite, { minLength: 1, maxLength: 60 }).map((samples) => samples.sort((a, b) => a - b))
const percent = FastCheck.integer({ min: 1, max: 100 })

describe("percentileNearestRank", () => {
  it("takes the sample at ceil(p / 100 × n)", () => {
    const scores = [15, 20, 35, 40, 50]
    assert.deepStrictEqual(
      [5, 20, 30, 40, 50, 81, 100].map((p) => Statistics.percentileNearestRank(scores, p)),
      [15, 15, 20, 20, 35, 50, 50]
    )
  })

  it("does not round a whole rank up", () => {
    assert.strictEqual(Statistics.percentileNearestRank(oneTo(100), 7), 7)
    assert.strictEqual(Statistics.percentileNearestRank(oneTo(1000), 99.9), 999)
  })

  it("takes the nearest end outside 0 to 100", () => {
    assert.strictEqual(Statistics.percentileNearestRank(oneTo(9), 0), 1)
    assert.strictEqual(Statistics.percentileNearestRank(oneTo(9), 250), 9)
  })

  it("is undefined without samples", () => {
    assert.isUndefined(Statistics.percentileNearestRank([], 50))
  })

  it.prop("is the least sample that p percent do not exceed", [sorted, percent], ([samples, p]) => {
    const value = Statistics.percentileNearestRank(samples, p)
    const least = samples.find(
      (sample) => samples.filter((other) => other <= sample).length * 100 >= p * samples.length
    )
    assert.strictEqual(value, least)
  })

  it.prop("does not fall as p grows", [sorted, percent, percent], ([samples, p, q]) => {
    const low = Statistics.percentileNearestRank(samples, Math.min(p, q)) ?? NaN
    const high = Statistics.percentileNearestRank(samples, Math.max(p, q)) ?? NaN
    assert.isTrue(low <= high)
  })
})

describe("median", () => {
  it("is the middle sample of an odd count", () => assert.strictEqual(Statistics.median([1, 5, 100]), 5))
  it("is the mean of the middle two of an even count", () => assert.strictEqual(Statistics.median([1, 5, 8, 100]), 6.5))
  it("is the sample itself when there is one", () => assert.strictEqual(Statistics.median([3]), 3))
  it("is undefined without samples", () => assert.isUndefined(Statistics.median([])))
  it("does not overflow", () => {
    assert.strictEqual(Statistics.median([Number.MAX_VALUE, Number.MAX_VALUE]), Number.MAX_VALUE)
  })

  it.prop("has as many samples on either side", [sorted], ([samples]) => {
    const middle = Statistics.median(samples) ?? NaN
    const below = samples.filter((sample) => sample < middle).length
    const above = samples.filter((sample) => sample > middle).length
    assert.isTrue(below <= samples.length / 2 && above <= samples.length / 2)
  })
})

describe("mean", () => {
  it("is the sum over the count", () => assert.strictEqual(Statistics.mean([1, 2, 6]), 3))
  it("is undefined without samples", () => assert.isUndefined(Statistics.mean([])))
  it("does not overflow", () => {
    assert.strictEqual(Statistics.mean(new Array<number>(3).fill(Number.MAX_VALUE)), Number.MAX_VALUE)
  })

  it.prop("lies within the extremes", [sorted], ([samples]) => {
    const value = Statistics.mean(samples) ?? NaN
    assert.isTrue((samples[0] ?? NaN) <= value && value <= (samples.at(-1) ?? NaN))
  })
})

describe("trimmed", () => {
  it("drops floor(n × fraction) from each end", () => {
    assert.deepStrictEqual(Statistics.trimmed(oneTo(10), 0.29), oneTo(8).slice(2))
    assert.deepStrictEqual(Statistics.trimmed(oneTo(19), 0.05), oneTo(19))
  })

  it("keeps everything when nothing would be left", () => {
    assert.deepStrictEqual(Statistics.trimmed([1, 2], 0.5), [1, 2])
    assert.deepStrictEqual(Statistics.trimmed([], 0.2), [])
  })

  it("keeps everything for a negative or absent fraction", () => {
    assert.deepStrictEqual(Statistics.trimmed([1, 2, 3], -1), [1, 2, 3])
    assert.deepStrictEqual(Statistics.trimmed([1, 2, 3], NaN), [1, 2, 3])
  })

  it("keeps the kind of array", () => {
    assert.deepStrictEqual(Statistics.trimmed(Float64Array.of(1, 2, 3, 4), 0.25), Float64Array.of(2, 3))
  })

  it.prop(
    "keeps the middle",
    [sorted, FastCheck.double({ min: 0, max: 0.5, maxExcluded: true, noNaN: true })],
    ([samples, fraction]) => {
      const kept = Statistics.trimmed(samples, fraction)
      assert.strictEqual((samples.length - kept.length) % 2, 0)
      assert.strictEqual(Statistics.median(kept), Statistics.median(samples))
    }
  )
})

describe("summary", () => {
  it("describes samples in any order", () => {
    assert.deepStrictEqual(Statistics.summary([4, 1, 3, 2]), {
      count: 4,
      min: 1,
      median: 2.5,
      p95: 4,
      p99: 4,
      max: 4,
      mean: 2.5
    })
  })

  it("describes a single sample", () => {
    assert.deepStrictEqual(Statistics.summary([7]), { count: 1, min: 7, median: 7, p95: 7, p99: 7, max: 7, mean: 7 })
  })

  it("is undefined without samples", () => assert.isUndefined(Statistics.summary([])))

  it("leaves its input alone", () => {
    const samples = [3, 1, 2]
    Statistics.summary(samples)
    assert.deepStrictEqual(samples, [3, 1, 2])
  })
})

describe("describe", () => {
  it("gives raw and trimmed statistics side by side", () => {
    const both = Statistics.describe(oneTo(100), 0.05)
    assert.deepStrictEqual(both, {
      raw: { count: 100, min: 1, median: 50.5, p95: 95, p99: 99, max: 100, mean: 50.5 },
      trimmed: { count: 90, min: 6, median: 50.5, p95: 91, p99: 95, max: 95, mean: 50.5 }
    })
  })

  it("is undefined without samples", () => assert.isUndefined(Statistics.describe([], 0.05)))
})

describe("samplesNeededFor", () => {
  it("is 20 for p95, 100 for p99 and 1000 for p99.9", () => {
    assert.deepStrictEqual([50, 90, 95, 99, 99.9].map(Statistics.samplesNeededFor), [2, 10, 20, 100, 1000])
  })

  it("is never reached for the maximum itself", () => {
    assert.strictEqual(Statistics.samplesNeededFor(100), Infinity)
  })

  it.prop(
    "is the first count whose percentile is not the maximum",
    [FastCheck.oneof(FastCheck.integer({ min: 0, max: 99 }), FastCheck.double({ min: 0, max: 99.9, noNaN: true }))],
    ([p]) => {
      const needed = Statistics.samplesNeededFor(p)
      assert.notStrictEqual(Statistics.percentileNearestRank(oneTo(needed), p), needed)
      assert.strictEqual(Statistics.percentileNearestRank(oneTo(needed - 1), p), needed - 1)
    }
  )
})

describe("Samples", () => {
  const collect = (values: Iterable<number>) => {
    const samples = new Statistics.Samples()
    for (const value of values) samples.push(value)
    return samples
  }

  it("starts empty", () => {
    assert.strictEqual(new Statistics.Samples().count, 0)
    assert.deepStrictEqual(new Statistics.Samples().sorted(), new Float64Array(0))
  })

  it("keeps every sample across its chunks", () => {
    const samples = collect(oneTo(50_000).toReversed())
    assert.strictEqual(samples.count, 50_000)
    assert.deepStrictEqual(samples.sorted(), Float64Array.from(oneTo(50_000)))
  })

  it("stays usable after it was read", () => {
    const samples = collect([2, 1])
    samples.sorted()
    samples.push(0)
    assert.deepStrictEqual(samples.sorted(), Float64Array.of(0, 1, 2))
  })

  it("sorts by value, not as text", () => {
    assert.deepStrictEqual(collect([100, 9, -80, 7]).sorted(), Float64Array.of(-80, 7, 9, 100))
  })

  it("joins several buffers in one sorted array", () => {
    assert.deepStrictEqual(Statistics.union([collect([5, 1]), collect([]), collect([3])]), Float64Array.of(1, 3, 5))
  })

  it.prop("gives back what was pushed", [FastCheck.array(finite, { maxLength: 100 })], ([values]) => {
    assert.deepStrictEqual(collect(values).sorted(), Float64Array.from(values).sort())
  })
})
