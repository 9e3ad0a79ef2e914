/**
 * Order statistics of samples: what a list of latencies says without assuming how they are distributed. Everything here
 * is pure and expects finite numbers. Nothing is interpolated but what its name says, except that the median of an even count is a
 * mean.
 *
 * @since 0.1.0
 */

/**
 * Finite numbers in ascending order.
 *
 * @since 0.1.0
 * @category models
 */
export type Sorted = Float64Array | ReadonlyArray<number>

/**
 * Statistics of one or more samples, in the unit of the samples. `median` is the mean of the middle two when `count` is
 * even; `p95` and `p99` are nearest-rank, so each is one of the samples (and is the maximum below
 * {@link samplesNeededFor} samples); `mean` is the arithmetic mean.
 *
 * @since 0.1.0
 * @category models
 */
export interface Summary {
  readonly count: number
  readonly min: number
  readonly median: number
  readonly p95: number
  readonly p99: number
  readonly max: number
  readonly mean: number
}

/**
 * The same samples twice: `raw` over all of them, `trimmed` over what is left after dropping both ends.
 *
 * @since 0.1.0
 * @category models
 */
export interface Description {
  readonly raw: Summary
  readonly trimmed: Summary
}

/**
 * A buffer that collects samples in the order in which they come. It takes 8 bytes a sample plus at most 64 KiB.
 *
 * @since 0.1.0
 * @category models
 */
export class Samples {
  private readonly chunks: Array<Float64Array> = []
  private last = new Float64Array(0)
  private used = 0
  private stored = 0

  /** How many samples were pushed. */
  get count(): number {
    return this.stored
  }

  /** Adds one sample, a finite number, in constant time. */
  push(sample: number): void {
    if (this.used === this.last.length) {
      this.last = new Float64Array(Math.min(Math.max(16, this.last.length * 2), maxChunk))
      this.chunks.push(this.last)
      this.used = 0
    }
    this.last[this.used++] = sample
    this.stored++
  }

  /** A sorted copy. */
  sorted(): Float64Array {
    return union([this])
  }

  /** Writes the samples into `target` from `offset` on, in the order in which they came; there must be room for them. */
  copyTo(target: Float64Array, offset: number): void {
    let end = offset
    for (const chunk of this.chunks) {
      const filled = chunk === this.last ? chunk.subarray(0, this.used) : chunk
      target.set(filled, end)
      end += filled.length
    }
  }
}

/**
 * All samples of several buffers in one sorted array.
 *
 * @since 0.1.0
 * @category combinators
 */
export const union = (buffers: ReadonlyArray<Samples>): Float64Array => {
  const all = new Float64Array(buffers.reduce((count, buffer) => count + buffer.count, 0))
  let end = 0
  for (const buffer of buffers) {
    buffer.copyTo(all, end)
    end += buffer.count
  }
  return all.sort()
}

/**
 * The `p`-th percentile (0 to 100) by the nearest-rank method: the smallest sample that at least `p` percent of the
 * samples do not exceed, at index `ceil(p / 100 × n) - 1`. `p` at or below 0 gives the minimum. Undefined without samples.
 *
 * Source: the inverse of the empirical distribution function, type 1 in Hyndman & Fan, "Sample Quantiles in Statistical
 * Packages" (1996).
 *
 * @since 0.1.0
 * @category combinators
 */
export const percentileNearestRank = (sorted: Sorted, p: number): number | undefined =>
  sorted[rank(sorted.length, p) - 1]

/**
 * The `p`-th percentile (0 to 100) by linear interpolation between the two samples around the position `p / 100 × (n - 1)`, from
 * 0: a value that may be none of the samples, as other tools show by default. Nothing here is scored, judged or compared by it.
 * Undefined without samples.
 *
 * Source: type 7 in Hyndman & Fan (1996).
 *
 * @since 0.1.0
 * @category combinators
 */
export const percentileInterpolated = (sorted: Sorted, p: number): number | undefined => {
  const position = (Math.min(100, Math.max(0, p)) * (sorted.length - 1)) / 100
  const lower = sorted[Math.floor(position)]
  const upper = sorted[Math.ceil(position)]
  if (lower === undefined || upper === undefined) return undefined
  const fraction = position - Math.floor(position)
  return lower === upper ? lower : lower * (1 - fraction) + upper * fraction
}

/**
 * The median absolute deviation: the median of how far the samples are from their median, not scaled to any distribution.
 * Undefined without samples.
 *
 * Source: Hampel, "The Influence Curve and its Role in Robust Estimation" (1974).
 *
 * @since 0.1.0
 * @category combinators
 */
export const medianAbsoluteDeviation = (sorted: Sorted): number | undefined => {
  const middle = median(sorted)
  if (middle === undefined) return undefined
  return median(Float64Array.from(sorted, (sample) => Math.abs(sample - middle)).sort())
}

/**
 * The middle sample, or the mean of the middle two when their count is even. Undefined without samples.
 *
 * Source: type 2 in Hyndman & Fan (1996), at one half.
 *
 * @since 0.1.0
 * @category combinators
 */
export const median = (sorted: Sorted): number | undefined => {
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle]
  const lower = sorted.length % 2 === 0 ? sorted[middle - 1] : upper
  return lower === undefined || upper === undefined ? undefined : midpoint(lower, upper)
}

/**
 * The arithmetic mean, within the extremes even where the sum of the samples overflows. Undefined without samples.
 *
 * @since 0.1.0
 * @category combinators
 */
export const mean = (sorted: Sorted): number | undefined => {
  const count = sorted.length
  const min = sorted[0]
  const max = sorted[count - 1]
  if (min === undefined || max === undefined) return undefined
  let sum = 0
  for (let i = 0; i < count; i++) sum += sorted[i] ?? 0
  if (!Number.isFinite(sum)) {
    sum = 0
    for (let i = 0; i < count; i++) sum += (sorted[i] ?? 0) / count
    return Math.min(max, Math.max(min, sum))
  }
  return Math.min(max, Math.max(min, sum / count))
}

/**
 * Drops `floor(n × fraction)` samples from each end, or none when nothing would be left. The product is the floating
 * one: 0.29 of 100 samples drops 28, as on the platform that recomputes it. A `Float64Array` is not copied.
 *
 * Source: the symmetrically trimmed sample of the trimmed mean, Tukey & McLaughlin, "Less Vulnerable Confidence and
 * Significance Procedures for Location Based on a Single Sample" (1963).
 *
 * @since 0.1.0
 * @category combinators
 */
export const trimmed = (sorted: Sorted, fraction: number): Sorted => {
  const count = sorted.length
  const dropped = Math.floor(count * fraction)
  if (!(dropped > 0) || count - 2 * dropped <= 0) return sorted
  return sorted instanceof Float64Array
    ? sorted.subarray(dropped, count - dropped)
    : sorted.slice(dropped, count - dropped)
}

/**
 * The {@link Summary} of samples in any order; undefined without samples.
 *
 * @since 0.1.0
 * @category combinators
 */
export const summary = (samples: Iterable<number>): Summary | undefined =>
  summaryOfSorted(Float64Array.from(samples).sort())

/**
 * Like {@link summary}, of samples that are sorted already.
 *
 * @since 0.1.0
 * @category combinators
 */
export const summaryOfSorted = (sorted: Sorted): Summary | undefined => {
  const min = sorted[0]
  const max = sorted[sorted.length - 1]
  const middle = median(sorted)
  const p95 = percentileNearestRank(sorted, 95)
  const p99 = percentileNearestRank(sorted, 99)
  const average = mean(sorted)
  return min === undefined ||
    max === undefined ||
    middle === undefined ||
    p95 === undefined ||
    p99 === undefined ||
    average === undefined
    ? undefined
    : { count: sorted.length, min, median: middle, p95, p99, max, mean: average }
}

/**
 * Summaries of samples in any order before and after dropping `trim` (0 to below 0.5) of them from each end, side by
 * side; undefined without samples. The trimmed percentiles are not percentiles of all samples: with a trim of 0.05 the
 * trimmed p99 of 100 samples is their raw p95.
 *
 * @since 0.1.0
 * @category combinators
 */
export const describe = (samples: Iterable<number>, trim: number): Description | undefined =>
  describeSorted(Float64Array.from(samples).sort(), trim)

/**
 * Like {@link describe}, of samples that are sorted already.
 *
 * @since 0.1.0
 * @category combinators
 */
export const describeSorted = (sorted: Sorted, trim: number): Description | undefined => {
  const raw = summaryOfSorted(sorted)
  const rest = trimmed(sorted, trim)
  const kept = rest === sorted ? raw : summaryOfSorted(rest)
  return raw === undefined || kept === undefined ? undefined : { raw, trimmed: kept }
}

/**
 * How many samples there must be for the nearest-rank `p`-th percentile to be another sample than the maximum: the least
 * `n` with `ceil(p / 100 × n) < n`, which is the least `n` at or above `100 / (100 - p)`: 2 for the 50th, 20 for the 95th,
 * 100 for the 99th, 1000 for the 99.9th. Infinity for the 100th, which is the maximum by definition.
 *
 * @since 0.1.0
 * @category combinators
 */
export const samplesNeededFor = (p: number): number => {
  if (!(p < 100)) return Infinity
  let count = Math.max(2, Math.floor(100 / (100 - p)) - 1)
  while (rank(count, p) >= count) count++
  return count
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxChunk = 8192

// p × n first: p / 100 is rarely exact, and 7 / 100 × 100 would round up to rank 8.
const rank = (count: number, p: number): number => Math.min(Math.max(1, Math.ceil((p * count) / 100)), count)

const midpoint = (a: number, b: number): number => {
  const sum = a + b
  return Number.isFinite(sum) ? sum / 2 : a / 2 + b / 2
}
