import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A clock whose parts are moved by hand: what is monotonic, and what somebody may set. */
export class ManualClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  nanos = 0n
  wallMillis = 0
  readonly currentTimeNanos = Effect.sync(() => this.unsafeCurrentTimeNanos())
  readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())

  unsafeCurrentTimeNanos(): bigint {
    return this.nanos
  }

  unsafeCurrentTimeMillis(): number {
    return this.wallMillis + Number(this.nanos) / 1e6
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.sync(() => {
      this.nanos += Duration.unsafeToNanos(duration)
    })
  }
}

/** A clock on which no timer ever fires; counts those that wait. */
export class StillClock extends ManualClock {
  started = 0
  timers = 0

  override sleep(): Effect.Effect<void> {
    return Effect.async<void>(() => {
      this.started++
      this.timers++
      return Effect.sync(() => {
        this.timers--
      })
    })
  }
}

/** A clock whose timers fire when half of their time has passed. */
export class EarlyClock extends ManualClock {
  sleeps = 0

  override sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.sync(() => {
      this.sleeps++
      this.nanos += Duration.unsafeToNanos(duration) / 2n
    })
  }
}
