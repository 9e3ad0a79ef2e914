import * as Effect from "effect/Effect"

import type { Participant } from "../../src/Participant.js"
import type { TaskRecord } from "../../src/Record.js"
import type { RunReporter } from "../../src/Reporter.js"
import * as Scheduler from "../../src/Scheduler.js"
import type { Task } from "../../src/Task.js"
import * as Worker from "../../src/Worker.js"

export interface EngineOptions {
  readonly participant?: Participant
  readonly slots?: number
  readonly start?: number
  readonly phase?: string | undefined
  readonly concurrency?: number
  readonly staggerDelayMs?: number
  readonly run?: RunReporter
}

export interface EngineResult {
  readonly records: ReadonlyArray<TaskRecord>
  readonly log: string
  readonly warnings: ReadonlyArray<string>
}

const intoNothing = (options: EngineOptions): RunReporter => ({
  runId: undefined,
  openWorker: () => Effect.succeed({ start: options.start ?? 0, count: options.slots ?? 1, record: () => Effect.void }),
  submitSummary: () => Effect.void,
  undelivered: Effect.succeed([])
})

/** Runs a task through scheduler, worker and engine; `into` sees each record as it is made, whatever becomes of the run. */
export const runTask = <E, R>(task: Task<E, R>, options: EngineOptions = {}, into: Array<TaskRecord> = []) =>
  Effect.suspend(() => {
    const warnings: Array<string> = []
    let log = ""
    const lane = Worker.lane({
      task,
      participant: options.participant ?? { name: "alpha" },
      run: options.run ?? intoNothing(options),
      phaseAt: () => options.phase,
      onOpen: () => {},
      onRecord: (record) => {
        into.push(record)
      },
      onClose: (workerLog) => {
        log = workerLog.text
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
