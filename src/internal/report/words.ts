/** What a run found, in sentences. */
import type { ParticipantAnalysis, RunAnalysis } from "../analysis/model.js"
import { defaultMeasure, distributionOf, measuresOf } from "./measures.js"
import { absent, figure, moment, percent, plural } from "./numbers.js"
import { nameText, plain } from "./plainText.js"

/** Decimals of scores, which go from 0 to 100. */
const scoreDecimals = 2

export const scoreText = (score: number | undefined): string => figure(score, scoreDecimals)

export const rankText = ({ rank, tied }: ParticipantAnalysis): string =>
  rank === undefined ? absent : `${tied ? "=" : ""}${figure(rank)}`

export const titleOf = ({ benchmark }: RunAnalysis): string => plain(benchmark.name, 120) || plain(benchmark.slug, 120)

/** The answer, first: who is best, or why nobody is. */
export const verdictOf = (analysis: RunAnalysis): string => {
  const ran = analysis.participants.filter(({ skipped }) => !skipped)
  if (ran.length === 0) return "No participant ran a task: there is nothing to compare."
  if (ran.every(({ successCount }) => successCount === 0)) {
    return ran.length === 1 ? `Every task of ${names(ran)} failed.` : "Every task of every participant failed."
  }
  const [first] = ran
  if (ran.length === 1) return `${names(ran)}: ${standing(analysis, first)}.`
  const best = ran.filter(({ rank }) => rank === 1)
  if (best.length === ran.length) return `${names(ran)} cannot be told apart by ${rankedBy(analysis)}.`
  if (best.length > 1) return `${names(best)} share first place: these samples do not tell them apart.`
  const rest = ran.filter(({ rank }) => rank !== 1)
  const next = rest.filter(({ rank }) => rank === rest[0]?.rank)
  return `${names(best)} is first with ${standing(analysis, first)}; next ${next.length === 1 ? "is" : "are"} ${names(next)} with ${standing(analysis, rest[0])}.`
}

/** What ranks are made of, as the end of a sentence. */
export const rankedBy = ({ rankedBy }: RunAnalysis): string => plain(rankedBy, 200)

export const statusText = ({ run }: RunAnalysis): string =>
  ({ planned: "planned", in_progress: "not finished yet", completed: "completed", failed: "failed" })[run.status]

/** A few facts about the run, each with its name. */
export const factsOf = (analysis: RunAnalysis): ReadonlyArray<readonly [name: string, value: string]> => {
  const { completedAt, run, startedAt } = analysis
  return [
    ["Benchmark", plain(analysis.benchmark.slug, 120)],
    ["Run", plain(run.id, 80)],
    ["Status", statusText(analysis)],
    ...(startedAt === undefined ? [] : [["Started", moment(plain(startedAt, 40))] as const]),
    ...(completedAt === undefined ? [] : [["Completed", moment(plain(completedAt, 40))] as const])
  ]
}

/** How points are given, one sentence per scored metric. */
export const scoringRules = (analysis: RunAnalysis): ReadonlyArray<string> => {
  const measures = measuresOf(analysis)
  return (analysis.scoring?.metrics ?? []).map((metric) => {
    const measure = measures.find(({ info }) => info.key === metric.key)
    const label = measure?.label ?? nameText(metric.key)
    const unit = measure?.unit ?? plain(metric.unit ?? "", 24)
    const value = (bound: number): string => (unit === "" ? figure(bound) : `${figure(bound)} ${unit}`)
    const range =
      metric.higherIsBetter === true
        ? `higher is better; ${value(metric.floor ?? 0)} or less gives 0, ${value(metric.ceiling)} or more gives 100`
        : `lower is better; ${value(0)} gives 100, ${value(metric.ceiling)} or more gives 0`
    const trim = metric.trim ?? 0.05
    const samples =
      trim > 0 ? ` The lowest ${percent(trim)} and the highest ${percent(trim)} of the samples are left out first.` : ""
    return `${label}: ${range}, linear between.${samples}`
  })
}

/** How the numbers were made. */
export const methodOf = (analysis: RunAnalysis): ReadonlyArray<string> => [
  "Percentiles are nearest-rank: the least sample that at least so many percent of the samples do not exceed. So each is a value that was measured.",
  "Samples are those of tasks that passed, all of them. Failed tasks are counted apart and listed under failures.",
  ...levels(analysis).map(
    (level) =>
      `Numbers in brackets are ${percent(level)} confidence intervals, from resampling what was measured. Where there are too few samples for one, there is none.`
  ),
  `Participants are ranked by ${rankedBy(analysis)}. Those that the samples do not tell apart share a rank, marked with =.`,
  ...(analysis.scoring === undefined
    ? []
    : [
        "A score is the sum of its points: weight × score of the statistic × success rate. Statistics that are scored are those of trimmed samples; all other numbers are of all samples."
      ]),
  "Drawings of many samples show the least, the middle and the greatest value of each column; numbers are never computed from fewer samples than there are."
]

/** A percentile that is the greatest sample because there are too few. */
export const fewMark = "*"

export const fewNote = `${fewMark} With so few samples this percentile is the greatest sample.`

/** What a participant's rank is made of, as in "with …". */
const standing = (analysis: RunAnalysis, participant: ParticipantAnalysis | undefined): string => {
  if (participant?.score !== undefined) return `a score of ${scoreText(participant.score)}`
  const measure = defaultMeasure(analysis)
  const distribution =
    participant === undefined || measure === undefined ? undefined : distributionOf(participant, measure.info.key)
  const success = `${percent(participant?.successRate)} success`
  if (measure === undefined || distribution === undefined) return success
  const median = `a median ${measure.label} of ${measure.withUnit(distribution.median)}`
  const rates = new Set(countsOf(analysis).ran.map(({ successRate }) => successRate))
  return rates.size > 1 ? `${success} and ${median}` : median
}

/** The names of up to three participants, and how many more there are. */
export const names = (participants: ReadonlyArray<ParticipantAnalysis>): string => {
  const shown = participants.slice(0, 3).map(({ name }) => nameText(name))
  const more = participants.length - shown.length
  const all = more > 0 ? [...shown, `${figure(more)} more`] : shown
  return all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all[all.length - 1] ?? ""}`
}

export const countsOf = (analysis: RunAnalysis) => {
  const ran = analysis.participants.filter(({ skipped }) => !skipped)
  const tasks = ran.reduce((sum, { taskCount }) => sum + taskCount, 0)
  const passed = ran.reduce((sum, { successCount }) => sum + successCount, 0)
  return { ran, skipped: analysis.participants.length - ran.length, tasks, passed, failed: tasks - passed }
}

/** `3 of 40 tasks failed`, or that none did. */
export const failureText = (analysis: RunAnalysis): string => {
  const { failed, tasks } = countsOf(analysis)
  return failed === 0 ? "No task failed." : `${figure(failed)} of ${plural(tasks, "task")} failed.`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The confidence levels of all intervals: one, as a rule. */
export const levels = (analysis: RunAnalysis): ReadonlyArray<number> => {
  const found = new Set<number>()
  for (const { metrics, scoreInterval } of analysis.participants) {
    if (scoreInterval !== undefined) found.add(scoreInterval.level)
    for (const { distribution } of metrics) {
      for (const interval of [distribution?.medianInterval, distribution?.p95Interval]) {
        if (interval !== undefined) found.add(interval.level)
      }
    }
  }
  return [...found]
}
