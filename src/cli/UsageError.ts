import * as Data from "effect/Data"

/**
 * The command line cannot be followed as it stands. `detail` says which argument is wrong and what it must be, and is the
 * whole message; the command exits with 1 and has done nothing.
 *
 * @since 0.1.0
 * @category errors
 */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}
