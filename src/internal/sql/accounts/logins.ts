import * as SqlSchema from "@effect/sql/SqlSchema"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Organization } from "../../../Accounts.js"
import type { PlatformError } from "../../../Platform.js"
import type { Database } from "../database.js"
import { newId, now } from "../database.js"
import { isOver } from "./keys.js"
import type { AccountStore, LoginTokens } from "./model.js"
import { Principal } from "./model.js"
import { bySlug } from "./organizations.js"
import * as Secrets from "./secrets.js"

/** Whoever approves a login; it ends with the key it was approved with. */
export interface Approver {
  readonly subject: string
  readonly name: string
  readonly apiKeyId: string | null
  readonly adminFingerprint: string | null
  readonly organizationId: string
  readonly role: "owner" | "member"
}

/** Logins: people who signed in, and their tokens. `adminFingerprint` is that of the admin key there is now. */
export const make = (database: Database, adminFingerprint: string | undefined) => {
  const { read, sql, write } = database

  const findAccess = SqlSchema.findAll({
    Request: Schema.String,
    Result: AccessRow,
    execute: (tokenHash) => sql`SELECT ${sql.literal(loginColumns)}, u.id AS "userId", u.name AS "userName",
        l.active_organization_id AS "activeOrganizationId", o.id AS "organizationId", o.slug AS "organizationSlug",
        o.name AS "organizationName"
      FROM ${sql.literal(loginTables)} LEFT JOIN members m ON m.user_id = u.id
        LEFT JOIN organizations o ON o.id = m.organization_id
      WHERE t.token_hash = ${tokenHash} AND t.kind = 'access' ORDER BY ${bySlug(sql)}`
  })

  const findRefresh = SqlSchema.findOne({
    Request: Schema.String,
    Result: LoginRow,
    execute: (tokenHash) => sql`SELECT ${sql.literal(loginColumns)} FROM ${sql.literal(loginTables)}
      WHERE t.token_hash = ${tokenHash} AND t.kind = 'refresh'`
  })

  const isGood = (login: LoginRow, time: string): boolean =>
    login.tokenExpiresAt > time &&
    login.loginRevokedAt === null &&
    !isOver({ revokedAt: login.keyRevokedAt, expiresAt: login.keyExpiresAt }, time) &&
    (login.adminFingerprint === null || login.adminFingerprint === adminFingerprint)

  /** New tokens for a login, inside a transaction. */
  const issue = Effect.fnUntraced(function* (loginId: string) {
    const accessToken = yield* Secrets.newToken("access")
    const refreshToken = yield* Secrets.newToken("refresh")
    const time = yield* DateTime.now
    const row = (token: Redacted.Redacted, kind: "access" | "refresh", life: Duration.Duration) => ({
      token_hash: Secrets.hash(token),
      login_id: loginId,
      kind,
      created_at: DateTime.formatIso(time),
      expires_at: DateTime.formatIso(DateTime.addDuration(time, life))
    })
    yield* sql`INSERT INTO login_tokens ${sql.insert([
      row(accessToken, "access", accessLife),
      row(refreshToken, "refresh", refreshLife)
    ])}`
    const tokens: LoginTokens = { accessToken, refreshToken, expiresInSeconds: Duration.toSeconds(accessLife) }
    return tokens
  })

  const findUser = SqlSchema.single({
    Request: Schema.String,
    Result: Schema.Struct({ id: Schema.String }),
    execute: (subject) => sql`SELECT id FROM users WHERE subject = ${subject}`
  })

  /** A new login without tokens, inside a transaction; gives its id. */
  const create = Effect.fnUntraced(function* (clientId: string, approver: Approver) {
    const time = yield* now
    yield* sql`INSERT INTO users ${sql.insert({
      id: yield* newId,
      subject: approver.subject,
      name: approver.name,
      api_key_id: approver.apiKeyId,
      created_at: time
    })} ON CONFLICT (subject) DO UPDATE SET name = excluded.name`
    const user = yield* Effect.catchTag(findUser(approver.subject), "NoSuchElementException", Effect.die)
    yield* sql`INSERT INTO members ${sql.insert({
      user_id: user.id,
      organization_id: approver.organizationId,
      role: approver.role,
      created_at: time
    })} ON CONFLICT (user_id, organization_id) DO NOTHING`
    const id = yield* newId
    yield* sql`INSERT INTO logins ${sql.insert({
      id,
      user_id: user.id,
      client_id: clientId,
      admin_fingerprint: approver.adminFingerprint,
      active_organization_id: approver.organizationId,
      created_at: time
    })}`
    return id
  })

  /** Removes what cannot be used any more, a bounded part of it, inside a transaction. */
  const sweep = Effect.fnUntraced(function* (time: string) {
    yield* sql`DELETE FROM login_tokens WHERE token_hash IN
      (SELECT token_hash FROM login_tokens WHERE expires_at <= ${time} ORDER BY expires_at LIMIT 1000)`
  })

  // A transaction that fails is rolled back, so a refusal that changes something is a value.
  const refreshLogin: AccountStore["refreshLogin"] = ({ clientId, refreshToken }) =>
    Effect.gen(function* () {
      const tokenHash = Secrets.hash(refreshToken)
      const found = yield* findRefresh(tokenHash)
      const time = yield* now
      if (Option.isNone(found) || found.value.clientId !== clientId || !isGood(found.value, time)) {
        return Either.left("invalid_grant" as const)
      }
      const { loginId } = found.value
      const taken = yield* sql`UPDATE login_tokens SET used_at = ${time}
        WHERE token_hash = ${tokenHash} AND used_at IS NULL RETURNING login_id`
      if (taken.length === 0) {
        yield* sql`UPDATE logins SET revoked_at = ${time} WHERE id = ${loginId} AND revoked_at IS NULL`
        return Either.left("invalid_grant" as const)
      }
      return Either.right(yield* issue(loginId))
    }).pipe((queries) => write("refresh a login", queries))

  return {
    issue,
    create,
    sweep,
    refreshLogin,

    authenticateToken: (token: Redacted.Redacted): Effect.Effect<Option.Option<Principal>, PlatformError> =>
      Effect.gen(function* () {
        const rows = yield* read("check a token", findAccess(Secrets.hash(token)))
        const [login] = rows
        if (login === undefined || !isGood(login, yield* now)) return Option.none()
        return Option.some(
          Principal.Login({
            id: login.loginId,
            user: { id: login.userId, name: login.userName },
            activeOrganizationId: login.activeOrganizationId,
            organizations: rows.flatMap(organizationOf)
          })
        )
      }),

    activate: ({ loginId, organizationId }: { readonly loginId: string; readonly organizationId: string }) =>
      write(
        "choose an organization",
        Effect.asVoid(sql`UPDATE logins SET active_organization_id = ${organizationId} WHERE id = ${loginId}`)
      )
  }
}

export type Logins = ReturnType<typeof make>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const accessLife = Duration.hours(1)

/** Counted anew at every refresh. */
const refreshLife = Duration.days(30)

const loginColumns = `l.id AS "loginId", l.client_id AS "clientId", l.revoked_at AS "loginRevokedAt",
  l.admin_fingerprint AS "adminFingerprint", t.expires_at AS "tokenExpiresAt", k.expires_at AS "keyExpiresAt",
  k.revoked_at AS "keyRevokedAt"`

const loginTables = `login_tokens t JOIN logins l ON l.id = t.login_id JOIN users u ON u.id = l.user_id
  LEFT JOIN api_keys k ON k.id = u.api_key_id`

const LoginRow = Schema.Struct({
  loginId: Schema.String,
  clientId: Schema.String,
  loginRevokedAt: Schema.NullOr(Schema.String),
  adminFingerprint: Schema.NullOr(Schema.String),
  tokenExpiresAt: Schema.String,
  keyExpiresAt: Schema.NullOr(Schema.String),
  keyRevokedAt: Schema.NullOr(Schema.String)
})

type LoginRow = typeof LoginRow.Type

const AccessRow = Schema.Struct({
  ...LoginRow.fields,
  userId: Schema.String,
  userName: Schema.String,
  activeOrganizationId: Schema.NullOr(Schema.String),
  organizationId: Schema.NullOr(Schema.String),
  organizationSlug: Schema.NullOr(Schema.String),
  organizationName: Schema.NullOr(Schema.String)
})

// A user without organizations is one row without any.
const organizationOf = (row: typeof AccessRow.Type): ReadonlyArray<Organization> =>
  row.organizationId === null || row.organizationSlug === null
    ? []
    : [{ id: row.organizationId, slug: row.organizationSlug, name: row.organizationName }]
