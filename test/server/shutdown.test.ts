import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import type { PlatformServerOptions } from "../../src/PlatformServer.js"
import { capturingLogs, connect, raw, serve } from "./support.js"

// -----------------------------------------------------------------------------
// support
// -----------------------------------------------------------------------------

/** A server in a scope of its own, whose benchmarks are read when they are let go. */
const serveSlowly = (options: PlatformServerOptions = {}) =>
  Effect.gen(function* () {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const started = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const interrupted = yield* Deferred.make<void>()
    const server = yield* Scope.extend(
      serve({
        ...options,
        platform: {
          getBenchmark: (slug) =>
            Deferred.succeed(started, undefined).pipe(
              Effect.zipRight(Deferred.await(go)),
              Effect.as({ id: "1", slug, name: slug }),
              Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
            )
        }
      }),
      scope
    )
    return { server, started, go, interrupted, close: Scope.close(scope, Exit.void) }
  })

const isRefused = (server: { readonly port: number }) =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${server.port}/healthz`).then(
      () => false,
      () => true
    )
  )

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

describe("shutting down", () => {
  it.scoped("what is being carried out is answered, nothing else is accepted", () =>
    Effect.gen(function* () {
      const { close, go, server, started } = yield* serveSlowly()
      const working = yield* connect(server)
      const asking = yield* connect(server)
      const idle = yield* connect(server)
      yield* idle.send(raw("GET", "/healthz"))
      yield* idle.answers(1)
      yield* asking.send("GET /readyz HTTP/1.1\r\n")
      yield* working.send(raw("GET", "/api/v1/benchmarks/x"))
      yield* Deferred.await(started)
      const closing = yield* Effect.fork(close)
      assert.strictEqual(yield* idle.closed, "ended")
      assert.isTrue(yield* isRefused(server))

      yield* asking.send("host: test\r\n\r\n")
      const [unready] = yield* asking.answers(1)
      assert.deepStrictEqual(
        [unready?.status, unready?.body],
        [503, { error: "The server is being shut down.", code: "draining" }]
      )
      assert.strictEqual(unready?.headers.get("connection"), "close")

      yield* Deferred.succeed(go, undefined)
      const [answer] = yield* working.answers(1)
      assert.strictEqual(answer?.status, 200)
      assert.strictEqual(answer?.headers.get("connection"), "close")
      assert.strictEqual(yield* working.closed, "ended")
      yield* Fiber.join(closing)
    })
  )

  it.scoped("what takes too long is cut off", () =>
    capturingLogs((lines) =>
      Effect.gen(function* () {
        const { close, interrupted, server, started } = yield* serveSlowly({ timeouts: { drain: "3 seconds" } })
        const working = yield* connect(server)
        yield* working.send(raw("GET", "/api/v1/benchmarks/x"))
        yield* Deferred.await(started)
        const closing = yield* Effect.fork(close)
        while (!(yield* isRefused(server))) yield* Effect.yieldNow()
        yield* TestClock.adjust("3 seconds")
        yield* Deferred.await(interrupted)
        yield* Fiber.join(closing)
        yield* working.closed
        assert.isTrue(lines.some((line) => line.startsWith("requests are cut off")))
        assert.isTrue(lines.some((line) => /^request .*status=499/.test(line)))
      })
    )
  )

  it.scoped("connections without a request are not waited for", () =>
    Effect.gen(function* () {
      const { close, server } = yield* serveSlowly()
      const silent = yield* connect(server)
      const halfway = yield* connect(server)
      yield* halfway.send("GET /healthz HT")
      yield* close
      yield* silent.closed
      yield* halfway.closed
    })
  )
})
