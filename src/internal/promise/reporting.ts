/** The reporter behind workers of promises: on a client's platform, with the spool of the project. */
import { hostname } from "node:os"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { Platform } from "../../Platform.js"
import type { TelemetryFailure } from "../../Reporter.js"
import * as Reporter from "../../Reporter.js"
import * as Spool from "../../Spool.js"
import * as SystemMetrics from "../../SystemMetrics.js"
import * as WorkerLog from "../../WorkerLog.js"
import { fromMethods } from "./adapter.js"
import { platformOf, withFetch } from "./client.js"
import type { PlatformMethods } from "./clientModel.js"
import type { ReportingOptions } from "./workerModel.js"

/** A client as far as a worker needs it: one of ours, or one with some of its methods. */
export type WorkerClient = Partial<PlatformMethods>

/** Reports to the client's platform as the options say. What cannot be delivered is kept in the project's spool. */
export const layer = (client: WorkerClient, options: ReportingOptions) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const own = platformOf(client)
      const settings = yield* WorkerLog.settings
      const metricsInterval = millis(options.metricsIntervalMs) ?? settings.metricsInterval
      const reporter = Reporter.layerWith({
        batchSize: options.batchSize,
        flushInterval: options.flushIntervalMs,
        heartbeatInterval: options.heartbeatIntervalMs,
        processKind: options.processKind ?? "worker",
        processKey: options.processKey ?? hostname(),
        logCompression: options.logCompression ?? settings.logCompression,
        logFlushInterval: options.logFlushIntervalMs ?? settings.logFlushInterval,
        metricsInterval,
        onTelemetryError: telemetryHook(options.onTelemetryError)
      })
      const platform = Layer.effect(Platform, own === undefined ? Effect.succeed(fromMethods(client)) : own.platform)
      const { layerSpool } = yield* Effect.promise(() => import("../../cli/project.js"))
      const spool = own === undefined ? Spool.layerMemory : layerSpool("write")
      return Layer.provide(reporter, [platform, spool, SystemMetrics.layer])
    })
  )

/** Effects on the client's platform, with the worker's log as the options want it, and warnings on stderr. */
export const configured =
  (client: WorkerClient, { logLevel, maxLogLines }: ReportingOptions) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const own = platformOf(client)
    const asked = new Map([
      ...(logLevel === undefined ? [] : [["BENCHMARK_LOG_LEVEL", logLevel] as const]),
      ...(maxLogLines === undefined ? [] : [["BENCHMARK_LOG_MAX_LINES", `${maxLogLines}`] as const])
    ])
    const logged =
      asked.size === 0
        ? effect
        : Effect.configProviderWith((provider) =>
            Effect.withConfigProvider(
              effect,
              ConfigProvider.orElse(ConfigProvider.fromMap(asked), () => provider)
            )
          )
    return toStderr(own === undefined ? logged : withFetch(own.endpoint, logged))
  }

/** Throws when an option cannot be used, naming all that cannot; those in `required` have to be functions. */
export const check = (
  caller: string,
  options: ReportingOptions & Checked,
  required: ReadonlyArray<"task"> = []
): void => {
  const problems = [
    ...text(options, ["benchmarkSlug", "runId", "participantSlug"]),
    ...integer("batchSize", options.batchSize, 5000),
    ...integer("concurrency", options.concurrency),
    ...integer("maxLogLines", options.maxLogLines),
    ...numbers(options, [
      "flushIntervalMs",
      "heartbeatIntervalMs",
      "readyPollIntervalMs",
      "logFlushIntervalMs",
      "metricsIntervalMs",
      "staggerDelayMs"
    ]),
    ...choices("logLevel", options.logLevel, ["debug", "info", "warn", "error"]),
    ...choices("logCompression", options.logCompression, ["none", "gzip"]),
    ...required.flatMap((key) => (typeof options[key] === "function" ? [] : [`${key} must be a function`])),
    ...functions(options, ["onResult", "onFinish", "onTelemetryError"])
  ]
  if (problems.length > 0) throw new TypeError(`${caller}: ${problems.join("; ")}`)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A program's own output is on stdout. */
const toStderr = Effect.provide(Logger.replace(Logger.defaultLogger, Logger.prettyLogger({ stderr: true })))

interface Checked {
  readonly task?: unknown
  readonly onResult?: unknown
  readonly onFinish?: unknown
  readonly concurrency?: number | undefined
  readonly readyPollIntervalMs?: number | undefined
  readonly staggerDelayMs?: number | undefined
}

const millis = (value: number | undefined): Duration.Duration | undefined =>
  value === undefined ? undefined : Duration.millis(value)

const telemetryHook = (hook: ReportingOptions["onTelemetryError"]) =>
  hook === undefined
    ? undefined
    : (failure: TelemetryFailure): Effect.Effect<void> => Effect.promise(async () => void (await hook(failure)))

const text = <K extends string>(options: { readonly [Key in K]: unknown }, keys: ReadonlyArray<K>) =>
  keys.flatMap((key) => {
    const value = options[key]
    return typeof value === "string" && value !== "" ? [] : [`${key} must be a non-empty string`]
  })

const integer = (key: string, value: unknown, most = Number.MAX_SAFE_INTEGER) => {
  const fits = typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= most
  const range = most === Number.MAX_SAFE_INTEGER ? ">= 1" : `from 1 to ${most}`
  return value === undefined || fits ? [] : [`${key} must be an integer ${range}`]
}

const numbers = <K extends string>(options: { readonly [Key in K]?: unknown }, keys: ReadonlyArray<K>) =>
  keys.flatMap((key) => {
    const value = options[key]
    return value === undefined || (typeof value === "number" && value >= 0 && value <= maxTimerMillis)
      ? []
      : [`${key} must be a number of milliseconds from 0 to ${maxTimerMillis}`]
  })

// A timer of Node.js that is set for longer fires at once.
const maxTimerMillis = 2 ** 31 - 1

const functions = <K extends string>(options: { readonly [Key in K]?: unknown }, keys: ReadonlyArray<K>) =>
  keys.flatMap((key) => {
    const value = options[key]
    return value === undefined || typeof value === "function" ? [] : [`${key} must be a function`]
  })

const choices = (key: string, value: unknown, known: ReadonlyArray<unknown>) =>
  value === undefined || known.includes(value) ? [] : [`${key} must be one of ${known.join(", ")}`]
