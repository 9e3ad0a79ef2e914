/** Parts of a whole, one bar per row. */
import type { Chart } from "./engine.js"
import { besideWidth, cut, isNarrow, nameAxis, valueAxis } from "./layout.js"
import { paint, seriesColour } from "./palette.js"
import { scaleFromZero } from "./scale.js"

export interface StackRow {
  readonly name: string
  /** One per part, in the order of the parts; undefined where the row has none. */
  readonly values: ReadonlyArray<number | undefined>
}

/** The place of a part is its colour. Negative values have no length. */
export const stacks = (rows: ReadonlyArray<StackRow>, unit: string, width: number): Chart => {
  const narrow = isNarrow(width)
  const names = rows.map(({ name }) => cut(name, narrow ? 36 : 26))
  const parts = Math.max(0, ...rows.map(({ values }) => values.length))
  const lengths = rows.map(({ values }) => values.map((value) => Math.max(0, value ?? 0)))
  const rowHeight = narrow ? 48 : 36
  const scale = scaleFromZero(
    lengths.map((values) => values.reduce((sum, value) => sum + value, 0)),
    narrow ? 4 : 8
  )
  return {
    width,
    height: rows.length * rowHeight + 48,
    option: {
      grid: { left: narrow ? 12 : besideWidth(names), right: 24, top: 8, bottom: 40 },
      xAxis: valueAxis(scale, unit),
      yAxis: nameAxis(names, width, rowHeight),
      series: Array.from({ length: parts }, (_, part) => ({
        type: "bar" as const,
        stack: "whole",
        silent: true,
        barWidth: 16,
        itemStyle: { color: seriesColour(part), borderColor: paint.surface },
        data: lengths.map((values) => {
          const value = values[part] ?? 0
          // A gap between neighbours, unless there would be nothing left of it.
          return { value, itemStyle: { borderWidth: (value / scale.max) * width > 5 ? 1 : 0 } }
        })
      }))
    }
  }
}
