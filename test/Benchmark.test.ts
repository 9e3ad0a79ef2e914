import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Deferred, Effect, Fiber, Layer } from "effect"
import * as Benchmark from "../src/Benchmark.js"
import type { PlatformError } from "../src/Platform.js"
import { Platform } from "../src/Platform.js"
import type { UndeliveredResults } from "../src/Reporter.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { within } from "./support/engine.js"
import { onlyRun, recorded, recordedOn, stored, unrecorded, workersOf } from "./support/runs.js"

const base = { benchmarkSlug: "bench", benchmarkName: "Bench", participants: [{ name: "alpha" }] }

const two = { ...base, participants: [{ name: "alpha" }, { name: "beta" }] }

describe("outcome", () => {
  it.effect("counts what each participant did", () =>
    Effect.gen(function* () {
      const benchmark = Benchmark.make({
        ...two,
        iterations: 4,
        task: ({ participant, taskIndex }) =>
          Effect.gen(function* () {
            yield* Effect.sleep((taskIndex + 1) * 10)
            yield* Task.log("ran")
            if (participant.name === "beta" && taskIndex > 0) {
              return yield* Effect.fail(
                new Task.TaskError(`no ${taskIndex}`, { code: taskIndex === 3 ? "LATE" : "NO" })
              )
            }
          })
      })
      const outcome = yield* within(1000, Benchmark.run(benchmark))
      const latencyMs = { min: 10, avg: 25, p50: 20, p95: 40, p99: 40, max: 40 }
      assert.deepStrictEqual(
        outcome.participants.map(({ log: _log, ...rest }) => rest),
        [
          {
            participant: "alpha",
            taskCount: 4,
            successCount: 4,
            errorCount: 0,
            latencyMs,
            errors: [],
            records: []
          },
          {
            participant: "beta",
            taskCount: 4,
            successCount: 1,
            errorCount: 3,
            latencyMs,
            errors: [
              { code: "NO", count: 2, message: "no 1" },
              { code: "LATE", count: 1, message: "no 3" }
            ],
            records: []
          }
        ]
      )
      assert.match(outcome.participants[1]?.log.text ?? "", /^\S+ \[task 0\] \[info\] ran\n/)
      assert.isUndefined(outcome.runId)
      assert.isUndefined(outcome.rows)
      assert.deepStrictEqual(outcome.skipped, [])
      assert.deepStrictEqual(outcome.warnings, [])
      assert.strictEqual(outcome.config.benchmarkSlug, "bench")
    }).pipe(Effect.provide(unrecorded))
  )

  it.effect("gives each warning once, and not any number of different ones", () =>
    Effect.gen(function* () {
      const benchmark = Benchmark.make({
        ...base,
        iterations: 300,
        task: ({ taskIndex }) =>
          Step.run(`step ${Math.floor(taskIndex / 2)}`, Effect.void, { concurrency: 1, captureOutput: false })
      })
      const { warnings } = yield* Benchmark.run(benchmark)
      assert.strictEqual(warnings.length, 101)
      assert.strictEqual(new Set(warnings).size, 101)
      assert.match(warnings[99] ?? "", /^step "step 99" option "concurrency" is deprecated/)
      assert.strictEqual(warnings[100], "further warnings are left out")
    }).pipe(Effect.provide(unrecorded))
  )

  it.effect("keeps records where they are asked for", () =>
    Effect.gen(function* () {
      const benchmark = Benchmark.make({
        ...base,
        iterations: 2,
        task: ({ taskIndex }) => Task.measure({ taskIndex })
      })
      const kept = yield* Benchmark.run(benchmark, { keepRecords: true })
      assert.deepStrictEqual(
        kept.participants[0]?.records.map(({ data }) => data),
        [{ taskIndex: 0 }, { taskIndex: 1 }]
      )
    }).pipe(Effect.provide(unrecorded))
  )

  it.effect("shows the statistics of all samples beside the trimmed ones that are scored", () =>
    Effect.gen(function* () {
      const benchmark = Benchmark.make({
        ...base,
        iterations: 100,
        scoring: {
          metrics: [{ key: "waitMs", unit: "ms", ceiling: 200, weights: { median: 0.6, p95: 0.3, p99: 0.1 } }]
        },
        task: ({ taskIndex }) => Task.measure({ waitMs: taskIndex + 1 })
      })
      const outcome = yield* Benchmark.run(benchmark)
      const platform = yield* Platform
      assert.deepStrictEqual(outcome.rows, [
        {
          provider: "alpha",
          dimensions: {},
          metrics: [
            {
              name: "waitMs",
              unit: "ms",
              median: 50.5,
              p95: 91,
              p99: 95,
              raw: { count: 100, min: 1, median: 50.5, p95: 95, p99: 99, max: 100 }
            }
          ],
          compositeScore: 66.45,
          successRate: 1,
          skipped: false
        }
      ])
      const summary = yield* platform.getSummary(yield* onlyRun)
      assert.deepStrictEqual(summary.results, outcome.rows)
      assert.strictEqual(summary.run.platform, process.platform)
    }).pipe(Effect.provide(recorded))
  )
})

describe("what is run", () => {
  it.effect("skips participants that lack environment variables", () =>
    Effect.gen(function* () {
      const benchmark = Benchmark.make({
        ...base,
        participants: [
          { name: "set", requiredEnvVars: ["TOKEN"] },
          { name: "unset", requiredEnvVars: ["NONE", "EMPTY"] }
        ],
        task: Effect.void
      })
      const outcome = yield* Benchmark.run(benchmark)
      assert.deepStrictEqual(
        outcome.participants.map(({ participant }) => participant),
        ["set"]
      )
      assert.deepStrictEqual(
        outcome.skipped.map(({ missing, participant }) => [participant.name, missing]),
        [["unset", ["NONE", "EMPTY"]]]
      )
      const nobody = yield* Effect.flip(Benchmark.run(benchmark, { providers: ["unset"] }))
      assert.strictEqual(nobody._tag, "NoAvailableParticipantsError")
      assert.include(nobody.message, "unset: set NONE, EMPTY")
    }).pipe(
      Effect.withConfigProvider(
        ConfigProvider.fromMap(
          new Map([
            ["TOKEN", "x"],
            ["EMPTY", ""]
          ])
        )
      ),
      Effect.provide(unrecorded)
    )
  )

  it.effect("refuses participants, shapes and configs that do not exist, and records nothing", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const benchmark = Benchmark.make({ ...two, task: Effect.void })
      const provider = yield* Effect.flip(Benchmark.run(benchmark, { providers: ["alpha", "x", "y"] }))
      assert.strictEqual(provider.message, "Unknown participant(s): x, y. Available: alpha, beta")
      const shape = yield* Effect.flip(Benchmark.run(benchmark, { shape: "x" }))
      assert.strictEqual(shape.message, 'Unknown --shape "x": this benchmark declares no shapes.')
      const config = yield* Effect.flip(
        Benchmark.run(Benchmark.fromParts({ benchmarkSlug: "A B", iterations: 0, participants: [] }, Effect.void))
      )
      assert.strictEqual(
        config.message,
        [
          "Invalid benchmark config:",
          '  - benchmarkSlug: needs a lowercase slug (got "A B")',
          "  - benchmarkName: is required",
          "  - participants: must be a non-empty array",
          "  - iterations: must be an integer >= 1 (got 0)",
          "",
          "Fix the fields above and try again."
        ].join("\n")
      )
      assert.deepStrictEqual(yield* platform.listBenchmarks({}), [])
    }).pipe(Effect.provide(recorded))
  )

  it.effect("records a shape under its own slug and name", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const benchmark = Benchmark.make({
        ...base,
        shapes: { quick: { slug: "bench-quick", name: "Quick" } },
        task: Effect.void
      })
      const { config, runId } = yield* Benchmark.run(benchmark, { shape: "quick" })
      const run = yield* platform.getRun({ benchmark: "bench-quick", run: runId ?? "" })
      assert.strictEqual(run.status, "completed")
      assert.strictEqual(config.benchmarkName, "Quick")
      assert.deepStrictEqual(
        (yield* platform.listBenchmarks({})).map(({ name, slug }) => [slug, name]),
        [["bench-quick", "Quick"]]
      )
    }).pipe(Effect.provide(recorded))
  )

  it.effect("puts the phase on each record", () =>
    Effect.gen(function* () {
      const benchmark = Benchmark.make({
        ...base,
        phases: [
          { name: "cold", iterations: 2 },
          { name: "warm", iterations: 3 }
        ],
        task: ({ phase, taskIndex }) =>
          taskIndex === 1 ? Effect.fail(new Error("no")) : Task.measure({ seen: phase, phase: "mine" })
      })
      yield* Benchmark.run(benchmark)
      assert.deepStrictEqual(
        (yield* stored).map(({ data, status }) => [status, data]),
        [
          ["success", { phase: "cold", seen: "cold" }],
          ["error", { phase: "cold", errorMessage: "no" }],
          ["success", { phase: "warm", seen: "warm" }],
          ["success", { phase: "warm", seen: "warm" }],
          ["success", { phase: "warm", seen: "warm" }]
        ]
      )
    }).pipe(Effect.provide(recorded))
  )

  it.effect("runs and stores round by round", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const benchmark = Benchmark.make({
        ...base,
        participants: [{ name: "alpha" }, { name: "beta" }, { name: "gamma" }],
        iterations: 2,
        groupBy: "round",
        task: ({ participant, taskIndex }) => Effect.sync(() => order.push(`${participant.name} ${taskIndex}`))
      })
      const { runId } = yield* Benchmark.run(benchmark)
      assert.deepStrictEqual(order, ["alpha 0", "beta 0", "gamma 0", "alpha 1", "beta 1", "gamma 1"])
      assert.deepStrictEqual(yield* workersOf({ benchmark: "bench", run: runId ?? "" }), [
        ["alpha", "completed 2"],
        ["beta", "completed 2"],
        ["gamma", "completed 2"]
      ])
      assert.lengthOf(yield* stored, 6)
    }).pipe(Effect.provide(recorded))
  )

  it.effect("joins the run that has the key", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const benchmark = Benchmark.make({ ...two, iterations: 2, task: Effect.void })
      const first = yield* Benchmark.run(benchmark, { runKey: "k", providers: ["alpha"] })
      const second = yield* Benchmark.run(benchmark, { runKey: "k", providers: ["beta"] })
      assert.strictEqual(first.runId, second.runId)
      const ref = yield* onlyRun
      assert.deepStrictEqual(yield* workersOf(ref), [
        ["alpha", "completed 2"],
        ["beta", "completed 2"]
      ])
      const run = yield* platform.getRun(ref)
      assert.deepStrictEqual([run.status, run.totalTasks], ["completed", 4])
      const again = yield* Benchmark.run(benchmark, { runKey: "k", providers: ["alpha"] })
      assert.strictEqual(again.participants[0]?.taskCount, 0)
      assert.deepStrictEqual(again.warnings, ['no worker of participant "alpha" is left to claim in this run'])
      assert.lengthOf(yield* stored, 4)
    }).pipe(Effect.provide(recorded))
  )

  it.effect("records nothing where a dry run is asked for", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const benchmark = Benchmark.make({ ...base, iterations: 3, task: Effect.void })
      const byOption = yield* Benchmark.run(benchmark, { noIngest: true })
      const byProject = yield* Benchmark.run(benchmark, { project: { dryRun: true } })
      for (const outcome of [byOption, byProject]) {
        assert.isUndefined(outcome.runId)
        assert.strictEqual(outcome.participants[0]?.successCount, 3)
      }
      assert.deepStrictEqual(yield* platform.listBenchmarks({}), [])
      const overruled = yield* Benchmark.run(benchmark, { noIngest: false, project: { dryRun: true } })
      assert.isDefined(overruled.runId)
    }).pipe(Effect.provide(recorded))
  )
})

class Database extends Context.Tag("test/Database")<Database, { readonly name: string }>() {}

class Clock extends Context.Tag("test/Clock")<Clock, { readonly zone: string }>() {}

describe("layer", () => {
  const layerInto = (events: Array<string>) =>
    Layer.scoped(
      Database,
      Effect.acquireRelease(
        Effect.sync(() => {
          events.push("build")
          return { name: "db" }
        }),
        () => Effect.sync(() => events.push("release"))
      )
    )

  const traced = (events: Array<string>) => (participant: string) =>
    Effect.gen(function* () {
      const { name } = yield* Database
      yield* Effect.addFinalizer(() => Effect.sync(() => events.push(`closed ${participant}`)))
      events.push(`${participant} on ${name}`)
    })

  it.effect("is built before the first task, once, and released after the last worker", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const benchmark = Benchmark.make({
        ...two,
        iterations: 1,
        layer: layerInto(events),
        task: ({ participant }) => traced(events)(participant.name)
      })
      const watched = recordedOn((platform) => ({
        completeWorker: (ref, input) =>
          Effect.zipRight(
            Effect.sync(() => events.push(`completed ${ref.participant}`)),
            platform.completeWorker(ref, input)
          )
      }))
      yield* Effect.provide(Benchmark.run(benchmark), watched)
      assert.deepStrictEqual(events, [
        "build",
        "alpha on db",
        "closed alpha",
        "completed alpha",
        "beta on db",
        "closed beta",
        "completed beta",
        "release"
      ])
    })
  )

  it.effect("takes no time of the first task", () =>
    Effect.gen(function* () {
      const layer = Layer.effect(Database, Effect.delay(Effect.succeed({ name: "slow" }), "1 second"))
      const benchmark = Benchmark.make({ ...base, layer, task: Effect.zipRight(Database, Effect.sleep(5)) })
      const { participants } = yield* within(2000, Benchmark.run(benchmark))
      assert.strictEqual(participants[0]?.latencyMs.max, 5)
    }).pipe(Effect.provide(unrecorded))
  )

  it.effect("is released when every task fails, when the run fails and when it is interrupted", () =>
    Effect.gen(function* () {
      const failing: Array<string> = []
      yield* Benchmark.run(
        Benchmark.make({ ...base, layer: layerInto(failing), task: Effect.zipRight(Database, Effect.fail("no")) })
      )
      assert.deepStrictEqual(failing, ["build", "release"])

      const hook: Array<string> = []
      yield* Effect.flip(
        Benchmark.run(
          Benchmark.make({
            ...base,
            layer: layerInto(hook),
            task: Database,
            onComplete: () => {
              hook.push("hook")
              throw new Error("no")
            }
          })
        )
      )
      assert.deepStrictEqual(hook, ["build", "hook", "release"])

      const interrupted: Array<string> = []
      const running = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        Benchmark.run(
          Benchmark.make({
            ...base,
            layer: layerInto(interrupted),
            task: ({ participant }) =>
              traced(interrupted)(participant.name).pipe(
                Effect.zipRight(Deferred.succeed(running, undefined)),
                Effect.zipRight(Effect.never)
              )
          })
        )
      )
      yield* Deferred.await(running)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(interrupted, ["build", "alpha on db", "closed alpha", "release"])
    }).pipe(Effect.provide(unrecorded))
  )

  it.effect("that cannot be built fails the run and leaves none behind", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const layer = Layer.fail("no database")
      const error = yield* Effect.flip(Benchmark.run(Benchmark.make({ ...base, layer, task: Effect.void })))
      assert.strictEqual(error, "no database")
      assert.deepStrictEqual(yield* platform.listBenchmarks({}), [])
    }).pipe(Effect.provide(recorded))
  )

  it.effect("takes what it needs from the program around the run, and so does the task", () =>
    Effect.gen(function* () {
      const benchmark = Benchmark.make({
        ...base,
        layer: Layer.effect(
          Database,
          Effect.map(Clock, ({ zone }) => ({ name: `db in ${zone}` }))
        ),
        task: Effect.gen(function* () {
          const { name } = yield* Database
          const { zone } = yield* Clock
          yield* Task.measure({ name, zone })
        })
      })
      yield* Effect.provideService(Benchmark.run(benchmark), Clock, { zone: "UTC" })
      assert.deepStrictEqual((yield* stored)[0]?.data, { name: "db in UTC", zone: "UTC" })
    }).pipe(Effect.provide(recorded))
  )
})

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

type ErrorOf<B> = B extends Benchmark.Benchmark<infer E, infer _R> ? E : "not a benchmark"

type NeedsOf<B> = B extends Benchmark.Benchmark<infer _E, infer R> ? R : "not a benchmark"

describe("types", () => {
  const layer = Layer.effect(Database, Effect.fail("no database" as const))
  const needy = Effect.zipRight(Database, Effect.zipRight(Effect.scope, Task.measure({})))

  it("leave what the engine provides out of what a benchmark needs", () => {
    const plain = Benchmark.make({ ...base, task: () => Effect.zipRight(Effect.scope, Task.measure({})) })
    const exact: Equal<NeedsOf<typeof plain>, never> = true
    const outside: Equal<Effect.Effect.Context<ReturnType<typeof Task.measure>>, Task.CurrentTask> = true
    assert.isTrue(exact && outside && Benchmark.isBenchmark(plain))
  })

  it("leave the service of a caller in", () => {
    const needs = Benchmark.make({ ...base, task: needy })
    const inFunction = Benchmark.make({ ...base, task: ({ taskIndex }) => Effect.as(needy, taskIndex) })
    const parts = Benchmark.fromParts(base, needy)
    const exact: Equal<NeedsOf<typeof needs>, Database> = true
    const exactInFunction: Equal<NeedsOf<typeof inFunction>, Database> = true
    const exactInParts: Equal<NeedsOf<typeof parts>, Database> = true
    assert.isTrue(exact && exactInFunction && exactInParts)
    assert.isTrue([needs, inFunction, parts].every(Benchmark.isBenchmark))
  })

  it("take out what the layer provides and add what it needs and fails with", () => {
    const dependent = Layer.effect(
      Database,
      Effect.flatMap(Clock, ({ zone }) =>
        zone === "" ? Effect.fail("no database" as const) : Effect.succeed({ name: zone })
      )
    )
    const provided = Benchmark.make({ ...base, layer: dependent, task: needy })
    const parts = Benchmark.fromParts(base, needy, dependent)
    const needs: Equal<NeedsOf<typeof provided>, Clock> = true
    const fails: Equal<ErrorOf<typeof provided>, "no database"> = true
    const sameInParts: Equal<typeof parts, typeof provided> = true
    assert.isTrue(needs && fails && sameInParts)
    assert.isTrue([provided, parts].every(Benchmark.isBenchmark))
  })

  it("let a run fail only as it says", () => {
    const benchmark = Benchmark.make({ ...base, layer, task: needy })
    type Failure = Effect.Effect.Error<ReturnType<typeof Benchmark.run<ErrorOf<typeof benchmark>, never>>>
    const all: Equal<Failure, "no database" | Benchmark.RunError> = true
    const some: Equal<Extract<Failure, PlatformError | UndeliveredResults>, PlatformError | UndeliveredResults> = true
    assert.isTrue(all && some && Benchmark.isBenchmark(benchmark))
  })
})
