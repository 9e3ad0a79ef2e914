/** What looks as if something else was measured, too. */
import { coarseStep, outliers, trend } from "../../Diagnostics.js"
import { median } from "../../Statistics.js"
import type { Tasks } from "./measurements.js"
import { counting, nothing } from "./measurements.js"
import type { MetricInfo, Warning } from "./model.js"
import { peaks } from "./peaks.js"

export type Oddity = Pick<Warning, "kind" | "text">

/** Of the samples of one metric of a participant; `subject` is what they are called in a sentence. */
export const oddities = (tasks: Tasks, metric: MetricInfo, subject: string): ReadonlyArray<Oddity> => {
  const samples = samplesOf(tasks, metric)
  return [
    ...outlying(samples, metric, subject),
    ...peaked(samples, metric, subject),
    ...drifting(samples, metric, subject),
    ...coarse(samples, metric, subject)
  ]
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Those that count. */
interface Samples {
  /** In the order of task indexes. */
  readonly values: Float64Array
  readonly sorted: Float64Array
  /** Index of the task that a value is of. */
  readonly taskAt: (i: number) => number
}

const samplesOf = (tasks: Tasks, { key }: MetricInfo): Samples => {
  const series = tasks.series(key) ?? nothing
  const values = counting(series)
  const rows = series.rows.filter((_, i) => series.ok[i] === 1)
  const indexes = tasks.taskIndexes
  return { values, sorted: values.slice().sort(), taskAt: (i) => indexes[rows[i] ?? 0] ?? 0 }
}

/** How many outliers are named. */
const maxNamed = 3

const outlying = ({ sorted, taskAt, values }: Samples, metric: MetricInfo, subject: string): ReadonlyArray<Oddity> => {
  const found = outliers(sorted)
  if (found === undefined || found.count === 0) return []
  const { count, high, low } = found
  const middle = median(sorted) ?? 0
  const distance = (i: number): number => Math.abs((values[i] ?? middle) - middle)
  const far: Array<number> = []
  values.forEach((value, i) => {
    if (value < low || value > high) far.push(i)
  })
  const worst = far.sort((a, b) => distance(b) - distance(a)).slice(0, maxNamed)
  const named = worst.map((i) => `task ${taskAt(i)} with ${valueText(values[i] ?? 0, metric)}`)
  const rest = count > worst.length ? ` and ${count - worst.length} more` : ""
  const are = count === 1 ? "is" : "are"
  return [
    {
      kind: "outliers",
      text: `${subject}: ${count} of ${values.length} samples ${are} far from the others: ${named.join(", ")}${rest}`
    }
  ]
}

const peaked = ({ sorted }: Samples, metric: MetricInfo, subject: string): ReadonlyArray<Oddity> => {
  const found = peaks(sorted)
  if (found === undefined) return []
  const { dip, high, low, share } = found
  return [
    {
      kind: "bimodal",
      text: `${subject} has more than one peak (Hartigan's dip ${dip.toFixed(2)}, p < 0.001): ${Math.round(100 * share)} % of the samples are around ${valueText(low, metric)}, the others around ${valueText(high, metric)}`
    }
  ]
}

/** What a trend has to be at least to be worth a word. */
const drift = { p: 0.01, tau: 0.2 }

/** Medians of the first and the last quarter tell how much it is. */
const drifting = ({ values }: Samples, metric: MetricInfo, subject: string): ReadonlyArray<Oddity> => {
  const found = trend(values)
  if (found === undefined || found.p > drift.p || Math.abs(found.tau) < drift.tau) return []
  const quarter = Math.floor(values.length / 4)
  const medianText = (part: Float64Array): string => valueText(median(part.slice().sort()) ?? 0, metric)
  const [first, last] = [values.subarray(0, quarter), values.subarray(values.length - quarter)]
  const how = found.tau > 0 ? "grows" : "shrinks"
  return [
    {
      kind: "drift",
      text: `${subject} ${how} from task to task (Mann-Kendall, tau ${found.tau.toFixed(2)}): the median is ${medianText(first)} in the first quarter and ${medianText(last)} in the last`
    }
  ]
}

/** Only times come from a clock. */
const coarse = ({ sorted }: Samples, metric: MetricInfo, subject: string): ReadonlyArray<Oddity> => {
  const isTime = metric.kind !== "data" || /^[mµnu]?s$/.test(metric.unit)
  const step = isTime ? coarseStep(sorted) : undefined
  return step === undefined
    ? []
    : [
        {
          kind: "clock-resolution",
          text: `${subject}: all samples are whole multiples of ${valueText(step, metric)} apart: the clock is too coarse for them`
        }
      ]
}

/** A sample in a sentence. */
const valueText = (value: number, { unit }: MetricInfo): string => {
  const text = `${Number(value.toPrecision(4)) + 0}`
  return unit === "" ? text : `${text} ${unit}`
}
