/**
 * Which platform is meant, and what to show it: keys given for one command, and logins and keys saved in `~/.benchsdk`.
 *
 * @since 0.1.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as BaseUrl from "./internal/credentials/baseUrl.js"
import type { DeviceCode } from "./internal/credentials/device.js"
import * as Device from "./internal/credentials/device.js"
import type { Login, SavedCredentials, SavedSettings } from "./internal/credentials/documents.js"
import * as Documents from "./internal/credentials/documents.js"
import { secret, setting, trimmed } from "./internal/credentials/environment.js"
import type { DeviceLoginFailed } from "./internal/credentials/errors.js"
import { CredentialsError } from "./internal/credentials/errors.js"
import * as Files from "./internal/credentials/files.js"
import * as Session from "./internal/credentials/session.js"
import { Unauthorized } from "./Platform.js"

export { defaultBaseUrl } from "./internal/credentials/baseUrl.js"
export type { DeviceCode } from "./internal/credentials/device.js"
export { Login, SavedCredentials, SavedSettings } from "./internal/credentials/documents.js"
export { CredentialsError, DeviceLoginFailed } from "./internal/credentials/errors.js"

/**
 * Where credentials come from: `--api-key`, a variable of the environment, a saved login or a saved key, or nowhere.
 *
 * @since 0.1.0
 * @category models
 */
export type Source = "flag" | `environment:${string}` | "login" | "saved key" | "none"

/**
 * A platform, and the credentials for it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Resolved {
  /** Without a slash at its end, and without `/api/v1`. */
  readonly baseUrl: string
  readonly source: Source
  /**
   * What to send with a request. A login is refreshed 5 minutes before it expires, once for everybody who asks meanwhile,
   * in other processes too. Fails when there is nothing to send, or the login has expired and cannot be refreshed.
   */
  readonly credentials: Effect.Effect<Redacted.Redacted, Unauthorized>
  /**
   * Tells that the platform did not take these credentials (401): those that come next are others. False when there are
   * no others, so that trying again is of no use.
   */
  readonly invalidate: (rejected: Redacted.Redacted) => Effect.Effect<boolean>
  /** The slug of the organization to act for; undefined leaves that to the platform. */
  readonly organization: string | undefined
  /** When the login expires unless it is refreshed; undefined when that is not known, and for keys. */
  readonly expiresAt: Effect.Effect<DateTime.Utc | undefined>
}

/**
 * What credentials are looked for in: the options of a command. Blank ones count as absent.
 *
 * @since 0.1.0
 * @category models
 */
export interface ResolveOptions {
  readonly apiKey?: Redacted.Redacted | undefined
  /** Name of a variable that holds the key, as a project's settings may say; looked at after `apiKey`. */
  readonly apiKeyEnv?: string | undefined
  readonly baseUrl?: string | undefined
  /** Default, for a saved login: the one that was chosen for it. */
  readonly organization?: string | undefined
}

/**
 * Finds the platform and its credentials. The first of these counts: `apiKey`, the variable `apiKeyEnv`,
 * `BENCHMARKS_PLATFORM_TOKEN`, `BENCHMARKS_PLATFORM_API_KEY`, the saved login, the saved key. The base URL is `baseUrl`,
 * `BENCHMARKS_PLATFORM_URL`, that of `config.json`, or {@link defaultBaseUrl}.
 *
 * None when there are no credentials and no base URL was given. One that was given, by option or environment, without
 * credentials: the effect that should give them fails. Fails with {@link CredentialsError} when a base URL or a key
 * cannot be used, or a file that is needed cannot be read.
 *
 * @since 0.1.0
 * @category constructors
 */
export const resolve = (
  options: ResolveOptions
): Effect.Effect<
  Option.Option<Resolved>,
  CredentialsError,
  FileSystem.FileSystem | Path.Path | HttpClient.HttpClient
> =>
  Effect.gen(function* () {
    const { baseUrl, given } = yield* findBaseUrl(options.baseUrl)
    const organization = options.organization?.trim() || undefined
    const key = yield* findKey(options)
    if (key !== undefined) return Option.some(withKey(baseUrl, key.source, key.value, organization))
    const saved = (yield* Files.read(Documents.credentials)).platforms[baseUrl]
    if (saved?.login !== undefined) {
      const session = yield* Session.make(baseUrl, saved.login)
      const settings = organization === undefined ? yield* Files.read(Documents.settings) : undefined
      const chosen = organization ?? settings?.platforms[baseUrl]?.organization
      return Option.some({ baseUrl, source: "login", organization: chosen, ...session })
    }
    if (saved?.apiKey !== undefined) return Option.some(withKey(baseUrl, "saved key", saved.apiKey, organization))
    return given ? Option.some(withoutCredentials(baseUrl, organization)) : Option.none()
  })

/**
 * The base URL that {@link resolve} would use.
 *
 * @since 0.1.0
 * @category constructors
 */
export const resolveBaseUrl = (
  baseUrl?: string | undefined
): Effect.Effect<string, CredentialsError, FileSystem.FileSystem | Path.Path> =>
  Effect.map(findBaseUrl(baseUrl), (found) => found.baseUrl)

/**
 * The root of a platform as it is kept and compared: without a slash at its end, without `/api/v1`. Refuses what is not
 * https, except to this machine, and what holds a password. `subject` names in the error where the text comes from.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parseBaseUrl: (text: string, subject: string) => Either.Either<string, CredentialsError> = BaseUrl.parse

/**
 * A key without blanks around it. Refuses one that is blank or that a header cannot carry, naming where it comes from.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parseKey = (key: Redacted.Redacted, subject: string): Effect.Effect<Redacted.Redacted, CredentialsError> =>
  Effect.suspend(() => {
    const value = trimmed(key)
    if (value !== undefined && Documents.isSendable(Redacted.value(value))) return Effect.succeed(value)
    const detail = value === undefined ? "the key is blank" : "the key holds characters that no key has; copy it again"
    return new CredentialsError({ reason: "InvalidKey", subject, detail })
  })

/**
 * The variables of the environment that hold credentials, in the order in which they count. Each comes before everything
 * that is saved.
 *
 * @since 0.1.0
 * @category constructors
 */
export const environmentVariables: Effect.Effect<ReadonlyArray<string>> = Effect.suspend(() =>
  Effect.filter(variables, (name) => Effect.map(secret(name), (value) => value !== undefined))
)

/**
 * Signs a person in by a code that they confirm in a browser, on this or another device (RFC 8628). `onCode` shows them
 * the code; then the platform is asked, every 5 seconds or as it says, until they have decided. While it cannot be
 * reached, asking goes on. Interruption ends it. Nothing is saved: see {@link saveLogin}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const deviceLogin = <E, R>(options: {
  readonly baseUrl: string
  readonly clientId: string
  readonly onCode: (code: DeviceCode) => Effect.Effect<unknown, E, R>
}): Effect.Effect<Login, CredentialsError | DeviceLoginFailed | E, HttpClient.HttpClient | R> =>
  Effect.gen(function* () {
    const baseUrl = yield* BaseUrl.parse(options.baseUrl, "base URL")
    const request = yield* Device.requestCode(baseUrl, options.clientId)
    yield* options.onCode(request.code)
    return yield* Device.waitForTokens(baseUrl, options.clientId, request)
  })

/**
 * Keeps a login for a platform, instead of what was saved for it, and makes the platform the one that is meant when none
 * is named. The files are replaced as a whole, one process at a time, and nobody else may read them.
 *
 * @since 0.1.0
 * @category combinators
 */
export const saveLogin = (
  baseUrl: string,
  login: Login
): Effect.Effect<void, CredentialsError, FileSystem.FileSystem | Path.Path> => saveFor(baseUrl, { login })

/**
 * Like {@link saveLogin} for an API key.
 *
 * @since 0.1.0
 * @category combinators
 */
export const saveKey = (
  baseUrl: string,
  apiKey: Redacted.Redacted
): Effect.Effect<void, CredentialsError, FileSystem.FileSystem | Path.Path> =>
  Effect.flatMap(parseKey(apiKey, "API key"), (key) => saveFor(baseUrl, { apiKey: key }))

/**
 * Forgets what is saved for a platform, the organization included. Tells what that was: `"none"` if nothing.
 *
 * @since 0.1.0
 * @category combinators
 */
export const forget = (
  baseUrl: string
): Effect.Effect<"login" | "saved key" | "none", CredentialsError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const { platforms } = yield* Files.read(Documents.credentials)
    const settings = yield* Files.read(Documents.settings)
    if (settings.platforms[baseUrl] !== undefined) {
      yield* Files.transaction(Documents.settings, (current, save) =>
        save({ ...current, platforms: without(current.platforms, baseUrl) })
      )
    }
    const entry = platforms[baseUrl]
    if (entry === undefined) return "none"
    yield* Files.transaction(Documents.credentials, (current, save) =>
      save({ ...current, platforms: without(current.platforms, baseUrl) })
    )
    return entry.login !== undefined ? "login" : entry.apiKey !== undefined ? "saved key" : "none"
  })

/**
 * What is saved, without refreshing anything. Secrets in it are redacted.
 *
 * @since 0.1.0
 * @category constructors
 */
export const saved: Effect.Effect<
  { readonly credentials: SavedCredentials; readonly settings: SavedSettings },
  CredentialsError,
  FileSystem.FileSystem | Path.Path
> = Effect.all({ credentials: Files.read(Documents.credentials), settings: Files.read(Documents.settings) })

/**
 * Keeps the organization that a login to a platform acts for.
 *
 * @since 0.1.0
 * @category combinators
 */
export const chooseOrganization = (
  baseUrl: string,
  organization: string
): Effect.Effect<void, CredentialsError, FileSystem.FileSystem | Path.Path> =>
  Files.transaction(Documents.settings, (current, save) =>
    save({
      ...current,
      platforms: { ...current.platforms, [baseUrl]: { ...current.platforms[baseUrl], organization } }
    })
  )

/**
 * A key as people may see it: `bp_abcd…wxyz`, only its end when it is no key of a platform, and neither when it is short.
 *
 * @since 0.1.0
 * @category combinators
 */
export const mask = (key: Redacted.Redacted): string => {
  const text = Redacted.value(key)
  if (text.length < 20) return "…"
  return text.startsWith("bp_") ? `${text.slice(0, 7)}…${text.slice(-4)}` : `…${text.slice(-4)}`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const variables = ["BENCHMARKS_PLATFORM_TOKEN", "BENCHMARKS_PLATFORM_API_KEY"]

const findBaseUrl = Effect.fnUntraced(function* (option: string | undefined) {
  const variable = "BENCHMARKS_PLATFORM_URL"
  const asked = option?.trim() || undefined
  if (asked !== undefined) return { baseUrl: yield* BaseUrl.parse(asked, "--base-url"), given: true }
  const fromEnvironment = yield* setting(variable)
  if (fromEnvironment !== undefined) return { baseUrl: yield* BaseUrl.parse(fromEnvironment, variable), given: true }
  const remembered = (yield* Files.read(Documents.settings)).baseUrl?.trim() || undefined
  if (remembered === undefined) return { baseUrl: BaseUrl.defaultBaseUrl, given: false }
  return { baseUrl: yield* BaseUrl.parse(remembered, "~/.benchsdk/config.json: baseUrl"), given: false }
})

const findKey = Effect.fnUntraced(function* (options: ResolveOptions) {
  const flag = options.apiKey && trimmed(options.apiKey)
  if (flag !== undefined) return { source: "flag", value: yield* parseKey(flag, "--api-key") } as const
  const named = options.apiKeyEnv?.trim() || undefined
  for (const name of named === undefined ? variables : [named, ...variables]) {
    const value = yield* secret(name)
    if (value !== undefined) return { source: `environment:${name}`, value: yield* parseKey(value, name) } as const
  }
  return undefined
})

const withKey = (
  baseUrl: string,
  source: Source,
  key: Redacted.Redacted,
  organization: string | undefined
): Resolved => ({
  baseUrl,
  source,
  credentials: Effect.succeed(key),
  invalidate: () => Effect.succeed(false),
  organization,
  expiresAt: Effect.succeed(undefined)
})

const withoutCredentials = (baseUrl: string, organization: string | undefined): Resolved => ({
  baseUrl,
  source: "none",
  credentials: new Unauthorized({ reason: "Unauthenticated", detail: `there are no credentials for ${baseUrl}` }),
  invalidate: () => Effect.succeed(false),
  organization,
  expiresAt: Effect.succeed(undefined)
})

const without = <A>(record: Readonly<Record<string, A>>, key: string): Readonly<Record<string, A>> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== key))

const saveFor = Effect.fnUntraced(function* (
  baseUrl: string,
  entry: { readonly login: Login } | { readonly apiKey: Redacted.Redacted }
) {
  const root = yield* BaseUrl.parse(baseUrl, "base URL")
  yield* Files.transaction(Documents.credentials, (current, save) =>
    save({ ...current, platforms: { ...current.platforms, [root]: entry } })
  )
  yield* Files.transaction(Documents.settings, (current, save) =>
    save({ ...current, baseUrl: root, platforms: without(current.platforms, root) })
  )
})
