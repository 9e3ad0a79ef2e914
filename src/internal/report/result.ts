/** The first section of the page: who is best, and what to know about it. */
import type { Verdict } from "../../Gates.js"
import type { ParticipantAnalysis, RunAnalysis } from "../analysis/model.js"
import { captionOf, details, measured, scroll } from "./elements.js"
import type { Markup } from "./markup.js"
import { markup, nothing } from "./markup.js"
import { duration, figure, percent } from "./numbers.js"
import { plain } from "./plainText.js"
import { cellText, hasFewMark, rankingTable } from "./tables.js"
import { countsOf, fewNote, levels, rankedBy, rankText, verdictOf } from "./words.js"

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
  const view = rankingTable(analysis)
  const caption = `Ranked by ${rankedBy(analysis)}`
  const [, , ...columns] = view.columns
  const row = (participant: ParticipantAnalysis, i: number): Markup => {
    const [name = "", , ...cells] = view.rows[i] ?? []
    return markup`<tr><td class="rank right">${rankText(participant)}</td><th scope="row"><bdi>${cellText(name)}</bdi>${
      participant.skipped ? markup`<span class="range">skipped</span>` : nothing
    }</th>${cells.map(
      (cell, place) =>
        markup`<td class="right">${columns[place]?.title === "score" ? barOf(participant) : nothing}${measured(cell)}</td>`
    )}</tr>`
  }
  const notes = [
    ...levels(analysis).map((level) => `In brackets: ${percent(level)} confidence intervals.`),
    ...(analysis.participants.some(({ tied }) => tied) ? ["= Shared rank: these samples do not tell them apart."] : []),
    ...(hasFewMark([view]) ? [fewNote] : [])
  ]
  return markup`${captionOf(caption)}${scroll(
    caption,
    markup`<table class="ranking"><caption>${caption}</caption><thead><tr><th scope="col" class="right">rank</th><th scope="col">participant</th>${columns.map(
      ({ title }) => markup`<th scope="col" class="right">${title}</th>`
    )}</tr></thead><tbody>${analysis.participants.map(row)}</tbody></table>`
  )}<p class="note">${notes.join(" ")}</p>`
}

const barOf = ({ score, skipped }: ParticipantAnalysis): Markup => {
  if (skipped || score === undefined) return nothing
  const width = Math.min(100, Math.max(0, score)).toFixed(1)
  return markup`<span class="bar" aria-hidden="true"><span style="width:${width}%"></span></span>`
}

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
    .map(
      item
    )}</ul>${more.length === 0 ? nothing : details(`${figure(more.length)} more`, markup`<ul>${more.map(item)}</ul>`)}</aside>`
}
