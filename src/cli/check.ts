/**
 * `bench check FILE`: whether the file can run here, without running it.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { RunOptions } from "../Benchmark.js"
import * as BenchConfig from "../Config.js"
import * as Participant from "../Participant.js"
import { Platform } from "../Platform.js"
import * as Scoring from "../Scoring.js"
import type { BenchFile } from "./benchFile.js"
import type { Destination } from "./destination.js"
import { layerPlatform } from "./destination.js"
import { ExitWith, json, say } from "./output.js"
import * as Project from "./project.js"

/** Prints the report as JSON; exit code 1 when something would keep the file from running. */
export const report = Effect.fnUntraced(function* (
  { benchmark, file }: BenchFile,
  options: RunOptions,
  destination: Destination
) {
  const config = yield* BenchConfig.decode(benchmark.config)
  const resolved = yield* BenchConfig.resolve(config, options, options.project)
  const requested = yield* Participant.select(resolved.config.participants, resolved.providers)
  const { available, skipped } = yield* Participant.gate(requested)
  const scoringOk =
    config.scoring === undefined
      ? null
      : Either.isRight(
          Scoring.accumulator(
            Scoring.scoringConfigToSpec(config.scoring, config.dimensions, config.display),
            config.display?.metrics
          )
        )
  const envOk = skipped.length === 0
  const apiOk = yield* destination._tag === "Store" ? storeOk : remoteOk(destination)
  yield* json({
    file,
    benchmarkSlug: resolved.benchmarkSlug,
    apiOk,
    envOk,
    participants: {
      requested: requested.map(({ name }) => name),
      available: available.map(({ name }) => name),
      skipped: skipped.map(({ missing, participant }) => ({ name: participant.name, missing }))
    },
    scoringOk
  })
  for (const participant of skipped) yield* say(Participant.skipMessage(participant))
  if (!apiOk || !envOk || scoringOk === false) return yield* new ExitWith({ code: 1 })
})

/** Results would go to the embedded store: one that exists must open, one that does not must be possible to make. */
const storeOk = Effect.void.pipe(
  Effect.provide(Project.layerStore("read")),
  Effect.as(true),
  Effect.catchTag("CliError", () => Project.canMakeStore),
  Effect.catchTag("PlatformFailure", (error) => Effect.as(say(error.message), false))
)

/** Results would go to a platform: it must answer, and take the credentials. */
const remoteOk = (destination: Destination) =>
  Effect.flatMap(Platform, (platform) => platform.listBenchmarks({ limit: 1 })).pipe(
    Effect.provide(layerPlatform(destination, "read")),
    Effect.as(true),
    Effect.catchAll((error) => Effect.as(say(error.message), false))
  )
