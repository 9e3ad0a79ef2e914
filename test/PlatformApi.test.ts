import { HttpApi } from "@effect/platform"
import { assert, describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { Accounts } from "../src/Accounts.js"
import { Platform } from "../src/Platform.js"
import { openApi, PlatformApi } from "../src/PlatformApi.js"
import * as SqlPlatform from "../src/SqlPlatform.js"

const endpoints = (() => {
  const found = new Map<string, { readonly route: string; readonly statuses: ReadonlyArray<number> }>()
  HttpApi.reflect(PlatformApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, successes }) => {
      found.set(endpoint.name, { route: `${endpoint.method} ${endpoint.path}`, statuses: [...successes.keys()] })
    }
  })
  return found
})()

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)])
  )
}

const accountsOperations: Readonly<Record<keyof Accounts["Type"], true>> = {
  me: true,
  organizations: true,
  activate: true
}

describe("PlatformApi", () => {
  it("the OpenAPI document is the published one", async () => {
    await expect(`${JSON.stringify(sorted(openApi()), null, 2)}\n`).toMatchFileSnapshot("snapshots/openapi.json")
  })

  it("the document says nothing of errors that are never answered", () => {
    const text = JSON.stringify(openApi())
    assert.notInclude(text, "HttpApiDecodeError")
    assert.notInclude(text, `"_tag"`)
  })

  it.effect("every operation of Platform and Accounts is an endpoint, but for the transfer of bytes", () =>
    Effect.gen(function* () {
      const platform = Context.get(yield* Layer.build(SqlPlatform.layerMemory), Platform)
      const apart = new Set(["origin", "uploadArtifact", "downloadArtifact"])
      const operations = Object.keys(platform).filter((name) => !apart.has(name))
      assert.deepStrictEqual([...endpoints.keys()].sort(), [...operations, ...Object.keys(accountsOperations)].sort())
    }).pipe(Effect.scoped)
  )

  it("creating a run answers 201, taking results 202, everything else 200", () => {
    const others = [...endpoints].filter(([, { statuses }]) => statuses.join() !== "200")
    assert.deepStrictEqual(
      others.map(([name, { statuses }]) => [name, ...statuses]),
      [
        ["createRun", 201],
        ["sendTaskResults", 202]
      ]
    )
  })

  it("routes are those of the protocol", () => {
    const run = "/api/v1/benchmarks/:benchmark/runs/:run"
    const worker = `${run}/participants/:participant/workers/:worker`
    assert.deepStrictEqual(
      ["listAllRuns", "claimWorker", "sendTaskResults", "getArtifact", "taskBuckets", "activate"].map(
        (name) => endpoints.get(name)?.route
      ),
      [
        "GET /api/v1/benchmarks/runs",
        `POST ${run}/participants/:participant/workers/claim`,
        `POST ${worker}/events`,
        `GET ${run}/artifacts/:artifact`,
        `GET ${run}/results/tasks`,
        "POST /api/v1/organizations"
      ]
    )
  })
})
