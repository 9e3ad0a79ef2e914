/**
 * The log of one worker: what its tasks logged and what its steps did, in order, bounded in length.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import { messageOf, stringifySafe } from "./internal/json.js"

/**
 * From least to most urgent.
 *
 * @since 0.1.0
 * @category models
 */
export type LogLevel = "debug" | "info" | "warn" | "error"

const severity: { readonly [level: string]: number | undefined } = { debug: 0, info: 1, warn: 2, error: 3 }

const isLevel = (value: unknown): value is LogLevel => typeof value === "string" && Object.hasOwn(severity, value)

/**
 * What a step returned when it returned only the output of a command.
 *
 * @since 0.1.0
 * @category models
 */
export interface StepOutput {
  readonly stdout?: unknown
  readonly stderr?: unknown
  readonly error?: unknown
}

const outputKeys = new Set(["stdout", "stderr", "error", "exitCode", "code", "signal", "pid"])

/**
 * Whether a step's result is the output of a command: an object whose keys are all among stdout, stderr, error,
 * exitCode, code, signal and pid, with text in at least one of the first three.
 *
 * @since 0.1.0
 * @category combinators
 */
export const isStepOutput = (value: unknown): value is StepOutput => {
  try {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false
    const { error, stderr, stdout }: StepOutput = value
    return (
      (typeof stdout === "string" || typeof stderr === "string" || typeof error === "string") &&
      Object.keys(value).every((key) => outputKeys.has(key))
    )
  } catch {
    return false
  }
}

const linesOf = (text: unknown): ReadonlyArray<string> => {
  if (typeof text !== "string") return []
  const trimmed = text.trimEnd()
  return trimmed === "" ? [] : trimmed.split("\n")
}

interface LogArgument {
  readonly level: LogLevel
  readonly meta: unknown
}

const readArgument = (argument: unknown): LogArgument => {
  try {
    return parseArgument(argument)
  } catch (error) {
    return { level: "info", meta: `[cannot be read: ${messageOf(error)}]` }
  }
}

const parseArgument = (argument: unknown): LogArgument => {
  if (typeof argument === "object" && argument !== null && !Array.isArray(argument)) {
    const { level, meta }: { level?: unknown; meta?: unknown } = argument
    const known = Object.keys(argument).every((key) => key === "level" || key === "meta")
    if (known && (level === undefined || isLevel(level))) {
      return { level: level ?? "info", meta }
    }
    return { level: "info", meta: argument }
  }
  return { level: "info", meta: typeof argument === "string" || Array.isArray(argument) ? argument : undefined }
}

const metaText = (meta: unknown): string => {
  if (meta === undefined || meta === null) return ""
  const text = stringifySafe(meta)
  return text === "{}" ? "" : ` ${text}`
}

const taskPrefix = /^(\[task \d+\])\s*/

/**
 * One line as it is written: timestamp, task, level, message and metadata as JSON. A message that begins with
 * `[task N]` has that put before the level. `argument` is metadata, or `{ level, meta }`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const formatLine = (timestamp: string, message: string, argument?: unknown): string => {
  const { level, meta } = readArgument(argument)
  const prefix = taskPrefix.exec(message)
  const task = prefix === null ? "" : `${prefix[1]} `
  const text = prefix === null ? message : message.slice(prefix[0].length)
  return `${timestamp} ${task}[${level}] ${text}${metaText(meta)}`
}

/**
 * A step with its output as one indented block, for reading: the step's line, then each line of stdout, stderr and
 * error under it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const formatStep = (timestamp: string, taskIndex: number, step: string, output: StepOutput): string =>
  [
    `${timestamp} [task ${taskIndex}] ${step}`,
    ...linesOf(output.stdout).map((line) => `  ${line}`),
    ...linesOf(output.stderr).map((line) => `  stderr: ${line}`),
    ...errorLines(output.error)
  ].join("\n")

const errorLines = (error: unknown): ReadonlyArray<string> =>
  typeof error === "string" && error !== ""
    ? error
        .trimEnd()
        .split("\n")
        .map((line) => `  error: ${line}`)
    : []

/**
 * @since 0.1.0
 * @category models
 */
export interface WorkerLogOptions {
  /** Lines below this level are left out. Default `"info"`. */
  readonly level?: LogLevel | undefined
  /** After this many lines one marker line is written and the rest is dropped. Default 100 000. */
  readonly maxLines?: number | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export class WorkerLog {
  private readonly entries: Array<string> = []
  private readonly threshold: number
  private readonly maxLines: number
  private lineCount = 0
  private full = false

  constructor(options: WorkerLogOptions = {}) {
    this.threshold = severity[options.level ?? "info"] ?? 1
    this.maxLines = options.maxLines ?? 100_000
  }

  /** Whether lines of this level are written; lets callers skip making text that would be dropped. */
  accepts(level: LogLevel): boolean {
    return !this.full && (severity[level] ?? 1) >= this.threshold
  }

  /** A message of a task. */
  message(timestamp: string, taskIndex: number, message: string, argument?: unknown): void {
    if (this.accepts(readArgument(argument).level)) {
      this.append(formatLine(timestamp, `[task ${taskIndex}] ${message}`, argument))
    }
  }

  /** A step that succeeded, with the output it returned if that is to be kept. */
  stepSucceeded(timestamp: string, taskIndex: number, step: string, output: StepOutput | undefined): void {
    if (!this.accepts("info")) return
    this.append(`${timestamp} [task ${taskIndex}] [info] ${step}`)
    if (output === undefined) return
    for (const stream of ["stdout", "stderr", "error"] as const) {
      for (const line of linesOf(output[stream])) {
        this.append(`${timestamp} [task ${taskIndex}] ${step} ${stream}: ${line}`)
      }
    }
  }

  /** A step that failed. */
  stepFailed(timestamp: string, taskIndex: number, step: string, error: string): void {
    if (this.accepts("error")) this.append(`${timestamp} [task ${taskIndex}] [error] ${step}\n  error: ${error}`)
  }

  /** Everything written so far: lines in the order in which they were written, each ended by a newline. */
  get text(): string {
    return this.entries.length === 0 ? "" : `${this.entries.join("\n")}\n`
  }

  private append(entry: string): void {
    if (this.full) return
    let lines = 1
    for (let at = entry.indexOf("\n"); at !== -1; at = entry.indexOf("\n", at + 1)) lines++
    if (this.lineCount + lines > this.maxLines) {
      this.full = true
      this.entries.push(`[log truncated after ${this.lineCount} lines; raise BENCHMARK_LOG_MAX_LINES to keep more]`)
      return
    }
    this.lineCount += lines
    this.entries.push(entry)
  }
}

/**
 * A log as the environment asks for it: `BENCHMARK_LOG_LEVEL` (default info) and `BENCHMARK_LOG_MAX_LINES` (default
 * 100 000). Settings that are not understood fall back to the defaults.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<WorkerLog> = Effect.gen(function* () {
  const level = yield* Config.literal("debug", "info", "warn", "error")("BENCHMARK_LOG_LEVEL").pipe(Effect.option)
  const maxLines = yield* Config.integer("BENCHMARK_LOG_MAX_LINES").pipe(Effect.option)
  return new WorkerLog({
    level: level._tag === "Some" ? level.value : undefined,
    maxLines: maxLines._tag === "Some" && maxLines.value >= 0 ? maxLines.value : undefined
  })
})
