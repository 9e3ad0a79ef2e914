import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { assertComplete, garbage, isTo, resets, run, setting, unavailable } from "../support/faults.js"
import type { Fault } from "../support/platformHost.js"

/** Numbers from 0 to 1 that look random and are the same for the same seed. */
const random = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

const kinds: ReadonlyArray<Fault> = [unavailable, resets("before"), resets("after"), garbage]

describe("10 000 tasks", () => {
  it.scopedLive(
    "arrive exactly once at a server that fails 30 % of requests at random",
    () =>
      Effect.gen(function* () {
        const next = random(20)
        const failed = new Map<Fault, number>()
        let claimed = false
        const where = yield* setting({
          misbehaviour: (request) => {
            if (!claimed) {
              claimed = isTo(request, "POST", "/claim")
              return "normal"
            }
            const fault = kinds[Math.floor(next() * kinds.length)]
            if (next() >= 0.3 || fault === undefined) return "normal"
            failed.set(fault, (failed.get(fault) ?? 0) + 1)
            return fault
          }
        })
        const ran = yield* run(where, {
          tasks: 10_000,
          concurrency: 16,
          reporter: { batchSize: 50, heartbeatInterval: "50 millis" }
        })
        yield* assertComplete(where, ran, 10_000)
        assert.strictEqual(failed.size, kinds.length)
        const share = [...failed.values()].reduce((sum, count) => sum + count, 0) / where.host.requests.length
        assert.isAtLeast(share, 0.2)
      }),
    180_000
  )
})
