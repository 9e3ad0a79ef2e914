import * as Net from "node:net"
import type { HttpServerRequest } from "@effect/platform"
import { Effect, Layer, Logger, Redacted } from "effect"
import * as AccessLog from "../../src/internal/server/accessLog.js"
import { Platform } from "../../src/Platform.js"
import { AccountsAuthorization, PlatformAuthorization, refusal } from "../../src/PlatformApi.js"
import * as PlatformServer from "../../src/PlatformServer.js"

/** The one key that these servers accept. */
export const apiKey = "bp_test_0123456789abcdef"

export const authorized = { authorization: `Bearer ${apiKey}` }

/** Where results of a worker go. */
export const eventsPath = "/api/v1/benchmarks/b/runs/r/participants/p/workers/w/events"

const benchmark = { id: "1", slug: "x", name: "X" }

/** A platform whose operations that are not given answer the least they can. */
const platformOf = (platform: Partial<Omit<Platform["Type"], "origin">>) =>
  Layer.mock(Platform, {
    getBenchmark: () => Effect.succeed(benchmark),
    upsertBenchmark: () => Effect.succeed(benchmark),
    listBenchmarks: () => Effect.succeed([]),
    claimWorker: () => Effect.succeed(null),
    sendTaskResults: (_ref, { records }) =>
      Effect.succeed({ accepted: records.length, eventBatchId: "1", duplicate: false }),
    ...platform,
    origin: { kind: "store", location: ":memory:" }
  })

const authorization = (platform: Partial<Omit<Platform["Type"], "origin">>) => {
  const check =
    <A>(service: A) =>
    (key: Redacted.Redacted) =>
      Redacted.value(key) === apiKey
        ? Effect.as(AccessLog.annotateOrganization("acme"), service)
        : Effect.fail(refusal("Unauthenticated", { error: "Invalid API key" }))
  return Layer.merge(
    Layer.effect(
      PlatformAuthorization,
      Effect.map(Platform, (service) => ({ bearer: check(service) }))
    ),
    Layer.succeed(AccountsAuthorization, { bearer: () => Effect.die("no accounts") })
  ).pipe(Layer.provide(platformOf(platform)))
}

/** Serves on a port of its own until the scope closes. */
export const serve = (
  options: PlatformServer.PlatformServerOptions & {
    readonly platform?: Partial<Omit<Platform["Type"], "origin">>
  } = {}
) => {
  const { platform, ...server } = options
  return PlatformServer.serve({ port: 0, ...server }).pipe(Effect.provide(authorization(platform ?? {})))
}

/** An app that answers with what it makes of a request. */
export type App = PlatformServer.MountedApp["app"]
export type Request = HttpServerRequest.HttpServerRequest

// -----------------------------------------------------------------------------
// clients
// -----------------------------------------------------------------------------

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: unknown
}

export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** One request of a well-behaved client, by default with the key. */
export const ask = (server: { readonly port: number }, path: string, init: RequestInit = {}) =>
  Effect.promise(async (signal): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      signal,
      ...init,
      headers: {
        ...authorized,
        ...(init.body !== undefined && { "content-type": "application/json" }),
        ...init.headers
      }
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parse(text) }
  })

/** A connection on which anything can be sent. */
export interface Connection {
  readonly send: (data: string | Uint8Array) => Effect.Effect<void>
  /** Waits until this many answers have arrived as a whole, and gives them; interim ones count too. */
  readonly answers: (count: number) => Effect.Effect<ReadonlyArray<Answer>>
  /** Waits until the server has closed the connection, and tells how. */
  readonly closed: Effect.Effect<"ended" | "reset">
}

export const connect = (server: { readonly port: number }) =>
  Effect.acquireRelease(
    Effect.async<Net.Socket>((resume) => {
      const socket = Net.connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true }, () =>
        resume(Effect.succeed(socket))
      )
    }),
    (socket) => Effect.sync(() => socket.destroy())
  ).pipe(
    Effect.map((socket): Connection => {
      let received = Buffer.alloc(0)
      let end: "ended" | "reset" | undefined
      const changed = new Set<() => void>()
      const notify = () => changed.forEach((listener) => listener())
      socket.on("data", (chunk) => {
        received = Buffer.concat([received, chunk])
        notify()
      })
      socket.on("end", () => {
        end ??= "ended"
        notify()
      })
      socket.on("error", () => {
        end ??= "reset"
        notify()
      })
      const when = <A>(look: () => A | undefined) =>
        Effect.async<A>((resume) => {
          const listener = () => {
            const found = look()
            if (found !== undefined) resume(Effect.succeed(found))
          }
          changed.add(listener)
          listener()
          return Effect.sync(() => changed.delete(listener))
        })
      return {
        send: (data) =>
          Effect.async<void>((resume) => {
            socket.write(data, () => resume(Effect.void))
          }),
        answers: (count) =>
          when(() => {
            const found = parseAnswers(received)
            return found.length >= count ? found : undefined
          }),
        closed: when(() => end)
      }
    })
  )

/** A request as it is sent. */
export const raw = (method: string, path: string, headers: Readonly<Record<string, string>> = {}, body = ""): string =>
  [
    `${method} ${path} HTTP/1.1`,
    "host: test",
    `authorization: Bearer ${apiKey}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    body
  ].join("\r\n")

/** What a request with a JSON body says about it. */
export const jsonOf = (length: number) => ({ "content-type": "application/json", "content-length": String(length) })

const parseAnswers = (received: Buffer): ReadonlyArray<Answer> => {
  const answers: Array<Answer> = []
  let rest = received
  for (;;) {
    const end = rest.indexOf("\r\n\r\n")
    if (end === -1) return answers
    const [first = "", ...lines] = rest.subarray(0, end).toString().split("\r\n")
    const headers = new Headers(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(":")
        return [line.slice(0, colon), line.slice(colon + 1).trim()]
      })
    )
    const length = Number(headers.get("content-length") ?? 0)
    if (rest.length < end + 4 + length) return answers
    const text = rest.subarray(end + 4, end + 4 + length).toString()
    answers.push({ status: Number(first.split(" ")[1]), headers, text, body: parse(text) })
    rest = rest.subarray(end + 4 + length)
  }
}

// -----------------------------------------------------------------------------
// logs
// -----------------------------------------------------------------------------

/** Keeps what is logged, a text for each line: message, then annotations by name. */
export const capturingLogs = <A, E, R>(use: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const logger = Logger.make(({ annotations, cause, message }) => {
      const fields = [...annotations].map(([name, value]) => `${name}=${String(value)}`).sort()
      lines.push([String(message), ...fields, cause._tag === "Empty" ? "" : String(cause)].join(" ").trim())
    })
    return Effect.provide(use(lines), Logger.replace(Logger.defaultLogger, logger))
  })
