/** Comparing success rates. */

export interface Counts {
  readonly successCount: number
  readonly taskCount: number
}

/**
 * Whether the interval of the difference between two independent proportions lies above 0. It is Newcombe's hybrid of the
 * two score intervals, which also knows that what never failed so far may fail.
 *
 * Source: Newcombe, "Interval Estimation for the Difference Between Independent Proportions" (1998), method 10; Wilson,
 * "Probable Inference, the Law of Succession, and Statistical Inference" (1927).
 */
export const isAboveOf = (first: Counts, second: Counts, z: number): boolean => {
  const [a, b] = [wilson(first, z), wilson(second, z)]
  return a.rate - b.rate > Math.hypot(a.rate - a.low, b.high - b.rate)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The score interval of a proportion; `z` is the quantile of the standard normal distribution for its level. */
const wilson = ({ successCount, taskCount }: Counts, z: number) => {
  const rate = successCount / taskCount
  const squared = z ** 2
  const center = successCount + squared / 2
  const reach = z * Math.sqrt(taskCount * rate * (1 - rate) + squared / 4)
  return { rate, low: (center - reach) / (taskCount + squared), high: (center + reach) / (taskCount + squared) }
}
