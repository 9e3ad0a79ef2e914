import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** The milliseconds that a `Retry-After` header asks to wait: a number of seconds, or a date; anything else is ignored. */
export const retryAfterMillis = (header: string | undefined): Effect.Effect<number | undefined> => {
  const text = header?.trim() ?? ""
  if (/^\d{1,12}$/.test(text)) return Effect.succeed(Number(text) * 1000)
  if (!httpDate.test(text)) return Effect.succeed(undefined)
  return Effect.map(Clock.currentTimeMillis, (now) => {
    const millis = Date.parse(text) - now
    return millis > 0 ? millis : undefined
  })
}

// Dates are parsed leniently, down to a year in any text.
const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, .+ GMT$/
