/**
 * A timed part of a task.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as FiberRefs from "effect/FiberRefs"
import { currentRefs, leaveContext, setContext } from "./internal/fiber.js"
import { ofStep } from "./internal/taskContext.js"
import type { RunningStep } from "./Task.js"
import { CurrentTask } from "./Task.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface StepOptions {
  /** Limit of each invocation in milliseconds, >= 0. Default none. */
  readonly timeoutMs?: number | undefined
  /** How many times the work runs at once, an integer >= 1. Default 1. */
  readonly parallelInvocations?: number | undefined
  /** @deprecated Use `parallelInvocations`. */
  readonly concurrency?: number | undefined
  /** Whether a result that is the output of a command (stdout, stderr, …) is written to the log. Default true. */
  readonly captureOutput?: boolean | undefined
  /** Whether heartbeats tell how many of this step are running. Default true. */
  readonly reportConcurrency?: boolean | undefined
  /**
   * `"poll"` makes the step a barrier: its work starts when every worker of the participant has come to it with as many
   * tasks as `target` says, in this process or in others. The wait is not part of the step's latency; it is recorded as
   * `readyWaitMs` in the step's data. A run that is not recorded does not wait. Default `"internal"`: no barrier.
   */
  readonly readiness?: "internal" | "poll" | undefined
  /** How often the platform is asked whether the step is ready, in milliseconds, > 0. Default 1000. */
  readonly readyPollIntervalMs?: number | undefined
  /** How long to wait at the barrier, in milliseconds, >= 0; then the step fails with {@link StepNotReady}. Default 15 minutes. */
  readonly readyTimeoutMs?: number | undefined
  /** How many of this step should be running at once, an integer >= 1. Default: the worker's concurrency. */
  readonly target?: number | undefined
}

/**
 * A step did not end before its limit. Its work has been interrupted; finalizers may still be running.
 *
 * @since 0.1.0
 * @category errors
 */
export class StepTimeout extends Data.TaggedError("StepTimeout")<{
  readonly step: string
  readonly timeoutMs: number
  readonly participant: string
}> {
  readonly code = "step_timeout"

  override get message(): string {
    return `Step "${this.step}" timed out after ${this.timeoutMs}ms for participant "${this.participant}"`
  }
}

/**
 * Not every worker of the participant came to a barrier in time.
 *
 * @since 0.1.0
 * @category errors
 */
export class StepNotReady extends Data.TaggedError("StepNotReady")<{
  readonly step: string
  readonly timeoutMs: number
  readonly participant: string
  /** Who was missing, in words. */
  readonly waitingFor: string
}> {
  readonly code = "step_not_ready"

  override get message(): string {
    return `Step "${this.step}" was not ready after ${this.timeoutMs}ms for participant "${this.participant}": waiting for ${this.waitingFor}`
  }
}

/**
 * What a step gives back: the work's result, or every invocation's when it asks for more than one.
 *
 * @since 0.1.0
 * @category models
 */
export type Result<A, O extends StepOptions> = ResultOf<
  A,
  undefined extends Asked<O, "parallelInvocations">
    ? Exclude<Asked<O, "parallelInvocations">, undefined> | Asked<O, "concurrency">
    : Asked<O, "parallelInvocations">
>

type Asked<O, K> = K extends keyof O ? O[K] : undefined

type ResultOf<A, N> = N extends 1 | undefined
  ? A
  : N extends number
    ? number extends N
      ? A | Array<A>
      : Array<A>
    : A | Array<A>

/**
 * The error a step adds to that of its work.
 *
 * @since 0.1.0
 * @category models
 */
export type Failure<O extends StepOptions> =
  | (Asked<O, "timeoutMs"> extends undefined ? never : StepTimeout)
  | (Asked<O, "readiness"> extends "internal" | undefined ? never : StepNotReady)

/**
 * Times `effect` as the step `name` of the running task and gives back its result; the result itself is not recorded.
 *
 * Measures made inside belong to the step, whichever fiber makes them. With `timeoutMs` an invocation that is too slow
 * is interrupted and the step fails with {@link StepTimeout} at the deadline, without waiting for slow finalizers (the
 * run waits for them at its end). With `parallelInvocations` above 1 every invocation settles before the step ends, and
 * the first failure, in order of invocation, is the step's. Either option runs the work in fibers of its own: what those
 * fork ends with them, unless it is forked into the task's scope (`Effect.forkScoped`). An option that makes no sense,
 * or more than 100 steps in one task, is a defect with a message that says so.
 *
 * @since 0.1.0
 * @category running
 */
export function run<A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | CurrentTask>
export function run<A, E, R, const O extends StepOptions>(
  name: string,
  effect: Effect.Effect<A, E, R>,
  options: O
): Effect.Effect<Result<A, O>, E | Failure<O>, R | CurrentTask>
export function run<A, E, R>(
  name: string,
  effect: Effect.Effect<A, E, R>,
  options: StepOptions = noOptions
): Effect.Effect<A | Array<A>, E | StepTimeout | StepNotReady, R | CurrentTask> {
  return Effect.uninterruptibleMask((restore) =>
    Effect.withFiberRuntime<A | Array<A>, E | StepTimeout | StepNotReady, R | CurrentTask>((fiber) => {
      const outside = fiber.currentContext
      const step = Context.unsafeGet(outside, CurrentTask).startStep(name, options)
      const problem = step.refused ?? (options === noOptions ? undefined : invalid(name, options))
      const work = restore(invoke(name, effect, options, step, problem))
      const before = currentRefs(fiber)
      const entering = setContext(fiber, ofStep(outside, step.context))
      const ready = problem === undefined ? step.ready : undefined
      const enter =
        ready === undefined
          ? () => timed(work, step, fiber, before, outside)
          : () => whenReady(restore(ready), work, step, fiber, before, outside)
      return entering === undefined ? enter() : Effect.flatMap(entering, enter)
    })
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const noOptions: StepOptions = {}

/**
 * The context is set and put back on the fiber itself: providing it would go through acquire and release, which costs
 * more than all else that a step does. Left in place it would travel: joining a fiber, or using a cached effect, takes
 * over what that has changed, and with it the measures of the step that does so.
 */
const timed = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  step: RunningStep,
  fiber: Fiber.RuntimeFiber<unknown, unknown>,
  before: FiberRefs.FiberRefs,
  outside: Context.Context<never>
): Effect.Effect<A, E, R> => {
  const inside = currentRefs(fiber)
  step.begin()
  return Effect.matchCauseEffect(work, {
    onSuccess: (result) => {
      step.succeeded(result)
      return after(leaveContext(fiber, before, inside, outside), Exit.succeed(result))
    },
    onFailure: (cause) => {
      step.failed(cause)
      return after(leaveContext(fiber, before, inside, outside), Exit.failCause(cause))
    }
  })
}

/** The wait at a barrier comes before the step's clock; a step that never gets ready is recorded as failed. */
const whenReady = <A, E, R>(
  ready: Effect.Effect<void, StepNotReady>,
  work: Effect.Effect<A, E, R>,
  step: RunningStep,
  fiber: Fiber.RuntimeFiber<unknown, unknown>,
  before: FiberRefs.FiberRefs,
  outside: Context.Context<never>
): Effect.Effect<A, E | StepNotReady, R> =>
  Effect.matchCauseEffect(ready, {
    onSuccess: () => timed(work, step, fiber, before, outside),
    onFailure: (cause) => timed(Effect.failCause(cause), step, fiber, before, outside)
  })

const after = <A, E>(leaving: Effect.Effect<void> | undefined, exit: Exit.Exit<A, E>): Effect.Effect<A, E> =>
  leaving === undefined ? exit : Effect.zipRight(leaving, exit)

const invalid = (name: string, options: StepOptions): string | undefined => {
  const invocations = options.parallelInvocations ?? options.concurrency
  if (invocations !== undefined && !(Number.isInteger(invocations) && invocations >= 1)) {
    return `step "${name}" parallelInvocations must be an integer >= 1 (got ${String(invocations)})`
  }
  const { timeoutMs } = options
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs >= 0)) {
    return `step "${name}" timeoutMs must be a number >= 0 (got ${String(timeoutMs)})`
  }
  const { readyPollIntervalMs, readyTimeoutMs, readiness, target } = options
  if (target !== undefined && !(Number.isInteger(target) && target >= 1)) {
    return `step "${name}" target must be an integer >= 1 (got ${String(target)})`
  }
  if (readiness !== undefined && readiness !== "internal" && readiness !== "poll") {
    return `step "${name}" readiness must be "internal" or "poll" (got ${JSON.stringify(readiness)})`
  }
  if (readyPollIntervalMs !== undefined && !(Number.isFinite(readyPollIntervalMs) && readyPollIntervalMs > 0)) {
    return `step "${name}" readyPollIntervalMs must be a number > 0 (got ${String(readyPollIntervalMs)})`
  }
  if (readyTimeoutMs !== undefined && !(Number.isFinite(readyTimeoutMs) && readyTimeoutMs >= 0)) {
    return `step "${name}" readyTimeoutMs must be a number >= 0 (got ${String(readyTimeoutMs)})`
  }
  return undefined
}

const invoke = <A, E, R>(
  name: string,
  effect: Effect.Effect<A, E, R>,
  options: StepOptions,
  step: RunningStep,
  problem: string | undefined
): Effect.Effect<A | Array<A>, E | StepTimeout, R> => {
  if (problem !== undefined) return Effect.die(new Error(problem))
  if (options === noOptions) return effect
  const { timeoutMs } = options
  const invocation: Effect.Effect<A, E | StepTimeout, R> =
    timeoutMs === undefined ? effect : withDeadline(name, effect, timeoutMs, step)
  const invocations = options.parallelInvocations ?? options.concurrency ?? 1
  return invocations === 1 ? invocation : inParallel(invocation, invocations)
}

const inParallel = <A, E, R>(invocation: Effect.Effect<A, E, R>, count: number): Effect.Effect<Array<A>, E, R> =>
  Effect.flatMap(
    Effect.forEach(Array.from({ length: count }), () => Effect.exit(invocation), { concurrency: count }),
    (exits): Exit.Exit<Array<A>, E> => {
      const results: Array<A> = []
      for (const exit of exits) {
        if (Exit.isFailure(exit)) return Exit.failCause(exit.cause)
        results.push(exit.value)
      }
      return Exit.succeed(results)
    }
  )

type Ended<A, E> = { readonly _tag: "Done"; readonly exit: Exit.Exit<A, E> } | { readonly _tag: "Deadline" }

const withDeadline = <A, E, R>(
  name: string,
  effect: Effect.Effect<A, E, R>,
  timeoutMs: number,
  step: RunningStep
): Effect.Effect<A, E | StepTimeout, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const work = yield* Effect.forkDaemon(restore(effect))
      const timer = yield* Effect.forkDaemon(Effect.interruptible(Effect.sleep(timeoutMs)))
      const ended = yield* restore(firstToEnd(work, timer)).pipe(
        Effect.onInterrupt(() => Effect.zipRight(stop(timer), Fiber.interrupt(work)))
      )
      if (ended._tag === "Done") {
        yield* stop(timer)
        yield* Fiber.inheritAll(work)
        return yield* ended.exit
      }
      yield* stop(work)
      step.outlived(work)
      return yield* new StepTimeout({ step: name, timeoutMs, participant: step.context.participant.name })
    })
  )

const firstToEnd = <A, E>(
  work: Fiber.RuntimeFiber<A, E>,
  timer: Fiber.RuntimeFiber<void>
): Effect.Effect<Ended<A, E>> =>
  Effect.async((resume) => {
    work.addObserver((exit) => resume(Effect.succeed({ _tag: "Done", exit })))
    timer.addObserver((exit) => {
      if (Exit.isSuccess(exit)) resume(Effect.succeed({ _tag: "Deadline" }))
    })
  })

/** Interrupts without waiting. */
const stop = (fiber: Fiber.RuntimeFiber<unknown, unknown>): Effect.Effect<void> =>
  Effect.fiberIdWith((id) => Effect.sync(() => fiber.unsafeInterruptAsFork(id)))
