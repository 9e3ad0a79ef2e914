/**
 * Distributions as text: a box plot of each participant on one scale, and beside it the shape of its histogram.
 */
import type { Distribution, MetricInfo } from "../Analysis.js"
import type { Style } from "./style.js"
import { number, table, widthOf } from "./text.js"

export interface Distributed {
  readonly name: string
  readonly distribution: Distribution
}

/** Columns of a box plot, and of a shape. */
const plotWidth = { most: 40, least: 16 }

const shapeWidth = 20

/** Undefined when there is nothing to draw: all samples are equal, or there are none. */
export const plots = (
  metric: MetricInfo,
  participants: ReadonlyArray<Distributed>,
  style: Style
): string | undefined => {
  const scale = scaleOf(participants.map(({ distribution }) => distribution))
  if (scale === undefined) return undefined
  const longest = Math.max(...participants.map(({ name }) => widthOf(name)))
  const left = (style.columns ?? 100) - Math.min(longest, 24) - shapeWidth - 4
  const width = Math.min(plotWidth.most, Math.max(plotWidth.least, left))
  const [from, to] = [number(scale.from, metric.decimals), number(scale.to, metric.decimals)]
  const ruler = `${from}${" ".repeat(Math.max(1, width - from.length - to.length))}${to}`
  return table(
    [{ title: "", cut: true, key: true }, { title: ruler }, { title: "min to max" }],
    participants.map(({ distribution, name }) => [
      name,
      box(distribution, scale, width, style),
      shape(distribution, style)
    ]),
    { columns: style.columns, paintTitle: style.dim, mark: style.signs.cut }
  )
}

/** What the plots show, and how they are to be scaled. */
export const legend = (participants: ReadonlyArray<Distributed>): string => {
  const scale = scaleOf(participants.map(({ distribution }) => distribution))
  return `min to p95, the middle half and the median${scale?.isLogarithmic === true ? ", on a logarithmic scale" : ""}; then the histogram of each`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Scale {
  readonly from: number
  readonly to: number
  readonly isLogarithmic: boolean
  /** From 0 to 1. */
  readonly at: (value: number) => number
}

/** From the least sample to the largest p95: beyond it a single sample could press all others together. */
const scaleOf = (distributions: ReadonlyArray<Distribution>): Scale | undefined => {
  const from = Math.min(...distributions.map(({ min }) => min))
  const to = Math.max(...distributions.map(({ p95 }) => p95))
  if (!(from < to)) return undefined
  const isLogarithmic = from > 0 && to / from >= 100
  const map = isLogarithmic ? Math.log : (value: number) => value / 2
  return {
    from,
    to,
    isLogarithmic,
    at: (value) => Math.min(1, Math.max(0, (map(value) - map(from)) / (map(to) - map(from))))
  }
}

const box = (distribution: Distribution, scale: Scale, width: number, { signs }: Style): string => {
  const { end, half, line, middle, start } = signs.box
  const place = (value: number): number => Math.round(scale.at(value) * (width - 1))
  const [low, q1, median, q3, high] = [
    place(distribution.min),
    place(distribution.q1),
    place(distribution.median),
    place(distribution.q3),
    place(distribution.p95)
  ]
  return Array.from({ length: high + 1 }, (_, at) => {
    if (at === median) return middle
    if (at < low) return " "
    if (at >= q1 && at <= q3) return half
    return at === low ? start : at === high ? end : line
  }).join("")
}

/** Bars as high as bins are full; any sample shows. */
const shape = ({ histogram }: Distribution, { signs }: Style): string => {
  const together = Math.ceil(histogram.length / shapeWidth)
  const counts: Array<number> = []
  histogram.forEach(({ count }, i) => {
    const cell = Math.floor(i / together)
    counts[cell] = (counts[cell] ?? 0) + count
  })
  const most = Math.max(1, ...counts)
  return counts
    .map((count) => (count === 0 ? " " : (signs.bars[Math.ceil((8 * count) / most) - 1] ?? "")))
    .join("")
    .trimEnd()
}
