import type { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { ParticipantRef, RunRef, WorkerRef } from "../../Platform.js"
import {
  Benchmark,
  ConcurrencySample,
  Participant,
  ResourceNotFound,
  Run,
  Unauthorized,
  Worker
} from "../../Platform.js"
import { Data } from "../../Record.js"

/** A JSON object in a text column. */
export const JsonColumn = Schema.NullOr(Schema.parseJson(Data))

const FlagColumn = Schema.transformLiterals([0, false], [1, true])

export const BenchmarkRow = Schema.Struct({ ...Benchmark.fields, config: JsonColumn, defaultRunConfig: JsonColumn })

export const RunRow = Schema.Struct({ ...Run.fields, participantSized: FlagColumn, config: JsonColumn })

/** A run with what it was declared with, where that is not what it shows. */
export const RunState = Schema.Struct({
  ...RunRow.fields,
  declaredTotalTasks: Schema.NullOr(Schema.Int),
  declaredWorkerCount: Schema.NullOr(Schema.Int)
})
export type RunState = typeof RunState.Type

export const ParticipantRow = Schema.Struct({ ...Participant.fields, config: JsonColumn })

/** What the store itself needs to know of a participant; `runConfig` and `workerConfig` are what workers are given. */
export const ParticipantState = Schema.Struct({
  ...ParticipantRow.fields,
  seq: Schema.Int,
  benchmarkSlug: Schema.String,
  runConfig: JsonColumn,
  workerConfig: JsonColumn
})
export type ParticipantState = typeof ParticipantState.Type

export const WorkerRow = Schema.Struct({
  ...Worker.fields,
  concurrency: Schema.parseJson(Schema.Array(ConcurrencySample))
})

/** What the store itself needs to know of a worker. `currentAttemptId` is its latest attempt, ended or not. */
export const WorkerState = Schema.Struct({
  id: Schema.String,
  runId: Schema.String,
  participantId: Schema.String,
  participantSeq: Schema.Int,
  taskIndexStart: Schema.Int,
  taskIndexEnd: Schema.Int,
  status: Worker.fields.status,
  attemptCount: Schema.Int,
  currentAttemptId: Schema.NullOr(Schema.String)
})
export type WorkerState = typeof WorkerState.Type

export const selectBenchmarks = (sql: SqlClient) => sql`
  SELECT b.id, b.slug, b.name, b.status, b.config, b.default_run_config AS "defaultRunConfig"
  FROM benchmarks b`

// A run that is being removed is not found any more, nor is anything in it.
export const selectRuns = (sql: SqlClient) => sql`
  SELECT r.id, r.benchmark_id AS "benchmarkId", b.slug AS "benchmarkSlug", r.name, r.status, r.run_key AS "runKey",
    CAST(COALESCE(r.total_tasks, (SELECT SUM(p.total_tasks) FROM participants p WHERE p.run_id = r.id), 0) AS INTEGER)
      AS "totalTasks",
    CASE WHEN r.total_tasks IS NULL THEN 1 ELSE 0 END AS "participantSized",
    CAST(COALESCE(r.worker_count, (SELECT SUM(p.worker_count) FROM participants p WHERE p.run_id = r.id), 0) AS INTEGER)
      AS "workerCount",
    r.config, r.created_at AS "createdAt", r.updated_at AS "updatedAt",
    r.total_tasks AS "declaredTotalTasks", r.worker_count AS "declaredWorkerCount"
  FROM runs r JOIN benchmarks b ON b.id = r.benchmark_id AND r.pruned_at IS NULL`

export const selectParticipants = (sql: SqlClient) => sql`
  SELECT p.id, r.benchmark_id AS "benchmarkId", p.run_id AS "runId", p.slug, p.label, p.provider, p.status,
    p.total_tasks AS "totalTasks", p.worker_count AS "workerCount", p.config,
    p.seq, b.slug AS "benchmarkSlug", r.config AS "runConfig", p.worker_config AS "workerConfig"
  FROM participants p JOIN runs r ON r.id = p.run_id AND r.pruned_at IS NULL JOIN benchmarks b ON b.id = r.benchmark_id`

export const selectWorkers = (sql: SqlClient) => sql`
  SELECT w.id, r.benchmark_id AS "benchmarkId", p.run_id AS "runId", w.participant_id AS "participantId",
    w.worker_index AS "workerIndex", w.worker_count AS "workerCount", w.task_index_start AS "taskIndexStart",
    w.task_index_end AS "taskIndexEnd", w.target_concurrency AS "targetConcurrency", w.status,
    w.progress_done AS "progressDone", w.progress_in_flight AS "progressInFlight",
    w.progress_errors AS "progressErrors", w.progress_total AS "progressTotal", w.current_step AS "currentStep",
    w.concurrency, p.seq AS "participantSeq", w.attempt_count AS "attemptCount",
    w.current_attempt_id AS "currentAttemptId"
  FROM workers w JOIN participants p ON p.id = w.participant_id JOIN runs r ON r.id = p.run_id AND r.pruned_at IS NULL
    JOIN benchmarks b ON b.id = r.benchmark_id`

export const PageRequest = Schema.Struct({ limit: Schema.Int, offset: Schema.Int })

const RunRequest = Schema.Struct({ benchmark: Schema.String, run: Schema.String })
const ParticipantRequest = Schema.Struct({ ...RunRequest.fields, participant: Schema.String })
const WorkerRequest = Schema.Struct({ ...ParticipantRequest.fields, worker: Schema.String })

/** What is asked for belongs to another organization than the one it is asked for. */
export const foreignOrganization = () =>
  new Unauthorized({ reason: "Forbidden", detail: "API key is not authorized for this organization" })

/**
 * Finds what a request names, in one organization, or fails with the outermost resource that does not exist; what is in a
 * run of another organization is refused.
 */
export const make = (sql: SqlClient, organizationId: string) => {
  const benchmarks = selectBenchmarks(sql)
  const runs = selectRuns(sql)
  const participants = selectParticipants(sql)
  const workers = selectWorkers(sql)

  const findBenchmark = SqlSchema.findOne({
    Request: Schema.String,
    Result: BenchmarkRow,
    execute: (slug) => sql`${benchmarks} WHERE b.organization_id = ${organizationId} AND b.slug = ${slug}`
  })
  const benchmark = (slug: string) =>
    findBenchmark(slug).pipe(
      Effect.flatMap(orElseFail(() => new ResourceNotFound({ resource: "benchmark", id: slug })))
    )

  const refuseForeign = (ref: RunRef) =>
    Effect.flatMap(
      sql`SELECT 1 FROM runs r JOIN benchmarks b ON b.id = r.benchmark_id
        WHERE r.id = ${ref.run} AND r.organization_id <> ${organizationId} AND b.slug = ${ref.benchmark}`,
      (rows) => (rows.length === 0 ? Effect.void : foreignOrganization())
    )

  const runAs = <A, I>(row: Schema.Schema<A, I>) => {
    const find = SqlSchema.findOne({
      Request: RunRequest,
      Result: row,
      execute: (ref) => sql`${runs} WHERE b.organization_id = ${organizationId} AND b.slug = ${ref.benchmark}
        AND r.id = ${ref.run}`
    })
    return (ref: RunRef) =>
      find(ref).pipe(
        Effect.flatMap(
          orElseFail(() =>
            refuseForeign(ref).pipe(
              Effect.zipRight(benchmark(ref.benchmark)),
              Effect.zipRight(new ResourceNotFound({ resource: "run", id: ref.run }))
            )
          )
        )
      )
  }
  const run = runAs(RunRow)

  const participantAs = <A, I>(row: Schema.Schema<A, I>) => {
    const find = SqlSchema.findOne({
      Request: ParticipantRequest,
      Result: row,
      execute: (ref) => sql`${participants} WHERE b.organization_id = ${organizationId} AND b.slug = ${ref.benchmark}
        AND r.id = ${ref.run} AND p.slug = ${ref.participant}`
    })
    return (ref: ParticipantRef) =>
      find(ref).pipe(
        Effect.flatMap(
          orElseFail(() =>
            Effect.zipRight(run(ref), new ResourceNotFound({ resource: "participant", id: ref.participant }))
          )
        )
      )
  }
  const participant = participantAs(ParticipantRow)

  const workerAs = <A, I>(row: Schema.Schema<A, I>) => {
    const find = SqlSchema.findOne({
      Request: WorkerRequest,
      Result: row,
      execute: (ref) => sql`${workers} WHERE b.organization_id = ${organizationId} AND b.slug = ${ref.benchmark}
        AND r.id = ${ref.run} AND p.slug = ${ref.participant} AND w.id = ${ref.worker}`
    })
    return (ref: WorkerRef) =>
      find(ref).pipe(
        Effect.flatMap(
          orElseFail(() =>
            Effect.zipRight(participant(ref), new ResourceNotFound({ resource: "worker", id: ref.worker }))
          )
        )
      )
  }

  return {
    benchmark,
    run,
    runState: runAs(RunState),
    /** By the id of the benchmark, newest first. */
    runsOf: SqlSchema.findAll({
      Request: Schema.Struct({ ...PageRequest.fields, benchmarkId: Schema.String }),
      Result: RunRow,
      execute: ({ benchmarkId, limit, offset }) => sql`${runs} WHERE r.benchmark_id = ${benchmarkId}
        ORDER BY r.created_at DESC, r.seq DESC LIMIT ${limit} OFFSET ${offset}`
    }),
    participant,
    participantState: participantAs(ParticipantState),
    worker: workerAs(WorkerRow),
    workerState: workerAs(WorkerState),
    /** By the id of the run. */
    participantsOf: SqlSchema.findAll({
      Request: Schema.String,
      Result: ParticipantRow,
      execute: (run) => sql`${participants} WHERE p.run_id = ${run} ORDER BY p.seq`
    }),
    /** By the id of the participant. */
    workersOf: SqlSchema.findAll({
      Request: Schema.String,
      Result: WorkerRow,
      execute: (participant) => sql`${workers} WHERE w.participant_id = ${participant} ORDER BY w.worker_index`
    })
  }
}

export type Lookups = ReturnType<typeof make>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const orElseFail =
  <E>(orElse: () => Effect.Effect<never, E>) =>
  <A>(found: Option.Option<A>): Effect.Effect<A, E> =>
    Option.match(found, { onNone: orElse, onSome: Effect.succeed })
