/** What else differs between two runs: where it does, they may not be measuring the same. */
import type { RunAnalysis } from "../../Analysis.js"

export const differencesBetween = (baseline: RunAnalysis, candidate: RunAnalysis): ReadonlyArray<string> => [
  ...(baseline.benchmark.slug === candidate.benchmark.slug
    ? []
    : [`they are of different benchmarks: ${baseline.benchmark.slug} and ${candidate.benchmark.slug}`]),
  ...settings.flatMap((key) => differs(key, baseline.run.config?.[key], candidate.run.config?.[key])),
  ...environmentOf(baseline, candidate),
  ...[baseline, candidate].flatMap(({ run }) =>
    run.status === "completed" ? [] : [`run ${run.id.slice(0, 8)} is ${run.status.replace("_", " ")}`]
  )
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const settings = ["iterations", "phases", "concurrency", "staggerDelayMs", "groupBy", "dimensions", "scoring"]

const differs = (what: string, before: unknown, after: unknown): ReadonlyArray<string> => {
  const [first, second] = [text(before), text(after)]
  return first === second ? [] : [`${what} differs: ${first} and ${second}`]
}

const text = (value: unknown): string => {
  const json = typeof value === "string" ? value : (JSON.stringify(value) ?? "none")
  return json.length > 80 ? `${json.slice(0, 79)}…` : json
}

const environmentOf = (baseline: RunAnalysis, candidate: RunAnalysis): ReadonlyArray<string> => {
  const after = new Map(candidate.environment.map(({ label, value }) => [label, value]))
  return baseline.environment.flatMap(({ label, value }) => {
    const other = after.get(label)
    return other === undefined || other === value || isExpected(label)
      ? []
      : [`${label} differs: ${value} and ${other}`]
  })
}

/** What two runs are compared for. */
const isExpected = (label: string): boolean => /git|commit|branch|trigger/i.test(label)
