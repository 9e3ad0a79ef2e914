/**
 * What a run leaves behind: one {@link TaskRecord} per task, holding one {@link StepRecord} per timed step. These are the
 * wire shapes of the platform contract; the engine produces them, every store keeps them.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * A JSON object measured by a task or a step.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Data = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/**
 * @since 0.1.0
 * @category models
 */
export type Data = typeof Data.Type

const optionalOrNull = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/**
 * One step of one task. `latencyMs` is milliseconds from a monotonic clock, rounded to 3 decimals; timestamps are
 * ISO-8601 UTC. `errorCode` is present when the step failed. `concurrency` is the number of parallel invocations and
 * `timeoutMs` the limit of each, as they were asked for.
 *
 * @since 0.1.0
 * @category schemas
 */
export const StepRecord = Schema.Struct({
  name: Schema.String,
  status: Schema.String,
  startedAt: optionalOrNull(Schema.String),
  completedAt: optionalOrNull(Schema.String),
  latencyMs: optionalOrNull(Schema.Number),
  errorCode: optionalOrNull(Schema.String),
  data: optionalOrNull(Data),
  concurrency: optionalOrNull(Schema.Unknown),
  timeoutMs: optionalOrNull(Schema.Unknown)
}).annotations({ identifier: "StepRecord" })

/**
 * @since 0.1.0
 * @category models
 */
export interface StepRecord extends Schema.Schema.Type<typeof StepRecord> {}

/**
 * One task. The engine writes `status` `"success"` or `"error"` and always fills timestamps, `latencyMs` and `steps`;
 * records from elsewhere may lack them.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TaskRecord = Schema.Struct({
  taskIndex: Schema.Int.pipe(Schema.nonNegative()),
  status: Schema.String,
  startedAt: optionalOrNull(Schema.String),
  completedAt: optionalOrNull(Schema.String),
  latencyMs: optionalOrNull(Schema.Number),
  firstCommandMs: optionalOrNull(Schema.Number),
  errorCode: optionalOrNull(Schema.String),
  steps: optionalOrNull(Schema.Array(StepRecord)),
  data: optionalOrNull(Data)
}).annotations({ identifier: "TaskRecord" })

/**
 * @since 0.1.0
 * @category models
 */
export interface TaskRecord extends Schema.Schema.Type<typeof TaskRecord> {}

/**
 * Every record of one participant, in the order in which the tasks ended.
 *
 * @since 0.1.0
 * @category models
 */
export interface ParticipantRecords {
  readonly participant: string
  readonly records: ReadonlyArray<TaskRecord>
}
