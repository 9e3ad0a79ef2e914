/** Where things are in a chart, and what texts in it look like. */
import { paint } from "./palette.js"
import type { Scale } from "./scale.js"
import { tickText } from "./scale.js"

/** Below this width, names stand above what they name instead of beside it. */
export const isNarrow = (width: number): boolean => width < 520

export const fontSize = 12

export const small = { fontSize, color: paint.muted } as const

/** About as wide as a character of average width. */
const characterWidth = 7.2

export const textWidth = (text: string): number => Array.from(text).length * characterWidth

/** Shortens to so many characters, marking what was cut. */
export const cut = (text: string, length: number): string => {
  const characters = Array.from(text.slice(0, 2 * length + 2))
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`
}

/** The room that names beside an axis take. */
export const besideWidth = (names: ReadonlyArray<string>): number =>
  Math.min(190, Math.max(56, ...names.map((name) => textWidth(name) + 14)))

/** Rows from the top down, each with its name: beside it, or above it where the chart is narrow. */
export const nameAxis = (names: ReadonlyArray<string>, width: number, rowHeight: number) => ({
  type: "category" as const,
  inverse: true,
  data: [...names],
  axisLine: { show: false },
  axisTick: { show: false },
  axisLabel: {
    interval: 0,
    fontSize: fontSize + 1,
    color: paint.text,
    ...(isNarrow(width)
      ? { inside: true, margin: 0, verticalAlign: "bottom" as const, padding: [0, 0, rowHeight / 2 - 11, 0] }
      : { margin: 12 })
  }
})

/** An axis along which values are measured; its name is the unit. */
export const valueAxis = (scale: Scale, name: string) => ({
  type: scale.kind === "log" ? ("log" as const) : ("value" as const),
  min: scale.min,
  max: scale.max,
  name,
  nameLocation: "middle" as const,
  nameGap: 26,
  nameTextStyle: small,
  axisLine: { show: false },
  axisTick: { show: false, customValues: [...scale.ticks] },
  axisLabel: { ...small, customValues: [...scale.ticks], formatter: (value: number) => tickText(value) },
  splitLine: { lineStyle: { color: paint.rule, width: 1 } }
})
