import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import type { PlatformError } from "../src/Platform.js"
import { Platform, PlatformFailure, RequestTooLarge, ResourceConflict, Unauthorized } from "../src/Platform.js"
import { AccountsAuthorization, PlatformAuthorization, refusal } from "../src/PlatformApi.js"
import * as PlatformServer from "../src/PlatformServer.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import * as PlatformHost from "./support/platformHost.js"

// -----------------------------------------------------------------------------
// support
// -----------------------------------------------------------------------------

const authorized = { authorization: `Bearer ${PlatformHost.apiKey}`, "content-type": "application/json" }

const ask = (
  host: PlatformHost.PlatformHost,
  path: string,
  init: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {}
) =>
  Effect.promise(async () => {
    const response = await fetch(host.baseUrl + path, { headers: authorized, ...init })
    const text = await response.text()
    const body: unknown = JSON.parse(text)
    return { status: response.status, headers: response.headers, text, body }
  })

const stored = PlatformHost.fromLayer(SqlPlatform.layerMemory)

const hostOf = (platform: Partial<Omit<Platform["Type"], "origin">>) =>
  PlatformHost.fromLayer(Layer.mock(Platform, { ...platform, origin: { kind: "store", location: ":memory:" } }))

/** What is answered when `getBenchmark` fails, and what is logged meanwhile. */
const refusalOf = (failure: Effect.Effect<never, PlatformError>) => {
  const logged: Array<string> = []
  const logger = Logger.make(({ annotations, cause, message }) => {
    logged.push(`${String(message)} ${JSON.stringify([...annotations])} ${String(cause)}`)
  })
  return hostOf({ getBenchmark: () => failure }).pipe(
    Effect.flatMap((host) => ask(host, "/api/v1/benchmarks/x")),
    Effect.map(({ body, headers, status, text }) => ({ body, headers, status, text, logged: logged.join("\n") })),
    Effect.provide(Logger.replace(Logger.defaultLogger, logger))
  )
}

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

describe("PlatformServer requests", () => {
  it.scoped("a request without a key, or with a wrong one, is refused", () =>
    Effect.gen(function* () {
      const host = yield* stored
      const missing = yield* ask(host, "/api/v1/benchmarks", { headers: {} })
      assert.deepStrictEqual([missing.status, missing.body], [401, { error: "API key required" }])
      const wrong = yield* ask(host, "/api/v1/me", { headers: { authorization: "Bearer nonsense" } })
      assert.deepStrictEqual([wrong.status, wrong.body], [401, { error: "Invalid API key" }])
    })
  )

  it.scoped("a body that is not JSON is refused as malformed", () =>
    Effect.gen(function* () {
      const host = yield* stored
      for (const body of ["{", "nonsense", `{"a":}`]) {
        const answer = yield* ask(host, "/api/v1/benchmarks/x", { method: "PUT", body })
        assert.deepStrictEqual(
          [answer.status, answer.body],
          [400, { error: "The body cannot be read as JSON.", code: "malformed_json" }]
        )
      }
    })
  )

  it.scoped("every field of the wrong type is named", () =>
    Effect.gen(function* () {
      const host = yield* stored
      const { body, status } = yield* ask(host, "/api/v1/benchmarks/x/runs", {
        method: "POST",
        body: JSON.stringify({ name: 1, totalTasks: -1, participants: [{ slug: "" }, { slug: "b", label: {} }] })
      })
      assert.strictEqual(status, 400)
      assert.deepStrictEqual(
        issuesOf(body).map(({ field }) => field),
        ["name", "totalTasks", "participants[0].slug", "participants[1].label"]
      )
    })
  )

  it.scoped("of very many issues the first are named", () =>
    Effect.gen(function* () {
      const host = yield* stored
      const { body, status } = yield* ask(host, "/api/v1/benchmarks/b/runs/r/participants/p/workers/w/events", {
        method: "POST",
        body: JSON.stringify({
          type: "task_results",
          attemptId: "a",
          sequenceNumber: 0,
          isFinal: true,
          records: Array.from({ length: 50 }, () => ({ taskIndex: -1, status: "success" }))
        })
      })
      assert.strictEqual(status, 400)
      const issues = issuesOf(body)
      assert.strictEqual(issues.length, 21)
      assert.strictEqual(issues[0]?.field, "records[0].taskIndex")
      assert.deepStrictEqual(issues[20], { field: "request", message: "has 30 more issues" })
    })
  )

  it.scoped("a query that does not fit is refused", () =>
    Effect.gen(function* () {
      const host = yield* stored
      for (const query of ["limit=0", "limit=501", "limit=1.5", "limit=x", "limit="]) {
        const { body, status } = yield* ask(host, `/api/v1/benchmarks?${query}`)
        assert.strictEqual(status, 400)
        assert.strictEqual(issuesOf(body)[0]?.field, "limit")
      }
    })
  )

  it.scoped("fields that nobody knows are ignored", () =>
    Effect.gen(function* () {
      const host = yield* stored
      const { body, status } = yield* ask(host, "/api/v1/benchmarks/x?extra=1", {
        method: "PUT",
        body: JSON.stringify({ name: "X", color: "red", status: null })
      })
      assert.strictEqual(status, 200)
      assert.nestedPropertyVal(body, "benchmark.name", "X")
      assert.notNestedProperty(body, "benchmark.color")
    })
  )

  it.scoped("an unknown route is not found, in JSON", () =>
    Effect.gen(function* () {
      const host = yield* stored
      const answer = yield* ask(host, "/api/v1/nothing/here?secret=1")
      assert.deepStrictEqual(
        [answer.status, answer.body],
        [404, { error: "There is no GET /api/v1/nothing/here.", code: "route_not_found" }]
      )
    })
  )

  it.scoped("a route that is asked in another way says which ways there are", () =>
    Effect.gen(function* () {
      const host = yield* stored
      const answer = yield* ask(host, "/api/v1/benchmarks/x", { method: "DELETE" })
      assert.deepStrictEqual(
        [answer.status, answer.headers.get("allow"), answer.body],
        [
          405,
          "PUT, PATCH, GET, HEAD, OPTIONS",
          { error: "There is no DELETE here, only PUT, PATCH, GET, HEAD, OPTIONS.", code: "method_not_allowed" }
        ]
      )
    })
  )

  it.scoped("a path has one spelling", () =>
    Effect.gen(function* () {
      const host = yield* stored
      yield* ask(host, "/api/v1/benchmarks/x", { method: "PUT", body: "{}" })
      for (const path of ["/api/v1/benchmarks/x/", "/api/v1//benchmarks/x", "/API/v1/benchmarks/x"]) {
        assert.strictEqual((yield* ask(host, path)).status, 404)
      }
    })
  )

  it.scoped("a name of any length and any case is found", () =>
    Effect.gen(function* () {
      const host = yield* stored
      for (const name of ["N".repeat(5000), "İstanbul", "A/b?c"]) {
        const path = `/api/v1/benchmarks/${encodeURIComponent(name)}`
        yield* ask(host, path, { method: "PUT", body: "{}" })
        assert.nestedPropertyVal((yield* ask(host, path)).body, "benchmark.slug", name)
      }
    })
  )
})

describe("PlatformServer results", () => {
  const events = "/api/v1/benchmarks/b/runs/r/participants/p/workers/w/events"
  const taken = { accepted: 1, eventBatchId: "1", duplicate: false }

  it.scoped("a batch is taken with fields that nobody knows", () =>
    Effect.gen(function* () {
      const host = yield* hostOf({ sendTaskResults: () => Effect.succeed(taken) })
      const body = { type: "task_results", attemptId: "a", sequenceNumber: 0, isFinal: true, more: 1 }
      const records = [
        { taskIndex: 0, status: "success", color: "red", steps: [{ name: "s", status: "x", extra: {} }] }
      ]
      const answer = yield* ask(host, events, { method: "POST", body: JSON.stringify({ ...body, records }) })
      assert.deepStrictEqual([answer.status, answer.body], [202, taken])
    })
  )

  it.scoped("a batch that is too long is well-formed and invalid", () =>
    Effect.gen(function* () {
      const host = yield* hostOf({ sendTaskResults: () => Effect.die("never asked") })
      const { body, status } = yield* ask(host, events, {
        method: "POST",
        body: JSON.stringify({ records: Array.from({ length: 5001 }, () => 0) })
      })
      assert.strictEqual(status, 422)
      assert.deepStrictEqual(issuesOf(body), [{ field: "records", message: "must be at most 5000 (got 5001)" }])
    })
  )

  it.scoped("a batch is refused field by field, and without a key before it is read", () =>
    Effect.gen(function* () {
      const host = yield* hostOf({ sendTaskResults: () => Effect.die("never asked") })
      const malformed = { method: "POST", body: `{"type":"task_results","records":[{"taskIndex":0,"status":1}]}` }
      const answer = yield* ask(host, events, malformed)
      assert.strictEqual(answer.status, 400)
      assert.propertyVal(answer.body, "code", "malformed_request")
      assert.deepStrictEqual(
        issuesOf(answer.body).map(({ field }) => field),
        ["attemptId", "sequenceNumber", "isFinal", "records[0].status"]
      )
      assert.strictEqual((yield* ask(host, events, { method: "POST", body: "{" })).status, 400)
      assert.strictEqual((yield* ask(host, events, { ...malformed, headers: {} })).status, 401)
    })
  )
})

describe("PlatformServer as a layer", () => {
  it.effect("serves while it is there", () =>
    Effect.gen(function* () {
      const refuse = { bearer: () => Effect.fail(refusal("Unauthenticated", { error: "API key required" })) }
      const authorization = Layer.merge(
        Layer.succeed(PlatformAuthorization, refuse),
        Layer.succeed(AccountsAuthorization, refuse)
      )
      const status = (url: string) =>
        Effect.promise(() =>
          fetch(`${url}/api/v1/me`).then(
            (response) => response.status,
            () => "refused"
          )
        )
      const url = yield* Effect.gen(function* () {
        const { host, port, url } = yield* PlatformServer.PlatformServer
        assert.strictEqual(url, `http://${host}:${port}`)
        assert.strictEqual(yield* status(url), 401)
        return url
      }).pipe(Effect.provide(PlatformServer.layer({ port: 0 }).pipe(Layer.provide(authorization))))
      assert.strictEqual(yield* status(url), "refused")
    })
  )
})

describe("PlatformServer errors", () => {
  it.scoped("an unknown resource is named by its code", () =>
    Effect.gen(function* () {
      const host = yield* stored
      const answer = yield* ask(host, "/api/v1/benchmarks/nope")
      assert.deepStrictEqual(
        [answer.status, answer.body],
        [404, { error: `No benchmark "nope".`, code: "benchmark_not_found" }]
      )
    })
  )

  it.scoped("what is well-formed and invalid is unprocessable", () =>
    Effect.gen(function* () {
      const host = yield* stored
      yield* ask(host, "/api/v1/benchmarks/x", { method: "PUT", body: "{}" })
      const { body, status } = yield* ask(host, "/api/v1/benchmarks/x/runs", {
        method: "POST",
        body: JSON.stringify({ participants: [{ slug: "a" }, { slug: "a" }] })
      })
      assert.strictEqual(status, 422)
      assert.deepStrictEqual(issuesOf(body), [
        { field: "participants[1].slug", message: `must be unique (got "a" again)` }
      ])
    })
  )

  it.scoped("each error has its status and code", () =>
    Effect.gen(function* () {
      const conflict = (reason: ResourceConflict["reason"]) => new ResourceConflict({ reason, detail: "No." })
      for (const [error, status, code] of [
        [conflict("AlreadyPlanned"), 409, "already_planned"],
        [conflict("StaleAttempt"), 409, "stale_attempt"],
        [conflict("WorkerClosed"), 409, "worker_closed"],
        [new Unauthorized({ reason: "Unauthenticated", detail: "no" }), 401, "unauthenticated"],
        [new Unauthorized({ reason: "Forbidden", detail: "no" }), 403, "forbidden"],
        [new RequestTooLarge({ operation: "x" }), 413, "too_large"]
      ] as const) {
        const answer = yield* refusalOf(error)
        assert.strictEqual(answer.status, status)
        assert.propertyVal(answer.body, "code", code)
        assert.notProperty(answer.body, "_tag")
      }
    })
  )

  it.scoped("a failure that may pass is unavailable until then, and its reason is only logged", () =>
    Effect.gen(function* () {
      const busy = { operation: "getBenchmark", detail: "SELECT secret", retryable: true }
      const later = yield* refusalOf(new PlatformFailure({ ...busy, retryAfterMillis: 1500 }))
      assert.strictEqual(later.status, 503)
      assert.strictEqual(later.headers.get("retry-after"), "2")
      assert.notInclude(later.text, "SELECT")
      assert.include(later.logged, "SELECT secret")
      const now = yield* refusalOf(new PlatformFailure(busy))
      assert.strictEqual(now.status, 503)
      assert.isNull(now.headers.get("retry-after"))
    })
  )

  it.scoped("what failed inside is logged, not told", () =>
    Effect.gen(function* () {
      for (const failure of [
        new PlatformFailure({ operation: "getBenchmark", detail: "disk /secret is full", retryable: false }),
        Effect.die(new TypeError("secret is undefined"))
      ]) {
        const { body, logged, status } = yield* refusalOf(failure)
        assert.deepStrictEqual(
          [status, body],
          [500, { error: "The platform failed; its log says why.", code: "internal_error" }]
        )
        assert.include(logged, "secret")
      }
    })
  )
})

const issuesOf = (body: unknown): ReadonlyArray<{ readonly field: string; readonly message: string }> => {
  if (typeof body !== "object" || body === null || !("issues" in body) || !Array.isArray(body.issues)) return []
  return body.issues
}
