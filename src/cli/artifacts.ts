/**
 * `bench artifacts list` and `bench artifacts get`
 */
import { createGunzip } from "node:zlib"
import * as Path from "@effect/platform/Path"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { safeFileName } from "../internal/artifacts/keys.js"
import { messageOf } from "../internal/json.js"
import type { Artifact, ArtifactDownload, PlatformError, RunRef } from "../Platform.js"
import { Platform } from "../Platform.js"
import { CliError } from "./CliError.js"
import { json, print, say } from "./output.js"
import { kindOf, writeFile, writeStdout } from "./outputFile.js"
import { resolveRun } from "./resolveRun.js"
import { absent, oneLine, plural, table } from "./text.js"

export interface ListOptions {
  readonly benchmark: string | undefined
  readonly run: string | undefined
  readonly json: boolean
}

/** The files that the workers of a run left, newest first. */
export const list = Effect.fnUntraced(function* (options: ListOptions) {
  const platform = yield* Platform
  const { benchmark, run } = yield* resolveRun(options.benchmark, options.run)
  const artifacts = yield* platform.listRunArtifacts({ benchmark, run: run.id })
  if (options.json) return yield* json({ run, items: artifacts })
  if (artifacts.length === 0) return yield* print(`Run ${run.id} has no artifacts.`)
  const length = telling(artifacts.map(({ id }) => id))
  yield* print(
    table(
      [
        { title: "id" },
        { title: "participant" },
        { title: "worker", align: "right" },
        { title: "kind" },
        { title: "name" },
        { title: "content type" },
        { title: "bytes", align: "right" },
        { title: "created" }
      ],
      artifacts.map((artifact) => [
        artifact.id.slice(0, length),
        artifact.participantSlug ?? absent,
        typeof artifact.workerIndex === "number" ? String(artifact.workerIndex + 1) : absent,
        artifact.kind,
        artifact.name ?? absent,
        artifact.contentType ?? absent,
        sizeOf(artifact),
        artifact.createdAt
      ])
    )
  )
})

export interface GetOptions {
  /** The artifact's id, or the beginning of it. */
  readonly id: string
  readonly run: string | undefined
  /** File, folder, or `-` for stdout. Default: a file in the working directory that is called as the artifact is. */
  readonly out: string | undefined
  /** Replace a file that exists. */
  readonly force: boolean
  readonly gunzip: boolean
}

/** Saves the bytes of an artifact as they are, or decompressed. */
export const get = Effect.fnUntraced(function* (options: GetOptions) {
  const platform = yield* Platform
  const { benchmark, run } = yield* resolveRun(undefined, options.run)
  const download = yield* find({ benchmark, run: run.id }, options.id)
  const { artifact } = download
  const asUploaded = Stream.mapError(platform.downloadArtifact(download), notUploaded(artifact))
  const content = options.gunzip ? gunzip(artifact, asUploaded) : asUploaded
  if (options.out === "-") {
    const bytes = yield* writeStdout(content)
    return yield* say(`Wrote ${plural(bytes, "byte")} of artifact ${artifact.id}.`)
  }
  const file = yield* fileFor(artifact, options)
  const bytes = yield* writeFile({ file, overwrite: options.force, content })
  yield* say(`Wrote ${oneLine(file)} (${plural(bytes, "byte")}).`)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const shortest = 8

/** How many characters of each id tell it from all others, at least {@link shortest}. */
const telling = (ids: ReadonlyArray<string>): number => {
  const count = new Set(ids).size
  const longest = Math.max(...ids.map((id) => id.length))
  let length = shortest
  while (length < longest && new Set(ids.map((id) => id.slice(0, length))).size < count) length++
  return length
}

const sizeOf = ({ metadata }: Artifact): string => {
  const size = metadata?.["sizeBytes"]
  return typeof size === "number" ? String(size) : absent
}

const find = Effect.fnUntraced(function* (ref: RunRef, id: string) {
  const platform = yield* Platform
  if (id.trim() === "") return yield* new CliError({ detail: "Name an artifact: bench artifacts get ID" })
  const matching = (yield* platform.listRunArtifacts(ref)).filter((artifact) => artifact.id.startsWith(id))
  const [first, another] = matching
  const exact = matching.find((artifact) => artifact.id === id)
  if (exact === undefined && another !== undefined) {
    return yield* new CliError({
      detail: `"${id}" is the beginning of ${plural(matching.length, "artifact id")}: ${matching
        .slice(0, 5)
        .map((artifact) => artifact.id)
        .join(", ")}. Say more of it.`
    })
  }
  const download: ArtifactDownload = yield* platform.getArtifact(ref, (exact ?? first)?.id ?? id).pipe(
    Effect.catchIf(
      (error) => error._tag === "ResourceNotFound" && error.resource === "artifact",
      () =>
        new CliError({
          detail: `No artifact "${id}" in run ${ref.run}. See which it has: bench artifacts list --run ${ref.run}`
        })
    )
  )
  return download
})

const notUploaded =
  ({ id }: Artifact) =>
  (error: PlatformError): PlatformError | CliError =>
    error._tag === "ResourceNotFound"
      ? new CliError({ detail: `Artifact ${id} was announced, but its bytes were never uploaded.`, cause: error })
      : error

const gunzip = <E>({ id }: Artifact, content: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | CliError> =>
  NodeStream.pipeThroughDuplex(
    content,
    () => createGunzip(),
    (cause) =>
      new CliError({
        detail: `Artifact ${id} cannot be decompressed (${messageOf(cause)}); without --gunzip it is written as it is.`,
        cause
      })
  )

const fileFor = Effect.fnUntraced(function* (artifact: Artifact, { gunzip, out }: GetOptions) {
  const path = yield* Path.Path
  const name = safeFileName(artifact.name ?? artifact.kind)
  const own = gunzip ? name.replace(/\.gz$/i, "") : name
  if (out === undefined) return own
  const isFolder = Effect.map(kindOf(out), (kind) => kind === "Directory")
  return (yield* Effect.orElseSucceed(isFolder, () => false)) ? path.join(out, own) : out
})
