/** Requests to the platform while a worker is open. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Platform, PlatformError } from "../../Platform.js"
import { PlatformFailure } from "../../Platform.js"
import { apart } from "../apart.js"
import { messageOf } from "../json.js"

/** How requests are made: how long each may take, and when one that failed is made again. */
export interface RequestSettings {
  readonly platform: Platform["Type"]
  readonly requestTimeout: Duration.Duration
  readonly flushSchedule: Schedule.Schedule<unknown, PlatformError>
}

/**
 * A request that has to end, wherever it is made: scopes are closed uninterruptibly, so there one without an answer could
 * not even be given up. A defect of the platform fails the request, not the run.
 */
export const answered = <A>(
  settings: RequestSettings,
  operation: string,
  request: Effect.Effect<A, PlatformError>
): Effect.Effect<A, PlatformError> =>
  request.pipe(
    Effect.catchAllDefect((cause) =>
      Effect.fail(new PlatformFailure({ operation, detail: messageOf(cause), retryable: false, cause }))
    ),
    Effect.timeoutFail({
      duration: settings.requestTimeout,
      onTimeout: () => {
        const detail = `no answer within ${Duration.format(settings.requestTimeout)}`
        return new PlatformFailure({ operation, detail, retryable: true })
      }
    }),
    apart
  )

/** Like {@link answered}, made again as the schedule says, and not before the platform wants it. */
export const insistent = <A>(
  settings: RequestSettings,
  operation: string,
  request: Effect.Effect<A, PlatformError>
): Effect.Effect<A, PlatformError> =>
  Effect.retry(answered(settings, operation, request), {
    schedule: waitingAsAsked(settings.flushSchedule),
    while: worthWaitingFor
  })

/** Opening a run is tried again for a moment only: somebody is waiting, and nothing is measured yet. */
const opening = Schedule.intersect(Schedule.jittered(Schedule.exponential("250 millis")), Schedule.recurs(4))

/**
 * A request that a run begins with. One that is carried out twice if it is made twice is made again only when the platform
 * says that it has not been carried out.
 */
export const openingRequest = <A>(
  settings: RequestSettings,
  operation: string,
  request: Effect.Effect<A, PlatformError>,
  repeatable: boolean
): Effect.Effect<A, PlatformError> =>
  Effect.retry(answered(settings, operation, request), {
    schedule: waitingAsAsked(opening),
    while: (error) =>
      isTransient(error) &&
      Duration.lessThanOrEqualTo(retryAfter(error), longestOpeningWait) &&
      (repeatable || isTurnedAway(error))
  })

/** Whether the platform has answered that it was too busy to do anything. */
const isTurnedAway = (error: PlatformError): boolean =>
  error._tag === "PlatformFailure" && (error.response?.status === 429 || error.response?.status === 503)

/** Whether the same request can succeed later. */
export const isTransient = (error: PlatformError): boolean => error._tag === "PlatformFailure" && error.retryable

/** Whether the worker has been given to another process: nothing that this one sends is taken any more. */
export const isSuperseded = (error: PlatformError): boolean =>
  error._tag === "ResourceConflict" && error.reason === "StaleAttempt"

/** How long the platform wants to be left alone; zero when it does not say. */
export const retryAfter = (error: PlatformError): Duration.Duration =>
  Duration.millis(error._tag === "PlatformFailure" ? (error.retryAfterMillis ?? 0) : 0)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A platform that asks for more patience than this is not waited for. */
const longestWait = Duration.minutes(5)

const longestOpeningWait = Duration.seconds(30)

const worthWaitingFor = (error: PlatformError): boolean =>
  isTransient(error) && Duration.lessThanOrEqualTo(retryAfter(error), longestWait)

const waitingAsAsked = (
  schedule: Schedule.Schedule<unknown, PlatformError>
): Schedule.Schedule<unknown, PlatformError> =>
  Schedule.identity<PlatformError>().pipe(
    Schedule.intersect(schedule),
    Schedule.modifyDelay(([error], delay) => Duration.max(delay, retryAfter(error)))
  )
