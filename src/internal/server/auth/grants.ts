/** Where a device gets its codes and its tokens (RFC 8628, RFC 6749). */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { PlatformError } from "../../../Platform.js"
import type { AccountStore, GrantRefusal, LoginTokens } from "../../sql/accounts/model.js"
import { seconds, subjectsOf } from "./authorization.js"
import type { Fields } from "./fields.js"
import * as FormFields from "./fields.js"
import * as RateLimit from "./rateLimit.js"

/** The path of a device's request for a code. */
export const deviceCodePath = "/api/auth/device/code"

/** The path of a device's requests for tokens. */
export const tokenPath = "/api/auth/oauth2/token"

/** Answers with a code for the device and one for the person; `verificationUri` is where that is entered. */
export const makeCodes = (
  store: AccountStore,
  verificationUri: (request: HttpServerRequest.HttpServerRequest) => string
) => {
  // Every code is a row for a while, and nobody has to be known to get one.
  const codes = RateLimit.make({ limit: 30, window: "1 minute" })
  return handle((fields, request) =>
    Effect.gen(function* () {
      const clientId = clientOf(fields)
      if (clientId === undefined) return invalid("client_id is missing, or longer than 200 characters")
      const wait = yield* codes.fail(subjectsOf(request, undefined))
      if (wait > 0) return tooMany(wait)
      const { deviceCode, expiresInSeconds, intervalSeconds, userCode } = yield* store.startDeviceLogin(clientId)
      const uri = verificationUri(request)
      return answer(200, {
        device_code: Redacted.value(deviceCode),
        user_code: userCode,
        verification_uri: uri,
        verification_uri_complete: `${uri}?user_code=${userCode}`,
        expires_in: expiresInSeconds,
        interval: intervalSeconds
      })
    })
  )
}

/** Answers with tokens, for the code of an approved device or for a refresh token. */
export const makeTokens = (store: AccountStore) => {
  const failures = RateLimit.make({ limit: 20, window: "1 minute" })

  const conclude = (request: HttpServerRequest.HttpServerRequest, result: Either.Either<LoginTokens, GrantRefusal>) => {
    if (Either.isRight(result)) return Effect.succeed(issued(result.right))
    if (result.left !== "invalid_grant") return Effect.succeed(refused(result.left, descriptions[result.left]))
    return Effect.map(failures.fail(subjectsOf(request, undefined)), (wait) =>
      wait > 0 ? tooMany(wait) : refused("invalid_grant", descriptions.invalid_grant)
    )
  }

  return handle((fields, request) => {
    const clientId = clientOf(fields)
    const { device_code: deviceCode, grant_type: grant, refresh_token: refreshToken } = fields
    if (grant === undefined) return Effect.succeed(invalid("grant_type is missing"))
    if (grant !== deviceGrant && grant !== refreshGrant) {
      return Effect.succeed(refused("unsupported_grant_type", `There are ${deviceGrant} and ${refreshGrant}.`))
    }
    if (clientId === undefined) return Effect.succeed(invalid("client_id is missing, or longer than 200 characters"))
    if (grant === deviceGrant) {
      return deviceCode === undefined
        ? Effect.succeed(invalid("device_code is missing"))
        : Effect.flatMap(store.exchangeDeviceCode({ clientId, deviceCode: Redacted.make(deviceCode) }), (result) =>
            conclude(request, result)
          )
    }
    return refreshToken === undefined
      ? Effect.succeed(invalid("refresh_token is missing"))
      : Effect.flatMap(store.refreshLogin({ clientId, refreshToken: Redacted.make(refreshToken) }), (result) =>
          conclude(request, result)
        )
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

const refreshGrant = "refresh_token"

const descriptions = {
  authorization_pending: "Nobody has decided yet.",
  slow_down: "Ask less often: 5 seconds more between requests from now on.",
  expired_token: "The code has expired: start again.",
  access_denied: "Somebody has denied it.",
  invalid_grant: "Unknown, used before, expired, or not this client's."
} as const satisfies Readonly<Record<GrantRefusal, string>>

const clientOf = ({ client_id: clientId }: Fields): string | undefined =>
  clientId === undefined || clientId === "" || clientId.length > 200 || clientId.includes("\u0000")
    ? undefined
    : clientId

const answer = (status: number, body: object, headers?: Readonly<Record<string, string>>) =>
  HttpServerResponse.unsafeJson(body, {
    status,
    headers: { "cache-control": "no-store", pragma: "no-cache", ...headers }
  })

const refused = (error: string, description: string) => answer(400, { error, error_description: description })

const invalid = (description: string) => refused("invalid_request", description)

const tooMany = (waitMillis: number) => {
  const wait = seconds(waitMillis)
  return answer(
    429,
    { error: "too_many_requests", error_description: `Try again in ${wait} s.` },
    { "retry-after": `${wait}` }
  )
}

const issued = ({ accessToken, expiresInSeconds, refreshToken }: LoginTokens) =>
  answer(200, {
    access_token: Redacted.value(accessToken),
    refresh_token: Redacted.value(refreshToken),
    token_type: "Bearer",
    expires_in: expiresInSeconds
  })

const failed = (error: PlatformError) =>
  Effect.logError("login failed").pipe(
    Effect.annotateLogs("reason", error.message),
    Effect.as(
      error._tag === "PlatformFailure" && error.retryable
        ? answer(503, { error: "temporarily_unavailable", error_description: "The platform is busy; try again." })
        : answer(500, { error: "server_error", error_description: "The platform failed; its log says why." })
    )
  )

const handle = (
  respond: (
    fields: Fields,
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, PlatformError>
) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Effect.flatMap(
      FormFields.read(request),
      Option.match({
        onNone: () => Effect.succeed(invalid("the body must be a form or a JSON object")),
        onSome: (fields) => Effect.catchAll(respond(fields, request), failed)
      })
    )
  )
