/**
 * The mutable side of a running task: where its steps and measures collect until they become a record.
 *
 * One {@link TaskState} per task, one {@link Sink} for the task itself and one per running step. A fiber measures into
 * the sink that its context holds, so what runs concurrently cannot measure into another's step.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { Participant } from "../Participant.js"
import { maxRecordSteps } from "../Platform.js"
import type { StepRecord } from "../Record.js"
import type { ReadyOptions } from "../Reporter.js"
import type { StepNotReady } from "../Step.js"
import type { RunningStep, StepSettings, TaskContext } from "../Task.js"
import type { WorkerLog } from "../WorkerLog.js"
import { isStepOutput } from "../WorkerLog.js"
import { fromCause } from "./failure.js"
import { copyJson, mergeJson, messageOf, NotJson } from "./json.js"
import type { Activity } from "./reporting/activity.js"
import type { Timeline } from "./timeline.js"
import { toMillis } from "./timeline.js"

/** What all tasks of one worker share. */
export interface WorkerState {
  readonly participant: Participant
  readonly timeline: Timeline
  readonly log: WorkerLog
  /** Work that outlived its step's deadline; awaited before the worker ends. */
  readonly stragglers: Set<Fiber.RuntimeFiber<unknown, unknown>>
  /** Takes advice about how the benchmark is written. */
  readonly warn: (message: string) => void
  /** Takes what is secret out of a text. */
  readonly redact: (text: string) => string
  /** Where running steps and tasks are counted, if anybody wants to know. */
  readonly activity: Activity | undefined
  /** Waits until the step of that name is ready to be begun by all. */
  readonly awaitReady: (step: string, options: ReadyOptions) => Effect.Effect<void, StepNotReady>
}

/** A worker's state apart from what it is and what time it is there: it waits for nobody and tells nobody. */
export const aloneState = {
  redact: (text: string) => text,
  activity: undefined,
  awaitReady: () => Effect.void
}

/** The waits at barriers inside of a task or a step. */
class Waits {
  private waitedNanos = 0
  private waiting = 0
  private waitingSince = 0

  waitStarted(nanos: number): void {
    if (this.waiting++ === 0) this.waitingSince = nanos
  }

  waitEnded(nanos: number): void {
    if (--this.waiting === 0) this.waitedNanos += nanos - this.waitingSince
  }

  /** Nanoseconds in which at least one step has waited, until now. */
  waitedUntil(nanos: number): number {
    return this.waiting === 0 ? this.waitedNanos : this.waitedNanos + nanos - this.waitingSince
  }
}

export class TaskState extends Waits {
  readonly steps: Array<StepRecord> = []
  startedSteps = 0
  /** Whether the task's record has been made; a step that ends later is not in it. */
  recorded = false

  constructor(
    readonly worker: WorkerState,
    readonly scheduleIndex: number,
    readonly taskIndex: number,
    readonly phase: string | undefined
  ) {
    super()
  }
}

/** A step record while it is being written. */
interface StepDraft {
  name: string
  status: string
  startedAt: string
  completedAt: string
  latencyMs: number
  concurrency?: unknown
  timeoutMs?: unknown
  data?: Record<string, unknown>
  errorCode?: string
}

const defaultReadyTimeoutMs = 15 * 60_000

/** Untyped callers ask for anything; what JSON cannot hold becomes text. */
const asAskedFor = (option: unknown): unknown => {
  if (typeof option === "number") return option
  const copied = copyJson(option)
  return copied instanceof NotJson ? messageOf(option) : copied
}

/**
 * Collects the measures of one step, or of the task. When its step has ended, what is still sent to it goes to what
 * encloses the step, so that a measure made late in the background is not lost.
 */
export class Sink implements TaskContext {
  private data: Record<string, unknown> | undefined = undefined
  private closed = false

  constructor(
    readonly state: TaskState,
    protected readonly enclosing: Sink | undefined
  ) {}

  get participant(): Participant {
    return this.state.worker.participant
  }

  get taskIndex(): number {
    return this.state.scheduleIndex
  }

  get phase(): string | undefined {
    return this.state.phase
  }

  measure(data: unknown): NotJson | undefined {
    if (this.closed) {
      if (this.enclosing !== undefined) return this.enclosing.measure(data)
      this.log("a measure made after the task had ended was dropped", { level: "warn" })
      return undefined
    }
    const merged = mergeJson(this.data, data)
    if (merged instanceof NotJson) return merged
    this.data = merged
    return undefined
  }

  log(message: string, argument?: unknown): void {
    const { log, timeline } = this.state.worker
    log.message(timeline.timestamp(timeline.now()), this.state.taskIndex, message, argument)
  }

  startStep(name: string, options: StepSettings): RunningStep {
    return this.closed && this.enclosing !== undefined
      ? this.enclosing.startStep(name, options)
      : new OpenStep(this.state, this, name, options)
  }

  /** A step inside has begun to wait at a barrier. */
  waitStarted(nanos: number): void {
    this.state.waitStarted(nanos)
  }

  waitEnded(nanos: number): void {
    this.state.waitEnded(nanos)
  }

  /** Ends collecting and gives what was collected. */
  close(): Record<string, unknown> | undefined {
    this.closed = true
    return this.data
  }
}

class OpenStep extends Sink implements RunningStep {
  readonly context: TaskContext = this
  readonly refused: string | undefined
  private startedNanos = 0
  private counted = false
  /** How long the step itself has waited to begin, if it is a barrier. */
  private waitedNanos: number | undefined = undefined
  private inside: Waits | undefined = undefined

  constructor(
    state: TaskState,
    enclosing: Sink,
    private readonly name: string,
    private readonly options: StepSettings
  ) {
    super(state, enclosing)
    this.refused =
      ++state.startedSteps > maxRecordSteps
        ? `step "${name}" is one too many: a task records at most ${maxRecordSteps} steps; repeat inside one step instead`
        : undefined
    if (options.concurrency !== undefined) {
      state.worker.warn(`step "${name}" option "concurrency" is deprecated; use "parallelInvocations"`)
    }
  }

  get ready(): Effect.Effect<void, StepNotReady> | undefined {
    const { readiness, readyPollIntervalMs = 1000, readyTimeoutMs = defaultReadyTimeoutMs } = this.options
    return readiness === "poll"
      ? this.await({ pollIntervalMs: readyPollIntervalMs, timeoutMs: readyTimeoutMs })
      : undefined
  }

  begin(): void {
    if (this.options.reportConcurrency !== false) this.count()
    this.startedNanos = this.state.worker.timeline.now()
  }

  succeeded(output: unknown): void {
    const record = this.end("success")
    const { log } = this.state.worker
    if (log.accepts("info")) {
      const captured = this.options.captureOutput !== false && isStepOutput(output) ? output : undefined
      log.stepSucceeded(record.completedAt, this.state.taskIndex, this.name, captured)
    }
  }

  failed(cause: Cause.Cause<unknown>): void {
    const record = this.end("error")
    const failure = fromCause(cause)
    record.errorCode = failure.code
    const { log } = this.state.worker
    log.stepFailed(record.completedAt, this.state.taskIndex, this.name, failure.message)
  }

  outlived(fiber: Fiber.RuntimeFiber<unknown, unknown>): void {
    const { stragglers } = this.state.worker
    stragglers.add(fiber)
    fiber.addObserver(() => stragglers.delete(fiber))
  }

  override waitStarted(nanos: number): void {
    this.inside ??= new Waits()
    this.inside.waitStarted(nanos)
    this.enclosing?.waitStarted(nanos)
  }

  override waitEnded(nanos: number): void {
    this.inside?.waitEnded(nanos)
    this.enclosing?.waitEnded(nanos)
  }

  /** Waits at the barrier, counted as running: that is what the others wait for. */
  private await(options: ReadyOptions): Effect.Effect<void, StepNotReady> {
    const { awaitReady, timeline } = this.state.worker
    return Effect.suspend(() => {
      const fromNanos = timeline.now()
      this.enclosing?.waitStarted(fromNanos)
      this.count()
      const waited = Effect.sync(() => {
        const untilNanos = timeline.now()
        this.enclosing?.waitEnded(untilNanos)
        this.waitedNanos = untilNanos - fromNanos
      })
      return Effect.ensuring(awaitReady(this.name, options), waited)
    })
  }

  private count(): void {
    if (this.counted) return
    this.counted = true
    this.state.worker.activity?.enter(this.name, this.options.target)
  }

  private end(status: "success" | "error"): StepDraft {
    const { timeline } = this.state.worker
    const endedNanos = timeline.now()
    const insideNanos = this.inside?.waitedUntil(endedNanos) ?? 0
    if (this.counted) this.state.worker.activity?.leave(this.name)
    if (this.waitedNanos !== undefined || insideNanos > 0) {
      this.measure({ readyWaitMs: toMillis((this.waitedNanos ?? 0) + insideNanos) })
    }
    const record: StepDraft = {
      name: this.name,
      status,
      startedAt: timeline.timestamp(this.startedNanos),
      completedAt: timeline.timestamp(endedNanos),
      latencyMs: toMillis(endedNanos - this.startedNanos - insideNanos)
    }
    const { concurrency, parallelInvocations = concurrency, timeoutMs } = this.options
    if (parallelInvocations !== undefined) record.concurrency = asAskedFor(parallelInvocations)
    if (timeoutMs !== undefined) record.timeoutMs = asAskedFor(timeoutMs)
    const data = this.close()
    if (data !== undefined) record.data = data
    if (this.state.recorded) {
      this.log(`step "${this.name}" ended after its task and was dropped`, { level: "warn" })
    } else if (this.refused === undefined) {
      this.state.steps.push(record)
    }
    return record
  }
}
