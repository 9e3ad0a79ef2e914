import * as Util from "node:util"
import { gunzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, vi } from "vitest"
import type { BenchmarkClient, PlatformMethods } from "../../src/promise.js"
import { AuthError, BenchmarkApiError, createBenchmarkClient } from "../../src/promise.js"
import { createKey, serveProcess } from "../server/support/serveProcess.js"
import { project } from "../support/bench.js"

/** A request as `fetch` was asked to send it. */
interface Sent {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: string | Buffer | undefined
}

/** A `fetch` that keeps what it was asked for. */
const recording = (answer: (input: Request) => Promise<Response> = (request) => fetch(request)) => {
  const sent: Array<Sent> = []
  const recordingFetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const bytes = Buffer.from(await request.clone().arrayBuffer())
    sent.push({
      method: request.method,
      url: new URL(request.url),
      headers: request.headers,
      body: bytes.length === 0 ? undefined : bytes
    })
    return answer(request)
  }
  return { sent, fetch: recordingFetch }
}

/** A client whose requests are all answered so. */
const answered = (status: number, body: string, headers: Readonly<Record<string, string>> = {}) => {
  const { fetch, sent } = recording(async () => new Response(body, { status, headers }))
  return {
    client: createBenchmarkClient({ baseUrl: "https://platform.test", apiKey: "bp_secret_0123456789", fetch }),
    sent
  }
}

const json = (body: unknown): string => JSON.stringify(body)

const rejection = async (promise: Promise<unknown>): Promise<BenchmarkApiError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason
  )
  assert.instanceOf(error, BenchmarkApiError)
  return error
}

const thrown = (use: () => unknown): unknown => {
  try {
    return use()
  } catch (error) {
    return error
  }
}

const slug = "kv round/trip"
const at = "/api/v1/benchmarks/kv%20round%2Ftrip"

/** Ids that calls before have found out. */
interface Known {
  run: string
  worker: string
  attempt: string
  artifact: string
}

interface Call {
  readonly use: (client: BenchmarkClient, known: Known) => Promise<unknown>
  readonly method: string
  readonly path: (known: Known) => string
  readonly body?: (known: Known) => unknown
  readonly keep?: (answer: unknown, known: Known) => void
}

const field = (value: unknown, ...keys: ReadonlyArray<string>): unknown =>
  keys.reduce<unknown>(
    (found, key) => (typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined),
    value
  )

const record = { taskIndex: 0, status: "success", latencyMs: 1.5 }

/** In an order in which each finds what it needs. */
const calls: { readonly [Method in keyof PlatformMethods]: Call } = {
  getMe: { use: (client) => client.getMe(), method: "GET", path: () => "/api/v1/me" },
  listOrganizations: {
    use: (client) => client.listOrganizations(),
    method: "GET",
    path: () => "/api/v1/organizations"
  },
  setActiveOrganization: {
    use: (client) => client.setActiveOrganization("acme"),
    method: "POST",
    path: () => "/api/v1/organizations",
    body: () => ({ slug: "acme" })
  },
  upsertBenchmark: {
    use: (client) => client.upsertBenchmark(slug, { name: "KV" }),
    method: "PUT",
    path: () => at,
    body: () => ({ name: "KV" })
  },
  getBenchmark: { use: (client) => client.getBenchmark(slug), method: "GET", path: () => at },
  updateBenchmark: {
    use: (client) => client.updateBenchmark(slug, { status: "active" }),
    method: "PATCH",
    path: () => at,
    body: () => ({ status: "active" })
  },
  listBenchmarks: {
    use: (client) => client.listBenchmarks({ limit: 5 }),
    method: "GET",
    path: () => "/api/v1/benchmarks?limit=5"
  },
  createRun: {
    use: (client) => client.createRun(slug, { participants: [{ slug: "a b", totalTasks: 4 }] }),
    method: "POST",
    path: () => `${at}/runs`,
    body: () => ({ participants: [{ slug: "a b", totalTasks: 4 }] }),
    keep: (answer, known) => {
      known.run = String(field(answer, "run", "id"))
    }
  },
  listRuns: { use: (client) => client.listRuns(slug), method: "GET", path: () => `${at}/runs` },
  listAllRuns: { use: (client) => client.listAllRuns(), method: "GET", path: () => "/api/v1/benchmarks/runs" },
  getRun: { use: (client, { run }) => client.getRun(slug, run), method: "GET", path: ({ run }) => `${at}/runs/${run}` },
  updateRun: {
    use: (client, { run }) => client.updateRun(slug, run, { config: { x: 1 } }),
    method: "PATCH",
    path: ({ run }) => `${at}/runs/${run}`,
    body: () => ({ config: { x: 1 } })
  },
  listParticipants: {
    use: (client, { run }) => client.listParticipants(slug, run),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/participants`
  },
  getParticipant: {
    use: (client, { run }) => client.getParticipant(slug, run, "a b"),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/participants/a%20b`
  },
  upsertParticipant: {
    use: (client, { run }) => client.upsertParticipant(slug, run, "c", { label: "C" }),
    method: "PUT",
    path: ({ run }) => `${at}/runs/${run}/participants/c`,
    body: () => ({ label: "C" })
  },
  updateParticipant: {
    use: (client, { run }) => client.updateParticipant(slug, run, "c", { label: "D" }),
    method: "PATCH",
    path: ({ run }) => `${at}/runs/${run}/participants/c`,
    body: () => ({ label: "D" })
  },
  createWorkers: {
    use: (client, { run }) => client.createWorkers(slug, run, "a b", { workerCount: 2 }),
    method: "POST",
    path: ({ run }) => `${at}/runs/${run}/participants/a%20b/workers`,
    body: () => ({ workerCount: 2 })
  },
  listWorkers: {
    use: (client, { run }) => client.listWorkers(slug, run, "a b"),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/participants/a%20b/workers`
  },
  claimWorker: {
    use: (client, { run }) => client.claimWorker(slug, run, "a b", { processKind: "test" }),
    method: "POST",
    path: ({ run }) => `${at}/runs/${run}/participants/a%20b/workers/claim`,
    body: () => ({ processKind: "test" }),
    keep: (answer, known) => {
      known.worker = String(field(answer, "assignment", "workerId"))
      known.attempt = String(field(answer, "assignment", "attemptId"))
    }
  },
  getWorker: {
    use: (client, { run, worker }) => client.getWorker(slug, run, "a b", worker),
    method: "GET",
    path: ({ run, worker }) => `${at}/runs/${run}/participants/a%20b/workers/${worker}`
  },
  updateWorker: {
    use: (client, { run, worker }) => client.updateWorker(slug, run, "a b", worker, { currentStep: "get" }),
    method: "PATCH",
    path: ({ run, worker }) => `${at}/runs/${run}/participants/a%20b/workers/${worker}`,
    body: () => ({ currentStep: "get" })
  },
  heartbeatWorker: {
    use: (client, { attempt, run, worker }) =>
      client.heartbeatWorker(slug, run, "a b", worker, { attemptId: attempt, progressInFlight: 1 }),
    method: "POST",
    path: ({ run, worker }) => `${at}/runs/${run}/participants/a%20b/workers/${worker}/heartbeat`,
    body: ({ attempt }) => ({ attemptId: attempt, progressInFlight: 1 })
  },
  releaseWorker: {
    use: (client, { attempt, run, worker }) => client.releaseWorker(slug, run, "a b", worker, { attemptId: attempt }),
    method: "POST",
    path: ({ run, worker }) => `${at}/runs/${run}/participants/a%20b/workers/${worker}/release`,
    body: ({ attempt }) => ({ attemptId: attempt })
  },
  sendTaskResults: {
    use: async (client, known) => {
      const { assignment } = await client.claimWorker(slug, known.run, "a b")
      known.worker = assignment?.workerId ?? ""
      known.attempt = assignment?.attemptId ?? ""
      return client.sendTaskResults(slug, known.run, "a b", known.worker, {
        attemptId: known.attempt,
        sequenceNumber: 0,
        isFinal: true,
        records: [record]
      })
    },
    method: "POST",
    path: ({ run, worker }) => `${at}/runs/${run}/participants/a%20b/workers/${worker}/events`,
    body: ({ attempt }) => ({
      type: "task_results",
      attemptId: attempt,
      sequenceNumber: 0,
      isFinal: true,
      records: [record]
    })
  },
  createArtifact: {
    use: (client, { attempt, run, worker }) =>
      client.createArtifact(slug, run, "a b", worker, { attemptId: attempt, kind: "notes" }),
    method: "POST",
    path: ({ run, worker }) => `${at}/runs/${run}/participants/a%20b/workers/${worker}/artifacts`,
    body: ({ attempt }) => ({ attemptId: attempt, kind: "notes" })
  },
  uploadArtifact: {
    use: (client, { attempt, run, worker }) =>
      client.uploadArtifact(slug, run, "a b", worker, {
        attemptId: attempt,
        kind: "coordinator.log",
        name: "worker.log",
        body: "line one\nline two\n",
        compression: "gzip"
      }),
    method: "PUT",
    path: () => "/objects",
    keep: (answer, known) => {
      known.artifact = String(field(answer, "artifactId"))
    }
  },
  listRunArtifacts: {
    use: (client, { run }) => client.listRunArtifacts(slug, run),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/artifacts`
  },
  listWorkerArtifacts: {
    use: (client, { run, worker }) => client.listWorkerArtifacts(slug, run, "a b", worker),
    method: "GET",
    path: ({ run, worker }) => `${at}/runs/${run}/participants/a%20b/workers/${worker}/artifacts`
  },
  getArtifact: {
    use: (client, { artifact, run }) => client.getArtifact(slug, run, artifact),
    method: "GET",
    path: ({ artifact, run }) => `${at}/runs/${run}/artifacts/${artifact}`
  },
  downloadArtifact: {
    use: (client, { artifact, run }) => client.downloadArtifact(slug, run, artifact),
    method: "GET",
    path: () => "/objects",
    keep: (answer) => {
      const content = field(answer, "content")
      assert.instanceOf(content, Uint8Array)
      assert.strictEqual(Buffer.from(content).toString(), "line one\nline two\n")
    }
  },
  getParticipantLogs: {
    use: (client, { run }) => client.getParticipantLogs(slug, run, "a b", { maxLines: 1 }),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/participants/a%20b/logs?maxLines=1`,
    keep: (answer) => assert.include(json(answer), "line two")
  },
  completeWorker: {
    use: (client, { attempt, run, worker }) => client.completeWorker(slug, run, "a b", worker, { attemptId: attempt }),
    method: "POST",
    path: ({ run, worker }) => `${at}/runs/${run}/participants/a%20b/workers/${worker}/complete`,
    body: ({ attempt }) => ({ attemptId: attempt })
  },
  failWorker: {
    use: async (client, known) => {
      const { assignment } = await client.claimWorker(slug, known.run, "a b")
      known.worker = assignment?.workerId ?? ""
      known.attempt = assignment?.attemptId ?? ""
      return client.failWorker(slug, known.run, "a b", known.worker, { attemptId: known.attempt, errorCode: "E" })
    },
    method: "POST",
    path: ({ run, worker }) => `${at}/runs/${run}/participants/a%20b/workers/${worker}/fail`,
    body: ({ attempt }) => ({ attemptId: attempt, errorCode: "E" })
  },
  getRunProgress: {
    use: (client, { run }) => client.getRunProgress(slug, run),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/progress`
  },
  submitRunSummary: {
    use: (client, { run }) => client.submitRunSummary(slug, run, { run: { gitSha: "abc" }, results: [] }),
    method: "POST",
    path: ({ run }) => `${at}/runs/${run}/summary`,
    body: () => ({ run: { gitSha: "abc" }, results: [] })
  },
  getRunSummary: {
    use: (client, { run }) => client.getRunSummary(slug, run),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/summary`
  },
  getBenchmarkResults: {
    use: (client) => client.getBenchmarkResults(slug, { offset: 0 }),
    method: "GET",
    path: () => `${at}/results?offset=0`
  },
  getRunResults: {
    use: (client, { run }) => client.getRunResults(slug, run),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/results`
  },
  getTaskResults: {
    use: (client, { run }) => client.getTaskResults(slug, run, { bucketSize: 10 }),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/results/tasks?bucketSize=10`
  },
  getRunTimeline: {
    use: (client, { run }) => client.getRunTimeline(slug, run),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/results/timeline`
  },
  getRunImports: {
    use: (client, { run }) => client.getRunImports(slug, run),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/results/imports`
  },
  getRunIterations: {
    use: (client, { run }) => client.getRunIterations(slug, run, { type: "tasks", participant: "a b" }),
    method: "GET",
    path: ({ run }) => `${at}/runs/${run}/iterations?type=tasks&participant=a+b`,
    keep: (answer) => assert.lengthOf(Object.values(field(answer, "items") ?? {}), 1)
  },
  closeRun: {
    use: (client, { run }) => client.closeRun(slug, run),
    method: "PATCH",
    path: ({ run }) => `${at}/runs/${run}`,
    body: () => ({ status: "completed" })
  }
}

describe("createBenchmarkClient", () => {
  it.scopedLive("has a method for every request, which the server takes", () =>
    Effect.gen(function* () {
      const here = yield* project
      const apiKey = yield* createKey(here.path("bench.db"), "acme")
      const { url } = yield* serveProcess({ folder: here.folder, env: { BENCH_DATABASE: here.path("bench.db") } })
      const { fetch, sent } = recording()
      const client = createBenchmarkClient({ baseUrl: url, apiKey, orgSlug: "acme", fetch })
      const known: Known = { run: "", worker: "", attempt: "", artifact: "" }
      for (const [name, call] of Object.entries(calls)) {
        sent.length = 0
        const answer = yield* Effect.promise(() => call.use(client, known))
        call.keep?.(answer, known)
        const last = sent.at(-1)
        assert.isDefined(last, name)
        const path = last.url.pathname + last.url.search
        assert.strictEqual(last.method, call.method, name)
        if (call.path(known) === "/objects") {
          assert.isNull(last.headers.get("authorization"), `${name}: a key has no business at the storage`)
        } else {
          assert.strictEqual(path, call.path(known), name)
          assert.strictEqual(last.headers.get("authorization"), `Bearer ${apiKey}`, name)
          assert.strictEqual(last.headers.get("x-org-slug"), "acme", name)
          assert.deepStrictEqual(
            last.body === undefined ? undefined : JSON.parse(String(last.body)),
            call.body?.(known),
            name
          )
          assert.strictEqual(
            last.headers.get("content-type"),
            call.body === undefined ? null : "application/json",
            name
          )
        }
        if (name === "uploadArtifact") {
          assert.strictEqual(gunzipSync(last.body ?? "").toString(), "line one\nline two\n")
          assert.strictEqual(last.headers.get("content-type"), "application/gzip")
        }
      }
    })
  )

  it("has no other methods than those, and runWorker", () => {
    const { client } = answered(200, "")
    assert.sameMembers(Object.keys(client), [...Object.keys(calls), "runWorker"])
  })

  it("keeps the bytes of an artifact, in both directions, when they are not to be compressed", async () => {
    const bytes = Uint8Array.of(0, 255, 31, 139, 8)
    const artifact = {
      id: "a1",
      runId: "r",
      workerId: "w",
      kind: "dump",
      contentType: "application/x-dump",
      metadata: { pages: 1 },
      objectKey: "k",
      createdAt: "2026-01-01T00:00:00.000Z"
    }
    const { fetch, sent } = recording(async ({ method, url }) => {
      if (url.startsWith("https://objects.test/")) return new Response(method === "GET" ? bytes : null)
      return method === "POST"
        ? new Response(
            json({ artifact, artifactId: "a1", uploadUrl: "https://objects.test/up?signature=s", objectKey: "k" }),
            { status: 201 }
          )
        : new Response(json({ artifact, downloadUrl: "https://objects.test/down?signature=s" }))
    })
    const client = createBenchmarkClient({ baseUrl: "https://platform.test", apiKey: "bp_k", orgId: "org-1", fetch })
    await client.uploadArtifact("b", "r", "p", "w", {
      attemptId: "t",
      kind: "dump",
      contentType: "application/x-dump",
      metadata: { pages: 1 },
      body: bytes
    })
    const { content } = await client.downloadArtifact("b", "r", "a1")
    assert.deepStrictEqual([...content], [...bytes])
    const [announced, put, , get] = sent
    assert.deepStrictEqual(JSON.parse(String(announced?.body)), {
      attemptId: "t",
      kind: "dump",
      contentType: "application/x-dump",
      metadata: { pages: 1 }
    })
    assert.deepStrictEqual([put?.method, put?.url.href], ["PUT", "https://objects.test/up?signature=s"])
    assert.deepStrictEqual([...Buffer.from(put?.body ?? "")], [...bytes])
    assert.strictEqual(put?.headers.get("content-type"), "application/x-dump")
    assert.deepStrictEqual([get?.method, get?.url.href], ["GET", "https://objects.test/down?signature=s"])
    for (const request of [put, get]) {
      assert.isNull(request?.headers.get("authorization"))
      assert.isNull(request?.headers.get("x-organization-id"))
    }
  })

  it("says that a compressed artifact is broken", async () => {
    const artifact = {
      id: "a1",
      runId: "r",
      workerId: "w",
      kind: "log",
      metadata: { encoding: "gzip" },
      objectKey: "k",
      createdAt: "2026-01-01T00:00:00.000Z"
    }
    const { fetch } = recording(async ({ url }) =>
      url.startsWith("https://objects.test/")
        ? new Response("plain")
        : new Response(json({ artifact, downloadUrl: "https://objects.test/down" }))
    )
    const client = createBenchmarkClient({ baseUrl: "https://platform.test", apiKey: "bp_k", fetch })
    const error = await rejection(client.downloadArtifact("b", "r", "a1"))
    assert.match(error.message, /^downloadArtifact: artifact a1 cannot be decompressed/)
  })

  it("sends the id of an organization where it is given", async () => {
    const { fetch, sent } = recording(async () => new Response(json({ items: [] })))
    const client = createBenchmarkClient({
      baseUrl: "https://platform.test/api/v1/",
      token: "t0ken",
      orgId: "org-1",
      fetch
    })
    assert.deepStrictEqual(await client.listBenchmarks(), { items: [] })
    assert.deepStrictEqual(
      sent.map(({ headers, url }) => [url.href, headers.get("authorization"), headers.get("x-organization-id")]),
      [["https://platform.test/api/v1/benchmarks", "Bearer t0ken", "org-1"]]
    )
  })

  it("works with its methods taken out", async () => {
    const { client } = answered(200, json({ items: [] }))
    const { listRuns } = client
    assert.deepStrictEqual(await listRuns("b"), { items: [] })
  })

  it("shows no secret", () => {
    const { client } = answered(200, "")
    assert.notInclude(Util.inspect(client, { depth: 10, showHidden: true }) + json(client), "bp_secret")
  })

  describe("without credentials", () => {
    afterEach(() => {
      vi.unstubAllEnvs()
    })

    it("throws at once, saying how to get them", () => {
      vi.stubEnv("BENCHMARKS_PLATFORM_TOKEN", "")
      vi.stubEnv("BENCHMARKS_PLATFORM_API_KEY", " ")
      assert.throws(() => createBenchmarkClient({ baseUrl: "https://platform.test" }), AuthError, /bench auth login/)
      assert.throws(() => createBenchmarkClient({ apiKey: "  " }), AuthError, /BENCHMARKS_PLATFORM_API_KEY/)
    })

    it("throws at once when no header can carry them, without repeating them", () => {
      for (const secret of ["two words", "bp_a\r\nx-evil: 1", "schlüssel"]) {
        for (const given of [{ apiKey: secret }, { token: secret }]) {
          const error = thrown(() => createBenchmarkClient({ baseUrl: "https://platform.test", ...given }))
          assert.instanceOf(error, AuthError)
          assert.include(error.message, "copy them again")
          assert.notInclude(json(error.message), json(secret).slice(1, -1))
        }
      }
    })

    it("takes those of the environment", async () => {
      vi.stubEnv("BENCHMARKS_PLATFORM_URL", "https://elsewhere.test")
      vi.stubEnv("BENCHMARKS_PLATFORM_API_KEY", "from-environment")
      vi.stubEnv("BENCHMARKS_PLATFORM_TOKEN", "")
      const { fetch, sent } = recording(async () => new Response(json({ items: [] })))
      await createBenchmarkClient({ fetch }).listBenchmarks()
      assert.deepStrictEqual(
        sent.map(({ headers, url }) => [url.host, headers.get("authorization")]),
        [["elsewhere.test", "Bearer from-environment"]]
      )
    })
  })

  it("throws at once when the base URL is none that credentials may be sent to", () => {
    assert.throws(() => createBenchmarkClient({ baseUrl: "http://platform.test", apiKey: "k" }), AuthError, /https/)
    assert.throws(() => createBenchmarkClient({ baseUrl: "platform", apiKey: "k" }), AuthError, /must be a URL/)
  })
})

describe("BenchmarkApiError", () => {
  const refusals: ReadonlyArray<readonly [number, string, unknown]> = [
    [400, json({ error: "Malformed" }), { error: "Malformed" }],
    [401, json({ error: "Invalid API key" }), { error: "Invalid API key" }],
    [403, json({ error: "API key is not authorized for this organization" }), undefined],
    [404, json({ error: "Run is archived", code: "run_not_found" }), undefined],
    [409, json({ error: "stale" }), undefined],
    [413, json({ error: "too large" }), undefined],
    [422, json({ error: "x", issues: [{ field: "name", message: "must be text" }] }), undefined],
    [418, "short and stout", "short and stout"],
    [500, "<html><h1>Oops</h1></html>", "<html><h1>Oops</h1></html>"]
  ]

  afterEach(() => {
    vi.useRealTimers()
  })

  for (const [status, text, body] of refusals) {
    it(`has status and body of ${status}`, async () => {
      const error = await rejection(answered(status, text).client.getRun("b", "r"))
      assert.strictEqual(error.name, "BenchmarkApiError")
      assert.strictEqual(error.status, status)
      assert.deepStrictEqual<unknown>(error.body, body ?? JSON.parse(text))
      assert.match(error.message, /^getRun: /)
    })
  }

  it("says what the server says", async () => {
    const said = async (status: number, body: unknown) =>
      (await rejection(answered(status, json(body)).client.getRun("b", "r"))).message
    assert.strictEqual(await said(404, { error: "Run is archived" }), "getRun: Run is archived")
    assert.strictEqual(await said(404, {}), 'getRun: No run "r".')
    assert.strictEqual(await said(409, { error: "stale" }), "getRun: stale")
    assert.strictEqual(await said(413, { error: "At most 1 MiB" }), "getRun: At most 1 MiB")
    assert.strictEqual(
      await said(422, { error: "x", issues: [{ field: "name", message: "must be text" }] }),
      "getRun: name must be text"
    )
    assert.include(await said(401, { error: "Invalid API key" }), "Invalid API key")
    assert.include(await said(500, { error: "out of disk" }), "out of disk")
  })

  it("leads to the line that called", async () => {
    const theCaller = async () => void (await answered(500, "").client.getRun("b", "r"))
    assert.include((await rejection(theCaller())).stack ?? "", "theCaller")
  })

  it("has the issues of a refusal that is too long to be kept", async () => {
    const issues = Array.from({ length: 60 }, (_, index) => ({
      field: `records[${index}].name`,
      message: "is missing"
    }))
    const { body, status } = await rejection(answered(422, json({ error: "x", issues })).client.createRun("b"))
    assert.strictEqual(status, 422)
    assert.deepStrictEqual(field(body, "issues", "0"), issues[0])
  })

  it("has no body where the answer has none", async () => {
    const { body, status } = await rejection(answered(500, "").client.getRun("b", "r"))
    assert.deepStrictEqual([status, body], [500, undefined])
  })

  it("says when to try again", async () => {
    const error = await rejection(
      answered(429, json({ error: "slow down" }), { "retry-after": "7" }).client.listAllRuns()
    )
    assert.deepStrictEqual([error.status, error.retryAfterMs], [429, 7000])
  })

  it("has status 0 when nobody answered", async () => {
    const { fetch } = recording(() => Promise.reject(new TypeError("fetch failed")))
    const client = createBenchmarkClient({ baseUrl: "https://platform.test", apiKey: "k", fetch })
    const error = await rejection(client.getBenchmark("b"))
    assert.deepStrictEqual([error.status, error.body], [0, undefined])
    assert.match(error.message, /cannot reach platform.test/)
  })

  it("has status 0 when nobody answered in time", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const aborted = vi.fn()
    const silent: typeof globalThis.fetch = (_, init) =>
      new Promise(() => {
        init?.signal?.addEventListener("abort", aborted)
      })
    const client = createBenchmarkClient({ baseUrl: "https://platform.test", apiKey: "k", fetch: silent })
    const rejected = rejection(client.getBenchmark("b"))
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))
    await vi.advanceTimersByTimeAsync(60_000)
    const { message, status } = await rejected
    assert.deepStrictEqual([status, message], [0, "getBenchmark: platform.test did not answer in time"])
    assert.strictEqual(aborted.mock.calls.length, 1)
  })

  it("has status 0 when nobody answered the second of two requests", async () => {
    const { fetch } = recording(async ({ method }) => {
      if (method === "PUT") throw new TypeError("fetch failed")
      const artifact = { id: "a1", runId: "r", workerId: "w", kind: "x", objectKey: "k", createdAt: "" }
      return new Response(json({ artifact, artifactId: "a1", uploadUrl: "https://objects.test/up", objectKey: "k" }))
    })
    const client = createBenchmarkClient({ baseUrl: "https://platform.test", apiKey: "k", fetch })
    const error = await rejection(
      client.uploadArtifact("b", "r", "p", "w", { attemptId: "t", kind: "x", body: "text" })
    )
    assert.strictEqual(error.status, 0)
    assert.match(error.message, /^uploadArtifact: cannot reach objects.test/)
  })

  it("has the status of an answer that cannot be read or followed", async () => {
    const unreadable = await rejection(answered(200, "<html>").client.getBenchmark("b"))
    assert.deepStrictEqual([unreadable.status, unreadable.body], [200, undefined])
    assert.match(unreadable.message, /cannot be read/)
    const elsewhere = answered(302, "", { location: "https://elsewhere.test/" }).client
    const redirected = await rejection(elsewhere.createRun("b"))
    assert.strictEqual(redirected.status, 302)
    assert.match(redirected.message, /redirects to https:\/\/elsewhere.test/)
  })

  it("refuses what cannot be sent, like the server, and sends nothing", async () => {
    const { client, sent } = answered(200, "{}")
    const error = await rejection(client.listRuns("b", { limit: 0 }))
    assert.strictEqual(error.status, 422)
    assert.include(json(error.body), "limit")
    assert.lengthOf(sent, 0)
  })

  it("does not repeat the key that a server repeats", async () => {
    const { client } = answered(401, json({ error: "bp_secret_0123456789 is not known" }))
    const error = await rejection(client.getMe())
    assert.notInclude(Util.inspect(error, { depth: 10 }), "bp_secret_0123456789")
  })
})
