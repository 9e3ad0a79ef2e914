import type { SqlClient } from "@effect/sql/SqlClient"
import type * as Statement from "@effect/sql/Statement"
import * as Effect from "effect/Effect"

/**
 * Of keys and tokens only SHA-256 hashes are kept. A user is whoever approved a login, named by `subject`: a key, or the
 * admin key for one organization. `logins` are families of tokens; a refresh token that was used stays, so that its second
 * use is noticed.
 */
export const createTables = (
  sql: SqlClient,
  { seq, sorted }: { readonly seq: Statement.Fragment; readonly sorted: Statement.Fragment }
) =>
  Effect.all(
    [
      sql`ALTER TABLE organizations ADD COLUMN name TEXT`,
      sql`CREATE TABLE api_keys (
        ${seq},
        id TEXT NOT NULL UNIQUE,
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        name TEXT,
        prefix TEXT NOT NULL UNIQUE,
        key_hash TEXT NOT NULL,
        last_four TEXT NOT NULL,
        created_by TEXT,
        created_at ${sorted} NOT NULL,
        expires_at ${sorted},
        revoked_at ${sorted},
        last_used_at ${sorted}
      )`,
      sql`CREATE INDEX api_keys_newest ON api_keys (organization_id, created_at, seq)`,
      sql`CREATE TABLE users (
        ${seq},
        id TEXT NOT NULL UNIQUE,
        subject TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        api_key_id TEXT REFERENCES api_keys (id),
        created_at ${sorted} NOT NULL
      )`,
      sql`CREATE TABLE members (
        user_id TEXT NOT NULL REFERENCES users (id),
        organization_id TEXT NOT NULL REFERENCES organizations (id),
        role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
        created_at ${sorted} NOT NULL,
        PRIMARY KEY (user_id, organization_id)
      )`,
      sql`CREATE TABLE logins (
        ${seq},
        id TEXT NOT NULL UNIQUE,
        user_id TEXT NOT NULL REFERENCES users (id),
        client_id TEXT NOT NULL,
        admin_fingerprint TEXT,
        active_organization_id TEXT REFERENCES organizations (id),
        created_at ${sorted} NOT NULL,
        revoked_at ${sorted}
      )`,
      sql`CREATE TABLE login_tokens (
        token_hash TEXT PRIMARY KEY NOT NULL,
        login_id TEXT NOT NULL REFERENCES logins (id),
        kind TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
        created_at ${sorted} NOT NULL,
        expires_at ${sorted} NOT NULL,
        used_at ${sorted}
      )`,
      sql`CREATE INDEX login_tokens_by_expiry ON login_tokens (expires_at)`,
      sql`CREATE TABLE device_authorizations (
        device_code_hash TEXT PRIMARY KEY NOT NULL,
        user_code TEXT NOT NULL UNIQUE,
        client_id TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'consumed')),
        login_id TEXT REFERENCES logins (id),
        interval_seconds INTEGER NOT NULL,
        created_at ${sorted} NOT NULL,
        expires_at ${sorted} NOT NULL,
        last_polled_at ${sorted}
      )`,
      sql`CREATE INDEX device_authorizations_by_expiry ON device_authorizations (expires_at)`
    ],
    { discard: true }
  )
