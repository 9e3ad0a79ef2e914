import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Redacted } from "effect"
import * as PlatformClient from "../src/PlatformClient.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import { suite } from "./contract/platform.js"
import * as PlatformHost from "./support/platformHost.js"

suite(
  "PlatformClient over HTTP",
  Layer.unwrapScoped(
    Effect.map(PlatformHost.fromLayer(SqlPlatform.layerMemory), ({ baseUrl }) =>
      PlatformClient.layer({ baseUrl, credentials: Redacted.make(PlatformHost.apiKey) })
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))
)
