/**
 * `bench run FILE`
 */
import { hostname } from "node:os"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Outcome, RunOptions } from "../Benchmark.js"
import * as Benchmark from "../Benchmark.js"
import { messageOf } from "../internal/json.js"
import * as Participant from "../Participant.js"
import * as Reporter from "../Reporter.js"
import { RunListener } from "../RunEvent.js"
import * as Scheduler from "../Scheduler.js"
import type { BenchFile } from "./benchFile.js"
import * as File from "./benchFile.js"
import * as Check from "./check.js"
import { CliError } from "./CliError.js"
import { ExitWith, json, print, say } from "./output.js"
import { Progress } from "./progress.js"
import * as Project from "./project.js"
import type { RunFlags } from "./runFlags.js"
import { parseRunFlags, splitRunArgv } from "./runFlags.js"
import type { ResultView } from "./summary.js"
import { render } from "./summary.js"
import { oneLine, plural } from "./text.js"
import { UsageError } from "./UsageError.js"

/** Runs what the arguments after `bench run` ask for. */
export const run = (argv: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { bench, flags } = yield* prepare(argv)
    yield* refusePlatform(flags)
    const settings = yield* Project.settings(flags.config)
    const options = yield* overrides(flags, settings)
    if (settings.baseUrl !== undefined && flags.local !== true) {
      yield* say("warning: the project's baseUrl is not used: this version records in the project's own store")
    }
    return yield* flags.check === true ? Check.report(bench, options) : execute(bench, flags, options)
  })

/** The file and the flags. Value errors come first, then the file's own problems, then flags that nobody knows. */
export const prepare = Effect.fnUntraced(function* (argv: ReadonlyArray<string>) {
  const { file, rest } = splitRunArgv(argv)
  const noIngestEnv = Option.getOrUndefined(yield* env("BENCHSDK_NO_INGEST"))
  const parse = (customFlags: ReadonlyArray<string>) => parseRunFlags(rest, { customFlags, noIngestEnv })
  if (file === undefined) {
    yield* parse([])
    return yield* new UsageError({ detail: "Name a bench file: bench run path/to/file.bench.ts" })
  }
  yield* parse(rest.map((argument) => argument.split("=", 1)[0] ?? argument))
  const bench = yield* File.load(file)
  const flags: RunFlags = yield* parse(customFlags(bench))
  return { bench, flags }
})

/** Flags, and the environment below them, as the runtime takes them. */
export const overrides = Effect.fnUntraced(function* (flags: RunFlags, settings: Project.Settings) {
  const slug = Option.getOrUndefined(yield* env("BENCHMARK_SLUG"))
  const name = Option.getOrUndefined(yield* env("BENCHMARK_NAME"))
  const options: RunOptions = {
    benchmark: flags.benchmark ?? slug,
    name: flags.name ?? name,
    shape: flags.shape,
    runKey: flags.runKey,
    iterations: flags.iterations,
    concurrency: flags.concurrency,
    staggerDelayMs: flags.staggerDelayMs,
    groupBy: flags.groupBy,
    providers: flags.providers,
    noIngest: flags.noIngest ?? (flags.local === true ? false : undefined),
    project: settings
  }
  return options
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const env = (name: string): Effect.Effect<Option.Option<string>> =>
  Effect.orElseSucceed(Config.option(Config.nonEmptyString(name)), Option.none)

const refusePlatform = (flags: RunFlags): Either.Either<void, UsageError> => {
  const given = [
    ...(flags.baseUrl === undefined ? [] : ["--base-url"]),
    ...(flags.apiKey === undefined ? [] : ["--api-key"]),
    ...(flags.org === undefined ? [] : ["--org"])
  ]
  return given.length === 0
    ? Either.void
    : Either.left(
        new UsageError({
          detail: `${given.join(", ")}: runs are recorded in the project's own store; recording on a platform is not part of this version`
        })
      )
}

/** Before the config is validated: what is not a list of flags is left for that to report. */
const customFlags = ({ benchmark: { config } }: BenchFile): ReadonlyArray<string> => {
  const flags: unknown =
    typeof config === "object" && config !== null && "customCliFlags" in config ? config.customCliFlags : undefined
  return Array.isArray(flags) ? flags.filter((flag): flag is string => typeof flag === "string") : []
}

const execute = Effect.fnUntraced(function* (bench: BenchFile, flags: RunFlags, options: RunOptions) {
  const console = yield* Effect.console
  const asJson = flags.json === true || flags.format === "json"
  const progress = new Progress({
    write: (line) => console.unsafe.error(line),
    quiet: flags.quiet === true,
    verbose: flags.verbose === true
  })
  const dryRun = options.noIngest ?? options.project?.dryRun ?? false
  const reporter = dryRun
    ? Reporter.layerNoIngest
    : Layer.provide(
        Reporter.layerWith({ processKind: "bench run", processKey: hostname() }),
        Project.layerStore("write")
      )
  const outcome = yield* Benchmark.run(bench.benchmark, options).pipe(
    Effect.mapError((error) =>
      Benchmark.isRunError(error)
        ? error
        : new CliError({ detail: `the layer of ${bench.file} failed: ${messageOf(error)}` })
    ),
    Effect.provide(Layer.merge(Scheduler.layer, reporter)),
    Effect.provideService(RunListener, progress.listener),
    Effect.onError((cause) => (Cause.isInterrupted(cause) ? interruptedMessage(progress) : failedMessage(progress))),
    Effect.catchTag("NoAvailableParticipantsError", (error) =>
      say(error.message).pipe(
        Effect.zipRight(asJson ? json(nothingRan(error.skipped)) : Effect.void),
        Effect.as(undefined)
      )
    )
  )
  if (outcome === undefined) return
  if (flags.verbose === true) yield* sayLogs(outcome)
  yield* asJson ? json(toJson(outcome)) : print(render(toView(outcome)))
  if (flags.quiet !== true) {
    yield* dryRun ? say("\nDry run: nothing was recorded.") : recordedMessage(outcome)
  }
  const ran = outcome.participants.reduce((sum, { taskCount }) => sum + taskCount, 0)
  const succeeded = outcome.participants.reduce((sum, { successCount }) => sum + successCount, 0)
  if (ran > 0 && succeeded === 0) {
    yield* say("No task succeeded.")
    return yield* new ExitWith({ code: 1 })
  }
})

const recordedMessage = Effect.fnUntraced(function* ({ config, runId }: Outcome) {
  const file = yield* Project.storeFile
  yield* say(
    `\nRecorded in ${file} as run ${runId}.\nShow it again: bench results ${config.benchmarkSlug} --run ${runId?.slice(0, 8)}`
  )
})

const interruptedMessage = (progress: Progress): Effect.Effect<void> =>
  say(
    progress.started
      ? `Interrupted after ${plural(progress.done, "task")} of ${progress.total}.` +
          (progress.runId === undefined ? "" : ` What was measured is in run ${progress.runId}.`)
      : "Interrupted before the first task."
  )

const failedMessage = ({ runId }: Progress): Effect.Effect<void> =>
  runId === undefined ? Effect.void : say(`What was stored before it failed is in run ${runId}.`)

const sayLogs = ({ participants }: Outcome): Effect.Effect<void> =>
  Effect.forEach(
    participants.filter(({ log }) => log.text !== ""),
    ({ log, participant }) => {
      const lines = log.text.trimEnd().split("\n").map(oneLine)
      return say([`--- log of ${oneLine(participant)}`, ...lines].join("\n"))
    },
    { discard: true }
  )

const skippedJson = (skipped: ReadonlyArray<Participant.Skipped>) =>
  skipped.map(({ missing, participant }) => ({ participant: participant.name, missing }))

const nothingRan = (skipped: ReadonlyArray<Participant.Skipped>) => ({
  runId: null,
  participants: [],
  skipped: skippedJson(skipped),
  results: null,
  warnings: []
})

const toJson = ({ config, participants, rows, runId, skipped, warnings }: Outcome) => ({
  runId: runId ?? null,
  benchmarkSlug: config.benchmarkSlug,
  benchmarkName: config.benchmarkName,
  participants: participants.map(({ log: _log, records: _records, ...participant }) => participant),
  skipped: skippedJson(skipped),
  results: rows ?? null,
  warnings
})

const toView = ({ config, participants, rows, skipped, warnings }: Outcome): ResultView => ({
  title: `${config.benchmarkName} (${config.benchmarkSlug})`,
  participants: participants.map(({ errors, latencyMs, participant, successCount, taskCount }) => ({
    name: participant,
    count: taskCount,
    successCount,
    latencyMs,
    errors
  })),
  rows,
  scoring: config.config.scoring,
  display: config.config.display,
  notes: [...skipped.map(Participant.skipMessage), ...warnings]
})
