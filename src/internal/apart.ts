import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/**
 * Runs an effect interruptibly, and interrupts it when its caller is interrupted where that can be. A fiber that is told to
 * end tells its children, also while it may not be interrupted itself: this one is none of them.
 */
export const apart = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDaemon(Effect.interruptible(effect)), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () => Fiber.interrupt(fiber))
    )
  )
