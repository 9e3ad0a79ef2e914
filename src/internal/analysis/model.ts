/** A run as it is judged: what every view of a run (terminal, report, dashboard) shows. Plain data, without rounding. */
import type { Display, DisplayMetric, ScoringConfig } from "../../Config.js"
import type { Iteration, Run, RunSummary, SummaryRow } from "../../Platform.js"

/**
 * Everything that is stored about a run, as far as judging it needs it.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunData {
  readonly benchmark: { readonly slug: string; readonly name: string }
  readonly run: Run
  /** In the order in which they were registered; skipped ones as far as the summary names them. */
  readonly participants: ReadonlyArray<string>
  /** Over how many workers the tasks of each participant were split. Default 1. */
  readonly workerCounts?: Readonly<Record<string, number>> | undefined
  readonly tasks: ReadonlyArray<Iteration>
  readonly steps: ReadonlyArray<Iteration>
  /** The scored summary, if one was submitted. */
  readonly summary: RunSummary | undefined
  readonly display: Display | undefined
  readonly scoring: ScoringConfig | undefined
}

/**
 * An estimate and the interval that it was found in, both in the unit of what is estimated.
 *
 * @since 0.1.0
 * @category models
 */
export interface Interval {
  readonly low: number
  readonly high: number
  /** Confidence level, a fraction. */
  readonly level: number
}

/**
 * What there is to measure: the latency of the whole task (`task`), of a step (`step:NAME`), or a number that tasks
 * recorded in their data (its key).
 *
 * @since 0.1.0
 * @category models
 */
export interface MetricInfo {
  /** `task`, `step:NAME`, or the key in the data. */
  readonly key: string
  readonly kind: "task" | "step" | "data"
  readonly label: string
  /** Empty when it is not known. */
  readonly unit: string
  /** How many to show; undefined leaves it to the view. */
  readonly decimals: number | undefined
  readonly higherIsBetter: boolean
  /** Whether the score is made of it. */
  readonly scored: boolean
  /** As the config declares it, if it does. */
  readonly declared: DisplayMetric | undefined
}

/**
 * A distribution in a few numbers. Percentiles are nearest-rank; `q1` and `q3` are too.
 *
 * @since 0.1.0
 * @category models
 */
export interface Distribution {
  readonly count: number
  readonly min: number
  readonly q1: number
  readonly median: number
  readonly q3: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
  readonly max: number
  readonly mean: number
  /** Sample standard deviation; undefined of fewer than 2. */
  readonly stdDev: number | undefined
  /** Of the median and of p95; undefined when there are too few samples for one. */
  readonly medianInterval: Interval | undefined
  readonly p95Interval: Interval | undefined
  /** Equal-width bins from `min` to `max`, at most 60; one when all samples are equal. */
  readonly histogram: ReadonlyArray<{ readonly from: number; readonly to: number; readonly count: number }>
}

/**
 * A metric of a participant: samples of passing tasks only (of steps: those that succeeded).
 *
 * @since 0.1.0
 * @category models
 */
export interface MetricAnalysis {
  readonly key: string
  /** How many values there are, failed ones included. */
  readonly total: number
  /** Undefined without samples. */
  readonly distribution: Distribution | undefined
  /** In the order of task indexes, failed ones included where they have a value. Made when it is first read. */
  readonly points: ReadonlyArray<MetricPoint>
}

/**
 * One value of a metric.
 *
 * @since 0.1.0
 * @category models
 */
export interface MetricPoint {
  readonly taskIndex: number
  readonly value: number
  /** Whether the task passed; of a step, whether it succeeded. */
  readonly ok: boolean
  /** Milliseconds from the start of the run's first task to that of this one; undefined when it has no time. */
  readonly atMs: number | undefined
  readonly phase: string | undefined
}

/**
 * Tasks that failed with one code. Those that succeeded without the data that the scoring requires of one that counts have
 * the code `success.requireData`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure {
  readonly code: string
  readonly count: number
  /** The step they failed in, when that is the same for all. */
  readonly step: string | undefined
  /** The first message, as it was recorded. */
  readonly message: string | undefined
  /** The first of their indexes, 20 at most. */
  readonly taskIndexes: ReadonlyArray<number>
}

/**
 * How one statistic of a scored metric became points. `points` is weight × statScore × successRate; all of them add up to
 * the composite score, rounding aside.
 *
 * @since 0.1.0
 * @category models
 */
export interface ScorePart {
  readonly metric: string
  readonly statistic: "median" | "p95" | "p99"
  /** A fraction. */
  readonly weight: number
  /** Trimmed as the config says. Undefined without samples. */
  readonly value: number | undefined
  /** From 0 to 100. */
  readonly statScore: number
  readonly points: number
}

/**
 * What a participant did in a run.
 *
 * @since 0.1.0
 * @category models
 */
export interface ParticipantAnalysis {
  readonly name: string
  /** True when it had no task in this run. */
  readonly skipped: boolean
  /**
   * From 1. A participant shares the rank of the best one that it cannot be told apart from; as many ranks are left out
   * after it. Undefined when skipped.
   */
  readonly rank: number | undefined
  /** Whether it shares its rank. */
  readonly tied: boolean
  readonly taskCount: number
  /** Tasks that passed: successful, and with the data that the scoring requires, if it does. */
  readonly successCount: number
  /** All others. */
  readonly errorCount: number
  /** A fraction; undefined without tasks. */
  readonly successRate: number | undefined
  /** From 0 to 100; undefined when the benchmark does not score. */
  readonly score: number | undefined
  /** Undefined when there are too few tasks for one, or when the benchmark scores in its own way. */
  readonly scoreInterval: Interval | undefined
  /** Empty when the benchmark does not score, or in its own way. */
  readonly scoreParts: ReadonlyArray<ScorePart>
  /** Rows by `scoring.groupBy`, without the total. */
  readonly groups: ReadonlyArray<SummaryRow>
  readonly metrics: ReadonlyArray<MetricAnalysis>
  readonly failures: ReadonlyArray<Failure>
  /** Of the first task's start to the last one's end; undefined when not known. */
  readonly elapsedMs: number | undefined
  /** Tasks a second over `elapsedMs`. */
  readonly throughput: number | undefined
  readonly phases: ReadonlyArray<string>
}

/**
 * Something to know about the numbers, in words that need no other context.
 *
 * @since 0.1.0
 * @category models
 */
export interface Warning {
  readonly kind:
    | "too-few-samples"
    | "bimodal"
    | "drift"
    | "outliers"
    | "clock-resolution"
    | "generator-lag"
    | "failures"
    | "incomplete"
  readonly participant: string | undefined
  readonly metric: string | undefined
  readonly text: string
}

/**
 * Records judged, wherever they come from.
 *
 * @since 0.1.0
 * @category models
 */
export interface Judgement {
  readonly benchmark: { readonly slug: string; readonly name: string }
  /** The metric that is shown first; without scores, the one that participants are ranked by. */
  readonly defaultMetric: string
  /** The default one first, then scored ones, declared ones in their order, others, steps, `task` last unless it is first. */
  readonly metrics: ReadonlyArray<MetricInfo>
  /** Best first; skipped ones last. */
  readonly participants: ReadonlyArray<ParticipantAnalysis>
  /** What ranks are made of, in words: "composite score", or "success rate, then median of ttiMs (lower is better)". */
  readonly rankedBy: string
  readonly scoring: ScoringConfig | undefined
  readonly display: Display | undefined
  /** Where and on what it ran, as words and values: git, trigger, Node.js, CPU, … */
  readonly environment: ReadonlyArray<{ readonly label: string; readonly value: string }>
  readonly warnings: ReadonlyArray<Warning>
  readonly startedAt: string | undefined
  readonly completedAt: string | undefined
}

/**
 * A stored run judged.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunAnalysis extends Judgement {
  readonly run: Run
}
