/** Parts that the page is made of. */
import type { Chart } from "../charts/engine.js"
import type { Content, Markup } from "./markup.js"
import { markup, nothing, raw } from "./markup.js"
import type { TableView } from "./tables.js"

/** Draws a chart as SVG whose ids begin with the given text. */
export type Draw = (chart: Chart, id: string) => string

export interface Section {
  readonly id: string
  readonly title: string
  readonly body: Content
}

export const section = ({ body, id, title }: Section): Markup =>
  markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${body}</section>`

export const table = (view: TableView, options: { readonly long?: string; readonly sum?: (row: number) => boolean } = {}): Markup =>
  scroll(
    view.caption,
    markup`<table><caption>${view.caption}</caption><thead><tr>${view.columns.map(
      ({ align, title }) => markup`<th scope="col"${align === "right" ? rightClass : nothing}>${title}</th>`
    )}</tr></thead><tbody>${view.rows.map(
      (row, i) =>
        markup`<tr${options.sum?.(i) === true ? markup` class="sum"` : nothing}>${row.map((cell, place) => {
          const column = view.columns[place]
          if (place === 0) return markup`<th scope="row"><bdi>${cell}</bdi></th>`
          if (column?.align === "right") return markup`<td class="right">${cell}</td>`
          return column?.title === options.long
            ? markup`<td class="long"><bdi>${cell}</bdi></td>`
            : markup`<td><bdi>${cell}</bdi></td>`
        })}</tr>`
    )}</tbody></table>`
  )

/** What is wider than the page is moved by itself, with the keyboard too. */
export const scroll = (label: string, content: Markup): Markup =>
  markup`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${content}</div>`

const widths = { wide: 880, narrow: 340 }

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

export const legend = (
  entries: ReadonlyArray<{ readonly name: string; readonly swatch: Markup }>
): Markup =>
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

const rightClass = raw(' class="right"')
