/** What the `scoring` of a benchmark config must be. */
import type { ScoringConfig, ScoringMetric } from "../Config.js"
import type { DeclaredUnit } from "./displayRules.js"
import type { Inspected } from "./inspect.js"
import { show } from "./inspect.js"
import {
  boolean,
  compact,
  duplicates,
  finite,
  isDefined,
  onlyKeys,
  optional,
  string,
  text,
  uniqueKey
} from "./rules.js"

type Weights = ScoringMetric["weights"]
type Success = NonNullable<ScoringConfig["success"]>

/** Reads `scoring`; `declared` holds the units that `display` gives, by key. */
export const scoring = (at: Inspected, declared: ReadonlyMap<string, DeclaredUnit>): ScoringConfig | undefined => {
  onlyKeys(at, ["metrics", "groupBy", "success"])
  const metrics = metricsOf(at.get("metrics"), declared)
  const success = optional(at.get("success"), successOf)
  const groupBy = optional(at.get("groupBy"), text)
  if (metrics === undefined) {
    return undefined
  }
  if (metrics.every(isDefined)) {
    checkSum(at, metrics)
  }
  return compact({ metrics: metrics.filter(isDefined), groupBy, success })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const metricsOf = (
  at: Inspected,
  declared: ReadonlyMap<string, DeclaredUnit>
): ReadonlyArray<ScoringMetric | undefined> | undefined => {
  const items = at.items()
  if (items === undefined || items.length === 0) {
    return at.fail("must be a non-empty array")
  }
  const repeated = duplicates()
  return items.map((item) => metricOf(item, repeated, declared))
}

const metricOf = (
  at: Inspected,
  repeated: (key: string) => boolean,
  declared: ReadonlyMap<string, DeclaredUnit>
): ScoringMetric | undefined => {
  if (!at.isObject()) {
    return at.fail("must be an object")
  }
  onlyKeys(at, ["key", "unit", "label", "ceiling", "floor", "weights", "higherIsBetter", "trim"])
  const key = uniqueKey(at.get("key"), repeated, "scoring metric")
  const unit = unitOf(at.get("unit"), key, declared)
  const label = optional(at.get("label"), string)
  const ceiling = ceilingOf(at.get("ceiling"))
  const floor = optional(at.get("floor"), (floorAt) => floorOf(floorAt, ceiling))
  const weights = weightsOf(at.get("weights"))
  const trim = optional(at.get("trim"), trimOf)
  const higherIsBetter = optional(at.get("higherIsBetter"), boolean)
  return key === undefined || ceiling === undefined || weights === undefined
    ? undefined
    : compact({ key, unit, label, ceiling, floor, weights, higherIsBetter, trim })
}

const unitOf = (
  at: Inspected,
  key: string | undefined,
  declared: ReadonlyMap<string, DeclaredUnit>
): string | undefined => {
  const unit = optional(at, string)
  const shown = key === undefined ? undefined : declared.get(key)
  if (unit !== undefined && shown?.unit !== undefined && shown.unit !== unit) {
    return at.fail(`'${unit}' conflicts with display.metrics[${shown.index}].unit '${shown.unit}' for key '${key}'`)
  }
  return unit
}

const ceilingOf = (at: Inspected): number | undefined => {
  const ceiling = finite(at)
  return ceiling === undefined || ceiling > 0 ? ceiling : at.fail(`must be greater than 0 (got ${show(ceiling)})`)
}

const floorOf = (at: Inspected, ceiling: number | undefined): number | undefined => {
  const floor = finite(at)
  return floor !== undefined && ceiling !== undefined && floor >= ceiling
    ? at.fail(`must be below the ceiling ${ceiling} (got ${floor})`)
    : floor
}

const trimOf = (at: Inspected): number | undefined => {
  const trim = finite(at)
  return trim === undefined || (trim >= 0 && trim < 0.5)
    ? trim
    : at.fail(`must be at least 0 and below 0.5 (got ${trim})`)
}

const weightsOf = (at: Inspected): Weights | undefined => {
  if (!at.isObject()) {
    return at.fail("must be an object")
  }
  const median = weightOf(at.get("median"))
  const p95 = weightOf(at.get("p95"))
  const p99 = weightOf(at.get("p99"))
  return median === undefined || p95 === undefined || p99 === undefined ? undefined : { median, p95, p99 }
}

const weightOf = (at: Inspected): number | undefined => {
  const weight = finite(at)
  return weight === undefined || weight >= 0 ? weight : at.fail(`must be non-negative (got ${weight})`)
}

/** How far from 1 the weights may sum, both ends included whatever the rounding of the sum. */
const tolerance = 0.01 + 1e-9

const checkSum = (at: Inspected, metrics: ReadonlyArray<ScoringMetric>): void => {
  const sum = metrics.reduce((total, { weights }) => total + weights.median + weights.p95 + weights.p99, 0)
  if (Math.abs(sum - 1) > tolerance) {
    at.fail(`metric weights must sum to 1.0 (got ${sum.toFixed(3)})`)
  }
}

const successOf = (at: Inspected): Success | undefined => {
  onlyKeys(at, ["requireData"])
  const dataAt = at.get("requireData")
  if (!dataAt.isPlain()) {
    return dataAt.fail("must be a plain object")
  }
  const keys = dataAt.keys()
  if (keys.length === 0) {
    return dataAt.fail("must declare at least one data field")
  }
  const requireData = keys.flatMap((key) => {
    const value = requiredValue(dataAt.get(key))
    return value === undefined ? [] : [[key, value] as const]
  })
  return { requireData: Object.fromEntries(requireData) }
}

const requiredValue = (at: Inspected): string | number | boolean | undefined => {
  const value = at.raw
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : at.fail(`must be a string, number, or boolean (got ${typeof value})`)
}
