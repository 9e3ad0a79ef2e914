/**
 * Composite scores: a spec weighs the median, p95 and p99 of some metrics against ceilings, and every participant of a
 * run gets a score from 0 to 100. Pure and incremental: records are added one by one and only their samples are kept.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import type { Display, DisplayMetric, ScoringConfig } from "./Config.js"
import { messageOf } from "./internal/json.js"
import { decodeSpec } from "./internal/scoringSpec.js"
import type { SummaryRow } from "./Platform.js"
import type { ParticipantRecords, TaskRecord } from "./Record.js"
import * as Statistics from "./Statistics.js"

/**
 * How much each statistic of a metric counts: finite, not negative. Over all metrics of a spec they sum to 1 ± 0.01, both
 * ends included.
 *
 * @since 0.1.0
 * @category models
 */
export interface Weights {
  readonly median: number
  readonly p95: number
  readonly p99: number
}

/**
 * One scored metric. Its samples are the finite numbers, or lists of them, found in the records that count as passed.
 *
 * @since 0.1.0
 * @category models
 */
export interface MetricSpec {
  readonly name: string
  /** Key in the record's data, or a function of the record. Default: `name`. */
  readonly value?: string | ((record: TaskRecord) => unknown) | undefined
  /** Default: the unit that the display gives for the key, else empty. */
  readonly unit?: string | undefined
  /** Scores 0 when lower is better, 100 when higher is better. Positive and finite. */
  readonly ceiling: number
  /** Scores 0 when higher is better (default 0; below `ceiling`); of no effect when lower is better. */
  readonly floor?: number | undefined
  /** Default false. */
  readonly higherIsBetter?: boolean | undefined
  readonly weights: Weights
  /**
   * Fraction of the samples dropped from each end before scoring, >= 0. Default 0.05. When nothing would be left, from
   * about 0.5 on, nothing is dropped; a benchmark config refuses such a trim.
   */
  readonly trim?: number | undefined
}

/**
 * What to score and how.
 *
 * @since 0.1.0
 * @category models
 */
export interface ScoringSpec {
  readonly metrics: ReadonlyArray<MetricSpec>
  /** Set on every row; values that JSON cannot hold are left out. */
  readonly dimensions?: Readonly<Record<string, unknown>> | undefined
  /** Data key whose values split the records: after the row over all of them comes one row a value. Empty: no split. */
  readonly groupBy?: string | undefined
  /** Whether a record counts as passed (any truthy result). Default: its status is `"success"`. */
  readonly success?: ((record: TaskRecord) => unknown) | undefined
}

/**
 * One thing wrong with a spec: where, and what it must be.
 *
 * @since 0.1.0
 * @category models
 */
export interface SpecIssue {
  readonly field: string
  readonly message: string
}

/**
 * A spec that cannot give a meaningful score from 0 to 100. Either `issues` names the fields that are wrong, or it is
 * empty and the weights, summed per metric in `totals`, do not add up to 1.
 *
 * @since 0.1.0
 * @category errors
 */
export class ScoringSpecError extends Data.TaggedError("ScoringSpecError")<{
  readonly issues: ReadonlyArray<SpecIssue>
  readonly totals: ReadonlyArray<{ readonly name: string; readonly total: number }>
  readonly cause?: unknown
}> {
  override get message(): string {
    if (this.issues.length > 0) {
      return ["Invalid scoring spec:", ...this.issues.map(({ field, message }) => `  - ${field}: ${message}`)].join(
        "\n"
      )
    }
    const sum = this.totals.reduce((all, { total }) => all + total, 0)
    const totals = this.totals.map(({ name, total }) => `${name}=${total.toFixed(3)}`).join(", ")
    return (
      `Scoring spec weights sum to ${sum.toFixed(3)}, expected 1.0 (±0.01). ` +
      "Each metric's weights.median + weights.p95 + weights.p99, summed across every declared metric, " +
      "must total 1.0 for compositeScore to stay a meaningful 0-100 scale. " +
      `Per-metric totals: ${totals === "" ? "(no metrics declared)" : totals}`
    )
  }
}

/**
 * Collects the records of a run and scores them at any time. It keeps 8 bytes a sample and, with `groupBy`, each distinct
 * value; never a record.
 *
 * @since 0.1.0
 * @category models
 */
export interface Accumulator {
  /** Takes one record of a participant. Does not throw: see `failure`. */
  readonly add: (participant: string, record: TaskRecord) => void
  /** The rows of these participants, in this order; one without records gets a single row with `skipped` true. */
  readonly rows: (participants: ReadonlyArray<string>) => ReadonlyArray<SummaryRow>
  /**
   * The first exception of the spec's own functions, if any: a record whose `success` threw does not count as passed, a
   * metric whose `value` threw got no sample from that record.
   */
  readonly failure: () => ScoringSpecError | undefined
}

/**
 * The unit of a metric as it is displayed.
 *
 * @since 0.1.0
 * @category models
 */
export type DisplayUnit = Pick<DisplayMetric, "key" | "unit">

/**
 * A metric of which less is better: 100 at 0 (or below), 0 at `ceiling` or above, linear between.
 *
 * @since 0.1.0
 * @category constructors
 */
export const lowerIsBetter = (options: Omit<MetricSpec, "higherIsBetter" | "floor">): MetricSpec => ({
  ...options,
  higherIsBetter: false
})

/**
 * A metric of which more is better: 0 at `floor` (default 0) or below, 100 at `ceiling` or above, linear between.
 *
 * @since 0.1.0
 * @category constructors
 */
export const higherIsBetter = (options: Omit<MetricSpec, "higherIsBetter">): MetricSpec => ({
  ...options,
  higherIsBetter: true
})

/**
 * The spec that the `scoring` of a benchmark config stands for. Units come from `display`, then from the metric, else they
 * are empty. With `success.requireData` a record passes when its status is `"success"` and every listed field of its data
 * is strictly equal.
 *
 * @since 0.1.0
 * @category constructors
 */
export const scoringConfigToSpec = (
  scoring: ScoringConfig,
  dimensions?: Readonly<Record<string, unknown>>,
  display?: Pick<Display, "metrics">
): ScoringSpec => {
  const units = unitsOf(display?.metrics)
  const required = scoring.success === undefined ? undefined : Object.entries(scoring.success.requireData)
  return {
    metrics: scoring.metrics.map((metric) => ({
      name: metric.key,
      value: metric.key,
      unit: units.get(metric.key) ?? metric.unit ?? "",
      ceiling: metric.ceiling,
      weights: metric.weights,
      ...(metric.floor !== undefined && { floor: metric.floor }),
      ...(metric.higherIsBetter !== undefined && { higherIsBetter: metric.higherIsBetter }),
      ...(metric.trim !== undefined && { trim: metric.trim })
    })),
    ...(dimensions !== undefined && { dimensions }),
    ...(scoring.groupBy !== undefined && { groupBy: scoring.groupBy }),
    ...(required !== undefined && {
      success: (record) =>
        record.status === "success" && required.every(([key, value]) => dataField(record, key) === value)
    })
  }
}

/**
 * Checks anything as a spec and returns it with `null` options dropped and `null` weights as 0. Never throws.
 *
 * @since 0.1.0
 * @category constructors
 */
export const validateSpec = (spec: unknown): Either.Either<ScoringSpec, ScoringSpecError> => {
  try {
    return Either.mapLeft(decodeSpec(spec), (problems) => new ScoringSpecError(problems))
  } catch (cause) {
    return Either.left(unusable("spec", `cannot be read: ${messageOf(cause)}`, cause))
  }
}

/**
 * An {@link Accumulator} for a spec. Units missing in the spec come from `displayMetrics`, by data key. Fails with
 * {@link ScoringSpecError} when {@link validateSpec} does.
 *
 * @since 0.1.0
 * @category constructors
 */
export const accumulator = (
  spec: ScoringSpec,
  displayMetrics?: ReadonlyArray<DisplayUnit>
): Either.Either<Accumulator, ScoringSpecError> =>
  Either.map(validateSpec(spec), (valid) => makeAccumulator(valid, unitsOf(displayMetrics)))

/**
 * Scores records that are all at hand, participant by participant. Fails with {@link ScoringSpecError} when the spec is
 * invalid or one of its functions throws. Participants have distinct names.
 *
 * @since 0.1.0
 * @category combinators
 */
export const score = (
  outcome: { readonly participants: ReadonlyArray<ParticipantRecords> },
  spec: ScoringSpec,
  displayMetrics?: ReadonlyArray<DisplayUnit>
): Either.Either<ReadonlyArray<SummaryRow>, ScoringSpecError> =>
  Either.flatMap(accumulator(spec, displayMetrics), ({ add, failure, rows }) => {
    for (const { participant, records } of outcome.participants) {
      for (const record of records) add(participant, record)
    }
    const failed = failure()
    return failed === undefined
      ? Either.right(rows(outcome.participants.map(({ participant }) => participant)))
      : Either.left(failed)
  })

/**
 * The `trim` of a metric that names none.
 *
 * @since 0.1.0
 * @category models
 */
export const defaultTrim = 0.05

/**
 * What one statistic of a metric scores, from 0 to 100: linear between `ceiling` and 0, or `floor` when higher is better. A
 * participant's composite score is the sum of weight × this × success rate over the trimmed statistics of all metrics.
 *
 * @since 0.1.0
 * @category combinators
 */
export const statScore = (metric: Pick<MetricSpec, "ceiling" | "floor" | "higherIsBetter">, value: number): number => {
  const fraction =
    metric.higherIsBetter === true
      ? (value - (metric.floor ?? 0)) / (metric.ceiling - (metric.floor ?? 0))
      : 1 - value / metric.ceiling
  return Math.min(100, Math.max(0, 100 * fraction))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What is kept of the records of one participant that share one `groupBy` value; `group` is that value as JSON. */
interface Bucket {
  readonly group: string | undefined
  readonly samples: ReadonlyArray<Statistics.Samples>
  records: number
  passed: number
}

const unusable = (field: string, message: string, cause: unknown): ScoringSpecError =>
  new ScoringSpecError({ issues: [{ field, message }], totals: [], cause })

const passes = (record: TaskRecord): boolean => record.status === "success"

const makeAccumulator = (spec: ScoringSpec, displayUnits: ReadonlyMap<string, string>): Accumulator => {
  const success = spec.success ?? passes
  const groupBy = spec.groupBy === "" ? undefined : spec.groupBy
  const dimensions = jsonObject(spec.dimensions)
  const metrics = spec.metrics.map((metric, index) => {
    const value = metric.value ?? metric.name
    const key = typeof value === "string" ? value : metric.name
    return {
      metric,
      unit: metric.unit ?? displayUnits.get(key) ?? "",
      field: `metrics[${index}].value`,
      read: typeof value === "string" ? (record: TaskRecord) => dataField(record, value) : value
    }
  })
  const buckets = new Map<string, Map<string | undefined, Bucket>>()
  let failure: ScoringSpecError | undefined

  const bucketOf = (participant: string, group: string | undefined): Bucket => {
    let groups = buckets.get(participant)
    if (groups === undefined) buckets.set(participant, (groups = new Map()))
    let bucket = groups.get(group)
    if (bucket === undefined) {
      bucket = { group, samples: metrics.map(() => new Statistics.Samples()), records: 0, passed: 0 }
      groups.set(group, bucket)
    }
    return bucket
  }

  const call = (field: string, participant: string, record: TaskRecord, read: (record: TaskRecord) => unknown) => {
    try {
      return read(record)
    } catch (cause) {
      failure ??= unusable(
        field,
        `threw on task ${record.taskIndex} of participant "${participant}": ${messageOf(cause)}`,
        cause
      )
      return undefined
    }
  }

  const rowOf = (
    provider: string,
    rowDimensions: Record<string, unknown>,
    parts: ReadonlyArray<Bucket>
  ): SummaryRow => {
    const records = parts.reduce((sum, part) => sum + part.records, 0)
    const successRate = records === 0 ? 0 : parts.reduce((sum, part) => sum + part.passed, 0) / records
    let composite = 0
    const rows = metrics.flatMap(({ metric, unit }, index) => {
      const sorted = Statistics.union(parts.flatMap(({ samples }) => samples[index] ?? []))
      const statistics = Statistics.describeSorted(sorted, metric.trim ?? defaultTrim)
      if (statistics === undefined) return []
      const { median, p95, p99 } = statistics.trimmed
      composite += metric.weights.median * statScore(metric, median) * successRate
      composite += metric.weights.p95 * statScore(metric, p95) * successRate
      composite += metric.weights.p99 * statScore(metric, p99) * successRate
      const { mean: _, ...raw } = statistics.raw
      return [{ name: metric.name, unit, median, p95, p99, raw }]
    })
    return {
      provider,
      dimensions: rowDimensions,
      metrics: rows,
      compositeScore: Math.min(100, Math.round(composite * 100) / 100),
      successRate,
      skipped: records === 0
    }
  }

  return {
    add: (participant, record) => {
      const bucket = bucketOf(participant, groupBy === undefined ? undefined : jsonText(dataField(record, groupBy)))
      bucket.records++
      if (!call("success", participant, record, success)) return
      bucket.passed++
      metrics.forEach(({ field, read }, index) => {
        const samples = bucket.samples[index]
        if (samples === undefined) return
        const value = call(field, participant, record, read)
        if (typeof value === "number") pushFinite(samples, value)
        else if (Array.isArray(value)) for (const item of value) pushFinite(samples, item)
      })
    },
    rows: (participants) =>
      participants.flatMap((participant) => {
        const parts = [...(buckets.get(participant)?.values() ?? [])]
        const total = rowOf(participant, { ...dimensions }, parts)
        if (groupBy === undefined || parts.length === 0) return [total]
        const groups = parts.map((part) =>
          rowOf(
            participant,
            part.group === undefined
              ? without(dimensions, groupBy)
              : { ...dimensions, [groupBy]: fromJson(part.group) },
            [part]
          )
        )
        return [total, ...groups]
      }),
    failure: () => failure
  }
}

const pushFinite = (samples: Statistics.Samples, value: unknown): void => {
  if (typeof value === "number" && Number.isFinite(value)) samples.push(value)
}

const unitsOf = (metrics: ReadonlyArray<DisplayUnit> | undefined): ReadonlyMap<string, string> =>
  new Map(metrics?.flatMap(({ key, unit }) => (unit === undefined ? [] : [[key, unit]])))

const dataField = (record: TaskRecord, key: string): unknown =>
  record.data !== undefined && record.data !== null && Object.hasOwn(record.data, key) ? record.data[key] : undefined

// JSON is the form in which dimensions are stored and compared, so groups are told apart by their JSON text. A value that
// JSON cannot hold is represented by its text.
const jsonText = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return JSON.stringify(messageOf(value))
  }
}

const fromJson = (text: string): unknown => JSON.parse(text)

const jsonObject = (value: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value ?? {}).flatMap(([key, field]) => {
      const text = jsonText(field)
      return text === undefined ? [] : [[key, fromJson(text)]]
    })
  )

const without = (object: Record<string, unknown>, key: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key))
