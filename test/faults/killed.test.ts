import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Platform } from "../../src/Platform.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import type { Project, Running } from "../support/bench.js"
import { project } from "../support/bench.js"
import type { HostProcess } from "../support/faults.js"
import { door, heldOf, hostProcess, range } from "../support/faults.js"
import { apiKey } from "../support/platformHost.js"

/** Several processes have to start, perhaps on a busy machine. */
const patience = 180_000

/** One task at a time. Each starts with a turn of the event loop, then says of the one before that it is done. */
const oneByOne = `async ({ taskIndex }) => {
  await new Promise((resolve) => setImmediate(resolve))
  if (taskIndex > 0) process.stderr.write("done " + (taskIndex - 1) + "\\n")
}`

/** Several at a time; each says that it is done a while after it has ended. */
const together = `async ({ taskIndex }) => {
  await new Promise((resolve) => setTimeout(resolve, taskIndex % 3))
  setTimeout(() => process.stderr.write("done " + taskIndex + "\\n"), 50)
}`

const reported = (stderr: string): ReadonlyArray<number> =>
  Array.from(stderr.matchAll(/^done (\d+)$/gm), ([, index]) => Number(index)).sort((a, b) => a - b)

const openStore = (filename: string) =>
  Effect.map(Layer.build(SqlPlatform.layerSqlite({ filename })), (context) => Context.get(context, Platform))

/** What the store has of a run, and that none of it was stored twice. */
const assertStoredOnce = (store: Platform["Type"], run: string) =>
  Effect.gen(function* () {
    const ref = { benchmark: "bench", run }
    const held = yield* heldOf(store, ref)
    const { items } = yield* store.runImports(ref)
    assert.strictEqual(
      items.reduce((sum, { eventCount }) => sum + eventCount, 0),
      held.tasks.length
    )
    assert.deepStrictEqual(
      items.map(({ sequenceNumber }) => sequenceNumber),
      range(items.length)
    )
    return held
  })

interface Round {
  readonly task: string
  readonly concurrency: number
  /** When the process is killed. */
  readonly until: (running: Running, host: HostProcess) => Effect.Effect<void>
}

const moment = Effect.suspend(() => Effect.sleep(Math.random() * 40))

const rounds: Readonly<Record<string, Round>> = {
  "before its first batch": { task: oneByOne, concurrency: 1, until: (running) => running.says("done 321\n") },
  "with its second batch on the way": { task: oneByOne, concurrency: 1, until: (_, host) => host.batches(2) },
  "with several tasks in flight": {
    task: together,
    concurrency: 50,
    until: (_, host) => Effect.zipRight(host.batches(2), moment)
  }
}

const environment = (here: Project, baseUrl: string) => ({
  HOME: here.folder,
  BENCHMARKS_PLATFORM_URL: baseUrl,
  BENCHMARKS_PLATFORM_API_KEY: apiKey
})

describe("a process that is killed", () => {
  it.scopedLive(
    "leaves every task that it has said to be done, and push delivers them once",
    () =>
      Effect.gen(function* () {
        const here = yield* project
        const filename = here.path("host.db")
        const host = yield* hostProcess({ filename, delayMillis: 30 })
        const env = environment(here, `http://127.0.0.1:${host.port}`)
        const store = yield* openStore(filename)

        const killed: Array<{ readonly name: string; readonly run: string; readonly done: ReadonlyArray<number> }> = []
        for (const [name, { concurrency, task, until }] of Object.entries(rounds)) {
          const file = here.writeBench("killed.mjs", { iterations: 1_000_000, concurrency }, task)
          const running = here.start(["run", file], env)
          yield* until(running, host)
          yield* running.kill("SIGKILL")
          const { code, stderr } = yield* running.ended
          assert.strictEqual(code, "SIGKILL", stderr)
          const [newest] = yield* store.listAllRuns({})
          killed.push({ name, run: newest?.id ?? "", done: reported(stderr) })
        }

        const pushed = yield* here.bench(["push", "--all"], env)
        assert.strictEqual(pushed.code, 0, pushed.stderr)
        assert.strictEqual(pushed.stdout.match(/its worker is failed, as its run left it\.$/gm)?.length, killed.length)

        for (const { done, name, run } of killed) {
          const { run: status, tasks } = yield* assertStoredOnce(store, run)
          assert.strictEqual(status, "failed", name)
          assert.isAbove(done.length, 0, name)
          // A record is kept from the end of the turn of the event loop in which its task ended, so nothing of what was said
          // in a later turn may be missing.
          const stored = new Set(tasks)
          const missing = done.filter((index) => !stored.has(index))
          assert.deepStrictEqual(missing, [], name)
          if (rounds[name]?.concurrency === 1) {
            assert.deepStrictEqual(tasks, range(tasks.length))
            assert.isAtMost(tasks.length, done.length + 2, name)
          }
        }

        const again = yield* here.call(["push", "--all"], env)
        assert.deepStrictEqual([again.code, again.stdout], [0, "Nothing is waiting to be delivered.\n"])
      }),
    patience
  )
})

describe("a host that is killed", () => {
  it.scopedLive(
    "in the middle of a run and started again on its file has every task once",
    () =>
      Effect.gen(function* () {
        const here = yield* project
        const filename = here.path("host.db")
        const first = yield* hostProcess({ filename, delayMillis: 20 })
        const way = yield* door(first.port)
        const file = here.writeBench(
          "bench.mjs",
          { iterations: 8000, concurrency: 10 },
          "() => new Promise((resolve) => setTimeout(resolve, 1))"
        )
        const running = here.start(["run", file], environment(here, way.baseUrl))
        yield* Effect.zipRight(first.batches(2), moment)
        yield* first.kill
        yield* way.close
        const second = yield* hostProcess({ filename })
        yield* way.open(second.port)
        const { code, stderr } = yield* running.ended
        assert.strictEqual(code, 0, stderr)
        const store = yield* openStore(filename)
        const [run] = yield* store.listAllRuns({})
        const held = yield* assertStoredOnce(store, run?.id ?? "")
        assert.deepStrictEqual([held.run, held.workers], ["completed", ["completed"]])
        assert.deepStrictEqual(held.tasks, range(8000))
      }),
    patience
  )
})
