import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { UndeliveredResults } from "../../src/Reporter.js"
import type { Setting } from "../support/faults.js"
import {
  always,
  answers,
  assertComplete,
  assertInOrder,
  door,
  failureOf,
  garbage,
  held,
  impatient,
  isTo,
  patient,
  portOf,
  pushAll,
  range,
  resets,
  run,
  setting,
  unavailable,
  undeliveredOf
} from "../support/faults.js"
import type { Fault } from "../support/platformHost.js"

/** Records that wait in the spool. */
const waiting = ({ spool }: Setting) =>
  Effect.map(Effect.orDie(spool.list), ({ entries }) => entries.map(({ recordCount }) => recordCount))

/** Delivers what waits once the host is well, and asserts that nothing is missing then. */
const assertPushCompletes = (where: Setting, records: number, tasks: number) =>
  Effect.gen(function* () {
    where.host.misbehave(() => "normal")
    const pushed = yield* pushAll(where)
    assert.deepStrictEqual(
      pushed.map((one) => (one._tag === "Right" ? one.right : one.left)),
      [{ _tag: "Delivered", records, worker: "completed" }]
    )
    assertInOrder(where, range(tasks))
    const { run, tasks: stored, workers } = yield* held(where)
    assert.deepStrictEqual([run, workers, stored], ["completed", ["completed"], range(tasks)])
    assert.deepStrictEqual(yield* waiting(where), [])
  })

describe("what cannot be delivered waits, and push delivers it", () => {
  it.scopedLive("when the server fails for ever on results", () =>
    Effect.gen(function* () {
      let good = 1
      const where = yield* setting({
        misbehaviour: (request) => (isTo(request, "POST", "/events") && good-- <= 0 ? answers(500) : "normal")
      })
      const ran = yield* run(where, { tasks: 12, reporter: { flushSchedule: impatient } })
      const error = failureOf(ran)
      assert.instanceOf(error, UndeliveredResults)
      const { records, spool } = undeliveredOf(ran)
      assert.deepStrictEqual([records, spool], [7, where.spool.location])
      const { ref, run: status, tasks, workers } = yield* held(where)
      assert.deepStrictEqual([status, workers, tasks], ["failed", ["failed"], range(5)])
      assert.strictEqual(
        error.message,
        `Failed to flush task results; these wait in ${spool} and can be sent again: bench push ${ref.run}\n` +
          `  - alpha: 7 record(s): sendTaskResults: ${new URL(where.host.baseUrl).host} answered 500: fault`
      )
      const [failed] = where.host.to("/fail")
      assert.include(failed?.body, { errorCode: "flush_failed" })
      assert.deepStrictEqual(yield* waiting(where), [7])
      yield* assertPushCompletes(where, 7, 12)
    })
  )

  it.scopedLive("when the server fails for ever on everything after the claim", () =>
    Effect.gen(function* () {
      let claimed = false
      const where = yield* setting({
        misbehaviour: (request) => {
          if (claimed) return answers(500)
          claimed = isTo(request, "POST", "/claim")
          return "normal"
        }
      })
      const ran = yield* run(where, { tasks: 12, reporter: { flushSchedule: impatient } })
      assert.strictEqual(undeliveredOf(ran).records, 12)
      assert.includeMembers(
        ran.telemetry.map(({ telemetry }) => telemetry),
        ["close"]
      )
      const { run: status, tasks, workers } = yield* held(where)
      assert.deepStrictEqual([status, workers, tasks], ["in_progress", ["running"], []])
      yield* assertPushCompletes(where, 12, 12)
    })
  )

  it.scopedLive("when all is stored but the server fails for ever on closing the worker", () =>
    Effect.gen(function* () {
      const where = yield* setting({ misbehaviour: always(unavailable, "/complete") })
      const ran = yield* run(where, { tasks: 12, reporter: { flushSchedule: impatient } })
      assert.strictEqual(ran.exit._tag, "Success")
      assert.deepStrictEqual(
        ran.telemetry.map(({ telemetry }) => telemetry),
        ["close"]
      )
      assert.deepStrictEqual(yield* waiting(where), [0])
      yield* assertPushCompletes(where, 0, 12)
    })
  )

  it.scopedLive("when the key is not taken any more, without trying it again", () =>
    Effect.gen(function* () {
      const where = yield* setting({ misbehaviour: always(answers(401), "/events") })
      const ran = yield* run(where, { tasks: 12, reporter: { flushSchedule: patient } })
      const { error, records } = undeliveredOf(ran)
      assert.deepStrictEqual([error._tag, records], ["Unauthorized", 12])
      assert.strictEqual(where.host.to("/events").length, 1)
      assert.deepStrictEqual((yield* held(where)).tasks, [])
      yield* assertPushCompletes(where, 12, 12)
    })
  )

  it.scopedLive("when the server sends results elsewhere, which no client follows", () =>
    Effect.gen(function* () {
      const elsewhere = yield* setting()
      const location = `${elsewhere.host.baseUrl}/api/v1/anything`
      for (const status of [301, 302, 303, 307, 308]) {
        const where = yield* setting({ misbehaviour: always(answers(status, { location }), "/events") })
        const ran = yield* run(where, { tasks: 12 })
        const { error, records } = undeliveredOf(ran)
        assert.include(error.message, `redirects to ${elsewhere.host.baseUrl}: only what reads is redirected`)
        assert.strictEqual(records, 12)
        assert.strictEqual(where.host.to("/events").length, 1)
        yield* assertPushCompletes(where, 12, 12)
      }
      assert.deepStrictEqual(elsewhere.host.requests, [])
    })
  )

  it.scopedLive("again and again, for as long as the server fails", () =>
    Effect.gen(function* () {
      const where = yield* setting({ misbehaviour: always(resets("after"), "/events") })
      const ran = yield* run(where, { tasks: 12, reporter: { flushSchedule: impatient } })
      assert.strictEqual(undeliveredOf(ran).records, 12)
      const [pushed] = yield* pushAll(where, { flushSchedule: Schedule.recurs(1) })
      assert.strictEqual(pushed?._tag, "Left")
      assert.deepStrictEqual(yield* waiting(where), [12])
      where.host.misbehave(always(answers(401), "/events"))
      const [refused] = yield* pushAll(where)
      assert.strictEqual(refused?._tag === "Left" && refused.left._tag, "Unauthorized")
      assert.deepStrictEqual(yield* waiting(where), [12])
      yield* assertPushCompletes(where, 12, 12)
    })
  )
})

describe("a host that goes away in the middle", () => {
  it.scopedLive("and comes back at the same address has every task in the end", () =>
    Effect.gen(function* () {
      const where = yield* setting()
      const way = yield* door(portOf(where.host.baseUrl))
      const task = (taskIndex: number) => {
        if (taskIndex === 17) return way.close
        return taskIndex === 37 ? Effect.delay(way.open(), "100 millis") : Effect.sleep("2 millis")
      }
      const ran = yield* run(where, { tasks: 50, task, baseUrl: way.baseUrl })
      yield* assertComplete(where, ran, 50)
    })
  )

  it.scopedLive("and comes back too late for the run gets every task by push", () =>
    Effect.gen(function* () {
      const where = yield* setting()
      const way = yield* door(portOf(where.host.baseUrl))
      const task = (taskIndex: number) => (taskIndex === 17 ? way.close : Effect.sleep("2 millis"))
      const ran = yield* run(where, {
        tasks: 30,
        task,
        baseUrl: way.baseUrl,
        reporter: { flushSchedule: impatient }
      })
      const { error, records } = undeliveredOf(ran)
      assert.match(error.message, /cannot reach 127\.0\.0\.1:\d+/)
      assert.isAtLeast(records, 13)
      assert.deepStrictEqual(yield* waiting(where), [records])
      yield* assertPushCompletes(where, records, 30)
    })
  )
})

describe("the start of a run", () => {
  it.scopedLive("runs nothing when the key is wrong", () =>
    Effect.gen(function* () {
      const where = yield* setting()
      const apiKey = "bp_test_fedcba9876543210"
      const ran = yield* run(where, { tasks: 12, apiKey })
      const error = failureOf(ran)
      assert.strictEqual(error._tag, "Unauthorized")
      assert.strictEqual(
        error.message,
        "Not signed in: Invalid API key. Sign in with `bench auth login`, or pass a key in BENCHMARKS_PLATFORM_API_KEY or --api-key."
      )
      assert.deepStrictEqual([ran.recorded, where.host.requests.length], [[], 1])
      assert.deepStrictEqual(yield* where.store.listAllRuns({}), [])
      assert.deepStrictEqual(yield* waiting(where), [])
      assert.notInclude(JSON.stringify([error, ran.log]), apiKey)
    })
  )

  it.scopedLive("is tried again when the server is unavailable for a moment", () =>
    Effect.gen(function* () {
      const refused = new Set<string>()
      const where = yield* setting({
        misbehaviour: ({ method, path }) => {
          const request = `${method} ${path}`
          if (refused.has(request)) return "normal"
          refused.add(request)
          return unavailable
        }
      })
      const ran = yield* run(where, { tasks: 12 })
      yield* assertComplete(where, ran, 12)
    })
  )

  it.scopedLive("fails when the server stays unavailable, and leaves nothing to deliver", () =>
    Effect.gen(function* () {
      const where = yield* setting({ misbehaviour: () => unavailable })
      const ran = yield* run(where, { tasks: 12, reporter: { flushSchedule: impatient } })
      const error = failureOf(ran)
      assert.match(error.message, /answered 503: fault$/)
      assert.deepStrictEqual([ran.recorded, yield* waiting(where)], [[], []])
    })
  )

  const lost: ReadonlyArray<readonly [string, Fault]> = [
    ["reset", resets("after")],
    ["unreadable", garbage]
  ]
  for (const [what, fault] of lost) {
    it.scopedLive(`fails when the answer to the claim is lost (${what}), without having run a task`, () =>
      Effect.gen(function* () {
        const where = yield* setting({ misbehaviour: always(fault, "/claim") })
        const ran = yield* run(where, { tasks: 12, reporter: { flushSchedule: impatient } })
        assert.strictEqual(failureOf(ran)._tag, "PlatformFailure")
        assert.deepStrictEqual([ran.recorded, yield* waiting(where)], [[], []])
        const { run: status, tasks, workers } = yield* held(where)
        assert.deepStrictEqual([status, workers, tasks], ["failed", ["running"], []])
      })
    )
  }
})
