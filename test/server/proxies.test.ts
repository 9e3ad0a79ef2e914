import type * as Http from "node:http"
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { clientAddress } from "../../src/internal/server/clientAddress.js"
import { ask, eventsPath, serve } from "./support.js"

/** Tells where a request comes from. */
const whoAmI = {
  paths: ["/who"],
  app: Effect.map(HttpServerRequest.HttpServerRequest, ({ remoteAddress }) =>
    HttpServerResponse.text(Option.getOrElse(remoteAddress, () => "unknown"))
  )
}

describe("the address of a client", () => {
  it.scopedLive("is that of the connection, whatever a client says", () =>
    Effect.gen(function* () {
      const server = yield* serve({ apps: [whoAmI] })
      const { text } = yield* ask(server, "/who", { headers: { "x-forwarded-for": "203.0.113.7" } })
      assert.match(text, /127\.0\.0\.1$/)
    })
  )

  it.scopedLive("is the one that the outermost trusted proxy saw", () =>
    Effect.gen(function* () {
      const server = yield* serve({ apps: [whoAmI], trustedProxies: 2 })
      const from = (header: string) =>
        Effect.map(ask(server, "/who", { headers: { "x-forwarded-for": header } }), ({ text }) => text)
      assert.strictEqual(yield* from("198.51.100.1, 203.0.113.7, 10.0.0.2"), "203.0.113.7")
      assert.strictEqual(yield* from("203.0.113.7, 10.0.0.2"), "203.0.113.7")
    })
  )

  const socket = { remoteAddress: "10.0.0.9" }
  const cases: ReadonlyArray<readonly [string, number, string | ReadonlyArray<string> | undefined, string]> = [
    ["nobody is trusted", 0, "203.0.113.7", "10.0.0.9"],
    ["there is no header", 1, undefined, "10.0.0.9"],
    ["the header is shorter than proxies are many", 2, "203.0.113.7", "10.0.0.9"],
    ["there is no address at the place", 1, "203.0.113.7, unknown", "10.0.0.9"],
    ["a proxy adds the port", 1, "203.0.113.7:4711", "203.0.113.7"],
    ["it is an IPv6 address in brackets", 1, "[2001:db8::7]:4711", "2001:db8::7"],
    ["it is an IPv6 address", 1, "2001:db8::7", "2001:db8::7"],
    ["the client has put something in front", 1, "<script>, 203.0.113.7", "203.0.113.7"]
  ]
  for (const [why, proxies, header, expected] of cases) {
    it(`is ${expected} when ${why}`, () => {
      const headers = header === undefined ? {} : { "x-forwarded-for": header }
      const message = { headers, socket }
      assert.strictEqual(call(message, proxies), expected)
    })
  }
})

/** Of a request, only what is looked at is there. */
const call = (message: unknown, proxies: number): string | undefined =>
  isMessage(message) ? clientAddress(message, proxies) : undefined

const isMessage = (value: unknown): value is Http.IncomingMessage =>
  typeof value === "object" && value !== null && "headers" in value && "socket" in value

const batch = (padding: number): string =>
  JSON.stringify({
    type: "task_results",
    attemptId: "a",
    sequenceNumber: 0,
    isFinal: true,
    records: [{ taskIndex: 0, status: "success", data: { padding: "x".repeat(padding) } }]
  })

describe("bodies that are held at the same time", () => {
  it.scopedLive("are limited together: what is too much may come again", () =>
    Effect.gen(function* () {
      const goOn = yield* Deferred.make<void>()
      const began = yield* Deferred.make<void>()
      const server = yield* serve({
        limits: { bodies: 10_000 },
        platform: {
          sendTaskResults: () =>
            Deferred.succeed(began, undefined).pipe(
              Effect.zipRight(Deferred.await(goOn)),
              Effect.as({ accepted: 1, eventBatchId: "1", duplicate: false })
            )
        }
      })
      const send = (padding: number) => ask(server, eventsPath, { method: "POST", body: batch(padding) })
      const first = yield* Effect.fork(send(20_000))
      yield* Deferred.await(began)
      const second = yield* send(100)
      assert.deepStrictEqual(
        [second.status, second.headers.get("retry-after"), second.body],
        [503, "1", { error: "The platform is busy; try again.", code: "unavailable" }]
      )
      assert.strictEqual((yield* ask(server, "/api/v1/benchmarks")).status, 200, "what has no body is not concerned")
      yield* Deferred.succeed(goOn, undefined)
      assert.strictEqual((yield* Fiber.join(first)).status, 202, "a single one may be larger")
      assert.strictEqual((yield* send(100)).status, 202)
    })
  )
})
