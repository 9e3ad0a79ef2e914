/** How a client's requests travel: with whose credentials, for how long, through which redirects. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { RequestError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { PlatformError } from "../platform/errors.js"
import { InvalidRequest, Unauthorized } from "../platform/errors.js"
import { parseUrl } from "./address.js"
import type { Refused, Target } from "./failures.js"
import { fromAnswer, permanent, reasonOf, transient } from "./failures.js"
import { redirected } from "./redirects.js"

type Request = HttpClientRequest.HttpClientRequest

export interface ConnectionOptions {
  readonly root: URL
  readonly credentials: Redacted.Redacted | Effect.Effect<Redacted.Redacted, Unauthorized>
  readonly invalidate: ((rejected: Redacted.Redacted) => Effect.Effect<boolean>) | undefined
  readonly organization: string | undefined
  readonly organizationId: string | undefined
  readonly requestTimeout: Duration.Duration
}

/** The way to one platform. */
export interface Connection {
  readonly root: URL
  readonly requestTimeout: Duration.Duration
  /** Sends a request with credentials, and reads the answer: a status other than 2xx is an error. */
  readonly exchange: (target: Target, request: Request) => Effect.Effect<ArrayBuffer, PlatformError>
  /** Sends a request as it is. Whatever is answered is yet to be read; the time that takes is not limited. */
  readonly send: (target: Target, request: Request) => Effect.Effect<HttpClientResponse, PlatformError>
}

export const make = (
  { credentials, invalidate, organization, organizationId, requestTimeout, root }: ConnectionOptions,
  httpClient: HttpClient.HttpClient
): Connection => {
  const key = Effect.filterOrElse(
    Effect.isEffect(credentials) ? credentials : Effect.succeed(credentials),
    (redacted) => headerText.test(Redacted.value(redacted)),
    () => unusableKey
  )

  const authorize = (request: Request, key: Redacted.Redacted) => {
    if (organization !== undefined && !headerText.test(organization)) return unusable("organization", "a slug")
    if (organizationId !== undefined && !headerText.test(organizationId)) return unusable("organizationId", "an id")
    return Effect.succeed(
      HttpClientRequest.setHeaders(request, {
        accept: "application/json",
        authorization: `Bearer ${Redacted.value(key)}`,
        ...(organization !== undefined && { "x-org-slug": organization }),
        ...(organizationId !== undefined && { "x-organization-id": organizationId })
      })
    )
  }

  const follow = (
    target: Target,
    request: Request,
    redirects: number
  ): Effect.Effect<HttpClientResponse, PlatformError> =>
    httpClient.execute(request).pipe(
      // A client may have been made to take some statuses for errors.
      Effect.catchTag("ResponseError", ({ response }) => Effect.succeed(response)),
      Effect.mapError((error) => unreachable(target, request, error)),
      Effect.flatMap((response) =>
        Effect.flatMap(redirected(target, request, response, redirects), (next) =>
          next === undefined
            ? Effect.succeed(response)
            : Effect.zipRight(readBeginning(response), follow(target, next, redirects + 1))
        )
      )
    )

  const send: Connection["send"] = (target, request) => withManualRedirects(follow(target, request, 0))

  const attempt = (target: Target, request: Request, key: Redacted.Redacted) =>
    Effect.flatMap(authorize(request, key), (authorized) =>
      send(target, authorized).pipe(
        Effect.flatMap((response) => readAnswer(target, response, Redacted.value(key))),
        Effect.timeoutFail({ duration: requestTimeout, onTimeout: () => tooSlow(target) })
      )
    )

  return {
    root,
    requestTimeout,
    send,
    exchange: Effect.fnUntraced(function* (target, request) {
      const first = yield* key
      return yield* attempt(target, request, first).pipe(
        Effect.catchIf(isUnauthenticated, (error) =>
          Effect.flatMap(invalidate === undefined ? Effect.succeed(false) : invalidate(first), (others) =>
            others ? Effect.flatMap(key, (next) => attempt(target, request, next)) : error
          )
        )
      )
    })
  }
}

export const tooSlow = (target: Target) => transient(target, `${target.host} did not answer in time`)

export const cutOff = (target: Target, error: unknown) =>
  transient(target, `the answer of ${target.host} was cut off (${reasonOf(error)})`)

export const isSuccess = (response: HttpClientResponse) => response.status >= 200 && response.status < 300

/** The beginning of a body, limited in size and in time: what there is of it by then. */
export const readBeginning = (response: HttpClientResponse): Effect.Effect<Refused> =>
  Effect.suspend(() => {
    const decoder = new TextDecoder()
    let text = ""
    return response.stream.pipe(
      Stream.runForEachWhile((chunk) =>
        Effect.sync(() => {
          text += decoder.decode(chunk, { stream: true })
          return text.length < maxRefusalLength
        })
      ),
      Effect.timeout(maxRefusalTime),
      Effect.ignore,
      Effect.map(() => ({
        status: response.status,
        text: text.slice(0, maxRefusalLength),
        retryAfter: response.headers["retry-after"]
      }))
    )
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxRefusalLength = 65_536

const maxRefusalTime = "5 seconds"

const headerText = /^[\x21-\x7e]+$/

const unusableKey = Effect.fail(
  new Unauthorized({ reason: "Unauthenticated", detail: "the key is empty, or has characters that no key has" })
)

const unusable = (field: string, what: string): Effect.Effect<never, InvalidRequest> =>
  Effect.fail(new InvalidRequest({ issues: [{ field, message: `must be ${what}: letters, digits and hyphens` }] }))

const unreachable = (target: Target, request: Request, error: RequestError) => {
  const host = parseUrl(request.url)?.host ?? target.host
  return error.reason === "Transport"
    ? transient(target, `cannot reach ${host} (${reasonOf(error)})`)
    : permanent(target, `cannot send the request to ${host} (${error.reason})`)
}

const isUnauthenticated = (error: PlatformError): error is Unauthorized =>
  error._tag === "Unauthorized" && error.reason === "Unauthenticated"

const readAnswer = (target: Target, response: HttpClientResponse, secret: string) =>
  isSuccess(response)
    ? Effect.mapError(response.arrayBuffer, (error) => cutOff(target, error))
    : Effect.flatMap(readBeginning(response), ({ text, ...refused }) =>
        Effect.flip(fromAnswer(target, { ...refused, text: withoutSecret(text, secret) }))
      )

// A server may repeat what it was sent. Anything shorter is no secret, but may be part of words.
const withoutSecret = (text: string, secret: string) =>
  secret.length < 8 ? text : text.replaceAll(secret, "<redacted>")

// `fetch` follows redirects by itself, by other rules, unless it is told not to.
const withManualRedirects = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(Effect.serviceOption(FetchHttpClient.RequestInit), (init) =>
    Effect.provideService(effect, FetchHttpClient.RequestInit, {
      ...Option.getOrElse(init, () => ({})),
      redirect: "manual"
    })
  )
