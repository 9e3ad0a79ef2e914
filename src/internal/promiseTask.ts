/**
 * Tasks written as async functions, run by the same engine: each step of theirs is a `Step.run`, and measures follow the
 * async context as they follow the fiber elsewhere.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type { Participant } from "../Participant.js"
import type { StepOptions } from "../Step.js"
import * as Step from "../Step.js"
import type { Task, TaskContext } from "../Task.js"
import { CurrentTask, InvalidMeasure, TaskError } from "../Task.js"

/** What an async task is called with. Every member can be taken out of it and used on its own. */
export interface PromiseTaskContext {
  readonly participant: Participant
  /** Index of the slot in this worker's schedule, from 0. */
  readonly taskIndex: number
  readonly phase: string | undefined
  /** Aborted when the task is interrupted. */
  readonly signal: AbortSignal
  /** Times `work` as a step; its `signal` is aborted at the step's timeout and when the task is interrupted. */
  readonly step: {
    <A>(name: string, work: (context: StepContext) => A | PromiseLike<A>): Promise<A>
    <A, const O extends StepOptions>(
      name: string,
      work: (context: StepContext) => A | PromiseLike<A>,
      options: O
    ): Promise<Step.Result<A, O>>
  }
  /** Merges into the data of the step it is called in, or of the task. Throws when JSON cannot hold a value. */
  readonly measure: (data: { readonly [key: string]: unknown }) => void
  /** Writes a line to the worker's log: metadata, or `{ level, meta }`. */
  readonly log: (message: string, argument?: unknown) => void
}

export interface StepContext {
  readonly signal: AbortSignal
}

export type PromiseTask = (context: PromiseTaskContext) => unknown

const currentSink = new AsyncLocalStorage<TaskContext>()

/** What steps do unless they say otherwise. */
export type StepDefaults = Pick<StepOptions, "readyPollIntervalMs">

/** The engine's form of an async task. A function that returns an effect is run as one. */
export const fromFunction =
  (task: PromiseTask, defaults: StepDefaults = {}): Task<unknown> =>
  (context) =>
    Effect.flatMap(Effect.runtime(), (runtime) => {
      const open: OpenSteps = { fibers: new Set(), closed: false }
      return Effect.tryPromise({
        try: (signal) =>
          currentSink.run(context, async () => task(makeContext(context, signal, runtime, open, defaults))),
        catch: identity
      }).pipe(
        Effect.flatMap((result) => (isTaskEffect(result) ? result : Effect.succeed(result))),
        Effect.ensuring(
          Effect.suspend(() => {
            open.closed = true
            return open.fibers.size === 0 ? Effect.void : Fiber.interruptAll(open.fibers)
          })
        )
      )
    })

/** The engine's form of what may be a task of either dialect; undefined when it is neither an effect nor a function. */
export const fromUnknown = (task: unknown): Task<unknown> | undefined =>
  isTaskEffect(task) ? task : isPromiseTask(task) ? fromFunction(task) : undefined

const isPromiseTask = (value: unknown): value is PromiseTask => typeof value === "function"

/** The steps of one task that are running. An async function goes on after it was interrupted; its steps do not. */
interface OpenSteps {
  readonly fibers: Set<Fiber.RuntimeFiber<unknown, unknown>>
  closed: boolean
}

const isTaskEffect = (value: unknown): value is Effect.Effect<unknown, unknown, CurrentTask> => Effect.isEffect(value)

const makeContext = (
  task: TaskContext,
  signal: AbortSignal,
  runtime: Runtime.Runtime<never>,
  open: OpenSteps,
  defaults: StepDefaults
): PromiseTaskContext => {
  const sink = (): TaskContext => currentSink.getStore() ?? task

  function step<A>(name: string, work: (context: StepContext) => A | PromiseLike<A>): Promise<A>
  function step<A, const O extends StepOptions>(
    name: string,
    work: (context: StepContext) => A | PromiseLike<A>,
    options: O
  ): Promise<Step.Result<A, O>>
  function step<A>(
    name: string,
    work: (context: StepContext) => A | PromiseLike<A>,
    options: StepOptions = {}
  ): Promise<A | Array<A>> {
    if (open.closed) return mayBeIgnored(Promise.reject(aborted("The task has ended")))
    const invocation = Effect.flatMap(CurrentTask, (sink) =>
      Effect.tryPromise({
        try: (signal) => currentSink.run(sink, async () => work({ signal })),
        catch: identity
      })
    )
    const timed = Effect.provideService(Step.run(name, invocation, { ...defaults, ...options }), CurrentTask, sink())
    const fiber = Runtime.runFork(runtime)(timed)
    open.fibers.add(fiber)
    return mayBeIgnored(
      new Promise((resolve, reject) => {
        fiber.addObserver((exit) => {
          open.fibers.delete(fiber)
          if (Exit.isSuccess(exit)) resolve(exit.value)
          else reject(thrown(exit.cause))
        })
      })
    )
  }

  return {
    participant: task.participant,
    taskIndex: task.taskIndex,
    phase: task.phase,
    signal,
    step,
    measure: (data) => {
      const problem = sink().measure(data)
      if (problem !== undefined) throw new InvalidMeasure({ detail: problem.message })
    },
    log: (message, argument) => sink().log(message, argument)
  }
}

/** What an async function would have thrown: the error itself, not what the runtime wraps it in. */
const thrown = (cause: Cause.Cause<unknown>): unknown => {
  const error = Option.orElse(Cause.failureOption(cause), () => Cause.dieOption(cause))
  return Option.isNone(error) ? aborted("The step was interrupted") : asTaskError(error.value)
}

/** Tasks tell the limits of their steps from other errors by `instanceof TaskError` and the code. */
const asTaskError = (error: unknown): unknown =>
  error instanceof Step.StepTimeout || error instanceof Step.StepNotReady
    ? new TaskError(error.message, { code: error.code, step: error.step, timeoutMs: error.timeoutMs })
    : error

const aborted = (message: string): DOMException => new DOMException(message, "AbortError")

/** A step that is not awaited is in the record whatever becomes of it; its rejection must not end the process. */
const mayBeIgnored = <A>(promise: Promise<A>): Promise<A> => {
  promise.catch(() => {})
  return promise
}
