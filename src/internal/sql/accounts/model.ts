/** What there is to know of accounts, and what can be done with them. */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Organization } from "../../../Accounts.js"
import type { PlatformError } from "../../../Platform.js"

/**
 * An organization as it is listed; `activeKeys` are neither revoked nor expired. Times are ISO-8601 UTC.
 *
 * @since 0.1.0
 * @category schemas
 */
export const OrganizationEntry = Schema.Struct({
  ...Organization.fields,
  createdAt: Schema.String,
  activeKeys: Schema.Int
})

/**
 * @since 0.1.0
 * @category models
 */
export interface OrganizationEntry extends Schema.Schema.Type<typeof OrganizationEntry> {}

/**
 * What is known of a key once it has been shown. `organization` is a slug, `lastUsedAt` is exact to a minute, times are
 * ISO-8601 UTC. Names are as they were given: whoever prints one cleans it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ApiKey = Schema.Struct({
  id: Schema.String,
  organization: Schema.String,
  name: Schema.NullOr(Schema.String),
  prefix: Schema.String,
  lastFour: Schema.String,
  createdBy: Schema.NullOr(Schema.String),
  createdAt: Schema.String,
  expiresAt: Schema.NullOr(Schema.String),
  revokedAt: Schema.NullOr(Schema.String),
  lastUsedAt: Schema.NullOr(Schema.String)
})

/**
 * @since 0.1.0
 * @category models
 */
export interface ApiKey extends Schema.Schema.Type<typeof ApiKey> {}

/**
 * Whom a key or token stands for: an organization, a person who signed in (with the organizations they are a member of,
 * by slug), or whoever runs the platform.
 *
 * @since 0.1.0
 * @category models
 */
export type Principal = Data.TaggedEnum<{
  Key: { readonly id: string; readonly prefix: string; readonly organization: Organization }
  Login: {
    readonly id: string
    readonly user: { readonly id: string; readonly name: string }
    readonly activeOrganizationId: string | null
    readonly organizations: ReadonlyArray<Organization>
  }
  Admin: object
}>

/**
 * @since 0.1.0
 * @category constructors
 */
export const Principal = Data.taggedEnum<Principal>()

/**
 * Names an organization; if by both, both have to fit.
 *
 * @since 0.1.0
 * @category models
 */
export interface OrganizationName {
  readonly slug?: string | undefined
  readonly id?: string | undefined
}

/**
 * What a device shows and waits with.
 *
 * @since 0.1.0
 * @category models
 */
export interface DeviceAuthorization {
  readonly deviceCode: Redacted.Redacted
  readonly userCode: string
  readonly expiresInSeconds: number
  readonly intervalSeconds: number
}

/**
 * @since 0.1.0
 * @category models
 */
export interface LoginTokens {
  readonly accessToken: Redacted.Redacted
  readonly refreshToken: Redacted.Redacted
  /** Of the access token. */
  readonly expiresInSeconds: number
}

/**
 * Why there are no tokens, as OAuth 2.0 names it.
 *
 * @since 0.1.0
 * @category models
 */
export type GrantRefusal = "authorization_pending" | "slow_down" | "expired_token" | "access_denied" | "invalid_grant"

/**
 * What a person decides about a device: they approve it with a key, with the admin key for an organization, or not.
 *
 * @since 0.1.0
 * @category models
 */
export type DeviceDecision = Data.TaggedEnum<{
  ApproveWithKey: { readonly keyId: string }
  ApproveAsAdmin: { readonly organizationId: string }
  Deny: object
}>

/**
 * @since 0.1.0
 * @category constructors
 */
export const DeviceDecision = Data.taggedEnum<DeviceDecision>()

export interface AccountStore {
  /** Refuses a slug that is taken, reserved, or not of lower-case letters, digits and hyphens (at most 63). */
  readonly createOrganization: (input: {
    readonly slug: string
    readonly name?: string | undefined
  }) => Effect.Effect<Organization, PlatformError>
  /** All of them, by slug. */
  readonly organizations: Effect.Effect<ReadonlyArray<OrganizationEntry>, PlatformError>
  readonly findOrganization: (name: OrganizationName) => Effect.Effect<Option.Option<Organization>, PlatformError>
  /** Makes a user a member of an organization (by slug), or changes their role. */
  readonly addMember: (input: {
    readonly userId: string
    readonly organization: string
    readonly role: "owner" | "member"
  }) => Effect.Effect<void, PlatformError>
  /**
   * Creates a key of an organization (by slug). It never expires unless `expiresIn` says so, and is shown nowhere else.
   */
  readonly createKey: (input: {
    readonly organization: string
    readonly name?: string | undefined
    readonly expiresIn?: Duration.DurationInput | undefined
    readonly createdBy?: string | undefined
  }) => Effect.Effect<{ readonly key: Redacted.Redacted; readonly apiKey: ApiKey }, PlatformError>
  /** Newest first; of one organization (by slug), or all of them. */
  readonly keys: (query: {
    readonly organization?: string | undefined
  }) => Effect.Effect<ReadonlyArray<ApiKey>, PlatformError>
  /** Whether there is a key that is neither revoked nor expired. */
  readonly hasActiveKey: Effect.Effect<boolean, PlatformError>
  /**
   * Ends a key and the logins that it approved. It is named by its prefix, with or without what stands around it in the
   * key. One that was revoked before stays as it was.
   */
  readonly revokeKey: (prefix: string) => Effect.Effect<ApiKey, PlatformError>
  /** Whom a key or an access token stands for; none when it is malformed, unknown, expired or revoked. */
  readonly authenticate: (token: Redacted.Redacted) => Effect.Effect<Option.Option<Principal>, PlatformError>
  /** Makes an organization the active one of a login. */
  readonly activate: (input: {
    readonly loginId: string
    readonly organizationId: string
  }) => Effect.Effect<void, PlatformError>
  /** Starts a login; the codes are good for 10 minutes. */
  readonly startDeviceLogin: (clientId: string) => Effect.Effect<DeviceAuthorization, PlatformError>
  /** Decides a login that waits for it, and tells for which client; none when no login with this code waits. */
  readonly decideDeviceLogin: (input: {
    readonly userCode: string
    readonly decision: DeviceDecision
  }) => Effect.Effect<Option.Option<{ readonly clientId: string }>, PlatformError>
  /** Exchanges the code of a device that was approved, once, for tokens. */
  readonly exchangeDeviceCode: (input: {
    readonly deviceCode: Redacted.Redacted
    readonly clientId: string
  }) => Effect.Effect<Either.Either<LoginTokens, GrantRefusal>, PlatformError>
  /** Exchanges a refresh token for new tokens. One that was exchanged before ends the login. */
  readonly refreshLogin: (input: {
    readonly refreshToken: Redacted.Redacted
    readonly clientId: string
  }) => Effect.Effect<Either.Either<LoginTokens, GrantRefusal>, PlatformError>
}
