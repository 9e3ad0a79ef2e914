/** Why there are no credentials. */
import * as Data from "effect/Data"

/**
 * Credentials or settings cannot be read, kept or used. `subject` is the file, flag or variable that it is about; `detail`
 * says what is wrong and what to do, and never holds a secret.
 *
 * @since 0.1.0
 * @category errors
 */
export class CredentialsError extends Data.TaggedError("CredentialsError")<{
  readonly reason: "InvalidBaseUrl" | "InvalidKey" | "UnreadableFile" | "UnwritableFile" | "NoHome" | "Busy"
  readonly subject: string
  readonly detail: string
}> {
  override get message(): string {
    return `${this.subject}: ${this.detail}`
  }
}

/**
 * Signing in on another device did not end in a login: it was denied there, not confirmed before the code expired, the
 * platform refuses this program, or it cannot be reached.
 *
 * @since 0.1.0
 * @category errors
 */
export class DeviceLoginFailed extends Data.TaggedError("DeviceLoginFailed")<{
  readonly reason: "Denied" | "Expired" | "Refused" | "Unavailable"
  readonly baseUrl: string
  readonly detail: string
}> {
  override get message(): string {
    switch (this.reason) {
      case "Denied":
        return `Signing in to ${this.baseUrl} was denied. To try again: bench auth login`
      case "Expired":
        return `The code for signing in to ${this.baseUrl} expired before it was confirmed. For a new one: bench auth login`
      case "Refused":
        return `${this.baseUrl} does not let this program sign in: ${this.detail}. Use an API key instead: bench auth login --api-key KEY`
      case "Unavailable":
        return `${this.baseUrl} cannot be signed in to: ${this.detail}. Check the base URL and the network.`
    }
  }
}
