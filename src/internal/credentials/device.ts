/** Signing in on another device (RFC 8628). */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { optionalOrNull } from "../platform/schemas.js"
import { DeviceLoginFailed } from "./errors.js"
import type { Refused, Unavailable } from "./oauth.js"
import { post, printable, requestTokens, Seconds } from "./oauth.js"

/**
 * What a person needs to sign in. The texts hold no control characters.
 *
 * @since 0.1.0
 * @category models
 */
export interface DeviceCode {
  readonly userCode: string
  /** Where to enter the code: an http or https URL. */
  readonly verificationUri: string
  /** The same with the code in it. */
  readonly verificationUriComplete: string | undefined
  /** Until when the code can be confirmed. */
  readonly expiresAt: DateTime.Utc
}

/** Asks for a code, and for the place to enter it. */
export const requestCode = Effect.fnUntraced(function* (baseUrl: string, clientId: string) {
  const requestedAt = yield* DateTime.now
  const answer = yield* post(`${baseUrl}/api/auth/device/code`, { client_id: clientId }, Answer).pipe(
    Effect.mapError((error) => failed(baseUrl, error))
  )
  const seconds = Math.min(answer.expires_in ?? defaultExpirySeconds, longestExpirySeconds)
  const code: DeviceCode = {
    userCode: printable(answer.user_code),
    verificationUri: answer.verification_uri,
    verificationUriComplete: answer.verification_uri_complete ?? undefined,
    expiresAt: DateTime.add(requestedAt, { seconds })
  }
  const intervalSeconds = Math.max(1, answer.interval ?? defaultIntervalSeconds)
  return { code, deviceCode: answer.device_code, intervalSeconds }
})

/** Asks for the tokens until the person has decided or the code has expired. */
export const waitForTokens = Effect.fnUntraced(function* (
  baseUrl: string,
  clientId: string,
  { code, deviceCode, intervalSeconds }: Effect.Effect.Success<ReturnType<typeof requestCode>>
) {
  const end = DateTime.toEpochMillis(code.expiresAt)
  let interval = intervalSeconds
  let delay = interval
  for (;;) {
    const left = end - (yield* Clock.currentTimeMillis)
    yield* Effect.sleep(Math.max(0, Math.min(delay * 1000, left)))
    if (left <= delay * 1000) {
      return yield* new DeviceLoginFailed({ reason: "Expired", baseUrl, detail: "the code was not confirmed in time" })
    }
    const answer = yield* Effect.either(
      requestTokens(baseUrl, clientId, {
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        device_code: Redacted.value(deviceCode)
      })
    )
    if (Either.isRight(answer)) return answer.right
    const error = answer.left
    if (error._tag === "Unavailable" && error.transient) {
      delay = Math.min(delay * 2, Math.max(interval, longestBackoffSeconds))
    } else if (error._tag === "Refused" && (error.code === "authorization_pending" || error.code === "slow_down")) {
      if (error.code === "slow_down") interval += 5
      delay = interval
    } else {
      return yield* failed(baseUrl, error)
    }
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const defaultIntervalSeconds = 5

const defaultExpirySeconds = 30 * 60

const longestExpirySeconds = 24 * 3600

const longestBackoffSeconds = 60

/** A link that can be printed and opened; as a URL is written, it holds no control characters. */
const Link = Schema.transform(
  Schema.String.pipe(Schema.filter((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))),
  Schema.String,
  { strict: true, decode: (text) => new URL(text).href, encode: (text) => text }
)

const Answer = Schema.Struct({
  device_code: Schema.Redacted(Schema.NonEmptyString),
  user_code: Schema.NonEmptyTrimmedString,
  verification_uri: Link,
  verification_uri_complete: optionalOrNull(Link),
  expires_in: optionalOrNull(Seconds),
  interval: optionalOrNull(Seconds)
})

const failed = (baseUrl: string, error: Refused | Unavailable): DeviceLoginFailed =>
  new DeviceLoginFailed({
    reason: error._tag === "Unavailable" ? "Unavailable" : reasonOf(error.code),
    baseUrl,
    detail: error.detail
  })

const reasonOf = (code: string) =>
  code === "access_denied" ? "Denied" : code === "expired_token" ? "Expired" : "Refused"
