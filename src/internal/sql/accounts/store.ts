import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { refuse } from "../../platform/validation.js"
import * as Database from "../database.js"
import * as Migrations from "../migrations.js"
import * as Devices from "./devices.js"
import * as Keys from "./keys.js"
import * as Logins from "./logins.js"
import type { AccountStore } from "./model.js"
import { Principal } from "./model.js"
import * as Organizations from "./organizations.js"
import * as Secrets from "./secrets.js"

/** Accounts in a database, whose tables are brought up to date first. */
export const make = Effect.fnUntraced(function* (options: { readonly adminKey?: Redacted.Redacted | undefined }) {
  const { adminKey } = options
  yield* refuse(adminKeyIssues(adminKey))
  const database = yield* Database.make
  yield* Migrations.migrate(database)
  const adminHash = adminKey && Secrets.hash(adminKey)
  const adminFingerprint = adminKey && Secrets.fingerprint(adminKey)
  const find = Organizations.makeFind(database)
  const { authenticateKey, ...keys } = Keys.make(database, find, yield* Effect.scope)
  const logins = Logins.make(database, adminFingerprint)
  const store: AccountStore = {
    ...Organizations.make(database),
    ...keys,
    ...Devices.make(database, logins, adminFingerprint),
    activate: logins.activate,
    refreshLogin: logins.refreshLogin,
    authenticate: (token) =>
      Effect.suspend(() => {
        if (adminHash !== undefined && Secrets.sameHash(Secrets.hash(token), adminHash)) {
          return Effect.succeedSome(Principal.Admin())
        }
        const text = Redacted.value(token)
        const prefix = Secrets.prefixOf(text)
        if (prefix !== undefined) return authenticateKey(token, prefix)
        return Secrets.isToken("access", text) ? logins.authenticateToken(token) : Effect.succeed(Option.none())
      })
  }
  return store
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const shortestAdminKey = 24

const adminKeyIssues = (adminKey: Redacted.Redacted | undefined) => {
  if (adminKey === undefined) return []
  const text = Redacted.value(adminKey)
  const field = "BENCH_ADMIN_KEY"
  if (text.length < shortestAdminKey) {
    return [
      { field, message: `must be at least ${shortestAdminKey} characters, such as those of \`openssl rand -hex 24\`` }
    ]
  }
  return /^[\x21-\x7e]+$/.test(text) ? [] : [{ field, message: "must be printable ASCII without blanks" }]
}
