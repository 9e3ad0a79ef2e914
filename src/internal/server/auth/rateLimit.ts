/** How often something may fail before it has to wait. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

export interface RateLimit {
  /** How many milliseconds to wait until the next failure is within the limit again; 0 when it is now. */
  readonly wait: (subjects: ReadonlyArray<string>) => Effect.Effect<number>
  /** Like `wait`, and counts a failure of each subject that is within its limit. */
  readonly fail: (subjects: ReadonlyArray<string>) => Effect.Effect<number>
}

/**
 * Lets `limit` failures of a subject through at once, and further ones at that many a `window`. Remembers the subjects that
 * failed last, at most `capacity` of them.
 */
export const make = (options: {
  readonly limit: number
  readonly window: Duration.DurationInput
  readonly capacity?: number | undefined
}): RateLimit => {
  const { capacity = 10_000, limit } = options
  const windowMillis = Duration.toMillis(options.window)
  const spacingMillis = windowMillis / limit
  /** When all that was let through would have been, had it been spread evenly; those that failed last come last. */
  const spreadUntil = new Map<string, number>()

  const after = (subject: string, now: number) => Math.max(spreadUntil.get(subject) ?? now, now) + spacingMillis

  const waitOf = (subject: string, now: number) => Math.max(0, after(subject, now) - now - windowMillis)

  const longest = (subjects: ReadonlyArray<string>, now: number) =>
    Math.max(0, ...subjects.map((subject) => waitOf(subject, now)))

  const count = (subject: string, now: number) => {
    if (waitOf(subject, now) > 0) return
    const next = after(subject, now)
    spreadUntil.delete(subject)
    spreadUntil.set(subject, next)
    if (spreadUntil.size <= capacity) return
    const [oldest] = spreadUntil.keys()
    if (oldest !== undefined) spreadUntil.delete(oldest)
  }

  return {
    wait: (subjects) => Effect.map(nowMillis, (now) => longest(subjects, now)),
    fail: (subjects) =>
      Effect.map(nowMillis, (now) => {
        const wait = longest(subjects, now)
        subjects.forEach((subject) => count(subject, now))
        return wait
      })
  }
}

/** The network that an address is counted as: an IPv4 address, or the /64 that a single IPv6 client has to itself. */
export const networkOf = (address: string): string => {
  const [plain = ""] = address.split("%")
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1]
  if (ipv4 !== undefined || !plain.includes(":")) return ipv4 ?? plain
  const [left = [], right = []] = plain.split("::").map((part) => part.split(":").filter((group) => group !== ""))
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0")
  return `${[...left, ...zeros, ...right].slice(0, 4).join(":")}::/64`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// Monotonic, so that setting the clock neither locks anybody out nor lets them in.
const nowMillis = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000_000n))
