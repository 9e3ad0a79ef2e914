import { gunzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, vi } from "vitest"
import type {
  Attempt,
  BenchmarkClient,
  PlatformMethods,
  RunWorkerOptions,
  TaskRecord,
  TelemetryFailure,
  Worker,
  WorkerResult
} from "../../src/promise.js"
import {
  BenchmarkApiError,
  BenchmarkReporter,
  claimBenchmarkReporter,
  createBenchmarkClient,
  createSystemMetricsCollector,
  runWorker,
  TaskError
} from "../../src/promise.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import { project } from "../support/bench.js"
import * as PlatformHost from "../support/platformHost.js"

const slug = "bench"
const participantSlug = "alpha"

/** A server with a run of so many tasks, over so many workers, and a client of it. */
const prepared = (totalTasks: number, workerCount = 1) =>
  Effect.gen(function* () {
    const here = yield* project
    // Where what cannot be delivered is kept.
    yield* Effect.sync(() => vi.stubEnv("BENCH_HOME", here.path("home")))
    const host = yield* PlatformHost.fromLayer(SqlPlatform.layerMemory)
    const client = createBenchmarkClient({ baseUrl: host.baseUrl, apiKey: PlatformHost.apiKey })
    const runId = yield* Effect.promise(async () => {
      await client.upsertBenchmark(slug)
      const { run } = await client.createRun(slug, {
        participants: [{ slug: participantSlug, totalTasks, workerCount }]
      })
      await client.createWorkers(slug, run.id, participantSlug, { workerCount })
      return run.id
    })
    return { here, host, client, runId, at: { benchmarkSlug: slug, runId, participantSlug } }
  })

afterEach(() => {
  vi.unstubAllEnvs()
})

const quiet = { metricsIntervalMs: 0 }

const reason = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail("it was not rejected"),
    (error: unknown) => error
  )

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const pause = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

const storedTasks = (client: BenchmarkClient, runId: string) =>
  client
    .getRunIterations(slug, runId, {})
    .then(({ items }) => items.map(({ status, taskIndex }) => [taskIndex, status]))

describe("runWorker", () => {
  it.scopedLive("runs a claimed range of tasks, delivers them and closes the worker", () =>
    Effect.gen(function* () {
      const { at, client, runId } = yield* prepared(5, 2)
      const records: Array<TaskRecord> = []
      const finished: Array<WorkerResult> = []
      const options: RunWorkerOptions = {
        ...at,
        ...quiet,
        processKind: "test",
        processKey: "here",
        onResult: (record) => records.push(record),
        onFinish: async (result) => {
          const { items } = await client.getRunIterations(slug, runId, {})
          assert.lengthOf(items, result.taskCount, "everything is delivered by then")
          finished.push(result)
        },
        task: async ({ log, measure, participant, step, taskIndex }) => {
          log("hello", { taskIndex })
          await step("get", async () => measure({ name: participant.name }))
          if (taskIndex === 1) throw new TaskError("no", { code: "E_NO" })
        }
      }
      const result = yield* Effect.promise(() => client.runWorker(options))
      assert.deepInclude(result, {
        workerIndex: 0,
        attemptNumber: 1,
        taskRange: { start: 0, end: 2, count: 3 },
        taskCount: 3,
        successCount: 2,
        errorCount: 1
      })
      assert.deepStrictEqual(finished, [result])
      assert.deepStrictEqual(
        records.map(({ errorCode, status, steps }) => [
          status,
          errorCode,
          steps?.map(({ data, name }) => [name, data])
        ]),
        [
          ["success", undefined, [["get", { name: "alpha" }]]],
          ["error", "E_NO", [["get", { name: "alpha" }]]],
          ["success", undefined, [["get", { name: "alpha" }]]]
        ]
      )
      const stored = yield* Effect.promise(() => storedTasks(client, runId))
      assert.deepStrictEqual(stored, [
        [0, "success"],
        [1, "error"],
        [2, "success"]
      ])
      const logs = yield* Effect.promise(() => client.getParticipantLogs(slug, runId, participantSlug))
      assert.include(JSON.stringify(logs), "[task 1] [info] hello")
      const second = yield* Effect.promise(() => runWorker(client, { ...options, onFinish: undefined }))
      assert.deepInclude(second, { workerIndex: 1, taskRange: { start: 3, end: 4, count: 2 } })
      assert.isNull(yield* Effect.promise(() => runWorker(client, { ...options, onFinish: undefined })))
      const { run } = yield* Effect.promise(() => client.getRun(slug, runId))
      assert.strictEqual(run.status, "completed")
    })
  )

  it.scopedLive("resends a batch that failed, under its number, and loses nothing", () =>
    Effect.gen(function* () {
      const { at, client, host, runId } = yield* prepared(7)
      host.misbehave(
        PlatformHost.scripted("/events", [
          { fault: "answer", status: 503 },
          { fault: "answer", when: "after", status: 502 }
        ])
      )
      const result = yield* Effect.promise(() =>
        client.runWorker({ ...at, ...quiet, batchSize: 3, task: async () => {} })
      )
      assert.strictEqual(result?.taskCount, 7)
      const sequence = host.to("/events").map(({ body }) => Reflect.get(Object(body), "sequenceNumber"))
      assert.deepStrictEqual(sequence, [0, 0, 0, 1, 2])
      assert.lengthOf(yield* Effect.promise(() => storedTasks(client, runId)), 7)
    })
  )

  it.scopedLive("runs so many tasks at once", () =>
    Effect.gen(function* () {
      const { at, client } = yield* prepared(9)
      let [now, most] = [0, 0]
      const task = async () => {
        most = Math.max(most, ++now)
        await pause(5)
        now--
      }
      yield* Effect.promise(() => client.runWorker({ ...at, ...quiet, concurrency: 4, task }))
      assert.strictEqual(most, 4)
    })
  )

  it.scopedLive("sends log and metrics as asked", () =>
    Effect.gen(function* () {
      const { at, client, host, runId } = yield* prepared(3)
      const task: RunWorkerOptions["task"] = async ({ log }) => {
        log("detail", { level: "debug" })
        log("plain")
        await pause(30)
      }
      yield* Effect.promise(() =>
        client.runWorker({
          ...at,
          logLevel: "debug",
          maxLogLines: 4,
          logCompression: "gzip",
          logFlushIntervalMs: 10,
          metricsIntervalMs: 20,
          heartbeatIntervalMs: 10,
          task
        })
      )
      const { items } = yield* Effect.promise(() => client.listRunArtifacts(slug, runId))
      assert.sameMembers([...new Set(items.map(({ kind }) => kind))], ["coordinator.log", "system-metrics"])
      const log = items.find(({ kind }) => kind === "coordinator.log")
      assert.strictEqual(log?.metadata?.["encoding"], "gzip")
      const { content } = yield* Effect.promise(() => client.downloadArtifact(slug, runId, log?.id ?? ""))
      const lines = Buffer.from(content).toString().trimEnd().split("\n")
      assert.match(lines[0] ?? "", /\[task 0\] \[debug\] detail$/)
      assert.match(lines.at(-1) ?? "", /^\[log truncated after 4 lines/)
      assert.isAtLeast(host.to("/heartbeat").length, 2)
      const uploads = host.requests.filter(({ method, path }) => method === "PUT" && path.startsWith("/objects/"))
      assert.isAbove(uploads.length, 2, "the log went out while the worker ran, too")
      assert.isTrue(uploads.some(({ bytes }) => bytes[0] === 0x1f && gunzipSync(bytes).includes("detail")))
    })
  )

  it.scopedLive("tells the hook of telemetry that did not work, and goes on", () =>
    Effect.gen(function* () {
      const { at, client, host } = yield* prepared(1)
      host.misbehave(({ path }) =>
        path.endsWith("/artifacts") ? { fault: "answer", status: 400, body: '{"error":"no"}' } : "normal"
      )
      const failures: Array<TelemetryFailure> = []
      const result = yield* Effect.promise(() =>
        client.runWorker({
          ...at,
          ...quiet,
          onTelemetryError: async (failure) => void failures.push(failure),
          task: async ({ log }) => log("one line")
        })
      )
      assert.strictEqual(result?.successCount, 1)
      assert.deepStrictEqual(
        failures.map(({ participant, telemetry }) => [participant, telemetry]),
        [["alpha", "log"]]
      )
    })
  )

  it.scopedLive("waits at a barrier until the other worker has come", () =>
    Effect.gen(function* () {
      const { at, client } = yield* prepared(2, 2)
      const events: Array<string> = []
      const work = (name: string, delay: number) =>
        client.runWorker({
          ...at,
          ...quiet,
          readyPollIntervalMs: 20,
          task: async ({ step }) => {
            await pause(delay)
            events.push(`${name} comes`)
            await step("together", async () => void events.push(`${name} goes`), { readiness: "poll" })
          }
        })
      yield* Effect.promise(() => Promise.all([work("one", 0), work("two", 150)]))
      assert.deepStrictEqual(
        [...events.slice(0, 2), ...events.slice(2).sort()],
        ["one comes", "two comes", "one goes", "two goes"]
      )
    })
  )

  it.scopedLive("ends as interrupted when the signal is aborted, with what was measured delivered", () =>
    Effect.gen(function* () {
      const { at, client, runId } = yield* prepared(5)
      const stop = new AbortController()
      let aborted = false
      const task: RunWorkerOptions["task"] = async ({ signal, taskIndex }) => {
        if (taskIndex < 2) return
        signal.addEventListener("abort", () => {
          aborted = true
        })
        setTimeout(() => stop.abort(), 10)
        await new Promise(() => {})
      }
      const error = yield* Effect.promise(() =>
        reason(client.runWorker({ ...at, ...quiet, signal: stop.signal, task }))
      )
      assert.instanceOf(error, DOMException)
      assert.isTrue(aborted)
      const stored = yield* Effect.promise(() => storedTasks(client, runId))
      assert.deepStrictEqual(stored.slice(0, 2), [
        [0, "success"],
        [1, "success"]
      ])
      const { items } = yield* Effect.promise(() => client.listWorkers(slug, runId, participantSlug))
      assert.strictEqual(items[0]?.status, "failed")
    })
  )

  it.scopedLive("stops when another process has taken its worker", () =>
    Effect.gen(function* () {
      const { at, client, runId } = yield* prepared(50)
      let ran = 0
      const task: RunWorkerOptions["task"] = async () => {
        ran++
        if (ran !== 2) return pause(10)
        const { items } = await client.listWorkers(slug, runId, participantSlug)
        const [worker] = items
        const attempts = await client.getWorker(slug, runId, participantSlug, worker?.id ?? "")
        assert.strictEqual(attempts.worker.status, "running")
        await client.updateWorker(slug, runId, participantSlug, worker?.id ?? "", { status: "pending" })
        await client.claimWorker(slug, runId, participantSlug)
        return undefined
      }
      const error = yield* Effect.promise(() =>
        reason(client.runWorker({ ...at, ...quiet, batchSize: 1, flushIntervalMs: 5, task }))
      )
      assert.match(messageOf(error), /Failed to flush task results/)
      assert.isBelow(ran, 50)
    })
  )

  it.scopedLive("rejects with what the platform refused", () =>
    Effect.gen(function* () {
      const { at, client } = yield* prepared(1)
      const error = yield* Effect.promise(() =>
        reason(client.runWorker({ ...at, runId: "00000000-0000-4000-8000-000000000000", task: async () => {} }))
      )
      assert.instanceOf(error, BenchmarkApiError)
      assert.strictEqual(error.status, 404)
    })
  )

  it("refuses options that cannot be used, all at once", async () => {
    const error = await reason(
      runWorker(
        {},
        {
          benchmarkSlug: "",
          runId: "r",
          participantSlug: "p",
          batchSize: 5001,
          concurrency: 0,
          flushIntervalMs: Number.NaN,
          metricsIntervalMs: -1,
          maxLogLines: 1.5,
          task: async () => {}
        }
      )
    )
    assert.strictEqual(
      messageOf(error),
      "runWorker: benchmarkSlug must be a non-empty string; batchSize must be an integer from 1 to 5000; concurrency must be an integer >= 1; maxLogLines must be an integer >= 1; flushIntervalMs must be a number of milliseconds from 0 to 2147483647; metricsIntervalMs must be a number of milliseconds from 0 to 2147483647"
    )
  })
})

// -----------------------------------------------------------------------------
// clients of others
// -----------------------------------------------------------------------------

/** A client as a test of a user would write it, with what a worker needs. */
const mocked = (events: Array<string>, failing: { events?: number } = {}): Partial<PlatformMethods> => {
  const ids = { benchmarkId: "b", runId: "r", participantId: "p" }
  const run = { id: "r", benchmarkId: "b", status: "in_progress", totalTasks: 2, createdAt: "", updatedAt: "" } as const
  const worker: Worker = {
    id: "w",
    ...ids,
    workerIndex: 0,
    workerCount: 1,
    taskIndexStart: 0,
    taskIndexEnd: 1,
    status: "running",
    progressDone: 0,
    progressInFlight: 0,
    progressErrors: 0,
    progressTotal: 2
  }
  const attempt: Attempt = { id: "a", ...ids, workerId: "w", attemptNumber: 1, status: "running" }
  let claims = 0
  const closed = (how: string) => async () => {
    events.push(how)
    return { worker, attempt }
  }
  return {
    getRun: async () => ({ run }),
    claimWorker: async () => ({
      assignment:
        claims++ > 0
          ? null
          : {
              ...ids,
              benchmarkSlug: slug,
              participantSlug,
              workerId: "w",
              workerIndex: 0,
              workerCount: 1,
              attemptId: "a",
              attemptNumber: 1,
              taskRange: { start: 0, end: 1, count: 2 }
            }
    }),
    heartbeatWorker: async () => ({ worker, attempt }),
    sendTaskResults: async (_benchmark, _run, _participant, _worker, { isFinal, records, sequenceNumber }) => {
      if ((failing.events ?? 0) > 0) {
        failing.events = (failing.events ?? 0) - 1
        throw Object.assign(new Error("busy"), { status: 503 })
      }
      events.push(`batch ${sequenceNumber}: ${records.length} records${isFinal ? ", final" : ""}`)
      return { accepted: records.length, eventBatchId: "e", duplicate: false }
    },
    uploadArtifact: async (_benchmark, runId, _participant, workerId, { body, kind }) => {
      events.push(`${kind}: ${body.length > 0 ? "some bytes" : "empty"}`)
      const artifact = { id: "x", runId, workerId, kind, objectKey: "x", createdAt: "" }
      return { artifact, artifactId: "x", uploadUrl: "", objectKey: "x" }
    },
    completeWorker: closed("complete"),
    failWorker: closed("fail"),
    releaseWorker: closed("release")
  }
}

describe("a client of somebody else", () => {
  it("is enough for a worker", async () => {
    const events: Array<string> = []
    const client = mocked(events, { events: 1 })
    const options = { benchmarkSlug: slug, runId: "r", participantSlug, ...quiet, batchSize: 1 }
    const result = await runWorker(client, { ...options, task: async ({ log }) => log("x") })
    assert.strictEqual(result?.taskCount, 2)
    assert.deepStrictEqual(events, [
      "batch 0: 1 records",
      "batch 1: 1 records, final",
      "coordinator.log: some bytes",
      "complete"
    ])
    assert.isNull(await runWorker(client, { ...options, task: async () => {} }))
  })

  it("says which method it lacks", async () => {
    const { claimWorker: _, ...client } = mocked([])
    const error = await reason(
      runWorker(client, { benchmarkSlug: slug, runId: "r", participantSlug, ...quiet, task: async () => {} })
    )
    assert.instanceOf(error, BenchmarkApiError)
    assert.match(messageOf(error), /the client has no method claimWorker/)
  })
})

// -----------------------------------------------------------------------------
// by hand
// -----------------------------------------------------------------------------

const record = (taskIndex: number, status = "success"): TaskRecord => ({ taskIndex, status, latencyMs: 1 })

describe("BenchmarkReporter", () => {
  it.scopedLive("reports what a program runs itself", () =>
    Effect.gen(function* () {
      const { at, client, host, runId } = yield* prepared(3)
      yield* Effect.promise(async () => {
        const reporter = await BenchmarkReporter.claim(client, { ...at, ...quiet, concurrency: 2 })
        assert.isNotNull(reporter)
        assert.deepInclude(reporter.assignment, { taskRange: { start: 0, end: 2, count: 3 }, attemptNumber: 1 })
        await reporter.recordResult(record(0))
        assert.lengthOf(host.to("/events"), 0)
        await reporter.flush()
        assert.deepStrictEqual(await storedTasks(client, runId), [[0, "success"]])
        reporter.setProgress({ inFlight: 2, currentStep: "get" })
        await reporter.heartbeat()
        const { items } = await client.listWorkers(slug, runId, participantSlug)
        assert.deepInclude(items[0], { progressDone: 1, progressInFlight: 2, currentStep: "get" })
        await reporter.waitForStepReady("get", { pollIntervalMs: 10 })
        await reporter.uploadArtifact({
          kind: "notes",
          name: "notes.txt",
          contentType: "text/plain",
          body: "written by hand"
        })
        await reporter.recordResult(record(1, "error"))
        await reporter.recordResult(record(2))
        const rejected = await reason(reporter.recordResult({ taskIndex: -1, status: "success" }))
        assert.match(messageOf(rejected), /taskIndex/)
        await Promise.all([reporter.finish(), reporter.finish()])
        assert.match(messageOf(await reason(reporter.recordResult(record(2)))), /has been finished/)
        assert.throws(() => reporter.setProgress({}), /has been finished/)
      })
      assert.lengthOf(yield* Effect.promise(() => storedTasks(client, runId)), 3)
      const { items } = yield* Effect.promise(() => client.listRunArtifacts(slug, runId))
      const notes = items.find(({ kind }) => kind === "notes")
      const { content } = yield* Effect.promise(() => client.downloadArtifact(slug, runId, notes?.id ?? ""))
      assert.strictEqual(Buffer.from(content).toString(), "written by hand")
      const { run } = yield* Effect.promise(() => client.getRun(slug, runId))
      assert.strictEqual(run.status, "completed")
      const last = host.to("/events").at(-1)
      assert.strictEqual(Reflect.get(Object(last?.body), "isFinal"), true)
      assert.isNull(yield* Effect.promise(() => claimBenchmarkReporter(client, at)))
    })
  )

  it.scopedLive("fails the worker as it is told", () =>
    Effect.gen(function* () {
      const { at, client, host, runId } = yield* prepared(2)
      yield* Effect.promise(async () => {
        const reporter = await claimBenchmarkReporter(client, { ...at, ...quiet })
        await reporter?.recordResult(record(0))
        await reporter?.finish({ status: "failed", errorCode: "E_BAD", errorMessage: "it went bad" })
      })
      const { items } = yield* Effect.promise(() => client.listWorkers(slug, runId, participantSlug))
      assert.strictEqual(items[0]?.status, "failed")
      assert.deepInclude(host.to("/fail")[0]?.body, { errorCode: "E_BAD", errorMessage: "it went bad" })
      assert.lengthOf(yield* Effect.promise(() => storedTasks(client, runId)), 1)
    })
  )

  it.scopedLive("says what could not be delivered, and keeps it", () =>
    Effect.gen(function* () {
      const { at, client, host } = yield* prepared(1)
      host.misbehave(({ path }) => (path.endsWith("/events") ? { fault: "answer", status: 400 } : "normal"))
      yield* Effect.promise(async () => {
        const reporter = await claimBenchmarkReporter(client, { ...at, ...quiet })
        await reporter?.recordResult(record(0))
        const flushed = await reason(reporter?.flush() ?? Promise.resolve())
        assert.instanceOf(flushed, BenchmarkApiError)
        const finished = await reason(reporter?.finish() ?? Promise.resolve())
        assert.match(messageOf(finished), /Failed to flush task results; these wait in .*bench push/)
      })
    })
  )

  it("refuses options that cannot be used", async () => {
    const error = await reason(BenchmarkReporter.claim({}, { benchmarkSlug: "b", runId: "", participantSlug: "p" }))
    assert.strictEqual(messageOf(error), "BenchmarkReporter.claim: runId must be a non-empty string")
  })
})

describe("createSystemMetricsCollector", () => {
  it("samples when it starts, when it is asked, and when it stops", async () => {
    const collector = createSystemMetricsCollector({ intervalMs: 0 })
    assert.match(messageOf(await reason(collector.sample())), /not started/)
    await Promise.all([collector.start(), collector.start()])
    assert.lengthOf(collector.samples, 1)
    const sample = await collector.sample()
    assert.deepStrictEqual(collector.samples[1], sample)
    await collector.stop()
    await collector.stop()
    assert.lengthOf(collector.samples, 3)
    const lines = collector.toNdjson().trimEnd().split("\n")
    assert.deepStrictEqual(
      lines.map((line) => JSON.parse(line)),
      [...collector.samples]
    )
    assert.isAbove(sample.process.rssBytes, 0)
  })

  it("samples now and then", async () => {
    const collector = createSystemMetricsCollector({ intervalMs: 10 })
    await collector.start()
    while (collector.samples.length < 3) await pause(5)
    await collector.stop()
    assert.isAtLeast(collector.samples.length, 4)
  })

  it("refuses an interval that is none", () => {
    assert.throws(() => createSystemMetricsCollector({ intervalMs: -1 }), /intervalMs must be a number >= 0/)
  })
})
