/** What `runBenchmark` and its siblings do, as effects: pieces of `bench run` and `bench worker`. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Outcome } from "../../Benchmark.js"
import * as Benchmark from "../../Benchmark.js"
import type { BenchFile } from "../../cli/benchFile.js"
import { layerLogger } from "../../cli/output.js"
import { customFlags, execute, load, planOf, readFlags } from "../../cli/run.js"
import type { RunFlags } from "../../cli/runFlags.js"
import { workerFlagTable } from "../../cli/runFlags.js"
import { UsageError } from "../../cli/UsageError.js"
import { withLogFormat } from "../../cli/watch.js"
import { take } from "../../cli/worker.js"
import { BenchmarkConfigError, collapseIssues } from "../../Config.js"
import { Unauthorized } from "../../Platform.js"
import { CredentialsError } from "../credentials/errors.js"
import { fromUnknown } from "../promiseTask.js"
import { asApiError } from "./client.js"
import { AuthError } from "./errors.js"
import type {
  RunBenchmarkOptions,
  RunBenchmarkOutcome,
  RunBenchmarkWorkerOptions,
  RunBenchmarkWorkerOutcome
} from "./runningModel.js"

export const runConfig = (config: unknown, task: unknown, argv: ReadonlyArray<string>, options: RunBenchmarkOptions) =>
  Effect.gen(function* () {
    const bench = yield* benchOf(config, task, "runBenchmark")
    const flags = yield* readFlags(argv, customFlags(bench.benchmark))
    return yield* runBench(bench, withOptions(flags, options))
  }).pipe(asPromised("runBenchmark", argv))

export const runFile = (file: string, argv: ReadonlyArray<string>, options: RunBenchmarkOptions) =>
  Effect.gen(function* () {
    const { bench, flags } = yield* load(file, argv)
    return yield* runBench(bench, withOptions(flags, options))
  }).pipe(asPromised("runBenchmarkFile", argv))

export const runWorker = (
  config: unknown,
  task: unknown,
  worker: RunBenchmarkWorkerOptions | ReadonlyArray<string>,
  options: RunBenchmarkOptions
) =>
  Effect.gen(function* () {
    const bench = yield* benchOf(config, task, "runBenchmarkWorker")
    const flags = isArgv(worker)
      ? yield* readFlags(worker, customFlags(bench.benchmark), workerFlagTable)
      : withOptions(flagsOf(worker), worker)
    if (flags.forever === true) {
      return yield* new UsageError({
        detail:
          "--forever takes one worker after another; runBenchmarkWorker takes one: call it again, or use bench worker"
      })
    }
    const { runId, taken } = yield* take(bench, withOptions(flags, options), { keepRecords: true }).pipe(
      withLogFormat(flags)
    )
    const [outcome] = taken
    if (outcome === undefined) return null
    const taking: RunBenchmarkWorkerOutcome = {
      runId,
      worker: outcome.worker,
      participants: [outcome.participant],
      warnings: outcome.warnings
    }
    return taking
  }).pipe(asPromised("runBenchmarkWorker", isArgv(worker) ? worker : []))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const benchOf = (config: unknown, task: unknown, caller: string): Effect.Effect<BenchFile, TypeError> => {
  const runnable = fromUnknown(task)
  return runnable === undefined
    ? Effect.fail(new TypeError(`${caller} requires a task: an async function or an effect.`))
    : Effect.succeed({ file: "the program", benchmark: Benchmark.fromParts(config, runnable) })
}

const runBench = (bench: BenchFile, flags: RunFlags) =>
  Effect.gen(function* () {
    if (flags.check === true) {
      return yield* new UsageError({ detail: "--check runs nothing, so has no outcome: use bench check FILE" })
    }
    const { destination, options } = yield* planOf(flags)
    const outcome = yield* execute(bench, flags, { destination, options: { ...options, keepRecords: true } })
    return toOutcome(outcome)
  }).pipe(withLogFormat(flags))

const toOutcome = ({ config: resolved, ...outcome }: Outcome): RunBenchmarkOutcome => ({
  ...outcome,
  config: { ...resolved.config, ...resolved }
})

const withOptions = (flags: RunFlags, { apiKey, baseUrl }: RunBenchmarkOptions): RunFlags => ({
  ...flags,
  ...(apiKey !== undefined && { apiKey: Redacted.make(apiKey) }),
  ...(baseUrl !== undefined && { baseUrl })
})

const flagsOf = ({
  benchmark,
  concurrency,
  participant,
  quiet,
  runId,
  shape,
  staggerDelayMs
}: RunBenchmarkWorkerOptions): RunFlags => ({
  run: runId,
  participant,
  ...(benchmark !== undefined && { benchmark }),
  ...(shape !== undefined && { shape }),
  ...(concurrency !== undefined && { concurrency }),
  ...(staggerDelayMs !== undefined && { staggerDelayMs }),
  ...(quiet === true && { quiet })
})

const isArgv = (worker: object): worker is ReadonlyArray<string> => Array.isArray(worker)

/** Logs as the commands do, and fails as programs of promises expect it. */
const asPromised =
  (operation: string, argv: ReadonlyArray<string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, unknown, R> =>
    effect.pipe(
      Effect.mapError((error) => rejection(operation, error)),
      Effect.provide(layerLogger({ verbose: argv.includes("--verbose") }))
    )

const rejection = (operation: string, error: unknown): unknown =>
  error instanceof BenchmarkConfigError
    ? new BenchmarkConfigError({ issues: collapseIssues(error.issues) })
    : error instanceof CredentialsError || error instanceof Unauthorized
      ? new AuthError(error.message, { cause: error })
      : asApiError(operation, error)
