/**
 * What a run tells those who watch it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type { Skipped } from "./Participant.js"
import type { TaskRecord } from "./Record.js"

/**
 * Events in the order in which they happen. Counts in an event are totals so far, so one that a slow watcher misses
 * does no harm.
 *
 * @since 0.1.0
 * @category models
 */
export type RunEvent = Data.TaggedEnum<{
  readonly RunStarted: {
    readonly runId: string | undefined
    readonly benchmarkSlug: string
    readonly benchmarkName: string
    readonly participants: ReadonlyArray<string>
    readonly skipped: ReadonlyArray<Skipped>
    readonly tasksPerParticipant: number
  }
  readonly ParticipantStarted: { readonly participant: string; readonly total: number }
  readonly TaskStarted: { readonly participant: string; readonly taskIndex: number }
  readonly TaskCompleted: {
    readonly participant: string
    readonly record: TaskRecord
    readonly done: number
    readonly errors: number
    readonly total: number
  }
  readonly ParticipantCompleted: {
    readonly participant: string
    readonly done: number
    readonly errors: number
    readonly total: number
  }
  /** Advice about how the benchmark is written, or about a result; not a failure. */
  readonly Warning: { readonly message: string }
  readonly RunCompleted: { readonly runId: string | undefined }
}>

/**
 * Constructors of {@link RunEvent}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const {
  ParticipantCompleted,
  ParticipantStarted,
  RunCompleted,
  RunStarted,
  TaskCompleted,
  TaskStarted,
  Warning,
  $is,
  $match
} = Data.taggedEnum<RunEvent>()

/**
 * Takes events while a run is going, outside the measured time but on its thread: it has to be quick.
 *
 * @since 0.1.0
 * @category models
 */
export type Listener = (event: RunEvent) => void

/**
 * Who listens to runs in this context. Default: nobody, which costs nothing.
 *
 * @since 0.1.0
 * @category services
 */
export class RunListener extends Context.Reference<RunListener>()("effect-bench/RunListener", {
  defaultValue: (): Listener | undefined => undefined
}) {}
