/** What the `thresholds` of a benchmark config must be. */
import type { Threshold } from "../../Gates.js"
import type { Inspected } from "../inspect.js"
import { show } from "../inspect.js"
import { boolean, compact, finite, isDefined, onlyKeys, optional, rule, text } from "../rules.js"
import { isOfParticipant, isStat, stats } from "./stats.js"

/** The names that a threshold may use; undefined when any will do. */
export interface Known {
  readonly participants: ReadonlyArray<string>
  readonly phases: ReadonlyArray<string>
}

export const thresholds = (at: Inspected, known: Known | undefined): ReadonlyArray<Threshold> | undefined => {
  const items = at.items()
  return items === undefined
    ? at.fail("must be an array")
    : items.map((item) => threshold(item, known)).filter(isDefined)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keys = ["metric", "stat", "max", "min", "participant", "step", "phase", "abortEarly"]

const threshold = (at: Inspected, known: Known | undefined): Threshold | undefined => {
  if (!at.isObject()) return at.fail("must be an object")
  onlyKeys(at, keys)
  const metricAt = at.get("metric")
  const metric = optional(metricAt, text)
  const stat = statOf(at.get("stat"))
  const max = optional(at.get("max"), finite)
  const minAt = at.get("min")
  const min = optional(minAt, finite)
  const participant = optional(at.get("participant"), (nameAt) => nameOf(nameAt, "participant", known?.participants))
  const stepAt = at.get("step")
  const step = optional(stepAt, text)
  const phase = optional(at.get("phase"), (nameAt) => nameOf(nameAt, "phase", known?.phases))
  const abortAt = at.get("abortEarly")
  const abortEarly = optional(abortAt, boolean)
  if (at.get("max").raw === undefined && minAt.raw === undefined) at.fail("needs max or min")
  if (max !== undefined && min !== undefined && min > max)
    minAt.fail(`must be at most max (got ${show(min)}, max ${show(max)})`)
  if (stat !== undefined && isOfParticipant(stat)) {
    if (metric !== undefined) metricAt.fail(`must be absent with stat '${stat}', which is of the participant`)
    if (step !== undefined) stepAt.fail(`must be absent with stat '${stat}', which is of the participant`)
  }
  if (stat === "compositeScore" && phase !== undefined)
    at.get("phase").fail("must be absent with stat 'compositeScore'")
  if (stat === "compositeScore" && abortEarly === true) {
    abortAt.fail("must be absent with stat 'compositeScore', which tasks alone do not decide")
  }
  if (metric === "task" && step !== undefined) metricAt.fail("must not be 'task' where a step is given")
  return stat === undefined ? undefined : compact({ metric, stat, max, min, participant, step, phase, abortEarly })
}

const statOf = rule(isStat, (value) => `must be one of ${stats.join(", ")} (got ${show(value)})`)

const nameOf = (at: Inspected, noun: string, known: ReadonlyArray<string> | undefined): string | undefined => {
  const name = text(at)
  if (name === undefined || known === undefined || known.includes(name)) return name
  const available = known.length === 0 ? "there are none" : `Available: ${known.join(", ")}`
  return at.fail(`unknown ${noun}: ${name}. ${available}`)
}
