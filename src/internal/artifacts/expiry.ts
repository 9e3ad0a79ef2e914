/** How long the URLs of objects are good for. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { PlatformFailure } from "../../Platform.js"

export interface ExpiryOptions {
  readonly uploadExpiry?: Duration.DurationInput | undefined
  readonly downloadExpiry?: Duration.DurationInput | undefined
}

/** In whole seconds: 15 minutes for uploads and 5 for downloads, unless something else from a second to a week is given. */
export const expirySeconds = (
  operation: string,
  { downloadExpiry = "5 minutes", uploadExpiry = "15 minutes" }: ExpiryOptions
) =>
  Effect.all({
    upload: seconds(operation, "uploadExpiry", uploadExpiry),
    download: seconds(operation, "downloadExpiry", downloadExpiry)
  })

export const formatSeconds = (seconds: number): string => DateTime.formatIso(DateTime.unsafeMake(seconds * 1000))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// More than that no S3-compatible storage signs.
const longestSeconds = 604_800

const seconds = (operation: string, name: string, input: Duration.DurationInput) => {
  const seconds = Math.ceil(Duration.toSeconds(input))
  return seconds >= 1 && seconds <= longestSeconds
    ? Effect.succeed(seconds)
    : new PlatformFailure({
        operation,
        detail: `${name} must be from one second to seven days (got ${Duration.format(Duration.decode(input))})`,
        retryable: false
      })
}
