/** Tables of a run, as text: every format lays them out in its own way. */
import { percentileNearestRank, samplesNeededFor } from "../../Statistics.js"
import type { Distribution, ParticipantAnalysis, RunAnalysis } from "../analysis/model.js"
import type { Measure } from "./measures.js"
import { defaultMeasure, distributionOf, measureOf, measuresOf, metricOf } from "./measures.js"
import { absent, figure, percent } from "./numbers.js"
import { nameText, plain } from "./plainText.js"
import { fewMark, rankText, scoreText } from "./words.js"

export interface Column {
  readonly title: string
  /** Default left. */
  readonly align?: "left" | "right"
}

/** Text, or an estimate with its interval; either may be empty. */
export type Cell = string | { readonly value: string; readonly interval: string }

export interface TableView {
  readonly caption: string
  readonly columns: ReadonlyArray<Column>
  /** As many cells as there are columns; the first names the row. */
  readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
}

/** On one line. */
export const cellText = (cell: Cell): string =>
  typeof cell === "string" ? cell : cell.interval === "" ? cell.value : `${cell.value} ${cell.interval}`

/** Best first. */
export const rankingTable = (analysis: RunAnalysis): TableView => {
  const measure = defaultMeasure(analysis)
  const scored = analysis.participants.some(({ score }) => score !== undefined)
  return {
    caption: "Participants, best first",
    columns: [
      text("participant"),
      right("rank"),
      ...(scored ? [right("score")] : []),
      ...(measure === undefined ? [] : [right(`median ${measure.title}`), right("p95"), right("p99")]),
      right("success"),
      right("tasks"),
      right("tasks/s")
    ],
    rows: analysis.participants.map((participant) => {
      const distribution = measure === undefined ? undefined : distributionOf(participant, measure.info.key)
      return [
        nameText(participant.name),
        participant.skipped ? "skipped" : rankText(participant),
        ...(scored ? [scoreCell(participant)] : []),
        ...(measure === undefined
          ? []
          : [
              { value: measure.show(distribution?.median), interval: measure.interval(distribution?.medianInterval) },
              high(measure, distribution, 95, distribution?.p95),
              high(measure, distribution, 99, distribution?.p99)
            ]),
        percent(participant.successRate),
        figure(participant.taskCount),
        figure(participant.throughput)
      ]
    })
  }
}

/** Every statistic of a metric. */
export const metricTable = (analysis: RunAnalysis, measure: Measure): TableView => ({
  caption: measure.title,
  columns: [
    text("participant"),
    ...["n", "min", "q1", "median", "q3", "p90", "p95", "p99", "p99.9", "max", "mean", "sd"].map(right)
  ],
  rows: analysis.participants
    .filter(({ skipped }) => !skipped)
    .map((participant) => {
      const found = distributionOf(participant, measure.info.key)
      return [
        nameText(participant.name),
        figure(found?.count ?? 0),
        measure.show(found?.min),
        measure.show(found?.q1),
        { value: measure.show(found?.median), interval: measure.interval(found?.medianInterval) },
        measure.show(found?.q3),
        high(measure, found, 90, found?.p90),
        { value: high(measure, found, 95, found?.p95), interval: measure.interval(found?.p95Interval) },
        high(measure, found, 99, found?.p99),
        high(measure, found, 99.9, found?.p999),
        measure.show(found?.max),
        measure.show(found?.mean),
        measure.show(found?.stdDev)
      ]
    })
})

/** Medians of each quarter of the tasks, in the order of their indexes, next to how many failed. */
export const quarterTable = (analysis: RunAnalysis, measure: Measure): TableView => ({
  caption: `Medians of ${measure.title} as the run went on`,
  columns: [
    text("participant"),
    right("samples"),
    ...["1st", "2nd", "3rd", "4th"].map((quarter) => right(`${quarter} quarter`)),
    right("failed tasks")
  ],
  rows: analysis.participants
    .filter(({ skipped }) => !skipped)
    .map((participant) => {
      const values =
        metricOf(participant, measure.info.key)?.points.flatMap(({ ok, value }) => (ok ? [value] : [])) ?? []
      const edge = (quarter: number): number => Math.round((values.length * quarter) / 4)
      return [
        nameText(participant.name),
        figure(values.length),
        ...[0, 1, 2, 3].map((quarter) =>
          measure.show(
            percentileNearestRank(Float64Array.from(values.slice(edge(quarter), edge(quarter + 1))).sort(), 50)
          )
        ),
        figure(participant.errorCount)
      ]
    })
})

/** Medians of the steps; undefined in a run without any. */
export const stepTable = (analysis: RunAnalysis): TableView | undefined => {
  const steps = stepMeasures(analysis)
  const rows = analysis.participants.flatMap((participant) =>
    steps.flatMap((measure) => {
      const found = distributionOf(participant, measure.info.key)
      if (found === undefined) return []
      return [
        [
          nameText(participant.name),
          measure.label,
          figure(found.count),
          measure.show(found.median),
          high(measure, found, 95, found.p95),
          high(measure, found, 99, found.p99),
          measure.show(found.max)
        ]
      ]
    })
  )
  if (rows.length === 0) return undefined
  return {
    caption: "Steps that succeeded, in milliseconds",
    columns: [text("participant"), text("step"), ...["samples", "median", "p95", "p99", "max"].map(right)],
    rows
  }
}

export const stepMeasures = (analysis: RunAnalysis): ReadonlyArray<Measure> =>
  measuresOf(analysis).filter(({ info }) => info.kind === "step")

/** Each statistic on its way to points; undefined when the benchmark does not score. */
export const scoreTable = (analysis: RunAnalysis): TableView | undefined => {
  const scored = analysis.participants.filter(({ scoreParts }) => scoreParts.length > 0)
  if (scored.length === 0) return undefined
  return {
    caption: "From what was measured to points",
    columns: [
      text("participant"),
      text("statistic"),
      right("value"),
      right("its score"),
      right("× weight"),
      right("× success"),
      right("= points")
    ],
    rows: scored.flatMap((participant) => [
      ...participant.scoreParts.map(({ metric, points, statScore, statistic, value, weight }) => {
        const info = analysis.metrics.find(({ key }) => key === metric)
        const measure = info === undefined ? undefined : measureOf(analysis, info)
        return [
          nameText(participant.name),
          `${measure?.label ?? nameText(metric)} ${statistic}`,
          measure?.withUnit(value) ?? figure(value),
          figure(statScore, 1),
          figure(weight, 2),
          percent(participant.successRate),
          figure(points, 2)
        ]
      }),
      [nameText(participant.name), "composite score", "", "", "", "", scoreText(participant.score)]
    ])
  }
}

/** Rows by the key that the scoring splits by; undefined when it does not. */
export const groupTable = (analysis: RunAnalysis): TableView | undefined => {
  const key = analysis.scoring?.groupBy
  const rows = analysis.participants.flatMap((participant) =>
    participant.groups.map((group) => [
      nameText(participant.name),
      dimensionText(key === undefined ? undefined : group.dimensions[key]),
      scoreText(group.skipped ? undefined : group.compositeScore),
      percent(group.successRate),
      ...(analysis.scoring?.metrics ?? []).flatMap((metric) => {
        const info = analysis.metrics.find((one) => one.key === metric.key)
        const show = info === undefined ? figure : measureOf(analysis, info).show
        const found = group.metrics.find(({ name }) => name === metric.key)
        return [show((found?.raw ?? found)?.median), show((found?.raw ?? found)?.p95)]
      })
    ])
  )
  if (key === undefined || rows.length === 0) return undefined
  return {
    caption: `By ${nameText(key)}`,
    columns: [
      text("participant"),
      text(nameText(key)),
      right("score"),
      right("success"),
      ...(analysis.scoring?.metrics ?? []).flatMap((metric) => {
        const info = analysis.metrics.find((one) => one.key === metric.key)
        const title = info === undefined ? nameText(metric.key) : measureOf(analysis, info).title
        return [right(`median ${title}`), right("p95")]
      })
    ],
    rows
  }
}

/** Codes with how often they occurred; undefined when nothing failed. */
export const failureTable = (analysis: RunAnalysis): TableView | undefined => {
  const rows = analysis.participants.flatMap((participant) =>
    participant.failures.map(({ code, count, message, step, taskIndexes }) => [
      nameText(participant.name),
      nameText(code),
      figure(count),
      step === undefined ? absent : nameText(step),
      message === undefined ? absent : plain(message, 400),
      taskIndexes.map((index) => figure(index)).join(", ") + (count > taskIndexes.length ? ", …" : "")
    ])
  )
  if (rows.length === 0) return undefined
  return {
    caption: "Failures by code",
    columns: [
      text("participant"),
      text("code"),
      right("tasks"),
      text("step"),
      text("first message"),
      text("task indexes")
    ],
    rows
  }
}

/** Where and on what it ran. */
export const environmentOf = ({ environment }: RunAnalysis): ReadonlyArray<readonly [label: string, value: string]> =>
  environment.map(({ label, value }) => [nameText(label), plain(value, 300)])

/** Whether a cell of these tables has {@link fewMark}. */
export const hasFewMark = (tables: ReadonlyArray<TableView | undefined>): boolean =>
  tables.some(
    (table) =>
      table?.rows.some((row) =>
        row.some((cell, i) => table.columns[i]?.align === "right" && valueOf(cell).endsWith(fewMark))
      ) === true
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const valueOf = (cell: Cell): string => (typeof cell === "string" ? cell : cell.value)

const text = (title: string): Column => ({ title })

const right = (title: string): Column => ({ title, align: "right" })

const scoreCell = ({ score, scoreInterval, skipped }: ParticipantAnalysis): Cell => ({
  value: scoreText(skipped ? undefined : score),
  interval: scoreInterval === undefined ? "" : `[${scoreText(scoreInterval.low)}, ${scoreText(scoreInterval.high)}]`
})

const high = (
  measure: Measure,
  distribution: Distribution | undefined,
  p: number,
  value: number | undefined
): string => {
  const few = distribution !== undefined && distribution.count > 1 && distribution.count < samplesNeededFor(p)
  return few ? `${measure.show(value)}${fewMark}` : measure.show(value)
}

const dimensionText = (value: unknown): string =>
  typeof value === "string"
    ? nameText(value)
    : value === undefined
      ? absent
      : typeof value === "number"
        ? figure(value)
        : nameText(JSON.stringify(value) ?? "")
