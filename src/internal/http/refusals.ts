/** What the server answers when an operation fails, and when no operation could be carried out at all. */
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpApp from "@effect/platform/HttpApp"
import { RequestError, RouteNotFound } from "@effect/platform/HttpServerError"
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { PlatformError, PlatformFailure } from "../platform/errors.js"
import { bounded, schemaIssues } from "../platform/validation.js"
import * as Answers from "../server/answers.js"
import * as Routes from "../server/routes.js"
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

/**
 * The answer for whatever failed outside the operations: a request without a route, a body that does not fit, a bug. Bugs are
 * logged, not told; interruption stays what it is.
 */
export const answerCause = (cause: Cause.Cause<unknown>): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  if (Cause.isInterruptedOnly(cause)) return Effect.failCause(Cause.stripFailures(cause))
  const error = Cause.squash(cause)
  if (HttpServerResponse.isServerResponse(error)) return Effect.succeed(error)
  if (isRefusal(error)) return Effect.succeed(answerRefusal(error))
  if (error instanceof HttpApiDecodeError)
    return Effect.succeed(answerRefusal(refusal("BadRequest", Answers.malformed(schemaIssues(error.issues)))))
  if (error instanceof RouteNotFound) return Effect.succeed(unrouted(error.request))
  if (error instanceof RequestError) return Effect.succeed(unreadable(error))
  if (error instanceof Answers.BodyRefused) return Effect.succeed(error.answer)
  return Effect.as(Effect.logError("request failed", cause), answerRefusal(internalError))
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

const isRefusal = Schema.is(Refusal)

const encodeRefusal = Schema.encodeSync(Refusal)

const statuses: ReadonlyMap<string, number> = new Map(
  Refusal.members.map(({ ast }) => [
    Option.getOrElse(SchemaAST.getIdentifierAnnotation(ast), () => ""),
    HttpApiSchema.getStatusErrorAST(ast)
  ])
)

const answerRefusal = (error: Refusal): HttpServerResponse.HttpServerResponse =>
  Answers.refused(statuses.get(error._tag) ?? 500, encodeRefusal(error))

const unrouted = ({ method, url }: HttpServerRequest): HttpServerResponse.HttpServerResponse => {
  const path = Routes.pathOf(url)
  const allowed = Routes.allowed(path)
  if (allowed.length === 0) {
    return answerRefusal(refusal("NotFound", { error: `There is no ${method} ${path}.`, code: routeNotFound }))
  }
  return method === "OPTIONS" ? Answers.options(allowed) : Answers.notAllowed(method, allowed)
}

const unreadable = ({ cause }: RequestError): HttpServerResponse.HttpServerResponse =>
  (cause instanceof Answers.BodyRefused ? cause : Answers.notJson).answer
