import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { BenchmarkConfigError } from "../src/Config.js"
import { fromFunction } from "../src/internal/promiseTask.js"
import type { PromiseTask, PromiseTaskContext } from "../src/promise.js"
import { defineBenchmarkConfig, defineTask, TaskError } from "../src/promise.js"
import type { TaskRecord } from "../src/Record.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { onlyRecord, runTask } from "./support/engine.js"

const sleep = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

const never = () => new Promise<never>(() => {})

const record = (task: PromiseTask) => onlyRecord(fromFunction(task))

const stepStates = (record: TaskRecord | undefined) =>
  record?.steps?.map(({ errorCode, name, status }) => [name, status, errorCode])

/** Runs a task and interrupts the run when the task says that it is ready for it. */
const interruptedRun = (task: (context: PromiseTaskContext, ready: () => void) => unknown) =>
  Effect.gen(function* () {
    const records: Array<TaskRecord> = []
    let ready = (): void => {}
    const isReady = new Promise<void>((resolve) => {
      ready = resolve
    })
    const fiber = yield* Effect.fork(
      runTask(
        fromFunction((context) => task(context, ready)),
        { slots: 3 },
        records
      )
    )
    yield* Effect.promise(() => isReady)
    const exit = yield* Fiber.interrupt(fiber)
    return { exit, records }
  })

describe("signal", () => {
  it.live("of a step is aborted at its timeout, and the task's is not", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const result = yield* record(async ({ measure, signal, step }) => {
        const work = ({ signal: ofStep }: { signal: AbortSignal }) => {
          ofStep.addEventListener("abort", () => seen.push("step aborted"))
          return never()
        }
        await step("slow", work, { timeoutMs: 5 }).catch((error) => seen.push(error.code))
        measure({ taskAborted: signal.aborted })
      })
      assert.deepStrictEqual(seen, ["step aborted", "step_timeout"])
      assert.deepStrictEqual(result.data, { taskAborted: false })
      assert.deepStrictEqual(stepStates(result), [["slow", "error", "step_timeout"]])
    })
  )

  it.live("of the task and of its running step are aborted when the run is interrupted", () =>
    Effect.gen(function* () {
      const aborted: Array<string> = []
      const { exit, records } = yield* interruptedRun(async ({ signal, step }, ready) => {
        signal.addEventListener("abort", () => aborted.push("task"))
        await step("slow", ({ signal: ofStep }) => {
          ofStep.addEventListener("abort", () => aborted.push("step"))
          ready()
          return never()
        })
      })
      assert.isTrue(Exit.isInterrupted(exit))
      assert.deepStrictEqual([...aborted].sort(), ["step", "task"])
      assert.deepStrictEqual(
        records.map(({ errorCode }) => errorCode),
        ["interrupted"]
      )
      assert.deepStrictEqual(stepStates(records[0]), [["slow", "error", "interrupted"]])
    })
  )

  it.live("of a task that ends by itself stays as it is", () =>
    Effect.gen(function* () {
      let kept: AbortSignal | undefined
      yield* record(async ({ signal }) => {
        kept = signal
      })
      assert.isFalse(kept?.aborted)
    })
  )

  it.live("of each parallel invocation is its own", () =>
    Effect.gen(function* () {
      const signals = new Set<AbortSignal>()
      const aborted: Array<number> = []
      let calls = 0
      const result = yield* record(({ step }) =>
        step(
          "ping",
          ({ signal }) => {
            signals.add(signal)
            const n = calls++
            signal.addEventListener("abort", () => aborted.push(n))
            return n === 1 ? never() : sleep(0)
          },
          { parallelInvocations: 3, timeoutMs: 25 }
        )
      )
      assert.strictEqual(signals.size, 3)
      assert.deepStrictEqual(aborted, [1])
      assert.deepStrictEqual(stepStates(result), [["ping", "error", "step_timeout"]])
    })
  )
})

describe("an async task after it was interrupted", () => {
  it.live("goes on as JavaScript does, but runs no further step", () =>
    Effect.gen(function* () {
      let ranAfter = false
      let failure: unknown
      let resume = (): void => {}
      let done = (): void => {}
      const resumed = new Promise<void>((resolve) => {
        resume = resolve
      })
      const isDone = new Promise<void>((resolve) => {
        done = resolve
      })
      const { records } = yield* interruptedRun(async ({ step }, ready) => {
        await step("first", () => {})
        ready()
        await resumed
        try {
          await step("second", () => {
            ranAfter = true
          })
        } catch (error) {
          failure = error
        }
        done()
      })
      resume()
      yield* Effect.promise(() => isDone)
      assert.isFalse(ranAfter)
      assert(failure instanceof DOMException)
      assert.strictEqual(failure.name, "AbortError")
      assert.deepStrictEqual(records.map(stepStates), [[["first", "success", undefined]]])
    })
  )
})

describe("attribution", () => {
  it.live("follows each branch of Promise.all", () =>
    Effect.gen(function* () {
      const result = yield* record(async ({ measure, step }) => {
        const one = (name: string, millis: number) =>
          step(name, async () => {
            measure({ before: name })
            await sleep(millis)
            measure({ after: name })
          })
        await Promise.all([one("a", 6), one("b", 0), one("c", 3)])
        measure({ own: true })
      })
      assert.deepStrictEqual(result.data, { own: true })
      for (const { data, name } of result.steps ?? []) assert.deepStrictEqual(data, { before: name, after: name })
      assert.strictEqual(result.steps?.length, 3)
    })
  )

  it.live("follows nested steps, timers and callbacks", () =>
    Effect.gen(function* () {
      const result = yield* record(async ({ measure, step }) => {
        await step("outer", async () => {
          await step("inner", async () => {
            await new Promise<void>((resolve) =>
              setTimeout(() => {
                measure({ timer: 1 })
                queueMicrotask(() => {
                  measure({ microtask: 1 })
                  resolve()
                })
              }, 1)
            )
          })
          measure({ after: "inner" })
        })
      })
      assert.deepStrictEqual(
        result.steps?.map(({ data, name }) => [name, data]),
        [
          ["inner", { timer: 1, microtask: 1 }],
          ["outer", { after: "inner" }]
        ]
      )
      assert.isUndefined(result.data)
    })
  )

  it.live("keeps tasks that run at once apart", () =>
    Effect.gen(function* () {
      const task = fromFunction(async ({ measure, step, taskIndex }) => {
        await step("wait", async () => {
          await sleep((10 - taskIndex) % 4)
          measure({ taskIndex })
        })
        measure({ own: taskIndex })
      })
      const { records } = yield* runTask(task, { slots: 10, concurrency: 5 })
      assert.strictEqual(records.length, 10)
      for (const { data, steps, taskIndex } of records) {
        assert.deepStrictEqual(data, { own: taskIndex })
        assert.deepStrictEqual(steps?.[0]?.data, { taskIndex })
      }
    })
  )

  it.live("goes to the task when the step has ended", () =>
    Effect.gen(function* () {
      const result = yield* record(async ({ measure, step }) => {
        let late: Promise<void> = Promise.resolve()
        await step("a", () => {
          late = sleep(5).then(() => measure({ late: 1 }))
        })
        await late
      })
      assert.deepStrictEqual(result.data, { late: 1 })
      assert.isUndefined(result.steps?.[0]?.data)
    })
  )
})

describe("steps that are not awaited", () => {
  it.live("are interrupted at the end of the task, with their signal, and recorded", () =>
    Effect.gen(function* () {
      let aborted = false
      const result = yield* record(({ step }) => {
        void step("left behind", ({ signal }) => {
          signal.addEventListener("abort", () => {
            aborted = true
          })
          return never()
        })
      })
      assert.isTrue(aborted)
      assert.strictEqual(result.status, "success")
      assert.deepStrictEqual(stepStates(result), [["left behind", "error", "interrupted"]])
    })
  )

  it.live("do not take the process down when they fail", () =>
    Effect.gen(function* () {
      const unhandled: Array<unknown> = []
      const listener = (reason: unknown) => unhandled.push(reason)
      process.on("unhandledRejection", listener)
      const result = yield* record(async ({ step }) => {
        void step("fails", () => Promise.reject(new TaskError("no", { code: "E_NO" })))
        await sleep(1)
        void step("left behind", never)
      })
      yield* Effect.promise(() => sleep(5))
      process.off("unhandledRejection", listener)
      assert.deepStrictEqual(unhandled, [])
      assert.deepStrictEqual(stepStates(result), [
        ["fails", "error", "E_NO"],
        ["left behind", "error", "interrupted"]
      ])
    })
  )

  it.live("are interrupted when the task fails before they end", () =>
    Effect.gen(function* () {
      const result = yield* record(({ step }) =>
        Promise.all([step("hangs", never), step("fails", () => Promise.reject(new TaskError("no", { code: "E_NO" })))])
      )
      assert.strictEqual(result.errorCode, "E_NO")
      assert.deepStrictEqual(stepStates(result), [
        ["fails", "error", "E_NO"],
        ["hangs", "error", "interrupted"]
      ])
    })
  )
})

describe("the context", () => {
  it.live("has members that can be used on their own", () =>
    Effect.gen(function* () {
      const task = fromFunction(async ({ log, measure, participant, phase, signal, step, taskIndex }) => {
        const value = await step("a", () => 5)
        measure({ value, participant: participant.name, phase, taskIndex, aborted: signal.aborted })
        log("said", { level: "warn", meta: { n: 1 } })
      })
      const { log, records } = yield* runTask(task, { phase: "warm", participant: { name: "beta" } })
      assert.deepStrictEqual(records[0]?.data, {
        phase: "warm",
        value: 5,
        participant: "beta",
        taskIndex: 0,
        aborted: false
      })
      assert.match(log, /\[task 0\] \[warn\] said \{"n":1\}\n$/)
    })
  )

  it.live("throws a measure that JSON cannot hold at the caller, who may go on", () =>
    Effect.gen(function* () {
      const result = yield* record(({ measure }) => {
        try {
          measure({ n: Number.NaN })
        } catch (error) {
          assert(error instanceof Task.InvalidMeasure)
          measure({ caught: error.message })
        }
      })
      assert.strictEqual(result.status, "success")
      assert.deepStrictEqual(result.data, { caught: 'Cannot record this measure: "n" is NaN, which JSON cannot hold.' })
    })
  )

  it.live("fails the task with a measure that nobody catches", () =>
    Effect.gen(function* () {
      const result = yield* record(({ measure }) => measure({ n: 1n }))
      assert.strictEqual(result.errorCode, "InvalidMeasure")
    })
  )
})

describe("what a step throws", () => {
  const thrown: ReadonlyArray<unknown> = [
    new TaskError("no", { code: "E" }),
    new RangeError("out"),
    { _tag: "Plain" },
    "text",
    0,
    null,
    undefined,
    Symbol("s")
  ]

  for (const [i, value] of thrown.entries()) {
    it.live(`arrives at its caller as the same value: ${String(value)} (${i})`, () =>
      Effect.gen(function* () {
        const same: Array<boolean> = []
        const caught = (error: unknown) => same.push(Object.is(error, value))
        const result = yield* record(async ({ step }) => {
          await step("sync", () => {
            throw value
          }).catch(caught)
          await step("async", () => Promise.reject(value)).catch(caught)
          await step("timed", () => Promise.reject(value), { timeoutMs: 1000 }).catch(caught)
          await step("parallel", () => Promise.reject(value), { parallelInvocations: 2 }).catch(caught)
          await step("outer", () => step("inner", () => Promise.reject(value))).catch(caught)
        })
        assert.deepStrictEqual(same, Array(5).fill(true))
        assert.strictEqual(result.status, "success")
        assert.strictEqual(result.steps?.length, 6)
      })
    )
  }

  it.live("and what it returns, also when that is an effect or a function", () =>
    Effect.gen(function* () {
      const values: ReadonlyArray<unknown> = [Effect.fail("not run"), () => 1, undefined, [1]]
      const same: Array<boolean> = []
      yield* record(async ({ step }) => {
        for (const value of values) same.push((await step("a", () => value)) === value)
      })
      assert.deepStrictEqual(
        same,
        values.map(() => true)
      )
    })
  )
})

describe("what a task may be", () => {
  it.live("a function that returns an effect", () =>
    Effect.gen(function* () {
      const result = yield* record(() => Step.run("a", Task.measure({ n: 1 })))
      assert.deepStrictEqual(result.steps?.[0]?.data, { n: 1 })
    })
  )

  it.live("a function that is not async, or returns its result", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* record(() => ({ data: { n: 1 } }))).data, { n: 1 })
      const result = yield* record(() => {
        throw new TaskError("no", { code: "E", data: { n: 2 } })
      })
      assert.deepStrictEqual(result.data, { n: 2, errorMessage: "no" })
    })
  )
})

describe("definitions", () => {
  it("defineTask gives back the function and refuses anything else", () => {
    const task = async () => {}
    assert.strictEqual(defineTask(task), task)
    for (const value of [undefined, null, {}, "task"]) {
      assert.throws(
        () => Reflect.apply(defineTask, undefined, [value]),
        TypeError,
        "defineTask requires a task function."
      )
    }
  })

  it("defineBenchmarkConfig gives back the same object", () => {
    const config = { benchmarkSlug: "a", benchmarkName: "A", participants: [{ name: "x" }] }
    assert.strictEqual(defineBenchmarkConfig(config), config)
  })

  it("defineBenchmarkConfig throws every problem at once", () => {
    const config = { benchmarkSlug: "", benchmarkName: "A", participants: [], iterations: 0 }
    try {
      defineBenchmarkConfig(config)
      assert.fail("did not throw")
    } catch (error) {
      assert(error instanceof BenchmarkConfigError)
      assert.sameMembers(
        error.issues.map(({ field }) => field),
        ["benchmarkSlug", "participants", "iterations"]
      )
      assert.match(error.message, /^Invalid benchmark config:\n {2}- /)
    }
  })
})
