import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { nowhere } from "../../src/internal/reporting/openRun.js"
import type { Participant } from "../../src/Participant.js"
import type { PlatformError } from "../../src/Platform.js"
import type { TaskRecord } from "../../src/Record.js"
import type { RunReporter } from "../../src/Reporter.js"
import * as Scheduler from "../../src/Scheduler.js"
import type { Task, TaskServices } from "../../src/Task.js"
import * as Worker from "../../src/Worker.js"

export interface EngineOptions {
  readonly participant?: Participant
  readonly slots?: number
  readonly start?: number
  readonly phase?: string | undefined
  readonly concurrency?: number
  readonly staggerDelayMs?: number
  readonly run?: RunReporter
  readonly onClose?: (log: string) => void
}

export interface EngineResult {
  readonly records: ReadonlyArray<TaskRecord>
  readonly log: string
  readonly warnings: ReadonlyArray<string>
}

const intoNothing = (options: EngineOptions): RunReporter =>
  nowhere({ start: options.start ?? 0, count: options.slots ?? 1 })

/** Runs a task through scheduler, worker and engine; `into` sees each record as it is made, whatever becomes of the run. */
export function runTask<E, R>(
  task: Task<E, R>,
  options?: EngineOptions,
  into?: Array<TaskRecord>
): Effect.Effect<EngineResult, PlatformError, Exclude<R, TaskServices>>
export function runTask<E, R>(
  task: Task<E, R>,
  options: EngineOptions = {},
  into: Array<TaskRecord> = []
): Effect.Effect<EngineResult, PlatformError, R> {
  return Effect.suspend(() => {
    const warnings: Array<string> = []
    let log = ""
    const lane = Worker.lane({
      task,
      participant: options.participant ?? { name: "alpha" },
      run: options.run ?? intoNothing(options),
      phaseAt: () => options.phase,
      concurrency: () => options.concurrency ?? 1,
      onOpen: () => {},
      onRecord: (record) => {
        into.push(record)
      },
      onClose: (workerLog) => {
        log = workerLog.text
        options.onClose?.(log)
      },
      onWarning: (message) => {
        warnings.push(message)
      }
    })
    const plan = {
      groupBy: "participant",
      concurrency: options.concurrency ?? 1,
      staggerDelayMs: options.staggerDelayMs ?? 0
    } as const
    return Worker.provideTaskServices(Scheduler.byParticipant.run(plan, [lane])).pipe(
      Effect.map((): EngineResult => ({ records: into, log, warnings }))
    )
  })
}

/** Runs an effect while the test clock moves on by `millis`; fails when it has not ended by then. */
export const within = <A, E, R>(millis: number, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust(millis)
    if (fiber.unsafePoll() === null) return yield* Effect.dieMessage(`has not ended within ${millis} ms`)
    return yield* Fiber.join(fiber)
  })

/** The only record of a run of one task. */
export const onlyRecord = <E, R>(task: Task<E, R>, options: EngineOptions = {}) =>
  Effect.map(runTask(task, options), ({ records }) => {
    const [record] = records
    if (record === undefined || records.length > 1) throw new Error(`${records.length} records`)
    return record
  })

/** Name, status, latency and error code of each step. */
export const stepsOf = (record: TaskRecord) =>
  record.steps?.map(({ errorCode, latencyMs, name, status }) => [name, status, latencyMs, errorCode]) ?? []
