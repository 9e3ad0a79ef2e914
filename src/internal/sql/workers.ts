import * as SqlSchema from "@effect/sql/SqlSchema"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Assignment, ClaimInput, CloseInput, Platform, Worker, WorkerRef } from "../../Platform.js"
import { heartbeat, refuse } from "../platform/validation.js"
import type { Attempts, AttemptState } from "./attempts.js"
import { ensureRunning } from "./attempts.js"
import type { Database } from "./database.js"
import { newId, now } from "./database.js"
import type { Lookups, ParticipantState, WorkerState } from "./lookups.js"
import type { Readiness } from "./readiness.js"
import type { RollUp } from "./rollUp.js"

type Operations = Pick<
  Platform["Type"],
  "claimWorker" | "listWorkers" | "getWorker" | "heartbeat" | "completeWorker" | "failWorker" | "releaseWorker"
>

/** One worker's life from claim to close. */
export const make = (
  database: Database,
  find: Lookups,
  attempts: Attempts,
  rollUp: RollUp,
  readiness: Readiness,
  lease: Duration.Duration
): Operations => {
  const { skipLocked, read, sql, write } = database

  const findPending = SqlSchema.findOne({
    Request: Schema.Struct({ participantId: Schema.String }),
    Result: WorkerId,
    execute: ({ participantId }) => sql`SELECT id FROM workers
      WHERE participant_id = ${participantId} AND status = 'pending'
      ORDER BY worker_index LIMIT 1 ${skipLocked}`
  })

  const findSilent = SqlSchema.findOne({
    Request: Schema.Struct({ participantId: Schema.String, since: Schema.String }),
    Result: WorkerId,
    execute: ({ participantId, since }) => sql`SELECT id FROM workers
      WHERE participant_id = ${participantId} AND status = 'running' AND last_seen_at < ${since}
      ORDER BY worker_index LIMIT 1 ${skipLocked}`
  })

  const findClaimable = Effect.fnUntraced(function* (participantId: string) {
    const pending = yield* findPending({ participantId })
    if (Option.isSome(pending) || !Duration.isFinite(lease)) return pending
    const since = DateTime.formatIso(DateTime.subtractDuration(yield* DateTime.now, lease))
    return yield* findSilent({ participantId, since })
  })

  const startAttempt = Effect.fnUntraced(function* (worker: WorkerState, input: ClaimInput) {
    const id = yield* newId
    const attemptNumber = worker.attemptCount + 1
    const time = yield* now
    if (worker.status === "running") {
      yield* sql`UPDATE attempts SET status = 'abandoned', ended_at = ${time} WHERE id = ${worker.currentAttemptId}`
    }
    yield* sql`INSERT INTO attempts ${sql.insert({
      id,
      worker_id: worker.id,
      attempt_number: attemptNumber,
      status: "running",
      process_kind: input.processKind ?? null,
      process_key: input.processKey ?? null,
      started_at: time
    })}`
    yield* sql`UPDATE workers SET status = 'running', progress_done = 0, progress_in_flight = 0, progress_errors = 0,
      current_step = NULL, concurrency = '[]', attempt_count = ${attemptNumber}, current_attempt_id = ${id},
      last_seen_at = ${time}, last_heartbeat_at = ${time}, updated_at = ${time} WHERE id = ${worker.id}`
    yield* rollUp.workerStarted(worker.participantId, worker.runId, time)
    return { attemptId: id, attemptNumber }
  })

  const recordHeartbeat = Effect.fnUntraced(function* (
    worker: WorkerState,
    attemptId: string,
    concurrency: ReadonlyArray<{
      readonly step: string | null
      readonly active: number | null
      readonly target: number | null
    }>,
    time: string
  ) {
    const id = yield* newId
    yield* sql`INSERT INTO heartbeats ${sql.insert(
      concurrency.map(({ active, step, target }, position) => ({
        id,
        position,
        run_id: worker.runId,
        worker_id: worker.id,
        attempt_id: attemptId,
        recorded_at: time,
        step,
        active,
        target
      }))
    )}`
  })

  // Closing is acknowledged again when it is repeated, since its first answer may have been lost on the way.
  const close = (operation: string, ending: Ending) => (ref: WorkerRef, input: CloseInput) =>
    Effect.gen(function* () {
      const worker = yield* attempts.lockWorker(ref)
      const attempt = yield* attempts.latest(worker, input.attemptId)
      if (attempt.status !== ending.attempt) {
        const late = ending.worker === "completed" && lacksOnlyResults(worker, attempt)
        if (!late) yield* ensureRunning(worker, attempt)
        const before = late ? yield* rollUp.workersOutcome(worker.participantId) : "open"
        const time = yield* now
        const { done, errors } = ending.stored ? yield* attempts.countStored(worker) : { done: 0, errors: 0 }
        yield* sql`UPDATE attempts SET status = ${ending.attempt}, error_code = ${input.errorCode ?? null},
          error_message = ${input.errorMessage ?? null}, ended_at = ${time} WHERE id = ${attempt.id}`
        yield* sql`UPDATE workers SET status = ${ending.worker}, progress_done = ${done}, progress_in_flight = 0,
          progress_errors = ${errors}, current_step = NULL, concurrency = '[]', updated_at = ${time}
          WHERE id = ${worker.id}`
        if (ending.worker !== "pending") {
          yield* rollUp.workerEnded(worker.participantId, worker.runId, time, before)
          yield* readiness.workersChanged(worker.participantId, time)
        }
      }
      return yield* attempts.result(ref, input.attemptId)
    }).pipe((queries) => write(operation, queries))

  return {
    claimWorker: (ref, input) =>
      Effect.gen(function* () {
        const participant = yield* find.participantState(ref)
        const found = yield* findClaimable(participant.id)
        if (Option.isNone(found)) return null
        const workerRef = { ...ref, worker: found.value.id }
        const started = yield* startAttempt(yield* find.workerState(workerRef), input)
        return assignment(participant, yield* find.worker(workerRef), started)
      }).pipe((queries) => write("claimWorker", queries)),

    listWorkers: (ref) =>
      read(
        "listWorkers",
        Effect.flatMap(find.participant(ref), (participant) => find.workersOf(participant.id))
      ),

    getWorker: (ref) => read("getWorker", find.worker(ref)),

    // Without a current step or samples the worker is idle; counters that are left out stay as they are.
    heartbeat: (ref, input) =>
      Effect.gen(function* () {
        const concurrency = input.concurrency ?? []
        yield* refuse(heartbeat(input))
        const worker = yield* attempts.lockWorker(ref)
        yield* ensureRunning(worker, yield* attempts.latest(worker, input.attemptId))
        const time = yield* now
        yield* sql`UPDATE workers SET
          progress_done = COALESCE(${input.progressDone ?? null}, progress_done),
          progress_in_flight = COALESCE(${input.progressInFlight ?? null}, progress_in_flight),
          progress_errors = COALESCE(${input.progressErrors ?? null}, progress_errors),
          progress_total = COALESCE(${input.progressTotal ?? null}, progress_total),
          current_step = ${input.currentStep ?? null},
          concurrency = ${JSON.stringify(concurrency)},
          last_seen_at = ${time}, last_heartbeat_at = ${time}, updated_at = ${time}
          WHERE id = ${worker.id}`
        yield* recordHeartbeat(worker, input.attemptId, concurrency.length === 0 ? [noSample] : concurrency, time)
        yield* readiness.reported(worker.participantId, concurrency, time)
        return yield* attempts.result(ref, input.attemptId)
      }).pipe((queries) => write("heartbeat", queries)),

    completeWorker: close("completeWorker", { attempt: "completed", worker: "completed", stored: true }),
    failWorker: close("failWorker", { attempt: "failed", worker: "failed", stored: true }),
    releaseWorker: close("releaseWorker", { attempt: "released", worker: "pending", stored: false })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What an attempt and its worker become, and whether the worker's progress becomes what it has stored. */
interface Ending {
  readonly attempt: "completed" | "failed" | "released"
  readonly worker: "completed" | "failed" | "pending"
  readonly stored: boolean
}

/** Of an attempt that failed because its results could not be delivered. */
const flushFailed = "flush_failed"

const lacksOnlyResults = (worker: WorkerState, attempt: AttemptState): boolean =>
  worker.status === "failed" && attempt.status === "failed" && attempt.errorCode === flushFailed

const WorkerId = Schema.Struct({ id: Schema.String })

const noSample = { step: null, active: null, target: null }

// Workers are given everything that was configured: what was said last wins, field by field.
const assignment = (
  participant: ParticipantState,
  worker: Worker,
  started: { readonly attemptId: string; readonly attemptNumber: number }
): Assignment => {
  const configs = [participant.runConfig, participant.config, participant.workerConfig].filter((c) => c !== null)
  return {
    benchmarkId: participant.benchmarkId,
    benchmarkSlug: participant.benchmarkSlug,
    runId: participant.runId,
    participantId: participant.id,
    participantSlug: participant.slug,
    provider: participant.provider,
    workerId: worker.id,
    workerIndex: worker.workerIndex,
    workerCount: worker.workerCount,
    ...started,
    taskRange: {
      start: worker.taskIndexStart,
      end: worker.taskIndexEnd,
      count: worker.taskIndexEnd - worker.taskIndexStart + 1
    },
    targetConcurrency: worker.targetConcurrency,
    config: configs.length === 0 ? null : configs.reduce((merged, config) => ({ ...merged, ...config }))
  }
}
