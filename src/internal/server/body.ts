/** The body of a request, read no further and waited for no longer than it may take. */
import { isAscii, isUtf8 } from "node:buffer"
import type * as Http from "node:http"
import type { Readable } from "node:stream"
import * as Zlib from "node:zlib"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { BodyRefused } from "./answers.js"
import { cutOff, notGzip, tooLarge, tooSlow } from "./answers.js"

/** What a body may be. */
export interface BodyLimits {
  /** As it was sent, and once more as it is decompressed. */
  readonly bytes: number
  /** Between two pieces of it. */
  readonly idle: Duration.Duration
  /** Until it is complete. */
  readonly whole: Duration.Duration
}

/** Whether a request says that a body comes with it. */
export const isAnnounced = ({ headers }: Http.IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || announcedBytes(headers) > 0

/** The size that a request announces; 0 when it announces none. */
export const announcedBytes = (headers: Http.IncomingHttpHeaders): number => Number(headers["content-length"] ?? 0)

/** How a body is compressed; undefined when it is in a way that cannot be undone. */
export const encodingOf = (headers: Http.IncomingHttpHeaders): "identity" | "gzip" | undefined => {
  switch ((headers["content-encoding"] ?? "identity").trim().toLowerCase()) {
    case "":
    case "identity":
      return "identity"
    case "gzip":
    case "x-gzip":
      return "gzip"
  }
  return undefined
}

/** The whole body, decompressed, in the pieces in which it came. */
export const readAll = (
  message: Http.IncomingMessage,
  limits: BodyLimits
): Effect.Effect<ReadonlyArray<Buffer>, BodyRefused> =>
  Effect.suspend(() => {
    if (announcedBytes(message.headers) > limits.bytes) return Effect.fail(tooLarge(limits.bytes))
    const compressed = encodingOf(message.headers) === "gzip"
    const arrived = compressed ? undefined : takeArrived(message)
    if (arrived !== undefined) {
      return sizeOf(arrived) > limits.bytes ? Effect.fail(tooLarge(limits.bytes)) : Effect.succeed(arrived)
    }
    return Effect.flatMap(Effect.clock, (clock) => {
      const progress = new Progress(clock)
      return Effect.raceFirst(collect(message, compressed, limits.bytes, progress), watch(progress, limits))
    })
  })

/** Text of bytes in UTF-8; undefined when they are not. */
export const decodeText = (chunks: ReadonlyArray<Buffer>): string | undefined => {
  // Large strings are costly to make: this way only one is.
  if (chunks.every(isAscii)) return chunks.map((chunk) => chunk.toString("latin1")).join("")
  const whole = Buffer.concat(chunks)
  return isUtf8(whole) ? whole.toString("utf8") : undefined
}

/** The body as it arrives, decompressed. Only the time between two pieces is limited. */
export const stream = (message: Http.IncomingMessage, limits: BodyLimits): Stream.Stream<Uint8Array, BodyRefused> =>
  Stream.suspend(() => {
    if (announcedBytes(message.headers) > limits.bytes) return Stream.fail(tooLarge(limits.bytes))
    const sent = NodeStream.fromReadable<BodyRefused, Uint8Array>(
      () => message,
      () => cutOff,
      { closeOnDone: false }
    ).pipe(
      counted(limits.bytes),
      Stream.timeoutFail(() => tooSlow(limits.idle, "idle"), limits.idle)
    )
    return encodingOf(message.headers) === "gzip"
      ? sent.pipe(
          NodeStream.pipeThroughDuplex(
            () => Zlib.createGunzip({ chunkSize: gunzipChunk }),
            () => notGzip
          ),
          counted(limits.bytes)
        )
      : sent
  })

/**
 * Lets the rest of a body arrive and drops it, at most for a while and up to a size: a client that is still sending does not
 * look for the answer, and would lose it if the connection was closed. One that goes on for longer is cut off.
 */
export const drain = (message: Http.IncomingMessage): Effect.Effect<void> =>
  Effect.raceFirst(
    Effect.async<boolean>((resume) => {
      let dropped = 0
      const onData = (chunk: Buffer) => {
        dropped += chunk.length
        if (dropped > maxDrainedBytes) resume(Effect.succeed(false))
      }
      const onEnd = () => resume(Effect.succeed(true))
      message.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", onEnd).resume()
      if (message.destroyed || message.readableEnded) onEnd()
      return Effect.sync(() => {
        message.off("data", onData).off("end", onEnd).off("close", onEnd)
      })
    }),
    Effect.as(Effect.sleep(maxDrainTime), false)
  ).pipe(
    Effect.flatMap((complete) =>
      complete
        ? Effect.void
        : Effect.sync(() => {
            message.socket.destroySoon()
          })
    )
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxDrainedBytes = 64 * 1024 * 1024

const maxDrainTime = Duration.seconds(5)

const gunzipChunk = 64 * 1024

/** What has arrived as a whole with the headers needs no waiting. */
const takeArrived = (message: Http.IncomingMessage): ReadonlyArray<Buffer> | undefined => {
  if (!message.complete || message.readableFlowing !== null || message.destroyed) return undefined
  const chunks: Array<Buffer> = []
  for (let chunk: unknown = message.read(); chunk !== null; chunk = message.read()) {
    if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  }
  return chunks
}

const sizeOf = (chunks: ReadonlyArray<Buffer>): number => chunks.reduce((size, { length }) => size + length, 0)

/** When the body began to be read, and when something of it arrived last. */
class Progress {
  readonly startedAt: bigint
  lastAt: bigint

  constructor(readonly clock: Clock.Clock) {
    this.startedAt = clock.unsafeCurrentTimeNanos()
    this.lastAt = this.startedAt
  }

  readonly touch = (): void => {
    this.lastAt = this.clock.unsafeCurrentTimeNanos()
  }
}

const watch = (progress: Progress, limits: BodyLimits): Effect.Effect<never, BodyRefused> =>
  Effect.flatMap(Clock.currentTimeNanos, (now) => {
    const idle = Duration.subtract(limits.idle, Duration.nanos(now - progress.lastAt))
    const whole = Duration.subtract(limits.whole, Duration.nanos(now - progress.startedAt))
    if (Duration.lessThanOrEqualTo(whole, Duration.zero)) return Effect.fail(tooSlow(limits.whole, "whole"))
    if (Duration.lessThanOrEqualTo(idle, Duration.zero)) return Effect.fail(tooSlow(limits.idle, "idle"))
    return Effect.zipRight(Effect.sleep(Duration.min(idle, whole)), watch(progress, limits))
  })

const collect = (message: Http.IncomingMessage, compressed: boolean, limit: number, progress: Progress) =>
  Effect.async<ReadonlyArray<Buffer>, BodyRefused>((resume) => {
    const chunks: Array<Buffer> = []
    let received = 0
    let size = 0
    const refuse = (refused: BodyRefused) => resume(Effect.fail(refused))
    const gunzip = compressed ? Zlib.createGunzip({ chunkSize: gunzipChunk }) : undefined
    const source: Readable = gunzip ?? message
    const onReceived = (chunk: Buffer) => {
      progress.touch()
      received += chunk.length
      if (received > limit) refuse(tooLarge(limit))
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) return refuse(tooLarge(limit))
      chunks.push(chunk)
    }
    const onEnd = () => resume(Effect.succeed(chunks))
    const onCutOff = () => {
      if (!message.complete) refuse(cutOff)
    }
    const onNotGzip = () => refuse(message.complete || !message.destroyed ? notGzip : cutOff)
    message.on("data", onReceived).on("error", onCutOff).on("close", onCutOff)
    source.on("data", onData).on("end", onEnd)
    if (gunzip !== undefined) message.pipe(gunzip.on("error", onNotGzip))
    return Effect.sync(() => {
      message.off("data", onReceived).off("close", onCutOff)
      source.off("data", onData).off("end", onEnd)
      if (gunzip !== undefined) {
        message.unpipe(gunzip)
        gunzip.destroy()
      }
    })
  })

const counted =
  (limit: number) =>
  (self: Stream.Stream<Uint8Array, BodyRefused>): Stream.Stream<Uint8Array, BodyRefused> =>
    Stream.suspend(() => {
      let size = 0
      return Stream.tap(self, (chunk) => {
        size += chunk.length
        return size > limit ? Effect.fail(tooLarge(limit)) : Effect.void
      })
    })
