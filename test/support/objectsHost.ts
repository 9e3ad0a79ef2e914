import * as Http from "node:http"
import type { HttpClient } from "@effect/platform"
import { FetchHttpClient, HttpServerRequest } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { Context, Effect, Layer, Redacted } from "effect"
import type { Artifacts } from "../../src/Artifacts.js"
import type { ObjectsApp } from "../../src/internal/server/objects.js"
import { Platform } from "../../src/Platform.js"
import { AccountsAuthorization, PlatformAuthorization, refusal } from "../../src/PlatformApi.js"
import * as PlatformClient from "../../src/PlatformClient.js"
import * as PlatformServer from "../../src/PlatformServer.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"

const apiKey = "bp_test_0123456789abcdef"

/** A server on a port of its own, on the clock of whoever starts it, without anything to answer yet. */
export const listen = Effect.gen(function* () {
  const server = yield* NodeHttpServer.make(() => Http.createServer(), { port: 0, host: "127.0.0.1" })
  const port = server.address._tag === "TcpAddress" ? server.address.port : 0
  return { baseUrl: `http://127.0.0.1:${port}`, port, serve: server.serve }
})

/** A key for one platform, and none for accounts. */
export const authorization = (platform: Platform["Type"]) => {
  const refused = refusal("Unauthenticated", { error: "Invalid API key" })
  return Layer.merge(
    Layer.succeed(PlatformAuthorization, {
      bearer: (key) => (Redacted.value(key) === apiKey ? Effect.succeed(platform) : Effect.fail(refused))
    }),
    Layer.succeed(AccountsAuthorization, { bearer: () => Effect.fail(refused) })
  )
}

/** The client of a platform over HTTP that keeps its artifacts in a storage, which may have an app on the same server. */
export const client = <E, E2>(
  open: (baseUrl: string) => {
    readonly storage: Layer.Layer<Artifacts, E, HttpClient.HttpClient>
    readonly objects?: Effect.Effect<ObjectsApp, E2>
  }
) =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const { baseUrl, serve } = yield* listen
      const { objects, storage } = open(baseUrl)
      const database = SqliteClient.layer({ filename: ":memory:" })
      const platform = Context.get(
        yield* Layer.build(SqlPlatform.layer.pipe(Layer.provide([database, storage]))),
        Platform
      )
      const api = yield* Effect.provide(PlatformServer.make, authorization(platform))
      const mounted = objects === undefined ? undefined : yield* objects
      const app = Effect.gen(function* () {
        const { url } = yield* HttpServerRequest.HttpServerRequest
        if (mounted?.paths.some((path) => url.startsWith(`${path}/`)) === true) return yield* mounted.app
        return yield* api
      })
      yield* Effect.provide(serve(app), NodeHttpServer.layerContext)
      return PlatformClient.layer({ baseUrl, credentials: Redacted.make(apiKey) })
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
