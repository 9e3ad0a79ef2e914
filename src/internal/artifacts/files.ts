import * as Fs from "node:fs/promises"
import * as Path from "node:path"
import { pathToFileURL } from "node:url"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Artifacts } from "../../Artifacts.js"
import { PlatformFailure, ResourceNotFound } from "../../Platform.js"
import { errorCode } from "../failure.js"
import { messageOf } from "../json.js"
import { makeDirectory } from "./directory.js"
import { refuseKey } from "./keys.js"

/** Objects as files below a directory, which appears with the first of them. */
export const make = (directory: string): Artifacts["Type"] => {
  const root = Path.resolve(directory)
  const fileOf = (operation: string, objectKey: string) =>
    Effect.as(refuseKey(operation, objectKey), Path.join(root, ...objectKey.split("/")))
  const urlOf = (operation: string, objectKey: string) =>
    Effect.map(fileOf(operation, objectKey), (file) => ({ url: pathToFileURL(file).href, expiresAt: null }))

  return {
    prepareUpload: ({ objectKey }) => urlOf("prepare an upload", objectKey),
    prepareDownload: ({ objectKey }) => urlOf("prepare a download", objectKey),

    write: (objectKey, content) =>
      Effect.gen(function* () {
        const file = yield* fileOf(writing, objectKey)
        const folder = Path.dirname(file)
        yield* Effect.mapError(makeDirectory(folder), (error) => failure(writing, folder, error))
        yield* replace(file, content)
      }),

    read: (objectKey) => Stream.unwrap(Effect.map(fileOf(reading, objectKey), (file) => readFile(file, objectKey))),

    remove: (objectKey) =>
      Effect.flatMap(fileOf(removing, objectKey), (file) =>
        attempt(removing, file, () => Fs.rm(file, { force: true }).catch(ignoreNoFile))
      )
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const writing = "write an artifact"
const reading = "read an artifact"
const removing = "remove an artifact"

const chunkSize = 64 * 1024

const passing = /^(EAGAIN|EBUSY|EMFILE|ENFILE)$/

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

// The name appears once everything is on the disk; until then, whoever reads finds what was there before.
const replace = (file: string, content: Uint8Array) => {
  const folder = Path.dirname(file)
  const temporary = Path.join(folder, `.${crypto.randomUUID()}.tmp`)
  return attempt(writing, file, () => writeSynced(temporary, content)).pipe(
    Effect.zipRight(attempt(writing, file, () => Fs.rename(temporary, file))),
    Effect.ensuring(Effect.promise(() => Fs.rm(temporary, { force: true }).catch(() => undefined))),
    Effect.zipRight(Effect.ignore(attempt(writing, folder, () => sync(folder)))),
    Effect.uninterruptible
  )
}

const writeSynced = async (file: string, content: Uint8Array): Promise<void> => {
  const handle = await Fs.open(file, "wx")
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const sync = async (directory: string): Promise<void> => {
  const handle = await Fs.open(directory, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const readFile = (file: string, objectKey: string): Stream.Stream<Uint8Array, PlatformFailure | ResourceNotFound> => {
  const explain = (error: unknown) =>
    noFile(error) ? new ResourceNotFound({ resource: "artifact", id: objectKey }) : failure(reading, file, error)
  const use = <A>(evaluate: () => Promise<A>) => Effect.tryPromise({ try: evaluate, catch: explain })
  return Effect.acquireRelease(
    use(() => Fs.open(file, "r")),
    (handle) => Effect.promise(() => handle.close().catch(() => undefined))
  ).pipe(
    Effect.map((handle) =>
      Stream.repeatEffectOption(
        use(() => handle.read(new Uint8Array(chunkSize), 0, chunkSize)).pipe(
          Effect.mapError(Option.some),
          Effect.flatMap(({ buffer, bytesRead }) =>
            bytesRead === 0 ? Effect.fail(Option.none()) : Effect.succeed(buffer.subarray(0, bytesRead))
          )
        )
      )
    ),
    Stream.unwrapScoped
  )
}
