/** A run as JUnit XML, the format that CI services read test results in. */
import type { Verdict } from "../../Gates.js"
import type { ParticipantAnalysis, RunAnalysis } from "../analysis/model.js"
import * as Expression from "../gates/expression.js"
import type { Markup } from "./markup.js"
import { nothing, xml } from "./markup.js"
import type { Measure } from "./measures.js"
import { distributionOf, measuresOf } from "./measures.js"
import { exact, figure, percent, plural } from "./numbers.js"
import { nameText, plain } from "./plainText.js"
import { rankText, scoreText, titleOf } from "./words.js"

/**
 * A suite per participant. Its cases: `tasks`, which fails when any task failed, unless a gate says how many may; one per
 * metric, whose time is the median where that is a time, with the statistics as output; and one per gate, which fails when
 * it is violated. What was skipped or has no samples is skipped.
 */
export const junit = (analysis: RunAnalysis, gates: ReadonlyArray<Verdict>): string => {
  const measures = measuresOf(analysis)
  const known = new Set(analysis.participants.map(({ name }) => name))
  const suites = [
    ...analysis.participants.map((participant) =>
      suiteOf(
        participant,
        casesOf(
          participant,
          measures,
          gates.filter((gate) => gate.participant === participant.name)
        ),
        analysis
      )
    ),
    ...Array.from(new Set(gates.map(({ participant }) => participant)))
      .filter((name) => !known.has(name))
      .map((name) =>
        suite(nameText(name), gates.filter(({ participant }) => participant === name).map(gateCase), analysis)
      )
  ]
  const cases = suites.flatMap((one) => one.cases)
  return xml`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${titleOf(analysis)}" ${counts(cases)}>
${suites.map(({ text }) => text)}</testsuites>
`.text
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Case {
  readonly name: string
  /** Seconds. */
  readonly time?: number | undefined
  readonly skipped?: string | undefined
  readonly failure?: { readonly type: string; readonly message: string; readonly detail: string } | undefined
  readonly output?: string | undefined
}

interface Suite {
  readonly cases: ReadonlyArray<Case>
  readonly text: Markup
}

const suiteOf = (participant: ParticipantAnalysis, cases: ReadonlyArray<Case>, analysis: RunAnalysis): Suite =>
  suite(nameText(participant.name), cases, analysis, {
    time: participant.elapsedMs === undefined ? undefined : participant.elapsedMs / 1000,
    properties: participant.skipped
      ? []
      : [
          ["rank", rankText(participant)],
          ...(participant.score === undefined ? [] : [["score", scoreText(participant.score)] as const]),
          ["success", percent(participant.successRate)],
          ...(participant.throughput === undefined ? [] : [["tasks/s", figure(participant.throughput)] as const])
        ]
  })

const suite = (
  name: string,
  cases: ReadonlyArray<Case>,
  analysis: RunAnalysis,
  more: {
    readonly time?: number | undefined
    readonly properties?: ReadonlyArray<readonly [name: string, value: string]>
  } = {}
): Suite => {
  const className = `${plain(analysis.benchmark.slug, 120)}.${name}`
  const properties = more.properties ?? []
  return {
    cases,
    text: xml`  <testsuite name="${name}" ${counts(cases)}${seconds(more.time)}${
      analysis.startedAt === undefined ? nothing : xml` timestamp="${plain(analysis.startedAt, 40)}"`
    }>
${
  properties.length === 0
    ? nothing
    : xml`    <properties>\n${properties.map(([key, value]) => xml`      <property name="${key}" value="${value}"/>\n`)}    </properties>\n`
}${cases.map((one) => caseText(className, one))}  </testsuite>
`
  }
}

const counts = (cases: ReadonlyArray<Case>): Markup =>
  xml`tests="${cases.length}" failures="${cases.filter(({ failure }) => failure !== undefined).length}" errors="0" skipped="${
    cases.filter(({ skipped }) => skipped !== undefined).length
  }"`

const seconds = (time: number | undefined): Markup => {
  const value = exact(time)
  return value === undefined || value < 0 ? nothing : xml` time="${Number(value.toFixed(9)).toFixed(6)}"`
}

const caseText = (className: string, { failure, name, output, skipped, time }: Case): Markup => {
  const content = xml`${skipped === undefined ? nothing : xml`      <skipped message="${skipped}"/>\n`}${
    failure === undefined
      ? nothing
      : xml`      <failure type="${failure.type}" message="${failure.message}">${failure.detail}</failure>\n`
  }${output === undefined ? nothing : xml`      <system-out>${output}</system-out>\n`}`
  const head = xml`    <testcase classname="${className}" name="${name}"${seconds(time)}`
  return content.text === "" ? xml`${head}/>\n` : xml`${head}>\n${content}    </testcase>\n`
}

const casesOf = (
  participant: ParticipantAnalysis,
  measures: ReadonlyArray<Measure>,
  gates: ReadonlyArray<Verdict>
): ReadonlyArray<Case> =>
  participant.skipped
    ? [{ name: "tasks", skipped: "the participant had no task in this run" }, ...gates.map(gateCase)]
    : [
        tasksCase(participant, gates),
        ...measures.map((measure) => metricCase(participant, measure)),
        ...gates.map(gateCase)
      ]

const tasksCase = (participant: ParticipantAnalysis, gates: ReadonlyArray<Verdict>): Case => {
  const { errorCount, failures, taskCount } = participant
  const isGated = gates.some(({ threshold }) => threshold.stat === "successRate")
  const summary = `${figure(errorCount)} of ${plural(taskCount, "task")} failed`
  const detail = failures
    .map(({ code, count, message, step }) => {
      const where = step === undefined ? "" : ` in step ${nameText(step)}`
      return `${figure(count)} × ${nameText(code)}${where}${message === undefined ? "" : `: ${plain(message, 400)}`}`
    })
    .join("\n")
  return errorCount === 0 || isGated
    ? { name: "tasks", output: detail === "" ? summary : `${summary}\n${detail}` }
    : { name: "tasks", failure: { type: nameText(failures[0]?.code ?? "failed"), message: summary, detail } }
}

const metricCase = (participant: ParticipantAnalysis, measure: Measure): Case => {
  const found = distributionOf(participant, measure.info.key)
  const name = nameText(measure.info.key)
  if (found === undefined) return { name, skipped: "no samples" }
  const { count, max, median, min, p95, p99 } = found
  const perUnit = secondsIn.get(measure.unit)
  const texts = Object.entries({ min, median, p95, p99, max }).map(([key, value]) => `${key} ${measure.show(value)}`)
  return {
    name,
    time: perUnit === undefined ? undefined : median * perUnit,
    output: `${measure.title}: ${texts.join(", ")} (${plural(count, "sample")})`
  }
}

const secondsIn: ReadonlyMap<string, number> = new Map([
  ["s", 1],
  ["ms", 1e-3],
  ["µs", 1e-6],
  ["us", 1e-6],
  ["ns", 1e-9]
])

const gateCase = ({ passed, text, threshold }: Verdict): Case => {
  const name = `gate: ${plain(Expression.format(threshold), 200)}`
  const line = plain(text, 400)
  return passed
    ? { name, output: line }
    : { name, failure: { type: "threshold_violated", message: line, detail: line } }
}
