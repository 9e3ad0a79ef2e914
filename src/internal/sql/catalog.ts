import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ParticipantInput, ParticipantRef, Platform, RunInput } from "../../Platform.js"
import { ResourceConflict } from "../../Platform.js"
import type { Database } from "./database.js"
import { newId, now } from "./database.js"
import type { Lookups } from "./lookups.js"
import { BenchmarkRow, RunRow, selectBenchmarks, selectRuns } from "./lookups.js"
import type { Organization } from "./organizations.js"
import { encodeJson, integer, nonEmpty, page, refuse, unique } from "./requests.js"
import type { RollUp } from "./rollUp.js"

type Operations = Pick<
  Platform["Type"],
  | "upsertBenchmark"
  | "updateBenchmark"
  | "getBenchmark"
  | "listBenchmarks"
  | "createRun"
  | "updateRun"
  | "getRun"
  | "listRuns"
  | "listAllRuns"
  | "upsertParticipant"
  | "getParticipant"
  | "listParticipants"
>

/** Benchmarks, their runs and the participants of a run. In an update null means the same as absent. */
export const make = (database: Database, organization: Organization, find: Lookups, rollUp: RollUp): Operations => {
  const { lock, read, sql, write } = database

  const listBenchmarks = SqlSchema.findAll({
    Request: PageRequest,
    Result: BenchmarkRow,
    execute: ({ limit, offset }) => sql`${selectBenchmarks(sql)} WHERE b.organization_id = ${organization.id}
      ORDER BY b.created_at DESC, b.seq DESC LIMIT ${limit} OFFSET ${offset}`
  })

  const listRuns = SqlSchema.findAll({
    Request: Schema.Struct({ ...PageRequest.fields, benchmarkId: Schema.String }),
    Result: RunRow,
    execute: ({ benchmarkId, limit, offset }) => sql`${selectRuns(sql)} WHERE r.benchmark_id = ${benchmarkId}
      ORDER BY r.created_at DESC, r.seq DESC LIMIT ${limit} OFFSET ${offset}`
  })

  const listAllRuns = SqlSchema.findAll({
    Request: PageRequest,
    Result: RunRow,
    execute: ({ limit, offset }) => sql`${selectRuns(sql)} WHERE b.organization_id = ${organization.id}
      ORDER BY r.created_at DESC, r.seq DESC LIMIT ${limit} OFFSET ${offset}`
  })

  const runState = SqlSchema.single({
    Request: Schema.Struct({ benchmarkId: Schema.String, id: Schema.String, runKey: Schema.NullOr(Schema.String) }),
    Result: RunState,
    execute: ({ benchmarkId, id, runKey }) => sql`${selectRuns(sql)} WHERE r.benchmark_id = ${benchmarkId}
      AND ${runKey === null ? sql`r.id = ${id}` : sql`r.run_key = ${runKey}`}`
  })

  const insertRun = Effect.fnUntraced(function* (benchmark: string, input: RunInput) {
    const { id: benchmarkId } = yield* find.benchmark(benchmark)
    const runKey = input.runKey ?? null
    const id = yield* newId
    const time = yield* now
    yield* sql`INSERT INTO runs ${sql.insert({
      id,
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
    return yield* runState({ benchmarkId, id, runKey }).pipe(Effect.catchTag("NoSuchElementException", Effect.die))
  })

  const insertParticipant = Effect.fnUntraced(function* (
    run: RunState,
    slug: string,
    input: ParticipantInput,
    time: string,
    configField = "config"
  ) {
    const inserted = yield* sql`INSERT INTO participants ${sql.insert({
      id: yield* newId,
      run_id: run.id,
      slug,
      label: input.label ?? null,
      provider: input.provider ?? null,
      status: input.status ?? "planned",
      total_tasks: input.totalTasks ?? run.declaredTotalTasks ?? 0,
      worker_count: input.workerCount ?? run.declaredWorkerCount ?? 1,
      config: yield* encodeJson(configField, input.config),
      created_at: time,
      updated_at: time
    })} ON CONFLICT (run_id, slug) DO NOTHING RETURNING id`
    if (inserted.length === 0) return false
    yield* rollUp.participantAdded(run.id, time)
    return true
  })

  const updateParticipant = Effect.fnUntraced(function* (ref: ParticipantRef, input: ParticipantInput, time: string) {
    const { id, totalTasks } = yield* find.participant(ref)
    yield* sql`SELECT id FROM participants WHERE id = ${id} ${forUpdate}`
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
  })

  return {
    upsertBenchmark: (slug, input) =>
      Effect.gen(function* () {
        yield* refuse(nonEmpty("slug", slug))
        const config = yield* encodeJson("config", input.config)
        const defaultRunConfig = yield* encodeJson("defaultRunConfig", input.defaultRunConfig)
        const time = yield* now
        yield* sql`INSERT INTO benchmarks ${sql.insert({
          id: yield* newId,
          organization_id: organization.id,
          slug,
          name: input.name ?? slug,
          status: input.status ?? null,
          config,
          default_run_config: defaultRunConfig,
          created_at: time,
          updated_at: time
        })} ON CONFLICT (organization_id, slug) DO UPDATE SET
          name = COALESCE(${input.name ?? null}, benchmarks.name),
          status = COALESCE(excluded.status, benchmarks.status),
          config = COALESCE(excluded.config, benchmarks.config),
          default_run_config = COALESCE(excluded.default_run_config, benchmarks.default_run_config),
          updated_at = excluded.updated_at`
        return yield* find.benchmark(slug)
      }).pipe((queries) => write("upsertBenchmark", queries)),

    updateBenchmark: (slug, input) =>
      Effect.gen(function* () {
        const { id } = yield* find.benchmark(slug)
        yield* sql`UPDATE benchmarks SET
          name = COALESCE(${input.name ?? null}, name),
          status = COALESCE(${input.status ?? null}, status),
          config = COALESCE(${yield* encodeJson("config", input.config)}, config),
          default_run_config = COALESCE(${yield* encodeJson("defaultRunConfig", input.defaultRunConfig)},
            default_run_config),
          updated_at = ${yield* now}
          WHERE id = ${id}`
        return yield* find.benchmark(slug)
      }).pipe((queries) => write("updateBenchmark", queries)),

    getBenchmark: (slug) => read("getBenchmark", find.benchmark(slug)),

    listBenchmarks: (input) => read("listBenchmarks", Effect.flatMap(page(input), listBenchmarks)),

    createRun: (benchmark, input) =>
      Effect.gen(function* () {
        const participants = input.participants ?? []
        yield* refuse([
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
        ])
        const run = yield* insertRun(benchmark, input)
        const time = yield* now
        const added = yield* Effect.forEach(participants, (participant, index) =>
          insertParticipant(run, participant.slug, participant, time, `participants[${index}].config`)
        )
        if (added.includes(true)) yield* rollUp.participantEnded(run.id, time)
        return {
          run: yield* find.run({ benchmark, run: run.id }),
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
        return yield* listRuns({ ...bounds, benchmarkId })
      }).pipe((queries) => read("listRuns", queries)),

    listAllRuns: (input) => read("listAllRuns", Effect.flatMap(page(input), listAllRuns)),

    upsertParticipant: (ref, input) =>
      Effect.gen(function* () {
        yield* refuse([...nonEmpty("slug", ref.participant), ...participantIssues(input, "")])
        const { benchmarkId, id } = yield* find.run(ref)
        const run = yield* runState({ benchmarkId, id, runKey: null }).pipe(
          Effect.catchTag("NoSuchElementException", Effect.die)
        )
        const time = yield* now
        const added = yield* insertParticipant(run, ref.participant, input, time)
        if (!added) yield* updateParticipant(ref, input, time)
        if (added || input.status !== undefined) yield* rollUp.participantEnded(run.id, time)
        return yield* find.participant(ref)
      }).pipe((queries) => write("upsertParticipant", queries)),

    getParticipant: (ref) => read("getParticipant", find.participant(ref)),

    listParticipants: (ref) =>
      read(
        "listParticipants",
        Effect.flatMap(find.run(ref), (run) => find.participantsOf(run.id))
      )
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const PageRequest = Schema.Struct({ limit: Schema.Int, offset: Schema.Int })

const RunState = Schema.Struct({
  ...RunRow.fields,
  declaredTotalTasks: Schema.NullOr(Schema.Int),
  declaredWorkerCount: Schema.NullOr(Schema.Int)
})
type RunState = typeof RunState.Type

const participantIssues = (input: ParticipantInput, prefix: string) => [
  ...integer(`${prefix}totalTasks`, input.totalTasks),
  ...integer(`${prefix}workerCount`, input.workerCount, 1)
]
