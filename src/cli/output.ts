/**
 * What a command leaves: results on stdout, everything else on stderr, and an exit code.
 */
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { lines } from "./text.js"

/** The command has said what there is to say; the process ends with this code. */
export class ExitWith extends Data.TaggedError("ExitWith")<{ readonly code: number }> {}

/** Escapes what JSON may hold as it is although terminals act on it. */
export const json = (value: unknown): Effect.Effect<void> =>
  Console.log(
    JSON.stringify(value, null, 2).replace(
      /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
    )
  )

export const print = (text: string): Effect.Effect<void> => Console.log(lines(text))

/** Diagnostics go to stderr: stdout is for results. */
export const layerLogger = (options: { readonly verbose: boolean }): Layer.Layer<never> =>
  Layer.merge(
    Logger.replace(Logger.defaultLogger, Logger.prettyLogger({ stderr: true })),
    Logger.minimumLogLevel(options.verbose ? LogLevel.Info : LogLevel.Warning)
  )

export const say = (text: string): Effect.Effect<void> => Console.error(lines(text))
