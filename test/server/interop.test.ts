/**
 * What existing clients send, as they send it, and what they read from the answers: nothing here but `fetch`, against
 * `bench serve`.
 */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { project } from "../support/bench.js"
import { assertFields, assertNames } from "./support/assertions.js"
import { createKey, serveProcess } from "./support/serveProcess.js"
import type { Client, WireAnswer } from "./support/wire.js"
import { at, bodyOf, client, listAt, textAt } from "./support/wire.js"

const adminKey = "admin-0123456789abcdef0123456789"

/** The server that all of these tests talk to. */
class Served extends Context.Tag("test/Served")<
  Served,
  {
    readonly url: string
    /** Sends with the key of the organization `acme`. */
    readonly acme: Client
    readonly acmeKey: string
    /** Sends with the key of the organization `other`. */
    readonly other: Client
  }
>() {}

const layerServed = Layer.scoped(
  Served,
  Effect.gen(function* () {
    const here = yield* project
    const database = here.path("server.db")
    const acmeKey = yield* createKey(database, "acme")
    const otherKey = yield* createKey(database, "other")
    const { url } = yield* serveProcess({ folder: here.folder, env: { BENCH_ADMIN_KEY: adminKey } })
    return { url, acme: client(url, acmeKey), acmeKey, other: client(url, otherKey) }
  })
)

const startedAt = (taskIndex: number): string => new Date(Date.UTC(2026, 0, 1) + taskIndex * 1000).toISOString()

/** The record of a task as clients write it: latencies are whole milliseconds, and unused fields are left out. */
const record = (taskIndex: number, latencyMs = 10 + taskIndex) => {
  const times = { startedAt: startedAt(taskIndex), completedAt: startedAt(taskIndex) }
  return {
    taskIndex,
    status: "success",
    ...times,
    latencyMs,
    data: { ttiMs: latencyMs },
    steps: [
      { name: "create", status: "success", ...times, latencyMs: 4, data: { region: "eu" } },
      { name: "run", status: "success", ...times, latencyMs: latencyMs - 4, concurrency: 1, timeoutMs: 500 }
    ]
  }
}

const batch = (attemptId: string, sequenceNumber: number, isFinal: boolean, records: ReadonlyArray<unknown>) => ({
  body: { type: "task_results", attemptId, sequenceNumber, isFinal, records }
})

/** A benchmark with a run that has one participant, as a client makes them first. */
const createRun = (send: Client, slug: string, participant: { readonly slug: string; readonly totalTasks: number }) =>
  Effect.gen(function* () {
    bodyOf(yield* send("PUT", `/api/v1/benchmarks/${slug}`, { body: { name: slug } }))
    const created = bodyOf(yield* send("POST", `/api/v1/benchmarks/${slug}/runs`, { body: {} }), 201)
    const run = `/api/v1/benchmarks/${slug}/runs/${textAt(created, "run", "id")}`
    const path = `${run}/participants/${encodeURIComponent(participant.slug)}`
    bodyOf(yield* send("PUT", path, { body: { provider: participant.slug, totalTasks: participant.totalTasks } }))
    return { run, participant: path }
  })

/** The next worker of a participant, and where it is. */
const claim = (send: Client, participant: string) =>
  Effect.gen(function* () {
    const body = { processKind: "node", processKey: "host:1" }
    const assignment = at(bodyOf(yield* send("POST", `${participant}/workers/claim`, { body })), "assignment")
    return {
      assignment,
      attemptId: textAt(assignment, "attemptId"),
      worker: `${participant}/workers/${textAt(assignment, "workerId")}`
    }
  })

const assertRefused = (answer: WireAnswer, status: number, body: unknown): void =>
  assert.deepStrictEqual([answer.status, answer.body], [status, body])

layer(layerServed, { excludeTestServices: true })("a client of the platform", (it) => {
  it.effect("takes a run from its benchmark to its results", () =>
    Effect.gen(function* () {
      const { acme } = yield* Served
      const benchmark = "/api/v1/benchmarks/sandbox-tti"

      const upserted = bodyOf(
        yield* acme("PUT", benchmark, {
          body: { name: "Sandbox TTI", config: { display: { overview: { defaultMetric: "ttiMs" } } } }
        })
      )
      assertFields(at(upserted, "benchmark"), { slug: "sandbox-tti", name: "Sandbox TTI" })

      const runInput = { runKey: "nightly-1", name: "Nightly", config: { iterations: 6, trigger: "manual" } }
      const created = bodyOf(yield* acme("POST", `${benchmark}/runs`, { body: runInput }), 201)
      assert.strictEqual(at(created, "organizationSlug"), "acme")
      assert.deepStrictEqual(at(created, "participants"), [])
      assertFields(at(created, "run"), {
        status: "planned",
        runKey: "nightly-1",
        name: "Nightly",
        totalTasks: 0,
        participantSized: true,
        config: runInput.config
      })
      const runId = textAt(created, "run", "id")
      assert.match(runId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      const again = bodyOf(yield* acme("POST", `${benchmark}/runs`, { body: runInput }), 201)
      assert.strictEqual(at(again, "run", "id"), runId)

      const run = `${benchmark}/runs/${runId}`
      const participant = `${run}/participants/alpha`
      const registered = bodyOf(
        yield* acme("PUT", participant, { body: { label: "Alpha", provider: "alpha", totalTasks: 6, workerCount: 1 } })
      )
      assertFields(at(registered, "participant"), { slug: "alpha", label: "Alpha", totalTasks: 6, status: "planned" })

      const planned = bodyOf(yield* acme("POST", `${participant}/workers`, { body: { workerCount: 1 } }))
      assertFields(at(planned, "workers", 0), {
        workerIndex: 0,
        workerCount: 1,
        taskIndexStart: 0,
        taskIndexEnd: 5,
        status: "pending"
      })

      const { assignment, attemptId, worker } = yield* claim(acme, participant)
      assertNames(assignment, [
        "benchmarkId",
        "benchmarkSlug",
        "runId",
        "participantId",
        "participantSlug",
        "provider",
        "workerId",
        "workerIndex",
        "workerCount",
        "attemptId",
        "attemptNumber",
        "taskRange",
        "targetConcurrency",
        "config"
      ])
      assertFields(assignment, {
        benchmarkSlug: "sandbox-tti",
        runId,
        participantSlug: "alpha",
        provider: "alpha",
        attemptNumber: 1,
        taskRange: { start: 0, end: 5, count: 6 }
      })
      assertFields(at(bodyOf(yield* acme("GET", run)), "run"), { status: "in_progress", totalTasks: 6 })

      const heartbeat = {
        attemptId,
        progressDone: 0,
        progressInFlight: 1,
        progressErrors: 0,
        progressTotal: 6,
        currentStep: "create",
        concurrency: [{ step: "create", active: 1, target: 1 }]
      }
      const beaten = bodyOf(yield* acme("POST", `${worker}/heartbeat`, { body: heartbeat }))
      assertFields(at(beaten, "attempt"), { id: attemptId, attemptNumber: 1, status: "running" })
      assertFields(at(beaten, "worker"), {
        status: "running",
        progressInFlight: 1,
        currentStep: "create",
        concurrency: heartbeat.concurrency
      })

      const progress = bodyOf(yield* acme("GET", `${run}/progress`))
      assert.strictEqual(at(progress, "freshnessWindowSeconds"), 15)
      assertFields(at(progress, "summary"), { status: "in_progress", started: true, completed: false })
      assert.deepStrictEqual(at(progress, "participants", 0, "concurrency"), [
        { step: "create", active: 1, target: 1, ready: true, freshWorkerCount: 1 }
      ])

      const firstBatch = batch(attemptId, 0, false, [record(0), record(1), record(2)])
      const first = bodyOf(yield* acme("POST", `${worker}/events`, firstBatch), 202)
      assertFields(first, { accepted: 3, duplicate: false })
      const repeated = bodyOf(yield* acme("POST", `${worker}/events`, firstBatch), 202)
      assert.deepStrictEqual(repeated, { accepted: 3, duplicate: true, eventBatchId: at(first, "eventBatchId") })
      const failed = {
        taskIndex: 4,
        status: "error",
        startedAt: startedAt(4),
        completedAt: startedAt(4),
        latencyMs: 7,
        errorCode: "step_timeout",
        data: { errorMessage: "too slow" },
        steps: [{ name: "create", status: "error", latencyMs: 7, errorCode: "step_timeout", timeoutMs: 5 }]
      }
      bodyOf(yield* acme("POST", `${worker}/events`, batch(attemptId, 1, false, [record(3), failed])), 202)
      bodyOf(yield* acme("POST", `${worker}/events`, batch(attemptId, 2, true, [record(5)])), 202)

      const log = "2026-01-01T00:00:00.000Z [task 0] [info] one\n2026-01-01T00:00:01.000Z [task 1] [info] two\n"
      const upload = bodyOf(
        yield* acme("POST", `${worker}/artifacts`, {
          body: {
            attemptId,
            kind: "coordinator.log",
            name: "worker.log",
            contentType: "text/plain",
            metadata: { lines: 2 }
          }
        })
      )
      assertNames(upload, ["artifact", "artifactId", "uploadUrl", "objectKey"], ["uploadUrlExpiresAt"])
      const put = yield* Effect.promise(() =>
        fetch(textAt(upload, "uploadUrl"), { method: "PUT", headers: { "content-type": "text/plain" }, body: log })
      )
      assert.strictEqual(put.status, 200)
      const artifactId = textAt(upload, "artifactId")
      const found = bodyOf(yield* acme("GET", `${run}/artifacts/${artifactId}`))
      assertFields(at(found, "artifact"), {
        id: artifactId,
        kind: "coordinator.log",
        name: "worker.log",
        metadata: { lines: 2 }
      })
      const bytes = yield* Effect.promise(() => fetch(textAt(found, "downloadUrl")).then((answer) => answer.text()))
      assert.strictEqual(bytes, log)
      for (const path of [`${run}/artifacts`, `${worker}/artifacts`]) {
        assert.deepStrictEqual(
          listAt(bodyOf(yield* acme("GET", path)), "items").map((item) => at(item, "id")),
          [artifactId]
        )
      }

      const completed = bodyOf(yield* acme("POST", `${worker}/complete`, { body: { attemptId } }))
      assertFields(at(completed, "worker"), {
        status: "completed",
        progressDone: 6,
        progressErrors: 1,
        progressInFlight: 0
      })
      assertFields(at(completed, "attempt"), { status: "completed" })
      assertFields(at(bodyOf(yield* acme("GET", participant)), "participant"), { status: "completed" })
      assertFields(at(bodyOf(yield* acme("GET", run)), "run"), { status: "completed" })

      const summary = {
        run: {
          gitSha: "0123abc",
          gitRef: "main",
          triggeredBy: "manual",
          nodeVersion: "v20",
          platform: "linux",
          arch: "x64"
        },
        results: [
          {
            provider: "alpha",
            dimensions: { region: "eu" },
            metrics: [{ name: "ttiMs", unit: "ms", median: 12, p95: 15, p99: 15 }],
            compositeScore: 98.5,
            successRate: 5 / 6,
            skipped: false,
            sampleCount: 5
          }
        ],
        scoring: { metrics: [{ key: "ttiMs", unit: "ms", ceiling: 1000 }] }
      }
      bodyOf(yield* acme("POST", `${run}/summary`, { body: summary }))
      const stored = at(bodyOf(yield* acme("GET", `${run}/summary`)), "summary")
      assert.deepStrictEqual(at(stored, "run"), summary.run)
      assertFields(at(stored, "results", 0), { provider: "alpha", compositeScore: 98.5, skipped: false })
      assert.deepStrictEqual(at(stored, "scoring"), summary.scoring)

      const results = bodyOf(yield* acme("GET", `${run}/results`))
      assertNames(results, ["benchmark", "run", "generatedAt", "overall", "participants", "steps"])
      assert.deepStrictEqual(at(results, "overall"), {
        taskCount: 6,
        successCount: 5,
        errorCount: 1,
        otherCount: 0,
        latencyCount: 6,
        successRate: 5 / 6,
        latencyMs: { min: 7, avg: (10 + 11 + 12 + 13 + 7 + 15) / 6, p50: 11, p95: 15, p99: 15, max: 15 },
        firstStartedAt: startedAt(0),
        lastCompletedAt: startedAt(5)
      })
      assertFields(at(results, "participants", 0), { participantSlug: "alpha", provider: "alpha", taskCount: 6 })
      assert.deepStrictEqual(
        listAt(results, "steps").map((step) => [at(step, "stepName"), at(step, "stepCount"), at(step, "errorCount")]),
        [
          ["create", 6, 1],
          ["run", 5, 0]
        ]
      )

      const done = bodyOf(yield* acme("GET", `${run}/progress`))
      assert.deepStrictEqual(at(done, "summary"), {
        status: "completed",
        started: true,
        completed: true,
        participants: { planned: 0, inProgress: 0, completed: 1, failed: 0, total: 1 }
      })
      assert.deepStrictEqual(at(done, "participants", 0, "tasks"), {
        done: 6,
        inFlight: 0,
        errors: 1,
        total: 6,
        completionRatio: 1
      })

      const timeline = bodyOf(yield* acme("GET", `${run}/results/timeline?bucketMs=2000`))
      assert.deepStrictEqual(
        listAt(timeline, "eventRate", "buckets").map((bucket) => [at(bucket, "tMs"), at(bucket, "completed")]),
        [
          [0, 2],
          [2000, 2],
          [4000, 2]
        ]
      )
      assertFields(at(timeline, "concurrency"), { heartbeatCount: 1 })
      assertFields(at(timeline, "concurrency", "points", 0), { step: "create", active: 1, target: 1, tMs: 0 })

      const tasks = bodyOf(yield* acme("GET", `${run}/results/tasks?bucketSize=3&failureLimit=10`))
      assert.deepStrictEqual(
        listAt(tasks, "buckets").map((bucket) => [
          at(bucket, "bucketStart"),
          at(bucket, "bucketEnd"),
          at(bucket, "taskCount")
        ]),
        [
          [0, 2, 3],
          [3, 5, 3]
        ]
      )
      assert.deepStrictEqual(at(tasks, "failures"), [
        { participantSlug: "alpha", provider: "alpha", taskIndex: 4, errorCode: "step_timeout" }
      ])

      const imports = bodyOf(yield* acme("GET", `${run}/results/imports`))
      assert.deepStrictEqual(at(imports, "summary"), { pending: 0, importing: 0, imported: 3, failed: 0, missing: 0 })
      assert.deepStrictEqual(
        listAt(imports, "items").map((item) => [
          at(item, "sequenceNumber"),
          at(item, "eventCount"),
          at(item, "importStatus")
        ]),
        [
          [0, 3, "imported"],
          [1, 2, "imported"],
          [2, 1, "imported"]
        ]
      )

      const iterations = bodyOf(yield* acme("GET", `${run}/iterations?type=tasks&participant=alpha`))
      assert.deepStrictEqual(
        listAt(iterations, "tasks").map((task) => [at(task, "taskIndex"), at(task, "status"), at(task, "latencyMs")]),
        [0, 1, 2, 3, 4, 5].map((index) => [index, index === 4 ? "error" : "success", index === 4 ? 7 : 10 + index])
      )
      assert.deepStrictEqual(at(iterations, "tasks", 0, "data"), { ttiMs: 10 })
      const steps = bodyOf(yield* acme("GET", `${run}/iterations?type=steps&steps=run,create`))
      assert.deepStrictEqual(
        listAt(steps, "steps").map((step) => [at(step, "taskIndex"), at(step, "stepName")]),
        [0, 1, 2, 3, 4, 5].flatMap((index) => [[index, "create"], ...(index === 4 ? [] : [[index, "run"]])])
      )

      const logs = bodyOf(yield* acme("GET", `${participant}/logs?maxLines=1`))
      assert.deepStrictEqual(at(logs, "workers", 0, "lines"), ["2026-01-01T00:00:01.000Z [task 1] [info] two"])

      const overview = bodyOf(yield* acme("GET", `${benchmark}/results`))
      assertFields(at(overview, "items", 0, "analytics"), { eventBatches: 3, persisted: 3, queued: 0, failed: 0 })
      assertFields(at(overview, "items", 0, "participants", 0), { runId, participantSlug: "alpha", taskCount: 6 })

      const everyRun = bodyOf(yield* acme("GET", "/api/v1/benchmarks/runs?limit=500"))
      assert.include(
        listAt(everyRun, "items").map((item) => at(item, "id")),
        runId
      )
    })
  )

  it.effect("plans by tasks per worker, gives a worker back, and gets it again", () =>
    Effect.gen(function* () {
      const { acme } = yield* Served
      const { participant, run } = yield* createRun(acme, "rounds", { slug: "alpha", totalTasks: 5 })
      const plan = { body: { targetConcurrency: 2, config: { groupBy: "round" } } }
      const planned = bodyOf(yield* acme("POST", `${participant}/workers`, plan))
      assert.deepStrictEqual(
        listAt(planned, "workers").map((worker) => [
          at(worker, "taskIndexStart"),
          at(worker, "taskIndexEnd"),
          at(worker, "targetConcurrency")
        ]),
        [
          [0, 1, 2],
          [2, 3, 2],
          [4, 4, 2]
        ]
      )
      assertRefused(yield* acme("POST", `${participant}/workers`, plan), 409, {
        error: `The workers of participant "alpha" are already planned.`,
        code: "already_planned"
      })

      const first = yield* claim(acme, participant)
      assertFields(first.assignment, { workerIndex: 0, targetConcurrency: 2, config: { groupBy: "round" } })
      bodyOf(yield* acme("POST", `${first.worker}/events`, batch(first.attemptId, 0, false, [record(0, 99)])), 202)
      const released = bodyOf(yield* acme("POST", `${first.worker}/release`, { body: { attemptId: first.attemptId } }))
      assertFields(at(released, "worker"), { status: "pending" })
      assertFields(at(released, "attempt"), { status: "released" })

      const second = yield* claim(acme, participant)
      assertFields(second.assignment, { workerIndex: 0, attemptNumber: 2 })
      const stale = { attemptId: first.attemptId }
      const mutations: ReadonlyArray<readonly [string, object]> = [
        ["heartbeat", { ...stale, progressDone: 1 }],
        ["events", batch(first.attemptId, 1, true, [record(1, 99)]).body],
        ["artifacts", { ...stale, kind: "note" }],
        ["complete", stale],
        ["fail", { ...stale, errorCode: "late", errorMessage: "late" }],
        ["release", stale]
      ]
      for (const [operation, body] of mutations) {
        const answer = yield* acme("POST", `${second.worker}/${operation}`, { body })
        assert.deepStrictEqual([operation, answer.status, at(answer.body, "code")], [operation, 409, "stale_attempt"])
      }
      bodyOf(
        yield* acme("POST", `${second.worker}/events`, batch(second.attemptId, 0, true, [record(0), record(1)])),
        202
      )
      bodyOf(yield* acme("POST", `${second.worker}/complete`, { body: { attemptId: second.attemptId } }))

      for (const tasks of [[2, 3], [4]]) {
        const next = yield* claim(acme, participant)
        const records = tasks.map((index) => record(index))
        bodyOf(yield* acme("POST", `${next.worker}/events`, batch(next.attemptId, 0, true, records)), 202)
        bodyOf(yield* acme("POST", `${next.worker}/complete`, { body: { attemptId: next.attemptId } }))
      }
      const none = bodyOf(yield* acme("POST", `${participant}/workers/claim`, { body: {} }))
      assert.deepStrictEqual(none, { assignment: null })
      assertFields(at(bodyOf(yield* acme("GET", run)), "run"), { status: "completed" })
      const iterations = bodyOf(yield* acme("GET", `${run}/iterations`))
      assert.deepStrictEqual(
        listAt(iterations, "tasks").map((task) => [at(task, "taskIndex"), at(task, "latencyMs")]),
        [0, 1, 2, 3, 4].map((index) => [index, 10 + index])
      )
    })
  )

  it.effect("declares participants with the run, and fails one that could not be run", () =>
    Effect.gen(function* () {
      const { acme } = yield* Served
      bodyOf(yield* acme("PUT", "/api/v1/benchmarks/declared", { body: {} }))
      const body = { totalTasks: 4, workerCount: 2, participants: [{ slug: "a", provider: "p", totalTasks: 4 }] }
      const created = bodyOf(yield* acme("POST", "/api/v1/benchmarks/declared/runs", { body }), 201)
      assertFields(at(created, "run"), { totalTasks: 4, participantSized: false, workerCount: 2 })
      assertFields(at(created, "participants", 0), { slug: "a", provider: "p", totalTasks: 4 })
      const run = `/api/v1/benchmarks/declared/runs/${textAt(created, "run", "id")}`
      bodyOf(yield* acme("POST", `${run}/participants/a/workers`, { body: { workerCount: 1 } }))
      const { attemptId, worker } = yield* claim(acme, `${run}/participants/a`)
      const failed = bodyOf(
        yield* acme("POST", `${worker}/fail`, { body: { attemptId, errorCode: "Error", errorMessage: "no quota" } })
      )
      assertFields(at(failed, "worker"), { status: "failed" })
      assertFields(at(failed, "attempt"), { status: "failed" })
      assertFields(at(bodyOf(yield* acme("GET", run)), "run"), { status: "failed" })
      const patched = bodyOf(yield* acme("PATCH", run, { body: { status: "completed", config: { note: 1 } } }))
      assertFields(at(patched, "run"), { status: "completed", config: { note: 1 } })
      const renamed = bodyOf(yield* acme("PATCH", "/api/v1/benchmarks/declared", { body: { status: "archived" } }))
      assertFields(at(renamed, "benchmark"), { status: "archived", name: "declared" })
      const listed = bodyOf(yield* acme("GET", "/api/v1/benchmarks/declared/runs?limit=1&offset=0"))
      assert.strictEqual(listAt(listed, "items").length, 1)
    })
  )

  it.effect("may say more than is known, less than could be said, and null for nothing", () =>
    Effect.gen(function* () {
      const { acme } = yield* Served
      const extra = { futureField: { nested: [1, 2] } }
      bodyOf(yield* acme("PUT", "/api/v1/benchmarks/lenient", { body: { name: "Lenient", ...extra } }))
      const kept = bodyOf(
        yield* acme("PUT", "/api/v1/benchmarks/lenient", { body: { name: null, status: null, config: null } })
      )
      assertFields(at(kept, "benchmark"), { name: "Lenient" })
      const runInput = {
        runKey: null,
        name: null,
        totalTasks: null,
        workerCount: null,
        participants: null,
        config: null
      }
      const created = bodyOf(
        yield* acme("POST", "/api/v1/benchmarks/lenient/runs", { body: { ...runInput, ...extra } }),
        201
      )
      const participant = `/api/v1/benchmarks/lenient/runs/${textAt(created, "run", "id")}/participants/a`
      bodyOf(yield* acme("PUT", participant, { body: { label: null, provider: null, totalTasks: 3, ...extra } }))
      bodyOf(yield* acme("POST", `${participant}/workers`, { body: { workerCount: null, targetConcurrency: null } }))
      // No body at all asks for a worker too.
      const claimed = at(bodyOf(yield* acme("POST", `${participant}/workers/claim`)), "assignment")
      const attemptId = textAt(claimed, "attemptId")
      const worker = `${participant}/workers/${textAt(claimed, "workerId")}`
      bodyOf(
        yield* acme("POST", `${worker}/heartbeat`, {
          body: { attemptId, progressDone: null, currentStep: null, concurrency: null, ...extra }
        })
      )
      const empty = { startedAt: null, completedAt: null, latencyMs: null, errorCode: null, data: null }
      const records = [
        { taskIndex: 0, status: "success" },
        { taskIndex: 1, status: "success", ...empty, firstCommandMs: null, steps: null, ...extra },
        {
          taskIndex: 2,
          status: "cancelled",
          steps: [{ name: "s", status: "success", ...empty, concurrency: null, ...extra }]
        }
      ]
      const sent = batch(attemptId, 0, true, records).body
      assertFields(bodyOf(yield* acme("POST", `${worker}/events`, { body: { ...sent, ...extra } }), 202), {
        accepted: 3
      })
      bodyOf(yield* acme("POST", `${worker}/complete`, { body: { attemptId, errorCode: null, ...extra } }))
      const results = bodyOf(yield* acme("GET", `${participant.split("/participants")[0]}/results`))
      assert.deepStrictEqual(at(results, "overall"), {
        taskCount: 3,
        successCount: 2,
        errorCount: 0,
        otherCount: 1,
        latencyCount: 0,
        successRate: 2 / 3,
        latencyMs: { min: null, avg: null, p50: null, p95: null, p99: null, max: null },
        firstStartedAt: null,
        lastCompletedAt: null
      })
    })
  )

  it.effect("finds names again whatever characters they have", () =>
    Effect.gen(function* () {
      const { acme } = yield* Served
      for (const slug of ["a b/c", "100%", "ümläut ☃", "q?x=1&y#z", "a+b", "..%2f.."]) {
        const { participant, run } = yield* createRun(acme, "names", { slug, totalTasks: 1 })
        assertFields(at(bodyOf(yield* acme("GET", participant)), "participant"), { slug })
        bodyOf(yield* acme("POST", `${participant}/workers`, { body: {} }))
        const { assignment, attemptId, worker } = yield* claim(acme, participant)
        assertFields(assignment, { participantSlug: slug })
        bodyOf(yield* acme("POST", `${worker}/events`, batch(attemptId, 0, true, [record(0)])), 202)
        const found = bodyOf(yield* acme("GET", `${run}/iterations?participant=${encodeURIComponent(slug)}`))
        assert.strictEqual(at(found, "tasks", 0, "participantSlug"), slug)
      }
    })
  )

  it.effect("names its organization by slug or by id", () =>
    Effect.gen(function* () {
      const { acme, other, url } = yield* Served
      const me = bodyOf(yield* acme("GET", "/api/v1/me"))
      assertFields(me, { user: null })
      const id = textAt(me, "activeOrganizationId")
      const otherId = textAt(bodyOf(yield* other("GET", "/api/v1/me")), "activeOrganizationId")
      assertFields(at(me, "organizations", 0), { id, slug: "acme" })
      assert.strictEqual(listAt(bodyOf(yield* acme("GET", "/api/v1/organizations")), "items").length, 1)
      const active = bodyOf(yield* acme("POST", "/api/v1/organizations", { body: { slug: "acme" } }))
      assertFields(active, { activeOrganizationId: id })

      bodyOf(yield* acme("PUT", "/api/v1/benchmarks/owned", { body: {} }))
      const forbidden = { error: "API key is not authorized for this organization", code: "forbidden" }
      for (const [own, foreign] of [
        [{ "x-org-slug": "acme" }, { "x-org-slug": "other" }],
        [{ "x-organization-id": id }, { "x-organization-id": otherId }]
      ] as const) {
        bodyOf(yield* acme("GET", "/api/v1/benchmarks/owned", { headers: own }))
        assertRefused(yield* acme("GET", "/api/v1/benchmarks/owned", { headers: foreign }), 403, forbidden)
      }

      // Whoever runs the platform acts for the organization that is named, and for none otherwise.
      const admin = client(url, adminKey)
      const named = { headers: { "x-org-slug": "acme" } }
      assertFields(at(bodyOf(yield* admin("GET", "/api/v1/benchmarks/owned", named)), "benchmark"), { slug: "owned" })
      const elsewhere = yield* admin("GET", "/api/v1/benchmarks/owned", { headers: { "x-org-slug": "other" } })
      assert.deepStrictEqual([elsewhere.status, at(elsewhere.body, "code")], [404, "benchmark_not_found"])
      assert.strictEqual((yield* admin("GET", "/api/v1/benchmarks/owned")).status, 403)
    })
  )

  it.effect("is refused in words, with a status that says what kind of refusal it is", () =>
    Effect.gen(function* () {
      const { acme, other, url } = yield* Served
      const { participant, run } = yield* createRun(acme, "refusals", { slug: "alpha", totalTasks: 2 })
      bodyOf(yield* acme("POST", `${participant}/workers`, { body: {} }))
      const { attemptId, worker } = yield* claim(acme, participant)

      const anonymous = client(url, "")
      assertRefused(yield* anonymous("GET", run, { headers: { authorization: "" } }), 401, {
        error: "API key required"
      })
      for (const key of ["bp_unknown_0123456789abcdef0123456789abcdef", "nonsense"]) {
        assertRefused(yield* client(url, key)("GET", run), 401, { error: "Invalid API key" })
      }

      const foreign = yield* other("GET", run)
      assertRefused(foreign, 403, { error: "API key is not authorized for this organization", code: "forbidden" })
      const unknown = "00000000-0000-4000-8000-000000000000"
      for (const [path, error, code] of [
        ["/api/v1/benchmarks/nowhere", `No benchmark "nowhere".`, "benchmark_not_found"],
        [`/api/v1/benchmarks/refusals/runs/${unknown}`, `No run "${unknown}".`, "run_not_found"],
        [`${run}/participants/beta`, `No participant "beta".`, "participant_not_found"],
        [`${participant}/workers/${unknown}`, `No worker "${unknown}".`, "worker_not_found"],
        [`${run}/artifacts/${unknown}`, `No artifact "${unknown}".`, "artifact_not_found"],
        ["/api/v1/nothing", "There is no GET /api/v1/nothing.", "route_not_found"]
      ] as const) {
        assertRefused(yield* acme("GET", path), 404, { error, code })
      }
      const noSummary = yield* acme("GET", `${run}/summary`)
      assert.deepStrictEqual([noSummary.status, at(noSummary.body, "code")], [404, "summary_not_found"])
      assert.strictEqual((yield* acme("DELETE", run)).status, 405)

      assertRefused(yield* acme("POST", `${worker}/heartbeat`, { body: `{"attemptId": ` }), 400, {
        error: "The body cannot be read as JSON.",
        code: "malformed_json"
      })
      const unfit = yield* acme("POST", `${worker}/events`, {
        body: { ...batch(attemptId, 0, true, []).body, isFinal: 1 }
      })
      assert.deepStrictEqual([unfit.status, at(unfit.body, "issues", 0, "field")], [400, "isFinal"])
      const outside = yield* acme("POST", `${worker}/events`, batch(attemptId, 0, true, [record(2)]))
      assert.deepStrictEqual(
        [outside.status, at(outside.body, "issues")],
        [422, [{ field: "records[0].taskIndex", message: "must be from 0 to 1 (got 2)" }]]
      )
      const tooMany = yield* acme(
        "POST",
        `${worker}/events`,
        batch(
          attemptId,
          0,
          true,
          Array.from({ length: 5001 }, () => record(0))
        )
      )
      assert.deepStrictEqual(
        [tooMany.status, at(tooMany.body, "issues")],
        [422, [{ field: "records", message: "must be at most 5000 (got 5001)" }]]
      )
      const large = yield* acme("PUT", "/api/v1/benchmarks/refusals", { body: { name: "x".repeat(1024 * 1024) } })
      assertRefused(large, 413, { error: "The body is larger than 1048576 bytes.", code: "too_large" })
      assertFields(at(bodyOf(yield* acme("GET", worker)), "worker"), { status: "running", progressDone: 0 })
    })
  )
})
