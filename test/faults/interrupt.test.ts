import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Fiber } from "effect"
import type { RunSettings, Setting } from "../support/faults.js"
import {
  answers,
  assertInOrder,
  held,
  impatient,
  isTo,
  pushAll,
  range,
  run,
  setting,
  unavailable
} from "../support/faults.js"
import type { Fault } from "../support/platformHost.js"

const until = (condition: () => boolean) =>
  Effect.repeat(Effect.delay(Effect.sync(condition), "5 millis"), { until: (met) => met })

/** A host that is ill with one kind of request until it is told to be well. */
const illHost = (ending: string, fault: Fault) =>
  Effect.gen(function* () {
    let ill = true
    const where = yield* setting({
      misbehaviour: (request) => (ill && isTo(request, "POST", ending) ? fault : "normal")
    })
    return {
      where,
      recover: Effect.sync(() => {
        ill = false
      })
    }
  })

/** Runs three tasks and interrupts that some time after the first request to a path with this ending. */
const interrupted = (where: Setting, ending: string, millis: number, settings: Partial<RunSettings> = {}) =>
  Effect.gen(function* () {
    const running = yield* Effect.fork(run(where, { tasks: 3, ...settings }))
    yield* until(() => where.host.to(ending).length > 0)
    yield* Effect.sleep(millis)
    yield* Fiber.interruptFork(running)
    yield* Effect.sleep("50 millis")
    return running
  })

const assertInterrupted = (running: Fiber.RuntimeFiber<unknown>) =>
  Effect.gen(function* () {
    const exit = yield* Fiber.await(running)
    assert.isTrue(exit._tag === "Failure" && Cause.isInterruptedOnly(exit.cause))
  })

const assertDelivered = (where: Setting) =>
  Effect.gen(function* () {
    assertInOrder(where, range(3))
    assert.deepStrictEqual((yield* held(where)).workers, ["completed"])
    assert.deepStrictEqual((yield* where.spool.list).entries, [])
  })

describe("an interrupt while the last results are delivered", () => {
  const cases: ReadonlyArray<readonly [string, Fault, number]> = [
    ["on their way", { fault: "silence" }, 0],
    ["waiting to be sent again", answers(503, { "retry-after": "1" }), 200]
  ]
  for (const [what, fault, millis] of cases) {
    it.scopedLive(`lets them arrive, and then ends the run (${what})`, () =>
      Effect.gen(function* () {
        const { recover, where } = yield* illHost("/events", fault)
        const running = yield* interrupted(where, "/events", millis, { reporter: { requestTimeout: "500 millis" } })
        yield* recover
        yield* assertInterrupted(running)
        yield* assertDelivered(where)
      })
    )
  }

  it.scopedLive("lets the worker be closed", () =>
    Effect.gen(function* () {
      const { recover, where } = yield* illHost("/complete", { fault: "silence" })
      const running = yield* interrupted(where, "/complete", 0, { reporter: { requestTimeout: "300 millis" } })
      yield* recover
      yield* assertInterrupted(running)
      yield* assertDelivered(where)
    })
  )

  it.scopedLive("leaves them to push when they cannot be delivered", () =>
    Effect.gen(function* () {
      const { recover, where } = yield* illHost("/events", unavailable)
      const running = yield* interrupted(where, "/events", 0, { reporter: { flushSchedule: impatient } })
      yield* Fiber.await(running)
      yield* recover
      const pushed = yield* pushAll(where)
      assert.deepStrictEqual(
        pushed.map((one) => (one._tag === "Right" ? one.right : one.left)),
        [{ _tag: "Delivered", records: 3, worker: "completed" }]
      )
      yield* assertDelivered(where)
    })
  )
})
