import * as SqlClient from "@effect/sql/SqlClient"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { assert, describe, it } from "@effect/vitest"
import type { Scope } from "effect"
import { ConfigProvider, Context, DateTime, Effect, Either, Layer, Option, Redacted, TestClock } from "effect"
import * as Postgres from "../src/internal/sql/postgres.js"
import { InvalidRequest } from "../src/Platform.js"
import * as SqlAccounts from "../src/SqlAccounts.js"
import { sharedServer } from "./support/postgres.js"
import { temporaryDirectory } from "./support/stores.js"

const adminKey = Redacted.make("admin-0123456789abcdef0123456789")

/** A new database; each time the layer is built, it is another client of it. */
type NewDatabase = Effect.Effect<Layer.Layer<SqlClient.SqlClient, unknown>, unknown, Scope.Scope>

const open = (
  database: Layer.Layer<SqlClient.SqlClient, unknown>,
  options: { readonly adminKey?: Redacted.Redacted } = {}
) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(SqlAccounts.layerWith(options).pipe(Layer.provideMerge(database)))
    return { accounts: Context.get(context, SqlAccounts.SqlAccounts), sql: Context.get(context, SqlClient.SqlClient) }
  })

type AccountsService = SqlAccounts.SqlAccounts["Type"]

const issuesOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.instanceOf(error, InvalidRequest)
    return error.message
  })

/** All that the database holds, as text. */
const dump = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const tables = yield* sql.onDialectOrElse({
      pg: () => sql<{ readonly name: string }>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
      orElse: () => sql<{ readonly name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'`
    })
    const rows = yield* Effect.forEach(tables, ({ name }) => sql`SELECT * FROM ${sql(name)}`)
    return JSON.stringify(rows)
  })

const tagOf = (principal: Option.Option<SqlAccounts.Principal>) => Option.getOrUndefined(principal)?._tag

const authenticates = (accounts: AccountsService, key: Redacted.Redacted | string) =>
  Effect.map(accounts.authenticate(typeof key === "string" ? Redacted.make(key) : key), Option.isSome)

const acmeKey = (accounts: AccountsService) =>
  Effect.gen(function* () {
    yield* accounts.createOrganization({ slug: "acme" })
    return yield* accounts.createKey({ organization: "acme" })
  })

const clientId = "bench-cli"

/** A device that was approved with a key, and waits for its tokens. */
const approvedDevice = (accounts: AccountsService, keyId: string) =>
  Effect.gen(function* () {
    const { deviceCode, userCode } = yield* accounts.startDeviceLogin(clientId)
    const decision = SqlAccounts.DeviceDecision.ApproveWithKey({ keyId })
    assert.isTrue(Option.isSome(yield* accounts.decideDeviceLogin({ userCode, decision })))
    return deviceCode
  })

const sides = <A, E>(results: ReadonlyArray<Either.Either<A, E>>) => ({
  granted: results.filter(Either.isRight).length,
  refused: results.flatMap((result) => (Either.isLeft(result) ? [result.left] : []))
})

const suite = (name: string, newDatabase: NewDatabase) => {
  const opened = Effect.flatMap(newDatabase, (database) => open(database, { adminKey }))

  describe(`${name}: organizations`, () => {
    it.scoped("are created once, and listed by slug", () =>
      Effect.gen(function* () {
        const { accounts } = yield* opened
        const { id } = yield* accounts.createOrganization({ slug: "zebra", name: "Zebra & Co" })
        yield* accounts.createOrganization({ slug: "acme" })
        assert.strictEqual(
          yield* issuesOf(accounts.createOrganization({ slug: "acme" })),
          `slug must be a new one: there is an organization "acme" already`
        )
        assert.deepStrictEqual(
          (yield* accounts.organizations).map(({ activeKeys, name, slug }) => [slug, name, activeKeys]),
          [
            ["acme", null, 0],
            ["zebra", "Zebra & Co", 0]
          ]
        )
        assert.deepStrictEqual(Option.getOrNull(yield* accounts.findOrganization({ id, slug: "zebra" })), {
          id,
          slug: "zebra",
          name: "Zebra & Co"
        })
        assert.isTrue(Option.isNone(yield* accounts.findOrganization({ id, slug: "acme" })))
      })
    )

    it.scoped("have slugs that can stand at the beginning of a path", () =>
      Effect.gen(function* () {
        const { accounts } = yield* opened
        for (const slug of ["", "Acme", "a b", "-a", "a/b", "..", "a".repeat(64), "api", "device", "healthz"]) {
          assert.match(yield* issuesOf(accounts.createOrganization({ slug })), /^slug must/)
        }
        assert.match(yield* issuesOf(accounts.createOrganization({ slug: "a", name: " " })), /^name must not be blank/)
        assert.match(yield* issuesOf(accounts.createOrganization({ slug: "a", name: "\u0000" })), /NUL/)
        yield* accounts.createOrganization({ slug: "a".repeat(63) })
      })
    )
  })

  describe(`${name}: keys`, () => {
    it.scoped("are kept as prefix, hash and last four characters only", () =>
      Effect.gen(function* () {
        const { accounts, sql } = yield* opened
        yield* accounts.createOrganization({ slug: "acme" })
        const { apiKey, key } = yield* accounts.createKey({ organization: "acme", name: "laptop", createdBy: "me" })
        const text = Redacted.value(key)
        const [, prefix = "", secret = ""] = /^bp_([a-z0-9]{8})_([\w-]{43})$/.exec(text) ?? []
        assert.notStrictEqual(secret, "")
        assert.deepStrictEqual(
          { ...apiKey, id: "", createdAt: "" },
          {
            id: "",
            organization: "acme",
            name: "laptop",
            prefix,
            lastFour: text.slice(-4),
            createdBy: "me",
            createdAt: "",
            expiresAt: null,
            revokedAt: null,
            lastUsedAt: null
          }
        )
        const stored = yield* dump(sql)
        assert.include(stored, prefix)
        assert.notInclude(stored, secret)
        assert.notInclude(stored, secret.slice(0, 20))
        assert.notInclude(`${key}${JSON.stringify(key)}`, secret)
      })
    )

    it.scoped("differ from each other", () =>
      Effect.gen(function* () {
        const { accounts } = yield* opened
        yield* accounts.createOrganization({ slug: "acme" })
        const keys = yield* Effect.replicateEffect(accounts.createKey({ organization: "acme" }), 50)
        assert.strictEqual(new Set(keys.map(({ apiKey }) => apiKey.prefix)).size, 50)
        assert.strictEqual(new Set(keys.map(({ key }) => Redacted.value(key).slice(12))).size, 50)
        assert.deepStrictEqual(
          (yield* accounts.keys({ organization: "acme" })).map(({ id }) => id),
          keys.map(({ apiKey }) => apiKey.id).reverse()
        )
      })
    )

    it.scoped("stand for their organization while they are in force", () =>
      Effect.gen(function* () {
        const { accounts } = yield* opened
        const organization = yield* accounts.createOrganization({ slug: "acme", name: "Acme" })
        assert.isFalse(yield* accounts.hasActiveKey)
        const { apiKey, key } = yield* accounts.createKey({ organization: "acme", expiresIn: "1 day" })
        assert.strictEqual(apiKey.expiresAt, "1970-01-02T00:00:00.000Z")
        const { id, prefix } = apiKey
        assert.deepStrictEqual(
          Option.getOrNull(yield* accounts.authenticate(key)),
          SqlAccounts.Principal.Key({ id, prefix, organization })
        )
        assert.isTrue(yield* accounts.hasActiveKey)
        assert.deepStrictEqual(
          (yield* accounts.organizations).map(({ activeKeys }) => activeKeys),
          [1]
        )
        yield* TestClock.adjust("86399999 millis")
        assert.isTrue(yield* authenticates(accounts, key))
        yield* TestClock.adjust("1 millis")
        assert.isFalse(yield* authenticates(accounts, key))
        assert.isFalse(yield* accounts.hasActiveKey)
        assert.deepStrictEqual(
          (yield* accounts.organizations).map(({ activeKeys }) => activeKeys),
          [0]
        )
      })
    )

    it.scoped("are not mistaken for others", () =>
      Effect.gen(function* () {
        const { accounts } = yield* opened
        yield* accounts.createOrganization({ slug: "acme" })
        const [one, other] = yield* Effect.all([
          accounts.createKey({ organization: "acme" }),
          accounts.createKey({ organization: "acme" })
        ])
        const text = Redacted.value(one.key)
        const secret = text.slice(12)
        for (const wrong of [
          "",
          "bp_",
          text.slice(0, -1),
          `${text}x`,
          text.toUpperCase(),
          ` ${text}`,
          `bp_${other.apiKey.prefix}_${secret}`,
          `bp_${one.apiKey.prefix}_${"a".repeat(43)}`,
          `bp_%%%%%%%%_${secret}`
        ]) {
          assert.isFalse(yield* authenticates(accounts, wrong), wrong)
        }
      })
    )

    it.scoped("end at once when they are revoked, for every process", () =>
      Effect.gen(function* () {
        const database = yield* newDatabase
        const { accounts: server } = yield* open(database)
        const { accounts: operator } = yield* open(database)
        yield* operator.createOrganization({ slug: "acme" })
        const { apiKey, key } = yield* operator.createKey({ organization: "acme" })
        assert.isTrue(yield* authenticates(server, key))
        const revoked = yield* operator.revokeKey(apiKey.prefix)
        assert.isNotNull(revoked.revokedAt)
        assert.isFalse(yield* authenticates(server, key))
      })
    )

    it.scoped("are revoked once, by their prefix however it is written", () =>
      Effect.gen(function* () {
        const { accounts } = yield* opened
        yield* accounts.createOrganization({ slug: "acme" })
        const names: ReadonlyArray<(prefix: string, key: Redacted.Redacted) => string> = [
          (prefix) => prefix,
          (prefix) => `bp_${prefix}`,
          (prefix) => ` bp_${prefix}_…abcd`,
          (_, key) => Redacted.value(key)
        ]
        for (const name of names) {
          const { apiKey, key } = yield* accounts.createKey({ organization: "acme" })
          const { revokedAt } = yield* accounts.revokeKey(name(apiKey.prefix, key))
          assert.strictEqual(revokedAt, DateTime.formatIso(yield* DateTime.now))
          yield* TestClock.adjust("1 hour")
          assert.strictEqual((yield* accounts.revokeKey(apiKey.prefix)).revokedAt, revokedAt)
        }
        assert.match(yield* issuesOf(accounts.revokeKey("nothing")), /^prefix must be that of a key/)
      })
    )

    it.scoped("remember when they were used, to the minute", () =>
      Effect.gen(function* () {
        const { accounts } = yield* opened
        yield* accounts.createOrganization({ slug: "acme" })
        const { key } = yield* accounts.createKey({ organization: "acme" })
        const used = Effect.gen(function* () {
          yield* accounts.authenticate(key)
          return (yield* accounts.keys({}))[0]?.lastUsedAt
        })
        // It is noted in the background, which gets its turn when the test waits for something else.
        const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        const usedAt = (time: string) => Effect.repeat(Effect.zipRight(turn, used), { until: (last) => last === time })
        yield* TestClock.setTime(1_000)
        yield* usedAt("1970-01-01T00:00:01.000Z")
        yield* TestClock.adjust("59 seconds")
        assert.strictEqual(yield* used, "1970-01-01T00:00:01.000Z")
        assert.strictEqual(yield* used, "1970-01-01T00:00:01.000Z")
        yield* TestClock.adjust("1 seconds")
        yield* usedAt("1970-01-01T00:01:01.000Z")
      })
    )

    it.scoped("are not made for nobody, for no time, or without a readable name", () =>
      Effect.gen(function* () {
        const { accounts } = yield* opened
        assert.strictEqual(
          yield* issuesOf(accounts.createKey({ organization: "acme" })),
          'organization must exist (got "acme"): create it with `bench serve orgs create`'
        )
        yield* accounts.createOrganization({ slug: "acme" })
        const create = (input: { readonly name?: string; readonly expiresIn?: number }) =>
          issuesOf(accounts.createKey({ organization: "acme", ...input }))
        assert.match(yield* create({ expiresIn: 0 }), /^expiresIn must be longer than nothing/)
        assert.match(yield* create({ expiresIn: 1e15 }), /^expiresIn must be .* at most 100 years/)
        assert.match(yield* create({ name: "x".repeat(201) }), /^name must be at most 200 characters/)
        assert.deepStrictEqual(yield* accounts.keys({}), [])
      })
    )
  })

  describe(`${name}: the admin key`, () => {
    it.scoped("is known when it is configured", () =>
      Effect.gen(function* () {
        const { accounts } = yield* opened
        assert.strictEqual(tagOf(yield* accounts.authenticate(adminKey)), "Admin")
        assert.strictEqual(
          tagOf(yield* accounts.authenticate(Redacted.make(`${Redacted.value(adminKey)}0`))),
          undefined
        )
        const { accounts: without } = yield* open(yield* newDatabase)
        assert.strictEqual(tagOf(yield* without.authenticate(adminKey)), undefined)
        assert.strictEqual(tagOf(yield* without.authenticate(Redacted.make(""))), undefined)
      })
    )

    it.scoped("is refused when it is short, without being told", () =>
      Effect.gen(function* () {
        const short = Redacted.make("short-secret-of-23-chars")
        assert.strictEqual(Redacted.value(short).length, 24)
        const database = yield* newDatabase
        yield* open(database, { adminKey: short })
        const refused = yield* issuesOf(open(database, { adminKey: Redacted.make("short-secret-of-23-char") }))
        assert.match(refused, /^BENCH_ADMIN_KEY must be at least 24 characters/)
        assert.notInclude(refused, "short-secret")
        const blanks = yield* issuesOf(open(database, { adminKey: Redacted.make(" ".repeat(30)) }))
        assert.strictEqual(blanks, "BENCH_ADMIN_KEY must be printable ASCII without blanks")
      })
    )

    it.scoped("comes from the environment, where a blank one is none", () =>
      Effect.gen(function* () {
        const database = yield* newDatabase
        const from = (value: string) =>
          Layer.build(Layer.provide(SqlAccounts.layerConfig, database)).pipe(
            Effect.map(Context.get(SqlAccounts.SqlAccounts)),
            Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["BENCH_ADMIN_KEY", value]])))
          )
        const accounts = yield* from(Redacted.value(adminKey))
        assert.strictEqual(tagOf(yield* accounts.authenticate(adminKey)), "Admin")
        yield* from("  ")
        assert.match(yield* issuesOf(from("short")), /^BENCH_ADMIN_KEY must be at least 24 characters/)
      })
    )
  })

  describe(`${name}: logins`, () => {
    it.scoped("are kept as hashes of their tokens only", () =>
      Effect.gen(function* () {
        const { accounts, sql } = yield* opened
        const { apiKey } = yield* acmeKey(accounts)
        const deviceCode = yield* approvedDevice(accounts, apiKey.id)
        const tokens = yield* Effect.flatten(accounts.exchangeDeviceCode({ deviceCode, clientId }))
        assert.strictEqual(tagOf(yield* accounts.authenticate(tokens.accessToken)), "Login")
        const stored = yield* dump(sql)
        for (const secret of [deviceCode, tokens.accessToken, tokens.refreshToken]) {
          assert.notInclude(stored, Redacted.value(secret).slice(3, 23))
        }
      })
    )

    it.scoped("are decided, granted and refreshed once, however many ask at once", () =>
      Effect.gen(function* () {
        const database = yield* newDatabase
        const { accounts } = yield* open(database)
        const { accounts: other } = yield* open(database)
        const both = [accounts, other, accounts, other]
        const { apiKey } = yield* acmeKey(accounts)

        const { userCode } = yield* accounts.startDeviceLogin(clientId)
        const decision = SqlAccounts.DeviceDecision.ApproveWithKey({ keyId: apiKey.id })
        const decided = yield* Effect.forEach(both, (client) => client.decideDeviceLogin({ userCode, decision }), {
          concurrency: 4
        })
        assert.strictEqual(decided.filter(Option.isSome).length, 1)

        const deviceCode = yield* approvedDevice(accounts, apiKey.id)
        const exchanged = yield* Effect.forEach(both, (client) => client.exchangeDeviceCode({ deviceCode, clientId }), {
          concurrency: 4
        })
        assert.deepStrictEqual(sides(exchanged), {
          granted: 1,
          refused: ["invalid_grant", "invalid_grant", "invalid_grant"]
        })

        const { refreshToken } = yield* Effect.flatten(
          Effect.succeed(exchanged.find(Either.isRight) ?? Either.left("none"))
        )
        const refreshed = yield* Effect.forEach(both, (client) => client.refreshLogin({ refreshToken, clientId }), {
          concurrency: 4
        })
        assert.deepStrictEqual(sides(refreshed), {
          granted: 1,
          refused: ["invalid_grant", "invalid_grant", "invalid_grant"]
        })
        for (const tokens of refreshed.filter(Either.isRight)) {
          assert.strictEqual(tagOf(yield* accounts.authenticate(tokens.right.accessToken)), undefined)
        }
      })
    )

    it.scoped("leave nothing behind that nobody can use any more", () =>
      Effect.gen(function* () {
        const { accounts, sql } = yield* opened
        const { apiKey } = yield* acmeKey(accounts)
        const deviceCode = yield* approvedDevice(accounts, apiKey.id)
        yield* accounts.exchangeDeviceCode({ deviceCode, clientId })
        const count = (table: string) => Effect.map(sql`SELECT * FROM ${sql(table)}`, (rows) => rows.length)
        assert.deepStrictEqual([yield* count("device_authorizations"), yield* count("login_tokens")], [1, 2])
        yield* TestClock.adjust("70 minutes")
        yield* accounts.startDeviceLogin(clientId)
        assert.deepStrictEqual([yield* count("device_authorizations"), yield* count("login_tokens")], [1, 1])
        yield* TestClock.adjust("30 days")
        yield* accounts.startDeviceLogin(clientId)
        assert.deepStrictEqual([yield* count("device_authorizations"), yield* count("login_tokens")], [1, 0])
      })
    )

    it.scoped("have members that exist", () =>
      Effect.gen(function* () {
        const { accounts } = yield* opened
        yield* acmeKey(accounts)
        const add = (organization: string) =>
          issuesOf(accounts.addMember({ userId: "nobody", organization, role: "member" }))
        assert.strictEqual(yield* add("acme"), `userId must be that of a user (got "nobody")`)
        assert.match(yield* add("other"), /^organization must exist/)
      })
    )
  })
}

suite(
  "SqlAccounts in SQLite",
  Effect.map(temporaryDirectory, (directory) => SqliteClient.layer({ filename: `${directory}/accounts.db` }))
)

const postgres = sharedServer()

suite(
  "SqlAccounts in PostgreSQL",
  Effect.map(postgres.emptyDatabase, (url) => Postgres.layer(url))
)
