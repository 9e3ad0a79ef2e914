/**
 * `bench auth login`, `bench auth logout` and `bench auth status`
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { Me, Organization } from "../Accounts.js"
import { Accounts } from "../Accounts.js"
import type { DeviceCode, Resolved, ResolveOptions, Source } from "../Credentials.js"
import * as Credentials from "../Credentials.js"
import { Unauthorized } from "../Platform.js"
import * as PlatformClient from "../PlatformClient.js"
import { CliError } from "./CliError.js"
import { ExitWith, json, print, say } from "./output.js"
import { oneLine } from "./text.js"

// -----------------------------------------------------------------------------
// signed in
// -----------------------------------------------------------------------------

/** The platform and the credentials that are meant; fails with `Unauthorized` when there are none. */
export const signedIn = (options: ResolveOptions) =>
  Effect.flatMap(
    Credentials.resolve(options),
    Option.match({
      onSome: Effect.succeed,
      onNone: () => Effect.flatMap(Credentials.resolveBaseUrl(options.baseUrl), (baseUrl) => noCredentials(baseUrl))
    })
  )

const noCredentials = (baseUrl: string) =>
  new Unauthorized({ reason: "Unauthenticated", detail: `there are no credentials for ${baseUrl}` })

/** Asks a platform about accounts, for an organization or for the one that is active there. */
export const withAccounts =
  (platform: Pick<Resolved, "baseUrl" | "credentials"> & Partial<Pick<Resolved, "invalidate" | "organization">>) =>
  <A, E, R>(use: (accounts: Accounts["Type"]) => Effect.Effect<A, E, R>) =>
    Effect.provide(Effect.flatMap(Accounts, use), PlatformClient.layerAccounts(platform))

/** The organization that is acted for: the one with this slug, else the active one, else the only one. */
export const actingFor = (me: Me, slug: string | undefined): Organization | undefined =>
  slug !== undefined
    ? me.organizations.find((organization) => organization.slug === slug)
    : (me.organizations.find(({ id }) => id === me.activeOrganizationId) ??
      (me.organizations.length === 1 ? me.organizations[0] : undefined))

// -----------------------------------------------------------------------------
// login
// -----------------------------------------------------------------------------

export interface LoginOptions {
  readonly baseUrl?: string | undefined
  /** Instead of signing in with a browser; `-` is read from standard input. */
  readonly apiKey?: Redacted.Redacted | undefined
  /** Slug of the organization to act for. */
  readonly organization?: string | undefined
}

/** Signs in with a browser, or with a key, and keeps what came of it. */
export const login = (options: LoginOptions) =>
  Effect.gen(function* () {
    yield* options.apiKey === undefined ? loginOnDevice(options) : loginWithKey(options, options.apiKey)
    const names = yield* Credentials.environmentVariables
    if (names.length > 0) yield* say(`${names.join(" and ")} in the environment comes before what is saved.`)
  }).pipe(
    Effect.catchTags({
      DeviceLoginFailed: (error) =>
        Effect.zipRight(say(error.message), new ExitWith({ code: error.reason === "Unavailable" ? 1 : 2 })),
      Unauthorized: (error) => Effect.zipRight(say(error.message), new ExitWith({ code: 2 }))
    })
  )

/** The first line, as a key. */
export const readKey = <E>(input: Stream.Stream<Uint8Array, E>): Effect.Effect<Redacted.Redacted, E | CliError> =>
  input.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runHead,
    Effect.map(Option.filter((line) => line.trim() !== "")),
    Effect.flatMap(
      Option.match({
        onSome: (line) => Effect.succeed(Redacted.make(line.trim())),
        onNone: () => new CliError({ detail: "--api-key -: there is no key on standard input" })
      })
    )
  )

const loginWithKey = Effect.fnUntraced(function* ({ baseUrl, organization }: LoginOptions, given: Redacted.Redacted) {
  const root = yield* Credentials.resolveBaseUrl(baseUrl)
  const fromInput = Redacted.value(given).trim() === "-"
  const key = yield* Credentials.parseKey(fromInput ? yield* readKey(NodeStream.stdin) : given, "--api-key")
  const me = yield* withAccounts({ baseUrl: root, credentials: Effect.succeed(key) })(({ me }) => me).pipe(
    Effect.catchTag("Unauthorized", () =>
      Effect.zipRight(
        say(`${root} does not accept this key: it is unknown, expired or revoked. Nothing was saved.`),
        new ExitWith({ code: 2 })
      )
    )
  )
  if (organization !== undefined) yield* member(me, organization)
  yield* Credentials.saveKey(root, key)
  yield* print(signedInAs(root, me, actingFor(me, organization)))
})

const loginOnDevice = Effect.fnUntraced(function* ({ baseUrl, organization }: LoginOptions) {
  const root = yield* Credentials.resolveBaseUrl(baseUrl)
  const clientId = yield* Effect.orDie(Config.withDefault(Config.nonEmptyString(clientVariable), "bench-cli"))
  const tokens = yield* Credentials.deviceLogin({ baseUrl: root, clientId, onCode: showCode })
  yield* Credentials.saveLogin(root, tokens)
  yield* withAccounts({ baseUrl: root, credentials: Effect.succeed(tokens.accessToken) })((accounts) =>
    Effect.gen(function* () {
      const me = yield* accounts.me
      if (organization !== undefined) {
        yield* accounts.activate((yield* member(me, organization)).slug)
        yield* Credentials.chooseOrganization(root, organization)
      }
      yield* print(signedInAs(root, me, actingFor(me, organization)))
    })
  ).pipe(
    Effect.catchTag("PlatformFailure", ({ message }) =>
      Effect.zipRight(print(`Signed in to ${root}.`), say(`Who is signed in could not be asked: ${message}`))
    )
  )
})

/** Name that the command gives itself where tokens are issued. */
const clientVariable = "BENCHMARKS_PLATFORM_CLIENT_ID"

const showCode = ({ expiresAt, userCode, verificationUri, verificationUriComplete }: DeviceCode) =>
  say(
    [
      `To sign in, open ${verificationUri}`,
      `and enter the code ${userCode}`,
      ...(verificationUriComplete === undefined ? [] : [`or open ${verificationUriComplete}`]),
      `Waiting until ${DateTime.formatIso(expiresAt)} (Ctrl-C to give up) …`
    ].join("\n")
  )

const member = (me: Me, slug: string): Effect.Effect<Organization, CliError> => {
  const found = actingFor(me, slug)
  if (found !== undefined) return Effect.succeed(found)
  const slugs = me.organizations.map((organization) => organization.slug).join(", ")
  return new CliError({
    detail: `These credentials give no access to the organization "${slug}". ${slugs === "" ? "They give access to none." : `There are: ${slugs}`}`
  })
}

const signedInAs = (baseUrl: string, me: Me, organization: Organization | undefined): string =>
  oneLine(
    `Signed in to ${baseUrl} ${me.user === null ? "with an API key" : `as ${nameOf(me.user)}`}` +
      (organization === undefined ? "." : `, for ${organization.slug}.`)
  )

const nameOf = (user: NonNullable<Me["user"]>): string => user.email ?? user.name ?? user.id

// -----------------------------------------------------------------------------
// logout
// -----------------------------------------------------------------------------

/** Forgets what is saved for a platform, and says what is left that gives access. */
export const logout = Effect.fnUntraced(function* ({ baseUrl }: { readonly baseUrl?: string | undefined }) {
  const root = yield* Credentials.resolveBaseUrl(baseUrl)
  const forgotten = yield* Credentials.forget(root)
  yield* print(
    forgotten === "none"
      ? `Nothing was saved for ${root}.`
      : `Signed out of ${root}: the ${forgotten === "login" ? "login" : "key"} is removed from this machine.`
  )
  const others = Object.keys((yield* Credentials.saved).credentials.platforms)
  if (others.length > 0) yield* say(`Still signed in to ${others.join(", ")}.`)
  const names = yield* Credentials.environmentVariables
  if (names.length > 0) yield* say(`${names.join(" and ")} in the environment still gives access.`)
})

// -----------------------------------------------------------------------------
// status
// -----------------------------------------------------------------------------

export interface StatusOptions extends ResolveOptions {
  readonly json: boolean
}

/** Who is signed in where, by what, and for which organization. Exit code 2 when nobody is. */
export const status = (options: StatusOptions) =>
  Effect.gen(function* () {
    const found = yield* Credentials.resolve(options)
    if (Option.isNone(found)) {
      const baseUrl = yield* Credentials.resolveBaseUrl(options.baseUrl)
      return yield* notSignedIn(options.json, { baseUrl, source: "none" }, noCredentials(baseUrl).message)
    }
    const { baseUrl, source } = found.value
    yield* Effect.catchTag(statusOf(found.value, options.json), "Unauthorized", ({ message }) =>
      notSignedIn(options.json, { baseUrl, source }, message)
    )
  })

const statusOf = Effect.fnUntraced(function* (resolved: Resolved, asJson: boolean) {
  const { baseUrl, source } = resolved
  const token = yield* resolved.credentials
  const me = yield* withAccounts(resolved)(({ me }) => me)
  const organization = actingFor(me, resolved.organization)
  const expiresAt = yield* resolved.expiresAt
  const expires = expiresAt === undefined ? undefined : DateTime.formatIso(expiresAt)
  const key = source === "login" ? undefined : Credentials.mask(token)
  if (asJson) {
    return yield* json({
      signedIn: true,
      baseUrl,
      source,
      user: me.user,
      organization: organization ?? null,
      expiresAt: expires ?? null,
      key: key ?? null
    })
  }
  const facts: ReadonlyArray<readonly [string, string | undefined]> = [
    ["user", me.user === null ? "none: a key acts for its organization" : nameOf(me.user)],
    ["organization", organization?.slug ?? resolved.organization ?? "none"],
    ["source", describe(source)],
    ["key", key],
    ["expires", expires && `${expires}, refreshed before`]
  ]
  yield* print(
    [`Signed in to ${baseUrl}`]
      .concat(facts.flatMap(([name, value]) => (value === undefined ? [] : `${name.padEnd(12)}  ${oneLine(value)}`)))
      .join("\n")
  )
})

const describe = (source: Source): string => {
  if (source === "flag") return "--api-key"
  if (source === "login" || source === "saved key") return `${source} in ~/.benchsdk`
  return source.replace(/^environment:(.*)$/, "$1 in the environment")
}

const notSignedIn = (asJson: boolean, at: { readonly baseUrl: string; readonly source: Source }, reason: string) =>
  Effect.zipRight(asJson ? json({ signedIn: false, ...at, reason }) : say(reason), new ExitWith({ code: 2 }))
