/**
 * What samples say about more than themselves: intervals, and whether two sets of samples differ. Pure; what is random has a
 * seed. Samples are finite numbers; every result is finite or says that there is none.
 *
 * @since 0.1.0
 */
import { Differences } from "./internal/statistics/differences.js"
import { logChoose, normalCdf, normalQuantile } from "./internal/statistics/distributions.js"
import { Means } from "./internal/statistics/means.js"
import type { Random } from "./internal/statistics/random.js"
import { beta, generator } from "./internal/statistics/random.js"
import { exactP, exactPOfTies, lowerRank, rankSums } from "./internal/statistics/rankSums.js"
import type { Ends } from "./internal/statistics/replicates.js"
import { acceleratedEnds, percentileEnds } from "./internal/statistics/replicates.js"
import type { Sorted } from "./Statistics.js"

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
 * The interval of a mean, and which of the two bootstrap intervals it is: `percentile` where the better one has no value.
 *
 * @since 0.1.0
 * @category models
 */
export interface MeanInterval extends Interval {
  readonly method: "BCa" | "percentile"
}

/**
 * @since 0.1.0
 * @category models
 */
export interface IntervalOptions {
  /** Confidence level, a fraction. Default 0.95. */
  readonly level?: number | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ResamplingOptions extends IntervalOptions {
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

/**
 * By how much the samples of one set are above those of another, in their unit.
 *
 * @since 0.1.0
 * @category models
 */
export interface Shift {
  readonly shift: number
  /** Undefined when there are too few samples for its level. */
  readonly interval: Interval | undefined
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
  return atLevel(percentileEnds(drawn(draw, resamples), level), level)
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
  return atLevel(percentileEnds(ratios, level), level)
}

/**
 * Bootstrap interval of the arithmetic mean: BCa, with the acceleration that the jackknife gives, which for a mean is a sixth of
 * the skewness over the square root of `n`. Undefined below 6 samples. Above 1000 samples the sum of those that are not among
 * the 200 smallest or largest is a normal number in each resample.
 *
 * Source: Efron, "Better Bootstrap Confidence Intervals" (1987).
 *
 * @since 0.1.0
 * @category combinators
 */
export const meanInterval = (sorted: Sorted, options: ResamplingOptions = {}): MeanInterval | undefined => {
  const { level = 0.95, resamples = 10_000, seed = 1 } = options
  if (sorted.length < fewestForMean) return undefined
  const means = new Means(sorted)
  if (!Number.isFinite(means.scale)) return undefined
  const acceleration = means.cubes / (6 * means.squares ** 1.5)
  return accelerated(drawn(means.draws(generator(seed)), resamples), { estimate: means.mean, acceleration, level })
}

/**
 * Like {@link meanInterval}, of the ratio between the means of two independent sets of samples (`first` over `second`);
 * undefined when either has fewer than 6, or the second's mean may be 0 or less.
 *
 * Source: for two samples the acceleration is that of Davison & Hinkley, "Bootstrap Methods and their Application" (1997),
 * section 5.3, from the influence of each sample on the ratio.
 *
 * @since 0.1.0
 * @category combinators
 */
export const meanRatioInterval = (
  first: Sorted,
  second: Sorted,
  options: ResamplingOptions = {}
): MeanInterval | undefined => {
  const { level = 0.95, resamples = 10_000, seed = 1 } = options
  if (Math.min(first.length, second.length) < fewestForMean) return undefined
  const [a, b] = [new Means(first), new Means(second)]
  const random = generator(seed)
  const [drawFirst, drawSecond] = [a.draws(random), b.draws(random)]
  const ratios = new Float64Array(resamples)
  for (let i = 0; i < resamples; i++) {
    const [numerator, denominator] = [drawFirst(), drawSecond()]
    const ratio = numerator / denominator
    if (!(denominator > 0) || !Number.isFinite(ratio)) return undefined
    ratios[i] = ratio
  }
  const estimate = a.mean / b.mean
  // Influences of samples on the ratio, in units of 1 / b.mean.
  const [unitA, unitB] = [a.scale / first.length, (-estimate * b.scale) / second.length]
  const squares = unitA ** 2 * a.squares + unitB ** 2 * b.squares
  const cubes = unitA ** 3 * a.cubes + unitB ** 3 * b.cubes
  return accelerated(ratios, { estimate, acceleration: cubes / (6 * squares ** 1.5), level })
}

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

/**
 * The Mann-Whitney U test, two-sided. Exact up to 5000 pairs (with ties, up to 900), else by the normal approximation with
 * corrections for ties and continuity. Undefined when either set is empty.
 *
 * Sources: Mann & Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other" (1947);
 * with ties, Streitberg & Röhmel, "Exact Distributions for Permutation and Rank Tests" (1986), where as extreme means as far
 * from the mean; corrections as in Hollander, Wolfe & Chicken, "Nonparametric Statistical Methods" (2014), section 4.1.
 *
 * @since 0.1.0
 * @category combinators
 */
export const mannWhitney = (first: Sorted, second: Sorted): RankTest | undefined => {
  const [n, m] = [first.length, second.length]
  if (n === 0 || m === 0) return undefined
  const { ties, u } = rankSums(first, second)
  if (ties === 0 && n * m <= exactPairs) return { u, p: exactP(u, n, m), method: "exact" }
  if (n * m <= exactPairsWithTies) return { u, p: exactPOfTies(first, second), method: "exact" }
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
 * Where Cliff's delta lies, by its asymmetric interval; it never leaves -1 to 1. Undefined below two samples in either set.
 *
 * Sources: Cliff, "Answering Ordinal Questions with Ordinal Data Using Ordinal Statistics" (1996), the variance, and the bound
 * where no sample of one set is within the other; Feng & Cliff, "Monte Carlo Evaluation of Ordinal d with Improved Confidence
 * Interval" (2004), the interval.
 *
 * @since 0.1.0
 * @category combinators
 */
export const cliffsDeltaInterval = (
  first: Sorted,
  second: Sorted,
  { level = 0.95 }: IntervalOptions = {}
): Interval | undefined => {
  const [n, m] = [first.length, second.length]
  const delta = cliffsDelta(first, second)
  if (delta === undefined || Math.min(n, m) < 2) return undefined
  const z = normalQuantile((1 + level) / 2)
  if (Math.abs(delta) === 1) {
    const fewer = Math.min(n, m)
    const bound = (delta * (fewer - z ** 2)) / (fewer + z ** 2)
    return delta > 0 ? { low: bound, high: 1, level } : { low: -1, high: bound, level }
  }
  const [rows, columns] = [dominance(first, second, delta), dominance(second, first, -delta)]
  const pairs = n * m
  const spread = m ** 2 * rows.squares + n ** 2 * columns.squares - (rows.untied - pairs * delta ** 2)
  const variance = Math.max(spread / (pairs * (n - 1) * (m - 1)), (1 - delta ** 2) / (pairs - 1))
  const reach = z * Math.sqrt(variance * ((1 - delta ** 2) ** 2 + z ** 2 * variance))
  const divisor = 1 - delta ** 2 + z ** 2 * variance
  const end = (value: number): number => Math.min(1, Math.max(-1, value / divisor)) + 0
  return { low: end(delta - delta ** 3 - reach), high: end(delta - delta ** 3 + reach), level }
}

/**
 * The Hodges-Lehmann shift: the median of all differences between a sample of the first set and one of the second, and the
 * interval that holds the shifts which the Mann-Whitney U test does not reject. Both are exact for any number of samples, but
 * above 5000 pairs the ranks of the interval's ends come from the normal approximation. Undefined when either set is empty.
 *
 * Sources: Hodges & Lehmann, "Estimates of Location Based on Rank Tests" (1963); Hollander, Wolfe & Chicken (2014), section 4.3.
 *
 * @since 0.1.0
 * @category combinators
 */
export const hodgesLehmann = (
  first: Sorted,
  second: Sorted,
  { level = 0.95 }: IntervalOptions = {}
): Shift | undefined => {
  const [n, m] = [first.length, second.length]
  if (n === 0 || m === 0) return undefined
  const differences = new Differences(first, second)
  const shift = differences.median()
  if (shift === undefined || !Number.isFinite(shift)) return undefined
  const rank = shiftRank((1 - level) / 2, n, m)
  const interval =
    rank === undefined
      ? undefined
      : { low: differences.at(rank) + 0, high: differences.at(n * m + 1 - rank) + 0, level }
  return { shift: shift + 0, interval }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const exactPairs = 5000
const exactPairsWithTies = 900
const fewestForMean = 6

const drawn = (draw: () => number, resamples: number): Float64Array =>
  Float64Array.from({ length: resamples }, () => draw())

const atLevel = (ends: Ends | undefined, level: number): Interval | undefined => ends && { ...ends, level }

const accelerated = (
  replicates: Float64Array,
  options: { readonly estimate: number; readonly acceleration: number; readonly level: number }
): MeanInterval | undefined => {
  const { level } = options
  const better = acceleratedEnds(replicates, options)
  if (better !== undefined) return { ...better, level, method: "BCa" }
  const ends = percentileEnds(replicates, level)
  return ends && { ...ends, level, method: "percentile" }
}

/** Rank of the lower end of an interval of a shift among all differences. */
const shiftRank = (tail: number, n: number, m: number): number | undefined => {
  const pairs = n * m
  if (pairs <= exactPairs) return lowerRank(tail, n, m)
  const rank = Math.floor((pairs + 1) / 2 + normalQuantile(tail) * Math.sqrt((pairs * (n + m + 1)) / 12))
  return rank < 1 ? undefined : rank
}

/**
 * Of each sample of a set, how many of another one it is above without those that it is below, as a fraction: their squared
 * deviations from `delta`, and how many pairs are not tied.
 */
const dominance = (of: Sorted, over: Sorted, delta: number): { readonly squares: number; readonly untied: number } => {
  const count = over.length
  let [below, upTo, squares, untied] = [0, 0, 0, 0]
  for (let i = 0; i < of.length; i++) {
    const value = of[i] ?? 0
    while (below < count && (over[below] ?? 0) < value) below++
    while (upTo < count && (over[upTo] ?? 0) <= value) upTo++
    const above = count - upTo
    squares += ((below - above) / count - delta) ** 2
    untied += below + above
  }
  return { squares, untied }
}

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
