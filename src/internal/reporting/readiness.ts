/** Barriers: a step waits until every worker of its participant has come to it. */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { ParticipantRef, PlatformError, Worker } from "../../Platform.js"
import type { ReadyOptions } from "../../Reporter.js"
import { StepNotReady } from "../../Step.js"
import type { RequestSettings } from "./requests.js"
import { answered } from "./requests.js"
import type { Telemetry } from "./telemetry.js"

/** While a step waits its worker has to be heard of more often than every freshness window (15 s). */
const heartbeatSpacing = Duration.seconds(5)

interface Poll {
  waiters: number
  readonly ready: Deferred.Deferred<void>
  readonly fiber: Fiber.RuntimeFiber<void>
}

export class Readiness {
  private readonly polls = new Map<string, Poll>()
  /** Steps that have been ready once: they stay so. */
  private readonly passed = new Set<string>()
  private readonly joining = Effect.unsafeMakeSemaphore(1)

  constructor(
    private readonly settings: RequestSettings,
    private readonly ref: ParticipantRef,
    private readonly scope: Scope.Scope,
    private readonly heartbeat: Effect.Effect<void>,
    private readonly telemetry: Telemetry
  ) {}

  /** Ends when the step is ready. Those who wait for the same step share one poll. */
  readonly await = (step: string, { pollIntervalMs, timeoutMs }: ReadyOptions): Effect.Effect<void, StepNotReady> =>
    Effect.suspend(() =>
      this.passed.has(step)
        ? Effect.void
        : Effect.acquireUseRelease(
            this.join(step, pollIntervalMs),
            ({ ready }) =>
              Effect.flatten(
                Effect.timeoutTo(Deferred.await(ready), {
                  duration: timeoutMs,
                  onSuccess: () => Effect.void,
                  onTimeout: () => this.notReady(step, timeoutMs)
                })
              ),
            (poll) => this.leave(step, poll)
          )
    )

  private join(step: string, pollIntervalMs: number): Effect.Effect<Poll> {
    return this.joining.withPermits(1)(
      Effect.gen(this, function* () {
        const running = this.polls.get(step)
        if (running !== undefined) {
          running.waiters++
          return running
        }
        const ready = yield* Deferred.make<void>()
        const polling = Effect.zipRight(this.poll(step, pollIntervalMs), Deferred.succeed(ready, undefined))
        const fiber = yield* Effect.forkIn(Effect.asVoid(Effect.interruptible(polling)), this.scope)
        const poll: Poll = { waiters: 1, ready, fiber }
        this.polls.set(step, poll)
        return poll
      })
    )
  }

  private leave(step: string, poll: Poll): Effect.Effect<void> {
    return this.joining.withPermits(1)(
      Effect.suspend(() => {
        if (--poll.waiters > 0) return Effect.void
        this.polls.delete(step)
        return Effect.asVoid(Fiber.interruptFork(poll.fiber))
      })
    )
  }

  /** Ends when the step is ready; until then the platform hears of this worker, and is asked again and again. */
  private poll(step: string, pollIntervalMs: number): Effect.Effect<void> {
    const ask = answered(this.settings, "runProgress", this.settings.platform.runProgress(this.ref)).pipe(
      Effect.map(({ participants }) =>
        participants.some(
          ({ concurrency, slug }) =>
            slug === this.ref.participant && concurrency.some((row) => row.step === step && row.ready)
        )
      ),
      Effect.tap((ready) => (ready ? Effect.sync(() => this.passed.add(step)) : Effect.void))
    )
    const askAgain = Effect.suspend(() =>
      this.passed.has(step) ? Effect.void : this.telemetry.attempt("readiness", ask)
    ).pipe(Effect.repeat({ schedule: Schedule.spaced(pollIntervalMs), until: () => this.passed.has(step) }))
    const beat = Effect.repeat(this.heartbeat, Schedule.spaced(heartbeatSpacing))
    return Effect.zipRight(this.heartbeat, Effect.raceFirst(askAgain, Effect.delay(beat, heartbeatSpacing))).pipe(
      Effect.asVoid
    )
  }

  private notReady(step: string, timeoutMs: number): Effect.Effect<never, StepNotReady> {
    const { platform } = this.settings
    return answered(this.settings, "listWorkers", platform.listWorkers(this.ref)).pipe(
      Effect.map((workers) => missing(step, workers)),
      Effect.catchAll((error: PlatformError) =>
        Effect.succeed(`who is missing could not be found out (${error.message})`)
      ),
      Effect.flatMap(
        (waitingFor) => new StepNotReady({ step, timeoutMs, participant: this.ref.participant, waitingFor })
      )
    )
  }
}

/** Who has not come to the step, in words. */
const missing = (step: string, workers: ReadonlyArray<Worker>): string => {
  const absent = workers.flatMap((worker) => {
    const name = `worker ${worker.workerIndex + 1}`
    if (worker.status === "pending") return [`${name} (not claimed by any process)`]
    if (worker.status !== "running") return []
    const sample = worker.concurrency?.find((one) => one.step === step)
    if (sample === undefined) return [`${name} (has not come to the step)`]
    return sample.active < sample.target ? [`${name} (${sample.active} of ${sample.target} tasks have)`] : []
  })
  return absent.length === 0 ? "a worker that is no longer heard of" : absent.join(", ")
}
