/** What a principal may act for, and what it is told of its accounts. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Organization } from "../../../Accounts.js"
import { Accounts } from "../../../Accounts.js"
import type { PlatformError } from "../../../Platform.js"
import { Unauthorized } from "../../../Platform.js"
import type { AccountStore, OrganizationName, Principal } from "../../sql/accounts/model.js"
import { foreignOrganization } from "../../sql/lookups.js"

/** The organization that a request is for: the one that it names, or the one that goes without saying. */
export const organizationOf = (
  store: AccountStore,
  principal: Principal,
  named: OrganizationName | undefined
): Effect.Effect<Organization, PlatformError> => {
  switch (principal._tag) {
    case "Key":
      return isNamed(principal.organization, named) ? Effect.succeed(principal.organization) : foreignOrganization()
    case "Login": {
      const { activeOrganizationId, organizations } = principal
      if (named !== undefined) {
        const found = organizations.find((organization) => isNamed(organization, named))
        return found === undefined ? foreignOrganization() : Effect.succeed(found)
      }
      const active = organizations.find(({ id }) => id === activeOrganizationId)
      const chosen = active ?? (organizations.length === 1 ? organizations[0] : undefined)
      return chosen === undefined ? unnamed : Effect.succeed(chosen)
    }
    case "Admin":
      return named === undefined ? unnamed : existing(store, named)
  }
}

/** The accounts of a principal. What the request names only has to be one of them. */
export const accountsOf = (
  store: AccountStore,
  principal: Principal,
  named: OrganizationName | undefined
): Effect.Effect<Accounts["Type"], PlatformError> =>
  Effect.map(named === undefined ? Effect.succeed(undefined) : organizationOf(store, principal, named), (acting) => {
    switch (principal._tag) {
      case "Key": {
        const { organization } = principal
        return Accounts.of({
          me: Effect.succeed({ user: null, activeOrganizationId: organization.id, organizations: [organization] }),
          organizations: Effect.succeed([organization]),
          activate: (slug) => organizationOf(store, principal, { slug })
        })
      }
      case "Login": {
        const { activeOrganizationId, id, organizations, user } = principal
        return Accounts.of({
          me: Effect.succeed({ user, activeOrganizationId, organizations }),
          organizations: Effect.succeed(organizations),
          activate: (slug) =>
            Effect.tap(organizationOf(store, principal, { slug }), (organization) =>
              store.activate({ loginId: id, organizationId: organization.id })
            )
        })
      }
      case "Admin": {
        const organizations = Effect.map(store.organizations, (entries) =>
          entries.map(({ id, name, slug }) => ({ id, slug, name }))
        )
        return Accounts.of({
          me: Effect.map(organizations, (all) => ({
            user: null,
            activeOrganizationId: acting?.id ?? null,
            organizations: all
          })),
          organizations,
          activate: (slug) => existing(store, { slug })
        })
      }
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isNamed = (organization: Organization, named: OrganizationName | undefined): boolean =>
  (named?.slug === undefined || named.slug === organization.slug) &&
  (named?.id === undefined || named.id === organization.id)

const existing = (store: AccountStore, named: OrganizationName): Effect.Effect<Organization, PlatformError> =>
  Effect.flatMap(
    store.findOrganization(named),
    Option.match({
      onNone: () => new Unauthorized({ reason: "Forbidden", detail: "There is no such organization" }),
      onSome: Effect.succeed
    })
  )

const unnamed = new Unauthorized({
  reason: "Forbidden",
  detail: "Name the organization to act for in the header X-Org-Slug"
})
