/**
 * `bench org list` and `bench org use`
 */
import * as Effect from "effect/Effect"
import type { Resolved, ResolveOptions } from "../Credentials.js"
import * as Credentials from "../Credentials.js"
import { actingFor, signedIn, withAccounts } from "./auth.js"
import { json, print, say } from "./output.js"
import { oneLine, table } from "./text.js"

export interface ListOptions extends ResolveOptions {
  readonly json: boolean
}

/** The organizations that the credentials give access to, and which of them is acted for. */
export const list = Effect.fnUntraced(function* (options: ListOptions) {
  const resolved = yield* signedIn(options)
  const { me, organizations } = yield* withAccounts(unbound(resolved))(({ me, organizations }) =>
    Effect.all({ me, organizations }, { concurrency: 2 })
  )
  const acting = actingFor({ ...me, organizations }, resolved.organization)
  const items = organizations.map((organization) => ({ ...organization, active: organization.id === acting?.id }))
  if (options.json) return yield* json({ items })
  if (items.length === 0) return yield* print("No organizations.")
  yield* print(
    table(
      [{ title: "" }, { title: "organization" }, { title: "name" }],
      items.map(({ active, name, slug }) => [active ? "*" : "", slug, name ?? ""])
    )
  )
})

export interface UseOptions extends ResolveOptions {
  readonly slug: string
}

/** Makes an organization the active one on the platform, and the one that the saved login acts for. */
export const use = Effect.fnUntraced(function* ({ slug, ...options }: UseOptions) {
  const resolved = yield* signedIn(options)
  const organization = yield* withAccounts(unbound(resolved))(({ activate }) => activate(slug))
  if (resolved.source === "login") {
    yield* Credentials.chooseOrganization(resolved.baseUrl, organization.slug)
  } else {
    yield* say("A key acts for its own organization; the choice is kept on the platform only.")
  }
  yield* print(oneLine(`Acting for ${organization.slug} on ${resolved.baseUrl}.`))
})

// The organization that was chosen before may be one that the person has left.
const unbound = (resolved: Resolved): Resolved => ({ ...resolved, organization: undefined })
