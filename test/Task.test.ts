import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, FiberRef, HashMap, Ref, TestClock } from "effect"
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

describe("a failing task", () => {
  const throwing = (key: string): object =>
    Object.defineProperty({}, key, {
      enumerable: true,
      get: () => {
        throw new Error("hostile")
      }
    })
  const refuse = (): never => {
    throw new Error("hostile")
  }
  const guarded = new Proxy({}, { get: refuse, getPrototypeOf: refuse, ownKeys: refuse })
  const unreadable = "an error that cannot be read"
  const withMessage = (message: unknown): Error => Object.assign(new Error("x"), { message })

  const cases: ReadonlyArray<readonly [string, unknown, string, string]> = [
    ["undefined", undefined, "ERROR", "undefined"],
    ["null", null, "ERROR", "null"],
    ["text", "boom", "ERROR", "boom"],
    ["empty text", "", "ERROR", ""],
    ["a number", 7, "ERROR", "7"],
    ["a symbol", Symbol("s"), "ERROR", "Symbol(s)"],
    ["a bigint", 7n, "ERROR", "7"],
    ["an error", new RangeError("out"), "RangeError", "out"],
    ["an error with a code", Object.assign(new Error("out"), { code: "E_OUT" }), "E_OUT", "out"],
    ["an error without a message", new TypeError(), "TypeError", ""],
    ["a tagged value", { _tag: "NotFound" }, "NotFound", "NotFound"],
    ["a tagged value with a message", { _tag: "NotFound", message: "gone" }, "NotFound", "gone"],
    ["a plain object", {}, "ERROR", "[object Object]"],
    ["an object without a prototype", Object.create(null), "ERROR", "an error without a readable message"],
    ["an error whose message is not text", withMessage(5n), "Error", "5"],
    ["an error whose message is an object", withMessage({ a: 1 }), "Error", "[object Object]"],
    ["an object whose tag throws", throwing("_tag"), "ERROR", `${unreadable} (hostile)`],
    ["an object whose toString throws", throwing("toString"), "ERROR", "an error without a readable message"],
    [
      "an error whose code throws",
      Object.defineProperties(new Error("x"), Object.getOwnPropertyDescriptors(throwing("code"))),
      "ERROR",
      `${unreadable} (hostile)`
    ],
    ["a proxy that throws at every look", guarded, "ERROR", `${unreadable} (hostile)`]
  ]

  for (const [name, value, code, message] of cases) {
    it.effect(`that fails with, dies of or throws ${name} is recorded, and the next one runs`, () =>
      Effect.gen(function* () {
        const ends: ReadonlyArray<Effect.Effect<void, unknown>> = [
          Effect.fail(value),
          Effect.die(value),
          Effect.sync(() => {
            throw value
          }),
          Effect.promise(() => Promise.reject(value))
        ]
        const task = Task.make(({ taskIndex }) => ends[taskIndex] ?? Effect.void)
        const { log, records } = yield* runTask(task, { slots: ends.length + 1 })
        assert.deepStrictEqual(records.map(errorOf), [
          ...ends.map(() => ["error", code, message]),
          ["success", undefined, undefined]
        ])
        assert.doesNotThrow(() => JSON.stringify(records))
        assert.strictEqual(log, "")
      })
    )
  }

  it.effect("that throws before it has an effect is recorded", () =>
    Effect.gen(function* () {
      const record = yield* onlyRecord(
        Task.make((): Effect.Effect<void> => {
          throw new RangeError("early")
        })
      )
      assert.deepStrictEqual(errorOf(record), ["error", "RangeError", "early"])
    })
  )

  it.effect("keeps what it measured before", () =>
    Effect.gen(function* () {
      const task = Effect.gen(function* () {
        yield* Task.measure({ before: 1, errorMessage: "overwritten" })
        yield* Step.run("a", Task.measure({ in: 1 }))
        return yield* new Task.TaskError("no", { code: "E", data: { with: 2 } })
      })
      const record = yield* onlyRecord(task)
      assert.deepStrictEqual(record.data, { before: 1, with: 2, errorMessage: "no" })
      assert.deepStrictEqual(record.steps?.[0]?.data, { in: 1 })
      assert.strictEqual(record.errorCode, "E")
    })
  )

  it.effect("whose error carries what JSON cannot hold says so and keeps the error", () =>
    Effect.gen(function* () {
      const record = yield* onlyRecord(new Task.TaskError("no", { code: "E", data: { big: 1n } }))
      assert.deepStrictEqual(errorOf(record), [
        "error",
        "E",
        `no (not all of it was recorded: the task's data: "big" is a bigint, which JSON cannot hold)`
      ])
    })
  )

  it.effect("with several failures is recorded with the first, failure before defect before interruption", () =>
    Effect.gen(function* () {
      const task = Effect.failCause(
        Effect.runSync(Effect.flip(Effect.sandbox(Effect.ensuring(Effect.fail("first"), Effect.die("second")))))
      )
      assert.deepStrictEqual(errorOf(yield* onlyRecord(task)), ["error", "ERROR", "first"])
      const interrupted = Effect.ensuring(Effect.interrupt, Effect.die("defect"))
      assert.deepStrictEqual(errorOf(yield* onlyRecord(interrupted)), ["error", "ERROR", "defect"])
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

describe("what a task returns", () => {
  it.effect("adds data, steps and latency to its record", () =>
    Effect.gen(function* () {
      const task = Effect.gen(function* () {
        yield* Task.measure({ a: 1, b: 1 })
        yield* Step.run("own", Effect.void)
        return { data: { b: 2 }, steps: [{ name: "given", status: "success", latencyMs: 3 }], latencyMs: 12.5 }
      })
      const record = yield* onlyRecord(task)
      assert.deepStrictEqual(record.data, { a: 1, b: 2 })
      assert.deepStrictEqual(stepsOf(record), [
        ["own", "success", 0, undefined],
        ["given", "success", 3, undefined]
      ])
      assert.strictEqual(record.latencyMs, 12.5)
    })
  )

  it.effect("is ignored when it is none of these", () =>
    Effect.gen(function* () {
      for (const value of [
        undefined,
        null,
        5,
        "text",
        () => 1,
        [1, 2],
        { other: 1 },
        { latencyMs: -1 },
        { latencyMs: "5" }
      ]) {
        const record = yield* onlyRecord(Effect.succeed(value))
        assert.deepStrictEqual(record, {
          taskIndex: 0,
          status: "success",
          startedAt: `${start}.000Z`,
          completedAt: `${start}.000Z`,
          latencyMs: 0,
          steps: [
            {
              name: "task",
              status: "success",
              startedAt: `${start}.000Z`,
              completedAt: `${start}.000Z`,
              latencyMs: 0,
              errorCode: null
            }
          ]
        })
      }
    })
  )

  const refused: ReadonlyArray<readonly [string, () => unknown, string]> = [
    [
      "data that is not an object",
      () => ({ data: "x" }),
      "the task's data: the value is a string, which JSON cannot hold as an object's fields"
    ],
    [
      "data that JSON cannot hold",
      () => ({ data: { n: Number.NaN } }),
      `the task's data: "n" is NaN, which JSON cannot hold`
    ],
    ["steps that are not a list", () => ({ steps: {} }), "the task's steps must be an array of step records"],
    [
      "a step without a name",
      () => ({ steps: [{ status: "success" }] }),
      "the task's steps[0] must be a step record with a name and a status"
    ],
    [
      "more steps than a record holds",
      () => ({ steps: Array(100).fill({ name: "s", status: "success" }) }),
      "the task's steps are more than the 100 that a record holds"
    ],
    [
      "a getter that throws",
      () => ({
        get data() {
          throw new Error("hostile")
        }
      }),
      "the task's result cannot be read (hostile)"
    ],
    [
      "data that cannot be read",
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        return { data: proxy }
      },
      "the task's data: the value is an object that cannot be read (Cannot perform 'IsArray' on a proxy that has been revoked), which JSON cannot hold"
    ]
  ]

  for (const [name, result, detail] of refused) {
    it.effect(`is an error when it is ${name}`, () =>
      Effect.gen(function* () {
        const { records } = yield* runTask(Effect.as(Step.run("own", Effect.void), result()), { slots: 2 })
        assert.deepStrictEqual(
          records.map(errorOf),
          Array(2).fill(["error", "InvalidMeasure", `Cannot record this measure: ${detail}.`])
        )
        assert.deepStrictEqual(
          records.map(({ steps }) => steps?.length),
          [1, 1]
        )
      })
    )
  }

  it.effect("is not changed by what the task does to it later", () =>
    Effect.gen(function* () {
      const list = yield* Ref.make([1])
      const data = { list: yield* Ref.get(list) }
      const { records } = yield* runTask(
        Effect.sync(() => {
          data.list.push(data.list.length + 1)
          return { data }
        }),
        { slots: 2 }
      )
      assert.deepStrictEqual(
        records.map((record) => record.data),
        [{ list: [1, 2] }, { list: [1, 2, 3] }]
      )
    })
  )
})

describe("a phase", () => {
  it.effect("is in the data of every record, and no task can overwrite or remove it", () =>
    Effect.gen(function* () {
      const tasks: ReadonlyArray<Effect.Effect<unknown, unknown, Task.TaskServices>> = [
        Effect.void,
        Task.measure({ n: 1 }),
        Task.measure({ phase: "mine" }),
        Task.measure({ phase: undefined }),
        Effect.succeed({ data: { phase: "mine" } }),
        Effect.fail("no"),
        new Task.TaskError("no", { data: { phase: "mine" } }),
        Effect.addFinalizer(() => Task.measure({ phase: "mine" }))
      ]
      const task = Task.make(({ phase, taskIndex }) =>
        phase === "warm" ? (tasks[taskIndex] ?? Effect.void) : Effect.dieMessage("phase is not in the context")
      )
      const { records } = yield* runTask(task, { slots: tasks.length, phase: "warm" })
      assert.deepStrictEqual(
        records.map(({ data }) => data?.["phase"]),
        tasks.map(() => "warm")
      )
      assert.deepStrictEqual(
        records.map(({ steps }) => steps?.[0]?.data?.["phase"]),
        tasks.map(() => "warm")
      )
      assert.strictEqual(records.filter(({ status }) => status === "error").length, 2)
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
