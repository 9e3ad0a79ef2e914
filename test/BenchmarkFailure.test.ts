import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as Benchmark from "../src/Benchmark.js"
import { Platform, PlatformFailure } from "../src/Platform.js"
import type { RunEvent } from "../src/RunEvent.js"
import { RunListener } from "../src/RunEvent.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import type { Closed } from "./support/runs.js"
import { onlyRun, recorded, recordedOn, stored, watchClosing, workersOf } from "./support/runs.js"

const base = { benchmarkSlug: "bench", benchmarkName: "Bench", participants: [{ name: "alpha" }] }

const two = { ...base, participants: [{ name: "alpha" }, { name: "beta" }] }

const full = Effect.fail(
  new PlatformFailure({ operation: "sendTaskResults", detail: "the disk is full", retryable: false })
)

describe("interruption", () => {
  /** Tasks 0 and 1 end, task 2 reports that it runs and waits for ever. */
  const stuck = (running: Deferred.Deferred<void>) =>
    Benchmark.make({
      ...two,
      iterations: 5,
      task: ({ taskIndex }) =>
        taskIndex < 2
          ? Task.measure({ taskIndex })
          : Effect.zipRight(
              Step.run("wait", Effect.zipRight(Deferred.succeed(running, undefined), Effect.never)),
              Effect.void
            )
    })

  it.effect("keeps what was measured and fails the worker as interrupted", () => {
    const closed: Array<Closed> = []
    return Effect.gen(function* () {
      const platform = yield* Platform
      const running = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(Benchmark.run(stuck(running)))
      yield* Deferred.await(running)
      const exit = yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.isInterrupted(exit))
      assert.deepStrictEqual(
        (yield* stored).map(({ data, status }) => [status, data]),
        [
          ["success", { taskIndex: 0 }],
          ["success", { taskIndex: 1 }],
          ["error", { errorMessage: "The task was interrupted before it ended" }]
        ]
      )
      assert.deepStrictEqual(closed, [
        { how: "failWorker", participant: "alpha", errorCode: "interrupted", errorMessage: "The run was interrupted" }
      ])
      const ref = yield* onlyRun
      assert.deepStrictEqual(yield* workersOf(ref), [["alpha", "failed 3"], ["beta"]])
      assert.strictEqual((yield* platform.getParticipant({ ...ref, participant: "alpha" })).status, "failed")
      assert.strictEqual((yield* platform.getRun(ref)).status, "failed")
    }).pipe(Effect.provide(recordedOn(watchClosing(closed))))
  })

  it.effect("leaves a run that others share by its key to them", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const running = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(Benchmark.run(stuck(running), { runKey: "shared" }))
      yield* Deferred.await(running)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* platform.getRun(yield* onlyRun)).status, "in_progress")
    }).pipe(Effect.provide(recorded))
  )

  it.effect("before the first task gives the worker back", () => {
    const closed: Array<Closed> = []
    return Effect.gen(function* () {
      const claiming = yield* Deferred.make<void>()
      const layer = recordedOn((platform) => ({
        ...watchClosing(closed)(platform),
        claimWorker: (ref, input) =>
          ref.participant === "beta"
            ? Effect.zipRight(Deferred.succeed(claiming, undefined), Effect.never)
            : platform.claimWorker(ref, input)
      }))
      yield* Effect.gen(function* () {
        const benchmark = Benchmark.make({ ...two, groupBy: "round", task: Effect.void })
        const fiber = yield* Effect.fork(Benchmark.run(benchmark))
        yield* Deferred.await(claiming)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(closed, [{ how: "releaseWorker", participant: "alpha" }])
        assert.deepStrictEqual(yield* workersOf(yield* onlyRun), [
          ["alpha", "pending 0"],
          ["beta", "pending 0"]
        ])
      }).pipe(Effect.provide(layer))
    })
  })

  it.effect("warns of what could not be stored", () => {
    const events: Array<RunEvent> = []
    return Effect.gen(function* () {
      const running = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        Effect.provideService(Benchmark.run(stuck(running)), RunListener, (event) => events.push(event))
      )
      yield* Deferred.await(running)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(events.at(-1), {
        _tag: "Warning",
        message:
          "Failed to flush task results; these are not stored:\n  - alpha: 3 record(s): sendTaskResults: the disk is full"
      })
    }).pipe(Effect.provide(recordedOn(() => ({ sendTaskResults: () => full }))))
  })
})

describe("platform failure", () => {
  it.effect("fails the run with what could not be stored and keeps the rest", () => {
    const closed: Array<Closed> = []
    const layer = recordedOn(
      (platform) => ({
        ...watchClosing(closed)(platform),
        sendTaskResults: (ref, input) =>
          ref.participant === "alpha" && input.sequenceNumber === 1 ? full : platform.sendTaskResults(ref, input)
      }),
      { batchSize: 2 }
    )
    return Effect.gen(function* () {
      let completed = 0
      const benchmark = Benchmark.make({
        ...two,
        iterations: 5,
        task: Effect.yieldNow(),
        onComplete: ({ participants }) => {
          completed = participants.reduce((sum, { records }) => sum + records.length, 0)
        }
      })
      const error = yield* Effect.flip(Benchmark.run(benchmark))
      assert.strictEqual(
        error.message,
        "Failed to flush task results; these are not stored:\n  - alpha: 3 record(s): sendTaskResults: the disk is full"
      )
      assert.strictEqual(completed, 10)
      assert.deepStrictEqual(
        (yield* stored).map(({ participantSlug, taskIndex }) => `${participantSlug} ${taskIndex}`),
        ["alpha 0", "alpha 1", "beta 0", "beta 1", "beta 2", "beta 3", "beta 4"]
      )
      assert.deepStrictEqual(closed, [
        {
          how: "failWorker",
          participant: "alpha",
          errorCode: "flush_failed",
          errorMessage: "Failed to flush task results: sendTaskResults: the disk is full"
        },
        { how: "completeWorker", participant: "beta" }
      ])
    }).pipe(Effect.provide(layer))
  })

  it.effect("of a later claim fails the run and keeps what was stored before", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Benchmark.run(Benchmark.make({ ...two, iterations: 2, task: Effect.void })))
      assert.strictEqual(error.message, "claimWorker: gone")
      assert.deepStrictEqual(yield* workersOf(yield* onlyRun), [
        ["alpha", "completed 2"],
        ["beta", "pending 0"]
      ])
    }).pipe(
      Effect.provide(
        recordedOn((platform) => ({
          claimWorker: (ref, input) =>
            ref.participant === "beta"
              ? Effect.fail(new PlatformFailure({ operation: "claimWorker", detail: "gone", retryable: false }))
              : platform.claimWorker(ref, input)
        }))
      )
    )
  )

  it.effect("of the summary is a warning", () =>
    Effect.gen(function* () {
      const benchmark = Benchmark.make({
        ...base,
        scoring: { metrics: [{ key: "x", ceiling: 1, weights: { median: 1, p95: 0, p99: 0 } }] },
        task: Task.measure({ x: 0.5 })
      })
      const { rows, warnings } = yield* Benchmark.run(benchmark)
      assert.strictEqual(rows?.[0]?.compositeScore, 50)
      assert.deepStrictEqual(warnings, ["the summary was not stored: submitSummary: the disk is full"])
    }).pipe(
      Effect.provide(
        recordedOn(() => ({
          submitSummary: () =>
            Effect.fail(
              new PlatformFailure({ operation: "submitSummary", detail: "the disk is full", retryable: false })
            )
        }))
      )
    )
  )
})
