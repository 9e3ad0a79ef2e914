// Time from creating a local sandbox to the verified result of its first command; how well they isolate is another matter.
// Run: bench run examples/sandbox-tti.bench.ts
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { createContext, runInContext } from "node:vm"
import { Worker } from "node:worker_threads"
import type { Scope } from "effect"
import { Data, Duration, Effect, Record } from "effect"
import { Benchmark, Step, Task } from "effect-bench"

interface Sandbox {
  /** Computes an arithmetic expression inside the sandbox. */
  readonly compute: (expression: string) => Effect.Effect<string, SandboxError>
}

/** Closing the scope destroys the sandbox. The engine does that after each task, outside the measured time. */
type Create = Effect.Effect<Sandbox, SandboxError, Scope.Scope>

class SandboxError extends Data.TaggedError("SandboxError")<{ readonly cause: unknown }> {
  override get message(): string {
    return String(this.cause)
  }
}

const failed = (cause: unknown) => new SandboxError({ cause })

/** A process that reads expressions from its input and writes each result as a line. */
const processSandbox = (command: string, ...args: ReadonlyArray<string>): Create =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
        await once(child, "spawn")
        return child
      },
      catch: failed
    }),
    (child) =>
      Effect.async<void>((resume) => {
        child.once("exit", () => resume(Effect.void))
        if (!child.kill("SIGKILL")) resume(Effect.void)
      })
  ).pipe(
    Effect.map((child) => {
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      // A process that is gone shows by its output having ended.
      child.stdin.on("error", () => {})
      return {
        compute: (expression) =>
          Effect.tryPromise({
            try: async () => {
              child.stdin.write(`${expression}\n`)
              const line = await lines.next()
              return line.done === true ? "(no output)" : line.value
            },
            catch: failed
          })
      }
    })
  )

const nodeProcess = processSandbox(
  process.execPath,
  "-e",
  `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => console.log(eval(line)))`
)

const sh = processSandbox("sh", "-c", `while read -r line; do echo "$(($line))"; done`)

const workerThread: Create = Effect.acquireRelease(
  Effect.tryPromise({
    try: async () => {
      const script = `const { parentPort } = require("node:worker_threads")
        parentPort.on("message", (expression) => parentPort.postMessage(String(eval(expression))))`
      const worker = new Worker(script, { eval: true })
      await once(worker, "online")
      return worker
    },
    catch: failed
  }),
  (worker) => Effect.promise(() => worker.terminate())
).pipe(
  Effect.map((worker) => ({
    compute: (expression) =>
      Effect.tryPromise({
        try: async (signal) => {
          worker.postMessage(expression)
          const [result] = await once(worker, "message", { signal })
          return String(result)
        },
        catch: failed
      })
  }))
)

/** Other globals in the same thread: the least isolated of all, and nothing to destroy. */
const vmContext: Create = Effect.sync(() => {
  const context = createContext({})
  return {
    compute: (expression) => Effect.try({ try: () => String(runInContext(expression, context)), catch: failed })
  }
})

const sandboxes: { readonly [name: string]: Create } = {
  "node-process": nodeProcess,
  sh,
  "worker-thread": workerThread,
  "vm-context": vmContext
}

/** Asks for something that no sandbox can know in advance. */
const firstCommand = (sandbox: Sandbox, taskIndex: number) =>
  sandbox.compute(`${taskIndex} * 7 + 1`).pipe(
    Effect.filterOrFail(
      (result) => result === String(taskIndex * 7 + 1),
      (result) => new Task.TaskError(`the sandbox computed ${result}`, { code: "WRONG_RESULT", data: { result } })
    )
  )

export default Benchmark.make({
  benchmarkSlug: "sandbox-tti",
  benchmarkName: "Sandboxes: time to interactive",
  iterations: 20,
  participants: Record.keys(sandboxes).map((name) => ({ name })),
  scoring: { metrics: [{ key: "ttiMs", unit: "ms", ceiling: 250, weights: { median: 0.6, p95: 0.25, p99: 0.15 } }] },
  display: {
    metrics: [{ key: "ttiMs", label: "TTI", unit: "ms", direction: "lower-better", decimals: 2 }],
    steps: [
      { key: "create", label: "Create", order: 0 },
      { key: "first-command", label: "First command", order: 1 }
    ],
    overview: { defaultMetric: "ttiMs", defaultLayout: "ranking" }
  },
  task: ({ participant, taskIndex }) =>
    Effect.gen(function* () {
      const create = yield* Record.get(sandboxes, participant.name)
      const [elapsed] = yield* Effect.gen(function* () {
        const sandbox = yield* Step.run("create", create, { timeoutMs: 10_000 })
        yield* Step.run("first-command", firstCommand(sandbox, taskIndex), { timeoutMs: 10_000 })
      }).pipe(Effect.timed)
      yield* Task.measure({ ttiMs: Duration.toMillis(elapsed) })
    })
})
