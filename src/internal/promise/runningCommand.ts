/** The command line as an effect that gives its exit code, also when a signal interrupts it. */
import * as Config from "effect/Config"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { main } from "../../cli/main.js"
import { withoutColours } from "../../cli/plainConsole.js"

export const command = (argv: ReadonlyArray<string>): Effect.Effect<number> =>
  Effect.gen(function* () {
    const noColor = yield* Effect.orElseSucceed(Config.string("NO_COLOR"), () => "")
    const plain = !process.stdout.isTTY || noColor !== ""
    const program = main(argv)
    return yield* Effect.raceFirst(plain ? Effect.withConsole(program, withoutColours) : program, yield* signalled)
  }).pipe(Effect.scoped)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const

/** Waits for the first signal. Its listeners are gone with it, so that a second one does what it does by itself. */
const signalled = Effect.gen(function* () {
  const code = yield* Deferred.make<number>()
  const listeners = Object.entries(exitCodes).map(
    ([signal, exitCode]) => [signal, () => Deferred.unsafeDone(code, Effect.succeed(exitCode))] as const
  )
  const remove = () => listeners.forEach(([signal, listener]) => process.off(signal, listener))
  yield* Effect.acquireRelease(
    Effect.sync(() => listeners.forEach(([signal, listener]) => process.on(signal, listener))),
    () => Effect.sync(remove)
  )
  return Effect.tap(Deferred.await(code), () => Effect.sync(remove))
})
