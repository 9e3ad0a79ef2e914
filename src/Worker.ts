/**
 * One worker of a run: the range of tasks it was given, run one slot after another into its reporter.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { apart } from "./internal/apart.js"
import { LazyScope } from "./internal/lazyScope.js"
import type { WorkerState } from "./internal/recorder.js"
import { aloneState, Sink, TaskState } from "./internal/recorder.js"
import * as Slot from "./internal/slot.js"
import { Timeline } from "./internal/timeline.js"
import type { Participant } from "./Participant.js"
import type { PlatformError } from "./Platform.js"
import type { TaskRecord } from "./Record.js"
import * as Redaction from "./Redaction.js"
import type { RunReporter, WorkerReporter } from "./Reporter.js"
import type { Lane, OpenLane } from "./Scheduler.js"
import * as Scheduler from "./Scheduler.js"
import type { Task, TaskServices } from "./Task.js"
import { CurrentTask } from "./Task.js"
import * as WorkerLog from "./WorkerLog.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface WorkerOptions<E, R> {
  readonly task: Task<E, R>
  readonly participant: Participant
  readonly run: RunReporter
  /** Phase of a task of the participant, by its index among all of them. */
  readonly phaseAt: (taskIndex: number) => string | undefined
  /** Tasks in flight at most, given what the platform assigns. */
  readonly concurrency: (targetConcurrency: number | undefined) => number
  /** Runs when everything is delivered, before the worker is closed. */
  readonly onFinish?: Effect.Effect<void> | undefined
  /** When the worker is open, and how many tasks it has. */
  readonly onOpen: (count: number) => void
  /** Before a task starts, outside its measured time. Has to be quick. Default: nothing. */
  readonly onStart?: ((taskIndex: number) => void) | undefined
  /** Before each record is reported. Has to be quick: it runs between tasks. */
  readonly onRecord: (record: TaskRecord) => void
  /** When the last task has ended, with the worker's log. */
  readonly onClose: (log: WorkerLog.WorkerLog) => void
  /** Advice about how the task is written. */
  readonly onWarning: (message: string) => void
  /**
   * Why no further task is to start; undefined while they are. A worker that is stopped so ends as failed
   * (`threshold_violated`). Default: never.
   */
  readonly stoppedBy?: (() => string | undefined) | undefined
}

/**
 * A participant's tasks for the scheduler: claims a worker of the run when opened, reports each record, and closes the
 * worker with the scope. When every worker is taken there is nothing to run.
 *
 * @since 0.1.0
 * @category constructors
 */
export const lane = <E, R>(options: WorkerOptions<E, R>): Lane<PlatformError, R | TaskServices> => ({
  open: Effect.map(openWorker(options), (worker) => {
    if (worker !== undefined) return worker.lane
    options.onOpen(0)
    options.onWarning(`no worker of participant "${options.participant.name}" is left to claim in this run`)
    return nothingToRun
  })
})

/**
 * What a worker did.
 *
 * @since 0.1.0
 * @category models
 */
export interface WorkerOutcome {
  /** The worker's number among those of its participant, from 0. */
  readonly workerIndex: number
  /** Counts from 1: how many processes have had this worker. */
  readonly attemptNumber: number
  /** Task indexes, both included. */
  readonly taskRange: { readonly start: number; readonly end: number; readonly count: number }
  /** Tasks in flight at most. */
  readonly concurrency: number
}

/**
 * Claims one worker of the participant, runs its range of tasks, delivers the results and closes it; undefined when there
 * is no worker to claim. Interrupted before its first task has a result it gives the worker back, later it fails it; what
 * was measured is delivered.
 *
 * @since 0.1.0
 * @category running
 */
export const run = <E, R>(
  options: WorkerOptions<E, R> & {
    /** Milliseconds between the starts of tasks. Default 0. */
    readonly staggerDelayMs?: number | undefined
  }
): Effect.Effect<WorkerOutcome | undefined, PlatformError, R> =>
  provideTaskServices<WorkerOutcome | undefined, PlatformError, R>(
    Effect.scoped(
      Effect.flatMap(openWorker(options), (worker) => {
        if (worker === undefined) return Effect.succeed(undefined)
        const { concurrency, count, start, workerIndex, attemptNumber } = worker.reporter
        const plan = { groupBy: "participant", concurrency, staggerDelayMs: options.staggerDelayMs ?? 0 } as const
        return Effect.as(Scheduler.byParticipant.run(plan, [{ open: Effect.succeed(worker.lane) }]), {
          workerIndex,
          attemptNumber,
          concurrency,
          taskRange: { start, end: start + count - 1, count }
        })
      })
    )
  )

/**
 * Provides what tasks require from the engine to everything that runs them. Each slot puts its own in place; this one
 * belongs to no task.
 *
 * @since 0.1.0
 * @category running
 */
export const provideTaskServices = <A, E, R>(effect: Effect.Effect<A, E, R | TaskServices>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.clock, (clock) => {
    const between = new Sink(
      new TaskState(
        {
          participant: { name: "" },
          timeline: new Timeline(clock),
          log: new WorkerLog.WorkerLog({ maxLines: 0 }),
          stragglers: new Set(),
          warn: () => {},
          ...aloneState
        },
        0,
        0,
        undefined
      ),
      undefined
    )
    const services = Context.make(CurrentTask, between).pipe(Context.add(Scope.Scope, new LazyScope()))
    return Effect.provide(effect, services)
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nothingToRun: OpenLane<never> = { slots: 0, run: () => Effect.void }

interface OpenedWorker<R> {
  readonly reporter: WorkerReporter
  readonly lane: OpenLane<R>
}

const openWorker = <E, R>(
  options: WorkerOptions<E, R>
): Effect.Effect<OpenedWorker<R | TaskServices> | undefined, PlatformError, Scope.Scope> =>
  Effect.gen(function* () {
    const redact = yield* Redaction.fromEnvironment(options.participant.requiredEnvVars ?? [])
    const log = yield* WorkerLog.makeWith({ redact })
    const reporter = yield* options.run.openWorker(options.participant.name, {
      log,
      concurrency: options.concurrency,
      redact,
      onFinish: options.onFinish,
      stoppedBy: options.stoppedBy
    })
    if (reporter === undefined) return undefined
    const { activity, count, isCurrent, start } = reporter
    const state: WorkerState = {
      participant: options.participant,
      timeline: new Timeline(yield* Effect.clock),
      log,
      stragglers: new Set(),
      warn: options.onWarning,
      redact,
      activity,
      awaitReady: reporter.awaitReady
    }
    yield* Effect.addFinalizer(() =>
      Effect.zipRight(
        awaitStragglers(state),
        Effect.sync(() => options.onClose(state.log))
      )
    )
    options.onOpen(count)
    const deliver = (record: TaskRecord): Effect.Effect<void> => {
      if (activity !== undefined) activity.inFlight--
      const kept = reporter.record(record)
      try {
        options.onRecord(record)
      } catch (error) {
        return Effect.zipRight(kept, Effect.die(error))
      }
      return kept
    }
    const runSlot = Slot.make(options.task, state, { start, phaseAt: options.phaseAt }, deliver)
    const goesOn = (): boolean => isCurrent() && options.stoppedBy?.() === undefined
    const counted = (scheduleIndex: number): Effect.Effect<void, never, R | TaskServices> => {
      if (!goesOn()) return Effect.void
      if (activity !== undefined) activity.inFlight++
      options.onStart?.(start + scheduleIndex)
      return runSlot(scheduleIndex)
    }
    return { reporter, lane: { slots: count, run: counted, goesOn } }
  })

/** How long work that outlived its deadline may take to end before the worker ends without it. */
const stragglerLimit = "30 seconds"

const awaitStragglers = (state: WorkerState): Effect.Effect<void> =>
  Effect.suspend(() =>
    state.stragglers.size === 0
      ? Effect.void
      : Fiber.awaitAll(state.stragglers).pipe(
          Effect.timeout(stragglerLimit),
          apart,
          Effect.catchAll(() =>
            Effect.sync(() =>
              state.warn(
                `${state.stragglers.size} timed-out step(s) of participant "${state.participant.name}" had not ended ${stragglerLimit} after the last task`
              )
            )
          ),
          Effect.asVoid
        )
  )
