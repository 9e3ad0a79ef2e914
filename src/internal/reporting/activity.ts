/** What a worker is doing right now, as its heartbeats tell it. */
import * as Effect from "effect/Effect"
import type { ConcurrencySample } from "../../Platform.js"
import { maxHeartbeatSamples } from "../../Platform.js"

interface RunningStep {
  active: number
  target: number
}

/** Counts steps and tasks; it runs inside tasks, so a transition costs no more than a look into a map. */
export class Activity {
  /** Tasks that have started and not ended. */
  inFlight = 0
  private readonly steps = new Map<string, RunningStep>()
  private readonly latch = Effect.unsafeMakeLatch(false)
  private told = true

  constructor(private readonly defaultTarget: number) {}

  enter(step: string, target: number | undefined): void {
    const running = this.steps.get(step)
    if (running === undefined) this.steps.set(step, { active: 1, target: target ?? this.defaultTarget })
    else {
      running.active++
      running.target = target ?? this.defaultTarget
    }
    this.changed()
  }

  leave(step: string): void {
    const running = this.steps.get(step)
    if (running === undefined) return
    if (--running.active === 0) this.steps.delete(step)
    this.changed()
  }

  /** Says what runs, in place of what was counted so far. */
  set(running: ReadonlyArray<ConcurrencySample>): void {
    this.steps.clear()
    for (const { active, step, target } of running) this.steps.set(step, { active, target })
    this.changed()
  }

  /** Ends when a step has started or ended since the last {@link samples}. */
  get changes(): Effect.Effect<void> {
    return this.latch.await
  }

  /** The running steps, busiest first, as many as a heartbeat holds. */
  samples(): ReadonlyArray<ConcurrencySample> {
    this.told = true
    this.latch.unsafeClose()
    return Array.from(this.steps, ([step, { active, target }]) => ({ step, active, target }))
      .sort((a, b) => b.active - a.active)
      .slice(0, maxHeartbeatSamples)
  }

  private changed(): void {
    if (!this.told) return
    this.told = false
    this.latch.unsafeOpen()
  }
}
