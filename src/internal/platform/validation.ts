/** What a request must be, wherever it is checked: before it is sent, and before it is carried out. */
import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"
import { InvalidRequest } from "./errors.js"
import { maxBatchRecords, maxHeartbeatSamples, maxRecordSteps } from "./limits.js"
import type { HeartbeatInput, Page, TaskResultsInput } from "./requests.js"
import type { ConcurrencySample } from "./resources.js"

/** One field of a request, and what it must be. */
export interface Issue {
  readonly field: string
  readonly message: string
}

/** The largest integer that every database can store in an INTEGER column. */
export const maxInteger = 2_147_483_647

const maxIssues = 20

/** The first twenty issues, and how many more there are. */
export const bounded = (issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> => {
  const more = issues.length - maxIssues
  return more > 0 ? [...issues.slice(0, maxIssues), { field: "request", message: `has ${more} more issues` }] : issues
}

/** Fails with the issues, if there are any. */
export const refuse = (issues: ReadonlyArray<Issue>): Effect.Effect<void, InvalidRequest> =>
  issues.length === 0 ? Effect.void : Effect.fail(new InvalidRequest({ issues: bounded(issues) }))

/** An optional whole number within bounds, by default those of an INTEGER column from 0. */
export const integer = (
  field: string,
  value: number | null | undefined,
  min = 0,
  max = maxInteger
): ReadonlyArray<Issue> => {
  if (value === null || value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return []
  return [
    {
      field,
      message: Number.isInteger(value)
        ? value < min
          ? `must be at least ${min} (got ${value})`
          : `must be at most ${max} (got ${value})`
        : `must be a whole number (got ${value})`
    }
  ]
}

export const nonEmpty = (field: string, value: string | null | undefined): ReadonlyArray<Issue> =>
  value === "" ? [{ field, message: "must be a non-empty string" }] : []

/** Names that occur more than once. */
export const unique = (names: ReadonlyArray<string>, field: (index: number) => string): ReadonlyArray<Issue> => {
  const first = new Set<string>()
  return names.flatMap((name, index) => {
    if (first.has(name)) return [{ field: field(index), message: `must be unique (got "${name}" again)` }]
    first.add(name)
    return []
  })
}

/** The bounds of a page. */
export const page = (input: Page): ReadonlyArray<Issue> => [
  ...integer("limit", input.limit, 1, 500),
  ...integer("offset", input.offset)
]

export const samples = (concurrency: ReadonlyArray<ConcurrencySample>): ReadonlyArray<Issue> =>
  concurrency.length > maxHeartbeatSamples
    ? [{ field: "concurrency", message: `must be at most ${maxHeartbeatSamples} (got ${concurrency.length})` }]
    : [
        ...unique(
          concurrency.map((sample) => sample.step),
          (index) => `concurrency[${index}].step`
        ),
        ...concurrency.flatMap((sample, index) => [
          ...integer(`concurrency[${index}].active`, sample.active),
          ...integer(`concurrency[${index}].target`, sample.target)
        ])
      ]

export const heartbeat = (input: HeartbeatInput): ReadonlyArray<Issue> => [
  ...integer("progressDone", input.progressDone),
  ...integer("progressInFlight", input.progressInFlight),
  ...integer("progressErrors", input.progressErrors),
  ...integer("progressTotal", input.progressTotal),
  ...samples(input.concurrency ?? [])
]

/** What is too much or out of bounds in a batch, whoever sends it. */
export const limits = (input: TaskResultsInput): ReadonlyArray<Issue> => [
  ...integer("sequenceNumber", input.sequenceNumber),
  ...(input.records.length > maxBatchRecords
    ? [{ field: "records", message: `must be at most ${maxBatchRecords} (got ${input.records.length})` }]
    : input.records.flatMap((record, index) =>
        (record.steps?.length ?? 0) > maxRecordSteps
          ? [{ field: `records[${index}].steps`, message: `must be at most ${maxRecordSteps}` }]
          : []
      ))
]

/** A path into a request as it is written: `records[0].steps[1].name`. */
export const fieldOf = (path: ReadonlyArray<PropertyKey>): string =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "")

/**
 * What a schema found, field by field. Of the alternatives that a field has, only the first is told, and nothing of what
 * holds the field; what concerns the whole is about the field `request`.
 */
export const schemaIssues = (
  found: ReadonlyArray<{ readonly path: ReadonlyArray<PropertyKey>; readonly message: string }>
): ReadonlyArray<Issue> => {
  const first = new Map<string, Issue>()
  const holders = new Set<string>()
  for (const { message, path } of found) {
    const field = fieldOf(path)
    if (!first.has(field)) first.set(field, { field: field === "" ? "request" : field, message })
    path.forEach((_, length) => holders.add(fieldOf(path.slice(0, length))))
  }
  return Array.from(first).flatMap(([field, issue]) => (holders.has(field) ? [] : [issue]))
}

/** Like {@link schemaIssues}, of a whole error. */
export const issuesOf = (error: ParseResult.ParseError): ReadonlyArray<Issue> =>
  schemaIssues(ParseResult.ArrayFormatter.formatErrorSync(error))
