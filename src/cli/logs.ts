/**
 * `bench logs`
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { isTransient } from "../internal/reporting/requests.js"
import type { Participant, Run, RunRef } from "../Platform.js"
import { Platform } from "../Platform.js"
import { CliError } from "./CliError.js"
import { print, say } from "./output.js"
import { resolveRun } from "./resolveRun.js"
import { oneLine, plural } from "./text.js"

export interface LogsOptions {
  readonly benchmark: string | undefined
  readonly run: string | undefined
  readonly participant: string | undefined
  /** The worker's number among those of its participant, from 1, as `bench runs show` has it. */
  readonly worker: number | undefined
  /** Lines of each log, the last ones. */
  readonly maxLines: number
  /** Go on with what is added until the run has ended. */
  readonly follow: boolean
  /** How often to look for what was added. Default 2 seconds. */
  readonly pollInterval?: Duration.DurationInput | undefined
}

/** The logs of a run's workers: lines on stdout, everything about them on stderr. */
export const show = Effect.fnUntraced(function* (options: LogsOptions) {
  const { benchmark, run } = yield* resolveRun(options.benchmark, options.run)
  const ref = { benchmark, run: run.id }
  if (options.follow) return yield* follow(ref, options)
  const logs = yield* read(ref, options, options.maxLines)
  if (logs.length === 0) return yield* say(nothingYet(run, options))
  yield* Effect.forEach(logs, (log) => printFirst(log, options.maxLines), { discard: true })
})

/** What is known of a log: its last lines, and whether there are more before those. */
export interface LogWindow {
  readonly attemptId: string | null
  readonly lines: ReadonlyArray<string>
  readonly truncated: boolean
}

/**
 * The lines that a log has got since it was looked at before. `gap` tells that others may have come before them. Another
 * attempt has another log.
 */
export const added = (
  before: LogWindow,
  now: LogWindow
): { readonly lines: ReadonlyArray<string>; readonly gap: boolean } => {
  if (before.attemptId !== now.attemptId) return { lines: now.lines, gap: now.truncated }
  if (!now.truncated) return { lines: now.lines.slice(before.lines.length), gap: false }
  const known = overlap(before.lines, now.lines)
  return { lines: now.lines.slice(known), gap: known === 0 }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Log extends LogWindow {
  readonly workerId: string
  /** What its lines begin with, empty when it is the only one. */
  readonly prefix: string
}

/** Lines asked for while following, so that a log of that many can be told from one that grew by them. */
const followedLines = 10_000

const read = Effect.fnUntraced(function* (ref: RunRef, options: LogsOptions, maxLines: number) {
  const platform = yield* Platform
  const participants =
    options.participant === undefined
      ? yield* platform.listParticipants(ref)
      : [yield* platform.getParticipant({ ...ref, participant: options.participant })]
  const all = yield* Effect.forEach(participants, (participant) =>
    Effect.map(platform.participantLogs({ ...ref, participant: participant.slug }, { maxLines }), ({ workers }) => ({
      participant,
      workers: workers.filter(({ workerIndex }) => options.worker === undefined || workerIndex === options.worker - 1)
    }))
  )
  const logs = all.flatMap(({ participant, workers }) =>
    workers.map(({ attemptId, lines, truncated, workerId, workerIndex }): Log => ({
      workerId,
      attemptId,
      lines,
      truncated,
      prefix: prefixOf(participants, participant, workerIndex, options)
    }))
  )
  if (logs.length === 0) yield* refuseWorker(participants, options)
  return logs
})

const prefixOf = (
  participants: ReadonlyArray<Participant>,
  { slug, workerCount }: Participant,
  workerIndex: number,
  { worker }: LogsOptions
): string => {
  const several = worker === undefined && workerCount > 1
  if (participants.length === 1 && !several) return ""
  return several ? `[${oneLine(slug)} ${workerIndex + 1}/${workerCount}] ` : `[${oneLine(slug)}] `
}

const refuseWorker = (participants: ReadonlyArray<Participant>, { worker }: LogsOptions) => {
  const most = Math.max(0, ...participants.map(({ workerCount }) => workerCount))
  return worker === undefined || worker <= most
    ? Effect.void
    : new CliError({
        detail: `There is no worker ${worker}: ${
          participants.length === 1 ? "the participant has" : "no participant has more than"
        } ${plural(most, "worker")}.`
      })
}

const printLines = ({ prefix }: Log, lines: ReadonlyArray<string>): Effect.Effect<void> =>
  lines.length === 0 ? Effect.void : print(lines.map((line) => prefix + oneLine(line)).join("\n"))

const printFirst = (log: Log, maxLines: number): Effect.Effect<void> => {
  const lines = log.lines.slice(-maxLines)
  const more = log.truncated || lines.length < log.lines.length
  return Effect.zipRight(
    more ? say(`${log.prefix}(earlier lines are left out: --max-lines says how many to show)`) : Effect.void,
    printLines(log, lines)
  )
}

const hasEnded = ({ status }: Run): boolean => status === "completed" || status === "failed"

const nothingYet = (run: Run, { participant, worker }: LogsOptions): string => {
  const which = participant === undefined && worker === undefined ? "" : " that was asked for"
  return hasEnded(run)
    ? `Run ${run.id} has no log${which}.`
    : `Run ${run.id} has no log${which} yet: a worker uploads its log when it ends, and before that every BENCHMARK_LOG_FLUSH_INTERVAL_MS if that is set. To wait for it: bench logs --run ${run.id} --follow`
}

const follow = Effect.fnUntraced(function* (ref: RunRef, options: LogsOptions) {
  const platform = yield* Platform
  const interval = options.pollInterval ?? "2 seconds"
  const seen = new Map<string, Log>()
  // The run first: what its logs hold after it has ended is all there will be.
  const poll = Effect.all([platform.getRun(ref), read(ref, options, Math.max(followedLines, options.maxLines))]).pipe(
    Effect.retry({
      schedule: Schedule.intersect(Schedule.spaced(interval), Schedule.recurs(missedPolls)),
      while: (error) => error._tag !== "CliError" && isTransient(error)
    })
  )
  for (let polls = 0; ; polls++) {
    const [run, logs] = yield* poll
    for (const log of logs) {
      const before = seen.get(log.workerId)
      yield* before === undefined ? printFirst(log, options.maxLines) : printAdded(before, log)
      seen.set(log.workerId, log)
    }
    if (hasEnded(run)) return yield* seen.size === 0 ? say(nothingYet(run, options)) : Effect.void
    if (polls === 0 && seen.size === 0) yield* say(`Run ${run.id} has no log yet; waiting for it.`)
    yield* Effect.sleep(interval)
  }
})

/** How many times in a row the platform may be unreachable. */
const missedPolls = 30

const printAdded = (before: Log, now: Log): Effect.Effect<void> => {
  const { gap, lines } = added(before, now)
  const notes = [
    ...(before.attemptId === now.attemptId ? [] : ["another process has taken over this worker"]),
    ...(gap ? ["earlier lines are left out"] : [])
  ]
  return Effect.zipRight(
    Effect.forEach(notes, (note) => say(`${now.prefix}(${note})`), { discard: true }),
    printLines(now, lines)
  )
}

/** The length of the longest end of `before` that `now` begins with, in linear time (Knuth, Morris and Pratt). */
const overlap = (before: ReadonlyArray<string>, now: ReadonlyArray<string>): number => {
  const shorter = [0]
  const extend = (matched: number, line: string | undefined): number => {
    let length = matched
    while (length > 0 && (length === now.length || now[length] !== line)) length = shorter[length - 1] ?? 0
    return now[length] === line ? length + 1 : length
  }
  for (let i = 1; i < now.length; i++) shorter.push(extend(shorter[i - 1] ?? 0, now[i]))
  return before.reduce((matched, line) => extend(matched, line), 0)
}
