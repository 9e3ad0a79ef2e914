/** What the `display` of a benchmark config must be. */
import type { Display, DisplayMetric, DisplayStep } from "../Config.js"
import type { Inspected } from "./inspect.js"
import { compact, duplicates, onlyKeys, optional, rule, string, text, uniqueKey } from "./rules.js"

type Overview = NonNullable<Display["overview"]>

/** A display metric by its place in the list; known as soon as its key is. */
export interface DeclaredUnit {
  readonly index: number
  readonly unit: string | undefined
}

/**
 * Reads `display`. What it declares is added to `declared`, by key; `scored` tells whether the benchmark has a score that
 * the overview can show.
 */
export const display = (at: Inspected, declared: Map<string, DeclaredUnit>, scored: boolean): Display | undefined => {
  if (!at.isObject()) {
    return at.fail("must be an object")
  }
  onlyKeys(at, ["metrics", "steps", "overview"])
  const metricsAt = at.get("metrics")
  const metrics = optional(metricsAt, (list) => metricsOf(list, declared))
  const steps = optional(at.get("steps"), stepsOf)
  const isDeclared = (key: string) => (metrics === undefined && metricsAt.raw !== undefined ? true : declared.has(key))
  const overview = optional(at.get("overview"), (overviewAt) => overviewOf(overviewAt, isDeclared, scored))
  return compact({ metrics, steps, overview })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const entries = <A extends object>(
  at: Inspected,
  kind: string,
  keys: ReadonlyArray<string>,
  read: (entry: Inspected, key: string | undefined, index: number) => A
): ReadonlyArray<A & Pick<DisplayStep, "key" | "label">> | undefined => {
  const repeated = duplicates()
  const items = at.items()
  if (items === undefined) {
    return at.fail("must be an array")
  }
  return items.flatMap((entry, index) => {
    if (!entry.isObject()) {
      entry.fail("must be an object")
      return []
    }
    onlyKeys(entry, keys)
    const key = uniqueKey(entry.get("key"), repeated, kind)
    const label = text(entry.get("label"))
    const rest = read(entry, key, index)
    return key === undefined || label === undefined ? [] : [compact({ key, label, ...rest })]
  })
}

const metricsOf = (at: Inspected, declared: Map<string, DeclaredUnit>): ReadonlyArray<DisplayMetric> | undefined =>
  entries(
    at,
    "display metric",
    ["key", "label", "unit", "direction", "decimals", "order"],
    (entry, key, index): Omit<DisplayMetric, "key" | "label"> => {
      const unit = optional(entry.get("unit"), string)
      if (key !== undefined && !declared.has(key)) {
        declared.set(key, { index, unit })
      }
      return {
        unit,
        direction: optional(entry.get("direction"), direction),
        decimals: optional(entry.get("decimals"), decimals),
        order: optional(entry.get("order"), order)
      }
    }
  )

const stepsOf = (at: Inspected): ReadonlyArray<DisplayStep> | undefined =>
  entries(at, "display step", ["key", "label", "order"], (entry) => ({ order: optional(entry.get("order"), order) }))

const overviewOf = (at: Inspected, isDeclared: (key: string) => boolean, scored: boolean): Overview | undefined => {
  if (!at.isObject()) {
    return at.fail("must be an object")
  }
  onlyKeys(at, ["defaultMetric", "defaultLayout"])
  const metricAt = at.get("defaultMetric")
  const defaultMetric = optional(metricAt, text)
  if (defaultMetric !== undefined && !always.includes(defaultMetric) && !isDeclared(defaultMetric)) {
    const defaults = always.join(", ")
    metricAt.fail(`'${defaultMetric}' is not declared in display.metrics and is not a known default (${defaults})`)
  }
  const defaultLayout = optional(at.get("defaultLayout"), layout)
  if (defaultMetric === "compositeScore" && !scored) {
    metricAt.fail(compositeWithoutScore)
  }
  return compact({ defaultMetric, defaultLayout })
}

/** Metrics that exist without being declared. */
const always = ["compositeScore", "task"]

export const compositeWithoutScore = "cannot be 'compositeScore' without config.scoring or config.onScore"

const isDirection = (value: unknown): value is NonNullable<DisplayMetric["direction"]> =>
  value === "higher-better" || value === "lower-better"

const direction = rule(isDirection, "must be 'higher-better' or 'lower-better'")

const isLayout = (value: unknown): value is NonNullable<Overview["defaultLayout"]> =>
  value === "ranking" || value === "cards" || value === "chart" || value === "leaderboard"

const layout = rule(isLayout, "must be 'ranking', 'cards', 'chart', or 'leaderboard'")

const isOrder = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0

const order = rule(isOrder, "must be a non-negative integer")

/** The most decimals that a number can be printed with. */
const maxDecimals = 100

const isDecimals = (value: unknown): value is number => isOrder(value) && value <= maxDecimals

const decimals = rule(isDecimals, (value) =>
  isOrder(value) ? `must be at most ${maxDecimals} (got ${value})` : "must be a non-negative integer"
)
