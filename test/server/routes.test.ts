import { HttpApi, HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { openApi, PlatformApi } from "../../src/PlatformApi.js"
import type { MountedApp } from "../../src/PlatformServer.js"
import type { Answer } from "./support.js"
import { ask, capturingLogs, connect, eventsPath, raw, serve } from "./support.js"

// -----------------------------------------------------------------------------
// support
// -----------------------------------------------------------------------------

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/** The methods of every route. */
const routes: ReadonlyMap<string, ReadonlySet<string>> = (() => {
  const found = new Map<string, Set<string>>()
  HttpApi.reflect(PlatformApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      found.set(endpoint.path, (found.get(endpoint.path) ?? new Set()).add(endpoint.method))
    }
  })
  return found
})()

/** Of a route, and of those whose parameter may be called like a part of it. */
const allowedAt = (route: string): ReadonlySet<string> => {
  const parts = route.split("/")
  const isSame = (other: string) =>
    other.split("/").length === parts.length &&
    other.split("/").every((part, index) => part === parts[index] || (part.startsWith(":") && parts[index] !== ""))
  return new Set([...routes].flatMap(([other, methods]) => (isSame(other) ? [...methods] : [])))
}

const pathOf = (route: string) => route.replace(/:\w+/g, "some%20name")

const listed = (answer: Answer | undefined) => new Set(answer?.headers.get("allow")?.split(", "))

const securityHeaders = [
  "cache-control",
  "content-security-policy",
  "cross-origin-resource-policy",
  "referrer-policy",
  "x-content-type-options",
  "x-frame-options",
  "x-request-id"
]

const echo: MountedApp["app"] = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, url }) =>
  Effect.succeed(HttpServerResponse.unsafeJson({ method, url }))
)

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

describe("routes", () => {
  it.scoped("asked for in another way, every route says which there are", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      assert.isAbove(routes.size, 20)
      for (const route of routes.keys()) {
        const allowed = allowedAt(route)
        const expected = new Set([...allowed, ...(allowed.has("GET") ? ["HEAD"] : []), "OPTIONS"])
        for (const method of methods.filter((method) => !allowed.has(method))) {
          const answer = yield* ask(server, pathOf(route), { method })
          assert.strictEqual(answer.status, 405, `${method} ${route}`)
          assert.propertyVal(answer.body, "code", "method_not_allowed")
          assert.deepStrictEqual(listed(answer), expected, `${method} ${route}`)
        }
        const options = yield* ask(server, pathOf(route), { method: "OPTIONS" })
        assert.strictEqual(options.status, 204)
        assert.deepStrictEqual(listed(options), expected)
        assert.isNull(options.headers.get("access-control-allow-origin"))
      }
    })
  )

  it.scoped("the server's own paths are only read", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      for (const path of ["/healthz", "/readyz", "/openapi.json"]) {
        const answer = yield* ask(server, path, { method: "POST", body: "{}" })
        assert.strictEqual(answer.status, 405)
        assert.strictEqual(answer.headers.get("allow"), "GET, HEAD, OPTIONS")
        assert.strictEqual((yield* ask(server, path, { method: "OPTIONS" })).status, 204)
      }
    })
  )

  it.scoped("what may be read may be asked for without its body", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      for (const path of ["/healthz", "/api/v1/benchmarks/x", "/openapi.json"]) {
        const get = yield* ask(server, path)
        const head = yield* ask(server, path, { method: "HEAD" })
        assert.strictEqual(head.status, get.status)
        assert.strictEqual(head.text, "")
        assert.strictEqual(head.headers.get("content-length"), get.headers.get("content-length"))
      }
    })
  )

  it.scoped("what is nowhere is not found, in JSON", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      for (const path of [
        "/",
        "/api",
        "/api/v2/me",
        "/api/v1/benchmarks/x/",
        "/api/v1/benchmarks/%zz/x",
        "//",
        "/healthz/"
      ]) {
        const answer = yield* ask(server, path)
        assert.strictEqual(answer.status, 404, path)
        assert.propertyVal(answer.body, "code", "route_not_found")
      }
    })
  )

  it.scoped("every answer says that it is only for who asked", () =>
    Effect.gen(function* () {
      const server = yield* serve({ platform: { getBenchmark: () => Effect.die("bug") } })
      for (const [method, path] of [
        ["GET", "/healthz"],
        ["GET", "/api/v1/benchmarks"],
        ["GET", "/api/v1/benchmarks/x"],
        ["GET", "/nothing"],
        ["DELETE", "/api/v1/benchmarks"],
        ["OPTIONS", "/api/v1/benchmarks"]
      ] as const) {
        const { headers } = yield* ask(server, path, { method })
        assert.deepStrictEqual(
          securityHeaders.filter((name) => !headers.has(name)),
          []
        )
      }
    })
  )

  it.scoped("the document is the published one, with the address of the server", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const { body } = yield* ask(server, "/openapi.json")
      assert.deepStrictEqual<unknown>(body, {
        ...JSON.parse(JSON.stringify(openApi())),
        servers: [{ url: server.url }]
      })
    })
  )

  it.scoped("a server that cannot work says so, and why only to its log", () =>
    capturingLogs((lines) =>
      Effect.gen(function* () {
        const server = yield* serve({ ready: Effect.fail("no database at secret.internal") })
        const answer = yield* ask(server, "/readyz")
        assert.strictEqual(answer.status, 503)
        assert.deepStrictEqual(answer.body, { error: "The platform cannot be reached.", code: "unavailable" })
        assert.include(lines.join("\n"), "secret.internal")
        assert.strictEqual((yield* ask(server, "/healthz")).status, 200)
      })
    )
  )
})

describe("mounted apps", () => {
  it.scoped("an app gets what is at its paths, as it was sent", () =>
    Effect.gen(function* () {
      const server = yield* serve({ apps: [{ paths: ["/a", "/b/c"], app: echo }] })
      for (const path of ["/a", "/a/x?y=1", "/b/c/"]) {
        assert.deepStrictEqual((yield* ask(server, path)).body, { method: "GET", url: path })
      }
      for (const path of ["/ab", "/b", "/b/d"]) assert.strictEqual((yield* ask(server, path)).status, 404)
    })
  )

  it.scoped("what an app does not know is offered to the next", () =>
    Effect.gen(function* () {
      const first = HttpRouter.empty.pipe(HttpRouter.get("/a/first", Effect.succeed(HttpServerResponse.text("first"))))
      const server = yield* serve({
        apps: [
          { paths: ["/a"], app: first },
          { paths: ["/"], app: HttpRouter.empty.pipe(HttpRouter.get("/a/second", HttpServerResponse.text("second"))) }
        ]
      })
      assert.strictEqual((yield* ask(server, "/a/first")).text, "first")
      assert.strictEqual((yield* ask(server, "/a/second")).text, "second")
      assert.propertyVal((yield* ask(server, "/a/third")).body, "code", "route_not_found")
    })
  )

  it.scoped("no app gets what belongs to the server", () =>
    Effect.gen(function* () {
      const server = yield* serve({ apps: [{ paths: ["/", "/api/v1", "/healthz"], app: echo }] })
      assert.deepStrictEqual((yield* ask(server, "/healthz")).body, { status: "ok" })
      assert.strictEqual((yield* ask(server, "/api/v1/nothing")).status, 404)
      assert.strictEqual((yield* ask(server, "/api/v1/benchmarks", { method: "DELETE" })).status, 405)
      assert.strictEqual((yield* ask(server, "/api/v2")).status, 200)
    })
  )

  it.scoped("an app says how much it takes, whether it is read as a whole or as it comes", () =>
    Effect.gen(function* () {
      const size: MountedApp["app"] = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        Effect.map(
          request.url === "/whole"
            ? Effect.map(request.text, (text) => text.length)
            : Stream.runFold(request.stream, 0, (sum, bytes) => sum + bytes.length),
          (size) => HttpServerResponse.unsafeJson({ size })
        )
      )
      const server = yield* serve({ apps: [{ paths: ["/whole", "/stream"], app: size, bodyLimit: 100_000 }] })
      for (const path of ["/whole", "/stream"]) {
        const put = (length: number) => ask(server, path, { method: "PUT", body: "x".repeat(length) })
        assert.deepStrictEqual((yield* put(100_000)).body, { size: 100_000 })
        assert.strictEqual((yield* put(100_001)).status, 413)
        const connection = yield* connect(server)
        yield* connection.send(raw("PUT", path, { "transfer-encoding": "chunked" }))
        yield* connection.send(`186a1\r\n${"x".repeat(100_001)}\r\n`)
        const [answer] = yield* connection.answers(1)
        assert.strictEqual(answer?.status, 413, path)
        assert.propertyVal(answer?.body, "code", "too_large")
      }
    })
  )

  it.scoped("what an app fails with is answered in JSON and logged", () =>
    capturingLogs((lines) =>
      Effect.gen(function* () {
        const server = yield* serve({ apps: [{ paths: ["/a"], app: Effect.fail(new Error("secret")) }] })
        const answer = yield* ask(server, "/a")
        assert.deepStrictEqual(
          [answer.status, answer.body],
          [500, { error: "The platform failed; its log says why.", code: "internal_error" }]
        )
        assert.include(lines.join("\n"), "secret")
      })
    )
  )
})

describe("the log", () => {
  it.scoped("a request leaves one line, without names, keys, queries and bodies", () =>
    capturingLogs((lines) =>
      Effect.gen(function* () {
        const server = yield* serve({ apps: [{ paths: ["/a"], app: echo }] })
        const id = { "x-request-id": "req-1" }
        yield* ask(server, "/api/v1/benchmarks/secret-name?q=secret", {
          method: "PUT",
          body: `{"name":"secret"}`,
          headers: id
        })
        yield* ask(server, eventsPath, { headers: { authorization: "Bearer secret", ...id }, method: "POST" })
        yield* ask(server, "/a/secret?signature=secret", { headers: id })
        yield* ask(server, "/secret?secret", { headers: id })
        yield* ask(server, "/api/v1/benchmarks/secret", { method: "DELETE", headers: id })
        const route = "/api/v1/benchmarks/:benchmark"
        assert.deepStrictEqual(
          lines.map((line) => line.replace(/ms=[\d.]+/, "ms=?")),
          [
            `request method=PUT ms=? organization=acme requestId=req-1 route=${route} status=200`,
            `request method=POST ms=? requestId=req-1 route=${route}/runs/:run/participants/:participant/workers/:worker/events status=401`,
            "request method=GET ms=? requestId=req-1 route=/a/* status=200",
            "request method=GET ms=? requestId=req-1 route=unknown status=404",
            `request method=DELETE ms=? requestId=req-1 route=${route} status=405`
          ]
        )
      })
    )
  )

  it.scoped("a request is called what its client calls it, or gets a name", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const idOf = (given: string) =>
        Effect.map(ask(server, "/healthz", { headers: { "x-request-id": given } }), ({ headers }) =>
          headers.get("x-request-id")
        )
      assert.strictEqual(yield* idOf("abc-123:4/5"), "abc-123:4/5")
      const uuid = /^[0-9a-f]{8}-[0-9a-f-]{27}$/
      assert.match((yield* idOf(`a" status=200`)) ?? "", uuid)
      assert.match((yield* idOf("x".repeat(200))) ?? "", uuid)
    })
  )
})
