import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, FiberRef, TestClock } from "effect"
import type { TaskRecord } from "../src/Record.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { StillClock } from "./support/clocks.js"
import { onlyRecord, runTask, stepsOf, within } from "./support/engine.js"

const start = "1970-01-01T00:00:00"

/** Ends on interruption only, and then only after `millis`. */
const slowToStop = (millis: number, stopped: () => void) =>
  Effect.onInterrupt(Effect.never, () => Effect.andThen(Effect.sleep(millis), Effect.sync(stopped)))

describe("a step with timeoutMs", () => {
  it.effect("interrupts the work, whose finalizers run, and fails the step", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const work = Effect.never.pipe(
        Effect.onInterrupt(() => Effect.sync(() => events.push("interrupted"))),
        Effect.ensuring(Effect.sync(() => events.push("finalized")))
      )
      const record = yield* within(
        50,
        onlyRecord(Step.run("create", work, { timeoutMs: 50 }), { participant: { name: "beta" } })
      )
      assert.deepStrictEqual(events, ["interrupted", "finalized"])
      assert.deepStrictEqual(record.steps, [
        {
          name: "create",
          status: "error",
          startedAt: `${start}.000Z`,
          completedAt: `${start}.050Z`,
          latencyMs: 50,
          timeoutMs: 50,
          errorCode: "step_timeout"
        }
      ])
      assert.strictEqual(record.errorCode, "step_timeout")
      assert.deepStrictEqual(record.data, {
        errorMessage: 'Step "create" timed out after 50ms for participant "beta"'
      })
    })
  )

  it.effect("the error names step, limit and participant, and can be caught", () =>
    Effect.gen(function* () {
      const task = Step.run("create", Effect.never, { timeoutMs: 50 }).pipe(
        Effect.catchTag("StepTimeout", ({ code, participant, step, timeoutMs }) =>
          Task.measure({ caught: { code, participant, step, timeoutMs } })
        )
      )
      const record = yield* within(50, onlyRecord(task))
      assert.strictEqual(record.status, "success")
      assert.deepStrictEqual(record.data, {
        caught: { code: "step_timeout", participant: "alpha", step: "create", timeoutMs: 50 }
      })
    })
  )

  it.effect("a slow finalizer delays the end of the run, not the step nor the task", () =>
    Effect.gen(function* () {
      let stopped = false
      const work = slowToStop(1000, () => {
        stopped = true
      })
      const task = Effect.ignore(Step.run("create", work, { timeoutMs: 50 }))
      const records: Array<TaskRecord> = []
      const fiber = yield* Effect.fork(runTask(task, { slots: 2 }, records))
      yield* TestClock.adjust(100)
      assert.deepStrictEqual(records.map(stepsOf), [
        [["create", "error", 50, "step_timeout"]],
        [["create", "error", 50, "step_timeout"]]
      ])
      assert.deepStrictEqual(
        records.map(({ latencyMs }) => latencyMs),
        [50, 50]
      )
      yield* TestClock.adjust(949)
      assert.isFalse(stopped)
      assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust(51)
      assert.isTrue(stopped)
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(fiber)))
    })
  )

  it.effect("a run that is interrupted waits for the finalizer too, and keeps its log", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const work = slowToStop(1000, () => events.push("stopped"))
      const task = Effect.andThen(Effect.ignore(Step.run("create", work, { timeoutMs: 50 })), Effect.never)
      const onClose = (log: string) => events.push(`closed: ${log.split("\n")[0]}`)
      const fiber = yield* Effect.fork(runTask(task, { onClose }))
      yield* TestClock.adjust(60)
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust(900)
      assert.deepStrictEqual(events, [])
      yield* TestClock.adjust(100)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.join(interrupting)))
      assert.deepStrictEqual(events, ["stopped", `closed: ${start}.050Z [task 0] [error] create`])
    })
  )

  it.effect("the run does not wait for ever for a finalizer", () =>
    Effect.gen(function* () {
      const work = slowToStop(1_000_000, () => {})
      const { warnings } = yield* within(30_050, runTask(Effect.ignore(Step.run("create", work, { timeoutMs: 50 }))))
      assert.deepStrictEqual(warnings, [
        '1 timed-out step(s) of participant "alpha" had not ended 30 seconds after the last task'
      ])
    })
  )

  it.effect("of 0 leaves time only for work that does not wait", () =>
    Effect.gen(function* () {
      const record = yield* within(
        0,
        onlyRecord(
          Effect.gen(function* () {
            yield* Step.run("sync", Effect.succeed(1), { timeoutMs: 0 })
            yield* Step.run("async", Effect.sleep(1), { timeoutMs: 0 })
          })
        )
      )
      assert.deepStrictEqual(stepsOf(record), [
        ["sync", "success", 0, undefined],
        ["async", "error", 0, "step_timeout"]
      ])
    })
  )

  it.effect("that is not reached passes on the result and stops its timer", () =>
    Effect.gen(function* () {
      const clock = new StillClock()
      const task = Effect.gen(function* () {
        const value = yield* Step.run("create", Effect.as(Effect.yieldNow(), "done"), { timeoutMs: 50 })
        yield* Effect.yieldNow()
        yield* Task.measure({ value, timers: clock.timers })
      })
      const record = yield* onlyRecord(task).pipe(Effect.withClock(clock))
      assert.deepStrictEqual(record.data, { value: "done", timers: 0 })
      assert.strictEqual(clock.started, 1)
    })
  )

  it.effect("that is not reached passes on the error of the work", () =>
    Effect.gen(function* () {
      const error = new Task.TaskError("no", { code: "E_NO" })
      const failing = Effect.andThen(Effect.sleep(20), error)
      const task = Effect.flip(Step.run("create", failing, { timeoutMs: 50 })).pipe(
        Effect.andThen((failure) => Task.measure({ same: failure === error }))
      )
      const record = yield* within(20, onlyRecord(task))
      assert.deepStrictEqual(record.data, { same: true })
    })
  )

  it.effect("keeps fiber refs that the work sets, as a step without one does", () =>
    Effect.gen(function* () {
      const ref = FiberRef.unsafeMake("unset")
      const task = Effect.gen(function* () {
        yield* Step.run("plain", FiberRef.set(ref, "plain"))
        const plain = yield* FiberRef.get(ref)
        yield* Step.run("timed", FiberRef.set(ref, "timed"), { timeoutMs: 50 })
        yield* Task.measure({ plain, timed: yield* FiberRef.get(ref) })
      })
      assert.deepStrictEqual((yield* within(0, onlyRecord(task))).data, { plain: "plain", timed: "timed" })
    })
  )

  it.effect("ends what its work forked, unless that is forked into the task's scope", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const child = (name: string) => Effect.onInterrupt(Effect.never, () => Effect.sync(() => events.push(name)))
      const work = Effect.andThen(Effect.fork(child("fork")), Effect.forkScoped(child("forkScoped")))
      const task = Effect.gen(function* () {
        yield* Step.run("timed", Effect.andThen(work, Effect.sleep(10)), { timeoutMs: 50 })
        events.push("after")
      })
      yield* within(10, onlyRecord(task))
      assert.deepStrictEqual(events, ["fork", "after", "forkScoped"])
    })
  )

  it.effect("applies to each of the parallel invocations", () =>
    Effect.gen(function* () {
      let calls = 0
      const ended: Array<number> = []
      const work = Effect.suspend(() => {
        const millis = [10, 90, 20, 80][calls++] ?? 0
        return Effect.andThen(
          Effect.sleep(millis),
          Effect.sync(() => ended.push(millis))
        )
      })
      const record = yield* within(50, onlyRecord(Step.run("create", work, { timeoutMs: 50, parallelInvocations: 4 })))
      assert.deepStrictEqual(ended, [10, 20])
      assert.deepStrictEqual(record.steps?.[0], {
        name: "create",
        status: "error",
        startedAt: `${start}.000Z`,
        completedAt: `${start}.050Z`,
        latencyMs: 50,
        concurrency: 4,
        timeoutMs: 50,
        errorCode: "step_timeout"
      })
    })
  )

  it.effect("a timed step that is interrupted waits for its work to stop", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const task = Effect.gen(function* () {
        const work = slowToStop(10, () => events.push("stopped"))
        yield* Effect.raceFirst(Step.run("create", work, { timeoutMs: 500 }), Effect.sleep(20))
        events.push("raced")
      })
      const record = yield* within(30, onlyRecord(task))
      assert.deepStrictEqual(events, ["stopped", "raced"])
      assert.deepStrictEqual(stepsOf(record), [["create", "error", 30, "interrupted"]])
    })
  )

  it.effect("fails an uninterruptible step at its deadline and leaves the work to end", () =>
    Effect.gen(function* () {
      let ended = false
      const work = Effect.andThen(
        Effect.sleep(100),
        Effect.sync(() => {
          ended = true
        })
      )
      const records: Array<TaskRecord> = []
      const task = Effect.uninterruptible(Effect.ignore(Step.run("create", work, { timeoutMs: 50 })))
      const fiber = yield* Effect.fork(runTask(task, {}, records))
      yield* TestClock.adjust(50)
      assert.deepStrictEqual(records.map(stepsOf), [[["create", "error", 50, "step_timeout"]]])
      assert.isNull(fiber.unsafePoll())
      yield* TestClock.adjust(50)
      assert.isTrue(ended)
      assert.isNotNull(fiber.unsafePoll())
    })
  )
})
