/**
 * `bench serve orgs create` and `bench serve orgs list`
 */
import * as Effect from "effect/Effect"
import { SqlAccounts } from "../SqlAccounts.js"
import { json, print } from "./output.js"
import { absent, oneLine, table } from "./text.js"

export interface CreateOptions {
  readonly slug: string
  readonly name?: string | undefined
  readonly json: boolean
}

/** Creates an organization. */
export const create = Effect.fnUntraced(function* ({ json: asJson, name, slug }: CreateOptions) {
  const accounts = yield* SqlAccounts
  const organization = yield* accounts.createOrganization({ slug, name })
  if (asJson) return yield* json(organization)
  yield* print(
    oneLine(`Created ${organization.slug}. Create a key for it: bench serve keys create --org ${organization.slug}`)
  )
})

export interface ListOptions {
  readonly json: boolean
}

/** Organizations, by slug, with how many keys of each are in force. */
export const list = Effect.fnUntraced(function* (options: ListOptions) {
  const accounts = yield* SqlAccounts
  const organizations = yield* accounts.organizations
  if (options.json) return yield* json({ items: organizations })
  if (organizations.length === 0) return yield* print("No organizations. Create one: bench serve orgs create SLUG")
  yield* print(
    table(
      [{ title: "organization" }, { title: "name" }, { title: "keys", align: "right" }, { title: "created" }],
      organizations.map(({ activeKeys, createdAt, name, slug }) => [slug, name ?? absent, `${activeKeys}`, createdAt])
    )
  )
})
