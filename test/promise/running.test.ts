import * as fs from "node:fs"
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { BenchmarkConfigError } from "../../src/Config.js"
import { AuthError, BenchmarkApiError } from "../../src/internal/promise/errors.js"
import { run, runBenchmark, runBenchmarkFile, runBenchmarkWorker } from "../../src/internal/promise/running.js"
import { NoAvailableParticipantsError } from "../../src/Participant.js"
import { Platform } from "../../src/Platform.js"
import { defineBenchmarkConfig, defineTask } from "../../src/promise.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import * as Step from "../../src/Step.js"
import * as Task from "../../src/Task.js"
import type { Project } from "../support/bench.js"
import { project } from "../support/bench.js"
import { createRun } from "../support/commands.js"
import * as Host from "../support/platformHost.js"

const config = defineBenchmarkConfig({
  benchmarkSlug: "demo",
  benchmarkName: "Demo",
  participants: [{ name: "alpha" }, { name: "beta" }],
  iterations: 3,
  shapes: { other: { slug: "demo-other", name: "Other demo" } },
  scoring: { metrics: [{ key: "index", ceiling: 10, weights: { median: 1, p95: 0, p99: 0 } }] },
  customCliFlags: ["--rows"]
})

const task = defineTask(async ({ step, measure, taskIndex }) => {
  await step("work", async () => {})
  measure({ index: taskIndex })
})

let stdout = ""
let stderr = ""

beforeEach(() => {
  stdout = ""
  stderr = ""
  vi.spyOn(console, "log").mockImplementation((text) => void (stdout += `${String(text)}\n`))
  vi.spyOn(console, "error").mockImplementation((text) => void (stderr += `${String(text)}\n`))
  for (const name of ["URL", "TOKEN", "API_KEY"]) vi.stubEnv(`BENCHMARKS_PLATFORM_${name}`, "")
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

/** A folder with a store, a spool and saved credentials of its own, as long as the test runs. */
const home = Effect.tap(project, (here) => {
  vi.stubEnv("BENCH_HOME", here.path("home"))
  vi.stubEnv("HOME", here.folder)
})

/** A platform elsewhere that takes one key. */
const elsewhere = Effect.gen(function* () {
  const store = Context.get(yield* Layer.build(SqlPlatform.layerMemory), Platform)
  const host = yield* Host.make({ platform: store })
  return { store, host, options: { baseUrl: host.baseUrl, apiKey: Host.apiKey } }
})

const resolved = <A>(start: () => Promise<A>): Effect.Effect<A> => Effect.promise(start)

/** What it is rejected with. */
const rejected = (start: () => Promise<unknown>): Effect.Effect<unknown> =>
  Effect.promise(() =>
    start().then(
      (value) => {
        throw new Error(`fulfilled with ${JSON.stringify(value)}`)
      },
      (error: unknown) => error
    )
  )

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const tasksIn = (here: Project, benchmark: string, run: string | undefined) =>
  Effect.flatMap(Platform, (platform) => platform.iterations({ benchmark, run: run ?? "" }, {})).pipe(
    Effect.map((tasks) => tasks.map(({ participantSlug, taskIndex }) => [participantSlug, taskIndex])),
    Effect.provide(SqlPlatform.layerSqlite({ filename: here.path("home/bench.db") }))
  )

describe("runBenchmark", () => {
  it.scopedLive("takes the flags of bench run, and gives what it recorded", () =>
    Effect.gen(function* () {
      const here = yield* home
      const argv = ["--iterations", "2", "--provider=beta", "--shape", "other", "--rows", "7"]
      const outcome = yield* resolved(() => runBenchmark(config, task, argv))
      const { benchmarkName, benchmarkSlug, groupBy, iterations, participants } = outcome.config
      assert.deepStrictEqual(
        { benchmarkName, benchmarkSlug, groupBy, iterations, participants },
        {
          benchmarkName: "Other demo",
          benchmarkSlug: "demo-other",
          groupBy: "participant",
          iterations: 2,
          participants: config.participants
        }
      )
      assert.deepStrictEqual(
        outcome.participants.map(({ participant, records }) => [participant, records.map(({ data }) => data)]),
        [["beta", [{ index: 0 }, { index: 1 }]]]
      )
      assert.deepStrictEqual(
        outcome.rows?.map(({ compositeScore, provider }) => [provider, compositeScore]),
        [["beta", 95]]
      )
      assert.deepStrictEqual(yield* tasksIn(here, "demo-other", outcome.runId), [
        ["beta", 0],
        ["beta", 1]
      ])
    })
  )

  it.scopedLive("prints what bench run prints, and results only with --quiet", () =>
    Effect.gen(function* () {
      const here = yield* home
      const { runId } = yield* resolved(() => runBenchmark(config, task))
      assert.match(stdout, /^Demo \(demo\)\n[^]*alpha/)
      assert.match(stderr, /^Running Demo \(demo\): 2 participants, 3 tasks each\n/)
      assert.include(stderr, `Recorded in ${here.path("home/bench.db")} as run ${runId}.`)
      stdout = ""
      stderr = ""
      yield* resolved(() => runBenchmark(config, task, ["--quiet", "--json"]))
      assert.strictEqual(stderr, "")
      assert.match(stdout, /^\{\n {2}"runId": "/)
    })
  )

  it.scopedLive("records nothing in a dry run, and needs no credentials for it", () =>
    Effect.gen(function* () {
      const here = yield* home
      const baseUrl = "https://platform.invalid"
      const outcome = yield* resolved(() => runBenchmark(config, task, ["--dry-run", "--base-url", baseUrl]))
      assert.isUndefined(outcome.runId)
      assert.deepStrictEqual(
        outcome.participants.map(({ records }) => records.length),
        [3, 3]
      )
      assert.isFalse(fs.existsSync(here.path("home/bench.db")))
    })
  )

  it.scopedLive("runs effects, functions that give them, and async functions written in place", () =>
    Effect.gen(function* () {
      yield* home
      const effect = Step.run("work", Task.measure({ from: "effect" }))
      const made = Task.make(({ participant }) => Step.run("work", Task.measure({ from: participant.name })))
      const argv = ["--dry-run", "--provider", "alpha", "--iterations", "1"]
      const dataOf = (outcome: Awaited<ReturnType<typeof runBenchmark>>) =>
        outcome.participants.flatMap(({ records }) => records.map(({ steps }) => steps?.map(({ data }) => data)))
      assert.deepStrictEqual(dataOf(yield* resolved(() => runBenchmark(config, effect, argv))), [[{ from: "effect" }]])
      assert.deepStrictEqual(dataOf(yield* resolved(() => runBenchmark(config, made, argv))), [[{ from: "alpha" }]])
      const inPlace = () =>
        runBenchmark(
          config,
          async ({ measure, participant, step }) => {
            const found = await step("work", async () => participant.name)
            await step("more", () => measure({ from: found.toUpperCase() }))
          },
          argv
        )
      assert.deepStrictEqual(dataOf(yield* resolved(inPlace)), [[undefined, { from: "ALPHA" }]])
    })
  )

  it.scopedLive("counts tasks that fail as results, and leaves the exit code alone", () =>
    Effect.gen(function* () {
      yield* home
      const failing = () => Promise.reject(new Error("broken"))
      const outcome = yield* resolved(() => runBenchmark(config, failing, ["--dry-run"]))
      assert.deepStrictEqual(
        outcome.participants.map(({ errorCount, successCount }) => [successCount, errorCount]),
        [
          [0, 3],
          [0, 3]
        ]
      )
      assert.include(stderr, "No task succeeded.\n")
      assert.isUndefined(process.exitCode)
    })
  )

  it.scopedLive("rejects with everything that is wrong with a config, what is wrong with its scoring as one", () =>
    Effect.gen(function* () {
      yield* home
      const metric = { key: "", ceiling: -1, weights: { median: 1, p95: 0, p99: 0 } }
      const faulty = { ...config, benchmarkName: "", scoring: { metrics: [metric] } }
      const error = yield* rejected(() => runBenchmark(faulty, task))
      assert.instanceOf(error, BenchmarkConfigError)
      assert.deepStrictEqual(error.issues, [
        { field: "benchmarkName", message: "is required" },
        { field: "scoring", message: "scoring.metrics[0].key must be a non-empty string" }
      ])
    })
  )

  it.scopedLive("rejects when no participant can run, and when flags cannot be followed", () =>
    Effect.gen(function* () {
      yield* home
      const gated = { ...config, participants: [{ name: "alpha", requiredEnvVars: ["RUNNING_TEST_KEY"] }] }
      const error = yield* rejected(() => runBenchmark(gated, task))
      assert.instanceOf(error, NoAvailableParticipantsError)
      const refusals = [
        [["--columns", "2", "--bogus"], "Unknown flag(s): --columns, --bogus"],
        [["stray"], "Unknown flag(s): stray"],
        [["--iterations", "0"], '--iterations expects an integer >= 1 (got "0")'],
        [["--run-key", "--dry-run"], "--run-key expects a value"],
        [["--provider", "gamma"], "Unknown participant(s): gamma. Available: alpha, beta"],
        [["--shape", "third"], 'Unknown --shape "third". Known shapes: other.'],
        [["--check"], "--check runs nothing, so has no outcome: use bench check FILE"]
      ] as const
      for (const [argv, message] of refusals) {
        assert.strictEqual(messageOf(yield* rejected(() => runBenchmark(config, task, argv))), message)
      }
      assert.deepStrictEqual([stdout, stderr], ["", ""])
    })
  )

  it.scopedLive("records on the platform that options name, whatever flags and environment say", () =>
    Effect.gen(function* () {
      const here = yield* home
      const { options, store } = yield* elsewhere
      vi.stubEnv("BENCHMARKS_PLATFORM_URL", "https://platform.invalid")
      vi.stubEnv("BENCHMARKS_PLATFORM_API_KEY", "bp_test_of_the_environment")
      const argv = ["--base-url", "https://other.invalid", "--api-key", "bp_test_of_the_flags"]
      const { runId } = yield* resolved(() => runBenchmark(config, task, argv, options))
      const tasks = yield* store.iterations({ benchmark: "demo", run: runId ?? "" }, {})
      assert.lengthOf(tasks, 6)
      assert.isFalse(fs.existsSync(here.path("home/bench.db")))
      assert.notMatch(stdout + stderr, /bp_test_/)
    })
  )

  it.scopedLive("rejects with an AuthError when the platform does not take the key, or it cannot be used", () =>
    Effect.gen(function* () {
      yield* home
      const { host } = yield* elsewhere
      const refused = { baseUrl: host.baseUrl, apiKey: "bp_test_unknown" }
      const error = yield* rejected(() => runBenchmark(config, task, [], refused))
      assert.instanceOf(error, AuthError)
      assert.include(error.message, "Not signed in: ")
      assert.notMatch(error.message, /bp_test_/)
      const unsafe = { ...refused, baseUrl: "http://platform.invalid" }
      const unusable = yield* rejected(() => runBenchmark(config, task, [], unsafe))
      assert.instanceOf(unusable, AuthError)
      assert.include(unusable.message, "over https only")
    })
  )

  it.scopedLive("rejects with a BenchmarkApiError when the platform refuses", () =>
    Effect.gen(function* () {
      yield* home
      const { host, options } = yield* elsewhere
      host.misbehave(({ path }) =>
        path.endsWith("/runs") ? { fault: "answer", status: 404, body: '{"error":"gone"}' } : "normal"
      )
      const error = yield* rejected(() => runBenchmark(config, task, [], options))
      assert.instanceOf(error, BenchmarkApiError)
      assert.strictEqual(error.status, 404)
      assert.deepStrictEqual(error.body, { error: "gone" })
    })
  )

  it.scopedLive("ends when its signal is aborted, and keeps what was measured", () =>
    Effect.gen(function* () {
      const here = yield* home
      const controller = new AbortController()
      const hanging = defineTask(async ({ signal, taskIndex }) => {
        if (taskIndex === 0) return
        const ended = new Promise((resolve) => signal.addEventListener("abort", resolve))
        controller.abort()
        await ended
      })
      const options = { signal: controller.signal }
      const error = yield* rejected(() => runBenchmark(config, hanging, ["--provider", "alpha"], options))
      assert.strictEqual(error instanceof DOMException && error.name, "AbortError")
      const [, runId] = /What was measured is in run (\S+)\.\n/.exec(stderr) ?? []
      assert.deepStrictEqual(yield* tasksIn(here, "demo", runId), [
        ["alpha", 0],
        ["alpha", 1]
      ])
    })
  )

  it.scopedLive("requires a task", () =>
    Effect.gen(function* () {
      yield* home
      const error = yield* rejected(() => Reflect.apply(runBenchmark, undefined, [config, "task"]))
      assert.instanceOf(error, TypeError)
      assert.strictEqual(error.message, "runBenchmark requires a task: an async function or an effect.")
    })
  )
})

describe("runBenchmarkFile", () => {
  it.scopedLive("runs what a file exports, with flags of the file's own", () =>
    Effect.gen(function* () {
      const here = yield* home
      const file = here.writeBench("own.mjs", { benchmarkSlug: "own", customCliFlags: ["--rows"], iterations: 2 })
      const outcome = yield* resolved(() => runBenchmarkFile(here.path(file), ["--rows", "5", "--iterations", "1"]))
      assert.deepStrictEqual(yield* tasksIn(here, "own", outcome.runId), [["alpha", 0]])
      assert.strictEqual(
        messageOf(yield* rejected(() => runBenchmarkFile(here.path(file), ["--columns"]))),
        "Unknown flag(s): --columns"
      )
    })
  )

  it.scopedLive("rejects when there is no such file, or nothing to run in it", () =>
    Effect.gen(function* () {
      const here = yield* home
      const missing = here.path("missing.mjs")
      assert.include(messageOf(yield* rejected(() => runBenchmarkFile(missing))), `There is no file ${missing}.`)
      const empty = here.path(here.write("empty.mjs", "export const other = 1\n"))
      assert.include(
        messageOf(yield* rejected(() => runBenchmarkFile(empty))),
        `${empty} exports neither a config nor a task.`
      )
    })
  )
})

describe("runBenchmarkWorker", () => {
  const planned = Effect.gen(function* () {
    yield* home
    const { host, options, store } = yield* elsewhere
    const ref = yield* Effect.provideService(createRun({ alpha: 5 }, 2), Platform, store)
    return { host, options, store, ref }
  })

  it.scopedLive("takes the next worker of a run, until none is left", () =>
    Effect.gen(function* () {
      const { options, ref, store } = yield* planned
      const worker = { runId: ref.run, participant: "alpha", ...options }
      const first = yield* resolved(() => runBenchmarkWorker(config, task, worker))
      const second = yield* resolved(() => runBenchmarkWorker(config, task, { ...worker, quiet: true }))
      assert.deepStrictEqual(
        [first, second].map((taken) => [
          taken?.runId,
          taken?.worker.workerIndex,
          taken?.participants.map(({ participant, records }) => [participant, records.map((task) => task.taskIndex)])
        ]),
        [
          [ref.run, 0, [["alpha", [0, 1, 2]]]],
          [ref.run, 1, [["alpha", [3, 4]]]]
        ]
      )
      assert.lengthOf(yield* store.iterations(ref, {}), 5)
      assert.strictEqual((yield* store.getRun(ref)).status, "completed")
      assert.isNull(yield* resolved(() => runBenchmarkWorker(config, task, worker)))
    })
  )

  it.scopedLive("takes the flags of bench worker instead of options", () =>
    Effect.gen(function* () {
      const { options, ref } = yield* planned
      const argv = ["--run", ref.run.slice(0, 8), "--participant", "alpha", "--concurrency", "2", "--quiet"]
      const taken = yield* resolved(() => runBenchmarkWorker(config, task, argv, options))
      assert.strictEqual(taken?.worker.concurrency, 2)
      assert.deepStrictEqual([stdout, stderr], ["", ""])
    })
  )

  it.scopedLive("rejects what does not name a worker, and a run that does not exist", () =>
    Effect.gen(function* () {
      const { options, ref } = yield* planned
      const refusals = [
        [["--participant", "alpha"], /^--run is missing/],
        [["--run", ref.run], /^--participant is missing/],
        [["--run", ref.run, "--participant", "alpha", "--forever"], /^--forever takes one worker after another/],
        [["--run", "no-such-run", "--participant", "alpha"], /^No run "no-such-run"/]
      ] as const
      for (const [argv, message] of refusals) {
        const error = yield* rejected(() => runBenchmarkWorker(config, task, argv, options))
        assert.match(messageOf(error), message)
      }
    })
  )
})

describe("run", () => {
  it.scopedLive("gives the exit code of a command line", () =>
    Effect.gen(function* () {
      const here = yield* home
      const file = here.path(here.writeBench("own.mjs", { benchmarkSlug: "own" }))
      assert.strictEqual(yield* resolved(() => run(["run", file, "--quiet"])), 0)
      assert.strictEqual(yield* resolved(() => run(["runs", "list", "--json"])), 0)
      assert.include(stdout, '"benchmarkSlug": "own"')
      assert.strictEqual(yield* resolved(() => run(["walk"])), 1)
      assert.include(stderr, 'Unknown command "walk".')
    })
  )

  it.scopedLive("ends with 130 at the first SIGINT, with what was measured stored, and listens no longer", () =>
    Effect.gen(function* () {
      const here = yield* home
      const before = process.listenerCount("SIGINT")
      const file = here.writeBench(
        "hangs.mjs",
        { benchmarkSlug: "hangs", iterations: 2 },
        `async ({ taskIndex }) => {
          if (taskIndex === 0) return
          process.emit("SIGINT")
          await new Promise(() => {})
        }`
      )
      assert.strictEqual(yield* resolved(() => run(["run", here.path(file)])), 130)
      const [, runId] = /Interrupted after \d tasks? of 2\. What was measured is in run (\S+)\.\n/.exec(stderr) ?? []
      assert.deepInclude(yield* tasksIn(here, "hangs", runId), ["alpha", 0])
      assert.strictEqual(process.listenerCount("SIGINT"), before)
    })
  )
})
