import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import {
  always,
  answers,
  assertComplete,
  garbage,
  held,
  isTo,
  range,
  resets,
  run,
  setting,
  unavailable
} from "../support/faults.js"
import type { Fault } from "../support/platformHost.js"

const kinds: Readonly<Record<string, Fault>> = {
  "an error": answers(500),
  "no permission": answers(403),
  "a redirect": answers(307, { location: "https://elsewhere.example/" }),
  "a reset": resets("before"),
  "a lost answer": resets("after"),
  "an answer that is no JSON": garbage
}

describe("a run succeeds", () => {
  for (const [what, fault] of Object.entries(kinds)) {
    it.scopedLive(`although all heartbeats and artifacts end with ${what}`, () =>
      Effect.gen(function* () {
        const beaten = yield* Deferred.make<void>()
        const where = yield* setting({
          misbehaviour: (request) => {
            if (isTo(request, "POST", "/heartbeat")) {
              Effect.runSync(Deferred.succeed(beaten, undefined))
              return fault
            }
            return isTo(request, "POST", "/artifacts") ? fault : "normal"
          }
        })
        const task = (taskIndex: number) =>
          taskIndex === 5 ? Effect.zipRight(Deferred.await(beaten), Effect.sleep("50 millis")) : Effect.void
        const ran = yield* run(where, {
          tasks: 12,
          task,
          logs: true,
          reporter: { heartbeatInterval: "10 millis", requestTimeout: "1 second" }
        })
        yield* assertComplete(where, ran, 12)
        const told = new Set(ran.telemetry.map(({ telemetry }) => telemetry))
        assert.deepStrictEqual(told, new Set(["heartbeat", "log"]))
        for (const phrase of ["heartbeat failed", "log of the worker could not be uploaded"]) {
          assert.strictEqual(ran.log.filter((line) => line.startsWith(phrase)).length, 1)
        }
      })
    )
  }

  it.scopedLive("although the bytes of its log are refused", () =>
    Effect.gen(function* () {
      const where = yield* setting({
        misbehaviour: ({ path }) => (path.startsWith("/objects/") ? answers(403) : "normal")
      })
      const ran = yield* run(where, { tasks: 12, logs: true })
      yield* assertComplete(where, ran, 12)
      assert.deepStrictEqual(
        ran.telemetry.map(({ telemetry }) => telemetry),
        ["log"]
      )
    })
  )

  it.scopedLive("with a warning although its summary is not taken", () =>
    Effect.gen(function* () {
      for (const fault of [answers(500), resets("before"), garbage]) {
        const where = yield* setting({ misbehaviour: always(fault, "/summary") })
        const ran = yield* run(where, { tasks: 12, scored: true })
        yield* assertComplete(where, ran, 12)
        const warnings = ran.exit._tag === "Success" ? ran.exit.value.warnings : []
        assert.strictEqual(warnings.length, 1)
        assert.match(warnings[0] ?? "", /^the summary was not stored: submitSummary: /)
        const rows = ran.exit._tag === "Success" ? ran.exit.value.rows : undefined
        assert.strictEqual(rows?.[0]?.provider, "alpha")
      }
    })
  )

  it.scopedLive("while heartbeats hang, which the results do not wait for", () =>
    Effect.gen(function* () {
      const where = yield* setting({ misbehaviour: always({ fault: "silence" }, "/heartbeat") })
      const task = () => Effect.sleep("5 millis")
      const ran = yield* run(where, { tasks: 30, task, reporter: { heartbeatInterval: "10 millis" } })
      yield* assertComplete(where, ran, 30)
      assert.strictEqual(where.host.to("/heartbeat").length, 1)
      assert.deepStrictEqual((yield* held(where)).tasks, range(30))
    })
  )

  it.scopedLive("and its log is there although storing it failed at first", () =>
    Effect.gen(function* () {
      let refusals = 2
      const where = yield* setting({
        misbehaviour: ({ path }) => (path.startsWith("/objects/") && refusals-- > 0 ? unavailable : "normal")
      })
      const ran = yield* run(where, { tasks: 12, logs: true })
      yield* assertComplete(where, ran, 12)
      assert.deepStrictEqual(ran.telemetry, [])
      const { ref } = yield* held(where)
      const logs = yield* where.store.participantLogs({ ...ref, participant: "alpha" }, {})
      assert.include(JSON.stringify(logs), "task 11 says so")
    })
  )
})
