/** Measures thresholds while records pass by, and knows when one can no longer be kept. */
import type { Threshold, Verdict } from "../../Gates.js"
import type { SummaryRow } from "../../Platform.js"
import type { TaskRecord } from "../../Record.js"
import * as Statistics from "../../Statistics.js"
import { isOfParticipant } from "./stats.js"
import { describe } from "./text.js"

/** How many tasks a participant will have run in the end; undefined when that is not known. */
export type Planned = (participant: string, phase: string | undefined) => number | undefined

export class Keeper {
  private readonly gates: ReadonlyArray<Gate>
  private readonly byParticipant: ReadonlyMap<string, ReadonlyArray<Gate>>
  private hopeless: Gate | undefined = undefined

  /** A threshold of a participant that is neither in `participants` nor in `missing` has no verdict. */
  constructor(
    thresholds: ReadonlyArray<Threshold>,
    participants: ReadonlyArray<string>,
    missing: ((participant: string) => boolean) | undefined = () => true,
    planned: Planned = () => undefined
  ) {
    this.gates = thresholds.flatMap((threshold) => {
      const { participant } = threshold
      const names =
        participant === undefined
          ? participants
          : participants.includes(participant) || missing(participant)
            ? [participant]
            : []
      return names.map((name) => new Gate(threshold, name, planned))
    })
    this.byParticipant = new Map(
      participants.map((name) => [name, this.gates.filter(({ participant }) => participant === name)])
    )
  }

  add(participant: string, record: TaskRecord): void {
    for (const gate of this.byParticipant.get(participant) ?? []) {
      gate.add(record)
      if (this.hopeless === undefined && gate.threshold.abortEarly === true && gate.isHopeless()) this.hopeless = gate
    }
  }

  /** Whether there are thresholds to measure. */
  get isNeeded(): boolean {
    return this.gates.length > 0
  }

  /** What can no longer be kept, in words; undefined while everything that is worth stopping for can be. */
  get stoppedBy(): string | undefined {
    return this.hopeless?.verdict(undefined, true).text
  }

  verdicts(rows: ReadonlyArray<SummaryRow> | undefined): ReadonlyArray<Verdict> {
    return this.gates.map((gate) => gate.verdict(rows, gate === this.hopeless))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

class Gate {
  private readonly samples: Statistics.Samples | undefined
  private readonly keepsValues: boolean
  private tasks = 0
  private passed = 0
  private above = 0
  private below = 0
  private sum = 0
  private count = 0
  /** The most samples that one task had. */
  private perTask = 1

  constructor(
    readonly threshold: Threshold,
    readonly participant: string,
    private readonly planned: Planned
  ) {
    const { stat } = threshold
    this.keepsValues = !isOfParticipant(stat)
    this.samples = this.keepsValues && stat !== "count" ? new Statistics.Samples() : undefined
  }

  add(record: TaskRecord): void {
    const { phase } = this.threshold
    if (phase !== undefined && record.data?.["phase"] !== phase) return
    this.tasks++
    if (record.status !== "success") return
    this.passed++
    if (!this.keepsValues) return
    const before = this.count
    this.read(record)
    this.perTask = Math.max(this.perTask, this.count - before)
  }

  verdict(rows: ReadonlyArray<SummaryRow> | undefined, stoppedEarly: boolean): Verdict {
    const { max, min } = this.threshold
    const measured = this.measure(rows)
    const passed =
      measured !== undefined &&
      !(max !== undefined && measured > max) &&
      !(min !== undefined && measured < min) &&
      !stoppedEarly
    const samples = this.keepsValues ? this.count : this.tasks
    const verdict = {
      threshold: this.threshold,
      participant: this.participant,
      passed,
      measured,
      samples,
      stoppedEarly
    }
    return { ...verdict, text: describe(verdict) }
  }

  /**
   * Whether no outcome of the remaining tasks can keep the bound. A remaining task is taken to give as many samples as any
   * has given so far, each the best there can be; latencies are not negative.
   */
  isHopeless(): boolean {
    const planned = this.planned(this.participant, this.threshold.phase)
    if (planned === undefined) return false
    const { max = Infinity, min = -Infinity, stat } = this.threshold
    const remaining = Math.max(0, planned - this.tasks)
    const count = this.count + remaining * this.perTask
    switch (stat) {
      case "successRate":
        return (this.passed + remaining) / planned < min || this.passed / planned > max
      case "count":
        return count < min || this.count > max
      case "max":
        return this.above > 0
      case "min":
        return this.below > 0
      case "mean":
        return this.isLatency && count > 0 && this.sum / count > max
      case "median":
        return 2 * this.above > count || 2 * this.below > count
      case "p90":
      case "p95":
      case "p99":
      case "p99.9": {
        const rank = Math.ceil((Number(stat.slice(1)) * count) / 100)
        return count > 0 && (count - this.above < rank || this.below >= rank)
      }
      case "compositeScore":
        return false
    }
  }

  private get isLatency(): boolean {
    const { metric, step } = this.threshold
    return step === undefined ? metric === undefined || metric === "task" : metric === undefined
  }

  private measure(rows: ReadonlyArray<SummaryRow> | undefined): number | undefined {
    const { stat } = this.threshold
    if (stat === "successRate") return this.tasks === 0 ? undefined : this.passed / this.tasks
    if (stat === "compositeScore") {
      const row = rows?.find(({ provider }) => provider === this.participant)
      return row === undefined || row.skipped ? undefined : row.compositeScore
    }
    if (this.count === 0) return undefined
    if (stat === "count") return this.count
    const sorted = this.samples?.sorted() ?? []
    switch (stat) {
      case "min":
        return sorted[0]
      case "max":
        return sorted[sorted.length - 1]
      case "mean":
        return Statistics.mean(sorted)
      case "median":
        return Statistics.median(sorted)
      default:
        return Statistics.percentileNearestRank(sorted, Number(stat.slice(1)))
    }
  }

  private read(record: TaskRecord): void {
    const { metric, step } = this.threshold
    if (step === undefined) {
      this.take(metric === undefined || metric === "task" ? record.latencyMs : own(record.data, metric))
      return
    }
    for (const taken of record.steps ?? []) {
      if (taken.name !== step || taken.status !== "success") continue
      this.take(metric === undefined ? taken.latencyMs : own(taken.data, metric))
    }
  }

  private take(value: unknown): void {
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === "number") this.push(item)
    } else if (typeof value === "number") this.push(value)
  }

  private push(value: number): void {
    if (!Number.isFinite(value)) return
    const { max, min } = this.threshold
    this.count++
    this.sum += value
    if (max !== undefined && value > max) this.above++
    if (min !== undefined && value < min) this.below++
    this.samples?.push(value)
  }
}

const own = (data: TaskRecord["data"], key: string): unknown =>
  data !== undefined && data !== null && Object.hasOwn(data, key) ? data[key] : undefined
