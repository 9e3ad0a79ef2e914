/** The metrics of a run as they are read: names and units without surprises, and as many decimals in all of its numbers. */
import type {
  Distribution,
  Interval,
  MetricAnalysis,
  MetricInfo,
  ParticipantAnalysis,
  RunAnalysis
} from "../analysis/model.js"
import { absent, decimalsFor, figure } from "./numbers.js"
import { nameText, plain } from "./plainText.js"

export interface Measure {
  readonly info: MetricInfo
  readonly label: string
  /** Empty when it is not known. */
  readonly unit: string
  /** The label with its unit. */
  readonly title: string
  readonly show: (value: number | undefined) => string
  /** With its unit. */
  readonly withUnit: (value: number | undefined) => string
  /** Empty without one. */
  readonly interval: (interval: Interval | undefined) => string
}

export const measureOf = (analysis: RunAnalysis, info: MetricInfo): Measure => {
  const label = nameText(info.label)
  const unit = plain(info.unit, 24)
  // Steps are read side by side.
  const alike = info.kind === "step" ? analysis.metrics.filter(({ kind }) => kind === "step") : [info]
  const decimals = info.decimals ?? decimalsFor(alike.flatMap(({ key }) => rangesOf(analysis, key)))
  const show = (value: number | undefined): string => figure(value, decimals)
  return {
    info,
    label,
    unit,
    title: unit === "" ? label : `${label} (${unit})`,
    show,
    withUnit: (value) => {
      const text = show(value)
      return unit === "" || text === absent ? text : `${text}\u00a0${unit}`
    },
    interval: (interval) => (interval === undefined ? "" : `[${show(interval.low)}, ${show(interval.high)}]`)
  }
}

export const measuresOf = (analysis: RunAnalysis): ReadonlyArray<Measure> =>
  analysis.metrics.map((info) => measureOf(analysis, info))

/** The measure that is shown first; undefined in a run that measured nothing at all. */
export const defaultMeasure = (analysis: RunAnalysis): Measure | undefined => {
  const info = analysis.metrics.find(({ key }) => key === analysis.defaultMetric) ?? analysis.metrics[0]
  return info === undefined ? undefined : measureOf(analysis, info)
}

export const metricOf = (participant: ParticipantAnalysis, key: string): MetricAnalysis | undefined =>
  participant.metrics.find((metric) => metric.key === key)

export const distributionOf = (participant: ParticipantAnalysis, key: string): Distribution | undefined =>
  metricOf(participant, key)?.distribution

/** Whether any participant has samples of it. */
export const hasSamples = (analysis: RunAnalysis, key: string): boolean =>
  analysis.participants.some((participant) => distributionOf(participant, key) !== undefined)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const rangesOf = (analysis: RunAnalysis, key: string): ReadonlyArray<number> =>
  analysis.participants.flatMap((participant) => {
    const distribution = distributionOf(participant, key)
    return distribution === undefined ? [] : [distribution.min, distribution.median, distribution.max]
  })
