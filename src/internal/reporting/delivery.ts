/** Sending what a journal holds. */
import * as Effect from "effect/Effect"
import type { PlatformError, WorkerRef } from "../../Platform.js"
import type { Journal, SpooledBatch, SpoolError } from "../../Spool.js"
import type { RequestSettings } from "./requests.js"
import { insistent } from "./requests.js"

/** The worker that a journal's records are of. */
export const refOf = ({ attempt }: Journal): WorkerRef => ({
  benchmark: attempt.benchmark,
  run: attempt.run,
  participant: attempt.participant,
  worker: attempt.worker
})

/**
 * Sends the sealed batches in the order of their numbers. One leaves the journal only when the platform has acknowledged
 * it; until then its number stays with exactly these records, even when sending is interrupted: the platform may hold
 * them, and takes whatever comes under the same number for a repetition. Too large a batch is sent in halves.
 *
 * With `thenFinal` the last one is marked as final; when nothing is left to send, an empty one says so.
 */
export const sendSealed = (
  settings: RequestSettings,
  journal: Journal,
  options: { readonly thenFinal: boolean; readonly onAcknowledged?: (records: number) => void }
): Effect.Effect<void, PlatformError | SpoolError> =>
  Effect.suspend(() => {
    let finalSent = false
    const next = (): Effect.Effect<void, PlatformError | SpoolError> => {
      const batch = journal.batches[0]
      if (batch === undefined) {
        finalSent = true
        return options.thenFinal
          ? send(settings, journal, { sequenceNumber: journal.nextSequenceNumber, recordCount: 0 }, true)
          : Effect.void
      }
      const isFinal = options.thenFinal && journal.batches.length === 1
      return send(settings, journal, batch, isFinal).pipe(
        Effect.zipRight(
          Effect.uninterruptible(
            Effect.map(journal.acknowledge(batch), () => {
              finalSent = isFinal
              options.onAcknowledged?.(batch.recordCount)
            })
          )
        ),
        Effect.catchIf(
          (error) => error._tag === "RequestTooLarge",
          (error) => Effect.flatMap(journal.split(batch), (halved) => (halved ? Effect.void : Effect.fail(error)))
        )
      )
    }
    return Effect.whileLoop({
      while: () => journal.batches.length > 0 || (options.thenFinal && !finalSent),
      body: next,
      step: () => {}
    })
  })

const send = (
  settings: RequestSettings,
  journal: Journal,
  batch: SpooledBatch,
  isFinal: boolean
): Effect.Effect<void, PlatformError | SpoolError> =>
  Effect.flatMap(batch.recordCount === 0 ? Effect.succeed([]) : journal.read(batch), (records) =>
    insistent(
      settings,
      "sendTaskResults",
      settings.platform.sendTaskResults(refOf(journal), {
        type: "task_results",
        attemptId: journal.attempt.attemptId,
        sequenceNumber: batch.sequenceNumber,
        isFinal,
        records
      })
    )
  )
