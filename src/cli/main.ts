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
import * as Option from "effect/Option"
import { hasProperty, isTagged } from "effect/Predicate"
import { messageOf } from "../internal/json.js"
import { ResourceNotFound, Unauthorized } from "../Platform.js"
import { bench, help, rawCommands } from "./commands.js"
import { overview, queryUsage, runUsage } from "./help.js"
import { ExitWith, layerLogger, print, say } from "./output.js"
import { lines } from "./text.js"
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
    Effect.provide(
      Layer.mergeAll(
        NodeContext.layer,
        CliConfig.layer({ isCaseSensitive: true }),
        layerLogger({ verbose: argv.includes("--verbose") })
      )
    )
  )

const isHelp = (argument: string): boolean => argument === "--help" || argument === "-h"

const writtenHelp = (argv: ReadonlyArray<string>): string | undefined => {
  const [command, ...rest] = argv
  if (command === undefined || isHelp(command)) return overview(version())
  const name = commandOf(argv)
  const words = name.split(" ").length
  if (groups.has(name) && help[name] === undefined && argv.slice(words).every(isHelp)) return overview(version())
  if (!rest.some(isHelp)) return undefined
  if (command === "run" || command === "check" || command === "worker") return runUsage(command)
  const generated = help[name]?.()
  return generated === undefined ? undefined : queryUsage(name, generated)
}

/** Commands that hold others. */
const groups: ReadonlySet<string> = new Set(
  Object.keys(help).flatMap((name) => {
    const words = name.split(" ")
    return words.slice(1).map((_, i) => words.slice(0, i + 1).join(" "))
  })
)

/** The words that name a command, as far as they are there. */
const commandOf = ([first = "", ...rest]: ReadonlyArray<string>): string => {
  const end = rest.findIndex(isFlag)
  return rest
    .slice(0, end === -1 ? rest.length : end)
    .reduce((name, word) => (groups.has(name) ? `${name} ${word}` : name), first)
}

const builtIns = new Set(["--help", "-h", "--version", "--wizard", "--completions", "--log-level"])

const shells = new Set(["bash", "zsh", "fish", "sh"])

const refuse = (detail: string): Either.Either<never, UsageError> => Either.left(new UsageError({ detail }))

/**
 * `run` and `check` keep their arguments as they stand behind a `--`; for the other commands what is wrong with the
 * flags is said here: all that do not exist at once, or the one that lacks its value.
 */
const prepare = (argv: ReadonlyArray<string>): Either.Either<ReadonlyArray<string>, UsageError> => {
  const [command = "", ...rest] = argv
  if (rawCommands.has(command)) {
    return Either.right(rest.includes("--wizard") ? argv : [command, "--", ...rest])
  }
  if (command === "--completions" && !shells.has(rest[0] ?? "")) {
    return refuse(`--completions expects ${[...shells].join(", ")}`)
  }
  if (builtIns.has(nameOf(command))) return Either.right(argv)
  if (isFlag(command)) {
    const flags = argv.filter(isFlag).map(nameOf)
    return refuse(
      argv.every(isFlag) ? `Unknown flag(s): ${flags.join(", ")}` : `Name the command first, then ${command}`
    )
  }
  const name = commandOf(argv)
  const text = help[name]?.()
  if (text === undefined) {
    return refuse(`Unknown command "${name}". There are: ${[...rawCommands, ...Object.keys(help)].join(", ")}`)
  }
  const words = name.split(" ")
  return Either.map(checkFlags(argv.slice(words.length), lines(text)), (args) => [...words, ...args])
}

const isFlag = (argument: string): boolean => /^--?[A-Za-z]/.test(argument)

const nameOf = (argument: string): string => argument.split("=", 1)[0] ?? argument

const checkFlags = (args: ReadonlyArray<string>, text: string): Either.Either<ReadonlyArray<string>, UsageError> => {
  const known = new Set([...(text.match(/--[a-z][a-z-]*/g) ?? []), ...builtIns, "--verbose"])
  const takingValues = new Set(Array.from(text.matchAll(/^(--[a-z][a-z-]*) \S/gm), ([, flag]) => flag))
  const unknown = args
    .filter(isFlag)
    .map(nameOf)
    .filter((flag) => !known.has(flag))
  if (unknown.length > 0) return refuse(`Unknown flag(s): ${unknown.join(", ")}`)
  const empty = args.find((argument, i) => {
    if (!takingValues.has(nameOf(argument))) return false
    const next = args[i + 1] ?? ""
    return argument.includes("=") ? /=\s*$/.test(argument) : next.trim() === "" || isFlag(next)
  })
  return empty === undefined
    ? Either.right(args.filter((argument) => argument !== "--verbose"))
    : refuse(`${nameOf(empty)} expects a value`)
}

/** Says what went wrong, once, and gives the code for it. */
const exitCode = (cause: Cause.Cause<unknown>): Effect.Effect<number> => {
  const failure = Cause.failureOption(cause)
  if (Option.isNone(failure)) return Effect.as(say(Cause.pretty(cause, { renderErrorCause: true })), 1)
  const error: unknown = failure.value
  if (ValidationError.isValidationError(error)) return Effect.succeed(1)
  if (error instanceof ExitWith) return Effect.succeed(error.code)
  return Effect.as(say(`${messageOf(error)}${whereToLook(error)}`), isRefusedEntry(error) ? 2 : 1)
}

/** Whether the platform did not take the credentials. */
const isRefusedEntry = (error: unknown): boolean =>
  error instanceof Unauthorized ||
  (isTagged(error, "UndeliveredResults") &&
    hasProperty(error, "undelivered") &&
    Array.isArray(error.undelivered) &&
    error.undelivered.every((entry) => hasProperty(entry, "error") && entry.error instanceof Unauthorized))

/** Where the names are that can be asked for, when one was asked for that does not exist. */
const whereToLook = (error: unknown): string =>
  error instanceof ResourceNotFound
    ? error.resource === "benchmark"
      ? " See which are recorded: bench benchmarks list"
      : error.resource === "participant"
        ? " See which the run has: bench runs show RUN"
        : ""
    : ""
