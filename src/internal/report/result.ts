/** The first section of the page: who is best, and what to know about it. */
import type { Verdict } from "../../Gates.js"
import type { ParticipantAnalysis, RunAnalysis } from "../analysis/model.js"
import { details, scroll } from "./elements.js"
import type { Markup } from "./markup.js"
import { markup, nothing } from "./markup.js"
import { defaultMeasure, distributionOf } from "./measures.js"
import { duration, figure, percent } from "./numbers.js"
import { nameText, plain } from "./plainText.js"
import { hasFewMark, rankingTable } from "./tables.js"
import { countsOf, fewNote, rankedBy, rankText, scoreText, verdictOf } from "./words.js"

export const result = (analysis: RunAnalysis, gates: ReadonlyArray<Verdict>): Markup =>
  markup`<section class="first" aria-labelledby="result"><h2 class="verdict" id="result"><bdi>${verdictOf(
    analysis
  )}</bdi></h2>${numbers(analysis)}${ranking(analysis)}${gateList(gates)}${warnings(analysis)}</section>`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const numbers = (analysis: RunAnalysis): Markup => {
  const { passed, ran, skipped, tasks } = countsOf(analysis)
  const spans = ran.flatMap(({ elapsedMs }) => (elapsedMs === undefined ? [] : [elapsedMs]))
  const whole = elapsed(analysis)
  const entries: ReadonlyArray<readonly [name: string, value: string]> = [
    [skipped === 0 ? "participants" : `participants, ${figure(skipped)} skipped`, figure(ran.length)],
    ["tasks", figure(tasks)],
    ["success", percent(tasks === 0 ? undefined : passed / tasks)],
    ...(whole !== undefined
      ? [["from first to last", duration(whole)] as const]
      : spans.length > 0
        ? [["longest participant", duration(Math.max(...spans))] as const]
        : [])
  ]
  return markup`<dl class="numbers">${entries.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

const elapsed = ({ completedAt, startedAt }: RunAnalysis): number | undefined => {
  const span = Date.parse(completedAt ?? "") - Date.parse(startedAt ?? "")
  return Number.isFinite(span) && span >= 0 ? span : undefined
}

const ranking = (analysis: RunAnalysis): Markup => {
  const measure = defaultMeasure(analysis)
  const scored = analysis.participants.some(({ score }) => score !== undefined)
  const table = rankingTable(analysis)
  const place = (title: string): number => table.columns.findIndex((column) => column.title === title)
  const cells = (row: number, title: string): string => table.rows[row]?.[place(title)] ?? ""
  const right = (title: string): Markup => markup`<th scope="col" class="right">${title}</th>`
  const row = (participant: ParticipantAnalysis, i: number): Markup => {
    const { interval, show } = measure ?? {}
    const distribution = measure === undefined ? undefined : distributionOf(participant, measure.info.key)
    return markup`<tr><td class="rank right">${participant.skipped ? "–" : rankText(participant)}</td><th scope="row"><bdi>${nameText(
      participant.name
    )}</bdi>${participant.skipped ? markup`<span class="range">skipped</span>` : nothing}</th>${
      scored ? scoreCell(participant) : nothing
    }${
      show === undefined || interval === undefined
        ? nothing
        : markup`<td class="right">${show(distribution?.median)}${range(interval(distribution?.medianInterval))}</td><td class="right">${cells(i, "p95")}</td><td class="right">${cells(i, "p99")}</td>`
    }<td class="right">${cells(i, "success")}</td><td class="right">${cells(i, "tasks")}</td><td class="right">${cells(i, "tasks/s")}</td></tr>`
  }
  const few = hasFewMark([table]) ? ` ${fewNote}` : ""
  return markup`${scroll(
    table.caption,
    markup`<table class="ranking"><caption>${table.caption}: ranked by ${rankedBy(analysis)}</caption><thead><tr><th scope="col" class="right"><abbr title="rank">#</abbr></th><th scope="col">participant</th>${
      scored ? right("score") : nothing
    }${measure === undefined ? nothing : markup`${right(`${measure.title} median`)}${right("p95")}${right("p99")}`}${right("success")}${right("tasks")}${right(
      "tasks/s"
    )}</tr></thead><tbody>${analysis.participants.map(row)}</tbody></table>`
  )}<p class="note">${
    analysis.participants.some(({ tied }) => tied) ? "= Shared: these samples do not tell them apart. " : ""
  }In brackets: where the number would be found again, at the confidence level below.${few}</p>`
}

const scoreCell = (participant: ParticipantAnalysis): Markup => {
  const { score, scoreInterval, skipped } = participant
  if (skipped || score === undefined) return markup`<td class="right">–</td>`
  const width = Math.min(100, Math.max(0, score)).toFixed(1)
  return markup`<td class="right"><span class="score"><span class="bar" aria-hidden="true"><span style="width:${width}%"></span></span>${scoreText(
    score
  )}</span>${range(
    scoreInterval === undefined ? "" : `[${scoreText(scoreInterval.low)}, ${scoreText(scoreInterval.high)}]`
  )}</td>`
}

const range = (text: string): Markup => (text === "" ? nothing : markup`<span class="range">${text}</span>`)

const gateList = (gates: ReadonlyArray<Verdict>): Markup =>
  gates.length === 0
    ? nothing
    : markup`<h3 id="gates">Gates: ${
        gates.every(({ passed }) => passed)
          ? "all kept"
          : `${figure(gates.filter(({ passed }) => !passed).length)} of ${figure(gates.length)} violated`
      }</h3><ul class="gates">${gates.map(
        ({ passed, text }) =>
          markup`<li><strong class="${passed ? "ok" : "bad"}">${passed ? "✓ kept" : "✗ violated"}</strong> <bdi>${plain(text, 400)}</bdi></li>`
      )}</ul>`

/** More warnings than these are folded away. */
const shownWarnings = 6

const warnings = ({ warnings }: RunAnalysis): Markup => {
  if (warnings.length === 0) return nothing
  const item = ({ text }: { readonly text: string }): Markup => markup`<li><bdi>${plain(text, 600)}</bdi></li>`
  const more = warnings.slice(shownWarnings)
  return markup`<aside class="notes" aria-labelledby="notes"><h3 id="notes">What to know about these numbers</h3><ul>${warnings
    .slice(0, shownWarnings)
    .map(item)}</ul>${more.length === 0 ? nothing : details(`${figure(more.length)} more`, markup`<ul>${more.map(item)}</ul>`)}</aside>`
}
