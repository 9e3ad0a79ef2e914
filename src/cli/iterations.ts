/**
 * `bench iterations SLUG`
 */
import * as Effect from "effect/Effect"
import { stringifySafe } from "../internal/json.js"
import { Platform } from "../Platform.js"
import { json, print } from "./output.js"
import { resolveRun } from "./resolveRun.js"
import { absent, number, table, truncate } from "./text.js"

export interface IterationsOptions {
  readonly benchmark: string | undefined
  readonly run: string | undefined
  readonly type: "tasks" | "steps"
  readonly participant: string | undefined
  readonly steps: ReadonlyArray<string> | undefined
  readonly json: boolean
}

/** Every stored task or step of a run. */
export const show = Effect.fnUntraced(function* (options: IterationsOptions) {
  const platform = yield* Platform
  const { benchmark, run } = yield* resolveRun(options.benchmark, options.run)
  const ref = { benchmark, run: run.id }
  const { participant, steps, type } = options
  if (participant !== undefined) yield* platform.getParticipant({ ...ref, participant })
  const items = yield* platform.iterations(ref, { type, participant, steps })
  if (options.json) return yield* json({ run, [type]: items })
  if (items.length === 0) {
    const chosen = participant === undefined && steps === undefined ? "" : " that was asked for"
    return yield* print(`Nothing${chosen} is recorded in run ${run.id}.`)
  }
  yield* print(
    table(
      [
        { title: "participant" },
        { title: "task", align: "right" },
        ...(type === "steps" ? [{ title: "step" }] : []),
        { title: "status" },
        { title: "latency (ms)", align: "right" },
        { title: "started" },
        { title: "data" }
      ],
      items.map((item) => [
        item.participantSlug,
        String(item.taskIndex),
        ...(type === "steps" ? [item.stepName ?? ""] : []),
        item.errorCode ? `${item.status} ${item.errorCode}` : item.status,
        item.latencyMs === null ? absent : number(item.latencyMs),
        item.startedAt ?? absent,
        item.data === null ? "" : truncate(stringifySafe(item.data), 100)
      ])
    )
  )
})
