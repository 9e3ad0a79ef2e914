/**
 * Where the bytes of artifacts are kept: logs, system metrics, and what else a benchmark leaves.
 *
 * @since 0.1.0
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import * as Files from "./internal/artifacts/files.js"
import * as Location from "./internal/artifacts/location.js"
import * as Memory from "./internal/artifacts/memory.js"
import * as Signed from "./internal/artifacts/signed.js"
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

// -----------------------------------------------------------------------------
// options
// -----------------------------------------------------------------------------

/**
 * Where the files of {@link layerSigned} are, and where the server is that gives and takes them.
 *
 * @since 0.1.0
 * @category models
 */
export interface SignedOptions {
  readonly directory: string
  /** Of the server, as clients reach it: objects are below its path `/objects/`. */
  readonly publicUrl: string
  /**
   * What URLs are signed with, at least 16 characters, the same for every process that serves the directory. Default: a
   * random one in the file `.secret` of the directory, which the first process creates, readable for its user only.
   */
  readonly secret?: Redacted.Redacted | undefined
  /** How long an upload may begin; at most seven days. Default 15 minutes. */
  readonly uploadExpiry?: Duration.DurationInput | undefined
  /** How long a download may begin; at most seven days. Default 5 minutes. */
  readonly downloadExpiry?: Duration.DurationInput | undefined
}

/**
 * Where objects are in a storage that speaks S3.
 *
 * @since 0.1.0
 * @category models
 */
export interface S3Location {
  readonly bucket: string
  /** What every key begins with, such as `bench/artifacts`. Default: nothing. */
  readonly prefix?: string | undefined
  /** A URL such as `https://minio.example.com:9000`. Default: AWS in the region. */
  readonly endpoint?: string | undefined
  /** Needed for AWS. Default `"auto"`, which other storages take. */
  readonly region?: string | undefined
  /**
   * Whether the bucket is in the path of URLs, not in the host. Default: with an endpoint, and when no host can be called
   * like the bucket.
   */
  readonly pathStyle?: boolean | undefined
}

/**
 * What {@link layerS3} needs: where objects are, and a key that may get, put and delete them.
 *
 * @since 0.1.0
 * @category models
 */
export interface S3Options extends S3Location {
  readonly accessKeyId: Redacted.Redacted
  readonly secretAccessKey: Redacted.Redacted
  readonly sessionToken?: Redacted.Redacted | undefined
  /** How long an upload may begin; at most seven days. Default 15 minutes. */
  readonly uploadExpiry?: Duration.DurationInput | undefined
  /** How long a download may begin; at most seven days. Default 5 minutes. */
  readonly downloadExpiry?: Duration.DurationInput | undefined
}

/**
 * What the text of a location stands for.
 *
 * @since 0.1.0
 * @category models
 */
export type ArtifactsLocation =
  { readonly kind: "directory"; readonly directory: string } | ({ readonly kind: "s3" } & S3Location)

// -----------------------------------------------------------------------------
// constructors
// -----------------------------------------------------------------------------

/**
 * Reads where artifacts are to be kept: a directory, or `s3://bucket/prefix?endpoint=URL&region=NAME&pathStyle=true`, of
 * which all but the bucket may be absent. Keys are no part of it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parseLocation: (text: string) => Either.Either<ArtifactsLocation, PlatformFailure> = Location.parse

// -----------------------------------------------------------------------------
// layers
// -----------------------------------------------------------------------------

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

/**
 * Objects as files below a directory, behind expiring URLs `<publicUrl>/objects/<key>` that a server answers with the same
 * directory and secret. A URL is good for one object and one method; bytes are taken with the content type that the object
 * was announced with, or with any when there was none. Fails with {@link PlatformFailure} when an option does not fit, or no
 * secret is given and none can be kept.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerSigned = (options: SignedOptions): Layer.Layer<Artifacts, PlatformFailure> =>
  Layer.effect(Artifacts, Signed.make(options))

/**
 * Objects in a bucket of AWS S3, or of whatever speaks its protocol: MinIO, R2, and others. URLs are presigned, so that bytes
 * do not pass through the server. An object that is not there is only told from one that the key may not read when the key
 * may list the bucket. Fails with {@link PlatformFailure} when an option does not fit; the storage is not asked yet.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerS3 = (options: S3Options): Layer.Layer<Artifacts, PlatformFailure, HttpClient> =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./internal/artifacts/s3.js")),
      (S3) => Layer.effect(Artifacts, S3.make(options))
    )
  )

/**
 * Objects at what {@link parseLocation} reads. For S3 the key is that of the environment, AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; the region is AWS_REGION or AWS_DEFAULT_REGION when the location has neither
 * region nor endpoint. A directory is that of {@link layerSigned} when there is a `publicUrl`, else that of {@link layerFiles}.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFromUrl = (
  location: string,
  options: Partial<Omit<SignedOptions, "directory">> = {}
): Layer.Layer<Artifacts, PlatformFailure, HttpClient> =>
  Layer.unwrapEffect(
    Effect.map(Location.resolve(location), (found) => {
      const { publicUrl, secret, ...expiry } = options
      if ("bucket" in found) return layerS3({ ...found, ...expiry })
      return publicUrl === undefined ? layerFiles(found) : layerSigned({ ...found, ...expiry, publicUrl, secret })
    })
  )
