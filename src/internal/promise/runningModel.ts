/** What programs say and get when they run benchmarks. */
import type * as Effect from "effect/Effect"
import type { Outcome, ParticipantOutcome } from "../../Benchmark.js"
import type { BenchmarkConfig, ResolvedConfig } from "../../Config.js"
import type { CurrentTask } from "../../Task.js"
import type { WorkerOutcome } from "../../Worker.js"
import type { PromiseTask } from "../promiseTask.js"
import type { PromiseConfig } from "./authoring.js"

/**
 * Where results go, and what ends the run early. A URL and a key win over flags and environment.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunBenchmarkOptions {
  /** Root of the platform to record on. Default: as `bench run` finds it. */
  readonly baseUrl?: string | undefined
  /** API key of the platform. Default: as `bench run` finds it. */
  readonly apiKey?: string | undefined
  /**
   * Aborting it ends the run as Ctrl-C ends `bench run`: what was measured is kept, and the promise is rejected with an
   * `AbortError`. Default: the run goes to its end.
   */
  readonly signal?: AbortSignal | undefined
}

/**
 * What was run: the benchmark's config under the identity it ran with, and everything that flags and project decided.
 *
 * @since 0.1.0
 * @category models
 */
export type RunConfig = Omit<BenchmarkConfig, keyof ResolvedConfig> & ResolvedConfig

/**
 * What a run found out. `runId` is undefined after a dry run; `participants` have all of their records.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunBenchmarkOutcome extends Omit<Outcome, "config"> {
  readonly config: RunConfig
}

/**
 * Which worker to take, and how to run it.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunBenchmarkWorkerOptions extends RunBenchmarkOptions {
  /** Id of the run, the beginning of one, or `last`. */
  readonly runId: string
  /** Name of the participant. */
  readonly participant: string
  /** Slug that the run is recorded under. Default: that of the benchmark. */
  readonly benchmark?: string | undefined
  /** The shape that the run was started with. Default: none. */
  readonly shape?: string | undefined
  /** Tasks in flight at most. Default: what the platform assigns, else what the config says. */
  readonly concurrency?: number | undefined
  /** Milliseconds between the starts of tasks. Default: what the config says. */
  readonly staggerDelayMs?: number | undefined
  /** Whether nothing is said about how it goes. Default false. */
  readonly quiet?: boolean | undefined
}

/**
 * What a worker did. `participants` has one entry.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunBenchmarkWorkerOutcome {
  readonly runId: string
  readonly worker: WorkerOutcome
  readonly participants: ReadonlyArray<ParticipantOutcome>
  readonly warnings: ReadonlyArray<string>
}

/**
 * A config that `runBenchmark` takes.
 *
 * @since 0.1.0
 * @category models
 */
export type RunnableConfig = PromiseConfig | BenchmarkConfig

/**
 * A task that `runBenchmark` takes: an async function, or an effect.
 *
 * @since 0.1.0
 * @category models
 */
export type RunnableTask = PromiseTask | Effect.Effect<unknown, unknown, CurrentTask>
