/** Where requests go, and how the parts of a path are written. */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { InvalidRequest } from "../platform/errors.js"
import type { Issue } from "../platform/validation.js"

/** The origin and path of a platform, without `/api/v1` and without a slash at the end. */
export const parseBaseUrl = (baseUrl: string): Either.Either<URL, InvalidRequest> => {
  const url = parseUrl(baseUrl)
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return refused("baseUrl", "must be a URL like https://platform.example.com")
  }
  if (url.username !== "" || url.password !== "") {
    return refused("baseUrl", "must not contain a user name or password: pass a key instead")
  }
  if (!isSecure(url)) {
    return refused("baseUrl", `must start with https: a key is not sent in the clear to ${url.host}`)
  }
  url.search = ""
  url.hash = ""
  url.pathname = url.pathname.replace(/\/+$/, "").replace(/\/api\/v1$/, "")
  return Either.right(url)
}

export const parseUrl = (text: string, base?: URL): URL | undefined =>
  Option.getOrUndefined(Option.liftThrowable(() => new URL(text, base))())

/** A URL as text without the slash that stands for an empty path. */
export const formatUrl = (url: URL): string => url.href.replace(/\/$/, "")

/** Whether what is sent there cannot be read on the way. */
export const isSecure = (url: URL): boolean => url.protocol === "https:" || isLoopback(url.hostname)

/** Encodes the parts of a path: each becomes one segment, whatever characters it has. */
export const encodePath = <K extends string>(
  parts: Readonly<Record<K, string>>
): Either.Either<Record<K, string>, InvalidRequest> => {
  const issues = Record.toEntries<string, string>(parts).flatMap(([field, part]) => unfit(field, part))
  return issues.length === 0
    ? Either.right(Record.map(parts, encodeURIComponent))
    : Either.left(new InvalidRequest({ issues }))
}

/** Step names as one parameter; an empty list asks for all of them, as an absent one does. */
export const encodeNames = (
  field: string,
  names: ReadonlyArray<string> | undefined
): Either.Either<ReadonlyArray<string> | undefined, InvalidRequest> => {
  if (names === undefined || names.length === 0) return Either.right(undefined)
  const issues = names.flatMap((name, index): ReadonlyArray<Issue> => {
    const at = `${field}[${index}]`
    if (name === "") return [{ field: at, message: "must be a non-empty string" }]
    return name.includes(",") ? [{ field: at, message: `must not contain a comma (got "${name}")` }] : []
  })
  return issues.length === 0 ? Either.right(names) : Either.left(new InvalidRequest({ issues }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const refused = (field: string, message: string) => Either.left(new InvalidRequest({ issues: [{ field, message }] }))

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)

const unfit = (field: string, part: string): ReadonlyArray<Issue> => {
  if (part === "") return [{ field, message: "must be a non-empty string" }]
  // URLs give these two a meaning of their own, encoded or not.
  if (part === "." || part === "..") return [{ field, message: `must not be "${part}"` }]
  if (field === "benchmark" && part === "runs") {
    return [{ field, message: `must not be "runs": that is where a platform lists the runs of all benchmarks` }]
  }
  return /\p{Surrogate}/u.test(part) ? [{ field, message: "must be valid Unicode" }] : []
}
