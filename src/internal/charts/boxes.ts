/** Distributions side by side: one box per row, all on one axis. */
import type { Chart } from "./engine.js"
import { besideWidth, cut, fontSize, isNarrow, nameAxis, small, textWidth, valueAxis } from "./layout.js"
import { paint } from "./palette.js"
import { scaleOf } from "./scale.js"

export interface BoxRow {
  readonly name: string
  readonly min: number
  readonly q1: number
  readonly median: number
  readonly q3: number
  readonly p95: number
  readonly p99: number
  readonly max: number
  /** The median as it is to be read. */
  readonly text: string
}

/** What the parts of a box are, for a caption. */
export const boxLegend =
  "Box: the middle half of the samples, divided at the median. Whiskers: from the least to the 95th percentile. " +
  "Circle: 99th percentile. Dot: the greatest."

/**
 * Boxes from the first quartile to the third, divided at the median; whiskers from the least to the 95th percentile; a
 * ring at the 99th percentile and a dot at the greatest.
 */
export const boxes = (rows: ReadonlyArray<BoxRow>, unit: string, width: number): Chart => {
  const narrow = isNarrow(width)
  const names = rows.map(({ name }) => cut(name, narrow ? 32 : 26))
  const texts = rows.map(({ text }) => text)
  const rowHeight = narrow ? 48 : 36
  const height = rows.length * rowHeight + 58
  const scale = scaleOf(
    rows.flatMap(({ max, min }) => [min, max]),
    narrow ? 4 : 8
  )
  return {
    width,
    height,
    option: {
      grid: {
        left: narrow ? 12 : besideWidth(names),
        right: narrow ? 18 : Math.max(60, ...texts.map((text) => textWidth(text) + 16)),
        top: 18,
        bottom: 40
      },
      xAxis: valueAxis(scale, unit),
      yAxis: [
        nameAxis(narrow ? names.map((name, i) => `${name}   ${texts[i] ?? ""}`) : names, width, rowHeight),
        {
          show: !narrow,
          type: "category",
          inverse: true,
          position: "right",
          data: texts,
          name: "median",
          nameLocation: "start",
          nameGap: 6,
          nameTextStyle: { ...small, align: "left", padding: [0, 0, 0, 8] },
          axisLine: { show: false },
          axisTick: { show: false },
          axisLabel: { interval: 0, fontSize: fontSize + 1, color: paint.text, margin: 10 }
        }
      ],
      series: [
        {
          type: "boxplot",
          silent: true,
          boxWidth: [12, 16],
          itemStyle: { color: paint.soft, borderColor: paint.accent, borderWidth: 1.5 },
          data: rows.map(({ median, min, p95, q1, q3 }) => [min, q1, median, q3, p95])
        },
        {
          type: "scatter",
          silent: true,
          symbolSize: 6,
          itemStyle: { color: paint.surface, borderColor: paint.accent, borderWidth: 1.5, opacity: 1 },
          data: rows.map(({ p99 }, i) => [p99, i])
        },
        {
          type: "scatter",
          silent: true,
          symbolSize: 5,
          itemStyle: { color: paint.accent, opacity: 1 },
          data: rows.map(({ max }, i) => [max, i])
        }
      ]
    }
  }
}
