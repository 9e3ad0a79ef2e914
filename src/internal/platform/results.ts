/** What a platform computes from what it keeps. */
import * as Schema from "effect/Schema"
import { Data } from "../../Record.js"
import { Benchmark, Run, RunStatus } from "./resources.js"
import { nullable, nullableNumber, optionalOrNull } from "./schemas.js"

/**
 * Counts and latencies of a set of tasks or steps. Percentiles are nearest-rank over all latencies, exact; every number
 * is null when there is nothing to compute it from. `successRate` is a fraction.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ResultSummary = Schema.Struct({
  taskCount: Schema.Int,
  successCount: Schema.Int,
  errorCount: Schema.Int,
  otherCount: Schema.Int,
  latencyCount: Schema.Int,
  successRate: nullableNumber,
  latencyMs: Schema.Struct({
    min: nullableNumber,
    avg: nullableNumber,
    p50: nullableNumber,
    p95: nullableNumber,
    p99: nullableNumber,
    max: nullableNumber
  }),
  firstStartedAt: nullable(Schema.String),
  lastCompletedAt: nullable(Schema.String)
}).annotations({ identifier: "ResultSummary" })

/**
 * @since 0.1.0
 * @category models
 */
export interface ResultSummary extends Schema.Schema.Type<typeof ResultSummary> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const ParticipantSummary = Schema.Struct({
  participantSlug: Schema.String,
  provider: nullable(Schema.String),
  ...ResultSummary.fields
}).annotations({ identifier: "ParticipantSummary" })

/**
 * @since 0.1.0
 * @category models
 */
export interface ParticipantSummary extends Schema.Schema.Type<typeof ParticipantSummary> {}

/**
 * Like {@link ParticipantSummary}, for one step; `stepCount` equals the number of step records.
 *
 * @since 0.1.0
 * @category schemas
 */
export const StepSummary = Schema.Struct({
  stepName: Schema.String,
  stepCount: Schema.Int,
  ...ParticipantSummary.fields
}).annotations({ identifier: "StepSummary" })

/**
 * @since 0.1.0
 * @category models
 */
export interface StepSummary extends Schema.Schema.Type<typeof StepSummary> {}

/**
 * @since 0.1.0
 * @category schemas
 */
export const RunResults = Schema.Struct({
  benchmark: Benchmark,
  run: Run,
  generatedAt: Schema.String,
  overall: ResultSummary,
  participants: Schema.Array(ParticipantSummary),
  steps: Schema.Array(StepSummary)
}).annotations({ identifier: "RunResults" })

/**
 * @since 0.1.0
 * @category models
 */
export interface RunResults extends Schema.Schema.Type<typeof RunResults> {}

/**
 * One stored task or step: `stepName` is absent on tasks.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Iteration = Schema.Struct({
  participantSlug: Schema.String,
  provider: nullable(Schema.String),
  stepName: Schema.optional(Schema.String),
  taskIndex: Schema.Int,
  status: Schema.String,
  latencyMs: nullableNumber,
  errorCode: Schema.optional(Schema.NullOr(Schema.String)),
  startedAt: nullable(Schema.String),
  completedAt: nullable(Schema.String),
  data: nullable(Data)
}).annotations({ identifier: "Iteration" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Iteration extends Schema.Schema.Type<typeof Iteration> {}

/**
 * @since 0.1.0
 * @category models
 */
export interface IterationsQuery {
  /** Default `"tasks"`. */
  readonly type?: "tasks" | "steps" | undefined
  readonly participant?: string | undefined
  /** Only these steps. With `type: "tasks"` it has no effect. */
  readonly steps?: ReadonlyArray<string> | undefined
}

/**
 * How far a run is. A worker is stale when its last heartbeat is older than the freshness window. Of `concurrency`, one row
 * per step that unfinished workers have reported: `active` and `target` summed over the fresh ones. A step is `ready` when
 * every unfinished worker of the participant is fresh and has reported it with active >= target, and stays so from then on.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RunProgress = Schema.Struct({
  run: Schema.Struct({
    id: Schema.String,
    status: RunStatus,
    totalTasks: Schema.Int,
    workerCount: nullable(Schema.Int)
  }),
  summary: Schema.Struct({
    status: RunStatus,
    started: Schema.Boolean,
    completed: Schema.Boolean,
    participants: Schema.Struct({
      planned: Schema.Int,
      inProgress: Schema.Int,
      completed: Schema.Int,
      failed: Schema.Int,
      total: Schema.Int
    })
  }),
  freshnessWindowSeconds: Schema.Number,
  generatedAt: Schema.String,
  participants: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      slug: Schema.String,
      provider: nullable(Schema.String),
      status: RunStatus,
      totalTasks: Schema.Int,
      workerCount: Schema.Int,
      workers: Schema.Struct({
        pending: Schema.Int,
        running: Schema.Int,
        completed: Schema.Int,
        failed: Schema.Int,
        stale: Schema.Int,
        total: Schema.Int
      }),
      tasks: Schema.Struct({
        done: Schema.Int,
        inFlight: Schema.Int,
        errors: Schema.Int,
        total: Schema.Int,
        completionRatio: nullableNumber
      }),
      concurrency: Schema.Array(
        Schema.Struct({
          step: Schema.String,
          active: Schema.Int,
          target: Schema.Int,
          ready: Schema.Boolean,
          freshWorkerCount: Schema.Int
        })
      )
    })
  )
}).annotations({ identifier: "RunProgress" })

/**
 * @since 0.1.0
 * @category models
 */
export interface RunProgress extends Schema.Schema.Type<typeof RunProgress> {}

const ImportCounts = Schema.Struct({
  pending: Schema.Int,
  importing: Schema.Int,
  imported: Schema.Int,
  failed: Schema.Int,
  missing: Schema.Int
})

/**
 * A benchmark's runs, newest first, each with the counts and latencies of its participants and with what became of the
 * batches of results it was sent.
 *
 * @since 0.1.0
 * @category schemas
 */
export const BenchmarkResults = Schema.Struct({
  benchmark: Benchmark,
  generatedAt: Schema.String,
  analytics: Schema.Struct({ status: Schema.String, query: optionalOrNull(Schema.Unknown) }),
  items: Schema.Array(
    Schema.Struct({
      run: Run,
      analytics: Schema.Struct({
        status: Schema.String,
        eventBatches: Schema.Int,
        persisted: Schema.Int,
        queued: Schema.Int,
        failed: Schema.Int,
        imports: ImportCounts
      }),
      participants: Schema.Array(Schema.Struct({ runId: Schema.String, ...ParticipantSummary.fields }))
    })
  )
}).annotations({ identifier: "BenchmarkResults" })

/**
 * @since 0.1.0
 * @category models
 */
export interface BenchmarkResults extends Schema.Schema.Type<typeof BenchmarkResults> {}

/**
 * `bucketSize` is how many task indexes a bucket spans (>= 1; default: such that there are at most 100 buckets of a
 * participant), `failureLimit` how many failures are listed (0 to 1000, default 100).
 *
 * @since 0.1.0
 * @category models
 */
export interface TaskBucketsQuery {
  readonly bucketSize?: number | undefined
  readonly failureLimit?: number | undefined
}

/**
 * Latency against task index: one bucket per participant and `bucketSize` task indexes that has tasks, and the first
 * failures. `bucketEnd` is inclusive; percentiles are nearest-rank.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TaskBuckets = Schema.Struct({
  run: Run,
  generatedAt: Schema.String,
  bucketSize: Schema.Int,
  buckets: Schema.Array(
    Schema.Struct({
      participantSlug: Schema.String,
      provider: nullable(Schema.String),
      bucketStart: Schema.Int,
      bucketEnd: Schema.Int,
      taskIndexMidpoint: Schema.Number,
      taskCount: Schema.Int,
      successCount: Schema.Int,
      errorCount: Schema.Int,
      latencyMs: Schema.Struct({ p50: nullableNumber, p95: nullableNumber, max: nullableNumber })
    })
  ),
  failures: Schema.Array(
    Schema.Struct({
      participantSlug: Schema.String,
      provider: nullable(Schema.String),
      taskIndex: Schema.Int,
      errorCode: nullable(Schema.String)
    })
  )
}).annotations({ identifier: "TaskBuckets" })

/**
 * @since 0.1.0
 * @category models
 */
export interface TaskBuckets extends Schema.Schema.Type<typeof TaskBuckets> {}

/**
 * `bucketMs` is how many milliseconds a bucket spans (>= 1; default: such that there are at most 100 buckets, and at least
 * 1000).
 *
 * @since 0.1.0
 * @category models
 */
export interface TimelineQuery {
  readonly bucketMs?: number | undefined
}

/**
 * What happened when: tasks completed per participant and `bucketMs`, and the concurrency that heartbeats reported. `tMs` is
 * milliseconds since the first task started (for concurrency: since the first heartbeat).
 *
 * @since 0.1.0
 * @category schemas
 */
export const RunTimeline = Schema.Struct({
  run: Run,
  generatedAt: Schema.String,
  eventRate: Schema.Struct({
    bucketMs: Schema.Number,
    buckets: Schema.Array(
      Schema.Struct({
        participantSlug: Schema.String,
        provider: nullable(Schema.String),
        tMs: Schema.Number,
        completed: Schema.Int,
        succeeded: Schema.Int,
        failed: Schema.Int
      })
    )
  }),
  concurrency: Schema.Struct({
    firstRecordedAt: nullable(Schema.String),
    heartbeatCount: Schema.Int,
    points: Schema.Array(
      Schema.Struct({
        participantSlug: Schema.String,
        provider: nullable(Schema.String),
        workerId: Schema.String,
        recordedAt: Schema.String,
        tMs: Schema.Number,
        step: Schema.String,
        active: Schema.Int,
        target: Schema.Int
      })
    )
  })
}).annotations({ identifier: "RunTimeline" })

/**
 * @since 0.1.0
 * @category models
 */
export interface RunTimeline extends Schema.Schema.Type<typeof RunTimeline> {}

/**
 * What became of each batch of results of a run, in the order of arrival.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RunImports = Schema.Struct({
  run: Run,
  generatedAt: Schema.String,
  summary: ImportCounts,
  items: Schema.Array(
    Schema.Struct({
      eventBatchId: Schema.String,
      batchType: Schema.String,
      sequenceNumber: Schema.Int,
      batchStatus: Schema.String,
      eventCount: Schema.Int,
      objectKey: nullable(Schema.String),
      batchErrorMessage: nullable(Schema.String),
      createdAt: Schema.String,
      persistedAt: nullable(Schema.String),
      sink: nullable(Schema.String),
      importStatus: nullable(Schema.String),
      importAttempts: nullable(Schema.Int),
      importedAt: nullable(Schema.String),
      failedAt: nullable(Schema.String),
      importErrorMessage: nullable(Schema.String)
    })
  )
}).annotations({ identifier: "RunImports" })

/**
 * @since 0.1.0
 * @category models
 */
export interface RunImports extends Schema.Schema.Type<typeof RunImports> {}

/**
 * The last lines of the newest log of each worker of a participant. `truncated` tells that there are more lines before
 * those.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ParticipantLogs = Schema.Struct({
  participantSlug: Schema.String,
  generatedAt: Schema.String,
  workers: Schema.Array(
    Schema.Struct({
      workerId: Schema.String,
      workerIndex: Schema.Int,
      attemptId: nullable(Schema.String),
      artifactId: Schema.String,
      createdAt: Schema.String,
      lines: Schema.Array(Schema.String),
      truncated: Schema.Boolean
    })
  )
}).annotations({ identifier: "ParticipantLogs" })

/**
 * @since 0.1.0
 * @category models
 */
export interface ParticipantLogs extends Schema.Schema.Type<typeof ParticipantLogs> {}
