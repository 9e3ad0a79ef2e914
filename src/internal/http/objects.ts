/** The bytes of artifacts, to and from the URLs that a platform hands out. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Platform } from "../../Platform.js"
import type { PlatformError } from "../platform/errors.js"
import { PlatformFailure } from "../platform/errors.js"
import { parseUrl } from "./address.js"
import type { Connection } from "./connection.js"
import { cutOff, isSuccess, readBeginning, tooSlow } from "./connection.js"
import type { Target } from "./failures.js"
import { fromAnswer, permanent } from "./failures.js"

/**
 * Uploads and downloads. Their URLs are the permission, and may be in a query: they are sent without credentials, to
 * whatever origin, and never appear in an error.
 */
export const make = (connection: Connection): Pick<Platform["Type"], "uploadArtifact" | "downloadArtifact"> => {
  const { requestTimeout, root, send } = connection

  const locate = (operation: string, text: string, artifact: string): Effect.Effect<[URL, Target], PlatformError> => {
    const url = parseUrl(text, root)
    const target = { operation, subject: { artifact }, host: url?.host ?? "" }
    if (url === undefined) return Effect.fail(permanent(target, `${root.host} gave a URL that is none`))
    if (url.protocol !== "https:" && url.protocol !== "http:") {
      return Effect.fail(
        permanent(target, `${root.host} keeps artifacts at ${url.protocol} URLs, which only it can reach`)
      )
    }
    return url.protocol === "http:" && root.protocol === "https:"
      ? Effect.fail(permanent(target, `${root.host} keeps artifacts at ${url.host} without https`))
      : Effect.succeed([url, target])
  }

  const execute = (target: Target, url: URL, request: HttpClientRequest.HttpClientRequest, limit: Duration.Duration) =>
    send(target, request).pipe(
      Effect.flatMap((response) => (isSuccess(response) ? Effect.succeed(response) : refused(target, url, response))),
      Effect.timeoutFail({ duration: limit, onTimeout: () => tooSlow(target) }),
      Effect.locally(HttpClient.currentTracerDisabledWhen, constTrue)
    )

  return {
    uploadArtifact: ({ artifact, artifactId, uploadUrl }, content) =>
      Effect.flatMap(locate("uploadArtifact", uploadUrl, artifactId), ([url, target]) =>
        execute(
          target,
          url,
          HttpClientRequest.put(url.href, {
            body: HttpBody.uint8Array(content, artifact.contentType ?? "application/octet-stream")
          }),
          Duration.sum(requestTimeout, Duration.seconds(content.byteLength / slowestBytesPerSecond))
        )
      ).pipe(Effect.flatMap(readBeginning), Effect.asVoid),

    downloadArtifact: ({ artifact, downloadUrl }) =>
      Effect.gen(function* () {
        const [url, target] = yield* locate("downloadArtifact", downloadUrl, artifact.id)
        const response = yield* execute(target, url, HttpClientRequest.get(url.href), requestTimeout)
        return response.stream.pipe(
          Stream.catchSome((error) => (error.reason === "EmptyBody" ? Option.some(Stream.empty) : Option.none())),
          Stream.mapError((error) => cutOff(target, error)),
          Stream.timeoutFail(() => tooSlow(target), requestTimeout)
        )
      }).pipe(Stream.unwrap)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Uploads get the time that a slow line takes for them, on top of the time for any request. */
const slowestBytesPerSecond = 65_536

// Storage refuses in its own words, about its URL: whoever is signed in has nothing to do with it.
const refused = (target: Target, url: URL, response: HttpClientResponse): Effect.Effect<never, PlatformError> =>
  Effect.gen(function* () {
    const answer = yield* readBeginning(response)
    const text = secretsOf(url).reduce((text, secret) => text.replaceAll(secret, "<redacted>"), answer.text)
    const error = yield* fromAnswer(target, { ...answer, text })
    switch (error._tag) {
      case "InvalidRequest":
      case "Unauthorized":
      case "ResourceConflict":
        return yield* new PlatformFailure({
          operation: target.operation,
          detail: `${target.host} refused with status ${answer.status}; the URL may have expired`,
          retryable: false,
          response: error.response
        })
      default:
        return yield* error
    }
  })

const secretsOf = (url: URL): ReadonlyArray<string> =>
  [url.href, url.pathname, ...url.searchParams.values()].filter((text) => text.length > 8)
