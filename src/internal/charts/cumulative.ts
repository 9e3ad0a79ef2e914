/** Distributions whole: which fraction of the samples is no greater than each value. */
import type { Sample } from "./columns.js"
import type { Chart } from "./engine.js"
import { isNarrow, small, valueAxis } from "./layout.js"
import { paint, seriesColour } from "./palette.js"
import { scaleOf } from "./scale.js"

/** Strokes tell lines apart where colours do not. */
export const dashes: ReadonlyArray<ReadonlyArray<number>> = [[], [7, 3], [2, 2.5], [9, 3, 2, 3], [4, 4], [12, 4]]

/** Each line rises from its least value to 1 at its greatest; its place in the list is its colour and stroke. */
export const cumulative = (lines: ReadonlyArray<ReadonlyArray<Sample>>, unit: string, width: number): Chart => {
  const narrow = isNarrow(width)
  const scale = scaleOf(
    lines.flatMap((line) => line.map(({ x }) => x)),
    narrow ? 4 : 8
  )
  return {
    width,
    height: narrow ? 240 : 300,
    option: {
      grid: { left: 46, right: 18, top: 12, bottom: 42 },
      xAxis: valueAxis(scale, unit),
      yAxis: {
        type: "value",
        min: 0,
        max: 1,
        interval: 0.25,
        axisLine: { show: false },
        axisTick: { show: false },
        axisLabel: { ...small, formatter: (value: number) => `${Math.round(value * 100)} %` },
        splitLine: { lineStyle: { color: paint.rule } }
      },
      series: lines.map((line, i) => ({
        type: "line" as const,
        silent: true,
        step: "end" as const,
        symbol: "none",
        clip: false,
        lineStyle: {
          color: seriesColour(i),
          width: 2,
          type: [...(dashes[i % dashes.length] ?? [])],
          cap: "butt" as const
        },
        data: [[line[0]?.x ?? 0, 0], ...line.map(({ x, y }) => [x, y])]
      }))
    }
  }
}
