import * as Effect from "effect/Effect"
import type { ParticipantInput, ParticipantRef, Platform } from "../../Platform.js"
import { ResourceConflict } from "../../Platform.js"
import type { Issue } from "../platform/validation.js"
import { integer, nonEmpty, refuse } from "../platform/validation.js"
import type { Database } from "./database.js"
import { newId, now } from "./database.js"
import type { Lookups, RunState } from "./lookups.js"
import { encodeJson } from "./requests.js"
import type { RollUp } from "./rollUp.js"

type Operations = Pick<
  Platform["Type"],
  "upsertParticipant" | "updateParticipant" | "getParticipant" | "listParticipants"
>

/** The participants of a run. In an update null means the same as absent. */
export const make = (database: Database, find: Lookups, rollUp: RollUp, add: AddParticipant): Operations => {
  const { lock, read, sql, write } = database

  const update = Effect.fnUntraced(function* (ref: ParticipantRef, input: ParticipantInput, time: string) {
    const { id, runId } = yield* find.participant(ref)
    yield* lock("participants", id)
    const { totalTasks } = yield* find.participant(ref)
    const before = yield* rollUp.participantsOutcome(runId)
    const workers = yield* sql`SELECT id FROM workers WHERE participant_id = ${id} LIMIT 1`
    const planned = workers.length > 0
    if (planned && (input.totalTasks ?? totalTasks) !== totalTasks) {
      return yield* new ResourceConflict({
        reason: "AlreadyPlanned",
        detail: `The workers of participant "${ref.participant}" are planned for ${totalTasks} tasks; that cannot change any more.`
      })
    }
    yield* sql`UPDATE participants SET
      label = COALESCE(${input.label ?? null}, label),
      provider = COALESCE(${input.provider ?? null}, provider),
      status = COALESCE(${input.status ?? null}, status),
      total_tasks = COALESCE(${input.totalTasks ?? null}, total_tasks),
      worker_count = COALESCE(${planned ? null : (input.workerCount ?? null)}, worker_count),
      config = COALESCE(${yield* encodeJson("config", input.config)}, config),
      updated_at = ${time}
      WHERE id = ${id}`
    switch (input.status) {
      case "planned":
        return yield* rollUp.participantOpened(runId, time)
      case "in_progress":
        return yield* rollUp.participantStarted(runId, time)
      case "completed":
      case "failed":
        return yield* rollUp.participantEnded(runId, time, before)
    }
  })

  return {
    upsertParticipant: (ref, input) =>
      Effect.gen(function* () {
        yield* refuse([...nonEmpty("slug", ref.participant), ...participantIssues(input)])
        const run = yield* find.runState(ref)
        const time = yield* now
        const exists = yield* find.participant(ref).pipe(
          Effect.as(true),
          Effect.catchTag("ResourceNotFound", () => Effect.succeed(false))
        )
        const added = !exists && (yield* add(run, ref.participant, input, time))
        yield* added ? rollUp.participantEnded(run.id, time) : update(ref, input, time)
        return yield* find.participant(ref)
      }).pipe((queries) => write("upsertParticipant", queries)),

    updateParticipant: (ref, input) =>
      Effect.gen(function* () {
        yield* refuse(participantIssues(input))
        yield* update(ref, input, yield* now)
        return yield* find.participant(ref)
      }).pipe((queries) => write("updateParticipant", queries)),

    getParticipant: (ref) => read("getParticipant", find.participant(ref)),

    listParticipants: (ref) =>
      read(
        "listParticipants",
        Effect.flatMap(find.run(ref), (run) => find.participantsOf(run.id))
      )
  }
}

/** Adds participants to a run that does not have them; false for one that it has. */
export const makeAdd = ({ lock, sql }: Database, rollUp: RollUp) =>
  Effect.fnUntraced(function* (run: RunState, slug: string, input: ParticipantInput, time: string, prefix = "") {
    yield* lock("runs", run.id)
    const inserted = yield* sql`INSERT INTO participants ${sql.insert({
      id: yield* newId,
      run_id: run.id,
      slug,
      label: input.label ?? null,
      provider: input.provider ?? null,
      status: input.status ?? "planned",
      total_tasks: input.totalTasks ?? run.declaredTotalTasks ?? 0,
      worker_count: input.workerCount ?? run.declaredWorkerCount ?? 1,
      config: yield* encodeJson(`${prefix}config`, input.config),
      created_at: time,
      updated_at: time
    })} ON CONFLICT (run_id, slug) DO NOTHING RETURNING id`
    if (inserted.length === 0) return false
    yield* rollUp.participantOpened(run.id, time)
    return true
  })

export type AddParticipant = ReturnType<typeof makeAdd>

export const participantIssues = (input: ParticipantInput, prefix = ""): ReadonlyArray<Issue> => [
  ...integer(`${prefix}totalTasks`, input.totalTasks),
  ...integer(`${prefix}workerCount`, input.workerCount, 1)
]
