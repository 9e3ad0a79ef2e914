/** Whose platform and accounts a request is given. */
import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Organization } from "../../../Accounts.js"
import type { Platform, PlatformError } from "../../../Platform.js"
import type { InternalError } from "../../../PlatformApi.js"
import { PlatformAuthorization, refusal } from "../../../PlatformApi.js"
import { refuse } from "../../http/refusals.js"
import type { AccountStore, OrganizationName, Principal } from "../../sql/accounts/model.js"
import { prefixOf } from "../../sql/accounts/secrets.js"
import * as AccessLog from "../accessLog.js"
import { accountsOf, organizationOf } from "./principals.js"
import * as RateLimit from "./rateLimit.js"

/** The two ways in: to an organization's platform, and to the accounts. Both count failed attempts together. */
export const make = (store: AccountStore, platformOf: (organization: Organization) => Platform["Type"]) => {
  const failures = RateLimit.make({ limit: 20, window: "1 minute" })
  const platforms = new Map<string, Platform["Type"]>()

  const cachedPlatform = (organization: Organization): Platform["Type"] => {
    const cached = platforms.get(organization.id)
    if (cached !== undefined) return cached
    const platform = platformOf(organization)
    const [oldest] = platforms.keys()
    if (platforms.size >= maxPlatforms && oldest !== undefined) platforms.delete(oldest)
    platforms.set(organization.id, platform)
    return platform
  }

  const authenticate = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const token = bearerToken(request)
    if (token === undefined) return yield* unauthenticated("API key required")
    const found = yield* refusing(store.authenticate(token))
    if (Option.isSome(found)) return found.value
    const wait = yield* failures.fail(subjectsOf(request, token))
    return yield* wait > 0 ? tooMany(wait) : unauthenticated("Invalid API key")
  })

  const authorize = <A>(
    allow: (principal: Principal, named: OrganizationName | undefined) => Effect.Effect<A, PlatformError>
  ) => ({
    // Whatever scheme the header names, what is handed over here is the rest of it: the header itself is read again.
    bearer: () =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        Effect.flatMap(authenticate(request), (principal) => refusing(allow(principal, namedIn(request))))
      )
  })

  return {
    platform: authorize((principal, named) =>
      organizationOf(store, principal, named).pipe(
        Effect.tap(({ slug }) => AccessLog.annotateOrganization(slug)),
        Effect.map(cachedPlatform)
      )
    ),
    accounts: authorize((principal, named) => accountsOf(store, principal, named))
  }
}

/** Whom a failed attempt is counted for: the client's network, and the key that was tried. */
export const subjectsOf = (
  request: HttpServerRequest.HttpServerRequest,
  token: Redacted.Redacted | undefined
): ReadonlyArray<string> => {
  const network = Option.match(request.remoteAddress, { onNone: () => "unknown", onSome: RateLimit.networkOf })
  const prefix = token && prefixOf(Redacted.value(token))
  return prefix === undefined ? [`from ${network}`] : [`from ${network}`, `key ${prefix}`]
}

/** A wait in whole seconds, as the header `Retry-After` says it. */
export const seconds = (waitMillis: number): number => Math.max(1, Math.ceil(waitMillis / 1000))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How many organizations' platforms are kept ready; making one costs little. */
const maxPlatforms = 1000

/** What the header says after `Bearer`; empty for another scheme, undefined when it says nothing. */
const bearerToken = ({ headers }: HttpServerRequest.HttpServerRequest): Redacted.Redacted | undefined => {
  const text = (headers["authorization"] ?? "").trim()
  if (text === "" || /^bearer$/i.test(text)) return undefined
  return Redacted.make(/^bearer +(\S+)$/i.exec(text)?.[1] ?? "")
}

const namedIn = ({ headers }: HttpServerRequest.HttpServerRequest): OrganizationName | undefined => {
  const slug = headers["x-org-slug"]?.trim() || undefined
  const id = headers["x-organization-id"]?.trim() || undefined
  return slug === undefined && id === undefined ? undefined : { slug, id }
}

const withHeader = (name: string, value: string) =>
  HttpApp.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, name, value))
  )

const unauthenticated = (error: string) =>
  Effect.zipRight(withHeader("www-authenticate", "Bearer"), Effect.fail(refusal("Unauthenticated", { error })))

const tooMany = (waitMillis: number) => {
  const wait = seconds(waitMillis)
  return Effect.zipRight(
    withHeader("retry-after", `${wait}`),
    Effect.fail(
      refusal("TooManyRequests", {
        error: `Too many failed attempts; try again in ${wait} s.`,
        code: "too_many_attempts"
      })
    )
  )
}

const isAuthorizationRefusal = Schema.is(PlatformAuthorization.failure)

const internalError: typeof InternalError.Type = refusal("InternalError", {
  error: "The platform failed; its log says why."
})

const refusing = <A>(effect: Effect.Effect<A, PlatformError>) =>
  effect.pipe(
    Effect.catchAll(refuse),
    Effect.mapError((refused) => (isAuthorizationRefusal(refused) ? refused : internalError))
  )
