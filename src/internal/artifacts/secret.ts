/** The secret that URLs are signed with: given, or kept beside the objects. */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs/promises"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { PlatformFailure } from "../../Platform.js"
import { errorCode } from "../failure.js"
import { messageOf } from "../json.js"
import { makeDirectory } from "./directory.js"

/**
 * The secret that was given, or else a random one in the file `.secret` of the directory, which the first of any number of
 * processes creates, readable for its user only.
 */
export const resolve = (
  directory: string,
  given: Redacted.Redacted | undefined
): Effect.Effect<Redacted.Redacted, PlatformFailure> => {
  if (given === undefined) return kept(Path.resolve(directory))
  return Redacted.value(given).length >= shortest
    ? Effect.succeed(given)
    : failure(`the secret must have at least ${shortest} characters`)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const shortest = 16

// No object can be called so: keys have no segment that begins with a dot.
const name = ".secret"

const advice = "give a secret instead, the same to every process"

const failure = (detail: string, cause?: unknown) =>
  new PlatformFailure({ operation: "sign URLs of artifacts", detail, retryable: false, cause })

const attempt = <A>(file: string, evaluate: () => Promise<A>) =>
  Effect.tryPromise({ try: evaluate, catch: (error) => error }).pipe(
    Effect.mapError((error) => failure(`"${file}": ${messageOf(error)}; ${advice}`, error))
  )

const kept = Effect.fnUntraced(function* (directory: string) {
  const file = Path.join(directory, name)
  const found = yield* attempt(file, () => readIfThere(file))
  const text = found ?? (yield* Effect.zipRight(create(directory, file), read(file)))
  yield* tighten(file)
  if (text.trim().length < shortest) {
    return yield* failure(`"${file}" is damaged; remove it, or ${advice}`)
  }
  return Redacted.make(text.trim())
})

const read = (file: string) => attempt(file, () => Fs.readFile(file, "utf8"))

const readIfThere = (file: string) =>
  Fs.readFile(file, "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined
    throw error
  })

// A link appears with everything that is in the file, and only where there is none yet.
const create = (directory: string, file: string) => {
  const temporary = Path.join(directory, `.${crypto.randomUUID()}.tmp`)
  return Effect.mapError(makeDirectory(directory), (error) =>
    failure(`"${directory}": ${messageOf(error)}; ${advice}`, error)
  ).pipe(
    Effect.zipRight(attempt(file, () => writeSynced(temporary))),
    Effect.zipRight(attempt(file, () => Fs.link(temporary, file).catch(ignoreExisting))),
    Effect.ensuring(Effect.promise(() => Fs.rm(temporary, { force: true }).catch(() => undefined))),
    Effect.uninterruptible
  )
}

const writeSynced = async (file: string): Promise<void> => {
  const handle = await Fs.open(file, "wx", 0o600)
  try {
    await handle.writeFile(`${Crypto.randomBytes(32).toString("base64url")}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const ignoreExisting = (error: unknown) => {
  if (errorCode(error) !== "EEXIST") throw error
}

// Copied without its mode, as by a restored backup; on Windows modes say nothing.
const tighten = (file: string) =>
  attempt(file, async () => {
    if (process.platform === "win32" || ((await Fs.stat(file)).mode & 0o077) === 0) return
    await Fs.chmod(file, 0o600)
  })
