// What a connection costs: HTTP requests over one that is kept open against a new one for each, cold and warm.
// Run: bench run examples/http-latency.bench.ts (client and server share one process: compare its rows with each other)
import type { Server } from "node:http"
import { Agent, createServer, get } from "node:http"
import { text } from "node:stream/consumers"
import { Context, Data, Duration, Effect, Layer, Record } from "effect"
import { Benchmark, Step, Task } from "effect-bench"

const page = (path: string): string => `This is ${path}.\n`.repeat(50)

class Origin extends Context.Tag("Origin")<Origin, string>() {
  /** A server on a free port, closed when the run ends. */
  static readonly layer = Layer.scoped(
    Origin,
    Effect.acquireRelease(
      Effect.async<Server>((resume) => {
        const server = createServer((request, response) => response.end(page(request.url ?? "")))
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
    ).pipe(
      Effect.flatMap((server) => {
        const address = server.address()
        return address !== null && typeof address === "object"
          ? Effect.succeed(`http://127.0.0.1:${address.port}`)
          : Effect.dieMessage("the server has no port")
      })
    )
  )
}

class RequestError extends Data.TaggedError("RequestError")<{ readonly cause: unknown }> {
  override get message(): string {
    return String(this.cause)
  }
}

interface Client {
  readonly get: (path: string) => Effect.Effect<string, RequestError>
  readonly disconnect: Effect.Effect<void>
}

const makeClient = (keepAlive: boolean) =>
  Effect.gen(function* () {
    const origin = yield* Origin
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ keepAlive })),
      (agent) => Effect.sync(() => agent.destroy())
    )
    const client: Client = {
      get: (path) =>
        Effect.async((resume, signal) => {
          const failed = (cause: unknown) => resume(new RequestError({ cause }))
          get(origin + path, { agent, signal }, (response) => {
            text(response).then((body) => resume(Effect.succeed(body)), failed)
          }).on("error", failed)
        }),
      // The server gets time to notice, so that it does not do so while the next request is timed.
      disconnect: Effect.andThen(
        Effect.sync(() => agent.destroy()),
        Effect.sleep("2 millis")
      )
    }
    return client
  })

class Clients extends Context.Tag("Clients")<Clients, { readonly [name: string]: Client }>() {
  static readonly layer = Layer.scoped(
    Clients,
    Effect.all({ "keep-alive": makeClient(true), "new-connection": makeClient(false) })
  )
}

export default Benchmark.make({
  benchmarkSlug: "http-latency",
  benchmarkName: "HTTP latency on a local server",
  phases: [
    { name: "cold", iterations: 300 },
    { name: "warm", iterations: 300 }
  ],
  groupBy: "round",
  participants: [{ name: "keep-alive" }, { name: "new-connection" }],
  scoring: {
    groupBy: "phase",
    metrics: [{ key: "requestMs", unit: "ms", ceiling: 3, weights: { median: 0.6, p95: 0.25, p99: 0.15 } }]
  },
  display: {
    metrics: [{ key: "requestMs", label: "request", unit: "ms", direction: "lower-better", decimals: 3 }],
    overview: { defaultMetric: "requestMs", defaultLayout: "ranking" }
  },
  layer: Clients.layer.pipe(Layer.provide(Origin.layer)),
  task: ({ participant, phase, taskIndex }) =>
    Effect.gen(function* () {
      const client = yield* Record.get(yield* Clients, participant.name)
      if (phase === "cold") yield* client.disconnect
      const path = `/pages/${taskIndex}`
      const [elapsed, body] = yield* Effect.timed(Step.run("request", client.get(path), { timeoutMs: 1000 }))
      if (body !== page(path)) {
        return yield* new Task.TaskError("the server answered something else", { code: "WRONG_BODY", data: { body } })
      }
      yield* Task.measure({ requestMs: Duration.toMillis(elapsed) })
    })
})
