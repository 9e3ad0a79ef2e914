/** Composite scores taken apart. */
import type { ScoringConfig, ScoringMetric } from "../../Config.js"
import type { SummaryRow } from "../../Platform.js"
import { defaultTrim, statScore } from "../../Scoring.js"
import type { ScorePart } from "./model.js"

export const statistics = ["median", "p95", "p99"] as const

export type Statistic = (typeof statistics)[number]

export const trimOf = ({ trim }: Pick<ScoringMetric, "trim">): number => trim ?? defaultTrim

/**
 * What each statistic added to the score of a row. Empty when the row is not scored by this config: a hook that scores in
 * its own way has its own reasons.
 */
export const partsOf = (row: SummaryRow | undefined, scoring: ScoringConfig | undefined): ReadonlyArray<ScorePart> => {
  if (row === undefined || row.skipped || scoring === undefined) return []
  const parts = scoring.metrics.flatMap((metric) => {
    const measured = row.metrics.find(({ name }) => name === metric.key)
    return statistics.map((statistic): ScorePart => {
      // A negative zero is a zero.
      const value = measured === undefined ? undefined : measured[statistic] + 0
      const weight = metric.weights[statistic]
      const score = value === undefined ? 0 : statScore(metric, value)
      return {
        metric: metric.key,
        statistic,
        weight,
        value,
        statScore: score,
        points: weight * score * row.successRate
      }
    })
  })
  return isSum(parts, row.compositeScore) ? parts : []
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Scores have two decimals and end at 100, which weights that sum to a little more than 1 would exceed. */
const isSum = (parts: ReadonlyArray<ScorePart>, score: number): boolean => {
  const sum = parts.reduce((all, { points }) => all + points, 0)
  return Math.abs(Math.min(100, sum) - score) <= 0.0051
}
