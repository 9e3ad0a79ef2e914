/** A server on sockets that are open already. */
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AccountsAuthorization, PlatformAuthorization } from "../../PlatformApi.js"
import { openApi } from "../../PlatformApi.js"
import * as Api from "./api.js"
import type { MountedApp } from "./app.js"
import * as App from "./app.js"
import type { Listener } from "./listener.js"
import * as Routes from "./routes.js"

export interface StartOptions {
  readonly publicUrl?: string | undefined
  readonly ready?: Effect.Effect<unknown, unknown> | undefined
  readonly apps?: ReadonlyArray<MountedApp> | undefined
}

/** Where a server is, and where its clients reach it. */
export interface Started {
  readonly host: string
  readonly port: number
  readonly url: string
}

/** Answers requests until the scope closes. */
export const start = (
  listener: Listener,
  options: StartOptions
): Effect.Effect<Started, never, PlatformAuthorization | AccountsAuthorization | Scope.Scope> =>
  Effect.gen(function* () {
    const { host, inFlight, port, settings } = listener
    const url = (options.publicUrl ?? localUrl(listener)).replace(/\/+$/, "")
    const app = App.make({
      settings,
      inFlight,
      api: yield* Api.make,
      mounts: options.apps ?? [],
      ready: options.ready ?? Effect.void,
      document: { ...openApi(), servers: [{ url }] },
      secure: url.startsWith("https:")
    })
    yield* listener.start(app).pipe(
      Effect.locally(
        HttpMiddleware.currentTracerDisabledWhen,
        ({ method, url }) => Routes.find(method, Routes.pathOf(url)) === undefined
      ),
      Effect.provide(NodeHttpServer.layerContext)
    )
    return { host, port, url }
  })

/** How clients on the same machine reach it. */
export const localUrl = ({ host, port }: { readonly host: string; readonly port: number }): string => {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`
}
