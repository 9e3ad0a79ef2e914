/**
 * Delivering what an earlier process recorded and could not deliver itself.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import { refOf, sendSealed } from "./internal/reporting/delivery.js"
import type { RequestSettings } from "./internal/reporting/requests.js"
import { insistent } from "./internal/reporting/requests.js"
import type { PlatformError } from "./Platform.js"
import { Platform } from "./Platform.js"
import { defaultFlushSchedule } from "./Reporter.js"
import type { Journal, SpoolEntry, SpoolError, Verdict } from "./Spool.js"
import { Spool } from "./Spool.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface PushOptions {
  /** Take the journal also from a process of another machine, which cannot be asked whether it is still running. */
  readonly force?: boolean | undefined
  /** After each batch: records delivered so far, of all that were waiting. */
  readonly onProgress?: ((delivered: number, total: number) => void) | undefined
  /** When to try a request again after a transient failure. Default that of the reporter: for two minutes. */
  readonly flushSchedule?: Schedule.Schedule<unknown, PlatformError> | undefined
  /** How long the platform may take to answer. Default 1 minute. */
  readonly requestTimeout?: Duration.DurationInput | undefined
}

/**
 * What became of a journal: delivered, with how many records and how its worker was closed (`"asIs"` when the platform
 * had closed it before); or left alone because a process that is still running holds it.
 *
 * @since 0.1.0
 * @category models
 */
export type Pushed =
  | { readonly _tag: "Delivered"; readonly records: number; readonly worker: "completed" | "failed" | "asIs" }
  | { readonly _tag: "Held" }

/**
 * Sends the records of a journal under the sequence numbers that they always had, so that what the platform has already is
 * not stored twice, then closes the worker as its process meant to (as failed when that had ended without saying) and
 * removes the journal. When it fails, or is interrupted, everything that was not acknowledged is still in the journal.
 *
 * @since 0.1.0
 * @category running
 */
export const push = (
  entry: SpoolEntry,
  options: PushOptions = {}
): Effect.Effect<Pushed, PlatformError | SpoolError, Platform | Spool> =>
  Effect.scoped(
    Effect.gen(function* () {
      const spool = yield* Spool
      const settings: RequestSettings = {
        platform: yield* Platform,
        requestTimeout: Duration.decode(options.requestTimeout ?? "1 minute"),
        flushSchedule: options.flushSchedule ?? defaultFlushSchedule
      }
      const journal = yield* spool.take(entry, { force: options.force })
      if (journal === undefined) return { _tag: "Held" }
      yield* journal.seal
      const total = journal.batches.reduce((sum, { recordCount }) => sum + recordCount, 0)
      let records = 0
      yield* sendSealed(settings, journal, {
        thenFinal: total > 0,
        onAcknowledged: (count) => {
          records += count
          options.onProgress?.(records, total)
        }
      })
      const worker = yield* close(settings, journal)
      yield* journal.remove
      return { _tag: "Delivered", records, worker }
    })
  )

/**
 * Removes a journal with everything in it, such as one whose worker has been given to another process meanwhile: the
 * platform takes nothing of it any more. False when a process that is still running holds it.
 *
 * @since 0.1.0
 * @category running
 */
export const discard = (
  entry: SpoolEntry,
  options: Pick<PushOptions, "force"> = {}
): Effect.Effect<boolean, SpoolError, Spool> =>
  Effect.scoped(
    Effect.gen(function* () {
      const journal = yield* (yield* Spool).take(entry, { force: options.force })
      if (journal === undefined) return false
      yield* journal.remove
      return true
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unsaid: Verdict = {
  how: "fail",
  errorCode: "interrupted",
  errorMessage: "The process ended before its run did"
}

const close = (
  settings: RequestSettings,
  journal: Journal
): Effect.Effect<"completed" | "failed" | "asIs", PlatformError> => {
  const { how, ...reason } = journal.verdict ?? unsaid
  const operation = how === "complete" ? "completeWorker" : "failWorker"
  const request = settings.platform[operation](refOf(journal), { attemptId: journal.attempt.attemptId, ...reason })
  return insistent(settings, operation, request).pipe(
    Effect.as(how === "complete" ? ("completed" as const) : ("failed" as const)),
    Effect.catchIf(
      (error) => error._tag === "ResourceConflict" && error.reason === "WorkerClosed",
      () => Effect.succeed("asIs" as const)
    )
  )
}
