import * as fs from "node:fs"
import { inspect } from "node:util"
import { FetchHttpClient, FileSystem } from "@effect/platform"
import { SystemError } from "@effect/platform/Error"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Either, Fiber, Logger, Option, Redacted, TestClock } from "effect"
import * as Credentials from "../src/Credentials.js"
import type { Answer, Home } from "./support/authServer.js"
import { AuthServer, ok, temporaryHome, tokenPath } from "./support/authServer.js"

const platform = Credentials.defaultBaseUrl

const other = "https://other.example"

const key = Redacted.make("bp_flag_0000000000000000")

const nothing = new AuthServer()

/** Runs an effect with the files of a home, an environment and a platform. */
const within =
  (home: Home, environment: Readonly<Record<string, string>> = {}, server: AuthServer = nothing) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(Effect.provide(effect, server.layer), home.layer(environment))

const resolved = (options: Credentials.ResolveOptions = {}) =>
  Effect.map(Credentials.resolve(options), Option.getOrThrow)

const sourceOf = (options: Credentials.ResolveOptions = {}) =>
  Effect.gen(function* () {
    const found = yield* Credentials.resolve(options)
    if (Option.isNone(found)) return "nothing"
    const secret = yield* Effect.either(found.value.credentials)
    return [
      found.value.source,
      found.value.baseUrl,
      Either.isRight(secret) ? Redacted.value(secret.right) : secret.left._tag
    ]
  })

/** A login whose token is good for so many minutes of an hour. */
const loginFor = (minutes: number, nowMillis = 0) => ({
  clientId: "client",
  accessToken: "access-1",
  refreshToken: "refresh-1",
  issuedAt: new Date(nowMillis + (minutes - 60) * 60_000).toISOString(),
  expiresAt: new Date(nowMillis + minutes * 60_000).toISOString()
})

const savedLogin = (login: object) => ({ version: 1, platforms: { [platform]: { login } } })

const issued = (n: number): Answer =>
  ok({ access_token: `access-${n}`, refresh_token: `refresh-${n}`, expires_in: 3600 })

const value = (credentials: Credentials.Resolved["credentials"]) => Effect.map(credentials, Redacted.value)

/** A signed-in home with a platform that answers refreshes in this way. */
const signedIn = (login: object, answers: ReadonlyArray<Answer>) =>
  Effect.gen(function* () {
    const home = yield* temporaryHome
    home.write("credentials.json", savedLogin(login))
    const server = new AuthServer()
    server.script(tokenPath, answers)
    const session = yield* resolved().pipe(within(home, {}, server))
    return { home, server, session }
  })

describe("resolve", () => {
  it.scoped("takes the first credentials that there are", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const environment: Record<string, string> = {
        PROJECT_KEY: "bp_project",
        BENCHMARKS_PLATFORM_TOKEN: "token",
        BENCHMARKS_PLATFORM_API_KEY: "bp_environment"
      }
      const both = { login: loginFor(30), apiKey: "bp_saved" }
      home.write("credentials.json", { version: 1, platforms: { [platform]: both, [other]: { apiKey: "bp_other" } } })
      const source = (options: Credentials.ResolveOptions = {}) =>
        Effect.suspend(() => sourceOf(options).pipe(within(home, { ...environment })))

      const everything = { apiKey: key, apiKeyEnv: "PROJECT_KEY" }
      assert.deepStrictEqual(yield* source(everything), ["flag", platform, "bp_flag_0000000000000000"])
      assert.deepStrictEqual(yield* source({ ...everything, apiKey: Redacted.make(" ") }), [
        "environment:PROJECT_KEY",
        platform,
        "bp_project"
      ])
      environment["PROJECT_KEY"] = " "
      assert.deepStrictEqual(yield* source({ apiKeyEnv: "PROJECT_KEY" }), [
        "environment:BENCHMARKS_PLATFORM_TOKEN",
        platform,
        "token"
      ])
      environment["BENCHMARKS_PLATFORM_TOKEN"] = ""
      assert.deepStrictEqual(yield* source(), ["environment:BENCHMARKS_PLATFORM_API_KEY", platform, "bp_environment"])
      environment["BENCHMARKS_PLATFORM_API_KEY"] = "\n"
      assert.deepStrictEqual(yield* source(), ["login", platform, "access-1"])
      assert.deepStrictEqual(yield* source({ baseUrl: other }), ["saved key", other, "bp_other"])
      home.write("credentials.json", { version: 1, platforms: { [platform]: { apiKey: "bp_saved" } } })
      assert.deepStrictEqual(yield* source(), ["saved key", platform, "bp_saved"])
      home.write("credentials.json", {})
      assert.deepStrictEqual(yield* source(), "nothing")
    })
  )

  it.scoped("takes the first base URL that there is", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const baseUrl = (option?: string, variable = "") =>
        Effect.map(resolved({ apiKey: key, baseUrl: option }), (found) => found.baseUrl).pipe(
          within(home, { BENCHMARKS_PLATFORM_URL: variable })
        )
      assert.strictEqual(yield* baseUrl(), platform)
      home.write("config.json", { version: 1, baseUrl: "https://config.example/" })
      assert.strictEqual(yield* baseUrl(), "https://config.example")
      assert.strictEqual(yield* baseUrl("", "https://env.example/api/v1"), "https://env.example")
      assert.strictEqual(
        yield* baseUrl("https://flag.example/bench/", "https://env.example"),
        "https://flag.example/bench"
      )
    })
  )

  it.scoped("finds nothing where nothing was given, and says how to sign in where a base URL was", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      assert.strictEqual(yield* sourceOf().pipe(within(home)), "nothing")
      assert.deepStrictEqual(yield* sourceOf({ baseUrl: other }).pipe(within(home)), ["none", other, "Unauthorized"])
      const environment = { BENCHMARKS_PLATFORM_URL: other }
      assert.deepStrictEqual(yield* sourceOf().pipe(within(home, environment)), ["none", other, "Unauthorized"])
      const { credentials, invalidate } = yield* resolved({ baseUrl: other }).pipe(within(home))
      assert.strictEqual(
        (yield* Effect.flip(credentials)).message,
        "Not signed in: there are no credentials for https://other.example. Sign in with `bench auth login`, or pass a key in BENCHMARKS_PLATFORM_API_KEY or --api-key."
      )
      assert.isFalse(yield* invalidate(key))
      assert.isFalse(home.exists(""))
    })
  )

  it.scoped("counts a remembered base URL as no wish to report there", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      home.write("config.json", { version: 1, baseUrl: other })
      assert.strictEqual(yield* sourceOf().pipe(within(home)), "nothing")
    })
  )

  it.scoped("acts for the organization that was chosen for the login, not with a key", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const organization = (options: Credentials.ResolveOptions = {}) =>
        Effect.map(resolved(options), (found) => found.organization).pipe(within(home))
      home.write("credentials.json", savedLogin(loginFor(30)))
      yield* Credentials.chooseOrganization(platform, "acme").pipe(within(home))
      assert.strictEqual(yield* organization(), "acme")
      assert.strictEqual(yield* organization({ organization: "umbrella" }), "umbrella")
      assert.strictEqual(yield* organization({ apiKey: key }), undefined)
      assert.strictEqual(yield* organization({ apiKey: key, organization: "umbrella" }), "umbrella")
    })
  )

  it.scoped("works without a home", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      for (const HOME of ["", "/dev/null", "/nowhere"]) {
        assert.strictEqual(yield* sourceOf().pipe(within(home, { HOME })), "nothing")
        const error = yield* Credentials.saveKey(platform, key).pipe(within(home, { HOME }), Effect.flip)
        assert.strictEqual(
          error.message,
          "HOME: is not set to a directory, so that credentials cannot be kept; pass them in BENCHMARKS_PLATFORM_API_KEY"
        )
      }
      home.write("credentials.json", { platforms: { [platform]: { apiKey: "bp_saved" } } })
      const windows = { HOME: "", USERPROFILE: home.folder }
      assert.deepStrictEqual(yield* sourceOf().pipe(within(home, windows)), ["saved key", platform, "bp_saved"])
    })
  )

  it.scoped("refuses a key that a header cannot carry, without showing it", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const broken = "bp_one\nbp_two"
      const flag = yield* sourceOf({ apiKey: Redacted.make(broken) }).pipe(within(home), Effect.flip)
      assert.strictEqual(flag.message, "--api-key: the key holds characters that no key has; copy it again")
      const environment = { BENCHMARKS_PLATFORM_TOKEN: "schlüssel" }
      const variable = yield* sourceOf().pipe(within(home, environment), Effect.flip)
      assert.match(variable.message, /^BENCHMARKS_PLATFORM_TOKEN: /)
      assert.notMatch(inspect(flag) + inspect(variable), /bp_one|schl/)
    })
  )
})

describe("a base URL", () => {
  const parse = (text: string) =>
    Either.match(Credentials.parseBaseUrl(text, "--base-url"), {
      onLeft: ({ message, reason }) => `${reason} ${message}`,
      onRight: (url) => url
    })

  it("is the root in one way of writing", () => {
    assert.deepStrictEqual(
      [
        " https://Platform.Example:443/ ",
        "https://platform.example/api/v1/",
        "https://platform.example/bench",
        "http://localhost:4000",
        "http://127.1:80",
        "http://[::1]:4000/"
      ].map(parse),
      [
        "https://platform.example",
        "https://platform.example",
        "https://platform.example/bench",
        "http://localhost:4000",
        "http://127.0.0.1",
        "http://[::1]:4000"
      ]
    )
  })

  it("is refused where it would give secrets away", () => {
    for (const text of [
      "http://platform.example",
      "http://localhost.example",
      "http://127.0.0.1.example",
      "http://10.0.0.1"
    ]) {
      assert.match(parse(text), /^InvalidBaseUrl --base-url: credentials are sent to .* over https only/)
    }
    assert.match(parse("https://ada:hunter2@platform.example"), /must not hold a user name or password$/)
  })

  it("is refused when it is none, without being shown", () => {
    for (const text of [
      "bp_abcd_secret",
      "platform.example",
      "localhost:4000",
      "ftp://platform.example",
      "https://x/?a=b"
    ]) {
      assert.match(parse(text), /^InvalidBaseUrl --base-url: must /)
      assert.notInclude(parse(text), text)
    }
  })
})

describe("files", () => {
  it.scoped("are for their owner only", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      yield* Credentials.saveKey(platform, key).pipe(within(home))
      assert.deepStrictEqual(home.files(), ["config.json", "credentials.json"])
      assert.deepStrictEqual(
        [home.mode(), home.mode("config.json"), home.mode("credentials.json")],
        ["700", "600", "600"]
      )
      assert.deepStrictEqual(home.json("credentials.json"), {
        version: 1,
        platforms: { [platform]: { apiKey: "bp_flag_0000000000000000" } }
      })
      assert.deepStrictEqual(home.json("config.json"), { version: 1, baseUrl: platform, platforms: {} })
    })
  )

  it.scoped("that others can read are taken from them, with a warning", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      home.write("credentials.json", { platforms: { [platform]: { apiKey: "bp_saved" } } }, 0o644)
      fs.chmodSync(home.path(), 0o755)
      const warnings: Array<unknown> = []
      const logger = Logger.make(({ message }) => {
        warnings.push(message)
      })
      const find = sourceOf().pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)), within(home))
      assert.deepStrictEqual(yield* find, ["saved key", platform, "bp_saved"])
      assert.deepStrictEqual([home.mode(), home.mode("credentials.json")], ["700", "600"])
      assert.strictEqual(warnings.length, 2)
      yield* find
      assert.strictEqual(warnings.length, 2)
    })
  )

  it.scoped("keep what this version does not know", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const login = { ...loginFor(30), scope: "all" }
      home.write("credentials.json", { version: 1, theme: 1, platforms: { [platform]: { login, note: "mine" } } })
      home.write("config.json", { colour: "red", platforms: { [other]: { organization: "acme", since: 2020 } } })
      yield* Credentials.saveKey("https://third.example", Redacted.make("bp_third")).pipe(within(home))
      yield* Credentials.chooseOrganization(other, "umbrella").pipe(within(home))
      assert.deepStrictEqual(home.json("credentials.json"), {
        version: 1,
        theme: 1,
        platforms: { [platform]: { login, note: "mine" }, "https://third.example": { apiKey: "bp_third" } }
      })
      assert.deepStrictEqual(home.json("config.json"), {
        version: 1,
        colour: "red",
        baseUrl: "https://third.example",
        platforms: { [other]: { organization: "umbrella", since: 2020 } }
      })
    })
  )

  it.scoped("that cannot be read are named, without what they hold", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const message = (content: unknown) =>
        Effect.gen(function* () {
          home.write("credentials.json", content)
          const error = yield* sourceOf().pipe(within(home), Effect.flip)
          assert.notInclude(inspect(error, { depth: 20 }), "secret")
          return error.message.replace(home.path(), "")
        })
      assert.strictEqual(
        yield* message('{ "platforms": "bp_secret" '),
        "/credentials.json: is not JSON; correct the file, or remove it and sign in again with `bench auth login`"
      )
      assert.strictEqual(
        yield* message({
          platforms: { [platform]: { apiKey: ["secret"], login: { accessToken: "not ascii: secret ü" } } }
        }),
        `/credentials.json: is not as it must be in platforms > ${platform} > login > clientId, platforms > ${platform} > login > accessToken, platforms > ${platform} > login > issuedAt, platforms > ${platform} > apiKey; correct the file, or remove it and sign in again with \`bench auth login\``
      )
      assert.strictEqual(
        yield* message({ version: 2, secret: 1 }),
        "/credentials.json: is of version 2, which this version of bench cannot read; update bench"
      )
      const update = yield* Credentials.saveKey(platform, key).pipe(within(home), Effect.flip)
      assert.strictEqual(update.reason, "UnreadableFile")
      assert.deepStrictEqual(home.json("credentials.json"), { version: 2, secret: 1 })
    })
  )

  it.scoped("are not looked at where a key and a base URL are given", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      home.write("credentials.json", "broken")
      home.write("config.json", "broken")
      const found = yield* sourceOf({ apiKey: key, baseUrl: other }).pipe(within(home))
      assert.deepStrictEqual(found, ["flag", other, "bp_flag_0000000000000000"])
    })
  )

  it.scopedLive("lose nothing when many write at once", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const platforms = Array.from({ length: 16 }, (_, i) => `https://p${i}.example`)
      yield* Effect.forEach(platforms, (url, i) => Credentials.saveKey(url, Redacted.make(`bp_${i}`)), {
        concurrency: "unbounded"
      }).pipe(within(home))
      const { credentials } = yield* Credentials.saved.pipe(within(home))
      assert.sameMembers(Object.keys(credentials.platforms), platforms)
      assert.deepStrictEqual(home.files(), ["config.json", "credentials.json"])
    })
  )

  it.scopedLive("are freed from the lock and the remains of a process that has died", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      home.write("lock", "01234567-89ab-cdef-0123-456789abcdef")
      home.write("credentials.json.01234567.tmp", "half of a secr")
      const longAgo = new Date("2020-01-01")
      fs.utimesSync(home.path("lock"), longAgo, longAgo)
      yield* Effect.all(
        ["https://a.example", "https://b.example", "https://c.example"].map((url) => Credentials.saveKey(url, key)),
        { concurrency: "unbounded" }
      ).pipe(within(home))
      assert.deepStrictEqual(home.files(), ["config.json", "credentials.json"])
      const { credentials } = yield* Credentials.saved.pipe(within(home))
      assert.strictEqual(Object.keys(credentials.platforms).length, 3)
    })
  )

  it.scoped("are not written while another process holds the lock", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      home.write("lock", "somebody")
      const fiber = yield* Credentials.saveKey(platform, key).pipe(within(home), Effect.flip, Effect.fork)
      for (let i = 0; i < 1000 && fiber.unsafePoll() === null; i++) yield* TestClock.adjust("500 millis")
      const error = yield* Fiber.join(fiber)
      assert.deepStrictEqual([error.reason, error.subject], ["Busy", home.path("lock")])
      assert.deepStrictEqual(home.files(), ["lock"])
    })
  )

  it.scoped("forget a platform and keep the others", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      home.write("credentials.json", {
        platforms: { [platform]: { login: loginFor(30) }, [other]: { apiKey: "bp_other" } }
      })
      yield* Credentials.chooseOrganization(platform, "acme").pipe(within(home))
      assert.strictEqual(yield* Credentials.forget(platform).pipe(within(home)), "login")
      assert.strictEqual(yield* Credentials.forget(platform).pipe(within(home)), "none")
      const { credentials, settings } = yield* Credentials.saved.pipe(within(home))
      assert.deepStrictEqual([Object.keys(credentials.platforms), Object.keys(settings.platforms)], [[other], []])
      assert.strictEqual(yield* Credentials.forget(other).pipe(within(home)), "saved key")
    })
  )
})

describe("a login", () => {
  it.scoped("is used as it is until 5 minutes before it expires", () =>
    Effect.gen(function* () {
      const { home, server, session } = yield* signedIn(loginFor(30), [issued(2)])
      yield* TestClock.adjust(Duration.subtract("25 minutes", "1 millis"))
      assert.strictEqual(yield* value(session.credentials), "access-1")
      assert.deepStrictEqual(server.calls, [])

      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* value(session.credentials), "access-2")
      assert.deepStrictEqual(server.forms(tokenPath), [
        { grant_type: "refresh_token", refresh_token: "refresh-1", client_id: "client" }
      ])
      assert.strictEqual(server.calls[0]?.authorization, undefined)
      assert.deepStrictEqual(
        home.json("credentials.json"),
        savedLogin({
          clientId: "client",
          accessToken: "access-2",
          refreshToken: "refresh-2",
          issuedAt: "1970-01-01T00:25:00.000Z",
          expiresAt: "1970-01-01T01:25:00.000Z"
        })
      )
      assert.deepStrictEqual([home.mode("credentials.json"), home.files()], ["600", ["credentials.json"]])
      const expiresAt = yield* session.expiresAt
      assert.strictEqual(expiresAt && DateTime.formatIso(expiresAt), "1970-01-01T01:25:00.000Z")
      assert.strictEqual(yield* value(session.credentials), "access-2")
      assert.strictEqual(server.calls.length, 1)
    })
  )

  it.scoped("keeps its refresh token where the platform gives no other", () =>
    Effect.gen(function* () {
      const { home, server, session } = yield* signedIn(loginFor(-1), [
        ok({ access_token: "access-2", expires_in: "600" }),
        issued(3)
      ])
      assert.strictEqual(yield* value(session.credentials), "access-2")
      assert.include(home.read("credentials.json"), '"refreshToken": "refresh-1"')
      yield* TestClock.adjust("6 minutes")
      assert.strictEqual(yield* value(session.credentials), "access-3")
      assert.deepStrictEqual(
        server.forms(tokenPath).map((form) => form["refresh_token"]),
        ["refresh-1", "refresh-1"]
      )
    })
  )

  it.scoped("is good until it is refused where the platform does not say for how long", () =>
    Effect.gen(function* () {
      const { server, session } = yield* signedIn(loginFor(-1), [ok({ access_token: "access-2" })])
      assert.strictEqual(yield* value(session.credentials), "access-2")
      yield* TestClock.adjust("30 days")
      assert.strictEqual(yield* value(session.credentials), "access-2")
      assert.strictEqual(yield* session.expiresAt, undefined)
      assert.strictEqual(server.calls.length, 1)
    })
  )

  it.scoped("lives on in the process where it cannot be saved", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      home.write("credentials.json", savedLogin(loginFor(-1)))
      const server = new AuthServer()
      server.script(tokenPath, [issued(2), issued(3)])
      const full = new SystemError({ module: "FileSystem", method: "rename", reason: "Unknown", cause: "disk full" })
      const fullDisk = Effect.map(FileSystem.FileSystem, (files) => ({ ...files, rename: () => Effect.fail(full) }))
      const session = yield* resolved().pipe(
        Effect.provideServiceEffect(FileSystem.FileSystem, fullDisk),
        within(home, {}, server)
      )
      assert.strictEqual(yield* value(session.credentials), "access-2")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* value(session.credentials), "access-3")
      assert.deepStrictEqual(
        server.forms(tokenPath).map((form) => form["refresh_token"]),
        ["refresh-1", "refresh-2"]
      )
      assert.deepStrictEqual(
        [home.files(), home.json("credentials.json")],
        [["credentials.json"], savedLogin(loginFor(-1))]
      )
    })
  )

  it.scoped("of a few minutes is used for half of its life", () =>
    Effect.gen(function* () {
      const short = { ...loginFor(2), issuedAt: "1970-01-01T00:00:00.000Z" }
      const { session } = yield* signedIn(short, [issued(2)])
      assert.strictEqual(yield* value(session.credentials), "access-1")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* value(session.credentials), "access-2")
    })
  )

  it.scoped("is refreshed once for all who ask at the same time", () =>
    Effect.gen(function* () {
      const late: Answer = { ...issuedBody(2), delayMillis: 1000 }
      const { server, session } = yield* signedIn(loginFor(3), [late])
      const fibers = yield* Effect.replicateEffect(Effect.fork(value(session.credentials)), 50)
      while (server.calls.length === 0) yield* realTurn
      yield* TestClock.adjust("1 second")
      const tokens = yield* Fiber.join(Fiber.all(fibers))
      assert.deepStrictEqual([...new Set(tokens)], ["access-2"])
      assert.strictEqual(server.calls.length, 1)
    })
  )

  it.scopedLive("is refreshed once for all processes", () =>
    Effect.gen(function* () {
      const late: Answer = { ...issuedBody(2), delayMillis: 100 }
      const { home, server, session } = yield* signedIn(loginFor(-1, Date.now()), [late])
      const others = yield* Effect.replicateEffect(resolved().pipe(within(home, {}, server)), 4)
      const tokens = yield* Effect.all(
        [session, ...others].map(({ credentials }) => value(credentials)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...new Set(tokens)], ["access-2"])
      assert.strictEqual(server.calls.length, 1)
    })
  )

  it.scoped("that is refused says to sign in again, and is not tried again until somebody did", () =>
    Effect.gen(function* () {
      const { home, server, session } = yield* signedIn(loginFor(3), [
        { status: 400, body: { error: "invalid_grant", error_description: "no refresh-1" } }
      ])
      for (const pause of ["0 millis", "1 minute", "10 minutes"] as const) {
        yield* TestClock.adjust(pause)
        const error = yield* Effect.flip(session.credentials)
        assert.strictEqual(
          error.message,
          "Not signed in: the platform refused to refresh the login (answered 400: invalid_grant (no <redacted>)). Sign in with `bench auth login`, or pass a key in BENCHMARKS_PLATFORM_API_KEY or --api-key."
        )
        assert.notMatch(inspect(error, { depth: 20 }) + JSON.stringify(error), /access-1|refresh-1/)
      }
      assert.strictEqual(server.calls.length, 1)
      home.write("credentials.json", savedLogin({ ...loginFor(60), accessToken: "access-9" }))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* value(session.credentials), "access-9")
    })
  )

  it.scoped("that still works is used while the platform cannot be reached", () =>
    Effect.gen(function* () {
      const { server, session } = yield* signedIn(loginFor(4), ["unreachable", { status: 503, body: "" }, issued(2)])
      for (const [pause, token, calls] of [
        ["0 seconds", "access-1", 1],
        ["29 seconds", "access-1", 1],
        ["1 second", "access-1", 2],
        ["30 seconds", "access-2", 3]
      ] as const) {
        yield* TestClock.adjust(pause)
        assert.deepStrictEqual([yield* value(session.credentials), server.calls.length], [token, calls])
      }
    })
  )

  it.scoped("that has expired is tried a few times, for everybody who waits", () =>
    Effect.gen(function* () {
      const { server, session } = yield* signedIn(loginFor(-1), Array<Answer>(5).fill("unreachable"))
      const fibers = yield* Effect.replicateEffect(Effect.fork(Effect.flip(session.credentials)), 20)
      for (let i = 0; i < 200 && fibers.some((fiber) => fiber.unsafePoll() === null); i++) {
        yield* realTurn
        yield* TestClock.adjust("250 millis")
      }
      const messages = (yield* Fiber.join(Fiber.all(fibers))).map(({ message }) => message)
      assert.deepStrictEqual(
        [...new Set(messages)],
        [
          "Not signed in: the login has expired and could not be refreshed (connect ECONNREFUSED). Sign in with `bench auth login`, or pass a key in BENCHMARKS_PLATFORM_API_KEY or --api-key."
        ]
      )
      assert.strictEqual(server.calls.length, 5)
      server.script(tokenPath, [issued(2)])
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* value(session.credentials), "access-2")
    })
  )

  it.scoped("without a refresh token ends when it expires", () =>
    Effect.gen(function* () {
      const { refreshToken: _, ...login } = loginFor(3)
      const { server, session } = yield* signedIn(login, [])
      assert.strictEqual(yield* value(session.credentials), "access-1")
      yield* TestClock.adjust("3 minutes")
      assert.match((yield* Effect.flip(session.credentials)).message, /the login has expired/)
      assert.deepStrictEqual(server.calls, [])
    })
  )

  it.scoped("is not brought back after somebody has signed out", () =>
    Effect.gen(function* () {
      const { home, server, session } = yield* signedIn(loginFor(3), [issued(2)])
      yield* Credentials.forget(platform).pipe(within(home))
      assert.strictEqual(yield* value(session.credentials), "access-1")
      yield* TestClock.adjust("3 minutes")
      assert.match((yield* Effect.flip(session.credentials)).message, /somebody signed out/)
      assert.deepStrictEqual(server.calls, [])
      assert.notInclude(home.read("credentials.json"), "access")
    })
  )

  it.scoped("that the platform has replaced is saved although nobody waits for it any more", () =>
    Effect.gen(function* () {
      const late: Answer = { ...issuedBody(2), delayMillis: 1000 }
      const { home, server, session } = yield* signedIn(loginFor(-1), [late])
      const fiber = yield* Effect.fork(session.credentials)
      while (server.calls.length === 0) yield* realTurn
      const interruption = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* realTurn
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(interruption)
      assert.include(home.read("credentials.json"), '"refreshToken": "refresh-2"')
      assert.deepStrictEqual(home.files(), ["credentials.json"])
      assert.strictEqual(yield* value(session.credentials), "access-2")
    })
  )

  it.scoped("is not waited for when the platform does not answer", () =>
    Effect.gen(function* () {
      const { server, session } = yield* signedIn(loginFor(3), ["silent"])
      const fiber = yield* Effect.fork(value(session.credentials))
      while (server.calls.length === 0) yield* realTurn
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "access-1")
    })
  )

  it.scoped("that was taken for good is replaced once when the platform does not take it", () =>
    Effect.gen(function* () {
      const { server, session } = yield* signedIn(loginFor(30), [issued(2), issued(3)])
      const first = yield* session.credentials
      const asked = yield* Effect.forEach(Array(20).fill(first), session.invalidate)
      assert.deepStrictEqual([...new Set(asked)], [true])
      const tokens = yield* Effect.replicateEffect(value(session.credentials), 20)
      assert.deepStrictEqual([...new Set(tokens)], ["access-2"])
      assert.isTrue(yield* session.invalidate(first))
      assert.strictEqual(yield* value(session.credentials), "access-2")
      assert.strictEqual(server.calls.length, 1)

      assert.isFalse(yield* session.invalidate(yield* session.credentials))
      assert.strictEqual(yield* value(session.credentials), "access-2")
    })
  )

  it.scopedLive("follows no redirect with its secrets", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const server = new AuthServer()
      const baseUrl = yield* server.serve
      server.script(tokenPath, [{ status: 307, body: "", headers: { location: `${baseUrl}/elsewhere` } }])
      home.write("credentials.json", { platforms: { [baseUrl]: { login: loginFor(-1, Date.now()) } } })
      const session = yield* resolved({ baseUrl }).pipe(
        Effect.provide(FetchHttpClient.layer),
        Effect.provide(home.layer())
      )
      assert.match((yield* Effect.flip(session.credentials)).message, /could not be refreshed \(answered 307\)/)
      assert.deepStrictEqual(
        server.calls.map(({ path }) => path),
        [tokenPath]
      )
    })
  )
})

describe("secrets", () => {
  it.scoped("are in nothing that can be shown", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      home.write("credentials.json", {
        platforms: { [platform]: { login: loginFor(30), more: "secret" }, [other]: { apiKey: "bp_other" } }
      })
      const values = [
        yield* resolved().pipe(within(home)),
        yield* resolved({ baseUrl: other }).pipe(within(home)),
        yield* resolved({ apiKey: key }).pipe(within(home)),
        yield* Credentials.saved.pipe(within(home))
      ]
      const shown = values.map((shownValue) => [
        inspect(shownValue, { depth: 20, showHidden: true }),
        JSON.stringify(shownValue),
        String(shownValue)
      ])
      assert.notMatch(shown.flat().join("\n"), /access-1|refresh-1|bp_other|bp_flag|secret/)
    })
  )

  it("are masked for people", () => {
    const mask = (text: string) => Credentials.mask(Redacted.make(text))
    assert.deepStrictEqual(
      ["bp_abcd1234_0123456789uvwxyz", "eyJhbGciOiJIUzI1NiJ9.e30.abcd", "bp_short_key"].map(mask),
      ["bp_abcd…wxyz", "…abcd", "…"]
    )
  })
})

const realTurn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

const issuedBody = (n: number) => ({
  status: 200,
  body: { access_token: `access-${n}`, refresh_token: `refresh-${n}`, expires_in: 3600 }
})
