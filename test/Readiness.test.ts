import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, TestClock } from "effect"
import type { Worker } from "../src/Platform.js"
import { Platform } from "../src/Platform.js"
import type { TaskRecord } from "../src/Record.js"
import * as Reporter from "../src/Reporter.js"
import * as Spool from "../src/Spool.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import type { StepOptions } from "../src/Step.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { onlyRecord, runTask, stepsOf, within } from "./support/engine.js"
import type { FakePlatform } from "./support/fakePlatform.js"
import { dies, hangs, permanent, refuses, transient } from "./support/fakePlatform.js"
import { metadata, runPlan, withoutLogs } from "./support/reporter.js"
import { platformWith, runOn } from "./support/reporting.js"

const barrier = <const O extends StepOptions>(options: O) => ({ readiness: "poll", ...options }) as const

/** Makes the step ready after a while. */
const readyAfter = (platform: FakePlatform, millis: number, step = "go") =>
  Effect.fork(
    Effect.delay(
      Effect.sync(() => platform.ready.add(step)),
      millis
    )
  )

const everySecond = (count: number) => Array.from({ length: count }, (_, i) => i * 1000)

describe("a barrier between two processes", () => {
  /** The workers of one run, each in a process of its own: what they share is the platform. */
  const startWorker = <E>(
    task: Task.Task<E>,
    options: { readonly workers?: number; readonly tasks: number; readonly concurrency: number }
  ) =>
    Effect.gen(function* () {
      const reporter = yield* Reporter.make({ metadata: Effect.succeed(metadata) })
      const run = yield* reporter.openRun({
        ...runPlan,
        runKey: "shared",
        participants: ["alpha"],
        tasksPerParticipant: options.tasks,
        workerPool: options.workers ?? 2
      })
      return yield* runTask(task, { run, concurrency: options.concurrency })
    }).pipe(Effect.provide(Spool.layerMemory))

  /** The platform answers in turns of the event loop, so time passes in small steps. */
  const pass = (seconds: number) => Effect.repeatN(TestClock.adjust("500 millis"), seconds * 2 - 1)

  const noting = (into: Array<number>) => Effect.map(Clock.currentTimeMillis, (now) => void into.push(now))

  it.effect("is passed by all tasks of both, together", () =>
    Effect.gen(function* () {
      const started: Array<number> = []
      const task = Step.run("go", noting(started), barrier({}))
      const first = yield* Effect.fork(startWorker(task, { tasks: 5, concurrency: 2 }))
      yield* pass(20)
      assert.deepStrictEqual(started, [])
      const second = yield* Effect.fork(startWorker(task, { tasks: 5, concurrency: 2 }))
      yield* pass(4)
      const results = yield* Effect.all([Fiber.join(first), Fiber.join(second)])
      assert.deepStrictEqual(
        results.flatMap(({ records }) => records.map(({ status, taskIndex }) => [taskIndex, status])).sort(),
        [0, 1, 2, 3, 4].map((index) => [index, "success"])
      )
      assert.isAtLeast(Math.min(...started), 20_000)
      assert.isAtMost(Math.max(...started), 23_000)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("is passed late by one who asks when the others have moved on", () =>
    Effect.gen(function* () {
      const started: Array<number> = []
      const ask =
        (readyPollIntervalMs: number): Task.Task<unknown> =>
        ({ taskIndex }) =>
          Effect.sleep(taskIndex * 2_000).pipe(
            Effect.zipRight(Step.run("go", noting(started), barrier({ readyPollIntervalMs }))),
            Effect.zipRight(Step.run("work", Effect.sleep("60 seconds")))
          )
      const options = { tasks: 4, concurrency: 2 }
      const fast = yield* Effect.fork(startWorker(ask(500), options))
      yield* pass(1)
      const slow = yield* Effect.fork(startWorker(ask(17_000), options))
      yield* pass(10)
      assert.strictEqual(started.length, 2)
      yield* pass(10)
      assert.strictEqual(started.length, 4)
      yield* Fiber.interruptAll([fast, slow])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("says who has not come when the time is up", () =>
    Effect.gen(function* () {
      const task = Step.run("go", Effect.void, barrier({ readyTimeoutMs: 5_000 }))
      const fiber = yield* Effect.fork(startWorker(task, { tasks: 2, concurrency: 1 }))
      yield* pass(6)
      const { records } = yield* Fiber.join(fiber)
      assert.strictEqual(
        records[0]?.data?.["errorMessage"],
        'Step "go" was not ready after 5000ms for participant "alpha": waiting for worker 2 (not claimed by any process)'
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("needs no more tasks of a worker than it has", () =>
    Effect.gen(function* () {
      const task = Step.run("go", Effect.void, barrier({ readyTimeoutMs: 60_000 }))
      const workers = yield* Effect.fork(
        Effect.all([startWorker(task, { tasks: 3, concurrency: 2 }), startWorker(task, { tasks: 3, concurrency: 2 })], {
          concurrency: 2
        })
      )
      yield* pass(5)
      const results = yield* Fiber.join(workers)
      assert.deepStrictEqual(
        results.flatMap(({ records }) => records.map(({ status }) => status)),
        ["success", "success", "success"]
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("is passed when the other one has ended without coming to it", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const waiting = yield* Effect.fork(
        startWorker(Step.run("go", Effect.void, barrier({})), { tasks: 2, concurrency: 1 })
      )
      yield* pass(2)
      assert.isNull(waiting.unsafePoll())
      const other = yield* Effect.fork(startWorker(Effect.void, { tasks: 2, concurrency: 1 }))
      yield* pass(8)
      yield* Fiber.join(other)
      yield* Fiber.join(waiting)
      const [run] = yield* platform.listAllRuns({})
      assert.strictEqual(run?.status, "completed")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )
})

describe("waiting at a barrier", () => {
  it.effect("asks once a second, however many tasks wait", () =>
    Effect.gen(function* () {
      const platform = platformWith(20)
      yield* readyAfter(platform, 4_500)
      const task = Step.run("go", Effect.sleep(10), barrier({}))
      yield* within(5_100, runOn(platform, task, {}, { concurrency: 10 }))
      assert.deepStrictEqual(platform.times("runProgress"), everySecond(6))
      assert.strictEqual(platform.records.length, 20)
    })
  )

  it.effect("asks as often as the step wants", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      yield* readyAfter(platform, 450)
      yield* within(500, runOn(platform, Step.run("go", Effect.void, barrier({ readyPollIntervalMs: 250 }))))
      assert.deepStrictEqual(platform.times("runProgress"), [0, 250, 500])
    })
  )

  it.effect("is over for good once the step was ready", () =>
    Effect.gen(function* () {
      const platform = platformWith(5)
      yield* readyAfter(platform, 500)
      const forgetful = Effect.tap(Step.run("go", Effect.sleep(3_000), barrier({})), () =>
        Effect.sync(() => platform.ready.clear())
      )
      yield* within(16_000, runOn(platform, forgetful))
      assert.deepStrictEqual(platform.times("runProgress"), [0, 1_000])
    })
  )

  it.effect("is for each step by itself", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      yield* readyAfter(platform, 1_500, "first")
      yield* readyAfter(platform, 3_500, "second")
      const task = Effect.zipRight(
        Step.run("first", Effect.void, barrier({})),
        Step.run("second", Effect.void, barrier({}))
      )
      const { records } = yield* within(4_000, runOn(platform, task))
      assert.deepStrictEqual(
        records[0]?.steps?.map(({ data }) => data),
        [{ readyWaitMs: 2_000 }, { readyWaitMs: 2_000 }]
      )
      assert.deepStrictEqual(records[0]?.data, { readyWaitMs: 4_000 })
    })
  )

  it.effect("keeps the worker fresh, and counts who waits", () =>
    Effect.gen(function* () {
      const platform = platformWith(3)
      yield* readyAfter(platform, 59_500)
      const task = Step.run("go", Effect.void, barrier({ reportConcurrency: false }))
      yield* within(60_000, runOn(platform, task, {}, { concurrency: 3 }))
      const times = platform.times("heartbeat")
      const gaps = times.slice(1).map((at, i) => at - (times[i] ?? 0))
      assert.isAtMost(Math.max(...gaps), 5_000)
      assert.isAtMost(times[0] ?? Infinity, 1_000)
      assert.isAtLeast(times.at(-1) ?? 0, 55_000)
      assert.deepInclude(platform.heartbeats.at(-1), {
        currentStep: "go",
        concurrency: [{ step: "go", active: 3, target: 3 }]
      })
    })
  )

  it.effect("goes on when the platform cannot be asked", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      platform.ready.add("go")
      platform.behave("runProgress", [refuses(transient), refuses(permanent), dies, hangs])
      const task = Step.run("go", Effect.void, barrier({}))
      const { records } = yield* within(9_000, runOn(platform, task, { requestTimeout: "5 seconds" }))
      assert.deepStrictEqual(platform.times("runProgress"), [0, 1_000, 2_000, 3_000, 9_000])
      assert.strictEqual(records[0]?.status, "success")
    }).pipe(withoutLogs)
  )

  it.effect("goes on when heartbeats fail", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      platform.behave("heartbeat", [], dies)
      yield* readyAfter(platform, 20_500)
      yield* within(21_000, runOn(platform, Step.run("go", Effect.void, barrier({}))))
      assert.strictEqual(platform.records[0]?.status, "success")
    }).pipe(withoutLogs)
  )

  it.effect("goes on for the others when one of them gives up", () =>
    Effect.gen(function* () {
      const platform = platformWith(2)
      yield* readyAfter(platform, 9_500)
      const wait = Step.run("go", Effect.void, barrier({}))
      const task = ({ taskIndex }: Task.TaskContext) =>
        taskIndex === 0 ? Effect.zipRight(Effect.timeoutOption(wait, 3_000), Effect.sleep("10 seconds")) : wait
      const { records } = yield* within(13_000, runOn(platform, task, {}, { concurrency: 2 }))
      assert.deepStrictEqual(platform.times("runProgress"), everySecond(11))
      assert.deepStrictEqual(
        records.map(({ steps, taskIndex }) => [taskIndex, steps?.[0]?.errorCode]),
        [
          [1, undefined],
          [0, "interrupted"]
        ]
      )
    })
  )

  it.effect("stops with the run, and is recorded as interrupted", () =>
    Effect.gen(function* () {
      const platform = platformWith(2)
      const fiber = yield* Effect.fork(
        runOn(platform, Step.run("go", Effect.void, barrier({})), {}, { concurrency: 2 })
      )
      yield* TestClock.adjust("2500 millis")
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(platform.times("runProgress"), everySecond(3))
      assert.deepStrictEqual(
        platform.records.map(({ data, errorCode, latencyMs, steps }) => [
          errorCode,
          latencyMs,
          steps?.[0]?.errorCode,
          data
        ]),
        Array(2).fill([
          "interrupted",
          0,
          "interrupted",
          { errorMessage: "The task was interrupted before it ended", readyWaitMs: 2_500 }
        ])
      )
      assert.deepStrictEqual(platform.operations().at(-1), "failWorker")
    })
  )

  it.effect("stops when nobody waits any more", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      const wait = Effect.timeoutOption(Step.run("go", Effect.void, barrier({})), 1_500)
      yield* within(60_000, runOn(platform, Effect.zipRight(wait, Effect.sleep(58_500))))
      assert.deepStrictEqual(platform.times("runProgress"), everySecond(2))
    })
  )
})

describe("a barrier that is not reached", () => {
  it.effect("fails the step after 15 minutes", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      const task = Step.run("go", Effect.void, barrier({ readyPollIntervalMs: 100_000 }))
      const fiber = yield* Effect.fork(runOn(platform, task))
      yield* TestClock.adjust("899999 millis")
      assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust("1 millis")
      const { records } = yield* Fiber.join(fiber)
      assert.deepStrictEqual(records.flatMap(stepsOf), [["go", "error", 0, "step_not_ready"]])
      assert.deepInclude(records[0], { errorCode: "step_not_ready", latencyMs: 0 })
      assert.deepInclude(records[0]?.data, { readyWaitMs: 900_000 })
    })
  )

  it.effect("is an error that the task can handle", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      const task = Step.run("go", Effect.void, barrier({ readyTimeoutMs: 2_000 })).pipe(
        Effect.catchTag("StepNotReady", ({ participant, step, timeoutMs }) =>
          Task.measure({ participant, step, timeoutMs })
        )
      )
      const { records } = yield* within(2_000, runOn(platform, task))
      assert.strictEqual(records[0]?.status, "success")
      assert.deepInclude(records[0]?.data, { participant: "alpha", step: "go", timeoutMs: 2_000 })
    })
  )

  const notReady = (platform: FakePlatform) =>
    Effect.map(
      within(2_000, runOn(platform, Step.run("go", Effect.void, barrier({ readyTimeoutMs: 2_000 })))),
      ({ records }) => records[0]?.data?.["errorMessage"]
    )

  const before = 'Step "go" was not ready after 2000ms for participant "alpha": waiting for '

  it.effect("names every worker that is missing, and what it lacks", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      const sample = (active: number) => [
        { step: "other", active: 9, target: 9 },
        { step: "go", active, target: 4 }
      ]
      const workers: ReadonlyArray<Partial<Worker>> = [
        { status: "running", concurrency: sample(4) },
        { status: "running", concurrency: sample(3) },
        { status: "running", concurrency: null },
        { status: "pending" },
        { status: "completed" },
        { status: "failed" }
      ]
      platform.workers = workers.map((worker, workerIndex) => ({ ...platform.worker, workerIndex, ...worker }))
      assert.strictEqual(
        yield* notReady(platform),
        `${before}worker 2 (3 of 4 tasks have), worker 3 (has not come to the step), worker 4 (not claimed by any process)`
      )
    })
  )

  it.effect("suspects one that has gone silent when all have come", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      const concurrency = [{ step: "go", active: 1, target: 1 }]
      platform.workers = [{ ...platform.worker, status: "running", concurrency }]
      assert.strictEqual(yield* notReady(platform), `${before}a worker that is no longer heard of`)
    })
  )

  it.effect("admits that it could not find out", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      platform.behave("listWorkers", [], refuses(permanent))
      assert.strictEqual(yield* notReady(platform), `${before}who is missing could not be found out (fake: disk full)`)
    })
  )

  it.effect("can be waited at again", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      yield* readyAfter(platform, 4_500)
      const task = Effect.retry(Step.run("go", Effect.sleep(7), barrier({ readyTimeoutMs: 2_000 })), { times: 5 })
      const { records } = yield* within(5_007, runOn(platform, task))
      assert.deepStrictEqual(records.flatMap(stepsOf), [
        ["go", "error", 0, "step_not_ready"],
        ["go", "error", 0, "step_not_ready"],
        ["go", "success", 7, undefined]
      ])
      assert.deepInclude(records[0], { status: "success", latencyMs: 7, data: { readyWaitMs: 5_000 } })
    })
  )
})

describe("the time spent waiting", () => {
  const only = (records: ReadonlyArray<TaskRecord>) => records[0] ?? assert.fail("no record")

  it.effect("is recorded apart, in the step and in the task", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      yield* readyAfter(platform, 2_500)
      const work = Effect.zipRight(Task.measure({ size: 1 }), Effect.sleep(40))
      const task = Effect.gen(function* () {
        yield* Effect.sleep(5)
        yield* Step.run("go", work, barrier({ timeoutMs: 100 }))
        yield* Effect.sleep(5)
      })
      const record = only((yield* within(3_055, runOn(platform, task))).records)
      assert.deepInclude(record, { latencyMs: 50, status: "success", data: { readyWaitMs: 3_000 } })
      const [step] = record.steps ?? []
      assert.deepInclude(step, { latencyMs: 40, data: { size: 1, readyWaitMs: 3_000 } })
      assert.strictEqual(step?.startedAt, "1970-01-01T00:00:03.005Z")
      assert.strictEqual(step?.completedAt, "1970-01-01T00:00:03.045Z")
    })
  )

  it.effect("is in the latency of no step around it either", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      yield* readyAfter(platform, 2_500)
      const inner = Step.run("go", Effect.sleep(40), barrier({}))
      const task = Step.run("outermost", Step.run("outer", Effect.zipRight(Effect.sleep(10), inner)))
      const record = only((yield* within(3_050, runOn(platform, task))).records)
      assert.deepStrictEqual(
        record.steps?.map(({ data, latencyMs, name }) => [name, latencyMs, data]),
        [
          ["go", 40, { readyWaitMs: 3_000 }],
          ["outer", 50, { readyWaitMs: 3_000 }],
          ["outermost", 50, { readyWaitMs: 3_000 }]
        ]
      )
      assert.deepInclude(record, { latencyMs: 50, data: { readyWaitMs: 3_000 } })
    })
  )

  it.effect("counts once when two steps wait at once", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      yield* readyAfter(platform, 1_500, "a")
      yield* readyAfter(platform, 3_500, "b")
      const both = Effect.all(
        ["a", "b"].map((name) => Step.run(name, Effect.void, barrier({}))),
        { concurrency: 2 }
      )
      const record = only((yield* within(4_000, runOn(platform, Step.run("both", both)))).records)
      assert.deepStrictEqual(
        record.steps?.map(({ data, latencyMs, name }) => [name, latencyMs, data]),
        [
          ["a", 0, { readyWaitMs: 2_000 }],
          ["b", 0, { readyWaitMs: 4_000 }],
          ["both", 0, { readyWaitMs: 4_000 }]
        ]
      )
      assert.deepInclude(record, { latencyMs: 0, data: { readyWaitMs: 4_000 } })
    })
  )

  it.effect("is none in a run that is not recorded", () =>
    Effect.gen(function* () {
      const record = yield* within(40, onlyRecord(Step.run("go", Effect.sleep(40), barrier({ readyTimeoutMs: 0 }))))
      assert.deepInclude(record, { status: "success", latencyMs: 40 })
      assert.deepStrictEqual(record.steps?.[0]?.data, { readyWaitMs: 0 })
      assert.notProperty(record, "data")
    })
  )
})

describe("options of a barrier that make no sense", () => {
  const untyped = (options: object): StepOptions => options
  const wrong: ReadonlyArray<readonly [object, string]> = [
    [{ readyPollIntervalMs: 0 }, 'step "go" readyPollIntervalMs must be a number > 0 (got 0)'],
    [{ readyPollIntervalMs: NaN }, 'step "go" readyPollIntervalMs must be a number > 0 (got NaN)'],
    [{ readyPollIntervalMs: "1000" }, 'step "go" readyPollIntervalMs must be a number > 0 (got 1000)'],
    [{ readyTimeoutMs: -1 }, 'step "go" readyTimeoutMs must be a number >= 0 (got -1)'],
    [{ readyTimeoutMs: Infinity }, 'step "go" readyTimeoutMs must be a number >= 0 (got Infinity)'],
    [{ target: 0 }, 'step "go" target must be an integer >= 1 (got 0)'],
    [{ target: 1.5 }, 'step "go" target must be an integer >= 1 (got 1.5)'],
    [{ readiness: "external" }, 'step "go" readiness must be "internal" or "poll" (got "external")']
  ]

  for (const [options, errorMessage] of wrong) {
    it.effect(`are a defect: ${JSON.stringify(options)}`, () =>
      Effect.gen(function* () {
        const platform = platformWith(1)
        let ran = false
        const work = Effect.sync(() => {
          ran = true
        })
        const task = Step.run("go", work, untyped({ readiness: "poll", ...options }))
        const { records } = yield* runOn(
          platform,
          Effect.catchAll(task, () => Effect.void)
        )
        assert.deepInclude(records[0], { status: "error", data: { errorMessage } })
        assert.isFalse(ran)
        assert.notInclude(platform.operations(), "runProgress")
      })
    )
  }
})
