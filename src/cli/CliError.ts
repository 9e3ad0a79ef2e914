import * as Data from "effect/Data"

/**
 * Something outside the program keeps a command from doing what it was asked to. `detail` says what, and what to do
 * about it; it is the whole message, and the command exits with 1.
 *
 * @since 0.1.0
 * @category errors
 */
export class CliError extends Data.TaggedError("CliError")<{ readonly detail: string; readonly cause?: unknown }> {
  override get message(): string {
    return this.detail
  }
}
