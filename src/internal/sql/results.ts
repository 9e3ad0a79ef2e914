import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import type { Platform, ResultSummary } from "../../Platform.js"
import { Iteration } from "../../Platform.js"
import type { Database, QueryError } from "./database.js"
import { isOneOf, now } from "./database.js"
import { allImported } from "./imports.js"
import type { Lookups } from "./lookups.js"
import { JsonColumn } from "./lookups.js"
import { ofParticipants } from "./participantSeqs.js"
import type { Percentile } from "./percentiles.js"
import { percentilesOf } from "./percentiles.js"
import { page } from "./requests.js"

/** Reading results back: summed up, and one by one. */
export const make = (
  database: Database,
  find: Lookups
): Pick<Platform["Type"], "runResults" | "benchmarkResults" | "iterations"> => {
  const { read, sql } = database

  const counts = sql`CAST(COUNT(*) AS INTEGER) AS "recordCount",
    CAST(COUNT(CASE WHEN status = 'success' THEN 1 END) AS INTEGER) AS "successCount",
    CAST(COUNT(CASE WHEN status = 'error' THEN 1 END) AS INTEGER) AS "errorCount",
    CAST(COUNT(latency_ms) AS INTEGER) AS "latencyCount",
    MIN(latency_ms) AS "min", AVG(latency_ms) AS "avg", MAX(latency_ms) AS "max",
    MIN(started_at) AS "firstStartedAt", MAX(completed_at) AS "lastCompletedAt"`

  const taskCounts = sql`${counts}, CAST(COUNT(*) AS INTEGER) AS "taskCount"`

  const countRun = SqlSchema.findAll({
    Request: Seqs,
    Result: Counts,
    execute: (seqs) => sql`SELECT ${taskCounts} FROM task_results WHERE ${ofParticipants(sql, seqs)}`
  })

  const countParticipants = SqlSchema.findAll({
    Request: Seqs,
    Result: Schema.Struct({ ...Counts.fields, participantSeq: Schema.Int }),
    execute: (seqs) => sql`SELECT participant_seq AS "participantSeq", ${taskCounts}
      FROM task_results WHERE ${ofParticipants(sql, seqs)} GROUP BY participant_seq ORDER BY participant_seq`
  })

  const countSteps = SqlSchema.findAll({
    Request: Seqs,
    Result: Schema.Struct({
      ...Counts.fields,
      participantSeq: Schema.Int,
      stepName: Schema.String,
      firstIndex: Schema.Int
    }),
    // Tasks that take a step more than once are told apart from the rest of the counts: that takes no sorting.
    execute: (seqs) => sql`
      SELECT s.*, t.tasks AS "taskCount" FROM (
        SELECT participant_seq AS "participantSeq", name AS "stepName", MIN(step_index) AS "firstIndex", ${counts}
        FROM step_results WHERE ${ofParticipants(sql, seqs)} GROUP BY participant_seq, name
      ) s JOIN (
        SELECT participant_seq, name, CAST(COUNT(*) AS INTEGER) AS tasks FROM (
          SELECT DISTINCT participant_seq, name, task_index FROM step_results WHERE ${ofParticipants(sql, seqs)}
        ) taken GROUP BY participant_seq, name
      ) t ON t.participant_seq = s."participantSeq" AND t.name = s."stepName"
      ORDER BY s."participantSeq", s."stepName"`
  })

  /** Groups with their summaries, in the order of `count`, which `order` must be too. */
  const summarize =
    <C extends Counts>(
      count: (seqs: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<C>, QueryError>,
      table: "task_results" | "step_results",
      order: string
    ) =>
    (seqs: ReadonlyArray<number>) =>
      Effect.gen(function* () {
        const groups = yield* count(seqs)
        const rows = sql`SELECT * FROM ${sql(table)} WHERE ${ofParticipants(sql, seqs)}`
        const percentiles = yield* percentilesOf(sql, groups, [50, 95, 99], rows, order)
        return Arr.zipWith(groups, percentiles, (counts, percentile): Summarized<C> => ({
          counts,
          summary: summaryOf(counts, percentile)
        }))
      })

  const summarizeRun = summarize(countRun, "task_results", "latency_ms")
  const summarizeParticipants = summarize(countParticipants, "task_results", "participant_seq, latency_ms")
  const summarizeSteps = summarize(countSteps, "step_results", "participant_seq, name, latency_ms")

  const findParticipants = SqlSchema.findAll({
    Request: RunIds,
    Result: Schema.Struct({
      seq: Schema.Int,
      runId: Schema.String,
      participantSlug: Schema.String,
      provider: Iteration.fields.provider
    }),
    execute: (runIds) => sql`SELECT seq, run_id AS "runId", slug AS "participantSlug", provider FROM participants
      WHERE ${isOneOf(sql, "run_id", "TEXT", runIds)} ORDER BY seq`
  })

  /** Every participant of these runs, those without records included. */
  const participantsOf = Effect.fnUntraced(function* (runIds: ReadonlyArray<string>) {
    const participants = yield* findParticipants(runIds)
    const summarized = yield* summarizeParticipants(participants.map(({ seq }) => seq))
    const summaries = new Map(summarized.map(({ counts, summary }) => [counts.participantSeq, summary]))
    return participants.map((participant) => ({ ...participant, summary: summaries.get(participant.seq) ?? nothing }))
  })

  const countBatches = SqlSchema.findAll({
    Request: RunIds,
    Result: Schema.Struct({ runId: Schema.String, batches: Schema.Int }),
    execute: (runIds) => sql`SELECT run_id AS "runId", CAST(COUNT(*) AS INTEGER) AS "batches" FROM event_batches
      WHERE ${isOneOf(sql, "run_id", "TEXT", runIds)} GROUP BY run_id`
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
        const run = yield* find.run(ref)
        const benchmark = yield* find.benchmark(ref.benchmark)
        const participants = yield* participantsOf([run.id])
        const seqs = participants.map(({ seq }) => seq)
        const overall = yield* summarizeRun(seqs)
        const ofSteps = Arr.groupBy(yield* summarizeSteps(seqs), ({ counts }) => `${counts.participantSeq}`)
        return {
          benchmark,
          run,
          generatedAt: yield* now,
          overall: overall[0]?.summary ?? nothing,
          participants: participants.map(({ participantSlug, provider, summary }) => ({
            participantSlug,
            provider,
            ...summary
          })),
          steps: participants.flatMap(({ participantSlug, provider, seq }) =>
            Arr.sort(ofSteps[`${seq}`] ?? [], byFirstIndex).map(({ counts, summary }) => ({
              stepName: counts.stepName,
              stepCount: counts.recordCount,
              participantSlug,
              provider,
              ...summary
            }))
          )
        }
      }).pipe((queries) => read("runResults", queries)),

    benchmarkResults: (slug, input) =>
      Effect.gen(function* () {
        const bounds = yield* page(input)
        const benchmark = yield* find.benchmark(slug)
        const runs = yield* find.runsOf({ ...bounds, benchmarkId: benchmark.id })
        const runIds = runs.map(({ id }) => id)
        const participants = Arr.groupBy(yield* participantsOf(runIds), ({ runId }) => runId)
        const batches = new Map((yield* countBatches(runIds)).map((row) => [row.runId, row.batches]))
        return {
          benchmark,
          generatedAt: yield* now,
          analytics: { status: "ready", query: null },
          items: runs.map((run) => ({
            run,
            analytics: analyticsOf(batches.get(run.id) ?? 0),
            participants: (participants[run.id] ?? []).map(({ participantSlug, provider, runId, summary }) => ({
              runId,
              participantSlug,
              provider,
              ...summary
            }))
          }))
        }
      }).pipe((queries) => read("benchmarkResults", queries)),

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

const RunIds = Schema.Array(Schema.String)
const Seqs = Schema.Array(Schema.Int)

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

const summaryOf = (counts: Counts, percentile: Percentile): ResultSummary => ({
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
})

// What has been accepted is where queries look: there is nothing to import.
const analyticsOf = (batches: number) => ({
  status: "ready",
  eventBatches: batches,
  persisted: batches,
  queued: 0,
  failed: 0,
  imports: allImported(batches)
})
