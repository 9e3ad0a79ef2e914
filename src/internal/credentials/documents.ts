/** What `~/.benchsdk` holds. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** What a header can carry: anything else would end up in the error of whoever tries. */
export const isSendable = (secret: string): boolean => /^[\x21-\x7e]+$/.test(secret)

export const Secret = Schema.Redacted(Schema.String.pipe(Schema.filter(isSendable)))

const version = Schema.optionalWith(Schema.Literal(1), { default: () => 1 as const })

const byBaseUrl = <A, I>(value: Schema.Schema<A, I>) =>
  Schema.optionalWith(Schema.Record({ key: Schema.String, value }), { default: () => ({}) })

/**
 * The tokens of a person who signed in. Times are ISO-8601 UTC; a token without `expiresAt` is good until it is refused.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Login = Schema.Struct({
  /** The client that the tokens were issued to; refreshing needs it. */
  clientId: Schema.String,
  accessToken: Secret,
  refreshToken: Schema.optional(Secret),
  issuedAt: Schema.DateTimeUtc,
  expiresAt: Schema.optional(Schema.DateTimeUtc)
}).annotations({ identifier: "Login" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Login extends Schema.Schema.Type<typeof Login> {}

/**
 * `~/.benchsdk/credentials.json`: for each base URL a login or an API key. Fields it does not know are left in the file.
 *
 * ```json
 * {
 *   "version": 1,
 *   "platforms": {
 *     "https://platform.computesdk.com": {
 *       "login": {
 *         "clientId": "bench-cli",
 *         "accessToken": "…",
 *         "refreshToken": "…",
 *         "issuedAt": "2026-01-01T00:00:00.000Z",
 *         "expiresAt": "2026-01-01T01:00:00.000Z"
 *       }
 *     },
 *     "http://localhost:4000": { "apiKey": "bp_…" }
 *   }
 * }
 * ```
 *
 * @since 0.1.0
 * @category schemas
 */
export const SavedCredentials = Schema.Struct({
  version,
  platforms: byBaseUrl(Schema.Struct({ login: Schema.optional(Login), apiKey: Schema.optional(Secret) }))
}).annotations({ identifier: "SavedCredentials" })

/**
 * @since 0.1.0
 * @category models
 */
export interface SavedCredentials extends Schema.Schema.Type<typeof SavedCredentials> {}

/**
 * `~/.benchsdk/config.json`: the platform that is meant when none is named, and for each base URL the organization that
 * a login acts for. Fields it does not know are left in the file.
 *
 * ```json
 * {
 *   "version": 1,
 *   "baseUrl": "https://platform.computesdk.com",
 *   "platforms": { "https://platform.computesdk.com": { "organization": "acme" } }
 * }
 * ```
 *
 * @since 0.1.0
 * @category schemas
 */
export const SavedSettings = Schema.Struct({
  version,
  baseUrl: Schema.optional(Schema.String),
  platforms: byBaseUrl(Schema.Struct({ organization: Schema.optional(Schema.String) }))
}).annotations({ identifier: "SavedSettings" })

/**
 * @since 0.1.0
 * @category models
 */
export interface SavedSettings extends Schema.Schema.Type<typeof SavedSettings> {}

/** A file of the directory. */
export interface Document<A, I> {
  readonly name: string
  readonly schema: Schema.Schema<A, I>
  /** What a missing file means. */
  readonly empty: A
}

export const credentials: Document<SavedCredentials, typeof SavedCredentials.Encoded> = {
  name: "credentials.json",
  schema: SavedCredentials,
  empty: { version: 1, platforms: {} }
}

export const settings: Document<SavedSettings, typeof SavedSettings.Encoded> = {
  name: "config.json",
  schema: SavedSettings,
  empty: { version: 1, platforms: {} }
}

/** Whether two secrets are the same, without showing either. */
export const same = (a: Redacted.Redacted | undefined, b: Redacted.Redacted | undefined): boolean =>
  a !== undefined && b !== undefined && Redacted.value(a) === Redacted.value(b)

const refreshLead = Duration.minutes(5)

/** Whether a token can be used as it is, should be refreshed although it still works, or has expired. */
export const lifeOf = ({ expiresAt, issuedAt }: Login, nowMillis: number): "fresh" | "due" | "expired" => {
  if (expiresAt === undefined) return "fresh"
  const lifetime = DateTime.distance(issuedAt, expiresAt)
  // A token that lives but a few minutes would otherwise be due from its first second on.
  const lead = Math.min(Duration.toMillis(refreshLead), Math.max(0, lifetime / 2))
  const end = DateTime.toEpochMillis(expiresAt)
  return nowMillis >= end ? "expired" : nowMillis >= end - lead ? "due" : "fresh"
}
