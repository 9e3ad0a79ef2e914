import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Redacted, Stream } from "effect"
import * as auth from "../../src/cli/auth.js"
import * as org from "../../src/cli/org.js"
import { ExitWith } from "../../src/cli/output.js"
import * as Credentials from "../../src/Credentials.js"
import type { Answer, Call, Home } from "../support/authServer.js"
import { AuthServer, deviceCodePath, ok, pending, refuses, temporaryHome, tokenPath } from "../support/authServer.js"

const key = "bp_abcd1234_0123456789uvwxyz"

const acme = { id: "o1", slug: "acme", name: "Acme" }

const umbrella = { id: "o2", slug: "umbrella", name: null }

const ada = { id: "u1", email: "ada@example.com", name: "Ada" }

const mePath = "/api/v1/me"

const organizationsPath = "/api/v1/organizations"

/** A platform on this machine where one person has a token and one organization a key. */
const platform = Effect.gen(function* () {
  const home = yield* temporaryHome
  const server = new AuthServer()
  const baseUrl = yield* server.serve
  const personal = { user: ada, activeOrganizationId: "o1", organizations: [acme, umbrella] }
  const answers = new Map<string | undefined, Answer>([
    [`Bearer ${key}`, ok({ user: null, activeOrganizationId: "o1", organizations: [acme] })],
    ["Bearer access-1", ok(personal)],
    ["Bearer access-2", ok(personal)]
  ])
  const unknown: Answer = { status: 401, body: { error: "Invalid API key" } }
  server.script(mePath, [], ({ authorization }) => answers.get(authorization) ?? unknown)
  server.script(organizationsPath, [], (call: Call) =>
    call.method === "POST"
      ? call.body === '{"slug":"umbrella"}'
        ? ok({ activeOrganizationId: "o2", organization: umbrella })
        : { status: 403, body: { error: "not a member" } }
      : ok({ items: [acme, umbrella] })
  )
  return { home, server, baseUrl }
})

const loginFor = (minutes: number) => ({
  clientId: "bench-cli",
  accessToken: "access-1",
  refreshToken: "refresh-1",
  issuedAt: new Date(Date.now() + (minutes - 60) * 60_000).toISOString(),
  expiresAt: new Date(Date.now() + minutes * 60_000).toISOString()
})

const signIn = (home: Home, baseUrl: string, login: object = loginFor(30)) =>
  home.write("credentials.json", { version: 1, platforms: { [baseUrl]: { login } } })

/** What a command prints, with the code that it ends with, or the message that it fails with. */
const call = <A, E extends Error, R>(
  home: Home,
  command: Effect.Effect<A, E, R>,
  environment: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function* () {
    const console = yield* Effect.console
    let stdout = ""
    let stderr = ""
    const capture: Console.Console = {
      ...console,
      [Console.TypeId]: Console.TypeId,
      log: (text) => Effect.sync(() => (stdout += `${String(text)}\n`)),
      error: (text) => Effect.sync(() => (stderr += `${String(text)}\n`))
    }
    const ended = yield* command.pipe(
      Effect.as<number | string>(0),
      Effect.catchAll((error) => Effect.succeed(error instanceof ExitWith ? error.code : error.message)),
      Effect.withConsole(capture)
    )
    assert.notMatch(stdout + stderr + String(ended), /0123456789|access-\d|refresh-\d|device-secret/)
    return { ended, stdout, stderr }
  }).pipe(Effect.provide(FetchHttpClient.layer), Effect.provide(home.layer(environment)))

describe("auth login", () => {
  it.scopedLive("keeps a key that the platform accepts", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* platform
      const login = auth.login({ baseUrl: `${baseUrl}/api/v1/`, apiKey: Redacted.make(` ${key}\n`) })
      assert.deepStrictEqual(yield* call(home, login), {
        ended: 0,
        stdout: `Signed in to ${baseUrl} with an API key, for acme.\n`,
        stderr: ""
      })
      assert.deepStrictEqual(
        server.calls.map(({ authorization, path }) => [path, authorization]),
        [[mePath, `Bearer ${key}`]]
      )
      assert.deepStrictEqual(home.json("credentials.json"), { version: 1, platforms: { [baseUrl]: { apiKey: key } } })
      assert.deepStrictEqual(home.json("config.json"), { version: 1, baseUrl, platforms: {} })
      assert.deepStrictEqual([home.mode(), home.mode("credentials.json")], ["700", "600"])
    })
  )

  it.scopedLive("keeps no key that the platform does not accept", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* platform
      const unknown = auth.login({ baseUrl, apiKey: Redacted.make("bp_unknown_0123456789") })
      assert.deepStrictEqual(yield* call(home, unknown), {
        ended: 2,
        stdout: "",
        stderr: `${baseUrl} does not accept this key: it is unknown, expired or revoked. Nothing was saved.\n`
      })
      server.script(mePath, [], "unreachable")
      const { ended } = yield* call(home, auth.login({ baseUrl, apiKey: Redacted.make(key) }))
      assert.match(String(ended), /^me: cannot reach 127\.0\.0\.1/)
      assert.isFalse(home.exists(""))
    })
  )

  it.scopedLive("keeps no key of another organization than was asked for", () =>
    Effect.gen(function* () {
      const { baseUrl, home } = yield* platform
      const login = auth.login({ baseUrl, apiKey: Redacted.make(key), organization: "umbrella" })
      assert.strictEqual(
        (yield* call(home, login)).ended,
        'These credentials give no access to the organization "umbrella". There are: acme'
      )
      assert.isFalse(home.exists(""))
    })
  )

  it.scopedLive("signs in with a browser, for an organization", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* platform
      home.write("credentials.json", { platforms: { [baseUrl]: { apiKey: "bp_old" } } })
      server.script(deviceCodePath, [
        ok({
          device_code: "device-secret",
          user_code: "ABCD-EFGH",
          verification_uri: `${baseUrl}/device`,
          verification_uri_complete: `${baseUrl}/device?code=ABCD-EFGH`,
          expires_in: 600,
          interval: 1
        })
      ])
      const tokens = { access_token: "access-1", refresh_token: "refresh-1", expires_in: 3600 }
      server.script(tokenPath, [pending, ok(tokens)])
      const environment = { BENCHMARKS_PLATFORM_TOKEN: "t" }
      const { ended, stderr, stdout } = yield* call(
        home,
        auth.login({ baseUrl, organization: "umbrella" }),
        environment
      )
      assert.deepStrictEqual([ended, stdout], [0, `Signed in to ${baseUrl} as ada@example.com, for umbrella.\n`])
      assert.strictEqual(
        stderr.replace(/until .*Z/, "until <time>"),
        [
          `To sign in, open ${baseUrl}/device`,
          "and enter the code ABCD-EFGH",
          `or open ${baseUrl}/device?code=ABCD-EFGH`,
          "Waiting until <time> (Ctrl-C to give up) …",
          "BENCHMARKS_PLATFORM_TOKEN in the environment comes before what is saved.",
          ""
        ].join("\n")
      )
      assert.deepStrictEqual(server.forms(deviceCodePath), [{ client_id: "bench-cli" }])
      const { credentials, settings } = yield* Effect.provide(Credentials.saved, home.layer())
      const saved = credentials.platforms[baseUrl]
      assert.deepStrictEqual(
        [saved?.login && Redacted.value(saved.login.accessToken), saved?.apiKey],
        ["access-1", undefined]
      )
      assert.deepStrictEqual(settings.platforms, { [baseUrl]: { organization: "umbrella" } })
      const activation = server.calls.find(({ method, path }) => method === "POST" && path === organizationsPath)
      assert.deepStrictEqual([activation?.authorization, activation?.body], ["Bearer access-1", '{"slug":"umbrella"}'])
    })
  )

  it.scopedLive("says that it was denied", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* platform
      const code = { device_code: "device-secret", user_code: "A", verification_uri: baseUrl, interval: 1 }
      server.script(deviceCodePath, [ok(code)])
      server.script(tokenPath, [refuses("access_denied")])
      const { ended, stderr } = yield* call(home, auth.login({ baseUrl }))
      assert.strictEqual(ended, 2)
      assert.match(stderr, /was denied\. To try again: bench auth login\n$/)
      assert.isFalse(home.exists(""))
    })
  )

  it.effect("reads a key from the first line of its input", () =>
    Effect.gen(function* () {
      const read = (...chunks: ReadonlyArray<string>) =>
        auth.readKey(Stream.fromIterable(chunks.map((chunk) => new TextEncoder().encode(chunk))))
      assert.strictEqual(Redacted.value(yield* read("bp_one", "_two \r\nmore\n")), "bp_one_two")
      assert.strictEqual((yield* Effect.flip(read("\n"))).message, "--api-key -: there is no key on standard input")
      assert.strictEqual((yield* Effect.flip(read())).message, "--api-key -: there is no key on standard input")
    })
  )
})

describe("auth status", () => {
  it.scopedLive("says that nobody is signed in, with code 2", () =>
    Effect.gen(function* () {
      const { home } = yield* platform
      const reason =
        "Not signed in: there are no credentials for https://platform.computesdk.com. Sign in with `bench auth login`, or pass a key in BENCHMARKS_PLATFORM_API_KEY or --api-key."
      assert.deepStrictEqual(yield* call(home, auth.status({ json: false })), {
        ended: 2,
        stdout: "",
        stderr: `${reason}\n`
      })
      const { ended, stderr, stdout } = yield* call(home, auth.status({ json: true }))
      assert.deepStrictEqual([ended, stderr], [2, ""])
      assert.deepStrictEqual(JSON.parse(stdout), {
        signedIn: false,
        baseUrl: "https://platform.computesdk.com",
        source: "none",
        reason
      })
    })
  )

  it.scopedLive("says whose key it is and where it comes from", () =>
    Effect.gen(function* () {
      const { baseUrl, home } = yield* platform
      const environment = { BENCHMARKS_PLATFORM_API_KEY: key, BENCHMARKS_PLATFORM_URL: baseUrl }
      const { ended, stderr, stdout } = yield* call(home, auth.status({ json: false }), environment)
      assert.deepStrictEqual(
        [ended, stderr, stdout.split("\n")],
        [
          0,
          "",
          [
            `Signed in to ${baseUrl}`,
            "user          none: a key acts for its organization",
            "organization  acme",
            "source        BENCHMARKS_PLATFORM_API_KEY in the environment",
            "key           bp_abcd…wxyz",
            ""
          ]
        ]
      )
      const answer = yield* call(home, auth.status({ json: true }), environment)
      assert.deepStrictEqual(JSON.parse(answer.stdout), {
        signedIn: true,
        baseUrl,
        source: "environment:BENCHMARKS_PLATFORM_API_KEY",
        user: null,
        organization: acme,
        expiresAt: null,
        key: "bp_abcd…wxyz"
      })
    })
  )

  it.scopedLive("says who is signed in, for which organization, until when", () =>
    Effect.gen(function* () {
      const { baseUrl, home } = yield* platform
      const login = loginFor(30)
      signIn(home, baseUrl, login)
      home.write("config.json", { baseUrl, platforms: { [baseUrl]: { organization: "umbrella" } } })
      const { stdout } = yield* call(home, auth.status({ json: false }))
      assert.deepStrictEqual(stdout.split("\n"), [
        `Signed in to ${baseUrl}`,
        "user          ada@example.com",
        "organization  umbrella",
        "source        login in ~/.benchsdk",
        `expires       ${login.expiresAt}, refreshed before`,
        ""
      ])
      const answer = yield* call(home, auth.status({ json: true }))
      assert.deepStrictEqual(JSON.parse(answer.stdout), {
        signedIn: true,
        baseUrl,
        source: "login",
        user: ada,
        organization: umbrella,
        expiresAt: login.expiresAt,
        key: null
      })
    })
  )

  it.scopedLive("refreshes a login that has expired, and one that the platform does not take", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* platform
      for (const login of [loginFor(-1), { ...loginFor(30), accessToken: "access-0" }]) {
        signIn(home, baseUrl, login)
        server.script(tokenPath, [ok({ access_token: "access-2", expires_in: 3600 })])
        assert.strictEqual((yield* call(home, auth.status({ baseUrl, json: true }))).ended, 0)
        assert.include(home.read("credentials.json"), "access-2")
      }
      assert.strictEqual(server.forms(tokenPath).length, 2)
    })
  )

  it.scopedLive("says that the platform does not take what there is, with code 2", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* platform
      signIn(home, baseUrl, loginFor(-1))
      server.script(tokenPath, [refuses("invalid_grant")])
      const refused = yield* call(home, auth.status({ baseUrl, json: false }))
      assert.strictEqual(refused.ended, 2)
      assert.match(refused.stderr, /refused to refresh the login \(answered 400: invalid_grant\)/)
      const unknown = yield* call(home, auth.status({ baseUrl, apiKey: Redacted.make("bp_unknown"), json: true }))
      assert.deepStrictEqual([unknown.ended, JSON.parse(unknown.stdout).source], [2, "flag"])
    })
  )
})

describe("auth logout", () => {
  it.scopedLive("forgets one platform, and says what still gives access", () =>
    Effect.gen(function* () {
      const { baseUrl, home } = yield* platform
      home.write("credentials.json", {
        platforms: { [baseUrl]: { login: loginFor(30) }, "https://other.example": { apiKey: key } }
      })
      home.write("config.json", { baseUrl, platforms: { [baseUrl]: { organization: "acme" } } })
      assert.deepStrictEqual(yield* call(home, auth.logout({}), { BENCHMARKS_PLATFORM_API_KEY: key }), {
        ended: 0,
        stdout: `Signed out of ${baseUrl}: the login is removed from this machine.\n`,
        stderr:
          "Still signed in to https://other.example.\nBENCHMARKS_PLATFORM_API_KEY in the environment still gives access.\n"
      })
      assert.deepStrictEqual(home.json("credentials.json"), {
        version: 1,
        platforms: { "https://other.example": { apiKey: key } }
      })
      assert.deepStrictEqual(home.json("config.json"), { version: 1, baseUrl, platforms: {} })
      assert.strictEqual((yield* call(home, auth.logout({}))).stdout, `Nothing was saved for ${baseUrl}.\n`)
    })
  )
})

describe("org", () => {
  it.scopedLive("lists organizations and marks the one that is acted for", () =>
    Effect.gen(function* () {
      const { baseUrl, home } = yield* platform
      signIn(home, baseUrl)
      const list = (options: Credentials.ResolveOptions = {}) =>
        Effect.map(call(home, org.list({ baseUrl, json: false, ...options })), ({ stdout }) => stdout.split("\n"))
      assert.deepStrictEqual(yield* list(), ["   organization  name", "*  acme          Acme", "   umbrella", ""])
      assert.deepStrictEqual(yield* list({ organization: "umbrella" }), [
        "   organization  name",
        "   acme          Acme",
        "*  umbrella",
        ""
      ])
      const { stdout } = yield* call(home, org.list({ baseUrl, json: true }))
      assert.deepStrictEqual(JSON.parse(stdout), {
        items: [
          { ...acme, active: true },
          { ...umbrella, active: false }
        ]
      })
    })
  )

  it.scopedLive("changes the organization on the platform and for the saved login", () =>
    Effect.gen(function* () {
      const { baseUrl, home, server } = yield* platform
      signIn(home, baseUrl)
      home.write("config.json", { baseUrl, platforms: { [baseUrl]: { organization: "left" } } })
      assert.deepStrictEqual(yield* call(home, org.use({ slug: "umbrella" })), {
        ended: 0,
        stdout: `Acting for umbrella on ${baseUrl}.\n`,
        stderr: ""
      })
      assert.deepStrictEqual(
        server.calls.map(({ body, method, path }) => [method, path, body]),
        [["POST", organizationsPath, '{"slug":"umbrella"}']]
      )
      assert.deepStrictEqual(home.json("config.json"), {
        version: 1,
        baseUrl,
        platforms: { [baseUrl]: { organization: "umbrella" } }
      })
    })
  )

  it.scopedLive("changes nothing when the platform does not allow it", () =>
    Effect.gen(function* () {
      const { baseUrl, home } = yield* platform
      signIn(home, baseUrl)
      const { ended } = yield* call(home, org.use({ baseUrl, slug: "nobody" }))
      assert.strictEqual(ended, "Not allowed: not a member.")
      assert.isFalse(home.exists("config.json"))
    })
  )

  it.scopedLive("needs somebody to be signed in", () =>
    Effect.gen(function* () {
      const { home } = yield* platform
      const { ended } = yield* call(home, org.list({ json: false }))
      assert.match(String(ended), /^Not signed in: there are no credentials for https:\/\/platform\.computesdk\.com\./)
    })
  )
})
