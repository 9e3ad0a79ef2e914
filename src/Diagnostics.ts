/**
 * What samples give away about how they were measured: outliers, a trend, a clock that is too coarse. Pure.
 *
 * @since 0.1.0
 */
import { normalCdf } from "./internal/statistics/distributions.js"
import type { Sorted } from "./Statistics.js"
import { median, medianAbsoluteDeviation, percentileNearestRank } from "./Statistics.js"

/**
 * Samples far from the middle half, and beyond which values they are.
 *
 * @since 0.1.0
 * @category models
 */
export interface Outliers {
  /** Below the lower or above the upper fence. */
  readonly count: number
  readonly low: number
  readonly high: number
}

/**
 * Samples outside of Tukey's outer fences, three interquartile ranges (nearest-rank) below the lower and above the upper
 * quartile; undefined below 8 samples, or when the middle half of them are equal.
 *
 * Source: Tukey, "Exploratory Data Analysis" (1977), section 2D, where such values are called far out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const outliers = (sorted: Sorted): Outliers | undefined => {
  const [q1, q3] = [percentileNearestRank(sorted, 25), percentileNearestRank(sorted, 75)]
  if (sorted.length < 8 || q1 === undefined || q3 === undefined || !(q3 > q1)) return undefined
  return outside(sorted, q1 - 3 * (q3 - q1), q3 + 3 * (q3 - q1))
}

/**
 * Samples whose modified z-score is above 3.5, which are those more than 5.19 median absolute deviations from the median: less
 * affected by outliers than {@link outliers}, of which there may be up to half, but it takes both sides for equally wide, which
 * latencies seldom are. Undefined below 8 samples, or when more than half of them are equal.
 *
 * Source: Iglewicz & Hoaglin, "How to Detect and Handle Outliers" (1993).
 *
 * @since 0.1.0
 * @category combinators
 */
export const outliersByDeviation = (sorted: Sorted): Outliers | undefined => {
  const [middle, deviation] = [median(sorted), medianAbsoluteDeviation(sorted)]
  if (sorted.length < 8 || middle === undefined || deviation === undefined || !(deviation > 0)) return undefined
  const reach = (3.5 / 0.6745) * deviation
  return outside(sorted, middle - reach, middle + reach)
}

/**
 * Whether samples grow or shrink over time.
 *
 * @since 0.1.0
 * @category models
 */
export interface Trend {
  /** Kendall's tau (a), from -1 to 1: how much more often a later sample is the larger one than the smaller. */
  readonly tau: number
  /** Two-sided. */
  readonly p: number
}

/**
 * The Mann-Kendall test of a trend over samples in the order in which they were measured, by the normal approximation with
 * corrections for ties and continuity. Of more than 2000 samples, 2000 evenly spaced ones are looked at. Undefined below 10.
 *
 * Sources: Mann, "Nonparametric Tests Against Trend" (1945); Kendall, "Rank Correlation Methods" (1975).
 *
 * @since 0.1.0
 * @category combinators
 */
export const trend = (samples: ReadonlyArray<number> | Float64Array): Trend | undefined => {
  if (samples.length < 10) return undefined
  const values = thinned(samples)
  const n = values.length
  let s = 0
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) s += Math.sign((values[j] ?? 0) - (values[i] ?? 0))
  }
  const term = (t: number): number => t * (t - 1) * (2 * t + 5)
  let ties = 0
  let run = 0
  const sorted = values.slice().sort()
  for (let i = 0; i < n; i++) {
    run++
    if (sorted[i + 1] !== sorted[i]) {
      ties += term(run)
      run = 0
    }
  }
  const variance = (term(n) - ties) / 18
  const distance = Math.max(0, Math.abs(s) - 1)
  return {
    tau: s / ((n * (n - 1)) / 2) + 0,
    p: variance > 0 ? Math.min(1, 2 * normalCdf(-distance / Math.sqrt(variance))) : 1
  }
}

/**
 * The step of the clock that samples seem to be measured with, when it is coarse for them: the smallest difference between two
 * samples, if all are multiples of it apart (to a thousandth of it) and it is more than 5 % of their median. Undefined
 * otherwise, and below 10 samples.
 *
 * @since 0.1.0
 * @category combinators
 */
export const coarseStep = (sorted: Sorted): number | undefined => {
  if (sorted.length < 10) return undefined
  let step = Infinity
  for (let i = 1; i < sorted.length; i++) {
    const difference = (sorted[i] ?? 0) - (sorted[i - 1] ?? 0)
    if (difference > 0) step = Math.min(step, difference)
  }
  const middle = percentileNearestRank(sorted, 50) ?? 0
  if (!Number.isFinite(step) || !(step > 0.05 * Math.abs(middle))) return undefined
  const first = sorted[0] ?? 0
  for (let i = 1; i < sorted.length; i++) {
    const steps = ((sorted[i] ?? 0) - first) / step
    if (Math.abs(steps - Math.round(steps)) > 1e-3) return undefined
  }
  return step
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const outside = (sorted: Sorted, low: number, high: number): Outliers | undefined => {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return undefined
  let count = 0
  for (let i = 0; i < sorted.length; i++) {
    const value = sorted[i] ?? 0
    if (value < low || value > high) count++
  }
  return { count, low, high }
}

const most = 2000

const thinned = (samples: ReadonlyArray<number> | Float64Array): Float64Array =>
  samples.length <= most
    ? Float64Array.from(samples)
    : Float64Array.from({ length: most }, (_, i) => samples[Math.floor((i * samples.length) / most)] ?? 0)
