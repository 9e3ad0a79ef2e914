/**
 * Text for terminals: names and messages come from users and providers, so nothing in them may move the cursor, change
 * colours, or break a line of a table.
 */
import { stripVTControlCharacters } from "node:util"
import Table from "cli-table3"

/** One line without control characters: escape sequences are removed, line breaks and tabs become spaces. */
export const oneLine = (text: string): string =>
  clean(stripVTControlCharacters(text).replace(/[\r\n\t\u2028\u2029]+/g, " "))

/** Like {@link oneLine} for text of several lines, which keeps its line breaks and tabs. */
export const lines = (text: string): string => clean(stripVTControlCharacters(text).replace(/\r\n/g, "\n"))

// Besides what moves the cursor, what changes the direction of writing.
const clean = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd")

/** Shortens to so many UTF-16 units, marking what was cut; no character is cut in half. */
export const truncate = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`

export interface Column {
  readonly title: string
  /** Default left. */
  readonly align?: "left" | "right"
}

const bare = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  "
}

/** A table without rules, columns two spaces apart; every cell is cleaned with {@link oneLine}. */
export const table = (columns: ReadonlyArray<Column>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const grid = new Table({
    head: columns.map(({ title }) => oneLine(title)),
    colAligns: columns.map(({ align }) => align ?? "left"),
    chars: bare,
    style: { head: [], border: [], compact: true, "padding-left": 0, "padding-right": 0 }
  })
  for (const row of rows) grid.push(row.map(oneLine))
  return grid
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
}

/** What stands for a number that there is not. */
export const absent = "–"

/** A number for reading: three significant digits or more where there are as many, no integer digit lost. */
export const number = (value: number, decimals?: number): string => {
  if (!Number.isFinite(value)) return absent
  if (decimals !== undefined) return value.toFixed(Math.min(decimals, 20))
  const size = Math.abs(value)
  if (size >= 1000 || Number.isInteger(value)) return value.toFixed(0)
  if (size >= 100) return value.toFixed(1)
  if (size >= 10) return value.toFixed(2)
  return size >= 0.1 ? value.toFixed(3) : String(Number(value.toPrecision(3)))
}

/** In tenths of a percent; what is not quite nothing or not quite all does not look like it. */
export const percent = (fraction: number): string => {
  if (!Number.isFinite(fraction)) return absent
  if (fraction > 0 && fraction < 0.001) return "< 0.1 %"
  if (fraction < 1 && fraction > 0.999) return "> 99.9 %"
  return `${Number((fraction * 100).toFixed(1))} %`
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
