import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { TaskRecord } from "../../src/promise.js"
import { BenchmarkApiError, BenchmarkReporter, claimBenchmarkReporter } from "../../src/promise.js"
import * as PlatformHost from "../support/platformHost.js"
import { messageOf, participantSlug, prepared, quiet, reason, slug, storedTasks } from "../support/promiseRun.js"

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

  it.scopedLive("takes records before it waits, so none comes too late for the end", () =>
    Effect.gen(function* () {
      const { at, client, host, runId } = yield* prepared(3)
      yield* Effect.promise(async () => {
        const reporter = await claimBenchmarkReporter(client, { ...at, ...quiet, batchSize: 2 })
        const recorded = [0, 1, 2].map((index) => reporter?.recordResult(record(index)))
        await reporter?.finish()
        await Promise.all(recorded)
      })
      assert.lengthOf(yield* Effect.promise(() => storedTasks(client, runId)), 3)
      assert.deepStrictEqual(
        host.to("/events").map(({ body }) => Reflect.get(Object(body), "sequenceNumber")),
        [0, 1]
      )
    })
  )

  it.scopedLive("writes lines to the worker's log, without secrets", () =>
    Effect.gen(function* () {
      const { at, client, runId } = yield* prepared(1)
      yield* Effect.promise(async () => {
        const reporter = await claimBenchmarkReporter(client, { ...at, ...quiet, logLevel: "warn", maxLogLines: 2 })
        reporter?.log("left out")
        reporter?.log("[task 0] slow", { level: "warn", meta: { attempt: 2 } })
        reporter?.log(`key bp_12345678_${"x".repeat(32)}`, { level: "error" })
        reporter?.log("one too many", { level: "error" })
        await reporter?.recordResult(record(0))
        await reporter?.finish()
        assert.throws(() => reporter?.log("late"), /has been finished/)
      })
      const { items } = yield* Effect.promise(() => client.listRunArtifacts(slug, runId))
      const { content } = yield* Effect.promise(() => client.downloadArtifact(slug, runId, items[0]?.id ?? ""))
      const [first, second, third] = Buffer.from(content).toString().split("\n")
      assert.match(first ?? "", /^\d{4}-\S+Z \[task 0\] \[warn\] slow {"attempt":2}$/)
      assert.match(second ?? "", /\[error\] key \[redacted\]$/)
      assert.match(third ?? "", /truncated after 2 lines/)
    })
  )

  it.scopedLive("loses nothing when its process ends without finishing", () =>
    Effect.gen(function* () {
      const { client, here, home, host, runId } = yield* prepared(3)
      const library = fileURLToPath(new URL("../../dist/promise.js", import.meta.url))
      here.write(
        "forgetful.mjs",
        `import { BenchmarkReporter, createBenchmarkClient } from ${JSON.stringify(library)}
        const at = ${JSON.stringify({ benchmarkSlug: slug, runId, participantSlug, ...quiet })}
        const reporter = await BenchmarkReporter.claim(createBenchmarkClient(), at)
        for (const taskIndex of [0, 1, 2]) await reporter.recordResult({ taskIndex, status: "success", latencyMs: 1 })
        process.exit(0)`
      )
      const env = {
        BENCH_HOME: home,
        BENCHMARKS_PLATFORM_URL: host.baseUrl,
        BENCHMARKS_PLATFORM_API_KEY: PlatformHost.apiKey
      }
      const ended = yield* here.shell(`${process.execPath} forgetful.mjs`, env)
      assert.deepStrictEqual(ended, { code: 0, stdout: "", stderr: "" })
      assert.lengthOf(host.to("/events"), 0)
      const { code, stderr } = yield* here.call(["push", "--all"], env)
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(yield* Effect.promise(() => storedTasks(client, runId)), [
        [0, "success"],
        [1, "success"],
        [2, "success"]
      ])
    })
  )

  it.scopedLive("waits at a barrier for the other worker, or says who is missing", () =>
    Effect.gen(function* () {
      const { at, client } = yield* prepared(2, 2)
      yield* Effect.promise(async () => {
        const one = await claimBenchmarkReporter(client, { ...at, ...quiet })
        const two = await claimBenchmarkReporter(client, { ...at, ...quiet })
        const error = await reason(
          one?.waitForStepReady("go", { pollIntervalMs: 10, timeoutMs: 50 }) ?? Promise.resolve()
        )
        assert.match(messageOf(error), /worker 2 \(has not come to the step\)/)
        const few = { pollIntervalMs: 10, timeoutMs: 50, active: 1, target: 2 }
        const early = await reason(two?.waitForStepReady("go", few) ?? Promise.resolve())
        assert.match(messageOf(early), /worker 2 \(1 of 2 tasks have\)/)
        await Promise.all([one, two].map((reporter) => reporter?.waitForStepReady("go", { pollIntervalMs: 10 })))
        await Promise.all([one, two].map((reporter) => reporter?.finish()))
      })
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
