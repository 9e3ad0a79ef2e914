/** Parts that the page is made of. */
import type { Chart } from "../charts/engine.js"
import type { Content, Markup } from "./markup.js"
import { markup, nothing, raw } from "./markup.js"
import type { Cell, TableView } from "./tables.js"
import { cellText } from "./tables.js"
import { fewMark } from "./words.js"

/** Draws a chart as SVG whose ids begin with the given text. */
export type Draw = (chart: Chart, id: string) => string

export interface Section {
  readonly id: string
  readonly title: string
  readonly body: Content
}

export const section = ({ body, id, title }: Section): Markup =>
  markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${body}</section>`

export const table = (
  view: TableView,
  options: {
    /** Title of the column that has the longest text. */
    readonly long?: string
    readonly sum?: (row: number) => boolean
    /** Whether a heading says already what the caption says. */
    readonly titled?: boolean
    /** Whether it has so many columns that they stand close. */
    readonly dense?: boolean
  } = {}
): Markup => {
  const row = (cells: ReadonlyArray<Cell>, i: number): Markup => {
    const again = cells[0] === view.rows[i - 1]?.[0]
    const sum = options.sum?.(i) === true
    return markup`<tr${classOf([again && "again", sum && "sum"])}>${cells.map((cell, place) => {
      const { align, title } = view.columns[place] ?? {}
      if (place === 0) return markup`<th scope="row">${apart(cell)}</th>`
      if (align === "right") return markup`<td class="right">${measured(cell)}</td>`
      return markup`<td${classOf([title !== undefined && title === options.long && "long"])}>${apart(cell)}</td>`
    })}</tr>`
  }
  return markup`${options.titled === true ? nothing : captionOf(view.caption)}${scroll(
    view.caption,
    markup`<table${classOf([options.dense === true && "dense"])}><caption>${view.caption}</caption><thead><tr>${view.columns.map(
      ({ align, title }) => markup`<th scope="col"${classOf([align === "right" && "right"])}>${title}</th>`
    )}</tr></thead><tbody>${view.rows.map(row)}</tbody></table>`
  )}`
}

/** The caption where it is seen: that of the table itself would move with the table. */
export const captionOf = (text: string): Markup => markup`<p class="caption" aria-hidden="true">${text}</p>`

/** A number; what marks it does not move its digits, and its interval stands below. */
export const measured = (cell: Cell): Markup => {
  const { interval, value } = typeof cell === "string" ? { interval: "", value: cell } : cell
  const [number, mark] = value.endsWith(fewMark) ? [value.slice(0, -fewMark.length), fewMark] : [value, ""]
  return markup`${number}${mark === "" ? nothing : markup`<span class="mark">${mark}</span>`}${
    interval === "" ? nothing : markup`<span class="range">${interval}</span>`
  }`
}

/** What is wider than the page is moved by itself, with the keyboard too. */
export const scroll = (label: string, content: Markup): Markup =>
  markup`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${content}</div>`

const widths = { wide: 960, narrow: 340 }

/** A chart twice, for pages wide and narrow. `label` says in words what it shows. */
export const figure = (options: {
  readonly id: string
  readonly label: string
  readonly draw: Draw
  readonly chart: (width: number) => Chart
  readonly legend?: Markup
  readonly caption: Content
}): Markup => {
  const { caption, chart, draw, id, label, legend } = options
  const drawn = (size: "wide" | "narrow"): Markup =>
    markup`<div class="${size}">${raw(draw(chart(widths[size]), `${id}-${size}`))}</div>`
  return markup`<figure>${legend}<div role="img" aria-label="${label}">${drawn("wide")}${drawn("narrow")}</div><figcaption>${caption}</figcaption></figure>`
}

export const legend = (entries: ReadonlyArray<{ readonly name: string; readonly swatch: Markup }>): Markup =>
  markup`<ul class="legend">${entries.map(({ name, swatch }) => markup`<li>${swatch}<bdi>${name}</bdi></li>`)}</ul>`

/** As the lines of a chart are stroked. */
export const lineSwatch = (colour: string, dash: ReadonlyArray<number>): Markup =>
  markup`<svg viewBox="0 0 28 12" aria-hidden="true" focusable="false"><line x1="0" y1="6" x2="28" y2="6" stroke="${colour}" stroke-width="2.5"${
    dash.length === 0 ? nothing : markup` stroke-dasharray="${dash.join(" ")}"`
  }></line></svg>`

export const areaSwatch = (colour: string): Markup =>
  markup`<svg viewBox="0 0 28 12" aria-hidden="true" focusable="false"><rect width="28" height="12" fill="${colour}"></rect></svg>`

export const list = (items: ReadonlyArray<Content>): Markup =>
  markup`<ul class="plain">${items.map((item) => markup`<li>${item}</li>`)}</ul>`

export const details = (summary: string, content: Content): Markup =>
  markup`<details><summary>${summary}</summary>${content}</details>`

export const facts = (entries: ReadonlyArray<readonly [name: string, value: string]>): Markup =>
  markup`<dl class="facts">${entries.map(([name, value]) => markup`<dt>${name}</dt><dd><bdi>${value}</bdi></dd>`)}</dl>`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const classOf = (names: ReadonlyArray<string | false | undefined>): Markup => {
  const all = names.filter((name) => typeof name === "string").join(" ")
  return all === "" ? nothing : markup` class="${all}"`
}

/** Text whose direction does not change that of what is around it. */
const apart = (cell: Cell): Markup => markup`<bdi>${cellText(cell)}</bdi>`
