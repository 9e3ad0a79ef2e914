/** Everything a server answers: the API, whether it is alive and ready, and what else is mounted. */
import type * as Http from "node:http"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpRouter from "@effect/platform/HttpRouter"
import { RouteNotFound } from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { answerCause } from "../http/refusals.js"
import * as AccessLog from "./accessLog.js"
import type { BodyRefused } from "./answers.js"
import * as Answers from "./answers.js"
import * as Body from "./body.js"
import { BodyBudget } from "./bodyBudget.js"
import type { InFlight } from "./inFlight.js"
import * as Payloads from "./payloads.js"
import { BoundedRequest } from "./request.js"
import * as Routes from "./routes.js"
import type { Settings } from "./settings.js"

/**
 * Something else that a server serves below some paths: `/objects` stands for itself and whatever begins with `/objects/`,
 * `/` for everything.
 *
 * @since 0.1.0
 * @category models
 */
export interface MountedApp {
  readonly paths: ReadonlyArray<string>
  /** Sees requests as they are, prefix included. What fails with `RouteNotFound` is offered to the next app. */
  readonly app: HttpApp.Default<unknown, HttpRouter.HttpRouter.DefaultServices | Scope.Scope>
  /** The largest body that it takes, in bytes. Default: that of any request. */
  readonly bodyLimit?: number | undefined
}

/** What a server is made of. */
export interface AppOptions {
  readonly settings: Settings
  readonly inFlight: InFlight
  readonly api: HttpApp.Default<never, HttpRouter.HttpRouter.DefaultServices>
  readonly mounts: ReadonlyArray<MountedApp>
  /** Fails when no request could be carried out now. */
  readonly ready: Effect.Effect<unknown, unknown>
  /** The OpenAPI document. */
  readonly document: unknown
  /** Whether clients come by https. */
  readonly secure: boolean
}

/** The one app of a server. It never fails, and answers in JSON whatever goes wrong. */
export const make = (
  options: AppOptions
): HttpApp.Default<never, HttpRouter.HttpRouter.DefaultServices | Scope.Scope> => {
  const { settings, inFlight } = options
  const headers = securityHeaders(options.secure)
  const targets = makeTargets(options)
  const budget = new BodyBudget(settings.limits.bodies)

  const carryOut = (request: HttpServerRequest.HttpServerRequest, target: Target) => {
    const { idle, request: whole } = settings.timeouts
    const bounded = new BoundedRequest(
      request,
      { bytes: target.bodyLimit, idle, whole },
      target.refuseLarge,
      settings.proxies
    )
    const unfit = target.takesBody ? unfitBody(request, target) : undefined
    return unfit === undefined
      ? budget.within(
          heldBytes(request, target),
          Effect.provideService(target.app, HttpServerRequest.HttpServerRequest, bounded),
          Effect.succeed(Answers.busy)
        )
      : Effect.succeed(unfit)
  }

  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const startedAt = yield* Clock.currentTimeNanos
    const requestId = requestIdOf(request.headers["x-request-id"])
    const target = targets(request)
    const log = (status: number) =>
      Effect.flatMap(Clock.currentTimeNanos, (now) =>
        AccessLog.log({
          method: request.method,
          route: target.route,
          status,
          millis: Number(now - startedAt) / 1e6
        })
      )
    return yield* Effect.interruptible(carryOut(request, target)).pipe(
      Effect.catchAllCause(answerCause),
      Effect.map((response) =>
        finish(request, inFlight, withDefaults(response, { ...headers, "x-request-id": requestId }))
      ),
      Effect.tap((response) => log(response.status)),
      Effect.tapErrorCause(() => log(clientGone)),
      Effect.annotateLogs({ requestId })
    )
  }).pipe(inFlight.during)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Nobody sees this status but who reads the log. */
const clientGone = 499

const requestIdOf = (given: string | undefined): string =>
  given !== undefined && /^[\w.:+/=-]{1,128}$/.test(given) ? given : crypto.randomUUID()

// -----------------------------------------------------------------------------
// targets
// -----------------------------------------------------------------------------

/** Who answers a request, and what is asked of it before. */
interface Target {
  readonly route: string
  readonly app: HttpApp.Default<unknown, HttpRouter.HttpRouter.DefaultServices | Scope.Scope>
  readonly bodyLimit: number
  readonly takesBody: boolean
  readonly takesOnlyJson: boolean
  readonly refuseLarge?: (json: unknown) => BodyRefused | undefined
}

const makeTargets = ({ api, document, mounts, ready, settings, inFlight }: AppOptions) => {
  const { limits } = settings
  const answer = (response: HttpServerResponse.HttpServerResponse): HttpApp.Default<unknown> => Effect.succeed(response)
  const own = new Map<string, HttpApp.Default<unknown>>([
    ["/healthz", answer(HttpServerResponse.unsafeJson({ status: "ok" }))],
    ["/readyz", readiness(inFlight, ready)],
    ["/openapi.json", answer(HttpServerResponse.unsafeJson(document))]
  ])

  return (request: HttpServerRequest.HttpServerRequest): Target => {
    const path = Routes.pathOf(request.url)
    const common = { bodyLimit: limits.body, takesBody: false, takesOnlyJson: false }
    const here = own.get(path)
    if (here !== undefined) return { ...common, route: path, app: onlyGet(request.method, here) }
    const operation = Routes.find(request.method, path)
    if (operation !== undefined) {
      const { method, name, path: route } = operation
      const taking = { route, app: api, takesBody: method !== "GET", takesOnlyJson: true }
      // Batches of results have a check of their own.
      return name === "sendTaskResults"
        ? { ...taking, bodyLimit: limits.events }
        : { ...taking, bodyLimit: limits.body, refuseLarge: (json) => Payloads.refuse(name, json) }
    }
    const mounted = isApi(path) ? [] : mounts.filter(({ paths }) => paths.some((prefix) => isBelow(path, prefix)))
    const [first] = mounted
    if (first === undefined) return { ...common, route: Routes.patternOf(path) ?? unknownRoute, app: api }
    return {
      route: `${first.paths.find((prefix) => isBelow(path, prefix)) ?? ""}/*`.replace("//", "/"),
      app: mounted.reduceRight<HttpApp.Default<unknown, HttpRouter.HttpRouter.DefaultServices | Scope.Scope>>(
        (next, { app }) =>
          Effect.catchIf(
            app,
            (error) => error instanceof RouteNotFound,
            () => next
          ),
        api
      ),
      bodyLimit: first.bodyLimit ?? limits.body,
      takesBody: true,
      takesOnlyJson: false
    }
  }
}

const unknownRoute = "unknown"

const isApi = (path: string): boolean => isBelow(path, "/api/v1")

const isBelow = (path: string, prefix: string): boolean =>
  prefix === "/" || path === prefix || path.startsWith(`${prefix}/`)

const onlyGet = (method: string, app: HttpApp.Default<unknown>): HttpApp.Default<unknown> => {
  const allowed = Routes.withImplied(["GET"])
  if (method === "GET" || method === "HEAD") return app
  return Effect.succeed(method === "OPTIONS" ? Answers.options(allowed) : Answers.notAllowed(method, allowed))
}

const readiness = (inFlight: InFlight, ready: Effect.Effect<unknown, unknown>): HttpApp.Default<unknown> =>
  Effect.suspend(() =>
    inFlight.draining
      ? Effect.succeed(unready("The server is being shut down.", "draining"))
      : ready.pipe(
          Effect.timeout(readyTimeout),
          Effect.as(HttpServerResponse.unsafeJson({ status: "ready" })),
          Effect.catchAllCause((cause) =>
            Cause.isInterruptedOnly(cause)
              ? Effect.failCause(cause)
              : Effect.as(
                  Effect.logWarning("not ready", cause),
                  unready("The platform cannot be reached.", "unavailable")
                )
          )
        )
  )

const readyTimeout = "5 seconds"

const unready = (error: string, code: string) => Answers.refused(503, { error, code })

// -----------------------------------------------------------------------------
// requests
// -----------------------------------------------------------------------------

/** Why a body is not worth reading, which its headers tell. */
const unfitBody = (
  request: HttpServerRequest.HttpServerRequest,
  target: Target
): HttpServerResponse.HttpServerResponse | undefined => {
  const message = NodeHttpServerRequest.toIncomingMessage(request)
  if (!Body.isAnnounced(message)) return undefined
  if (Body.encodingOf(message.headers) === undefined) return Answers.unknownEncoding
  if (target.takesOnlyJson && !isJson(message.headers["content-type"])) return Answers.notJsonType
  return Body.announcedBytes(message.headers) > target.bodyLimit ? Answers.tooLarge(target.bodyLimit).answer : undefined
}

/** What a request may hold in memory: a body of unknown size, or one that grows when it is read, as much as it may be. */
const heldBytes = (request: HttpServerRequest.HttpServerRequest, target: Target): number => {
  const message = NodeHttpServerRequest.toIncomingMessage(request)
  if (!target.takesOnlyJson || !target.takesBody || !Body.isAnnounced(message)) return 0
  const isPlain = Body.encodingOf(message.headers) === "identity"
  return (isPlain && Body.announcedBytes(message.headers)) || target.bodyLimit
}

const isJson = (contentType = "application/json"): boolean => {
  const [type = "", ...parameters] = contentType
    .toLowerCase()
    .split(";")
    .map((part) => part.trim())
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length)
  return /^application\/(.+\+)?json$/.test(type) && (charset === undefined || /^"?(utf-?8|us-ascii)"?$/.test(charset))
}

// -----------------------------------------------------------------------------
// responses
// -----------------------------------------------------------------------------

const securityHeaders = (secure: boolean): Readonly<Record<string, string>> => ({
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  ...(secure && { "strict-transport-security": "max-age=31536000" })
})

const withDefaults = (
  response: HttpServerResponse.HttpServerResponse,
  defaults: Readonly<Record<string, string>>
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(response, { ...defaults, ...response.headers })

/** A body that is still to come but not longer than this is waited for, and the connection kept. */
const smallRest = 64 * 1024

/**
 * Ends the response only when the request has ended too: closing a connection on which data arrives resets it, and takes
 * the answer away from the client.
 */
const finish = (
  request: HttpServerRequest.HttpServerRequest,
  inFlight: InFlight,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const message = NodeHttpServerRequest.toIncomingMessage(request)
  const rest = Body.isAnnounced(message) && !message.complete ? Body.announcedBytes(message.headers) || Infinity : 0
  const closing =
    inFlight.draining || rest > smallRest ? HttpServerResponse.setHeader(response, "connection", "close") : response
  const { body } = closing
  if (rest === 0 || body._tag !== "Uint8Array") return closing
  return HttpServerResponse.setBody(closing, lingering(body, message))
}

const lingering = (body: HttpBody.Uint8Array, message: Http.IncomingMessage): HttpBody.HttpBody =>
  HttpBody.stream(
    Stream.concat(Stream.make(body.body), Stream.execute(Body.drain(message))),
    body.contentType,
    body.contentLength
  )
