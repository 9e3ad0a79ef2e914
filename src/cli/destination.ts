/**
 * Which platform a command means: a remote one, or the project's own store.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { CredentialsError, Resolved } from "../Credentials.js"
import type { InvalidRequest, Platform, PlatformFailure, PlatformOrigin } from "../Platform.js"
import type { ProjectConfig } from "../ProjectConfig.js"
import { CliError } from "./CliError.js"
import { say } from "./output.js"
import * as Project from "./project.js"
import { UsageError } from "./UsageError.js"

/** The flags that choose a platform. */
export interface DestinationFlags {
  readonly local?: boolean | undefined
  readonly baseUrl?: string | undefined
  readonly apiKey?: Redacted.Redacted | undefined
  readonly org?: string | undefined
}

export type Destination = Data.TaggedEnum<{
  /** The project's own store. */
  readonly Store: object
  readonly Remote: { readonly resolved: Resolved }
}>

const Destination = Data.taggedEnum<Destination>()

export const store: Destination = Destination.Store()

/** HTTP with redirects left to the client that knows which of them may see credentials. */
export const layerHttp: Layer.Layer<HttpClient.HttpClient> = Layer.unwrapEffect(
  Effect.map(
    Effect.promise(() => import("@effect/platform/FetchHttpClient")),
    ({ layer }) => layer
  )
)

/**
 * `--local` means the store; flags, the environment or a login mean that platform; a project's `baseUrl` only says which
 * platform it is once there are credentials for it.
 */
export const choose = (
  flags: DestinationFlags,
  settings: ProjectConfig
): Effect.Effect<Destination, CredentialsError | UsageError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    if (flags.local === true) {
      const others = [flags.baseUrl && "--base-url", flags.apiKey && "--api-key", flags.org && "--org"].filter(Boolean)
      return others.length === 0
        ? store
        : yield* new UsageError({ detail: `--local and ${others.join(", ")} contradict each other` })
    }
    const { resolve } = yield* Effect.promise(() => import("../Credentials.js"))
    const found = yield* Effect.provide(
      resolve({
        apiKey: flags.apiKey,
        apiKeyEnv: settings.apiKeyEnv,
        baseUrl: flags.baseUrl ?? settings.baseUrl,
        organization: flags.org
      }),
      layerHttp
    )
    if (Option.isNone(found)) {
      return flags.org === undefined
        ? store
        : yield* new UsageError({
            detail:
              "--org names an organization of a platform: sign in first with `bench auth login`, or pass --api-key"
          })
    }
    const onlyProject = found.value.source === "none" && flags.baseUrl === undefined && settings.baseUrl !== undefined
    if (onlyProject) {
      yield* say(
        `warning: not signed in to ${found.value.baseUrl}, which the project names: using the project's own store. Sign in with \`bench auth login\``
      )
      return store
    }
    return Destination.Remote({ resolved: found.value })
  })

/** The platform itself. A command that only reads does not create a store. */
export const layerPlatform = (
  destination: Destination,
  mode: "read" | "write"
): Layer.Layer<Platform, PlatformFailure | InvalidRequest | CliError, FileSystem.FileSystem | Path.Path> =>
  destination._tag === "Store" ? Project.layerStore(mode) : layerRemote(destination.resolved)

/** The platform that a spooled journal belongs to, with the credentials that there are now. */
export const layerOrigin = (
  origin: PlatformOrigin,
  flags: Pick<DestinationFlags, "apiKey">,
  settings: ProjectConfig
): Layer.Layer<
  Platform,
  PlatformFailure | InvalidRequest | CliError | CredentialsError,
  FileSystem.FileSystem | Path.Path
> =>
  origin.kind === "store"
    ? Project.layerStoreFile(origin.location)
    : Layer.unwrapEffect(
        Effect.gen(function* () {
          const { resolve } = yield* Effect.promise(() => import("../Credentials.js"))
          const found = yield* Effect.provide(
            resolve({
              apiKey: flags.apiKey,
              apiKeyEnv: settings.apiKeyEnv,
              baseUrl: origin.baseUrl,
              organization: origin.organization
            }),
            layerHttp
          )
          if (Option.isSome(found)) return layerRemote(found.value)
          return yield* new CliError({ detail: `There are no credentials for ${origin.baseUrl}.` })
        })
      )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layerRemote = ({
  baseUrl,
  credentials,
  invalidate,
  organization
}: Resolved): Layer.Layer<Platform, InvalidRequest> =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("../PlatformClient.js")),
      ({ layer }) => Layer.provide(layer({ baseUrl, credentials, invalidate, organization }), layerHttp)
    )
  )
