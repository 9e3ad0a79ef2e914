/**
 * `bench push`
 */
import * as Arr from "effect/Array"
import type * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { messageOf } from "../internal/json.js"
import type { PlatformError, PlatformOrigin } from "../Platform.js"
import { Platform, ResourceConflict } from "../Platform.js"
import * as Push from "../Push.js"
import type { SpoolEntry, SpoolError, SpoolListing } from "../Spool.js"
import { Spool } from "../Spool.js"
import { CliError } from "./CliError.js"
import { ExitWith, json, print, say } from "./output.js"
import type { Result } from "./pushReport.js"
import * as Report from "./pushReport.js"
import { oneLine, plural } from "./text.js"
import { UsageError } from "./UsageError.js"

export interface PushOptions<E, R> {
  /** The run's id, or the beginning of it. */
  readonly run: string | undefined
  /** Every run. */
  readonly all: boolean
  /** Only say what is waiting. */
  readonly list: boolean
  /** Remove instead of deliver. */
  readonly discard: boolean
  /** Take journals also from processes of other machines. */
  readonly force: boolean
  readonly json: boolean
  /** The platform that records belong to. */
  readonly platformFor: (origin: PlatformOrigin) => Effect.Effect<Platform["Type"], E, R>
  /** When to try a request again. Default that of the reporter. */
  readonly flushSchedule?: Schedule.Schedule<unknown, PlatformError> | undefined
}

/**
 * Delivers, lists or removes what waits in the spool. Ends with 1 when something of what was asked for is left, with 2 when
 * that is for want of credentials only.
 */
export const push = <E, R>(
  options: PushOptions<E, R>
): Effect.Effect<void, UsageError | CliError | SpoolError | ExitWith, Spool | Exclude<R, Scope.Scope>> =>
  Effect.gen(function* () {
    yield* refuseContradictions(options)
    const spool = yield* Spool
    const selected = yield* select(yield* spool.list, options)
    const { damaged, entries } = selected
    if (options.list) return yield* show(selected, options)
    const runs = runsOf(entries)
    if (runs.length > 1 && !options.all) {
      yield* show(selected, options)
      yield* say(`\n${plural(runs.length, "run")} are waiting. Deliver one: bench push RUN. Or all: bench push --all`)
      return yield* new ExitWith({ code: 1 })
    }
    const results = yield* Effect.flatMap(
      options.discard ? discard(entries, options) : deliver(entries, options),
      settle
    )
    if (options.json) yield* json(Report.toJson(spool.location, results, damaged))
    else yield* print(Report.toText(results, damaged) || nothing)
    const code = Report.exitCode(results, damaged)
    if (code !== 0) return yield* new ExitWith({ code })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Settings = Omit<PushOptions<unknown, unknown>, "platformFor">

const nothing = "Nothing is waiting to be delivered."

const refuseContradictions = ({ all, discard, list, run }: Settings): Effect.Effect<void, UsageError> => {
  if (run !== undefined && all) return new UsageError({ detail: "Name a run or say --all, not both" })
  if (list && discard) return new UsageError({ detail: "--list and --discard contradict each other" })
  if (discard && run === undefined && !all) {
    return new UsageError({ detail: "--discard removes records for good: name the run, or say --all" })
  }
  return Effect.void
}

const show = Effect.fnUntraced(function* (listing: SpoolListing, options: Settings) {
  const { location } = yield* Spool
  if (options.json) return yield* json(Report.listingToJson(location, listing))
  const isEmpty = listing.entries.length === 0 && listing.damaged.length === 0
  yield* print(isEmpty ? nothing : Report.listingToText(listing))
})

const runsOf = (entries: ReadonlyArray<SpoolEntry>): ReadonlyArray<string> => [
  ...new Set(entries.map(({ attempt }) => attempt.run))
]

/** What is asked for. When nothing is named that is what no process of this machine holds, if that is of one run. */
const select = (listing: SpoolListing, { all, list, run }: Settings): Effect.Effect<SpoolListing, CliError> => {
  const { damaged, entries } = listing
  const ofRun = (id: string | undefined) => entries.filter(({ attempt }) => attempt.run === id)
  if (run !== undefined && entries.length > 0) {
    return Effect.map(byPrefix(runsOf(entries), run), (id) => ({ entries: ofRun(id), damaged: [] }))
  }
  const [only, another] = runsOf(entries.filter(({ holder }) => holder !== "process"))
  return Effect.succeed(
    all || list || only === undefined || another !== undefined ? listing : { entries: ofRun(only), damaged }
  )
}

const byPrefix = (runs: ReadonlyArray<string>, prefix: string): Effect.Effect<string, CliError> => {
  const matching = runs.filter((id) => id.startsWith(prefix))
  const [only, another] = matching.includes(prefix) ? [prefix] : matching
  if (only === undefined || prefix.trim() === "") {
    return new CliError({
      detail: `No records of a run "${prefix}" are waiting. See of which there are: bench push --list`
    })
  }
  return another === undefined
    ? Effect.succeed(only)
    : new CliError({
        detail: `"${prefix}" is the beginning of ${plural(matching.length, "run id")}: ${matching.slice(0, 5).join(", ")}. Say more of it.`
      })
}

/** Platform by platform, one journal after the other: one that fails does not keep the next from being sent. */
const deliver = <E, R>(entries: ReadonlyArray<SpoolEntry>, options: PushOptions<E, R>) =>
  Effect.forEach(Object.values(Arr.groupBy(entries, ({ attempt }) => JSON.stringify(attempt.origin))), (group) =>
    Effect.scoped(
      Effect.matchEffect(withoutDefects(options.platformFor(group[0].attempt.origin)), {
        onFailure: (error) => Effect.succeed(group.map((entry) => failed(entry, error, 0))),
        onSuccess: (platform) =>
          Effect.forEach(group, (entry) => Effect.provideService(deliverOne(entry, options), Platform, platform))
      })
    )
  ).pipe(
    Effect.map((groups) => groups.flat()),
    Effect.onInterrupt(() => say("Interrupted. What was not acknowledged is still waiting: bench push --list"))
  )

const deliverOne = Effect.fnUntraced(function* (entry: SpoolEntry, { flushSchedule, force }: Settings) {
  const { attempt, recordCount } = entry
  yield* say(
    `Delivering ${plural(recordCount, "record")} of ${oneLine(attempt.participant)} (run ${attempt.run}) to ${Report.destinationOf(attempt.origin)}`
  )
  const progress = new Progress(yield* Effect.console, attempt.participant)
  return yield* Push.push(entry, { force, flushSchedule, onProgress: progress.listener }).pipe(
    withoutDefects,
    Effect.match({
      onFailure: (error) => failed(entry, error, progress.delivered),
      onSuccess: (pushed): Result => ({
        entry,
        outcome: pushed._tag === "Held" ? Report.Outcome.Held() : Report.Outcome.Delivered(pushed),
        delivered: progress.delivered
      })
    })
  )
})

const discard = (entries: ReadonlyArray<SpoolEntry>, { force }: Settings) =>
  Effect.forEach(entries, (entry) =>
    Effect.match(withoutDefects(Push.discard(entry, { force })), {
      onFailure: (error) => failed(entry, error, 0),
      onSuccess: (removed): Result => ({
        entry,
        outcome: removed ? Report.Outcome.Discarded() : Report.Outcome.Held(),
        delivered: 0
      })
    })
  )

const withoutDefects = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | CliError, R> =>
  Effect.catchAllDefect(effect, (cause) => new CliError({ detail: messageOf(cause), cause }))

const failed = (entry: SpoolEntry, error: unknown, delivered: number): Result => ({
  entry,
  outcome:
    error instanceof ResourceConflict && error.reason === "StaleAttempt"
      ? Report.Outcome.Superseded({ error })
      : Report.Outcome.Failed({ error }),
  delivered
})

/** Says of what is left how it is now: what another process held may be gone. */
const settle = Effect.fnUntraced(function* (results: ReadonlyArray<Result>) {
  if (results.every(Report.isDone)) return results
  const spool = yield* Spool
  const now = yield* Effect.option(spool.list)
  if (now._tag === "None") return results
  const current = new Map(now.value.entries.map((entry) => [keyOf(entry), entry]))
  return results.map((result): Result => {
    if (Report.isDone(result)) return result
    const entry = current.get(keyOf(result.entry))
    if (entry !== undefined) return { ...result, entry }
    return result.outcome._tag === "Held" ? { ...result, outcome: Report.Outcome.Gone() } : result
  })
})

const keyOf = ({ attempt }: SpoolEntry): string => JSON.stringify(attempt)

/** Says how far a journal is, at the first batch, about every tenth, and at the end. */
class Progress {
  delivered = 0
  private next = 0

  constructor(
    private readonly console: Console.Console,
    private readonly participant: string
  ) {}

  readonly listener = (delivered: number, total: number): void => {
    this.delivered = delivered
    if (delivered < this.next && delivered < total) return
    this.next = delivered + total / 10
    this.console.unsafe.error(`  ${oneLine(this.participant)}: ${delivered}/${total} records`)
  }
}
