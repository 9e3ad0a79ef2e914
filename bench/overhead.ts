/**
 * What the harness costs: tasks that do nothing, run by the engine and by a plain loop of promises that writes the same
 * records, alternately in one process. Prints microseconds and bytes per task, and the ratio of engine to loop.
 *
 *   npm run bench:overhead                 # the table
 *   npm run bench:overhead -- --million    # peak memory of a run of 1 000 000 tasks
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { Benchmark, Reporter, Scheduler, Step } from "effect-bench"
import * as SqlPlatform from "effect-bench/SqlPlatform"
import * as Spool from "../src/Spool.js"

const stepNames = ["a", "b", "c"]

interface PlainStep {
  readonly name: string
  readonly status: string
  readonly startedAt: string
  readonly completedAt: string
  readonly latencyMs: number
}

interface PlainRecord extends PlainStep {
  readonly taskIndex: number
  readonly steps: ReadonlyArray<PlainStep>
}

const milliseconds = (since: number): number => Math.round((performance.now() - since) * 1000) / 1000

/** The loop someone would write by hand: same records, nothing else. `take` sees each record. */
const plainLoop = async (
  tasks: number,
  steps: number,
  concurrency: number,
  take: (record: PlainRecord) => void
): Promise<void> => {
  const names = stepNames.slice(0, steps)
  const runTask = async (taskIndex: number): Promise<void> => {
    const list: Array<PlainStep> = []
    const step = async (name: string, work: () => Promise<void>): Promise<void> => {
      const startedAt = new Date().toISOString()
      const since = performance.now()
      await work()
      const latencyMs = milliseconds(since)
      list.push({ name, status: "success", startedAt, completedAt: new Date().toISOString(), latencyMs })
    }
    const startedAt = new Date().toISOString()
    const since = performance.now()
    for (const name of names) await step(name, async () => {})
    const latencyMs = milliseconds(since)
    const completedAt = new Date().toISOString()
    if (list.length === 0) list.push({ name: "task", status: "success", startedAt, completedAt, latencyMs })
    take({ name: "task", taskIndex, status: "success", startedAt, completedAt, latencyMs, steps: list })
  }
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < tasks) await runTask(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
}

const noop = (tasks: number, steps: number, concurrency: number) =>
  Benchmark.make({
    benchmarkSlug: "noop",
    benchmarkName: "No-op",
    participants: [{ name: "noop" }],
    iterations: tasks,
    concurrency,
    task: Effect.forEach(stepNames.slice(0, steps), (name) => Step.run(name, Effect.void), { discard: true })
  })

const noIngest = Layer.merge(Scheduler.layer, Reporter.layerNoIngest)

const runEngine = (tasks: number, steps: number, concurrency: number): Promise<unknown> =>
  Effect.runPromise(Effect.provide(Benchmark.run(noop(tasks, steps, concurrency)), noIngest))

const runEmbedded = async (tasks: number, steps: number, concurrency: number): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "overhead-"))
  const store = SqlPlatform.layerSqlite({ filename: join(folder, "bench.db") })
  const spool = Spool.layerDirectory({ directory: join(folder, "spool") })
  const layer = Layer.merge(Scheduler.layer, Layer.provide(Reporter.layer, [store, spool]))
  try {
    await Effect.runPromise(Effect.provide(Benchmark.run(noop(tasks, steps, concurrency)), layer))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const timed = async (run: () => Promise<unknown>): Promise<number> => {
  globalThis.gc?.()
  const since = performance.now()
  await run()
  return performance.now() - since
}

const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const ratios = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): ReadonlyArray<number> =>
  a.map((value, i) => value / (b[i] ?? Number.NaN))

const overhead = async (): Promise<void> => {
  const tasks = 50_000
  const rounds = 7
  console.log(`${tasks} no-op tasks a run, ${rounds} rounds, medians; ratio to the plain loop of the same round\n`)
  console.log("steps  concurrency  plain µs  engine µs  ratio (min–max)      tasks/s   embedded µs  ratio")
  for (const steps of [0, 1, 3]) {
    for (const concurrency of [1, 100]) {
      const plain: Array<number> = []
      const engine: Array<number> = []
      const embedded: Array<number> = []
      for (let round = 0; round <= rounds; round++) {
        let kept = 0
        const p = await timed(() => plainLoop(tasks, steps, concurrency, ({ latencyMs }) => (kept += latencyMs)))
        const e = await timed(() => runEngine(tasks, steps, concurrency))
        const s = await timed(() => runEmbedded(tasks / 5, steps, concurrency))
        if (Number.isNaN(kept)) throw new Error("the plain loop did not measure")
        if (round === 0) continue // warm-up
        plain.push((p / tasks) * 1000)
        engine.push((e / tasks) * 1000)
        embedded.push((s / (tasks / 5)) * 1000)
      }
      const ratio = ratios(engine, plain)
      const row = [
        String(steps).padStart(5),
        String(concurrency).padStart(11),
        median(plain).toFixed(2).padStart(8),
        median(engine).toFixed(2).padStart(9),
        `${median(ratio).toFixed(2)} (${Math.min(...ratio).toFixed(2)}–${Math.max(...ratio).toFixed(2)})`.padEnd(18),
        Math.round(1e6 / median(engine))
          .toString()
          .padStart(8),
        median(embedded).toFixed(2).padStart(12),
        median(ratios(embedded, plain)).toFixed(2).padStart(5)
      ]
      console.log(row.join("  "))
    }
  }
}

/** Memory that stays allocated per task while a run is going on. */
const bytesPerTask = async (): Promise<void> => {
  console.log("\nsteps  bytes per task (live heap, no-ingest)")
  for (const steps of [0, 1, 3]) {
    const liveAfter = async (tasks: number): Promise<number> => {
      let live = 0
      const benchmark = Benchmark.make({
        benchmarkSlug: "noop",
        benchmarkName: "No-op",
        participants: [{ name: "noop" }],
        iterations: tasks,
        task: ({ taskIndex }) =>
          Effect.zipRight(
            Effect.forEach(stepNames.slice(0, steps), (name) => Step.run(name, Effect.void), { discard: true }),
            Effect.sync(() => {
              if (taskIndex !== tasks - 1) return
              globalThis.gc?.()
              live = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers
            })
          )
      })
      await Effect.runPromise(Effect.provide(Benchmark.run(benchmark), noIngest))
      return live
    }
    await liveAfter(1000)
    const few = await liveAfter(150_000)
    const many = await liveAfter(450_000)
    console.log(`${String(steps).padStart(5)}  ${((many - few) / 300_000).toFixed(1)}`)
  }
}

const million = async (): Promise<void> => {
  const tasks = 1_000_000
  const steps = 3
  const before = process.memoryUsage().rss
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 50)
  const elapsed = await timed(() => runEngine(tasks, steps, 100))
  clearInterval(watch)
  peak = Math.max(peak, process.resourceUsage().maxRSS * 1024)
  console.log(
    `${tasks} tasks × ${steps} steps at concurrency 100: ${(elapsed / 1000).toFixed(1)} s, ` +
      `${Math.round(tasks / (elapsed / 1000))} tasks/s, peak RSS ${Math.round(peak / 1e6)} MB (${Math.round(before / 1e6)} MB before)`
  )
}

if (process.argv.includes("--million")) {
  await million()
} else {
  await overhead()
  await bytesPerTask()
}
