/**
 * `bench runs list` and `bench runs show`
 */
import * as Effect from "effect/Effect"
import { Platform } from "../Platform.js"
import { json, print } from "./output.js"
import { resolveRun } from "./resolveRun.js"
import { table } from "./text.js"

export interface ListOptions {
  readonly benchmark: string | undefined
  readonly limit: number
  readonly offset: number
  readonly json: boolean
}

/** Runs, newest first. */
export const list = Effect.fnUntraced(function* ({ benchmark, json: asJson, ...page }: ListOptions) {
  const platform = yield* Platform
  const runs = yield* benchmark === undefined ? platform.listAllRuns(page) : platform.listRuns(benchmark, page)
  if (asJson) return yield* json({ items: runs })
  if (runs.length === 0) return yield* print("No runs.")
  yield* print(
    table(
      [
        { title: "run" },
        { title: "benchmark" },
        { title: "status" },
        { title: "tasks", align: "right" },
        { title: "created" },
        { title: "key" }
      ],
      runs.map(({ benchmarkSlug, createdAt, id, runKey, status, totalTasks }) => [
        id,
        benchmarkSlug ?? benchmark ?? "",
        status,
        String(totalTasks),
        createdAt,
        runKey ?? ""
      ])
    )
  )
})

export interface ShowOptions {
  readonly run: string | undefined
  readonly json: boolean
}

/** A run with its participants and their workers. */
export const show = Effect.fnUntraced(function* (options: ShowOptions) {
  const platform = yield* Platform
  const { benchmark, run } = yield* resolveRun(undefined, options.run)
  const ref = { benchmark, run: run.id }
  const participants = yield* Effect.forEach(yield* platform.listParticipants(ref), (participant) =>
    Effect.map(platform.listWorkers({ ...ref, participant: participant.slug }), (workers) => ({
      ...participant,
      workers
    }))
  )
  if (options.json) return yield* json({ run, participants })
  yield* print(
    `Run ${run.id} of ${benchmark}: ${run.status}\ncreated ${run.createdAt}, updated ${run.updatedAt}${run.runKey ? `, key ${run.runKey}` : ""}\n`
  )
  yield* print(
    table(
      [
        { title: "participant" },
        { title: "status" },
        { title: "worker", align: "right" },
        { title: "worker status" },
        { title: "tasks" },
        { title: "done", align: "right" },
        { title: "errors", align: "right" }
      ],
      participants.flatMap(({ slug, status, workers }) =>
        workers.length === 0
          ? [[slug, status, "", "", "", "", ""]]
          : workers.map((worker) => [
              slug,
              status,
              `${worker.workerIndex + 1}/${worker.workerCount}`,
              worker.status,
              `${worker.taskIndexStart}–${worker.taskIndexEnd}`,
              `${worker.progressDone}/${worker.progressTotal}`,
              String(worker.progressErrors)
            ])
      )
    )
  )
})
