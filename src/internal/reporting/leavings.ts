/** What a worker leaves beside its results: its log, and what its process and machine were doing. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { ArtifactUpload, PlatformError, WorkerRef } from "../../Platform.js"
import type { NewArtifact } from "../../Reporter.js"
import type { Collector, Sample, SystemMetrics } from "../../SystemMetrics.js"
import * as Metrics from "../../SystemMetrics.js"
import type { LogCompression, WorkerLog } from "../../WorkerLog.js"
import { encode } from "../../WorkerLog.js"
import type { RequestSettings } from "./requests.js"
import { answered, isTransient } from "./requests.js"
import type { Telemetry } from "./telemetry.js"

export interface LeavingsSettings extends RequestSettings {
  /** Absent where nobody provides it: then none are sampled. */
  readonly metrics: Option.Option<SystemMetrics["Type"]>
  /** Zero for never. */
  readonly metricsInterval: Duration.Duration
  readonly logCompression: LogCompression
  /** How often the log is uploaded while the worker is open; zero for only at its end. */
  readonly logFlushInterval: Duration.Duration
}

export interface Leavings {
  readonly background: ReadonlyArray<Effect.Effect<void>>
  /** Uploads what there is in the end. */
  readonly finish: Effect.Effect<void>
  readonly upload: (artifact: NewArtifact, content: Uint8Array) => Effect.Effect<void, PlatformError>
}

/** They are worth a second try, not the patience that results are. */
const briefly = Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(2))

/** A day of samples 30 s apart is 2880; at this many every other one is dropped. */
const maxSamples = 10_000

export const make = Effect.fnUntraced(function* (
  settings: LeavingsSettings,
  ref: WorkerRef,
  attemptId: string,
  log: WorkerLog,
  telemetry: Telemetry
) {
  const collector = yield* openCollector(settings)
  const samples: Array<Sample> = []
  let kept: ArtifactUpload | undefined = undefined
  /** Whether there is something in the log that no upload has stored. */
  let logIsOwed = false

  const create = ({ contentType, kind, metadata, name }: NewArtifact) =>
    brieflyInsistent(
      settings,
      "createArtifact",
      settings.platform.createArtifact(ref, { attemptId, kind, name, contentType, metadata })
    )

  const send = (upload: ArtifactUpload, content: Uint8Array) =>
    brieflyInsistent(settings, "uploadArtifact", settings.platform.uploadArtifact(upload, content))

  const upload = (artifact: NewArtifact, content: Uint8Array): Effect.Effect<void, PlatformError> =>
    Effect.flatMap(create(artifact), (created) => send(created, content))

  /** The log replaces what was uploaded of it before, as long as the platform lets it. */
  const uploadLog = Effect.suspend(() => {
    const { changed, text } = log.snapshot()
    logIsOwed ||= changed
    if (!logIsOwed) return Effect.void
    return Effect.flatMap(encode(text, settings.logCompression), ({ content, contentType, metadata }) => {
      const anew = Effect.flatMap(
        create({ kind: "coordinator.log", name: "worker.log", contentType, metadata }),
        (created) =>
          Effect.map(send(created, content), () => {
            kept = created
          })
      )
      const stored = kept === undefined ? anew : Effect.catchAll(send(kept, content), () => anew)
      return Effect.map(stored, () => {
        logIsOwed = false
      })
    })
  })

  const sample = Option.match(collector, {
    onNone: () => Effect.void,
    onSome: (open) =>
      Effect.map(open.sample, (taken) => {
        samples.push(taken)
        if (samples.length >= maxSamples) samples.splice(0, samples.length, ...samples.filter((_, i) => i % 2 === 0))
      })
  })

  const uploadMetrics = Effect.suspend(() =>
    samples.length === 0
      ? Effect.void
      : upload(
          {
            kind: "system-metrics",
            name: "metrics.jsonl",
            contentType: Metrics.contentType,
            metadata: { sampleCount: samples.length }
          },
          new TextEncoder().encode(Metrics.encode(samples))
        )
  )

  const leavings: Leavings = {
    background: [
      ...(Duration.toMillis(settings.logFlushInterval) === 0
        ? []
        : [Effect.forever(Effect.delay(telemetry.attempt("log", uploadLog), settings.logFlushInterval))]),
      ...(Option.isNone(collector)
        ? []
        : [Effect.zipRight(sample, Effect.forever(Effect.delay(sample, settings.metricsInterval)))])
    ],
    finish: Effect.suspend(() => telemetry.attempt("log", uploadLog)).pipe(
      Effect.zipRight(sample),
      Effect.zipRight(telemetry.attempt("metrics", uploadMetrics))
    ),
    upload: (artifact, content) =>
      Effect.tapError(upload(artifact, content), (error) => telemetry.failed("artifact", error))
  }
  return leavings
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const openCollector = ({
  metrics,
  metricsInterval
}: LeavingsSettings): Effect.Effect<Option.Option<Collector>, never, Scope.Scope> =>
  Option.isNone(metrics) || Duration.toMillis(metricsInterval) === 0
    ? Effect.succeed(Option.none())
    : Effect.asSome(metrics.value.open)

/** All tries together take no longer than one request may. */
const brieflyInsistent = <A>(
  settings: RequestSettings,
  operation: string,
  request: Effect.Effect<A, PlatformError>
): Effect.Effect<A, PlatformError> =>
  answered(settings, operation, Effect.retry(request, { schedule: briefly, while: isTransient }))
