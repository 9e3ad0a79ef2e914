/** Who asks: what `bench auth login` saved, or what was given. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Endpoint } from "./client.js"
import { noCredentials } from "./client.js"
import { AuthError } from "./errors.js"
import { runPromise } from "./runtime.js"

/**
 * What credentials are looked for in, before the environment and what is saved.
 *
 * @since 0.1.0
 * @category models
 */
export interface ResolveAuthOptions {
  readonly baseUrl?: string | undefined
  readonly apiKey?: string | undefined
  /** Name of a variable that holds the key. */
  readonly apiKeyEnv?: string | undefined
  /** Slug of the organization to act for. Default: the one that was chosen for a saved login. */
  readonly orgSlug?: string | undefined
}

/**
 * A platform, and what to show it. It holds the secret in the clear: do not log it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ResolvedAuth {
  /** Without `/api/v1`. */
  readonly baseUrl: string
  /** `flag`, `environment:NAME`, `login` or `saved key`. */
  readonly source: string
  /** Set unless it is a login. */
  readonly apiKey?: string
  /** Access token of a login, refreshed if it was about to expire. */
  readonly token?: string
  readonly orgSlug?: string
}

/**
 * Finds the credentials that `bench` would use: those given, `BENCHMARKS_PLATFORM_TOKEN`, `BENCHMARKS_PLATFORM_API_KEY`, or what
 * is saved in `~/.benchsdk`. Rejects with an {@link AuthError} that says how to get some.
 *
 * @since 0.1.0
 * @category constructors
 */
export const resolveAuth = (options: ResolveAuthOptions = {}): Promise<ResolvedAuth> =>
  authenticated(async () => {
    const { baseUrl, credentials, organization, source } = await find(options)
    const secret = Redacted.value(await runPromise(credentials))
    return {
      baseUrl,
      source,
      ...(source === "login" ? { token: secret } : { apiKey: secret }),
      ...(organization !== undefined && { orgSlug: organization })
    }
  })

/** Like {@link resolveAuth}, for a client: a login is refreshed as long as the client is used. */
export const resolveEndpoint = (options: ResolveAuthOptions): Promise<Endpoint> => authenticated(() => find(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const find = async ({ apiKey, apiKeyEnv, baseUrl, orgSlug }: ResolveAuthOptions) => {
  const { defaultBaseUrl, resolve } = await import("../../Credentials.js")
  const found = await runPromise(
    Effect.provide(
      resolve({
        apiKey: apiKey === undefined ? undefined : Redacted.make(apiKey),
        apiKeyEnv,
        baseUrl,
        organization: orgSlug
      }),
      FetchHttpClient.layer
    )
  )
  if (Option.isNone(found) || found.value.source === "none") {
    throw new AuthError(noCredentials(Option.isSome(found) ? found.value.baseUrl : defaultBaseUrl))
  }
  return found.value
}

const authenticated = async <A>(use: () => Promise<A>): Promise<A> => {
  try {
    return await use()
  } catch (error) {
    throw error instanceof AuthError || !(error instanceof Error)
      ? error
      : new AuthError(error.message, { cause: error })
  }
}
