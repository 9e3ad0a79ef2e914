import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import type { TaskRecord } from "../src/Record.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { ManualClock } from "./support/clocks.js"
import { onlyRecord, runTask, stepsOf, within } from "./support/engine.js"

const start = "1970-01-01T00:00:00"

describe("timing", () => {
  it.effect("a step takes as long as its work", () =>
    Effect.gen(function* () {
      const record = yield* within(
        165,
        onlyRecord(
          Effect.gen(function* () {
            yield* Step.run("first", Effect.sleep(120))
            yield* Effect.sleep(10)
            yield* Step.run("second", Effect.sleep(30))
            yield* Effect.sleep(5)
          })
        )
      )
      assert.deepStrictEqual(record, {
        taskIndex: 0,
        status: "success",
        startedAt: `${start}.000Z`,
        completedAt: `${start}.165Z`,
        latencyMs: 165,
        steps: [
          {
            name: "first",
            status: "success",
            startedAt: `${start}.000Z`,
            completedAt: `${start}.120Z`,
            latencyMs: 120
          },
          { name: "second", status: "success", startedAt: `${start}.130Z`, completedAt: `${start}.160Z`, latencyMs: 30 }
        ]
      })
    })
  )

  it.effect("latencies are rounded to microseconds", () =>
    Effect.gen(function* () {
      const clock = new ManualClock()
      const pass = (nanos: bigint) =>
        Effect.sync(() => {
          clock.nanos += nanos
        })
      const record = yield* onlyRecord(Effect.andThen(Step.run("a", pass(1_234_567n)), Step.run("b", pass(400n)))).pipe(
        Effect.withClock(clock)
      )
      assert.deepStrictEqual(stepsOf(record), [
        ["a", "success", 1.235, undefined],
        ["b", "success", 0, undefined]
      ])
      assert.strictEqual(record.latencyMs, 1.235)
    })
  )

  it.effect("setting the wall clock while a step runs changes neither latency nor timestamps", () =>
    Effect.gen(function* () {
      const clock = new ManualClock()
      clock.wallMillis = Date.UTC(2026, 0, 1)
      const setBack = Effect.sync(() => {
        clock.wallMillis -= 3_600_000
      })
      const work = Effect.sleep(40).pipe(Effect.andThen(setBack), Effect.andThen(Effect.sleep(2)))
      const record = yield* onlyRecord(Step.run("a", work)).pipe(Effect.withClock(clock))
      const times = { startedAt: "2026-01-01T00:00:00.000Z", completedAt: "2026-01-01T00:00:00.042Z", latencyMs: 42 }
      assert.deepStrictEqual(record, {
        taskIndex: 0,
        status: "success",
        ...times,
        steps: [{ name: "a", status: "success", ...times }]
      })
    })
  )

  it.effect("a failed step takes until it failed", () =>
    Effect.gen(function* () {
      const failing = Effect.andThen(Effect.sleep(7), Effect.fail(new Task.TaskError("no", { code: "E_NO" })))
      const record = yield* within(7, onlyRecord(Step.run("a", failing)))
      assert.deepStrictEqual(stepsOf(record), [["a", "error", 7, "E_NO"]])
      assert.deepStrictEqual(record.data, { errorMessage: "no" })
    })
  )
})

describe("parallelInvocations", () => {
  it.effect("gives back every result in the order of invocation", () =>
    Effect.gen(function* () {
      let calls = 0
      const work = Effect.suspend(() => {
        const n = calls++
        return Effect.as(Effect.sleep(30 - n * 10), n)
      })
      const task = Effect.gen(function* () {
        const results: Array<number> = yield* Step.run("ping", work, { parallelInvocations: 3 })
        yield* Task.measure({ results })
      })
      const record = yield* within(30, onlyRecord(task))
      assert.deepStrictEqual(record.data, { results: [0, 1, 2] })
      assert.deepStrictEqual(stepsOf(record), [["ping", "success", 30, undefined]])
    })
  )

  it.effect("settles every invocation, then fails with the first failure in order of invocation", () =>
    Effect.gen(function* () {
      let calls = 0
      const ended: Array<number> = []
      const work = Effect.suspend(() => {
        const n = calls++
        return Effect.sleep(30 - n * 10).pipe(
          Effect.andThen(Effect.sync(() => ended.push(n))),
          Effect.andThen(n === 2 ? Effect.void : Effect.fail(new Task.TaskError(`failed ${n}`, { code: `E${n}` })))
        )
      })
      const record = yield* within(30, onlyRecord(Step.run("ping", work, { parallelInvocations: 3 })))
      assert.deepStrictEqual(ended, [2, 1, 0])
      assert.deepStrictEqual(stepsOf(record), [["ping", "error", 30, "E0"]])
      assert.deepStrictEqual(record.data, { errorMessage: "failed 0" })
    })
  )

  it.effect("a defect or an interruption of one invocation is a failure like any other", () =>
    Effect.gen(function* () {
      let calls = 0
      const ended: Array<number> = []
      const work = Effect.suspend(() => {
        const n = calls++
        if (n === 0) return Effect.interrupt
        if (n === 1) return Effect.die(new RangeError("out"))
        return Effect.andThen(
          Effect.sleep(5),
          Effect.sync(() => ended.push(n))
        )
      })
      const record = yield* within(5, onlyRecord(Step.run("ping", work, { parallelInvocations: 3 })))
      assert.deepStrictEqual(ended, [2])
      assert.deepStrictEqual(stepsOf(record), [["ping", "error", 5, "interrupted"]])
    })
  )

  it.effect("interrupting the step interrupts every invocation", () =>
    Effect.gen(function* () {
      let interrupted = 0
      const work = Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
      const task = Effect.raceFirst(Step.run("ping", work, { parallelInvocations: 3 }), Effect.sleep(10))
      const record = yield* within(10, onlyRecord(task))
      assert.strictEqual(interrupted, 3)
      assert.deepStrictEqual(stepsOf(record), [["ping", "error", 10, "interrupted"]])
    })
  )

  it("types results and errors by the options", () => {
    const work = Effect.succeed("x")
    const many: number = 3
    const maybe: number | undefined = Math.random() < 2 ? 3 : undefined
    const options: Step.StepOptions = {}
    const check = Effect.gen(function* () {
      const none: string = yield* Step.run("a", work)
      const empty: string = yield* Step.run("a", work, {})
      const timed: string = yield* Step.run("a", work, { timeoutMs: 5 })
      const one: string = yield* Step.run("a", work, { parallelInvocations: 1 })
      const three: Array<string> = yield* Step.run("a", work, { parallelInvocations: 3 })
      const deprecated: Array<string> = yield* Step.run("a", work, { concurrency: 2 })
      const both: string = yield* Step.run("a", work, { parallelInvocations: 1, concurrency: 2 })
      const some: string | Array<string> = yield* Step.run("a", work, { parallelInvocations: many })
      // @ts-expect-error how many results there are is not known
      const tooMany: Array<string> = yield* Step.run("a", work, { parallelInvocations: many })
      // @ts-expect-error there may be several results
      const tooFew: string = yield* Step.run("a", work, { parallelInvocations: maybe })
      // @ts-expect-error there may be several results
      const unknown: string = yield* Step.run("a", work, options)
      return [none, empty, timed, one, three, deprecated, both, some, tooMany, tooFew, unknown]
    })
    type Cannot = Effect.Effect<unknown, never, Task.CurrentTask>
    const cannotFail: ReadonlyArray<Cannot> = [Step.run("a", work), Step.run("a", work, { timeoutMs: undefined })]
    const canTimeOut: Effect.Effect<string, Step.StepTimeout, Task.CurrentTask> = Step.run("a", work, { timeoutMs: 1 })
    // @ts-expect-error a step with a limit can time out
    const wrong: Cannot = Step.run("a", work, { timeoutMs: 1 })
    // @ts-expect-error a step with a limit can time out
    const maybeWrong: Cannot = Step.run("a", work, { timeoutMs: maybe })
    // @ts-expect-error a step with a limit can time out
    const anyWrong: Cannot = Step.run("a", work, options)
    for (const effect of [check, ...cannotFail, canTimeOut, wrong, maybeWrong, anyWrong]) {
      assert.isTrue(Effect.isEffect(effect))
    }
  })
})

describe("options", () => {
  const refused: ReadonlyArray<readonly [Step.StepOptions, string]> = [
    [{ parallelInvocations: 0 }, 'step "a" parallelInvocations must be an integer >= 1 (got 0)'],
    [{ parallelInvocations: -2 }, 'step "a" parallelInvocations must be an integer >= 1 (got -2)'],
    [{ parallelInvocations: 1.5 }, 'step "a" parallelInvocations must be an integer >= 1 (got 1.5)'],
    [{ parallelInvocations: Number.NaN }, 'step "a" parallelInvocations must be an integer >= 1 (got NaN)'],
    [{ concurrency: 0 }, 'step "a" parallelInvocations must be an integer >= 1 (got 0)'],
    [{ timeoutMs: -1 }, 'step "a" timeoutMs must be a number >= 0 (got -1)'],
    [{ timeoutMs: Number.NaN }, 'step "a" timeoutMs must be a number >= 0 (got NaN)'],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, 'step "a" timeoutMs must be a number >= 0 (got Infinity)']
  ]

  for (const [options, message] of refused) {
    it.effect(`refuses: ${message}`, () =>
      Effect.gen(function* () {
        let ran = false
        const work = Effect.sync(() => {
          ran = true
        })
        const record = yield* onlyRecord(Step.run("a", work, options))
        assert.isFalse(ran)
        assert.strictEqual(record.status, "error")
        assert.deepStrictEqual(record.data, { errorMessage: message })
        assert.deepStrictEqual(stepsOf(record), [["a", "error", 0, "Error"]])
      })
    )
  }

  it.effect("refuses what untyped callers give it, without spoiling the record", () =>
    Effect.gen(function* () {
      const options: Record<string, unknown> = { timeoutMs: 5n, parallelInvocations: Symbol("two") }
      const record = yield* onlyRecord(Step.run("a", Effect.void, options))
      assert.deepStrictEqual(record.steps?.[0], {
        name: "a",
        status: "error",
        startedAt: `${start}.000Z`,
        completedAt: `${start}.000Z`,
        latencyMs: 0,
        concurrency: "Symbol(two)",
        timeoutMs: "5",
        errorCode: "Error"
      })
      assert.doesNotThrow(() => JSON.stringify(record))
    })
  )

  it.effect("the deprecated option is warned about", () =>
    Effect.gen(function* () {
      const { warnings } = yield* runTask(Step.run("a", Effect.void, { concurrency: 2 }))
      assert.deepStrictEqual(warnings, ['step "a" option "concurrency" is deprecated; use "parallelInvocations"'])
    })
  )

  it.effect("output of a command goes to the log unless that is turned off", () =>
    Effect.gen(function* () {
      const output = Effect.succeed({ stdout: "hello\n", exitCode: 0 })
      const task = Effect.gen(function* () {
        const { exitCode } = yield* Step.run("kept", output)
        yield* Step.run("dropped", output, { captureOutput: false })
        yield* Task.measure({ exitCode })
      })
      const { log, records } = yield* runTask(task)
      assert.deepStrictEqual(
        log.split("\n").map((line) => line.replace(`${start}.000Z `, "")),
        ["[task 0] [info] kept", "[task 0] kept stdout: hello", "[task 0] [info] dropped", ""]
      )
      assert.deepStrictEqual(records[0]?.data, { exitCode: 0 })
    })
  )

  it.effect("a result that cannot be looked at is passed on", () =>
    Effect.gen(function* () {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      const task = Effect.andThen(Step.run("a", Effect.succeed({ proxy })), ({ proxy: got }) =>
        Effect.andThen(Step.run("b", Effect.succeed(got)), (same) => Task.measure({ same: same === proxy }))
      )
      const record = yield* onlyRecord(task)
      assert.deepStrictEqual(record.data, { same: true })
      assert.strictEqual(record.status, "success")
    })
  )
})

describe("how often a step is recorded", () => {
  it.effect("100 times in one task, and then refused", () =>
    Effect.gen(function* () {
      let ran = 0
      const task = (count: number) =>
        Effect.repeatN(
          Step.run(
            "a",
            Effect.sync(() => ran++)
          ),
          count - 1
        )
      const fits = yield* onlyRecord(task(100))
      assert.strictEqual(fits.status, "success")
      assert.strictEqual(fits.steps?.length, 100)
      ran = 0
      const tooMany = yield* onlyRecord(task(101))
      assert.strictEqual(ran, 100)
      assert.strictEqual(tooMany.status, "error")
      assert.strictEqual(tooMany.steps?.length, 100)
      assert.deepStrictEqual(tooMany.data, {
        errorMessage: 'step "a" is one too many: a task records at most 100 steps; repeat inside one step instead'
      })
    })
  )

  it.effect("once per try when it is retried", () =>
    Effect.gen(function* () {
      let tries = 0
      const flaky = Effect.suspend(() =>
        ++tries < 3 ? Effect.fail(new Task.TaskError("again", { code: `E${tries}` })) : Effect.succeed(tries)
      )
      const record = yield* onlyRecord(Effect.retry(Step.run("flaky", flaky), { times: 5 }))
      assert.strictEqual(record.status, "success")
      assert.deepStrictEqual(stepsOf(record), [
        ["flaky", "error", 0, "E1"],
        ["flaky", "error", 0, "E2"],
        ["flaky", "success", 0, undefined]
      ])
    })
  )

  it.effect("as interrupted when it loses a race", () =>
    Effect.gen(function* () {
      const record = yield* within(
        10,
        onlyRecord(Effect.race(Step.run("slow", Effect.sleep(100)), Step.run("fast", Effect.sleep(10))))
      )
      assert.deepStrictEqual(stepsOf(record), [
        ["fast", "success", 10, undefined],
        ["slow", "error", 10, "interrupted"]
      ])
      assert.strictEqual(record.status, "success")
    })
  )

  it.effect("as interrupted when a timeout around it strikes", () =>
    Effect.gen(function* () {
      const record = yield* within(10, onlyRecord(Effect.timeout(Step.run("slow", Effect.sleep(100)), 10)))
      assert.deepStrictEqual(stepsOf(record), [["slow", "error", 10, "interrupted"]])
      assert.strictEqual(record.errorCode, "TimeoutException")
    })
  )

  it.effect("to its end when it is uninterruptible", () =>
    Effect.gen(function* () {
      const task = Effect.gen(function* () {
        const fiber = yield* Effect.fork(Effect.uninterruptible(Step.run("a", Effect.sleep(30))))
        yield* Effect.sleep(10)
        yield* Fiber.interrupt(fiber)
      })
      const record = yield* within(30, onlyRecord(task))
      assert.deepStrictEqual(stepsOf(record), [["a", "success", 30, undefined]])
    })
  )

  it.effect("with a defect as with a failure", () =>
    Effect.gen(function* () {
      const record = yield* onlyRecord(
        Effect.ignore(
          Effect.sandbox(
            Step.run(
              "a",
              Effect.sync(() => {
                throw new RangeError("out")
              })
            )
          )
        )
      )
      assert.deepStrictEqual(stepsOf(record), [["a", "error", 0, "RangeError"]])
      assert.strictEqual(record.status, "success")
    })
  )

  it.effect("not at all when it ends after its task was recorded", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const records: Array<TaskRecord> = []
      const task = Effect.andThen(
        Effect.forkDaemon(Step.run("late", Deferred.await(gate))),
        Step.run("in time", Effect.yieldNow())
      )
      let log = ""
      const onClose = (text: string) => {
        log = text
      }
      const fiber = yield* Effect.fork(runTask(task, { slots: 2, staggerDelayMs: 10, onClose }, records))
      yield* TestClock.adjust(5)
      const [record] = records
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust(5)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(record === undefined ? [] : stepsOf(record), [["in time", "success", 0, undefined]])
      assert.include(log, '[task 0] [warn] step "late" ended after its task and was dropped')
    })
  )
})
