/** What the server answers when an operation fails, and when no operation could be carried out at all. */
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as HttpApp from "@effect/platform/HttpApp"
import { RequestError, RouteNotFound } from "@effect/platform/HttpServerError"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { PlatformError, PlatformFailure } from "../platform/errors.js"
import { bounded, schemaIssues } from "../platform/validation.js"
import { conflictCodes, notFoundCodes, routeNotFound } from "./codes.js"
import { Refusal, refusal } from "./errorBodies.js"

/** Refuses with the status and the code of the error. What failed inside is logged, not told. */
export const refuse = (error: PlatformError): Effect.Effect<never, Refusal> => {
  switch (error._tag) {
    case "ResourceNotFound":
      return Effect.fail(refusal("NotFound", { error: error.message, code: notFoundCodes[error.resource] }))
    case "ResourceConflict":
      return Effect.fail(refusal("Conflict", { error: error.message, code: conflictCodes[error.reason] }))
    case "InvalidRequest":
      return Effect.fail(
        refusal("Unprocessable", { error: error.message, code: "invalid_request", issues: bounded(error.issues) })
      )
    case "Unauthorized":
      return Effect.fail(
        error.reason === "Forbidden"
          ? refusal("Forbidden", { error: error.detail, code: "forbidden" })
          : refusal("Unauthenticated", { error: error.detail, code: "unauthenticated" })
      )
    case "RequestTooLarge":
      return Effect.fail(refusal("ContentTooLarge", { error: error.message, code: "too_large" }))
    case "PlatformFailure":
      return Effect.zipRight(report(error), error.retryable ? unavailable(error) : Effect.fail(internalError))
  }
}

/** Refuses for whatever failed outside the operations; defects are logged. */
export const refuseCause = (cause: Cause.Cause<never>): Effect.Effect<never, Refusal> => {
  if (Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
  const error = Cause.squash(cause)
  if (isRefusal(error) || HttpServerResponse.isServerResponse(error)) return Effect.failCause(cause)
  if (error instanceof HttpApiDecodeError) return Effect.fail(malformed(error))
  if (error instanceof RouteNotFound) {
    const { method, url } = error.request
    return Effect.fail(
      refusal("NotFound", { error: `There is no ${method} ${url.split("?")[0]}.`, code: routeNotFound })
    )
  }
  if (error instanceof RequestError) {
    return Effect.fail(refusal("BadRequest", { error: "The body cannot be read as JSON.", code: "malformed_json" }))
  }
  return Effect.zipRight(Effect.logError("request failed", cause), Effect.fail(internalError))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const internalError = refusal("InternalError", {
  error: "The platform failed; its log says why.",
  code: "internal_error"
})

const report = (error: PlatformFailure) =>
  Effect.logError("operation failed").pipe(
    Effect.annotateLogs({ operation: error.operation, detail: error.detail, retryable: error.retryable })
  )

const unavailable = ({ retryAfterMillis }: PlatformFailure): Effect.Effect<never, Refusal> =>
  Effect.zipRight(
    retryAfterMillis === undefined
      ? Effect.void
      : HttpApp.appendPreResponseHandler((_request, response) =>
          Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", `${Math.ceil(retryAfterMillis / 1000)}`))
        ),
    Effect.fail(refusal("Unavailable", { error: "The platform is busy; try again.", code: "unavailable" }))
  )

const malformed = (error: HttpApiDecodeError) => {
  const issues = bounded(schemaIssues(error.issues))
  const text = issues.map(({ field, message }) => `${field}: ${message}`).join("; ")
  return refusal("BadRequest", { error: `The request does not fit: ${text}`, code: "malformed_request", issues })
}

const isRefusal = Schema.is(Refusal)
