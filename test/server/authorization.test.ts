import { HttpApi } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, TestClock } from "effect"
import * as RateLimit from "../../src/internal/server/auth/rateLimit.js"
import type { Platform } from "../../src/Platform.js"
import { PlatformApi } from "../../src/PlatformApi.js"
import type { Host } from "../support/accountsHost.js"
import { adminKey, ask, assertAnswer, organization, serve } from "../support/accountsHost.js"

// -----------------------------------------------------------------------------
// endpoints
// -----------------------------------------------------------------------------

interface Endpoint {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly takesBody: boolean
  readonly success: number | undefined
}

const endpoints: ReadonlyArray<Endpoint> = (() => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(PlatformApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, payloads, successes }) => {
      const [success] = successes.keys()
      found.push({
        name: endpoint.name,
        method: endpoint.method,
        path: endpoint.path,
        takesBody: payloads.size > 0,
        success
      })
    }
  })
  return found
})()

type Fixture = Effect.Effect.Success<ReturnType<typeof prepare>>

/** One of everything that a path can name. */
const prepare = (platform: Platform["Type"]) =>
  Effect.gen(function* () {
    yield* platform.upsertBenchmark("bench", { name: "Bench of the owner" })
    const { run } = yield* platform.createRun("bench", {
      participants: [
        { slug: "planned", totalTasks: 4 },
        { slug: "unplanned", totalTasks: 4 }
      ]
    })
    const ref = { benchmark: "bench", run: run.id }
    yield* platform.planWorkers({ ...ref, participant: "planned" }, { workerCount: 2 })
    const assignment = yield* platform.claimWorker({ ...ref, participant: "planned" }, {})
    assert.isNotNull(assignment)
    const { attemptId, workerId } = assignment
    const worker = { ...ref, participant: "planned", worker: workerId }
    const { artifactId } = yield* platform.createArtifact(worker, { attemptId, kind: "log" })
    yield* platform.submitSummary(ref, { run: {}, results: [] })
    return { ...worker, artifact: artifactId, attemptId }
  })

const bodies = ({ attemptId }: Pick<Fixture, "attemptId">): Readonly<Record<string, unknown>> => ({
  upsertBenchmark: { name: "Renamed" },
  updateBenchmark: { name: "Renamed" },
  createRun: {},
  updateRun: { config: {} },
  submitSummary: { run: {}, results: [] },
  upsertParticipant: { label: "Renamed" },
  updateParticipant: { label: "Renamed" },
  planWorkers: {},
  claimWorker: {},
  updateWorker: { currentStep: "x" },
  heartbeat: { attemptId },
  sendTaskResults: {
    type: "task_results",
    attemptId,
    sequenceNumber: 0,
    isFinal: true,
    records: [{ taskIndex: 0, status: "success" }]
  },
  completeWorker: { attemptId },
  failWorker: { attemptId },
  releaseWorker: { attemptId },
  createArtifact: { attemptId, kind: "log" },
  activate: { slug: "org-a" }
})

const parameters = (path: string): ReadonlyArray<string> =>
  Array.from(path.matchAll(/:(\w+)/g), ([, name = ""]) => name)

const requestOf = (endpoint: Endpoint, fixture: Fixture, others: Readonly<Record<string, string>> = {}) => {
  const parts: Readonly<Record<string, string>> = {
    ...fixture,
    ...(endpoint.name === "planWorkers" && { participant: "unplanned" }),
    ...others
  }
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) => parts[name] ?? assert.fail(`no part :${name}`))
  const body = bodies(fixture)[endpoint.name]
  assert.strictEqual(body !== undefined, endpoint.takesBody, `a body of ${endpoint.name}`)
  return { path, init: { method: endpoint.method, body } }
}

const host = Effect.gen(function* () {
  const served = yield* serve
  const a = yield* organization(served.accounts, "org-a")
  const b = yield* organization(served.accounts, "org-b")
  const fixture = yield* prepare(served.platformOf(a))
  return { ...served, a, b, fixture }
})

const required = { error: "API key required" }
const invalid = { error: "Invalid API key" }
const forbidden = { error: "API key is not authorized for this organization", code: "forbidden" }

const keyNamed = (accounts: Host["accounts"], slug: string, expiresIn?: "1 hour") =>
  accounts.createKey({ organization: slug, expiresIn })

type Given = Effect.Effect.Success<typeof host>

// -----------------------------------------------------------------------------
// what holds for every endpoint
// -----------------------------------------------------------------------------

const refusesKeysNotInForce = ({ a, accounts, baseUrl, fixture }: Given, endpoint: Endpoint) =>
  Effect.gen(function* () {
    const { init, path } = requestOf(endpoint, fixture)
    const revoked = yield* keyNamed(accounts, "org-a")
    yield* accounts.revokeKey(revoked.apiKey.prefix)
    const expired = yield* keyNamed(accounts, "org-a", "1 hour")
    yield* TestClock.adjust("1 hour")
    const good = Redacted.value(a.key)
    for (const headers of [{}, { authorization: "" }, { authorization: "Bearer" }, { authorization: "Bearer  " }]) {
      assertAnswer(yield* ask({ baseUrl }, path, { ...init, headers }), 401, required)
    }
    for (const authorization of [
      "Bearer nonsense",
      "Bearer bp_short_x",
      `Bearer bp_unknown2_${"x".repeat(43)}`,
      `Bearer bp_${a.apiKey.prefix}_${"x".repeat(43)}`,
      `Bearer ${good} ${good}`,
      `Basic ${good}`,
      `Basic  ${good}`,
      `Digest${good}`,
      `Bearer ${Redacted.value(revoked.key)}`,
      `Bearer ${Redacted.value(expired.key)}`
    ]) {
      const answer = yield* ask({ baseUrl }, path, { ...init, headers: { authorization } })
      assertAnswer(answer, 401, invalid)
      assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
    }
  })

const keepsOrganizationsApart = ({ a, b, baseUrl, fixture, platformOf }: Given, endpoint: Endpoint) =>
  Effect.gen(function* () {
    const { init, path } = requestOf(endpoint, fixture)
    const answer = yield* ask({ baseUrl }, path, { ...init, key: b.key })
    if (endpoint.path.includes(":run") || endpoint.name === "activate") {
      assertAnswer(answer, 403, forbidden)
    } else if (endpoint.path.includes(":benchmark") && endpoint.name !== "upsertBenchmark") {
      assertAnswer(answer, 404, { error: `No benchmark "bench".`, code: "benchmark_not_found" })
    } else {
      assert.strictEqual(answer.status, endpoint.success)
      for (const secret of [a.id, "org-a", fixture.run, fixture.worker, "of the owner"]) {
        assert.notInclude(answer.text, secret)
      }
    }
    assert.strictEqual((yield* platformOf(a).getBenchmark("bench")).name, "Bench of the owner")
  })

const refusesOtherNames = ({ a, b, baseUrl, fixture }: Given, endpoint: Endpoint) =>
  Effect.gen(function* () {
    const { init, path } = requestOf(endpoint, fixture)
    for (const headers of [
      { "x-org-slug": "org-b" },
      { "x-organization-id": b.id },
      { "x-org-slug": "nobody" },
      { "x-org-slug": "org-a", "x-organization-id": b.id }
    ]) {
      assertAnswer(yield* ask({ baseUrl }, path, { ...init, key: a.key, headers }), 403, forbidden)
    }
  })

const findsNothingUnknown = ({ a, baseUrl, fixture }: Given, endpoint: Endpoint) =>
  Effect.forEach(
    parameters(endpoint.path).filter((name) => endpoint.name !== `upsert${capitalized(name)}`),
    (name) =>
      Effect.gen(function* () {
        const { init, path } = requestOf(endpoint, fixture, { [name]: crypto.randomUUID() })
        const { status, text } = yield* ask({ baseUrl }, path, { ...init, key: a.key })
        assert.strictEqual(status, 404, text)
        assert.include(text, `"${name}_not_found"`)
      })
  )

const admitsTheRightKey = ({ a, baseUrl, fixture }: Given, endpoint: Endpoint) =>
  Effect.gen(function* () {
    const { init, path } = requestOf(endpoint, fixture)
    const headers = { "x-org-slug": "org-a", "x-organization-id": a.id }
    const { status, text } = yield* ask({ baseUrl }, path, { ...init, key: a.key, headers })
    assert.strictEqual(status, endpoint.success, text)
  })

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

it("there are endpoints to walk", () => {
  assert.isAbove(endpoints.length, 30)
})

describe.each(endpoints)("authorization of $name", (endpoint) => {
  it.scoped("lets in whoever has the right key, and nobody else", () =>
    Effect.gen(function* () {
      const given = yield* host
      yield* refusesKeysNotInForce(given, endpoint)
      yield* keepsOrganizationsApart(given, endpoint)
      yield* refusesOtherNames(given, endpoint)
      yield* findsNothingUnknown(given, endpoint)
      yield* admitsTheRightKey(given, endpoint)
    })
  )
})

describe("listings", () => {
  it.scoped("show only what is the organization's own, whatever has the same name elsewhere", () =>
    Effect.gen(function* () {
      const { a, b, baseUrl, fixture, platformOf } = yield* host
      const other = yield* prepare(platformOf(b))
      for (const [key, own, foreign] of [
        [a.key, fixture, other],
        [b.key, other, fixture]
      ] as const) {
        for (const path of ["/benchmarks/runs", "/benchmarks/bench/runs", "/benchmarks/bench/results"]) {
          const { status, text } = yield* ask({ baseUrl }, `/api/v1${path}`, { key })
          assert.strictEqual(status, 200)
          assert.include(text, own.run)
          assert.notInclude(text, foreign.run)
        }
        assertAnswer(yield* ask({ baseUrl }, `/api/v1/benchmarks/bench/runs/${foreign.run}`, { key }), 403, forbidden)
      }
      const { body } = yield* ask({ baseUrl }, "/api/v1/organizations", { key: b.key })
      assert.deepStrictEqual(body, { items: [{ id: b.id, slug: "org-b", name: "Name of org-b" }] })
    })
  )

  it.scoped("a run of another organization under another benchmark's name is unknown", () =>
    Effect.gen(function* () {
      const { b, baseUrl, fixture } = yield* host
      const answer = yield* ask({ baseUrl }, `/api/v1/benchmarks/other/runs/${fixture.run}`, { key: b.key })
      assertAnswer(answer, 404, { error: `No benchmark "other".`, code: "benchmark_not_found" })
    })
  )
})

describe("accounts of a key", () => {
  it.scoped("a key has its one organization, which is active", () =>
    Effect.gen(function* () {
      const { a, baseUrl } = yield* host
      const own = { id: a.id, slug: a.slug, name: a.name }
      assertAnswer(yield* ask({ baseUrl }, "/api/v1/me", { key: a.key }), 200, {
        user: null,
        activeOrganizationId: a.id,
        organizations: [own]
      })
      const answer = yield* ask({ baseUrl }, "/api/v1/organizations", {
        method: "POST",
        key: a.key,
        body: { slug: "org-a" }
      })
      assertAnswer(answer, 200, { activeOrganizationId: a.id, organization: own })
    })
  )
})

describe("the admin key", () => {
  it.scoped("acts for the organization that a request names", () =>
    Effect.gen(function* () {
      const { a, b, baseUrl, fixture } = yield* host
      const run = `/api/v1/benchmarks/bench/runs/${fixture.run}`
      const headersOf = (headers: Record<string, string>) => ask({ baseUrl }, run, { key: adminKey, headers })
      assert.strictEqual((yield* headersOf({ "x-org-slug": "org-a" })).status, 200)
      assert.strictEqual((yield* headersOf({ "x-organization-id": a.id })).status, 200)
      assertAnswer(yield* headersOf({ "x-org-slug": "org-b" }), 403, forbidden)
      const unknown = { error: "There is no such organization", code: "forbidden" }
      assertAnswer(yield* headersOf({ "x-org-slug": "nobody" }), 403, unknown)
      assertAnswer(yield* headersOf({ "x-org-slug": "org-a", "x-organization-id": b.id }), 403, unknown)
      assertAnswer(yield* headersOf({}), 403, {
        error: "Name the organization to act for in the header X-Org-Slug",
        code: "forbidden"
      })
    })
  )

  it.scoped("has all organizations", () =>
    Effect.gen(function* () {
      const { a, b, baseUrl } = yield* host
      const [first, second] = [a, b].map(({ id, name, slug }) => ({ id, slug, name }))
      const headers = { "x-org-slug": "org-b" }
      assertAnswer(yield* ask({ baseUrl }, "/api/v1/me", { key: adminKey, headers }), 200, {
        user: null,
        activeOrganizationId: b.id,
        organizations: [first, second]
      })
      for (const slug of ["nobody", "no\u0000body"]) {
        const answer = yield* ask({ baseUrl }, "/api/v1/organizations", {
          method: "POST",
          key: adminKey,
          body: { slug }
        })
        assert.strictEqual(answer.status, 403)
      }
    })
  )
})

describe("failed attempts", () => {
  const tooMany = (seconds: number) => ({
    error: `Too many failed attempts; try again in ${seconds} s.`,
    code: "too_many_attempts"
  })

  it.scoped("are limited to 20 a minute, and successful requests are not", () =>
    Effect.gen(function* () {
      const { a, baseUrl } = yield* host
      const path = "/api/v1/benchmarks"
      for (let i = 0; i < 20; i++) assertAnswer(yield* ask({ baseUrl }, path, { key: "wrong" }), 401, invalid)
      const limited = yield* ask({ baseUrl }, "/api/v1/me", { key: "wrong" })
      assertAnswer(limited, 429, tooMany(3))
      assert.strictEqual(limited.headers.get("retry-after"), "3")
      assertAnswer(yield* ask({ baseUrl }, path), 401, required)
      for (let i = 0; i < 30; i++) assert.strictEqual((yield* ask({ baseUrl }, path, { key: a.key })).status, 200)
      yield* TestClock.adjust("3 seconds")
      assertAnswer(yield* ask({ baseUrl }, path, { key: "wrong" }), 401, invalid)
      assertAnswer(yield* ask({ baseUrl }, path, { key: "wrong" }), 429, tooMany(3))
      yield* TestClock.adjust("1 minute")
      for (let i = 0; i < 20; i++) assertAnswer(yield* ask({ baseUrl }, path, { key: "wrong" }), 401, invalid)
      assertAnswer(yield* ask({ baseUrl }, path, { key: "wrong" }), 429, tooMany(3))
    })
  )

  it.effect("count for each subject on its own", () =>
    Effect.gen(function* () {
      const limit = RateLimit.make({ limit: 2, window: "1 minute" })
      assert.strictEqual(yield* limit.fail(["a", "key"]), 0)
      assert.strictEqual(yield* limit.fail(["b", "key"]), 0)
      assert.strictEqual(yield* limit.fail(["c", "key"]), 30_000)
      assert.strictEqual(yield* limit.fail(["c"]), 0)
      assert.strictEqual(yield* limit.wait(["c"]), 30_000)
      assert.strictEqual(yield* limit.wait(["a"]), 0)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(yield* limit.wait(["c", "a"]), 10_000)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* limit.wait(["c", "key"]), 0)
    })
  )

  it.effect("are forgotten for whom there is no room, who failed longest ago first", () =>
    Effect.gen(function* () {
      const limit = RateLimit.make({ limit: 1, window: "1 minute", capacity: 2 })
      yield* limit.fail(["a"])
      yield* limit.fail(["b"])
      yield* limit.fail(["c"])
      assert.strictEqual(yield* limit.wait(["a"]), 0)
      assert.strictEqual(yield* limit.wait(["b"]), 60_000)
      assert.strictEqual(yield* limit.wait(["c"]), 60_000)
    })
  )

  it("of one IPv6 network, or of one IPv4 address however written, count together", () => {
    for (const [address, network] of [
      ["127.0.0.1", "127.0.0.1"],
      ["::ffff:10.1.2.3", "10.1.2.3"],
      ["::1", "0:0:0:0::/64"],
      ["2001:db8::7", "2001:db8:0:0::/64"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
      ["2001:db8::1:2:3:4:5", "2001:db8:0:1::/64"],
      ["fe80::1%eth0", "fe80:0:0:0::/64"]
    ] as const) {
      assert.strictEqual(RateLimit.networkOf(address), network)
    }
  })
})
