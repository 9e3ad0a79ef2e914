import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, ExecutionStrategy, Exit, Fiber, FiberRef, HashMap, Scope, TestClock } from "effect"
import type { TaskRecord } from "../src/Record.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { onlyRecord, runTask, stepsOf, within } from "./support/engine.js"

const start = "1970-01-01T00:00:00"

const errorOf = ({ data, errorCode, status }: TaskRecord) => [status, errorCode, data?.["errorMessage"]]

/** Opens a resource for the rest of the task and says when it is closed. */
const resource = (events: Array<string>, name: string, close: Effect.Effect<void> = Effect.void) =>
  Effect.acquireRelease(
    Effect.sync(() => events.push(`open ${name}`)),
    () =>
      Effect.andThen(
        close,
        Effect.sync(() => events.push(`close ${name}`))
      )
  )

describe("the scope of a task", () => {
  it.effect("is closed after it, outside its latency, before the next task", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const task = Task.make(({ taskIndex }) =>
        Effect.gen(function* () {
          yield* resource(events, `${taskIndex}`, Effect.sleep(50))
          yield* Effect.sleep(10)
          events.push(`end ${taskIndex}`)
        })
      )
      const { records } = yield* within(120, runTask(task, { slots: 2 }))
      assert.deepStrictEqual(events, ["open 0", "end 0", "close 0", "open 1", "end 1", "close 1"])
      assert.deepStrictEqual(
        records.map(({ completedAt, latencyMs, startedAt }) => [startedAt, completedAt, latencyMs]),
        [
          [`${start}.000Z`, `${start}.010Z`, 10],
          [`${start}.060Z`, `${start}.070Z`, 10]
        ]
      )
    })
  )

  it.effect("is closed in reverse order of opening, with the exit of the task", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const task = Effect.gen(function* () {
        yield* Effect.addFinalizer((exit) => Effect.sync(() => events.push(exit._tag)))
        yield* resource(events, "a")
        yield* resource(events, "b")
        return yield* Effect.fail("no")
      })
      yield* onlyRecord(task)
      assert.deepStrictEqual(events, ["open a", "open b", "close b", "close a", "Failure"])
    })
  )

  it.effect("is closed when the task dies or interrupts itself", () =>
    Effect.gen(function* () {
      for (const end of [Effect.die("no"), Effect.interrupt]) {
        const events: Array<string> = []
        yield* onlyRecord(Effect.andThen(resource(events, "a"), end))
        assert.deepStrictEqual(events, ["open a", "close a"])
      }
    })
  )

  it.effect("is closed when the run is interrupted, and the record is made after it", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const records: Array<TaskRecord> = []
      const task = Effect.andThen(resource(events, "a", Effect.sleep(50)), Effect.never)
      const fiber = yield* Effect.fork(runTask(task, {}, records))
      yield* TestClock.adjust(10)
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust(49)
      assert.deepStrictEqual([events, records], [["open a"], []])
      yield* TestClock.adjust(1)
      yield* Fiber.join(interrupting)
      assert.deepStrictEqual(events, ["open a", "close a"])
      assert.deepStrictEqual(
        records.map(({ completedAt, latencyMs }) => [completedAt, latencyMs]),
        [[`${start}.010Z`, 10]]
      )
    })
  )

  it.effect("a finalizer that fails is noted on the record and in the log", () =>
    Effect.gen(function* () {
      const task = (end: Effect.Effect<void, string>) =>
        Effect.gen(function* () {
          yield* Effect.addFinalizer(() => Effect.die(new RangeError("left open")))
          yield* Task.measure({ n: 1 })
          yield* end
        })
      const { log, records } = yield* runTask(task(Effect.void))
      const [record] = records
      assert.strictEqual(record?.status, "success")
      assert.deepStrictEqual(record?.data, { n: 1, finalizerError: "left open" })
      assert.include(log, "[task 0] [error] a finalizer failed: left open")
      assert.deepStrictEqual((yield* onlyRecord(task(Effect.fail("no")))).data, {
        n: 1,
        errorMessage: "no",
        finalizerError: "left open"
      })
    })
  )

  it.effect("steps and measures of finalizers are recorded", () =>
    Effect.gen(function* () {
      const task = Effect.gen(function* () {
        yield* Effect.acquireRelease(Step.run("create", Effect.sleep(5)), () =>
          Effect.andThen(Step.run("destroy", Effect.sleep(20)), Task.measure({ destroyed: true }))
        )
      })
      const record = yield* within(25, onlyRecord(task))
      assert.deepStrictEqual(stepsOf(record), [
        ["create", "success", 5, undefined],
        ["destroy", "success", 20, undefined]
      ])
      assert.deepStrictEqual(record.data, { destroyed: true })
      assert.strictEqual(record.latencyMs, 5)
    })
  )

  it.effect("scopes forked from it are closed with it, once", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const open = (scope: Scope.Scope, name: string) => Scope.extend(resource(events, name), scope)
      let kept: Scope.Scope | undefined
      const task = Effect.gen(function* () {
        const scope = yield* Effect.scope
        kept = scope
        const early = yield* Scope.fork(scope, ExecutionStrategy.sequential)
        const late = yield* Scope.fork(scope, ExecutionStrategy.sequential)
        yield* open(early, "early")
        yield* open(late, "late")
        yield* Scope.close(early, Exit.void)
        events.push("end")
      })
      yield* onlyRecord(task)
      assert.deepStrictEqual(events, ["open early", "open late", "close early", "end", "close late"])
      assert(kept !== undefined)
      yield* open(yield* Scope.fork(kept, ExecutionStrategy.sequential), "too late")
      assert.deepStrictEqual(events.slice(5), ["open too late", "close too late"])
    })
  )

  it.effect("fibers forked into it after it was closed are interrupted", () =>
    Effect.gen(function* () {
      let kept: Scope.Scope | undefined
      yield* onlyRecord(
        Effect.map(Effect.scope, (scope) => {
          kept = scope
        })
      )
      assert(kept !== undefined)
      const fiber = yield* Effect.forkIn(Effect.never, kept)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fiber)))
    })
  )

  it.effect("what a child is still acquiring when the task ends is released", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const acquiring = Effect.acquireRelease(
        Effect.andThen(
          Effect.sleep(20),
          Effect.sync(() => events.push("open"))
        ),
        () => Effect.sync(() => events.push("close"))
      )
      const record = yield* within(20, onlyRecord(Effect.andThen(Effect.fork(acquiring), Effect.sleep(10))))
      assert.deepStrictEqual(events, ["open", "close"])
      assert.strictEqual(record.latencyMs, 10)
    })
  )

  it.effect("what a daemon acquires after the task ended is released at once", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const acquiring = Effect.andThen(Effect.sleep(20), resource(events, "late"))
      const records: Array<TaskRecord> = []
      yield* runTask(Effect.forkDaemon(acquiring), {}, records)
      assert.strictEqual(records.length, 1)
      yield* TestClock.adjust(20)
      assert.deepStrictEqual(events, ["open late", "close late"])
    })
  )
})

describe("what a task leaves on its fiber", () => {
  it.effect("fiber refs are put back before the next one", () =>
    Effect.gen(function* () {
      const fresh = FiberRef.unsafeMake("initial")
      const deleted = FiberRef.unsafeMake("initial")
      const seen: Array<unknown> = []
      const task = Task.make(({ taskIndex }) =>
        Effect.gen(function* () {
          seen.push([
            yield* FiberRef.get(fresh),
            yield* FiberRef.get(deleted),
            HashMap.size(yield* FiberRef.get(FiberRef.currentLogAnnotations))
          ])
          yield* FiberRef.set(fresh, `task ${taskIndex}`)
          yield* FiberRef.delete(deleted)
          yield* FiberRef.update(FiberRef.currentLogAnnotations, (annotations) =>
            HashMap.set(annotations, "task", taskIndex)
          )
          if (taskIndex === 1) yield* Effect.fail("no")
        })
      )
      yield* Effect.gen(function* () {
        yield* FiberRef.set(deleted, "of the run")
        yield* runTask(task, { slots: 3 })
        seen.push([yield* FiberRef.get(fresh), yield* FiberRef.get(deleted), 0])
      }).pipe(Effect.fork, Effect.flatMap(Fiber.join))
      assert.deepStrictEqual(seen, Array(4).fill(["initial", "of the run", 0]))
    })
  )

  it.effect("changes that finalizers make are put back too", () =>
    Effect.gen(function* () {
      const ref = FiberRef.unsafeMake(0)
      const seen: Array<number> = []
      const task = Effect.gen(function* () {
        seen.push(yield* FiberRef.get(ref))
        yield* Effect.addFinalizer(() => FiberRef.update(ref, (n) => n + 1))
      })
      yield* runTask(task, { slots: 3 })
      assert.deepStrictEqual(seen, [0, 0, 0])
    })
  )

  it.effect("forked children are interrupted and awaited, outside its latency", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const child = (name: string) =>
        Effect.onInterrupt(Effect.never, () =>
          Effect.andThen(
            Effect.sleep(30),
            Effect.sync(() => events.push(`stopped ${name}`))
          )
        )
      const task = Task.make(({ taskIndex }) =>
        Effect.gen(function* () {
          events.push(`start ${taskIndex}`)
          yield* Effect.fork(child(`fork ${taskIndex}`))
          yield* Effect.forkScoped(child(`scoped ${taskIndex}`))
          yield* Effect.sleep(10)
        })
      )
      const { records } = yield* within(140, runTask(task, { slots: 2 }))
      assert.deepStrictEqual(events, [
        "start 0",
        "stopped fork 0",
        "stopped scoped 0",
        "start 1",
        "stopped fork 1",
        "stopped scoped 1"
      ])
      assert.deepStrictEqual(
        records.map(({ latencyMs, startedAt }) => [startedAt, latencyMs]),
        [
          [`${start}.000Z`, 10],
          [`${start}.070Z`, 10]
        ]
      )
    })
  )

  it.effect("children are interrupted when the task fails, and when it is interrupted with the run", () =>
    Effect.gen(function* () {
      let interrupted = 0
      const child = Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
      yield* onlyRecord(Effect.andThen(Effect.fork(child), Effect.andThen(Effect.yieldNow(), Effect.fail("no"))))
      assert.strictEqual(interrupted, 1)
      const fiber = yield* Effect.fork(runTask(Effect.andThen(Effect.fork(child), Effect.never)))
      yield* TestClock.adjust(1)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(interrupted, 2)
    })
  )

  it.effect("the children of others on the same fiber are left alone", () =>
    Effect.gen(function* () {
      const other = yield* Effect.fork(Effect.never)
      yield* runTask(Effect.fork(Effect.never), { slots: 2 })
      assert.isNull(other.unsafePoll())
      yield* Fiber.interrupt(other)
    })
  )

  it.effect("a step in a child that is not awaited is recorded as interrupted", () =>
    Effect.gen(function* () {
      const step = Step.run("background", Effect.ensuring(Effect.never, Effect.sleep(5)))
      const record = yield* within(15, onlyRecord(Effect.andThen(Effect.fork(step), Effect.sleep(10))))
      assert.strictEqual(record.status, "success")
      assert.strictEqual(record.latencyMs, 10)
      assert.deepStrictEqual(stepsOf(record), [["background", "error", 15, "interrupted"]])
    })
  )

  it.effect("a daemon goes on, but what it measures is dropped with a warning", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      let log = ""
      const onClose = (text: string) => {
        log = text
      }
      const daemon = Effect.andThen(Deferred.await(gate), Task.measure({ late: 1 }))
      const task = Task.make(({ taskIndex }) => (taskIndex === 0 ? Effect.forkDaemon(daemon) : Effect.sleep(10)))
      const fiber = yield* Effect.fork(runTask(task, { slots: 2, onClose }))
      yield* TestClock.adjust(5)
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust(5)
      const { records } = yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        records.map(({ data }) => data),
        [undefined, undefined]
      )
      assert.include(log, "[task 0] [warn] a measure made after the task had ended was dropped")
    })
  )
})

describe("interruption", () => {
  const message = "The task was interrupted before it ended"

  it.effect("of a task by itself affects only that task", () =>
    Effect.gen(function* () {
      const task = Task.make(({ taskIndex }) => (taskIndex === 1 ? Effect.interrupt : Effect.void))
      const { records } = yield* runTask(task, { slots: 3 })
      assert.deepStrictEqual(records.map(errorOf), [
        ["success", undefined, undefined],
        ["error", "interrupted", message],
        ["success", undefined, undefined]
      ])
    })
  )

  for (const concurrency of [1, 2, 3]) {
    it.effect(`of the run at concurrency ${concurrency} records the running tasks and starts no further one`, () =>
      Effect.gen(function* () {
        const started: Array<number> = []
        const records: Array<TaskRecord> = []
        const ref = FiberRef.unsafeMake(0)
        const task = Task.make(({ taskIndex }) =>
          Effect.gen(function* () {
            started.push(taskIndex)
            yield* FiberRef.set(ref, taskIndex)
            yield* Task.measure({ taskIndex })
            yield* Step.run("wait", Effect.sleep(100))
          })
        )
        const fiber = yield* Effect.fork(runTask(task, { slots: 50, concurrency }, records))
        yield* TestClock.adjust(150)
        const exit = yield* Fiber.interrupt(fiber)
        yield* TestClock.adjust(10_000)
        assert.isTrue(Exit.isInterrupted(exit))
        assert.strictEqual(started.length, 2 * concurrency)
        assert.deepStrictEqual(
          records.map(({ data, errorCode, latencyMs }) => [data?.["taskIndex"], errorCode, latencyMs]).sort(),
          started.map((index) => (index < concurrency ? [index, undefined, 100] : [index, "interrupted", 50]))
        )
        for (const record of records.filter(({ errorCode }) => errorCode !== undefined)) {
          assert.deepStrictEqual(stepsOf(record), [["wait", "error", 50, "interrupted"]])
        }
      })
    )
  }

  it.effect("of the run waits for what is uninterruptible", () =>
    Effect.gen(function* () {
      const records: Array<TaskRecord> = []
      const task = Effect.uninterruptible(Step.run("commit", Effect.sleep(100)))
      const fiber = yield* Effect.fork(runTask(task, { slots: 5 }, records))
      yield* TestClock.adjust(10)
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust(90)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.join(interrupting)))
      assert.deepStrictEqual(records.map(stepsOf), [[["commit", "success", 100, undefined]]])
      assert.deepStrictEqual(records.map(errorOf), [["error", "interrupted", message]])
    })
  )

  it.effect("of the run ends a step before the finalizers around it, which belong to the task", () =>
    Effect.gen(function* () {
      const records: Array<TaskRecord> = []
      const release = Task.measure({ released: true }).pipe(
        Effect.andThen(Step.run("destroy", Effect.andThen(Effect.sleep(30), Task.measure({ n: 1 })))),
        Effect.andThen(Task.measure({ after: true }))
      )
      const task = Effect.acquireUseRelease(
        Step.run("create", Effect.sleep(5)),
        () => Step.run("use", Effect.never),
        () => release
      )
      const fiber = yield* Effect.fork(runTask(task, { slots: 5 }, records))
      yield* TestClock.adjust(10)
      const interrupting = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust(30)
      yield* Fiber.join(interrupting)
      assert.deepStrictEqual(records.map(stepsOf), [
        [
          ["create", "success", 5, undefined],
          ["use", "error", 5, "interrupted"],
          ["destroy", "success", 30, undefined]
        ]
      ])
      assert.deepStrictEqual(
        records.map(({ data }) => data),
        [{ released: true, after: true, errorMessage: message }]
      )
    })
  )

  it.effect("of the run inside an uninterruptible step records both steps once", () =>
    Effect.gen(function* () {
      const records: Array<TaskRecord> = []
      const task = Effect.uninterruptible(
        Step.run("outer", Effect.exit(Effect.interruptible(Step.run("inner", Effect.never))))
      )
      const fiber = yield* Effect.fork(runTask(task, {}, records))
      yield* TestClock.adjust(10)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(records.map(stepsOf), [
        [
          ["inner", "error", 10, "interrupted"],
          ["outer", "success", 10, undefined]
        ]
      ])
    })
  )
})

describe("the context of a task", () => {
  it.effect("counts slots from 0 while records count from the start of the worker's range", () =>
    Effect.gen(function* () {
      const task = Task.make(({ participant, taskIndex }) => Task.measure({ taskIndex, participant: participant.name }))
      const { records } = yield* runTask(task, { slots: 2, start: 40, participant: { name: "beta" } })
      assert.deepStrictEqual(
        records.map(({ data, taskIndex }) => [taskIndex, data]),
        [
          [40, { taskIndex: 0, participant: "beta" }],
          [41, { taskIndex: 1, participant: "beta" }]
        ]
      )
    })
  )

  it.effect("logs with level and metadata, in order, also at once with other tasks", () =>
    Effect.gen(function* () {
      const task = Task.make(({ taskIndex }) =>
        Effect.gen(function* () {
          yield* Task.log("begin")
          yield* Effect.sleep(10 - taskIndex)
          yield* Step.run("step", Task.log("in step", { level: "warn", meta: { taskIndex } }))
          yield* Task.log("left out", { level: "debug" })
        })
      )
      const { log } = yield* within(10, runTask(task, { slots: 2, concurrency: 2 }))
      assert.deepStrictEqual(log.split("\n"), [
        `${start}.000Z [task 0] [info] begin`,
        `${start}.000Z [task 1] [info] begin`,
        `${start}.009Z [task 1] [warn] in step {"taskIndex":1}`,
        `${start}.009Z [task 1] [info] step`,
        `${start}.010Z [task 0] [warn] in step {"taskIndex":0}`,
        `${start}.010Z [task 0] [info] step`,
        ""
      ])
    })
  )
})
