import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Exit, Fiber, Layer, TestClock } from "effect"
import * as Benchmark from "../src/Benchmark.js"
import type { PlanWorkersInput, RunRef } from "../src/Platform.js"
import { Platform } from "../src/Platform.js"
import * as Reporter from "../src/Reporter.js"
import type { RunEvent } from "../src/RunEvent.js"
import { RunListener } from "../src/RunEvent.js"
import * as Spool from "../src/Spool.js"
import * as Task from "../src/Task.js"
import * as Worker from "../src/Worker.js"
import { within } from "./support/engine.js"
import { metadata, openRun } from "./support/reporter.js"
import { platformWith } from "./support/reporting.js"
import { recorded, stored } from "./support/runs.js"

const base = { benchmarkSlug: "bench", benchmarkName: "Bench", participants: [{ name: "alpha" }, { name: "beta" }] }

/** A run of somebody else's, whose workers are planned. */
const plannedRun = (totalTasks: number, input: PlanWorkersInput) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    yield* platform.upsertBenchmark("bench", {})
    const { run } = yield* platform.createRun("bench", { participants: [{ slug: "alpha", totalTasks }] })
    const ref: RunRef = { benchmark: "bench", run: run.id }
    yield* platform.planWorkers({ ...ref, participant: "alpha" }, input)
    return ref
  })

const workers = (ref: RunRef) =>
  Effect.flatMap(Platform, (platform) =>
    Effect.map(platform.listWorkers({ ...ref, participant: "alpha" }), (all) =>
      all.map(({ progressDone, status }) => `${status} ${progressDone}`)
    )
  )

const alphaOf = (ref: RunRef) => ({ run: ref.run, participant: "alpha" })

describe("a worker on its own", () => {
  it.effect("takes the first range that is left, runs it, and completes", () =>
    Effect.gen(function* () {
      const ref = yield* plannedRun(5, { workerCount: 2 })
      const benchmark = Benchmark.make({ ...base, task: ({ taskIndex }) => Task.measure({ taskIndex }) })
      const first = yield* Benchmark.runWorker(benchmark, alphaOf(ref))
      assert.deepStrictEqual(first?.worker, {
        workerIndex: 0,
        attemptNumber: 1,
        taskRange: { start: 0, end: 2, count: 3 },
        concurrency: 1
      })
      assert.deepInclude(first?.participant, { participant: "alpha", taskCount: 3, successCount: 3 })
      assert.deepStrictEqual(yield* workers(ref), ["completed 3", "pending 0"])
      const second = yield* Benchmark.runWorker(benchmark, alphaOf(ref))
      assert.deepStrictEqual(second?.worker.taskRange, { start: 3, end: 4, count: 2 })
      assert.deepStrictEqual(
        (yield* stored).map(({ data, taskIndex }) => [taskIndex, data?.["taskIndex"]]),
        [
          [0, 0],
          [1, 1],
          [2, 2],
          [3, 0],
          [4, 1]
        ]
      )
      assert.strictEqual((yield* (yield* Platform).getRun(ref)).status, "completed")
    }).pipe(Effect.provide(recorded))
  )

  it.effect("shares the benchmark's layer with those after it, and is announced only when it is claimed", () =>
    Effect.gen(function* () {
      const ref = yield* plannedRun(5, { workerCount: 2 })
      const order: Array<string> = []
      const note = (what: string) => Effect.sync(() => order.push(what))
      const layer = Layer.scopedDiscard(Effect.acquireRelease(note("up"), () => note("down")))
      const benchmark = Benchmark.make({ ...base, layer, task: Effect.void })
      let idle = 0
      yield* Benchmark.runWorkers(benchmark, alphaOf(ref), (outcome) =>
        Effect.as(
          note(`took ${outcome?.worker.taskRange.count ?? "none"}, counted ${outcome?.participant.taskCount ?? 0}`),
          outcome !== undefined || ++idle < 3
        )
      ).pipe(
        Effect.provideService(RunListener, (event) => {
          if (event._tag === "RunStarted") order.push("started")
        })
      )
      assert.deepStrictEqual(order, [
        "up",
        "started",
        "took 3, counted 3",
        "started",
        "took 2, counted 2",
        "took none, counted 0",
        "took none, counted 0",
        "took none, counted 0",
        "down"
      ])
    }).pipe(Effect.provide(recorded))
  )

  it.effect("is undefined when there is nothing left to take", () =>
    Effect.gen(function* () {
      const ref = yield* plannedRun(1, { workerCount: 1 })
      const benchmark = Benchmark.make({ ...base, task: Effect.void })
      yield* Benchmark.runWorker(benchmark, alphaOf(ref))
      const events: Array<RunEvent> = []
      const nothing = yield* Benchmark.runWorker(Benchmark.make({ ...base, task: Effect.die("must not run") }), {
        ...alphaOf(ref),
        onResult: () => assert.fail("there is no result")
      }).pipe(Effect.provideService(RunListener, (event) => void events.push(event)))
      assert.isUndefined(nothing)
      assert.deepStrictEqual(events, [])
    }).pipe(Effect.provide(recorded))
  )

  it.effect("fails for a run or a participant that does not exist", () =>
    Effect.gen(function* () {
      const ref = yield* plannedRun(1, {})
      const benchmark = Benchmark.make({ ...base, task: Effect.void })
      const failure = (options: Benchmark.RunWorkerOptions) => Effect.flip(Benchmark.runWorker(benchmark, options))
      const id = "00000000-0000-4000-8000-000000000000"
      assert.deepInclude(yield* failure({ run: id, participant: "alpha" }), {
        _tag: "ResourceNotFound",
        resource: "run"
      })
      assert.deepInclude(yield* failure({ run: ref.run, participant: "beta" }), {
        _tag: "ResourceNotFound",
        resource: "participant"
      })
      assert.deepInclude(yield* failure({ run: ref.run, participant: "gamma" }), {
        _tag: "UnknownParticipantsError",
        message: "Unknown participant(s): gamma. Available: alpha, beta"
      })
    }).pipe(Effect.provide(recorded))
  )

  it.effect("does not claim anything where the participant lacks its environment", () =>
    Effect.gen(function* () {
      const ref = yield* plannedRun(1, {})
      const participants = [{ name: "alpha", requiredEnvVars: ["ALPHA_KEY"] }]
      const benchmark = Benchmark.make({ ...base, participants, task: Effect.void })
      const error = yield* Effect.flip(Benchmark.runWorker(benchmark, alphaOf(ref)))
      assert.strictEqual(error._tag, "NoAvailableParticipantsError")
      assert.include(error.message, "alpha: set ALPHA_KEY")
      assert.deepStrictEqual(yield* workers(ref), ["pending 0"])
    }).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map())), Effect.provide(recorded))
  )

  it.effect("knows the phases of all tasks of the participant", () =>
    Effect.gen(function* () {
      const ref = yield* plannedRun(6, { workerCount: 2 })
      const phases = [
        { name: "cold", iterations: 2 },
        { name: "warm", iterations: 4 }
      ]
      const benchmark = Benchmark.make({ ...base, phases, task: ({ phase }) => Task.measure({ seen: phase }) })
      yield* Benchmark.runWorker(benchmark, alphaOf(ref))
      yield* Benchmark.runWorker(benchmark, alphaOf(ref))
      assert.deepStrictEqual(
        (yield* stored).map(({ data }) => data),
        [..."ccwwww"].map((letter) => (letter === "c" ? "cold" : "warm")).map((phase) => ({ phase, seen: phase }))
      )
    }).pipe(Effect.provide(recorded))
  )

  const concurrencies: ReadonlyArray<
    readonly [string, PlanWorkersInput, { readonly concurrency?: number }, number | undefined, number]
  > = [
    ["what it is told", { targetConcurrency: 6 }, { concurrency: 2 }, 4, 2],
    ["else what the platform assigns", { targetConcurrency: 6 }, {}, 4, 6],
    ["else what the config says", { workerCount: 1 }, {}, 4, 4],
    ["else one", { workerCount: 1 }, {}, undefined, 1]
  ]

  for (const [name, planned, option, concurrency, expected] of concurrencies) {
    it.effect(`runs as many tasks at once as ${name}`, () =>
      Effect.gen(function* () {
        const ref = yield* plannedRun(6, planned)
        let [running, most] = [0, 0]
        const task = Effect.acquireUseRelease(
          Effect.sync(() => (most = Math.max(most, ++running))),
          () => Effect.yieldNow(),
          () => Effect.sync(() => running--)
        )
        const benchmark = Benchmark.make({ ...base, ...(concurrency === undefined ? {} : { concurrency }), task })
        const outcome = yield* Benchmark.runWorker(benchmark, { ...alphaOf(ref), ...option })
        assert.strictEqual(most, expected)
        assert.strictEqual(outcome?.worker.concurrency, expected)
        assert.strictEqual(outcome?.participant.taskCount, 6)
      }).pipe(Effect.provide(recorded))
    )
  }

  it.effect("tells of each result, and finishes when all are stored and it is still open", () =>
    Effect.gen(function* () {
      const ref = yield* plannedRun(3, {})
      const platform = yield* Platform
      const seen: Array<unknown> = []
      const onFinish = Effect.gen(function* () {
        const tasks = yield* Effect.orDie(platform.iterations(ref, {}))
        const [worker] = yield* Effect.orDie(platform.listWorkers({ ...ref, participant: "alpha" }))
        seen.push(`${tasks.length} stored, ${worker?.status}`)
      })
      const task = ({ taskIndex }: Task.TaskContext) => Effect.sync(() => void seen.push(`task ${taskIndex}`))
      yield* Benchmark.runWorker(Benchmark.make({ ...base, task }), {
        ...alphaOf(ref),
        onResult: ({ taskIndex }) => void seen.push(`result ${taskIndex}`),
        onFinish
      })
      assert.deepStrictEqual(seen, [
        "task 0",
        "result 0",
        "task 1",
        "result 1",
        "task 2",
        "result 2",
        "3 stored, running"
      ])
      assert.deepStrictEqual(yield* workers(ref), ["completed 3"])
    }).pipe(Effect.provide(recorded))
  )

  it.effect("keeps a record whose listener throws, and fails", () =>
    Effect.gen(function* () {
      const ref = yield* plannedRun(3, {})
      const benchmark = Benchmark.make({ ...base, task: Effect.void })
      const exit = yield* Effect.exit(
        Benchmark.runWorker(benchmark, {
          ...alphaOf(ref),
          onResult: ({ taskIndex }) => {
            if (taskIndex === 1) throw new Error("cannot be shown")
          }
        })
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(yield* workers(ref), ["failed 2"])
      assert.deepStrictEqual(
        (yield* stored).map(({ taskIndex }) => taskIndex),
        [0, 1]
      )
    }).pipe(Effect.provide(recorded))
  )

  it.effect("is failed when no task succeeds, which is not an error", () =>
    Effect.gen(function* () {
      const ref = yield* plannedRun(2, {})
      const outcome = yield* Benchmark.runWorker(Benchmark.make({ ...base, task: Effect.fail("no") }), alphaOf(ref))
      assert.deepInclude(outcome?.participant, { taskCount: 2, errorCount: 2 })
      assert.deepStrictEqual(yield* workers(ref), ["failed 2"])
    }).pipe(Effect.provide(recorded))
  )

  it.effect("starts its tasks as far apart as the config says", () =>
    Effect.gen(function* () {
      const platform = platformWith(3)
      const run = yield* openRun(platform)
      const outcome = yield* within(
        4_000,
        Worker.run({
          task: Effect.void,
          participant: { name: "alpha" },
          run,
          phaseAt: () => undefined,
          concurrency: () => 1,
          staggerDelayMs: 2_000,
          onOpen: () => {},
          onRecord: () => {},
          onClose: () => {},
          onWarning: () => {}
        })
      )
      assert.isDefined(outcome)
      assert.deepStrictEqual(
        platform.records.map(({ startedAt }) => startedAt),
        ["1970-01-01T00:00:00.000Z", "1970-01-01T00:00:02.000Z", "1970-01-01T00:00:04.000Z"]
      )
    })
  )
})

describe("a worker that is interrupted", () => {
  /** Runs a worker until a task says so, and interrupts it. */
  const interruptedAt = (ref: RunRef, task: (reached: Effect.Effect<boolean>) => Task.Task) =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      const benchmark = Benchmark.make({ ...base, task: task(Deferred.succeed(reached, undefined)) })
      const fiber = yield* Effect.fork(Benchmark.runWorker(benchmark, alphaOf(ref)))
      yield* Deferred.await(reached)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
    })

  it.effect("is failed when it has a result, which is stored", () =>
    Effect.gen(function* () {
      const ref = yield* plannedRun(3, {})
      yield* interruptedAt(
        ref,
        (reached) =>
          ({ taskIndex }) =>
            taskIndex === 0 ? Effect.void : Effect.zipRight(reached, Effect.never)
      )
      assert.deepStrictEqual(yield* workers(ref), ["failed 2"])
      assert.deepStrictEqual(
        (yield* stored).map(({ status, taskIndex }) => [taskIndex, status]),
        [
          [0, "success"],
          [1, "error"]
        ]
      )
    }).pipe(Effect.provide(recorded))
  )

  it.effect("is given back when it has none, and the next one to take it is a new attempt", () =>
    Effect.gen(function* () {
      const ref = yield* plannedRun(2, {})
      const benchmark = Benchmark.make({ ...base, task: Effect.void })
      const claimed = yield* Deferred.make<void>()
      const slowSpool = Effect.map(Spool.Spool, (spool) =>
        Spool.Spool.of({
          ...spool,
          open: (attempt) =>
            Deferred.succeed(claimed, undefined).pipe(
              Effect.zipRight(Effect.sleep(10)),
              Effect.zipRight(spool.open(attempt))
            )
        })
      ).pipe(Effect.provide(Spool.layerMemory))
      const reporter = Layer.provide(
        Reporter.layerWith({ metadata: Effect.succeed(metadata) }),
        Layer.effect(Spool.Spool, slowSpool)
      )
      const fiber = yield* Effect.fork(Effect.provide(Benchmark.runWorker(benchmark, alphaOf(ref)), reporter))
      yield* Deferred.await(claimed)
      assert.deepStrictEqual(yield* workers(ref), ["running 0"])
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust(10)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.join(interrupting)))
      assert.deepStrictEqual(yield* workers(ref), ["pending 0"])
      const outcome = yield* Benchmark.runWorker(benchmark, alphaOf(ref))
      assert.strictEqual(outcome?.worker.attemptNumber, 2)
      assert.deepStrictEqual(yield* workers(ref), ["completed 2"])
    }).pipe(Effect.provide(recorded))
  )
})
