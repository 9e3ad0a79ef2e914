/**
 * Outside values were computed with SciPy 1.17.1 and NumPy, seed 7 for the samples:
 *
 *   stats.mannwhitneyu(a, b, method="exact" | "asymptotic"), stats.fisher_exact, stats.false_discovery_control,
 *   stats.norm.cdf, special.gammaln, np.median(np.subtract.outer(a, b)),
 *   stats.bootstrap((s,), statistic, n_resamples=200000, method="percentile"), the 95th percentile by "inverted_cdf"
 *   stats.bootstrap((s,), np.mean, n_resamples=400000, method="BCa"), and of (first, second) their ratio
 *
 * and with R 4.2.2:
 *
 *   wilcox.test(a, b, conf.int = TRUE, exact = TRUE), qnorm, and wilcox.exact(a, b) of exactRankTests 0.8-35
 *
 * The interval of Cliff's delta was computed in NumPy from the matrix np.sign(np.subtract.outer(a, b)) by the formulas of the papers.
 */
import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Inference from "../src/Inference.js"
import { logGamma, normalCdf, normalQuantile } from "../src/internal/statistics/distributions.js"
import { Means } from "../src/internal/statistics/means.js"
import { binomial, generator } from "../src/internal/statistics/random.js"
import * as Statistics from "../src/Statistics.js"

const close = (actual: number | undefined, expected: number, relative = 1e-9) => {
  assert.isDefined(actual)
  const error = Math.abs(actual - expected)
  assert.isAtMost(error, relative * Math.max(Math.abs(expected), 1e-300), `${actual} instead of ${expected}`)
}

const sorted = (values: ReadonlyArray<number>): Float64Array => Float64Array.from(values).sort()

const a = [1.1, 2.3, 3.7, 4.2, 5.9, 8.4]
const b = [2.0, 3.1, 6.6, 7.7, 9.8]

// prettier-ignore
const s41 = [2.859, 3.106, 3.59, 3.858, 4.028, 4.155, 4.156, 4.207, 4.64, 4.992, 5.346, 5.83, 6.084, 6.099, 6.119, 6.237, 6.373, 6.715, 6.764, 6.768, 6.917, 7.832, 8.02, 8.066, 8.209, 8.234, 8.989, 9.318, 9.557, 9.964, 10.992, 11.053, 12.193, 12.362, 12.57, 12.71, 12.885, 14.464, 14.496, 16.342, 26.271]
// prettier-ignore
const s120 = [1.804, 2.618, 2.867, 2.951, 2.995, 3.124, 3.204, 3.391, 3.439, 3.448, 3.479, 3.687, 3.739, 3.776, 3.791, 3.878, 3.952, 4.031, 4.201, 4.217, 4.289, 4.293, 4.303, 4.31, 4.315, 4.384, 4.386, 4.395, 4.422, 4.455, 4.533, 4.533, 4.546, 4.569, 4.6, 4.697, 4.782, 4.886, 4.935, 5.003, 5.037, 5.064, 5.068, 5.096, 5.098, 5.137, 5.151, 5.339, 5.429, 5.453, 5.616, 5.652, 5.703, 5.75, 5.874, 6.045, 6.069, 6.102, 6.188, 6.296, 6.345, 6.378, 6.406, 6.562, 6.595, 6.743, 6.838, 6.9, 7.015, 7.021, 7.051, 7.085, 7.148, 7.153, 7.173, 7.176, 7.208, 7.213, 7.216, 7.245, 7.248, 7.275, 7.276, 7.373, 7.402, 7.575, 7.584, 7.641, 7.735, 8.004, 8.306, 8.348, 8.373, 8.746, 8.933, 8.964, 9.174, 9.615, 9.891, 9.913, 9.99, 10.005, 10.234, 10.735, 11.136, 11.137, 11.322, 11.49, 11.932, 12.084, 12.431, 12.63, 12.844, 14.087, 14.775, 14.814, 15.629, 18.739, 18.791, 19.185]
// prettier-ignore
const s40 = [2.083, 3.215, 3.391, 3.465, 3.504, 3.864, 4.047, 4.535, 5.329, 5.379, 5.605, 5.932, 5.977, 6.13, 6.138, 6.457, 6.49, 6.828, 6.865, 6.884, 7.736, 7.938, 7.968, 8.194, 8.306, 8.313, 8.344, 8.461, 8.514, 8.923, 8.95, 9.164, 9.302, 9.669, 9.739, 10.161, 11.837, 12.242, 13.26, 13.961]
// prettier-ignore
const large = { first: [7.34, 8.573, 8.898, 9.033, 9.052, 9.389, 9.615, 9.93, 9.99, 10.224, 10.817, 10.862, 10.891, 11.228, 11.556, 11.572, 11.732, 11.829, 11.985, 11.991, 12.048, 12.098, 12.305, 12.349, 12.432, 12.492, 12.774, 12.863, 12.893, 13.173, 13.176, 13.284, 13.509, 13.58, 13.598, 13.843, 14.014, 14.066, 14.251, 14.322, 14.401, 14.534, 14.541, 14.545, 14.616, 14.624, 14.866, 15.214, 15.329, 15.356, 15.54, 15.599, 15.636, 15.649, 15.671, 15.857, 15.904, 15.931, 16.032, 16.053, 16.165, 16.188, 16.192, 16.392, 16.398, 16.496, 16.592, 16.688, 16.689, 16.726, 16.739, 16.746, 16.82, 16.836, 16.925, 17.286, 17.332, 17.532, 17.621, 17.625, 17.782, 17.788, 17.801, 17.815, 18.0, 18.001, 18.173, 18.283, 18.478, 18.497, 18.561, 18.57, 18.625, 18.638, 18.717, 18.841, 18.885, 18.905, 18.97, 18.986, 19.138, 19.155, 19.208, 19.319, 19.459, 19.558, 19.564, 19.678, 19.7, 19.816, 19.826, 19.852, 19.892, 19.898, 19.993, 20.042, 20.095, 20.15, 20.193, 20.265, 20.371, 20.575, 20.605, 20.668, 20.693, 20.707, 20.816, 20.951, 20.993, 21.017, 21.068, 21.135, 21.166, 21.385, 21.448, 21.695, 21.786, 21.805, 22.285, 22.388, 22.571, 22.635, 22.987, 23.073, 23.128, 23.168, 23.223, 23.407, 24.093, 24.433, 24.464, 24.729, 24.947, 25.297, 25.365, 25.843, 26.017, 26.082, 26.23, 26.242, 26.369, 26.395, 26.463, 26.526, 26.602, 26.95, 27.186, 27.246, 27.429, 27.456, 28.008, 28.181, 28.325, 28.61, 28.775, 29.036, 29.365, 29.558, 29.565, 29.631, 30.595, 30.703, 31.169, 31.756, 32.023, 32.156, 33.104, 33.209, 33.209, 34.268, 34.332, 34.589, 35.266, 35.709, 35.755, 36.818, 36.944, 38.924, 44.709, 49.299], second: [6.046, 7.804, 9.206, 9.545, 10.099, 10.189, 10.733, 11.201, 11.297, 11.308, 11.502, 11.503, 11.738, 12.117, 12.429, 12.634, 12.716, 12.919, 13.068, 13.351, 13.48, 13.482, 13.887, 13.898, 14.04, 14.245, 14.257, 14.429, 14.615, 14.627, 14.791, 14.885, 14.918, 14.944, 15.049, 15.228, 15.237, 15.453, 15.57, 15.734, 15.766, 15.772, 16.229, 16.253, 16.31, 16.83, 16.883, 16.92, 17.061, 17.219, 17.451, 17.51, 17.606, 17.777, 17.957, 18.144, 18.441, 18.466, 18.972, 18.996, 19.134, 19.327, 19.581, 19.697, 19.761, 19.931, 20.02, 20.069, 20.119, 20.203, 20.269, 20.32, 20.448, 20.462, 20.468, 20.518, 20.67, 20.766, 20.906, 21.009, 21.417, 21.465, 21.478, 21.612, 21.659, 21.66, 21.685, 21.705, 21.728, 21.844, 22.008, 22.074, 22.088, 22.133, 22.149, 22.18, 22.542, 22.543, 22.571, 22.596, 22.62, 22.628, 22.685, 22.699, 22.806, 22.929, 22.949, 23.193, 23.198, 23.643, 23.964, 24.003, 24.11, 24.186, 24.196, 24.198, 24.21, 24.536, 24.624, 24.624, 24.951, 24.995, 25.22, 25.375, 25.429, 25.596, 25.828, 25.924, 26.118, 26.692, 27.047, 27.151, 27.174, 27.185, 27.233, 27.689, 27.698, 27.723, 27.961, 28.129, 28.638, 29.008, 29.444, 29.883, 30.226, 30.636, 30.777, 31.059, 31.245, 31.334, 31.483, 31.483, 31.621, 31.663, 32.032, 32.585, 32.646, 34.211, 34.382, 34.892, 35.228, 35.703, 37.035, 37.842, 39.812, 40.111, 40.196, 40.639, 40.843, 40.845, 40.919, 41.581, 42.144, 44.203, 46.916, 47.068, 48.468, 49.71, 49.902, 54.767] }

describe("distributions", () => {
  it("are those of SciPy", () => {
    for (const [z, p] of [
      [-8, 6.22096057427174e-16],
      [-3.2, 0.0006871379379158471],
      [-1.96, 0.024997895148220435],
      [0, 0.5],
      [0.5, 0.6914624612740131],
      [2.5758293, 0.9949999999486838]
    ] as const) {
      close(normalCdf(z), p, 1e-8)
    }
    for (const [x, value] of [
      [0.5, 0.5723649429247],
      [3.7, 1.428072326665388],
      [100.5, 361.43554046777757],
      [1e5, 1051287.7089736569]
    ] as const) {
      close(logGamma(x), value, 1e-10)
    }
    assert.isAtMost(Math.abs(logGamma(1)), 1e-12)
    assert.deepStrictEqual([normalCdf(-50), normalCdf(50)], [0, 1])
  })

  it("have the quantiles of R", () => {
    for (const [p, z] of [
      [1e-10, -6.36134090240406],
      [0.001, -3.09023230616781],
      [0.025, -1.95996398454005],
      [0.3, -0.524400512708041],
      [0.975, 1.95996398454005]
    ] as const) {
      close(normalQuantile(p), z, 1e-9)
    }
    assert.isAtMost(Math.abs(normalQuantile(0.5)), 1e-12)
    assert.deepStrictEqual([normalQuantile(0), normalQuantile(1)], [-Infinity, Infinity])
  })

  it("of binomial numbers have their mean and variance", () => {
    const random = generator(5)
    for (const [n, p] of [
      [10, 0.3],
      [5000, 0.08],
      [100_000, 0.004]
    ] as const) {
      const drawn = Array.from({ length: 4000 }, () => binomial(n, p, random))
      const mean = drawn.reduce((sum, k) => sum + k, 0) / drawn.length
      const variance = drawn.reduce((sum, k) => sum + (k - mean) ** 2, 0) / drawn.length
      assert.isAtMost(Math.abs(mean - n * p), 5 * Math.sqrt((n * p * (1 - p)) / drawn.length))
      close(variance, n * p * (1 - p), 0.12)
      assert.isTrue(drawn.every((k) => Number.isInteger(k) && k >= 0 && k <= n))
    }
  })
})

describe("mannWhitney", () => {
  it("is exact for few samples without ties", () => {
    const test = Inference.mannWhitney(sorted(a), sorted(b))
    assert.deepInclude(test, { u: 11, method: "exact" })
    close(test?.p, 0.5367965367965368)
    const [even, odd] = [Array.from({ length: 30 }, (_, i) => 2 * i), Array.from({ length: 50 }, (_, i) => 2 * i + 1)]
    const larger = Inference.mannWhitney(sorted(even), sorted(odd))
    assert.deepInclude(larger, { u: 435, method: "exact" })
    close(larger?.p, 0.0015110566906150799)
  })

  it("is exact for as many as can be counted", () => {
    const [even, odd] = [
      Array.from({ length: 70 }, (_, i) => 2 * i + 11),
      Array.from({ length: 71 }, (_, i) => 2 * i - 6)
    ]
    const test = Inference.mannWhitney(sorted(even), sorted(odd))
    assert.deepInclude(test, { u: 3017, method: "exact" })
    close(test?.p, 0.0280954074194531)
  })

  it("is exact for few samples with ties", () => {
    for (const [first, second, u, p] of [
      [tied.first, tied.second, 21.5, 0.172891814068285],
      [
        [10, 10, 10, 11, 12, 12, 12, 13, 13, 14, 14, 15, 15, 15, 16, 17, 18, 18, 19, 19, 20, 22, 25],
        [12, 13, 14, 14, 15, 15, 16, 17, 17, 18, 18, 19, 19, 20, 20, 20, 21, 21, 22, 23, 24, 25, 25, 26, 30],
        139,
        0.00170720069690331
      ]
    ] as const) {
      const test = Inference.mannWhitney(sorted(first), sorted(second))
      assert.deepInclude(test, { u, method: "exact" })
      close(test?.p, p)
    }
  })

  it("with ties is exact as choosing in all ways is", () =>
    FastCheck.assert(
      FastCheck.property(few, few, (first, second) => {
        const all = sorted([...first, ...second])
        const middle = (first.length * second.length) / 2
        const us = choices(all.length, first.length).map((places) => {
          const chosen = new Set(places)
          const of = (isFirst: boolean) => all.filter((_, i) => chosen.has(i) === isFirst)
          return of(true).reduce((sum, x) => of(false).reduce((u, y) => u + (x > y ? 1 : x === y ? 0.5 : 0), sum), 0)
        })
        const test = Inference.mannWhitney(sorted(first), sorted(second))
        assert.isDefined(test)
        const distance = Math.abs(test.u - middle)
        close(test.p, us.filter((u) => Math.abs(u - middle) >= distance).length / us.length)
      }),
      { numRuns: 60 }
    ))

  it("corrects for ties and continuity otherwise", () => {
    const many = Inference.mannWhitney(sorted(large.first), sorted(large.second))
    assert.strictEqual(many?.u, 14429.5)
    close(many?.p, 0.0008401362029647709, 1e-8)
  })

  it("is exact as counting all orders is", () =>
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(4), FastCheck.nat(4), FastCheck.integer(), (n, m, seed) => {
        const values = Array.from({ length: n + m + 2 }, (_, i) => ((i + 1) * (seed * 2 + 1)) % 104729)
        if (new Set(values).size < values.length) return
        const [first, second] = [sorted(values.slice(0, n + 1)), sorted(values.slice(n + 1))]
        const test = Inference.mannWhitney(first, second)
        const us = choices(values.length, n + 1).map((ranks) => ranks.reduce((sum, rank, i) => sum + rank - i, 0))
        const extreme = Math.min(test?.u ?? 0, first.length * second.length - (test?.u ?? 0))
        const expected = Math.min(1, (2 * us.filter((u) => u <= extreme).length) / us.length)
        close(test?.p, expected)
      })
    ))

  it("finds nothing in nothing, nor in equals", () => {
    assert.isUndefined(Inference.mannWhitney([], [1]))
    assert.deepStrictEqual(Inference.mannWhitney([5, 5, 5], [5, 5]), { u: 3, p: 1, method: "exact" })
    const equal = new Float64Array(100).fill(5)
    assert.deepStrictEqual(Inference.mannWhitney(equal, equal), { u: 5000, p: 1, method: "normal approximation" })
    assert.deepStrictEqual(Inference.mannWhitney([1], [2]), { u: 0, p: 1, method: "exact" })
  })

  it("does not depend on which set comes first, nor on the scale", () =>
    FastCheck.assert(
      FastCheck.property(samples, samples, FastCheck.integer({ min: 1, max: 1000 }), (first, second, scale) => {
        const test = Inference.mannWhitney(sorted(first), sorted(second))
        const swapped = Inference.mannWhitney(sorted(second), sorted(first))
        assert.strictEqual((test?.u ?? 0) + (swapped?.u ?? 0), first.length * second.length)
        close(swapped?.p, test?.p ?? 0)
        const scaled = Inference.mannWhitney(sorted(first.map((x) => x * scale)), sorted(second.map((x) => x * scale)))
        assert.deepStrictEqual(scaled, test)
      })
    ))
})

const few = FastCheck.array(FastCheck.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 })

const tied = { first: [1, 2, 2, 3, 4, 4, 4, 5, 9], second: [2, 3, 4, 5, 6, 6, 7, 8] }

const samples = FastCheck.array(FastCheck.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 40 })

/** All ways to choose so many of the first integers, each in ascending order. */
const choices = (n: number, k: number, from = 0): ReadonlyArray<ReadonlyArray<number>> =>
  k === 0
    ? [[]]
    : Array.from({ length: n - from }, (_, i) => from + i).flatMap((first) =>
        choices(n, k - 1, first + 1).map((rest) => [first, ...rest])
      )

describe("fisherExact", () => {
  const tables = [
    [8, 10, 3, 10, 0.06977851869492736],
    [99, 100, 90, 100, 0.009658115943518335],
    [1000, 1000, 990, 1000, 0.0019094651653416143],
    [5, 5, 0, 5, 0.007936507936507938],
    [7, 12, 7, 12, 1]
  ] as const
  for (const [s1, n1, s2, n2, p] of tables) {
    it(`is ${p} for ${s1} of ${n1} and ${s2} of ${n2}`, () =>
      close(Inference.fisherExact({ successes: s1, total: n1 }, { successes: s2, total: n2 }), p, 1e-8))
  }

  it("is 1 when there is nothing to compare", () =>
    assert.strictEqual(Inference.fisherExact({ successes: 0, total: 0 }, { successes: 3, total: 3 }), 1))
})

describe("benjaminiHochberg", () => {
  it("adjusts as SciPy does", () => {
    const adjusted = Inference.benjaminiHochberg([0.01, 0.04, 0.03, 0.005, 0.55])
    ;[0.025, 0.05, 0.05, 0.025, 0.55].forEach((p, i) => close(adjusted[i], p))
    assert.deepStrictEqual(Inference.benjaminiHochberg([]), [])
    assert.deepStrictEqual(Inference.benjaminiHochberg([0.2]), [0.2])
  })

  it("never makes a p smaller, and keeps their order", () =>
    FastCheck.assert(
      FastCheck.property(FastCheck.array(FastCheck.double({ min: 0, max: 1, noNaN: true })), (ps) => {
        const adjusted = Inference.benjaminiHochberg(ps)
        ps.forEach((p, i) => {
          assert.isAtLeast(adjusted[i] ?? 0, p)
          assert.isAtMost(adjusted[i] ?? 0, 1)
          ps.forEach((other, j) => {
            if (p < other) assert.isAtMost(adjusted[i] ?? 0, adjusted[j] ?? 0)
          })
        })
      })
    ))
})

describe("effects", () => {
  it("are those of SciPy", () => {
    close(Inference.cliffsDelta(sorted(a), sorted(b)), (2 * 11) / 30 - 1)
  })

  it("have names", () =>
    assert.deepStrictEqual([0, -0.146, 0.2, -0.4, 0.474, 1].map(Inference.magnitudeOf), [
      "negligible",
      "negligible",
      "small",
      "medium",
      "large",
      "large"
    ]))

  it("are nothing without samples, and 0 between equals", () => {
    assert.isUndefined(Inference.cliffsDelta([], [1]))
    assert.strictEqual(Inference.cliffsDelta([3, 3], [3]), 0)
  })
})

describe("cliffsDeltaInterval", () => {
  it("is that of the definition", () => {
    for (const [first, second, level, low, high] of [
      [a, b, 0.95, -0.7585407478651328, 0.4187916256784827],
      [s41, s40, 0.95, -0.17443257816249202, 0.3186974907135229],
      [tied.first, tied.second, 0.95, -0.77030986732532, 0.16562896888618986],
      [s120, s40, 0.99, -0.39142101864879214, 0.1291995423326933]
    ] as const) {
      const interval = Inference.cliffsDeltaInterval(sorted(first), sorted(second), { level })
      close(interval?.low, low)
      close(interval?.high, high)
      assert.strictEqual(interval?.level, level)
    }
  })

  it("reaches to 1 when all samples of one set are the larger ones", () => {
    const z2 = normalQuantile(0.975) ** 2
    const above = Inference.cliffsDeltaInterval([7, 8, 9, 10, 11, 12], [1, 2, 3, 4])
    assert.isDefined(above)
    assert.strictEqual(above.high, 1)
    close(above.low, (4 - z2) / (4 + z2))
    assert.deepStrictEqual(Inference.cliffsDeltaInterval([1, 2, 3, 4], [7, 8, 9, 10, 11, 12]), {
      low: -1,
      high: -above.low,
      level: 0.95
    })
  })

  it("holds the delta, within -1 and 1, and turns around with the sets", () =>
    FastCheck.assert(
      FastCheck.property(samples, samples, (first, second) => {
        const [x, y] = [sorted(first), sorted(second)]
        const interval = Inference.cliffsDeltaInterval(x, y)
        if (Math.min(x.length, y.length) < 2) return assert.isUndefined(interval)
        assert.isDefined(interval)
        const delta = Inference.cliffsDelta(x, y) ?? 0
        assert.isTrue(-1 <= interval.low && interval.low <= delta && delta <= interval.high && interval.high <= 1)
        const swapped = Inference.cliffsDeltaInterval(y, x)
        assert.approximately(swapped?.low ?? NaN, -interval.high, 1e-12)
        assert.approximately(swapped?.high ?? NaN, -interval.low, 1e-12)
      })
    ))

  it("between equals is around 0, and none without two samples on both sides", () => {
    const equal = Inference.cliffsDeltaInterval([3, 3, 3], [3, 3, 3, 3])
    assert.isDefined(equal)
    assert.strictEqual(equal.low, -equal.high)
    assert.isUndefined(Inference.cliffsDeltaInterval([], []))
    assert.isUndefined(Inference.cliffsDeltaInterval([1], [2, 3]))
  })
})

describe("hodgesLehmann", () => {
  const shiftOf = (first: ReadonlyArray<number>, second: ReadonlyArray<number>, level = 0.95) =>
    Inference.hodgesLehmann(sorted(first), sorted(second), { level })

  it("is that of R, with its interval", () => {
    for (const [first, second, level, shift, low, high] of [
      [a, b, 0.95, -1.6, -6.1, 2.8],
      [s41, s40, 0.95, 0.3955, -1.021, 2.089],
      [s41, s40, 0.99, 0.3955, -1.505, 2.648]
    ] as const) {
      const found = shiftOf(first, second, level)
      close(found?.shift, shift)
      close(found?.interval?.low, low)
      close(found?.interval?.high, high)
    }
  })

  it("has the interval of R at ranks that are approximated, too", () => {
    // d <- sort(outer(x, y, "-")); q <- qwilcox(.025, 200, 150); d[q]; d[200 * 150 + 1 - q]; median(d)
    const x = Array.from({ length: 200 }, (_, i) => ((i + 1) * 37) % 1009).map((value) => value / 100)
    const y = Array.from({ length: 150 }, (_, i) => ((i + 1) * 53) % 997).map((value) => value / 100 + 1)
    const found = shiftOf(x, y)
    close(found?.shift, -1.09)
    close(found?.interval?.low, -1.73)
    close(found?.interval?.high, -0.47)
  })

  it("is the median of all differences", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.oneof(samples, FastCheck.array(values, { minLength: 1, maxLength: 40 })),
        FastCheck.oneof(samples, FastCheck.array(values, { minLength: 1, maxLength: 40 })),
        (first, second) => {
          const all = sorted(first.flatMap((x) => second.map((y) => x - y)))
          const found = shiftOf(first, second)
          assert.isDefined(found)
          assert.strictEqual(found.shift, (Statistics.median(all) ?? 0) + 0)
          if (found.interval === undefined) return
          const { high, low } = found.interval
          assert.isTrue(low <= found.shift && found.shift <= high && all.includes(low) && all.includes(high))
        }
      )
    ))

  it("of very many samples is exact", () => {
    const first = Float64Array.from({ length: 3000 }, (_, i) => Math.exp(i / 600))
    const shifted = first.map((value) => value + 3)
    const found = Inference.hodgesLehmann(shifted, first)
    close(found?.shift, 3)
    assert.isTrue((found?.interval?.low ?? 3) < 3 && (found?.interval?.high ?? 3) > 3)
    const steps = Float64Array.from({ length: 5000 }, (_, i) => Math.floor(i / 100))
    assert.strictEqual(Inference.hodgesLehmann(steps, steps)?.shift, 0)
  })

  it("is nothing without samples, has no interval for few, and is 0 between equals", () => {
    assert.isUndefined(shiftOf([], [1]))
    assert.isUndefined(shiftOf([1], []))
    assert.isUndefined(shiftOf([Number.MAX_VALUE], [-Number.MAX_VALUE]), "the difference is not a number")
    assert.deepStrictEqual(shiftOf([1, 2, 3], [1, 2, 3]), { shift: 0, interval: undefined })
    assert.deepStrictEqual(shiftOf([3, 3, 3, 3, 3, 3], [3, 3, 3, 3]), {
      shift: 0,
      interval: { low: 0, high: 0, level: 0.95 }
    })
    assert.strictEqual(shiftOf([1e12], [1e-9])?.shift, 1e12)
    assert.strictEqual(shiftOf([-0], [0])?.shift, 0)
  })
})

const values = FastCheck.double({ min: -1e9, max: 1e9, noNaN: true })

/** Two intervals that resampling found, each with an error of its own: their ends are at most so many samples apart. */
const near = (
  interval: Inference.Interval | undefined,
  [low, high]: readonly [number, number],
  values: ReadonlyArray<number>,
  ranks: number
) => {
  assert.isDefined(interval)
  const rankOf = (value: number) => values.filter((other) => other < value).length
  assert.isAtMost(Math.abs(rankOf(interval.low) - rankOf(low)), ranks, `${interval.low} instead of ${low}`)
  assert.isAtMost(Math.abs(rankOf(interval.high) - rankOf(high)), ranks, `${interval.high} instead of ${high}`)
}

describe("percentileInterval", () => {
  it("is that of drawing every sample", () => {
    near(Inference.percentileInterval(sorted(s41), 50), [6.119, 8.989], s41, 1)
    near(Inference.percentileInterval(sorted(s120), 95), [11.49, 18.739], s120, 1)
    near(Inference.percentileInterval(sorted(s40), 50), [6.134, 8.3285], s40, 1)
  })

  it("is the same for the same seed", () => {
    const of = (seed: number) => Inference.percentileInterval(sorted(s120), 95, { seed, resamples: 500 })
    assert.deepStrictEqual(of(3), of(3))
  })

  it("needs so many samples that there can be one", () => {
    assert.deepStrictEqual(
      [50, 90, 95, 99, 99.9].map((p) => Inference.samplesForInterval(p)),
      [6, 29, 59, 299, 2995]
    )
    assert.deepStrictEqual(
      [0, 100].map((p) => Inference.samplesForInterval(p)),
      [Infinity, Infinity]
    )
    assert.isUndefined(Inference.percentileInterval([1, 2, 3, 4, 5], 50))
    assert.isDefined(Inference.percentileInterval([1, 2, 3, 4, 5, 6], 50))
    assert.isUndefined(Inference.percentileInterval([], 50))
  })

  it("holds the estimate, and is equivariant", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 6, maxLength: 60 }),
        FastCheck.integer({ min: 1, max: 64 }),
        (values, scale) => {
          const all = sorted(values)
          const interval = Inference.percentileInterval(all, 50, { resamples: 500 })
          assert.isDefined(interval)
          const median = Statistics.median(all) ?? 0
          assert.isTrue(interval.low <= median && median <= interval.high)
          const scaled = Inference.percentileInterval(
            all.map((value) => value * scale),
            50,
            { resamples: 500 }
          )
          const size = Math.max(Math.abs(interval.low), Math.abs(interval.high), 1e-300) * scale
          assert.isAtMost(Math.abs((scaled?.low ?? 0) - interval.low * scale), 1e-9 * size)
          assert.isAtMost(Math.abs((scaled?.high ?? 0) - interval.high * scale), 1e-9 * size)
        }
      ),
      { numRuns: 50 }
    ))

  it("of equal samples is that value", () => {
    for (const value of [0, -0, 5, -3, 1e-9, 1e12]) {
      const interval = Inference.percentileInterval(
        Array.from({ length: 80 }, () => value),
        95
      )
      assert.deepStrictEqual(interval, { low: value + 0, high: value + 0, level: 0.95 })
    }
  })
})

describe("ratioInterval", () => {
  it("is that of drawing every sample of both", () => {
    const interval = Inference.ratioInterval(sorted(s41), sorted(s40), 50)
    close(interval?.low, 0.7724848484848486, 0.03)
    close(interval?.high, 1.3093954843408595, 0.03)
  })

  it("is nothing when what is divided by may be 0 or less", () => {
    const six = [1, 2, 3, 4, 5, 6]
    assert.isUndefined(Inference.ratioInterval(six, [0, 0, 0, 0, 0, 0], 50))
    assert.isUndefined(Inference.ratioInterval(six, [-1, -1, -1, -1, -1, -1], 50))
    assert.isUndefined(Inference.ratioInterval(six, [1, 2, 3], 50))
    assert.deepStrictEqual(Inference.ratioInterval([0, 0, 0, 0, 0, 0], [2, 2, 2, 2, 2, 2], 50), {
      low: 0,
      high: 0,
      level: 0.95
    })
  })
})

describe("meanInterval", () => {
  const check = (interval: Inference.MeanInterval | undefined, low: number, high: number, tolerance: number) => {
    assert.isDefined(interval)
    assert.strictEqual(interval.method, "BCa")
    assert.isAtMost(Math.abs(interval.low - low), tolerance * (high - low), `${interval.low} instead of ${low}`)
    assert.isAtMost(Math.abs(interval.high - high), tolerance * (high - low), `${interval.high} instead of ${high}`)
  }

  it("is the accelerated one of SciPy", () => {
    check(Inference.meanInterval(sorted(s41)), 7.237247786616534, 10.044368278810122, 0.02)
    check(Inference.meanInterval(sorted(s120)), 6.426589274397013, 7.663827319609622, 0.02)
    const skewed = Float64Array.from({ length: 30 }, (_, i) => Math.exp((6 * i) / 29))
    check(Inference.meanInterval(skewed), 41.98072999959477, 120.07858662370148, 0.02)
  })

  it("counts replicates that are the mean itself by half", () => {
    // So does SciPy, and so it is with the exact distribution of the replicates, which is binomial.
    const of = (zeros: number, ones: number) =>
      Inference.meanInterval([...new Array<number>(zeros).fill(0), ...new Array<number>(ones).fill(1)])
    check(of(9, 3), 1 / 12, 7 / 12, 1e-9)
    check(of(22, 4), 1 / 26, 9 / 26, 1e-9)
  })

  it("of many samples keeps what the tails do to it", () => {
    const samples = sorted([...Array.from({ length: 3000 }, (_, i) => i / 100), 5e3, 2e4])
    check(Inference.meanInterval(samples), 15.133606671547916, 56.41434575469825, 0.03)
  })

  it("of many samples is spread as drawing every sample is", () => {
    const samples = Float64Array.from({ length: 3000 }, (_, i) => Math.exp(i / 500))
    const draw = new Means(samples).draws(generator(3))
    const replicates = Array.from({ length: 20_000 }, () => draw())
    const mean = samples.reduce((sum, value) => sum + value, 0) / samples.length
    const variance = samples.reduce((sum, value) => sum + (value - mean) ** 2, 0) / samples.length ** 2
    const found = replicates.reduce((sum, value) => sum + value, 0) / replicates.length
    assert.isAtMost(Math.abs(found - mean), 5 * Math.sqrt(variance / replicates.length))
    close(replicates.reduce((sum, value) => sum + (value - found) ** 2, 0) / replicates.length, variance, 0.05)
  })

  it("holds the mean, does not depend on the order, and is equivariant", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.integer({ min: -1000, max: 1000 }), { minLength: 6, maxLength: 40 }),
        FastCheck.constantFrom(0.25, 2, 1024),
        (values, scale) => {
          const all = sorted(values)
          const interval = Inference.meanInterval(all, { resamples: 1000 })
          assert.isDefined(interval)
          const mean = Statistics.mean(all) ?? 0
          assert.isTrue(interval.low <= mean && mean <= interval.high)
          assert.deepStrictEqual(Inference.meanInterval(sorted([...values].reverse()), { resamples: 1000 }), interval)
          const scaled = Inference.meanInterval(
            all.map((value) => value * scale),
            { resamples: 1000 }
          )
          assert.strictEqual(scaled?.low, interval.low * scale)
          assert.strictEqual(scaled?.high, interval.high * scale)
        }
      ),
      { numRuns: 50 }
    ))

  it("of equal samples is that value, of few there is none", () => {
    for (const value of [0, -0, -3, 1e-9, 1e12]) {
      assert.deepStrictEqual(Inference.meanInterval(new Float64Array(8).fill(value)), {
        low: value + 0,
        high: value + 0,
        level: 0.95,
        method: "percentile"
      })
    }
    assert.isUndefined(Inference.meanInterval([]))
    assert.isUndefined(Inference.meanInterval([1, 2, 3, 4, 5]))
    const [least, most] = [-Number.MAX_VALUE, Number.MAX_VALUE]
    assert.isUndefined(Inference.meanInterval([least, least, least, least, least, most]), "too far apart")
  })
})

describe("meanRatioInterval", () => {
  it("is the accelerated one of SciPy", () => {
    const interval = Inference.meanRatioInterval(sorted(s120), sorted(s40))
    assert.isDefined(interval)
    assert.strictEqual(interval.method, "BCa")
    close(interval.low, 0.8266776566381024, 0.01)
    close(interval.high, 1.1064300058571197, 0.01)
  })

  it("knows which way the samples that are divided by are skewed", () => {
    const skewed = Float64Array.from({ length: 25 }, (_, i) => Math.exp((5 * i) / 24))
    const interval = Inference.meanRatioInterval(
      Array.from({ length: 20 }, (_, i) => i + 10),
      skewed
    )
    close(interval?.low, 0.3687499745226921, 0.015)
    close(interval?.high, 1.0530981385502667, 0.015)
  })

  it("is nothing when what is divided by may be 0 or less", () => {
    const six = [1, 2, 3, 4, 5, 6]
    assert.isUndefined(Inference.meanRatioInterval(six, [0, 0, 0, 0, 0, 0]))
    assert.isUndefined(Inference.meanRatioInterval(six, [-3, -2, -1, 1, 2, 4]))
    assert.isUndefined(Inference.meanRatioInterval(six, [1, 2, 3]))
    assert.isUndefined(Inference.meanRatioInterval([], six))
    assert.deepStrictEqual(Inference.meanRatioInterval([0, 0, 0, 0, 0, 0], six), {
      low: 0,
      high: 0,
      level: 0.95,
      method: "percentile"
    })
  })
})
