/**
 * How a run is shown while it goes, on stderr: a display where people watch a terminal, one event a line as JSON where programs
 * do, and stable lines everywhere else.
 */
import { stripVTControlCharacters } from "node:util"
import type * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Listener } from "../RunEvent.js"
import { RunListener } from "../RunEvent.js"
import { isWatched, open } from "./live/screen.js"
import { Progress } from "./progress.js"
import type { RunFlags } from "./runFlags.js"

type WatchFlags = Pick<RunFlags, "quiet" | "verbose" | "logFormat">

/** Shows a run while `effect` runs it. `onError` is told how far it came, when the display has ended. */
export const watching = <A, E, R>(
  flags: WatchFlags,
  effect: Effect.Effect<A, E, R>,
  onError: (cause: Cause.Cause<E>, progress: Progress) => Effect.Effect<void> = () => Effect.void
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let progress: Progress | undefined = undefined
    return Effect.scoped(
      Effect.flatMap(display(flags), (shown) => {
        progress = shown.progress
        return Effect.provideService(effect, RunListener, shown.listener)
      })
    ).pipe(Effect.onError((cause) => (progress === undefined ? Effect.void : onError(cause, progress))))
  })

/** With `--log-format json`, what is said on stderr beside events is a `Message` each. */
export const withLogFormat =
  (flags: WatchFlags) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    flags.logFormat !== "json"
      ? effect
      : Effect.flatMap(Effect.all([Effect.console, Effect.clock]), ([console, clock]) => {
          const encode = eventLines(clock)
          const message = (args: ReadonlyArray<unknown>): string => {
            const [text] = args
            const isEvent = typeof text === "string" && text.startsWith(eventStart)
            return isEvent
              ? text
              : encode("Message", { text: stripVTControlCharacters(args.map(String).join(" ")).trim() })
          }
          const asEvents: Console.Console = {
            ...console,
            [Console.TypeId]: Console.TypeId,
            error: (...args) => console.error(message(args)),
            unsafe: { ...console.unsafe, error: (...args) => console.unsafe.error(message(args)) }
          }
          return Effect.withConsole(effect, asEvents)
        })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Display {
  readonly progress: Progress
  readonly listener: Listener
}

const display = (flags: WatchFlags): Effect.Effect<Display, never, Scope.Scope> =>
  Effect.gen(function* () {
    const console = yield* Effect.console
    const write = (line: string): void => console.unsafe.error(line)
    if (flags.logFormat === "json") {
      const progress = new Progress({ write: () => {}, quiet: true, verbose: false })
      const encode = eventLines(yield* Effect.clock)
      const listener: Listener = (event) => {
        progress.listener(event)
        const { _tag, ...fields } = event
        write(encode(_tag, fields))
      }
      return { progress, listener }
    }
    const isQuiet = flags.quiet === true
    const isVerbose = flags.verbose === true
    if (isQuiet || isVerbose || !(yield* isWatched)) {
      const progress = new Progress({ write, quiet: isQuiet, verbose: isVerbose })
      return { progress, listener: progress.listener }
    }
    const screen = yield* open(process.stderr)
    const progress = new Progress({ write: screen.write, quiet: true, verbose: false })
    const listener: Listener = (event) => {
      progress.listener(event)
      screen.listener(event)
    }
    return { progress, listener }
  })

const eventStart = '{"event":"'

/** One line: whatever is in the fields, JSON keeps line breaks and control characters escaped. */
const eventLines =
  (clock: { readonly unsafeCurrentTimeMillis: () => number }) =>
  (event: string, fields: object): string =>
    JSON.stringify({
      event,
      at: DateTime.formatIso(DateTime.unsafeMake(clock.unsafeCurrentTimeMillis())),
      ...fields
    }).replace(
      /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
    )
