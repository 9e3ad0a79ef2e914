/** What there is to measure in a run, and in which order it is shown. */
import type { Display, DisplayMetric, ScoringConfig } from "../../Config.js"
import type { Kind, Measurements } from "./measurements.js"
import { stepKey, taskKey } from "./measurements.js"
import type { MetricInfo } from "./model.js"

/** The default one first, then scored ones, declared ones, others, steps, the task last. */
export const metricsOf = (
  measurements: Measurements,
  scoring: ScoringConfig | undefined,
  display: Display | undefined
): { readonly metrics: ReadonlyArray<MetricInfo>; readonly defaultMetric: string } => {
  const measured = new Map<string, Kind>()
  for (const name of measurements.names) {
    for (const { key, kind } of measurements.of(name).keys) measured.set(key, kind)
  }
  const declared = [...(display?.metrics ?? [])].sort(byOrder)
  const scored = (scoring?.metrics ?? []).map(({ key }) => key)
  const defaultMetric = defaultOf(measured, scored, declared, display)
  const stepOrder = [...(display?.steps ?? [])].sort(byOrder).map(({ key }) => stepKey(key))
  const steps = keysOf(measured, "step")
  const keys = new Set([
    defaultMetric,
    ...scored,
    ...declared.map(({ key }) => key).filter((key) => key !== taskKey),
    // What tells groups apart is no measure.
    ...keysOf(measured, "data").filter((key) => key !== scoring?.groupBy),
    ...stepOrder.filter((key) => measured.has(key)),
    ...steps,
    taskKey
  ])
  return {
    defaultMetric,
    metrics: Array.from(keys, (key) => infoOf(key, measured.get(key) ?? kindOf(key), scoring, display))
  }
}

/** As a person would say it: with its unit, if that is known. */
export const nameOf = ({ label, unit }: Pick<MetricInfo, "label" | "unit">): string =>
  unit === "" ? label : `${label} (${unit})`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const byOrder = (a: { readonly order?: number | undefined }, b: { readonly order?: number | undefined }): number =>
  (a.order ?? Number.MAX_SAFE_INTEGER) - (b.order ?? Number.MAX_SAFE_INTEGER)

const keysOf = (measured: ReadonlyMap<string, Kind>, wanted: Kind): ReadonlyArray<string> =>
  Array.from(measured).flatMap(([key, kind]) => (kind === wanted ? [key] : []))

const kindOf = (key: string): Kind => (key === taskKey ? "task" : "data")

const defaultOf = (
  measured: ReadonlyMap<string, Kind>,
  scored: ReadonlyArray<string>,
  declared: ReadonlyArray<DisplayMetric>,
  display: Display | undefined
): string => {
  const wanted = display?.overview?.defaultMetric
  if (wanted !== undefined && wanted !== "compositeScore") return wanted
  return scored[0] ?? declared.find(({ key }) => measured.has(key))?.key ?? taskKey
}

const infoOf = (
  key: string,
  kind: Kind,
  scoring: ScoringConfig | undefined,
  display: Display | undefined
): MetricInfo => {
  const declared = display?.metrics?.find((metric) => metric.key === key)
  const scored = scoring?.metrics.find((metric) => metric.key === key)
  const shown = { declared, decimals: declared?.decimals, scored: kind === "data" && scored !== undefined }
  const higherIsBetter = scored?.higherIsBetter ?? declared?.direction === "higher-better"
  switch (kind) {
    case "task":
      return {
        ...shown,
        key,
        kind,
        label: declared?.label ?? "task latency",
        unit: declared?.unit ?? "ms",
        higherIsBetter
      }
    case "step": {
      const name = key.slice(stepKey("").length)
      const label = display?.steps?.find((step) => step.key === name)?.label ?? name
      return { ...shown, key, kind, label, unit: "ms", higherIsBetter: false }
    }
    case "data":
      return {
        ...shown,
        key,
        kind,
        label: declared?.label ?? scored?.label ?? key,
        unit: declared?.unit ?? scored?.unit ?? "",
        higherIsBetter
      }
  }
}
