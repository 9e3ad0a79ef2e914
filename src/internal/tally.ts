/**
 * What is kept of a participant's records while they pass by: counts, latencies, and the errors that occurred.
 */
import type { ResultSummary } from "../Platform.js"
import type { TaskRecord } from "../Record.js"
import { mean, percentileNearestRank, Samples } from "../Statistics.js"

export interface ErrorCount {
  readonly code: string
  readonly count: number
  /** Of the first one. */
  readonly message: string | undefined
}

/** More kinds than this are counted together as `(other)`: error codes may hold anything. */
const maxErrorKinds = 100

export class Tally {
  done = 0
  errors = 0
  readonly records: Array<TaskRecord> = []
  private readonly latencies = new Samples()
  private readonly kinds = new Map<string, { count: number; message: string | undefined }>()

  constructor(private readonly keepRecords: boolean) {}

  add(record: TaskRecord): void {
    this.done++
    if (typeof record.latencyMs === "number") this.latencies.push(record.latencyMs)
    if (record.status !== "success") {
      this.errors++
      this.countError(record)
    }
    if (this.keepRecords) this.records.push(record)
  }

  /** Latencies of all tasks, failed ones included, as the platform computes them; nulls when there are none. */
  get latencyMs(): ResultSummary["latencyMs"] {
    const sorted = this.latencies.sorted()
    const at = (p: number): number | null => percentileNearestRank(sorted, p) ?? null
    return {
      min: sorted[0] ?? null,
      avg: mean(sorted) ?? null,
      p50: at(50),
      p95: at(95),
      p99: at(99),
      max: sorted[sorted.length - 1] ?? null
    }
  }

  /** Most frequent first. */
  get errorCounts(): ReadonlyArray<ErrorCount> {
    return Array.from(this.kinds, ([code, { count, message }]) => ({ code, count, message })).sort(
      (a, b) => b.count - a.count
    )
  }

  private countError(record: TaskRecord): void {
    const code = record.errorCode ?? "ERROR"
    const kind = this.kinds.has(code) || this.kinds.size < maxErrorKinds ? code : "(other)"
    const known = this.kinds.get(kind)
    if (known !== undefined) {
      known.count++
    } else {
      const message = record.data?.["errorMessage"]
      this.kinds.set(kind, { count: 1, message: typeof message === "string" ? message : undefined })
    }
  }
}
