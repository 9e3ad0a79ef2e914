// What a connection costs: HTTP requests over one that is kept open against a new one for each, cold and warm.
// Run: bench run examples/http-latency.bench.ts (client and server share a process: compare rows, not with other tools)
import { Agent, createServer, get } from "node:http"
import { text } from "node:stream/consumers"
import { HttpServer } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Data, Duration, Effect, Layer, Record } from "effect"
import { Benchmark, Step, Task } from "effect-bench"

const page = (path: string): string => `This is ${path}.\n`.repeat(50)

class Server extends Context.Tag("Server")<Server, { readonly origin: string }>() {
  static readonly layer = Layer.scoped(
    Server,
    Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((request, response) => response.end(page(request.url ?? "")))
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
    ).pipe(
      Effect.map((server) => {
        const address = server.address()
        return { origin: `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}` }
      })
    )
  )
}

class RequestError extends Data.TaggedError("RequestError")<{ readonly cause: unknown }> {}

const makeClient = (keepAlive: boolean) =>
  Effect.gen(function* () {
    const { origin } = yield* Server
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ keepAlive })),
      (agent) => Effect.sync(() => agent.destroy())
    )
    return {
      get: (path: string) =>
        Effect.async<string, RequestError>((resume, signal) => {
          const failed = (cause: unknown) => resume(new RequestError({ cause }))
          get(origin + path, { agent, signal }, (response) => {
            text(response).then((body) => resume(Effect.succeed(body)), failed)
          }).on("error", failed)
        }),
      disconnect: Effect.sync(() => agent.destroy())
    }
  })

const makeClients = Effect.all({ "keep-alive": makeClient(true), "new-connection": makeClient(false) })

class Clients extends Context.Tag("Clients")<Clients, Effect.Effect.Success<typeof makeClients>>() {
  static readonly layer = Layer.scoped(Clients, makeClients)
}

export default Benchmark.make({
  benchmarkSlug: "http-latency",
  benchmarkName: "HTTP latency on a local server",
  phases: [
    { name: "cold", iterations: 200 },
    { name: "warm", iterations: 200 }
  ],
  groupBy: "round",
  participants: [{ name: "keep-alive" }, { name: "new-connection" }],
  scoring: {
    groupBy: "phase",
    metrics: [{ key: "requestMs", unit: "ms", ceiling: 5, weights: { median: 0.6, p95: 0.25, p99: 0.15 } }]
  },
  display: {
    metrics: [{ key: "requestMs", label: "request", unit: "ms", direction: "lower-better", decimals: 3 }],
    overview: { defaultMetric: "requestMs", defaultLayout: "ranking" }
  },
  layer: Clients.layer.pipe(Layer.provide(Server.layer)),
  task: ({ participant, phase, taskIndex }) =>
    Effect.gen(function* () {
      const client = yield* Record.get(yield* Clients, participant.name)
      if (phase === "cold") yield* client.disconnect
      const path = `/pages/${taskIndex}`
      const [elapsed, body] = yield* Step.run("request", client.get(path), { timeoutMs: 1000 }).pipe(Effect.timed)
      if (body !== page(path)) {
        return yield* new Task.TaskError("the server answered something else", { code: "WRONG_BODY", data: { body } })
      }
      yield* Task.measure({ requestMs: Duration.toMillis(elapsed) })
    })
})
