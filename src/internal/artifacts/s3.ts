import * as Crypto from "node:crypto"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { Artifacts, S3Options } from "../../Artifacts.js"
import { PlatformFailure, ResourceNotFound } from "../../Platform.js"
import { isSuccess, readBeginning } from "../http/connection.js"
import { reasonOf } from "../http/failures.js"
import { expirySeconds, formatSeconds } from "./expiry.js"
import { attachment, headerType, unknownType } from "./headers.js"
import { refuseKey } from "./keys.js"
import type { Address } from "./s3Address.js"
import { addressOf, trimSlashes } from "./s3Address.js"
import * as S3Refusals from "./s3Refusals.js"
import * as SigV4 from "./sigV4.js"

/** Objects in a bucket. */
export const make = (options: S3Options): Effect.Effect<Artifacts["Type"], PlatformFailure, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const httpClient = yield* HttpClient.HttpClient
    const address = yield* Effect.mapError(addressOf(options), misconfigured)
    yield* requireKey(options)
    const expiry = yield* expirySeconds(opening, options)
    const prefix = trimSlashes(options.prefix ?? "")
    const send = makeSend(options, address, httpClient)

    const urlOf = (operation: string, objectKey: string) => {
      const key = prefix === "" ? objectKey : `${prefix}/${objectKey}`
      return Effect.as(refuseKey(operation, key), address.urlOf(key))
    }

    const presign = Effect.fnUntraced(function* (
      method: string,
      url: string,
      headers: Readonly<Record<string, string>>,
      seconds: number
    ) {
      const millis = yield* Clock.currentTimeMillis
      const request = { method, url, headers, region: address.region, millis }
      return {
        url: yield* SigV4.presign(options, request, seconds),
        expiresAt: formatSeconds(Math.floor(millis / 1000) + seconds)
      }
    })

    return {
      prepareUpload: Effect.fnUntraced(function* ({ contentType, objectKey }) {
        const url = yield* urlOf("prepare an upload", objectKey)
        const type = yield* headerType("prepare an upload", contentType)
        return yield* presign("PUT", url, type === undefined ? {} : { "content-type": type }, expiry.upload)
      }),

      prepareDownload: Effect.fnUntraced(function* ({ contentType, fileName, objectKey }) {
        const url = yield* urlOf("prepare a download", objectKey)
        const type = yield* headerType("prepare a download", contentType)
        const query = new URLSearchParams({
          "response-content-disposition": attachment(fileName),
          "response-content-type": type ?? unknownType
        })
        return yield* presign("GET", `${url}?${query}`, {}, expiry.download)
      }),

      write: Effect.fnUntraced(function* (objectKey, content) {
        const url = yield* urlOf(writing, objectKey)
        const response = yield* send(writing, "PUT", url, content)
        if (!isSuccess(response.answer)) return yield* (yield* response.refusal).failure
        yield* readBeginning(response.answer)
      }),

      read: (objectKey) =>
        Effect.gen(function* () {
          const url = yield* urlOf(reading, objectKey)
          const response = yield* send(reading, "GET", url)
          if (isSuccess(response.answer)) return contentOf(address, response.answer)
          const { code, failure, status } = yield* response.refusal
          return yield* status === 404 && (code ?? "NoSuchKey") === "NoSuchKey"
            ? new ResourceNotFound({ resource: "artifact", id: objectKey })
            : failure
        }).pipe(Stream.unwrap),

      remove: Effect.fnUntraced(function* (objectKey) {
        const url = yield* urlOf(removing, objectKey)
        const response = yield* send(removing, "DELETE", url)
        if (isSuccess(response.answer)) return yield* Effect.asVoid(readBeginning(response.answer))
        const { code, failure, status } = yield* response.refusal
        if (status !== 404 || (code ?? "NoSuchKey") !== "NoSuchKey") return yield* failure
      })
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const opening = "open the artifact storage"
const writing = "write an artifact"
const reading = "read an artifact"
const removing = "remove an artifact"

/** How long a storage may be silent. Uploads get the time that a slow line takes for them on top of it. */
const patience = Duration.minutes(1)

const slowestBytesPerSecond = 65_536

const misconfigured = (detail: string) => new PlatformFailure({ operation: opening, detail, retryable: false })

const requireKey = ({ accessKeyId, secretAccessKey }: S3Options) =>
  Redacted.value(accessKeyId) !== "" && Redacted.value(secretAccessKey) !== ""
    ? Effect.void
    : misconfigured("the access key id and the secret access key must not be empty")

const passingFailure = (operation: string, detail: string) =>
  new PlatformFailure({ operation, detail, retryable: true })

/** What a storage answered; what is said of a refusal is read when it is asked for. */
interface Answer {
  readonly answer: HttpClientResponse
  readonly refusal: Effect.Effect<S3Refusals.S3Refusal>
}

const makeSend = (options: S3Options, address: Address, httpClient: HttpClient.HttpClient) => {
  const { accessKeyId, secretAccessKey, sessionToken } = options
  const storage = `bucket ${options.bucket} at ${address.host}`
  // Anything shorter is no secret, but may be part of words.
  const secrets = [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])]
    .map(Redacted.value)
    .filter((text) => text.length >= 8)

  return Effect.fnUntraced(
    function* (operation: string, method: "GET" | "PUT" | "DELETE", url: string, content = new Uint8Array()) {
      const millis = yield* Clock.currentTimeMillis
      const headers = yield* SigV4.sign(options, {
        method,
        url,
        headers: {
          "x-amz-content-sha256": Crypto.createHash("sha256").update(content).digest("hex"),
          ...(method === "PUT" && { "content-type": unknownType })
        },
        region: address.region,
        millis
      })
      const request = HttpClientRequest.make(method)(url, {
        headers,
        ...(method === "PUT" && { body: HttpBody.uint8Array(content, unknownType) })
      })
      const answer = yield* httpClient.execute(request).pipe(
        // A client may have been made to take some statuses for errors.
        Effect.catchTag("ResponseError", ({ response }) => Effect.succeed(response)),
        Effect.mapError((error) => passingFailure(operation, `cannot reach ${address.host} (${reasonOf(error)})`)),
        Effect.timeoutFail({
          duration: Duration.sum(patience, Duration.seconds(content.byteLength / slowestBytesPerSecond)),
          onTimeout: () => passingFailure(operation, `${address.host} did not answer in time`)
        })
      )
      const response: Answer = { answer, refusal: S3Refusals.read(operation, storage, secrets, answer) }
      return response
    },
    // Signed for one address: nothing is sent elsewhere, and nobody is told what the headers are.
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.locally(HttpClient.currentTracerDisabledWhen, constTrue)
  )
}

const contentOf = (address: Address, response: HttpClientResponse): Stream.Stream<Uint8Array, PlatformFailure> =>
  response.stream.pipe(
    Stream.catchSome((error) => (error.reason === "EmptyBody" ? Option.some(Stream.empty) : Option.none())),
    Stream.mapError((error) =>
      passingFailure(reading, `the answer of ${address.host} was cut off (${reasonOf(error)})`)
    ),
    Stream.timeoutFail(() => passingFailure(reading, `${address.host} did not answer in time`), patience)
  )
