/** What thresholds can be on. */

/**
 * Every {@link Stat}.
 *
 * @since 0.1.0
 * @category models
 */
export const stats = [
  "min",
  "median",
  "p90",
  "p95",
  "p99",
  "p99.9",
  "max",
  "mean",
  "count",
  "successRate",
  "compositeScore"
] as const

/**
 * What is measured. Percentiles are nearest-rank over all samples, untrimmed; the median of an even count is the mean of
 * the middle two. `successRate` is a fraction of all tasks, `compositeScore` is from 0 to 100, `count` counts samples.
 *
 * @since 0.1.0
 * @category models
 */
export type Stat = (typeof stats)[number]

const names: ReadonlySet<unknown> = new Set(stats)

export const isStat = (value: unknown): value is Stat => names.has(value)

/** Statistics of a participant's tasks as a whole, which have no metric. */
export const isOfParticipant = (stat: Stat): stat is "successRate" | "compositeScore" =>
  stat === "successRate" || stat === "compositeScore"
