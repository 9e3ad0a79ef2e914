/**
 * The accounts of a platform that keeps them in its SQL database: organizations, their members and keys, and people who
 * sign in on another device.
 *
 * ```ts
 * import { Effect, Redacted } from "effect"
 * import { SqlAccounts } from "effect-bench/SqlAccounts"
 *
 * const firstKey = Effect.gen(function* () {
 *   const accounts = yield* SqlAccounts
 *   yield* accounts.createOrganization({ slug: "acme" })
 *   const { key } = yield* accounts.createKey({ organization: "acme", name: "laptop", expiresIn: "90 days" })
 *   return Redacted.value(key)
 * })
 * ```
 *
 * Of keys and tokens only hashes are stored.
 *
 * @since 0.1.0
 */
import type * as HttpRouter from "@effect/platform/HttpRouter"
import type { RequestError } from "@effect/platform/HttpServerError"
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Artifacts } from "./Artifacts.js"
import { secret } from "./internal/credentials/environment.js"
import * as Authorization from "./internal/server/auth/authorization.js"
import * as DeviceLogin from "./internal/server/auth/deviceLogin.js"
import type { AccountStore } from "./internal/sql/accounts/model.js"
import * as Store from "./internal/sql/accounts/store.js"
import type { InvalidRequest, PlatformFailure } from "./Platform.js"
import { AccountsAuthorization, PlatformAuthorization } from "./PlatformApi.js"
import type { SqlPlatformOptions } from "./SqlPlatform.js"
import * as SqlPlatform from "./SqlPlatform.js"

export {
  ApiKey,
  type DeviceAuthorization,
  DeviceDecision,
  type GrantRefusal,
  type LoginTokens,
  OrganizationEntry,
  type OrganizationName,
  Principal
} from "./internal/sql/accounts/model.js"

/**
 * Accounts as those see them who run the platform. Requests that cannot be followed (an organization that does not exist,
 * a slug that is taken) fail with {@link InvalidRequest}.
 *
 * @since 0.1.0
 * @category services
 */
export class SqlAccounts extends Context.Tag("effect-bench/SqlAccounts")<SqlAccounts, AccountStore>() {}

// -----------------------------------------------------------------------------
// constructors
// -----------------------------------------------------------------------------

/**
 * The accounts over a `SqlClient`. Creates the tables, or brings them to the schema of this version, first; fails with
 * {@link PlatformFailure} when it cannot. Whoever shows the `adminKey` may act for any organization; one of fewer than 24
 * characters is refused with {@link InvalidRequest}. Without one there is no such principal.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (options: {
  readonly adminKey?: Redacted.Redacted | undefined
}) => Effect.Effect<SqlAccounts["Type"], PlatformFailure | InvalidRequest, SqlClient.SqlClient | Scope.Scope> =
  Effect.fnUntraced(
    function* (options: { readonly adminKey?: Redacted.Redacted | undefined }) {
      return SqlAccounts.of(yield* Store.make(options))
    },
    Effect.catchAll((error) =>
      error._tag === "PlatformFailure" || error._tag === "InvalidRequest" ? Effect.fail(error) : Effect.die(error)
    )
  )

// -----------------------------------------------------------------------------
// layers
// -----------------------------------------------------------------------------

/**
 * The accounts over a `SqlClient`, with an admin key; see {@link make}.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (options: {
  readonly adminKey?: Redacted.Redacted | undefined
}): Layer.Layer<SqlAccounts, PlatformFailure | InvalidRequest, SqlClient.SqlClient> =>
  Layer.scoped(SqlAccounts, make(options))

/**
 * The accounts over a `SqlClient`, without an admin key.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<SqlAccounts, PlatformFailure, SqlClient.SqlClient> = Layer.scoped(
  SqlAccounts,
  Effect.catchTag(make({}), "InvalidRequest", Effect.die)
)

/**
 * The accounts over a `SqlClient`, with the admin key in the variable `BENCH_ADMIN_KEY`; a blank one counts as absent.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig: Layer.Layer<SqlAccounts, PlatformFailure | InvalidRequest, SqlClient.SqlClient> =
  Layer.unwrapEffect(Effect.map(secret("BENCH_ADMIN_KEY"), (adminKey) => layerWith({ adminKey })))

/**
 * Lets requests to `PlatformServer` in by keys and access tokens: each gets the platform of the organization it is for, or
 * its accounts. That is the key's own organization; for people and for the admin key the one that the header `X-Org-Slug` or
 * `X-Organization-Id` names, and for people else the one they made active.
 *
 * Refused are requests without a key (401), with one that is malformed, unknown, expired or revoked (401), and for an
 * organization that is not theirs (403). Clients that fail more than 20 times a minute, by address or by key, have to wait
 * (429): failures are counted in this process, and requests that succeed never are.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerAuthorization = (
  options: Omit<SqlPlatformOptions, "organization"> = {}
): Layer.Layer<
  PlatformAuthorization | AccountsAuthorization,
  PlatformFailure,
  SqlAccounts | SqlClient.SqlClient | Artifacts
> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const platformOf = yield* SqlPlatform.makeByOrganization(options)
      const { accounts, platform } = Authorization.make(yield* SqlAccounts, platformOf)
      return Context.make(PlatformAuthorization, platform).pipe(Context.add(AccountsAuthorization, accounts))
    })
  )

// -----------------------------------------------------------------------------
// routes
// -----------------------------------------------------------------------------

/**
 * What `bench auth login` needs (RFC 8628): `POST /api/auth/device/code` and `POST /api/auth/oauth2/token` for the device,
 * and the page `/device`, on which a person approves it with a key, or with the admin key and an organization. `publicUrl`
 * is the root that the person's browser reaches; default: whatever the request was sent to. What is returned can be mounted
 * in a `PlatformServer`; a body that cannot be read fails with a `RequestError`, an unknown path with `RouteNotFound`.
 *
 * Access tokens live an hour. A refresh token is exchanged once within 30 days; when it is shown again, the login ends. A
 * login also ends with the key that approved it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const deviceLogin = (
  options: { readonly publicUrl?: string | undefined } = {}
): Effect.Effect<
  { readonly paths: ReadonlyArray<string>; readonly app: HttpRouter.HttpRouter<RequestError> },
  never,
  SqlAccounts
> =>
  Effect.map(SqlAccounts, (accounts) => ({
    paths: DeviceLogin.paths,
    app: DeviceLogin.make(accounts, options.publicUrl)
  }))
