import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Benchmark from "../src/Benchmark.js"
import { Platform, PlatformFailure } from "../src/Platform.js"
import * as Task from "../src/Task.js"
import { onlyRun, recorded, recordedOn, stored } from "./support/runs.js"

const pooled = { runKey: "nightly-1", workerPool: 3 }

const config = {
  benchmarkSlug: "bench",
  benchmarkName: "Bench",
  participants: [{ name: "alpha" }, { name: "beta" }],
  iterations: 7,
  scoring: { metrics: [{ key: "x", unit: "ms", ceiling: 100, weights: { median: 1, p95: 0, p99: 0 } }] }
}

/** Measures 1 in the first invocation, 2 in the second, and so on. */
const benchmark = (x: number) => Benchmark.make({ ...config, task: Task.measure({ x }) })

const workers = (participant: string) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const all = yield* platform.listWorkers({ ...(yield* onlyRun), participant })
    return all.map(({ status, taskIndexEnd, taskIndexStart }) => [taskIndexStart, taskIndexEnd, status])
  })

/** Samples and range of each participant's metric, as the stored summary has them. */
const summary = Effect.gen(function* () {
  const platform = yield* Platform
  const { results } = yield* platform.getSummary(yield* onlyRun)
  return results.map(({ metrics, provider }) => [
    provider,
    metrics[0]?.raw?.count,
    metrics[0]?.raw?.min,
    metrics[0]?.raw?.max
  ])
})

const taskCounts = ({ participants }: Benchmark.Outcome) => participants.map(({ taskCount }) => taskCount)

describe("a pool of workers", () => {
  it.effect("needs a run key, and a whole number of workers", () =>
    Effect.gen(function* () {
      const refusal = (options: Benchmark.RunOptions) =>
        Effect.map(Effect.flip(Benchmark.run(benchmark(1), options)), ({ _tag, message }) => [_tag, message])
      assert.deepStrictEqual(yield* refusal({ workerPool: 3 }), [
        "ConfigResolutionError",
        "workerPool needs a run key, which the runs that share the workers have in common: --run-key KEY"
      ])
      for (const workerPool of [0, 1.5, -1, NaN]) {
        assert.deepStrictEqual(yield* refusal({ ...pooled, workerPool }), [
          "ConfigResolutionError",
          `workerPool must be an integer >= 1 (got ${workerPool})`
        ])
      }
      assert.deepStrictEqual(yield* (yield* Platform).listAllRuns({}), [])
    }).pipe(Effect.provide(recorded))
  )

  it.effect("is planned once, and each invocation takes the next worker of every participant", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      assert.deepStrictEqual(taskCounts(yield* Benchmark.run(benchmark(1), pooled)), [3, 3])
      assert.deepStrictEqual(yield* workers("beta"), [
        [0, 2, "completed"],
        [3, 4, "pending"],
        [5, 6, "pending"]
      ])
      assert.strictEqual((yield* platform.getRun(yield* onlyRun)).status, "in_progress")
      assert.deepStrictEqual(taskCounts(yield* Benchmark.run(benchmark(2), pooled)), [2, 2])
      assert.deepStrictEqual(taskCounts(yield* Benchmark.run(benchmark(3), pooled)), [2, 2])
      const run = yield* platform.getRun(yield* onlyRun)
      assert.deepInclude(run, { status: "completed", totalTasks: 14 })
      assert.deepStrictEqual(
        (yield* platform.listParticipants(yield* onlyRun)).map(({ slug, totalTasks, workerCount }) => [
          slug,
          totalTasks,
          workerCount
        ]),
        [
          ["alpha", 7, 3],
          ["beta", 7, 3]
        ]
      )
      assert.deepStrictEqual(
        (yield* stored).map(({ data, participantSlug, taskIndex }) => [participantSlug, taskIndex, data?.["x"]]),
        ["alpha", "beta"].flatMap((name) => [1, 1, 1, 2, 2, 3, 3].map((x, index) => [name, index, x]))
      )
    }).pipe(Effect.provide(recorded))
  )

  it.effect("has nothing for one invocation more, which says so and spoils nothing", () =>
    Effect.gen(function* () {
      for (const x of [1, 2, 3]) yield* Benchmark.run(benchmark(x), pooled)
      const before = yield* summary
      const outcome = yield* Benchmark.run(Benchmark.make({ ...config, task: Effect.die("must not run") }), pooled)
      assert.deepStrictEqual(taskCounts(outcome), [0, 0])
      assert.deepStrictEqual(outcome.warnings, [
        'no worker of participant "alpha" is left to claim in this run',
        'no worker of participant "beta" is left to claim in this run'
      ])
      assert.deepStrictEqual(yield* summary, before)
      assert.strictEqual((yield* (yield* Platform).getRun(yield* onlyRun)).status, "completed")
    }).pipe(Effect.provide(recorded))
  )

  it.effect("is summed up over all that its workers have stored", () =>
    Effect.gen(function* () {
      yield* Benchmark.run(benchmark(1), pooled)
      assert.deepStrictEqual(yield* summary, [
        ["alpha", 3, 1, 1],
        ["beta", 3, 1, 1]
      ])
      yield* Benchmark.run(benchmark(2), pooled)
      yield* Benchmark.run(benchmark(3), pooled)
      assert.deepStrictEqual(yield* summary, [
        ["alpha", 7, 1, 3],
        ["beta", 7, 1, 3]
      ])
    }).pipe(Effect.provide(recorded))
  )

  it.effect("is summed up over all participants, also when one invocation runs only some", () =>
    Effect.gen(function* () {
      yield* Benchmark.run(benchmark(1), { runKey: "nightly-1", providers: ["alpha"] })
      yield* Benchmark.run(benchmark(2), { runKey: "nightly-1", providers: ["beta"] })
      assert.deepStrictEqual(yield* summary, [
        ["alpha", 7, 1, 1],
        ["beta", 7, 2, 2]
      ])
    }).pipe(Effect.provide(recorded))
  )

  it.effect("is shared by invocations at the same time", () =>
    Effect.gen(function* () {
      const outcomes = yield* Effect.all(
        [1, 2, 3, 4].map((x) => Benchmark.run(benchmark(x), pooled)),
        { concurrency: 4 }
      )
      const counts = outcomes.flatMap(taskCounts)
      assert.strictEqual(
        counts.reduce((sum, count) => sum + count, 0),
        14
      )
      const tasks = yield* stored
      assert.deepStrictEqual(
        tasks.map(({ participantSlug, taskIndex }) => [participantSlug, taskIndex]),
        ["alpha", "beta"].flatMap((name) => [0, 1, 2, 3, 4, 5, 6].map((index) => [name, index]))
      )
      assert.deepStrictEqual(
        (yield* summary).map(([provider, count]) => [provider, count]),
        [
          ["alpha", 7],
          ["beta", 7]
        ]
      )
      assert.strictEqual((yield* (yield* Platform).getRun(yield* onlyRun)).status, "completed")
    }).pipe(Effect.provide(recorded))
  )

  it.effect("has no more workers than there are tasks", () =>
    Effect.gen(function* () {
      yield* Benchmark.run(benchmark(1), { ...pooled, iterations: 2 })
      assert.strictEqual((yield* workers("alpha")).length, 2)
    }).pipe(Effect.provide(recorded))
  )

  it.effect("keeps the size that it was first planned with", () =>
    Effect.gen(function* () {
      yield* Benchmark.run(benchmark(1), pooled)
      assert.deepStrictEqual(taskCounts(yield* Benchmark.run(benchmark(2), { ...pooled, workerPool: 7 })), [2, 2])
      assert.strictEqual((yield* workers("alpha")).length, 3)
    }).pipe(Effect.provide(recorded))
  )

  it.effect("is not planned by one who is refused, but for another reason", () => {
    const broken = new PlatformFailure({ operation: "planWorkers", detail: "broken", retryable: false })
    return Effect.gen(function* () {
      assert.strictEqual(yield* Effect.flip(Benchmark.run(benchmark(1), pooled)), broken)
      assert.deepStrictEqual(yield* workers("alpha"), [])
    }).pipe(Effect.provide(recordedOn(() => ({ planWorkers: () => Effect.fail(broken) }))))
  })
})
