/** Changes that are not wanted, such as `ttiMs.p95 > +10%`. */
import * as Either from "effect/Either"
import type { Comparison } from "../../Comparison.js"
import * as Statistics from "../../Statistics.js"
import type { ParticipantAnalysis } from "../analysis/model.js"
import type { Condition } from "../gates/expression.js"
import { condition } from "../gates/expression.js"
import { isOfParticipant } from "../gates/stats.js"
import { figure } from "../gates/text.js"

/** A condition with the text that it was read from. */
export interface FailOn extends Condition {
  readonly text: string
}

/** What became of a condition, for one participant. */
export interface Finding {
  readonly condition: string
  readonly participant: string
  /** Whether what is not wanted has come about, or nothing was measured. */
  readonly violated: boolean
  readonly text: string
}

/** A condition on a change: the number is a change in per cent when it has a sign, else the candidate's own value. */
export const parse = (text: string): Either.Either<FailOn, string> =>
  Either.flatMap(condition(text), (read): Either.Either<FailOn, string> => {
    if (read.abortEarly === true) return Either.left("abortEarly is for thresholds of a run")
    if (read.phase !== undefined) return Either.left("phases are not compared one by one")
    if (read.step !== undefined && read.metric !== undefined) {
      return Either.left(`compare the latency of a step (step:${read.step}), or a key in the data of tasks`)
    }
    return read.relative && !read.percent
      ? Either.left("a change is said in per cent: +10%")
      : Either.right({ ...read, text: text.trim() })
  })

export interface Compared {
  readonly baseline: ParticipantAnalysis
  readonly candidate: ParticipantAnalysis
}

/** What a condition finds in each pair of participants. */
export const evaluate = (
  failOn: FailOn,
  pairs: ReadonlyArray<Compared>,
  { changes, successes }: Comparison
): ReadonlyArray<Finding> => {
  const wanted = pairs.filter(
    ({ candidate }) => failOn.participant === undefined || failOn.participant === candidate.name
  )
  if (wanted.length === 0) {
    const participant = failOn.participant ?? "nobody"
    return [finding(failOn, participant, true, "no such participant is in both runs")]
  }
  return wanted.map(({ baseline, candidate }) => {
    const after = valueOf(failOn, candidate)
    if (after === undefined) return finding(failOn, candidate.name, true, "it was not measured")
    if (!failOn.relative) {
      const bound = failOn.percent ? failOn.value / 100 : failOn.value
      return finding(failOn, candidate.name, holds(after, failOn.operator, bound), `it is ${figure(after)}`)
    }
    const before = valueOf(failOn, baseline)
    if (before === undefined) return finding(failOn, candidate.name, true, "the baseline did not measure it")
    if (before === 0) {
      return after === 0
        ? finding(failOn, candidate.name, false, "it was 0 and still is")
        : finding(
            failOn,
            candidate.name,
            true,
            `it was 0 and is ${figure(after)}: there is no change in per cent of that`
          )
    }
    const change = (after - before) / Math.abs(before)
    const key = failOn.step === undefined ? (failOn.metric ?? "task") : `step:${failOn.step}`
    const shown = isOfParticipant(failOn.stat)
      ? successes.find((each) => each.candidate.participant === candidate.name)?.verdict
      : changes.find((each) => each.metric.key === key && each.candidate?.participant === candidate.name)?.verdict
    const doubt =
      shown === "no difference shown"
        ? "; chance alone may explain it"
        : shown === "too few samples"
          ? "; there are too few samples to say whether that is chance"
          : ""
    return finding(
      failOn,
      candidate.name,
      holds(100 * change, failOn.operator, failOn.value),
      `${figure(before)} became ${figure(after)} (${change >= 0 ? "+" : ""}${Number((100 * change).toPrecision(3)) + 0} %)${doubt}`
    )
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const finding = ({ text }: FailOn, participant: string, violated: boolean, what: string): Finding => ({
  condition: text,
  participant,
  violated,
  text: `${text}: ${participant}: ${what}`
})

const holds = (value: number, operator: Condition["operator"], bound: number): boolean => {
  switch (operator) {
    case "<":
      return value < bound
    case "<=":
      return value <= bound
    case ">":
      return value > bound
    case ">=":
      return value >= bound
  }
}

const valueOf = ({ metric, stat, step }: Condition, participant: ParticipantAnalysis): number | undefined => {
  if (stat === "successRate") return participant.successRate
  if (stat === "compositeScore") return participant.score
  const key = step === undefined ? (metric ?? "task") : `step:${step}`
  const points = participant.metrics.find((each) => each.key === key)?.points ?? []
  const sorted = Float64Array.from(points.filter(({ ok }) => ok).map(({ value }) => value)).sort()
  if (sorted.length === 0) return undefined
  switch (stat) {
    case "count":
      return sorted.length
    case "min":
      return sorted[0]
    case "max":
      return sorted[sorted.length - 1]
    case "mean":
      return Statistics.mean(sorted)
    case "median":
      return Statistics.median(sorted)
    default:
      return Statistics.percentileNearestRank(sorted, Number(stat.slice(1)))
  }
}
