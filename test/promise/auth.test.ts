import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, beforeEach, vi } from "vitest"
import type { BenchmarkClient } from "../../src/promise.js"
import { AuthError, BenchmarkApiError, createApiClient, resolveAuth } from "../../src/promise.js"
import type { Home } from "../support/authServer.js"
import { AuthServer, ok, refuses, temporaryHome, tokenPath } from "../support/authServer.js"

const benchmarksPath = "/api/v1/benchmarks"

/** A platform that knows one token, and a home that a test saves credentials in. */
const signedInTo = (token: string) =>
  Effect.gen(function* () {
    const home = yield* temporaryHome
    yield* Effect.sync(() => vi.stubEnv("HOME", home.folder))
    const server = new AuthServer()
    server.script(benchmarksPath, [], ({ authorization }) =>
      authorization === `Bearer ${token}` ? ok({ items: [] }) : { status: 401, body: { error: "Invalid API key" } }
    )
    server.script(
      tokenPath,
      [ok({ access_token: "access-2", refresh_token: "refresh-2", expires_in: 3600 })],
      refuses("invalid_grant")
    )
    return { home, server, baseUrl: yield* server.serve }
  })

const save = (home: Home, baseUrl: string, entry: object, organization?: string) => {
  home.write("credentials.json", { version: 1, platforms: { [baseUrl]: entry } })
  home.write("config.json", { version: 1, baseUrl, platforms: { [baseUrl]: { organization } } })
}

const login = (expiresAt: string) => ({
  clientId: "client",
  accessToken: "access-1",
  refreshToken: "refresh-1",
  issuedAt: "2020-01-01T00:00:00.000Z",
  expiresAt
})

const past = "2020-01-01T01:00:00.000Z"
const future = "2999-01-01T00:00:00.000Z"

const rejection = (promise: Promise<unknown>): Effect.Effect<unknown> =>
  Effect.promise(() =>
    promise.then(
      (value) => assert.fail(`resolved with ${inspect(value)}`),
      (error: unknown) => error
    )
  )

const authorizations = (server: AuthServer) =>
  server.calls.filter(({ path }) => path === benchmarksPath).map(({ authorization }) => authorization)

const list = (client: BenchmarkClient) => Effect.promise(() => client.listBenchmarks())

beforeEach(() => {
  for (const name of ["TOKEN", "API_KEY", "URL"]) vi.stubEnv(`BENCHMARKS_PLATFORM_${name}`, "")
})

afterEach(() => {
  vi.unstubAllEnvs()
})

describe("resolveAuth", () => {
  it.scopedLive("takes what is given, else what is in the environment, else what is saved", () =>
    Effect.gen(function* () {
      const { baseUrl, home } = yield* signedInTo("none")
      save(home, baseUrl, { apiKey: "bp_saved" })
      const env = (name: string, value: string) => Effect.sync(() => vi.stubEnv(name, value))
      const resolved = (options: Parameters<typeof resolveAuth>[0]) => Effect.promise(() => resolveAuth(options))
      const everything = { apiKey: "bp_given", apiKeyEnv: "PROJECT_KEY", orgSlug: "acme" }

      yield* env("BENCHMARKS_PLATFORM_TOKEN", "t")
      yield* env("BENCHMARKS_PLATFORM_API_KEY", "bp_environment")
      yield* env("PROJECT_KEY", "bp_project")
      assert.deepStrictEqual(yield* resolved(everything), {
        baseUrl,
        source: "flag",
        apiKey: "bp_given",
        orgSlug: "acme"
      })
      assert.deepStrictEqual(yield* resolved({ apiKeyEnv: "PROJECT_KEY" }), {
        baseUrl,
        source: "environment:PROJECT_KEY",
        apiKey: "bp_project"
      })
      assert.strictEqual((yield* resolved({})).source, "environment:BENCHMARKS_PLATFORM_TOKEN")
      yield* env("BENCHMARKS_PLATFORM_TOKEN", "")
      assert.strictEqual((yield* resolved({})).source, "environment:BENCHMARKS_PLATFORM_API_KEY")
      yield* env("BENCHMARKS_PLATFORM_API_KEY", "")
      assert.deepStrictEqual(yield* resolved({}), { baseUrl, source: "saved key", apiKey: "bp_saved" })
      assert.strictEqual(
        (yield* resolved({ apiKey: "k", baseUrl: "https://a.test/api/v1/" })).baseUrl,
        "https://a.test"
      )
    })
  )

  it.scopedLive("refreshes a saved login, and keeps what it got", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* signedInTo("access-2")
      save(home, baseUrl, { login: login(past) }, "acme")
      assert.deepStrictEqual(yield* Effect.promise(() => resolveAuth()), {
        baseUrl,
        source: "login",
        token: "access-2",
        orgSlug: "acme"
      })
      assert.deepStrictEqual(
        server.forms(tokenPath).map(({ refresh_token }) => refresh_token),
        ["refresh-1"]
      )
      assert.include(home.read("credentials.json"), "refresh-2")
    })
  )

  it.scopedLive("says how to get credentials where there are none that can be used", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* signedInTo("none")
      const refused = function* (promise: Promise<unknown>) {
        const error = yield* rejection(promise)
        assert.instanceOf(error, AuthError)
        assert.strictEqual(error.name, "AuthError")
        return error
      }
      const none = yield* refused(resolveAuth({ baseUrl }))
      assert.match(none.message, /bench auth login/)
      assert.match((yield* refused(createApiClient())).message, /bench auth login/)

      const unusable = yield* refused(resolveAuth({ baseUrl, apiKey: "not a key" }))
      assert.notInclude(inspect(unusable, { depth: 10 }), "not a key")
      yield* refused(resolveAuth({ baseUrl: "http://a.test", apiKey: "k" }))

      home.write("credentials.json", "{")
      yield* refused(resolveAuth({ baseUrl }))

      save(home, baseUrl, { login: login(past) })
      server.script(tokenPath, [], refuses("invalid_grant"))
      const expired = yield* refused(resolveAuth({ baseUrl }))
      assert.match(expired.message, /bench auth login/)
      assert.notMatch(inspect(expired, { depth: 10 }), /access-1|refresh-1/)
    })
  )
})

describe("createApiClient", () => {
  it.scopedLive("asks with what is saved", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* signedInTo("bp_saved")
      save(home, baseUrl, { apiKey: "bp_saved" })
      const client = yield* Effect.promise(() => createApiClient())
      assert.deepStrictEqual(yield* list(client), { items: [] })
      assert.deepStrictEqual(authorizations(server), ["Bearer bp_saved"])
    })
  )

  it.scopedLive("refreshes a login that has expired once, by the fetch that it was given", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* signedInTo("access-2")
      save(home, baseUrl, { login: login(past) }, "acme")
      const sent: Array<readonly [string, string | null]> = []
      const noting: typeof fetch = (input, init) => {
        const request = new Request(input, init)
        sent.push([new URL(request.url).pathname, request.headers.get("x-org-slug")])
        return fetch(request)
      }
      const client = yield* Effect.promise(() => createApiClient({ fetch: noting }))
      assert.lengthOf(sent, 0)
      yield* Effect.all([list(client), list(client)], { concurrency: 2 })
      assert.sameDeepMembers(sent, [
        [tokenPath, null],
        [benchmarksPath, "acme"],
        [benchmarksPath, "acme"]
      ])
      assert.deepStrictEqual(authorizations(server), ["Bearer access-2", "Bearer access-2"])
      assert.notMatch(inspect(client, { depth: 10, showHidden: true }) + JSON.stringify(client), /access-|refresh-/)
    })
  )

  it.scopedLive("refreshes a login that the platform does not take any more, and asks again", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* signedInTo("access-2")
      save(home, baseUrl, { login: login(future) })
      const client = yield* Effect.promise(() => createApiClient())
      assert.deepStrictEqual(yield* list(client), { items: [] })
      assert.deepStrictEqual(authorizations(server), ["Bearer access-1", "Bearer access-2"])
    })
  )

  it.scopedLive("says to sign in again when a login has ended meanwhile", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* signedInTo("none")
      server.script(tokenPath, [], refuses("invalid_grant"))
      save(home, baseUrl, { login: login(past) })
      const client = yield* Effect.promise(() => createApiClient())
      const error = yield* rejection(client.listBenchmarks())
      assert.instanceOf(error, BenchmarkApiError)
      assert.match(error.message, /bench auth login/)
      assert.strictEqual(error.status, 0)
      assert.deepStrictEqual(authorizations(server), [])
      assert.notMatch(inspect(error, { depth: 10 }), /access-1|refresh-1/)
    })
  )
})
