/** What a server answers before, instead of, or without carrying out an operation. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import type { RefusalBody } from "../http/errorBodies.js"
import type { Issue } from "../platform/validation.js"
import { bounded } from "../platform/validation.js"

/** A JSON body with the status of a refusal. */
export const refused = (
  status: number,
  body: RefusalBody,
  headers?: Readonly<Record<string, string>>
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson(body, { status, ...(headers !== undefined && { headers }) })

/**
 * The body of a request is not taken: it is too large, too slow, or not what it claims to be. Travels as the cause of a
 * `RequestError`, which is all that reading a request may fail with.
 */
export class BodyRefused extends Data.TaggedError("BodyRefused")<{
  readonly status: number
  readonly error: string
  readonly code: string
  readonly issues?: RefusalBody["issues"]
  readonly headers?: Readonly<Record<string, string>>
}> {
  override get message(): string {
    return this.error
  }

  get answer(): HttpServerResponse.HttpServerResponse {
    const { code, error, issues } = this
    return refused(this.status, { error, code, ...(issues !== undefined && { issues }) }, this.headers)
  }
}

export const tooLarge = (limit: number): BodyRefused =>
  new BodyRefused({ status: 413, error: `The body is larger than ${limit} bytes.`, code: "too_large" })

export const tooSlow = (limit: Duration.Duration, what: "whole" | "idle"): BodyRefused =>
  new BodyRefused({
    status: 408,
    error: `The body did not arrive: ${what === "whole" ? "it was not complete after" : "nothing came for"} ${Duration.format(limit)}.`,
    code: "request_timeout"
  })

export const cutOff = new BodyRefused({
  status: 400,
  error: "The body ended before it was complete.",
  code: "incomplete_body"
})

export const notGzip = new BodyRefused({
  status: 400,
  error: "The body cannot be decompressed as gzip.",
  code: "malformed_encoding"
})

export const notJson = new BodyRefused({
  status: 400,
  error: "The body cannot be read as JSON.",
  code: "malformed_json"
})

export const tooDeep = new BodyRefused({
  status: 400,
  error: "The body is nested too deeply.",
  code: "malformed_json"
})

/** What is said of a request that is not as it was declared. */
export const malformed = (found: ReadonlyArray<Issue>) => {
  const issues = bounded(found)
  const text = issues.map(({ field, message }) => `${field}: ${message}`).join("; ")
  return { error: `The request does not fit: ${text}`, code: "malformed_request", issues }
}

export const notJsonType = refused(415, {
  error: "The body must be JSON in UTF-8: send content-type application/json.",
  code: "unsupported_media_type"
})

export const unknownEncoding = refused(
  415,
  { error: "The body must be sent as it is or compressed with gzip.", code: "unsupported_encoding" },
  { "accept-encoding": "gzip, identity" }
)

/** There is no room for the body of a request now. */
export const busy = HttpServerResponse.setHeader(
  refused(503, { error: "The platform is busy; try again.", code: "unavailable" }),
  "retry-after",
  "1"
)

export const notAllowed = (method: string, allowed: ReadonlyArray<string>): HttpServerResponse.HttpServerResponse =>
  refused(
    405,
    { error: `There is no ${method} here, only ${allowed.join(", ")}.`, code: "method_not_allowed" },
    { allow: allowed.join(", ") }
  )

/** What may be asked of a path, without asking it. */
export const options = (allowed: ReadonlyArray<string>): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({ status: 204, headers: { allow: allowed.join(", ") } })
