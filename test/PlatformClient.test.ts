import * as Util from "node:util"
import type { HttpClient } from "@effect/platform"
import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Cause, Chunk, Effect, Exit, Fiber, Redacted, Ref, Stream, TestClock } from "effect"
import type { Artifact, PlatformError, Run } from "../src/Platform.js"
import { Platform, Unauthorized } from "../src/Platform.js"
import * as PlatformClient from "../src/PlatformClient.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import { batch, claimed, failure, step, task } from "./contract/support.js"
import type { Sent } from "./support/fakeHttp.js"
import * as FakeHttp from "./support/fakeHttp.js"
import * as PlatformHost from "./support/platformHost.js"

// -----------------------------------------------------------------------------
// support
// -----------------------------------------------------------------------------

const secret = PlatformHost.apiKey
const baseUrl = "https://platform.test"
const credentials = Redacted.make(secret)
const run = { benchmark: "b", run: "r" }
const participant = { ...run, participant: "p" }
const worker = { ...participant, worker: "w" }

type Options = Partial<PlatformClient.PlatformClientOptions>

/** A client without a network, and what it has sent. */
const faked = (answer: (request: Sent) => Response | Error | "silence", options: Options = {}) => {
  const { layer, sent } = FakeHttp.make(answer)
  return Effect.map(Effect.provide(PlatformClient.make({ baseUrl, credentials, ...options }), layer), (platform) => ({
    platform,
    sent
  }))
}

const connect = (host: PlatformHost.PlatformHost, options: Options = {}) =>
  PlatformClient.make({ baseUrl: host.baseUrl, credentials, ...options })

const host = PlatformHost.fromLayer(SqlPlatform.layerMemory)

/** Everything that an error may be shown as. */
const shown = (error: unknown) =>
  [JSON.stringify(error), String(error), Util.inspect(error, { depth: 10 }), Cause.pretty(Cause.fail(error))].join("\n")

const benchmark = { id: "1", slug: "b", name: "B" }

const theRun: Run = {
  id: "r",
  benchmarkId: "1",
  status: "planned",
  totalTasks: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z"
}

/** The error that one answer to an operation becomes. */
const errorOf = (
  answer: Response,
  operation: (platform: Platform["Type"]) => Effect.Effect<unknown, PlatformError> = (platform) => platform.getRun(run)
) =>
  Effect.flatMap(
    faked(() => answer),
    ({ platform }) => Effect.flip(operation(platform))
  )

const refusal = (status: number, body: unknown, headers?: Readonly<Record<string, string>>) =>
  FakeHttp.json(body, status, headers)

/** Waits until a host has received as many requests. */
const received = (host: PlatformHost.PlatformHost, count: number): Effect.Effect<void> =>
  Effect.suspend(() =>
    host.requests.length >= count
      ? Effect.void
      : Effect.zipRight(
          Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
          received(host, count)
        )
  )

// -----------------------------------------------------------------------------
// where to
// -----------------------------------------------------------------------------

describe("PlatformClient base URL", () => {
  it.effect("/api/v1 is appended once, with or without a slash", () =>
    Effect.gen(function* () {
      for (const [given, root] of [
        ["https://platform.test", "https://platform.test"],
        ["https://platform.test/", "https://platform.test"],
        ["https://platform.test/api/v1", "https://platform.test"],
        ["https://platform.test/api/v1/", "https://platform.test"],
        ["https://platform.test/bench//", "https://platform.test/bench"],
        ["https://platform.test:8443/bench/api/v1?x=1#y", "https://platform.test:8443/bench"]
      ] as const) {
        const { platform, sent } = yield* faked(() => FakeHttp.json({ benchmark }), { baseUrl: given })
        yield* platform.getBenchmark("b")
        assert.strictEqual(sent[0]?.url, `${root}/api/v1/benchmarks/b`)
        assert.deepStrictEqual(platform.origin, { kind: "remote", baseUrl: root, organization: undefined })
      }
    })
  )

  it.effect("http is for this machine only", () =>
    Effect.gen(function* () {
      for (const given of ["http://localhost:3000", "http://127.0.0.1", "http://127.1.2.3", "http://[::1]:80"]) {
        const { platform } = yield* faked(() => FakeHttp.json({ benchmark }), { baseUrl: given })
        yield* platform.getBenchmark("b")
      }
      for (const given of [
        "http://platform.test",
        "http://127.0.0.1.evil.test",
        "http://localhost.evil.test",
        "http://10.0.0.1"
      ]) {
        const error = yield* Effect.flip(faked(() => FakeHttp.json({}), { baseUrl: given }))
        assert.strictEqual(
          error.message,
          `baseUrl must start with https: a key is not sent in the clear to ${new URL(given).host}`
        )
      }
    })
  )

  it.effect("what is no address is refused, a password in it without repeating it", () =>
    Effect.gen(function* () {
      for (const given of ["", "platform.test", "ftp://platform.test", "file:///etc"]) {
        const error = yield* Effect.flip(faked(() => FakeHttp.json({}), { baseUrl: given }))
        assert.strictEqual(error.message, "baseUrl must be a URL like https://platform.example.com")
      }
      const error = yield* Effect.flip(faked(() => FakeHttp.json({}), { baseUrl: "https://me:hunter2@platform.test" }))
      assert.match(error.message, /^baseUrl must not contain a user name or password/)
      assert.notInclude(shown(error), "hunter2")
    })
  )
})

// -----------------------------------------------------------------------------
// what is sent
// -----------------------------------------------------------------------------

describe("PlatformClient requests", () => {
  it.effect("credentials are asked for at each request", () =>
    Effect.gen(function* () {
      const count = yield* Ref.make(0)
      const { platform, sent } = yield* faked(() => FakeHttp.json({ benchmark }), {
        credentials: Effect.map(
          Ref.updateAndGet(count, (n) => n + 1),
          (n) => Redacted.make(`token-${n}`)
        ),
        organization: "acme"
      })
      yield* platform.getBenchmark("b")
      yield* platform.getBenchmark("b")
      assert.deepStrictEqual(
        sent.map(({ headers }) => [headers["authorization"], headers["x-org-slug"]]),
        [
          ["Bearer token-1", "acme"],
          ["Bearer token-2", "acme"]
        ]
      )
      assert.deepStrictEqual(platform.origin, { kind: "remote", baseUrl, organization: "acme" })
    })
  )

  it.effect("an organization may be named by its id, too", () =>
    Effect.gen(function* () {
      const { platform, sent } = yield* faked(() => FakeHttp.json({ benchmark }), { organizationId: "org-1" })
      yield* platform.getBenchmark("b")
      assert.strictEqual(sent[0]?.headers["x-organization-id"], "org-1")
      assert.notProperty(sent[0]?.headers, "x-org-slug")
      assert.deepStrictEqual(platform.origin, { kind: "remote", baseUrl, organization: undefined })
      const both = yield* faked(() => FakeHttp.json({ benchmark }), { organization: "acme", organizationId: "org-1" })
      yield* both.platform.getBenchmark("b")
      assert.strictEqual(both.sent[0]?.headers["x-organization-id"], "org-1")
      assert.strictEqual(both.sent[0]?.headers["x-org-slug"], "acme")
    })
  )

  it.effect("without an organization no header names one", () =>
    Effect.gen(function* () {
      const { platform, sent } = yield* faked(() => FakeHttp.json({ benchmark }))
      yield* platform.getBenchmark("b")
      assert.notProperty(sent[0]?.headers, "x-org-slug")
      assert.notProperty(sent[0]?.headers, "x-organization-id")
    })
  )

  it.effect("without credentials, or with ones that no header can carry, nothing is sent", () =>
    Effect.gen(function* () {
      const none = new Unauthorized({ reason: "Unauthenticated", detail: "no key" })
      const signedOut = yield* faked(() => FakeHttp.json({}), { credentials: Effect.fail(none) })
      assert.strictEqual(yield* Effect.flip(signedOut.platform.getBenchmark("b")), none)
      for (const key of ["", "two words", "a\r\nx-evil: 1", "schlüssel"]) {
        const { platform, sent } = yield* faked(() => FakeHttp.json({}), { credentials: Redacted.make(key) })
        const error = yield* Effect.flip(platform.getBenchmark("b"))
        assert.strictEqual(error._tag, "Unauthorized")
        if (key !== "") assert.notInclude(shown(error), key)
        assert.deepStrictEqual(sent, [])
      }
      const { platform, sent } = yield* faked(() => FakeHttp.json({}), { organization: "a\nb" })
      assert.match(yield* failure(platform.getBenchmark("b")), /^InvalidRequest organization must be a slug/)
      const byId = yield* faked(() => FakeHttp.json({}), { organizationId: "a b" })
      assert.match(yield* failure(byId.platform.getBenchmark("b")), /^InvalidRequest organizationId must be an id/)
      assert.deepStrictEqual([...signedOut.sent, ...sent, ...byId.sent], [])
    })
  )

  it.effect("credentials that were not taken are exchanged once, if there are others", () =>
    Effect.gen(function* () {
      const rejected: Array<string> = []
      const current = yield* Ref.make("stale-token")
      const { platform, sent } = yield* faked(
        ({ headers }) =>
          headers["authorization"] === "Bearer fresh-token"
            ? FakeHttp.json({ benchmark })
            : refusal(401, { error: "expired" }),
        {
          credentials: Effect.map(Ref.get(current), Redacted.make),
          invalidate: (key) => {
            rejected.push(Redacted.value(key))
            return Effect.as(Ref.set(current, rejected.length < 2 ? "fresh-token" : "stale-token"), rejected.length < 3)
          }
        }
      )
      yield* platform.getBenchmark("b")
      assert.deepStrictEqual(rejected, ["stale-token"])
      yield* Ref.set(current, "stale-token")
      assert.strictEqual((yield* Effect.flip(platform.getBenchmark("b")))._tag, "Unauthorized")
      assert.strictEqual(sent.length, 4)
      assert.strictEqual((yield* Effect.flip(platform.getBenchmark("b")))._tag, "Unauthorized")
      assert.strictEqual(sent.length, 5)
    })
  )

  it.scoped("a name is one segment of the path, whatever characters it has", () =>
    Effect.gen(function* () {
      const served = yield* host
      const platform = yield* connect(served)
      const names = ["a b", "a/b", "100%", "%2F", "a?b=c", "a#b", "日本語", "...", "a;b", "a+b", "'(*)!~", "\u0000\n"]
      for (const name of names) {
        assert.strictEqual((yield* platform.upsertBenchmark(name, {})).slug, name)
        assert.strictEqual((yield* platform.getBenchmark(name)).slug, name)
      }
      assert.deepStrictEqual(
        served.requests.filter(({ method }) => method === "GET").map(({ path }) => path),
        names.map((name) => `/api/v1/benchmarks/${encodeURIComponent(name)}`)
      )
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )

  it.effect("a name that no path can hold is refused before anything is sent", () =>
    Effect.gen(function* () {
      const { platform, sent } = yield* faked(() => FakeHttp.json({}))
      for (const name of ["", ".", "..", "\ud800"]) {
        assert.match(yield* failure(platform.getBenchmark(name)), /^InvalidRequest benchmark must /)
        assert.match(
          yield* failure(platform.claimWorker({ ...run, participant: name }, {})),
          /^InvalidRequest particip/
        )
        assert.match(yield* failure(platform.getWorker({ ...worker, worker: name })), /^InvalidRequest worker must /)
        assert.match(yield* failure(platform.getArtifact(run, name)), /^InvalidRequest artifact must /)
      }
      assert.match(yield* failure(platform.upsertBenchmark("runs", {})), /^InvalidRequest benchmark must not be "runs"/)
      assert.strictEqual(
        yield* failure(platform.getRun({ benchmark: ".", run: ".." })),
        `InvalidRequest benchmark must not be "."; run must not be ".."`
      )
      assert.deepStrictEqual(sent, [])
    })
  )

  it.effect("a query names what is given, and steps as one list", () =>
    Effect.gen(function* () {
      const { platform, sent } = yield* faked(() => FakeHttp.json({ run: theRun, generatedAt: "", tasks: [] }))
      yield* platform.iterations(run, {})
      yield* platform.iterations(run, { type: undefined, participant: undefined, steps: [] })
      yield* platform.iterations(run, { type: "steps", participant: "a&b c,d", steps: ["x y", "z&?"] })
      assert.deepStrictEqual(
        sent.map(({ url }) => new URL(url)).map(({ search, searchParams }) => [search === "", [...searchParams]]),
        [
          [true, []],
          [true, []],
          [
            false,
            [
              ["type", "steps"],
              ["participant", "a&b c,d"],
              ["steps", "x y,z&?"]
            ]
          ]
        ]
      )
      assert.strictEqual(
        yield* failure(platform.iterations(run, { steps: ["a", "b,c", ""] })),
        `InvalidRequest steps[1] must not contain a comma (got "b,c"); steps[2] must be a non-empty string`
      )
      assert.strictEqual(sent.length, 3)
    })
  )

  it.effect("a body holds the fields that are given, and no others", () =>
    Effect.gen(function* () {
      const { platform, sent } = yield* faked(() => FakeHttp.json({ benchmark }))
      const input = { name: "B", status: undefined, config: { a: 1 }, extra: true }
      yield* platform.upsertBenchmark("b", input)
      assert.deepStrictEqual(sent[0]?.body, `{"name":"B","config":{"a":1}}`)
      assert.strictEqual(sent[0]?.headers["content-type"], "application/json")
    })
  )

  it.effect("what exceeds a limit is refused before anything is sent", () =>
    Effect.gen(function* () {
      const { platform, sent } = yield* faked(() => FakeHttp.json({}))
      const records = Array.from({ length: 5001 }, (_, i) => task(i))
      const steps = Array.from({ length: 101 }, (_, i) => step(`s${i}`))
      const samples = Array.from({ length: 21 }, (_, i) => ({ step: `s${i}`, active: 1, target: 1 }))
      const messages = yield* Effect.forEach(
        [
          platform.sendTaskResults(worker, batch("a", 0, records)),
          platform.sendTaskResults(worker, batch("a", -1, [task(0), task(1, { steps })])),
          platform.heartbeat(worker, { attemptId: "a", concurrency: samples }),
          platform.heartbeat(worker, {
            attemptId: "a",
            progressDone: 0.5,
            concurrency: [...samples.slice(0, 1), ...samples.slice(0, 1)]
          }),
          platform.listBenchmarks({ limit: 0 }),
          platform.listRuns("b", { limit: 501 }),
          platform.listAllRuns({ offset: -1 }),
          platform.benchmarkResults("b", { limit: 1.5 }),
          platform.taskBuckets(run, { bucketSize: 0, failureLimit: 1001 }),
          platform.runTimeline(run, { bucketMs: 0 }),
          platform.participantLogs(participant, { maxLines: 0 })
        ],
        (operation) => failure<never>(operation)
      )
      assert.deepStrictEqual(
        messages.map((message) => message.replace("InvalidRequest ", "")),
        [
          "records must be at most 5000 (got 5001)",
          "sequenceNumber must be at least 0 (got -1); records[1].steps must be at most 100",
          "concurrency must be at most 20 (got 21)",
          `progressDone must be a whole number (got 0.5); concurrency[1].step must be unique (got "s0" again)`,
          "limit must be at least 1 (got 0)",
          "limit must be at most 500 (got 501)",
          "offset must be at least 0 (got -1)",
          "limit must be a whole number (got 1.5)",
          "bucketSize must be at least 1 (got 0); failureLimit must be at most 1000 (got 1001)",
          "bucketMs must be at least 1 (got 0)",
          "maxLines must be at least 1 (got 0)"
        ]
      )
      assert.deepStrictEqual(sent, [])
    })
  )

  it.effect("what does not fit, or JSON cannot hold, is refused by name before anything is sent", () =>
    Effect.gen(function* () {
      const { platform, sent } = yield* faked(() => FakeHttp.json({}))
      assert.match(
        yield* failure(platform.upsertParticipant(participant, { totalTasks: -1, workerCount: 0 })),
        /^InvalidRequest totalTasks .*-1/
      )
      assert.strictEqual(
        yield* failure(platform.updateRun(run, { config: { deep: { size: 1n } } })),
        "InvalidRequest config.deep.size must be JSON (it is a bigint)"
      )
      const cycle: Record<string, unknown> = {}
      cycle["self"] = cycle
      assert.strictEqual(
        yield* failure(platform.sendTaskResults(worker, batch("a", 0, [task(0), task(1, { data: cycle })]))),
        "InvalidRequest records[1].data.self must be JSON (it is a cycle)"
      )
      assert.deepStrictEqual(sent, [])
    })
  )
})

// -----------------------------------------------------------------------------
// what is answered
// -----------------------------------------------------------------------------

describe("PlatformClient answers", () => {
  it.effect("unknown fields are ignored, optional ones may be missing or null", () =>
    Effect.gen(function* () {
      const answers = [
        { run: theRun, more: 1 },
        { run: { ...theRun, config: null, workerCount: null, runKey: null, color: "red" } }
      ]
      const { platform } = yield* faked(() => FakeHttp.json(answers.shift()))
      assert.deepStrictEqual(yield* platform.getRun(run), theRun)
      assert.deepStrictEqual(yield* platform.getRun(run), {
        ...theRun,
        config: null,
        workerCount: null,
        runKey: null
      })
    })
  )

  it.effect("any status of success is one", () =>
    Effect.gen(function* () {
      const { platform } = yield* faked(({ url }) =>
        url.endsWith("/events")
          ? FakeHttp.json({ accepted: 1, eventBatchId: "e" }, 200)
          : FakeHttp.json({ run: theRun, participants: [], organizationSlug: "o" }, 202)
      )
      assert.strictEqual((yield* platform.createRun("b", {})).organizationSlug, "o")
      assert.deepStrictEqual(yield* platform.sendTaskResults(worker, batch("a", 0, [task(0)])), {
        accepted: 1,
        eventBatchId: "e",
        duplicate: false
      })
    })
  )

  it.effect("no assignment is null, given or not", () =>
    Effect.gen(function* () {
      const answers = [{ assignment: null }, {}]
      const { platform } = yield* faked(() => FakeHttp.json(answers.shift()))
      assert.isNull(yield* platform.claimWorker(participant, {}))
      assert.isNull(yield* platform.claimWorker(participant, {}))
    })
  )

  it.effect("a summary that is not repeated has been stored as it was sent", () =>
    Effect.gen(function* () {
      const { platform } = yield* faked(() => FakeHttp.json({ ok: true }))
      const summary = { run: { gitSha: "abc" }, results: [] }
      assert.deepStrictEqual(yield* platform.submitSummary(run, summary), summary)
    })
  )

  it.effect("an answer that cannot be read is worth another try", () =>
    Effect.gen(function* () {
      for (const [text, detail] of [
        [`{"run": {"id"`, /^getRun: the answer of platform\.test cannot be read: request: Could not parse JSON/],
        ["<html>", /cannot be read/],
        ["", /cannot be read/],
        [JSON.stringify({ run: { ...theRun, status: "odd" } }), /cannot be read: run\.status: Expected .*"odd"/]
      ] as const) {
        const error = yield* errorOf(new Response(text))
        assert.strictEqual(error._tag === "PlatformFailure" && error.retryable, true)
        assert.match(error.message, detail)
      }
    })
  )
})

describe("PlatformClient errors", () => {
  it.effect("400 and 422 are invalid requests, with the issues of the body", () =>
    Effect.gen(function* () {
      const issues = [{ field: "totalTasks", message: "must be at least 1" }]
      for (const status of [400, 422]) {
        const named = yield* errorOf(refusal(status, { error: "no", issues }))
        assert.strictEqual(named._tag, "InvalidRequest")
        assert.strictEqual(named.message, "totalTasks must be at least 1")
        assert.deepStrictEqual(named.response, { status, body: JSON.stringify({ error: "no", issues }) })
        const unnamed = yield* errorOf(refusal(status, { error: "is odd", issues: [] }))
        assert.strictEqual(unnamed.message, "request is odd")
      }
    })
  )

  it.effect("401 and 403 are about who asks", () =>
    Effect.gen(function* () {
      const unknown = yield* errorOf(refusal(401, { error: "Invalid API key" }))
      assert.match(unknown.message, /^Not signed in: Invalid API key\. Sign in/)
      const forbidden = yield* errorOf(refusal(403, { error: "API key is not authorized for this organization." }))
      assert.strictEqual(forbidden.message, "Not allowed: API key is not authorized for this organization.")
    })
  )

  it.effect("404 is the resource that its code names, else the one that was asked for", () =>
    Effect.gen(function* () {
      const notFound = (
        code: string | undefined,
        operation: (platform: Platform["Type"]) => Effect.Effect<unknown, PlatformError>
      ) =>
        Effect.map(errorOf(refusal(404, { error: "no", code }), operation), (error) =>
          error._tag === "ResourceNotFound" ? `${error.resource} ${error.id}` : `${error._tag} ${error.message}`
        )
      assert.deepStrictEqual(
        yield* Effect.all([
          notFound("benchmark_not_found", (platform) => platform.getWorker(worker)),
          notFound("participant_not_found", (platform) => platform.getWorker(worker)),
          notFound(undefined, (platform) => platform.getBenchmark("b")),
          notFound(undefined, (platform) => platform.getRun(run)),
          notFound(undefined, (platform) => platform.listWorkers(participant)),
          notFound("odd", (platform) => platform.getWorker(worker)),
          notFound(undefined, (platform) => platform.getSummary(run)),
          notFound(undefined, (platform) => platform.submitSummary(run, { run: {}, results: [] })),
          notFound(undefined, (platform) => platform.getArtifact(run, "a")),
          notFound("run_not_found", (platform) => platform.getArtifact(run, "a")),
          notFound(undefined, (platform) => platform.listBenchmarks({})),
          notFound("route_not_found", (platform) => platform.runProgress(run))
        ]),
        [
          "benchmark b",
          "participant p",
          "benchmark b",
          "run r",
          "participant p",
          "worker w",
          "summary r",
          "run r",
          "artifact a",
          "run r",
          "PlatformFailure listBenchmarks: platform.test answered 404: no; is it a platform, and up to date?",
          "PlatformFailure runProgress: platform.test answered 404: no; is it a platform, and up to date?"
        ]
      )
    })
  )

  it.effect("409 is the conflict that its code names, else the one that the operation can have", () =>
    Effect.gen(function* () {
      const conflict = (
        code: string | undefined,
        operation: (platform: Platform["Type"]) => Effect.Effect<unknown, PlatformError>
      ) =>
        Effect.map(errorOf(refusal(409, { error: "Taken.", code }), operation), (error) =>
          error._tag === "ResourceConflict" ? `${error.reason} ${error.message}` : error._tag
        )
      const close = (platform: Platform["Type"]) => platform.completeWorker(worker, { attemptId: "a" })
      assert.deepStrictEqual(
        yield* Effect.all([
          conflict("worker_closed", close),
          conflict("stale_attempt", close),
          conflict("already_planned", close),
          conflict(undefined, close),
          conflict(undefined, (platform) => platform.planWorkers(participant, {})),
          conflict(undefined, (platform) => platform.upsertParticipant(participant, { totalTasks: 1 }))
        ]),
        [
          "WorkerClosed Taken.",
          "StaleAttempt Taken.",
          "AlreadyPlanned Taken.",
          "StaleAttempt Taken.",
          "AlreadyPlanned Taken.",
          "AlreadyPlanned Taken."
        ]
      )
    })
  )

  it.effect("413 is too large", () =>
    Effect.gen(function* () {
      const error = yield* errorOf(refusal(413, { error: "no" }), (platform) =>
        platform.sendTaskResults(worker, batch("a", 0, [task(0)]))
      )
      assert.strictEqual(error._tag, "RequestTooLarge")
      assert.strictEqual(error.message, "sendTaskResults: the request is larger than the platform takes")
    })
  )

  it.effect("408, 425, 429 and 5xx may pass, other statuses do not", () =>
    Effect.gen(function* () {
      for (const status of [408, 425, 429, 500, 502, 503, 504, 599]) {
        const error = yield* errorOf(refusal(status, { error: "busy" }))
        assert.strictEqual(error._tag === "PlatformFailure" && error.retryable, true)
        assert.strictEqual(error.message, `getRun: platform.test answered ${status}: busy`)
        assert.strictEqual(error.response?.status, status)
      }
      for (const status of [402, 405, 410, 418, 451]) {
        const error = yield* errorOf(refusal(status, { error: "no" }))
        assert.strictEqual(error._tag === "PlatformFailure" && !error.retryable, true)
      }
    })
  )

  it.effect("Retry-After is seconds or a date to come; anything else is ignored", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      for (const [header, expected] of [
        ["0", 0],
        ["7", 7000],
        [" 3 ", 3000],
        ["Thu, 01 Jan 2026 00:01:30 GMT", 90_000],
        ["Wed, 31 Dec 2025 00:00:00 GMT", undefined],
        ["-5", undefined],
        ["1.5", undefined],
        ["soon", undefined],
        ["later 2099", undefined],
        ["99999999999999999999", undefined],
        ["", undefined]
      ] as const) {
        const error = yield* errorOf(refusal(429, { error: "slow down" }, { "retry-after": header }))
        assert.strictEqual(error._tag === "PlatformFailure" ? error.retryAfterMillis : "other", expected, header)
      }
    })
  )

  it.effect("an answer in other words is shown where it is short, and kept up to 2000 characters", () =>
    Effect.gen(function* () {
      for (const [text, said] of [
        ["upstream is away\nat 10.0.0.1", "upstream is away"],
        ["<html><body>Bad gateway</body></html>", "HTTP 502"],
        [`{"message": "no luck"}`, "no luck"],
        [`{"error": {"code": 5}}`, "HTTP 502"],
        ["[1, 2", "HTTP 502"],
        ["", "HTTP 502"]
      ] as const) {
        const error = yield* errorOf(new Response(text, { status: 502 }))
        assert.strictEqual(error.message, `getRun: platform.test answered 502: ${said}`)
        assert.deepStrictEqual(error.response, { status: 502, body: text })
      }
      const long = yield* errorOf(refusal(500, { error: "x".repeat(3000) }))
      assert.strictEqual(long.response?.body.length, 2000)
    })
  )

  it.effect("reading what a refusal says ends, in size and in time", () =>
    Effect.gen(function* () {
      const endless = new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new TextEncoder().encode("x".repeat(1024)))
        }),
        { status: 500 }
      )
      assert.strictEqual((yield* errorOf(endless)).response?.body, "x".repeat(2000))
      const stuck = new Response(
        new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("half")) }),
        { status: 404 }
      )
      const waiting = yield* Effect.fork(errorOf(stuck))
      yield* TestClock.adjust("5 seconds")
      const error = yield* Fiber.join(waiting)
      assert.strictEqual(error._tag, "ResourceNotFound")
      assert.strictEqual(error.response?.body, "half")
    })
  )

  it.effect("no error shows the key, even if the server repeats it", () =>
    Effect.gen(function* () {
      for (const status of [400, 401, 403, 404, 409, 413, 418, 429, 500]) {
        const error = yield* errorOf(
          refusal(status, { error: `bad key ${secret}`, issues: [{ field: secret, message: secret }] })
        )
        assert.notInclude(shown(error), secret)
        assert.include(shown(error), "redacted")
      }
      const { platform } = yield* faked(
        () => new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") })
      )
      assert.notInclude(shown(yield* Effect.flip(platform.getRun(run))), secret)
      assert.notInclude(Util.inspect(platform, { depth: 10 }), secret)
    })
  )
})

// -----------------------------------------------------------------------------
// the way
// -----------------------------------------------------------------------------

const clients: ReadonlyArray<readonly [name: string, layer: Layer.Layer<HttpClient.HttpClient>]> = [
  ["fetch", FetchHttpClient.layer],
  ["node:http", NodeHttpClient.layer],
  ["undici", NodeHttpClient.layerUndici]
]

for (const [name, layer] of clients) {
  describe(`PlatformClient connections over ${name}`, () => {
    it.scoped("an unreachable server is named, with the reason", () =>
      Effect.gen(function* () {
        const gone = yield* Effect.scoped(Effect.map(host, ({ baseUrl }) => baseUrl))
        const platform = yield* PlatformClient.make({ baseUrl: gone, credentials })
        const error = yield* Effect.flip(platform.listBenchmarks({}))
        assert.strictEqual(error._tag === "PlatformFailure" && error.retryable, true)
        assert.match(error.message, /^listBenchmarks: cannot reach 127\.0\.0\.1:\d+ \(connect ECONNREFUSED 127\./)
        assert.notInclude(shown(error), secret)
      }).pipe(Effect.provide(layer))
    )

    it.scoped("a connection that is reset may be tried again, carried out or not", () =>
      Effect.gen(function* () {
        const served = yield* host
        const platform = yield* connect(served)
        served.misbehave(
          PlatformHost.scripted("/benchmarks/b", [
            { fault: "reset", when: "before" },
            { fault: "reset", when: "after" },
            { fault: "reset", when: "midBody" },
            { fault: "garbage" }
          ])
        )
        const name = "B".repeat(100_000)
        for (const pattern of [/cannot reach/, /cannot reach/, /was cut off|cannot reach/, /cannot be read/]) {
          const error = yield* Effect.flip(platform.upsertBenchmark("b", { name }))
          assert.strictEqual(error._tag === "PlatformFailure" && error.retryable, true)
          assert.match(error.message, pattern)
        }
        assert.strictEqual((yield* platform.upsertBenchmark("b", {})).name, name)
      }).pipe(Effect.provide(layer))
    )

    it.scoped("a server that does not answer in time may be tried again", () =>
      Effect.gen(function* () {
        const served = yield* host
        served.misbehave(PlatformHost.scripted("/benchmarks", [{ fault: "silence" }]))
        const platform = yield* connect(served)
        const waiting = yield* Effect.fork(Effect.exit(platform.listBenchmarks({})))
        yield* received(served, 1)
        yield* TestClock.adjust("59 seconds")
        assert.isNull(waiting.unsafePoll())
        yield* TestClock.adjust("1 seconds")
        const exit = yield* Fiber.join(waiting)
        const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        assert.match(String(error), /listBenchmarks: 127\.0\.0\.1:\d+ did not answer in time/)
        assert.propertyVal(error, "retryable", true)
        assert.deepStrictEqual(yield* platform.listBenchmarks({}), [])
      }).pipe(Effect.provide(layer))
    )

    it.scoped("an interrupted call ends at once", () =>
      Effect.gen(function* () {
        const served = yield* host
        served.misbehave(() => ({ fault: "silence" }))
        const platform = yield* connect(served)
        const waiting = yield* Effect.fork(platform.listBenchmarks({}))
        yield* received(served, 1)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(waiting)))
      }).pipe(Effect.provide(layer))
    )

    it.scoped("a redirect to another server is followed without credentials", () =>
      Effect.gen(function* () {
        const other = yield* host
        const served = yield* host
        const target = { fault: "answer", status: 200, body: JSON.stringify({ items: [] }) } as const
        other.misbehave(() => target)
        served.misbehave(() => ({
          fault: "answer",
          status: 302,
          headers: { location: `${other.baseUrl}/elsewhere?x=%20y` }
        }))
        const platform = yield* connect(served, { organization: "acme" })
        assert.deepStrictEqual(yield* platform.listBenchmarks({}), [])
        assert.strictEqual(served.requests[0]?.headers.authorization, `Bearer ${secret}`)
        assert.strictEqual(other.requests[0]?.path, "/elsewhere?x=%20y")
        assert.notProperty(other.requests[0]?.headers, "authorization")
        assert.notProperty(other.requests[0]?.headers, "x-org-slug")
      }).pipe(Effect.provide(layer))
    )

    it.scoped("a redirect within the server keeps them, and ends", () =>
      Effect.gen(function* () {
        const served = yield* host
        const platform = yield* connect(served)
        served.misbehave(({ path }) =>
          path === "/api/v1/benchmarks"
            ? { fault: "answer", status: 308, headers: { location: "/moved" } }
            : { fault: "answer", status: 200, body: JSON.stringify({ items: [] }) }
        )
        assert.deepStrictEqual(yield* platform.listBenchmarks({}), [])
        assert.strictEqual(served.requests[1]?.path, "/moved")
        assert.strictEqual(served.requests[1]?.headers.authorization, `Bearer ${secret}`)
        served.misbehave(({ path }) => ({ fault: "answer", status: 302, headers: { location: path } }))
        const error = yield* Effect.flip(platform.listBenchmarks({}))
        assert.strictEqual(error._tag === "PlatformFailure" && !error.retryable, true)
        assert.match(error.message, /redirects more than 5 times/)
        assert.strictEqual(served.requests.length, 8)
      }).pipe(Effect.provide(layer))
    )

    it.scoped("what changes something is not redirected", () =>
      Effect.gen(function* () {
        const other = yield* host
        const served = yield* host
        const platform = yield* connect(served)
        for (const status of [301, 302, 303, 307, 308]) {
          served.misbehave(() => ({ fault: "answer", status, headers: { location: `${other.baseUrl}/x` } }))
          const error = yield* Effect.flip(platform.upsertBenchmark("b", {}))
          assert.strictEqual(error._tag === "PlatformFailure" && !error.retryable, true)
          assert.include(error.message, `redirects to ${other.baseUrl}: only what reads is redirected`)
        }
        assert.deepStrictEqual(other.requests, [])
      }).pipe(Effect.provide(layer))
    )
  })
}

describe("PlatformClient redirects", () => {
  it.effect("one to what is not https is refused before anything is sent there", () =>
    Effect.gen(function* () {
      for (const location of ["http://platform.test/x", "http://127.0.0.1/x", "ftp://platform.test/x"]) {
        const { platform, sent } = yield* faked(() => new Response(null, { status: 301, headers: { location } }))
        const error = yield* Effect.flip(platform.getBenchmark("b"))
        assert.strictEqual(error._tag === "PlatformFailure" && !error.retryable, true)
        assert.match(error.message, /^getBenchmark: platform\.test redirects to .*, which is not https$/)
        assert.strictEqual(sent.length, 1)
      }
    })
  )

  it.effect("one to nowhere is refused", () =>
    Effect.gen(function* () {
      const error = yield* errorOf(new Response(null, { status: 302 }))
      assert.match(error.message, /^getRun: platform\.test answered 302 without saying where to/)
    })
  )
})

// -----------------------------------------------------------------------------
// artifacts
// -----------------------------------------------------------------------------

describe("PlatformClient artifacts", () => {
  const artifact: Artifact = {
    id: "a",
    runId: "r",
    workerId: "w",
    kind: "log",
    contentType: "application/gzip",
    objectKey: "o/a",
    createdAt: "2026-01-01T00:00:00.000Z"
  }
  const upload = (uploadUrl: string) => ({ artifact, artifactId: "a", uploadUrl, objectKey: "o/a" })
  const bytes = (stream: Stream.Stream<Uint8Array, PlatformError>) =>
    Effect.map(Stream.runCollect(stream), (chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)).toString("utf8"))
  const signature = "0123456789abcdef0123"
  const presigned = `https://storage.test/o/a%20b?X-Amz-Signature=${signature}&response=a%20b+c`

  it.scoped("bytes go and come with their content type, and without the key", () =>
    Effect.gen(function* () {
      const served = yield* host
      const platform = yield* connect(served)
      const claim = yield* Effect.provideService(claimed(), Platform, platform)
      const created = yield* platform.createArtifact(claim.worker, {
        attemptId: claim.attemptId,
        kind: "log",
        contentType: "text/x-log"
      })
      yield* platform.uploadArtifact(created, new TextEncoder().encode("lines\n"))
      const found = yield* platform.getArtifact(claim.run, created.artifactId)
      assert.strictEqual(yield* bytes(platform.downloadArtifact(found)), "lines\n")
      const [put, get] = served.requests.filter(({ path }) => path.startsWith("/objects/"))
      assert.strictEqual(put?.headers["content-type"], "text/x-log")
      assert.strictEqual(put?.bytes.toString("utf8"), "lines\n")
      for (const request of [put, get]) {
        assert.isDefined(request)
        assert.notProperty(request?.headers, "authorization")
      }
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )

  it.effect("a URL is used as it is given, on whatever server", () =>
    Effect.gen(function* () {
      const { platform, sent } = yield* faked(({ method }) => new Response(method === "GET" ? "content" : null))
      yield* platform.uploadArtifact(upload(presigned), new TextEncoder().encode("x"))
      assert.strictEqual(yield* bytes(platform.downloadArtifact({ artifact, downloadUrl: presigned })), "content")
      yield* platform.uploadArtifact(upload("/objects/a?token=t"), new Uint8Array())
      assert.deepStrictEqual(
        sent.map(({ headers, method, url }) => [method, url, headers["content-type"], headers["authorization"]]),
        [
          ["PUT", presigned, "application/gzip", undefined],
          ["GET", presigned, undefined, undefined],
          ["PUT", `${baseUrl}/objects/a?token=t`, "application/gzip", undefined]
        ]
      )
    })
  )

  it.effect("URLs that only the platform can reach, or that are not as safe as it, are refused", () =>
    Effect.gen(function* () {
      const { platform, sent } = yield* faked(() => new Response("x"))
      for (const [url, detail] of [
        [
          "file:///srv/objects/a",
          "uploadArtifact: platform.test keeps artifacts at file: URLs, which only it can reach"
        ],
        ["http://storage.test/a", "uploadArtifact: platform.test keeps artifacts at storage.test without https"],
        ["https://", "uploadArtifact: platform.test gave a URL that is none"]
      ] as const) {
        const error = yield* Effect.flip(platform.uploadArtifact(upload(url), new Uint8Array()))
        assert.strictEqual(error._tag === "PlatformFailure" && !error.retryable, true)
        assert.strictEqual(error.message, detail)
      }
      assert.match(
        yield* failure(bytes(platform.downloadArtifact({ artifact, downloadUrl: "file:///srv/a" }))),
        /^PlatformFailure downloadArtifact: /
      )
      assert.deepStrictEqual(sent, [])
    })
  )

  it.effect("what storage refuses is told without the URL", () =>
    Effect.gen(function* () {
      for (const [status, expected] of [
        [403, /^PlatformFailure uploadArtifact: storage\.test refused with status 403; the URL may have expired$/],
        [400, /^PlatformFailure uploadArtifact: storage\.test refused with status 400/],
        [404, /^ResourceNotFound artifact$/],
        [413, /^RequestTooLarge uploadArtifact/],
        [503, /^PlatformFailure uploadArtifact: storage\.test answered 503/]
      ] as const) {
        const { platform } = yield* faked(
          () => new Response(`<Error><Signature>${signature}</Signature>${presigned}</Error>`, { status })
        )
        const error = yield* Effect.flip(platform.uploadArtifact(upload(presigned), new Uint8Array()))
        assert.match(yield* failure(Effect.fail(error)), expected)
        assert.notInclude(shown(error), signature)
        assert.strictEqual(error._tag === "PlatformFailure" && error.retryable, status === 503)
      }
    })
  )

  it.scoped("a download that is cut off says so, and may be tried again", () =>
    Effect.gen(function* () {
      const served = yield* host
      const platform = yield* connect(served)
      const claim = yield* Effect.provideService(claimed(), Platform, platform)
      const created = yield* platform.createArtifact(claim.worker, { attemptId: claim.attemptId, kind: "log" })
      const content = "x".repeat(1_000_000)
      yield* platform.uploadArtifact(created, new TextEncoder().encode(content))
      const found = yield* platform.getArtifact(claim.run, created.artifactId)
      served.misbehave(PlatformHost.scripted(created.artifactId, [{ fault: "reset", when: "midBody" }]))
      const error = yield* Effect.flip(bytes(platform.downloadArtifact(found)))
      assert.strictEqual(error._tag === "PlatformFailure" && error.retryable, true)
      assert.match(error.message, /^downloadArtifact: the answer of 127\.0\.0\.1:\d+ was cut off/)
      assert.strictEqual(yield* bytes(platform.downloadArtifact(found)), content)
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )

  it.effect("a large upload gets time by its size", () =>
    Effect.gen(function* () {
      const { platform } = yield* faked(() => "silence")
      const waiting = yield* Effect.fork(
        Effect.flip(platform.uploadArtifact(upload(presigned), new Uint8Array(65_536 * 10)))
      )
      yield* TestClock.adjust("69 seconds")
      assert.isNull(waiting.unsafePoll())
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual((yield* Fiber.join(waiting)).message, "uploadArtifact: storage.test did not answer in time")
    })
  )
})

// -----------------------------------------------------------------------------
// accounts
// -----------------------------------------------------------------------------

describe("PlatformClient accounts", () => {
  it.scoped("who is signed in, for which organizations", () =>
    Effect.gen(function* () {
      const served = yield* host
      const accounts = yield* PlatformClient.makeAccounts({ baseUrl: served.baseUrl, credentials })
      const [organization, ...others] = yield* accounts.organizations
      assert.deepStrictEqual([organization?.slug, others], ["local", []])
      assert.deepStrictEqual(yield* accounts.me, {
        user: null,
        activeOrganizationId: organization?.id ?? "",
        organizations: yield* accounts.organizations
      })
      assert.deepStrictEqual(yield* accounts.activate("local"), organization)
      assert.strictEqual(
        yield* failure(accounts.activate("other")),
        `InvalidRequest slug is no organization of yours (got "other")`
      )
      const stranger = yield* PlatformClient.makeAccounts({
        baseUrl: served.baseUrl,
        credentials: Redacted.make("bp_other")
      })
      assert.match(yield* failure(stranger.me), /^Unauthorized Not signed in: Invalid API key\./)
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )
})
