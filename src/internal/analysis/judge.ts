/** From measurements to what every view of a run shows. */
import * as Hash from "effect/Hash"
import type { Display, ScoringConfig } from "../../Config.js"
import type { RunStatus, RunSummary, SummaryRow } from "../../Platform.js"
import type { Estimate } from "./distribution.js"
import { distributionOf } from "./distribution.js"
import { environmentOf } from "./environment.js"
import { estimateWith, generator } from "./inference.js"
import type { Measurements, Series, Tasks } from "./measurements.js"
import { counting, nothing } from "./measurements.js"
import { metricsOf } from "./metrics.js"
import type { Interval, Judgement, MetricAnalysis, MetricInfo, MetricPoint, ParticipantAnalysis } from "./model.js"
import { partsOf } from "./score.js"
import type { Contestant } from "./standings.js"
import { standings } from "./standings.js"
import { warningsOf } from "./warnings.js"

/** What is known of a run besides its records. */
export interface About {
  readonly benchmark: Judgement["benchmark"]
  /** Those that were to run, in their order. */
  readonly participants: ReadonlyArray<string>
  readonly rows: ReadonlyArray<SummaryRow> | undefined
  readonly summary: Pick<RunSummary, "run"> | undefined
  readonly scoring: ScoringConfig | undefined
  readonly display: Display | undefined
  /** What is stored as the config of the run. */
  readonly config: unknown
  /** Over how many workers the tasks of a participant were split. Default 1. */
  readonly workerCounts?: Readonly<Record<string, number>> | undefined
  /** Undefined when the run is not recorded. */
  readonly progress: { readonly status: RunStatus; readonly totalTasks: number } | undefined
}

export interface Options {
  /** Confidence level of every interval, a fraction. Default 0.95. */
  readonly level?: number | undefined
  /** An integer: the same records and the same seed give the same intervals. Default 1. */
  readonly seed?: number | undefined
}

export const judge = (measurements: Measurements, about: About, options: Options = {}): Judgement => {
  const level = options.level ?? 0.95
  const { display, rows, scoring } = about
  const { defaultMetric, metrics } = metricsOf(measurements, scoring, display)
  const names = [
    ...new Set([...about.participants, ...measurements.names, ...(rows ?? []).map(({ provider }) => provider)])
  ]
  const all = names.map((name) => measurements.of(name))
  const startedAt = earliest(all.map(({ first }) => first))
  const random = (name: string) => generator((options.seed ?? 1) + Hash.string(name))
  const contestants = names.map((name) => {
    const tasks = measurements.of(name)
    const own = (rows ?? []).filter(({ provider }) => provider === name)
    const estimate = estimateWith({ level, random: random(name) })
    return contestantOf(name, tasks, own, { metrics, defaultMetric, scoring, estimate, origin: startedAt?.at })
  })
  const { places, rankedBy, scoreIntervals } = standings(
    contestants.filter(({ taskCount }) => taskCount > 0),
    { measurements, scoring, metric: metrics.find(({ key }) => key === defaultMetric), level, random }
  )
  const placed = places.map(({ participant, rank, tied }) => toAnalysis(participant, rank, tied, scoreIntervals))
  const skipped = contestants
    .filter(({ taskCount }) => taskCount === 0)
    .map((contestant) => toAnalysis(contestant, undefined, false, scoreIntervals))
  const participants = [...placed, ...skipped]
  return {
    benchmark: about.benchmark,
    defaultMetric,
    metrics,
    participants,
    rankedBy,
    scoring,
    display,
    environment: environmentOf(about.config, about.summary),
    warnings: warningsOf({ participants, metrics, defaultMetric, measurements, about }),
    startedAt: startedAt?.text,
    completedAt: latest(all.map(({ last }) => last))?.text
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Unplaced = Omit<ParticipantAnalysis, "rank" | "tied" | "scoreInterval"> & Contestant

const toAnalysis = (
  { isComputed: _, median: __, ...participant }: Unplaced,
  rank: number | undefined,
  tied: boolean,
  scoreIntervals: ReadonlyMap<string, Interval>
): ParticipantAnalysis => ({ ...participant, rank, tied, scoreInterval: scoreIntervals.get(participant.name) })

const contestantOf = (
  name: string,
  tasks: Tasks,
  rows: ReadonlyArray<SummaryRow>,
  context: {
    readonly metrics: ReadonlyArray<MetricInfo>
    readonly defaultMetric: string
    readonly scoring: ScoringConfig | undefined
    readonly estimate: Estimate
    readonly origin: number | undefined
  }
): Unplaced => {
  const [total, ...groups] = rows
  const { count, failures, passed, phases } = tasks
  const metrics = context.metrics.flatMap(({ key }) => {
    const series = tasks.series(key)
    return series === undefined ? [] : [metricOf(key, series, tasks, context)]
  })
  const scoreParts = partsOf(total, context.scoring)
  const elapsedMs = elapsedOf(tasks)
  return {
    name,
    skipped: count === 0,
    taskCount: count,
    successCount: passed,
    errorCount: count - passed,
    successRate: count === 0 ? undefined : passed / count,
    score: count === 0 || total === undefined || total.skipped ? undefined : finite(total.compositeScore),
    scoreParts,
    isComputed: scoreParts.length > 0,
    median: metrics.find(({ key }) => key === context.defaultMetric)?.distribution?.median,
    groups,
    metrics,
    failures: failures.list,
    elapsedMs,
    throughput: elapsedMs === undefined || elapsedMs === 0 ? undefined : (1000 * count) / elapsedMs,
    phases: [...phases]
  }
}

const metricOf = (
  key: string,
  series: Series,
  tasks: Tasks,
  { estimate, origin }: { readonly estimate: Estimate; readonly origin: number | undefined }
): MetricAnalysis => {
  let points: ReadonlyArray<MetricPoint> | undefined = undefined
  return {
    key,
    total: series.values.length,
    distribution: distributionOf(counting(series).sort(), estimate),
    get points() {
      return (points ??= pointsOf(tasks, key, origin))
    }
  }
}

const pointsOf = (tasks: Tasks, key: string, origin: number | undefined): ReadonlyArray<MetricPoint> => {
  const { phaseAt, startedAt, taskIndexes } = tasks
  const { ok, rows, values } = tasks.series(key) ?? nothing
  const points: Array<MetricPoint> = []
  for (let i = 0; i < values.length; i++) {
    const row = rows[i] ?? 0
    const at = (startedAt[row] ?? Number.NaN) - (origin ?? Number.NaN)
    points.push({
      taskIndex: taskIndexes[row] ?? 0,
      value: values[i] ?? 0,
      ok: ok[i] === 1,
      atMs: Number.isNaN(at) ? undefined : at,
      phase: phaseAt(row)
    })
  }
  return points
}

const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined)

const elapsedOf = ({ first, last }: Tasks): number | undefined =>
  first === undefined || last === undefined || last.at < first.at ? undefined : last.at - first.at

type Moment = NonNullable<Tasks["first"]>

const earliest = (moments: ReadonlyArray<Moment | undefined>): Moment | undefined =>
  moments.reduce(
    (best, moment) => (moment !== undefined && !(moment.at >= (best?.at ?? Infinity)) ? moment : best),
    undefined
  )

const latest = (moments: ReadonlyArray<Moment | undefined>): Moment | undefined =>
  moments.reduce(
    (best, moment) => (moment !== undefined && !(moment.at <= (best?.at ?? -Infinity)) ? moment : best),
    undefined
  )
