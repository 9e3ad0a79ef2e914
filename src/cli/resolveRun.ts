/**
 * Which run a person means.
 */
import * as Effect from "effect/Effect"
import type { PlatformError, Run } from "../Platform.js"
import { Platform } from "../Platform.js"
import { CliError } from "./CliError.js"
import { plural } from "./text.js"

const pageSize = 500

/**
 * `last` (the default), `last~N`, a full id, or a prefix of one that only one run has. With a benchmark, only its runs
 * are looked at.
 */
export const resolveRun = (
  benchmark: string | undefined,
  name: string | undefined
): Effect.Effect<{ readonly benchmark: string; readonly run: Run }, PlatformError | CliError, Platform> =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const page = (offset: number) =>
      benchmark === undefined
        ? platform.listAllRuns({ limit: pageSize, offset })
        : platform.listRuns(benchmark, { limit: pageSize, offset })
    const wanted = name ?? "last"
    const back = /^last(?:~(\d+))?$/.exec(wanted)
    if (wanted.trim() === "") return yield* new CliError({ detail: "--run expects a value" })
    const run =
      back === null
        ? yield* byPrefix(wanted, page)
        : yield* nthLast(back[1] === undefined ? 0 : Number(back[1]), benchmark, page)
    const slug = run.benchmarkSlug ?? benchmark
    if (slug === undefined || slug === null) {
      return yield* new CliError({
        detail: `Run ${run.id} does not say which benchmark it is of; name the benchmark too.`
      })
    }
    return { benchmark: slug, run }
  })

type GetPage = (offset: number) => Effect.Effect<ReadonlyArray<Run>, PlatformError>

const nthLast = Effect.fnUntraced(function* (n: number, benchmark: string | undefined, page: GetPage) {
  let count = 0
  for (let runs = yield* page(0); runs.length > 0; runs = yield* page(count)) {
    const run = runs[n - count]
    if (run !== undefined) return run
    count += runs.length
  }
  const of = benchmark === undefined ? "" : ` of ${benchmark}`
  return yield* new CliError({
    detail:
      count === 0
        ? `There are no runs${of} yet. Run a benchmark first: bench run FILE`
        : `There ${count === 1 ? "is" : "are"} only ${plural(count, "run")}${of}: the oldest is last~${count - 1}.`
  })
})

const byPrefix = Effect.fnUntraced(function* (prefix: string, page: GetPage) {
  const matching: Array<Run> = []
  for (let offset = 0; ; offset += pageSize) {
    const runs = yield* page(offset)
    for (const run of runs) {
      if (run.id === prefix) return run
      if (run.id.startsWith(prefix)) matching.push(run)
    }
    if (runs.length < pageSize) break
  }
  const [only, another] = matching
  if (only === undefined) {
    return yield* new CliError({
      detail: `No run "${prefix}". Say last, last~N, or the beginning of an id: bench runs list`
    })
  }
  if (another !== undefined) {
    return yield* new CliError({
      detail: `"${prefix}" is the beginning of ${plural(matching.length, "run id")}: ${matching
        .slice(0, 5)
        .map(({ id }) => id)
        .join(", ")}. Say more of it.`
    })
  }
  return only
})
