/** Whose records a journal holds, and the file that says so. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Schema from "effect/Schema"
import { PlatformOrigin } from "../../Platform.js"
import type { SpoolEntry } from "../../Spool.js"
import { SpoolError } from "./errors.js"

/**
 * One attempt at a worker, and the platform it belongs to: what it takes to deliver its records later.
 *
 * @since 0.1.0
 * @category schemas
 */
export const SpooledAttempt = Schema.Struct({
  version: Schema.Literal(1),
  origin: PlatformOrigin,
  benchmark: Schema.String,
  run: Schema.String,
  participant: Schema.String,
  worker: Schema.String,
  attemptId: Schema.String,
  attemptNumber: Schema.Int,
  /** ISO-8601 UTC. */
  startedAt: Schema.String
}).annotations({ identifier: "SpooledAttempt" })

/**
 * @since 0.1.0
 * @category models
 */
export interface SpooledAttempt extends Schema.Schema.Type<typeof SpooledAttempt> {}

/**
 * How the worker is to be closed when its records are delivered.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Verdict = Schema.Struct({
  how: Schema.Literal("complete", "fail"),
  errorCode: Schema.optional(Schema.String),
  errorMessage: Schema.optional(Schema.String)
}).annotations({ identifier: "Verdict" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Verdict extends Schema.Schema.Type<typeof Verdict> {}

/** What the attempt's file says. */
export interface AttemptState {
  readonly attempt: SpooledAttempt
  readonly verdict: Verdict | undefined
}

/** Orders by when the attempts were started. */
export const byAge = (a: SpoolEntry, b: SpoolEntry): number =>
  compare(a.attempt.startedAt, b.attempt.startedAt) || compare(a.location, b.location)

export const attemptFile = "attempt.json"

export const encode = ({ attempt, verdict }: AttemptState): string => JSON.stringify({ ...attempt, verdict }) + "\n"

/** Reads the text of an attempt's file; fails naming the file when it is not one, or is of a version to come. */
export const decode = (path: string, text: string): Either.Either<AttemptState, SpoolError> =>
  Either.gen(function* () {
    const refuse = (detail: string) => (cause: unknown) => new SpoolError({ path, detail, cause })
    const { version } = yield* Either.mapLeft(
      decodeVersion(text),
      refuse("is not the description of an attempt; move the journal away if it is not needed")
    )
    if (version !== 1) {
      const detail = `is in format ${version}, written by a newer version of effect-bench; deliver it with that version`
      return yield* Either.left(new SpoolError({ path, detail }))
    }
    const { verdict, ...attempt } = yield* Either.mapLeft(decodeFile(text), (error) =>
      refuse(`does not describe an attempt: ${error.message}`)(error)
    )
    return { attempt, verdict }
  })

/** Replaces the attempt's file in one step, and waits until the disk has it. */
export const write = (directory: string, state: AttemptState): Effect.Effect<void, unknown> => {
  const path = Path.join(directory, attemptFile)
  const temporary = `${path}.tmp`
  return Effect.acquireUseRelease(
    promise(() => Fs.promises.open(temporary, "w", 0o600)),
    (file) =>
      Effect.zipRight(
        promise(() => file.writeFile(encode(state))),
        promise(() => file.sync())
      ),
    (file) => Effect.promise(() => file.close())
  ).pipe(Effect.zipRight(promise(() => Fs.promises.rename(temporary, path))), Effect.uninterruptible)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeVersion = Schema.decodeEither(Schema.parseJson(Schema.Struct({ version: Schema.Number })))

const decodeFile = Schema.decodeEither(
  Schema.parseJson(Schema.Struct({ ...SpooledAttempt.fields, verdict: Schema.optional(Verdict) }))
)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const promise = <A>(evaluate: () => Promise<A>) => Effect.tryPromise({ try: evaluate, catch: identity })
