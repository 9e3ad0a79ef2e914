/**
 * Reading the small files of /proc and of control groups: never more than a few kilobytes of each, off the event loop,
 * and never failing. What cannot be read is null.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"

/** Enough for every file that is read here; of a longer one only the beginning is wanted. */
const limitBytes = 16_384

/** How long files may keep their reader waiting, all together: those of a dead mount never answer. */
export const patience = "2 seconds"

/** The beginning of a text file. Interruption leaves nothing open. */
export const read = (path: string): Effect.Effect<string | null> =>
  Effect.async((resume) => {
    Fs.open(path, "r", (failed, descriptor) => {
      if (failed !== null) return resume(Effect.succeed(null))
      Fs.read(descriptor, Buffer.allocUnsafe(limitBytes), 0, limitBytes, 0, (unreadable, length, buffer) => {
        Fs.close(descriptor, () => {
          resume(Effect.succeed(unreadable === null ? buffer.toString("utf8", 0, length) : null))
        })
      })
    })
  })

export const exists = (path: string): Effect.Effect<boolean> =>
  Effect.async((resume) => Fs.access(path, (failed) => resume(Effect.succeed(failed === null))))

const procMagic = 0x9fa0

/**
 * Counts the open file descriptors of this process. Linux 6.2 and later tell their number as the size of the directory;
 * elsewhere they are listed, which takes a descriptor itself.
 */
export const descriptorCounter = (procRoot: string): Effect.Effect<Effect.Effect<number | null>> => {
  const path = Path.join(procRoot, "self", "fd")
  const entries = Effect.async<number | null>((resume) =>
    Fs.readdir(path, (failed, names) => resume(Effect.succeed(failed === null ? names.length : null)))
  )
  const size = Effect.async<number>((resume) =>
    Fs.stat(path, (failed, stat) => resume(Effect.succeed(failed === null ? stat.size : 0)))
  )
  const isProc = Effect.async<boolean>((resume) =>
    Fs.statfs(path, (failed, stat) => resume(Effect.succeed(failed === null && stat.type === procMagic)))
  )
  const others = Effect.map(entries, (count) => (count === null ? null : count - 1))
  return Effect.map(isProc, (proc) =>
    proc ? Effect.flatMap(size, (count) => (count > 0 ? Effect.succeed(count) : others)) : entries
  )
}
