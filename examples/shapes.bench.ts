import { Effect } from "effect"
import { Benchmark, Step, Task } from "effect-bench"

export default Benchmark.make({
  benchmarkSlug: "sort",
  benchmarkName: "Sorting numbers",
  iterations: 30,
  concurrency: 1,
  participants: [{ name: "array-sort" }, { name: "typed-array-sort" }],
  shapes: {
    paced: { slug: "sort-paced", name: "Sorting numbers, 5 ms apart", staggerDelayMs: 5 }
  },
  scoring: {
    metrics: [{ key: "sortMs", unit: "ms", ceiling: 200, weights: { median: 0.6, p95: 0.3, p99: 0.1 } }]
  },
  task: ({ participant }) =>
    Effect.gen(function* () {
      const numbers = Float64Array.from({ length: 50_000 }, () => Math.random())
      const sort =
        participant.name === "array-sort" ? () => Array.from(numbers).sort((a, b) => a - b) : () => numbers.sort()
      const [elapsed, sorted] = yield* Effect.timed(Step.run("sort", Effect.sync(sort)))
      yield* Task.measure({ sortMs: Number(elapsed.value) })
      yield* Task.measure({ first: sorted[0] ?? null })
    })
})
