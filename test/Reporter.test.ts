import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, TestClock } from "effect"
import { ResourceConflict, ResourceNotFound } from "../src/Platform.js"
import type { TaskRecord } from "../src/Record.js"
import * as Reporter from "../src/Reporter.js"
import { runTask, within } from "./support/engine.js"
import { dies, FakePlatform, hangs, permanent, refuses, transient } from "./support/fakePlatform.js"
import {
  closes,
  completed,
  metadata,
  openRun,
  record,
  recordAll,
  records,
  retries,
  runPlan,
  sent,
  source,
  withoutLogs,
  withWorker,
  workerRef
} from "./support/reporter.js"

describe("a run", () => {
  it.effect("is made, planned, claimed, filled and completed, in this order", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      const options = { processKind: "cli", processKey: "host:1" }
      const { result, undelivered } = yield* withWorker(platform, options, (worker, run) =>
        Effect.as(recordAll(worker, records(3)), { start: worker.start, count: worker.count, runId: run.runId })
      )
      assert.deepStrictEqual(result, { start: 5, count: 100, runId: "run-id" })
      assert.deepStrictEqual(undelivered, [])
      const alpha = { benchmark: "demo", run: "run-id", participant: "alpha" }
      assert.deepStrictEqual(
        platform.calls.map(({ input, operation }) => [operation, input]),
        [
          ["upsertBenchmark", ["demo", { name: "Demo", config: { scoring: { metrics: [] } } }]],
          [
            "createRun",
            [
              "demo",
              {
                runKey: undefined,
                name: "Demo",
                config: { iterations: 100, environment: metadata },
                participants: [
                  { slug: "alpha", provider: "alpha", totalTasks: 100, workerCount: 1 },
                  { slug: "beta", provider: "beta", totalTasks: 100, workerCount: 1 }
                ]
              }
            ]
          ],
          ["planWorkers", [alpha, { workerCount: 1 }]],
          ["claimWorker", [alpha, { processKind: "cli", processKey: "host:1" }]],
          [
            "sendTaskResults",
            [
              workerRef,
              { type: "task_results", attemptId: "attempt-id", sequenceNumber: 0, isFinal: true, records: records(3) }
            ]
          ],
          ["completeWorker", [workerRef, { attemptId: "attempt-id" }]]
        ]
      )
    })
  )

  it.effect("has the key it was given", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      yield* openRun(platform, {}, { ...runPlan, runKey: "nightly-1" })
      assert.deepInclude(JSON.parse(JSON.stringify(platform.inputs("createRun")))[0][1], { runKey: "nightly-1" })
    })
  )

  it.effect("leaves name and config of a benchmark alone that is not its own", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      yield* openRun(platform, {}, { ...runPlan, identityIsOurs: false })
      assert.deepStrictEqual(platform.inputs("upsertBenchmark"), [["demo", {}]])
    })
  )

  it.effect("passes on its summary, and why that was refused", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      const run = yield* openRun(platform)
      const summary = { results: [] }
      yield* run.submitSummary(summary)
      const { arch, gitSha, nodeVersion, platform: os, triggeredBy } = metadata
      assert.deepStrictEqual(JSON.parse(JSON.stringify(platform.inputs("submitSummary"))), [
        [
          { benchmark: "demo", run: "run-id" },
          { results: [], run: { gitSha, triggeredBy, nodeVersion, platform: os, arch } }
        ]
      ])
      platform.behave("submitSummary", [refuses(permanent)])
      assert.strictEqual(yield* Effect.flip(run.submitSummary(summary)), permanent)
    })
  )

  it.effect("fails when it cannot be made", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("createRun", [refuses(permanent)])
      assert.strictEqual(yield* Effect.flip(openRun(platform)), permanent)
    })
  )

  it.effect("without a platform records nothing and has nothing to deliver", () =>
    Effect.gen(function* () {
      const reporter = yield* Reporter.Reporter
      const run = yield* reporter.openRun(runPlan)
      const worker = yield* Effect.scoped(run.openWorker("alpha", source))
      assert.isUndefined(run.runId)
      assert.deepInclude(worker, { start: 0, count: 100 })
      yield* worker?.record(record(0)) ?? Effect.die("no worker")
      yield* run.submitSummary({ results: [] })
      assert.deepStrictEqual(yield* run.undelivered, [])
    }).pipe(Effect.provide(Reporter.layerNoIngest))
  )
})

describe("a worker", () => {
  it.effect("is planned once: that it is planned already does not matter", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("planWorkers", [refuses(new ResourceConflict({ reason: "AlreadyPlanned", detail: "planned" }))])
      yield* withWorker(platform, {}, () => Effect.void)
      assert.deepStrictEqual(closes(platform), completed)
    })
  )

  it.effect("that cannot be planned or claimed is an error, and nothing is closed", () =>
    Effect.gen(function* () {
      const errors = [
        new ResourceConflict({ reason: "WorkerClosed", detail: "closed" }),
        new ResourceNotFound({ resource: "participant", id: "alpha" }),
        permanent
      ]
      for (const operation of ["planWorkers", "claimWorker"] as const) {
        for (const error of errors) {
          const platform = new FakePlatform()
          platform.behave(operation, [refuses(error)])
          assert.strictEqual(yield* Effect.flip(withWorker(platform, {}, () => Effect.void)), error)
          assert.strictEqual(platform.operations().at(-1), operation)
        }
      }
    })
  )

  it.effect("is undefined when all are taken, and then nothing is sent", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.assignment = null
      const run = yield* openRun(platform)
      const worker = yield* within(100_000, Effect.scoped(Effect.delay(run.openWorker("alpha", source), 50_000)))
      assert.isUndefined(worker)
      const { warnings } = yield* runTask(Effect.die("must not run"), { run })
      assert.deepStrictEqual(warnings, ['no worker of participant "alpha" is left to claim in this run'])
      assert.notInclude(platform.operations(), "sendTaskResults")
      assert.deepStrictEqual(closes(platform), [])
    })
  )
})

describe("batches", () => {
  it.effect("hold as many records as they may; the last one is final", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      yield* withWorker(platform, { batchSize: 10 }, (worker) => recordAll(worker, records(25)))
      assert.deepStrictEqual(sent(platform), [
        [0, 10, false],
        [1, 10, false],
        [2, 5, true]
      ])
      assert.deepStrictEqual(platform.records, records(25))
    })
  )

  it.effect("end with an empty final one when all records are sent, or there are none", () =>
    Effect.gen(function* () {
      for (const count of [0, 20]) {
        const platform = new FakePlatform()
        yield* withWorker(platform, { batchSize: 10 }, (worker) =>
          Effect.zipRight(recordAll(worker, records(count)), TestClock.adjust(0))
        )
        assert.deepStrictEqual(sent(platform).at(-1), [count / 10, 0, true])
        assert.deepStrictEqual(platform.records, records(count))
        assert.deepStrictEqual(closes(platform), completed)
      }
    })
  )

  it.effect("go out as soon as they are full", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      yield* withWorker(platform, { batchSize: 10 }, (worker) =>
        Effect.gen(function* () {
          yield* recordAll(worker, records(10))
          yield* TestClock.adjust(0)
          assert.deepStrictEqual(sent(platform), [[0, 10, false]])
          yield* recordAll(worker, records(9, 10))
          yield* TestClock.adjust("29 seconds")
          assert.strictEqual(sent(platform).length, 1)
          yield* recordAll(worker, records(1, 19))
          yield* TestClock.adjust(0)
          assert.deepStrictEqual(sent(platform).at(-1), [1, 10, false])
        })
      )
    })
  )

  it.effect("go out partly filled every 30 seconds, but not empty", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      yield* withWorker(platform, {}, (worker) =>
        Effect.gen(function* () {
          yield* recordAll(worker, records(3))
          yield* TestClock.adjust("29999 millis")
          assert.deepStrictEqual(sent(platform), [])
          yield* TestClock.adjust("1 millis")
          assert.deepStrictEqual(sent(platform), [[0, 3, false]])
          yield* TestClock.adjust("60 seconds")
          assert.strictEqual(sent(platform).length, 1)
          yield* recordAll(worker, records(2, 3))
          yield* TestClock.adjust("30 seconds")
        })
      )
      assert.deepStrictEqual(sent(platform), [
        [0, 3, false],
        [1, 2, false],
        [2, 0, true]
      ])
      assert.deepStrictEqual(platform.records, records(5))
    })
  )

  it.effect("hold 1000 records by default, never more than 5000 and never fewer than one", () =>
    Effect.gen(function* () {
      const sizes: ReadonlyArray<readonly [number | undefined, number, number]> = [
        [undefined, 1001, 1000],
        [9999, 5001, 5000],
        [0, 2, 1]
      ]
      for (const [batchSize, count, expected] of sizes) {
        const platform = new FakePlatform()
        yield* withWorker(platform, { batchSize }, (worker) => recordAll(worker, records(count)))
        assert.deepStrictEqual(sent(platform)[0], [0, expected, false])
        assert.deepStrictEqual(platform.records, records(count))
      }
    })
  )

  it.effect("that fill up while a partial one is on its way are sent right after it", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("sendTaskResults", [{ before: Effect.sleep("5 seconds") }])
      yield* withWorker(platform, { batchSize: 10 }, (worker) =>
        Effect.gen(function* () {
          yield* recordAll(worker, records(3))
          yield* TestClock.adjust("31 seconds")
          yield* recordAll(worker, records(10, 3))
          yield* TestClock.adjust("5 seconds")
          assert.deepStrictEqual(sent(platform), [
            [0, 3, false],
            [1, 10, false]
          ])
        })
      )
      assert.deepStrictEqual(platform.records, records(13))
    })
  )
})

describe("the end of a worker", () => {
  const endings: ReadonlyArray<
    readonly [string, ReadonlyArray<TaskRecord>, Effect.Effect<void, unknown>, ReadonlyArray<unknown>]
  > = [
    ["completes it when all tasks succeeded", records(3), Effect.void, completed],
    ["completes it when one task succeeded", [record(0, "error"), record(1)], Effect.void, completed],
    [
      "fails it when no task succeeded",
      [record(0, "error"), record(1, "error")],
      Effect.void,
      [["failWorker", { attemptId: "attempt-id", errorCode: "no_task_succeeded", errorMessage: "No task succeeded" }]]
    ],
    [
      "fails it when it was interrupted",
      records(3),
      Effect.interrupt,
      [["failWorker", { attemptId: "attempt-id", errorCode: "interrupted", errorMessage: "The run was interrupted" }]]
    ],
    [
      "fails it with the error that ended it",
      records(3),
      Effect.fail(new ResourceNotFound({ resource: "run", id: "r" })),
      [["failWorker", { attemptId: "attempt-id", errorCode: "ResourceNotFound", errorMessage: 'No run "r".' }]]
    ],
    [
      "releases it when it was interrupted before it had a result",
      [],
      Effect.interrupt,
      [["releaseWorker", { attemptId: "attempt-id" }]]
    ]
  ]

  for (const [name, all, end, expected] of endings) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const platform = new FakePlatform()
        yield* Effect.exit(withWorker(platform, {}, (worker) => Effect.andThen(recordAll(worker, all), end)))
        assert.deepStrictEqual(closes(platform), expected)
        assert.deepStrictEqual(platform.records, all)
        assert.strictEqual(sent(platform).at(-1)?.[2], all.length > 0 ? true : undefined)
      })
    )
  }

  it.effect("releases it when the run is interrupted before its first task has started", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      const run = yield* openRun(platform)
      const fiber = yield* Effect.fork(Effect.scoped(Effect.andThen(run.openWorker("alpha", source), Effect.never)))
      yield* TestClock.adjust(0)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(closes(platform), [["releaseWorker", { attemptId: "attempt-id" }]])
    })
  )

  it.effect("records the interrupted tasks of an interrupted run before it", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      const run = yield* openRun(platform)
      const fiber = yield* Effect.fork(runTask(Effect.sleep(100), { run, slots: 100, concurrency: 2 }))
      yield* TestClock.adjust(150)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(
        platform.records.map(({ errorCode, status }) => [status, errorCode]),
        [
          ["success", undefined],
          ["success", undefined],
          ["error", "interrupted"],
          ["error", "interrupted"]
        ]
      )
      assert.deepStrictEqual(sent(platform), [[0, 4, true]])
      assert.deepStrictEqual(closes(platform), [
        ["failWorker", { attemptId: "attempt-id", errorCode: "interrupted", errorMessage: "The run was interrupted" }]
      ])
    })
  )

  it.effect("is tried again after a transient failure", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("completeWorker", [refuses(transient), refuses(transient)])
      yield* within(
        2_000,
        withWorker(platform, { flushSchedule: retries(5) }, (worker) => recordAll(worker, records(1)))
      )
      assert.strictEqual(closes(platform).length, 3)
    })
  )

  it.effect("does not fail the run when the platform refuses it", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("completeWorker", [], refuses(permanent))
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => {
        logged.push(message)
      })
      const { undelivered } = yield* withWorker(platform, {}, (worker) => recordAll(worker, records(1))).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
      assert.deepStrictEqual(undelivered, [])
      assert.deepStrictEqual(logged, [["worker could not be closed", "fake: disk full"]])
    })
  )
})

describe("heartbeats", () => {
  const idle = { progressInFlight: 0, concurrency: [] }

  it.effect("tell the progress every 30 seconds for as long as the worker is open", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      yield* withWorker(platform, {}, (worker) =>
        Effect.gen(function* () {
          yield* recordAll(worker, [record(0), record(1, "error")])
          yield* TestClock.adjust("30 seconds")
          yield* recordAll(worker, [record(2)])
          yield* TestClock.adjust("30 seconds")
        })
      )
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(platform.times("heartbeat"), [30_000, 60_000])
      assert.deepStrictEqual(platform.inputs("heartbeat"), [
        [workerRef, { attemptId: "attempt-id", progressDone: 2, ...idle, progressErrors: 1, progressTotal: 100 }],
        [workerRef, { attemptId: "attempt-id", progressDone: 3, ...idle, progressErrors: 1, progressTotal: 100 }]
      ])
    })
  )

  it.effect("that fail, die or get no answer fail neither the run nor the ones after them", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("heartbeat", [refuses(transient), refuses(permanent), dies, hangs])
      const { undelivered } = yield* withWorker(
        platform,
        { heartbeatInterval: "10 seconds", requestTimeout: "5 seconds" },
        (worker) => Effect.andThen(recordAll(worker, records(1)), TestClock.adjust("65 seconds"))
      )
      assert.deepStrictEqual(platform.times("heartbeat"), [10_000, 20_000, 30_000, 40_000, 55_000, 65_000])
      assert.deepStrictEqual(undelivered, [])
      assert.deepStrictEqual(closes(platform), completed)
    }).pipe(withoutLogs)
  )
})
