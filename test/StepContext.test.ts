import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, FiberRef, Layer, Logger, Option, Queue, Schedule, Stream } from "effect"
import type { TaskRecord } from "../src/Record.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { onlyRecord, runTask, within } from "./support/engine.js"

/** Where each measure ended up. */
const dataOf = (record: TaskRecord): Record<string, unknown> => ({
  task: record.data,
  ...Object.fromEntries(record.steps?.map(({ data, name }) => [name, data]) ?? [])
})

class Client extends Context.Tag("test/Client")<Client, string>() {}

/** Measures the client that is visible here. */
const measureClient = (key: string) =>
  Effect.flatMap(Effect.serviceOption(Client), (client) =>
    Task.measure({ [key]: Option.getOrElse(client, () => "none") })
  )

describe("a measure belongs to", () => {
  it.effect("the step that makes it, also when steps run at once", () =>
    Effect.gen(function* () {
      const step = (name: string, millis: number) =>
        Step.run(
          name,
          Task.measure({ before: name }).pipe(
            Effect.andThen(Effect.sleep(millis)),
            Effect.andThen(Task.measure({ after: name }))
          )
        )
      const task = Effect.gen(function* () {
        yield* Effect.all([step("a", 30), step("b", 10), step("c", 20)], { concurrency: "unbounded" })
        yield* Task.measure({ own: true })
      })
      assert.deepStrictEqual(dataOf(yield* within(30, onlyRecord(task))), {
        task: { own: true },
        a: { before: "a", after: "a" },
        b: { before: "b", after: "b" },
        c: { before: "c", after: "c" }
      })
    })
  )

  it.effect("the innermost of nested steps, and to the outer one again after it", () =>
    Effect.gen(function* () {
      const task = Step.run(
        "outer",
        Effect.gen(function* () {
          yield* Task.measure({ n: 1 })
          yield* Step.run("inner", Task.measure({ n: 2 }))
          yield* Task.measure({ m: 3 })
          yield* Effect.ignore(Step.run("failing", Effect.andThen(Task.measure({ n: 4 }), Effect.fail("no"))))
          yield* Task.measure({ o: 5 })
        })
      )
      const record = yield* onlyRecord(Effect.andThen(task, Task.measure({ p: 6 })))
      assert.deepStrictEqual(dataOf(record), {
        task: { p: 6 },
        outer: { n: 1, m: 3, o: 5 },
        inner: { n: 2 },
        failing: { n: 4 }
      })
    })
  )

  it.effect("the step that forked the fiber that makes it", () =>
    Effect.gen(function* () {
      const task = Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        const waiting = yield* Step.run(
          "a",
          Effect.fork(Effect.andThen(Deferred.await(gate), Task.measure({ late: 1 })))
        )
        yield* Step.run(
          "b",
          Effect.gen(function* () {
            const forked = yield* Effect.fork(Task.measure({ fork: 1 }))
            yield* Fiber.join(forked)
            yield* Deferred.succeed(gate, undefined)
            yield* Fiber.join(waiting)
            yield* Task.measure({ own: 1 })
          })
        )
      })
      assert.deepStrictEqual(dataOf(yield* onlyRecord(task)), {
        task: { late: 1 },
        a: undefined,
        b: { fork: 1, own: 1 }
      })
    })
  )

  it.effect("what encloses its step when that has ended, step or task", () =>
    Effect.gen(function* () {
      const task = Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        const background = (key: string) =>
          Effect.fork(Effect.andThen(Deferred.await(gate), Task.measure({ [key]: 1 })))
        const first = yield* Step.run("first", background("afterFirst"))
        yield* Step.run(
          "outer",
          Effect.gen(function* () {
            const nested = yield* Step.run("nested", background("afterNested"))
            yield* Deferred.succeed(gate, undefined)
            yield* Fiber.await(nested)
            yield* Fiber.await(first)
          })
        )
      })
      assert.deepStrictEqual(dataOf(yield* onlyRecord(task)), {
        task: { afterFirst: 1 },
        first: undefined,
        nested: undefined,
        outer: { afterNested: 1 }
      })
    })
  )

  it.effect("the step that joins a fiber, whatever steps that fiber has run", () =>
    Effect.gen(function* () {
      const task = Effect.gen(function* () {
        const background = yield* Effect.fork(Step.run("background", Task.measure({ n: 1 })))
        yield* Step.run(
          "joining",
          Effect.gen(function* () {
            yield* Fiber.join(background)
            yield* Task.measure({ n: 2 })
          })
        )
      })
      assert.deepStrictEqual(dataOf(yield* onlyRecord(task)), {
        task: undefined,
        background: { n: 1 },
        joining: { n: 2 }
      })
    })
  )

  it.effect("the step that uses a cached effect, whatever step that effect ran first", () =>
    Effect.gen(function* () {
      const task = Effect.gen(function* () {
        const connect = yield* Effect.cached(Step.run("connect", Task.measure({ n: 1 })))
        yield* Step.run("first", connect)
        yield* Step.run("second", Effect.andThen(connect, Task.measure({ n: 2 })))
      })
      assert.deepStrictEqual(dataOf(yield* onlyRecord(task)), {
        task: undefined,
        connect: { n: 1 },
        first: undefined,
        second: { n: 2 }
      })
    })
  )

  it.effect("its own task when an effect is cached for all of them", () =>
    Effect.gen(function* () {
      let connecting: Effect.Effect<void, never, Task.CurrentTask> | undefined
      const task = Task.make(({ taskIndex }) =>
        Effect.gen(function* () {
          connecting ??= yield* Effect.cached(Step.run("connect", Effect.void))
          yield* connecting
          yield* Task.measure({ taskIndex })
        })
      )
      const { records } = yield* runTask(task, { slots: 3 })
      assert.deepStrictEqual(
        records.map(({ data }) => data),
        [{ taskIndex: 0 }, { taskIndex: 1 }, { taskIndex: 2 }]
      )
    })
  )

  it.effect("the step around a race, a timeout or a stream that ran steps of its own", () =>
    Effect.gen(function* () {
      const task = Step.run(
        "outer",
        Effect.gen(function* () {
          yield* Effect.race(Step.run("won", Effect.void), Step.run("lost", Effect.never))
          yield* Task.measure({ race: 1 })
          yield* Effect.timeout(Step.run("quick", Effect.void), "1 second")
          yield* Task.measure({ timeout: 1 })
          yield* Stream.range(1, 3).pipe(
            Stream.mapEffect((n) => Step.run(`item ${n}`, Task.measure({ n })), { concurrency: 3 }),
            Stream.runDrain
          )
          yield* Task.measure({ stream: 1 })
        })
      )
      assert.deepStrictEqual(dataOf(yield* onlyRecord(task)), {
        task: undefined,
        won: undefined,
        lost: undefined,
        quick: undefined,
        outer: { race: 1, timeout: 1, stream: 1 },
        "item 1": { n: 1 },
        "item 2": { n: 2 },
        "item 3": { n: 3 }
      })
    })
  )

  it.effect("the step of the fiber that makes it when a worker fiber serves two steps", () =>
    Effect.gen(function* () {
      const task = Effect.gen(function* () {
        const jobs = yield* Queue.unbounded<Effect.Effect<void, never, Task.CurrentTask>>()
        yield* Effect.fork(Effect.forever(Effect.flatten(Queue.take(jobs))))
        const submit = (key: string) =>
          Effect.gen(function* () {
            const context = yield* Effect.context<Task.CurrentTask>()
            const done = yield* Deferred.make<void>()
            const job = Effect.andThen(Task.measure({ [key]: 1 }), Deferred.succeed(done, undefined))
            yield* Queue.offer(jobs, Effect.provide(Effect.asVoid(job), context))
            yield* Deferred.await(done)
          })
        yield* Effect.all([Step.run("a", submit("x")), Step.run("b", submit("y"))], { concurrency: 2 })
      })
      assert.deepStrictEqual(dataOf(yield* onlyRecord(task)), { task: undefined, a: { x: 1 }, b: { y: 1 } })
    })
  )

  it.effect("each slot on its own when tasks run at once", () =>
    Effect.gen(function* () {
      const task = Task.make(({ taskIndex }) =>
        Step.run(
          "step",
          Effect.andThen(
            Effect.sleep(10 - taskIndex),
            Effect.suspend(() => Task.measure({ taskIndex }))
          )
        ).pipe(Effect.andThen(Task.measure({ own: taskIndex })))
      )
      const { records } = yield* within(100, runTask(task, { slots: 10, concurrency: 5 }))
      assert.strictEqual(records.length, 10)
      for (const record of records) {
        assert.deepStrictEqual(dataOf(record), {
          task: { own: record.taskIndex },
          step: { taskIndex: record.taskIndex }
        })
      }
    })
  )
})

describe("a service", () => {
  it.effect("provided around several steps is visible in and between all of them, and not after", () =>
    Effect.gen(function* () {
      const steps = Effect.gen(function* () {
        yield* Step.run("a", measureClient("in"))
        yield* measureClient("between")
        yield* Step.run("b", measureClient("in"))
        yield* measureClient("behind")
      })
      const task = Effect.gen(function* () {
        yield* measureClient("before")
        yield* Effect.provideService(steps, Client, "provided")
        yield* measureClient("after")
      })
      assert.deepStrictEqual(dataOf(yield* onlyRecord(task)), {
        task: { before: "none", between: "provided", behind: "provided", after: "none" },
        a: { in: "provided" },
        b: { in: "provided" }
      })
    })
  )

  it.effect("provided inside a step does not leak out of it", () =>
    Effect.gen(function* () {
      const task = Effect.gen(function* () {
        yield* Step.run("a", Effect.provideService(measureClient("in"), Client, "inner"))
        yield* measureClient("after")
        yield* Step.run(
          "b",
          Effect.andThen(
            Effect.provideService(Step.run("c", measureClient("in")), Client, "inner"),
            measureClient("after")
          )
        )
        yield* Effect.ignore(
          Step.run("d", Effect.provideService(Effect.andThen(measureClient("in"), Effect.fail("no")), Client, "inner"))
        )
        yield* measureClient("end")
      })
      assert.deepStrictEqual(dataOf(yield* onlyRecord(task)), {
        task: { after: "none", end: "none" },
        a: { in: "inner" },
        b: { after: "none" },
        c: { in: "inner" },
        d: { in: "inner" }
      })
    })
  )

  it.effect(
    "of a layer in the middle of a task spans its steps, which may measure while it is built and released",
    () =>
      Effect.gen(function* () {
        const layer = Layer.scoped(
          Client,
          Effect.acquireRelease(Effect.as(Step.run("connect", Task.measure({ n: 1 })), "layer"), () =>
            Step.run("disconnect", Task.measure({ n: 2 }))
          )
        )
        const task = Effect.gen(function* () {
          yield* Effect.provide(Effect.andThen(Step.run("a", measureClient("in")), measureClient("between")), layer)
          yield* measureClient("after")
        })
        const record = yield* onlyRecord(task)
        assert.deepStrictEqual(dataOf(record), {
          task: { between: "layer", after: "none" },
          connect: { n: 1 },
          a: { in: "layer" },
          disconnect: { n: 2 }
        })
        assert.deepStrictEqual(
          record.steps?.map(({ name }) => name),
          ["connect", "a", "disconnect"]
        )
      })
  )

  it.effect("survives a step that fails or is interrupted", () =>
    Effect.gen(function* () {
      const steps = Effect.gen(function* () {
        yield* Effect.ignore(Step.run("a", Effect.fail("no")))
        yield* measureClient("failed")
        yield* Effect.exit(Step.run("b", Effect.die("no")))
        yield* measureClient("died")
        yield* Effect.exit(Step.run("c", Effect.interrupt))
        yield* measureClient("interrupted")
        yield* Effect.ignore(Step.run("d", Effect.never, { timeoutMs: 5 }))
        yield* measureClient("timedOut")
      })
      const task = Effect.provideService(steps, Client, "provided")
      assert.deepStrictEqual((yield* within(5, onlyRecord(task))).data, {
        failed: "provided",
        died: "provided",
        interrupted: "provided",
        timedOut: "provided"
      })
    })
  )

  it.effect("is visible to parallel and to timed invocations", () =>
    Effect.gen(function* () {
      const task = Effect.provideService(
        Step.run("a", measureClient("in"), { parallelInvocations: 2, timeoutMs: 10 }),
        Client,
        "provided"
      )
      assert.deepStrictEqual(dataOf(yield* within(0, onlyRecord(task))), { task: undefined, a: { in: "provided" } })
    })
  )

  it.effect("provided around the run is visible in every task", () =>
    Effect.gen(function* () {
      const task = Effect.andThen(Step.run("a", Effect.asVoid(Client)), measureClient("client"))
      const { records } = yield* Effect.provideService(runTask(task, { slots: 3, concurrency: 2 }), Client, "outer")
      assert.deepStrictEqual(
        records.map(({ data }) => data),
        [{ client: "outer" }, { client: "outer" }, { client: "outer" }]
      )
    })
  )
})

describe("a step inside", () => {
  it.effect("Effect.locally sees the value and leaves it alone", () =>
    Effect.gen(function* () {
      const ref = FiberRef.unsafeMake("outside")
      const task = Effect.gen(function* () {
        yield* Effect.locally(
          Effect.gen(function* () {
            yield* Step.run(
              "a",
              Effect.flatMap(FiberRef.get(ref), (value) => Task.measure({ value }))
            )
            yield* Task.measure({ inside: yield* FiberRef.get(ref) })
          }),
          ref,
          "inside"
        )
        yield* Task.measure({ after: yield* FiberRef.get(ref) })
      })
      assert.deepStrictEqual(dataOf(yield* onlyRecord(task)), {
        task: { inside: "inside", after: "outside" },
        a: { value: "inside" }
      })
    })
  )

  it.effect("Effect.withSpan has the span as its parent, and so has what follows", () =>
    Effect.gen(function* () {
      const spanName = Effect.map(Effect.option(Effect.currentSpan), (span) =>
        Option.match(span, { onNone: () => "none", onSome: ({ name }) => name })
      )
      const measureSpan = (key: string) => Effect.flatMap(spanName, (name) => Task.measure({ [key]: name }))
      const task = Effect.gen(function* () {
        yield* Effect.withSpan(
          Effect.gen(function* () {
            yield* Step.run("a", Effect.andThen(measureSpan("in"), Effect.withSpan(measureSpan("nested"), "inner")))
            yield* measureSpan("behind")
          }),
          "outer"
        )
        yield* measureSpan("after")
      })
      assert.deepStrictEqual(dataOf(yield* onlyRecord(task)), {
        task: { behind: "outer", after: "none" },
        a: { in: "outer", nested: "inner" }
      })
    })
  )

  it.effect("Effect.scoped acquires in that scope", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const open = (name: string) =>
        Effect.acquireRelease(
          Effect.sync(() => events.push(`open ${name}`)),
          () => Effect.sync(() => events.push(`close ${name}`))
        )
      const task = Effect.gen(function* () {
        yield* open("task")
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* Step.run("a", open("a"))
            yield* Step.run("b", Effect.scoped(open("b")))
            events.push("work")
          })
        )
        events.push("after")
        yield* Step.run("c", open("c"))
        events.push("end")
      })
      yield* onlyRecord(task)
      assert.deepStrictEqual(events, [
        "open task",
        "open a",
        "open b",
        "close b",
        "work",
        "close a",
        "after",
        "open c",
        "end",
        "close c",
        "close task"
      ])
    })
  )

  it.effect("another logger or schedule does not disturb either", () =>
    Effect.gen(function* () {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => {
        logged.push(message)
      })
      const task = Effect.gen(function* () {
        yield* Step.run("a", Effect.log("in step"))
        yield* Effect.log("between")
        yield* Effect.repeat(Step.run("b", Effect.log("repeated")), Schedule.recurs(1))
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      yield* runTask(task, { slots: 2 })
      const once = [["in step"], ["between"], ["repeated"], ["repeated"]]
      assert.deepStrictEqual(logged, [...once, ...once])
    })
  )

  it.effect("a released resource measures into the task when its step has ended", () =>
    Effect.gen(function* () {
      const resource = Effect.acquireRelease(Task.measure({ opened: 1 }), () => Task.measure({ released: 1 }))
      const task = Effect.scoped(Step.run("a", resource))
      assert.deepStrictEqual(dataOf(yield* onlyRecord(task)), { task: { released: 1 }, a: { opened: 1 } })
    })
  )
})

it("measuring outside a task does not compile", () => {
  // @ts-expect-error a measure needs a task
  const measure: Effect.Effect<void> = Task.measure({ n: 1 })
  // @ts-expect-error a step needs a task
  const step: Effect.Effect<void> = Step.run("a", Effect.void)
  const made: Task.Task<never, Client> = Task.make(Effect.andThen(Client, Task.measure({ n: 1 })))
  const plain: Task.Task = Task.make(() => Step.run("a", Effect.scoped(Effect.void)))
  assert.isTrue([measure, step, made].every(Effect.isEffect))
  assert.isFunction(plain)
})
