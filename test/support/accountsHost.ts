/** A server with accounts, on a port of its own, over a database in memory. */
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Logger, LogLevel, Redacted } from "effect"
import * as Artifacts from "../../src/Artifacts.js"
import * as PlatformServer from "../../src/PlatformServer.js"
import * as SqlAccounts from "../../src/SqlAccounts.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"

export const adminKey = Redacted.make("admin-0123456789abcdef0123456789")

/** A server that lets in by keys of its database, and signs devices in. */
export const serve = Effect.gen(function* () {
  const base = yield* Layer.build(Layer.merge(SqliteClient.layer({ filename: ":memory:" }), Artifacts.layerMemory))
  const context = Context.merge(base, yield* Effect.provide(Layer.build(SqlAccounts.layerWith({ adminKey })), base))
  const accounts = Context.get(context, SqlAccounts.SqlAccounts)
  const deviceLogin = yield* Effect.provide(SqlAccounts.deviceLogin(), context)
  const { url } = yield* PlatformServer.serve({ port: 0, apps: [deviceLogin] }).pipe(
    Effect.provide(SqlAccounts.layerAuthorization()),
    Effect.provide(context)
  )
  const platformOf = yield* Effect.provide(SqlPlatform.makeByOrganization({}), context)
  return { baseUrl: url, accounts, platformOf, context }
}).pipe(Logger.withMinimumLogLevel(LogLevel.Error))

export type Host = Effect.Effect.Success<typeof serve>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The text as JSON; undefined when it is none. */
  readonly body: unknown
}

/** Sends a request; a body is sent as JSON unless it is a text. */
export const ask = (
  host: { readonly baseUrl: string },
  path: string,
  init: {
    readonly method?: string
    readonly key?: Redacted.Redacted | string | undefined
    readonly headers?: Readonly<Record<string, string>> | undefined
    readonly body?: unknown
  } = {}
): Effect.Effect<Answer> =>
  Effect.promise(async () => {
    const { body, headers, key, method } = init
    const response = await fetch(host.baseUrl + path, {
      method: method ?? "GET",
      redirect: "manual",
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${typeof key === "string" ? key : Redacted.value(key)}` }),
        ...(body !== undefined && typeof body !== "string" && { "content-type": "application/json" }),
        ...headers
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parse(text) }
  })

/** An organization with a key. */
export const organization = (accounts: Host["accounts"], slug: string) =>
  Effect.gen(function* () {
    const { id } = yield* accounts.createOrganization({ slug, name: `Name of ${slug}` })
    const { apiKey, key } = yield* accounts.createKey({ organization: slug, name: "test" })
    return { id, slug, name: `Name of ${slug}`, key, apiKey }
  })

export const assertAnswer = (answer: Answer, status: number, body: unknown): void =>
  assert.deepStrictEqual([answer.status, answer.body], [status, body])

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
