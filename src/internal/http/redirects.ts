/** Which redirects a client follows. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Either from "effect/Either"
import type { PlatformFailure } from "../platform/errors.js"
import { isSecure, parseUrl } from "./address.js"
import type { Target } from "./failures.js"
import { permanent } from "./failures.js"

/**
 * The request that an answer asks to send instead, undefined when it asks for none. Only what changes nothing is sent
 * elsewhere; credentials and whatever else the request says about its sender stay with the origin they are for.
 */
export const redirected = (
  target: Target,
  request: HttpClientRequest.HttpClientRequest,
  response: HttpClientResponse,
  redirects: number
): Either.Either<HttpClientRequest.HttpClientRequest | undefined, PlatformFailure> => {
  if (!statuses.has(response.status)) return Either.right(undefined)
  const from = parseUrl(request.url)
  const to = parseUrl(response.headers["location"] ?? "", from)
  const refuse = (why: string) => Either.left(permanent(target, `${target.host} ${why}`))
  if (from === undefined || to === undefined || response.headers["location"] === undefined) {
    return refuse(`answered ${response.status} without saying where to`)
  }
  if (request.method !== "GET") {
    return refuse(`redirects to ${to.origin}: only what reads is redirected, use that address as base URL`)
  }
  if (redirects >= maxRedirects) return refuse(`redirects more than ${maxRedirects} times`)
  if (!isSecure(to) || (from.protocol === "https:" && to.protocol !== "https:")) {
    return refuse(`redirects to ${to.origin}, which is not https`)
  }
  return Either.right(
    HttpClientRequest.get(
      to.href,
      from.origin === to.origin ? { headers: request.headers } : { headers: { accept: "application/json" } }
    )
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const statuses = new Set([301, 302, 303, 307, 308])

const maxRedirects = 5
