/** A distribution in a few numbers. */
import type { Sorted } from "../../Statistics.js"
import { percentileNearestRank, summaryOfSorted } from "../../Statistics.js"
import type { Distribution, Interval } from "./model.js"

/** Finds intervals of a percentile of sorted samples; undefined when there are too few. */
export type Estimate = (sorted: Sorted, p: 50 | 95) => Interval | undefined

/** Undefined without samples. */
export const distributionOf = (sorted: Sorted, estimate: Estimate): Distribution | undefined => {
  const summary = summaryOfSorted(sorted)
  if (summary === undefined) return undefined
  const at = (p: number): number => percentileNearestRank(sorted, p) ?? summary.max
  return {
    ...summary,
    q1: at(25),
    q3: at(75),
    p90: at(90),
    p999: at(99.9),
    stdDev: stdDevOf(sorted, summary.mean),
    medianInterval: estimate(sorted, 50),
    p95Interval: estimate(sorted, 95),
    histogram: histogramOf(sorted, summary)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Deviations are scaled by the largest one, so that squares neither overflow nor vanish. */
const stdDevOf = (sorted: Sorted, mean: number): number | undefined => {
  const count = sorted.length
  if (count < 2) return undefined
  const scale = Math.max(mean - (sorted[0] ?? mean), (sorted[count - 1] ?? mean) - mean)
  if (!(scale > 0) || !Number.isFinite(scale)) return scale === 0 ? 0 : undefined
  let sum = 0
  for (let i = 0; i < count; i++) sum += (((sorted[i] ?? mean) - mean) / scale) ** 2
  const stdDev = scale * Math.sqrt(sum / (count - 1))
  return Number.isFinite(stdDev) ? stdDev : undefined
}

const maxBins = 60

/**
 * As many bins as the Rice rule takes, twice the cube root of the number of samples.
 *
 * Source: Terrell & Scott, "Oversmoothed Nonparametric Density Estimates" (1985), from which the rule is rounded up.
 */
const histogramOf = (
  sorted: Sorted,
  { max, min }: { readonly min: number; readonly max: number }
): Distribution["histogram"] => {
  const wanted = Math.min(maxBins, Math.ceil(2 * Math.cbrt(sorted.length)))
  const edge = (i: number): number => (i === wanted ? max : min + (max / wanted - min / wanted) * i)
  // Bins narrower than what tells two numbers apart would be empty.
  if (!(edge(1) > min) || !(edge(wanted - 1) < max)) return [{ from: min, to: max, count: sorted.length }]
  const bins: Array<{ from: number; to: number; count: number }> = []
  let next = 0
  for (let i = 0; i < wanted; i++) {
    const [from, to] = [edge(i), edge(i + 1)]
    const first = next
    while (next < sorted.length && (i === wanted - 1 || (sorted[next] ?? max) < to)) next++
    bins.push({ from, to, count: next - first })
  }
  return bins
}
