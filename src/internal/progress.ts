/** What is known of a run while it is going. */
import type { Outcome } from "../Benchmark.js"
import type { ResolvedConfig } from "../Config.js"
import * as BenchConfig from "../Config.js"
import type { Verdict } from "../Gates.js"
import type { Participant, Skipped } from "../Participant.js"
import type { SummaryRow } from "../Platform.js"
import type { RunReporter } from "../Reporter.js"
import type * as RunEvents from "../RunEvent.js"
import {
  ParticipantCompleted,
  ParticipantStarted,
  RunStarted,
  TaskCompleted,
  TaskStarted,
  Warning
} from "../RunEvent.js"
import type { Accumulator } from "../Scoring.js"
import type { Task } from "../Task.js"
import type { WorkerOptions } from "../Worker.js"
import { WorkerLog } from "../WorkerLog.js"
import { Keeper } from "./gates/keeper.js"
import { Tally } from "./tally.js"

const maxWarnings = 100

export class Progress {
  readonly tallies: ReadonlyMap<string, Tally>
  readonly logs = new Map<string, WorkerLog>()
  readonly warnings: Array<string>
  private readonly warned: Set<string>
  private readonly keeper: Keeper
  private stopped = false
  /** Tasks of each participant's worker, once it is open. */
  private readonly totals = new Map<string, number>()
  private readonly phaseAt: (scheduleIndex: number) => string | undefined

  constructor(
    readonly participants: ReadonlyArray<Participant>,
    readonly skipped: ReadonlyArray<Skipped>,
    readonly resolved: ResolvedConfig,
    readonly scoring: Accumulator | undefined,
    keep: boolean,
    readonly emit: RunEvents.Listener | undefined
  ) {
    this.tallies = new Map(participants.map(({ name }) => [name, new Tally(keep)]))
    this.warnings = [...resolved.warnings]
    this.warned = new Set(resolved.warnings)
    this.phaseAt = BenchConfig.phaseLookup(resolved)
    const absent = new Set(skipped.map(({ participant }) => participant.name))
    this.keeper = new Keeper(resolved.thresholds ?? [], this.names, (name) => absent.has(name), this.planned)
  }

  get names(): ReadonlyArray<string> {
    return this.participants.map(({ name }) => name)
  }

  /** Each warning once; a task can make any number of different ones, so there is an end to them. */
  readonly warn = (message: string): void => {
    if (this.warned.size > maxWarnings || this.warned.has(message)) return
    this.warned.add(message)
    const text = this.warned.size > maxWarnings ? "further warnings are left out" : message
    this.warnings.push(text)
    this.emit?.(Warning({ message: text }))
  }

  started(runId: string | undefined): void {
    const { benchmarkName, benchmarkSlug, iterations } = this.resolved
    this.emit?.(
      RunStarted({
        runId,
        benchmarkSlug,
        benchmarkName,
        participants: this.names,
        skipped: this.skipped,
        tasksPerParticipant: iterations
      })
    )
    for (const message of this.resolved.warnings) this.emit?.(Warning({ message }))
  }

  worker<E, R>(
    task: Task<E, R>,
    participant: Participant,
    run: RunReporter,
    concurrency: (targetConcurrency: number | undefined) => number
  ): WorkerOptions<E, R> {
    const { name } = participant
    const tally = this.tallies.get(name) ?? new Tally(false)
    const listening = this.emit !== undefined
    let total = 0
    return {
      task,
      participant,
      run,
      phaseAt: this.phaseAt,
      concurrency,
      onOpen: (count) => {
        total = count
        this.totals.set(name, count)
        this.emit?.(ParticipantStarted({ participant: name, total }))
      },
      onStart: listening ? (taskIndex) => this.emit?.(TaskStarted({ participant: name, taskIndex })) : undefined,
      onRecord: (record) => {
        tally.add(record)
        this.scoring?.add(name, record)
        this.keeper.add(name, record)
        if (!this.stopped && this.keeper.stoppedBy !== undefined) {
          this.stopped = true
          this.warn(`stopping the run: ${this.keeper.stoppedBy}`)
        }
        if (listening) {
          const { done, errors } = tally
          this.emit?.(TaskCompleted({ participant: name, record, done, errors, total }))
        }
      },
      onClose: (log) => {
        this.logs.set(name, log)
        const { done, errors } = tally
        this.emit?.(ParticipantCompleted({ participant: name, done, errors, total }))
      },
      onWarning: this.warn,
      stoppedBy: () => this.keeper.stoppedBy
    }
  }

  /** Not known where the worker has only a part of its participant's tasks. */
  private readonly planned = (participant: string, phase: string | undefined): number | undefined => {
    const { iterations, phases } = this.resolved
    if (this.totals.get(participant) !== iterations) return undefined
    return phase === undefined ? iterations : phases?.find(({ name }) => name === phase)?.iterations
  }

  verdicts(rows: ReadonlyArray<SummaryRow> | undefined): ReadonlyArray<Verdict> {
    return this.keeper.verdicts(rows)
  }

  outcome({ dashboardUrl, runId }: RunReporter): Outcome {
    const rows = this.scoring?.rows(this.names)
    return {
      runId,
      dashboardUrl,
      config: this.resolved,
      participants: Array.from(this.tallies, ([participant, tally]) => ({
        participant,
        taskCount: tally.done,
        successCount: tally.done - tally.errors,
        errorCount: tally.errors,
        latencyMs: tally.latencyMs,
        errors: tally.errorCounts,
        records: tally.records,
        log: this.logs.get(participant) ?? new WorkerLog()
      })),
      skipped: this.skipped,
      rows,
      verdicts: this.keeper.verdicts(rows),
      warnings: this.warnings
    }
  }
}
