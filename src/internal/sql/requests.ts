import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Page } from "../../Platform.js"
import type { ConcurrencySample } from "../../Platform.js"
import { InvalidRequest, maxHeartbeatSamples } from "../../Platform.js"
import type { Data } from "../../Record.js"

/** One field of a request, and what it must be. */
export interface Issue {
  readonly field: string
  readonly message: string
}

/** The largest integer that every database can store in an INTEGER column. */
export const maxInteger = 2_147_483_647

const maxIssues = 20

/** Fails with the issues, if there are any: the first twenty, and how many more there are. */
export const refuse = (issues: ReadonlyArray<Issue>): Effect.Effect<void, InvalidRequest> => {
  if (issues.length === 0) return Effect.void
  const more = issues.length - maxIssues
  const rest = more > 0 ? [{ field: "request", message: `has ${more} more issues` }] : []
  return Effect.fail(new InvalidRequest({ issues: [...issues.slice(0, maxIssues), ...rest] }))
}

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

/** The bounds of a page, with its defaults. */
export const page = (input: Page): Effect.Effect<{ readonly limit: number; readonly offset: number }, InvalidRequest> =>
  Effect.as(refuse([...integer("limit", input.limit, 1, 500), ...integer("offset", input.offset)]), {
    limit: input.limit ?? 50,
    offset: input.offset ?? 0
  })

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

/** The text of a JSON object, null when there is none, or why it cannot be one. */
export const jsonText = (field: string, value: Data | null | undefined): Either.Either<string | null, Issue> => {
  if (value === null || value === undefined) return Either.right(null)
  return Either.try({
    try: () => JSON.stringify(value),
    catch: (error) => ({ field, message: `must be JSON (${error instanceof Error ? error.message : String(error)})` })
  }).pipe(Either.filterOrLeft(isObjectText, () => ({ field, message: "must be a JSON object" })))
}

/** Like {@link jsonText}, failing with {@link InvalidRequest}. */
export const encodeJson = (field: string, value: Data | null | undefined) =>
  Either.mapLeft(jsonText(field, value), (issue) => new InvalidRequest({ issues: [issue] }))

// An object with a `toJSON` method may turn into anything, undefined included.
const isObjectText = (text: unknown): text is string => typeof text === "string" && text.startsWith("{")
