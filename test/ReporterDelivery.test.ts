import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import { PlatformFailure } from "../src/Platform.js"
import * as Reporter from "../src/Reporter.js"
import { runTask, within } from "./support/engine.js"
import {
  dies,
  FakePlatform,
  hangs,
  hangsAfter,
  losesAnswer,
  permanent,
  refuses,
  transient,
  well
} from "./support/fakePlatform.js"
import {
  closes,
  completed,
  openRun,
  record,
  recordAll,
  records,
  retries,
  sent,
  withoutLogs,
  withWorker
} from "./support/reporter.js"

describe("delivery", () => {
  it.effect("tries a batch again under the same number until it is acknowledged", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("sendTaskResults", [refuses(transient), well, refuses(transient), refuses(transient)])
      const { undelivered } = yield* within(
        10_000,
        withWorker(platform, { batchSize: 10, flushSchedule: retries(5) }, (worker) => recordAll(worker, records(25)))
      )
      assert.deepStrictEqual(sent(platform), [
        [0, 10, false],
        [0, 10, false],
        [1, 10, false],
        [1, 10, false],
        [1, 10, false],
        [2, 5, true]
      ])
      assert.deepStrictEqual(platform.records, records(25))
      assert.deepStrictEqual(undelivered, [])
      assert.deepStrictEqual(closes(platform), completed)
    })
  )

  it.effect("neither loses nor doubles what was stored when the answer got lost", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("sendTaskResults", [losesAnswer, well, losesAnswer, losesAnswer])
      yield* within(
        10_000,
        withWorker(platform, { batchSize: 10, flushSchedule: retries(5) }, (worker) => recordAll(worker, records(15)))
      )
      assert.deepStrictEqual(platform.records, records(15))
      assert.deepStrictEqual(closes(platform), completed)
    })
  )

  it.effect("loses nothing when the worker is closed while a batch is on its way", () =>
    Effect.gen(function* () {
      for (const onTheWay of [hangs, hangsAfter]) {
        const platform = new FakePlatform()
        platform.behave("sendTaskResults", [onTheWay])
        yield* withWorker(platform, { batchSize: 10 }, (worker) =>
          Effect.gen(function* () {
            yield* recordAll(worker, records(3))
            yield* TestClock.adjust("30 seconds")
            assert.deepStrictEqual(sent(platform), [[0, 3, false]])
            yield* recordAll(worker, records(4, 3))
          })
        )
        assert.deepStrictEqual(sent(platform), [
          [0, 3, false],
          [0, 3, false],
          [1, 4, true]
        ])
        assert.deepStrictEqual(platform.records, records(7))
        assert.deepStrictEqual(closes(platform), completed)
      }
    })
  )

  it.effect("gives up at the first failure that trying again cannot help", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("sendTaskResults", [well], refuses(permanent))
      const { undelivered } = yield* withWorker(platform, { batchSize: 10 }, (worker) =>
        Effect.gen(function* () {
          for (const each of records(25)) {
            yield* worker.record(each)
            yield* Effect.yieldNow()
          }
        })
      )
      assert.deepStrictEqual(sent(platform), [
        [0, 10, false],
        [1, 10, false]
      ])
      assert.deepStrictEqual(platform.records, records(10))
      assert.deepStrictEqual(undelivered, [{ participant: "alpha", records: 15, spool: undefined, error: permanent }])
      assert.deepStrictEqual(closes(platform), [
        [
          "failWorker",
          {
            attemptId: "attempt-id",
            errorCode: "flush_failed",
            errorMessage: "Failed to flush task results: fake: disk full"
          }
        ]
      ])
    })
  )

  it.effect("is over when the last batch fails", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("sendTaskResults", [], refuses(transient))
      const { undelivered } = yield* within(
        3_000,
        withWorker(platform, { flushSchedule: retries(3) }, (worker) => recordAll(worker, records(2)))
      )
      assert.deepStrictEqual(sent(platform), Array(4).fill([0, 2, true]))
      assert.deepStrictEqual(undelivered, [{ participant: "alpha", records: 2, spool: undefined, error: transient }])
      assert.deepStrictEqual(
        closes(platform).map(([operation]) => operation),
        ["failWorker"]
      )
    })
  )

  it.effect("by default tries for two minutes, at most 15 seconds apart, jitter aside", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("sendTaskResults", [], refuses(transient))
      yield* within(
        150_000,
        withWorker(platform, {}, (worker) => recordAll(worker, records(2)))
      )
      const times = platform.times("sendTaskResults")
      const gaps = times.slice(1).map((at, i) => at - (times[i] ?? 0))
      assert.isAtLeast(times.at(-1) ?? 0, 90_000)
      assert.isAtMost(times.at(-1) ?? 0, 120_000 + 18_000)
      assert.isAtMost(gaps[0] ?? 0, 300)
      assert.isAtMost(Math.max(...gaps), 18_000)
      assert.deepStrictEqual(
        closes(platform).map(([operation]) => operation),
        ["failWorker"]
      )
    })
  )

  it.effect("takes a platform that does not answer for one that failed", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("sendTaskResults", [hangs, hangsAfter])
      const options = { batchSize: 10, flushSchedule: retries(5), requestTimeout: "10 seconds" }
      yield* withWorker(platform, { ...options, requestTimeout: "10 seconds" }, (worker) =>
        Effect.gen(function* () {
          yield* recordAll(worker, records(10))
          yield* TestClock.adjust("22 seconds")
          assert.deepStrictEqual(sent(platform), Array(3).fill([0, 10, false]))
          assert.deepStrictEqual(platform.times("sendTaskResults"), [0, 11_000, 22_000])
        })
      )
      assert.deepStrictEqual(platform.records, records(10))
      assert.deepStrictEqual(closes(platform), completed)
    })
  )

  it.effect("ends although the platform never answers, also when the run is interrupted", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      for (const operation of ["sendTaskResults", "failWorker", "heartbeat"] as const)
        platform.behave(operation, [], hangs)
      const run = yield* openRun(platform, { flushSchedule: retries(1), requestTimeout: "5 seconds" })
      const fiber = yield* Effect.fork(runTask(Effect.sleep(100), { run, slots: 100 }))
      yield* TestClock.adjust(250)
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust("11 seconds")
      assert.isNull(interrupting.unsafePoll())
      yield* TestClock.adjust("11 seconds")
      assert.isTrue(Exit.isInterrupted(yield* Fiber.join(interrupting)))
      const [lost] = yield* run.undelivered
      assert.deepInclude(lost, { participant: "alpha", records: 3 })
      assert(lost?.error instanceof PlatformFailure)
      assert.strictEqual(lost.error.message, "sendTaskResults: no answer within 5s")
    }).pipe(withoutLogs)
  )

  it.effect("takes a defect of the platform for a failure that trying again cannot help", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("sendTaskResults", [], dies)
      const { undelivered } = yield* withWorker(platform, { batchSize: 10, bufferSize: 10 }, (worker) =>
        recordAll(worker, records(25))
      )
      assert.deepStrictEqual(sent(platform), [[0, 10, false]])
      assert.deepStrictEqual(
        undelivered.map(({ error, records }) => [records, error.message]),
        [[25, "sendTaskResults: broken"]]
      )
      assert.deepStrictEqual(
        closes(platform).map(([operation]) => operation),
        ["failWorker"]
      )
    })
  )

  it("what could not be delivered is listed in the error", () => {
    const error = new Reporter.UndeliveredResults({
      runId: "r",
      undelivered: [
        { participant: "alpha", records: 15, spool: undefined, error: permanent },
        { participant: "beta", records: 1, spool: undefined, error: transient }
      ]
    })
    assert.strictEqual(
      error.message,
      [
        "Failed to flush task results; these are not stored:",
        "  - alpha: 15 record(s): fake: disk full",
        "  - beta: 1 record(s): fake: busy"
      ].join("\n")
    )
  })
})

describe("a full buffer", () => {
  const options = { batchSize: 10, bufferSize: 20 }

  /** A platform whose first answer waits for the gate. */
  const gated = Effect.map(Deferred.make<void>(), (gate) => {
    const platform = new FakePlatform()
    platform.behave("sendTaskResults", [{ before: Deferred.await(gate) }])
    return { platform, open: Deferred.succeed(gate, undefined) }
  })

  it.effect("makes the next record wait until there is space", () =>
    Effect.gen(function* () {
      const { open, platform } = yield* gated
      yield* withWorker(platform, options, (worker) =>
        Effect.gen(function* () {
          let taken = 0
          const all = records(50)
          const recording = yield* Effect.fork(
            Effect.forEach(all, (each) => Effect.tap(worker.record(each), () => Effect.sync(() => taken++)), {
              discard: true
            })
          )
          yield* TestClock.adjust("1 second")
          assert.strictEqual(taken, 19)
          yield* open
          yield* TestClock.adjust("1 second")
          yield* Fiber.join(recording)
        })
      )
      assert.deepStrictEqual(platform.records, records(50))
    })
  )

  it.effect("keeps the record of a caller that is interrupted while it waits", () =>
    Effect.gen(function* () {
      for (const region of [Effect.interruptible, Effect.uninterruptible]) {
        const { open, platform } = yield* gated
        yield* withWorker(platform, options, (worker) =>
          Effect.gen(function* () {
            yield* recordAll(worker, records(19))
            const waiting = yield* Effect.fork(region(worker.record(record(19))))
            yield* Effect.yieldNow()
            assert.isNull(waiting.unsafePoll())
            assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(waiting)))
            yield* open
          })
        )
        assert.deepStrictEqual(platform.records, records(20))
      }
    })
  )

  it.effect("stops tasks, which are interrupted with the run and lose nothing", () =>
    Effect.gen(function* () {
      const { open, platform } = yield* gated
      const run = yield* openRun(platform, options)
      let started = 0
      const task = Effect.sync(() => {
        started++
      })
      const fiber = yield* Effect.fork(runTask(task, { run, slots: 100, concurrency: 3 }))
      yield* TestClock.adjust("1 second")
      assert.isAtMost(started, 22)
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* open
      yield* TestClock.adjust("1 second")
      assert.isTrue(Exit.isInterrupted(yield* Fiber.join(interrupting)))
      assert.deepStrictEqual(
        platform.records.map(({ taskIndex }) => taskIndex).sort((a, b) => a - b),
        Array.from({ length: started }, (_, i) => 5 + i)
      )
    })
  )

  it.effect("holds at least one batch", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      yield* within(
        1,
        withWorker(platform, { batchSize: 10, bufferSize: 0 }, (worker) => recordAll(worker, records(25)))
      )
      assert.deepStrictEqual(platform.records, records(25))
    })
  )

  it.effect("does not hold up tasks when delivery has been given up", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("sendTaskResults", [], refuses(permanent))
      const { undelivered } = yield* withWorker(platform, options, (worker) => recordAll(worker, records(100)))
      assert.strictEqual(undelivered[0]?.records, 100)
    })
  )
})
