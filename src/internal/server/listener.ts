/** The sockets of a server: opening them, refusing what is no HTTP, and closing them without losing an answer. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import type * as HttpApp from "@effect/platform/HttpApp"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { messageOf } from "../json.js"
import { InFlight } from "./inFlight.js"
import type { Settings } from "./settings.js"

/**
 * A server cannot be opened: the port is in use or may not be used, or this machine does not have the address.
 *
 * @since 0.1.0
 * @category errors
 */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{
  readonly host: string
  readonly port: number
  readonly reason: "PortInUse" | "NotPermitted" | "NoSuchAddress" | "Other"
  readonly cause: unknown
}> {
  override get message(): string {
    const where = `${this.host.includes(":") ? `[${this.host}]` : this.host}:${this.port}`
    switch (this.reason) {
      case "PortInUse":
        return `Cannot listen on ${where}: the port is in use. Stop what listens there, or choose another port.`
      case "NotPermitted":
        return `Cannot listen on ${where}: this user may not use the port. Choose one from 1024 on.`
      case "NoSuchAddress":
        return `Cannot listen on ${where}: this machine does not have that address. Choose another host, such as 127.0.0.1.`
      case "Other":
        return `Cannot listen on ${where}: ${messageOf(this.cause)}`
    }
  }
}

/** Open sockets. Until it is started, every request is asked to come back. */
export interface Listener {
  readonly host: string
  readonly port: number
  readonly inFlight: InFlight
  readonly settings: Settings
  /**
   * Has requests answered until the scope closes. Then nothing new is accepted, what is being carried out gets its time,
   * and every connection is closed.
   */
  readonly start: <R>(
    app: HttpApp.Default<never, R>
  ) => Effect.Effect<void, never, Exclude<R, HttpServerRequest.HttpServerRequest | Scope.Scope> | Scope.Scope>
}

export const open = (options: {
  readonly host: string
  readonly port: number
  readonly settings: Settings
}): Effect.Effect<Listener, ListenFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const { settings } = options
    const server = yield* Effect.acquireRelease(
      Effect.sync(() => createServer(settings)),
      (server) => Effect.sync(() => close(server))
    )
    let handle: Handler = answerStarting
    const inFlight = new InFlight()
    const responses = new WeakMap<object, Http.ServerResponse>()
    const onRequest: Handler = (message, response) => {
      responses.set(message.socket, response)
      inFlight.enter()
      response.once("close", inFlight.leave)
      if (message.httpVersion === "1.1" && message.headers.host === undefined) answerHostless(message, response)
      else handle(message, response)
    }
    server.on("request", onRequest)
    server.on("checkContinue", onRequest)
    server.on("checkExpectation", (_message, response) => {
      answerRaw(response, 417, "The only expectation that can be met is 100-continue.", "expectation_failed")
    })
    server.on("clientError", (error, socket) => {
      refuseSocket(error, socket, responses.get(socket))
    })
    const { port } = yield* listen(server, options)
    return {
      host: options.host,
      port,
      inFlight,
      settings,
      start: (app) =>
        Effect.gen(function* () {
          const handler = yield* NodeHttpServer.makeHandler(app)
          yield* Effect.acquireRelease(
            Effect.sync(() => {
              handle = handler
            }),
            () => shutDown(server, inFlight, settings.timeouts.drain)
          )
        })
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Handler = (message: Http.IncomingMessage, response: Http.ServerResponse) => void

const createServer = ({ limits, timeouts }: Settings): Http.Server => {
  const headers = Duration.toMillis(timeouts.headers)
  const server = Http.createServer({
    headersTimeout: headers,
    // Bodies are timed where they are read: one that is streamed may take as long as its client keeps sending.
    requestTimeout: 0,
    keepAliveTimeout: Duration.toMillis(timeouts.keepAlive),
    connectionsCheckingInterval: Math.max(50, Math.min(1000, headers / 4)),
    maxHeaderSize: limits.headers,
    // Refused here, with a body.
    requireHostHeader: false,
    noDelay: true
  })
  // What neither sends nor takes anything: above all a client that does not read its answer.
  server.timeout = Duration.toMillis(timeouts.request)
  return server
}

const listen = (server: Http.Server, { host, port }: { readonly host: string; readonly port: number }) =>
  Effect.async<AddressInfo, ListenFailed>((resume) => {
    const onError = (cause: unknown) => {
      resume(Effect.fail(new ListenFailed({ host, port, reason: reasonOf(cause), cause })))
    }
    server.once("error", onError)
    server.listen({ host, port }, () => {
      server.off("error", onError)
      const address = server.address()
      if (typeof address === "object" && address !== null) resume(Effect.succeed(address))
    })
  })

const reasonOf = (cause: unknown): ListenFailed["reason"] => {
  switch (hasProperty(cause, "code") ? cause.code : undefined) {
    case "EADDRINUSE":
      return "PortInUse"
    case "EACCES":
    case "EPERM":
      return "NotPermitted"
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "NoSuchAddress"
    default:
      return "Other"
  }
}

// -----------------------------------------------------------------------------
// what is no request
// -----------------------------------------------------------------------------

const answerStarting: Handler = (_message, response) => {
  response.setHeader("retry-after", "1")
  answerRaw(response, 503, "The server is starting; try again.", "unavailable")
}

const answerHostless: Handler = (_message, response) => {
  answerRaw(response, 400, "The header host is missing.", "malformed_http")
}

const answerRaw = (response: Http.ServerResponse, status: number, error: string, code: string): void => {
  const text = JSON.stringify({ error, code })
  response.writeHead(status, { ...rawHeaders, "content-length": Buffer.byteLength(text) })
  response.end(text)
}

const rawHeaders = {
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  connection: "close"
}

/** Answers what cannot be parsed, unless an answer is on its way already. */
const refuseSocket = (error: Error, socket: Duplex, response: Http.ServerResponse | undefined): void => {
  const answered =
    response !== undefined && (response.headersSent || response.req.complete) && !response.writableFinished
  if (!socket.writable || answered || (hasProperty(error, "code") && error.code === "ECONNRESET")) {
    socket.destroy()
    return
  }
  const [status, reason, body] = malformed(hasProperty(error, "code") ? error.code : undefined)
  const text = JSON.stringify(body)
  const headers = { ...rawHeaders, "content-length": Buffer.byteLength(text) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${reason}`, ...lines, "", text].join("\r\n"), () => socket.destroy())
}

const malformed = (code: unknown): readonly [number, string, { readonly error: string; readonly code: string }] => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return [
        431,
        "Request Header Fields Too Large",
        { error: "The headers are too large.", code: "headers_too_large" }
      ]
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, "Request Timeout", { error: "The headers did not arrive in time.", code: "request_timeout" }]
    default:
      return [400, "Bad Request", { error: "The request cannot be read as HTTP.", code: "malformed_http" }]
  }
}

// -----------------------------------------------------------------------------
// shutting down
// -----------------------------------------------------------------------------

/** What is cut off still rolls back what it had begun. */
const unwindTime = Duration.seconds(2)

const close = (server: Http.Server): void => {
  server.close()
  server.closeAllConnections()
}

const shutDown = (server: Http.Server, inFlight: InFlight, limit: Duration.Duration): Effect.Effect<void> =>
  Effect.gen(function* () {
    inFlight.draining = true
    server.close()
    yield* Effect.logInfo("shutting down").pipe(Effect.annotateLogs({ requests: inFlight.size }))
    if (!(yield* within(limit, inFlight.idle))) {
      yield* Effect.logWarning("requests are cut off: they took too long to end")
    }
    server.closeAllConnections()
    yield* within(unwindTime, inFlight.idle)
  })

// Releases run uninterruptibly, which would make the one that takes longer decide.
const within = (limit: Duration.Duration, effect: Effect.Effect<void>): Effect.Effect<boolean> =>
  Effect.raceFirst(
    Effect.as(Effect.interruptible(effect), true),
    Effect.as(Effect.interruptible(Effect.sleep(limit)), false)
  )
