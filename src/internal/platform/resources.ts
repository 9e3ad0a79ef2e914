/** What a platform keeps. */
import * as Schema from "effect/Schema"
import { Data } from "../../Record.js"
import { optionalOrNull } from "./schemas.js"

/**
 * Status of a run or of a participant in it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RunStatus = Schema.Literal("planned", "in_progress", "completed", "failed")

/**
 * @since 0.1.0
 * @category models
 */
export type RunStatus = typeof RunStatus.Type

/**
 * Status of a worker.
 *
 * @since 0.1.0
 * @category schemas
 */
export const WorkerStatus = Schema.Literal("pending", "running", "completed", "failed")

/**
 * @since 0.1.0
 * @category models
 */
export type WorkerStatus = typeof WorkerStatus.Type

/**
 * @since 0.1.0
 * @category schemas
 */
export const Benchmark = Schema.Struct({
  id: Schema.String,
  slug: Schema.String,
  name: Schema.String,
  status: optionalOrNull(Schema.String),
  config: optionalOrNull(Data),
  defaultRunConfig: optionalOrNull(Data)
}).annotations({ identifier: "Benchmark" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Benchmark extends Schema.Schema.Type<typeof Benchmark> {}

/**
 * `participantSized` runs sum the tasks of their participants instead of declaring a total. Times are ISO-8601 UTC.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Run = Schema.Struct({
  id: Schema.String,
  benchmarkId: Schema.String,
  benchmarkSlug: optionalOrNull(Schema.String),
  name: optionalOrNull(Schema.String),
  status: RunStatus,
  runKey: optionalOrNull(Schema.String),
  totalTasks: Schema.Int,
  participantSized: optionalOrNull(Schema.Boolean),
  workerCount: optionalOrNull(Schema.Int),
  config: optionalOrNull(Data),
  createdAt: Schema.String,
  updatedAt: Schema.String
}).annotations({ identifier: "Run" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Run extends Schema.Schema.Type<typeof Run> {}

/**
 * A participant's `slug` is its name in the benchmark config, whatever characters that has.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Participant = Schema.Struct({
  id: Schema.String,
  benchmarkId: Schema.String,
  runId: Schema.String,
  slug: Schema.String,
  label: optionalOrNull(Schema.String),
  provider: optionalOrNull(Schema.String),
  status: RunStatus,
  totalTasks: Schema.Int,
  workerCount: Schema.Int,
  config: optionalOrNull(Data)
}).annotations({ identifier: "Participant" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Participant extends Schema.Schema.Type<typeof Participant> {}

/**
 * How many invocations of a step are running, against how many there should be.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ConcurrencySample = Schema.Struct({
  step: Schema.String,
  active: Schema.Int.pipe(Schema.nonNegative()),
  target: Schema.Int.pipe(Schema.nonNegative())
}).annotations({ identifier: "ConcurrencySample" })

/**
 * @since 0.1.0
 * @category models
 */
export interface ConcurrencySample extends Schema.Schema.Type<typeof ConcurrencySample> {}

/**
 * A worker owns the tasks `taskIndexStart` to `taskIndexEnd`, both included, of one participant.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Worker = Schema.Struct({
  id: Schema.String,
  benchmarkId: Schema.String,
  runId: Schema.String,
  participantId: Schema.String,
  workerIndex: Schema.Int,
  workerCount: Schema.Int,
  taskIndexStart: Schema.Int,
  taskIndexEnd: Schema.Int,
  targetConcurrency: optionalOrNull(Schema.Int),
  status: WorkerStatus,
  progressDone: Schema.Int,
  progressInFlight: Schema.Int,
  progressErrors: Schema.Int,
  progressTotal: Schema.Int,
  currentStep: optionalOrNull(Schema.String),
  concurrency: optionalOrNull(Schema.Array(ConcurrencySample))
}).annotations({ identifier: "Worker" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Worker extends Schema.Schema.Type<typeof Worker> {}

/**
 * One process's turn at a worker. `attemptNumber` counts from 1; `status` is running, completed, failed or released
 * (or abandoned, when another process took over after the lease).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Attempt = Schema.Struct({
  id: Schema.String,
  benchmarkId: Schema.String,
  runId: Schema.String,
  participantId: Schema.String,
  workerId: Schema.String,
  attemptNumber: Schema.Int,
  status: Schema.String
}).annotations({ identifier: "Attempt" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Attempt extends Schema.Schema.Type<typeof Attempt> {}

/**
 * What a claimed worker is to do. `taskRange.end` is inclusive.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Assignment = Schema.Struct({
  benchmarkId: Schema.String,
  benchmarkSlug: Schema.String,
  runId: Schema.String,
  participantId: Schema.String,
  participantSlug: Schema.String,
  provider: optionalOrNull(Schema.String),
  workerId: Schema.String,
  workerIndex: Schema.Int,
  workerCount: Schema.Int,
  attemptId: Schema.String,
  attemptNumber: Schema.Int,
  taskRange: Schema.Struct({ start: Schema.Int, end: Schema.Int, count: Schema.Int }),
  targetConcurrency: optionalOrNull(Schema.Int),
  config: optionalOrNull(Data)
}).annotations({ identifier: "Assignment" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Assignment extends Schema.Schema.Type<typeof Assignment> {}

/**
 * A file that a worker left: its log, its system metrics, or what a benchmark chose to keep. `kind` says what it is for
 * (`coordinator.log`, `system-metrics`, or the uploader's own), `name` what to call the file.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Artifact = Schema.Struct({
  id: Schema.String,
  benchmarkId: optionalOrNull(Schema.String),
  runId: Schema.String,
  participantId: optionalOrNull(Schema.String),
  participantSlug: optionalOrNull(Schema.String),
  workerId: Schema.String,
  workerIndex: optionalOrNull(Schema.Int),
  attemptId: optionalOrNull(Schema.String),
  kind: Schema.String,
  name: optionalOrNull(Schema.String),
  contentType: optionalOrNull(Schema.String),
  metadata: optionalOrNull(Data),
  objectKey: Schema.String,
  createdAt: Schema.String
}).annotations({ identifier: "Artifact" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Artifact extends Schema.Schema.Type<typeof Artifact> {}
