/**
 * `bench serve keys create`, `bench serve keys list` and `bench serve keys revoke`
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { ApiKey } from "../SqlAccounts.js"
import { SqlAccounts } from "../SqlAccounts.js"
import { json, print, say } from "./output.js"
import { absent, oneLine, table } from "./text.js"
import { UsageError } from "./UsageError.js"

export interface CreateOptions {
  /** Slug of the organization that the key is for. */
  readonly org: string
  readonly name?: string | undefined
  /** For how long it is good, such as `90d`; for ever when absent. */
  readonly expires?: string | undefined
  readonly json: boolean
  /** Say nothing but the key. */
  readonly quiet: boolean
}

/** Creates a key and shows it, this once: on stdout there is nothing else. */
export const create = Effect.fnUntraced(function* (options: CreateOptions) {
  const expiresIn = options.expires === undefined ? undefined : yield* parseExpiry(options.expires)
  const accounts = yield* SqlAccounts
  const { apiKey, key } = yield* accounts.createKey({ organization: options.org, name: options.name, expiresIn })
  if (options.json) return yield* json({ key: Redacted.value(key), ...apiKey })
  if (!options.quiet) {
    const name = apiKey.name === null ? "" : ` "${apiKey.name}"`
    const end = apiKey.expiresAt === null ? "It does not expire" : `It expires at ${apiKey.expiresAt}`
    yield* say(
      oneLine(`Key${name} of ${apiKey.organization}. ${end}. It is shown only now: keep it where nobody else reads it.`)
    )
  }
  yield* print(Redacted.value(key))
})

export interface ListOptions {
  /** Only the keys of this organization. */
  readonly org?: string | undefined
  readonly json: boolean
}

/** Keys, newest first, without their secrets. */
export const list = Effect.fnUntraced(function* (options: ListOptions) {
  const accounts = yield* SqlAccounts
  const keys = yield* accounts.keys({ organization: options.org })
  if (options.json) return yield* json({ items: keys })
  if (keys.length === 0) return yield* print("No keys. Create one: bench serve keys create --org SLUG")
  yield* print(
    table(
      ["key", "organization", "name", "created", "expires", "last used", "revoked"].map((title) => ({ title })),
      keys.map((key) => [
        shown(key),
        key.organization,
        key.name ?? absent,
        key.createdAt,
        key.expiresAt ?? "never",
        key.lastUsedAt ?? "never",
        key.revokedAt ?? absent
      ])
    )
  )
})

export interface RevokeOptions {
  /** What the key begins with, up to its second underscore; `bp_` may be left out. */
  readonly prefix: string
  readonly json: boolean
}

/** Ends a key, and the logins that were approved with it. */
export const revoke = Effect.fnUntraced(function* (options: RevokeOptions) {
  const accounts = yield* SqlAccounts
  const key = yield* accounts.revokeKey(options.prefix)
  if (options.json) return yield* json(key)
  yield* print(oneLine(`${shown(key)} of ${key.organization} is revoked since ${key.revokedAt ?? absent}.`))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const shown = ({ lastFour, prefix }: ApiKey): string => `bp_${prefix}_…${lastFour}`

const units = { m: Duration.minutes, h: Duration.hours, d: Duration.days, w: Duration.weeks } as const

const isUnit = (text: string | undefined): text is keyof typeof units => text !== undefined && text in units

const parseExpiry = (text: string): Either.Either<Duration.Duration, UsageError> => {
  const [, digits, unit] = /^(\d{1,6})([mhdw])$/.exec(text.trim()) ?? []
  return isUnit(unit) && Number(digits) > 0
    ? Either.right(units[unit](Number(digits)))
    : Either.left(
        new UsageError({ detail: `--expires expects minutes, hours, days or weeks, such as 90d (got "${text}")` })
      )
}
