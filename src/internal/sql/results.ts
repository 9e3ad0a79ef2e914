import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import type { Platform, ResultSummary } from "../../Platform.js"
import { Iteration } from "../../Platform.js"
import type { Database, QueryError } from "./database.js"
import { now } from "./database.js"
import type { Lookups } from "./lookups.js"
import { JsonColumn } from "./lookups.js"

/** Reading results back: summed up, and one by one. */
export const make = (database: Database, find: Lookups): Pick<Platform["Type"], "runResults" | "iterations"> => {
  const { read, sql } = database

  const ofRun = (runId: string) => sql`participant_seq IN (SELECT seq FROM participants WHERE run_id = ${runId})`

  const counts = (tasks: "*" | "DISTINCT task_index") => sql`
    CAST(COUNT(*) AS INTEGER) AS "recordCount", CAST(COUNT(${sql.literal(tasks)}) AS INTEGER) AS "taskCount",
    CAST(COUNT(CASE WHEN status = 'success' THEN 1 END) AS INTEGER) AS "successCount",
    CAST(COUNT(CASE WHEN status = 'error' THEN 1 END) AS INTEGER) AS "errorCount",
    CAST(COUNT(latency_ms) AS INTEGER) AS "latencyCount",
    MIN(latency_ms) AS "min", AVG(latency_ms) AS "avg", MAX(latency_ms) AS "max",
    MIN(started_at) AS "firstStartedAt", MAX(completed_at) AS "lastCompletedAt"`

  const countRun = SqlSchema.findAll({
    Request: Schema.String,
    Result: Counts,
    execute: (runId) => sql`SELECT ${counts("*")} FROM task_results WHERE ${ofRun(runId)}`
  })

  const countParticipants = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ ...Counts.fields, participantSeq: Schema.Int }),
    execute: (runId) => sql`SELECT participant_seq AS "participantSeq", ${counts("*")}
      FROM task_results WHERE ${ofRun(runId)} GROUP BY participant_seq ORDER BY participant_seq`
  })

  const countSteps = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({
      ...Counts.fields,
      participantSeq: Schema.Int,
      stepName: Schema.String,
      firstIndex: Schema.Int
    }),
    execute: (runId) => sql`SELECT participant_seq AS "participantSeq", name AS "stepName",
        MIN(step_index) AS "firstIndex", ${counts("DISTINCT task_index")}
      FROM step_results WHERE ${ofRun(runId)} GROUP BY participant_seq, name ORDER BY participant_seq, name`
  })

  // Latencies by their place in the given order, counted from 1.
  const latenciesBy = (table: string, order: string) =>
    SqlSchema.findAll({
      Request: Schema.Struct({ runId: Schema.String, places: Schema.Array(Schema.Int) }),
      Result: Schema.Struct({ place: Schema.Int, latencyMs: Schema.Number }),
      execute: ({ places, runId }) => sql`
        SELECT place, latency_ms AS "latencyMs" FROM (
          SELECT latency_ms, CAST(ROW_NUMBER() OVER (ORDER BY ${sql.literal(order)}) AS INTEGER) AS place
          FROM ${sql(table)} WHERE ${ofRun(runId)} AND latency_ms IS NOT NULL
        ) ranked WHERE place IN (${integersOf(places)})`
    })

  // One parameter, however many there are.
  const integersOf = (values: ReadonlyArray<number>) => {
    const json = JSON.stringify(values)
    return sql.onDialectOrElse({
      pg: () => sql`SELECT CAST(value AS INTEGER) FROM json_array_elements_text(CAST(${json} AS json))`,
      orElse: () => sql`SELECT value FROM json_each(${json})`
    })
  }

  const summarizeRun = summarize(countRun, latenciesBy("task_results", "latency_ms"))
  const summarizeParticipants = summarize(countParticipants, latenciesBy("task_results", "participant_seq, latency_ms"))
  const summarizeSteps = summarize(countSteps, latenciesBy("step_results", "participant_seq, name, latency_ms"))

  const findParticipants = SqlSchema.findAll({
    Request: Schema.String,
    Result: Schema.Struct({ seq: Schema.Int, participantSlug: Schema.String, provider: Iteration.fields.provider }),
    execute: (runId) => sql`SELECT seq, slug AS "participantSlug", provider FROM participants
      WHERE run_id = ${runId} ORDER BY seq`
  })

  const findTasks = SqlSchema.findAll({
    Request: IterationsRequest,
    Result: IterationRow,
    execute: ({ participant, runId }) => sql`
      SELECT p.slug AS "participantSlug", p.provider, t.task_index AS "taskIndex", t.status,
        t.latency_ms AS "latencyMs", t.error_code AS "errorCode", t.started_at AS "startedAt",
        t.completed_at AS "completedAt", t.data
      FROM participants p JOIN task_results t ON t.participant_seq = p.seq
      WHERE p.run_id = ${runId} ${participant === null ? sql`` : sql`AND p.slug = ${participant}`}
      ORDER BY p.seq, t.task_index`
  })

  const findSteps = SqlSchema.findAll({
    Request: IterationsRequest,
    Result: IterationRow,
    execute: ({ participant, runId, steps }) => sql`
      SELECT p.slug AS "participantSlug", p.provider, s.name AS "stepName", s.task_index AS "taskIndex", s.status,
        s.latency_ms AS "latencyMs", s.error_code AS "errorCode", s.started_at AS "startedAt",
        s.completed_at AS "completedAt", s.data
      FROM participants p JOIN step_results s ON s.participant_seq = p.seq
      WHERE p.run_id = ${runId} ${participant === null ? sql`` : sql`AND p.slug = ${participant}`}
        ${steps.length === 0 ? sql`` : sql`AND s.name IN ${sql.in(steps)}`}
      ORDER BY p.seq, s.task_index, s.step_index`
  })

  return {
    runResults: (ref) =>
      Effect.gen(function* () {
        const benchmark = yield* find.benchmark(ref.benchmark)
        const run = yield* find.run(ref)
        const participants = yield* findParticipants(run.id)
        const overall = yield* summarizeRun(run.id)
        const ofParticipants = yield* summarizeParticipants(run.id)
        const ofSteps = yield* summarizeSteps(run.id)
        return {
          benchmark,
          run,
          generatedAt: yield* now,
          overall: overall[0]?.summary ?? nothing,
          participants: participants.map(({ participantSlug, provider, seq }) => ({
            participantSlug,
            provider,
            ...(ofParticipants.find(({ counts }) => counts.participantSeq === seq)?.summary ?? nothing)
          })),
          steps: participants.flatMap(({ participantSlug, provider, seq }) =>
            ofSteps
              .filter(({ counts }) => counts.participantSeq === seq)
              .sort(byFirstIndex)
              .map(({ counts, summary }) => ({
                stepName: counts.stepName,
                stepCount: counts.recordCount,
                participantSlug,
                provider,
                ...summary
              }))
          )
        }
      }).pipe((queries) => read("runResults", queries)),

    // An empty list of steps asks for all of them.
    iterations: (ref, query) =>
      Effect.gen(function* () {
        const { id: runId } = yield* find.run(ref)
        const participant = query.participant ?? null
        if (participant !== null) yield* find.participant({ ...ref, participant })
        const request = { runId, participant, steps: query.steps ?? [] }
        return yield* query.type === "steps" ? findSteps(request) : findTasks(request)
      }).pipe((queries) => read("iterations", queries))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Counts = Schema.Struct({
  recordCount: Schema.Int,
  taskCount: Schema.Int,
  successCount: Schema.Int,
  errorCount: Schema.Int,
  latencyCount: Schema.Int,
  min: Schema.NullOr(Schema.Number),
  avg: Schema.NullOr(Schema.Number),
  max: Schema.NullOr(Schema.Number),
  firstStartedAt: Schema.NullOr(Schema.String),
  lastCompletedAt: Schema.NullOr(Schema.String)
})
type Counts = typeof Counts.Type

const IterationsRequest = Schema.Struct({
  runId: Schema.String,
  participant: Schema.NullOr(Schema.String),
  steps: Schema.Array(Schema.String)
})

const IterationRow = Schema.Struct({ ...Iteration.fields, data: JsonColumn })

interface Summarized<C> {
  readonly counts: C
  readonly summary: ResultSummary
}

const nothing: ResultSummary = {
  taskCount: 0,
  successCount: 0,
  errorCount: 0,
  otherCount: 0,
  latencyCount: 0,
  successRate: null,
  latencyMs: { min: null, avg: null, p50: null, p95: null, p99: null, max: null },
  firstStartedAt: null,
  lastCompletedAt: null
}

const byFirstIndex = Order.mapInput(
  Order.number,
  ({ counts }: Summarized<{ readonly firstIndex: number }>) => counts.firstIndex
)

// The counts of every group tell where in the order of all latencies, group after group, each percentile stands; one
// more query fetches exactly those.
const summarize = <C extends Counts>(
  count: (runId: string) => Effect.Effect<ReadonlyArray<C>, QueryError>,
  latenciesAt: (request: {
    readonly runId: string
    readonly places: ReadonlyArray<number>
  }) => Effect.Effect<ReadonlyArray<{ readonly place: number; readonly latencyMs: number }>, QueryError>
) =>
  Effect.fnUntraced(function* (runId: string) {
    let before = 0
    const groups = (yield* count(runId)).map((counts) => {
      const start = before
      before += counts.latencyCount
      return { counts, at: (percent: number) => start + nearestRank(percent, counts.latencyCount) }
    })
    const places = groups.flatMap(({ at, counts }) => (counts.latencyCount === 0 ? [] : [at(50), at(95), at(99)]))
    const rows = places.length === 0 ? [] : yield* latenciesAt({ runId, places })
    const latencies = new Map(rows.map(({ latencyMs, place }) => [place, latencyMs]))
    return groups.map(({ at, counts }): Summarized<C> => {
      const percentile = (percent: number) => (counts.latencyCount === 0 ? null : (latencies.get(at(percent)) ?? null))
      return {
        counts,
        summary: {
          taskCount: counts.taskCount,
          successCount: counts.successCount,
          errorCount: counts.errorCount,
          otherCount: counts.recordCount - counts.successCount - counts.errorCount,
          latencyCount: counts.latencyCount,
          successRate: counts.recordCount === 0 ? null : counts.successCount / counts.recordCount,
          latencyMs: {
            min: counts.min,
            avg: counts.avg,
            p50: percentile(50),
            p95: percentile(95),
            p99: percentile(99),
            max: counts.max
          },
          firstStartedAt: counts.firstStartedAt,
          lastCompletedAt: counts.lastCompletedAt
        }
      }
    })
  })

const nearestRank = (percent: number, count: number): number => Math.ceil((percent * count) / 100)
