/**
 * A benchmark as a program: its config, its task, the layer its task runs on; and running it.
 *
 * ```ts
 * import { Benchmark, Reporter, Scheduler, Step, Task } from "effect-bench"
 * import { Effect, Layer } from "effect"
 *
 * const benchmark = Benchmark.make({
 *   benchmarkSlug: "json-parse",
 *   benchmarkName: "JSON.parse",
 *   participants: [{ name: "small" }, { name: "large" }],
 *   iterations: 100,
 *   task: ({ participant }) =>
 *     Effect.gen(function* () {
 *       const items = participant.name === "small" ? 10 : 10_000
 *       const text = JSON.stringify(Array.from({ length: items }, (_, id) => ({ id })))
 *       yield* Step.run("parse", Effect.sync(() => JSON.parse(text)))
 *       yield* Task.measure({ bytes: text.length })
 *     })
 * })
 *
 * const program = Benchmark.run(benchmark).pipe(
 *   Effect.map((outcome) => outcome.participants.map(({ latencyMs, participant }) => [participant, latencyMs.p50])),
 *   Effect.provide(Layer.merge(Scheduler.layer, Reporter.layerNoIngest))
 * )
 * ```
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import { identity } from "effect/Function"
import type * as Layer from "effect/Layer"
import * as Mailbox from "effect/Mailbox"
import { hasProperty } from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type {
  BenchmarkConfig,
  BenchmarkConfigError,
  ConfigResolutionError,
  Overrides,
  ResolvedConfig
} from "./Config.js"
import * as BenchConfig from "./Config.js"
import type { Verdict } from "./Gates.js"
import { copyJson, messageOf, NotJson } from "./internal/json.js"
import { Progress } from "./internal/progress.js"
import type { ErrorCount } from "./internal/tally.js"
import type { NoAvailableParticipantsError, Skipped, UnknownParticipantsError } from "./Participant.js"
import * as Participant from "./Participant.js"
import type { PlatformError, ResultSummary } from "./Platform.js"
import { SummaryRow } from "./Platform.js"
import type { ProjectConfig } from "./ProjectConfig.js"
import type { ParticipantRecords, TaskRecord } from "./Record.js"
import type { RunReporter } from "./Reporter.js"
import { layerNoIngest, Reporter, UndeliveredResults } from "./Reporter.js"
import type { RunEvent } from "./RunEvent.js"
import * as RunEvents from "./RunEvent.js"
import * as RunMetadata from "./RunMetadata.js"
import { Scheduler } from "./Scheduler.js"
import type { Accumulator, ScoringSpecError } from "./Scoring.js"
import * as Scoring from "./Scoring.js"
import type { Task, TaskServices } from "./Task.js"
import * as Worker from "./Worker.js"
import type { WorkerLog } from "./WorkerLog.js"

/**
 * @since 0.1.0
 * @category models
 */
export const TypeId: unique symbol = Symbol.for("effect-bench/Benchmark")

/**
 * @since 0.1.0
 * @category models
 */
export type TypeId = typeof TypeId

/**
 * A benchmark that fails with `E` when its layer cannot be built, and needs `R`. Its config is validated when it runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Benchmark<out E = never, out R = never> {
  readonly [TypeId]: TypeId
  readonly config: unknown
  /** Runs an effect that runs the task, with the task's layer built around it. */
  readonly within: <A, E2, R2>(
    use: <RT>(task: Task<unknown, RT>) => Effect.Effect<A, E2, R2 | RT>
  ) => Effect.Effect<A, E | E2, R | R2>
}

/**
 * What a hook may give back: a value, a promise of one, or an effect that needs nothing.
 *
 * @since 0.1.0
 * @category models
 */
export type HookResult<A> = A | Promise<A> | Effect.Effect<A, unknown>

/**
 * A benchmark config with its task.
 *
 * @since 0.1.0
 * @category models
 */
export interface MakeOptions<E, R> extends Omit<BenchmarkConfig, "onScore" | "onComplete"> {
  readonly task: Task<E, R>
  /** Scores the run in its own way. All records of the run are kept in memory for it. */
  readonly onScore?: ((outcome: Outcome) => HookResult<ReadonlyArray<SummaryRow>>) | undefined
  /** Called when the run is over and reported. All records of the run are kept in memory for it. */
  readonly onComplete?: ((outcome: Outcome) => HookResult<unknown>) | undefined
}

/**
 * A benchmark config with its task and the layer that the task runs on.
 *
 * @since 0.1.0
 * @category models
 */
export interface MakeOptionsWithLayer<E, R, ROut, LE, LIn> extends MakeOptions<E, R> {
  /** Built once per run, outside every measurement, and released after the last task however the run ends. */
  readonly layer: Layer.Layer<ROut, LE, LIn>
}

/**
 * Puts a benchmark together. Nothing is checked yet: {@link run} reports every problem of the config at once.
 *
 * @since 0.1.0
 * @category constructors
 */
export function make<E = never, R = never, ROut = never, LE = never, LIn = never>(
  options: MakeOptionsWithLayer<E, R, ROut, LE, LIn>
): Benchmark<LE, LIn | Exclude<R, ROut | TaskServices>>
export function make<E = never, R = never>(options: MakeOptions<E, R>): Benchmark<never, Exclude<R, TaskServices>>
export function make<E, R, ROut, LE, LIn>({
  layer,
  task,
  ...config
}: MakeOptions<E, R> & { readonly layer?: Layer.Layer<ROut, LE, LIn> | undefined }): Benchmark<LE, LIn | R> {
  return fromParts(config, task, layer)
}

/**
 * A benchmark whose config is of unknown origin, such as a file.
 *
 * @since 0.1.0
 * @category constructors
 */
export function fromParts<E = never, R = never, ROut = never, LE = never, LIn = never>(
  config: unknown,
  task: Task<E, R>,
  layer?: Layer.Layer<ROut, LE, LIn> | undefined
): Benchmark<LE, LIn | Exclude<R, ROut | TaskServices>>
export function fromParts<E, R, ROut, LE, LIn>(
  config: unknown,
  task: Task<E, R>,
  layer?: Layer.Layer<ROut, LE, LIn> | undefined
): Benchmark<LE, LIn | R> {
  return {
    [TypeId]: TypeId,
    config,
    within: (use) => (layer === undefined ? use<R>(task) : Effect.provide(use<R>(task), layer))
  }
}

/**
 * Whether a value of unknown origin is a benchmark. What its task requires cannot be seen: a service that is missing
 * shows up in the records of its tasks.
 *
 * @since 0.1.0
 * @category constructors
 */
export const isBenchmark = (value: unknown): value is Benchmark<unknown> => hasProperty(value, TypeId)

// -----------------------------------------------------------------------------
// outcome
// -----------------------------------------------------------------------------

/**
 * @since 0.1.0
 * @category models
 */
export interface ParticipantOutcome extends ParticipantRecords {
  readonly taskCount: number
  readonly successCount: number
  readonly errorCount: number
  /** Over all tasks, failed ones included, untrimmed; percentiles are nearest-rank. Nulls when none ran. */
  readonly latencyMs: ResultSummary["latencyMs"]
  /** By error code, most frequent first. */
  readonly errors: ReadonlyArray<ErrorCount>
  /** Empty unless a hook or `keepRecords` asked for them. */
  readonly records: ParticipantRecords["records"]
  /** The worker's log. */
  readonly log: WorkerLog
}

/**
 * What a run found out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Outcome {
  /** Undefined when the run was not recorded. */
  readonly runId: string | undefined
  /** Where the run can be looked at in a browser, if its platform has pages. */
  readonly dashboardUrl: string | undefined
  readonly config: ResolvedConfig
  readonly participants: ReadonlyArray<ParticipantOutcome>
  readonly skipped: ReadonlyArray<Skipped>
  /** Scored rows; undefined when the benchmark does not score. */
  readonly rows: ReadonlyArray<SummaryRow> | undefined
  /** Whether the thresholds are kept, by what this process ran. */
  readonly verdicts: ReadonlyArray<Verdict>
  readonly warnings: ReadonlyArray<string>
}

/**
 * A hook of the benchmark failed. What was measured is stored.
 *
 * @since 0.1.0
 * @category errors
 */
export class HookError extends Data.TaggedError("HookError")<{
  readonly hook: "onScore" | "onComplete"
  readonly detail: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `${this.hook} failed: ${this.detail}`
  }
}

// -----------------------------------------------------------------------------
// running
// -----------------------------------------------------------------------------

/**
 * @since 0.1.0
 * @category models
 */
export interface RunOptions extends Overrides {
  /** Defaults of the project, below flags and above the file. */
  readonly project?: ProjectConfig | undefined
  /** Keep every record in the outcome. Default false; a hook keeps them anyway. */
  readonly keepRecords?: boolean | undefined
}

/**
 * @since 0.1.0
 * @category errors
 */
export type RunError =
  | BenchmarkConfigError
  | ConfigResolutionError
  | UnknownParticipantsError
  | NoAvailableParticipantsError
  | ScoringSpecError
  | PlatformError
  | UndeliveredResults
  | HookError

const runErrorTags = new Set<unknown>([
  "BenchmarkConfigError",
  "ConfigResolutionError",
  "UnknownParticipantsError",
  "NoAvailableParticipantsError",
  "ScoringSpecError",
  "ResourceNotFound",
  "ResourceConflict",
  "InvalidRequest",
  "Unauthorized",
  "RequestTooLarge",
  "PlatformFailure",
  "UndeliveredResults",
  "HookError"
] satisfies ReadonlyArray<RunError["_tag"]>)

/**
 * Tells an error of the runtime from what a benchmark's layer failed with.
 *
 * @since 0.1.0
 * @category errors
 */
export const isRunError = (error: unknown): error is RunError =>
  hasProperty(error, "_tag") && error instanceof Error && runErrorTags.has(error._tag)

/**
 * Runs every task of the benchmark and reports it. A task that fails is a result, not an error; the effect fails when
 * the benchmark cannot be run or its results cannot be kept. Interruption stops launching tasks, interrupts those that
 * run, stores what was measured and releases the layer.
 *
 * @since 0.1.0
 * @category running
 */
export const run = <E, R>(
  benchmark: Benchmark<E, R>,
  options: RunOptions = {}
): Effect.Effect<Outcome, E | RunError, R | Scheduler | Reporter> =>
  Effect.flatMap(prepare(benchmark, options), (progress) =>
    benchmark.within<Outcome, PlatformError | UndeliveredResults | HookError, Scheduler | Reporter>((task) =>
      execute(task, progress)
    )
  )

/**
 * @since 0.1.0
 * @category models
 */
export interface RunWorkerOptions extends Omit<RunOptions, "providers" | "runKey" | "workerPool" | "noIngest"> {
  /** Id of the run to take a worker of. */
  readonly run: string
  /** Name of the participant. */
  readonly participant: string
  /** Tasks in flight at most. Default: what the platform assigns, else what the config says. */
  readonly concurrency?: number | undefined
  /** Called with each record, before it is reported. Has to be quick: it runs between tasks. */
  readonly onResult?: ((record: TaskRecord) => void) | undefined
  /** Runs when everything is delivered, before the worker is closed. */
  readonly onFinish?: Effect.Effect<void> | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface WorkerRunOutcome {
  readonly worker: Worker.WorkerOutcome
  readonly participant: ParticipantOutcome
  readonly warnings: ReadonlyArray<string>
}

/**
 * Takes one worker of a run that exists, such as one that another machine has started, and runs its tasks. Undefined when
 * no worker of the participant is left to claim. Interruption is that of {@link run}; a worker that has no result yet is
 * given back.
 *
 * @since 0.1.0
 * @category running
 */
export const runWorker = <E, R>(
  benchmark: Benchmark<E, R>,
  options: RunWorkerOptions
): Effect.Effect<WorkerRunOutcome | undefined, E | RunError, R | Reporter> => {
  let taken: WorkerRunOutcome | undefined = undefined
  return Effect.map(
    runWorkers(benchmark, options, (outcome) =>
      Effect.sync(() => {
        taken = outcome
        return false
      })
    ),
    () => taken
  )
}

/**
 * Like {@link runWorker}, one worker after another, with the benchmark's layer built once for all of them: `next` is told
 * what each did (undefined: there was none to claim) and says whether to claim another, at once or after a while.
 *
 * @since 0.1.0
 * @category running
 */
export const runWorkers = <E, R, E2, R2>(
  benchmark: Benchmark<E, R>,
  options: RunWorkerOptions,
  next: (outcome: WorkerRunOutcome | undefined) => Effect.Effect<boolean, E2, R2>
): Effect.Effect<void, E | E2 | RunError, R | R2 | Reporter> => {
  const prepared = prepare(benchmark, { ...options, providers: [options.participant] })
  // What is wrong with the benchmark is said before its layer is built; then each worker counts for itself.
  return Effect.zipRight(
    prepared,
    benchmark.within<void, E2 | RunError, R2 | Reporter>((task) =>
      prepared.pipe(
        Effect.flatMap((progress) => executeWorker(task, progress, options)),
        Effect.flatMap(next),
        Effect.repeat({ while: (goesOn) => goesOn }),
        Effect.asVoid
      )
    )
  )
}

/**
 * The slug that a run of the benchmark with these options would be recorded under.
 *
 * @since 0.1.0
 * @category combinators
 */
export const slugOf = (
  benchmark: Benchmark<unknown, unknown>,
  options: RunOptions = {}
): Effect.Effect<string, BenchmarkConfigError | ConfigResolutionError> =>
  Effect.flatMap(BenchConfig.decode(benchmark.config), (config) =>
    Effect.map(BenchConfig.resolve(config, options, options.project), ({ benchmarkSlug }) => benchmarkSlug)
  )

/**
 * The run as a stream of its events, for displays and services: ends when the run does and fails as it fails. A watcher
 * that cannot keep up misses events in the middle, never the last ones; it does not slow down the run.
 *
 * @since 0.1.0
 * @category running
 */
export const stream = <E, R>(
  benchmark: Benchmark<E, R>,
  options: RunOptions = {}
): Stream.Stream<RunEvent, E | RunError, R | Scheduler | Reporter> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const mailbox = yield* Mailbox.make<RunEvent, E | RunError>({ capacity: 1024, strategy: "sliding" })
      yield* run(benchmark, options).pipe(
        Effect.provideService(RunEvents.RunListener, (event) => mailbox.unsafeOffer(event)),
        Effect.onExit((exit) => mailbox.done(Exit.asVoid(exit))),
        Effect.forkScoped
      )
      return Mailbox.toStream(mailbox)
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const prepare = Effect.fnUntraced(function* <E, R>(benchmark: Benchmark<E, R>, options: RunOptions) {
  // A finalizer ends by putting back the refs that its fiber had before. Unless this one is among them by now, that would
  // undo an interrupt which came while the finalizer ran, and the run would go on.
  yield* FiberRef.update(FiberRef.interruptedCause, identity)
  const config = yield* BenchConfig.decode(benchmark.config)
  const resolved = yield* BenchConfig.resolve(config, options, options.project)
  const selected = yield* Participant.select(resolved.config.participants, resolved.providers)
  const { available, skipped } = yield* Participant.gate(selected)
  if (available.length === 0) {
    return yield* new Participant.NoAvailableParticipantsError({ skipped })
  }
  const scoring = yield* scoringOf(resolved.config)
  const emit = yield* RunEvents.RunListener
  return new Progress(available, skipped, resolved, scoring, keepRecords(resolved.config, options), emit)
})

const keepRecords = (config: BenchmarkConfig, options: RunOptions): boolean =>
  options.keepRecords === true || config.onScore !== undefined || config.onComplete !== undefined

const scoringOf = (config: BenchmarkConfig): Either.Either<Accumulator | undefined, ScoringSpecError> =>
  config.scoring === undefined
    ? Either.right(undefined)
    : Scoring.accumulator(
        Scoring.scoringConfigToSpec(config.scoring, config.dimensions, config.display),
        config.display?.metrics
      )

const execute = <R>(
  task: Task<unknown, R>,
  progress: Progress
): Effect.Effect<Outcome, PlatformError | UndeliveredResults | HookError, R | Scheduler | Reporter> =>
  Effect.gen(function* () {
    const { resolved } = progress
    const scheduler = yield* Scheduler
    const reporter = yield* resolved.dryRun ? Effect.provide(Reporter, layerNoIngest) : Reporter
    const trigger = yield* RunMetadata.trigger
    const { dimensions, display, scoring } = resolved.config
    const opened = yield* reporter.openRun({
      benchmarkSlug: resolved.benchmarkSlug,
      benchmarkName: resolved.benchmarkName,
      identityIsOurs: resolved.identityIsOurs,
      benchmarkConfig: jsonObject({ display, scoring, dimensions }),
      runConfig: jsonObject(BenchConfig.runConfigToJson(resolved, progress.names, trigger)),
      runKey: resolved.runKey,
      participants: progress.names,
      tasksPerParticipant: resolved.iterations,
      workerPool: resolved.workerPool
    })
    progress.started(opened.runId)
    const { concurrency, groupBy, staggerDelayMs } = resolved
    const outcome = yield* Worker.provideTaskServices(
      scheduler.run(
        { groupBy, concurrency, staggerDelayMs },
        progress.participants.map((participant) =>
          Worker.lane(progress.worker(task, participant, opened, () => (groupBy === "round" ? 1 : concurrency)))
        )
      )
    ).pipe(
      Effect.onError(() => opened.abandon),
      Effect.zipRight(finish(progress, opened)),
      Effect.onError(() => warnOfUndelivered(progress, opened))
    )
    const undelivered = yield* opened.undelivered
    if (undelivered.length > 0) return yield* new UndeliveredResults({ runId: opened.runId, undelivered })
    progress.emit?.(RunEvents.RunCompleted({ runId: opened.runId }))
    return { ...outcome, warnings: [...progress.warnings] }
  })

const executeWorker = <R>(
  task: Task<unknown, R>,
  progress: Progress,
  options: RunWorkerOptions
): Effect.Effect<WorkerRunOutcome | undefined, PlatformError | UndeliveredResults, R | Reporter> =>
  Effect.gen(function* () {
    const { resolved } = progress
    const reporter = yield* Reporter
    const opened = yield* reporter.joinRun({ benchmark: resolved.benchmarkSlug, run: options.run })
    const [participant] = progress.participants
    if (participant === undefined) return undefined
    const claimed = progress.worker(
      task,
      participant,
      opened,
      (targetConcurrency) => options.concurrency ?? targetConcurrency ?? resolved.concurrency
    )
    const worker = yield* Worker.run({
      ...claimed,
      staggerDelayMs: resolved.staggerDelayMs,
      onFinish: options.onFinish,
      onOpen: (count) => {
        progress.started(opened.runId)
        claimed.onOpen(count)
      },
      onRecord: (record) => {
        claimed.onRecord(record)
        options.onResult?.(record)
      }
    }).pipe(Effect.onError(() => warnOfUndelivered(progress, opened)))
    const undelivered = yield* opened.undelivered
    if (undelivered.length > 0) return yield* new UndeliveredResults({ runId: opened.runId, undelivered })
    const [outcome] = progress.outcome(opened).participants
    if (worker === undefined || outcome === undefined) return undefined
    progress.emit?.(RunEvents.RunCompleted({ runId: opened.runId }))
    return { worker, participant: outcome, warnings: [...progress.warnings] }
  })

const finish = Effect.fnUntraced(function* (progress: Progress, opened: RunReporter) {
  const { onComplete, onScore } = progress.resolved.config
  const measured = progress.outcome(opened)
  const rows = onScore === undefined ? measured.rows : yield* scoreWith(onScore, measured)
  const outcome: Outcome = { ...measured, rows, verdicts: progress.verdicts(rows) }
  if (rows !== undefined && opened.runId !== undefined) {
    yield* submit(progress, opened, rows).pipe(
      Effect.catchTag("PlatformFailure", (error) =>
        Effect.sync(() => progress.warn(`the summary was not stored: ${error.message}`))
      )
    )
  }
  if (onComplete !== undefined) yield* callHook("onComplete", onComplete, outcome)
  return outcome
})

/**
 * The summary of a run that others share is made of everything that is stored, and made again when that has grown
 * meanwhile: whoever submits last has seen it all. Rows of a hook's own making are added to those of other participants.
 */
const submit = Effect.fnUntraced(function* (
  { names, resolved: { config, runKey } }: Progress,
  opened: RunReporter,
  ownRows: ReadonlyArray<SummaryRow>
) {
  const { onScore, scoring } = config
  if (runKey === undefined) return yield* opened.submitSummary({ results: ownRows, scoring })
  if (onScore !== undefined) {
    const own = new Set(names)
    const others = (yield* opened.storedRows).filter(({ provider }) => !own.has(provider))
    return yield* opened.submitSummary({ results: [...others, ...ownRows], scoring })
  }
  for (let tasks = yield* opened.storedTasks, known = -1; tasks.length !== known; tasks = yield* opened.storedTasks) {
    known = tasks.length
    const accumulator = Either.getOrUndefined(scoringOf(config))
    for (const { participantSlug, ...task } of tasks) accumulator?.add(participantSlug, task)
    const participants = new Set([...tasks.map(({ participantSlug }) => participantSlug), ...names])
    yield* opened.submitSummary({ results: accumulator?.rows([...participants]) ?? ownRows, scoring })
  }
})

/** A run that ends early fails with something else: what could not be stored is said at least. */
const warnOfUndelivered = (progress: Progress, opened: RunReporter): Effect.Effect<void> =>
  Effect.map(opened.undelivered, (undelivered) => {
    if (undelivered.length > 0) progress.warn(new UndeliveredResults({ runId: opened.runId, undelivered }).message)
  })

const isRows = Schema.is(Schema.Array(SummaryRow))

/** Rows are stored as JSON: a copy is what is shown as well. */
const scoreWith = (hook: Function, outcome: Outcome): Effect.Effect<ReadonlyArray<SummaryRow>, HookError> =>
  Effect.flatMap(callHook("onScore", hook, outcome), (result) => {
    const rows = copyJson(result)
    return isRows(rows)
      ? Effect.succeed(rows)
      : new HookError({
          hook: "onScore",
          detail: `it must return the scored rows, as \`Scoring.score\` does${
            rows instanceof NotJson ? ` (got ${rows.message})` : ""
          }`
        })
  })

const callHook = (
  hook: "onScore" | "onComplete",
  call: Function,
  outcome: Outcome
): Effect.Effect<unknown, HookError> => {
  const failed = (cause: unknown) => new HookError({ hook, detail: messageOf(cause), cause })
  return Effect.flatMap(
    Effect.try({ try: (): unknown => call(outcome), catch: failed }),
    (result): Effect.Effect<unknown, HookError> =>
      isUnknownEffect(result)
        ? Effect.mapError(Effect.catchAllDefect(result, Effect.fail), failed)
        : Effect.tryPromise({ try: () => Promise.resolve(result), catch: failed })
  )
}

const isUnknownEffect = (value: unknown): value is Effect.Effect<unknown, unknown> => Effect.isEffect(value)

const jsonObject = (fields: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
