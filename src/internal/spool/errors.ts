/** How a spool refuses. */
import * as Data from "effect/Data"
import { messageOf } from "../json.js"

/**
 * The spool cannot be read or written. What a journal could not write stays in its memory for as long as it is open.
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

/** Says of anything thrown what was being done, as `cannot <doing>: <why>`. */
export const refusal =
  (path: string, doing: string) =>
  (cause: unknown): SpoolError =>
    cause instanceof SpoolError
      ? cause
      : new SpoolError({ path, detail: `cannot ${doing}: ${messageOf(cause)}`, cause })

export const alreadyThere = "there is a journal of this attempt already; deliver what it holds with `bench push`"
