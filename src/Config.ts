/**
 * The config of a benchmark: what it must be, everything that is wrong with one at once, and what a run makes of it
 * together with command-line flags and project settings.
 *
 * ```ts
 * import { Config } from "effect-bench"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const config = yield* Config.decode({
 *     benchmarkSlug: "kv-roundtrip",
 *     benchmarkName: "KV round trip",
 *     participants: [{ name: "memory" }, { name: "redis", requiredEnvVars: ["REDIS_URL"] }],
 *     phases: [
 *       { name: "cold", iterations: 10 },
 *       { name: "warm", iterations: 10 }
 *     ]
 *   })
 *   const run = yield* Config.resolve(config, { iterations: 50, concurrency: 4 })
 *   return run.iterations // 100: 50 in each phase
 * })
 * ```
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { Threshold } from "./Gates.js"
import { benchmarkConfig } from "./internal/configRules.js"
import { compositeWithoutScore } from "./internal/displayRules.js"
import { thresholds as thresholdsRule } from "./internal/gates/rules.js"
import { inspect, schemaOf } from "./internal/inspect.js"
import { compact, isSlug, isText, slugMessage, textMessage } from "./internal/rules.js"
import * as Sizing from "./internal/sizing.js"
import type { Participant } from "./Participant.js"
import { Data } from "./Record.js"
import type { Trigger } from "./RunMetadata.js"

// -----------------------------------------------------------------------------
// models
// -----------------------------------------------------------------------------

/**
 * How the tasks of a run are ordered: `"participant"` runs one participant after another, `"round"` runs the nth task of
 * every participant before any starts its next one.
 *
 * @since 0.1.0
 * @category models
 */
export type GroupBy = "participant" | "round"

/**
 * A named stretch of the schedule: so many tasks per participant.
 *
 * @since 0.1.0
 * @category models
 */
export interface Phase {
  readonly name: string
  /** At least 1. */
  readonly iterations: number
}

/**
 * Another identity of the same benchmark, chosen by name with `--shape`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Shape {
  /** Lowercase letters, digits and dashes, starting with no dash. */
  readonly slug: string
  /** Default: the slug. */
  readonly name?: string | undefined
  /** Default: that of the benchmark. */
  readonly staggerDelayMs?: number | undefined
}

/**
 * One scored metric: a key of the measured data and what its statistics are worth.
 *
 * @since 0.1.0
 * @category models
 */
export interface ScoringMetric {
  readonly key: string
  /** Must not contradict the unit that `display` gives for the key. */
  readonly unit?: string | undefined
  readonly label?: string | undefined
  /** Greater than 0. Scores 0 when lower is better, 100 when higher is better. */
  readonly ceiling: number
  /** Below the ceiling. Scores 0 when higher is better. Default 0. */
  readonly floor?: number | undefined
  /** Not negative; over all metrics they sum to 1 ± 0.01. */
  readonly weights: { readonly median: number; readonly p95: number; readonly p99: number }
  /** Default false. */
  readonly higherIsBetter?: boolean | undefined
  /** Fraction of the samples dropped from each end, 0 to below 0.5. Default 0.05. */
  readonly trim?: number | undefined
}

/**
 * How participants are scored.
 *
 * @since 0.1.0
 * @category models
 */
export interface ScoringConfig {
  /** At least one; keys are unique. */
  readonly metrics: ReadonlyArray<ScoringMetric>
  /** Data key whose values split the scored rows. Default: no split. */
  readonly groupBy?: string | undefined
  /** Which successful tasks count: those whose data holds all of these values. Default: all successful ones. */
  readonly success?: { readonly requireData: Readonly<Record<string, string | number | boolean>> } | undefined
}

/**
 * How one metric is shown.
 *
 * @since 0.1.0
 * @category models
 */
export interface DisplayMetric {
  readonly key: string
  readonly label: string
  readonly unit?: string | undefined
  readonly direction?: "higher-better" | "lower-better" | undefined
  /** Digits after the decimal point, 0 to 100. */
  readonly decimals?: number | undefined
  /** An integer from 0; lower comes first. */
  readonly order?: number | undefined
}

/**
 * How one step is shown.
 *
 * @since 0.1.0
 * @category models
 */
export interface DisplayStep {
  readonly key: string
  readonly label: string
  /** An integer from 0; lower comes first. */
  readonly order?: number | undefined
}

/**
 * How results are shown. Keys are unique among the metrics and among the steps.
 *
 * @since 0.1.0
 * @category models
 */
export interface Display {
  readonly metrics?: ReadonlyArray<DisplayMetric> | undefined
  readonly steps?: ReadonlyArray<DisplayStep> | undefined
  readonly overview?:
    | {
        /** A declared metric, `"task"`, or `"compositeScore"` in a benchmark with scores. */
        readonly defaultMetric?: string | undefined
        readonly defaultLayout?: "ranking" | "cards" | "chart" | "leaderboard" | undefined
      }
    | undefined
}

/**
 * A function that is called at some point of a run; what it takes and gives is up to the module that calls it.
 *
 * @since 0.1.0
 * @category models
 */
export type Hook = (...args: Array<never>) => unknown

/**
 * A benchmark, apart from its task.
 *
 * @since 0.1.0
 * @category models
 */
export interface BenchmarkConfig {
  /** Lowercase letters, digits and dashes, starting with no dash. */
  readonly benchmarkSlug: string
  readonly benchmarkName: string
  /** At least one; names are unique. */
  readonly participants: ReadonlyArray<Participant>
  /** Other identities, by the name that `--shape` takes. Their slugs are unique. */
  readonly shapes?: Readonly<Record<string, Shape>> | undefined
  /** Tasks per participant, at least 1. Default 1. Excludes `phases`. */
  readonly iterations?: number | undefined
  /** At least one; names are unique. Excludes `iterations`. */
  readonly phases?: ReadonlyArray<Phase> | undefined
  /** The most tasks in flight at once, at least 1. Default 1. */
  readonly concurrency?: number | undefined
  /** Milliseconds between the starts of tasks, or between rounds. Default 0. */
  readonly staggerDelayMs?: number | undefined
  /** Default `"participant"`. */
  readonly groupBy?: GroupBy | undefined
  /** Participants to run when none are asked for. Default: all. */
  readonly defaultProviders?: ReadonlyArray<string> | undefined
  /** What holds for every result of the run; values that JSON can hold. */
  readonly dimensions?: Data | undefined
  readonly scoring?: ScoringConfig | undefined
  readonly display?: Display | undefined
  /** What a run has to reach to be good enough. */
  readonly thresholds?: ReadonlyArray<Threshold> | undefined
  readonly onScore?: Hook | undefined
  readonly onComplete?: Hook | undefined
  /** Flags that the benchmark file reads from `process.argv` itself, such as `--rows`. */
  readonly customCliFlags?: ReadonlyArray<string> | undefined
}

/**
 * One thing wrong with a config: the field, such as `phases['cold'].iterations`, and what it must be.
 *
 * @since 0.1.0
 * @category models
 */
export interface ConfigIssue {
  readonly field: string
  readonly message: string
}

/**
 * Settings of a run that replace those of the benchmark. Empty strings count as absent.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunSettings {
  /** Slug to record the run under. */
  readonly benchmark?: string | undefined
  /** Name to record the run under. */
  readonly name?: string | undefined
  /** Name of one of the benchmark's shapes. */
  readonly shape?: string | undefined
  /** Runs of one benchmark with the same key are one run. */
  readonly runKey?: string | undefined
  /** Tasks per participant, or per participant and phase when all phases have equal counts. */
  readonly iterations?: number | undefined
  readonly concurrency?: number | undefined
  readonly staggerDelayMs?: number | undefined
  readonly groupBy?: GroupBy | undefined
  /** Names of the participants to run; not empty. */
  readonly providers?: ReadonlyArray<string> | undefined
}

/**
 * What was asked for on the command line, or by a program.
 *
 * @since 0.1.0
 * @category models
 */
export interface Overrides extends RunSettings {
  /** Keep the results in memory only. */
  readonly noIngest?: boolean | undefined
  /**
   * Splits the tasks of each participant over this many workers, an integer >= 1, of which every run with the same key
   * takes the next. Needs `runKey`. Default: one worker per participant.
   */
  readonly workerPool?: number | undefined
  /** In addition to those of the benchmark. */
  readonly thresholds?: ReadonlyArray<Threshold> | undefined
}

/**
 * What the project asks for when nothing else does: the run settings of `bench.config.ts`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProjectDefaults extends RunSettings {
  /** Keep the results in memory only. */
  readonly dryRun?: boolean | undefined
}

/**
 * How much is run and in which order.
 *
 * @since 0.1.0
 * @category models
 */
export interface MergedConfig {
  /** Tasks per participant, over all phases. */
  readonly iterations: number
  /** Present when the count was set for every phase alike. */
  readonly phaseIterations?: number | undefined
  /** The phases with the counts that they run with. */
  readonly phases?: ReadonlyArray<Phase> | undefined
  readonly concurrency: number
  /** Milliseconds. */
  readonly staggerDelayMs: number
  readonly groupBy: GroupBy
  /** Names asked for by anyone; absent: all participants. */
  readonly providers?: ReadonlyArray<string> | undefined
  /** What was asked for and is not done, in words. */
  readonly warnings: ReadonlyArray<string>
}

/**
 * Everything about a run that is decided before it starts.
 *
 * @since 0.1.0
 * @category models
 */
export interface ResolvedConfig extends MergedConfig {
  /** The benchmark under the slug, name and stagger delay that the run has. */
  readonly config: BenchmarkConfig
  readonly benchmarkSlug: string
  readonly benchmarkName: string
  readonly runKey?: string | undefined
  /** Over how many workers the tasks of each participant are split. */
  readonly workerPool?: number | undefined
  /** Those of the benchmark, then those that were asked for; absent when there are none. */
  readonly thresholds?: ReadonlyArray<Threshold> | undefined
  /** Results are kept in memory only. */
  readonly dryRun: boolean
  /** Whether the run may set name and config of its slug; not when it only borrows the slug of another benchmark. */
  readonly identityIsOurs: boolean
}

// -----------------------------------------------------------------------------
// errors
// -----------------------------------------------------------------------------

/**
 * A benchmark config that cannot be run; `issues` holds everything that is wrong with it.
 *
 * @since 0.1.0
 * @category errors
 */
export class BenchmarkConfigError extends Schema.TaggedError<BenchmarkConfigError>("effect-bench/BenchmarkConfigError")(
  "BenchmarkConfigError",
  { issues: Schema.Array(Schema.Struct({ field: Schema.String, message: Schema.String })) }
) {
  override get message(): string {
    const lines = this.issues.map(({ field, message }) => `  - ${field}: ${message}`)
    return ["Invalid benchmark config:", ...lines, "", "Fix the fields above and try again."].join("\n")
  }
}

/**
 * Flags and project settings that do not fit the benchmark. `setting` is the first one that is wrong; `warnings` were
 * raised before it was found.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConfigResolutionError extends Schema.TaggedError<ConfigResolutionError>(
  "effect-bench/ConfigResolutionError"
)("ConfigResolutionError", {
  setting: Schema.String,
  detail: Schema.String,
  warnings: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return this.detail
  }
}

// -----------------------------------------------------------------------------
// decoding
// -----------------------------------------------------------------------------

/**
 * A benchmark config. Decoding reports every issue at once, whatever the parse options, each under its path; it reads
 * each field once and throws on no input. Participants and hooks are kept by reference, other values are copied, keys
 * that a config does not have are left out.
 *
 * @since 0.1.0
 * @category schemas
 */
export const BenchmarkConfig: Schema.Schema<BenchmarkConfig> = schemaOf("BenchmarkConfig", benchmarkConfig)

/**
 * Decodes anything as a {@link BenchmarkConfig}, with issues in the words that people write fields in.
 *
 * @since 0.1.0
 * @category constructors
 */
export const decodeEither = (input: unknown): Either.Either<BenchmarkConfig, BenchmarkConfigError> =>
  Either.mapLeft(
    benchmarkConfig(input),
    (issues) => new BenchmarkConfigError({ issues: issues.map(({ field, message }) => ({ field, message })) })
  )

/**
 * Decodes anything as a {@link BenchmarkConfig}; fails with {@link BenchmarkConfigError}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const decode = (input: unknown): Effect.Effect<BenchmarkConfig, BenchmarkConfigError> => decodeEither(input)

/**
 * Issues in the reduced form of `@benchsdk/runner`: only the first one of `display` and of `scoring`, under the field
 * `display` or `scoring`, with its own field in the message.
 *
 * @since 0.1.0
 * @category combinators
 */
export const collapseIssues = (issues: ReadonlyArray<ConfigIssue>): ReadonlyArray<ConfigIssue> => {
  const reported = new Set<string>()
  return issues.flatMap((issue) => {
    const section = sections.find((name) => issue.field === name || issue.field.startsWith(`${name}.`))
    if (section === undefined || issue.message === compositeWithoutScore) {
      return [issue]
    }
    if (reported.has(section)) {
      return []
    }
    reported.add(section)
    return [{ field: section, message: collapsedMessage(issue) }]
  })
}

// -----------------------------------------------------------------------------
// resolution
// -----------------------------------------------------------------------------

/**
 * Decides a run: flags beat project settings, those beat the benchmark file, and that beats the defaults. Fails with the
 * first setting that does not fit.
 *
 * @since 0.1.0
 * @category combinators
 */
export const resolve = (
  config: BenchmarkConfig,
  overrides: Overrides = {},
  project: ProjectDefaults = {}
): Either.Either<ResolvedConfig, ConfigResolutionError> => {
  const settings: RunSettings = {
    benchmark: overrides.benchmark || project.benchmark,
    name: overrides.name || project.name,
    shape: overrides.shape || project.shape,
    iterations: overrides.iterations ?? project.iterations,
    concurrency: overrides.concurrency ?? project.concurrency,
    staggerDelayMs: overrides.staggerDelayMs ?? project.staggerDelayMs,
    groupBy: overrides.groupBy ?? project.groupBy,
    providers: overrides.providers ?? project.providers
  }
  return Either.gen(function* () {
    const identity = yield* applyIdentity(config, settings)
    const merged = yield* mergeConfig(identity.config, settings)
    const runKey = overrides.runKey || project.runKey || undefined
    yield* checkWorkerPool(overrides.workerPool, runKey)
    yield* checkThresholds(config, overrides.thresholds ?? [])
    const thresholds = [...(config.thresholds ?? []), ...(overrides.thresholds ?? [])]
    return compact({
      ...merged,
      ...identity,
      benchmarkSlug: identity.config.benchmarkSlug,
      benchmarkName: identity.config.benchmarkName,
      runKey,
      workerPool: overrides.workerPool,
      thresholds: thresholds.length === 0 ? undefined : thresholds,
      dryRun: overrides.noIngest ?? project.dryRun ?? false
    })
  })
}

/**
 * The benchmark's shape with this name; none when no name is given. Fails naming the known shapes.
 *
 * @since 0.1.0
 * @category combinators
 */
export const resolveShape = (
  config: BenchmarkConfig,
  name: string | undefined
): Either.Either<Shape | undefined, ConfigResolutionError> => {
  if (name === undefined || name === "") {
    return Either.right(undefined)
  }
  const shapes = config.shapes ?? {}
  if (Object.hasOwn(shapes, name)) {
    return Either.right(shapes[name])
  }
  const known = Object.keys(shapes)
  return refuse(
    "shape",
    known.length === 0
      ? `Unknown --shape "${name}": this benchmark declares no shapes.`
      : `Unknown --shape "${name}". Known shapes: ${known.join(", ")}.`
  )
}

/**
 * Puts the benchmark under another identity: the slug, name and stagger delay of a shape, then a slug and a name of
 * their own.
 *
 * @since 0.1.0
 * @category combinators
 */
export const applyIdentity = (
  config: BenchmarkConfig,
  settings: Pick<RunSettings, "shape" | "benchmark" | "name">
): Either.Either<Pick<ResolvedConfig, "config" | "identityIsOurs">, ConfigResolutionError> =>
  Either.flatMap(resolveShape(config, settings.shape), (shape) => {
    const { benchmark, name } = settings
    if (benchmark && benchmark !== config.benchmarkSlug && !isSlug(benchmark)) {
      return refuse("benchmark", `benchmark ${slugMessage(benchmark)}`)
    }
    if (name && !isText(name)) {
      return refuse("name", `name ${textMessage}`)
    }
    const benchmarkSlug = benchmark || shape?.slug || config.benchmarkSlug
    const benchmarkName = name || (shape === undefined ? config.benchmarkName : (shape.name ?? shape.slug))
    const staggerDelayMs = shape?.staggerDelayMs ?? config.staggerDelayMs
    return Either.right({
      config: { ...config, benchmarkSlug, benchmarkName, ...(staggerDelayMs !== undefined && { staggerDelayMs }) },
      identityIsOurs: shape !== undefined || Boolean(name) || benchmarkSlug === config.benchmarkSlug
    })
  })

/**
 * Sizes and orders a run. A count for a benchmark with phases applies to each phase, and is ignored with a warning when
 * the phases have unequal counts.
 *
 * @since 0.1.0
 * @category combinators
 */
export const mergeConfig = (
  config: BenchmarkConfig,
  settings: Pick<RunSettings, "iterations" | "concurrency" | "staggerDelayMs" | "groupBy" | "providers">
): Either.Either<MergedConfig, ConfigResolutionError> => {
  const size = Sizing.sizeOf(config, settings.iterations ?? undefined)
  const merged = compact<MergedConfig>({
    ...size,
    concurrency: settings.concurrency ?? config.concurrency ?? 1,
    staggerDelayMs: settings.staggerDelayMs ?? config.staggerDelayMs ?? 0,
    groupBy: settings.groupBy ?? config.groupBy ?? "participant",
    providers: settings.providers ?? config.defaultProviders
  })
  const [setting, message] = Sizing.problemOf(merged) ?? []
  if (setting !== undefined) {
    return refuse(setting, `${setting} ${message}`, size.warnings)
  }
  return settings.providers?.length === 0
    ? refuse("providers", "providers must name at least one participant", size.warnings)
    : Either.right(merged)
}

/**
 * The name of the phase that a slot of a participant's schedule belongs to; undefined without phases or outside the
 * schedule. `scheduleIndex` counts from 0. Takes time with the number of phases: for many slots use {@link phaseLookup}.
 *
 * @since 0.1.0
 * @category combinators
 */
export const phaseAt = ({ phases }: Pick<MergedConfig, "phases">, scheduleIndex: number): string | undefined =>
  phases === undefined ? undefined : Sizing.phaseAt(phases, scheduleIndex)

/**
 * Like {@link phaseAt} for many slots: prepared once, a look-up takes time with the logarithm of the number of phases.
 *
 * @since 0.1.0
 * @category combinators
 */
export const phaseLookup = ({
  phases
}: Pick<MergedConfig, "phases">): ((scheduleIndex: number) => string | undefined) =>
  phases === undefined ? () => undefined : Sizing.phaseLookup(phases)

/**
 * What is stored with a run: how it was sized, ordered and scored, by whom it was asked for, and the names of the
 * participants that it runs.
 *
 * @since 0.1.0
 * @category combinators
 */
export const runConfigToJson = (
  resolved: ResolvedConfig,
  participants: ReadonlyArray<string>,
  trigger: Trigger
): Data => {
  const { benchmarkName, benchmarkSlug, concurrency, config, groupBy, phaseIterations, phases, staggerDelayMs } =
    resolved
  const size =
    phases === undefined
      ? { iterations: resolved.iterations }
      : { phaseIterations, phases: phases.map(({ iterations, name }) => ({ name, iterations })) }
  return asJson(
    JSON.stringify({
      benchmarkSlug,
      benchmarkName,
      ...size,
      concurrency,
      staggerDelayMs,
      groupBy,
      dimensions: config.dimensions,
      scoring: config.scoring,
      thresholds: resolved.thresholds,
      participants,
      trigger
    })
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const sections = ["display", "scoring"]

// Three of the reference's messages do not follow from ours: a duplicate is reported without its field, a negative weight
// for all weights of its metric, and a display unit under the index of the scoring metric that contradicts it.
const collapsedMessage = ({ field, message }: ConfigIssue): string =>
  message.startsWith("duplicate ")
    ? message
    : `${field} ${message}`
        .replace(/^(scoring\.metrics\[\d+\]\.weights)\.\w+ must be non-negative .*/s, "$1 must be non-negative")
        .replace(/^(scoring\.metrics(\[\d+\])\.unit .*? conflicts with display\.metrics)\[\d+\]/s, "$1$2")

const asJson = Schema.decodeSync(Schema.parseJson(Data))

const refuse = (
  setting: string,
  detail: string,
  warnings: ReadonlyArray<string> = []
): Either.Either<never, ConfigResolutionError> => Either.left(new ConfigResolutionError({ setting, detail, warnings }))

const checkWorkerPool = (
  workerPool: number | undefined,
  runKey: string | undefined
): Either.Either<void, ConfigResolutionError> => {
  if (workerPool === undefined) return Either.void
  if (!(Number.isInteger(workerPool) && workerPool >= 1)) {
    return refuse("workerPool", `workerPool must be an integer >= 1 (got ${workerPool})`)
  }
  return runKey === undefined
    ? refuse(
        "workerPool",
        "workerPool needs a run key, which the runs that share the workers have in common: --run-key KEY"
      )
    : Either.void
}

const checkThresholds = (
  config: BenchmarkConfig,
  thresholds: ReadonlyArray<Threshold>
): Either.Either<void, ConfigResolutionError> => {
  const known = {
    participants: config.participants.map(({ name }) => name),
    phases: (config.phases ?? []).map(({ name }) => name)
  }
  const read = inspect(thresholds, (root) => thresholdsRule(root, known))
  if (Either.isRight(read)) return Either.void
  const [issue] = read.left
  return refuse("threshold", issue === undefined ? "cannot be read" : `threshold ${issue.field}: ${issue.message}`)
}
