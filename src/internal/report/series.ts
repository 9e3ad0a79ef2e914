/** What charts show of a run. */
import type { MetricPoint, ParticipantAnalysis, RunAnalysis } from "../analysis/model.js"
import type { BoxRow } from "../charts/boxes.js"
import type { Sample } from "../charts/columns.js"
import { cumulativeOf } from "../charts/columns.js"
import { seriesCount } from "../charts/palette.js"
import type { StackRow } from "../charts/stacks.js"
import type { TimelineRow } from "../charts/timeline.js"
import type { Measure } from "./measures.js"
import { distributionOf, metricOf } from "./measures.js"
import { nameText } from "./plainText.js"
import { stepMeasures } from "./tables.js"

/** Participants with samples of the measure. */
export const boxRows = (analysis: RunAnalysis, measure: Measure): ReadonlyArray<BoxRow> =>
  analysis.participants.flatMap((participant) => {
    const found = distributionOf(participant, measure.info.key)
    if (found === undefined) return []
    const { max, median, min, p95, p99, q1, q3 } = found
    return [{ name: nameText(participant.name), min, q1, median, q3, p95, p99, max, text: measure.show(median) }]
  })

export interface CumulativeLine {
  readonly name: string
  readonly points: ReadonlyArray<Sample>
}

/** As many points as one can see in a line. */
const linePoints = 160

/** The first participants, as many as there are colours to tell them apart. */
export const cumulativeLines = (analysis: RunAnalysis, measure: Measure): ReadonlyArray<CumulativeLine> =>
  analysis.participants
    .flatMap((participant) => {
      if (distributionOf(participant, measure.info.key) === undefined) return []
      const sorted = Float64Array.from(passing(pointsOf(participant, measure.info.key)), ({ value }) => value).sort()
      return sorted.length === 0 ? [] : [{ name: nameText(participant.name), points: cumulativeOf(sorted, linePoints) }]
    })
    .slice(0, seriesCount)

/** Panels beyond so many are left out. */
export const maxPanels = 12

export interface Timeline {
  readonly unit: string
  readonly rows: ReadonlyArray<TimelineRow>
  /** Participants that are left out. */
  readonly more: number
}

/** What each participant's tasks took or measured, from the start of its first task on; undefined when nothing did. */
export const timelineOf = (analysis: RunAnalysis, measure: Measure): Timeline | undefined => {
  const all = analysis.participants.flatMap((participant) => {
    const points = pointsOf(participant, measure.info.key)
    const tasks = pointsOf(participant, "task")
    return points.length + tasks.length === 0 ? [] : [{ participant, points, tasks }]
  })
  if (!all.some(({ points }) => points.length > 0)) return undefined
  const isTimed = all.every(({ points, tasks }) => [points, tasks].every((list) => list.every(hasTime)))
  const position = (point: MetricPoint): number => (isTimed ? (point.atMs ?? 0) : point.taskIndex)
  const shown = all.slice(0, maxPanels)
  const origins = shown.map(({ points, tasks }) => least([...points, ...tasks].map(position)))
  const span = Math.max(
    ...shown.map(({ points, tasks }, i) => greatest([...points, ...tasks].map(position)) - (origins[i] ?? 0))
  )
  const [unit, scale] = !isTimed
    ? ["tasks", 1]
    : span < 2000
      ? ["milliseconds", 1]
      : span < 600_000
        ? ["seconds", 1000]
        : ["minutes", 60_000]
  return {
    unit: `${unit} after its first task`,
    more: all.length - shown.length,
    rows: shown.map(({ participant, points, tasks }, i) => {
      const x = (point: MetricPoint): number => (position(point) - (origins[i] ?? 0)) / scale
      const failed = [...(tasks.length > 0 ? tasks : points)].filter(({ ok }) => !ok)
      return {
        name: nameText(participant.name),
        samples: passing(points)
          .map((point) => ({ x: x(point), y: point.value }))
          .sort((a, b) => a.x - b.x),
        failures: failed.map(x).sort((a, b) => a - b),
        phases: phasesOf(participant, tasks.length > 0 ? tasks : points, x)
      }
    })
  }
}

export interface Breakdown {
  readonly parts: ReadonlyArray<string>
  readonly rows: ReadonlyArray<StackRow>
}

/** Medians of steps; more steps than there are colours are added up as one. Undefined in a run without steps. */
export const breakdownOf = (analysis: RunAnalysis): Breakdown | undefined => {
  const steps = stepMeasures(analysis)
  const rows = analysis.participants.flatMap((participant) => {
    const values = steps.map(({ info }) => distributionOf(participant, info.key)?.median)
    return values.every((value) => value === undefined) ? [] : [{ name: nameText(participant.name), values }]
  })
  if (rows.length === 0) return undefined
  if (steps.length <= seriesCount) return { parts: steps.map(({ label }) => label), rows }
  const totals = steps.map((_, i) => rows.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
  const order = steps.map((_, i) => i).sort((a, b) => (totals[b] ?? 0) - (totals[a] ?? 0))
  const own = new Set(order.slice(0, seriesCount - 1))
  const kept = steps.flatMap((step, i) => (own.has(i) ? [{ step, i }] : []))
  return {
    parts: [...kept.map(({ step }) => step.label), `${steps.length - kept.length} other steps`],
    rows: rows.map(({ name, values }) => ({
      name,
      values: [
        ...kept.map(({ i }) => values[i]),
        values.reduce<number>((sum, value, i) => (own.has(i) ? sum : sum + (value ?? 0)), 0)
      ]
    }))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pointsOf = (participant: ParticipantAnalysis, key: string): ReadonlyArray<MetricPoint> =>
  metricOf(participant, key)?.points.filter(({ value }) => Number.isFinite(value)) ?? []

const passing = (points: ReadonlyArray<MetricPoint>): ReadonlyArray<MetricPoint> => points.filter(({ ok }) => ok)

const hasTime = ({ atMs }: MetricPoint): boolean => atMs !== undefined && Number.isFinite(atMs)

const least = (values: ReadonlyArray<number>): number => values.reduce((low, value) => Math.min(low, value), Infinity)

const greatest = (values: ReadonlyArray<number>): number =>
  values.reduce((high, value) => Math.max(high, value), -Infinity)

const phasesOf = (
  participant: ParticipantAnalysis,
  points: ReadonlyArray<MetricPoint>,
  x: (point: MetricPoint) => number
): TimelineRow["phases"] => {
  if (participant.phases.length < 2) return []
  const starts = new Map<string, number>()
  for (const point of points) {
    if (point.phase === undefined) continue
    starts.set(point.phase, Math.min(x(point), starts.get(point.phase) ?? Infinity))
  }
  return participant.phases.flatMap((phase) => {
    const start = starts.get(phase)
    return start === undefined ? [] : [{ name: nameText(phase), x: start }]
  })
}
