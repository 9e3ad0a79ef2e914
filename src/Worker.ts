/**
 * One worker of a run: the range of tasks it was given, run one slot after another into its reporter.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { LazyScope } from "./internal/lazyScope.js"
import type { WorkerState } from "./internal/recorder.js"
import { Sink, TaskState } from "./internal/recorder.js"
import * as Slot from "./internal/slot.js"
import { Timeline } from "./internal/timeline.js"
import type { Participant } from "./Participant.js"
import type { PlatformError } from "./Platform.js"
import type { TaskRecord } from "./Record.js"
import type { RunReporter } from "./Reporter.js"
import type { Lane, OpenLane } from "./Scheduler.js"
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
  readonly phaseAt: (scheduleIndex: number) => string | undefined
  /** When the worker is open, and how many tasks it has. */
  readonly onOpen: (count: number) => void
  /** Before each record is reported. Has to be quick: it runs between tasks. */
  readonly onRecord: (record: TaskRecord) => void
  /** When the last task has ended, with the worker's log. */
  readonly onClose: (log: WorkerLog.WorkerLog) => void
  /** Advice about how the task is written. */
  readonly onWarning: (message: string) => void
}

/**
 * A participant's tasks for the scheduler: claims a worker of the run when opened, reports each record, and closes the
 * worker with the scope. When every worker is taken there is nothing to run.
 *
 * @since 0.1.0
 * @category constructors
 */
export const lane = <E, R>(options: WorkerOptions<E, R>): Lane<PlatformError, R | TaskServices> => ({
  open: Effect.gen(function* () {
    const reporter = yield* options.run.openWorker(options.participant.name)
    if (reporter === undefined) {
      options.onOpen(0)
      options.onWarning(`no worker of participant "${options.participant.name}" is left to claim in this run`)
      return nothingToRun
    }
    const state: WorkerState = {
      participant: options.participant,
      timeline: new Timeline(yield* Effect.clock),
      log: yield* WorkerLog.make,
      stragglers: new Set(),
      warn: options.onWarning
    }
    yield* Effect.addFinalizer(() =>
      Effect.zipRight(
        awaitStragglers(state),
        Effect.sync(() => options.onClose(state.log))
      )
    )
    options.onOpen(reporter.count)
    const deliver = (record: TaskRecord): Effect.Effect<void> => {
      options.onRecord(record)
      return reporter.record(record)
    }
    const slots = { start: reporter.start, phaseAt: options.phaseAt }
    const open: OpenLane<R | TaskServices> = {
      slots: reporter.count,
      run: Slot.make(options.task, state, slots, deliver)
    }
    return open
  })
})

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
          warn: () => {}
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

/** How long work that outlived its deadline may take to end before the worker ends without it. */
const stragglerLimit = "30 seconds"

const awaitStragglers = (state: WorkerState): Effect.Effect<void> =>
  Effect.suspend(() =>
    state.stragglers.size === 0
      ? Effect.void
      : Fiber.awaitAll(state.stragglers).pipe(
          Effect.interruptible,
          Effect.timeout(stragglerLimit),
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
