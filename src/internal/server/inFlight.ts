import * as Effect from "effect/Effect"

/** What is being carried out, and whether more is wanted. */
export class InFlight {
  /** The server is being shut down. */
  draining = false
  private count = 0
  private readonly waiting = new Set<() => void>()

  get size(): number {
    return this.count
  }

  readonly enter = (): void => {
    this.count++
  }

  readonly leave = (): void => {
    this.count--
    if (this.count === 0) for (const resume of this.waiting) resume()
  }

  /** Waits until nothing is being carried out. */
  readonly idle: Effect.Effect<void> = Effect.async((resume) => {
    const done = () => resume(Effect.void)
    if (this.count === 0) return done()
    this.waiting.add(done)
    return Effect.sync(() => {
      this.waiting.delete(done)
    })
  })

  /** Counts an effect as long as it runs. */
  readonly during = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      this.enter()
      return Effect.ensuring(effect, Effect.sync(this.leave))
    })
}
