/** How a platform refuses over HTTP: one body for every status. */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"

const Body = Schema.Struct({
  error: Schema.String,
  code: Schema.optional(Schema.String),
  issues: Schema.optional(Schema.Array(Schema.Struct({ field: Schema.String, message: Schema.String })))
})

/**
 * What every refusal says. `error` is for people, `code` for programs: `benchmark_not_found`, `run_not_found`,
 * `participant_not_found`, `worker_not_found`, `summary_not_found`, `artifact_not_found`, `route_not_found`,
 * `already_planned`, `stale_attempt`, `worker_closed`. `issues` names what is wrong with the request, field by field.
 *
 * @since 0.1.0
 * @category models
 */
export interface RefusalBody extends Schema.Schema.Type<typeof Body> {}

// The tag tells refusals apart in programs; on the way the status does.
const refusalOf = <Tag extends string>(tag: Tag, status: number, description: string) =>
  Schema.attachPropertySignature(Body, "_tag", tag).annotations({
    identifier: tag,
    ...HttpApiSchema.annotations({ status, description })
  })

/**
 * The request is malformed: it is not JSON, or a field has the wrong type.
 *
 * @since 0.1.0
 * @category errors
 */
export const BadRequest = refusalOf("BadRequest", 400, "The request is malformed.")

/**
 * No key, or an unknown, expired or revoked one.
 *
 * @since 0.1.0
 * @category errors
 */
export const Unauthenticated = refusalOf("Unauthenticated", 401, "No key, or an unknown, expired or revoked one.")

/**
 * The key does not allow this.
 *
 * @since 0.1.0
 * @category errors
 */
export const Forbidden = refusalOf("Forbidden", 403, "The key does not allow this.")

/**
 * No such benchmark, run, participant, worker, summary, artifact or route.
 *
 * @since 0.1.0
 * @category errors
 */
export const NotFound = refusalOf("NotFound", 404, "No such resource.")

/**
 * The resource is not in the state that the operation needs.
 *
 * @since 0.1.0
 * @category errors
 */
export const Conflict = refusalOf("Conflict", 409, "The resource is not in the state that the operation needs.")

/**
 * The body is larger than the platform takes.
 *
 * @since 0.1.0
 * @category errors
 */
export const ContentTooLarge = refusalOf("ContentTooLarge", 413, "The body is larger than the platform takes.")

/**
 * The request is well-formed, and its content invalid.
 *
 * @since 0.1.0
 * @category errors
 */
export const Unprocessable = refusalOf("Unprocessable", 422, "The request is well-formed, and its content invalid.")

/**
 * Too many requests; the header `Retry-After` says when to come back.
 *
 * @since 0.1.0
 * @category errors
 */
export const TooManyRequests = refusalOf(
  "TooManyRequests",
  429,
  "Too many requests; Retry-After says when to come back."
)

/**
 * The platform failed; trying again does not help.
 *
 * @since 0.1.0
 * @category errors
 */
export const InternalError = refusalOf("InternalError", 500, "The platform failed.")

/**
 * The platform is busy or not reachable; trying again helps.
 *
 * @since 0.1.0
 * @category errors
 */
export const Unavailable = refusalOf("Unavailable", 503, "The platform is busy; trying again helps.")

/**
 * Every way of refusing.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Refusal = Schema.Union(
  BadRequest,
  Unauthenticated,
  Forbidden,
  NotFound,
  Conflict,
  ContentTooLarge,
  Unprocessable,
  TooManyRequests,
  InternalError,
  Unavailable
)

/**
 * @since 0.1.0
 * @category models
 */
export type Refusal = typeof Refusal.Type

/**
 * Refuses a request with the status that goes with the tag.
 *
 * @since 0.1.0
 * @category errors
 */
export const refusal = <Tag extends Refusal["_tag"]>(
  _tag: Tag,
  body: RefusalBody
): RefusalBody & { readonly _tag: Tag } => ({
  _tag,
  ...body
})
