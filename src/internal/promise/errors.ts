/** What functions of promises reject with. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { PlatformError } from "../platform/errors.js"

/**
 * The platform refused a request, or could not be reached.
 *
 * @since 0.1.0
 * @category errors
 */
export class BenchmarkApiError extends Error {
  override readonly name = "BenchmarkApiError"
  /** Of the answer; 0 when there was none. */
  readonly status: number
  /** The answer's body: JSON where it is JSON, else its beginning as text; undefined when there was none. */
  readonly body: unknown
  /** Milliseconds after which the platform asks to be tried again, if it says so. */
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    options: {
      readonly status: number
      readonly body?: unknown
      readonly retryAfterMs?: number | undefined
      readonly cause?: unknown
    }
  ) {
    super(message, { cause: options.cause })
    this.status = options.status
    this.body = options.body
    this.retryAfterMs = options.retryAfterMs
  }
}

/**
 * There are no credentials for a platform, or they cannot be used.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthError extends Error {
  override readonly name = "AuthError"
}

/** An error of the platform as clients see it. What is refused before it is sent looks like a refusal of the server (422). */
export const fromPlatformError = (operation: string, error: PlatformError): BenchmarkApiError => {
  const { response } = error
  const message = error.message.startsWith(`${operation}: `) ? error.message : `${operation}: ${error.message}`
  const retryAfterMs = error._tag === "PlatformFailure" ? error.retryAfterMillis : undefined
  if (response !== undefined) {
    return new BenchmarkApiError(message, {
      status: response.status,
      body: Option.getOrElse(parseJson(response.body), () => response.body),
      retryAfterMs,
      cause: error
    })
  }
  return error._tag === "InvalidRequest"
    ? new BenchmarkApiError(message, {
        status: 422,
        body: { error: error.message, issues: error.issues },
        cause: error
      })
    : new BenchmarkApiError(message, { status: 0, retryAfterMs, cause: error })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const parseJson = Schema.decodeOption(Schema.parseJson(Schema.Unknown))
