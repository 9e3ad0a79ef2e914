/** Intervals from what resampling gives. */
import { percentileNearestRank } from "../../Statistics.js"
import { normalCdf, normalQuantile } from "./distributions.js"

export interface Ends {
  readonly low: number
  readonly high: number
}

/** The percentile interval of replicates, which are sorted in place; undefined when there are none. */
export const percentileEnds = (replicates: Float64Array, level: number): Ends | undefined =>
  between(replicates.sort(), (1 - level) / 2, (1 + level) / 2)

/**
 * The bias-corrected and accelerated (BCa) interval of replicates, which are sorted in place; undefined when all of them are
 * on one side of the estimate, or the acceleration is so large that the correction has no value.
 *
 * Source: Efron, "Better Bootstrap Confidence Intervals" (1987).
 */
export const acceleratedEnds = (
  replicates: Float64Array,
  options: { readonly estimate: number; readonly acceleration: number; readonly level: number }
): Ends | undefined => {
  const { acceleration, estimate, level } = options
  const sorted = replicates.sort()
  // The same mean of samples in another order may be rounded differently.
  const rounding = 1e-12 * ((sorted[sorted.length - 1] ?? 0) - (sorted[0] ?? 0))
  let below = 0
  for (const value of sorted) {
    if (Math.abs(value - estimate) <= rounding) below += 0.5
    else if (value < estimate) below++
  }
  const bias = normalQuantile(below / sorted.length)
  const corrected = (z: number): number => {
    const shifted = bias + z
    const divisor = 1 - acceleration * shifted
    return divisor > 0 ? normalCdf(bias + shifted / divisor) : NaN
  }
  const z = normalQuantile((1 + level) / 2)
  const [low, high] = [corrected(-z), corrected(z)]
  return Number.isFinite(bias) && low < high ? between(sorted, low, high) : undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const between = (sorted: Float64Array, from: number, to: number): Ends | undefined => {
  const [low, high] = [percentileNearestRank(sorted, 100 * from), percentileNearestRank(sorted, 100 * to)]
  // Adding 0 makes 0 of -0.
  return low === undefined || high === undefined ? undefined : { low: low + 0, high: high + 0 }
}
