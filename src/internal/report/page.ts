/** A run as one page of HTML that needs nothing else: no script, no request. */
import type { Verdict } from "../../Gates.js"
import type { RunAnalysis } from "../analysis/model.js"
import { boxes, boxLegend } from "../charts/boxes.js"
import { cumulative, dashes } from "../charts/cumulative.js"
import { seriesColour } from "../charts/palette.js"
import { stacks } from "../charts/stacks.js"
import { maxDots, timeline } from "../charts/timeline.js"
import type { Draw, Section } from "./elements.js"
import { areaSwatch, details, facts, figure, legend, lineSwatch, list, section, table } from "./elements.js"
import type { Markup } from "./markup.js"
import { markup, nothing, raw } from "./markup.js"
import type { Measure } from "./measures.js"
import { defaultMeasure, hasSamples, measuresOf } from "./measures.js"
import { figure as number, moment, plural } from "./numbers.js"
import { plain } from "./plainText.js"
import { result } from "./result.js"
import { boxRows, breakdownOf, cumulativeLines, timelineOf } from "./series.js"
import { style } from "./style.js"
import {
  environmentOf,
  failureTable,
  groupTable,
  hasFewMark,
  metricTable,
  quarterTable,
  scoreTable,
  stepTable
} from "./tables.js"
import { countsOf, factsOf, failureText, fewNote, methodOf, scoringRules, statusText, titleOf } from "./words.js"

export interface PageOptions {
  readonly generatedAt: string | undefined
  readonly gates: ReadonlyArray<Verdict>
  readonly draw: Draw
}

export const page = (analysis: RunAnalysis, options: PageOptions): string => {
  const title = titleOf(analysis)
  const measures = measuresOf(analysis).filter(({ info }) => hasSamples(analysis, info.key))
  const sections = [
    distributions(analysis, measures, options.draw),
    overTime(analysis, options.draw),
    steps(analysis, options.draw),
    score(analysis),
    failures(analysis),
    statistics(analysis, measures),
    environment(analysis),
    { id: "method", title: "How this was computed", body: list(methodOf(analysis)) }
  ].filter((one): one is Section => one !== undefined)
  const generated = options.generatedAt === undefined ? "" : `, made ${moment(plain(options.generatedAt, 40))}`
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}: benchmark report</title>
<style>${raw(style)}</style>
</head>
<body>
<a class="skip" href="#result">Skip to the result</a>
<div class="page">
<header><h1><bdi>${title}</bdi></h1><p class="muted"><bdi>${headLine(analysis)}</bdi></p><nav aria-label="Sections"><ul>${sections.map(
    ({ id, title: name }) => markup`<li><a href="#${id}">${name}</a></li>`
  )}</ul></nav></header>
<main>
${result(analysis, options.gates)}
${sections.map((one) => markup`${section(one)}\n`)}</main>
<footer class="muted">Report of run <bdi>${plain(analysis.run.id, 80)}</bdi>${generated}.</footer>
</div>
</body>
</html>
`.text
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const headLine = (analysis: RunAnalysis): string =>
  [
    plain(analysis.benchmark.slug, 120),
    `run ${plain(analysis.run.id, 80).slice(0, 8)}`,
    ...(analysis.startedAt === undefined ? [] : [moment(plain(analysis.startedAt, 40))]),
    statusText(analysis)
  ].join(" · ")

/** Charts beyond so many are left out; their numbers are not. */
const maxCharts = 12

const anchorOf = (measures: ReadonlyArray<Measure>, { info }: Measure): string =>
  `statistics-${measures.findIndex((one) => one.info.key === info.key) + 1}`

const distributions = (analysis: RunAnalysis, measures: ReadonlyArray<Measure>, draw: Draw): Section | undefined => {
  const shown = measures.filter(({ info }) => info.kind !== "step")
  if (shown.length === 0) return undefined
  const charts = shown.slice(0, maxCharts).map((measure, i) => {
    const rows = boxRows(analysis, measure)
    const label = `Box plot of ${measure.title}. ${rows
      .slice(0, 12)
      .map(({ max, min, name, text }) => `${name}: median ${text}, from ${measure.show(min)} to ${measure.show(max)}.`)
      .join(" ")}`
    return markup`<h3>${measure.title}</h3>${figure({
      id: `boxes-${i + 1}`,
      label,
      draw,
      chart: (width) => boxes(rows, measure.unit, width),
      caption: markup`${i === 0 ? `${boxLegend} ` : ""}<a href="#${anchorOf(measures, measure)}">All numbers of ${measure.label}</a>`
    })}${i === 0 ? whole(analysis, measure, anchorOf(measures, measure), draw) : nothing}`
  })
  const more = shown.length - charts.length
  return {
    id: "distributions",
    title: "Distributions",
    body: markup`${charts}${more > 0 ? markup`<p class="note">${plural(more, "more metric")} below, in the statistics.</p>` : nothing}`
  }
}

const whole = (analysis: RunAnalysis, measure: Measure, anchor: string, draw: Draw): Markup => {
  const lines = cumulativeLines(analysis, measure)
  if (lines.length === 0) return nothing
  const all = boxRows(analysis, measure).length
  return figure({
    id: "cumulative",
    label: `Cumulative distribution of ${measure.title}: for each participant, the fraction of samples that are not greater than each value.`,
    draw,
    chart: (width) =>
      cumulative(
        lines.map(({ points }) => points),
        measure.unit,
        width
      ),
    legend: legend(
      lines.map(({ name }, i) => ({ name, swatch: lineSwatch(seriesColour(i), dashes[i % dashes.length] ?? []) }))
    ),
    caption: markup`How many of the samples are no greater than each value: a line further left has smaller ones, a steeper one varies less, and a step is a value that keeps coming back.${
      all > lines.length ? ` The first ${number(lines.length)} of ${number(all)} participants.` : ""
    } <a href="#${anchor}">All numbers of ${measure.label}</a>`
  })
}

const overTime = (analysis: RunAnalysis, draw: Draw): Section | undefined => {
  const measure = defaultMeasure(analysis)
  const found = measure === undefined ? undefined : timelineOf(analysis, measure)
  if (measure === undefined || found === undefined) return undefined
  const { more, rows, unit } = found
  const many = rows.some(({ samples }) => samples.length > maxDots)
  const failed = rows.some(({ failures }) => failures.length > 0)
  const phases = rows.some((row) => row.phases.length > 0)
  const caption = [
    many
      ? `Dots are samples; where a participant has more than ${number(maxDots)}, the area reaches from the least to the greatest of those that share a place, and the line is their median.`
      : "Dots are samples.",
    ...(failed ? ["Crosses above: tasks that failed."] : []),
    ...(phases ? ["Dashed lines: where a phase begins."] : []),
    ...(more > 0 ? [`The first ${number(rows.length)} participants; ${number(more)} more are not drawn.`] : [])
  ]
  const numbers = quarterTable(analysis, measure)
  return {
    id: "over-time",
    title: "Over time",
    body: markup`<h3>${measure.title}</h3>${figure({
      id: "timeline",
      label: `${measure.title} over time, one panel per participant. ${failureText(analysis)}`,
      draw,
      chart: (width) => timeline(rows, unit, width),
      caption: caption.join(" ")
    })}${details("Numbers over time", table(numbers))}`
  }
}

const steps = (analysis: RunAnalysis, draw: Draw): Section | undefined => {
  const breakdown = breakdownOf(analysis)
  const numbers = stepTable(analysis)
  if (breakdown === undefined || numbers === undefined) return undefined
  const { parts, rows } = breakdown
  return {
    id: "steps",
    title: "Steps",
    body: markup`${figure({
      id: "steps-chart",
      label: `Median milliseconds of each step, stacked, one bar per participant: ${parts.join(", ")}.`,
      draw,
      chart: (width) => stacks(rows, "ms", width),
      legend: legend(parts.map((name, i) => ({ name, swatch: areaSwatch(seriesColour(i)) }))),
      caption:
        "The median of each step, one after another. Medians do not add up exactly to the median of the whole task."
    })}${table(numbers)}${few([numbers])}`
  }
}

const score = (analysis: RunAnalysis): Section | undefined => {
  const parts = scoreTable(analysis)
  const groups = groupTable(analysis)
  if (parts === undefined && groups === undefined) return undefined
  const totals = new Set(parts?.rows.flatMap(([, statistic], i) => (statistic === "composite score" ? [i] : [])))
  return {
    id: "score",
    title: "How the score is made",
    body: markup`${list(scoringRules(analysis))}${
      parts === undefined ? nothing : table(parts, { sum: (row) => totals.has(row) })
    }${groups === undefined ? nothing : table(groups)}`
  }
}

const failures = (analysis: RunAnalysis): Section => {
  const found = failureTable(analysis)
  return {
    id: "failures",
    title: "Failures",
    body: markup`<p>${failureText(analysis)}</p>${found === undefined ? nothing : table(found, { long: "first message" })}`
  }
}

/** Rows of statistics that the page holds at most; a metric is never cut in half. */
const maxRows = 1000

const statistics = (analysis: RunAnalysis, measures: ReadonlyArray<Measure>): Section | undefined => {
  if (measures.length === 0) return undefined
  const shown = Math.max(1, Math.floor(maxRows / Math.max(1, countsOf(analysis).ran.length)))
  const tables = measures.slice(0, shown).map((measure) => ({ measure, view: metricTable(analysis, measure) }))
  const more = measures.length - tables.length
  return {
    id: "statistics",
    title: "Statistics",
    body: markup`<p class="note">Of all samples, untrimmed.${
      hasFewMark(tables.map(({ view }) => view)) ? ` ${fewNote}` : ""
    }</p>${tables.map(
      ({ measure, view }) =>
        markup`<h3 id="${anchorOf(measures, measure)}">${measure.title}</h3>${table(view, { titled: true, dense: true })}`
    )}${more > 0 ? markup`<p class="note">${plural(more, "more metric")}: see the report as JSON or CSV.</p>` : nothing}`
  }
}

const environment = (analysis: RunAnalysis): Section => ({
  id: "environment",
  title: "Run and environment",
  body: facts([...factsOf(analysis), ...environmentOf(analysis)])
})

const few = (tables: Parameters<typeof hasFewMark>[0]): Markup =>
  hasFewMark(tables) ? markup`<p class="note">${fewNote}</p>` : nothing
