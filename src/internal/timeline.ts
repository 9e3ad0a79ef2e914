/**
 * Time of one worker: nanoseconds since it began from the monotonic clock, and timestamps derived from those, so that
 * latencies and timestamps cannot disagree when the wall clock is set while a run is going.
 */
import type * as Clock from "effect/Clock"

const padded = Array.from({ length: 1000 }, (_, ms) => String(ms).padStart(3, "0"))

export class Timeline {
  private readonly originNanos: bigint
  private readonly originMillis: number
  private second = Number.NaN
  private prefix = ""

  constructor(private readonly clock: Clock.Clock) {
    this.originNanos = clock.unsafeCurrentTimeNanos()
    this.originMillis = clock.unsafeCurrentTimeMillis()
  }

  /** Nanoseconds since the timeline began; exact for 104 days. */
  now(): number {
    return Number(this.clock.unsafeCurrentTimeNanos() - this.originNanos)
  }

  /** ISO-8601 UTC with milliseconds. */
  timestamp(nanos: number): string {
    const millis = Math.floor(this.originMillis + nanos / 1e6)
    const second = Math.floor(millis / 1000)
    if (second !== this.second) {
      this.second = second
      this.prefix = new Date(second * 1000).toISOString().slice(0, -4)
    }
    return `${this.prefix}${padded[millis - second * 1000]}Z`
  }
}

/** Milliseconds with microsecond resolution. */
export const toMillis = (nanos: number): number => Math.round(nanos / 1e3) / 1e3
