/**
 * From anything at all to a scoring spec, with everything that is wrong with it.
 */
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Predicate from "effect/Predicate"
import type { TaskRecord } from "../Record.js"
import type { MetricSpec, ScoringSpec, SpecIssue, Weights } from "../Scoring.js"

// 0.51 + 0.25 + 0.25 exceeds 1.01 by a rounding error, which must not refuse it.
const weightTolerance = 0.01 + 1e-9

/** The fields of a `ScoringSpecError`. */
export interface SpecProblems {
  readonly issues: ReadonlyArray<SpecIssue>
  readonly totals: ReadonlyArray<{ readonly name: string; readonly total: number }>
}

type Report = (field: string, message: string) => void

/**
 * Decodes a spec, or names every field that is wrong, or gives the weights that do not sum to 1, in this order: weights
 * that are no numbers, their sum, the other fields. Reading a hostile object may throw.
 */
export const decodeSpec = (spec: unknown): Either.Either<ScoringSpec, SpecProblems> => {
  const issues: Array<SpecIssue> = []
  const report: Report = (field, message) => issues.push({ field, message })
  const refuse = (totals: SpecProblems["totals"] = []) => Either.left({ issues, totals })

  if (!isObject(spec)) {
    report("spec", `must be an object ${got(spec)}`)
    return refuse()
  }
  if (!Array.isArray(spec["metrics"])) {
    report("metrics", `must be an array ${got(spec["metrics"])}`)
    return refuse()
  }
  const metrics = Array.from<unknown, unknown>(spec["metrics"], identity)
  const weighted = metrics.flatMap((metric, index) => decodeWeights(metric, `metrics[${index}]`, report))
  if (issues.length > 0) return refuse()
  const totals = weighted.map(({ fields, weights }) => ({
    name: typeof fields["name"] === "string" ? fields["name"] : describe(fields["name"]),
    total: weights.median + weights.p95 + weights.p99
  }))
  const sum = totals.reduce((all, { total }) => all + total, 0)
  if (!(Math.abs(sum - 1) <= weightTolerance)) return refuse(totals)

  const decoded = weighted.flatMap(({ fields, weights }, index) =>
    decodeMetric(fields, weights, `metrics[${index}]`, report)
  )
  const dimensions = optional(spec["dimensions"], isObject, "dimensions", "must be an object", report)
  const groupBy = optional(spec["groupBy"], Predicate.isString, "groupBy", "must be a string", report)
  const success = optional(spec["success"], isRecordFunction, "success", "must be a function", report)
  return issues.length > 0
    ? refuse()
    : Either.right({
        metrics: decoded,
        ...(dimensions !== undefined && { dimensions: { ...dimensions } }),
        ...(groupBy !== undefined && { groupBy }),
        ...(success !== undefined && { success })
      })
}

const decodeWeights = (
  metric: unknown,
  path: string,
  report: Report
): ReadonlyArray<{ readonly fields: Readonly<Record<string, unknown>>; readonly weights: Weights }> => {
  if (!isObject(metric)) {
    report(path, `must be an object ${got(metric)}`)
    return []
  }
  const weights = metric["weights"]
  if (!isObject(weights)) {
    report(`${path}.weights`, `must be an object ${got(weights)}`)
    return []
  }
  const weight = (key: keyof Weights): number => {
    const value = weights[key] === null ? 0 : weights[key]
    if (typeof value === "number" && !Number.isNaN(value)) return value
    report(`${path}.weights.${key}`, `must be a finite number ${got(value)}`)
    return 0
  }
  return [{ fields: metric, weights: { median: weight("median"), p95: weight("p95"), p99: weight("p99") } }]
}

const decodeMetric = (
  fields: Readonly<Record<string, unknown>>,
  weights: Weights,
  path: string,
  report: Report
): ReadonlyArray<MetricSpec> => {
  const { ceiling, name } = fields
  const option = <A>(key: keyof MetricSpec, is: (value: unknown) => value is A, message: string): A | undefined =>
    optional(fields[key], is, `${path}.${key}`, message, report)

  if (!isText(name)) report(`${path}.name`, `must be a non-empty string ${got(name)}`)
  const value = option("value", isValue, "must be a non-empty string or a function")
  const unit = option("unit", Predicate.isString, "must be a string")
  const floor = option("floor", isFiniteNumber, "must be a finite number")
  if (!isFiniteNumber(ceiling) || ceiling <= 0)
    report(`${path}.ceiling`, `must be a positive finite number ${got(ceiling)}`)
  else if (floor !== undefined && floor >= ceiling) report(`${path}.floor`, `must be below the ceiling ${got(floor)}`)
  else if (floor !== undefined && !isFiniteNumber(ceiling - floor)) {
    report(`${path}.floor`, `must be within ${Number.MAX_VALUE} of the ceiling ${got(floor)}`)
  }
  const higher = option("higherIsBetter", Predicate.isBoolean, "must be true or false")
  for (const [key, weight] of Object.entries(weights)) {
    if (weight < 0) report(`${path}.weights.${key}`, `must not be negative ${got(weight)}`)
  }
  const trim = option("trim", isTrim, "must be a number from 0")
  return isText(name) && isFiniteNumber(ceiling)
    ? [
        {
          name,
          ceiling,
          weights,
          ...(value !== undefined && { value }),
          ...(unit !== undefined && { unit }),
          ...(floor !== undefined && { floor }),
          ...(higher !== undefined && { higherIsBetter: higher }),
          ...(trim !== undefined && { trim })
        }
      ]
    : []
}

const optional = <A>(
  value: unknown,
  is: (value: unknown) => value is A,
  field: string,
  message: string,
  report: Report
): A | undefined => {
  if (value === undefined || value === null) return undefined
  if (is(value)) return value
  report(field, `${message} ${got(value)}`)
  return undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""

const isFiniteNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value)

const isTrim = (value: unknown): value is number => isFiniteNumber(value) && value >= 0

const isRecordFunction = (value: unknown): value is (record: TaskRecord) => unknown => typeof value === "function"

const isValue = (value: unknown): value is string | ((record: TaskRecord) => unknown) =>
  (typeof value === "string" && value !== "") || isRecordFunction(value)

const describe = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value)
  if (Array.isArray(value)) return "array"
  return typeof value === "object" && value !== null
    ? "object"
    : typeof value === "function"
      ? "function"
      : String(value)
}

const got = (value: unknown): string => `(got ${describe(value)})`
