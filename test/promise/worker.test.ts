import { hostname } from "node:os"
import { gunzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { vi } from "vitest"
import type { RunWorkerOptions, TaskRecord, TelemetryFailure, WorkerResult } from "../../src/promise.js"
import { BenchmarkApiError, runBenchmarkWorker, runWorker, TaskError } from "../../src/promise.js"
import * as PlatformHost from "../support/platformHost.js"
import {
  messageOf,
  participantSlug,
  pause,
  plan,
  prepared,
  quiet,
  reason,
  slug,
  storedTasks,
  until
} from "../support/promiseRun.js"

describe("runWorker", () => {
  it.scopedLive("runs a claimed range of tasks, delivers them and closes the worker", () =>
    Effect.gen(function* () {
      const { at, client, host, runId } = yield* prepared(5, 2)
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
          await pause(20)
          assert.lengthOf(host.to("/complete", "/fail"), finished.length, "the worker is still open")
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
        errorCount: 1,
        warnings: []
      })
      assert.deepStrictEqual(finished, [result])
      assert.deepStrictEqual(host.to("/claim")[0]?.body, { processKind: "test", processKey: "here" })
      const { items } = yield* Effect.promise(() => client.listRunArtifacts(slug, runId))
      assert.deepStrictEqual(
        items.map(({ kind }) => kind),
        ["coordinator.log"],
        "no metrics are sampled"
      )
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

  it.scopedLive("records what the worker of a benchmark records", () =>
    Effect.gen(function* () {
      const { at, client, host, runId } = yield* prepared(4)
      const task: RunWorkerOptions["task"] = async ({ measure, participant, step, taskIndex }) => {
        measure({ taskIndex, name: participant.name })
        await Promise.all(["a", "b"].map((name) => step(name, () => measure({ name }), { parallelInvocations: 2 })))
        if (taskIndex === 1) throw new TaskError("no", { code: "E_NO", data: { why: "so" } })
        if (taskIndex === 2) await step("long", ({ signal }) => untilAborted(signal), { timeoutMs: 10 })
        return { data: { returned: taskIndex } }
      }
      yield* Effect.promise(() => client.runWorker({ ...at, ...quiet, task }))
      const other = yield* Effect.promise(() => plan(client, 4))
      const config = { benchmarkSlug: slug, benchmarkName: "Bench", participants: [{ name: participantSlug }] }
      const assignment = Object.create(null)
      yield* Effect.promise(() =>
        runBenchmarkWorker(
          config,
          (context) => task({ ...context, assignment }),
          { runId: other, participant: participantSlug, quiet: true },
          { baseUrl: host.baseUrl, apiKey: PlatformHost.apiKey }
        )
      )
      const [ours, theirs] = yield* Effect.promise(() => Promise.all([sent(runId), sent(other)]))
      assert.lengthOf(ours, 4)
      assert.deepStrictEqual(ours, theirs)

      /** What the worker sent, without what is measured. */
      async function sent(run: string) {
        const bodies = host.to("/events").filter(({ path }) => path.includes(run))
        const records = bodies.flatMap(({ body }) => Reflect.get(Object(body), "records"))
        return records.map((record) =>
          JSON.parse(JSON.stringify(record), (key, value) =>
            /^(latencyMs|startedAt|completedAt)$/.test(key) ? typeof value : value
          )
        )
      }
    })
  )

  it.scopedLive("tells the task what is assigned, and gives advice with the result", () =>
    Effect.gen(function* () {
      const { at, client } = yield* prepared(4, 2)
      const indexes: Array<number> = []
      const options: RunWorkerOptions = {
        ...at,
        ...quiet,
        task: async ({ assignment, step, taskIndex }) => {
          indexes.push(assignment.taskRange.start + taskIndex)
          await step("old", () => {}, { concurrency: 2 })
        }
      }
      yield* Effect.promise(() => client.runWorker(options))
      const result = yield* Effect.promise(() => client.runWorker(options))
      assert.deepStrictEqual(indexes, [0, 1, 2, 3])
      assert.lengthOf(result?.warnings ?? [], 1)
      assert.match(result?.warnings[0] ?? "", /concurrency.*parallelInvocations/)
    })
  )

  it.scopedLive("claims as a worker of this host unless told otherwise", () =>
    Effect.gen(function* () {
      const { at, client, host } = yield* prepared(1)
      yield* Effect.promise(() => client.runWorker({ ...at, ...quiet, task: async () => {} }))
      assert.deepStrictEqual(host.to("/claim")[0]?.body, { processKind: "worker", processKey: hostname() })
    })
  )

  it.scopedLive("sends partial batches and heartbeats while a task goes on", () =>
    Effect.gen(function* () {
      const { at, client, host, runId } = yield* prepared(2)
      yield* Effect.promise(() =>
        client.runWorker({
          ...at,
          ...quiet,
          flushIntervalMs: 10,
          heartbeatIntervalMs: 10,
          task: async ({ taskIndex }) => {
            if (taskIndex === 0) return
            await until(async () => (await storedTasks(client, runId)).length === 1)
            await until(() => host.to("/heartbeat").length >= 3)
          }
        })
      )
      assert.lengthOf(host.to("/events"), 2)
    })
  )

  it.scopedLive("starts tasks no earlier than their delay", () =>
    Effect.gen(function* () {
      const { at, client } = yield* prepared(3)
      const starts: Array<number> = []
      const before = performance.now()
      const task = async () => void starts.push(performance.now() - before)
      yield* Effect.promise(() => client.runWorker({ ...at, ...quiet, concurrency: 3, staggerDelayMs: 50, task }))
      starts.forEach((start, index) => assert.isAtLeast(start, index * 50 - 2))
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
      const uploads = () => host.requests.filter(({ method, path }) => method === "PUT" && path.startsWith("/objects/"))
      const task: RunWorkerOptions["task"] = async ({ log }) => {
        log("detail", { level: "debug" })
        log("plain")
        await until(() => uploads().length > 0)
      }
      yield* Effect.promise(() =>
        client.runWorker({
          ...at,
          logLevel: "debug",
          maxLogLines: 4,
          logCompression: "gzip",
          logFlushIntervalMs: 10,
          metricsIntervalMs: 20,
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
      assert.isAbove(uploads().length, 2, "the log went out while the worker ran, too")
      assert.isTrue(uploads().some(({ bytes }) => bytes[0] === 0x1f && gunzipSync(bytes).includes("detail")))
    })
  )

  it.scopedLive("tells the hook of telemetry that did not work, and goes on", () =>
    Effect.gen(function* () {
      const { at, client, host } = yield* prepared(1)
      const printed = vi.spyOn(console, "log")
      yield* Effect.addFinalizer(() => Effect.sync(() => printed.mockRestore()))
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
      assert.lengthOf(printed.mock.calls, 0, "stdout is the program's")
    })
  )

  it.scopedLive(
    "waits at a barrier until the other worker has come, asking as often as it is told to",
    () =>
      Effect.gen(function* () {
        const { at, client, host } = yield* prepared(2, 2)
        const events: Array<string> = []
        const work = (name: string, arrival: () => Promise<void>) =>
          client.runWorker({
            ...at,
            ...quiet,
            readyPollIntervalMs: 20,
            task: async ({ step }) => {
              await arrival()
              events.push(`${name} comes`)
              await step("together", async () => void events.push(`${name} goes`), { readiness: "poll" })
            }
          })
        yield* Effect.promise(() =>
          Promise.all([work("one", async () => {}), work("two", () => until(() => host.to("/progress").length >= 25))])
        )
        assert.deepStrictEqual(
          [...events.slice(0, 2), ...events.slice(2).sort()],
          ["one comes", "two comes", "one goes", "two goes"]
        )
      }),
    20_000
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

  it.scopedLive("claims nothing when the signal is aborted already", () =>
    Effect.gen(function* () {
      const { at, client, host } = yield* prepared(1)
      const error = yield* Effect.promise(() =>
        reason(client.runWorker({ ...at, ...quiet, signal: AbortSignal.abort(), task: async () => {} }))
      )
      assert.instanceOf(error, DOMException)
      assert.lengthOf(host.to("/claim"), 0)
    })
  )

  it.scopedLive("rejects with what onFinish throws, when the worker is closed", () =>
    Effect.gen(function* () {
      const { at, client, host } = yield* prepared(1)
      const onFinish = async () => {
        throw new RangeError("not like this")
      }
      const error = yield* Effect.promise(() =>
        reason(client.runWorker({ ...at, ...quiet, onFinish, task: async () => {} }))
      )
      assert.instanceOf(error, RangeError)
      assert.lengthOf(host.to("/complete"), 1)
    })
  )

  it.scopedLive("says what could not be delivered, and keeps it", () =>
    Effect.gen(function* () {
      const { at, client, here, home, host, runId } = yield* prepared(2)
      host.misbehave(({ path }) => (path.endsWith("/events") ? { fault: "answer", status: 400 } : "normal"))
      const error = yield* Effect.promise(() => reason(client.runWorker({ ...at, ...quiet, task: async () => {} })))
      assert.match(messageOf(error), /Failed to flush task results; these wait in .*bench push/)
      host.misbehave(() => "normal")
      const { code, stderr } = yield* here.call(["push", runId], {
        BENCH_HOME: home,
        BENCHMARKS_PLATFORM_URL: host.baseUrl,
        BENCHMARKS_PLATFORM_API_KEY: PlatformHost.apiKey
      })
      assert.strictEqual(code, 0, stderr)
      assert.lengthOf(yield* Effect.promise(() => storedTasks(client, runId)), 2)
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
          ...JSON.parse(`{ "task": "work", "onFinish": 1, "logLevel": "loud" }`)
        }
      )
    )
    assert.deepStrictEqual(messageOf(error).split("; "), [
      "runWorker: benchmarkSlug must be a non-empty string",
      "batchSize must be an integer from 1 to 5000",
      "concurrency must be an integer >= 1",
      "maxLogLines must be an integer >= 1",
      "flushIntervalMs must be a number of milliseconds from 0 to 2147483647",
      "metricsIntervalMs must be a number of milliseconds from 0 to 2147483647",
      "logLevel must be one of debug, info, warn, error",
      "task must be a function",
      "onFinish must be a function"
    ])
  })
})

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
