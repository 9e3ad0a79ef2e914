/**
 * Where the bytes of artifacts are kept: logs, system metrics, and what else a benchmark leaves.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import * as Files from "./internal/artifacts/files.js"
import * as Memory from "./internal/artifacts/memory.js"
import type { PlatformFailure, ResourceNotFound } from "./Platform.js"

/**
 * A URL that is good for one object until it expires (never, when `expiresAt` is null).
 *
 * @since 0.1.0
 * @category models
 */
export interface ObjectUrl {
  readonly url: string
  /** ISO-8601 UTC. */
  readonly expiresAt: string | null
}

/**
 * Objects by key. A key is a relative path of URL-safe segments; one that would lead out of the storage is refused with a
 * {@link PlatformFailure}.
 *
 * @since 0.1.0
 * @category services
 */
export class Artifacts extends Context.Tag("effect-bench/Artifacts")<
  Artifacts,
  {
    /** Where a client PUTs the bytes of a new object. */
    readonly prepareUpload: (object: {
      readonly objectKey: string
      readonly contentType: string | undefined
    }) => Effect.Effect<ObjectUrl, PlatformFailure>
    /** Where a client GETs the bytes of an object, to be saved under `fileName`. */
    readonly prepareDownload: (object: {
      readonly objectKey: string
      readonly contentType: string | undefined
      readonly fileName: string
    }) => Effect.Effect<ObjectUrl, PlatformFailure>
    /** Stores an object, whole or not at all; an existing one is replaced. */
    readonly write: (objectKey: string, content: Uint8Array) => Effect.Effect<void, PlatformFailure>
    /** Fails with {@link ResourceNotFound} `artifact` when there is no such object. */
    readonly read: (objectKey: string) => Stream.Stream<Uint8Array, PlatformFailure | ResourceNotFound>
    readonly remove: (objectKey: string) => Effect.Effect<void, PlatformFailure>
  }
>() {}

/**
 * Objects as files below a directory, which is created when the first object is written; URLs are `file:` URLs that never
 * expire. An object is replaced atomically, and on the disk once `write` succeeds.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFiles = (options: { readonly directory: string }): Layer.Layer<Artifacts> =>
  Layer.sync(Artifacts, () => Files.make(options.directory))

/**
 * Objects in memory, none each time it is built. Their `memory:` URLs mean nothing outside of the process.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<Artifacts> = Layer.sync(Artifacts, Memory.make)
