import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Page } from "../../Platform.js"
import { InvalidRequest } from "../../Platform.js"
import type { Data } from "../../Record.js"
import { messageOf } from "../json.js"
import type { Issue } from "../platform/validation.js"
import * as Validation from "../platform/validation.js"

/** The bounds of a page, with its defaults. */
export const page = (input: Page): Effect.Effect<{ readonly limit: number; readonly offset: number }, InvalidRequest> =>
  Effect.as(Validation.refuse(Validation.page(input)), { limit: input.limit ?? 50, offset: input.offset ?? 0 })

/** The text of a JSON object, null when there is none, or why it cannot be one. */
export const jsonText = (field: string, value: Data | null | undefined): Either.Either<string | null, Issue> => {
  if (value === null || value === undefined) return Either.right(null)
  return Either.try({
    try: () => JSON.stringify(value),
    catch: (error) => ({ field, message: `must be JSON (${messageOf(error)})` })
  }).pipe(Either.filterOrLeft(isObjectText, () => ({ field, message: "must be a JSON object" })))
}

/** Like {@link jsonText}, failing with {@link InvalidRequest}. */
export const encodeJson = (field: string, value: Data | null | undefined) =>
  Either.mapLeft(jsonText(field, value), (issue) => new InvalidRequest({ issues: [issue] }))

// An object with a `toJSON` method may turn into anything, undefined included.
const isObjectText = (text: unknown): text is string => typeof text === "string" && text.startsWith("{")
