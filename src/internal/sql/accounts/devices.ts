import * as SqlSchema from "@effect/sql/SqlSchema"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Database } from "../database.js"
import { now } from "../database.js"
import type { Approver, Logins } from "./logins.js"
import type { AccountStore, DeviceDecision } from "./model.js"
import * as Secrets from "./secrets.js"

type Operations = Pick<AccountStore, "startDeviceLogin" | "decideDeviceLogin" | "exchangeDeviceCode">

/** Logins that wait until a person approves them on another device (RFC 8628). */
export const make = (database: Database, logins: Logins, adminFingerprint: string | undefined): Operations => {
  const { sql, write } = database

  const findByDeviceCode = SqlSchema.findOne({
    Request: Schema.String,
    Result: DeviceRow,
    execute: (deviceCodeHash) => sql`SELECT client_id AS "clientId", status, login_id AS "loginId",
        interval_seconds AS "intervalSeconds", expires_at AS "expiresAt", last_polled_at AS "lastPolledAt"
      FROM device_authorizations WHERE device_code_hash = ${deviceCodeHash}`
  })

  const take = SqlSchema.findOne({
    Request: Schema.Struct({ userCode: Schema.String, status: Schema.String, time: Schema.String }),
    Result: Schema.Struct({ clientId: Schema.String }),
    execute: ({ status, time, userCode }) => sql`UPDATE device_authorizations SET status = ${status}
      WHERE user_code = ${userCode} AND status = 'pending' AND expires_at > ${time}
      RETURNING client_id AS "clientId"`
  })

  const findKey = SqlSchema.single({
    Request: Schema.String,
    Result: Schema.Struct({ name: Schema.NullOr(Schema.String), prefix: Schema.String, organizationId: Schema.String }),
    execute: (id) => sql`SELECT name, prefix, organization_id AS "organizationId" FROM api_keys WHERE id = ${id}`
  })

  const approverOf = Effect.fnUntraced(function* (decision: Exclude<DeviceDecision, { readonly _tag: "Deny" }>) {
    if (decision._tag === "ApproveAsAdmin") {
      const { organizationId } = decision
      const approver: Approver = {
        subject: `admin:${organizationId}`,
        name: "Administrator",
        apiKeyId: null,
        // Of no admin key: such a login is never good.
        adminFingerprint: adminFingerprint ?? "",
        organizationId,
        role: "owner"
      }
      return approver
    }
    const { keyId } = decision
    const { name, organizationId, prefix } = yield* Effect.catchTag(
      findKey(keyId),
      "NoSuchElementException",
      Effect.die
    )
    const approver: Approver = {
      subject: `key:${keyId}`,
      name: name ?? `bp_${prefix}`,
      apiKeyId: keyId,
      adminFingerprint: null,
      organizationId,
      role: "member"
    }
    return approver
  })

  const insert = Effect.fnUntraced(function* (clientId: string, time: DateTime.Utc) {
    const deviceCode = yield* Secrets.newToken("device")
    for (;;) {
      const userCode = yield* Secrets.newUserCode
      const inserted = yield* sql`INSERT INTO device_authorizations ${sql.insert({
        device_code_hash: Secrets.hash(deviceCode),
        user_code: userCode,
        client_id: clientId,
        status: "pending",
        interval_seconds: intervalSeconds,
        created_at: DateTime.formatIso(time),
        expires_at: DateTime.formatIso(DateTime.add(time, { seconds: expiresInSeconds }))
      })} ON CONFLICT (user_code) DO NOTHING RETURNING user_code`
      if (inserted.length > 0) return { deviceCode, userCode }
    }
  })

  const poll = Effect.fnUntraced(function* (deviceCodeHash: string, device: DeviceRow, time: DateTime.Utc) {
    const since = device.lastPolledAt === null ? undefined : DateTime.unsafeMake(device.lastPolledAt)
    const early =
      since !== undefined && DateTime.distance(since, time) < device.intervalSeconds * 1000 - toleranceMillis
    yield* sql`UPDATE device_authorizations SET last_polled_at = ${DateTime.formatIso(time)},
      interval_seconds = ${device.intervalSeconds + (early ? slowDownSeconds : 0)}
      WHERE device_code_hash = ${deviceCodeHash}`
    return early ? ("slow_down" as const) : ("authorization_pending" as const)
  })

  return {
    startDeviceLogin: (clientId) =>
      Effect.gen(function* () {
        const time = yield* DateTime.now
        const longAgo = DateTime.formatIso(DateTime.subtract(time, { hours: 1 }))
        yield* sql`DELETE FROM device_authorizations WHERE device_code_hash IN
          (SELECT device_code_hash FROM device_authorizations WHERE expires_at <= ${longAgo}
            ORDER BY expires_at LIMIT 1000)`
        yield* logins.sweep(DateTime.formatIso(time))
        return { ...(yield* insert(clientId, time)), expiresInSeconds, intervalSeconds }
      }).pipe((queries) => write("start a login", queries)),

    decideDeviceLogin: ({ decision, userCode }) =>
      Effect.gen(function* () {
        const code = Secrets.normalizeUserCode(userCode)
        const status = decision._tag === "Deny" ? "denied" : "approved"
        const taken = yield* take({ userCode: code, status, time: yield* now })
        if (Option.isSome(taken) && decision._tag !== "Deny") {
          const loginId = yield* logins.create(taken.value.clientId, yield* approverOf(decision))
          yield* sql`UPDATE device_authorizations SET login_id = ${loginId} WHERE user_code = ${code}`
        }
        return taken
      }).pipe((queries) => write("decide a login", queries)),

    // A refusal is a value: a transaction that fails is rolled back, and would forget when it was polled.
    exchangeDeviceCode: ({ clientId, deviceCode }) =>
      Effect.gen(function* () {
        const deviceCodeHash = Secrets.hash(deviceCode)
        const found = yield* findByDeviceCode(deviceCodeHash)
        if (Option.isNone(found) || found.value.clientId !== clientId || found.value.status === "consumed") {
          return Either.left("invalid_grant" as const)
        }
        const device = found.value
        const time = yield* DateTime.now
        if (device.expiresAt <= DateTime.formatIso(time)) return Either.left("expired_token" as const)
        if (device.status === "denied") return Either.left("access_denied" as const)
        if (device.status === "pending" || device.loginId === null) {
          return Either.left(yield* poll(deviceCodeHash, device, time))
        }
        const consumed = yield* sql`UPDATE device_authorizations SET status = 'consumed'
          WHERE device_code_hash = ${deviceCodeHash} AND status = 'approved' RETURNING user_code`
        return consumed.length === 0
          ? Either.left("invalid_grant" as const)
          : Either.right(yield* logins.issue(device.loginId))
      }).pipe((queries) => write("sign a device in", queries))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const expiresInSeconds = 600

const intervalSeconds = 5

/** How much longer the interval is after each request that came too early. */
const slowDownSeconds = 5

/** Requests that were sent in time may arrive closer to each other. */
const toleranceMillis = 1000

const DeviceRow = Schema.Struct({
  clientId: Schema.String,
  status: Schema.Literal("pending", "approved", "denied", "consumed"),
  loginId: Schema.NullOr(Schema.String),
  intervalSeconds: Schema.Int,
  expiresAt: Schema.String,
  lastPolledAt: Schema.NullOr(Schema.String)
})

type DeviceRow = typeof DeviceRow.Type
