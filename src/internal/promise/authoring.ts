/** Writing and checking benchmarks, in functions that return or throw. */
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { Outcome } from "../../Benchmark.js"
import type { RunFlags } from "../../cli/runFlags.js"
import { parseRunFlags } from "../../cli/runFlags.js"
import type {
  BenchmarkConfig,
  ConfigIssue,
  Display,
  DisplayMetric,
  MergedConfig,
  RunSettings,
  ScoringConfig
} from "../../Config.js"
import * as BenchConfig from "../../Config.js"
import type { Gated, Participant } from "../../Participant.js"
import * as Participants from "../../Participant.js"
import type { SummaryRow } from "../../Platform.js"
import type { Data, ParticipantRecords } from "../../Record.js"
import type { ScoringSpec } from "../../Scoring.js"
import * as Scoring from "../../Scoring.js"
import type { PromiseTask } from "../promiseTask.js"

/**
 * The version of the surface that `effect-bench/promise` has the names of.
 *
 * @since 0.1.0
 * @category models
 */
export const BENCHSDK_RUNNER_VERSION = "0.5.2"

/**
 * A config as an async benchmark has it: its hooks get what the run found out.
 *
 * @since 0.1.0
 * @category models
 */
export interface PromiseConfig extends Omit<BenchmarkConfig, "onScore" | "onComplete" | "participants"> {
  /** At least one; names are unique. They may hold whatever the task needs. */
  readonly participants: ReadonlyArray<ParticipantLike>
  /** Scores the run in its own way. */
  readonly onScore?: ((outcome: Outcome) => ReadonlyArray<SummaryRow> | Promise<ReadonlyArray<SummaryRow>>) | undefined
  /** Called when the run is over and reported. */
  readonly onComplete?: OnComplete | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ParticipantLike {
  readonly name: string
  /** Variables of the environment that it cannot run without. */
  readonly requiredEnvVars?: ReadonlyArray<string> | undefined
}

/**
 * What is called when a run is over and reported.
 *
 * @since 0.1.0
 * @category models
 */
export type OnComplete = (outcome: Outcome) => unknown

/**
 * Checks a benchmark config and gives it back as it is. Throws a `BenchmarkConfigError` that lists its problems, those
 * of `display` and of `scoring` as one each.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defineBenchmarkConfig = <const C extends PromiseConfig>(config: C): C => {
  const issues = issuesOf(config)
  if (issues.length > 0) throw new BenchConfig.BenchmarkConfigError({ issues })
  return config
}

/**
 * What is wrong with a config; empty when nothing is. Scoring is left to {@link validateScoringSpec}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const validateBenchmarkConfig = (config: unknown): ReadonlyArray<ConfigIssue> => {
  const issues = issuesOf(config)
  const last = issues.findLastIndex(({ field }) => field === "scoring")
  return last === -1 ? issues : issues.toSpliced(last, 1)
}

/**
 * Types an async task and gives it back as it is. Throws when it is not a function.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defineTask = <T extends PromiseTask>(task: T): T => {
  if (typeof task !== "function") throw new TypeError("defineTask requires a task function.")
  return task
}

/**
 * Types an `onComplete` hook and gives it back as it is. Throws when it is not a function.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defineOnComplete = <H extends OnComplete>(hook: H): H => {
  if (typeof hook !== "function") throw new TypeError("defineOnComplete requires a function.")
  return hook
}

/**
 * Scores the records of participants, in rows in their order. Throws a `ScoringSpecError`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const score = (
  outcome: { readonly participants: ReadonlyArray<ParticipantRecords> },
  spec: ScoringSpec,
  displayMetrics?: ReadonlyArray<DisplayMetric>
): ReadonlyArray<SummaryRow> =>
  getOrThrow(Either.flatMap(Scoring.validateSpec(spec), (valid) => Scoring.score(outcome, valid, displayMetrics)))

/**
 * The spec that a benchmark's `scoring` stands for.
 *
 * @since 0.1.0
 * @category combinators
 */
export const scoringConfigToSpec = (
  scoring: ScoringConfig,
  dimensions?: Data,
  display?: Pick<Display, "metrics">
): ScoringSpec => Scoring.scoringConfigToSpec(scoring, dimensions, display)

/**
 * Gives a scoring spec back as it is, or throws a `ScoringSpecError` that says what is wrong with it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const validateScoringSpec = (spec: ScoringSpec): ScoringSpec => getOrThrow(Scoring.validateSpec(spec))

/**
 * Reads the flags of `bench run`, without the file. Throws an error that names what cannot be read; flags of the file's own
 * are passed over when they are named.
 *
 * @since 0.1.0
 * @category combinators
 */
export const parseCliArgs = (
  argv: ReadonlyArray<string>,
  customCliFlags: ReadonlyArray<string> | { readonly customCliFlags?: ReadonlyArray<string> | undefined } = []
): RunFlags => {
  const customFlags = isList(customCliFlags) ? customCliFlags : (customCliFlags.customCliFlags ?? [])
  const noIngestEnv = Effect.runSync(Effect.option(Config.nonEmptyString("BENCHSDK_NO_INGEST")))
  return getOrThrow(parseRunFlags(argv, { customFlags, noIngestEnv: Option.getOrUndefined(noIngestEnv) }))
}

/**
 * Sizes and orders a run: flags over the config over the defaults. What is asked for and not done is warned of on stderr, and is in
 * `warnings`. Throws a `ConfigResolutionError`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const mergeConfig = (
  config: BenchmarkConfig,
  args: Pick<RunSettings, "iterations" | "concurrency" | "staggerDelayMs" | "groupBy" | "providers"> = {}
): MergedConfig => {
  const merged = BenchConfig.mergeConfig(config, args)
  const { warnings } = Either.merge(merged)
  for (const warning of warnings) Effect.runSync(Console.warn(warning))
  return getOrThrow(merged)
}

/**
 * The participants with these names, in their own order; all of them without names. Throws an `UnknownParticipantsError`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const selectParticipants = <P extends Participant>(
  participants: ReadonlyArray<P>,
  names?: ReadonlyArray<string>
): ReadonlyArray<P> => getOrThrow(Participants.select(participants, names))

/**
 * Sets apart the participants that lack a variable they require: `skipped` says which.
 *
 * @since 0.1.0
 * @category combinators
 */
export const filterParticipantsByEnv = <P extends Participant>(participants: ReadonlyArray<P>): Gated<P> =>
  Effect.runSync(Participants.gate(participants))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const issuesOf = (config: unknown): ReadonlyArray<ConfigIssue> =>
  Either.match(BenchConfig.decodeEither(config), {
    onLeft: ({ issues }) => BenchConfig.collapseIssues(issues),
    onRight: () => []
  })

/** Throws what is wrong itself, so that callers can tell it by its class. */
const getOrThrow = <A, E>(result: Either.Either<A, E>): A => Either.getOrThrowWith(result, (error) => error)

const isList = (value: unknown): value is ReadonlyArray<string> => Array.isArray(value)
