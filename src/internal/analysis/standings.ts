/** Who is better than whom, as far as the samples can tell. */
import type { ScoringConfig } from "../../Config.js"
import { quantile } from "./inference.js"
import type { Measurements } from "./measurements.js"
import { nameOf } from "./metrics.js"
import type { Interval, MetricInfo } from "./model.js"
import { isAboveOf } from "./proportions.js"
import type { Criterion, Place } from "./ranks.js"
import { rank } from "./ranks.js"
import type { Statistic } from "./resampling.js"
import { compositeOf, fewestTasks, intervalOf, isAbove, medianOf, replicate, resamplesFor } from "./resampling.js"

/** What places are found from. */
export interface Contestant {
  readonly name: string
  readonly taskCount: number
  readonly successCount: number
  readonly score: number | undefined
  /** Whether the score can be computed from the tasks: the benchmark does not score in its own way. */
  readonly isComputed: boolean
  /** Of the metric that is compared. */
  readonly median: number | undefined
}

export interface Standings<A> {
  /** In words. */
  readonly rankedBy: string
  readonly places: ReadonlyArray<Place<A>>
  readonly scoreIntervals: ReadonlyMap<string, Interval>
}

export interface Context {
  readonly measurements: Measurements
  readonly scoring: ScoringConfig | undefined
  /** The metric whose medians are compared where there are no scores. */
  readonly metric: MetricInfo | undefined
  readonly level: number
  /** Of its own for each participant: independent of the others, and the same whoever else takes part. */
  readonly random: (participant: string) => () => number
}

/** Of contestants with tasks. */
export const standings = <A extends Contestant>(contestants: ReadonlyArray<A>, context: Context): Standings<A> =>
  contestants.some(({ score }) => score !== undefined) ? byScore(contestants, context) : byMedian(contestants, context)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const byScore = <A extends Contestant>(contestants: ReadonlyArray<A>, context: Context): Standings<A> => {
  const { level, scoring } = context
  const isComputed = scoring !== undefined && contestants.every((contestant) => contestant.isComputed)
  const replicates = isComputed
    ? replicatesOf(contestants, context, (name) => compositeOf(context.measurements.of(name), scoring))
    : new Map<string, Float64Array>()
  const criterion: Criterion<A> = {
    value: ({ score }) => score,
    isBetter: (first, second) =>
      first.score !== second.score && (!isComputed || differs(replicates, first, second, level, 1))
  }
  return {
    rankedBy: isComputed ? "composite score" : "composite score, as the benchmark computes it",
    places: rank(contestants, [criterion]),
    scoreIntervals: intervalsOf(replicates, level)
  }
}

const byMedian = <A extends Contestant>(contestants: ReadonlyArray<A>, context: Context): Standings<A> => {
  const { level, measurements, metric } = context
  const sign = metric?.higherIsBetter === true ? 1 : -1
  const replicates =
    metric === undefined
      ? new Map<string, Float64Array>()
      : replicatesOf(contestants, context, (name) => medianOf(measurements.of(name), metric.key))
  const success: Criterion<A> = {
    value: ({ successCount, taskCount }) => successCount / taskCount,
    isBetter: (first, second) =>
      Math.min(first.taskCount, second.taskCount) >= fewestTasks && isAboveOf(first, second, quantile(level))
  }
  const median: Criterion<A> = {
    value: (contestant) => (contestant.median === undefined ? undefined : sign * contestant.median),
    isBetter: (first, second) => first.median !== second.median && differs(replicates, first, second, level, sign)
  }
  const direction = metric?.higherIsBetter === true ? "higher" : "lower"
  return {
    rankedBy:
      metric === undefined ? "success rate" : `success rate, then median of ${nameOf(metric)}, ${direction} is better`,
    places: rank(contestants, metric === undefined ? [success] : [success, median]),
    scoreIntervals: new Map()
  }
}

const replicatesOf = (
  contestants: ReadonlyArray<Contestant>,
  { measurements, random }: Context,
  statistic: (name: string) => Statistic
): ReadonlyMap<string, Float64Array> => {
  const times = resamplesFor(contestants.reduce((sum, { taskCount }) => sum + taskCount, 0))
  return new Map(
    contestants.flatMap(({ name }) => {
      const replicates = replicate(measurements.of(name), statistic(name), times, random(name))
      return replicates === undefined ? [] : [[name, replicates] as const]
    })
  )
}

const intervalsOf = (replicates: ReadonlyMap<string, Float64Array>, level: number): ReadonlyMap<string, Interval> =>
  new Map(
    Array.from(replicates).flatMap(([name, found]) => {
      const interval = intervalOf(found, level)
      return interval === undefined ? [] : [[name, interval] as const]
    })
  )

const differs = (
  replicates: ReadonlyMap<string, Float64Array>,
  first: Contestant,
  second: Contestant,
  level: number,
  sign: 1 | -1
): boolean => {
  const [a, b] = [replicates.get(first.name), replicates.get(second.name)]
  if (a === undefined || b === undefined) return false
  return sign === 1 ? isAbove(a, b, level) : isAbove(b, a, level)
}
