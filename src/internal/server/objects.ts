/** The bytes of artifacts: what answers the URLs of `Artifacts.layerSigned`. */
import type * as HttpApp from "@effect/platform/HttpApp"
import type { RequestError } from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { SignedOptions } from "../../Artifacts.js"
import type { PlatformFailure } from "../../Platform.js"
import * as Files from "../artifacts/files.js"
import { attachment, unknownType } from "../artifacts/headers.js"
import * as Secret from "../artifacts/secret.js"
import type { Permission } from "../artifacts/signedUrls.js"
import * as SignedUrls from "../artifacts/signedUrls.js"
import { answerCause, refuse } from "../http/refusals.js"
import * as Answers from "./answers.js"

/** Those of the storage that signs the URLs, and how much is taken. */
export interface ObjectsOptions extends Pick<SignedOptions, "directory" | "secret"> {
  /** The largest object, in bytes. Default 256 MiB. */
  readonly maxBytes?: number | undefined
}

/** To be mounted: the app sees paths as clients sent them. */
export interface ObjectsApp {
  readonly paths: ReadonlyArray<string>
  readonly app: HttpApp.Default<never, Scope.Scope>
  readonly bodyLimit: number
}

/**
 * Takes and gives objects, to and from whoever has a URL that is signed for it. Its answers that are no objects are JSON.
 * Fails when no secret is given and none can be kept.
 */
export const make = (options: ObjectsOptions): Effect.Effect<ObjectsApp, PlatformFailure> =>
  Effect.map(Secret.resolve(options.directory, options.secret), (secret) => {
    const bodyLimit = options.maxBytes ?? defaultMaxBytes

    const permitted = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        Option.filter(
          SignedUrls.verify(secret, request.url),
          ({ expires, method }) =>
            now < expires * 1000 && method === (request.method === "HEAD" ? "GET" : request.method)
        )
      )

    const app = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (request.method === "OPTIONS") return Answers.options(methods)
      if (!methods.includes(request.method)) return Answers.notAllowed(request.method, methods)
      const permission = yield* permitted(request)
      if (Option.isNone(permission)) return forbidden
      return yield* request.method === "PUT"
        ? take(options.directory, permission.value, bodyLimit, request)
        : give(options.directory, permission.value)
    })

    return { paths: [SignedUrls.objectsPath], app: Effect.catchAllCause(app, answerCause), bodyLimit }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const mebibyte = 1024 * 1024

const defaultMaxBytes = 256 * mebibyte

/** What of a body that is too large is waited for: a client that is still sending does not look for the answer. */
const maxExcess = 64 * mebibyte

const methods = ["GET", "HEAD", "PUT", "OPTIONS"]

// Which of these it is helps only those who have no permission.
const forbidden = Answers.refused(403, {
  error: "This URL is not good for this request, or not any more: ask the platform for another.",
  code: "forbidden"
})

const take = (
  directory: string,
  { contentType, objectKey }: Permission,
  limit: number,
  request: HttpServerRequest.HttpServerRequest
) => {
  const { "content-encoding": encoding, "content-length": length, "content-type": sentType = "" } = request.headers
  if (contentType !== undefined && sentType.trim() !== contentType) return Effect.succeed(forbidden)
  const announced = Number(length ?? NaN)
  if (announced > limit) return Effect.succeed(Answers.tooLarge(limit).answer)
  const content = request.stream.pipe(
    Stream.mapError(bodyRefused),
    checked(limit, encoding === undefined ? announced : NaN)
  )
  return Files.receive(directory, objectKey, content).pipe(
    Effect.interruptible,
    Effect.as(HttpServerResponse.empty({ status: 200 })),
    Effect.catchTags({ BodyRefused: ({ answer }) => Effect.succeed(answer), PlatformFailure: refuse })
  )
}

const give = (directory: string, { contentType, fileName, objectKey }: Permission) =>
  Files.open(directory, objectKey).pipe(
    Effect.map(({ content, size }) =>
      HttpServerResponse.stream(content, {
        contentType: contentType ?? unknownType,
        contentLength: size,
        headers: {
          ...(fileName !== undefined && { "content-disposition": attachment(fileName) }),
          "cache-control": "private, no-store",
          // Bytes from anyone, under the name of the server: a browser saves them and shows nothing.
          "content-security-policy": "sandbox; default-src 'none'",
          "x-content-type-options": "nosniff"
        }
      })
    ),
    Effect.catchAll(refuse)
  )

const bodyRefused = ({ cause }: RequestError): Answers.BodyRefused =>
  cause instanceof Answers.BodyRefused ? cause : Answers.cutOff

/** Fails when there is too much of a body, or less than was announced. */
const checked =
  (limit: number, announced: number) =>
  <E>(self: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | Answers.BodyRefused> =>
    Stream.suspend(() => {
      let size = 0
      const refused = Stream.suspend(() => {
        if (size > limit) return Stream.fail(Answers.tooLarge(limit))
        return size < announced ? Stream.fail(Answers.cutOff) : Stream.empty
      })
      return self.pipe(
        Stream.filterEffect((chunk) => {
          size += chunk.length
          return size > limit + maxExcess ? Effect.fail(Answers.tooLarge(limit)) : Effect.succeed(size <= limit)
        }),
        Stream.concat(refused)
      )
    })
