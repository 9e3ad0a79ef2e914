/**
 * How much a statistic of a participant would vary if its tasks were run again: the ordinary bootstrap over whole tasks,
 * so that what was measured together, failures included, stays together.
 *
 * Source: Efron & Tibshirani, "An Introduction to the Bootstrap" (1993), chapters 6 and 13 (the percentile interval).
 */
import { median, percentileNearestRank } from "../../Statistics.js"
import type { Series } from "./measurements.js"
import type { Interval } from "./model.js"

/** Values of one metric that count, in ascending order, each with the row of its task. */
export interface Ordered {
  readonly values: Float64Array
  readonly rows: Int32Array
}

export const ordered = ({ ok, rows, values }: Series): Ordered => {
  const order = Int32Array.from({ length: values.length }, (_, i) => i)
    .filter((i) => ok[i] === 1)
    .sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0))
  return {
    values: Float64Array.from(order, (i) => values[i] ?? 0),
    rows: Int32Array.from(order, (i) => rows[i] ?? 0)
  }
}

/** How often each task was drawn: statistics of one resample. */
export class Resample {
  readonly counts: Int32Array

  constructor(readonly tasks: number) {
    this.counts = new Int32Array(tasks)
  }

  draw(random: () => number): void {
    const { counts, tasks } = this
    counts.fill(0)
    for (let i = 0; i < tasks; i++) {
      const row = Math.floor(random() * tasks)
      counts[row] = (counts[row] ?? 0) + 1
    }
  }

  /** How many of the drawn tasks are among these rows. */
  sizeOf(rows: Int32Array): number {
    const { counts } = this
    let size = 0
    for (let i = 0; i < rows.length; i++) size += counts[rows[i] ?? 0] ?? 0
    return size
  }

  /** The values at these places (from 0, ascending) of the sorted resample. */
  at({ rows, values }: Ordered, places: ReadonlyArray<number>): ReadonlyArray<number> {
    const { counts } = this
    const found: Array<number> = []
    let seen = 0
    for (let i = 0; i < rows.length && found.length < places.length; i++) {
      seen += counts[rows[i] ?? 0] ?? 0
      while (seen > (places[found.length] ?? Infinity)) found.push(values[i] ?? 0)
    }
    return found
  }
}
