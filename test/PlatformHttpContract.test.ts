import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
import * as PlatformClient from "../src/PlatformClient.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import { suite } from "./contract/platform.js"
import * as PlatformHost from "./support/platformHost.js"

const overHttp = Layer.unwrapScoped(
  Effect.map(PlatformHost.fromLayer(SqlPlatform.layerMemory), ({ baseUrl }) =>
    PlatformClient.layer({ baseUrl, credentials: Redacted.make(PlatformHost.apiKey) })
  )
)

suite("PlatformClient over fetch", Layer.provide(overHttp, FetchHttpClient.layer))
suite("PlatformClient over node:http", Layer.provide(overHttp, NodeHttpClient.layer))
