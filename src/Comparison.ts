/**
 * Two runs, or two participants of one, compared metric by metric: how much they differ, how sure that is, and what it means.
 *
 * ```ts
 * import { Analysis, Comparison } from "effect-bench"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const before = Analysis.make(yield* Analysis.load({ benchmark: "kv-roundtrip", run: "0198…" }))
 *   const after = Analysis.make(yield* Analysis.load({ benchmark: "kv-roundtrip", run: "0199…" }))
 *   return Comparison.ofRuns(before, after).changes.filter(({ verdict }) => verdict === "slower")
 * })
 * ```
 *
 * @since 0.1.0
 */
import type { MetricInfo, ParticipantAnalysis, RunAnalysis } from "./Analysis.js"
import * as Inference from "./Inference.js"
import { differencesBetween } from "./internal/comparison/differences.js"
import * as Statistics from "./Statistics.js"

/**
 * What was measured on one side.
 *
 * @since 0.1.0
 * @category models
 */
export interface Side {
  readonly participant: string
  readonly count: number
  readonly median: number
  /** Nearest-rank. */
  readonly p95: number
}

/**
 * `faster` and `slower` of times, `better` and `worse` of anything else.
 *
 * @since 0.1.0
 * @category models
 */
export type ChangeVerdict =
  "faster" | "slower" | "better" | "worse" | "no difference shown" | "too few samples" | "not measured"

/**
 * One metric on both sides. A side without samples is undefined.
 *
 * @since 0.1.0
 * @category models
 */
export interface Change {
  readonly metric: MetricInfo
  readonly baseline: Side | undefined
  readonly candidate: Side | undefined
  /** The candidate's median over the baseline's; undefined unless both are above 0. */
  readonly ratio: number | undefined
  /** Of the ratio, by bootstrap; undefined when there are too few samples, or one may be 0 or less. */
  readonly ratioInterval: Inference.Interval | undefined
  /** The candidate's median without the baseline's. */
  readonly difference: number | undefined
  /** Hodges-Lehmann, in the unit of the metric. */
  readonly shift: number | undefined
  /** Cliff's delta: above 0 when the candidate's samples tend to be larger. */
  readonly delta: number | undefined
  /** Of the Mann-Whitney U test, two-sided. */
  readonly p: number | undefined
  /** `p` adjusted for everything that is compared (Benjamini-Hochberg). */
  readonly adjustedP: number | undefined
  readonly verdict: ChangeVerdict
}

/**
 * How often tasks succeeded on both sides.
 *
 * @since 0.1.0
 * @category models
 */
export interface SuccessChange {
  readonly baseline: { readonly participant: string; readonly successes: number; readonly total: number }
  readonly candidate: { readonly participant: string; readonly successes: number; readonly total: number }
  /** Of Fisher's exact test, two-sided. */
  readonly p: number
  readonly adjustedP: number
  readonly verdict: "better" | "worse" | "no difference shown" | "not measured"
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Comparison {
  readonly baseline: { readonly title: string; readonly runId: string }
  readonly candidate: { readonly title: string; readonly runId: string }
  readonly changes: ReadonlyArray<Change>
  readonly successes: ReadonlyArray<SuccessChange>
  /** Participants of one side only. */
  readonly unmatched: ReadonlyArray<string>
  /** What else differs between the runs, in words. */
  readonly notes: ReadonlyArray<string>
  /** What is called a difference: an adjusted p of at most this, and an interval of the ratio without 1. */
  readonly alpha: number
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ComparisonOptions extends Inference.ResamplingOptions {
  /** Default 0.05. */
  readonly alpha?: number | undefined
}

/**
 * Compares the participants that both runs have, by name.
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofRuns = (baseline: RunAnalysis, candidate: RunAnalysis, options: ComparisonOptions = {}): Comparison => {
  const names = new Map(candidate.participants.map((participant) => [participant.name, participant]))
  const pairs = baseline.participants.flatMap((participant): ReadonlyArray<Pair> => {
    const other = names.get(participant.name)
    return other === undefined ? [] : [[participant, other]]
  })
  const paired = new Set(pairs.map(([{ name }]) => name))
  return compare(
    { baseline: titleOf(baseline), candidate: titleOf(candidate), pairs },
    metricsOf(baseline, candidate),
    [
      ...new Set(
        [...baseline.participants, ...candidate.participants]
          .map(({ name }) => name)
          .filter((name) => !paired.has(name))
      )
    ],
    differencesBetween(baseline, candidate),
    options
  )
}

/**
 * Compares two participants of a run; undefined when it does not have both.
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofParticipants = (
  run: RunAnalysis,
  baseline: string,
  candidate: string,
  options: ComparisonOptions = {}
): Comparison | undefined => {
  const [first, second] = [baseline, candidate].map((name) => run.participants.find((each) => each.name === name))
  if (first === undefined || second === undefined) return undefined
  const title = (name: string) => ({ title: name, runId: run.run.id })
  return compare(
    { baseline: title(baseline), candidate: title(candidate), pairs: [[first, second]] },
    metricsOf(run, run),
    [],
    [],
    options
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Pair = readonly [baseline: ParticipantAnalysis, candidate: ParticipantAnalysis]

const titleOf = ({ benchmark, run }: RunAnalysis) => ({ title: benchmark.name, runId: run.id })

/** Metrics of either, in the candidate's order. */
const metricsOf = (baseline: RunAnalysis, candidate: RunAnalysis): ReadonlyArray<MetricInfo> => {
  const known = new Set(candidate.metrics.map(({ key }) => key))
  return [...candidate.metrics, ...baseline.metrics.filter(({ key }) => !known.has(key))]
}

const compare = (
  sides: Pick<Comparison, "baseline" | "candidate"> & { readonly pairs: ReadonlyArray<Pair> },
  metrics: ReadonlyArray<MetricInfo>,
  unmatched: ReadonlyArray<string>,
  notes: ReadonlyArray<string>,
  options: ComparisonOptions
): Comparison => {
  const alpha = options.alpha ?? 0.05
  const measured = sides.pairs.flatMap((pair) => metrics.flatMap((metric) => measure(metric, pair, options) ?? []))
  const rates = sides.pairs.map(([first, second]) => {
    const [baseline, candidate] = [rateOf(first), rateOf(second)]
    return { baseline, candidate, p: Inference.fisherExact(baseline, candidate) }
  })
  const family = [...measured.flatMap(({ p }) => p ?? []), ...rates.map(({ p }) => p)]
  const adjusted = Inference.benjaminiHochberg(family)
  let next = 0
  const changes = measured.map((change): Change => {
    const adjustedP = change.p === undefined ? undefined : adjusted[next++]
    return { ...change, adjustedP, verdict: verdictOf({ ...change, adjustedP }, alpha) }
  })
  const successes = rates.map((rate): SuccessChange => {
    const adjustedP = adjusted[next++] ?? 1
    const { baseline, candidate } = rate
    const verdict =
      baseline.total === 0 || candidate.total === 0
        ? "not measured"
        : adjustedP > alpha
          ? "no difference shown"
          : candidate.successes / candidate.total > baseline.successes / baseline.total
            ? "better"
            : "worse"
    return { ...rate, adjustedP, verdict }
  })
  return { baseline: sides.baseline, candidate: sides.candidate, changes, successes, unmatched, notes, alpha }
}

const rateOf = ({ name, successCount, taskCount }: ParticipantAnalysis) => ({
  participant: name,
  successes: successCount,
  total: taskCount
})

/** Undefined when neither side has a sample. */
const measure = (
  metric: MetricInfo,
  [first, second]: Pair,
  options: ComparisonOptions
): Omit<Change, "adjustedP" | "verdict"> | undefined => {
  const [before, after] = [samplesOf(first, metric.key), samplesOf(second, metric.key)]
  const [baseline, candidate] = [sideOf(first.name, before), sideOf(second.name, after)]
  if (baseline === undefined && candidate === undefined) return undefined
  const both = baseline !== undefined && candidate !== undefined
  const ratio = both && baseline.median > 0 && candidate.median > 0 ? candidate.median / baseline.median : undefined
  const isEnough = Math.min(before.length, after.length) >= fewest
  return {
    metric,
    baseline,
    candidate,
    ratio: ratio !== undefined && Number.isFinite(ratio) ? ratio : undefined,
    ratioInterval: isEnough ? Inference.ratioInterval(after, before, 50, options) : undefined,
    difference: both ? finite(candidate.median - baseline.median) : undefined,
    shift: Inference.hodgesLehmann(after, before)?.shift,
    delta: Inference.cliffsDelta(after, before),
    p: isEnough ? Inference.mannWhitney(after, before)?.p : undefined
  }
}

/** Fewer on a side have no interval of their median. */
const fewest = Inference.samplesForInterval(50)

const finite = (value: number): number | undefined => (Number.isFinite(value) ? value + 0 : undefined)

const samplesOf = ({ metrics }: ParticipantAnalysis, key: string): Float64Array => {
  const points = metrics.find((metric) => metric.key === key)?.points ?? []
  return Float64Array.from(points.filter(({ ok }) => ok).map(({ value }) => value)).sort()
}

const sideOf = (participant: string, sorted: Float64Array): Side | undefined => {
  const summary = Statistics.summaryOfSorted(sorted)
  return summary && { participant, count: summary.count, median: summary.median, p95: summary.p95 }
}

const verdictOf = (
  { adjustedP, baseline, candidate, delta, metric, ratioInterval }: Omit<Change, "verdict">,
  alpha: number
): ChangeVerdict => {
  if (baseline === undefined || candidate === undefined) return "not measured"
  if (adjustedP === undefined) return "too few samples"
  const isShown = adjustedP <= alpha && (ratioInterval === undefined || ratioInterval.low > 1 || ratioInterval.high < 1)
  if (!isShown || delta === undefined || delta === 0) return "no difference shown"
  const isLarger = ratioInterval === undefined ? delta > 0 : ratioInterval.low > 1
  const isGain = isLarger === metric.higherIsBetter
  return isTime(metric) ? (isGain ? "faster" : "slower") : isGain ? "better" : "worse"
}

const isTime = ({ kind, higherIsBetter, unit }: MetricInfo): boolean =>
  !higherIsBetter && (kind !== "data" || /^(ns|[uµμ]s|ms|s|sec|seconds?|min|minutes?)$/i.test(unit))
