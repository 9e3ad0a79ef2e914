/** A login in use: its tokens are refreshed before they expire, once for everybody. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { Unauthorized } from "../../Platform.js"
import type { Login } from "./documents.js"
import { credentials as document, lifeOf, same } from "./documents.js"
import * as Files from "./files.js"
import * as OAuth from "./oauth.js"

export interface Session {
  readonly credentials: Effect.Effect<Redacted.Redacted, Unauthorized>
  readonly invalidate: (rejected: Redacted.Redacted) => Effect.Effect<boolean>
  readonly expiresAt: Effect.Effect<DateTime.Utc | undefined>
}

/** Keeps the tokens of `baseUrl` good, beginning with those that were read from the file. */
export const make = Effect.fnUntraced(function* (baseUrl: string, initial: Login) {
  const context = yield* Effect.context<FileSystem.FileSystem | Path.Path | HttpClient.HttpClient>()
  const turns = yield* Effect.makeSemaphore(1)

  let login = initial
  /** Access token that the platform did not take although it looked good. */
  let rejected: Redacted.Redacted | undefined = undefined
  /** Access token that came instead of a rejected one. */
  let replacement: Redacted.Redacted | undefined = undefined
  /** Refresh token that the platform does not take. */
  let refused: { readonly token: Redacted.Redacted; readonly error: OAuth.Refused } | undefined = undefined
  let lastFailure: { readonly error: Unauthorized; readonly untilMillis: number } | undefined = undefined
  let nextTryMillis = 0

  const stateOf = (candidate: Login, nowMillis: number) =>
    same(candidate.accessToken, rejected) ? "expired" : lifeOf(candidate, nowMillis)

  const adopt = (next: Login) => {
    if (rejected !== undefined) replacement = next.accessToken
    login = next
    rejected = undefined
    lastFailure = undefined
  }

  /** Exchanges the refresh token, unless another process has done so or somebody has signed in again. */
  const renew = Files.transaction(document, (saved, save) =>
    Effect.gen(function* () {
      const platform = saved.platforms[baseUrl]
      const entry = platform?.login
      if (entry === undefined) return yield* new NotRenewable({ detail: `somebody signed out of ${baseUrl}` })
      const now = yield* Clock.currentTimeMillis
      if (!same(entry.accessToken, login.accessToken) && stateOf(entry, now) === "fresh") return adopt(entry)
      // Ours is the later one when it could not be saved.
      const { refreshToken } = DateTime.greaterThan(login.issuedAt, entry.issuedAt) ? login : entry
      if (refreshToken === undefined) return yield* new NotRenewable({ detail: "the login has expired" })
      if (refused !== undefined && same(refreshToken, refused.token)) return yield* refused.error
      const issued = yield* OAuth.refresh(baseUrl, entry.clientId, refreshToken).pipe(
        Effect.tapErrorTag("Refused", (error) => Effect.sync(() => (refused = { token: refreshToken, error })))
      )
      const next = { ...entry, expiresAt: undefined, ...issued }
      yield* save({ ...saved, platforms: { ...saved.platforms, [baseUrl]: { ...platform, login: next } } }).pipe(
        Effect.catchAll(({ message }) =>
          Effect.logWarning("refreshed login could not be saved; it ends with this process").pipe(
            Effect.annotateLogs("reason", message)
          )
        )
      )
      adopt(next)
      // What the platform issues replaces what is saved, and must not get lost on the way. An interrupted fiber interrupts
      // its children even where it cannot be interrupted itself; a daemon is no child.
    }).pipe(Effect.forkDaemon, Effect.flatMap(Fiber.join), Effect.uninterruptible)
  )

  const inTurn = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const state = stateOf(login, now)
    if (state === "fresh" || (state === "due" && now < nextTryMillis)) return login.accessToken
    if (state === "due") {
      const failure = yield* Effect.orElseSucceed(Effect.flip(renew), () => undefined)
      if (failure?._tag === "Refused") return yield* signInAgain(failure)
      if (failure !== undefined) {
        nextTryMillis = now + retryDueMillis
        yield* Effect.logDebug("login could not be refreshed; its token is still good").pipe(
          Effect.annotateLogs("reason", failure.message)
        )
      }
      return login.accessToken
    }
    if (lastFailure !== undefined && now < lastFailure.untilMillis) return yield* lastFailure.error
    yield* renew.pipe(
      Effect.retry({ schedule: retrySchedule, while: (error) => error._tag === "Unavailable" && error.transient }),
      Effect.catchAll((failure) => {
        const error = failure._tag === "Refused" ? signInAgain(failure) : expired(failure.message)
        return Effect.zipRight(
          Effect.map(Clock.currentTimeMillis, (time) => {
            lastFailure = { error, untilMillis: time + failureHoldsMillis }
          }),
          error
        )
      })
    )
    return login.accessToken
  })

  const session: Session = {
    credentials: Effect.flatMap(Clock.currentTimeMillis, (now) =>
      stateOf(login, now) === "fresh"
        ? Effect.succeed(login.accessToken)
        : Effect.provide(turns.withPermits(1)(inTurn), context)
    ),
    invalidate: (token) =>
      Effect.sync(() => {
        if (same(token, replacement)) return false
        if (same(token, login.accessToken)) rejected = token
        return true
      }),
    expiresAt: Effect.sync(() => login.expiresAt)
  }
  return session
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

class NotRenewable extends Data.TaggedError("NotRenewable")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** How long a token that still works is used before the next try at refreshing it. */
const retryDueMillis = 30_000

/** How long those who wait in turn get the answer of the one before them. */
const failureHoldsMillis = 5_000

const retrySchedule = Schedule.exponential("500 millis").pipe(Schedule.jittered, Schedule.intersect(Schedule.recurs(4)))

const unauthorized = (detail: string) => new Unauthorized({ reason: "Unauthenticated", detail })

const signInAgain = ({ detail }: OAuth.Refused) => unauthorized(`the platform refused to refresh the login (${detail})`)

const expired = (detail: string) => unauthorized(`the login has expired and could not be refreshed (${detail})`)
