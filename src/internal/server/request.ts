/** A request whose body is bounded in size and in time, and decompressed. */
import type * as Http from "node:http"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import { RequestError } from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Multipart from "@effect/platform/Multipart"
import * as UrlParams from "@effect/platform/UrlParams"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { BodyRefused } from "./answers.js"
import { notJson } from "./answers.js"
import type { BodyLimits } from "./body.js"
import * as Body from "./body.js"
import { clientAddress } from "./clientAddress.js"
import * as Payloads from "./payloads.js"

/**
 * A request to node:http. Its body can be read once, as a whole or as a stream; whatever is wrong with it is a
 * `RequestError` with a {@link BodyRefused} as its cause. A client that asks first (`Expect: 100-continue`) is told to go on
 * when the body is read.
 */
export class BoundedRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId

  private readonly message: Http.IncomingMessage

  constructor(
    private readonly inner: HttpServerRequest.HttpServerRequest,
    private readonly limits: BodyLimits,
    /** Why a large body in JSON is not wanted. */
    private readonly refuseLarge: (json: unknown) => BodyRefused | undefined = () => undefined,
    /** How many proxies stand before the server. */
    private readonly proxies = 0
  ) {
    super()
    this.message = NodeHttpServerRequest.toIncomingMessage(inner)
  }

  get source() {
    return this.inner.source
  }

  get url() {
    return this.inner.url
  }

  get originalUrl() {
    return this.inner.originalUrl
  }

  get method() {
    return this.inner.method
  }

  get headers() {
    return this.inner.headers
  }

  get cookies() {
    return this.inner.cookies
  }

  get remoteAddress() {
    return Option.fromNullable(clientAddress(this.message, this.proxies))
  }

  get text(): Effect.Effect<string, RequestError> {
    return Effect.flatMap(this.chunks, (chunks) => {
      const text = Body.decodeText(chunks)
      return text === undefined ? Effect.fail(this.refuse(notJson)) : Effect.succeed(text)
    })
  }

  /** No body at all reads as an object without fields. */
  get json(): Effect.Effect<unknown, RequestError> {
    return Effect.flatMap(this.text, (text) => {
      if (text === "") return Effect.succeed({})
      return Effect.flatMap(
        Effect.try({ try: (): unknown => JSON.parse(text), catch: () => this.refuse(notJson) }),
        (json) => {
          const refused = text.length >= Payloads.largeSize ? this.refuseLarge(json) : undefined
          return refused === undefined ? Effect.succeed(json) : Effect.fail(this.refuse(refused))
        }
      )
    })
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, RequestError> {
    return Effect.map(this.text, (text) => UrlParams.fromInput(new URLSearchParams(text)))
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, RequestError> {
    return Effect.map(this.chunks, (chunks) => Uint8Array.from(Buffer.concat(chunks)).buffer)
  }

  get stream(): Stream.Stream<Uint8Array, RequestError> {
    return Stream.unwrap(
      Effect.as(
        this.goOn,
        Stream.mapError(Body.stream(this.message, this.limits), (refused) => this.refuse(refused))
      )
    )
  }

  get multipart() {
    return Effect.fail(noMultipart)
  }

  get multipartStream() {
    return Stream.fail(noMultipart)
  }

  get upgrade() {
    return this.inner.upgrade
  }

  modify(options: Parameters<HttpServerRequest.HttpServerRequest["modify"]>[0]): HttpServerRequest.HttpServerRequest {
    return new BoundedRequest(this.inner.modify(options), this.limits, this.refuseLarge)
  }

  toJSON(): unknown {
    return this.inner.toJSON()
  }

  private get chunks(): Effect.Effect<ReadonlyArray<Buffer>, RequestError> {
    return Effect.zipRight(
      this.goOn,
      Effect.mapError(Body.readAll(this.message, this.limits), (refused) => this.refuse(refused))
    )
  }

  private get goOn(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (this.headers["expect"] !== undefined && Body.announcedBytes(this.message.headers) <= this.limits.bytes) {
        NodeHttpServerRequest.toServerResponse(this.inner).writeContinue()
      }
    })
  }

  private refuse(refused: BodyRefused): RequestError {
    return new RequestError({ request: this, reason: "Decode", cause: refused, description: refused.error })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const noMultipart = new Multipart.MultipartError({
  reason: "Parse",
  cause: new Error("Forms with files are not taken.")
})
