import { assert, describe, it } from "@effect/vitest"
import { ConfigError, Effect, Ref } from "effect"
import type { TaskRecord } from "../src/Record.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { onlyRecord, runTask, stepsOf } from "./support/engine.js"

const start = "1970-01-01T00:00:00"

const errorOf = ({ data, errorCode, status }: TaskRecord) => [status, errorCode, data?.["errorMessage"]]

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
    [
      "a setting that is wrong",
      ConfigError.InvalidData(["REDIS_URL"], "Expected a URL"),
      "ConfigError",
      '(Invalid data at REDIS_URL: "Expected a URL")'
    ],
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
