/** A run as JSON for other programs: all digits, and no number that JSON cannot hold. */
import * as Schema from "effect/Schema"
import type { Verdict } from "../../Gates.js"
import { Data } from "../../Record.js"
import type { Distribution, Interval, ParticipantAnalysis, RunAnalysis } from "../analysis/model.js"
import { exact } from "./numbers.js"

const number = Schema.NullOr(Schema.Number)

const text = Schema.NullOr(Schema.String)

const described = <A, I>(schema: Schema.Schema<A, I>, description: string) => schema.annotations({ description })

const IntervalDocument = Schema.Struct({
  low: Schema.Number,
  high: Schema.Number,
  level: described(Schema.Number, "Confidence level, a fraction.")
}).annotations({ identifier: "ReportInterval" })

const DistributionDocument = Schema.Struct({
  count: Schema.Int,
  min: Schema.Number,
  q1: Schema.Number,
  median: Schema.Number,
  q3: Schema.Number,
  p90: Schema.Number,
  p95: Schema.Number,
  p99: Schema.Number,
  p999: Schema.Number,
  max: Schema.Number,
  mean: Schema.Number,
  stdDev: described(number, "Sample standard deviation; null of fewer than 2 samples."),
  medianInterval: Schema.NullOr(IntervalDocument),
  p95Interval: Schema.NullOr(IntervalDocument),
  histogram: Schema.Array(Schema.Struct({ from: Schema.Number, to: Schema.Number, count: Schema.Int }))
}).annotations({ identifier: "ReportDistribution", description: "Percentiles are nearest-rank, of all samples." })

const ParticipantDocument = Schema.Struct({
  name: Schema.String,
  skipped: Schema.Boolean,
  rank: described(Schema.NullOr(Schema.Int), "From 1; null when skipped."),
  tied: described(Schema.Boolean, "Whether it shares its rank."),
  taskCount: Schema.Int,
  successCount: Schema.Int,
  errorCount: Schema.Int,
  successRate: described(number, "A fraction; null without tasks."),
  score: described(number, "From 0 to 100; null when the benchmark does not score."),
  scoreInterval: Schema.NullOr(IntervalDocument),
  scoreParts: Schema.Array(
    Schema.Struct({
      metric: Schema.String,
      statistic: Schema.Literal("median", "p95", "p99"),
      weight: Schema.Number,
      value: described(number, "Of the trimmed samples; null without any."),
      statScore: Schema.Number,
      points: described(Schema.Number, "weight × statScore × successRate.")
    })
  ),
  groups: Schema.Array(
    Schema.Struct({
      dimensions: Data,
      score: number,
      successRate: Schema.Number,
      metrics: Schema.Array(
        Schema.Struct({
          name: Schema.String,
          unit: Schema.String,
          median: Schema.Number,
          p95: Schema.Number,
          p99: Schema.Number
        }).annotations({ description: "Of the trimmed samples." })
      )
    })
  ),
  metrics: Schema.Array(
    Schema.Struct({ key: Schema.String, distribution: Schema.NullOr(DistributionDocument) }).annotations({
      description: "In the order of the metrics of the run; the distribution is null without samples."
    })
  ),
  failures: Schema.Array(
    Schema.Struct({
      code: Schema.String,
      count: Schema.Int,
      step: text,
      message: text,
      taskIndexes: described(Schema.Array(Schema.Int), "The first 20 at most.")
    })
  ),
  elapsedMs: number,
  throughput: described(number, "Tasks a second."),
  phases: Schema.Array(Schema.String)
}).annotations({ identifier: "ReportParticipant" })

export const Document = Schema.Struct({
  version: Schema.Literal(1),
  generatedAt: text,
  benchmark: Schema.Struct({ slug: Schema.String, name: Schema.String }),
  run: Schema.Struct({
    id: Schema.String,
    name: text,
    runKey: text,
    status: Schema.String,
    createdAt: Schema.String,
    startedAt: text,
    completedAt: text
  }),
  rankedBy: Schema.String,
  defaultMetric: Schema.String,
  metrics: Schema.Array(
    Schema.Struct({
      key: described(Schema.String, "`task`, `step:NAME`, or the key in the data."),
      kind: Schema.Literal("task", "step", "data"),
      label: Schema.String,
      unit: Schema.String,
      higherIsBetter: Schema.Boolean,
      scored: Schema.Boolean
    })
  ),
  participants: described(Schema.Array(ParticipantDocument), "Best first; skipped ones last."),
  gates: Schema.Array(
    Schema.Struct({
      participant: Schema.String,
      passed: Schema.Boolean,
      measured: number,
      samples: Schema.Int,
      text: Schema.String
    })
  ),
  warnings: Schema.Array(Schema.Struct({ kind: Schema.String, participant: text, metric: text, text: Schema.String })),
  environment: Schema.Array(Schema.Struct({ label: Schema.String, value: Schema.String }))
}).annotations({ identifier: "Report" })

export type Document = typeof Document.Type

export interface DocumentOptions {
  readonly generatedAt: string | undefined
  readonly gates: ReadonlyArray<Verdict>
}

export const documentOf = (analysis: RunAnalysis, { gates, generatedAt }: DocumentOptions): Document => {
  const { run } = analysis
  return {
    version: 1,
    generatedAt: generatedAt ?? null,
    benchmark: { slug: analysis.benchmark.slug, name: analysis.benchmark.name },
    run: {
      id: run.id,
      name: run.name ?? null,
      runKey: run.runKey ?? null,
      status: run.status,
      createdAt: run.createdAt,
      startedAt: analysis.startedAt ?? null,
      completedAt: analysis.completedAt ?? null
    },
    rankedBy: analysis.rankedBy,
    defaultMetric: analysis.defaultMetric,
    metrics: analysis.metrics.map(({ higherIsBetter, key, kind, label, scored, unit }) => ({
      key,
      kind,
      label,
      unit,
      higherIsBetter,
      scored
    })),
    participants: analysis.participants.map(participantOf),
    gates: gates.map(({ measured, participant, passed, samples, text }) => ({
      participant,
      passed,
      measured: exact(measured) ?? null,
      samples,
      text
    })),
    warnings: analysis.warnings.map(({ kind, metric, participant, text }) => ({
      kind,
      participant: participant ?? null,
      metric: metric ?? null,
      text
    })),
    environment: analysis.environment.map(({ label, value }) => ({ label, value }))
  }
}

/** Text that a terminal or a page would act on is escaped, so that the document can be shown and embedded as it is. */
export const documentText = (document: Document): string =>
  `${JSON.stringify(document, null, 2).replace(
    /[<\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )}\n`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const participantOf = (participant: ParticipantAnalysis): Document["participants"][number] => ({
  name: participant.name,
  skipped: participant.skipped,
  rank: participant.rank ?? null,
  tied: participant.tied,
  taskCount: participant.taskCount,
  successCount: participant.successCount,
  errorCount: participant.errorCount,
  successRate: exact(participant.successRate) ?? null,
  score: exact(participant.score) ?? null,
  scoreInterval: intervalOf(participant.scoreInterval),
  scoreParts: participant.scoreParts.map(({ metric, points, statScore, statistic, value, weight }) => ({
    metric,
    statistic,
    weight,
    value: exact(value) ?? null,
    statScore,
    points
  })),
  groups: participant.groups.map(({ compositeScore, dimensions, metrics, skipped, successRate }) => ({
    dimensions,
    score: skipped ? null : (exact(compositeScore) ?? null),
    successRate,
    metrics: metrics.map(({ median, name, p95, p99, unit }) => ({ name, unit, median, p95, p99 }))
  })),
  metrics: participant.metrics.map(({ distribution, key }) => ({ key, distribution: distributionOf(distribution) })),
  failures: participant.failures.map(({ code, count, message, step, taskIndexes }) => ({
    code,
    count,
    step: step ?? null,
    message: message ?? null,
    taskIndexes
  })),
  elapsedMs: exact(participant.elapsedMs) ?? null,
  throughput: exact(participant.throughput) ?? null,
  phases: participant.phases
})

const distributionOf = (
  distribution: Distribution | undefined
): Document["participants"][number]["metrics"][number]["distribution"] =>
  distribution === undefined
    ? null
    : {
        ...distribution,
        stdDev: exact(distribution.stdDev) ?? null,
        medianInterval: intervalOf(distribution.medianInterval),
        p95Interval: intervalOf(distribution.p95Interval)
      }

const intervalOf = (interval: Interval | undefined): Interval | null => interval ?? null
