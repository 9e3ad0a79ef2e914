import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import { Platform, RunSummary } from "../../src/Platform.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import type { Environment, Project, Result } from "../support/bench.js"
import { project } from "../support/bench.js"
import { always, answers, heldOf, isTo, range } from "../support/faults.js"
import type { Misbehaviour, PlatformHost } from "../support/platformHost.js"
import * as Host from "../support/platformHost.js"

const { apiKey } = Host

/** Several processes have to start, perhaps on a busy machine. */
const patience = 180_000

const wrongKey = "bp_test_fedcba9876543210"

interface Remote {
  readonly here: Project
  readonly host: PlatformHost
  readonly store: Platform["Type"]
  /** Says with flags where the platform is, and who asks. */
  readonly flags: ReadonlyArray<string>
  /** Says the same in the environment. */
  readonly env: Environment
}

/** A project, and a platform elsewhere. */
const remote = (misbehaviour?: Misbehaviour) =>
  Effect.gen(function* () {
    const here = yield* project
    const store = Context.get(yield* Layer.build(SqlPlatform.layerMemory), Platform)
    const host = yield* Host.make({ platform: store, misbehaviour })
    const made: Remote = {
      here,
      host,
      store,
      flags: ["--base-url", host.baseUrl, "--api-key", apiKey],
      env: { HOME: here.folder, BENCHMARKS_PLATFORM_URL: host.baseUrl, BENCHMARKS_PLATFORM_API_KEY: apiKey }
    }
    return made
  })

const all = ({ stderr, stdout }: Result) => stdout + stderr

const assertNoSecret = (result: Result): void => {
  assert.notMatch(all(result), /bp_test_|0123456789|fedcba/)
}

const newestRun = ({ store }: Remote) =>
  Effect.map(store.listAllRuns({}), ([run]) => ({ benchmark: run?.benchmarkSlug ?? "", run: run?.id ?? "" }))

/** That the platform has each of so many tasks of its newest run, each stored once, and that its workers are completed. */
const assertDelivered = (where: Remote, tasks: number) =>
  Effect.gen(function* () {
    const ref = yield* newestRun(where)
    const held = yield* heldOf(where.store, ref)
    assert.deepStrictEqual(held.tasks, range(tasks))
    assert.isTrue(held.workers.every((status) => status === "completed"))
    const { items } = yield* where.store.runImports(ref)
    assert.strictEqual(
      items.reduce((sum, { eventCount }) => sum + eventCount, 0),
      tasks
    )
    return held
  })

/** The same of a run that is completed. */
const assertCompleted = (where: Remote, tasks: number) =>
  Effect.tap(assertDelivered(where, tasks), ({ run }) => assert.strictEqual(run, "completed"))

const scoring = { metrics: [{ key: "index", unit: "ms", ceiling: 100, weights: { median: 1, p95: 0, p99: 0 } }] }

/** Measures its index, and writes it to the log. */
const logging = `async ({ log, measure, taskIndex }) => {
  log("this is task " + taskIndex)
  measure({ index: taskIndex + Number(process.env.OFFSET ?? 0) })
}`

describe("a platform elsewhere", () => {
  it.scopedLive(
    "has what a run records there, and shows it to every command that reads",
    () =>
      Effect.gen(function* () {
        const where = yield* remote()
        const { flags, here, host } = where
        const file = here.writeBench("bench.mjs", { iterations: 5, scoring }, logging)
        const ran = yield* here.bench(["run", file, ...flags], { HOME: here.folder })
        assert.strictEqual(ran.code, 0, ran.stderr)
        const { run } = yield* newestRun(where)
        assert.include(
          ran.stderr,
          `\nRecorded in ${host.baseUrl} as run ${run}.\n` +
            `View at: ${host.baseUrl}/local/benchmarks/bench/runs/${run}\n` +
            `Show it again: bench results bench --run ${run.slice(0, 8)}\n`
        )
        assert.isFalse(fs.existsSync(here.path(".bench/bench.db")))
        yield* assertCompleted(where, 5)

        const read = (...args: ReadonlyArray<string>) => here.call([...args, ...flags])
        const results = yield* read("results", "bench")
        assert.match(results.stdout, /\n1 {2}alpha +5 +100 % /)
        assert.include(results.stdout, `Run ${run}, completed, `)
        const runs = yield* read("runs", "list")
        assert.include(runs.stdout, run)
        const iterations = yield* read("iterations", "--json")
        assert.deepStrictEqual(
          JSON.parse(iterations.stdout).tasks.map(({ taskIndex }: { readonly taskIndex: number }) => taskIndex),
          range(5)
        )
        const logs = yield* read("logs")
        assert.include(logs.stdout, "this is task 4")
        const artifacts = yield* read("artifacts", "list", "--json")
        const kinds = JSON.parse(artifacts.stdout).items.map(({ kind }: { readonly kind: string }) => kind)
        assert.deepStrictEqual(kinds.sort(), ["coordinator.log", "system-metrics"])
        const exported = yield* read("export", "--out", here.path("exported.csv"))
        assert.strictEqual(fs.readFileSync(here.path("exported.csv"), "utf8").trimEnd().split("\n").length, 6)
        for (const result of [ran, results, runs, iterations, logs, artifacts, exported]) {
          assert.strictEqual(result.code, 0, all(result))
          assertNoSecret(result)
        }
      }),
    patience
  )

  it.scopedLive("is found by flags first, then by the token, then by the key", () =>
    Effect.gen(function* () {
      const { here, host } = yield* remote()
      const url = { HOME: here.folder, BENCHMARKS_PLATFORM_URL: host.baseUrl }
      const dead = "http://127.0.0.1:9"
      const token = "BENCHMARKS_PLATFORM_TOKEN"
      const key = "BENCHMARKS_PLATFORM_API_KEY"
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, Environment, number]> = [
        [[], { ...url, [key]: apiKey }, 0],
        [[], { ...url, [token]: apiKey }, 0],
        [[], { ...url, [token]: apiKey, [key]: wrongKey }, 0],
        [[], { ...url, [token]: wrongKey, [key]: apiKey }, 2],
        [["--api-key", apiKey], { ...url, [token]: wrongKey, [key]: wrongKey }, 0],
        [["--api-key", wrongKey], { ...url, [token]: apiKey, [key]: apiKey }, 2],
        [["--base-url", host.baseUrl], { ...url, BENCHMARKS_PLATFORM_URL: dead, [key]: apiKey }, 0],
        [["--base-url", dead], { ...url, [key]: apiKey }, 1],
        [["--base-url", host.baseUrl], { HOME: here.folder }, 2]
      ]
      for (const [flags, env, code] of cases) {
        const result = yield* here.call(["runs", "list", ...flags], env)
        assert.strictEqual(result.code, code, `${flags.join(" ")} ${Object.keys(env).join(" ")}: ${all(result)}`)
        if (code === 0) assert.strictEqual(result.stdout, "No runs.\n")
        assertNoSecret(result)
      }
    })
  )

  it.scopedLive("is left alone with --local, whatever the environment says", () =>
    Effect.gen(function* () {
      const { env, here, host } = yield* remote()
      const file = here.writeBench("bench.mjs", { iterations: 2 })
      const ran = yield* here.call(["run", file, "--local"], env)
      assert.strictEqual(ran.code, 0, ran.stderr)
      assert.include(ran.stderr, `Recorded in ${here.path(".bench/bench.db")} as run `)
      const results = yield* here.call(["results", "bench", "--local"], env)
      assert.match(results.stdout, /\nRun \S+, completed, /)
      assert.deepStrictEqual(host.requests, [])
    })
  )

  it.scopedLive(
    "refuses a wrong key: exit code 2, with advice, nothing recorded and no secret said",
    () =>
      Effect.gen(function* () {
        const where = yield* remote()
        const { here, host } = where
        const file = here.writeBench("bench.mjs", { iterations: 2 }, `() => console.error("ran")`)
        const flags = ["--base-url", host.baseUrl, "--api-key", wrongKey]
        const advice =
          "Not signed in: Invalid API key. Sign in with `bench auth login`, or pass a key in BENCHMARKS_PLATFORM_API_KEY or --api-key.\n"
        const ran = yield* here.bench(["run", file, ...flags], { HOME: here.folder })
        assert.deepStrictEqual([ran.code, ran.stdout, ran.stderr], [2, "", advice])
        assert.deepStrictEqual(yield* where.store.listAllRuns({}), [])
        assert.isFalse(fs.existsSync(here.path(".bench/bench.db")))
        for (const args of [["results", "bench"], ["runs", "list"], ["export"]]) {
          const result = yield* here.call([...args, ...flags])
          assert.deepStrictEqual([result.code, result.stdout, result.stderr], [2, "", advice])
        }
        assertNoSecret(ran)
      }),
    patience
  )

  it.scopedLive("that takes the key no more in the middle of a run: exit code 2, and push delivers later", () =>
    Effect.gen(function* () {
      const where = yield* remote(always(answers(401), "/events"))
      const { env, flags, here, host } = where
      const file = here.writeBench("bench.mjs", { iterations: 5 })
      const ran = yield* here.call(["run", file, ...flags])
      assert.deepStrictEqual([ran.code, ran.stdout], [2, ""])
      const { run } = yield* newestRun(where)
      assert.include(
        ran.stderr,
        `Failed to flush task results; these wait in ${here.path(".bench/spool")} and can be sent again: bench push ${run}\n` +
          "  - alpha: 5 record(s): Not signed in: fault. Sign in with `bench auth login`"
      )
      assertNoSecret(ran)
      const refused = yield* here.call(["push"], env)
      assert.strictEqual(refused.code, 2)
      assert.include(refused.stdout, `Not delivered: 5 records of alpha (run ${run}).`)
      assertNoSecret(refused)
      host.misbehave(() => "normal")
      const pushed = yield* here.call(["push", run.slice(0, 8)], env)
      assert.deepStrictEqual(
        [pushed.code, pushed.stdout],
        [0, `Delivered 5 records of alpha (run ${run}) to ${host.baseUrl}; its worker is completed.\n`]
      )
      yield* assertCompleted(where, 5)
    })
  )

  it.scopedLive("is what bench check asks whether it answers", () =>
    Effect.gen(function* () {
      const { flags, here, host } = yield* remote()
      const file = here.writeBench("bench.mjs", {})
      const check = (...args: ReadonlyArray<string>) =>
        Effect.map(here.call(["check", file, ...args]), (result) => {
          assertNoSecret(result)
          return [result.code, JSON.parse(result.stdout).apiOk, result.stderr]
        })
      assert.deepStrictEqual(yield* check(...flags), [0, true, ""])
      const dead = yield* check("--base-url", "http://127.0.0.1:9", "--api-key", apiKey)
      assert.deepStrictEqual(dead.slice(0, 2), [1, false])
      assert.match(String(dead[2]), /^listBenchmarks: cannot reach 127\.0\.0\.1:9 \(.+\)\n$/)
      const refused = yield* check("--base-url", host.baseUrl, "--api-key", wrongKey)
      assert.deepStrictEqual(refused.slice(0, 2), [1, false])
      assert.match(String(refused[2]), /^Not signed in: Invalid API key\./)
    })
  )
})

describe("workers of one run in several processes", () => {
  it.scopedLive(
    "share its tasks by their key; one too many has nothing to do",
    () =>
      Effect.gen(function* () {
        const where = yield* remote()
        const { env, flags, here } = where
        const file = here.writeBench("bench.mjs", { iterations: 31, scoring }, logging)
        const args = ["run", file, "--run-key", "nightly", "--worker-pool", "3", "--json", ...flags]
        const three = yield* Effect.all(
          [0, 0, 1000].map((offset) => here.bench(args, { HOME: here.folder, OFFSET: String(offset) })),
          { concurrency: 3 }
        )
        const fourth = yield* here.call(args, env)
        const counts = [...three, fourth].map((result) => {
          assert.strictEqual(result.code, 0, all(result))
          return JSON.parse(result.stdout).participants[0].taskCount
        })
        assert.deepStrictEqual(counts.slice(0, 3).sort(), [10, 10, 11])
        assert.strictEqual(counts[3], 0)
        assert.include(fourth.stderr, `no worker of participant "alpha" is left to claim in this run`)
        const { ref, workers } = yield* assertCompleted(where, 31)
        assert.deepStrictEqual(workers, ["completed", "completed", "completed"])

        const { stdout } = yield* here.call(["results", "bench", "--json", ...flags])
        const { summary } = Schema.decodeUnknownSync(Schema.parseJson(Schema.Struct({ summary: RunSummary })))(stdout)
        const [row] = summary.results
        // The middle of 0 to 9 or 10 twice and of 1000 and more: that of no process alone, of which each had 10 or 11 tasks.
        assert.deepStrictEqual([summary.results.length, row?.metrics[0]?.median, row?.successRate], [1, 7, 1])
        assert.deepStrictEqual(yield* where.store.getSummary(ref), summary)
      }),
    patience
  )

  it.scopedLive(
    "are taken by bench worker, by each process another one, and with --forever until the run has ended",
    () =>
      Effect.gen(function* () {
        const where = yield* remote()
        const { env, flags, here } = where
        const gated = here.writeBench(
          "gated.mjs",
          { iterations: 12 },
          `async () => {
            if (process.env.GATED === undefined) return
            console.error("waiting")
            const { existsSync } = await import("node:fs")
            while (!existsSync("gate")) await new Promise((resolve) => setTimeout(resolve, 20))
          }`
        )
        const first = here.start(["run", gated, "--run-key", "shared", "--worker-pool", "4"], { ...env, GATED: "1" })
        yield* first.says("waiting")
        const { run } = yield* newestRun(where)
        const worker = ["worker", gated, "--run", run, "--participant", "alpha"]
        const [once, forever] = [here.start([...worker, "--json"], env), here.start([...worker, "--forever"], env)]
        const taken = yield* once.ended
        assert.strictEqual(taken.code, 0, taken.stderr)
        const { workers } = JSON.parse(taken.stdout)
        assert.strictEqual(workers.length, 1)
        const others = [1, 2, 3].filter((index) => index !== workers[0].workerIndex)
        for (const index of others) {
          const range = `tasks ${index * 3} to ${index * 3 + 2}`
          yield* forever.says(`Worker ${index + 1} of alpha (${range}, attempt 1): 3 tasks, 0 failed.`)
        }

        const ending = yield* Effect.fork(forever.ended)
        const late = yield* here.call([...worker, ...flags])
        assert.strictEqual(late.code, 0)
        assert.include(late.stderr, `No worker of participant "alpha" is left to claim in run ${run}.`)
        assert.strictEqual((yield* Fiber.poll(ending))._tag, "None")
        here.write("gate", "")
        assert.strictEqual((yield* first.ended).code, 0)
        const { code, stderr } = yield* Fiber.join(ending)
        assert.strictEqual(code, 0, stderr)
        yield* assertCompleted(where, 12)
      }),
    patience
  )
})

describe("an interrupt while results are delivered", () => {
  const task = "async () => {}"

  it.scopedLive(
    "does not keep them from being delivered once the platform is well",
    () =>
      Effect.gen(function* () {
        let ill = true
        const where = yield* remote((request) =>
          ill && isTo(request, "POST", "/events") ? answers(503, { "retry-after": "1" }) : "normal"
        )
        const { env, here, host } = where
        const file = here.writeBench("bench.mjs", { iterations: 5 }, task)
        const running = here.start(["run", file], env)
        yield* running.says("alpha: 5/5 done")
        yield* untilOne(host, "/events")
        yield* running.kill("SIGINT")
        yield* Effect.sleep("100 millis")
        ill = false
        const { code, stderr } = yield* running.ended
        assert.strictEqual(code, 130, stderr)
        yield* assertDelivered(where, 5)
        const { stdout } = yield* here.call(["push", "--list"], env)
        assert.strictEqual(stdout, "Nothing is waiting to be delivered.\n")
      }),
    patience
  )

  it.scopedLive(
    "twice ends at once, and push delivers them",
    () =>
      Effect.gen(function* () {
        const where = yield* remote(always({ fault: "silence" }, "/events"))
        const { env, here, host } = where
        const file = here.writeBench("bench.mjs", { iterations: 5 }, task)
        const running = here.start(["run", file], env)
        yield* untilOne(host, "/events")
        yield* running.kill("SIGINT")
        yield* Effect.sleep("100 millis")
        yield* running.kill("SIGINT")
        const { code, stderr } = yield* running.ended
        assert.strictEqual(code, 130, stderr)
        host.misbehave(() => "normal")
        const { run } = yield* newestRun(where)
        const pushed = yield* here.call(["push"], env)
        assert.deepStrictEqual(
          [pushed.code, pushed.stdout],
          [0, `Delivered 5 records of alpha (run ${run}) to ${host.baseUrl}; its worker is completed.\n`]
        )
        yield* assertCompleted(where, 5)
      }),
    patience
  )
})

/** Waits until a request to a path with this ending has arrived. */
const untilOne = (host: PlatformHost, ending: string) =>
  Effect.repeat(
    Effect.delay(
      Effect.sync(() => host.to(ending).length),
      "10 millis"
    ),
    { until: (count) => count > 0 }
  )
