/** One process at a time. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CredentialsError } from "./errors.js"

/**
 * Runs an effect while no other process does under the same lock file. The lock of a process that has died counts for
 * 30 seconds, so what runs under it must be quicker; who waits longer than 45 seconds fails with `Busy`.
 */
export const withLock =
  (file: string) =>
  <A, E, R>(
    self: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | CredentialsError | PlatformError, R | FileSystem.FileSystem> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(acquire(file, restore), (token) => Effect.ensuring(restore(self), release(file, token)))
    )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const abandonedAfterMillis = 30_000

const waitMillis = 45_000

const shortestPauseMillis = 20

const longestPauseMillis = 500

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const acquire = Effect.fnUntraced(function* (file: string, restore: Restore) {
  const token = crypto.randomUUID()
  let pause = shortestPauseMillis
  for (let waited = 0; waited <= waitMillis; waited += pause) {
    if (yield* create(file, token)) return token
    yield* removeAbandoned(file)
    pause = Math.min(pause * 2, longestPauseMillis)
    yield* restore(Effect.sleep(pause))
  }
  return yield* new CredentialsError({
    reason: "Busy",
    subject: file,
    detail: "another process holds this lock; if no other bench is running, remove the file"
  })
})

/** Creates a file; false when there is one. */
const create = (file: string, content: string): Effect.Effect<boolean, PlatformError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    fs.writeFileString(file, content, { flag: "wx", mode: 0o600 }).pipe(
      Effect.as(true),
      Effect.catchIf(
        (error) => error._tag === "SystemError" && error.reason === "AlreadyExists",
        () => Effect.succeed(false)
      )
    )
  )

const holder = (file: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.option(fs.readFileString(file)))

const release = Effect.fnUntraced(function* (file: string, token: string) {
  const fs = yield* FileSystem.FileSystem
  if (Option.contains(yield* holder(file), token)) yield* Effect.ignore(fs.remove(file))
})

/**
 * Of all who see that a lock is abandoned, one removes it: the one that creates a file named after its holder. Without
 * that, a slow one could remove the lock of whoever came next.
 */
const removeAbandoned = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const held = yield* holder(file)
  if (Option.isNone(held) || !(yield* isAbandoned(file))) return
  const claim = `${file}.${/^[0-9a-f-]{36}$/.test(held.value) ? held.value : "unknown"}`
  if (!(yield* create(claim, ""))) return
  const stillHeld = Option.contains(yield* holder(file), held.value)
  if (stillHeld) yield* Effect.ignore(fs.remove(file))
  yield* Effect.ignore(fs.remove(claim))
})

const isAbandoned = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const now = yield* Clock.currentTimeMillis
  const changed = yield* Effect.option(fs.stat(file)).pipe(Effect.map(Option.flatMap(({ mtime }) => mtime)))
  return Option.exists(changed, (time) => now - time.getTime() > abandonedAfterMillis)
})
