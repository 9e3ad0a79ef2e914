/**
 * The result of a run as text for a terminal: a ranked table, what the score was computed from, and what to know about
 * the numbers.
 */
import type { Display, ScoringConfig } from "../Config.js"
import type { ResultSummary, SummaryRow } from "../Platform.js"
import { samplesNeededFor } from "../Statistics.js"
import type { Column } from "./text.js"
import { absent, number, oneLine, percent, plural, table, truncate } from "./text.js"

export interface ParticipantView {
  readonly name: string
  readonly count: number
  readonly successCount: number
  /** Over all tasks, failed ones included. */
  readonly latencyMs: ResultSummary["latencyMs"]
  readonly errors: ReadonlyArray<{
    readonly code: string
    readonly count: number
    readonly message: string | undefined
  }>
}

export interface ResultView {
  readonly title: string
  readonly participants: ReadonlyArray<ParticipantView>
  /** Scored rows, in the order in which they were computed; undefined when the benchmark does not score. */
  readonly rows: ReadonlyArray<SummaryRow> | undefined
  readonly scoring: ScoringConfig | undefined
  readonly display: Display | undefined
  readonly notes: ReadonlyArray<string>
}

/** Without a trailing newline. */
export const render = (view: ResultView): string => {
  const ranked = rank(view)
  const parts = [
    oneLine(view.title),
    mainTable(view, ranked),
    ...otherMetrics(view, ranked),
    ...trimmedTables(view, ranked),
    ...groupTables(view),
    ...failures(ranked),
    ...notes(view)
  ]
  return parts.join("\n\n")
}

// -----------------------------------------------------------------------------
// ranking
// -----------------------------------------------------------------------------

interface Ranked extends ParticipantView {
  readonly row: SummaryRow | undefined
}

/** Best first: by score, where there is one; else by success, then by median latency. */
const rank = (view: ResultView): ReadonlyArray<Ranked> => {
  const ranked = view.participants.map((participant): Ranked => ({
    ...participant,
    row: view.rows?.find((row) => row.provider === participant.name)
  }))
  return ranked.sort((a, b) =>
    view.rows === undefined
      ? successRate(b) - successRate(a) || medianOf(a) - medianOf(b)
      : scoreOf(b) - scoreOf(a) || successRate(b) - successRate(a)
  )
}

const successRate = ({ count, successCount }: ParticipantView): number => (count === 0 ? -1 : successCount / count)

const medianOf = ({ latencyMs }: ParticipantView): number => latencyMs.p50 ?? Number.MAX_VALUE

const scoreOf = ({ row }: Ranked): number => (row === undefined || row.skipped ? -1 : row.compositeScore)

// -----------------------------------------------------------------------------
// tables
// -----------------------------------------------------------------------------

type Metric = SummaryRow["metrics"][number]

const right = (title: string): Column => ({ title, align: "right" })

const participantColumns: ReadonlyArray<Column> = [
  right("#"),
  { title: "participant" },
  right("tasks"),
  right("success")
]

const participantCells = ({ count, name, successCount }: ParticipantView, i: number): ReadonlyArray<string> => [
  String(i + 1),
  name,
  String(count),
  count === 0 ? absent : percent(successCount / count)
]

const statColumns = (label: string): ReadonlyArray<Column> => [right(`${label} median`), right("p95"), right("p99")]

const cell = (value: number | null | undefined, decimals?: number): string =>
  value === null || value === undefined ? absent : number(value, decimals)

interface Stats {
  readonly median: number
  readonly p95: number
  readonly p99: number
}

const statCells = (stats: Stats | undefined, decimals: number | undefined): ReadonlyArray<string> =>
  [stats?.median, stats?.p95, stats?.p99].map((value) => cell(value, decimals))

const latencyColumns: ReadonlyArray<Column> = [right("task latency (ms) p50"), right("p95"), right("p99")]

const latencyCells = ({ p50, p95, p99 }: ResultSummary["latencyMs"]): ReadonlyArray<string> =>
  [p50, p95, p99].map((value) => cell(value))

/** Metrics in the order of the scoring config, the one to be shown first in front. */
const metricNames = (view: ResultView): ReadonlyArray<string> => {
  const names = [...new Set((view.rows ?? []).flatMap((row) => row.metrics.map((metric) => metric.name)))]
  const first = view.display?.overview?.defaultMetric
  return first !== undefined && names.includes(first) ? [first, ...names.filter((name) => name !== first)] : names
}

const metricOf = (row: SummaryRow | undefined, name: string): Metric | undefined =>
  row?.metrics.find((metric) => metric.name === name)

const rawOf = (metric: Metric | undefined): NonNullable<Metric["raw"]> | undefined => metric?.raw ?? undefined

const labelOf = (view: ResultView, name: string): string => {
  const unit = view.rows?.flatMap((row) => row.metrics).find((metric) => metric.name === name)?.unit
  const label = view.display?.metrics?.find((metric) => metric.key === name)?.label ?? name
  return unit ? `${label} (${unit})` : label
}

const decimalsOf = (view: ResultView, name: string): number | undefined =>
  view.display?.metrics?.find((metric) => metric.key === name)?.decimals

const mainTable = (view: ResultView, ranked: ReadonlyArray<Ranked>): string => {
  const name = metricNames(view)[0]
  const scored = view.rows !== undefined
  const stats = ({ latencyMs, row }: Ranked): ReadonlyArray<string> =>
    name === undefined ? latencyCells(latencyMs) : statCells(rawOf(metricOf(row, name)), decimalsOf(view, name))
  return table(
    [
      ...participantColumns,
      ...(name === undefined ? latencyColumns : statColumns(labelOf(view, name))),
      ...(scored ? [right("score")] : [])
    ],
    ranked.map((participant, i) => [
      ...participantCells(participant, i),
      ...stats(participant),
      ...(scored ? [scoreText(participant.row)] : [])
    ])
  )
}

const scoreText = (row: SummaryRow | undefined): string =>
  row === undefined || row.skipped ? absent : number(row.compositeScore, 2)

const otherMetrics = (view: ResultView, ranked: ReadonlyArray<Ranked>): ReadonlyArray<string> =>
  metricNames(view)
    .slice(1)
    .map((name) =>
      table(
        [{ title: "participant" }, right("samples"), ...statColumns(labelOf(view, name))],
        ranked.map((participant) => {
          const raw = rawOf(metricOf(participant.row, name))
          return [
            participant.name,
            raw === undefined ? "0" : String(raw.count),
            ...statCells(raw, decimalsOf(view, name))
          ]
        })
      )
    )

/** The statistics that scores are computed from, next to the range of all samples. */
const trimmedTables = (view: ResultView, ranked: ReadonlyArray<Ranked>): ReadonlyArray<string> =>
  metricNames(view).map((name) => {
    const trim = view.scoring?.metrics.find((metric) => metric.key === name)?.trim ?? 0.05
    const decimals = decimalsOf(view, name)
    const scope = trim === 0 ? "over all samples" : `without ${percent(trim)} of the samples at each end`
    const title = `Scored on ${labelOf(view, name)} ${scope}:`
    const body = table(
      [
        { title: "participant" },
        right("samples"),
        right("min"),
        ...["median", "p95", "p99"].map((stat) => right(trim === 0 ? stat : `trimmed ${stat}`)),
        right("max")
      ],
      ranked.map(({ name: participant, row }) => {
        const metric = metricOf(row, name)
        const raw = rawOf(metric)
        return [
          participant,
          raw === undefined ? "0" : String(raw.count),
          cell(raw?.min, decimals),
          ...statCells(metric, decimals),
          cell(raw?.max, decimals)
        ]
      })
    )
    return `${title}\n${body}`
  })

const groupTables = (view: ResultView): ReadonlyArray<string> => {
  const key = view.scoring?.groupBy
  const seen = new Set<string>()
  const groups = (view.rows ?? []).filter((row) => {
    const isTotal = !seen.has(row.provider)
    seen.add(row.provider)
    return !isTotal
  })
  if (key === undefined || groups.length === 0) return []
  const name = metricNames(view)[0]
  const columns = [
    { title: key },
    { title: "participant" },
    right("success"),
    ...(name === undefined ? [] : statColumns(labelOf(view, name))),
    right("score")
  ]
  const cells = groups.map((row) => [
    groupText(row.dimensions[key]),
    row.provider,
    percent(row.successRate),
    ...(name === undefined ? [] : statCells(rawOf(metricOf(row, name)), decimalsOf(view, name))),
    scoreText(row)
  ])
  return [`By ${oneLine(key)}:\n${table(columns, cells)}`]
}

const groupText = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? absent : JSON.stringify(value)

// -----------------------------------------------------------------------------
// what to know
// -----------------------------------------------------------------------------

const failures = (ranked: ReadonlyArray<Ranked>): ReadonlyArray<string> => {
  const lines = ranked.flatMap(({ errors, name }) =>
    errors.slice(0, 5).map(({ code, count, message }) => {
      const text = message === undefined ? "" : `: ${truncate(oneLine(message), 200)}`
      return `  ${oneLine(name)}: ${count} × ${truncate(oneLine(code), 60)}${text}`
    })
  )
  return lines.length === 0 ? [] : [`Failures:\n${lines.join("\n")}`]
}

const notes = (view: ResultView): ReadonlyArray<string> => {
  const lines = [...view.notes, ...sampleNotes(view)].map((note) => `  ${oneLine(note)}`)
  return lines.length === 0 ? [] : [`Notes:\n${lines.join("\n")}`]
}

const sampleNotes = (view: ResultView): ReadonlyArray<string> => {
  const name = metricNames(view)[0]
  const counts = view.participants
    .map((participant) =>
      name === undefined
        ? participant.count
        : (rawOf(
            metricOf(
              view.rows?.find((row) => row.provider === participant.name),
              name
            )
          )?.count ?? 0)
    )
    .filter((count) => count > 0)
  const fewest = Math.min(...counts)
  const failed = view.participants.some(({ count, successCount }) => successCount < count)
  const rank = [95, 99].filter((p) => fewest < samplesNeededFor(p))
  return [
    ...(counts.length > 0 && rank.length > 0
      ? [
          `with ${plural(fewest, "sample")} ${rank.map((p) => `p${p}`).join(" and ")} ${
            rank.length > 1 ? "are" : "is"
          } the maximum: ${rank.map((p) => `p${p} needs ${samplesNeededFor(p)}`).join(", ")}`
        ]
      : []),
    ...(failed && name === undefined ? ["latencies include the tasks that failed"] : [])
  ]
}
