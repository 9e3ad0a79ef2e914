/**
 * `bench`: from the arguments of the process to its exit code.
 */
import { readFileSync } from "node:fs"
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as ValidationError from "@effect/cli/ValidationError"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import { hasProperty } from "effect/Predicate"
import { messageOf } from "../internal/json.js"
import { bench, help, rawCommands } from "./commands.js"
import { overview, runUsage } from "./help.js"
import { ExitWith, print, say } from "./output.js"
import { UsageError } from "./UsageError.js"

const version = (): string => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8")
  const manifest: unknown = JSON.parse(text)
  return hasProperty(manifest, "version") ? String(manifest.version) : "unknown"
}

/**
 * Runs a command line (without the executable) and gives the process's exit code. It fails only by interruption.
 */
export const main = (argv: ReadonlyArray<string>): Effect.Effect<number> =>
  Effect.gen(function* () {
    const text = writtenHelp(argv)
    if (text !== undefined) return yield* print(text)
    const cli = Command.run(bench, { name: "bench", version: version() })
    yield* cli(["node", "bench", ...(yield* prepare(argv))])
  }).pipe(
    Effect.as(0),
    Effect.catchAllCause((cause) => (Cause.isInterruptedOnly(cause) ? Effect.interrupt : exitCode(cause))),
    Effect.provide(Layer.mergeAll(NodeContext.layer, CliConfig.layer({ isCaseSensitive: true }), logger(argv)))
  )

const isHelp = (argument: string): boolean => argument === "--help" || argument === "-h"

const writtenHelp = ([command, ...rest]: ReadonlyArray<string>): string | undefined => {
  if (command === undefined || isHelp(command)) return overview(version())
  return (command === "run" || command === "check") && rest.some(isHelp) ? runUsage(command) : undefined
}

/** Diagnostics go to stderr: stdout is for results. */
const logger = (argv: ReadonlyArray<string>): Layer.Layer<never> =>
  Layer.merge(
    Logger.replace(Logger.defaultLogger, Logger.prettyLogger({ stderr: true })),
    Logger.minimumLogLevel(argv.includes("--verbose") ? LogLevel.Debug : LogLevel.Warning)
  )

const builtIns = new Set(["--help", "-h", "--version", "--wizard", "--completions", "--log-level"])

/**
 * `run` and `check` keep their arguments as they stand behind a `--`; for the other commands flags that do not exist are
 * all named at once.
 */
const prepare = (argv: ReadonlyArray<string>): Either.Either<ReadonlyArray<string>, UsageError> => {
  const [command, ...rest] = argv
  if (command !== undefined && rawCommands.has(command)) {
    return Either.right(rest.includes("--wizard") ? argv : [command, "--", ...rest])
  }
  const unknown = unknownFlags(argv)
  return unknown.length === 0
    ? Either.right(argv)
    : Either.left(new UsageError({ detail: `Unknown flag(s): ${unknown.join(", ")}` }))
}

const unknownFlags = (argv: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [command = "", subcommand = ""] = argv.filter((argument) => !argument.startsWith("-"))
  const text = (help[command] ?? help[`${command} ${subcommand}`])?.()
  if (text === undefined) return []
  const known = new Set(text.match(/--[a-z][a-z-]*/g) ?? [])
  return argv
    .filter((argument) => /^--?[A-Za-z]/.test(argument))
    .map((argument) => argument.split("=", 1)[0] ?? argument)
    .filter((flag) => !known.has(flag) && !builtIns.has(flag))
}

/** Says what went wrong, once, and gives the code for it. */
const exitCode = (cause: Cause.Cause<unknown>): Effect.Effect<number> => {
  const failure = Cause.failureOption(cause)
  if (Option.isNone(failure)) return Effect.as(say(Cause.pretty(cause, { renderErrorCause: true })), 1)
  const error: unknown = failure.value
  if (ValidationError.isValidationError(error)) return Effect.succeed(1)
  if (error instanceof ExitWith) return Effect.succeed(error.code)
  return Effect.as(say(messageOf(error)), 1)
}
