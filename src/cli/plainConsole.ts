/**
 * A console for pipes, files and people who asked for no colours.
 */
import { stripVTControlCharacters } from "node:util"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

const strip = (args: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  args.map((arg) => (typeof arg === "string" ? stripVTControlCharacters(arg) : arg))

const standard = Effect.runSync(Effect.console)

/** Writes where the standard console writes, without escape sequences in what is logged or reported. */
export const withoutColours: Console.Console = {
  ...standard,
  [Console.TypeId]: Console.TypeId,
  log: (...args) => standard.log(...strip(args)),
  error: (...args) => standard.error(...strip(args)),
  unsafe: {
    ...standard.unsafe,
    log: (...args) => standard.unsafe.log(...strip(args)),
    error: (...args) => standard.unsafe.error(...strip(args))
  }
}
