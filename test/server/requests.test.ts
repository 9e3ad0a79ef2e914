import * as Http from "node:http"
import * as Net from "node:net"
import * as Zlib from "node:zlib"
import { HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Option, Stream, TestClock } from "effect"
import { readAll } from "../../src/internal/server/body.js"
import type { TaskResultsInput } from "../../src/Platform.js"
import type { Answer } from "./support.js"
import { ask, authorized, connect, eventsPath, jsonOf, raw, serve } from "./support.js"

// -----------------------------------------------------------------------------
// support
// -----------------------------------------------------------------------------

const mebibyte = 1024 * 1024

const batch = (count: number): string => {
  const at = "2026-01-02T03:04:05.000Z"
  const steps = ["open", "read", "close"].map((name) => ({
    name,
    status: "success",
    startedAt: at,
    completedAt: at,
    latencyMs: 1.234,
    data: { phase: "warm", rows: 123 }
  }))
  const records = Array.from({ length: count }, (_, taskIndex) => ({
    taskIndex,
    status: "success",
    startedAt: at,
    completedAt: at,
    latencyMs: 12.345,
    data: { phase: "warm", region: "eu-central-1" },
    steps
  }))
  return JSON.stringify({ type: "task_results", attemptId: "a", sequenceNumber: 0, isFinal: true, records })
}

const post = (body: Uint8Array | string, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: "POST",
  body: typeof body === "string" ? body : new Uint8Array(body),
  headers: { "content-type": "application/json", ...headers }
})

const put = (body: Uint8Array | string, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  ...post(body, headers),
  method: "PUT"
})

const gzip = { "content-encoding": "gzip" }

const issuesOf = ({ body }: Answer): unknown =>
  typeof body === "object" && body !== null && "issues" in body ? body.issues : []

/** One piece of a chunked body. */
const chunk = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`

const chunked = { "content-type": "application/json", "transfer-encoding": "chunked" }

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

describe("bodies", () => {
  it.scoped("5000 records of 3 steps are taken, compressed or not", () =>
    Effect.gen(function* () {
      const received: Array<TaskResultsInput> = []
      const server = yield* serve({
        platform: {
          sendTaskResults: (_ref, input) =>
            Effect.sync(() => {
              received.push(input)
              return { accepted: input.records.length, eventBatchId: "1", duplicate: false }
            })
        }
      })
      const text = batch(5000)
      assert.isAbove(text.length, 2 * mebibyte)
      const plain = yield* ask(server, eventsPath, post(text))
      assert.deepStrictEqual([plain.status, plain.body], [202, { accepted: 5000, eventBatchId: "1", duplicate: false }])
      const compressed = yield* ask(server, eventsPath, post(Zlib.gzipSync(text), gzip))
      assert.strictEqual(compressed.status, 202)
      assert.deepStrictEqual<unknown>(received, [JSON.parse(text), JSON.parse(text)])
    })
  )

  it.scoped("a batch of 32 MiB is taken, one byte more is not", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const text = batch(1)
      const most = yield* ask(server, eventsPath, post(text.padEnd(32 * mebibyte)))
      assert.strictEqual(most.status, 202)
      const more = yield* ask(server, eventsPath, post(text.padEnd(32 * mebibyte + 1)))
      assert.deepStrictEqual(
        [more.status, more.body],
        [413, { error: "The body is larger than 33554432 bytes.", code: "too_large" }]
      )
      const other = yield* ask(server, "/api/v1/benchmarks/x", put("{}".padEnd(mebibyte + 1)))
      assert.strictEqual(other.status, 413)
      assert.strictEqual((yield* ask(server, "/api/v1/benchmarks/x", put("{}".padEnd(mebibyte)))).status, 200)
    })
  )

  it.scoped(
    "a body of unknown size is refused when it gets too large, and the answer can be read while it goes on",
    () =>
      Effect.gen(function* () {
        const server = yield* serve()
        const connection = yield* connect(server)
        yield* connection.send(raw("PUT", "/api/v1/benchmarks/x", chunked))
        const piece = chunk(" ".repeat(256 * 1024))
        for (let i = 0; i < 5; i++) yield* connection.send(piece)
        const [answer] = yield* connection.answers(1)
        assert.strictEqual(answer?.status, 413)
        assert.propertyVal(answer?.body, "code", "too_large")
        assert.strictEqual(answer?.headers.get("connection"), "close")
        for (let i = 0; i < 20; i++) yield* connection.send(piece)
        yield* connection.send("0\r\n\r\n")
        assert.strictEqual(yield* connection.closed, "ended")
      })
  )

  it.scoped("a body that claims to be too large is refused before it comes", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const connection = yield* connect(server)
      yield* connection.send(raw("PUT", "/api/v1/benchmarks/x", jsonOf(1e12)))
      const [answer] = yield* connection.answers(1)
      assert.strictEqual(answer?.status, 413)
      assert.strictEqual(answer?.headers.get("connection"), "close")
    })
  )

  it.scoped("without a key a large body is not read, and the answer can be", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const answer = yield* ask(server, eventsPath, {
        ...post(" ".repeat(20 * mebibyte)),
        headers: { authorization: "Bearer no", "content-type": "application/json" }
      })
      assert.deepStrictEqual([answer.status, answer.body], [401, { error: "Invalid API key" }])
      assert.strictEqual(answer.headers.get("connection"), "close")
    })
  )

  it.scoped("what is small when compressed and large when not is refused", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const bomb = Zlib.gzipSync(Buffer.alloc(64 * mebibyte))
      assert.isBelow(bomb.length, mebibyte)
      for (const [path, init] of [
        ["/api/v1/benchmarks/x", put(bomb, gzip)],
        [eventsPath, post(bomb, gzip)]
      ] as const) {
        const answer = yield* ask(server, path, init)
        assert.strictEqual(answer.status, 413)
        assert.propertyVal(answer.body, "code", "too_large")
      }
    })
  )

  it.scoped("what claims to be gzip and is not, or not as a whole, is malformed", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const whole = Zlib.gzipSync("{}")
      for (const body of [Buffer.from("{}"), whole.subarray(0, -4), Buffer.from("x".repeat(100_000))]) {
        const answer = yield* ask(server, "/api/v1/benchmarks/x", put(body, gzip))
        assert.strictEqual(answer.status, 400)
        assert.propertyVal(answer.body, "code", "malformed_encoding")
      }
    })
  )

  it.scoped("other encodings are unsupported", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      for (const encoding of ["br", "deflate", "gzip, gzip"]) {
        const answer = yield* ask(server, "/api/v1/benchmarks/x", put("{}", { "content-encoding": encoding }))
        assert.strictEqual(answer.status, 415)
        assert.propertyVal(answer.body, "code", "unsupported_encoding")
        assert.strictEqual(answer.headers.get("accept-encoding"), "gzip, identity")
      }
      const identity = yield* ask(server, "/api/v1/benchmarks/x", put("{}", { "content-encoding": "Identity" }))
      assert.strictEqual(identity.status, 200)
    })
  )

  it.scoped("content types other than JSON are unsupported", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const status = (type: string) =>
        Effect.map(ask(server, "/api/v1/benchmarks/x", put("{}", { "content-type": type })), (answer) => answer.status)
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"]) {
        assert.strictEqual(yield* status(type), 415)
      }
      for (const type of ["application/json; charset=UTF-8", "Application/JSON", "application/vnd.api+json"]) {
        assert.strictEqual(yield* status(type), 200)
      }
    })
  )

  it.scoped("no body and no content type at all reads as an object without fields", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const connection = yield* connect(server)
      yield* connection.send(raw("POST", "/api/v1/benchmarks/b/runs/r/participants/p/workers/claim"))
      const [answer] = yield* connection.answers(1)
      assert.deepStrictEqual([answer?.status, answer?.body], [200, { assignment: null }])
    })
  )

  it.scoped("text arrives as it was sent, however it is cut up on the way", () =>
    Effect.gen(function* () {
      const names: Array<unknown> = []
      const server = yield* serve({
        platform: {
          upsertBenchmark: (slug, { name }) =>
            Effect.sync(() => {
              names.push(name)
              return { id: "1", slug, name: "" }
            })
        }
      })
      const name = "aé€😀".repeat(30_000)
      const body = JSON.stringify({ name })
      yield* ask(server, "/api/v1/benchmarks/x", put(body))
      yield* ask(server, "/api/v1/benchmarks/x", put(Zlib.gzipSync(body), gzip))
      const connection = yield* connect(server)
      yield* connection.send(raw("PUT", "/api/v1/benchmarks/x", { ...jsonOf(19), expect: "100-continue" }))
      yield* connection.answers(1)
      for (const byte of Buffer.from(`{"name":"€!😀"}`)) yield* connection.send(Uint8Array.of(byte))
      yield* connection.answers(2)
      assert.deepStrictEqual(names, [name, name, "€!😀"])
    })
  )

  it.scoped("a body that is not UTF-8 is malformed", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const answer = yield* ask(server, "/api/v1/benchmarks/x", put(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])))
      assert.deepStrictEqual(
        [answer.status, answer.body],
        [400, { error: "The body cannot be read as JSON.", code: "malformed_json" }]
      )
    })
  )

  it.scoped("of a small body all that is wrong is told, of a large one the first thing", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const create = (count: number) => {
        const participants = Array.from({ length: count }, () => ({}))
        return ask(server, "/api/v1/benchmarks/x/runs", post(JSON.stringify({ participants })))
      }
      const issue = (index: number) => ({ field: `participants[${index}].slug`, message: "is missing" })
      const small = yield* create(3)
      assert.deepStrictEqual([small.status, issuesOf(small)], [400, [issue(0), issue(1), issue(2)]])
      const large = yield* create(300_000)
      assert.deepStrictEqual([large.status, issuesOf(large)], [400, [issue(0)]])
      assert.deepStrictEqual(large.body, {
        error: "The request does not fit: participants[0].slug: is missing",
        code: "malformed_request",
        issues: [issue(0)]
      })
    })
  )

  it.scoped("a body that is nested too deeply is malformed", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const deep = "[".repeat(100_000) + "]".repeat(100_000)
      for (const [path, init] of [
        ["/api/v1/benchmarks/x", put(`{"name":${deep}}`)],
        [eventsPath, post(`{"type":${deep}}`)]
      ] as const) {
        const answer = yield* ask(server, path, init)
        assert.deepStrictEqual(
          [answer.status, answer.body],
          [400, { error: "The body is nested too deeply.", code: "malformed_json" }]
        )
      }
    })
  )

  it.scoped("a client that asks first is told to go on, or why not", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const expect = { expect: "100-continue" }
      const asking = yield* connect(server)
      yield* asking.send(raw("PUT", "/api/v1/benchmarks/x", { ...jsonOf(2), ...expect }))
      assert.strictEqual((yield* asking.answers(1))[0]?.status, 100)
      yield* asking.send("{}")
      assert.strictEqual((yield* asking.answers(2))[1]?.status, 200)

      const tooLarge = yield* connect(server)
      yield* tooLarge.send(raw("PUT", "/api/v1/benchmarks/x", { ...jsonOf(2 * mebibyte), ...expect }))
      assert.strictEqual((yield* tooLarge.answers(1))[0]?.status, 413)

      const other = yield* connect(server)
      yield* other.send(raw("PUT", "/api/v1/benchmarks/x", { ...jsonOf(2), expect: "tea" }))
      const [unmet] = yield* other.answers(1)
      assert.strictEqual(unmet?.status, 417)
      assert.propertyVal(unmet?.body, "code", "expectation_failed")
    })
  )
})

describe("slow clients", () => {
  it.scoped("headers have to arrive in time", () =>
    Effect.gen(function* () {
      const server = yield* serve({ timeouts: { headers: 200 } })
      const connection = yield* connect(server)
      yield* connection.send("GET /healthz HTTP/1.1\r\nhost: te")
      const [answer] = yield* connection.answers(1)
      assert.deepStrictEqual(
        [answer?.status, answer?.body],
        [408, { error: "The headers did not arrive in time.", code: "request_timeout" }]
      )
      assert.strictEqual(yield* connection.closed, "ended")
    })
  )

  it.scoped("a body that stops is waited for so long", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const connection = yield* connect(server)
      yield* connection.send(raw("PUT", "/api/v1/benchmarks/x", { ...jsonOf(100_000), expect: "100-continue" }))
      yield* connection.answers(1)
      yield* connection.send("{")
      yield* TestClock.adjust("31 seconds")
      const [, answer] = yield* connection.answers(2)
      assert.deepStrictEqual(
        [answer?.status, answer?.body],
        [408, { error: "The body did not arrive: nothing came for 30s.", code: "request_timeout" }]
      )
    })
  )

  it.scoped("a body that trickles in is waited for so long", () =>
    Effect.gen(function* () {
      const message = new Http.IncomingMessage(new Net.Socket())
      const reading = yield* Effect.fork(
        Effect.flip(readAll(message, { bytes: 100, idle: Duration.seconds(30), whole: Duration.minutes(2) }))
      )
      for (let i = 0; i < 4; i++) {
        yield* TestClock.adjust("25 seconds")
        message.push(" ")
        yield* Effect.promise(() => new Promise(setImmediate))
      }
      assert.isTrue(Option.isNone(yield* Fiber.poll(reading)))
      yield* TestClock.adjust("20 seconds")
      const { error, status } = yield* Fiber.join(reading)
      assert.deepStrictEqual([status, error], [408, "The body did not arrive: it was not complete after 2m."])
    })
  )

  it.scoped("an answer that nobody takes is not kept for long", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const endless = Stream.repeatValue(new Uint8Array(65_536)).pipe(
        Stream.ensuring(Deferred.succeed(ended, undefined))
      )
      const server = yield* serve({
        timeouts: { request: 300 },
        apps: [{ paths: ["/endless"], app: Effect.succeed(HttpServerResponse.stream(endless)) }]
      })
      const socket = yield* Effect.acquireRelease(
        Effect.sync(() => Net.connect(server.port, "127.0.0.1").on("error", () => {})),
        (socket) => Effect.sync(() => socket.destroy())
      )
      socket.write(raw("GET", "/endless"))
      yield* Deferred.await(ended)
    })
  )

  it.scoped("a client that goes away ends what it has asked for", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const server = yield* serve({
        platform: {
          getBenchmark: () =>
            Deferred.succeed(started, undefined).pipe(
              Effect.zipRight(Effect.never),
              Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
            )
        }
      })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const connection = yield* connect(server)
          yield* connection.send(raw("GET", "/api/v1/benchmarks/x"))
          yield* Deferred.await(started)
        })
      )
      yield* Deferred.await(ended)
    })
  )
})

describe("connections", () => {
  it.scoped("requests that are sent at once are answered in their order", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const connection = yield* connect(server)
      yield* connection.send(
        raw("GET", "/healthz") +
          raw("PUT", "/api/v1/benchmarks/x", jsonOf(2), "{}") +
          raw("DELETE", "/api/v1/benchmarks") +
          raw("GET", "/api/v1/benchmarks")
      )
      assert.deepStrictEqual(
        (yield* connection.answers(4)).map((answer) => answer.status),
        [200, 200, 405, 200]
      )
    })
  )

  it.scoped("a refusal leaves the connection as it is when little of the request is still to come", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const connection = yield* connect(server)
      yield* connection.send(
        raw("PUT", "/api/v1/benchmarks/x", { "content-type": "text/plain", "content-length": "10" })
      )
      const [refused] = yield* connection.answers(1)
      assert.strictEqual(refused?.status, 415)
      assert.notStrictEqual(refused?.headers.get("connection"), "close")
      yield* connection.send(`0123456789${raw("GET", "/healthz")}`)
      assert.strictEqual((yield* connection.answers(2))[1]?.status, 200)
    })
  )

  it.scoped("what is no HTTP is refused in JSON", () =>
    Effect.gen(function* () {
      const server = yield* serve({ limits: { headers: 2048 } })
      for (const [sent, status, code] of [
        ["hello\r\n\r\n", 400, "malformed_http"],
        ["GET /healthz HTTP/1.1\r\n\r\n", 400, "malformed_http"],
        ["GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", 400, "malformed_http"],
        [raw("GET", "/healthz", { "x-long": "x".repeat(4000) }), 431, "headers_too_large"],
        [`${raw("PUT", "/api/v1/benchmarks/x", chunked)}nonsense\r\n`, 400, "malformed_http"]
      ] as const) {
        const connection = yield* connect(server)
        yield* connection.send(sent)
        const [answer] = yield* connection.answers(1)
        assert.strictEqual(answer?.status, status)
        assert.propertyVal(answer?.body, "code", code)
        assert.strictEqual(yield* connection.closed, "ended")
      }
    })
  )

  it.scoped("a server that is not there for others says what is in the way", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const error = yield* Effect.flip(serve({ port: server.port }))
      assert.strictEqual(error.reason, "PortInUse")
      assert.strictEqual(
        error.message,
        `Cannot listen on 127.0.0.1:${server.port}: the port is in use. Stop what listens there, or choose another port.`
      )
      const nowhere = yield* Effect.flip(serve({ host: "192.0.2.1" }))
      assert.strictEqual(nowhere.reason, "NoSuchAddress")
    })
  )

  it.scoped("the key may be left out of what needs none", () =>
    Effect.gen(function* () {
      const server = yield* serve({ ready: Effect.void, publicUrl: "https://bench.example.com/" })
      assert.strictEqual(server.url, "https://bench.example.com")
      const without = { headers: { authorization: "" } }
      assert.deepStrictEqual((yield* ask(server, "/healthz", without)).body, { status: "ok" })
      assert.deepStrictEqual((yield* ask(server, "/readyz", without)).body, { status: "ready" })
      const { body, headers } = yield* ask(server, "/openapi.json", without)
      assert.propertyVal(body, "openapi", "3.1.0")
      assert.nestedPropertyVal(body, "servers[0].url", "https://bench.example.com")
      assert.isNotNull(headers.get("strict-transport-security"))
      assert.strictEqual((yield* ask(server, "/api/v1/benchmarks", without)).status, 401)
      assert.strictEqual((yield* ask(server, "/api/v1/benchmarks", { headers: authorized })).status, 200)
    })
  )
})
