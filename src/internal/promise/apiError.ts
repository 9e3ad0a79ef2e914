/** What a client of promises makes of an error of its platform. */
import * as Option from "effect/Option"
import { hasProperty } from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { PlatformError } from "../platform/errors.js"
import { BenchmarkApiError } from "./errors.js"

/**
 * The error under the name of what was called. What is refused before it is sent looks like a refusal of the server (422).
 * `answered` is the status of the last answer: an answer that is no refusal, but of no use, is told by nothing else.
 */
export const fromPlatformError = (called: string, error: PlatformError, answered?: number): BenchmarkApiError => {
  const body = bodyOf(error)
  const failure = error._tag === "PlatformFailure" ? error : undefined
  const unsent = error._tag === "InvalidRequest" ? 422 : 0
  const message = messageOf(error, body)
  return new BenchmarkApiError(message.startsWith(`${called}: `) ? message : `${called}: ${message}`, {
    status: error.response?.status ?? (failure === undefined ? unsent : (answered ?? 0)),
    body,
    retryAfterMs: failure?.retryAfterMillis,
    cause: error
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const parseJson = Schema.decodeOption(Schema.parseJson(Schema.Unknown))

const bodyOf = (error: PlatformError): unknown => {
  const text = error.response?.body
  const json = text === undefined ? Option.none() : parseJson(text)
  if (Option.isSome(json)) return json.value
  // The beginning of a long refusal is no JSON any more; its issues were read from all of it.
  if (error._tag === "InvalidRequest" && (text === undefined || text.trimStart().startsWith("{"))) {
    return { error: error.message, issues: error.issues }
  }
  return text === "" ? undefined : text
}

/** Errors that are made of facts do not have the words of the server, which may know more. */
const messageOf = (error: PlatformError, body: unknown): string => {
  if (error._tag !== "ResourceNotFound" && error._tag !== "RequestTooLarge") return error.message
  const said = hasProperty(body, "error") && typeof body.error === "string" ? body.error.trim() : ""
  return said === "" ? error.message : said
}
