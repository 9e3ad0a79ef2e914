/**
 * Text for terminals: names and messages come from users and providers, so nothing in them may move the cursor, change
 * colours, or break a line of a table.
 */
import { stripVTControlCharacters } from "node:util"
import stringWidth from "string-width"

/** One line without control characters: escape sequences are removed, line breaks and tabs become spaces. */
export const oneLine = (text: string): string =>
  clean(stripVTControlCharacters(text).replace(/[\r\n\t\u2028\u2029]+/g, " "))

/** Like {@link oneLine} for text of several lines, which keeps its line breaks and tabs. */
export const lines = (text: string): string => clean(stripVTControlCharacters(text).replace(/\r\n/g, "\n"))

// Besides what moves the cursor, what changes the direction of writing, and halves of characters.
const clean = (text: string): string =>
  text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu,
    "\ufffd"
  )

/** Shortens to so many UTF-16 units, marking what was cut; no character is cut in half. */
export const truncate = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`

/** Columns that a text takes in a terminal. */
export const widthOf = (text: string): number => stringWidth(text)

/** Shortens to so many columns of a terminal, marking what was cut. Expects one line. */
export const fit = (text: string, columns: number, mark = "…"): string => {
  // What takes no column still takes memory and time: there is an end to it.
  const longest = 8 * columns
  if (text.length <= longest && widthOf(text) <= columns) return text
  const room = Math.max(0, columns - widthOf(mark))
  let kept = ""
  let width = 0
  for (const { segment } of graphemes.segment(text.slice(0, 2 * longest))) {
    width += widthOf(segment)
    if (width > room || kept.length + segment.length > longest) break
    kept += segment
  }
  return kept + mark
}

/**
 * Breaks a line between words, and within those that have no room on a line of their own, so that none is wider than
 * `columns`. It begins with `first`, further lines with `rest`.
 */
export const wrap = (text: string, columns: number | undefined, first = "", rest = first): string => {
  if (columns === undefined) return first + text
  const broken: Array<string> = []
  let start = first
  let line = ""
  for (const word of text.split(" ").flatMap((word) => pieces(word, columns - widthOf(rest)))) {
    const longer = line === "" ? word : `${line} ${word}`
    if (line !== "" && widthOf(start) + widthOf(longer) > columns) {
      broken.push(start + line)
      start = rest
      line = word
    } else {
      line = longer
    }
  }
  return [...broken, start + line].join("\n")
}

/** A word in parts that have room. */
const pieces = (word: string, columns: number): ReadonlyArray<string> => {
  if (widthOf(word) <= columns) return [word]
  const parts: Array<string> = []
  let part = ""
  for (const { segment } of graphemes.segment(word)) {
    if (part !== "" && widthOf(part + segment) > columns) {
      parts.push(part)
      part = ""
    }
    part += segment
  }
  return [...parts, part]
}

export interface Column {
  readonly title: string
  /** Default left. */
  readonly align?: "left" | "right"
  /** Repeated when a table is too wide and continues below. Default false. */
  readonly key?: boolean
  /** Whether its text may be cut when a table is too wide. Default false. */
  readonly cut?: boolean
  /** Colours a cell, which has its width already. */
  readonly paint?: (text: string, row: number) => string
}

export interface TableOptions {
  /** Columns of the terminal. Default: as many as it takes. */
  readonly columns?: number | undefined
  readonly paintTitle?: ((text: string) => string) | undefined
  /** Stands where text was cut. */
  readonly mark?: string | undefined
}

/**
 * A table without rules, columns two spaces apart; every cell is cleaned with {@link oneLine}. One that is too wide is made
 * narrower where text may be cut, and else continues below.
 */
export const table = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  options: TableOptions = {}
): string => {
  const cells = rows.map((row) => row.map((cell) => oneLine(cell.slice(0, longestCell))))
  const titles = columns.map(({ title }) => oneLine(title))
  const natural = titles.map((title, i) => Math.max(widthOf(title), ...cells.map((row) => widthOf(row[i] ?? ""))))
  const widths = narrowed(columns, natural, options.columns)
  const line = (of: ReadonlyArray<string>, shown: ReadonlyArray<number>, row: number | undefined): string =>
    shown
      .map((i, place) => {
        const { align, cut, paint } = columns[i] ?? {}
        const width = widths[i] ?? 0
        const text = cut === true ? fit(of[i] ?? "", width, options.mark) : (of[i] ?? "")
        const isLast = place === shown.length - 1 && align !== "right"
        const padded = isLast ? text : pad(text, width, align ?? "left")
        return row === undefined ? (options.paintTitle?.(padded) ?? padded) : (paint?.(padded, row) ?? padded)
      })
      .join(gap)
      .trimEnd()
  return portions(columns, widths, options.columns)
    .map((shown) => [line(titles, shown, undefined), ...cells.map((row, i) => line(row, shown, i))].join("\n"))
    .join("\n\n")
}

const graphemes = new Intl.Segmenter()

const gap = "  "

/** Units of UTF-16: no cell can be read that is longer. */
const longestCell = 4096

/** What is left of a text that is cut, at least; and what is kept of one when nothing says how wide a table may be. */
const cutTo = { narrowest: 12, widest: 60 }

const pad = (text: string, width: number, align: "left" | "right"): string => {
  const blanks = " ".repeat(Math.max(0, width - widthOf(text)))
  return align === "right" ? blanks + text : text + blanks
}

const totalOf = (widths: ReadonlyArray<number>): number =>
  widths.reduce((sum, width) => sum + width, 0) + gap.length * Math.max(0, widths.length - 1)

/** The widest of the columns that may be cut gives way, column by column. */
const narrowed = (
  columns: ReadonlyArray<Column>,
  natural: ReadonlyArray<number>,
  available: number | undefined
): ReadonlyArray<number> => {
  const widths = natural.map((width, i) => (columns[i]?.cut === true ? Math.min(width, cutTo.widest) : width))
  if (available === undefined) return widths
  for (let excess = totalOf(widths) - available; excess > 0; excess--) {
    const widest = columns.reduce<number | undefined>(
      (best, { cut }, i) =>
        cut === true && (widths[i] ?? 0) > (best === undefined ? cutTo.narrowest : (widths[best] ?? 0)) ? i : best,
      undefined
    )
    if (widest === undefined) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

/** Which columns stand side by side: as many as fit, with the key columns before them. */
const portions = (
  columns: ReadonlyArray<Column>,
  widths: ReadonlyArray<number>,
  available: number | undefined
): ReadonlyArray<ReadonlyArray<number>> => {
  const all = columns.map((_, i) => i)
  if (available === undefined || totalOf(widths) <= available) return [all]
  const keys = all.filter((i) => columns[i]?.key === true)
  const found: Array<ReadonlyArray<number>> = []
  let shown = keys
  for (const i of all.filter((i) => columns[i]?.key !== true)) {
    const more = [...shown, i]
    if (shown.length > keys.length && totalOf(more.map((at) => widths[at] ?? 0)) > available) {
      found.push(shown)
      shown = [...keys, i]
    } else {
      shown = more
    }
  }
  return [...found, shown]
}

/** What stands for a number that there is not. */
export const absent = "–"

/** A number for reading: three significant digits or more where there are as many, no integer digit lost. */
export const number = (value: number, decimals?: number): string => {
  if (!Number.isFinite(value)) return absent
  if (decimals !== undefined) return withoutSign(value.toFixed(Math.min(decimals, 20)))
  const size = Math.abs(value)
  if (size >= 1000 || Number.isInteger(value)) return value.toFixed(0)
  if (size >= 100) return value.toFixed(1)
  if (size >= 10) return value.toFixed(2)
  return size >= 0.1 ? value.toFixed(3) : String(Number(value.toPrecision(3)))
}

/** What rounds to nothing has no sign. */
const withoutSign = (text: string): string => (/^-[0.]+$/.test(text) ? text.slice(1) : text)

/** In tenths of a percent; what is not quite nothing or not quite all does not look like it. */
export const percent = (fraction: number): string => {
  if (!Number.isFinite(fraction)) return absent
  if (fraction > 0 && fraction < 0.001) return "< 0.1 %"
  if (fraction < 1 && fraction > 0.999) return "> 99.9 %"
  return `${Number((fraction * 100).toFixed(1))} %`
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
