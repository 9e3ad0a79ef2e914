import { FetchHttpClient, HttpApp } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Layer, Option, Redacted, TestClock } from "effect"
import { Accounts } from "../../src/Accounts.js"
import * as Credentials from "../../src/Credentials.js"
import * as PlatformClient from "../../src/PlatformClient.js"
import * as SqlAccounts from "../../src/SqlAccounts.js"
import type { Answer, Host } from "../support/accountsHost.js"
import { adminKey, ask, assertAnswer, organization, serve } from "../support/accountsHost.js"
import { temporaryHome } from "../support/authServer.js"

// -----------------------------------------------------------------------------
// support
// -----------------------------------------------------------------------------

const codePath = "/api/auth/device/code"
const tokenPath = "/api/auth/oauth2/token"
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

const host = Effect.gen(function* () {
  const served = yield* serve
  return { ...served, acme: yield* organization(served.accounts, "acme") }
})

const post = (to: Pick<Host, "baseUrl">, path: string, fields: Readonly<Record<string, string>>) =>
  ask(to, path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields).toString()
  })

const text = (answer: Answer, field: string): string => {
  const { body } = answer
  const value: unknown =
    typeof body === "object" && body !== null ? Object.entries(body).find(([k]) => k === field)?.[1] : ""
  return typeof value === "string" ? value : assert.fail(`no ${field} in ${answer.text}`)
}

const start = (to: Pick<Host, "baseUrl">, clientId = "bench-cli") =>
  Effect.map(post(to, codePath, { client_id: clientId }), (answer) => ({
    deviceCode: text(answer, "device_code"),
    userCode: text(answer, "user_code")
  }))

const poll = (to: Pick<Host, "baseUrl">, deviceCode: string, clientId = "bench-cli") =>
  post(to, tokenPath, { grant_type: deviceGrant, device_code: deviceCode, client_id: clientId })

const refresh = (to: Pick<Host, "baseUrl">, refreshToken: string, clientId = "bench-cli") =>
  post(to, tokenPath, { grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId })

const errorOf = (answer: Answer) => [answer.status, text(answer, "error")]

/** The form as a browser has it: what it holds, and the cookie that came with it. */
const openForm = (to: Pick<Host, "baseUrl">, query = "") =>
  Effect.map(ask(to, `/device${query}`), (page) => {
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ""
    const cookie = page.headers.get("set-cookie")?.split(";")[0] ?? ""
    return { page, csrf, cookie }
  })

const submit = (
  to: Pick<Host, "baseUrl">,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {}
) =>
  Effect.flatMap(openForm(to), ({ cookie, csrf }) =>
    ask(to, "/device", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", cookie, ...headers },
      body: new URLSearchParams({ csrf, ...fields }).toString()
    })
  )

const approve = (
  to: Pick<Host, "baseUrl">,
  userCode: string,
  key: Redacted.Redacted,
  more: Record<string, string> = {}
) => submit(to, { user_code: userCode, key: Redacted.value(key), decision: "approve", ...more })

const signIn = (to: Pick<Host, "baseUrl">, key: Redacted.Redacted, more: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const { deviceCode, userCode } = yield* start(to)
    assert.strictEqual((yield* approve(to, userCode, key, more)).status, 200)
    const answer = yield* poll(to, deviceCode)
    return { access: text(answer, "access_token"), refresh: text(answer, "refresh_token"), answer }
  })

const statusWith = (to: Pick<Host, "baseUrl">, key: string) =>
  Effect.map(ask(to, "/api/v1/benchmarks", { key }), ({ status }) => status)

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

describe("signing in from a program", () => {
  it.scoped("works from the code to the refreshed login", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const { acme, baseUrl } = yield* host
      const to = { baseUrl }
      yield* Effect.gen(function* () {
        const fiber = yield* Credentials.deviceLogin({
          baseUrl,
          clientId: "bench-cli",
          onCode: ({ userCode, verificationUri, verificationUriComplete }) =>
            Effect.gen(function* () {
              assert.match(userCode, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
              assert.strictEqual(verificationUri, `${baseUrl}/device`)
              assert.strictEqual(verificationUriComplete, `${baseUrl}/device?user_code=${userCode}`)
              const approved = yield* approve(to, userCode, acme.key)
              assert.include(approved.text, "Approved: bench-cli is being signed in.")
              yield* Effect.fork(TestClock.adjust("5 seconds"))
            })
        }).pipe(Effect.fork)
        const login = yield* Fiber.join(fiber)
        assert.strictEqual(login.expiresAt && DateTime.formatIso(login.expiresAt), "1970-01-01T01:00:05.000Z")
        yield* Credentials.saveLogin(baseUrl, login)

        const resolved = yield* Effect.flatMap(Credentials.resolve({ baseUrl }), Effect.orDie)
        assert.strictEqual(Redacted.value(yield* resolved.credentials), Redacted.value(login.accessToken))
        const layer = PlatformClient.layerAccounts(resolved)
        const me = Effect.provide(
          Effect.flatMap(Accounts, (accounts) => accounts.me),
          layer
        )
        const { organizations, user } = yield* me
        assert.strictEqual(user?.name, "test")
        assert.deepStrictEqual(organizations, [{ id: acme.id, slug: "acme", name: acme.name }])

        yield* TestClock.adjust("56 minutes")
        const refreshed = yield* resolved.credentials
        assert.notStrictEqual(Redacted.value(refreshed), Redacted.value(login.accessToken))
        yield* TestClock.adjust("30 minutes")
        assert.strictEqual((yield* me).activeOrganizationId, acme.id)
        assert.strictEqual(yield* statusWith(to, Redacted.value(login.accessToken)), 401)
        assert.strictEqual(yield* statusWith(to, Redacted.value(refreshed)), 200)
      }).pipe(Effect.provide(Layer.merge(home.layer(), FetchHttpClient.layer)))
    })
  )

  it.scoped("is told of a denial", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* host
      const error = yield* Credentials.deviceLogin({
        baseUrl,
        clientId: "bench-cli",
        onCode: ({ userCode }) =>
          Effect.gen(function* () {
            const denied = yield* submit({ baseUrl }, { user_code: userCode, decision: "deny" })
            assert.include(denied.text, "Denied. The device was not signed in.")
            yield* Effect.fork(TestClock.adjust("5 seconds"))
          })
      }).pipe(Effect.flip, Effect.provide(FetchHttpClient.layer))
      assert.propertyVal(error, "reason", "Denied")
    })
  )
})

describe("codes", () => {
  it.scoped("are given to any client, for a form or for JSON", () =>
    Effect.gen(function* () {
      const to = yield* host
      const asJson = yield* ask(to, codePath, { method: "POST", body: { client_id: "another" } })
      const asForm = yield* post(to, codePath, { client_id: "bench-cli" })
      for (const answer of [asJson, asForm]) {
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
        assert.include(answer.body, { expires_in: 600, interval: 5, verification_uri: `${to.baseUrl}/device` })
      }
      for (const body of ["", "client_id=", `client_id=${"x".repeat(201)}`, "client_id=%00", "x".repeat(20_000)]) {
        assert.deepStrictEqual(errorOf(yield* ask(to, codePath, { method: "POST", body })), [400, "invalid_request"])
      }
      const notJson = { method: "POST", headers: { "content-type": "application/json" }, body: "[1" }
      assert.deepStrictEqual(errorOf(yield* ask(to, codePath, notJson)), [400, "invalid_request"])
    })
  )

  it.scoped("point to the public address of the platform", () =>
    Effect.gen(function* () {
      const { context } = yield* host
      const { app, paths } = yield* Effect.provide(
        SqlAccounts.deviceLogin({ publicUrl: "https://bench.example.com/benchmarks/" }),
        context
      )
      assert.deepStrictEqual(paths, ["/api/auth", "/device"])
      const handle = HttpApp.toWebHandler(app)
      const answer = yield* Effect.promise(() =>
        handle(new Request(`http://10.0.0.1:3000${codePath}`, { method: "POST", body: "client_id=bench-cli" }))
      )
      assert.propertyVal(
        yield* Effect.promise(() => answer.json()),
        "verification_uri",
        "https://bench.example.com/benchmarks/device"
      )
      const page = yield* Effect.promise(() => handle(new Request("http://10.0.0.1:3000/device")))
      assert.match(page.headers.get("set-cookie") ?? "", /; Secure/)
    })
  )

  it.scoped("are not given without end", () =>
    Effect.gen(function* () {
      const to = yield* host
      for (let i = 0; i < 30; i++) yield* start(to)
      const limited = yield* post(to, codePath, { client_id: "bench-cli" })
      assert.deepStrictEqual(errorOf(limited), [429, "too_many_requests"])
      assert.strictEqual(limited.headers.get("retry-after"), "2")
      yield* TestClock.adjust("2 seconds")
      yield* start(to)
    })
  )
})

describe("tokens for a device", () => {
  it.scoped("are not there before somebody has decided", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { deviceCode } = yield* start(to)
      assert.deepStrictEqual(errorOf(yield* poll(to, deviceCode)), [400, "authorization_pending"])
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(errorOf(yield* poll(to, deviceCode)), [400, "authorization_pending"])
    })
  )

  it.scoped("are to be asked for 5 seconds more slowly after every request that comes too early", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { deviceCode } = yield* start(to)
      const after = (seconds: number) =>
        TestClock.adjust(`${seconds} seconds`).pipe(
          Effect.zipRight(poll(to, deviceCode)),
          Effect.map((answer) => text(answer, "error"))
        )
      assert.deepStrictEqual(
        [yield* after(0), yield* after(3), yield* after(8), yield* after(15)],
        ["authorization_pending", "slow_down", "slow_down", "authorization_pending"]
      )
      assert.deepStrictEqual([yield* after(10), yield* after(20)], ["slow_down", "authorization_pending"])
    })
  )

  it.scoped("come once, to the client that asked for the code", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { deviceCode, userCode } = yield* start(to)
      yield* approve(to, userCode, to.acme.key)
      assert.deepStrictEqual(errorOf(yield* poll(to, deviceCode, "another")), [400, "invalid_grant"])
      const answer = yield* poll(to, deviceCode)
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.include(answer.body, { token_type: "Bearer", expires_in: 3600 })
      assert.strictEqual(yield* statusWith(to, text(answer, "access_token")), 200)
      assert.deepStrictEqual(errorOf(yield* poll(to, deviceCode)), [400, "invalid_grant"])
    })
  )

  it.scoped("come to a request of JSON as well", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { deviceCode, userCode } = yield* start(to)
      yield* approve(to, userCode, to.acme.key)
      const body = { grant_type: deviceGrant, device_code: deviceCode, client_id: "bench-cli" }
      assert.strictEqual((yield* ask(to, tokenPath, { method: "POST", body })).status, 200)
    })
  )

  it.scoped("do not come once the code has expired", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { deviceCode, userCode } = yield* start(to)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* approve(to, userCode, to.acme.key)).status, 404)
      assert.deepStrictEqual(errorOf(yield* poll(to, deviceCode)), [400, "expired_token"])
    })
  )

  it.scoped("do not come when it is denied, also if it is approved later", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { deviceCode, userCode } = yield* start(to)
      yield* submit(to, { user_code: userCode, decision: "deny" })
      assert.strictEqual((yield* approve(to, userCode, to.acme.key)).status, 404)
      assert.deepStrictEqual(errorOf(yield* poll(to, deviceCode)), [400, "access_denied"])
    })
  )

  it.scoped("do not come for what is no grant", () =>
    Effect.gen(function* () {
      const to = yield* host
      const ask = (fields: Readonly<Record<string, string>>) => Effect.map(post(to, tokenPath, fields), errorOf)
      const client = { client_id: "bench-cli" }
      assert.deepStrictEqual(yield* ask({ ...client, grant_type: "password" }), [400, "unsupported_grant_type"])
      assert.deepStrictEqual(yield* ask(client), [400, "invalid_request"])
      assert.deepStrictEqual(yield* ask({ grant_type: "refresh_token", refresh_token: "x" }), [400, "invalid_request"])
      assert.deepStrictEqual(yield* ask({ ...client, grant_type: deviceGrant }), [400, "invalid_request"])
      assert.deepStrictEqual(yield* ask({ ...client, grant_type: "refresh_token" }), [400, "invalid_request"])
    })
  )

  it.scoped("cannot be guessed without end", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { access, refresh: good } = yield* signIn(to, to.acme.key)
      for (let i = 0; i < 10; i++) {
        assert.deepStrictEqual(errorOf(yield* poll(to, "guessed")), [400, "invalid_grant"])
        assert.deepStrictEqual(errorOf(yield* refresh(to, access)), [400, "invalid_grant"])
      }
      const limited = yield* refresh(to, "guessed")
      assert.deepStrictEqual(errorOf(limited), [429, "too_many_requests"])
      assert.strictEqual(limited.headers.get("retry-after"), "3")
      assert.strictEqual((yield* refresh(to, good)).status, 200)
    })
  )
})

describe("logins", () => {
  it.scoped("go on with new tokens; access tokens live an hour", () =>
    Effect.gen(function* () {
      const to = yield* host
      const first = yield* signIn(to, to.acme.key)
      yield* TestClock.adjust("59 minutes")
      const answer = yield* refresh(to, first.refresh)
      const next = text(answer, "access_token")
      assert.notStrictEqual(text(answer, "refresh_token"), first.refresh)
      assert.strictEqual(yield* statusWith(to, first.access), 200)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* statusWith(to, first.access), 401)
      assert.strictEqual(yield* statusWith(to, next), 200)
      assert.strictEqual(yield* statusWith(to, text(answer, "refresh_token")), 401)
    })
  )

  it.scoped("end when a refresh token is used again", () =>
    Effect.gen(function* () {
      const to = yield* host
      const first = yield* signIn(to, to.acme.key)
      const others = yield* signIn(to, to.acme.key)
      const second = yield* refresh(to, first.refresh)
      assert.deepStrictEqual(errorOf(yield* refresh(to, first.refresh)), [400, "invalid_grant"])
      assert.deepStrictEqual(errorOf(yield* refresh(to, text(second, "refresh_token"))), [400, "invalid_grant"])
      assertAnswer(yield* ask(to, "/api/v1/me", { key: text(second, "access_token") }), 401, {
        error: "Invalid API key"
      })
      assert.strictEqual((yield* refresh(to, others.refresh)).status, 200)
    })
  )

  it.scoped("end when they are not refreshed for 30 days, and stay with their client", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { refresh: token } = yield* signIn(to, to.acme.key)
      assert.deepStrictEqual(errorOf(yield* refresh(to, token, "another")), [400, "invalid_grant"])
      yield* TestClock.adjust("29 days")
      const next = text(yield* refresh(to, token), "refresh_token")
      yield* TestClock.adjust("30 days")
      assert.deepStrictEqual(errorOf(yield* refresh(to, next)), [400, "invalid_grant"])
    })
  )

  it.scoped("end with the key that approved them", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { access, refresh: token } = yield* signIn(to, to.acme.key)
      assert.strictEqual(yield* statusWith(to, access), 200)
      yield* to.accounts.revokeKey(to.acme.apiKey.prefix)
      assert.strictEqual(yield* statusWith(to, access), 401)
      assert.deepStrictEqual(errorOf(yield* refresh(to, token)), [400, "invalid_grant"])
    })
  )

  it.scoped("that the admin key approved end when there is another admin key", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { access } = yield* signIn(to, adminKey, { organization: "acme" })
      assert.strictEqual(yield* statusWith(to, access), 200)
      for (const changed of [undefined, Redacted.make("another-admin-key-of-the-platform")]) {
        const accounts = yield* Effect.provide(SqlAccounts.make({ adminKey: changed }), to.context)
        assert.isTrue(Option.isNone(yield* accounts.authenticate(Redacted.make(access))))
      }
      const same = yield* Effect.provide(SqlAccounts.make({ adminKey }), to.context)
      assert.isTrue(Option.isSome(yield* same.authenticate(Redacted.make(access))))
    })
  )

  it.scoped("of a member of several organizations act for the one that is named, or active", () =>
    Effect.gen(function* () {
      const to = yield* host
      const other = yield* organization(to.accounts, "other")
      yield* organization(to.accounts, "foreign")
      const { access } = yield* signIn(to, to.acme.key)
      const me = yield* to.accounts.authenticate(Redacted.make(access))
      const login = Option.getOrUndefined(me)
      assert.strictEqual(login?._tag, "Login")
      if (login?._tag !== "Login") return
      yield* to.accounts.addMember({ userId: login.user.id, organization: "other", role: "owner" })
      yield* to.platformOf(other).upsertBenchmark("of-other", {})

      const benchmarks = (headers: Readonly<Record<string, string>> = {}) =>
        Effect.map(ask(to, "/api/v1/benchmarks", { key: access, headers }), ({ status, text }) => [
          status,
          text.includes("of-other")
        ])
      assert.deepStrictEqual(yield* benchmarks(), [200, false])
      assert.deepStrictEqual(yield* benchmarks({ "x-org-slug": "other" }), [200, true])
      assert.deepStrictEqual(yield* benchmarks({ "x-organization-id": other.id }), [200, true])
      assert.deepStrictEqual(yield* benchmarks({ "x-org-slug": "foreign" }), [403, false])

      const listed = yield* ask(to, "/api/v1/organizations", { key: access })
      const [acme, second] = [to.acme, other].map(({ id, name, slug }) => ({ id, slug, name }))
      assert.deepStrictEqual(listed.body, { items: [acme, second] })
      const use = (slug: string) => ask(to, "/api/v1/organizations", { method: "POST", key: access, body: { slug } })
      assertAnswer(yield* use("other"), 200, { activeOrganizationId: other.id, organization: second })
      assert.strictEqual((yield* use("foreign")).status, 403)
      assert.deepStrictEqual(yield* benchmarks(), [200, true])
      assertAnswer(yield* ask(to, "/api/v1/me", { key: access }), 200, {
        user: login.user,
        activeOrganizationId: other.id,
        organizations: [acme, second]
      })
    })
  )
})

describe("the page for people", () => {
  it.scoped("shows the code of its address, and lets nothing run or load", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { cookie, csrf, page } = yield* openForm(to, "?user_code=ABCD-EFGH")
      assert.strictEqual(page.status, 200)
      assert.include(page.text, 'value="ABCD-EFGH"')
      assert.match(
        page.headers.get("content-security-policy") ?? "",
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/
      )
      assert.strictEqual(page.headers.get("cache-control"), "no-store")
      assert.strictEqual(cookie, `bench_csrf=${csrf}`)
      assert.match(page.headers.get("set-cookie") ?? "", /HttpOnly; SameSite=Strict$/)
      assert.notInclude(page.text, "<script")
    })
  )

  it.scoped("shows what was entered as text, but no key", () =>
    Effect.gen(function* () {
      const to = yield* host
      const hostile = `"><script>alert('1')</script>&`
      const { page } = yield* openForm(to, `?code=${encodeURIComponent(hostile)}`)
      assert.include(page.text, "&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;")
      const { status, text } = yield* submit(to, {
        user_code: "ABCD-EFGH",
        key: Redacted.value(adminKey),
        organization: hostile,
        decision: "approve"
      })
      assert.strictEqual(status, 422)
      assert.include(text, `There is no organization &quot;&quot;&gt;&lt;script&gt;`)
      assert.notInclude(text, "<script")
      assert.notInclude(text, Redacted.value(adminKey))
    })
  )

  it.scoped("takes the code however it is typed", () =>
    Effect.gen(function* () {
      const to = yield* host
      const spellings: ReadonlyArray<(code: string) => string> = [
        (code) => code.toLowerCase(),
        (code) => code.replace("-", ""),
        (code) => ` ${code.replace("-", " - ")} `
      ]
      for (const spell of spellings) {
        const { userCode } = yield* start(to)
        assert.strictEqual((yield* approve(to, spell(userCode), to.acme.key)).status, 200)
      }
    })
  )

  it.scoped("takes keys, the admin key with an organization, and nothing else", () =>
    Effect.gen(function* () {
      const to = yield* host
      yield* organization(to.accounts, "other")
      const { access } = yield* signIn(to, to.acme.key)
      const { userCode } = yield* start(to)
      const tried = (key: Redacted.Redacted, organization = "") =>
        Effect.map(approve(to, userCode, key, { organization }), ({ status }) => status)
      assert.strictEqual(yield* tried(Redacted.make("")), 401)
      assert.strictEqual(yield* tried(Redacted.make("wrong")), 401)
      assert.strictEqual(yield* tried(Redacted.make(access)), 401)
      assert.strictEqual(yield* tried(to.acme.key, "other"), 403)
      assert.strictEqual(yield* tried(adminKey), 422)
      assert.strictEqual(yield* tried(adminKey, "nobody"), 422)
      assert.strictEqual(yield* tried(to.acme.key, "acme"), 200)
      const ofAdmin = yield* signIn(to, adminKey, { organization: "other" })
      const { body } = yield* ask(to, "/api/v1/me", { key: ofAdmin.access })
      assert.nestedPropertyVal(body, "user.name", "Administrator")
      assert.nestedPropertyVal(body, "organizations[0].slug", "other")
      assert.nestedPropertyVal(body, "organizations.length", 1)
    })
  )

  it.scoped("takes only forms that it has shown itself", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { deviceCode, userCode } = yield* start(to)
      const fields = { user_code: userCode, key: Redacted.value(to.acme.key), decision: "approve" }
      const status = (more: Record<string, string>, headers: Record<string, string>) =>
        Effect.map(submit(to, { ...fields, ...more }, headers), (answer) => answer.status)
      const stolen = (yield* openForm(to)).csrf
      assert.strictEqual(yield* status({ csrf: "" }, {}), 403)
      assert.strictEqual(yield* status({ csrf: stolen }, {}), 403)
      assert.strictEqual(yield* status({}, { cookie: "" }), 403)
      assert.strictEqual(yield* status({ csrf: "" }, { cookie: "bench_csrf=" }), 403)
      assert.strictEqual(yield* status({}, { origin: "https://evil.example" }), 403)
      assert.deepStrictEqual(errorOf(yield* poll(to, deviceCode)), [400, "authorization_pending"])
      assert.strictEqual(yield* status({}, { origin: to.baseUrl }), 200)
    })
  )

  it.scoped("looks at no more codes and keys after 20 wrong ones", () =>
    Effect.gen(function* () {
      const to = yield* host
      const { userCode } = yield* start(to)
      for (let i = 0; i < 10; i++) {
        assert.strictEqual((yield* approve(to, userCode, Redacted.make("wrong"))).status, 401)
        assert.strictEqual((yield* submit(to, { user_code: "BBBB-BBBB", decision: "deny" })).status, 404)
      }
      const limited = yield* approve(to, userCode, to.acme.key)
      assert.strictEqual(limited.status, 429)
      assert.strictEqual(limited.headers.get("retry-after"), "3")
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual((yield* approve(to, userCode, to.acme.key)).status, 200)
    })
  )
})
