/**
 * Who is signed in to a platform, and for which organization.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { nullable, optionalOrNull } from "./internal/platform/schemas.js"
import type { PlatformError } from "./Platform.js"

/**
 * @since 0.1.0
 * @category schemas
 */
export const Organization = Schema.Struct({
  id: Schema.String,
  slug: Schema.String,
  name: optionalOrNull(Schema.String)
}).annotations({ identifier: "Organization" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Organization extends Schema.Schema.Type<typeof Organization> {}

/**
 * Who the credentials belong to. A key has no user; it acts for its one organization.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Me = Schema.Struct({
  user: nullable(
    Schema.Struct({ id: Schema.String, email: optionalOrNull(Schema.String), name: optionalOrNull(Schema.String) })
  ),
  activeOrganizationId: nullable(Schema.String),
  organizations: Schema.Array(Organization)
}).annotations({ identifier: "Me" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Me extends Schema.Schema.Type<typeof Me> {}

/**
 * @since 0.1.0
 * @category services
 */
export class Accounts extends Context.Tag("effect-bench/Accounts")<
  Accounts,
  {
    readonly me: Effect.Effect<Me, PlatformError>
    /** Those that the credentials give access to. */
    readonly organizations: Effect.Effect<ReadonlyArray<Organization>, PlatformError>
    /** Makes the organization with this slug the active one. */
    readonly activate: (slug: string) => Effect.Effect<Organization, PlatformError>
  }
>() {}
