/** The API as one HTTP app, for any server. */
import type * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { AccountsAuthorization, PlatformAuthorization } from "../../PlatformApi.js"
import { PlatformApi } from "../../PlatformApi.js"
import { answerCause } from "../http/refusals.js"
import * as Handlers from "./handlers.js"

export const layer: Layer.Layer<HttpApi.Api, never, PlatformAuthorization | AccountsAuthorization> = HttpApiBuilder.api(
  PlatformApi
).pipe(
  Layer.provide(Handlers.layer),
  Layer.merge(HttpApiBuilder.middleware(PlatformApi, (app) => Effect.catchAllCause(app, answerCause)))
)

export const make: Effect.Effect<
  HttpApp.Default<never, HttpRouter.HttpRouter.DefaultServices>,
  never,
  PlatformAuthorization | AccountsAuthorization | Scope.Scope
> = Layer.build(Layer.mergeAll(layer, HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer)).pipe(
  Effect.flatMap((context) => Effect.provide(HttpApiBuilder.httpApp, context)),
  HttpRouter.withRouterConfig({
    maxParamLength: Number.MAX_SAFE_INTEGER,
    caseSensitive: true,
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false
  })
)
