import * as SqlSchema from "@effect/sql/SqlSchema"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { Organization } from "../../../Accounts.js"
import type { PlatformError } from "../../../Platform.js"
import type { Issue } from "../../platform/validation.js"
import { refuse } from "../../platform/validation.js"
import type { Database } from "../database.js"
import { newId, now } from "../database.js"
import type { AccountStore } from "./model.js"
import { ApiKey, Principal } from "./model.js"
import type { FindOrganization } from "./organizations.js"
import { nameIssues, refused, required } from "./organizations.js"
import * as Secrets from "./secrets.js"

type Operations = Pick<AccountStore, "createKey" | "keys" | "hasActiveKey" | "revokeKey"> & {
  readonly authenticateKey: (
    key: Redacted.Redacted,
    prefix: string
  ) => Effect.Effect<Option.Option<Principal>, PlatformError>
}

/** The keys of organizations. When one was used is noted in the background, by fibers of the scope. */
export const make = (database: Database, find: FindOrganization, scope: Scope.Scope): Operations => {
  const { read, sql, write } = database

  const selectKeys = sql`SELECT k.id, o.slug AS organization, k.name, k.prefix, k.last_four AS "lastFour",
      k.created_by AS "createdBy", k.created_at AS "createdAt", k.expires_at AS "expiresAt",
      k.revoked_at AS "revokedAt", k.last_used_at AS "lastUsedAt"
    FROM api_keys k JOIN organizations o ON o.id = k.organization_id`

  const list = SqlSchema.findAll({
    Request: Schema.Struct({ organizationId: Schema.optional(Schema.String) }),
    Result: ApiKey,
    execute: ({ organizationId }) => sql`${selectKeys}
      ${organizationId === undefined ? sql.literal("") : sql`WHERE k.organization_id = ${organizationId}`}
      ORDER BY k.created_at DESC, k.seq DESC`
  })

  const findByPrefix = SqlSchema.findOne({
    Request: Schema.String,
    Result: ApiKey,
    execute: (prefix) => sql`${selectKeys} WHERE k.prefix = ${prefix}`
  })

  const findSecret = SqlSchema.findOne({
    Request: Schema.String,
    Result: KeyState,
    execute: (prefix) => sql`SELECT k.id, k.key_hash AS "keyHash", k.expires_at AS "expiresAt",
        k.revoked_at AS "revokedAt", k.last_used_at AS "lastUsedAt", o.id AS "organizationId", o.slug, o.name
      FROM api_keys k JOIN organizations o ON o.id = k.organization_id WHERE k.prefix = ${prefix}`
  })

  const insert = Effect.fnUntraced(function* (
    organizationId: string,
    input: { readonly name: string | null; readonly createdBy: string | null },
    expiresAt: string | null
  ) {
    for (;;) {
      const { key, prefix } = yield* Secrets.newKey
      const inserted = yield* sql`INSERT INTO api_keys ${sql.insert({
        id: yield* newId,
        organization_id: organizationId,
        name: input.name,
        prefix,
        key_hash: Secrets.hash(key),
        last_four: Redacted.value(key).slice(-4),
        created_by: input.createdBy,
        created_at: yield* now,
        expires_at: expiresAt
      })} ON CONFLICT (prefix) DO NOTHING RETURNING id`
      if (inserted.length > 0) return { key, prefix }
    }
  })

  const beingNoted = new Set<string>()
  const noteUse = ({ id, lastUsedAt }: KeyState, time: DateTime.Utc) =>
    Effect.suspend(() => {
      const minuteAgo = DateTime.formatIso(DateTime.subtract(time, { minutes: 1 }))
      if (beingNoted.has(id) || (lastUsedAt !== null && lastUsedAt > minuteAgo)) return Effect.void
      beingNoted.add(id)
      return write(
        "note the use of a key",
        sql`UPDATE api_keys SET last_used_at = ${DateTime.formatIso(time)}
          WHERE id = ${id} AND (last_used_at IS NULL OR last_used_at <= ${minuteAgo})`
      ).pipe(
        Effect.catchAll((error) =>
          Effect.logWarning("use of a key could not be noted").pipe(Effect.annotateLogs("reason", error.message))
        ),
        Effect.ensuring(Effect.sync(() => beingNoted.delete(id))),
        Effect.forkIn(scope),
        Effect.asVoid
      )
    })

  return {
    createKey: ({ createdBy, expiresIn, name, organization }) =>
      Effect.gen(function* () {
        const life = expiresIn === undefined ? Duration.infinity : Duration.decode(expiresIn)
        yield* refuse([...nameIssues("name", name), ...nameIssues("createdBy", createdBy), ...lifeIssues(life)])
        const { id } = yield* required(find, organization)
        const expiresAt = Duration.isFinite(life)
          ? DateTime.formatIso(DateTime.addDuration(yield* DateTime.now, life))
          : null
        const { key, prefix } = yield* insert(id, { name: name ?? null, createdBy: createdBy ?? null }, expiresAt)
        return { key, apiKey: yield* Effect.flatMap(findByPrefix(prefix), Effect.orDie) }
      }).pipe((queries) => write("create a key", queries)),

    keys: ({ organization }) =>
      Effect.gen(function* () {
        if (organization === undefined) return yield* list({})
        const { id } = yield* required(find, organization)
        return yield* list({ organizationId: id })
      }).pipe((queries) => read("list keys", queries)),

    hasActiveKey: read(
      "look for keys",
      Effect.flatMap(now, (time) =>
        Effect.map(
          sql`SELECT 1 FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${time}) LIMIT 1`,
          (rows) => rows.length > 0
        )
      )
    ),

    revokeKey: (text) =>
      Effect.gen(function* () {
        const prefix = /^(?:bp_)?([0-9a-z]{8})(?:_.*)?$/.exec(text.trim())?.[1] ?? ""
        yield* sql`UPDATE api_keys SET revoked_at = ${yield* now} WHERE prefix = ${prefix} AND revoked_at IS NULL`
        const found = yield* findByPrefix(prefix)
        return Option.isSome(found)
          ? found.value
          : yield* refused("prefix", `must be that of a key: see which there are with \`bench serve keys list\``)
      }).pipe((queries) => write("revoke a key", queries)),

    authenticateKey: Effect.fnUntraced(function* (key, prefix) {
      const found = yield* read("check a key", findSecret(prefix))
      const matches = Secrets.sameHash(
        Secrets.hash(key),
        Option.match(found, { onNone: () => Secrets.noHash, onSome: ({ keyHash }) => keyHash })
      )
      const time = yield* DateTime.now
      if (Option.isNone(found) || !matches || isOver(found.value, DateTime.formatIso(time))) return Option.none()
      const { id, name, organizationId, slug } = found.value
      yield* noteUse(found.value, time)
      return Option.some(Principal.Key({ id, prefix, organization: { id: organizationId, slug, name } }))
    })
  }
}

/** Whether a key is revoked or has expired. */
export const isOver = (
  key: { readonly revokedAt: string | null; readonly expiresAt: string | null },
  time: string
): boolean => key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= time)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const KeyState = Schema.Struct({
  id: Schema.String,
  keyHash: Schema.String,
  expiresAt: Schema.NullOr(Schema.String),
  revokedAt: Schema.NullOr(Schema.String),
  lastUsedAt: Schema.NullOr(Schema.String),
  organizationId: Schema.String,
  slug: Organization.fields.slug,
  name: Schema.NullOr(Schema.String)
})

type KeyState = typeof KeyState.Type

const longestLife = Duration.days(100 * 365)

const lifeIssues = (life: Duration.Duration): ReadonlyArray<Issue> =>
  Duration.isFinite(life) && (Duration.toMillis(life) < 1 || Duration.greaterThan(life, longestLife))
    ? [
        {
          field: "expiresIn",
          message: `must be longer than nothing and at most 100 years (got ${Duration.format(life)})`
        }
      ]
    : []
