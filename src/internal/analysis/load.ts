/** Reading what judging a run needs from the platform that keeps it. */
import * as Effect from "effect/Effect"
import type { PlatformError, RunRef } from "../../Platform.js"
import { Platform } from "../../Platform.js"
import type { Data } from "../../Record.js"
import { manifest } from "./manifest.js"
import type { RunData } from "./model.js"

/** How many requests for records are made at once. */
const requests = 4

export const load = (ref: RunRef): Effect.Effect<RunData, PlatformError, Platform> =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const benchmark = yield* platform.getBenchmark(ref.benchmark)
    const run = yield* platform.getRun(ref)
    const summary = yield* platform
      .getSummary(ref)
      .pipe(Effect.catchTag("ResourceNotFound", () => Effect.succeed(undefined)))
    const registered = yield* platform.listParticipants(ref)
    const participants = registered.map(({ slug }) => slug)
    const records = (type: "tasks" | "steps") =>
      Effect.forEach(participants, (participant) => platform.iterations(ref, { type, participant }), {
        concurrency: requests
      })
    const tasks = (yield* records("tasks")).flat()
    const steps = (yield* records("steps")).flat()
    return {
      benchmark: { slug: benchmark.slug, name: run.name ?? benchmark.name },
      run,
      participants,
      workerCounts: Object.fromEntries(registered.map(({ slug, workerCount }) => [slug, workerCount])),
      tasks,
      steps,
      summary,
      ...manifest({
        display: benchmark.config?.["display"],
        scoring: summary?.scoring ?? scoringOf(run.config, benchmark.config)
      })
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What the run was made with counts; the benchmark may have changed since. */
const scoringOf = (run: Data | null | undefined, benchmark: Data | null | undefined): unknown =>
  run?.["benchmarkSlug"] === undefined ? benchmark?.["scoring"] : run["scoring"]
