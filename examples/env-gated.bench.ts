// A participant that lacks what it needs is skipped, not failed: here Redis, where REDIS_URL is not set.
// Run: bench run examples/env-gated.bench.ts (and again with REDIS_URL=redis://localhost:6379)
import type { Socket } from "node:net"
import { connect } from "node:net"
import { createInterface } from "node:readline"
import type { ConfigError, Scope } from "effect"
import { Config, Data, Duration, Effect, Record } from "effect"
import { Benchmark, Step, Task } from "effect-bench"

class KvError extends Data.TaggedError("KvError")<{ readonly cause: unknown }> {
  override get message(): string {
    return String(this.cause)
  }
}

interface Kv {
  readonly set: (key: string, value: string) => Effect.Effect<unknown, KvError>
  readonly get: (key: string) => Effect.Effect<string | undefined, KvError>
}

type Connect = Effect.Effect<Kv, KvError | ConfigError.ConfigError, Scope.Scope>

const memory: Connect = Effect.sync(() => {
  const values = new Map<string, string>()
  return {
    set: (key, value) => Effect.sync(() => values.set(key, value)),
    get: (key) => Effect.sync(() => values.get(key))
  }
})

const redis: Connect = Effect.gen(function* () {
  const url = yield* Config.url("REDIS_URL")
  const socket = yield* Effect.acquireRelease(
    Effect.async<Socket, KvError>((resume) => {
      const socket = connect({ host: url.hostname, port: Number(url.port || 6379), noDelay: true })
      socket.once("connect", () => resume(Effect.succeed(socket)))
      socket.on("error", (cause) => resume(new KvError({ cause })))
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
  const reader = createInterface({ input: socket })
  socket.once("close", () => reader.close())
  const lines = reader[Symbol.asyncIterator]()
  const nextLine = async () => {
    const line = await lines.next()
    if (line.done === true) throw new Error("the connection was closed")
    return line.value
  }
  const send = (command: string) =>
    Effect.tryPromise({
      try: async () => {
        socket.write(`${command}\r\n`)
        const reply = await nextLine()
        if (reply.startsWith("-")) throw new Error(reply)
        return /^\$\d/.test(reply) ? await nextLine() : reply
      },
      catch: (cause) => new KvError({ cause })
    })
  return {
    set: (key, value) => send(`SET ${key} ${value} EX 60`),
    get: (key) => send(`GET ${key}`)
  }
})

const stores: { readonly [name: string]: Connect } = { memory, redis }

export default Benchmark.make({
  benchmarkSlug: "kv-roundtrip",
  benchmarkName: "Key-value stores: set and get",
  iterations: 100,
  participants: [{ name: "memory" }, { name: "redis", requiredEnvVars: ["REDIS_URL"] }],
  scoring: {
    metrics: [{ key: "roundTripMs", unit: "ms", ceiling: 5, weights: { median: 0.6, p95: 0.25, p99: 0.15 } }]
  },
  display: {
    metrics: [{ key: "roundTripMs", label: "round trip", unit: "ms", direction: "lower-better", decimals: 3 }],
    overview: { defaultMetric: "roundTripMs", defaultLayout: "ranking" }
  },
  task: ({ participant, taskIndex }) =>
    Effect.gen(function* () {
      const connect = yield* Record.get(stores, participant.name)
      const kv = yield* Step.run("connect", connect, { timeoutMs: 5000 })
      const key = `effect-bench:${taskIndex}`
      const value = `value-${taskIndex}`
      const [elapsed, found] = yield* Effect.timed(
        Effect.zipRight(Step.run("set", kv.set(key, value)), Step.run("get", kv.get(key)))
      )
      if (found !== value) {
        return yield* new Task.TaskError(`got ${found} instead of ${value}`, { code: "WRONG_VALUE", data: { found } })
      }
      yield* Task.measure({ roundTripMs: Duration.toMillis(elapsed) })
    })
})
