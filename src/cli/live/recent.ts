/** The latest samples of a stream, in bounded memory. */
import * as Statistics from "../../Statistics.js"

/** How many are kept. */
export const capacity = 1000

export class Recent {
  private values = new Float64Array(16)
  private next = 0
  private stored = 0
  private changed = false
  private known: { readonly median: number; readonly p95: number } | undefined = undefined

  /** Takes a sample, in constant time; what is no number is left out. */
  readonly push = (sample: number | null | undefined): void => {
    if (typeof sample !== "number" || !Number.isFinite(sample)) return
    if (this.stored === this.values.length && this.values.length < capacity) {
      const larger = new Float64Array(Math.min(capacity, 2 * this.values.length))
      larger.set(this.values)
      this.values = larger
    }
    if (this.next === this.values.length) this.next = 0
    this.values[this.next++] = sample
    this.stored = Math.min(this.stored + 1, this.values.length)
    this.changed = true
  }

  /** Of the samples that are kept; undefined without any. */
  quantiles(): { readonly median: number; readonly p95: number } | undefined {
    if (!this.changed) return this.known
    this.changed = false
    const sorted = this.values.slice(0, this.stored).sort()
    const median = Statistics.median(sorted)
    const p95 = Statistics.percentileNearestRank(sorted, 95)
    this.known = median === undefined || p95 === undefined ? undefined : { median, p95 }
    return this.known
  }
}
