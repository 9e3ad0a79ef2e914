/**
 * Samples counted instead of kept: percentiles of any number of them in little memory, within a relative accuracy that is
 * chosen beforehand, and of samples that different processes have counted.
 *
 * ```ts
 * import { Either } from "effect"
 * import * as Histogram from "effect-bench/Histogram"
 *
 * const [first, second] = [Histogram.make(), Histogram.make()]
 * for (let ms = 1; ms <= 1000; ms++) (ms % 2 === 0 ? first : second).add(ms / 10)
 * const p95 = Either.map(Histogram.merge(first, second), (both) => both.percentile(95)) // 95, or at most 1 % from it
 * ```
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/**
 * Two histograms with bins of different widths, which cannot be merged.
 *
 * @since 0.1.0
 * @category errors
 */
export class AccuracyMismatch extends Data.TaggedError("AccuracyMismatch")<{
  readonly accuracies: readonly [first: number, second: number]
}> {
  override get message(): string {
    const [first, second] = this.accuracies
    return `Histograms of accuracy ${first} and ${second} cannot be merged; count both with the same "accuracy".`
  }
}

const Bins = Schema.Array(
  Schema.Tuple(Schema.Int, Schema.Int.pipe(Schema.positive())).annotations({ description: "Index and count of a bin." })
)

/**
 * A histogram as it is stored and sent.
 *
 * @since 0.1.0
 * @category schemas
 */
export const HistogramJson = Schema.Struct({
  version: Schema.Literal(1),
  accuracy: Schema.Number.pipe(Schema.greaterThan(0), Schema.lessThan(1)),
  zeros: Schema.NonNegativeInt,
  negative: Bins,
  positive: Bins,
  sum: Schema.JsonNumber,
  min: Schema.optional(Schema.JsonNumber),
  max: Schema.optional(Schema.JsonNumber)
}).annotations({ identifier: "Histogram" })

/**
 * @since 0.1.0
 * @category schemas
 */
export type HistogramJson = typeof HistogramJson.Type

/**
 * A DDSketch: bin `i` counts the samples above `g^(i - 1)` up to `g^i`, where `g = (1 + accuracy) / (1 - accuracy)`; negative
 * samples are counted alike, and those closer to 0 than 2.3e-308 as 0. Its size grows with the range of the samples, not with their
 * number: at most 116 bins per power of ten at an accuracy of 0.01.
 *
 * Source: Masson, Rim & Lee, "DDSketch: A Fast and Fully-Mergeable Quantile Sketch with Relative-Error Guarantees" (2019),
 * section 2, with bins that never collapse.
 *
 * @since 0.1.0
 * @category models
 */
export class Histogram {
  /** By how much a percentile may be off, as a fraction of it. */
  readonly accuracy: number
  private readonly negative = new Map<number, number>()
  private readonly positive = new Map<number, number>()
  private zeros: number
  private seen: number
  private total: number
  private extremes: Extremes | undefined

  /** Counts on from what was counted before. An accuracy that is not between 0 and 1 is a `RangeError`. */
  constructor({ accuracy, max, min, negative, positive, sum, zeros }: Omit<HistogramJson, "version">) {
    if (!(accuracy > 0 && accuracy < 1)) {
      throw new RangeError(`The accuracy of a histogram is a fraction between 0 and 1, not ${accuracy}.`)
    }
    this.accuracy = accuracy
    for (const [index, count] of negative) increase(this.negative, index, count)
    for (const [index, count] of positive) increase(this.positive, index, count)
    this.zeros = zeros
    this.seen = zeros + counted(negative) + counted(positive)
    this.total = sum
    this.extremes = min === undefined || max === undefined ? undefined : { min, max }
  }

  /** How many samples were added. */
  get count(): number {
    return this.seen
  }

  /** Of all samples; where it would overflow, the largest finite number. */
  get sum(): number {
    return this.total
  }

  /** The smallest sample itself. Undefined without samples. */
  get min(): number | undefined {
    return this.extremes?.min
  }

  /** The largest sample itself. Undefined without samples. */
  get max(): number | undefined {
    return this.extremes?.max
  }

  /** The arithmetic mean, as exact as the sum. Undefined without samples. */
  get mean(): number | undefined {
    return this.extremes && within(this.extremes, this.total / this.seen)
  }

  /** Counts one sample, in constant time. One that is not finite is a `RangeError`. */
  add(sample: number): void {
    if (!Number.isFinite(sample)) throw new RangeError(`A sample is a finite number, not ${sample}.`)
    const size = Math.abs(sample)
    if (size < smallest) this.zeros++
    else increase(sample < 0 ? this.negative : this.positive, Math.ceil(Math.log(size) / logBase(this.accuracy)), 1)
    this.extremes = union(this.extremes, { min: sample + 0, max: sample + 0 })
    this.seen++
    this.total = finite(this.total + sample)
  }

  /**
   * The nearest-rank `p`-th percentile (0 to 100), at most `accuracy` times itself off, and never outside of the samples; the first
   * and the last rank are exact. Undefined without samples.
   */
  percentile(p: number): number | undefined {
    if (this.extremes === undefined) return undefined
    const rank = Math.min(this.seen, Math.max(1, Math.ceil((p * this.seen) / 100)))
    if (rank === 1) return this.extremes.min
    if (rank === this.seen) return this.extremes.max
    let before = 0
    const bin = ascending(this.toJSON()).find(({ count }) => (before += count) >= rank)
    return bin && within(this.extremes, bin.value)
  }

  /** What {@link FromJson} encodes to: the same for the same counts, in whatever order they came. */
  toJSON(): HistogramJson {
    return {
      version: 1,
      accuracy: this.accuracy,
      zeros: this.zeros,
      negative: Array.from(this.negative).sort(([a], [b]) => a - b),
      positive: Array.from(this.positive).sort(([a], [b]) => a - b),
      sum: this.total,
      ...this.extremes
    }
  }
}

/**
 * An empty histogram. `accuracy` is by how much a percentile may be off, as a fraction of it; default 0.01. One that is not between
 * 0 and 1 is a `RangeError`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: { readonly accuracy?: number | undefined } = {}): Histogram =>
  new Histogram({ accuracy: options.accuracy ?? 0.01, zeros: 0, negative: [], positive: [], sum: 0 })

/**
 * A histogram of all samples of two; both are left as they are. It is the one that counting all samples would have given,
 * whatever the order, but for the rounding of the sum. Fails with {@link AccuracyMismatch} when their accuracies differ.
 *
 * @since 0.1.0
 * @category combinators
 */
export const merge = (self: Histogram, that: Histogram): Either.Either<Histogram, AccuracyMismatch> => {
  if (self.accuracy !== that.accuracy) {
    return Either.left(new AccuracyMismatch({ accuracies: [self.accuracy, that.accuracy] }))
  }
  const [a, b] = [self.toJSON(), that.toJSON()]
  return Either.right(
    new Histogram({
      ...a,
      ...union(extremesOf(a), extremesOf(b)),
      zeros: a.zeros + b.zeros,
      negative: [...a.negative, ...b.negative],
      positive: [...a.positive, ...b.positive],
      sum: finite(a.sum + b.sum)
    })
  )
}

/**
 * From and to JSON. What cannot be a histogram is refused: bins that are there twice, extremes that are not in the outer bins.
 *
 * @since 0.1.0
 * @category schemas
 */
export const FromJson: Schema.Schema<Histogram, typeof HistogramJson.Encoded> = Schema.transformOrFail(
  HistogramJson,
  Schema.instanceOf(Histogram),
  {
    strict: true,
    decode: (json, _, ast) => {
      const problem = problemOf(json)
      return problem === undefined
        ? ParseResult.succeed(new Histogram(json))
        : ParseResult.fail(new ParseResult.Type(ast, json, problem))
    },
    encode: (histogram) => ParseResult.succeed(histogram.toJSON())
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Extremes {
  readonly min: number
  readonly max: number
}

type Bins = HistogramJson["positive"]

/** Below it numbers have fewer digits, and the logarithm cannot tell them apart as well. */
const smallest = 2.3e-308

const logBase = (accuracy: number): number => Math.log1p(accuracy) - Math.log1p(-accuracy)

const increase = (bins: Map<number, number>, index: number, by: number): void => {
  bins.set(index, (bins.get(index) ?? 0) + by)
}

const counted = (bins: Bins): number => bins.reduce((sum, [, count]) => sum + count, 0)

/** Bins with samples, each with the value that is as far from its lower as from its upper end, relative to them. */
const ascending = ({ accuracy, negative, positive, zeros }: HistogramJson) => {
  const base = logBase(accuracy)
  const valueOf = (index: number): number => Math.min(Number.MAX_VALUE, Math.exp(index * base + Math.log1p(-accuracy)))
  return [
    ...negative.map(([index, count]) => ({ count, value: -valueOf(index) })).reverse(),
    ...(zeros === 0 ? [] : [{ count: zeros, value: 0 }]),
    ...positive.map(([index, count]) => ({ count, value: valueOf(index) }))
  ]
}

const extremesOf = ({ max, min }: HistogramJson): Extremes | undefined =>
  min === undefined || max === undefined ? undefined : { min, max }

const union = (first: Extremes | undefined, second: Extremes | undefined): Extremes | undefined =>
  first && second ? { min: Math.min(first.min, second.min), max: Math.max(first.max, second.max) } : (first ?? second)

const within = ({ max, min }: Extremes, value: number): number => Math.min(max, Math.max(min, value)) + 0

const finite = (sum: number): number => Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, sum)) + 0

/** What cannot come from counting samples. */
const problemOf = (json: HistogramJson): string | undefined => {
  for (const sign of ["negative", "positive"] as const) {
    const isAscending = json[sign].every(([index], i) => i === 0 || index > (json[sign][i - 1]?.[0] ?? index))
    if (!isAscending) return `the bins of "${sign}" are not in ascending order`
  }
  const { accuracy, max, min, sum } = json
  const bins = ascending(json)
  const [lowest, highest] = [bins[0], bins[bins.length - 1]]
  if (lowest === undefined || highest === undefined) {
    return min === undefined && max === undefined && sum === 0
      ? undefined
      : `without samples there is neither "min" nor "max", and "sum" is 0`
  }
  if (!Number.isSafeInteger(bins.reduce((all, { count }) => all + count, 0))) {
    return "there are more samples than can be counted"
  }
  const isOf = (sample: number, bin: { readonly value: number }): boolean =>
    Math.abs(sample - bin.value) <= accuracy * (1 + 1e-6) * Math.abs(sample) + smallest
  return min !== undefined && max !== undefined && min <= max && isOf(min, lowest) && isOf(max, highest)
    ? undefined
    : `"min" and "max" are not in the lowest and in the highest bin`
}
