// What becomes of work that hangs, fails, throws, runs in parallel or is tried again: one participant for each.
// Run: bench run examples/errors-and-timeouts.bench.ts --verbose (shows what each task logged)
import { Effect, Record, Ref } from "effect"
import { Benchmark, Step, Task } from "effect-bench"

type Scenario = Effect.Effect<unknown, unknown, Task.CurrentTask>

const hang = Effect.acquireUseRelease(
  Task.log("connection opened"),
  () => Effect.never,
  () => Task.log("connection closed")
)

/** At its deadline the step fails with the code `step_timeout` and its work is interrupted: the connection is closed. */
const timeout: Scenario = Step.run("hang", hang, { timeoutMs: 50 })

/** A step's timeout is an error like any other. The task succeeds; its record holds a failed step and one that worked. */
const fallback: Scenario = Step.run("hang", hang, { timeoutMs: 50 }).pipe(
  Effect.catchTag("StepTimeout", () => Step.run("fallback", Task.measure({ from: "cache" })))
)

/** The record keeps the error's code and data, and what was measured before it. */
const taskError: Scenario = Effect.gen(function* () {
  yield* Step.run("upload", Task.measure({ bytes: 4096 }))
  yield* Task.measure({ uploads: 1 })
  return yield* new Task.TaskError("the quota is used up", { code: "QUOTA_EXCEEDED", data: { limit: 1 } })
})

/** What throws is recorded under the name of what it threw; it ends neither the other tasks nor the run. */
const defect: Scenario = Step.run(
  "parse",
  Effect.sync((): unknown => JSON.parse(`{ "cut": "sho`))
)

/** Four at once are one step, which gives back all four results. */
const parallel: Scenario = Effect.gen(function* () {
  const tickets = yield* Ref.make(0)
  const draw = Effect.zipRight(
    Effect.sleep("5 millis"),
    Ref.updateAndGet(tickets, (n) => n + 1)
  )
  const drawn = yield* Step.run("draw", draw, { parallelInvocations: 4 })
  yield* Task.measure({ sum: drawn.reduce((sum, ticket) => sum + ticket, 0) })
})

/** Each attempt is a step of its own; retrying inside of `Step.run` would make them one. */
const retried: Scenario = Effect.gen(function* () {
  const attempts = yield* Ref.make(0)
  const call = Effect.filterOrFail(
    Ref.updateAndGet(attempts, (n) => n + 1),
    (attempt) => attempt === 3,
    (attempt) => new Task.TaskError(`busy on attempt ${attempt}`, { code: "BUSY" })
  )
  yield* Effect.retry(Step.run("call", call), { times: 3 })
  yield* Task.measure({ attempts: yield* Ref.get(attempts) })
})

const scenarios: { readonly [name: string]: Scenario } = {
  timeout,
  fallback,
  "task-error": taskError,
  defect,
  parallel,
  retried
}

export default Benchmark.make({
  benchmarkSlug: "errors-and-timeouts",
  benchmarkName: "Errors and timeouts",
  iterations: 3,
  participants: Record.keys(scenarios).map((name) => ({ name })),
  task: ({ participant }) => Effect.flatten(Record.get(scenarios, participant.name))
})
