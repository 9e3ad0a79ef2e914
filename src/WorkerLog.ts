/**
 * The log of one worker: what its tasks logged and what its steps did, in order, bounded in length.
 *
 * @since 0.1.0
 */
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
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
  return lineOf(timestamp, level, message, metaText(meta))
}

const lineOf = (timestamp: string, level: LogLevel, message: string, meta: string): string => {
  const prefix = taskPrefix.exec(message)
  const task = prefix === null ? "" : `${prefix[1]} `
  const text = prefix === null ? message : message.slice(prefix[0].length)
  return `${timestamp} ${task}[${level}] ${text}${meta}`
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
  /**
   * Applied to messages, to their metadata as JSON, to names of steps, and to output and errors as a whole before they
   * are cut into lines. Default: nothing is changed.
   */
  readonly redact?: ((text: string) => string) | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface LogSnapshot {
  /** Everything written so far. */
  readonly text: string
  /** Whether there is something in it that the snapshot before did not have. */
  readonly changed: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export class WorkerLog {
  private written = ""
  private entries: Array<string> = []
  private readonly threshold: number
  private readonly maxLines: number
  private readonly redact: (text: string) => string
  private lineCount = 0
  private full = false
  private seenLength = 0

  constructor(options: WorkerLogOptions = {}) {
    this.threshold = severity[options.level ?? "info"] ?? 1
    this.maxLines = options.maxLines ?? 100_000
    this.redact = options.redact ?? ((text) => text)
  }

  /** Whether lines of this level are written; lets callers skip making text that would be dropped. */
  accepts(level: LogLevel): boolean {
    return !this.full && (severity[level] ?? 1) >= this.threshold
  }

  /** A message of a task. */
  message(timestamp: string, taskIndex: number, message: string, argument?: unknown): void {
    this.write(timestamp, `[task ${taskIndex}] `, message, argument)
  }

  /** A message that says itself what it is about: one that begins with `[task N]` is like that task's. */
  line(timestamp: string, message: string, argument?: unknown): void {
    this.write(timestamp, "", message, argument)
  }

  /** A step that succeeded, with the output it returned if that is to be kept. */
  stepSucceeded(timestamp: string, taskIndex: number, step: string, output: StepOutput | undefined): void {
    if (!this.accepts("info")) return
    const name = this.redact(step)
    this.append(`${timestamp} [task ${taskIndex}] [info] ${name}`)
    if (output === undefined) return
    for (const stream of ["stdout", "stderr", "error"] as const) {
      const text = output[stream]
      for (const line of linesOf(typeof text === "string" ? this.redact(text) : undefined)) {
        this.append(`${timestamp} [task ${taskIndex}] ${name} ${stream}: ${line}`)
      }
    }
  }

  /** A step that failed. */
  stepFailed(timestamp: string, taskIndex: number, step: string, error: string): void {
    if (!this.accepts("error")) return
    this.append(`${timestamp} [task ${taskIndex}] [error] ${this.redact(step)}\n  error: ${this.redact(error)}`)
  }

  /** Everything written so far: lines in the order in which they were written, each ended by a newline. */
  get text(): string {
    if (this.entries.length > 0) {
      this.written += `${this.entries.join("\n")}\n`
      this.entries = []
    }
    return this.written
  }

  /** For an upload in the middle of a run. Puts together only what was written since {@link text} was last asked for. */
  snapshot(): LogSnapshot {
    const text = this.text
    const changed = text.length > this.seenLength
    this.seenLength = text.length
    return { text, changed }
  }

  private write(timestamp: string, prefix: string, message: string, argument: unknown): void {
    const { level, meta } = readArgument(argument)
    if (!this.accepts(level)) return
    const data = metaText(meta)
    const text = `${prefix}${this.redact(message)}`
    this.append(lineOf(timestamp, level, text, data === "" ? "" : this.redact(data)))
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
export const makeWith = (options: Pick<WorkerLogOptions, "redact">): Effect.Effect<WorkerLog> =>
  Effect.gen(function* () {
    const level = yield* Config.literal("debug", "info", "warn", "error")("BENCHMARK_LOG_LEVEL").pipe(Effect.option)
    const maxLines = yield* amount("BENCHMARK_LOG_MAX_LINES")
    return new WorkerLog({
      level: level._tag === "Some" ? level.value : undefined,
      maxLines: maxLines === undefined ? undefined : Math.floor(maxLines),
      redact: options.redact
    })
  })

/**
 * {@link makeWith} without options.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<WorkerLog> = makeWith({})

/**
 * How a log is stored.
 *
 * @since 0.1.0
 * @category models
 */
export type LogCompression = "none" | "gzip"

/**
 * A log as an artifact.
 *
 * @since 0.1.0
 * @category models
 */
export interface EncodedLog {
  readonly content: Uint8Array
  /** `text/plain; charset=utf-8`, or `application/gzip`. */
  readonly contentType: string
  readonly metadata: {
    readonly lineCount: number
    /** Of the text in UTF-8, before it is compressed. */
    readonly sizeBytes: number
    /** Only of a compressed text. */
    readonly encoding?: "gzip"
  }
}

/**
 * A log's text as the bytes of an artifact, in UTF-8. Compression happens off the event loop; a text that cannot be
 * compressed (for want of memory) is left as it is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encode = (text: string, compression: LogCompression): Effect.Effect<EncodedLog> =>
  Effect.suspend(() => {
    const bytes = Buffer.from(text)
    const metadata = { lineCount: countLines(text), sizeBytes: bytes.length }
    const plain: EncodedLog = { content: bytes, contentType: "text/plain; charset=utf-8", metadata }
    if (compression === "none") return Effect.succeed(plain)
    return Effect.tryPromise(() => compress(bytes)).pipe(
      Effect.map((content): EncodedLog => ({
        content,
        contentType: "application/gzip",
        metadata: { ...metadata, encoding: "gzip" }
      })),
      Effect.orElseSucceed(() => plain)
    )
  })

/**
 * What a worker sends besides its results, and how.
 *
 * @since 0.1.0
 * @category models
 */
export interface TelemetrySettings {
  readonly logCompression: LogCompression
  /** How often the log is uploaded while the worker runs; zero for only at its end. */
  readonly logFlushInterval: Duration.Duration
  /** How often system metrics are sampled; zero for never. */
  readonly metricsInterval: Duration.Duration
}

/**
 * What the environment asks for: `BENCHMARK_LOG_COMPRESSION` (`none` or `gzip`; default none),
 * `BENCHMARK_LOG_FLUSH_INTERVAL_MS` (default 0, off) and `BENCHMARK_METRICS_INTERVAL_MS` (default 30 000; 0 is off).
 * Settings that are not understood fall back to the defaults, intervals are at least 10 ms.
 *
 * @since 0.1.0
 * @category constructors
 */
export const settings: Effect.Effect<TelemetrySettings> = Effect.gen(function* () {
  const compression = yield* Config.literal("none", "gzip")("BENCHMARK_LOG_COMPRESSION").pipe(Effect.option)
  return {
    logCompression: compression._tag === "Some" ? compression.value : "none",
    logFlushInterval: yield* interval("BENCHMARK_LOG_FLUSH_INTERVAL_MS", 0),
    metricsInterval: yield* interval("BENCHMARK_METRICS_INTERVAL_MS", 30_000)
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const compress = promisify(gzip)

const countLines = (text: string): number => {
  let lines = 0
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++
  return text === "" || text.endsWith("\n") ? lines : lines + 1
}

// A timer of Node.js that is set for longer fires at once.
const maxTimerMillis = 2 ** 31 - 1

const interval = (name: string, fallback: number): Effect.Effect<Duration.Duration> =>
  Effect.map(amount(name), (found) => {
    const millis = found ?? fallback
    return Duration.millis(millis === 0 ? 0 : Math.min(Math.max(millis, 10), maxTimerMillis))
  })

/** A plain number that is not negative; nothing when it is unset, blank or anything else. */
const amount = (name: string): Effect.Effect<number | undefined> =>
  Config.string(name).pipe(
    Effect.map((text) => (/^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined)),
    Effect.orElseSucceed(() => undefined)
  )
