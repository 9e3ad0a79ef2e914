/**
 * Draws charts as SVG. Loads the chart library, so this module is only imported when a chart is drawn; in the published
 * package the library is part of it.
 */
import type { BarSeriesOption, BoxplotSeriesOption, LineSeriesOption, ScatterSeriesOption } from "echarts/charts"
import type { CustomSeriesOption } from "echarts/charts"
import { BarChart, BoxplotChart, CustomChart, LineChart, ScatterChart } from "echarts/charts"
import type { GridComponentOption } from "echarts/components"
import { GridComponent, MarkLineComponent } from "echarts/components"
import type { ComposeOption } from "echarts/core"
import { init, use } from "echarts/core"
import { SVGRenderer } from "echarts/renderers"
import { normalised } from "./svg.js"

export type ChartOption = ComposeOption<
  | BarSeriesOption
  | BoxplotSeriesOption
  | CustomSeriesOption
  | GridComponentOption
  | LineSeriesOption
  | ScatterSeriesOption
>

/** What there is to draw, in units of the page. */
export interface Chart {
  readonly width: number
  readonly height: number
  readonly option: ChartOption
}

use([BarChart, BoxplotChart, CustomChart, GridComponent, LineChart, MarkLineComponent, ScatterChart, SVGRenderer])

/** The same chart and id give the same text. Ids in it begin with `id`, which is unique in the page. */
export const draw = ({ height, option, width }: Chart, id: string): string => {
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height })
  try {
    chart.setOption({ animation: false, textStyle: { fontFamily: "inherit" }, ...option })
    return normalised(chart.renderToSVGString({ useViewBox: true }), id)
  } finally {
    chart.dispose()
  }
}
