import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Schedule } from "effect"
import type { Setting } from "../support/faults.js"
import {
  answers,
  assertComplete,
  assertInOrder,
  garbage,
  held,
  impatient,
  isTo,
  patient,
  pushAll,
  range,
  resets,
  run,
  setting,
  tasksIn,
  unavailable,
  undeliveredOf
} from "../support/faults.js"
import type { Fault, Received } from "../support/platformHost.js"

/** What goes wrong with one request, and may go well the next time. */
const transient = FastCheck.constantFrom<Fault>(
  unavailable,
  answers(429, { "retry-after": "0" }),
  { ...answers(500), fault: "answer", status: 500, when: "after" },
  resets("before"),
  resets("after"),
  resets("midBody"),
  garbage
)

/** What makes a client give up at once; whether the server has stored the batch it does not say. */
const permanent = FastCheck.constantFrom<Fault>(
  answers(401),
  answers(403),
  answers(307, { location: "/elsewhere" }),
  answers(422),
  { fault: "answer", status: 403, when: "after" }
)

const well = FastCheck.constant<"normal">("normal")

const sizes = {
  tasks: FastCheck.integer({ min: 1, max: 40 }),
  batchSize: FastCheck.integer({ min: 1, max: 9 }),
  concurrency: FastCheck.integer({ min: 1, max: 5 })
}

/** Some tasks take their time, so that they end in another order and batches fill up while others are sent. */
const task = (taskIndex: number) => (taskIndex % 3 === 0 ? Effect.sleep("1 millis") : Effect.yieldNow())

const runs = { fastCheck: { numRuns: 30 }, timeout: 180_000 }

/** Lets requests with results go wrong one after the other, and keeps those that were answered as they should be. */
const scripting = (where: Setting, script: ReadonlyArray<"normal" | Fault>) => {
  const left = [...script]
  const answered: Array<Received> = []
  where.host.misbehave((request) => {
    if (!isTo(request, "POST", "/events")) return "normal"
    const fault = left.shift() ?? "normal"
    if (fault === "normal") answered.push(request)
    return fault
  })
  return answered
}

describe("whatever goes wrong with the requests that carry results", () => {
  it.scopedLive.prop(
    "every record is delivered once, in order and without gaps, as long as it may go well",
    {
      ...sizes,
      script: FastCheck.array(FastCheck.oneof(well, transient), { maxLength: 12 })
    },
    ({ batchSize, concurrency, script, tasks }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const where = yield* setting()
          scripting(where, script)
          const flushSchedule = Schedule.spaced("1 millis")
          const ran = yield* run(where, { tasks, concurrency, task, reporter: { batchSize, flushSchedule } })
          yield* assertComplete(where, ran, tasks)
        })
      ),
    runs
  )

  it.scopedLive.prop(
    "what is not acknowledged in the end is exactly what push delivers",
    {
      ...sizes,
      script: FastCheck.array(
        FastCheck.oneof({ arbitrary: well, weight: 4 }, { arbitrary: transient, weight: 6 }, permanent),
        { minLength: 1, maxLength: 20 }
      ),
      stays: FastCheck.oneof(well, transient, permanent)
    },
    ({ batchSize, concurrency, script, stays, tasks }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const where = yield* setting()
          const answered = scripting(where, [...script, ...Array.from({ length: 200 }, () => stays)])
          const ran = yield* run(where, {
            tasks,
            concurrency,
            task,
            reporter: { batchSize, flushSchedule: impatient, flushInterval: "20 millis" }
          })
          assert.strictEqual(ran.recorded.length, tasks)
          if (ran.exit._tag === "Success") return yield* assertComplete(where, ran, tasks)

          const { records } = undeliveredOf(ran)
          const acknowledged = tasks - records
          const wellAnswered = [...new Set(answered.flatMap(tasksIn))]
          assert.deepStrictEqual(wellAnswered.slice(0, acknowledged), ran.recorded.slice(0, acknowledged))
          // Closing the worker gives up the request that is on its way, whose batch is sent again.
          assert.isAtMost(wellAnswered.length, acknowledged + batchSize)
          assert.deepStrictEqual(
            (yield* where.spool.list).entries.map(({ recordCount }) => recordCount),
            [records]
          )

          const before = where.host.to("/events").length
          where.host.misbehave(() => "normal")
          const pushed = yield* pushAll(where, { flushSchedule: patient })
          assert.deepStrictEqual(
            pushed.map((one) => (one._tag === "Right" ? one.right : one.left)),
            [{ _tag: "Delivered", records, worker: "completed" }]
          )
          assert.deepStrictEqual(
            where.host.to("/events").slice(before).flatMap(tasksIn),
            ran.recorded.slice(acknowledged)
          )
          assertInOrder(where, ran.recorded)
          const { run: status, tasks: stored } = yield* held(where)
          assert.deepStrictEqual([status, stored], ["completed", range(tasks)])
        })
      ),
    runs
  )
})
