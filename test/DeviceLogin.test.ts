import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Fiber, Redacted, TestClock } from "effect"
import * as Credentials from "../src/Credentials.js"
import type { Answer } from "./support/authServer.js"
import { AuthServer, deviceCodePath, ok, pending, refuses, tokenPath } from "./support/authServer.js"

const baseUrl = "https://platform.example"

const code = {
  device_code: "device-secret",
  user_code: "ABCD-EFGH",
  verification_uri: "https://platform.example/device",
  verification_uri_complete: "https://platform.example/device?code=ABCD-EFGH",
  expires_in: 600
}

const tokens = { access_token: "access-1", refresh_token: "refresh-1", token_type: "Bearer", expires_in: 3600 }

/** A login in progress: the server answers with `codeAnswer`, then with `answers`, then with tokens. */
const start = (answers: ReadonlyArray<Answer>, codeAnswer: unknown = code) =>
  Effect.gen(function* () {
    const server = new AuthServer()
    server.script(deviceCodePath, [ok(codeAnswer)])
    server.script(tokenPath, answers, ok(tokens))
    const shown: Array<Credentials.DeviceCode> = []
    const fiber = yield* Credentials.deviceLogin({
      baseUrl,
      clientId: "client",
      onCode: (shownCode) => Effect.sync(() => shown.push(shownCode))
    }).pipe(Effect.provide(server.layer), Effect.fork)
    yield* TestClock.adjust(0)
    return { server, shown, fiber }
  })

/** The seconds at which the tokens were asked for, once the login has ended. */
const secondsOfPolls = (answers: ReadonlyArray<Answer>, codeAnswer?: unknown) =>
  Effect.gen(function* () {
    const { fiber, server } = yield* start(answers, codeAnswer)
    yield* TestClock.adjust("20 minutes")
    yield* Fiber.join(fiber)
    return server.times(tokenPath).map((at) => at / 1000)
  })

const failureOf = (answers: ReadonlyArray<Answer>, codeAnswer?: unknown) =>
  Effect.gen(function* () {
    const { fiber, server } = yield* start(answers, codeAnswer)
    yield* TestClock.adjust("2 hours")
    const error = yield* Effect.flip(Fiber.join(fiber))
    assert.notInclude(inspect(error, { depth: 20 }) + JSON.stringify(error) + error.message, "secret")
    assert.instanceOf(error, Credentials.DeviceLoginFailed)
    return { error, polls: server.times(tokenPath).length }
  })

describe("device login", () => {
  it.effect("shows a code and takes the tokens once it is confirmed", () =>
    Effect.gen(function* () {
      const { fiber, server, shown } = yield* start([pending, pending])
      assert.deepStrictEqual(
        shown.map(({ expiresAt, ...texts }) => ({ ...texts, expiresAt: DateTime.formatIso(expiresAt) })),
        [
          {
            userCode: "ABCD-EFGH",
            verificationUri: "https://platform.example/device",
            verificationUriComplete: "https://platform.example/device?code=ABCD-EFGH",
            expiresAt: "1970-01-01T00:10:00.000Z"
          }
        ]
      )
      yield* TestClock.adjust("15 seconds")
      const login = yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        [login.clientId, Redacted.value(login.accessToken), login.refreshToken && Redacted.value(login.refreshToken)],
        ["client", "access-1", "refresh-1"]
      )
      assert.deepStrictEqual(login.expiresAt && DateTime.formatIso(login.expiresAt), "1970-01-01T01:00:15.000Z")
      assert.deepStrictEqual(server.forms(deviceCodePath), [{ client_id: "client" }])
      const poll = {
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        device_code: "device-secret",
        client_id: "client"
      }
      assert.deepStrictEqual(server.forms(tokenPath), [poll, poll, poll])
      assert.deepStrictEqual(server.times(tokenPath), [5000, 10_000, 15_000])
      assert.notMatch(inspect(login, { depth: 20 }) + JSON.stringify(login), /access-1|refresh-1/)
    })
  )

  it.effect("asks as often as the server says", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* secondsOfPolls([pending], { ...code, interval: 12 }), [12, 24])
    })
  )

  it.effect("does not ask without a pause", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* secondsOfPolls([pending], { ...code, interval: 0 }), [1, 2])
    })
  )

  it.effect("asks 5 seconds more slowly each time it is told to slow down", () =>
    Effect.gen(function* () {
      const slowDown = refuses("slow_down")
      assert.deepStrictEqual(yield* secondsOfPolls([slowDown, pending, slowDown]), [5, 15, 25, 40])
    })
  )

  it.effect("takes slow_down and pending for what they are under any status", () =>
    Effect.gen(function* () {
      const answers = [refuses("slow_down", 429), refuses("authorization_pending", 403)]
      assert.deepStrictEqual(yield* secondsOfPolls(answers), [5, 15, 25])
    })
  )

  it.effect("goes on asking, ever more slowly, while the platform cannot be reached", () =>
    Effect.gen(function* () {
      const page: Answer = { status: 200, body: "<html>Log in to the wireless network</html>" }
      const answers: ReadonlyArray<Answer> = ["unreachable", { status: 503, body: "" }, page, pending]
      assert.deepStrictEqual(yield* secondsOfPolls(answers), [5, 15, 35, 75, 80])
    })
  )

  it.effect("does not wait for an answer that does not come", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* secondsOfPolls(["silent"]), [5, 30])
    })
  )

  it.effect("ends when it is denied", () =>
    Effect.gen(function* () {
      const { error, polls } = yield* failureOf([pending, refuses("access_denied")])
      assert.deepStrictEqual([error.reason, polls], ["Denied", 2])
      assert.strictEqual(
        error.message,
        "Signing in to https://platform.example was denied. To try again: bench auth login"
      )
    })
  )

  it.effect("ends when the server says that the code has expired", () =>
    Effect.gen(function* () {
      const { error, polls } = yield* failureOf([refuses("expired_token")])
      assert.deepStrictEqual([error.reason, polls], ["Expired", 1])
    })
  )

  it.effect("ends when the code expires, whatever the server says", () =>
    Effect.gen(function* () {
      const { error, polls } = yield* failureOf(Array<Answer>(100).fill(pending), { ...code, expires_in: 23 })
      assert.deepStrictEqual([error.reason, polls], ["Expired", 4])
    })
  )

  it.effect("ends when the program is refused, with what the server says", () =>
    Effect.gen(function* () {
      const answer: Answer = {
        status: 400,
        body: { error: "invalid_client", error_description: "unknown\u001b[2J client" }
      }
      const { error } = yield* failureOf([answer])
      assert.strictEqual(error.reason, "Refused")
      assert.strictEqual(
        error.message,
        "https://platform.example does not let this program sign in: answered 400: invalid_client (unknown\ufffd[2J client). Use an API key instead: bench auth login --api-key KEY"
      )
    })
  )

  it.effect("ends when the platform answers what no platform does", () =>
    Effect.gen(function* () {
      const { error, polls } = yield* failureOf([pending, { status: 404, body: "<html>" }])
      assert.deepStrictEqual([error.reason, error.detail, polls], ["Unavailable", "answered 404", 2])
    })
  )

  it.effect("does not start where no code can be had", () =>
    Effect.gen(function* () {
      const ask = (answer: Answer) =>
        Effect.gen(function* () {
          const server = new AuthServer()
          server.script(deviceCodePath, [answer])
          const error = yield* Credentials.deviceLogin({
            baseUrl,
            clientId: "client",
            onCode: () => Effect.dieMessage("there is no code")
          }).pipe(Effect.provide(server.layer), Effect.flip)
          return error.message
        })
      const unavailable = (detail: string) =>
        `https://platform.example cannot be signed in to: ${detail}. Check the base URL and the network.`
      assert.strictEqual(yield* ask("unreachable"), unavailable("connect ECONNREFUSED"))
      assert.strictEqual(yield* ask({ status: 502, body: "<html>" }), unavailable("answered 502"))
      const something = unavailable("answered 200 with something else than was asked for")
      assert.strictEqual(yield* ask(ok({ ...code, device_code: undefined })), something)
      assert.strictEqual(yield* ask(ok({ ...code, verification_uri: "javascript:alert(1)" })), something)
      assert.strictEqual(yield* ask({ status: 404, body: "<html>" }), unavailable("answered 404"))
    })
  )

  it.effect("lets no control characters of the server through", () =>
    Effect.gen(function* () {
      const { fiber, shown } = yield* start([], {
        ...code,
        user_code: "AB\u001b[31mCD\u0007\u202eEF",
        verification_uri: "https://platform.example/\u001b]8;;x\u0007\u202edevice",
        verification_uri_complete: null
      })
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(
        shown.map(({ userCode, verificationUri, verificationUriComplete }) => [
          userCode,
          verificationUri,
          verificationUriComplete
        ]),
        [["AB\ufffd[31mCD\ufffd\ufffdEF", "https://platform.example/%1B]8;;x%07%E2%80%AEdevice", undefined]]
      )
    })
  )

  it.effect("asks no more once it is interrupted", () =>
    Effect.gen(function* () {
      const { fiber, server } = yield* start([pending, pending, pending])
      yield* TestClock.adjust("10 seconds")
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(server.times(tokenPath), [5000, 10_000])
    })
  )

  it.effect("sends nothing over http to another machine", () =>
    Effect.gen(function* () {
      const server = new AuthServer()
      const error = yield* Credentials.deviceLogin({
        baseUrl: "http://platform.example",
        clientId: "client",
        onCode: () => Effect.void
      }).pipe(Effect.provide(server.layer), Effect.flip)
      assert.strictEqual(error._tag, "CredentialsError")
      assert.deepStrictEqual(server.calls, [])
    })
  )
})
