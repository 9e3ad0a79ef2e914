/** The display of a run on a terminal: redrawn in place at most ten times a second, and gone from there when it ends. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { Listener } from "../../RunEvent.js"
import type { Style } from "../style.js"
import { coloured } from "../style.js"
import { Board } from "./board.js"

/** Where it is drawn: a terminal. */
export interface TerminalStream extends NodeJS.WritableStream {
  readonly columns?: number
  readonly rows?: number
}

export interface Screen {
  readonly listener: Listener
  /** Writes lines that stay, above the display. */
  readonly write: (text: string) => void
}

/** Whether people watch `stderr`: a terminal that can move its cursor, where nobody asked for plain lines. */
export const isWatched: Effect.Effect<boolean> = Effect.gen(function* () {
  if (process.stderr.isTTY !== true) return false
  const plain = yield* Effect.exists(["CI", "NO_COLOR"], (name) => Effect.map(variable(name), (value) => value !== ""))
  return !plain && (yield* variable("TERM")) !== "dumb"
})

/**
 * A display for the life of the scope; then its last state stays where it was. Drawing happens apart from what it shows: the
 * listener counts only.
 */
export const open = (
  stream: TerminalStream,
  style: Style = coloured(undefined)
): Effect.Effect<Screen, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { createLogUpdate } = yield* Effect.promise(() => import("log-update"))
    const clock = yield* Effect.clock
    const now = (): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6
    const board = new Board()
    const update = createLogUpdate(stream)
    let begun = false
    let drawn = 0
    const draw = Effect.sync(() => {
      if (!begun) return
      const size = { columns: stream.columns ?? 80, rows: stream.rows ?? 24 }
      const lines = board.draw(now(), size, style)
      // What is changed in place leaves the cursor where it should not be when there are fewer lines than before.
      if (lines.length !== drawn) update.clear()
      drawn = lines.length
      update(lines.join("\n"))
    })
    yield* Effect.addFinalizer(() =>
      Effect.zipRight(
        draw,
        Effect.sync(() => {
          if (begun) update.done()
        })
      )
    )
    yield* draw.pipe(Effect.repeat(Schedule.spaced("100 millis")), Effect.interruptible, Effect.forkScoped)
    return {
      listener: (event) => {
        begun = true
        board.take(event, now())
      },
      write: (text) => {
        update.clear()
        stream.write(`${text}\n`)
      }
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const variable = (name: string): Effect.Effect<string> => Effect.orElseSucceed(Config.string(name), () => "")
