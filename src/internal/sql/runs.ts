import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Platform, RunInput } from "../../Platform.js"
import type { Issue } from "../platform/validation.js"
import { integer, nonEmpty, refuse, unique } from "../platform/validation.js"
import type { Database } from "./database.js"
import { newId, now } from "./database.js"
import type { Lookups } from "./lookups.js"
import { PageRequest, RunRow, selectRuns } from "./lookups.js"
import type { Organization } from "./organizations.js"
import type { AddParticipant } from "./participants.js"
import { participantIssues } from "./participants.js"
import { encodeJson, page } from "./requests.js"
import type { RollUp } from "./rollUp.js"

type Operations = Pick<Platform["Type"], "createRun" | "updateRun" | "getRun" | "listRuns" | "listAllRuns">

/** The runs of benchmarks. In an update null means the same as absent. */
export const make = (
  database: Database,
  organization: Organization,
  find: Lookups,
  rollUp: RollUp,
  addParticipant: AddParticipant
): Operations => {
  const { read, sql, write } = database

  const listAll = SqlSchema.findAll({
    Request: PageRequest,
    Result: RunRow,
    execute: ({ limit, offset }) => sql`${selectRuns(sql)} WHERE r.organization_id = ${organization.id}
      ORDER BY r.created_at DESC, r.seq DESC LIMIT ${limit} OFFSET ${offset}`
  })

  const findIdByKey = SqlSchema.single({
    Request: Schema.Struct({ benchmarkId: Schema.String, runKey: Schema.String }),
    Result: Schema.Struct({ id: Schema.String }),
    execute: ({ benchmarkId, runKey }) => sql`SELECT id FROM runs
      WHERE benchmark_id = ${benchmarkId} AND run_key = ${runKey}`
  })

  // The id of the new run, or of the one that has the key already.
  const insert = Effect.fnUntraced(function* (benchmarkId: string, input: RunInput, time: string) {
    const id = yield* newId
    const runKey = input.runKey ?? null
    yield* sql`INSERT INTO runs ${sql.insert({
      id,
      organization_id: organization.id,
      benchmark_id: benchmarkId,
      run_key: runKey,
      name: input.name ?? null,
      status: "planned",
      total_tasks: input.totalTasks ?? null,
      worker_count: input.workerCount ?? null,
      config: yield* encodeJson("config", input.config),
      created_at: time,
      updated_at: time
    })} ON CONFLICT (benchmark_id, run_key) DO NOTHING`
    if (runKey === null) return id
    const found = yield* findIdByKey({ benchmarkId, runKey }).pipe(
      Effect.catchTag("NoSuchElementException", Effect.die)
    )
    return found.id
  })

  return {
    createRun: (benchmark, input) =>
      Effect.gen(function* () {
        yield* refuse(runIssues(input))
        const { id: benchmarkId } = yield* find.benchmark(benchmark)
        const time = yield* now
        const ref = { benchmark, run: yield* insert(benchmarkId, input, time) }
        const run = yield* find.runState(ref)
        const added = yield* Effect.forEach(input.participants ?? [], (participant, index) =>
          addParticipant(run, participant.slug, participant, time, `participants[${index}].`)
        )
        if (added.includes(true)) yield* rollUp.participantEnded(run.id, time)
        return {
          run: yield* find.run(ref),
          participants: yield* find.participantsOf(run.id),
          organizationSlug: organization.slug
        }
      }).pipe((queries) => write("createRun", queries)),

    updateRun: (ref, patch) =>
      Effect.gen(function* () {
        const { id } = yield* find.run(ref)
        yield* sql`UPDATE runs SET
          status = COALESCE(${patch.status ?? null}, status),
          config = COALESCE(${yield* encodeJson("config", patch.config)}, config),
          updated_at = ${yield* now}
          WHERE id = ${id}`
        return yield* find.run(ref)
      }).pipe((queries) => write("updateRun", queries)),

    getRun: (ref) => read("getRun", find.run(ref)),

    listRuns: (benchmark, input) =>
      Effect.gen(function* () {
        const bounds = yield* page(input)
        const { id: benchmarkId } = yield* find.benchmark(benchmark)
        return yield* find.runsOf({ ...bounds, benchmarkId })
      }).pipe((queries) => read("listRuns", queries)),

    listAllRuns: (input) => read("listAllRuns", Effect.flatMap(page(input), listAll))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const runIssues = (input: RunInput): ReadonlyArray<Issue> => {
  const participants = input.participants ?? []
  return [
    ...nonEmpty("runKey", input.runKey),
    ...integer("totalTasks", input.totalTasks),
    ...integer("workerCount", input.workerCount, 1),
    ...participants.flatMap((participant, index) => [
      ...nonEmpty(`participants[${index}].slug`, participant.slug),
      ...participantIssues(participant, `participants[${index}].`)
    ]),
    ...unique(
      participants.map((participant) => participant.slug),
      (index) => `participants[${index}].slug`
    )
  ]
}
