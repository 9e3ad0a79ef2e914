/**
 * `bench run FILE`
 */
import { hostname } from "node:os"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { hasProperty } from "effect/Predicate"
import type { Outcome, ParticipantOutcome, RunOptions } from "../Benchmark.js"
import * as Benchmark from "../Benchmark.js"
import { manifest } from "../internal/analysis/manifest.js"
import { Measurements } from "../internal/analysis/measurements.js"
import { judgeOutcome, measuring } from "../internal/analysis/outcome.js"
import { messageOf } from "../internal/json.js"
import * as Participant from "../Participant.js"
import * as Reporter from "../Reporter.js"
import * as Scheduler from "../Scheduler.js"
import { Spool } from "../Spool.js"
import * as SystemMetrics from "../SystemMetrics.js"
import * as WorkerLog from "../WorkerLog.js"
import type { BenchFile } from "./benchFile.js"
import * as File from "./benchFile.js"
import * as Check from "./check.js"
import { CliError } from "./CliError.js"
import type { Destination } from "./destination.js"
import { choose, layerPlatform, store } from "./destination.js"
import { ExitWith, json, say } from "./output.js"
import type { Progress } from "./progress.js"
import * as Project from "./project.js"
import type { RunFlag, RunFlags } from "./runFlags.js"
import { parseRunFlags, runFlagTable, splitRunArgv } from "./runFlags.js"
import { style } from "./style.js"
import { render } from "./summary.js"
import { oneLine, plural, truncate } from "./text.js"
import { UsageError } from "./UsageError.js"
import { watching, withLogFormat } from "./watch.js"

/** Runs what the arguments after `bench run` ask for. */
export const run = (argv: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { bench, flags } = yield* prepare(argv)
    yield* Effect.gen(function* () {
      const plan = yield* planOf(flags)
      if (flags.check === true) return yield* Check.report(bench, plan.options, plan.destination)
      const outcome = yield* Effect.catchTag(execute(bench, flags, plan), "NoAvailableParticipantsError", (error) =>
        say(error.message).pipe(
          Effect.zipRight(asJson(flags) ? json(nothingRan(error.skipped)) : Effect.void),
          Effect.as(undefined)
        )
      )
      if (outcome === undefined) return
      if (didNothingSucceed(outcome.participants)) return yield* new ExitWith({ code: 1 })
      if (outcome.verdicts.some(({ passed }) => !passed)) return yield* new ExitWith({ code: violated })
    }).pipe(withLogFormat(flags))
  })

/** The file among the arguments, and the flags. */
export const prepare = Effect.fnUntraced(function* (
  argv: ReadonlyArray<string>,
  table: ReadonlyArray<RunFlag> = runFlagTable
) {
  const { file, rest } = splitRunArgv(argv, table)
  if (file === undefined) {
    yield* readFlags(rest, [], table)
    const command = table === runFlagTable ? "run" : "worker"
    return yield* new UsageError({ detail: `Name a bench file: bench ${command} path/to/file.bench.ts` })
  }
  return yield* load(file, rest, table)
})

/** A file with its flags. Value errors come first, then the file's own problems, then flags that nobody knows. */
export const load = Effect.fnUntraced(function* (
  file: string,
  argv: ReadonlyArray<string>,
  table: ReadonlyArray<RunFlag> = runFlagTable
) {
  yield* readFlags(
    argv,
    argv.map((argument) => argument.split("=", 1)[0] ?? argument),
    table
  )
  const bench = yield* File.load(file)
  const flags = yield* readFlags(argv, customFlags(bench.benchmark), table)
  return { bench, flags }
})

/** Flags, those of the benchmark's own among them. */
export const readFlags = (
  argv: ReadonlyArray<string>,
  customFlags: ReadonlyArray<string>,
  table: ReadonlyArray<RunFlag> = runFlagTable
): Effect.Effect<RunFlags, UsageError> =>
  Effect.flatMap(env("BENCHSDK_NO_INGEST"), (noIngestEnv) =>
    parseRunFlags(argv, { customFlags, noIngestEnv: Option.getOrUndefined(noIngestEnv), table })
  )

/** Before the config is validated: what is not a list of flags is left for that to report. */
export const customFlags = ({ config }: File.LoadedBenchmark): ReadonlyArray<string> => {
  const flags: unknown =
    typeof config === "object" && config !== null && "customCliFlags" in config ? config.customCliFlags : undefined
  return Array.isArray(flags) ? flags.filter((flag): flag is string => typeof flag === "string") : []
}

/** How to run, and where what was measured goes. */
export interface Plan {
  readonly options: RunOptions
  readonly destination: Destination
}

/** What flags, environment and project settings make of a run. A dry run goes nowhere, so needs no credentials. */
export const planOf = Effect.fnUntraced(function* (flags: RunFlags) {
  const settings = yield* Project.settings(flags.config)
  const options = yield* overrides(flags, settings)
  const isDry = (options.noIngest ?? settings.dryRun ?? false) && flags.check !== true
  const plan: Plan = { options, destination: isDry ? store : yield* choose(flags, settings) }
  return plan
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
    workerPool: flags.workerPool,
    iterations: flags.iterations,
    concurrency: flags.concurrency,
    staggerDelayMs: flags.staggerDelayMs,
    groupBy: flags.groupBy,
    providers: flags.providers,
    thresholds: flags.thresholds,
    noIngest: flags.noIngest ?? (flags.local === true ? false : undefined),
    project: settings
  }
  return options
})

/** Reports as the environment asks for it, with a spool in the project. */
export const layerReporter = (processKind: string, destination: Destination) =>
  Layer.unwrapEffect(
    Effect.map(WorkerLog.settings, ({ logCompression, logFlushInterval, metricsInterval }) =>
      Layer.provide(
        Reporter.layerWith({
          processKind,
          processKey: hostname(),
          logCompression,
          logFlushInterval,
          metricsInterval
        }),
        [layerPlatform(destination, "write"), Project.layerSpool("write"), SystemMetrics.layer]
      )
    )
  )

/** What the benchmark's own layer failed with is said as such. */
export const layerFailure =
  (bench: BenchFile) =>
  (error: unknown): Benchmark.RunError | CliError =>
    Benchmark.isRunError(error)
      ? error
      : new CliError({ detail: `the layer of ${bench.file} failed: ${messageOf(error)}` })

/** Runs the benchmark, says how it goes, and prints what it found out. */
export const execute = Effect.fnUntraced(function* (bench: BenchFile, flags: RunFlags, { destination, options }: Plan) {
  const dryRun = options.noIngest ?? options.project?.dryRun ?? false
  const reporter = dryRun ? Reporter.layerNoIngest : layerReporter("bench run", destination)
  const measurements = measurementsOf(bench)
  const outcome = yield* watching(
    flags,
    Benchmark.run(bench.benchmark, options).pipe(
      measuring(measurements),
      Effect.mapError(layerFailure(bench)),
      Effect.provide(Layer.merge(Scheduler.layer, reporter))
    ),
    (cause, progress) => (Cause.isInterrupted(cause) ? interruptedMessage(progress) : failedMessage(progress))
  )
  if (flags.verbose === true) yield* sayLogs(outcome)
  yield* asJson(flags) ? json(toJson(outcome)) : printSummary(measurements, outcome)
  if (flags.quiet !== true) {
    yield* dryRun ? say("\nDry run: nothing was recorded.") : recordedMessage(outcome, destination)
    yield* sayWaiting
  }
  if (didNothingSucceed(outcome.participants)) yield* say("No task succeeded.")
  return outcome
})

/** Tasks ran, and all of them failed. */
export const didNothingSucceed = (participants: ReadonlyArray<ParticipantOutcome>): boolean =>
  participants.some(({ taskCount }) => taskCount > 0) && participants.every(({ successCount }) => successCount === 0)

export const asJson = (flags: RunFlags): boolean => flags.json === true || flags.format === "json"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const env = (name: string): Effect.Effect<Option.Option<string>> =>
  Effect.orElseSucceed(Config.option(Config.nonEmptyString(name)), Option.none)

const recordedMessage = Effect.fnUntraced(function* (
  { config, dashboardUrl, runId }: Outcome,
  destination: Destination
) {
  const where = destination._tag === "Store" ? yield* Project.storeFile : destination.resolved.baseUrl
  const look = dashboardUrl === undefined ? "" : `\nView at: ${dashboardUrl}`
  yield* say(
    `\nRecorded in ${where} as run ${runId}.${look}\nShow it again: bench results ${config.benchmarkSlug} --run ${runId?.slice(0, 8)}`
  )
})

/** The exit code of a run that does not keep a threshold. */
const violated = 4

/** Whether earlier runs left something undelivered. */
const sayWaiting = Effect.gen(function* () {
  const { entries } = yield* Effect.flatMap(Spool, (spool) => spool.list)
  const waiting = entries.filter(({ holder }) => holder === "nobody")
  const records = waiting.reduce((sum, { recordCount }) => sum + recordCount, 0)
  if (waiting.length > 0)
    yield* say(`${plural(records, "record")} of earlier runs wait to be delivered: bench push --list`)
}).pipe(
  Effect.provide(Project.layerSpool("read")),
  Effect.catchTag("SpoolError", () => Effect.void)
)

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
  thresholds: [],
  warnings: []
})

const toJson = ({ config, participants, rows, runId, skipped, verdicts, warnings }: Outcome) => ({
  runId: runId ?? null,
  benchmarkSlug: config.benchmarkSlug,
  benchmarkName: config.benchmarkName,
  participants: participants.map(({ log: _log, records: _records, ...participant }) => participant),
  skipped: skippedJson(skipped),
  results: rows ?? null,
  thresholds: verdicts,
  warnings
})

/** One line a verdict, violated ones marked. */
const gates = ({ verdicts }: Outcome): ReadonlyArray<string> =>
  verdicts.length === 0
    ? []
    : [
        `Thresholds:\n${verdicts
          .map(({ passed, text }) => `  ${passed ? "kept    " : "VIOLATED"}  ${truncate(oneLine(text), 300)}`)
          .join("\n")}`
      ]

/** As the benchmark says that it is scored and shown; a config that says nothing that can be followed does not run. */
const measurementsOf = ({ benchmark: { config } }: BenchFile): Measurements => {
  const section = (name: "scoring" | "display"): unknown => (hasProperty(config, name) ? config[name] : undefined)
  const { display, scoring } = manifest({ display: section("display"), scoring: section("scoring") })
  return new Measurements(scoring, display)
}

/** Colours are the summary's own: what comes from elsewhere is cleaned already. */
const printSummary = Effect.fnUntraced(function* (measurements: Measurements, outcome: Outcome) {
  const shared =
    (outcome.config.workerPool ?? 1) > 1
      ? ["other processes take part in this run: this is what this one did, bench results shows all of it"]
      : []
  const notes = [...outcome.skipped.map(Participant.skipMessage), ...shared, ...outcome.warnings]
  const summary = render({ analysis: judgeOutcome(measurements, outcome), notes }, yield* style)
  yield* Console.log([summary, ...gates(outcome)].join("\n\n"))
})
