/**
 * What a command leaves: results on stdout, everything else on stderr, and an exit code.
 */
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** The command has said what there is to say; the process ends with this code. */
export class ExitWith extends Data.TaggedError("ExitWith")<{ readonly code: number }> {}

export const json = (value: unknown): Effect.Effect<void> => Console.log(JSON.stringify(value, null, 2))

export const print: (text: string) => Effect.Effect<void> = Console.log

export const say: (text: string) => Effect.Effect<void> = Console.error
