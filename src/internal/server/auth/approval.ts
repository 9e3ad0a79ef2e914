/** What a person does on the page for devices: they see the form, and send their decision. */
import * as Crypto from "node:crypto"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { PlatformError } from "../../../Platform.js"
import type { AccountStore } from "../../sql/accounts/model.js"
import { DeviceDecision } from "../../sql/accounts/model.js"
import { seconds, subjectsOf } from "./authorization.js"
import type { Fields } from "./fields.js"
import * as FormFields from "./fields.js"
import * as Page from "./page.js"
import * as RateLimit from "./rateLimit.js"

/** The path of the page. */
export const devicePath = "/device"

/** The origin that a request was sent to, as the person's browser knows it. */
export type OriginOf = (request: HttpServerRequest.HttpServerRequest) => string

/** Shows the form, with the code that the address names. */
export const makeShow = (originOf: OriginOf) =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const query = new URLSearchParams(request.url.split("?", 2)[1])
    const userCode = query.get("user_code") ?? query.get("code") ?? ""
    return withForm(request, originOf(request), { userCode: userCode.slice(0, 40), organization: "" })
  })

/** Takes a decision. Codes and keys that do not exist are counted, and soon not looked at any more. */
export const makeDecide = (store: AccountStore, originOf: OriginOf) => {
  const failures = RateLimit.make({ limit: 20, window: "1 minute" })

  const decisionOf = Effect.fnUntraced(function* (fields: Fields) {
    if (fields["decision"] === "deny") return DeviceDecision.Deny()
    const key = fields["key"]?.trim() ?? ""
    const found = yield* store.authenticate(Redacted.make(key))
    if (Option.isNone(found) || found.value._tag === "Login") {
      return yield* new Problem({
        status: 401,
        text: "This is no key of the platform, or it has expired or was revoked."
      })
    }
    const principal = found.value
    const slug = fields["organization"]?.trim() || undefined
    if (principal._tag === "Key") {
      return slug === undefined || slug === principal.organization.slug
        ? DeviceDecision.ApproveWithKey({ keyId: principal.id })
        : yield* new Problem({ status: 403, text: "This key is not authorized for this organization." })
    }
    if (slug === undefined) {
      return yield* new Problem({ status: 422, text: "The admin key needs an organization to sign in for." })
    }
    const organization = yield* store.findOrganization({ slug })
    return Option.isSome(organization)
      ? DeviceDecision.ApproveAsAdmin({ organizationId: organization.value.id })
      : yield* new Problem({ status: 422, text: `There is no organization "${slug}".` })
  })

  const decide = Effect.fnUntraced(function* (fields: Fields) {
    const decision = yield* decisionOf(fields)
    const decided = yield* store.decideDeviceLogin({ userCode: fields["user_code"] ?? "", decision })
    if (Option.isNone(decided)) {
      return yield* new Problem({
        status: 404,
        text: "No device waits with this code. It may have expired: start again."
      })
    }
    return Page.decided(
      decision._tag === "Deny"
        ? "Denied. The device was not signed in."
        : `Approved: ${decided.value.clientId} is being signed in. You can close this page.`
    )
  })

  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const fields = Option.getOrElse(yield* FormFields.read(request), (): Fields => ({}))
    const origin = originOf(request)
    const entered = (name: string) => fields[name]?.slice(0, 100) ?? ""
    const again = (problem: string, status: number) =>
      withForm(
        request,
        origin,
        { userCode: entered("user_code"), organization: entered("organization"), problem },
        status
      )
    if (!isOwnForm(request, fields, origin)) {
      return again("The form was not sent from this page, or cookies are blocked: send it again.", 403)
    }
    // Not by key: nobody is to keep others from approving with theirs.
    const subjects = subjectsOf(request, undefined)
    const wait = yield* failures.wait(subjects)
    if (wait > 0) return tooMany(wait)
    return yield* decide(fields).pipe(
      Effect.catchTag("Problem", ({ status, text }) =>
        Effect.as(status === 401 || status === 404 ? failures.fail(subjects) : Effect.void, again(text, status))
      ),
      Effect.catchAll(failed)
    )
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What is wrong with what a person has entered. */
class Problem extends Data.TaggedError("Problem")<{ readonly status: number; readonly text: string }> {}

const csrfCookie = "bench_csrf"

const csrfToken = /^[\w-]{43}$/

const isCsrfToken = (text: string | undefined): text is string => text !== undefined && csrfToken.test(text)

const withForm = (
  request: HttpServerRequest.HttpServerRequest,
  origin: string,
  state: Omit<Page.FormState, "csrf">,
  status?: number
): HttpServerResponse.HttpServerResponse => {
  const sent = request.cookies[csrfCookie]
  const csrf = isCsrfToken(sent) ? sent : Crypto.randomBytes(32).toString("base64url")
  return HttpServerResponse.unsafeSetCookie(Page.form({ ...state, csrf }, status), csrfCookie, csrf, {
    httpOnly: true,
    sameSite: "strict",
    secure: origin.startsWith("https:")
  })
}

/**
 * Whether a form was sent by the page that we have shown: it repeats what that page has set as cookie, and the browser does
 * not say that it came from elsewhere.
 */
const isOwnForm = (request: HttpServerRequest.HttpServerRequest, fields: Fields, origin: string): boolean => {
  const cookie = request.cookies[csrfCookie]
  const field = fields["csrf"]
  if (!isCsrfToken(cookie) || !isCsrfToken(field)) return false
  if (!Crypto.timingSafeEqual(Buffer.from(cookie), Buffer.from(field))) return false
  const site = request.headers["sec-fetch-site"]
  if (site !== undefined) return site === "same-origin"
  return request.headers["origin"] === undefined || request.headers["origin"] === origin
}

const tooMany = (waitMillis: number) => {
  const wait = seconds(waitMillis)
  return Page.unavailable(`Too many failed attempts; try again in ${wait} s.`, 429, { "retry-after": `${wait}` })
}

const failed = (error: PlatformError) =>
  Effect.logError("login could not be decided").pipe(
    Effect.annotateLogs("reason", error.message),
    Effect.as(
      error._tag === "PlatformFailure" && error.retryable
        ? Page.unavailable("The platform is busy; try again.", 503)
        : Page.unavailable("The platform failed; its log says why.", 500)
    )
  )
