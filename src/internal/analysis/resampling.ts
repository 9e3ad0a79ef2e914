/**
 * How much a statistic of a participant would vary if its tasks were run again: the bootstrap over whole tasks, so that
 * what was measured together, failures included, stays together, with the percentile interval.
 *
 * Source: Efron & Tibshirani, "An Introduction to the Bootstrap" (1993), chapters 6 and 13.
 */
import type { ScoringConfig } from "../../Config.js"
import { statScore } from "../../Scoring.js"
import { percentileNearestRank } from "../../Statistics.js"
import type { Tasks } from "./measurements.js"
import { nothing, upTo } from "./measurements.js"
import type { Interval } from "./model.js"
import { trimOf } from "./score.js"

/** A number that is computed from a resample; undefined when nothing in it can be computed from. */
export type Statistic = (resample: Resample) => number | undefined

/** Values of one metric that count, in ascending order, each with the place of its task among all. */
interface Ordered {
  readonly values: Float64Array
  readonly places: Int32Array
}

/**
 * Below so many tasks nothing is said about how much a statistic varies: the smallest number of samples with a
 * distribution-free 95 % interval of their median.
 */
export const fewestTasks = 6

/** Draws of tasks that resampling a run may take, of all participants together: what is done in well under a second. */
const budget = 2e7

const resamples = { most: 10_000, fewest: 200 }

/** How many resamples there are for so many tasks: 10 000, and fewer of more than 2000 tasks. */
export const resamplesFor = (tasks: number): number =>
  Math.max(resamples.fewest, Math.min(resamples.most, Math.floor(budget / Math.max(1, tasks))))

/** What a statistic is in each of so many resamples; undefined when there are too few tasks, or when it has no value in most. */
export const replicate = (
  tasks: Tasks,
  statistic: Statistic,
  times: number,
  random: () => number
): Float64Array | undefined => {
  if (tasks.count < fewestTasks) return undefined
  const resample = new Resample(tasks.count)
  const replicates = new Float64Array(times)
  let found = 0
  for (let i = 0; i < times; i++) {
    resample.draw(random)
    const value = statistic(resample)
    if (value !== undefined) replicates[found++] = value
  }
  return found * 2 > times ? replicates.subarray(0, found) : undefined
}

/** Of replicates in any order. */
export const intervalOf = (replicates: Float64Array, level: number): Interval | undefined => {
  const sorted = replicates.slice().sort()
  const low = percentileNearestRank(sorted, 50 * (1 - level))
  const high = percentileNearestRank(sorted, 50 * (1 + level))
  return low === undefined || high === undefined ? undefined : { low, high, level }
}

/** Whether the interval of the difference between independent replicates lies above 0. */
export const isAbove = (first: Float64Array, second: Float64Array, level: number): boolean => {
  const differences = new Float64Array(Math.min(first.length, second.length))
  for (let i = 0; i < differences.length; i++) differences[i] = (first[i] ?? 0) - (second[i] ?? 0)
  const interval = intervalOf(differences, level)
  return interval !== undefined && interval.low > 0
}

/** The composite score, without rounding. */
export const compositeOf = (tasks: Tasks, scoring: ScoringConfig): Statistic => {
  const passed = tasks.passedPlaces
  const metrics = scoring.metrics.map((metric) => ({
    metric,
    trim: trimOf(metric),
    samples: ordered(tasks, metric.key)
  }))
  return (resample) => {
    const successRate = resample.sizeOf(passed) / tasks.count
    let composite = 0
    for (const { metric, samples, trim } of metrics) {
      const { weights } = metric
      const found = resample.trimmed(samples, trim)
      if (found === undefined) continue
      composite += weights.median * statScore(metric, found.median)
      composite += weights.p95 * statScore(metric, found.p95)
      composite += weights.p99 * statScore(metric, found.p99)
    }
    return Math.min(100, composite * successRate)
  }
}

/** The median of a metric over all samples. */
export const medianOf = (tasks: Tasks, key: string): Statistic => {
  const samples = ordered(tasks, key)
  return (resample) => resample.trimmed(samples, 0)?.median
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ordered = (tasks: Tasks, key: string): Ordered => {
  const { ok, places, values } = tasks.series(key) ?? nothing
  const order = upTo(values.length)
    .filter((i) => ok[i] === 1)
    .sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0))
  const sorted = { values: new Float64Array(order.length), places: new Int32Array(order.length) }
  for (let rank = 0; rank < order.length; rank++) {
    const i = order[rank] ?? 0
    sorted.values[rank] = values[i] ?? 0
    sorted.places[rank] = places[i] ?? 0
  }
  return sorted
}

/** How often each task was drawn. */
class Resample {
  private readonly counts: Int32Array

  constructor(private readonly tasks: number) {
    this.counts = new Int32Array(tasks)
  }

  draw(random: () => number): void {
    const { counts, tasks } = this
    counts.fill(0)
    for (let i = 0; i < tasks; i++) {
      const place = Math.floor(random() * tasks)
      counts[place] = (counts[place] ?? 0) + 1
    }
  }

  /** How many of the drawn tasks are among those at these places. */
  sizeOf(places: Int32Array): number {
    const { counts } = this
    let size = 0
    for (let i = 0; i < places.length; i++) size += counts[places[i] ?? 0] ?? 0
    return size
  }

  /** As `Statistics.describe` would find them in the samples that were drawn. */
  trimmed(samples: Ordered, trim: number): { median: number; p95: number; p99: number } | undefined {
    const size = this.sizeOf(samples.places)
    if (size === 0) return undefined
    const dropped = Math.floor(size * trim)
    const left = size - 2 * dropped > 0 ? dropped : 0
    const count = size - 2 * left
    const rank = (p: number): number => left + Math.max(1, Math.ceil((p * count) / 100)) - 1
    const middle = left + Math.floor(count / 2)
    const [lower, upper, p95, p99] = this.at(samples, [
      count % 2 === 0 ? middle - 1 : middle,
      middle,
      rank(95),
      rank(99)
    ])
    return { median: lower / 2 + upper / 2, p95, p99 }
  }

  /** The values at these ranks (from 0, not descending) of the samples that were drawn. */
  private at(
    { places, values }: Ordered,
    [first, second, third, fourth]: readonly [number, number, number, number]
  ): readonly [number, number, number, number] {
    const { counts } = this
    let i = -1
    let seen = 0
    const valueAt = (rank: number): number => {
      while (seen <= rank) seen += counts[places[++i] ?? 0] ?? 0
      return values[i] ?? 0
    }
    return [valueAt(first), valueAt(second), valueAt(third), valueAt(fourth)]
  }
}
