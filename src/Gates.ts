/**
 * Gates: what a run has to reach to be good enough. Each is a bound on one statistic, measured per participant.
 *
 * ```ts
 * import { Gates } from "effect-bench"
 *
 * const thresholds: ReadonlyArray<Gates.Threshold> = [
 *   { metric: "ttiMs", stat: "p95", max: 250 },
 *   { step: "create", stat: "median", max: 100, participant: "alpha" },
 *   { stat: "successRate", min: 0.99, abortEarly: true }
 * ]
 * ```
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import { hasProperty } from "effect/Predicate"
import * as Expression from "./internal/gates/expression.js"
import { Keeper } from "./internal/gates/keeper.js"
import { thresholds as thresholdsRule } from "./internal/gates/rules.js"
import type { Stat } from "./internal/gates/stats.js"
import { describe } from "./internal/gates/text.js"
import { inspect } from "./internal/inspect.js"
import type { SummaryRow } from "./Platform.js"
import type { ParticipantRecords } from "./Record.js"

export {
  /**
   * @since 0.1.0
   * @category models
   */
  type Stat,
  /**
   * @since 0.1.0
   * @category models
   */
  stats
} from "./internal/gates/stats.js"

/**
 * A bound on a statistic, in the unit of the metric. A measured value that equals the bound is within it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Threshold {
  /**
   * A key in the data of tasks (of `step`, if that is given), or `task` for their latency. Default: the latency of `step`, or
   * of the task. `successRate` and `compositeScore` have none.
   */
  readonly metric?: string | undefined
  readonly stat: Stat
  /** The most that is good enough. */
  readonly max?: number | undefined
  /** The least that is good enough. */
  readonly min?: number | undefined
  /** Default: each participant that runs. */
  readonly participant?: string | undefined
  /** Only what this step recorded. */
  readonly step?: string | undefined
  /** Only tasks of this phase. */
  readonly phase?: string | undefined
  /** Stop the run as soon as the bound can no longer be kept, whatever the remaining tasks do. Default false. */
  readonly abortEarly?: boolean | undefined
}

/**
 * Whether a participant keeps a threshold. Without samples it does not.
 *
 * @since 0.1.0
 * @category models
 */
export interface Verdict {
  readonly threshold: Threshold
  readonly participant: string
  readonly passed: boolean
  /** Undefined when there was nothing to measure. */
  readonly measured: number | undefined
  /** Samples it was measured on; tasks for `successRate` and `compositeScore`. */
  readonly samples: number
  /** Whether the run was stopped because of it. */
  readonly stoppedEarly: boolean
  /** In words, on one line if names are: `ttiMs p95 of alpha: 312 > 250 (40 samples)`. */
  readonly text: string
}

/**
 * A threshold as text that cannot be read.
 *
 * @since 0.1.0
 * @category errors
 */
export class ThresholdSyntaxError extends Data.TaggedError("ThresholdSyntaxError")<{
  readonly input: string
  readonly detail: string
}> {
  override get message(): string {
    return `cannot read the threshold "${this.input}": ${this.detail}. For example: "ttiMs.p95 <= 250", "step:create.median <= 100 participant=alpha", "successRate >= 99%"`
  }
}

/**
 * Reads a threshold: `METRIC.STAT <= NUMBER` or `>=`, then `participant=NAME`, `phase=NAME` and `abortEarly` in any order;
 * names with blanks in double quotes. The metric is a key in the data of tasks, `task`, `step:NAME` or `step:NAME:KEY`;
 * `successRate` and `compositeScore` stand alone. A number may end in `%`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parse = (input: string): Either.Either<Threshold, ThresholdSyntaxError> =>
  Either.mapLeft(Expression.threshold(input), (detail) => new ThresholdSyntaxError({ input, detail }))

/**
 * A threshold as {@link parse} reads it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const format = (threshold: Threshold): string => Expression.format(threshold)

/**
 * Measures thresholds on records: one verdict per threshold and participant, in their order. A threshold that names a
 * participant which is not there is violated. `rows` are the scored rows that `compositeScore` is read from.
 *
 * @since 0.1.0
 * @category combinators
 */
export const evaluate = (
  thresholds: ReadonlyArray<Threshold>,
  participants: ReadonlyArray<ParticipantRecords>,
  rows: ReadonlyArray<SummaryRow> | undefined = undefined
): ReadonlyArray<Verdict> => {
  const keeper = new Keeper(
    thresholds,
    participants.map(({ participant }) => participant)
  )
  for (const { participant, records } of participants) {
    for (const record of records) keeper.add(participant, record)
  }
  return keeper.verdicts(rows)
}

/**
 * The verdict in words.
 *
 * @since 0.1.0
 * @category combinators
 */
export const text = (verdict: Omit<Verdict, "text">): string => describe(verdict)

/**
 * The thresholds that a run was measured by, out of its stored config; those that cannot be read are left out.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromRunConfig = (config: unknown): ReadonlyArray<Threshold> => {
  if (!hasProperty(config, "thresholds")) return []
  const read = inspect(config.thresholds, (root) => thresholdsRule(root, undefined))
  return Either.getOrElse(read, () => [])
}
