/**
 * A task: what a benchmark runs once per slot, for one participant, and how one run of it becomes a record.
 *
 * ```ts
 * import { Step, Task } from "effect-bench"
 * import { Effect } from "effect"
 *
 * const ping = Task.make(({ participant }) =>
 *   Effect.gen(function* () {
 *     const size = yield* Step.run("ping", Effect.succeed(participant.name.length), { timeoutMs: 500 })
 *     yield* Task.measure({ size })
 *   })
 * )
 * ```
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { NotJson } from "./internal/json.js"
import { stringifySafe } from "./internal/json.js"
import type { Participant } from "./Participant.js"
import type { StepRecord } from "./Record.js"
import type { StepNotReady } from "./Step.js"

/**
 * The task that is running, as its effects see it. Everything a task runs may require it; nothing else can provide it,
 * so measuring outside a task does not compile.
 *
 * @since 0.1.0
 * @category models
 */
export interface TaskContext {
  readonly participant: Participant
  /** Index of the slot in this worker's schedule, from 0. */
  readonly taskIndex: number
  /** Name of the phase the slot belongs to, in a benchmark with phases. */
  readonly phase: string | undefined
  /** Merges into the data of the step (or task) that this context belongs to; returns why it cannot. */
  readonly measure: (data: unknown) => NotJson | undefined
  /** Writes a line to the worker's log. */
  readonly log: (message: string, argument?: unknown) => void
  /** Opens a step in this context; `Step.run` is the way to use it. */
  readonly startStep: (name: string, options: StepSettings) => RunningStep
}

/**
 * What a step's record says about how the step was run, as it was asked for.
 *
 * @since 0.1.0
 * @category models
 */
export interface StepSettings {
  readonly parallelInvocations?: number | undefined
  readonly concurrency?: number | undefined
  readonly timeoutMs?: number | undefined
  readonly captureOutput?: boolean | undefined
  readonly reportConcurrency?: boolean | undefined
  readonly readiness?: "internal" | "poll" | undefined
  readonly readyPollIntervalMs?: number | undefined
  readonly readyTimeoutMs?: number | undefined
  readonly target?: number | undefined
}

/**
 * A step between its start and its record.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunningStep {
  /** What the step's effects measure and log into. */
  readonly context: TaskContext
  /** Why the step may not run, if it may not. */
  readonly refused: string | undefined
  /** The barrier to wait at before the step begins, if it is one. */
  readonly ready: Effect.Effect<void, StepNotReady> | undefined
  /** Starts the step's clock. */
  readonly begin: () => void
  /** Stops the clock and records success; `output` is the result whose text may be kept in the log. */
  readonly succeeded: (output: unknown) => void
  /** Stops the clock and records the failure. */
  readonly failed: (cause: Cause.Cause<unknown>) => void
  /** Hands over work that is still ending after its deadline; the run waits for it before it ends. */
  readonly outlived: (fiber: Fiber.RuntimeFiber<unknown, unknown>) => void
}

/**
 * @since 0.1.0
 * @category services
 */
export class CurrentTask extends Context.Tag("effect-bench/CurrentTask")<CurrentTask, TaskContext>() {}

/**
 * What a task may require from the engine besides what the benchmark's `layer` provides: the task itself, and a scope
 * that is closed right after it, outside the measured time.
 *
 * @since 0.1.0
 * @category models
 */
export type TaskServices = CurrentTask | Scope.Scope

/**
 * An effect, or a function from the task's context to one. Its result is recorded only when it is a
 * {@link TaskResult}; anything else is control flow.
 *
 * @since 0.1.0
 * @category models
 */
export type Task<E = never, R = never> =
  Effect.Effect<unknown, E, R | TaskServices> | ((context: TaskContext) => Effect.Effect<unknown, E, R | TaskServices>)

/**
 * What a task may return to be recorded: `data` merges over its measures, `steps` are appended to those that ran,
 * `latencyMs` replaces the measured latency.
 *
 * @since 0.1.0
 * @category models
 */
export interface TaskResult {
  readonly data?: { readonly [key: string]: unknown } | undefined
  readonly steps?: ReadonlyArray<StepRecord> | undefined
  readonly latencyMs?: number | undefined
}

/**
 * Types a task where it is not written inside `Benchmark.make`.
 *
 * @since 0.1.0
 * @category constructors
 */
export function make<E, R>(
  task: Effect.Effect<unknown, E, R> | ((context: TaskContext) => Effect.Effect<unknown, E, R>)
): Task<E, Exclude<R, TaskServices>>
export function make<E, R>(task: Task<E, R>): Task<E, R> {
  return task
}

/**
 * Merges a JSON object (shallowly) into the data of the step that runs this effect, or of the task outside any step.
 * Follows the fiber, so steps that run at once each keep their own. A value that JSON cannot hold (NaN, Infinity,
 * bigint, function, cycle, …) is a defect naming its key: the task is recorded as failed with `InvalidMeasure`.
 *
 * @since 0.1.0
 * @category running
 */
export const measure = (data: { readonly [key: string]: unknown }): Effect.Effect<void, never, CurrentTask> =>
  Effect.flatMap(CurrentTask, (task) => {
    const problem = task.measure(data)
    return problem === undefined ? Effect.void : Effect.die(new InvalidMeasure({ detail: problem.message }))
  })

/**
 * Writes a line to the worker's log, with metadata as JSON. Default level `"info"`.
 *
 * @since 0.1.0
 * @category running
 */
export const log = (
  message: string,
  options?:
    | { readonly level?: "debug" | "info" | "warn" | "error"; readonly meta?: { readonly [key: string]: unknown } }
    | undefined
): Effect.Effect<void, never, CurrentTask> => Effect.map(CurrentTask, (task) => task.log(message, options))

/**
 * A measure, a returned value or a step list that cannot be recorded.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidMeasure extends Data.TaggedError("InvalidMeasure")<{ readonly detail: string }> {
  override get message(): string {
    return `Cannot record this measure: ${this.detail}.`
  }
}

/**
 * @since 0.1.0
 * @category models
 */
export interface TaskErrorOptions {
  /** Recorded as the task's `errorCode`. Default `"TaskError"`. */
  readonly code?: string | undefined
  /** Merged into the record's data. */
  readonly data?: { readonly [key: string]: unknown } | undefined
  /** Appended to the record's steps. */
  readonly steps?: ReadonlyArray<StepRecord> | undefined
  readonly step?: string | undefined
  readonly timeoutMs?: number | undefined
}

/**
 * A task's own failure: keeps what was measured up to it on the record.
 *
 * @since 0.1.0
 * @category errors
 */
export class TaskError extends Cause.YieldableError implements TaskErrorOptions {
  readonly _tag = "TaskError"
  readonly code?: string | undefined
  readonly data?: { readonly [key: string]: unknown } | undefined
  readonly steps?: ReadonlyArray<StepRecord> | undefined
  readonly step?: string | undefined
  readonly timeoutMs?: number | undefined

  constructor(message: string, options: TaskErrorOptions = {}) {
    super(message)
    this.name = "TaskError"
    Object.assign(this, options)
  }

  override toString(): string {
    const lines = [`[TaskError${this.code ? ` (${this.code})` : ""}] ${this.message}`]
    if (this.step) lines.push(`  step: ${this.step}`)
    if (this.timeoutMs !== undefined) lines.push(`  timeoutMs: ${this.timeoutMs}`)
    if (this.data !== undefined && Object.keys(this.data).length > 0) {
      lines.push(`  data: ${stringifySafe(this.data, 2)}`)
    }
    return lines.join("\n")
  }
}
