import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type { PlanWorkersInput, Platform } from "../../Platform.js"
import { ResourceConflict } from "../../Platform.js"
import { integer, refuse } from "../platform/validation.js"
import type { Database } from "./database.js"
import { newId, now } from "./database.js"
import type { Lookups, ParticipantState } from "./lookups.js"
import { encodeJson } from "./requests.js"

const maxWorkers = 10_000

/** Splits a participant's tasks over workers, once. */
export const make = (database: Database, find: Lookups): Pick<Platform["Type"], "planWorkers"> => {
  const { lock, sql, write } = database

  const ensureUnplanned = Effect.fnUntraced(function* ({ id, slug }: ParticipantState) {
    yield* lock("participants", id)
    const planned = yield* sql`SELECT id FROM workers WHERE participant_id = ${id} LIMIT 1`
    if (planned.length > 0) {
      return yield* new ResourceConflict({
        reason: "AlreadyPlanned",
        detail: `The workers of participant "${slug}" are already planned.`
      })
    }
  })

  const insertWorkers = Effect.fnUntraced(function* (
    participantId: string,
    ranges: ReadonlyArray<TaskRange>,
    targetConcurrency: number | null,
    time: string
  ) {
    const ids = yield* Effect.replicateEffect(newId, ranges.length)
    const rows = Arr.zipWith(ids, ranges, (id, { end, start }) => ({
      id,
      participant_id: participantId,
      worker_count: ranges.length,
      task_index_start: start,
      task_index_end: end,
      target_concurrency: targetConcurrency,
      status: "pending",
      progress_done: 0,
      progress_in_flight: 0,
      progress_errors: 0,
      progress_total: end - start + 1,
      concurrency: "[]",
      attempt_count: 0,
      created_at: time,
      updated_at: time
    })).map((row, index) => ({ ...row, worker_index: index }))
    yield* Effect.forEach(Arr.chunksOf(rows, 200), (chunk) => sql`INSERT INTO workers ${sql.insert(chunk)}`, {
      discard: true
    })
  })

  return {
    planWorkers: (ref, input) =>
      Effect.gen(function* () {
        yield* refuse([
          ...integer("workerCount", input.workerCount, 1),
          ...integer("targetConcurrency", input.targetConcurrency, 1)
        ])
        const config = yield* encodeJson("config", input.config)
        yield* ensureUnplanned(yield* find.participantState(ref))
        const { id, totalTasks, workerCount } = yield* find.participant(ref)
        const count = countWorkers(totalTasks, input, workerCount)
        yield* refuse([...integer("totalTasks", totalTasks, 1), ...integer("workerCount", count, 0, maxWorkers)])
        const time = yield* now
        const ranges = splitTasks(totalTasks, count, input.targetConcurrency)
        yield* insertWorkers(id, ranges, input.targetConcurrency ?? null, time)
        yield* sql`UPDATE participants SET worker_count = ${count}, worker_config = ${config}, updated_at = ${time}
          WHERE id = ${id}`
        return yield* find.workersOf(id)
      }).pipe((queries) => write("planWorkers", queries))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Tasks `start` to `end`, both included. */
interface TaskRange {
  readonly start: number
  readonly end: number
}

// As many as it takes at `targetConcurrency` tasks each, else those asked for, or else those the participant declared;
// none without a task.
const countWorkers = (totalTasks: number, input: PlanWorkersInput, declared: number): number =>
  typeof input.targetConcurrency === "number"
    ? Math.ceil(totalTasks / input.targetConcurrency)
    : Math.min(totalTasks, input.workerCount ?? declared)

// Contiguous ranges over all tasks: of `perWorker` tasks each, or else as even as they can be, the larger ones first.
const splitTasks = (
  totalTasks: number,
  count: number,
  perWorker: number | null | undefined
): ReadonlyArray<TaskRange> => {
  const base = Math.floor(totalTasks / count)
  const larger = totalTasks % count
  return Arr.makeBy(count, (index) => {
    if (typeof perWorker === "number") {
      return { start: index * perWorker, end: Math.min(totalTasks, (index + 1) * perWorker) - 1 }
    }
    const start = index * base + Math.min(index, larger)
    return { start, end: start + base + (index < larger ? 1 : 0) - 1 }
  })
}
