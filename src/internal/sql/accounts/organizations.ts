import type { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import type * as Statement from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Organization } from "../../../Accounts.js"
import { InvalidRequest } from "../../../Platform.js"
import type { Issue } from "../../platform/validation.js"
import { refuse } from "../../platform/validation.js"
import type { Database } from "../database.js"
import { newId, now } from "../database.js"
import type { AccountStore } from "./model.js"
import { OrganizationEntry } from "./model.js"

type Operations = Pick<AccountStore, "createOrganization" | "organizations" | "findOrganization" | "addMember">

/** Organizations and their members. */
export const make = (database: Database): Operations => {
  const { read, sql, write } = database
  const find = makeFind(database)

  const list = SqlSchema.findAll({
    Request: Schema.String,
    Result: OrganizationEntry,
    execute: (time) => sql`SELECT o.id, o.slug, o.name, o.created_at AS "createdAt",
        CAST((SELECT COUNT(*) FROM api_keys k WHERE k.organization_id = o.id AND k.revoked_at IS NULL
          AND (k.expires_at IS NULL OR k.expires_at > ${time})) AS INTEGER) AS "activeKeys"
      FROM organizations o ORDER BY ${bySlug(sql)}`
  })

  return {
    createOrganization: ({ name, slug }) =>
      Effect.gen(function* () {
        yield* refuse([...slugIssues(slug), ...nameIssues("name", name)])
        const id = yield* newId
        const inserted = yield* sql`INSERT INTO organizations ${sql.insert({
          id,
          slug,
          name: name ?? null,
          created_at: yield* now
        })} ON CONFLICT (slug) DO NOTHING RETURNING id`
        if (inserted.length === 0) {
          return yield* refused("slug", `must be a new one: there is an organization "${slug}" already`)
        }
        return { id, slug, name: name ?? null }
      }).pipe((queries) => write("create an organization", queries)),

    organizations: read("list organizations", Effect.flatMap(now, list)),

    findOrganization: (named) =>
      isStorable(named.slug) && isStorable(named.id) ? read("find an organization", find(named)) : Effect.succeedNone,

    addMember: ({ organization, role, userId }) =>
      Effect.gen(function* () {
        const { id } = yield* required(find, organization)
        const users = yield* sql`SELECT id FROM users WHERE id = ${userId}`
        if (users.length === 0) return yield* refused("userId", `must be that of a user (got "${userId}")`)
        yield* sql`INSERT INTO members ${sql.insert({
          user_id: userId,
          organization_id: id,
          role,
          created_at: yield* now
        })} ON CONFLICT (user_id, organization_id) DO UPDATE SET role = excluded.role`
      }).pipe((queries) => write("add a member", queries))
  }
}

/** The slug of `organizations o`, sorted alike on every database. */
export const bySlug = (sql: SqlClient): Statement.Fragment =>
  sql.onDialectOrElse({ pg: () => sql.literal(`o.slug COLLATE "C"`), orElse: () => sql.literal("o.slug") })

/** Finds an organization by what names it. */
export const makeFind = ({ sql }: Database) =>
  SqlSchema.findOne({
    Request: Schema.Struct({ slug: Schema.optional(Schema.String), id: Schema.optional(Schema.String) }),
    Result: Organization,
    execute: ({ id, slug }) =>
      sql`SELECT id, slug, name FROM organizations WHERE ${sql.and([
        ...(slug === undefined ? [] : [sql`slug = ${slug}`]),
        ...(id === undefined ? [] : [sql`id = ${id}`])
      ])}`
  })

export type FindOrganization = ReturnType<typeof makeFind>

/** The organization with this slug; refuses one that does not exist. */
export const required = (find: FindOrganization, slug: string) =>
  Effect.flatMap(find({ slug }), (found) =>
    Option.isSome(found)
      ? Effect.succeed(found.value)
      : refused("organization", `must exist (got "${slug}"): create it with \`bench serve orgs create\``)
  )

export const refused = (field: string, message: string): Effect.Effect<never, InvalidRequest> =>
  Effect.fail(new InvalidRequest({ issues: [{ field, message }] }))

/** Names may hold anything but NUL, which PostgreSQL cannot store. */
export const nameIssues = (field: string, name: string | undefined): ReadonlyArray<Issue> => {
  if (name === undefined) return []
  if (name.trim() === "") return [{ field, message: "must not be blank" }]
  if (name.length > maxName) return [{ field, message: `must be at most ${maxName} characters (got ${name.length})` }]
  return isStorable(name) ? [] : [{ field, message: "must not contain the character NUL" }]
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxName = 200

const isStorable = (text: string | undefined): boolean => text?.includes("\u0000") !== true

/** Pages of an organization begin with its slug, so that what is served at the root is not available. */
const reserved = new Set(["api", "assets", "device", "healthz", "objects", "readyz"])

const slugIssues = (slug: string): ReadonlyArray<Issue> => {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(slug)) {
    return [
      {
        field: "slug",
        message: `must be at most 63 lower-case letters, digits and hyphens, beginning with no hyphen (got "${slug.slice(0, 80)}")`
      }
    ]
  }
  return reserved.has(slug) ? [{ field: "slug", message: `must not be "${slug}": the platform itself uses it` }] : []
}
