import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** The milliseconds that a `Retry-After` header asks to wait: a number of seconds, or a date; anything else is ignored. */
export const retryAfterMillis = (header: string | undefined): Effect.Effect<number | undefined> => {
  const text = header?.trim() ?? ""
  if (/^\d{1,12}$/.test(text)) return Effect.succeed(Number(text) * 1000)
  const date = httpDate.test(text) ? DateTime.make(text) : Option.none()
  if (Option.isNone(date)) return Effect.succeed(undefined)
  return Effect.map(DateTime.now, (now) => {
    const millis = DateTime.distance(now, date.value)
    return millis > 0 ? millis : undefined
  })
}

const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, .+ GMT$/
