/**
 * What has been recorded and not been acknowledged yet, kept so that it outlives the process.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { SpooledAttempt, Verdict } from "./internal/spool/attempt.js"
import * as Directory from "./internal/spool/directory.js"
import type { SpoolError } from "./internal/spool/errors.js"
import * as Memory from "./internal/spool/memory.js"
import type { TaskRecord } from "./Record.js"

export { SpooledAttempt, Verdict } from "./internal/spool/attempt.js"
export { SpoolError } from "./internal/spool/errors.js"

/**
 * Records of one sequence number: from when it is sealed, exactly these records are sent under it, however often.
 *
 * @since 0.1.0
 * @category models
 */
export interface SpooledBatch {
  readonly sequenceNumber: number
  readonly recordCount: number
}

/**
 * The records of one attempt between the task that made them and the platform that acknowledged them. Owned by one
 * process.
 *
 * On disk they survive the end of the process however it comes, a `SIGKILL` included; what the operating system had not
 * written yet does not survive a power failure. When the disk refuses, they are kept in memory: no record is turned away,
 * and what the disk lacks is written as soon as it takes it. {@link Journal.unsaved} tells.
 *
 * @since 0.1.0
 * @category models
 */
export interface Journal {
  readonly attempt: SpooledAttempt
  /**
   * Takes a record into the open batch. It survives the death of the process from the end of this turn of the event loop:
   * before anything is handled that happens later.
   */
  readonly append: (record: TaskRecord) => void
  /** Records in the open batch, and the bytes of their JSON. */
  readonly openRecords: number
  readonly openBytes: number
  /** Makes the open batch, unless it is empty, the last of {@link batches}. */
  readonly seal: Effect.Effect<void>
  /**
   * Sealed and not acknowledged, in the order of their numbers, which follow one another. After a journal was taken of
   * which the disk had refused some batch, that number is missing.
   */
  readonly batches: ReadonlyArray<SpooledBatch>
  /** The number that the open batch has. */
  readonly nextSequenceNumber: number
  /** Records that are in memory and nowhere else. */
  readonly unsaved: number
  /** Fails for records that are on disk only and cannot be read there. */
  readonly read: (batch: SpooledBatch) => Effect.Effect<ReadonlyArray<TaskRecord>, SpoolError>
  /** Forgets a batch that the platform has; one that it does not list is none. */
  readonly acknowledge: (batch: SpooledBatch) => Effect.Effect<void>
  /**
   * Makes two batches of one that the platform refused for its size, half of the records in each; those after it move up by
   * a number. Only for the first batch, as nothing after it has been sent: dies for another. False when it has but one
   * record. When it fails nothing has changed.
   */
  readonly split: (batch: SpooledBatch) => Effect.Effect<boolean, SpoolError>
  /** Keeps how the worker is to be closed; undefined while that is not known. */
  readonly verdict: Verdict | undefined
  /** When it fails, the verdict is known to this journal but does not outlive it. */
  readonly setVerdict: (verdict: Verdict) => Effect.Effect<void, SpoolError>
  /** Lets go of records in memory that are on disk: they are read again when needed. */
  readonly evict: Effect.Effect<void>
  /** Removes the journal: nothing of it is needed any more. */
  readonly remove: Effect.Effect<void, SpoolError>
}

/**
 * A journal as a listing shows it.
 *
 * @since 0.1.0
 * @category models
 */
export interface SpoolEntry {
  readonly attempt: SpooledAttempt
  /** The directory of the journal, or what it goes by in memory. It changes with the holder. */
  readonly location: string
  readonly recordCount: number
  readonly bytes: number
  readonly verdict: Verdict | undefined
  /** Who holds it: nobody (its process has ended), a process of this machine, or one of another that cannot be looked at. */
  readonly holder: "nobody" | "process" | "otherMachine"
  /** The machine and process id of the holder; of the last one, when nobody holds it. */
  readonly heldBy: { readonly host: string; readonly pid: number }
}

/**
 * What is in a spool.
 *
 * @since 0.1.0
 * @category models
 */
export interface SpoolListing {
  /** Oldest attempt first. */
  readonly entries: ReadonlyArray<SpoolEntry>
  /** What is no journal, cannot be read, or was written by a version to come. It is left as it is. */
  readonly damaged: ReadonlyArray<SpoolError>
}

/**
 * @since 0.1.0
 * @category services
 */
export class Spool extends Context.Tag("effect-bench/Spool")<
  Spool,
  {
    /** Where it is, for people; undefined when it does not outlive the process. */
    readonly location: string | undefined
    /**
     * Starts the journal of an attempt, held by this process for as long as the scope lives. Fails when there is one of this
     * attempt already.
     */
    readonly open: (attempt: Omit<SpooledAttempt, "version">) => Effect.Effect<Journal, SpoolError, Scope.Scope>
    /** Every journal, also those that are held. Fails when the spool as a whole cannot be read. */
    readonly list: Effect.Effect<SpoolListing, SpoolError>
    /**
     * Takes over a journal that nobody holds, for as long as the scope lives; undefined when somebody holds it by now, or
     * has removed it. With `force` also from another machine, where its holder may still be at work. Whatever it has is
     * sealed.
     */
    readonly take: (
      entry: SpoolEntry,
      options?: { readonly force?: boolean | undefined }
    ) => Effect.Effect<Journal | undefined, SpoolError, Scope.Scope>
  }
>() {}

/**
 * @since 0.1.0
 * @category models
 */
export interface SpoolDirectoryOptions {
  /** Made, for this user only, when the first journal is opened. */
  readonly directory: string
  /**
   * Told once when a journal cannot write to its files, and again only after it could; and at its end, when records are lost
   * for that reason. Default: logs a warning.
   */
  readonly onError?: ((error: SpoolError) => Effect.Effect<void>) | undefined
}

/**
 * A spool in a directory that any number of processes may share, on one machine or, as long as their host names differ, on
 * several.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerDirectory = (options: SpoolDirectoryOptions): Layer.Layer<Spool> =>
  Layer.scoped(Spool, Directory.make(options))

/**
 * A spool that lasts as long as the layer: what is not acknowledged by then is lost.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<Spool> = Layer.effect(Spool, Memory.make)
