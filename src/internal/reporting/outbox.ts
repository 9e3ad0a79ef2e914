/** The records of one worker on their way from the task that made them to the platform. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { PlatformError } from "../../Platform.js"
import type { TaskRecord } from "../../Record.js"
import type { Journal, SpoolError } from "../../Spool.js"
import { sendSealed } from "./delivery.js"
import type { RequestSettings } from "./requests.js"
import { isSuperseded, isTransient, retryAfter } from "./requests.js"
import type { Telemetry } from "./telemetry.js"

export interface OutboxSettings extends RequestSettings {
  readonly batchSize: number
  readonly bufferSize: number
  readonly flushInterval: Duration.Duration
  /** Whether journals are on disk, so that memory need not hold what cannot be sent. */
  readonly persistent: boolean
}

/** JSON of one batch, in bytes; platforms take several times as much. */
const maxBatchBytes = 8 * 1024 * 1024

export class Outbox {
  done = 0
  errors = 0
  /** Why nothing more is sent: trying again cannot help. */
  broken: PlatformError | SpoolError | undefined = undefined
  private acknowledged = 0
  /** Records that were let go of, because there is nothing but memory to keep them in. */
  private lost = 0
  /** Why sending was given up the last time. */
  private failure: PlatformError | SpoolError | undefined = undefined
  /** Whether sending has been given up for now. */
  private stalled = false
  private readonly wake = Effect.unsafeMakeLatch(false)
  private readonly space = Effect.unsafeMakeLatch(true)
  private readonly sending = Effect.unsafeMakeSemaphore(1)

  constructor(
    private readonly settings: OutboxSettings,
    readonly journal: Journal,
    private readonly telemetry: Telemetry
  ) {}

  /** Records that the platform has not acknowledged. */
  get undelivered(): number {
    return this.done - this.acknowledged
  }

  /** Those of them that are still to be sent. */
  private get waiting(): number {
    return this.undelivered - this.lost
  }

  get superseded(): boolean {
    return this.broken !== undefined && this.broken._tag !== "SpoolError" && isSuperseded(this.broken)
  }

  /** Takes a record; once called it is kept, even if the caller is interrupted while it waits for space. */
  readonly record = (record: TaskRecord): Effect.Effect<void> =>
    Effect.suspend(() => {
      this.done++
      if (record.status !== "success") this.errors++
      const { journal, settings } = this
      if (!settings.persistent && this.stalled && this.waiting > settings.bufferSize) {
        this.lost++
        return Effect.void
      }
      journal.append(record)
      const pressing = this.waiting >= settings.bufferSize && !this.stalled
      if (pressing) this.space.unsafeClose()
      const wait = pressing ? Effect.interruptible(this.space.await) : Effect.void
      return journal.openRecords >= settings.batchSize || journal.openBytes >= maxBatchBytes
        ? Effect.zipRight(this.seal, wait)
        : wait
    })

  /**
   * Sends batches as they fill up, and a partial one when it has waited long enough. When a platform cannot be reached for
   * long the records stay in the journal and sending is tried again later; it ends at a failure that this cannot help.
   */
  readonly flushForever: Effect.Effect<void> = Effect.suspend(() => {
    const full = this.wake.await
    const waitedLong = Effect.zipRight(
      Effect.sleep(this.settings.flushInterval),
      Effect.suspend(() => this.seal)
    )
    return Effect.raceFirst(full, waitedLong).pipe(
      Effect.zipRight(this.flush(false)),
      Effect.catchAll((error) =>
        Effect.zipRight(
          this.gaveUp(error),
          this.broken === undefined ? Effect.sleep(this.patience(error)) : Effect.void
        )
      ),
      Effect.repeat({ while: () => this.broken === undefined }),
      Effect.asVoid
    )
  })

  /** Sends what there is so far. */
  readonly flushNow: Effect.Effect<void, PlatformError | SpoolError> = Effect.suspend(() =>
    this.broken === undefined
      ? Effect.zipRight(this.seal, this.flush(false)).pipe(Effect.tapError((error) => this.gaveUp(error)))
      : Effect.fail(this.broken)
  )

  /** Sends what is left, the last batch marked as such. */
  readonly finish: Effect.Effect<void, PlatformError | SpoolError> = Effect.suspend(() =>
    this.broken === undefined
      ? Effect.zipRight(this.seal, this.flush(true)).pipe(
          Effect.tapError((error) => this.gaveUp(error)),
          Effect.zipRight(
            Effect.suspend(() => (this.lost > 0 && this.failure ? Effect.fail(this.failure) : Effect.void))
          )
        )
      : Effect.fail(this.broken)
  )

  private readonly seal: Effect.Effect<void> = Effect.suspend(() =>
    this.journal.openRecords === 0
      ? Effect.void
      : this.telemetry
          .attempt("spool", this.journal.seal)
          .pipe(
            Effect.zipRight(Effect.suspend(() => (this.stalled ? this.letGo : Effect.void))),
            Effect.ensuring(this.wake.open)
          )
  )

  /** What is on disk need not be in memory for as long as it cannot be sent. */
  private readonly letGo: Effect.Effect<void> = Effect.suspend(() =>
    this.settings.persistent ? this.journal.evict : Effect.void
  )

  /** How long to leave the platform alone after it could not be reached. */
  private patience(error: PlatformError | SpoolError): Duration.Duration {
    return error._tag === "SpoolError"
      ? this.settings.flushInterval
      : Duration.max(this.settings.flushInterval, retryAfter(error))
  }

  private flush(thenFinal: boolean): Effect.Effect<void, PlatformError | SpoolError> {
    return sendSealed(this.settings, this.journal, {
      thenFinal,
      onAcknowledged: (records) => {
        this.acknowledged += records
        this.stalled = false
        if (this.waiting < this.settings.bufferSize) this.space.unsafeOpen()
      }
    }).pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          if (this.journal.batches.length === 0) this.wake.unsafeClose()
        })
      ),
      this.sending.withPermits(1)
    )
  }

  private gaveUp(error: PlatformError | SpoolError): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (error._tag === "SpoolError" || !isTransient(error)) this.broken = error
      this.failure = error
      this.stalled = true
      this.space.unsafeOpen()
      return this.letGo
    })
  }
}
