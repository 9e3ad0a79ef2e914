import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import * as Keys from "../../src/cli/keys.js"
import * as Orgs from "../../src/cli/orgs.js"
import { UsageError } from "../../src/cli/UsageError.js"
import { InvalidRequest } from "../../src/Platform.js"
import * as SqlAccounts from "../../src/SqlAccounts.js"
import { call } from "../support/commands.js"

const accounts = SqlAccounts.layer.pipe(Layer.provide(SqliteClient.layer({ filename: ":memory:" })))

const createOrg = (options: Partial<Orgs.CreateOptions> = {}) =>
  call(Orgs.create({ slug: "acme", name: undefined, json: false, ...options }))

const createKey = (options: Partial<Keys.CreateOptions> = {}) =>
  call(Keys.create({ org: "acme", name: undefined, expires: undefined, json: false, quiet: false, ...options }))

const listKeys = (options: Partial<Keys.ListOptions> = {}) =>
  call(Keys.list({ org: undefined, json: false, ...options }))

const isGood = (key: string) =>
  Effect.flatMap(SqlAccounts.SqlAccounts, (accounts) =>
    Effect.map(accounts.authenticate(Redacted.make(key)), Option.isSome)
  )

const keyPattern = /^bp_[a-z0-9]{8}_[\w-]{43}$/

describe("bench serve orgs", () => {
  it.effect("creates and lists organizations", () =>
    Effect.gen(function* () {
      assert.include((yield* call(Orgs.list({ json: false }))).stdout, "No organizations.")
      const created = yield* createOrg({ name: "Acme \u001b[31mInc" })
      assert.strictEqual(created.stdout, "Created acme. Create a key for it: bench serve keys create --org acme\n")
      const asJson: unknown = JSON.parse((yield* createOrg({ slug: "other", json: true })).stdout)
      assert.propertyVal(asJson, "slug", "other")
      yield* createKey()
      const listed = yield* call(Orgs.list({ json: false }))
      assert.strictEqual(
        listed.stdout,
        [
          "organization  name      keys  created",
          "acme          Acme Inc     1  1970-01-01T00:00:00.000Z",
          "other         –            0  1970-01-01T00:00:00.000Z",
          ""
        ].join("\n")
      )
      const items: unknown = JSON.parse((yield* call(Orgs.list({ json: true }))).stdout)
      assert.nestedPropertyVal(items, "items[0].activeKeys", 1)
    }).pipe(Effect.provide(accounts))
  )

  it.effect("says what is wrong with a slug", () =>
    Effect.gen(function* () {
      yield* createOrg()
      const again = yield* createOrg()
      assert.instanceOf(again.error, InvalidRequest)
      assert.strictEqual(again.error.message, `slug must be a new one: there is an organization "acme" already`)
    }).pipe(Effect.provide(accounts))
  )
})

describe("bench serve keys create", () => {
  it.effect("prints nothing but the key on stdout", () =>
    Effect.gen(function* () {
      yield* createOrg()
      const { stderr, stdout } = yield* createKey({ name: "CI\u001b[2J", expires: "90d" })
      assert.match(stdout.trimEnd(), keyPattern)
      assert.isTrue(yield* isGood(stdout.trimEnd()))
      assert.strictEqual(
        stderr,
        `Key "CI" of acme. It expires at 1970-04-01T00:00:00.000Z. It is shown only now: keep it where nobody else reads it.\n`
      )
      const quiet = yield* createKey({ quiet: true })
      assert.match(quiet.stdout, /^bp_\w{8}_[\w-]{43}\n$/)
      assert.strictEqual(quiet.stderr, "")
    }).pipe(Effect.provide(accounts))
  )

  it.effect("prints the key with what is known of it as JSON", () =>
    Effect.gen(function* () {
      yield* createOrg()
      const { stderr, stdout } = yield* createKey({ json: true, name: "CI" })
      const printed: unknown = JSON.parse(stdout)
      assert.strictEqual(stderr, "")
      assert.include(printed, { organization: "acme", name: "CI", expiresAt: null })
      assert.match(stdout, /"key": "bp_\w{8}_[\w-]{43}"/)
    }).pipe(Effect.provide(accounts))
  )

  it.effect("takes minutes, hours, days and weeks", () =>
    Effect.gen(function* () {
      yield* createOrg()
      for (const [expires, end] of [
        ["30m", "1970-01-01T00:30:00.000Z"],
        ["12h", "1970-01-01T12:00:00.000Z"],
        ["1d", "1970-01-02T00:00:00.000Z"],
        ["2w", "1970-01-15T00:00:00.000Z"]
      ] as const) {
        assert.include((yield* createKey({ expires })).stderr, `It expires at ${end}.`)
      }
      for (const expires of ["", "90", "d", "0d", "-1d", "1.5d", "90 days", "1y", "9999999d"]) {
        const { error } = yield* createKey({ expires })
        assert.instanceOf(error, UsageError)
        assert.include(error.message, `--expires expects minutes, hours, days or weeks, such as 90d (got "${expires}")`)
      }
      assert.instanceOf((yield* createKey({ expires: "999999d" })).error, InvalidRequest)
    }).pipe(Effect.provide(accounts))
  )

  it.effect("says how to create the organization", () =>
    Effect.gen(function* () {
      const { error, stdout } = yield* createKey()
      assert.instanceOf(error, InvalidRequest)
      assert.include(error.message, "bench serve orgs create")
      assert.strictEqual(stdout, "")
    }).pipe(Effect.provide(accounts))
  )
})

describe("bench serve keys list", () => {
  it.effect("shows keys without their secrets", () =>
    Effect.gen(function* () {
      assert.include((yield* listKeys()).stdout, "No keys.")
      yield* createOrg()
      yield* createOrg({ slug: "other" })
      const key = (yield* createKey({ name: "line\nbreak", expires: "1d" })).stdout.trimEnd()
      yield* createKey({ org: "other" })
      const { stdout } = yield* listKeys({ org: "acme" })
      assert.strictEqual(
        stdout,
        [
          "key                organization  name        created                   expires                   last used  revoked",
          `${key.slice(0, 12)}…${key.slice(-4)}  acme          line break  1970-01-01T00:00:00.000Z  1970-01-02T00:00:00.000Z  never      –`,
          ""
        ].join("\n")
      )
      const all = (yield* listKeys({ json: true })).stdout
      assert.notInclude(all, key.slice(12))
      const items: unknown = JSON.parse(all)
      assert.nestedPropertyVal(items, "items.length", 2)
      assert.nestedPropertyVal(items, "items[0].organization", "other")
    }).pipe(Effect.provide(accounts))
  )
})

describe("bench serve keys revoke", () => {
  it.effect("ends a key", () =>
    Effect.gen(function* () {
      yield* createOrg()
      const key = (yield* createKey()).stdout.trimEnd()
      const prefix = key.slice(3, 11)
      const { stdout } = yield* call(Keys.revoke({ prefix, json: false }))
      assert.strictEqual(stdout, `bp_${prefix}_…${key.slice(-4)} of acme is revoked since 1970-01-01T00:00:00.000Z.\n`)
      assert.isFalse(yield* isGood(key))
      const again: unknown = JSON.parse((yield* call(Keys.revoke({ prefix, json: true }))).stdout)
      assert.propertyVal(again, "revokedAt", "1970-01-01T00:00:00.000Z")
      const { error } = yield* call(Keys.revoke({ prefix: "nothing", json: false }))
      assert.instanceOf(error, InvalidRequest)
      assert.include(error.message, "bench serve keys list")
    }).pipe(Effect.provide(accounts))
  )
})
