/**
 * A judged run as text for a terminal: who is first and by how much, how samples are distributed, what scores are made of,
 * and what to know about the numbers.
 */
import type { Judgement, MetricInfo, ParticipantAnalysis, ScorePart } from "../Analysis.js"
import type { SummaryRow } from "../Platform.js"
import { defaultTrim } from "../Scoring.js"
import type { Distributed } from "./distributions.js"
import { legend, plots } from "./distributions.js"
import type { Style } from "./style.js"
import type { Column } from "./text.js"
import { fit, number, oneLine, percent, plural, table, widthOf, wrap } from "./text.js"

export interface SummaryView {
  readonly analysis: Judgement
  /** Said last, besides what the analysis warns of. */
  readonly notes: ReadonlyArray<string>
}

/** Without a trailing newline. Whatever names and messages hold, there are no control characters in it but its own. */
export const render = (view: SummaryView, style: Style): string => new Summary(view, style).text

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Metrics beyond those that are scored or declared; more are in what `bench export` gives. */
const maxOtherMetrics = 5

const maxFailures = 5

const maxWarnings = 12

/** Columns of a message, and of any other text. */
const maxMessage = 200

const maxText = 500

const right = (title: string, rest: Omit<Column, "title" | "align"> = {}): Column => ({
  title,
  align: "right",
  ...rest
})

class Summary {
  private readonly participants: ReadonlyArray<ParticipantAnalysis>
  private readonly first: MetricInfo | undefined

  constructor(
    private readonly view: SummaryView,
    private readonly style: Style
  ) {
    const { defaultMetric, metrics, participants } = view.analysis
    this.participants = participants
    this.first = metrics.find(({ key }) => key === defaultMetric)
  }

  get text(): string {
    const { benchmark } = this.view.analysis
    return [
      this.style.bold(this.cut(`${benchmark.name} (${benchmark.slug})`)),
      this.ranking(),
      ...this.distributions(),
      ...this.otherMetrics(),
      ...this.scores(),
      ...this.groups(),
      ...this.steps(),
      ...this.failures(),
      ...this.warnings(),
      ...this.notes()
    ].join("\n\n")
  }

  // ---------------------------------------------------------------------------
  // who is first
  // ---------------------------------------------------------------------------

  private ranking(): string {
    if (this.participants.length === 0) return "Nobody took part."
    const isScored = this.participants.some(({ score }) => score !== undefined)
    const level = this.participants.find(({ scoreInterval }) => scoreInterval !== undefined)?.scoreInterval?.level
    const failing: Column["paint"] = (text, row) =>
      (this.participants[row]?.errorCount ?? 0) > 0 ? this.style.red(text) : text
    const leading: Column["paint"] = (text, row) => (this.participants[row]?.rank === 1 ? this.style.bold(text) : text)
    const who = [
      right("#"),
      { ...this.nameColumn, paint: leading },
      right("tasks"),
      right("success", { paint: failing })
    ]
    const scores = [
      ...(isScored ? [right("score", { paint: leading })] : []),
      ...(level === undefined ? [] : [right(`${percent(level)} interval`)])
    ]
    const rows = this.participants.map((participant) => ({
      who: [
        this.rankText(participant),
        participant.name,
        String(participant.taskCount),
        participant.successRate === undefined ? this.absent : percent(participant.successRate)
      ],
      stats: this.stats(this.first, participant),
      scores: [
        ...(isScored ? [this.value(participant.score, 2)] : []),
        ...(level === undefined ? [] : [this.range(participant)])
      ]
    }))
    const metric = this.first === undefined ? [] : [this.style.bold(this.title(this.first))]
    const tied = this.participants.some((participant) => participant.tied)
      ? " Those that share a rank (=) cannot be told apart by these samples."
      : ""
    const ranked =
      this.participants.filter(({ skipped }) => !skipped).length < 2
        ? []
        : [this.prose(`Ranked by ${this.said(this.view.analysis.rankedBy, maxText)}.${tied}`)]
    const together = this.table(
      [...who, ...this.statColumns, ...scores],
      rows.map(({ scores, stats, who }) => [...who, ...stats, ...scores])
    )
    if (widthOf(together.split("\n", 1)[0] ?? "") <= (this.style.columns ?? Infinity) && !together.includes("\n\n")) {
      return [...metric, together, ...ranked].join("\n")
    }
    const standing = this.table(
      [...who, ...scores],
      rows.map(({ scores, who }) => [...who, ...scores])
    )
    const measured = this.table(
      [this.nameColumn, ...this.statColumns],
      rows.map(({ stats, who: [, name = ""] }) => [name, ...stats])
    )
    return `${[standing, ...ranked].join("\n")}\n\n${[...metric, measured].join("\n")}`
  }

  private rankText({ rank, tied }: ParticipantAnalysis): string {
    return rank === undefined ? this.absent : `${tied ? "=" : ""}${rank}`
  }

  private range({ scoreInterval }: ParticipantAnalysis): string {
    if (scoreInterval === undefined) return this.absent
    return `${number(scoreInterval.low, 2)}${this.style.signs.to}${number(scoreInterval.high, 2)}`
  }

  private distributions(): ReadonlyArray<string> {
    const { first } = this
    if (first === undefined) return []
    const distributed = this.participants.flatMap((participant): ReadonlyArray<Distributed> => {
      const distribution = distributionOf(participant, first.key)
      return distribution === undefined ? [] : [{ name: oneLine(participant.name), distribution }]
    })
    const drawn = plots(first, distributed, this.style)
    return drawn === undefined ? [] : [this.section(`${this.title(first)}: ${legend(distributed)}`, drawn)]
  }

  // ---------------------------------------------------------------------------
  // what else was measured
  // ---------------------------------------------------------------------------

  private otherMetrics(): ReadonlyArray<string> {
    const rest = this.view.analysis.metrics.filter((metric) => metric !== this.first && metric.kind === "data")
    const isNamed = (metric: MetricInfo): boolean => metric.scored || metric.declared !== undefined
    const others = rest.filter((metric) => !isNamed(metric))
    const shown = [...rest.filter(isNamed), ...others.slice(0, maxOtherMetrics)]
    const more = others.slice(maxOtherMetrics)
    const rows = shown.flatMap((metric) =>
      this.participants
        .filter(({ skipped }) => !skipped)
        .map((participant) => [
          this.title(metric),
          participant.name,
          String(distributionOf(participant, metric.key)?.count ?? 0),
          ...this.stats(metric, participant)
        ])
    )
    if (rows.length === 0) return []
    const columns = [{ title: "metric", cut: true, key: true }, this.nameColumn, right("samples"), ...this.statColumns]
    const named = more.slice(0, 10).map(({ label }) => this.said(label, 30))
    const end =
      more.length === 0
        ? ""
        : `\n${this.prose(`And ${plural(more.length, "more metric")}, which bench export gives: ${named.join(", ")}.`)}`
    return [this.section("Also measured", `${this.table(columns, rows)}${end}`)]
  }

  /** Steps of all participants, and the whole task where it is not shown above. */
  private steps(): ReadonlyArray<string> {
    const latencies = this.view.analysis.metrics.filter((metric) => metric !== this.first && metric.kind !== "data")
    const hasSteps = latencies.some(({ kind }) => kind === "step")
    const rows = latencies.flatMap((metric) =>
      this.participants.flatMap((participant) => {
        const measured = participant.metrics.find(({ key }) => key === metric.key)
        if (measured === undefined) return []
        const { distribution, total } = measured
        return [
          [
            ...(hasSteps ? [metric.kind === "task" ? "(whole task)" : metric.label] : []),
            participant.name,
            String(total),
            total === 0 ? this.absent : percent((distribution?.count ?? 0) / total),
            ...this.stats(metric, participant)
          ]
        ]
      })
    )
    const [only] = latencies
    if (rows.length === 0 || only === undefined) return []
    const step = hasSteps ? [{ title: "step", cut: true, key: true }] : []
    const columns = [...step, this.nameColumn, right("count"), right("success"), ...this.statColumns]
    return [this.section(hasSteps ? "Steps (ms)" : this.title(only), this.table(columns, rows))]
  }

  // ---------------------------------------------------------------------------
  // scores
  // ---------------------------------------------------------------------------

  private scores(): ReadonlyArray<string> {
    const { metrics, scoring } = this.view.analysis
    if (!this.participants.some(({ scoreParts }) => scoreParts.length > 0)) return []
    return (scoring?.metrics ?? []).map((spec) => {
      const trim = spec.trim ?? defaultTrim
      const kept = trim === 0 ? "over all samples" : `without ${percent(trim)} of the samples at each end`
      const info = metrics.find(({ key }) => key === spec.key)
      const name = info === undefined ? oneLine(spec.key) : this.title(info)
      const trimmed = trim === 0 ? "" : "trimmed "
      const scale =
        spec.higherIsBetter === true
          ? `${number(spec.floor ?? 0)} scores 0, ${number(spec.ceiling)} scores 100`
          : `0 scores 100, ${number(spec.ceiling)} scores 0`
      return this.section(
        `Scored on ${name} ${kept}: ${scale}`,
        this.table(
          [
            this.nameColumn,
            ...(["median", "p95", "p99"] as const).map((statistic) => right(trimmed + statistic)),
            right("points"),
            right("of")
          ],
          this.participants
            .filter(({ skipped }) => !skipped)
            .map((participant) => {
              const parts = participant.scoreParts.filter(({ metric }) => metric === spec.key)
              return [
                participant.name,
                ...(["median", "p95", "p99"] as const).map((statistic) =>
                  this.value(parts.find((part) => part.statistic === statistic)?.value, info?.decimals)
                ),
                parts.length === 0
                  ? this.absent
                  : number(
                      sumOf(parts, ({ points }) => points),
                      2
                    ),
                parts.length === 0 ? this.absent : number(100 * sumOf(parts, ({ weight }) => weight), 2)
              ]
            })
        )
      )
    })
  }

  private groups(): ReadonlyArray<string> {
    const key = this.view.analysis.scoring?.groupBy
    const rows = this.participants.flatMap(({ groups }) => groups)
    if (key === undefined || rows.length === 0) return []
    const { first } = this
    const stats = (row: SummaryRow): ReadonlyArray<string> => {
      const raw = row.metrics.find(({ name }) => name === first?.key)?.raw
      return [raw?.min, raw?.median, raw?.p95, raw?.p99, raw?.max].map((value) => this.value(value, first?.decimals))
    }
    return [
      this.section(
        `By ${oneLine(key)}`,
        this.table(
          [
            { title: key, cut: true, key: true },
            this.nameColumn,
            right("success"),
            ...this.statColumns,
            right("score")
          ],
          rows.map((row) => [
            groupText(row.dimensions[key], this.absent),
            row.provider,
            percent(row.successRate),
            ...stats(row),
            this.value(row.skipped ? undefined : row.compositeScore, 2)
          ])
        )
      )
    ]
  }

  // ---------------------------------------------------------------------------
  // what to know
  // ---------------------------------------------------------------------------

  private failures(): ReadonlyArray<string> {
    const { red, signs } = this.style
    const lines = this.participants.flatMap(({ failures, name }) =>
      failures.slice(0, maxFailures).map(({ code, count, message, step, taskIndexes }) => {
        const where = step === undefined ? "" : ` in ${this.cut(step)}`
        const said = message === undefined ? "" : `: ${this.said(message, maxMessage)}`
        const which = ` (${taskIndexes.length < count ? "first at " : ""}task${count === 1 ? "" : "s"} ${listed(taskIndexes, signs.cut)})`
        return this.item(`${this.cut(name)}: ${count} ${signs.times} ${this.cut(code)}${where}${which}${said}`)
      })
    )
    const more = this.participants.flatMap(({ failures, name }) =>
      failures.length > maxFailures
        ? [this.item(`${this.cut(name)}: ${plural(failures.length - maxFailures, "more kind")} of failure`)]
        : []
    )
    return lines.length === 0 ? [] : [`${red("Failures:")}\n${[...lines, ...more].join("\n")}`]
  }

  private warnings(): ReadonlyArray<string> {
    const { warnings } = this.view.analysis
    const lines = warnings.slice(0, maxWarnings).map(({ text }) => this.item(this.said(text, maxText)))
    const more = warnings.length - maxWarnings
    const rest = more > 0 ? [this.item(`and ${plural(more, "more warning")}: bench results --json`)] : []
    return lines.length === 0 ? [] : [`${this.style.yellow("Warnings:")}\n${[...lines, ...rest].join("\n")}`]
  }

  private notes(): ReadonlyArray<string> {
    const lines = this.view.notes.map((note) => this.item(this.said(note, maxText)))
    return lines.length === 0 ? [] : [`Notes:\n${lines.join("\n")}`]
  }

  // ---------------------------------------------------------------------------
  // pieces
  // ---------------------------------------------------------------------------

  private get absent(): string {
    return this.style.signs.absent
  }

  private get nameColumn(): Column {
    return { title: "participant", cut: true, key: true }
  }

  private get statColumns(): ReadonlyArray<Column> {
    return ["min", "median", "p95", "p99", "max"].map((title) => right(title))
  }

  /** Over all samples. */
  private stats(metric: MetricInfo | undefined, participant: ParticipantAnalysis): ReadonlyArray<string> {
    const all = metric === undefined ? undefined : distributionOf(participant, metric.key)
    return [all?.min, all?.median, all?.p95, all?.p99, all?.max].map((value) => this.value(value, metric?.decimals))
  }

  private value(value: number | undefined, decimals?: number): string {
    return value === undefined || !Number.isFinite(value) ? this.absent : number(value, decimals)
  }

  private title({ label, unit }: MetricInfo): string {
    return unit === "" ? this.cut(label) : `${this.cut(label)} (${this.cut(unit)})`
  }

  private cut(text: string): string {
    return fit(oneLine(text), Math.min(60, this.style.columns ?? 60), this.style.signs.cut)
  }

  private table(columns: ReadonlyArray<Column>, rows: ReadonlyArray<ReadonlyArray<string>>): string {
    const { columns: available, dim, signs } = this.style
    return table(columns, rows, { columns: available, paintTitle: dim, mark: signs.cut })
  }

  private section(title: string, body: string): string {
    return `${this.style.bold(this.prose(`${title}:`))}\n${body}`
  }

  private prose(text: string): string {
    return wrap(text, this.style.columns)
  }

  private item(text: string): string {
    return wrap(text, this.style.columns, "  ", "    ")
  }

  /** What others have written, on one line, and what they have left out as this terminal shows it. */
  private said(text: string, longest: number): string {
    const { cut } = this.style.signs
    return fit(oneLine(text), longest, cut).replaceAll("…", cut)
  }
}

const distributionOf = (participant: ParticipantAnalysis, key: string) =>
  participant.metrics.find((metric) => metric.key === key)?.distribution

const sumOf = (parts: ReadonlyArray<ScorePart>, value: (part: ScorePart) => number): number =>
  parts.reduce((sum, part) => sum + value(part), 0)

const listed = (indexes: ReadonlyArray<number>, cut: string): string =>
  indexes.length > 5 ? `${indexes.slice(0, 5).join(", ")}, ${cut}` : indexes.join(", ")

const groupText = (value: unknown, absent: string): string =>
  typeof value === "string" ? value : value === undefined ? absent : JSON.stringify(value)
