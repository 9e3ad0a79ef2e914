/** How much a server takes from a client, and for how long it waits for it. */
import * as Duration from "effect/Duration"

/**
 * The largest requests that are taken, in bytes. A body counts as it was sent and once more as it is decompressed.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServerLimits {
  /** One batch of results. Default 32 MiB. */
  readonly events?: number | undefined
  /** Any other body. Default 1 MiB. */
  readonly body?: number | undefined
  /** The request line and the headers together. Default 16 KiB. */
  readonly headers?: number | undefined
  /**
   * The bodies of all requests to the API that are being read and carried out, together; further ones are answered with 503
   * and may come again. A single one always may. Default 256 MiB.
   */
  readonly bodies?: number | undefined
}

/**
 * How long a server waits for a client.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServerTimeouts {
  /** Until all headers of a request have arrived. Default 15 seconds. */
  readonly headers?: Duration.DurationInput | undefined
  /** Between two pieces of a body. Default 30 seconds. */
  readonly idle?: Duration.DurationInput | undefined
  /**
   * Until a whole body has arrived, unless it is read as a stream; also how long a connection may be without any traffic
   * while a request is open. Default 120 seconds.
   */
  readonly request?: Duration.DurationInput | undefined
  /** For the next request on a connection. Default 65 seconds. */
  readonly keepAlive?: Duration.DurationInput | undefined
  /** For requests that are being carried out when the server is told to stop. Default 10 seconds. */
  readonly drain?: Duration.DurationInput | undefined
}

/** Both of the above, complete. */
export interface Settings {
  readonly limits: Readonly<Record<keyof ServerLimits, number>>
  /** How many proxies stand between clients and the server. */
  readonly proxies: number
  readonly timeouts: Readonly<Record<keyof ServerTimeouts, Duration.Duration>>
}

export const make = (limits: ServerLimits = {}, timeouts: ServerTimeouts = {}, proxies = 0): Settings => ({
  limits: {
    events: limits.events ?? 32 * mebibyte,
    body: limits.body ?? mebibyte,
    headers: limits.headers ?? 16 * 1024,
    bodies: limits.bodies ?? 256 * mebibyte
  },
  proxies: Math.max(0, Math.floor(proxies)),
  timeouts: {
    headers: Duration.decode(timeouts.headers ?? "15 seconds"),
    idle: Duration.decode(timeouts.idle ?? "30 seconds"),
    request: Duration.decode(timeouts.request ?? "120 seconds"),
    keepAlive: Duration.decode(timeouts.keepAlive ?? "65 seconds"),
    drain: Duration.decode(timeouts.drain ?? "10 seconds")
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const mebibyte = 1024 * 1024
