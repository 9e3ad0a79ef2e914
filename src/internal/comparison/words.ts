/** A comparison in words and tables, for a terminal and for Markdown. */
import type { Change, Comparison, SuccessChange } from "../../Comparison.js"
import { figure } from "../gates/text.js"

export interface Row {
  readonly cells: ReadonlyArray<string>
  readonly verdict: Change["verdict"] | SuccessChange["verdict"]
}

export const changeColumns = [
  "participant",
  "metric",
  "samples",
  "median before",
  "after",
  "ratio",
  "95 % interval",
  "p95 before",
  "after",
  "p (adjusted)",
  "verdict"
] as const

const absent = "–"

export const changeRow = (change: Change, absentText = absent): Row => {
  const { adjustedP, baseline, candidate, metric, ratio, ratioInterval, verdict } = change
  const name =
    baseline !== undefined && candidate !== undefined && baseline.participant !== candidate.participant
      ? `${baseline.participant} → ${candidate.participant}`
      : (candidate?.participant ?? baseline?.participant ?? "")
  const number = (value: number | undefined): string =>
    value === undefined ? absentText : brief(value, metric.decimals)
  return {
    cells: [
      name,
      metric.unit === "" ? metric.label : `${metric.label} (${metric.unit})`,
      `${baseline?.count ?? 0} / ${candidate?.count ?? 0}`,
      number(baseline?.median),
      number(candidate?.median),
      ratio === undefined ? absentText : `${brief(ratio, 3)}×`,
      ratioInterval === undefined ? absentText : `${brief(ratioInterval.low, 3)} to ${brief(ratioInterval.high, 3)}`,
      number(baseline?.p95),
      number(candidate?.p95),
      adjustedP === undefined ? absentText : probability(adjustedP),
      verdict
    ],
    verdict
  }
}

export const successColumns = ["participant", "succeeded before", "after", "p (adjusted)", "verdict"] as const

export const successRow = ({ adjustedP, baseline, candidate, verdict }: SuccessChange): Row => {
  const name =
    baseline.participant === candidate.participant
      ? candidate.participant
      : `${baseline.participant} → ${candidate.participant}`
  const rate = ({ successes, total }: SuccessChange["baseline"]): string => `${successes} of ${total}`
  return { cells: [name, rate(baseline), rate(candidate), probability(adjustedP), verdict], verdict }
}

/** Where tasks failed on one side at least. */
export const successesToShow = ({ successes }: Comparison): ReadonlyArray<SuccessChange> =>
  successes.filter(({ baseline, candidate }) =>
    [baseline, candidate].some(({ successes: succeeded, total }) => succeeded < total)
  )

/** One sentence: what to take away. */
export const summary = ({ changes, successes }: Comparison): string => {
  const count = (...verdicts: ReadonlyArray<string>): number =>
    [...changes, ...successes].filter(({ verdict }) => verdicts.includes(verdict)).length
  const parts = [
    [count("slower", "worse"), "worse"] as const,
    [count("faster", "better"), "better"] as const,
    [count("no difference shown"), "without a difference shown"] as const,
    [count("too few samples", "not measured"), "that cannot be judged"] as const
  ].flatMap(([n, what]) => (n === 0 ? [] : [`${n} ${what}`]))
  return parts.length === 0 ? "Nothing was measured on either side." : `Of what was compared: ${parts.join(", ")}.`
}

/** How it was done, for those who want to know. */
export const method = ({ alpha }: Comparison): string =>
  `Medians and nearest-rank p95 of successful tasks. Ratio: after over before, with a percentile bootstrap interval (10 000 resamples). p: Mann-Whitney U, success rates by Fisher's exact test, two-sided, adjusted for all comparisons (Benjamini-Hochberg). A difference is called one when p is at most ${figure(alpha)} and the interval does not hold 1; at least 6 samples a side.`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const brief = (value: number, decimals: number | undefined): string => {
  if (decimals !== undefined && Math.abs(value) < 1e15) {
    const text = value.toFixed(Math.min(decimals, 20))
    return Number(text) === 0 && value !== 0 ? figure(value) : text.replace(/^-(0(?:\.0*)?)$/, "$1")
  }
  return `${Number(value.toPrecision(4)) + 0}`
}

const probability = (p: number): string => (p < 0.0001 ? "< 0.0001" : p.toPrecision(2).replace(/^1\.0$/, "1"))
