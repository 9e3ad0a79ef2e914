import * as Fs from "node:fs/promises"
import * as Path from "node:path"
import { pathToFileURL } from "node:url"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Artifacts } from "../../Artifacts.js"
import { PlatformFailure, ResourceNotFound } from "../../Platform.js"
import { errorCode } from "../failure.js"
import { messageOf } from "../json.js"
import { makeDirectory } from "./directory.js"
import { refuseKey } from "./keys.js"

/** Objects as files below a directory, which appears with the first of them. */
export const make = (directory: string): Artifacts["Type"] => {
  const fileOf = fileIn(directory)
  const urlOf = (operation: string, objectKey: string) =>
    Effect.map(fileOf(operation, objectKey), (file) => ({ url: pathToFileURL(file).href, expiresAt: null }))

  return {
    prepareUpload: ({ objectKey }) => urlOf("prepare an upload", objectKey),
    prepareDownload: ({ objectKey }) => urlOf("prepare a download", objectKey),

    write: (objectKey, content) => receive(directory, objectKey, Stream.make(content)),

    read: (objectKey) => Stream.unwrapScoped(Effect.map(open(directory, objectKey), ({ content }) => content)),

    remove: (objectKey) =>
      Effect.flatMap(fileOf(removing, objectKey), (file) =>
        attempt(removing, file, () => Fs.rm(file, { force: true }).catch(ignoreNoFile))
      )
  }
}

/**
 * Stores an object as its bytes come. It is there once all of them have come and are on the disk; until then, and when
 * `content` fails, whoever reads it finds what was there before.
 */
export const receive = Effect.fnUntraced(function* <E, R>(
  directory: string,
  objectKey: string,
  content: Stream.Stream<Uint8Array, E, R>
) {
  const file = yield* fileIn(directory)(writing, objectKey)
  const folder = Path.dirname(file)
  yield* Effect.mapError(makeDirectory(folder), (error) => failure(writing, folder, error))
  const temporary = Path.join(folder, `.${crypto.randomUUID()}.tmp`)
  const writeSynced = Effect.acquireUseRelease(
    attempt(writing, file, () => Fs.open(temporary, "wx")),
    (handle) =>
      Effect.zipRight(
        Stream.runForEach(content, (chunk) => attempt(writing, file, () => handle.writeFile(chunk))),
        attempt(writing, file, () => handle.sync())
      ),
    (handle) => Effect.promise(() => handle.close().catch(() => undefined))
  )
  yield* Effect.uninterruptibleMask((restore) =>
    restore(writeSynced).pipe(
      Effect.zipRight(attempt(writing, file, () => Fs.rename(temporary, file))),
      Effect.ensuring(Effect.promise(() => Fs.rm(temporary, { force: true }).catch(() => undefined))),
      Effect.zipRight(Effect.ignore(attempt(writing, folder, () => sync(folder))))
    )
  )
})

/** An object that stays as it is while it is read, whatever becomes of the file. */
export interface OpenObject {
  readonly size: number
  readonly content: Stream.Stream<Uint8Array, PlatformFailure | ResourceNotFound>
}

/** Fails with {@link ResourceNotFound} `artifact` when there is no such object. */
export const open = (
  directory: string,
  objectKey: string
): Effect.Effect<OpenObject, PlatformFailure | ResourceNotFound, Scope.Scope> =>
  Effect.gen(function* () {
    const file = yield* fileIn(directory)(reading, objectKey)
    const missing = new ResourceNotFound({ resource: "artifact", id: objectKey })
    const use = <A>(evaluate: () => Promise<A>) =>
      Effect.tryPromise({
        try: evaluate,
        catch: (error) => (noFile(error) ? missing : failure(reading, file, error))
      })
    const handle = yield* Effect.acquireRelease(
      use(() => Fs.open(file, "r")),
      (handle) => Effect.promise(() => handle.close().catch(() => undefined))
    )
    const found = yield* use(() => handle.stat())
    if (!found.isFile()) return yield* missing
    const content = Stream.repeatEffectOption(
      use(() => handle.read(new Uint8Array(chunkSize), 0, chunkSize)).pipe(
        Effect.mapError(Option.some),
        Effect.flatMap(({ buffer, bytesRead }) =>
          bytesRead === 0 ? Effect.fail(Option.none()) : Effect.succeed(buffer.subarray(0, bytesRead))
        )
      )
    )
    return { size: found.size, content }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const writing = "write an artifact"
const reading = "read an artifact"
const removing = "remove an artifact"

const chunkSize = 64 * 1024

const passing = /^(EAGAIN|EBUSY|EMFILE|ENFILE)$/

const fileIn = (directory: string) => {
  const root = Path.resolve(directory)
  return (operation: string, objectKey: string) =>
    Effect.as(refuseKey(operation, objectKey), Path.join(root, ...objectKey.split("/")))
}

const failure = (operation: string, file: string, error: unknown) =>
  new PlatformFailure({
    operation,
    detail: `"${file}": ${messageOf(error)}`,
    retryable: passing.test(errorCode(error)),
    cause: error
  })

const attempt = <A>(operation: string, file: string, evaluate: () => Promise<A>) =>
  Effect.tryPromise({ try: evaluate, catch: (error) => failure(operation, file, error) })

const noFile = (error: unknown) => ["ENOENT", "ENOTDIR", "EISDIR"].includes(errorCode(error))

const ignoreNoFile = (error: unknown) => {
  if (!noFile(error)) throw error
}

const sync = async (directory: string): Promise<void> => {
  const handle = await Fs.open(directory, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
