/** How much of request bodies a server holds at the same time. */
import * as Effect from "effect/Effect"

export class BodyBudget {
  private used = 0

  constructor(private readonly limit: number) {}

  /** Runs an effect that needs so many bytes, or what else is said when there are not as many left. */
  readonly within = <A, E, R, A2, E2, R2>(
    bytes: number,
    effect: Effect.Effect<A, E, R>,
    otherwise: Effect.Effect<A2, E2, R2>
  ): Effect.Effect<A | A2, E | E2, R | R2> =>
    bytes === 0
      ? effect
      : Effect.suspend((): Effect.Effect<A | A2, E | E2, R | R2> => {
          if (this.used > 0 && this.used + bytes > this.limit) return otherwise
          this.used += bytes
          return Effect.ensuring(
            effect,
            Effect.sync(() => {
              this.used -= bytes
            })
          )
        })
}
