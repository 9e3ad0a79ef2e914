/**
 * `bench benchmarks list`
 */
import * as Effect from "effect/Effect"
import { Platform } from "../Platform.js"
import { json, print } from "./output.js"
import { table } from "./text.js"

export interface ListOptions {
  readonly limit: number
  readonly offset: number
  readonly json: boolean
}

/** Benchmarks with their latest run, newest first. */
export const list = Effect.fnUntraced(function* ({ json: asJson, ...page }: ListOptions) {
  const platform = yield* Platform
  const benchmarks = yield* platform.listBenchmarks(page)
  if (asJson) return yield* json({ items: benchmarks })
  if (benchmarks.length === 0) return yield* print("No benchmarks.")
  const rows = yield* Effect.forEach(benchmarks, ({ name, slug }) =>
    Effect.map(platform.listRuns(slug, { limit: 1 }), ([last]) => [
      slug,
      name,
      last?.status ?? "",
      last?.createdAt ?? "",
      last?.id ?? ""
    ])
  )
  yield* print(
    table(
      [{ title: "benchmark" }, { title: "name" }, { title: "last status" }, { title: "last run" }, { title: "run" }],
      rows
    )
  )
})
