/**
 * Loads a user's file, TypeScript or JavaScript, into this process: what it imports are the same modules that the
 * command itself runs on.
 */
import { pathToFileURL } from "node:url"
import * as Effect from "effect/Effect"
import { messageOf } from "../internal/json.js"
import { CliError } from "./CliError.js"

export type Module = { readonly [name: string]: unknown }

const isModule = (value: unknown): value is Module => typeof value === "object" && value !== null

export const importModule = (file: string): Effect.Effect<Module, CliError> =>
  Effect.tryPromise({
    try: async () => {
      const { createJiti } = await import("jiti")
      return createJiti(import.meta.url, { interopDefault: false }).import<unknown>(file)
    },
    catch: (cause) => new CliError({ detail: `${file} could not be loaded: ${describe(cause, file)}`, cause })
  }).pipe(
    Effect.filterOrFail(isModule, () => new CliError({ detail: `${file} could not be loaded: it exports nothing` }))
  )

/** The message, and where in the user's file it came from. */
const describe = (error: unknown, file: string): string => {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : messageOf(error)
  const stack = error instanceof Error && typeof error.stack === "string" ? error.stack.split("\n") : []
  const url = pathToFileURL(file).href
  const place = stack.find((line) => line.trimStart().startsWith("at ") && (line.includes(file) || line.includes(url)))
  return place === undefined ? message : `${message}\n${place.trimEnd()}`
}
