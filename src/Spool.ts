/**
 * What has been recorded and not been acknowledged yet, kept so that it outlives the process.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { PlatformOrigin } from "./Platform.js"
import type { TaskRecord } from "./Record.js"

/**
 * One attempt at a worker, and the platform it belongs to: what it takes to deliver its records later.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SpooledAttempt = Schema.Struct({
  version: Schema.Literal(1),
  origin: PlatformOrigin,
  benchmark: Schema.String,
  run: Schema.String,
  participant: Schema.String,
  worker: Schema.String,
  attemptId: Schema.String,
  attemptNumber: Schema.Int,
  /** ISO-8601 UTC. */
  startedAt: Schema.String
}).annotations({ identifier: "SpooledAttempt" })

/**
 * @since 0.1.0
 * @category models
 */
export interface SpooledAttempt extends Schema.Schema.Type<typeof SpooledAttempt> {}

/**
 * How the worker is to be closed when its records are delivered.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Verdict = Schema.Struct({
  how: Schema.Literal("complete", "fail"),
  errorCode: Schema.optional(Schema.String),
  errorMessage: Schema.optional(Schema.String)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface Verdict extends Schema.Schema.Type<typeof Verdict> {}

/**
 * The spool cannot be read or written. Records stay in memory for as long as the process lives.
 *
 * @since 0.1.0
 * @category errors
 */
export class SpoolError extends Data.TaggedError("SpoolError")<{
  /** File or directory. */
  readonly path: string
  readonly detail: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `${this.path}: ${this.detail}`
  }
}

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
 * @since 0.1.0
 * @category models
 */
export interface Journal {
  readonly attempt: SpooledAttempt
  /** Takes a record into the open batch. It survives the death of the process from the end of this turn of the event loop. */
  readonly append: (record: TaskRecord) => void
  /** Records in the open batch, and the bytes of their JSON. */
  readonly openRecords: number
  readonly openBytes: number
  /** Makes the open batch, unless it is empty, the last of {@link batches}. */
  readonly seal: Effect.Effect<void, SpoolError>
  /** Sealed and not acknowledged, in the order of their sequence numbers. */
  readonly batches: ReadonlyArray<SpooledBatch>
  /** The number that the open batch has. */
  readonly nextSequenceNumber: number
  readonly read: (batch: SpooledBatch) => Effect.Effect<ReadonlyArray<TaskRecord>, SpoolError>
  /** Forgets a batch that the platform has. */
  readonly acknowledge: (batch: SpooledBatch) => Effect.Effect<void, SpoolError>
  /**
   * Makes two batches of one that the platform refused for its size; those after it move up by a number. Only for the
   * first batch, as nothing after it has been sent. False when it has but one record.
   */
  readonly split: (batch: SpooledBatch) => Effect.Effect<boolean, SpoolError>
  /** Keeps how the worker is to be closed; undefined while that is not known. */
  readonly verdict: Verdict | undefined
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
  readonly recordCount: number
  readonly bytes: number
  readonly verdict: Verdict | undefined
  /** Who holds it: nobody (its process has ended), a process of this machine, or one of another that cannot be looked at. */
  readonly holder: "nobody" | "process" | "otherMachine"
  /** The machine and process id of the holder. */
  readonly heldBy: { readonly host: string; readonly pid: number }
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
    /** Starts the journal of an attempt, held by this process for as long as the scope lives. */
    readonly open: (attempt: Omit<SpooledAttempt, "version">) => Effect.Effect<Journal, SpoolError, Scope.Scope>
    /** Every journal, oldest first. What is not one, or of a version to come, fails naming the file. */
    readonly list: Effect.Effect<ReadonlyArray<SpoolEntry>, SpoolError>
    /**
     * Takes over a journal whose holder has ended, for as long as the scope lives; undefined when somebody else holds it
     * by now. With `force` also from another machine.
     */
    readonly take: (
      entry: SpoolEntry,
      options?: { readonly force?: boolean | undefined }
    ) => Effect.Effect<Journal | undefined, SpoolError, Scope.Scope>
  }
>() {}
