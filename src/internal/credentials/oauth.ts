/** Requests for tokens. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { reasonOf } from "../http/failures.js"
import { optionalOrNull } from "../platform/schemas.js"
import type { Login } from "./documents.js"
import { Secret } from "./documents.js"

/** The platform says no, with this OAuth error code. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly code: string
  readonly detail: string
}> {
  override get message(): string {
    return this.detail
  }
}

/** No answer, or none that says anything about the request. Trying again can help when it is `transient`. */
export class Unavailable extends Data.TaggedError("Unavailable")<{
  readonly detail: string
  readonly transient: boolean
}> {
  override get message(): string {
    return this.detail
  }
}

/** A number of seconds, as a number or in digits. */
export const Seconds = Schema.Union(Schema.Number, Schema.NumberFromString).pipe(Schema.finite(), Schema.nonNegative())

const Tokens = Schema.Struct({
  access_token: Secret,
  refresh_token: optionalOrNull(Secret),
  expires_in: optionalOrNull(Seconds)
})

/** Asks for tokens. A refresh token that the answer does not replace stays good. */
export const requestTokens = Effect.fnUntraced(function* (
  baseUrl: string,
  clientId: string,
  grant: Readonly<Record<string, string>>,
  refreshToken?: Redacted.Redacted
) {
  const issuedAt = yield* DateTime.now
  const tokens = yield* post(`${baseUrl}/api/auth/oauth2/token`, { ...grant, client_id: clientId }, Tokens)
  const nextRefreshToken = tokens.refresh_token ?? refreshToken
  const seconds = tokens.expires_in ?? undefined
  const login: Login = {
    clientId,
    accessToken: tokens.access_token,
    issuedAt,
    ...(nextRefreshToken !== undefined && { refreshToken: nextRefreshToken }),
    ...(seconds !== undefined && { expiresAt: DateTime.add(issuedAt, { seconds: Math.min(seconds, longestSeconds) }) })
  }
  return login
})

export const refresh = (baseUrl: string, clientId: string, refreshToken: Redacted.Redacted) =>
  requestTokens(
    baseUrl,
    clientId,
    { grant_type: "refresh_token", refresh_token: Redacted.value(refreshToken) },
    refreshToken
  )

/**
 * Sends a form and decodes the JSON of the answer. Takes at most 15 seconds, also where it cannot be interrupted, and
 * follows no redirect: the form holds secrets.
 */
export const post = Effect.fnUntraced(function* <A, I>(
  url: string,
  form: Readonly<Record<string, string>>,
  schema: Schema.Schema<A, I>
) {
  const client = yield* HttpClient.HttpClient
  const request = HttpClientRequest.post(url).pipe(HttpClientRequest.acceptJson, HttpClientRequest.bodyUrlParams(form))
  const { status, text } = yield* client.execute(request).pipe(
    Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, text }))),
    // Not the error itself: it carries the request, and that the secrets.
    Effect.mapError((error) => new Unavailable({ detail: printable(reasonOf(error)), transient: true })),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.interruptible,
    Effect.timeoutFail({
      duration: "15 seconds",
      onTimeout: () => new Unavailable({ detail: "no answer within 15 seconds", transient: true })
    })
  )
  const json = Option.getOrUndefined(parse(text))
  if (status >= 200 && status < 300) {
    return yield* Effect.mapError(
      Schema.decodeUnknown(schema)(json),
      () => new Unavailable({ detail: `answered ${status} with something else than was asked for`, transient: true })
    )
  }
  const refusal = Option.getOrUndefined(Schema.decodeUnknownOption(Refusal)(json))
  const detail = `answered ${status}${printable(withoutSecrets(describe(refusal), form))}`
  const transient = isTransient(status)
  return yield* refusal === undefined || (transient && !grantErrors.has(refusal.error))
    ? new Unavailable({ detail, transient })
    : new Refused({ code: refusal.error, detail })
})

/** Without what moves the cursor or changes the direction of writing, and not longer than a line or two. */
export const printable = (text: string): string => text.replace(/\p{C}/gu, "\ufffd").slice(0, 200)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A century: what is longer cannot be written as a date. */
const longestSeconds = 100 * 365 * 24 * 3600

const Refusal = Schema.Struct({ error: Schema.String, error_description: optionalOrNull(Schema.String) })

const describe = (refusal: typeof Refusal.Type | undefined): string => {
  if (refusal === undefined) return ""
  return refusal.error_description ? `: ${refusal.error} (${refusal.error_description})` : `: ${refusal.error}`
}

// A server may repeat what it was sent.
const withoutSecrets = (text: string, form: Readonly<Record<string, string>>): string =>
  [form["refresh_token"], form["device_code"]].reduce<string>(
    (said, secret) => (secret ? said.replaceAll(secret, "<redacted>") : said),
    text
  )

const isTransient = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429

const grantErrors = new Set([
  "authorization_pending",
  "slow_down",
  "expired_token",
  "access_denied",
  "invalid_grant",
  "invalid_client",
  "unauthorized_client"
])

const parse = Schema.decodeUnknownOption(Schema.parseJson())
