/**
 * When tasks run: participants one after another, or round by round, how many at once, and how far apart.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/**
 * @since 0.1.0
 * @category models
 */
export interface Plan {
  readonly groupBy: "participant" | "round"
  /** Most tasks in flight at once: of one participant, or of one round. >= 1. */
  readonly concurrency: number
  /** Milliseconds between starts (by participant) or between rounds (by round); 0 for none. */
  readonly staggerDelayMs: number
}

/**
 * One participant's tasks before its worker is open.
 *
 * @since 0.1.0
 * @category models
 */
export interface Lane<E, R> {
  /** Claims the worker for as long as the scope lives. */
  readonly open: Effect.Effect<OpenLane<R>, E, R | Scope.Scope>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface OpenLane<R> {
  /** How many tasks the worker has; their schedule indexes run from 0. */
  readonly slots: number
  /** Whether further tasks are to start; asked before each. Default: until all have. */
  readonly goesOn?: (() => boolean) | undefined
  /** Runs one task. Never fails: what the task does ends in its record. */
  readonly run: (scheduleIndex: number) => Effect.Effect<void, never, R>
}

/**
 * Runs every slot of every lane. When interrupted it starts no further slot, interrupts those that run, and closes each
 * open lane's scope with the interruption.
 *
 * @since 0.1.0
 * @category services
 */
export class Scheduler extends Context.Tag("effect-bench/Scheduler")<
  Scheduler,
  {
    readonly run: <E, R>(plan: Plan, lanes: ReadonlyArray<Lane<E, R>>) => Effect.Effect<void, E, R>
  }
>() {}

/**
 * One participant after another. Of one participant, slot n starts no earlier than n stagger delays after its first;
 * a slot that is late starts at once, so delays do not add up.
 *
 * @since 0.1.0
 * @category constructors
 */
export const byParticipant: Scheduler["Type"] = Scheduler.of({
  run: (plan, lanes) =>
    Effect.forEach(lanes, (lane) => Effect.scoped(Effect.flatMap(lane.open, (open) => runLane(plan, open))), {
      discard: true
    })
})

/**
 * Every participant runs its nth task before any starts its next one; rounds are the stagger delay apart.
 *
 * @since 0.1.0
 * @category constructors
 */
export const byRound: Scheduler["Type"] = Scheduler.of({
  run: (plan, lanes) =>
    Effect.scoped(
      Effect.flatMap(
        Effect.forEach(lanes, (lane) => lane.open),
        (open) => runRounds(plan, open)
      )
    )
})

/**
 * @since 0.1.0
 * @category layers
 */
export const layerByParticipant: Layer.Layer<Scheduler> = Layer.succeed(Scheduler, byParticipant)

/**
 * @since 0.1.0
 * @category layers
 */
export const layerByRound: Layer.Layer<Scheduler> = Layer.succeed(Scheduler, byRound)

/**
 * As the benchmark config's `groupBy` says.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Scheduler> = Layer.succeed(
  Scheduler,
  Scheduler.of({ run: (plan, lanes) => (plan.groupBy === "round" ? byRound : byParticipant).run(plan, lanes) })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nowMillis = Effect.clockWith((clock) => Effect.sync(() => Number(clock.unsafeCurrentTimeNanos()) / 1e6))

/** Milliseconds; keeps rounding of the clock from asking for a sleep too short to move it. */
const clockTolerance = 0.001

/** A timer may fire a little early: what is left is slept again, so that nothing starts before its time. */
const sleepUntil = (targetMillis: number): Effect.Effect<void> =>
  Effect.flatMap(nowMillis, (now) =>
    now + clockTolerance >= targetMillis
      ? Effect.void
      : Effect.zipRight(Effect.sleep(Duration.millis(targetMillis - now)), sleepUntil(targetMillis))
  )

/** A few fibers take turns at the next slot: forking one per slot would cost more than the harness itself. */
const runLane = <R>(plan: Plan, lane: OpenLane<R>): Effect.Effect<void, never, R> =>
  Effect.flatMap(nowMillis, (startMillis) => {
    let next = 0
    const runNext = (): Effect.Effect<void, never, R> => {
      const slot = next++
      return plan.staggerDelayMs === 0
        ? lane.run(slot)
        : Effect.zipRight(sleepUntil(startMillis + slot * plan.staggerDelayMs), lane.run(slot))
    }
    const takeTurns = Effect.whileLoop({
      while: () => next < lane.slots && lane.goesOn?.() !== false,
      body: runNext,
      step: () => {}
    })
    const fibers = Math.min(plan.concurrency, lane.slots)
    return Effect.forEach(Array.from({ length: fibers }), () => takeTurns, { concurrency: fibers, discard: true })
  })

const runRounds = <R>(plan: Plan, lanes: ReadonlyArray<OpenLane<R>>): Effect.Effect<void, never, R> => {
  const rounds = lanes.reduce((most, lane) => Math.max(most, lane.slots), 0)
  let round = 0
  return Effect.whileLoop({
    while: () => round < rounds && lanes.some((lane) => lane.goesOn?.() !== false),
    body: () => {
      const slot = round++
      const turn = Effect.forEach(
        lanes.filter((lane) => slot < lane.slots && lane.goesOn?.() !== false),
        (lane) => lane.run(slot),
        { concurrency: plan.concurrency, discard: true }
      )
      return slot === 0 || plan.staggerDelayMs === 0 ? turn : Effect.zipRight(Effect.sleep(plan.staggerDelayMs), turn)
    },
    step: () => {}
  })
}
