/**
 * What samples say about more than themselves: intervals, and whether two sets of samples differ. Pure; what is random has a
 * seed. Samples are finite numbers; every result is finite or says that there is none.
 *
 * @since 0.1.0
 */
import { logChoose, normalCdf } from "./internal/statistics/distributions.js"
import type { Random } from "./internal/statistics/random.js"
import { beta, generator } from "./internal/statistics/random.js"
import type { Sorted } from "./Statistics.js"
import * as Statistics from "./Statistics.js"

// -----------------------------------------------------------------------------
// models
// -----------------------------------------------------------------------------

/**
 * Where a value lies, at this confidence level (a fraction), in the unit of the value.
 *
 * @since 0.1.0
 * @category models
 */
export interface Interval {
  readonly low: number
  readonly high: number
  readonly level: number
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ResamplingOptions {
  /** Confidence level, a fraction. Default 0.95. */
  readonly level?: number | undefined
  /** How often is resampled. Default 10 000. */
  readonly resamples?: number | undefined
  /** An integer: the same samples and seed give the same result. Default 1. */
  readonly seed?: number | undefined
}

/**
 * A test of whether two sets of samples come from the same distribution.
 *
 * @since 0.1.0
 * @category models
 */
export interface RankTest {
  /** Pairs in which the first sample is larger than the second, ties counting half. */
  readonly u: number
  /** Two-sided. */
  readonly p: number
  readonly method: "exact" | "normal approximation"
}

// -----------------------------------------------------------------------------
// intervals
// -----------------------------------------------------------------------------

/**
 * Fewer samples than this have no distribution-free 95 % interval of their `p`-th percentile: the least `n` with
 * `1 - q^n - (1 - q)^n >= level`, where `q = p / 100`. 6 for the median, 59 for the 95th, 299 for the 99th.
 *
 * Source: David & Nagaraja, "Order Statistics" (2003), section 7.1.
 *
 * @since 0.1.0
 * @category combinators
 */
export const samplesForInterval = (p: number, level = 0.95): number => {
  const q = Math.min(Math.max(p, 0), 100) / 100
  if (q === 0 || q === 1) return Infinity
  const tail = Math.max(q, 1 - q)
  let n = Math.max(1, Math.floor(Math.log(1 - level) / Math.log(tail)) - 2)
  while (1 - q ** n - (1 - q) ** n < level) n++
  return n
}

/**
 * Percentile bootstrap interval of the median or of a nearest-rank percentile; undefined below {@link samplesForInterval}
 * samples. A resample is not drawn sample by sample: the r-th smallest of n draws is the sample at `ceil(n × B)` with `B`
 * from the beta distribution of `(r, n - r + 1)`, which takes constant time.
 *
 * Sources: Efron & Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13 (the interval; the accelerated one needs a
 * jackknife, which is not consistent for percentiles, section 11.5 there); David & Nagaraja (2003), section 2.1 (order statistics).
 *
 * @since 0.1.0
 * @category combinators
 */
export const percentileInterval = (
  sorted: Sorted,
  p: number,
  options: ResamplingOptions = {}
): Interval | undefined => {
  const { level = 0.95, resamples = 10_000, seed = 1 } = options
  if (sorted.length < samplesForInterval(p, level)) return undefined
  const draw = drawPercentile(sorted, p, generator(seed))
  return quantilesOf(
    Float64Array.from({ length: resamples }, () => draw()),
    level
  )
}

/**
 * Percentile bootstrap interval of the ratio between the same percentile of two independent sets of samples (`first` over
 * `second`); undefined when either has too few, or the second's percentile may be 0 or of another sign.
 *
 * @since 0.1.0
 * @category combinators
 */
export const ratioInterval = (
  first: Sorted,
  second: Sorted,
  p: number,
  options: ResamplingOptions = {}
): Interval | undefined => {
  const { level = 0.95, resamples = 10_000, seed = 1 } = options
  const needed = samplesForInterval(p, level)
  if (first.length < needed || second.length < needed) return undefined
  const random = generator(seed)
  const [drawFirst, drawSecond] = [drawPercentile(first, p, random), drawPercentile(second, p, random)]
  const ratios = new Float64Array(resamples)
  for (let i = 0; i < resamples; i++) {
    const [numerator, denominator] = [drawFirst(), drawSecond()]
    const ratio = numerator / denominator
    if (!(denominator > 0) || !Number.isFinite(ratio)) return undefined
    ratios[i] = ratio
  }
  return quantilesOf(ratios, level)
}

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

/**
 * The Mann-Whitney U test, two-sided. Exact where there are no ties and at most 5000 pairs, else by the normal
 * approximation with corrections for ties and continuity. Undefined when either set is empty.
 *
 * Source: Mann & Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other" (1947);
 * corrections as in Hollander, Wolfe & Chicken, "Nonparametric Statistical Methods" (2014), section 4.1.
 *
 * @since 0.1.0
 * @category combinators
 */
export const mannWhitney = (first: Sorted, second: Sorted): RankTest | undefined => {
  const [n, m] = [first.length, second.length]
  if (n === 0 || m === 0) return undefined
  const { ties, u } = rankSums(first, second)
  if (ties === 0 && n * m <= exactPairs) return { u, p: exactP(u, n, m), method: "exact" }
  const total = n + m
  const variance = ((n * m) / 12) * (total + 1 - ties / (total * (total - 1)))
  const distance = Math.max(0, Math.abs(u - (n * m) / 2) - 0.5)
  const p = variance > 0 ? Math.min(1, 2 * normalCdf(-distance / Math.sqrt(variance))) : 1
  return { u, p, method: "normal approximation" }
}

/**
 * Fisher's exact test, two-sided, of whether two success rates differ: the probability of all tables with the same margins
 * that are no more probable than this one. 1 when either set is empty.
 *
 * Source: Fisher, "Statistical Methods for Research Workers" (1934), section 21.02.
 *
 * @since 0.1.0
 * @category combinators
 */
export const fisherExact = (
  first: { readonly successes: number; readonly total: number },
  second: { readonly successes: number; readonly total: number }
): number => {
  if (first.total === 0 || second.total === 0) return 1
  const successes = first.successes + second.successes
  const total = first.total + second.total
  const all = logChoose(total, successes)
  const probability = (k: number): number =>
    Math.exp(logChoose(first.total, k) + logChoose(second.total, successes - k) - all)
  const observed = probability(first.successes) * (1 + 1e-7)
  let p = 0
  const most = Math.min(first.total, successes)
  for (let k = Math.max(0, successes - second.total); k <= most; k++) {
    const each = probability(k)
    if (each <= observed) p += each
  }
  return Math.min(1, p)
}

/**
 * P values adjusted for there being many, in their order: calling those significant that are at most `alpha` keeps the
 * expected share of false calls among all calls at `alpha`.
 *
 * Source: Benjamini & Hochberg, "Controlling the False Discovery Rate" (1995).
 *
 * @since 0.1.0
 * @category combinators
 */
export const benjaminiHochberg = (ps: ReadonlyArray<number>): ReadonlyArray<number> => {
  const order = ps.map((p, index) => ({ p, index })).sort((a, b) => b.p - a.p)
  const adjusted = new Array<number>(ps.length).fill(1)
  let least = 1
  order.forEach(({ index, p }, i) => {
    least = Math.min(least, p * (ps.length / (ps.length - i)))
    adjusted[index] = least
  })
  return adjusted
}

// -----------------------------------------------------------------------------
// effects
// -----------------------------------------------------------------------------

/**
 * Cliff's delta, from -1 to 1: how much more probable it is that a sample of the first set is the larger one than that it is
 * the smaller. Undefined when either set is empty.
 *
 * Source: Cliff, "Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions" (1993).
 *
 * @since 0.1.0
 * @category combinators
 */
export const cliffsDelta = (first: Sorted, second: Sorted): number | undefined => {
  const pairs = first.length * second.length
  return pairs === 0 ? undefined : (2 * rankSums(first, second).u) / pairs - 1
}

/**
 * What a delta is called: below 0.147 negligible, below 0.33 small, below 0.474 medium, else large.
 *
 * Source: Romano et al., "Appropriate Statistics for Ordinal Level Data" (2006).
 *
 * @since 0.1.0
 * @category combinators
 */
export const magnitudeOf = (delta: number): "negligible" | "small" | "medium" | "large" => {
  const size = Math.abs(delta)
  return size < 0.147 ? "negligible" : size < 0.33 ? "small" : size < 0.474 ? "medium" : "large"
}

/**
 * The Hodges-Lehmann shift: the median of all differences between a sample of the first set and one of the second. Of more
 * than a million pairs, those between 1000 evenly spaced quantiles of each: `isApproximate`. Undefined when either is empty.
 *
 * Source: Hodges & Lehmann, "Estimates of Location Based on Rank Tests" (1963).
 *
 * @since 0.1.0
 * @category combinators
 */
export const hodgesLehmann = (
  first: Sorted,
  second: Sorted
): { readonly shift: number; readonly isApproximate: boolean } | undefined => {
  if (first.length === 0 || second.length === 0) return undefined
  const isApproximate = first.length * second.length > maxPairs
  const [a, b] = isApproximate ? [thinned(first), thinned(second)] : [first, second]
  const differences = new Float64Array(a.length * b.length)
  let at = 0
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < b.length; j++) differences[at++] = (a[i] ?? 0) - (b[j] ?? 0)
  }
  const shift = Statistics.median(differences.sort()) ?? 0
  return { shift: Number.isFinite(shift) ? shift + 0 : 0, isApproximate }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const exactPairs = 5000
const maxPairs = 1_000_000
const thinnedSize = 1000

/** Draws the percentile of one resample after another. */
const drawPercentile = (sorted: Sorted, p: number, random: Random): (() => number) => {
  const n = sorted.length
  const valueAt = (fraction: number): number => sorted[Math.min(n - 1, Math.max(0, Math.ceil(n * fraction) - 1))] ?? 0
  const rank = Math.min(n, Math.max(1, Math.ceil((p * n) / 100)))
  if (p !== 50 || n % 2 === 1) return () => valueAt(beta(rank, n - rank + 1, random))
  // The median of an even count is the mean of two neighbours: of the larger one, given the smaller.
  return () => {
    const lower = beta(rank, n - rank + 1, random)
    const upper = lower + (1 - lower) * (1 - (1 - random()) ** (1 / (n - rank)))
    return valueAt(lower) / 2 + valueAt(upper) / 2
  }
}

const quantilesOf = (replicates: Float64Array, level: number): Interval | undefined => {
  const sorted = replicates.sort()
  const low = Statistics.percentileNearestRank(sorted, 50 * (1 - level))
  const high = Statistics.percentileNearestRank(sorted, 50 * (1 + level))
  return low === undefined || high === undefined ? undefined : { low: low + 0, high: high + 0, level }
}

/** U of the first set, and the sum of `t³ - t` over groups of `t` equal samples. */
const rankSums = (first: Sorted, second: Sorted): { readonly u: number; readonly ties: number } => {
  let [i, j, u, ties] = [0, 0, 0, 0]
  while (i < first.length || j < second.length) {
    const value = Math.min(first[i] ?? Infinity, second[j] ?? Infinity)
    const [fromI, fromJ] = [i, j]
    while (i < first.length && first[i] === value) i++
    while (j < second.length && second[j] === value) j++
    const [ofFirst, ofSecond] = [i - fromI, j - fromJ]
    u += ofFirst * (fromJ + ofSecond / 2)
    const t = ofFirst + ofSecond
    ties += t ** 3 - t
  }
  return { u, ties }
}

/** By counting the orders of n and m samples that give each U. */
const exactP = (u: number, n: number, m: number): number => {
  const pairs = n * m
  // Ways to choose n of the ranks 1 to n + m by their sum, as a generating function of U.
  let ways = new Float64Array(pairs + 1)
  ways[0] = 1
  for (let k = 1; k <= n; k++) {
    for (let total = pairs; total >= 0; total--) {
      const without = total - (m + k)
      if (without >= 0) ways[total] = (ways[total] ?? 0) - (ways[without] ?? 0)
    }
    for (let total = k; total <= pairs; total++) ways[total] = (ways[total] ?? 0) + (ways[total - k] ?? 0)
  }
  ways = ways.map((count) => Math.max(0, count))
  const all = ways.reduce((sum, count) => sum + count, 0)
  const extreme = Math.min(u, pairs - u)
  let tail = 0
  for (let total = 0; total <= Math.floor(extreme); total++) tail += ways[total] ?? 0
  return Math.min(1, (2 * tail) / all)
}

const thinned = (sorted: Sorted): Float64Array =>
  sorted.length <= thinnedSize
    ? Float64Array.from(sorted)
    : Float64Array.from(
        { length: thinnedSize },
        (_, i) => sorted[Math.floor(((i + 0.5) * sorted.length) / thinnedSize)] ?? 0
      )
