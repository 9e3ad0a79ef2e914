/** What goes wrong beside the results: it is told, and fails nothing. */
import * as Effect from "effect/Effect"
import type { PlatformError } from "../../Platform.js"
import type { TelemetryFailure } from "../../Reporter.js"
import type { SpoolError } from "../../Spool.js"

/** Reports failures of one worker: each to the hook, to the log only the first of those that follow one another. */
export class Telemetry {
  private readonly failing = new Set<string>()

  constructor(
    private readonly participant: string,
    private readonly hook: ((failure: TelemetryFailure) => Effect.Effect<void>) | undefined
  ) {}

  /** Carries out what may fail. */
  attempt<A>(
    telemetry: TelemetryFailure["telemetry"],
    effect: Effect.Effect<A, PlatformError | SpoolError>
  ): Effect.Effect<void> {
    return Effect.matchEffect(effect, {
      onSuccess: () => Effect.sync(() => this.failing.delete(telemetry)),
      onFailure: (error) => this.failed(telemetry, error)
    })
  }

  failed(telemetry: TelemetryFailure["telemetry"], error: PlatformError | SpoolError): Effect.Effect<void> {
    return Effect.suspend(() => {
      const failure: TelemetryFailure = { telemetry, participant: this.participant, error }
      const told = this.hook === undefined ? Effect.void : tell(this.hook, failure)
      if (this.failing.has(telemetry)) return told
      this.failing.add(telemetry)
      return Effect.zipRight(told, Effect.logWarning(phrases[telemetry], error.message))
    })
  }
}

/** How long the hook may take: it is called where workers are closed, too. */
const hookLimit = "5 seconds"

const tell = (
  hook: (failure: TelemetryFailure) => Effect.Effect<void>,
  failure: TelemetryFailure
): Effect.Effect<void> =>
  Effect.suspend(() => hook(failure)).pipe(
    Effect.interruptible,
    Effect.timeoutOption(hookLimit),
    Effect.catchAllCause(() => Effect.void)
  )

const phrases: { readonly [Telemetry in TelemetryFailure["telemetry"]]: string } = {
  heartbeat: "heartbeat failed",
  readiness: "progress of the run could not be read",
  log: "log of the worker could not be uploaded",
  metrics: "system metrics could not be uploaded",
  artifact: "artifact could not be uploaded",
  spool: "spool cannot be used, records are kept in memory",
  close: "worker could not be closed",
  run: "run could not be marked failed"
}
