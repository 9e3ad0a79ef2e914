/** What a platform is asked for. */
import * as Schema from "effect/Schema"
import { Data, TaskRecord } from "../../Record.js"
import { Artifact, ConcurrencySample, RunStatus, WorkerStatus } from "./resources.js"
import { optionalOrNull } from "./schemas.js"

/**
 * Names a run within a benchmark. `run` is its full id.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunRef {
  readonly benchmark: string
  readonly run: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ParticipantRef extends RunRef {
  readonly participant: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface WorkerRef extends ParticipantRef {
  readonly worker: string
}

/**
 * Page of a listing, newest first: `limit` 1 to 500 (default 50), `offset` from 0 (default).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Page = Schema.Struct({
  limit: Schema.optional(Schema.Int.pipe(Schema.between(1, 500))),
  offset: Schema.optional(Schema.Int.pipe(Schema.nonNegative()))
})

/**
 * @since 0.1.0
 * @category models
 */
export interface Page extends Schema.Schema.Type<typeof Page> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const BenchmarkInput = Schema.Struct({
  name: optionalOrNull(Schema.String),
  status: optionalOrNull(Schema.String),
  config: optionalOrNull(Data),
  defaultRunConfig: optionalOrNull(Data)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface BenchmarkInput extends Schema.Schema.Type<typeof BenchmarkInput> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ParticipantInput = Schema.Struct({
  label: optionalOrNull(Schema.String),
  provider: optionalOrNull(Schema.String),
  status: optionalOrNull(RunStatus),
  totalTasks: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  workerCount: optionalOrNull(Schema.Int.pipe(Schema.positive())),
  config: optionalOrNull(Data)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface ParticipantInput extends Schema.Schema.Type<typeof ParticipantInput> {}

/**
 * Creating a run with the `runKey` of an existing one (of the same benchmark) returns that run.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RunInput = Schema.Struct({
  runKey: optionalOrNull(Schema.String),
  name: optionalOrNull(Schema.String),
  totalTasks: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  workerCount: optionalOrNull(Schema.Int.pipe(Schema.positive())),
  participants: optionalOrNull(
    Schema.Array(Schema.Struct({ slug: Schema.NonEmptyString, ...ParticipantInput.fields }))
  ),
  config: optionalOrNull(Data)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface RunInput extends Schema.Schema.Type<typeof RunInput> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const RunPatch = Schema.Struct({ status: optionalOrNull(RunStatus), config: optionalOrNull(Data) })

/**
 * @since 0.1.0
 * @category models
 */
export interface RunPatch extends Schema.Schema.Type<typeof RunPatch> {}

/**
 * With `targetConcurrency` every worker gets that many tasks (`workerCount` follows from it); otherwise the
 * participant's tasks are split evenly over `workerCount` (default 1) contiguous ranges.
 *
 * @since 0.1.0
 * @category schemas
 */
export const PlanWorkersInput = Schema.Struct({
  workerCount: optionalOrNull(Schema.Int.pipe(Schema.positive())),
  targetConcurrency: optionalOrNull(Schema.Int.pipe(Schema.positive())),
  config: optionalOrNull(Data)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface PlanWorkersInput extends Schema.Schema.Type<typeof PlanWorkersInput> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ClaimInput = Schema.Struct({
  processKind: optionalOrNull(Schema.String),
  processKey: optionalOrNull(Schema.String)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface ClaimInput extends Schema.Schema.Type<typeof ClaimInput> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const HeartbeatInput = Schema.Struct({
  attemptId: Schema.String,
  progressDone: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  progressInFlight: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  progressErrors: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  progressTotal: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  currentStep: optionalOrNull(Schema.String),
  concurrency: optionalOrNull(Schema.Array(ConcurrencySample))
})

/**
 * @since 0.1.0
 * @category models
 */
export interface HeartbeatInput extends Schema.Schema.Type<typeof HeartbeatInput> {}

/**
 * One batch of results. `sequenceNumber` counts from 0 per attempt; a repeated one is acknowledged and stored once.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TaskResultsInput = Schema.Struct({
  type: Schema.Literal("task_results"),
  attemptId: Schema.String,
  sequenceNumber: Schema.Int.pipe(Schema.nonNegative()),
  isFinal: Schema.Boolean,
  records: Schema.Array(TaskRecord)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface TaskResultsInput extends Schema.Schema.Type<typeof TaskResultsInput> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const CloseInput = Schema.Struct({
  attemptId: Schema.String,
  errorCode: optionalOrNull(Schema.String),
  errorMessage: optionalOrNull(Schema.String)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface CloseInput extends Schema.Schema.Type<typeof CloseInput> {}

/**
 * One scored row: a participant, or one group of its records. `median`, `p95`, `p99` are the trimmed statistics that
 * the score is computed from; `raw`, where present, are those of all samples.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SummaryRow = Schema.Struct({
  provider: Schema.String,
  dimensions: Data,
  metrics: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      unit: Schema.String,
      median: Schema.Number,
      p95: Schema.Number,
      p99: Schema.Number,
      raw: optionalOrNull(
        Schema.Struct({
          count: Schema.Int,
          min: Schema.Number,
          median: Schema.Number,
          p95: Schema.Number,
          p99: Schema.Number,
          max: Schema.Number
        })
      )
    })
  ),
  compositeScore: Schema.Number,
  successRate: Schema.Number,
  skipped: Schema.Boolean
}).annotations({ identifier: "SummaryRow" })

/**
 * @since 0.1.0
 * @category models
 */
export interface SummaryRow extends Schema.Schema.Type<typeof SummaryRow> {}

/**
 * The scored summary of a run, with where and on what it ran.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RunSummary = Schema.Struct({
  run: Schema.Struct({
    gitSha: optionalOrNull(Schema.String),
    gitRef: optionalOrNull(Schema.String),
    triggeredBy: optionalOrNull(Schema.String),
    nodeVersion: optionalOrNull(Schema.String),
    platform: optionalOrNull(Schema.String),
    arch: optionalOrNull(Schema.String)
  }),
  results: Schema.Array(SummaryRow),
  scoring: optionalOrNull(Schema.Unknown)
}).annotations({ identifier: "RunSummary" })

/**
 * @since 0.1.0
 * @category models
 */
export interface RunSummary extends Schema.Schema.Type<typeof RunSummary> {}

/**
 * Changes a worker by hand. An absent field leaves the value alone.
 *
 * @since 0.1.0
 * @category schemas
 */
export const WorkerPatch = Schema.Struct({
  status: optionalOrNull(WorkerStatus),
  progressDone: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  progressInFlight: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  progressErrors: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  progressTotal: optionalOrNull(Schema.Int.pipe(Schema.nonNegative())),
  currentStep: optionalOrNull(Schema.String)
}).annotations({ identifier: "WorkerPatch" })

/**
 * @since 0.1.0
 * @category models
 */
export interface WorkerPatch extends Schema.Schema.Type<typeof WorkerPatch> {}

/**
 * Announces an artifact; its bytes are uploaded next.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ArtifactInput = Schema.Struct({
  attemptId: Schema.String,
  kind: Schema.NonEmptyString,
  name: optionalOrNull(Schema.String),
  contentType: optionalOrNull(Schema.String),
  metadata: optionalOrNull(Data)
}).annotations({ identifier: "ArtifactInput" })

/**
 * @since 0.1.0
 * @category models
 */
export interface ArtifactInput extends Schema.Schema.Type<typeof ArtifactInput> {}

/**
 * Where to PUT the bytes of an artifact, with its content type, before the URL expires.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ArtifactUpload = Schema.Struct({
  artifact: Artifact,
  artifactId: Schema.String,
  uploadUrl: Schema.String,
  uploadUrlExpiresAt: optionalOrNull(Schema.String),
  objectKey: Schema.String
}).annotations({ identifier: "ArtifactUpload" })

/**
 * @since 0.1.0
 * @category models
 */
export interface ArtifactUpload extends Schema.Schema.Type<typeof ArtifactUpload> {}

/**
 * Where to GET the bytes of an artifact.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ArtifactDownload = Schema.Struct({
  artifact: Artifact,
  downloadUrl: Schema.String,
  downloadUrlExpiresAt: optionalOrNull(Schema.String)
}).annotations({ identifier: "ArtifactDownload" })

/**
 * @since 0.1.0
 * @category models
 */
export interface ArtifactDownload extends Schema.Schema.Type<typeof ArtifactDownload> {}
