/** How a platform refuses. */
import * as Schema from "effect/Schema"

/**
 * What a platform answered over HTTP: the status, and the beginning of the body (at most 2000 characters).
 *
 * @since 0.1.0
 * @category schemas
 */
export const HttpAnswer = Schema.Struct({ status: Schema.Int, body: Schema.String })

/**
 * @since 0.1.0
 * @category models
 */
export interface HttpAnswer extends Schema.Schema.Type<typeof HttpAnswer> {}

const response = Schema.optional(HttpAnswer)

/**
 * No such benchmark, run, participant, worker, summary or artifact.
 *
 * @since 0.1.0
 * @category errors
 */
export class ResourceNotFound extends Schema.TaggedError<ResourceNotFound>("effect-bench/ResourceNotFound")(
  "ResourceNotFound",
  {
    resource: Schema.Literal("benchmark", "run", "participant", "worker", "summary", "artifact"),
    id: Schema.String,
    response
  }
) {
  override get message(): string {
    return `No ${this.resource} "${this.id}".`
  }
}

/**
 * The resource is not in the state that the operation needs: its workers are already planned, the attempt is no longer
 * the worker's current one, or the worker is closed. Nothing was changed.
 *
 * @since 0.1.0
 * @category errors
 */
export class ResourceConflict extends Schema.TaggedError<ResourceConflict>("effect-bench/ResourceConflict")(
  "ResourceConflict",
  { reason: Schema.Literal("AlreadyPlanned", "StaleAttempt", "WorkerClosed"), detail: Schema.String, response }
) {
  override get message(): string {
    return this.detail
  }
}

/**
 * The request was understood and refused: each issue names a field and what it must be. Nothing was changed.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>("effect-bench/InvalidRequest")(
  "InvalidRequest",
  { issues: Schema.Array(Schema.Struct({ field: Schema.String, message: Schema.String })), response }
) {
  override get message(): string {
    return this.issues.map((issue) => `${issue.field} ${issue.message}`).join("; ")
  }
}

/**
 * The platform does not accept the credentials (`"Unauthenticated"`: none, unknown, expired or revoked), or they do not
 * allow this (`"Forbidden"`: another organization's).
 *
 * @since 0.1.0
 * @category errors
 */
export class Unauthorized extends Schema.TaggedError<Unauthorized>("effect-bench/Unauthorized")("Unauthorized", {
  reason: Schema.Literal("Unauthenticated", "Forbidden"),
  detail: Schema.String,
  response
}) {
  override get message(): string {
    return this.reason === "Forbidden"
      ? `Not allowed: ${this.detail}.`
      : `Not signed in: ${this.detail}. Sign in with \`bench auth login\`, or pass a key in BENCHMARKS_PLATFORM_API_KEY or --api-key.`
  }
}

/**
 * A request is larger than the platform takes. Nothing was changed.
 *
 * @since 0.1.0
 * @category errors
 */
export class RequestTooLarge extends Schema.TaggedError<RequestTooLarge>("effect-bench/RequestTooLarge")(
  "RequestTooLarge",
  { operation: Schema.String, response }
) {
  override get message(): string {
    return `${this.operation}: the request is larger than the platform takes`
  }
}

/**
 * The platform could not carry out the operation. `retryable` tells whether trying the same again can help (a busy
 * database, an unreachable server), not before `retryAfterMillis` if the platform says so; a corrupt file or a full disk
 * is not.
 *
 * @since 0.1.0
 * @category errors
 */
export class PlatformFailure extends Schema.TaggedError<PlatformFailure>("effect-bench/PlatformFailure")(
  "PlatformFailure",
  {
    operation: Schema.String,
    detail: Schema.String,
    retryable: Schema.Boolean,
    retryAfterMillis: Schema.optional(Schema.Number),
    response,
    cause: Schema.optional(Schema.Defect)
  }
) {
  override get message(): string {
    return `${this.operation}: ${this.detail}`
  }
}

/**
 * @since 0.1.0
 * @category errors
 */
export type PlatformError =
  ResourceNotFound | ResourceConflict | InvalidRequest | Unauthorized | RequestTooLarge | PlatformFailure
