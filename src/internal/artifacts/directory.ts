import * as Fs from "node:fs/promises"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import { errorCode } from "../failure.js"

/** Creates a directory and those above it where they are missing. */
// Node's own recursive mkdir never returns where nothing can be created, as in /proc.
export const makeDirectory = (directory: string): Effect.Effect<void, unknown> => {
  const parent = Path.dirname(directory)
  return Effect.catchIf(
    makeOne(directory),
    (error) => errorCode(error) === "ENOENT" && parent !== directory,
    () => Effect.zipRight(makeDirectory(parent), makeOne(directory))
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeOne = (directory: string): Effect.Effect<void, unknown> =>
  Effect.catchAll(
    attempt(() => Fs.mkdir(directory)),
    (error) =>
      errorCode(error) === "EEXIST"
        ? Effect.flatMap(
            attempt(() => Fs.stat(directory)),
            (found) => (found.isDirectory() ? Effect.void : Effect.fail(error))
          )
        : Effect.fail(error)
  )

const attempt = <A>(evaluate: () => Promise<A>) => Effect.tryPromise({ try: evaluate, catch: identity })
