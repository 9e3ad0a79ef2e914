/**
 * Many runs put into a store past the platform, by statements that make their rows inside the database: to see how its
 * queries find those of one run among all others.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import { Array as Arr, Effect } from "effect"
import { Platform } from "../../src/Platform.js"

export interface Filling {
  readonly runs: number
  readonly participants: number
  /** Of each participant, each with every step of `steps`. */
  readonly tasks: number
  /** Of each participant. */
  readonly workers: number
  /** Of each worker, with a sample of every step. */
  readonly heartbeats: number
}

export const steps = ["connect", "read", "write"]

/** Completed runs of one benchmark; the ids of their rows begin with its slug, run `n` of `bench` is `bench-n`. */
export const fill = (benchmark: string, filling: Filling) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const sql = yield* SqlClient.SqlClient
    yield* platform.upsertBenchmark(benchmark, {})
    const { heartbeats, participants, runs, tasks, workers } = filling
    const perWorker = Math.ceil(tasks / workers)
    const timeOf = (seconds: string) =>
      sql.onDialectOrElse({
        pg: () =>
          sql.literal(
            `to_char(to_timestamp(1700000000 + ${seconds}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
          ),
        orElse: () => sql.literal(`strftime('%Y-%m-%dT%H:%M:%fZ', 1700000000 + ${seconds}, 'unixepoch')`)
      })
    const text = (value: string) => sql.literal(`'${value}'`)
    // Every number from 0 to below `count`; PostgreSQL makes fewer copies of its own series.
    const numbers = (name: string, count: number) =>
      sql.onDialectOrElse({
        pg: () => sql.literal(`generate_series(0, ${count - 1}) AS ${name} (n)`),
        orElse: () =>
          sql.literal(
            `(WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1})
              SELECT n FROM numbers) ${name}`
          )
      })
    const stepNames = sql.literal(
      steps.map((name, index) => `SELECT '${name}' AS name, ${index} AS place`).join(" UNION ALL ")
    )

    const fillRun = (run: string, second: number) =>
      Effect.gen(function* () {
        const created = timeOf(`${second}`)
        const ended = timeOf(`${second + 600}`)
        yield* sql`INSERT INTO runs (id, organization_id, benchmark_id, run_key, status, total_tasks, worker_count, created_at, updated_at)
          SELECT ${text(run)}, organization_id, id, ${text(run)}, 'completed', ${tasks}, ${workers}, ${created}, ${ended}
          FROM benchmarks WHERE slug = ${benchmark}`
        yield* sql`INSERT INTO participants (id, run_id, slug, provider, status, total_tasks, worker_count, created_at, updated_at)
          SELECT ${text(run)} || '-p' || p.n, ${text(run)}, 'p' || p.n, 'provider', 'completed', ${tasks}, ${workers},
            ${created}, ${ended}
          FROM ${numbers("p", participants)}`
        yield* sql`INSERT INTO workers (id, participant_id, worker_index, worker_count, task_index_start, task_index_end, status,
            progress_done, progress_in_flight, progress_errors, progress_total, concurrency, attempt_count, current_attempt_id,
            last_seen_at, last_heartbeat_at, created_at, updated_at)
          SELECT p.id || '-w' || w.n, p.id, w.n, ${workers}, w.n * ${perWorker}, (w.n + 1) * ${perWorker} - 1, 'completed',
            ${perWorker}, 0, 0, ${perWorker}, '[]', 1, p.id || '-a' || w.n, ${ended}, ${ended}, ${created}, ${ended}
          FROM participants p CROSS JOIN ${numbers("w", workers)} WHERE p.run_id = ${run}`
        yield* sql`INSERT INTO attempts (id, worker_id, attempt_number, status, started_at, ended_at)
          SELECT w.current_attempt_id, w.id, 1, 'completed', ${created}, ${ended}
          FROM workers w JOIN participants p ON p.id = w.participant_id WHERE p.run_id = ${run}`
        yield* sql`INSERT INTO event_batches (id, run_id, worker_id, attempt_id, sequence_number, batch_type, is_final, event_count, created_at)
          SELECT w.id || '-b' || b.n, ${text(run)}, w.id, w.current_attempt_id, b.n, 'task_results', b.n, ${perWorker}, ${ended}
          FROM workers w JOIN participants p ON p.id = w.participant_id CROSS JOIN ${numbers("b", 2)} WHERE p.run_id = ${run}`
        yield* sql`INSERT INTO artifacts (id, run_id, worker_id, attempt_id, kind, object_key, created_at)
          SELECT w.id || '-x' || a.n, ${text(run)}, w.id, w.current_attempt_id,
            CASE WHEN a.n = 0 THEN 'coordinator.log' ELSE 'system-metrics' END, w.id || '/' || a.n, ${ended}
          FROM workers w JOIN participants p ON p.id = w.participant_id CROSS JOIN ${numbers("a", 2)} WHERE p.run_id = ${run}`
        yield* sql`INSERT INTO heartbeats (id, position, run_id, worker_id, attempt_id, recorded_at, step, active, target)
          SELECT w.id || '-h' || h.n, s.place, ${text(run)}, w.id, w.current_attempt_id, ${timeOf(`${second} + h.n * 10`)},
            s.name, h.n, ${heartbeats}
          FROM workers w JOIN participants p ON p.id = w.participant_id CROSS JOIN ${numbers("h", heartbeats)}
            CROSS JOIN (${stepNames}) s WHERE p.run_id = ${run}`
        yield* sql`INSERT INTO ready_steps (participant_id, step, ready_at)
          SELECT id, 'connect', ${created} FROM participants WHERE run_id = ${run}`
        yield* sql`INSERT INTO run_summaries (run_id, summary, created_at, updated_at)
          VALUES (${run}, '{"run":{},"results":[]}', ${ended}, ${ended})`
        yield* sql`INSERT INTO task_results (participant_seq, task_index, attempt_number, sequence_number, status, started_at,
            completed_at, latency_ms, error_code, data)
          SELECT p.seq, t.n, 1, 0, CASE WHEN t.n % 100 = 7 THEN 'error' ELSE 'success' END,
            ${timeOf(`${second} + t.n * 0.01`)}, ${timeOf(`${second} + t.n * 0.01 + 0.005`)}, ((t.n * 7919) % 10007) / 7.0,
            CASE WHEN t.n % 100 = 7 THEN 'timeout' END, '{"region":"eu"}'
          FROM ${numbers("t", tasks)} CROSS JOIN participants p WHERE p.run_id = ${run}`
        yield* sql`INSERT INTO step_results (participant_seq, name, task_index, step_index, status, started_at, completed_at,
            latency_ms)
          SELECT p.seq, s.name, t.n, s.place, 'success', ${timeOf(`${second} + t.n * 0.01`)},
            ${timeOf(`${second} + t.n * 0.01 + 0.002`)}, ((t.n * 7919 + s.place * 31) % 10007) / 9.0
          FROM ${numbers("t", tasks)} CROSS JOIN (${stepNames}) s CROSS JOIN participants p WHERE p.run_id = ${run}`
      }).pipe(sql.withTransaction)

    yield* Effect.forEach(Arr.range(0, runs - 1), (n) => fillRun(`${benchmark}-${n}`, n * 1000), { discard: true })
  })
