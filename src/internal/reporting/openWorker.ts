/** A claimed worker, from its claim to its close. */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import type * as Scope from "effect/Scope"
import type {
  Assignment,
  ClaimInput,
  HeartbeatInput,
  ParticipantRef,
  PlatformError,
  WorkerRef
} from "../../Platform.js"
import type { TelemetryFailure, Undelivered, WorkerReporter, WorkerSource } from "../../Reporter.js"
import type { RunMetadata } from "../../RunMetadata.js"
import type { Spool, SpoolError, Verdict } from "../../Spool.js"
import { fromCause, interrupted } from "../failure.js"
import { Activity } from "./activity.js"
import type { Leavings, LeavingsSettings } from "./leavings.js"
import * as Leaving from "./leavings.js"
import type { OutboxSettings } from "./outbox.js"
import { Outbox } from "./outbox.js"
import { Readiness } from "./readiness.js"
import { answered, insistent, isSuperseded, isTransient, openingRequest } from "./requests.js"
import { Telemetry } from "./telemetry.js"

export interface WorkerSettings extends Omit<OutboxSettings, "persistent">, LeavingsSettings {
  readonly spool: Spool["Type"]
  /** Takes the place of the spool when that cannot be used. */
  readonly memory: Spool["Type"]
  readonly heartbeatInterval: Duration.Duration
  readonly claim: ClaimInput
  readonly metadata: Effect.Effect<RunMetadata>
  readonly onTelemetryError: ((failure: TelemetryFailure) => Effect.Effect<void>) | undefined
}

/** What the workers of a run leave behind for it. */
export interface Ledger {
  readonly undelivered: Array<Undelivered>
  /** Participants whose worker has been completed. */
  readonly completed: Set<string>
}

/** Heartbeats that steps cause are no closer together than this. */
const heartbeatSpacing = Duration.seconds(1)

/** Plans the participant's workers, unless they are, and claims the next one for the life of the scope. */
export const openWorker = Effect.fnUntraced(function* (
  settings: WorkerSettings,
  participant: ParticipantRef,
  source: WorkerSource,
  planWorkers: number | undefined,
  ledger: Ledger
) {
  const { platform } = settings
  if (planWorkers !== undefined) {
    yield* openingRequest(
      settings,
      "planWorkers",
      platform.planWorkers(participant, { workerCount: planWorkers }),
      true
    ).pipe(Effect.catchIf(isAlreadyPlanned, () => Effect.succeed([])))
  }
  // Whoever ends the run does not wait for the answer; a worker that is claimed by it is free again after its lease.
  const claim = Effect.interruptible(
    openingRequest(settings, "claimWorker", platform.claimWorker(participant, settings.claim), false)
  )
  const worker = yield* Effect.acquireRelease(
    Effect.flatMap(claim, (assignment) =>
      assignment === null
        ? Effect.succeed(undefined)
        : makeWorker(settings, { ...participant, worker: assignment.workerId }, assignment, source, ledger)
    ),
    (worker, exit) => (worker === undefined ? Effect.void : worker.close(exit))
  )
  if (worker === undefined) return undefined
  yield* Effect.forEach(worker.background, (effect) => Effect.forkScoped(Effect.interruptible(effect)), {
    discard: true
  })
  return worker.reporter
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface OpenedWorker {
  readonly reporter: WorkerReporter
  /** What goes on beside the tasks for as long as the worker is open. */
  readonly background: ReadonlyArray<Effect.Effect<void>>
  readonly close: (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void>
}

const isAlreadyPlanned = (error: PlatformError): boolean =>
  error._tag === "ResourceConflict" && error.reason === "AlreadyPlanned"

const makeWorker: (
  settings: WorkerSettings,
  ref: WorkerRef,
  assignment: Assignment,
  source: WorkerSource,
  ledger: Ledger
) => Effect.Effect<OpenedWorker, never, Scope.Scope> = Effect.fnUntraced(function* (
  settings: WorkerSettings,
  ref: WorkerRef,
  assignment: Assignment,
  source: WorkerSource,
  ledger: Ledger
) {
  const scope = yield* Effect.scope
  const telemetry = new Telemetry(ref.participant, settings.onTelemetryError)
  const { journal, location } = yield* openJournal(settings, ref, assignment, telemetry)
  const outbox = new Outbox({ ...settings, persistent: location !== undefined }, journal, telemetry)
  const concurrency = source.concurrency(assignment.targetConcurrency ?? undefined)
  const activity = new Activity(Math.min(concurrency, assignment.taskRange.count))
  let superseded = false
  const onSuperseded = () => {
    superseded = true
  }
  const beat = heartbeat(settings, ref, telemetry, onSuperseded, () => ({
    attemptId: assignment.attemptId,
    progressDone: outbox.done,
    progressInFlight: activity.inFlight,
    progressErrors: outbox.errors,
    progressTotal: assignment.taskRange.count,
    ...sampled(activity)
  }))
  const leavings = yield* Leaving.make(settings, ref, assignment.attemptId, source.log, telemetry)
  const readiness = new Readiness(settings, ref, scope, beat, telemetry)
  return {
    reporter: {
      start: assignment.taskRange.start,
      count: assignment.taskRange.count,
      concurrency,
      workerIndex: assignment.workerIndex,
      attemptNumber: assignment.attemptNumber,
      record: outbox.record,
      isCurrent: () => !superseded && !outbox.superseded,
      activity,
      awaitReady: readiness.await,
      uploadArtifact: leavings.upload,
      flush: outbox.flushNow,
      heartbeat: beat,
      assignment
    },
    background: [outbox.flushForever, beatForever(settings, activity, beat), ...leavings.background],
    close: (exit) => close({ settings, ref, assignment, outbox, leavings, telemetry, source, location, ledger }, exit)
  }
})

/** When the spool cannot be used the records are kept in memory: a full disk does not stop a run. */
const openJournal = Effect.fnUntraced(function* (
  { memory, platform, spool }: WorkerSettings,
  ref: WorkerRef,
  { attemptId, attemptNumber }: Assignment,
  telemetry: Telemetry
) {
  const startedAt = DateTime.formatIso(yield* DateTime.now)
  const attempt = { origin: platform.origin, ...ref, attemptId, attemptNumber, startedAt }
  return yield* spool.open(attempt).pipe(
    Effect.map((journal) => ({ journal, location: spool.location })),
    Effect.catchAll((error) =>
      Effect.zipRight(
        telemetry.failed("spool", error),
        Effect.map(Effect.orDie(memory.open(attempt)), (journal) => ({ journal, location: undefined }))
      )
    )
  )
})

const sampled = (activity: Activity): Pick<HeartbeatInput, "currentStep" | "concurrency"> => {
  const concurrency = activity.samples()
  const [busiest] = concurrency
  return busiest === undefined ? { concurrency } : { currentStep: busiest.step, concurrency }
}

/** One at a time, whoever asks for it. */
const heartbeat = (
  settings: WorkerSettings,
  ref: WorkerRef,
  telemetry: Telemetry,
  onSuperseded: () => void,
  input: () => HeartbeatInput
): Effect.Effect<void> =>
  telemetry
    .attempt(
      "heartbeat",
      Effect.suspend(() => answered(settings, "heartbeat", settings.platform.heartbeat(ref, input()))).pipe(
        Effect.tapError((error) => Effect.sync(() => isSuperseded(error) && onSuperseded()))
      )
    )
    .pipe(Effect.unsafeMakeSemaphore(1).withPermits(1))

const beatForever = (settings: WorkerSettings, activity: Activity, beat: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.raceFirst(
    Effect.sleep(settings.heartbeatInterval),
    Effect.zipRight(Effect.sleep(heartbeatSpacing), activity.changes)
  ).pipe(Effect.zipRight(beat), Effect.forever)

interface Closing {
  readonly settings: WorkerSettings
  readonly ref: WorkerRef
  readonly assignment: Assignment
  readonly outbox: Outbox
  readonly leavings: Leavings
  readonly telemetry: Telemetry
  readonly source: WorkerSource
  readonly location: string | undefined
  readonly ledger: Ledger
}

/** Delivers what is left, then closes the worker as the exit says. What cannot be delivered is noted and kept. */
const close = (closing: Closing, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
  const { leavings, outbox, source, telemetry } = closing
  const { journal } = outbox
  const removeJournal = telemetry.attempt("spool", journal.remove)
  const redact = source.redact ?? identity
  const verdict = verdictOf(outbox, exit, redact, source.stoppedBy?.())
  if (verdict === undefined) {
    return Effect.zipRight(end(closing, "releaseWorker", {}), removeJournal)
  }
  return Effect.gen(function* () {
    yield* telemetry.attempt("spool", journal.setVerdict(verdict))
    const delivered = yield* Effect.either(outbox.finish)
    if (!outbox.superseded) yield* leavings.finish
    const finished = yield* Effect.exit(source.onFinish ?? Effect.void)
    if (delivered._tag === "Right") {
      const { how, ...reason } = verdict
      const ended = yield* end(closing, how === "complete" ? "completeWorker" : "failWorker", reason)
      if (ended && how === "complete") closing.ledger.completed.add(closing.ref.participant)
      if (ended) yield* removeJournal
    } else {
      const { left: error } = delivered
      closing.ledger.undelivered.push(...left(closing, error))
      if (!outbox.superseded) {
        yield* end(closing, "failWorker", {
          errorCode: "flush_failed",
          errorMessage: `Failed to flush task results: ${redact(error.message)}`
        })
      }
    }
    return yield* finished
  })
}

/** What was not delivered: the records that are in the spool, and apart from them those that the disk has not taken. */
const left = (
  { location, outbox, ref: { participant } }: Closing,
  error: PlatformError | SpoolError
): ReadonlyArray<Undelivered> => {
  const { undelivered } = outbox
  const unsaved = location === undefined ? undelivered : Math.min(undelivered, outbox.journal.unsaved)
  const saved = { participant, records: undelivered - unsaved, spool: location, error }
  const lost = { participant, records: unsaved, spool: undefined, error }
  return unsaved === 0 ? [saved] : unsaved === undelivered ? [lost] : [saved, lost]
}

/** How the worker ends; undefined when it is given back because nothing was done. */
const verdictOf = (
  outbox: Outbox,
  exit: Exit.Exit<unknown, unknown>,
  redact: (text: string) => string,
  stoppedBy: string | undefined
): Verdict | undefined => {
  if (Exit.isFailure(exit)) {
    if (!Cause.isInterrupted(exit.cause)) {
      const { code, message } = fromCause(exit.cause)
      return { how: "fail", errorCode: code, errorMessage: redact(message) }
    }
    return outbox.done === 0
      ? undefined
      : { how: "fail", errorCode: interrupted, errorMessage: "The run was interrupted" }
  }
  if (stoppedBy !== undefined) {
    return { how: "fail", errorCode: "threshold_violated", errorMessage: redact(stoppedBy) }
  }
  return outbox.done > 0 && outbox.errors === outbox.done
    ? { how: "fail", errorCode: "no_task_succeeded", errorMessage: "No task succeeded" }
    : { how: "complete" }
}

/** Whether the worker is closed, or never will be. */
const end = (
  { assignment, ref, settings, telemetry }: Closing,
  how: "completeWorker" | "failWorker" | "releaseWorker",
  reason: Omit<Verdict, "how">
): Effect.Effect<boolean> => {
  const request = settings.platform[how](ref, { attemptId: assignment.attemptId, ...reason })
  return insistent(settings, how, request).pipe(
    Effect.as(true),
    Effect.catchAll((error) =>
      Effect.as(telemetry.failed("close", error), !isTransient(error) && error._tag !== "Unauthorized")
    )
  )
}
