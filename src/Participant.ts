/**
 * The participants of a benchmark: what is compared. Which of them a run uses is decided in two steps, {@link select} by
 * name and {@link gate} by environment.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

/**
 * One participant. `name` is unique in its benchmark; further keys are kept and handed to the task.
 *
 * @since 0.1.0
 * @category models
 */
export interface Participant {
  readonly name: string
  /** Environment variables without which the participant is skipped. Default: none. Blank names require nothing. */
  readonly requiredEnvVars?: ReadonlyArray<string> | undefined
  readonly [extra: string]: unknown
}

/**
 * A participant that cannot run here, and the environment variables it lacks.
 *
 * @since 0.1.0
 * @category models
 */
export interface Skipped<P extends Participant = Participant> {
  readonly participant: P
  readonly missing: ReadonlyArray<string>
}

/**
 * Participants, in their order in the config, by whether their environment variables are set.
 *
 * @since 0.1.0
 * @category models
 */
export interface Gated<P extends Participant = Participant> {
  readonly available: ReadonlyArray<P>
  readonly skipped: ReadonlyArray<Skipped<P>>
}

/**
 * Names that no participant of the benchmark has. `unknown` holds each of them once.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnknownParticipantsError extends Schema.TaggedError<UnknownParticipantsError>(
  "effect-bench/UnknownParticipantsError"
)("UnknownParticipantsError", { unknown: Schema.Array(Schema.String), available: Schema.Array(Schema.String) }) {
  override get message(): string {
    return `Unknown participant(s): ${this.unknown.join(", ")}. Available: ${this.available.join(", ")}`
  }
}

/**
 * Every selected participant was skipped, so there is nothing to run. Not a failure of the benchmark: the command exits 0.
 *
 * @since 0.1.0
 * @category errors
 */
export class NoAvailableParticipantsError extends Data.TaggedError("NoAvailableParticipantsError")<{
  readonly skipped: ReadonlyArray<Skipped>
}> {
  override get message(): string {
    return [
      "No participant can run: each of them lacks environment variables.",
      ...this.skipped.map(({ missing, participant }) => `  - ${participant.name}: set ${missing.join(", ")}`),
      "",
      "Set the variables of at least one participant and try again."
    ].join("\n")
  }
}

/**
 * The participants with these names, in the order of the config whatever the order or repetition of `names`; all of them
 * when `names` is absent or empty. Fails with {@link UnknownParticipantsError} naming every unknown name at once.
 *
 * @since 0.1.0
 * @category combinators
 */
export const select = <P extends Participant>(
  participants: ReadonlyArray<P>,
  names?: ReadonlyArray<string>
): Either.Either<ReadonlyArray<P>, UnknownParticipantsError> => {
  if (names === undefined || names.length === 0) {
    return Either.right(participants)
  }
  const available = participants.map(({ name }) => name)
  const known = new Set(available)
  const wanted = new Set(names)
  const unknown = [...wanted].filter((name) => !known.has(name))
  return unknown.length > 0
    ? Either.left(new UnknownParticipantsError({ unknown, available }))
    : Either.right(participants.filter(({ name }) => wanted.has(name)))
}

/**
 * Sets apart the participants that lack an environment variable they require: one that the current `ConfigProvider`
 * does not have, or has as an empty string. A blank name in `requiredEnvVars` requires nothing.
 *
 * @since 0.1.0
 * @category combinators
 */
export const gate = <P extends Participant>(participants: ReadonlyArray<P>): Effect.Effect<Gated<P>> =>
  Effect.map(Effect.forEach(participants, withMissing), (all) => ({
    available: all.filter(({ missing }) => missing.length === 0).map(({ participant }) => participant),
    skipped: all.filter(({ missing }) => missing.length > 0)
  }))

/**
 * The line that tells why a participant is skipped.
 *
 * @since 0.1.0
 * @category combinators
 */
export const skipMessage = ({ missing, participant }: Skipped): string =>
  `Skipping ${participant.name}: missing ${missing.join(", ")}`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const withMissing = <P extends Participant>(participant: P): Effect.Effect<Skipped<P>> =>
  Effect.map(
    Effect.filter(requiredBy(participant), (name) => Effect.negate(isSet(name))),
    (missing) => ({ participant, missing })
  )

const requiredBy = (participant: Participant): ReadonlyArray<string> => [
  ...new Set(participant.requiredEnvVars?.filter((name) => name.trim() !== ""))
]

// The provider for process.env also finds what every object inherits ("constructor"), which is not a string.
const isSet = (name: string): Effect.Effect<boolean> =>
  Config.string(name).pipe(
    Effect.map((value) => typeof value === "string" && value !== ""),
    Effect.orElseSucceed(() => false)
  )
