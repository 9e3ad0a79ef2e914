/** What to know about the numbers, in words. */
import { samplesNeededFor } from "../../Statistics.js"
import type { About } from "./judge.js"
import type { Measurements } from "./measurements.js"
import { taskKey } from "./measurements.js"
import { nameOf } from "./metrics.js"
import type { MetricInfo, ParticipantAnalysis, Warning } from "./model.js"
import { oddities } from "./oddities.js"
import { lagOf } from "./pacing.js"
import { fewestTasks } from "./resampling.js"

export interface Subject {
  readonly participants: ReadonlyArray<ParticipantAnalysis>
  readonly metrics: ReadonlyArray<MetricInfo>
  readonly defaultMetric: string
  readonly measurements: Measurements
  readonly about: About
}

/** What matters most first. */
export const warningsOf = (subject: Subject): ReadonlyArray<Warning> => {
  const ran = subject.participants.filter(({ skipped }) => !skipped)
  const judged = subject.metrics.filter(({ key, scored }) => scored || key === subject.defaultMetric)
  return [
    ...incomplete(subject),
    ...ran.flatMap(failing),
    ...ran.flatMap((participant) => lagging(participant, subject)),
    ...tooFewTasks(ran),
    ...judged.flatMap((metric) => tooFewSamples(metric, ran)),
    ...judged.flatMap((metric) =>
      ran.flatMap(({ name }) =>
        oddities(subject.measurements.of(name), metric, `${short(nameOf(metric))} of ${short(name)}`).map(
          ({ kind, text }) => about(kind, text, name, metric.key)
        )
      )
    ),
    ...leftOut(ran, subject)
  ]
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const about = (kind: Warning["kind"], text: string, participant?: string, metric?: string): Warning => ({
  kind,
  participant,
  metric,
  text
})

/** Names may be of any length, which would hide what is said about them. */
const short = (name: string): string =>
  name.length <= 60 ? name : `${name.slice(0, 59).replace(/[\ud800-\udbff]$/, "")}…`

const tasks = (count: number): string => `${count} ${count === 1 ? "task" : "tasks"}`

const incomplete = ({ about: { progress }, participants }: Subject): ReadonlyArray<Warning> => {
  if (progress === undefined) return []
  const { status, totalTasks } = progress
  const stored = participants.reduce((sum, { taskCount }) => sum + taskCount, 0)
  const missing = stored < totalTasks ? `${stored} of ${tasks(totalTasks)} are recorded` : undefined
  switch (status) {
    case "planned":
    case "in_progress":
      return [about("incomplete", `the run has not ended: ${missing ?? `${tasks(stored)} are recorded`} so far`)]
    case "failed":
      return [about("incomplete", `the run failed: ${missing ?? `all of its ${tasks(stored)} are recorded`}`)]
    case "completed":
      return missing === undefined ? [] : [about("incomplete", `tasks are missing: ${missing}`)]
  }
}

const failing = ({ errorCount, name, successCount, taskCount }: ParticipantAnalysis): ReadonlyArray<Warning> => {
  if (errorCount === 0) return []
  const rest =
    successCount === 0 ? "nothing is known of its latencies" : `its numbers are those of the other ${successCount}`
  const how =
    taskCount === 1
      ? "the only task"
      : errorCount === taskCount
        ? `all ${tasks(taskCount)}`
        : `${errorCount} of ${tasks(taskCount)}`
  return [about("failures", `${how} of ${short(name)} failed: ${rest}`, name)]
}

const lagging = ({ name }: ParticipantAnalysis, { about: run, measurements }: Subject): ReadonlyArray<Warning> => {
  if ((run.workerCounts?.[name] ?? 1) > 1) return []
  const lag = lagOf(measurements.of(name), run.config)
  if (lag === undefined || lag.late === 0) return []
  const most = Math.round(lag.mostMs)
  return [
    about(
      "generator-lag",
      `${lag.late} of ${tasks(lag.total)} of ${short(name)} started later than scheduled, up to ${most} ms (one was to start every ${lag.delayMs} ms): the load was lower than planned; more concurrency or longer delays would keep to it`,
      name,
      taskKey
    )
  ]
}

const tooFewTasks = (ran: ReadonlyArray<ParticipantAnalysis>): ReadonlyArray<Warning> => {
  const few = ran.filter(({ taskCount }) => taskCount < fewestTasks)
  return ran.length < 2 || few.length === 0
    ? []
    : [
        about(
          "too-few-samples",
          `with ${range(
            few.map(({ taskCount }) => taskCount),
            "task"
          )}, ${list(few.map(({ name }) => short(name)))} cannot be told apart from others: ${fewestTasks} are needed at least`
        )
      ]
}

const tooFewSamples = (metric: MetricInfo, ran: ReadonlyArray<ParticipantAnalysis>): ReadonlyArray<Warning> => {
  const counts = ran.flatMap(({ metrics }) => metrics.find(({ key }) => key === metric.key)?.distribution?.count ?? [])
  const fewest = Math.min(...counts)
  const few = [95, 99].filter((p) => fewest < samplesNeededFor(p))
  if (counts.length === 0 || few.length === 0) return []
  const where = counts.length === 1 ? "with" : "with as few as"
  const what = `${few.map((p) => `p${p}`).join(" and ")} ${few.length === 1 ? "is" : "are"} the maximum`
  const needed = few.map((p) => `p${p} needs ${samplesNeededFor(p)}`).join(", ")
  return [
    about(
      "too-few-samples",
      `${short(nameOf(metric))}: ${where} ${range([fewest], "sample")}, ${what}: ${needed}`,
      undefined,
      metric.key
    )
  ]
}

const leftOut = (ran: ReadonlyArray<ParticipantAnalysis>, { measurements }: Subject): ReadonlyArray<Warning> => {
  const most = Math.max(0, ...ran.map(({ name }) => measurements.of(name).leftOut))
  return most === 0
    ? []
    : [about("incomplete", `tasks measured more keys than are looked at: the first 100 are, at least ${most} are not`)]
}

const range = (counts: ReadonlyArray<number>, noun: string): string => {
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  return `${least === most ? least : `${least} to ${most}`} ${noun}${most === 1 ? "" : "s"}`
}

const list = (names: ReadonlyArray<string>): string =>
  names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(" and ")
