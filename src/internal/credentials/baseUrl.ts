import * as Either from "effect/Either"
import { isSecure } from "../http/address.js"
import { CredentialsError } from "./errors.js"

/**
 * The root of a platform as it is kept and compared: without a slash at its end, without `/api/v1`. `subject` is where
 * the text comes from. The text is not repeated in errors: it may hold a password.
 */
export const parse = (text: string, subject: string): Either.Either<string, CredentialsError> => {
  const refuse = (detail: string) => Either.left(new CredentialsError({ reason: "InvalidBaseUrl", subject, detail }))
  const trimmed = text.trim()
  if (!URL.canParse(trimmed)) return refuse(`must be a URL such as ${defaultBaseUrl}`)
  const url = new URL(trimmed)
  if (url.protocol !== "https:" && url.protocol !== "http:") return refuse("must begin with https://")
  if (url.username !== "" || url.password !== "") return refuse("must not hold a user name or password")
  if (url.search !== "" || url.hash !== "") return refuse("must not hold a query or a fragment")
  if (!isSecure(url)) {
    return refuse(`credentials are sent to ${url.host} over https only; http is for this machine (localhost)`)
  }
  return Either.right(url.origin + url.pathname.replace(/\/+$/, "").replace(/\/api\/v1$/, ""))
}

/**
 * Root of the platform that is meant when none is named.
 *
 * @since 0.1.0
 * @category models
 */
export const defaultBaseUrl = "https://platform.computesdk.com"
