/** Reading and replacing the files of `~/.benchsdk`. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import { hasProperty } from "effect/Predicate"
import * as Schema from "effect/Schema"
import { messageOf } from "../json.js"
import type { Document } from "./documents.js"
import { setting } from "./environment.js"
import { CredentialsError } from "./errors.js"
import { withLock } from "./lock.js"

/** A file as it is; what it does not know of is left out. */
export const read = Effect.fnUntraced(function* <A, I>(document: Document<A, I>) {
  const folder = yield* directory
  return folder === undefined ? document.empty : yield* readFrom(folder, document, "ignore")
})

/**
 * Reads a file and replaces it as a whole, while no other process does the same. `save` succeeds once the file is
 * replaced; a crash leaves the old one.
 */
export const transaction = <A, I, B, E, R>(
  document: Document<A, I>,
  use: (current: A, save: (next: A) => Effect.Effect<void, CredentialsError>) => Effect.Effect<B, E, R>
): Effect.Effect<B, E | CredentialsError, R | FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* makeDirectory
    const file = path.join(folder, document.name)
    const unwritable = (error: CredentialsError | PlatformError) => failedFile("UnwritableFile", file, error)
    const save = (next: A) =>
      Effect.flatMap(Effect.orDie(Schema.encode(document.schema, preserve)(next)), (encoded) =>
        replace(folder, document.name, `${JSON.stringify(encoded, null, 2)}\n`)
      ).pipe(
        Effect.mapError(unwritable),
        Effect.provideService(FileSystem.FileSystem, fs),
        Effect.provideService(Path.Path, path)
      )
    // The lock fails with what the file system says, which `use` may do too: they are kept apart.
    return yield* Effect.flatMap(readFrom(folder, document, "preserve"), (current) => use(current, save)).pipe(
      Effect.either,
      withLock(path.join(folder, "lock")),
      Effect.mapError(unwritable),
      Effect.flatMap((result) => result)
    )
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const preserve = { onExcessProperty: "preserve" } as const

/** `.benchsdk` in the home directory; undefined where there is no home. */
const directory = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const home = (yield* setting("HOME")) ?? (yield* setting("USERPROFILE"))
  if (home === undefined) return undefined
  const found = yield* Effect.option(fs.stat(home))
  return Option.exists(found, ({ type }) => type === "Directory") ? path.resolve(home, ".benchsdk") : undefined
})

const failedFile = (
  reason: "UnreadableFile" | "UnwritableFile",
  file: string,
  error: CredentialsError | PlatformError
): CredentialsError =>
  error._tag === "CredentialsError"
    ? error
    : new CredentialsError({
        reason,
        subject: file,
        detail: `cannot be ${reason === "UnreadableFile" ? "read" : "written"} (${causeOf(error)})`
      })

const causeOf = (error: PlatformError): string => messageOf(error.cause ?? error)

const makeDirectory = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* directory
  if (folder === undefined) {
    return yield* new CredentialsError({
      reason: "NoHome",
      subject: "HOME",
      detail: "is not set to a directory, so that credentials cannot be kept; pass them in BENCHMARKS_PLATFORM_API_KEY"
    })
  }
  yield* fs.makeDirectory(folder, { mode: 0o700 }).pipe(
    Effect.catchIf(
      (error) => error._tag === "SystemError" && error.reason === "AlreadyExists",
      () => tighten(folder, 0o700)
    ),
    Effect.mapError((error) => failedFile("UnwritableFile", folder, error))
  )
  return folder
})

/** Takes from others what they must not have; on Windows modes say nothing. */
const tighten = (file: string, mode: number) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    if (process.platform === "win32" || ((yield* fs.stat(file)).mode & 0o077) === 0) return
    yield* Effect.logWarning("others could read saved credentials; taking that from them")
    yield* fs.chmod(file, mode)
  }).pipe(
    Effect.catchAll((error) =>
      Effect.annotateLogs(Effect.logWarning("permissions could not be changed"), "reason", causeOf(error))
    ),
    Effect.annotateLogs("file", file)
  )

const readFrom = Effect.fnUntraced(function* <A, I>(
  folder: string,
  document: Document<A, I>,
  onExcessProperty: "ignore" | "preserve"
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, document.name)
  const text = yield* fs.readFileString(file).pipe(
    Effect.asSome,
    Effect.catchIf(
      (error) => error._tag === "SystemError" && error.reason === "NotFound",
      () => Effect.succeedNone
    ),
    Effect.mapError((error) => failedFile("UnreadableFile", file, error))
  )
  if (Option.isNone(text)) return document.empty
  yield* tighten(folder, 0o700)
  yield* tighten(file, 0o600)
  return yield* Either.mapLeft(
    parse(document, text.value, onExcessProperty),
    (detail) => new CredentialsError({ reason: "UnreadableFile", subject: file, detail })
  )
})

const advice = "correct the file, or remove it and sign in again with `bench auth login`"

// Neither parser's message is shown: both quote the text, secrets included.
const parse = <A, I>(
  { schema }: Document<A, I>,
  text: string,
  onExcessProperty: "ignore" | "preserve"
): Either.Either<A, string> => {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return Either.left(`is not JSON; ${advice}`)
  }
  if (hasProperty(json, "version") && typeof json.version === "number" && json.version > 1) {
    return Either.left(`is of version ${json.version}, which this version of bench cannot read; update bench`)
  }
  return Either.mapLeft(Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty })(json), (error) => {
    const fields = ParseResult.ArrayFormatter.formatErrorSync(error).map(({ path }) =>
      path.length === 0 ? "the whole" : path.map(String).join(" > ")
    )
    const innermost = fields.filter((field) => !fields.some((other) => other.startsWith(`${field} > `)))
    return `is not as it must be in ${[...new Set(innermost)].join(", ")}; ${advice}`
  })
}

const replace = Effect.fnUntraced(function* (folder: string, name: string, text: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const entry of yield* fs.readDirectory(folder)) {
    const left = entry.startsWith(`${name}.`) && entry.endsWith(".tmp")
    if (left) yield* Effect.ignore(fs.remove(path.join(folder, entry)))
  }
  const temporary = path.join(folder, `${name}.${crypto.randomUUID()}.tmp`)
  const write = Effect.gen(function* () {
    const file = yield* fs.open(temporary, { flag: "wx", mode: 0o600 })
    yield* file.writeAll(new TextEncoder().encode(text))
    yield* file.sync
  })
  yield* Effect.scoped(write).pipe(
    Effect.zipRight(fs.rename(temporary, path.join(folder, name))),
    Effect.onError(() => Effect.ignore(fs.remove(temporary)))
  )
}, Effect.uninterruptible)
