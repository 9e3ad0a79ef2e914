/**
 * The one place where a task runs and becomes a record, whatever schedules it and wherever the record goes.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as FiberRefs from "effect/FiberRefs"
import * as Schema from "effect/Schema"
import { maxRecordSteps } from "../Platform.js"
import type { StepRecord, TaskRecord } from "../Record.js"
import { StepRecord as StepRecordSchema } from "../Record.js"
import type { Task, TaskServices } from "../Task.js"
import { InvalidMeasure } from "../Task.js"
import type { Failure } from "./failure.js"
import { fromCause } from "./failure.js"
import { childrenOf, currentRefs, interruptChildren, restoreFiberRefs, setContext } from "./fiber.js"
import { copyJson, mergeJson, messageOf, NotJson } from "./json.js"
import { LazyScope } from "./lazyScope.js"
import type { WorkerState } from "./recorder.js"
import { Sink, TaskState } from "./recorder.js"
import { ofTask } from "./taskContext.js"
import { toMillis } from "./timeline.js"

export interface Slots {
  /** First task index of the worker's range; added to the schedule index. */
  readonly start: number
  /** Phase of a task of the participant, by its index among all of them. */
  readonly phaseAt: (taskIndex: number) => string | undefined
}

/** A task record while it is being written. */
interface TaskDraft {
  taskIndex: number
  status: string
  startedAt: string
  completedAt: string
  latencyMs: number
  steps: Array<StepRecord>
  errorCode?: string
  data?: Record<string, unknown>
}

/** What a fiber looked like before its first slot, and is put back to after each. */
interface Origin {
  readonly context: Context.Context<never>
  readonly refs: FiberRefs.FiberRefs
}

/**
 * Makes the effect that runs one slot. It never fails: whatever the task does ends in a record, which `deliver` takes
 * even when the fiber is being interrupted. Needs a fiber that runs one slot at a time. The task's context and scope are
 * set on that fiber, over whatever {@link TaskServices} the caller provided to the whole of its slots; the next slot
 * replaces them.
 */
export const make = <E, R>(
  task: Task<E, R>,
  worker: WorkerState,
  slots: Slots,
  deliver: (record: TaskRecord) => Effect.Effect<void>
): ((scheduleIndex: number) => Effect.Effect<void, never, R | TaskServices>) => {
  const origins = new WeakMap<object, Origin>()

  return (scheduleIndex) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.withFiberRuntime((fiber) => {
        let origin = origins.get(fiber)
        if (origin === undefined) {
          origin = { context: fiber.currentContext, refs: fiber.getFiberRefs() }
          origins.set(fiber, origin)
        }
        const { context, refs } = origin
        const children = childrenOf(fiber)
        const state = new TaskState(
          worker,
          scheduleIndex,
          slots.start + scheduleIndex,
          slots.phaseAt(slots.start + scheduleIndex)
        )
        const sink = new Sink(state, undefined)
        const scope = new LazyScope()
        if (state.phase !== undefined) sink.measure({ phase: state.phase })
        let startedNanos = 0
        let inside = refs

        const end = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
          const endedNanos = worker.timeline.now()
          const waitedNanos = state.waitedUntil(endedNanos)
          const record = (finalizerError: string | undefined): Effect.Effect<void> => {
            const left = currentRefs(fiber)
            const changed = left === inside ? undefined : restoreFiberRefs(refs, left)
            const delivered = deliver(toRecord(sink, startedNanos, endedNanos, waitedNanos, exit, finalizerError))
            return changed === undefined ? delivered : Effect.zipRight(changed, delivered)
          }
          const forked = interruptChildren(fiber, children)
          if (forked !== undefined) {
            const closed = Effect.suspend(() => closeScope(scope, exit, sink) ?? Effect.succeed(undefined))
            return Effect.flatMap(Effect.zipRight(forked, closed), record)
          }
          const closed = closeScope(scope, exit, sink)
          return closed === undefined ? record(undefined) : Effect.flatMap(closed, record)
        }

        const timed = () => {
          inside = currentRefs(fiber)
          startedNanos = worker.timeline.now()
          return Effect.matchCauseEffect(restore(start(task, sink)), {
            onSuccess: (result) => end(Exit.succeed(result)),
            onFailure: (cause) => end(Exit.failCause(cause))
          })
        }
        const set = setContext(fiber, ofTask(context, sink, scope))
        return set === undefined ? timed() : Effect.flatMap(set, timed)
      })
    )
}

const start = <E, R>(task: Task<E, R>, sink: Sink): Effect.Effect<unknown, E, R | TaskServices> =>
  Effect.isEffect(task) ? task : Effect.suspend(() => task(sink))

/** Finalizers belong to the task but not to its latency; gives what one that failed said, for the record. */
const closeScope = (
  scope: LazyScope,
  exit: Exit.Exit<unknown, unknown>,
  sink: Sink
): Effect.Effect<string | undefined> | undefined => {
  const close = scope.close(exit)
  return close === undefined
    ? undefined
    : Effect.matchCause(close, {
        onSuccess: () => undefined,
        onFailure: (cause) => {
          const { message } = fromCause(cause)
          sink.log(`a finalizer failed: ${message}`, { level: "error" })
          return message
        }
      })
}

const toRecord = (
  sink: Sink,
  startedNanos: number,
  endedNanos: number,
  waitedNanos: number,
  exit: Exit.Exit<unknown, unknown>,
  finalizerError: string | undefined
): TaskDraft => {
  const { state } = sink
  const { timeline } = state.worker
  const measured = sink.close()
  state.recorded = true
  const { failure, result } = readExit(exit, maxRecordSteps - state.steps.length)
  const status = failure === undefined ? "success" : "error"
  const startedAt = timeline.timestamp(startedNanos)
  const completedAt = timeline.timestamp(endedNanos)
  const latencyMs = result.latencyMs ?? toMillis(endedNanos - startedNanos - waitedNanos)
  const steps = result.steps.length === 0 ? state.steps : [...state.steps, ...result.steps]

  const own = failure === undefined ? measured : merge(measured, result.data, state.phase)
  if (steps.length === 0) steps.push(implicitStep(status, startedAt, completedAt, latencyMs, failure, own, state.phase))
  const { redact } = state.worker
  const outcome = failure === undefined ? result.data : { errorMessage: redact(failure.message) }
  const record: TaskDraft = { taskIndex: state.taskIndex, status, startedAt, completedAt, latencyMs, steps }
  if (failure !== undefined) record.errorCode = failure.code
  const rest = finalizerError === undefined ? outcome : { ...outcome, finalizerError: redact(finalizerError) }
  const data = merge(own, waitedNanos === 0 ? rest : { ...rest, readyWaitMs: toMillis(waitedNanos) }, state.phase)
  if (data !== undefined) record.data = data
  return record
}

/** What stands for the steps of a task without any: its own copy of what was measured, before what was returned. */
const implicitStep = (
  status: string,
  startedAt: string,
  completedAt: string,
  latencyMs: number,
  failure: Failure | undefined,
  data: Record<string, unknown> | undefined,
  phase: string | undefined
): StepRecord => {
  const step = { name: "task", status, startedAt, completedAt, latencyMs, errorCode: failure?.code ?? null }
  return data === undefined ? step : { ...step, data: phase === undefined ? { ...data } : { ...data, phase } }
}

/** Merges over `target` what is already known to be JSON; a task cannot overwrite the phase it belongs to. */
const merge = (
  target: Record<string, unknown> | undefined,
  data: Record<string, unknown> | undefined,
  phase: string | undefined
): Record<string, unknown> | undefined => {
  if (data === undefined && (target === undefined || phase === undefined)) return target
  const out = { ...target, ...data }
  if (phase !== undefined) out["phase"] = phase
  return out
}

/** What a task returned, or what its error carried, ready to be recorded. */
interface Returned {
  readonly data: Record<string, unknown> | undefined
  readonly steps: ReadonlyArray<StepRecord>
  readonly latencyMs: number | undefined
}

const nothing: Returned = { data: undefined, steps: [], latencyMs: undefined }

interface Ended {
  readonly failure: Failure | undefined
  readonly result: Returned
}

const succeeded: Ended = { failure: undefined, result: nothing }

const readExit = (exit: Exit.Exit<unknown, unknown>, freeSteps: number): Ended => {
  if (Exit.isSuccess(exit)) {
    if (typeof exit.value !== "object" || exit.value === null) return succeeded
    const result = readReturned(exit.value, freeSteps)
    return typeof result === "string"
      ? { failure: fromCause(Cause.die(new InvalidMeasure({ detail: result }))), result: nothing }
      : { failure: undefined, result }
  }
  const failure = fromCause(exit.cause)
  const result = readReturned({ data: failure.data, steps: failure.steps }, freeSteps)
  return typeof result === "string"
    ? {
        failure: { ...failure, message: `${failure.message} (not all of it was recorded: ${result})` },
        result: nothing
      }
    : { failure, result }
}

interface ReturnedFields {
  readonly data?: unknown
  readonly latencyMs?: unknown
  readonly steps?: unknown
}

/** Each field once: a result may be anything, getters that throw included. */
const readFields = (value: object): ReturnedFields | string => {
  try {
    const { data, latencyMs, steps }: ReturnedFields = value
    return { data, latencyMs, steps }
  } catch (error) {
    return `the task's result cannot be read (${messageOf(error)})`
  }
}

/** Reads a task's result; a string says what in it cannot be recorded. */
const readReturned = (value: object, freeSteps: number): Returned | string => {
  const fields = readFields(value)
  if (typeof fields === "string") return fields
  const { data, latencyMs, steps } = fields
  const merged = data === undefined || data === null ? undefined : mergeJson(undefined, data)
  if (merged instanceof NotJson) return `the task's data: ${merged.message}`
  const list = steps === undefined || steps === null ? [] : readSteps(steps)
  if (typeof list === "string") return list
  if (list.length > freeSteps) return `the task's steps are more than the ${maxRecordSteps} that a record holds`
  return {
    data: merged === undefined || Object.keys(merged).length === 0 ? undefined : merged,
    steps: list,
    latencyMs: typeof latencyMs === "number" && latencyMs >= 0 && Number.isFinite(latencyMs) ? latencyMs : undefined
  }
}

const isStepRecord = Schema.is(StepRecordSchema)

const readSteps = (steps: unknown): ReadonlyArray<StepRecord> | string => {
  const copied = copyJson(steps)
  if (copied instanceof NotJson) return `the task's steps: ${copied.message}`
  if (!Array.isArray(copied)) return "the task's steps must be an array of step records"
  const out: Array<StepRecord> = []
  for (const [i, step] of copied.entries()) {
    if (!isStepRecord(step)) return `the task's steps[${i}] must be a step record with a name and a status`
    out.push(step)
  }
  return out
}
