import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  answers,
  assertComplete,
  garbage,
  held,
  isTo,
  pushAll,
  range,
  resets,
  run,
  setting,
  tasksIn,
  unavailable,
  undeliveredOf
} from "../support/faults.js"
import type { Fault } from "../support/platformHost.js"
import { scripted } from "../support/platformHost.js"

/** Runs 12 tasks in 3 batches while the first requests with results go wrong like this. */
const runWith = (faults: ReadonlyArray<"normal" | Fault>) =>
  Effect.gen(function* () {
    const where = yield* setting({ misbehaviour: scripted("/events", faults) })
    const ran = yield* run(where, { tasks: 12 })
    yield* assertComplete(where, ran, 12)
    return where
  })

describe("results arrive once and in order", () => {
  const cases: Record<string, ReadonlyArray<"normal" | Fault>> = {
    "when the server is unavailable three times": [unavailable, unavailable, unavailable],
    "through every status that says to try again": [408, 425, 429, 500, 502, 504, 599].map((status) => answers(status)),
    "when the connection is reset before they are stored": ["normal", resets("before"), resets("before")],
    "when the connection is reset after they are stored": [resets("after"), resets("after"), "normal", resets("after")],
    "when the connection is reset in the middle of an answer": [resets("midBody"), "normal", resets("midBody")],
    "when what is answered is no JSON": [garbage, garbage, "normal", garbage],
    "when what is answered is JSON of something else": [
      { fault: "answer", when: "after", status: 202, body: `{"accepted":"many"}` },
      { fault: "answer", when: "after", status: 200, body: `[]` }
    ],
    "when an empty success is answered although nothing is stored": [{ fault: "answer", status: 202, body: "" }]
  }
  for (const [name, faults] of Object.entries(cases)) {
    it.scopedLive(name, () =>
      Effect.gen(function* () {
        const { host } = yield* runWith(faults)
        const failures = faults.filter((fault) => fault !== "normal").length
        assert.strictEqual(host.to("/events").length, 3 + failures)
      })
    )
  }

  it.scopedLive("when they are acknowledged as duplicates although they came for the first time", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ accepted: 5, eventBatchId: "batch", duplicate: true })
      const { host } = yield* runWith([{ fault: "answer", when: "after", status: 202, body }])
      assert.strictEqual(host.to("/events").length, 3)
    })
  )

  it.scopedLive("when the server never answers, whether it has stored them or not", () =>
    Effect.gen(function* () {
      const where = yield* setting({
        misbehaviour: scripted("/events", [
          { fault: "silence" },
          "normal",
          { fault: "silence", when: "after" },
          { fault: "silence" }
        ])
      })
      const ran = yield* run(where, { tasks: 12, reporter: { requestTimeout: "300 millis" } })
      yield* assertComplete(where, ran, 12)
      assert.isAtLeast(where.host.to("/events").length, 6)
    })
  )

  it.scopedLive("without asking again before the server wants it", () =>
    Effect.gen(function* () {
      const times: Array<number> = []
      const where = yield* setting({
        misbehaviour: (request) => {
          if (!isTo(request, "POST", "/events")) return "normal"
          times.push(performance.now())
          return times.length === 1 ? answers(429, { "retry-after": "1" }) : "normal"
        }
      })
      const ran = yield* run(where, { tasks: 12 })
      yield* assertComplete(where, ran, 12)
      const [first = 0, second = 0] = times
      // Timers may fire a millisecond early.
      assert.isAtLeast(second - first, 998)
      assert.strictEqual(times.length, 4)
    })
  )

  it.scopedLive("in halves of halves where the server takes no large batches", () =>
    Effect.gen(function* () {
      const where = yield* setting({
        misbehaviour: (request) => (tasksIn(request).length > 3 ? answers(413) : "normal")
      })
      const ran = yield* run(where, { tasks: 50, reporter: { batchSize: 20 } })
      yield* assertComplete(where, ran, 50)
      for (const { tasks } of where.stored) assert.isAtMost(tasks.length, 3)
      assert.deepStrictEqual(
        where.stored.map(({ isFinal }) => isFinal),
        where.stored.map((_, i) => i === where.stored.length - 1)
      )
    })
  )

  it.scopedLive("as far as a record that is too large alone; what comes after it can be delivered later", () =>
    Effect.gen(function* () {
      const where = yield* setting({
        misbehaviour: ({ bytes }) => (/"taskIndex":7\b/.test(bytes.toString()) ? answers(413) : "normal")
      })
      const ran = yield* run(where, { tasks: 12 })
      const { error, records } = undeliveredOf(ran)
      assert.strictEqual(error._tag, "RequestTooLarge")
      assert.deepStrictEqual((yield* held(where)).tasks, range(7))
      assert.strictEqual(records, 5)
      where.host.misbehave(() => "normal")
      yield* pushAll(where)
      const { run: status, tasks } = yield* held(where)
      assert.deepStrictEqual([status, tasks], ["completed", range(12)])
    })
  )
})
