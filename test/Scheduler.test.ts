import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, TestClock } from "effect"
import * as Scheduler from "../src/Scheduler.js"
import { EarlyClock } from "./support/clocks.js"
import { within } from "./support/engine.js"

/** What lanes did, in order: when each slot started and ended, and how lanes were closed. */
class Journal {
  readonly starts: Array<readonly [lane: string, slot: number, millis: number]> = []
  readonly ends: Array<readonly [lane: string, slot: number, millis: number]> = []
  readonly closed: Array<readonly [lane: string, exit: string]> = []
  running = 0
  mostRunning = 0

  lane(name: string, slots: number, takes: (slot: number) => number): Scheduler.Lane<never, never> {
    const { closed, ends, starts } = this
    const run = (slot: number) =>
      Effect.gen(this, function* () {
        starts.push([name, slot, yield* Clock.currentTimeMillis])
        this.mostRunning = Math.max(this.mostRunning, ++this.running)
        const millis = takes(slot)
        if (millis > 0) yield* Effect.sleep(millis)
        ends.push([name, slot, yield* Clock.currentTimeMillis])
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            this.running--
          })
        )
      )
    const close = (exit: Exit.Exit<unknown, unknown>) =>
      Effect.sync(() => {
        closed.push([name, Exit.isSuccess(exit) ? "success" : Exit.isInterrupted(exit) ? "interrupted" : "failure"])
      })
    return { open: Effect.as(Effect.addFinalizer(close), { slots, run }) }
  }
}

const plan = (fields: Partial<Scheduler.Plan>): Scheduler.Plan => ({
  groupBy: "participant",
  concurrency: 1,
  staggerDelayMs: 0,
  ...fields
})

const failingLane: Scheduler.Lane<string, never> = { open: Effect.fail("all taken") }

describe("by participant", () => {
  const run = <E>(fields: Partial<Scheduler.Plan>, lanes: ReadonlyArray<Scheduler.Lane<E, never>>) =>
    Scheduler.byParticipant.run(plan(fields), lanes)

  it.effect("runs one participant after another, and its slots in order", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      yield* within(80, run({}, [journal.lane("a", 3, () => 20), journal.lane("b", 2, () => 10)]))
      assert.deepStrictEqual(journal.starts, [
        ["a", 0, 0],
        ["a", 1, 20],
        ["a", 2, 40],
        ["b", 0, 60],
        ["b", 1, 70]
      ])
      assert.deepStrictEqual(journal.closed, [
        ["a", "success"],
        ["b", "success"]
      ])
    })
  )

  it.effect("keeps as many in flight as it may, the next starting when one ends", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      yield* within(70, run({ concurrency: 2 }, [journal.lane("a", 5, (slot) => (slot === 0 ? 50 : 20))]))
      assert.deepStrictEqual(journal.starts, [
        ["a", 0, 0],
        ["a", 1, 0],
        ["a", 2, 20],
        ["a", 3, 40],
        ["a", 4, 50]
      ])
      assert.strictEqual(journal.mostRunning, 2)
    })
  )

  it.effect("starts all at once with as much concurrency as slots", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      yield* within(10, run({ concurrency: 50 }, [journal.lane("a", 20, () => 10)]))
      assert.deepStrictEqual(
        journal.starts,
        Array.from({ length: 20 }, (_, slot) => ["a", slot, 0] as const)
      )
    })
  )

  it.effect("staggers from the first start, without drift", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      yield* TestClock.setTime(1_000)
      yield* within(2_000, run({ concurrency: 3, staggerDelayMs: 100 }, [journal.lane("a", 20, () => 37)]))
      assert.deepStrictEqual(
        journal.starts.map(([, , millis]) => millis),
        Array.from({ length: 20 }, (_, slot) => 1_000 + slot * 100)
      )
    })
  )

  it.effect("starts no slot before its time although timers fire early", () =>
    Effect.gen(function* () {
      const clock = new EarlyClock()
      const starts: Array<bigint> = []
      const lane: Scheduler.Lane<never, never> = {
        open: Effect.succeed({ slots: 5, run: () => Effect.sync(() => void starts.push(clock.nanos)) })
      }
      yield* run({ staggerDelayMs: 100 }, [lane]).pipe(Effect.withClock(clock))
      for (const [slot, nanos] of starts.entries()) {
        assert.closeTo(Number(nanos), slot * 1e8, 1000)
      }
      assert.strictEqual(starts.length, 5)
      assert.isAbove(clock.sleeps, 20)
    })
  )

  it.effect("starts a late slot at once, and the following ones on their own time", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      yield* within(500, run({ staggerDelayMs: 100 }, [journal.lane("a", 5, (slot) => (slot === 0 ? 250 : 10))]))
      assert.deepStrictEqual(
        journal.starts.map(([, , millis]) => millis),
        [0, 250, 260, 300, 400]
      )
    })
  )

  it.effect("staggers no more than concurrency allows", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      yield* within(600, run({ concurrency: 2, staggerDelayMs: 10 }, [journal.lane("a", 6, () => 100)]))
      assert.deepStrictEqual(
        journal.starts.map(([, , millis]) => millis),
        [0, 10, 100, 110, 200, 210]
      )
      assert.strictEqual(journal.mostRunning, 2)
    })
  )

  it.effect("staggers each participant from its own first start", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const lanes = [journal.lane("a", 2, () => 30), journal.lane("b", 2, () => 10)]
      yield* within(1_000, run({ staggerDelayMs: 100 }, lanes))
      assert.deepStrictEqual(journal.starts, [
        ["a", 0, 0],
        ["a", 1, 100],
        ["b", 0, 130],
        ["b", 1, 230]
      ])
    })
  )

  it.effect("opens a participant only when the one before it is closed", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const lane = (name: string): Scheduler.Lane<never, never> => ({
        open: Effect.acquireRelease(
          Effect.sync(() => {
            events.push(`open ${name}`)
            return { slots: 1, run: () => Effect.sync(() => void events.push(`run ${name}`)) }
          }),
          () => Effect.sync(() => events.push(`close ${name}`))
        )
      })
      yield* run({}, [lane("a"), lane("b")])
      assert.deepStrictEqual(events, ["open a", "run a", "close a", "open b", "run b", "close b"])
    })
  )

  it.effect("passes over a participant without slots", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      yield* within(
        1,
        run({ concurrency: 5, staggerDelayMs: 10 }, [journal.lane("a", 0, () => 0), journal.lane("b", 1, () => 1)])
      )
      assert.deepStrictEqual(journal.starts, [["b", 0, 0]])
      assert.deepStrictEqual(journal.closed, [
        ["a", "success"],
        ["b", "success"]
      ])
    })
  )

  it.effect("runs nothing when there is nobody", () => run({}, []))

  it.effect("fails when a participant cannot be opened, after those before it", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const lanes = [journal.lane("a", 1, () => 0), failingLane, journal.lane("b", 1, () => 0)]
      assert.deepStrictEqual(yield* Effect.exit(run({}, lanes)), Exit.fail("all taken"))
      assert.deepStrictEqual(journal.starts, [["a", 0, 0]])
      assert.deepStrictEqual(journal.closed, [["a", "success"]])
    })
  )

  for (const concurrency of [1, 3]) {
    it.effect(`when interrupted at concurrency ${concurrency} starts nothing further and closes its participant`, () =>
      Effect.gen(function* () {
        const journal = new Journal()
        const lanes = [journal.lane("a", 10, () => 100), journal.lane("b", 10, () => 100)]
        const fiber = yield* Effect.fork(run({ concurrency }, lanes))
        yield* TestClock.adjust(150)
        const exit = yield* Fiber.interrupt(fiber)
        yield* TestClock.adjust(10_000)
        assert.isTrue(Exit.isInterrupted(exit))
        assert.strictEqual(journal.starts.length, 2 * concurrency)
        assert.strictEqual(journal.ends.length, concurrency)
        assert.strictEqual(journal.running, 0)
        assert.deepStrictEqual(journal.closed, [["a", "interrupted"]])
      })
    )
  }

  it.effect("when interrupted between two starts starts nothing further", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const fiber = yield* Effect.fork(run({ concurrency: 2, staggerDelayMs: 100 }, [journal.lane("a", 5, () => 10)]))
      yield* TestClock.adjust(150)
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(
        journal.starts.map(([, slot]) => slot),
        [0, 1]
      )
      assert.deepStrictEqual(journal.closed, [["a", "interrupted"]])
    })
  )

  it.effect("runs each of 10 000 slots once at concurrency 100", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const lane = journal.lane("a", 10_000, () => 0)
      const yielding: Scheduler.Lane<never, never> = {
        open: Effect.map(lane.open, ({ run, slots }) => ({
          slots,
          run: (slot) => Effect.andThen(Effect.yieldNow(), run(slot))
        }))
      }
      yield* run({ concurrency: 100 }, [yielding])
      assert.strictEqual(journal.starts.length, 10_000)
      assert.deepStrictEqual(
        journal.starts.map(([, slot]) => slot).sort((a, b) => a - b),
        Array.from({ length: 10_000 }, (_, slot) => slot)
      )
    })
  )
})

describe("by round", () => {
  const run = <E>(fields: Partial<Scheduler.Plan>, lanes: ReadonlyArray<Scheduler.Lane<E, never>>) =>
    Scheduler.byRound.run(plan({ groupBy: "round", ...fields }), lanes)

  it.effect("takes turns: every participant runs its nth before any its next", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const lanes = [journal.lane("a", 2, () => 30), journal.lane("b", 2, () => 10), journal.lane("c", 2, () => 20)]
      yield* within(120, run({}, lanes))
      assert.deepStrictEqual(journal.starts, [
        ["a", 0, 0],
        ["b", 0, 30],
        ["c", 0, 40],
        ["a", 1, 60],
        ["b", 1, 90],
        ["c", 1, 100]
      ])
      assert.strictEqual(journal.mostRunning, 1)
    })
  )

  it.effect("waits for the slowest of a round that runs at once", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const lanes = [journal.lane("a", 2, () => 30), journal.lane("b", 2, () => 10), journal.lane("c", 2, () => 20)]
      yield* within(60, run({ concurrency: 3 }, lanes))
      assert.deepStrictEqual(journal.starts, [
        ["a", 0, 0],
        ["b", 0, 0],
        ["c", 0, 0],
        ["a", 1, 30],
        ["b", 1, 30],
        ["c", 1, 30]
      ])
    })
  )

  it.effect("runs no more of a round at once than it may", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const lanes = [journal.lane("a", 2, () => 30), journal.lane("b", 2, () => 10), journal.lane("c", 2, () => 20)]
      yield* within(60, run({ concurrency: 2 }, lanes))
      assert.deepStrictEqual(journal.starts, [
        ["a", 0, 0],
        ["b", 0, 0],
        ["c", 0, 10],
        ["a", 1, 30],
        ["b", 1, 30],
        ["c", 1, 40]
      ])
      assert.strictEqual(journal.mostRunning, 2)
    })
  )

  it.effect("pauses between rounds, not before the first or after the last", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const lanes = [journal.lane("a", 3, () => 30), journal.lane("b", 3, () => 10)]
      yield* within(290, run({ concurrency: 2, staggerDelayMs: 100 }, lanes))
      assert.deepStrictEqual(journal.starts, [
        ["a", 0, 0],
        ["b", 0, 0],
        ["a", 1, 130],
        ["b", 1, 130],
        ["a", 2, 260],
        ["b", 2, 260]
      ])
    })
  )

  it.effect("goes on with those that have slots left", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const lanes = [journal.lane("a", 1, () => 0), journal.lane("b", 3, () => 0), journal.lane("c", 0, () => 0)]
      yield* run({}, lanes)
      assert.deepStrictEqual(
        journal.starts.map(([lane, slot]) => `${lane}${slot}`),
        ["a0", "b0", "b1", "b2"]
      )
      assert.deepStrictEqual([...journal.closed].sort(), [
        ["a", "success"],
        ["b", "success"],
        ["c", "success"]
      ])
    })
  )

  it.effect("keeps every participant open until the last round has ended", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const fiber = yield* Effect.fork(run({}, [journal.lane("a", 1, () => 10), journal.lane("b", 2, () => 10)]))
      yield* TestClock.adjust(25)
      assert.deepStrictEqual(journal.closed, [])
      yield* TestClock.adjust(5)
      yield* Fiber.join(fiber)
      assert.strictEqual(journal.closed.length, 2)
    })
  )

  it.effect("fails before the first round when a participant cannot be opened, and closes the others", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const lanes = [journal.lane("a", 1, () => 0), failingLane, journal.lane("b", 1, () => 0)]
      assert.deepStrictEqual(yield* Effect.exit(run({}, lanes)), Exit.fail("all taken"))
      assert.deepStrictEqual(journal.starts, [])
      assert.deepStrictEqual(journal.closed, [["a", "failure"]])
    })
  )

  it.effect("when interrupted starts nothing further and closes every participant", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const lanes = [journal.lane("a", 5, () => 30), journal.lane("b", 5, () => 30), journal.lane("c", 5, () => 30)]
      const fiber = yield* Effect.fork(run({ concurrency: 2 }, lanes))
      yield* TestClock.adjust(40)
      const exit = yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust(1_000)
      assert.isTrue(Exit.isInterrupted(exit))
      assert.deepStrictEqual(
        journal.starts.map(([lane, slot]) => `${lane}${slot}`),
        ["a0", "b0", "c0"]
      )
      assert.strictEqual(journal.running, 0)
      assert.deepStrictEqual([...journal.closed].sort(), [
        ["a", "interrupted"],
        ["b", "interrupted"],
        ["c", "interrupted"]
      ])
    })
  )

  it.effect("when interrupted in the pause starts nothing further", () =>
    Effect.gen(function* () {
      const journal = new Journal()
      const fiber = yield* Effect.fork(run({ staggerDelayMs: 100 }, [journal.lane("a", 5, () => 10)]))
      yield* TestClock.adjust(50)
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust(1_000)
      assert.strictEqual(journal.starts.length, 1)
    })
  )
})

describe("layers", () => {
  const order = (groupBy: Scheduler.Plan["groupBy"]) =>
    Effect.gen(function* () {
      const journal = new Journal()
      const scheduler = yield* Scheduler.Scheduler
      yield* scheduler.run(plan({ groupBy }), [journal.lane("a", 2, () => 0), journal.lane("b", 2, () => 0)])
      return journal.starts.map(([lane, slot]) => `${lane}${slot}`)
    })
  const byParticipant = ["a0", "a1", "b0", "b1"]
  const byRound = ["a0", "b0", "a1", "b1"]

  it.effect("the default one does as the plan says", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* order("participant"), byParticipant)
      assert.deepStrictEqual(yield* order("round"), byRound)
    }).pipe(Effect.provide(Scheduler.layer))
  )

  it.effect("the others do what their name says, whatever the plan", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Effect.provide(order("round"), Scheduler.layerByParticipant), byParticipant)
      assert.deepStrictEqual(yield* Effect.provide(order("participant"), Scheduler.layerByRound), byRound)
    })
  )
})
