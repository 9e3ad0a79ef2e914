/** What a client makes of an exchange that did not go well. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { messageOf } from "../json.js"
import type { HttpAnswer, PlatformError } from "../platform/errors.js"
import {
  InvalidRequest,
  PlatformFailure,
  RequestTooLarge,
  ResourceConflict,
  ResourceNotFound,
  Unauthorized
} from "../platform/errors.js"
import { optionalOrNull } from "../platform/schemas.js"
import { bounded } from "../platform/validation.js"
import { conflictCodes, notFoundCodes, routeNotFound } from "./codes.js"
import { retryAfterMillis } from "./retryAfter.js"

/** What an operation is about, outermost first: the last one is what it asks for. */
export type Subject = Readonly<Partial<Record<ResourceNotFound["resource"], string>>>

/** One call of an operation, and where it goes. */
export interface Target {
  /** As `Platform` (or `Accounts`) names it. */
  readonly operation: string
  readonly subject: Subject
  readonly host: string
}

/** An answer with a status other than 2xx; `text` is the beginning of its body. */
export interface Refused {
  readonly status: number
  readonly text: string
  readonly retryAfter: string | undefined
}

/** Trying again can help. */
export const transient = (target: Target, detail: string): PlatformFailure =>
  new PlatformFailure({ operation: target.operation, detail, retryable: true })

/** Trying again cannot help. */
export const permanent = (target: Target, detail: string): PlatformFailure =>
  new PlatformFailure({ operation: target.operation, detail, retryable: false })

/** What is at the end of a chain of causes, such as `connect ECONNREFUSED 127.0.0.1:80`. */
export const reasonOf = (error: unknown): string => {
  if (Predicate.hasProperty(error, "cause") && error.cause !== undefined && error.cause !== null) {
    return reasonOf(error.cause)
  }
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  const message = messageOf(error)
  return message === "" && Predicate.hasProperty(error, "code") ? String(error.code) : message
}

/** The error that an answer stands for: by its code where it has one of ours, by its status and the operation where not. */
export const fromAnswer = (target: Target, refused: Refused): Effect.Effect<PlatformError> => {
  const body = parseBody(refused.text)
  const said = says(body, refused)
  const { code } = body
  const { host, operation, subject } = target
  const response: HttpAnswer = { status: refused.status, body: refused.text.slice(0, bodyLength) }
  switch (refused.status) {
    case 400:
    case 422: {
      const issues = body.issues ?? [{ field: "request", message: said }]
      return Effect.succeed(new InvalidRequest({ issues: bounded(issues), response }))
    }
    case 401:
    case 403: {
      const reason = refused.status === 401 ? "Unauthenticated" : "Forbidden"
      return Effect.succeed(new Unauthorized({ reason, detail: said.replace(/\.$/, ""), response }))
    }
    case 404: {
      const resource = notFoundResource(code, subject)
      return Effect.succeed(
        resource === undefined
          ? failed(target, false, response, `${host} answered 404: ${said}; is it a platform, and up to date?`)
          : new ResourceNotFound({ resource, id: subject[resource] ?? "", response })
      )
    }
    case 409: {
      return Effect.succeed(new ResourceConflict({ reason: conflictReason(code, operation), detail: said, response }))
    }
    case 413:
      return Effect.succeed(new RequestTooLarge({ operation, response }))
    default: {
      const retryable = isTransient(refused.status)
      const detail = `${host} answered ${refused.status}: ${said}`
      if (!retryable) return Effect.succeed(failed(target, false, response, detail))
      return Effect.map(retryAfterMillis(refused.retryAfter), (millis) =>
        failed(target, true, response, detail, millis)
      )
    }
  }
}

/** Whether a status says that trying again can help. */
export const isTransient = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || status >= 500

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How much of a body an error keeps, in characters. */
const bodyLength = 2000

const failed = (
  { operation }: Target,
  retryable: boolean,
  response: HttpAnswer,
  detail: string,
  retryAfterMillis?: number
) => new PlatformFailure({ operation, detail, retryable, retryAfterMillis, response })

const Issues = Schema.NonEmptyArray(Schema.Struct({ field: Schema.String, message: Schema.String }))

const Body = Schema.parseJson(
  Schema.Struct({
    error: optionalOrNull(Schema.Unknown),
    message: optionalOrNull(Schema.Unknown),
    code: optionalOrNull(Schema.Unknown),
    issues: optionalOrNull(Schema.Unknown)
  })
)

const parseBody = (text: string) => {
  const { code, error, issues, message } = Option.getOrElse(
    Schema.decodeOption(Body)(text),
    (): typeof Body.Type => ({})
  )
  return {
    text: [error, message].find(Predicate.isString),
    code: Predicate.isString(code) ? code : undefined,
    issues: Option.getOrUndefined(Schema.decodeUnknownOption(Issues)(issues))
  }
}

const says = (body: { readonly text: string | undefined }, { status, text }: Refused): string => {
  if (body.text !== undefined && body.text.trim() !== "") return body.text
  const line = text.trim().split("\n")[0]?.slice(0, 200) ?? ""
  return line === "" || /^[<{[]/.test(line) ? `HTTP ${status}` : line
}

const notFoundResource = (code: string | undefined, subject: Subject): ResourceNotFound["resource"] | undefined => {
  if (code === routeNotFound) return undefined
  const resources = Struct.keys(notFoundCodes)
  return (
    resources.find((resource) => notFoundCodes[resource] === code) ??
    resources.findLast((resource) => subject[resource] !== undefined)
  )
}

const conflictReason = (code: string | undefined, operation: string): ResourceConflict["reason"] =>
  Struct.keys(conflictCodes).find((reason) => conflictCodes[reason] === code) ??
  (/^(planWorkers|upsertParticipant|updateParticipant)$/.test(operation) ? "AlreadyPlanned" : "StaleAttempt")
