/** System metrics for programs that keep them themselves. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Collector, Sample } from "../../SystemMetrics.js"
import * as SystemMetrics from "../../SystemMetrics.js"
import { runPromise } from "./runtime.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface SystemMetricsCollectorOptions {
  /** How often a sample is taken between start and stop, in milliseconds. Default 30 000; 0 for only then. */
  readonly intervalMs?: number | undefined
}

/**
 * Samples what the process and its machine are doing: when it is started, now and then, and when it is stopped.
 *
 * @since 0.1.0
 * @category models
 */
export interface SystemMetricsCollector {
  /** Takes the first sample, and more from then on. A second call changes nothing. */
  readonly start: () => Promise<void>
  /** Takes the last sample. */
  readonly stop: () => Promise<void>
  /** Takes one now. Rejects before `start` and after `stop`. */
  readonly sample: () => Promise<Sample>
  /** Those taken so far. */
  readonly samples: ReadonlyArray<Sample>
  /** One sample a line, as JSON. */
  readonly toNdjson: () => string
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const createSystemMetricsCollector = ({
  intervalMs = 30_000
}: SystemMetricsCollectorOptions = {}): SystemMetricsCollector => {
  if (!(intervalMs >= 0 && intervalMs < 2 ** 31)) {
    throw new TypeError(`createSystemMetricsCollector: intervalMs must be a number >= 0 (got ${intervalMs})`)
  }
  const samples: Array<Sample> = []
  let running: Promise<Running> | undefined = undefined

  const take = (collector: Collector): Effect.Effect<Sample> =>
    Effect.tap(collector.sample, (sample) => Effect.sync(() => samples.push(sample)))

  const open = Effect.gen(function* () {
    const scope = yield* Scope.make()
    const collector = yield* Scope.extend(
      Effect.flatMap(SystemMetrics.SystemMetrics, (metrics) => metrics.open),
      scope
    )
    yield* take(collector)
    if (intervalMs > 0) {
      const forever = Effect.forever(Effect.zipRight(Effect.sleep(intervalMs), take(collector)))
      yield* Effect.forkIn(forever, scope)
    }
    return { collector, scope }
  }).pipe(Effect.provide(SystemMetrics.layer))

  const opened = (): Promise<Running> =>
    running ?? Promise.reject(new Error("The collector of system metrics is not started"))

  return {
    start: async () => {
      running ??= runPromise(open)
      await running
    },
    stop: async () => {
      if (running === undefined) return
      const stopping = running
      running = undefined
      const { collector, scope } = await stopping
      await runPromise(Effect.zipRight(take(collector), Scope.close(scope, Exit.void)))
    },
    sample: async () => {
      const { collector } = await opened()
      return runPromise(take(collector))
    },
    get samples() {
      return [...samples]
    },
    toNdjson: () => SystemMetrics.encode(samples)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Running {
  readonly collector: Collector
  readonly scope: Scope.CloseableScope
}
