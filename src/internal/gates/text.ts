/** Thresholds and verdicts in words. */
import type { Threshold, Verdict } from "../../Gates.js"
import { isOfParticipant } from "./stats.js"

/** What is measured: `ttiMs p95`, `step "create" median in phase "cold"`. */
export const subject = ({ metric, phase, stat, step }: Threshold): string => {
  const of =
    step === undefined ? (metric ?? "task") : metric === undefined ? `step "${step}"` : `${metric} of step "${step}"`
  const what = isOfParticipant(stat) ? stat : `${of} ${stat}`
  return phase === undefined ? what : `${what} in phase "${phase}"`
}

/** At most six significant digits; never "-0". */
export const figure = (value: number): string => `${Number(value.toPrecision(6)) + 0}`

export const describe = ({
  measured,
  participant,
  passed,
  samples,
  stoppedEarly,
  threshold
}: Omit<Verdict, "text">): string => {
  const what = `${subject(threshold)} of ${participant}`
  if (measured === undefined) return `${what}: nothing was measured, so it is violated (${boundsOf(threshold)})`
  const bound = passed ? boundsOf(threshold) : violatedBound(threshold, measured)
  const counted = isOfParticipant(threshold.stat) ? "task" : "sample"
  const early = stoppedEarly ? "; the run was stopped because of it" : ""
  return `${what}: ${exact(measured, threshold)} ${bound} (${samples} ${counted}${samples === 1 ? "" : "s"}${early})`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const boundsOf = ({ max, min }: Threshold): string =>
  [...(min === undefined ? [] : [`>= ${figure(min)}`]), ...(max === undefined ? [] : [`<= ${figure(max)}`])].join(
    " and "
  )

const violatedBound = ({ max, min }: Threshold, measured: number): string =>
  max !== undefined && measured > max ? `> ${figure(max)}` : `< ${figure(min ?? 0)}`

/** Rounded unless rounding would hide on which side of a bound it is. */
const exact = (measured: number, { max, min }: Threshold): string => {
  const rounded = Number(figure(measured))
  const hides = [max, min].some(
    (bound) => bound !== undefined && Math.sign(rounded - bound) !== Math.sign(measured - bound)
  )
  return hides ? `${measured}` : figure(measured)
}
