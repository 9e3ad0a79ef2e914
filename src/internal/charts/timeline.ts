/** Values over time, one panel per row; where there are too many to tell apart, their extremes and their middle. */
import type { CustomSeriesOption, ScatterSeriesOption } from "echarts/charts"
import type { Column, Sample } from "./columns.js"
import { columnsOf } from "./columns.js"
import type { Chart } from "./engine.js"
import { cut, fontSize, isNarrow, small, valueAxis } from "./layout.js"
import { paint } from "./palette.js"
import type { Scale } from "./scale.js"
import { scaleFromZero, scaleOf } from "./scale.js"

export interface TimelineRow {
  readonly name: string
  /** In the order of `x`. */
  readonly samples: ReadonlyArray<Sample>
  /** Where something failed. */
  readonly failures: ReadonlyArray<number>
  /** Where each phase begins; empty when there is but one. */
  readonly phases: ReadonlyArray<{ readonly name: string; readonly x: number }>
}

/** More samples than this in a panel are drawn as columns. */
export const maxDots = 400

const panelHeight = 84

/** All panels have the same vertical axis; the horizontal one is that of the row, in `unit`. */
export const timeline = (rows: ReadonlyArray<TimelineRow>, unit: string, width: number): Chart => {
  const narrow = isNarrow(width)
  const vertical = scaleOf(
    rows.flatMap(({ samples }) => extremes(samples)),
    4
  )
  const plotWidth = width - left - right
  const scales = rows.map((row) => horizontalOf(row, narrow ? 4 : 8))
  const head = rows.some(({ phases }) => phases.length > 0) ? 44 : 30
  const rowHeight = head + panelHeight + 28
  return {
    width,
    height: rows.length * rowHeight + 16,
    option: {
      grid: rows.map((_, i) => ({ left, right, top: head + i * rowHeight, height: panelHeight })),
      xAxis: rows.map((_, i) => ({
        ...valueAxis(scales[i] ?? vertical, i === rows.length - 1 ? unit : ""),
        gridIndex: i,
        splitLine: { show: false },
        axisLine: { show: true, onZero: false, lineStyle: { color: paint.rule } }
      })),
      yAxis: rows.map(({ name }, i) => ({
        ...valueAxis(vertical, cut(name, narrow ? 36 : 80)),
        gridIndex: i,
        nameLocation: "end" as const,
        nameGap: head - 16,
        nameTextStyle: {
          fontSize: fontSize + 1,
          color: paint.text,
          align: "left" as const,
          padding: [0, 0, 0, 2 - left]
        }
      })),
      series: rows.flatMap((row, i) => [
        values(row, i, scales[i] ?? vertical, plotWidth),
        failures(row, i, scales[i] ?? vertical, vertical.max, plotWidth)
      ])
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const left = 46
const right = 18

/** From 0 to the last thing that there is to see. */
const horizontalOf = ({ failures, phases, samples }: TimelineRow, ticks: number): Scale => {
  const [, last = 0] = ends([...samples.map(({ x }) => x), ...failures, ...phases.map(({ x }) => x)])
  const scale = scaleFromZero([last], ticks)
  return last > 0 ? { ...scale, max: last, ticks: scale.ticks.filter((tick) => tick <= last) } : scale
}

const ends = (values: ReadonlyArray<number>): ReadonlyArray<number> => {
  let low = Infinity
  let high = -Infinity
  for (const value of values) {
    if (value < low) low = value
    if (value > high) high = value
  }
  return low > high ? [] : [low, high]
}

const extremes = (samples: ReadonlyArray<Sample>): ReadonlyArray<number> => ends(samples.map(({ y }) => y))

const values = (row: TimelineRow, panel: number, scale: Scale, plotWidth: number) => {
  const axes = { xAxisIndex: panel, yAxisIndex: panel, silent: true, markLine: starts(row) }
  return row.samples.length <= maxDots ? dots(row.samples, axes) : band(row.samples, axes, scale, plotWidth)
}

type Axes = {
  readonly xAxisIndex: number
  readonly yAxisIndex: number
  readonly silent: boolean
  readonly markLine: NonNullable<ScatterSeriesOption["markLine"]>
}

const dots = (samples: ReadonlyArray<Sample>, axes: Axes): ScatterSeriesOption => ({
  ...axes,
  type: "scatter",
  large: true,
  largeThreshold: 1,
  symbolSize: samples.length > 150 ? 3 : 4.5,
  itemStyle: { color: paint.accent, opacity: 0.75 },
  data: samples.map(({ x, y }) => [x, y])
})

/** One shape per stretch: the range of its columns, and a line through their medians. */
const band = (samples: ReadonlyArray<Sample>, axes: Axes, scale: Scale, plotWidth: number): CustomSeriesOption => {
  const stretches = columnsOf(samples, { from: scale.min, to: scale.max, count: Math.floor(plotWidth / 2) })
  return {
    ...axes,
    type: "custom",
    clip: false,
    data: stretches.map((_, i) => i),
    renderItem: (params, api) => {
      const stretch = stretches[params.dataIndex] ?? []
      const at = (y: (column: Column) => number) => stretch.map((column) => place(api.coord([column.x, y(column)])))
      const low = at((column) => column.low)
      const high = at((column) => column.high)
      const middle = at((column) => column.median)
      return {
        type: "group",
        children: [
          { type: "polygon", shape: { points: widened([...high, ...low.reverse()]) }, style: { fill: paint.soft } },
          {
            type: "polyline",
            shape: { points: widened(middle) },
            style: { stroke: paint.accent, lineWidth: 1.25, fill: "none" }
          }
        ]
      }
    }
  }
}

const place = (at: ReadonlyArray<number>): [number, number] => [round(at[0] ?? 0), round(at[1] ?? 0)]

const round = (value: number): number => Math.round(value * 10) / 10

/** What has no width is drawn one unit wide. */
const widened = (points: Array<[number, number]>): Array<[number, number]> => {
  const xs = points.map(([x]) => x)
  if (Math.max(...xs) > Math.min(...xs)) return points
  const half = points.length / 2
  return points.length === 1
    ? points.flatMap(([x, y]): Array<[number, number]> => [
        [x - 0.5, y],
        [x + 0.5, y]
      ])
    : points.flatMap(([x, y], i): Array<[number, number]> =>
        i < half
          ? [
              [x - 0.5, y],
              [x + 0.5, y]
            ]
          : [
              [x + 0.5, y],
              [x - 0.5, y]
            ]
      )
}

/** One cross at the top of the panel for all failures that would be drawn over each other. */
const failures = (
  { failures: at }: TimelineRow,
  panel: number,
  scale: Scale,
  top: number,
  plotWidth: number
): ScatterSeriesOption => {
  const width = (6 * (scale.max - scale.min)) / plotWidth
  const seen = new Set<number>()
  const kept = at.filter((x) => {
    const column = width > 0 ? Math.floor((x - scale.min) / width) : 0
    if (seen.has(column)) return false
    seen.add(column)
    return true
  })
  return {
    type: "scatter",
    xAxisIndex: panel,
    yAxisIndex: panel,
    silent: true,
    clip: false,
    symbol: "path://M0 0L8 8M8 0L0 8",
    symbolSize: 6,
    symbolOffset: [0, -7],
    itemStyle: { color: "none", borderColor: paint.bad, borderWidth: 1.5, opacity: 1 },
    data: kept.map((x) => [x, top])
  }
}

/** A line with its name where a phase begins. */
const starts = ({ phases }: TimelineRow): NonNullable<ScatterSeriesOption["markLine"]> => ({
  silent: true,
  animation: false,
  symbol: "none",
  lineStyle: { color: paint.muted, width: 1, type: [3, 3] },
  data: phases.map(({ name, x }) => ({
    xAxis: x,
    label: { ...small, formatter: () => cut(name, 16), position: "end" as const, distance: 12, align: "left" as const }
  }))
})
