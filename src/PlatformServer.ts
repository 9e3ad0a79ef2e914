/**
 * A platform over HTTP: `PlatformApi`, carried out by the `Platform` (or `Accounts`) that the authorization of a request
 * provides, on a server that is ready for the open internet behind a proxy that does TLS.
 *
 * ```ts
 * import { Effect, Layer } from "effect"
 * import type { AccountsAuthorization, PlatformAuthorization } from "effect-bench/PlatformApi"
 * import * as PlatformServer from "effect-bench/PlatformServer"
 *
 * const serve = (authorization: Layer.Layer<PlatformAuthorization | AccountsAuthorization>) =>
 *   Effect.gen(function* () {
 *     const server = yield* PlatformServer.PlatformServer
 *     yield* Effect.log(`listening on ${server.url}`)
 *     return yield* Effect.never
 *   }).pipe(Effect.provide(PlatformServer.layer({ port: 3000 }).pipe(Layer.provide(authorization))))
 * ```
 *
 * @since 0.1.0
 */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApp from "@effect/platform/HttpApp"
import type * as HttpRouter from "@effect/platform/HttpRouter"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Api from "./internal/server/api.js"
import type { MountedApp } from "./internal/server/app.js"
import * as Handlers from "./internal/server/handlers.js"
import type { ListenFailed } from "./internal/server/listener.js"
import * as Listener from "./internal/server/listener.js"
import type { ServerLimits, ServerTimeouts } from "./internal/server/settings.js"
import * as Settings from "./internal/server/settings.js"
import { start } from "./internal/server/start.js"
import type { AccountsAuthorization, PlatformAuthorization } from "./PlatformApi.js"

export type { MountedApp } from "./internal/server/app.js"
export { ListenFailed } from "./internal/server/listener.js"
export type { ServerLimits, ServerTimeouts } from "./internal/server/settings.js"

/**
 * Where a server listens, and what it serves besides the API.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlatformServerOptions {
  /** Default `127.0.0.1`: only this machine. */
  readonly host?: string | undefined
  /** Default 3000; 0 takes a free one. */
  readonly port?: number | undefined
  /** Where clients reach the server, without a slash at the end. Default: where it listens. */
  readonly publicUrl?: string | undefined
  /**
   * How many proxies of yours every request comes through, each of which adds the address that it sees to
   * `X-Forwarded-For`. Failed attempts to get in are counted by the address that the first of them saw. Default 0: that
   * header is not believed.
   */
  readonly trustedProxies?: number | undefined
  readonly limits?: ServerLimits | undefined
  readonly timeouts?: ServerTimeouts | undefined
  /** Fails when no request could be carried out, for instance since the database does not answer. Default: always ready. */
  readonly ready?: Effect.Effect<unknown, unknown> | undefined
  /** In the order in which they are asked. The paths of the API and of the server itself cannot be taken. */
  readonly apps?: ReadonlyArray<MountedApp> | undefined
}

/**
 * A server that is listening.
 *
 * @since 0.1.0
 * @category services
 */
export class PlatformServer extends Context.Tag("effect-bench/PlatformServer")<
  PlatformServer,
  {
    readonly host: string
    readonly port: number
    /** Where clients reach it. */
    readonly url: string
  }
>() {}

// -----------------------------------------------------------------------------
// the API
// -----------------------------------------------------------------------------

/**
 * The handlers of every group, for `HttpApiBuilder.api(PlatformApi)`.
 *
 * @since 0.1.0
 * @category layers
 */
export const handlers = Handlers.layer

/**
 * The API with its handlers. Whatever fails outside of them (a body that is not JSON, a field that does not fit, an
 * unknown route, a bug) is answered with a JSON body too, which tells nothing about the inside; bugs are logged.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerApi: Layer.Layer<HttpApi.Api, never, PlatformAuthorization | AccountsAuthorization> = Api.layer

/**
 * The whole API as one HTTP app, for any server; limits of size and time are left to that. Path parameters may have any
 * length and any characters.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<
  HttpApp.Default<never, HttpRouter.HttpRouter.DefaultServices>,
  never,
  PlatformAuthorization | AccountsAuthorization | Scope.Scope
> = Api.make

// -----------------------------------------------------------------------------
// the server
// -----------------------------------------------------------------------------

/**
 * Serves the API, `/openapi.json`, `/healthz` (the process is up), `/readyz` (requests can be carried out; 503 if not, and
 * while shutting down) and whatever else is mounted, until the scope closes. Then nothing new is accepted, requests that
 * are being carried out get their time, and all connections are closed. Fails with {@link ListenFailed}.
 *
 * Every answer is JSON, errors included; bodies may be compressed with gzip; each request leaves one line in the log.
 *
 * @since 0.1.0
 * @category running
 */
export const serve = (
  options: PlatformServerOptions = {}
): Effect.Effect<PlatformServer["Type"], ListenFailed, PlatformAuthorization | AccountsAuthorization | Scope.Scope> =>
  Effect.flatMap(
    Listener.open({
      host: options.host ?? "127.0.0.1",
      port: options.port ?? 3000,
      settings: Settings.make(options.limits, options.timeouts, options.trustedProxies)
    }),
    (listener) => start(listener, options)
  )

/**
 * The server as a layer; see {@link serve}.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: PlatformServerOptions = {}) => Layer.scoped(PlatformServer, serve(options))
