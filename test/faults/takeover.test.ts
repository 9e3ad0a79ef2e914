import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber } from "effect"
import * as Push from "../../src/Push.js"
import { Spool } from "../../src/Spool.js"
import type { Ran, Setting } from "../support/faults.js"
import {
  assertInOrder,
  failureOf,
  garbage,
  held,
  isTo,
  pushAll,
  range,
  resets,
  run,
  setting,
  undeliveredOf
} from "../support/faults.js"
import { scripted } from "../support/platformHost.js"

const runKey = "shared"

const ranTasks = ({ exit }: Ran) => (exit._tag === "Success" ? (exit.value.participants[0]?.taskCount ?? 0) : undefined)

/** Runs everything as another process would, as soon as the lease of the worker is over. */
const takeOver = (where: Setting, tasks: number) =>
  run(where, { tasks, runKey }).pipe(
    Effect.delay("200 millis"),
    Effect.repeat({ until: (ran) => ranTasks(ran) !== 0, times: 50 })
  )

describe("a worker that another process has taken over", () => {
  it.scopedLive("stops starting tasks, says why, and keeps its records apart from those that count", () =>
    Effect.gen(function* () {
      const where = yield* setting({ lease: "150 millis" })
      const silent = yield* Deferred.make<void>()
      const resumed = yield* Deferred.make<void>()
      const task = (taskIndex: number) =>
        taskIndex === 3
          ? Effect.zipRight(Deferred.succeed(silent, undefined), Deferred.await(resumed))
          : Effect.sleep(taskIndex < 3 ? "1 millis" : "20 millis")
      const running = yield* Effect.fork(run(where, { tasks: 60, task, runKey, reporter: { batchSize: 1 } }))
      yield* Deferred.await(silent)
      const second = yield* takeOver(where, 60)
      assert.strictEqual(ranTasks(second), 60)
      yield* Deferred.succeed(resumed, undefined)
      const first = yield* Fiber.join(running)
      const { records } = undeliveredOf(first)
      assert.isBelow(first.recorded.length, 60)
      assert.match(
        failureOf(first).message,
        /^Failed to flush task results; these wait in .*\n {2}- alpha: \d+ record\(s\): Attempt "\S+" is not the current one of worker "\S+"\.$/
      )
      assert.strictEqual(records, first.recorded.length - 3)

      const { ref, run: status, tasks, workers } = yield* held(where)
      assert.deepStrictEqual([status, workers, tasks], ["completed", ["completed"], range(60)])
      assertInOrder(where, [...range(3), ...second.recorded])
      const [worker] = yield* where.store.listWorkers({ ...ref, participant: "alpha" })
      assert.deepStrictEqual([worker?.progressDone, worker?.progressErrors], [60, 0])

      const { entries } = yield* where.spool.list
      assert.deepStrictEqual(
        entries.map(({ recordCount }) => recordCount),
        [records]
      )
      const [pushed] = yield* pushAll(where)
      const refused = pushed === undefined ? undefined : Either.getLeft(pushed)
      assert.include(refused, { _tag: "Some" })
      assert.strictEqual((yield* where.spool.list).entries.length, 1)
      for (const entry of entries) {
        assert.isTrue(yield* Effect.provideService(Push.discard(entry), Spool, where.spool))
      }
      assert.deepStrictEqual((yield* where.spool.list).entries, [])
      assertInOrder(where, [...range(3), ...second.recorded])
    })
  )

  it.scopedLive("learns of it by a heartbeat when no batch is full", () =>
    Effect.gen(function* () {
      let over = false
      const silent = yield* Deferred.make<void>()
      const beaten = yield* Deferred.make<void>()
      const where = yield* setting({
        lease: "150 millis",
        misbehaviour: (request) => {
          if (!isTo(request, "POST", "/heartbeat")) return "normal"
          if (!over) return resets("before")
          Effect.runSync(Deferred.succeed(beaten, undefined))
          return "normal"
        }
      })
      const task = (taskIndex: number) =>
        taskIndex === 3
          ? Deferred.succeed(silent, undefined).pipe(
              Effect.zipRight(Deferred.await(beaten)),
              Effect.zipRight(Effect.sleep("300 millis"))
            )
          : Effect.void
      const running = yield* Effect.fork(
        run(where, { tasks: 60, task, runKey, reporter: { batchSize: 1000, heartbeatInterval: "20 millis" } })
      )
      yield* Deferred.await(silent)
      const second = yield* takeOver(where, 60)
      assert.strictEqual(ranTasks(second), 60)
      over = true
      const first = yield* Fiber.join(running)
      assert.deepStrictEqual(first.recorded, range(4))
      assert.strictEqual(undeliveredOf(first).records, 4)
      assertInOrder(where, second.recorded)
    })
  )
})

describe("a claim whose answer is lost", () => {
  for (const [what, fault] of [
    ["reset", resets("after")],
    ["unreadable", garbage]
  ] as const) {
    it.scopedLive(`leaves a worker that can be claimed again after the lease (${what})`, () =>
      Effect.gen(function* () {
        const where = yield* setting({ lease: "2 seconds", misbehaviour: scripted("/claim", [fault]) })
        const lost = yield* run(where, { tasks: 12, runKey })
        assert.strictEqual(failureOf(lost)._tag, "PlatformFailure")
        assert.strictEqual((yield* held(where)).run, "in_progress")

        const early = yield* run(where, { tasks: 12, runKey })
        assert.strictEqual(ranTasks(early), 0)
        assert.deepStrictEqual(early.exit._tag === "Success" ? early.exit.value.warnings : [], [
          `no worker of participant "alpha" is left to claim in this run`
        ])

        const later = yield* takeOver(where, 12)
        assert.strictEqual(ranTasks(later), 12)
        assertInOrder(where, range(12))
        const { run: status, tasks, workers } = yield* held(where)
        assert.deepStrictEqual([status, workers, tasks], ["completed", ["completed"], range(12)])
      })
    )
  }
})
