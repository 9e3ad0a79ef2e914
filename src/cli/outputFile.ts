/**
 * Bytes that a command leaves: in a file, which appears whole or not at all, or on stdout.
 */
import type { PlatformError as FileError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { errorCode } from "../internal/failure.js"
import { messageOf } from "../internal/json.js"
import { CliError } from "./CliError.js"

/** The standard output of the process, as bytes. */
export class Stdout extends Context.Reference<Stdout>()("effect-bench/cli/Stdout", {
  defaultValue: (): {
    readonly isTerminal: boolean
    /** Ends once the bytes have left; false when the reader has closed its end. */
    readonly write: (bytes: Uint8Array) => Effect.Effect<boolean, CliError>
  } => ({
    isTerminal: process.stdout.isTTY === true,
    write: (bytes) =>
      Effect.async((resume) => {
        process.stdout.write(bytes, (error) => {
          if (!error) resume(Effect.succeed(true))
          else if (errorCode(error) === "EPIPE") resume(Effect.succeed(false))
          else resume(new CliError({ detail: `stdout could not be written: ${error.message}`, cause: error }))
        })
      })
  })
}) {}

/** Writes to stdout for as long as somebody reads it: `| head` is no failure. Gives the number of bytes. */
export const writeStdout = <E, R>(content: Stream.Stream<Uint8Array, E, R>): Effect.Effect<number, E | CliError, R> =>
  Effect.gen(function* () {
    const stdout = yield* Stdout
    let bytes = 0
    yield* Stream.runForEachWhile(content, (chunk) => {
      bytes += chunk.length
      return stdout.write(chunk)
    })
    return bytes
  })

/**
 * Writes a file and gives its number of bytes. Until all of it is on the disk, and when it fails or is interrupted, there
 * is under its name what was there before. What is not a file, such as a pipe or a device, is written to as it stands.
 */
export const writeFile = <E, R>(options: {
  readonly file: string
  /** Whether an existing file may be replaced. */
  readonly overwrite: boolean
  readonly content: Stream.Stream<Uint8Array, E, R>
}): Effect.Effect<number, E | CliError, R | FileSystem.FileSystem | Path.Path> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { content, file, overwrite } = options
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const refuse = refusal(file)
      const found = yield* Effect.mapError(kindOf(file), refuse)
      if (found === "Directory") {
        return yield* new CliError({ detail: `${file} is a folder; name a file in it.` })
      }
      if (found === "File" && !overwrite) return yield* alreadyThere(file)
      if (found !== undefined && found !== "File") {
        // Writing at a position is refused by pipes; appending names none.
        return yield* pour(content, yield* Effect.mapError(fs.open(file, { flag: "a" }), refuse), refuse)
      }
      const target = found === undefined ? file : yield* Effect.mapError(fs.realPath(file), refuse)
      const temporary = path.join(path.dirname(target), `.${crypto.randomUUID()}.tmp`)
      yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(temporary, { force: true })))
      const bytes = yield* Effect.scoped(
        Effect.gen(function* () {
          const handle = yield* Effect.mapError(fs.open(temporary, { flag: "wx" }), refuse)
          const written = yield* pour(content, handle, refuse)
          yield* Effect.mapError(handle.sync, refuse)
          return written
        })
      )
      const rename = fs.rename(temporary, target)
      yield* (overwrite ? rename : nameUnlessTaken(temporary, target, rename)).pipe(
        Effect.catchAll((error) =>
          reasonOf(error) === "AlreadyExists" ? alreadyThere(file) : Effect.fail(refuse(error))
        )
      )
      return bytes
    })
  )

/** What is at a path, links followed; undefined when there is nothing. */
export const kindOf = (
  file: string
): Effect.Effect<FileSystem.File.Type | undefined, FileError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    fs.stat(file).pipe(
      Effect.map(({ type }) => type),
      Effect.catchIf(
        (error) => reasonOf(error) === "NotFound",
        () => Effect.succeed(undefined)
      )
    )
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Refusal = (error: FileError) => CliError

const refusal =
  (file: string): Refusal =>
  (error) =>
    new CliError({
      detail:
        reasonOf(error) === "NotFound"
          ? `${file} cannot be written: its folder does not exist.`
          : `${file} cannot be written: ${error.description ?? messageOf(error)}`,
      cause: error
    })

const alreadyThere = (file: string): CliError =>
  new CliError({ detail: `${file} exists already: --force replaces it, --out writes elsewhere.` })

const reasonOf = (error: FileError): string | undefined => (error._tag === "SystemError" ? error.reason : undefined)

const pour = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>,
  handle: FileSystem.File,
  refuse: Refusal
): Effect.Effect<number, E | CliError, R> =>
  Effect.suspend(() => {
    let bytes = 0
    return Stream.runForEach(content, (chunk) => {
      bytes += chunk.length
      return Effect.mapError(handle.writeAll(chunk), refuse)
    }).pipe(Effect.map(() => bytes))
  })

/** A link, unlike a renamed file, never takes the place of one that appeared meanwhile. Not every disk has links. */
const nameUnlessTaken = Effect.fnUntraced(function* (
  temporary: string,
  target: string,
  rename: Effect.Effect<void, FileError>
) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.catchIf(
    fs.link(temporary, target),
    (error) => reasonOf(error) !== "AlreadyExists",
    () => rename
  )
})
