/** Running benchmarks from a program, as `bench run` and `bench worker` do. What that takes is loaded when it is asked for. */
import * as Effect from "effect/Effect"
import type { Task } from "../../Task.js"
import type {
  RunBenchmarkOptions,
  RunBenchmarkOutcome,
  RunBenchmarkWorkerOptions,
  RunBenchmarkWorkerOutcome,
  RunnableConfig,
  RunnableTask
} from "./runningModel.js"
import type * as Program from "./runningProgram.js"
import type { Services } from "./runtime.js"
import { runPromise } from "./runtime.js"

/**
 * Runs a benchmark as `bench run` does, with the same flags in `argv`, the same choice of where to record, and the same
 * output: results on stdout, progress on stderr unless `--quiet`. It never ends the process, and handles no signals.
 *
 * A task that fails is a result. Rejects with `BenchmarkConfigError`, `NoAvailableParticipantsError`, `ScoringSpecError`,
 * or another error that says what to do, when the benchmark cannot be run or its results cannot be kept.
 *
 * @since 0.1.0
 * @category running
 */
export function runBenchmark(
  config: RunnableConfig,
  task: RunnableTask,
  argv?: ReadonlyArray<string>,
  options?: RunBenchmarkOptions
): Promise<RunBenchmarkOutcome>
export function runBenchmark(
  config: RunnableConfig,
  task: Task<unknown>,
  argv?: ReadonlyArray<string>,
  options?: RunBenchmarkOptions
): Promise<RunBenchmarkOutcome>
export function runBenchmark(
  config: RunnableConfig,
  task: unknown,
  argv: ReadonlyArray<string> = [],
  options: RunBenchmarkOptions = {}
): Promise<RunBenchmarkOutcome> {
  return withProgram(({ runConfig }) => runConfig(config, task, argv, options), options.signal)
}

/**
 * Loads a bench file and runs it like {@link runBenchmark}. Flags of the file's own may be in `argv`; what the file reads
 * of them it reads from `process.argv`, as ever.
 *
 * @since 0.1.0
 * @category running
 */
export const runBenchmarkFile = (
  file: string,
  argv: ReadonlyArray<string> = [],
  options: RunBenchmarkOptions = {}
): Promise<RunBenchmarkOutcome> => withProgram(({ runFile }) => runFile(file, argv, options), options.signal)

/**
 * Takes one worker of a run that exists and runs its tasks, as `bench worker` does; null when no worker of the
 * participant is left to claim. What to take is said by options, or by the flags of `bench worker`, without the file.
 *
 * @since 0.1.0
 * @category running
 */
export function runBenchmarkWorker(
  config: RunnableConfig,
  task: RunnableTask,
  worker: RunBenchmarkWorkerOptions | ReadonlyArray<string>,
  options?: RunBenchmarkOptions
): Promise<RunBenchmarkWorkerOutcome | null>
export function runBenchmarkWorker(
  config: RunnableConfig,
  task: Task<unknown>,
  worker: RunBenchmarkWorkerOptions | ReadonlyArray<string>,
  options?: RunBenchmarkOptions
): Promise<RunBenchmarkWorkerOutcome | null>
export function runBenchmarkWorker(
  config: RunnableConfig,
  task: unknown,
  worker: RunBenchmarkWorkerOptions | ReadonlyArray<string>,
  options: RunBenchmarkOptions = {}
): Promise<RunBenchmarkWorkerOutcome | null> {
  const signal = options.signal ?? ("runId" in worker ? worker.signal : undefined)
  return withProgram(({ runWorker }) => runWorker(config, task, worker, options), signal)
}

/**
 * Runs a command line of `bench`, given without the executable, and gives its exit code. While it runs, SIGINT and SIGTERM
 * interrupt it; a second one ends the process as it would without this.
 *
 * @since 0.1.0
 * @category running
 */
export const run = (argv: ReadonlyArray<string>): Promise<number> =>
  runPromise(
    Effect.flatMap(
      Effect.promise(() => import("./runningCommand.js")),
      ({ command }) => command(argv)
    )
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const withProgram = <A>(
  use: (program: typeof Program) => Effect.Effect<A, unknown, Services>,
  signal: AbortSignal | undefined
): Promise<A> =>
  runPromise(
    Effect.flatMap(
      Effect.promise(() => import("./runningProgram.js")),
      use
    ),
    { signal }
  )
