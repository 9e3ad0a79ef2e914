import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Platform, RunResults, RunSummary } from "../../src/Platform.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import type { Project } from "../support/bench.js"
import { fixture, project } from "../support/bench.js"

const Iterations = Schema.Struct({
  run: Schema.Struct({ id: Schema.String }),
  steps: Schema.Array(
    Schema.Struct({
      participantSlug: Schema.String,
      stepName: Schema.String,
      taskIndex: Schema.Int,
      data: Schema.Unknown
    })
  )
})

const Judged = Schema.Struct({
  rankedBy: Schema.String,
  participants: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      rank: Schema.Int,
      tied: Schema.Boolean,
      metrics: Schema.Array(
        Schema.Struct({
          key: Schema.String,
          total: Schema.Int,
          distribution: Schema.Struct({ count: Schema.Int, median: Schema.Number })
        })
      )
    })
  )
})

const decode = <A, I>(schema: Schema.Schema<A, I>) => Schema.decodeUnknownSync(Schema.parseJson(schema))

const said = (here: Project, args: ReadonlyArray<string>) =>
  Effect.map(here.call(args), ({ code, stderr, stdout }) => [code, here.normalize(stdout + stderr).trimEnd()])

/** Stores runs of a benchmark without running it, and gives their ids, oldest first. */
const store = (here: Project, benchmark: string, count: number) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    yield* platform.upsertBenchmark(benchmark, { name: `Name of ${benchmark}` })
    const created = yield* Effect.replicateEffect(
      platform.createRun(benchmark, { participants: [{ slug: "a" }] }),
      count
    )
    return created.map(({ run }) => run.id)
  }).pipe(Effect.provide(SqlPlatform.layerSqlite({ filename: here.path(".bench/bench.db") })))

describe("queries", () => {
  it.scopedLive("show a run of another process with its scores", () =>
    Effect.gen(function* () {
      const here = yield* project
      const run = yield* here.bench(["run", fixture("scored.bench.ts")])
      assert.strictEqual(run.code, 0, run.stderr)

      const results = yield* here.bench(["results", "scored"])
      const text = here.normalize(results.stdout)
      assert.strictEqual(
        text.replace(/\nRun <id>.*\n$/, ""),
        run.stdout.replace(/\nNotes:\n {2}Skipping gated: .*\n/, "")
      )
      assert.match(text, /\n\nRun <id>, completed, <time>\n$/)
      assert.deepStrictEqual([results.code, results.stderr], [0, ""])

      const { stdout } = yield* here.bench(["results", "scored", "--json", "--run", "last"])
      const Answer = Schema.Struct({ ...RunResults.fields, summary: RunSummary, analysis: Judged })
      const { analysis, benchmark, overall, participants, run: stored, summary } = decode(Answer)(stdout)
      assert.strictEqual(benchmark.slug, "scored")
      assert.deepStrictEqual([stored.status, stored.totalTasks], ["completed", 40])
      assert.deepStrictEqual([overall.taskCount, overall.errorCount], [40, 4])
      assert.deepStrictEqual(
        participants.map(({ participantSlug, successRate }) => [participantSlug, successRate]),
        [
          ["steady", 1],
          ["moody", 0.8]
        ]
      )
      assert.deepStrictEqual(
        summary.results.map(({ compositeScore, dimensions, provider }) => [provider, compositeScore, dimensions]),
        [
          ["steady", 80, { region: "here" }],
          ["moody", 68.4, { region: "here" }]
        ]
      )
      assert.deepStrictEqual(
        [summary.run.nodeVersion, summary.run.platform, summary.run.triggeredBy],
        [process.version, process.platform, "manual"]
      )

      assert.strictEqual(analysis.rankedBy, "composite score")
      assert.deepStrictEqual(
        analysis.participants.map(({ metrics, name, rank, tied }) => [name, rank, tied, metrics[0]]),
        [
          ["steady", 1, true, { key: "waitMs", total: 20, distribution: { count: 20, median: 20 } }],
          ["moody", 1, true, { key: "waitMs", total: 16, distribution: { count: 16, median: 10 } }]
        ]
      )

      const iterations = yield* here.call([
        "iterations",
        "--steps",
        "prepare",
        "--participant",
        "moody",
        "--format=json"
      ])
      const { run: named, steps: listed } = decode(Iterations)(iterations.stdout)
      assert.strictEqual(named.id, stored.id)
      assert.deepStrictEqual(
        listed,
        Array.from({ length: 20 }, (_, taskIndex) => ({
          participantSlug: "moody",
          stepName: "prepare",
          taskIndex,
          data: { prepared: true }
        }))
      )
    })
  )

  it.scopedLive("list what is recorded", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench(
        "ok.mjs",
        { participants: [{ name: "a" }, { name: "b" }], iterations: 2 },
        "async ({ taskIndex, measure }) => { measure({ taskIndex }); if (taskIndex) throw new Error('no') }"
      )
      assert.strictEqual((yield* here.call(["run", file, "--run-key", "nightly"])).code, 0)
      const lines = (args: ReadonlyArray<string>) =>
        Effect.map(said(here, args), ([code, text]) => [
          code,
          ...String(text)
            .split("\n")
            .map((line) => line.split(/ {2,}/))
        ])
      assert.deepStrictEqual(yield* lines(["runs", "list"]), [
        0,
        ["run", "benchmark", "status", "tasks", "created", "key"],
        ["<id>", "bench", "completed", "4", "<time>", "nightly"]
      ])
      assert.deepStrictEqual(yield* lines(["runs", "show", "last"]), [
        0,
        ["Run <id> of bench: completed"],
        ["created <time>, updated <time>, key nightly"],
        [""],
        ["participant", "status", "worker", "worker status", "tasks", "done", "errors"],
        ["a", "completed", "1/1", "completed", "0–1", "2/2", "1"],
        ["b", "completed", "1/1", "completed", "0–1", "2/2", "1"]
      ])
      assert.deepStrictEqual(yield* lines(["benchmarks", "list"]), [
        0,
        ["benchmark", "name", "last status", "last run", "run"],
        ["bench", "Bench", "completed", "<time>", "<id>"]
      ])
      const [, titles, first, failed] = yield* lines(["iterations", "bench", "--participant", "b"])
      assert.deepStrictEqual(titles, ["participant", "task", "status", "latency (ms)", "started", "data"])
      assert.deepStrictEqual(Array.isArray(first) ? first.toSpliced(3, 1) : first, [
        "b",
        "0",
        "success",
        "<time>",
        '{"taskIndex":0}'
      ])
      assert.deepStrictEqual(Array.isArray(failed) ? failed.toSpliced(3, 1) : failed, [
        "b",
        "1",
        "error Error",
        "<time>",
        '{"taskIndex":1,"errorMessage":"no"}'
      ])
      assert.deepStrictEqual(yield* said(here, ["iterations", "--steps", "none"]), [
        0,
        "Nothing that was asked for is recorded in run <id>."
      ])
      assert.deepStrictEqual(yield* said(here, ["iterations", "--participant", "c"]), [
        1,
        'No participant "c". See which the run has: bench runs show RUN'
      ])
    })
  )

  it.scopedLive("say that there is no store", () =>
    Effect.gen(function* () {
      const here = yield* project
      const message =
        "Nothing is recorded yet: there is no store at <folder>/.bench/bench.db. Run a benchmark first: bench run FILE"
      for (const args of [
        ["results"],
        ["results", "bench", "--json"],
        ["iterations"],
        ["runs", "list"],
        ["runs", "show"]
      ]) {
        assert.deepStrictEqual(yield* said(here, args), [1, message])
      }
    })
  )

  it.scopedLive("say that a store is empty", () =>
    Effect.gen(function* () {
      const here = yield* project
      here.write(".bench/bench.db", "")
      const nothing = "There are no runs yet. Run a benchmark first: bench run FILE"
      assert.deepStrictEqual(yield* said(here, ["results"]), [1, nothing])
      assert.deepStrictEqual(yield* said(here, ["iterations", "--run", "last~3"]), [1, nothing])
      assert.deepStrictEqual(yield* said(here, ["runs", "show"]), [1, nothing])
      assert.deepStrictEqual(yield* said(here, ["runs", "list"]), [0, "No runs."])
      assert.deepStrictEqual(yield* said(here, ["benchmarks", "list", "--json"]), [0, '{\n  "items": []\n}'])
      assert.deepStrictEqual(yield* said(here, ["results", "bench"]), [
        1,
        'No benchmark "bench". See which are recorded: bench benchmarks list'
      ])
    })
  )

  it.scopedLive("find the run that is meant", () =>
    Effect.gen(function* () {
      const here = yield* project
      // Of 17 ids two begin with the same hexadecimal digit.
      const ids = yield* store(here, "many", 17)
      yield* store(here, "other", 1)
      const [first = "", last = ""] = [ids[0], ids[16]]
      const shown = (...args: ReadonlyArray<string>) =>
        Effect.map(here.call(["results", ...args]), ({ code, stderr, stdout }) =>
          code === 0 ? (/\nRun (\S+), planned/.exec(stdout)?.[1] ?? stdout) : stderr.trimEnd()
        )
      assert.strictEqual(yield* shown("many"), last)
      assert.strictEqual(yield* shown("many", "--run", "last~0"), last)
      assert.strictEqual(yield* shown("--run", "last~1"), last)
      assert.strictEqual(yield* shown("many", "--run", "last~16"), first)
      assert.strictEqual(yield* shown("--run", first.slice(0, 13)), first)
      assert.strictEqual(yield* shown("many", "--run", first), first)

      assert.strictEqual(
        yield* shown("many", "--run", "last~99"),
        "There are only 17 runs of many: the oldest is last~16."
      )
      assert.strictEqual(yield* shown("--run=last~600"), "There are only 18 runs: the oldest is last~17.")
      assert.strictEqual(
        yield* shown("other", "--run", "last~1"),
        "There is only 1 run of other: the oldest is last~0."
      )
      const unknown = (name: string) => `No run "${name}". Say last, last~N, or the beginning of an id: bench runs list`
      assert.strictEqual(yield* shown("--run", "xyz"), unknown("xyz"))
      assert.strictEqual(yield* shown("other", "--run", first), unknown(first))
      assert.strictEqual(yield* shown("none"), 'No benchmark "none". See which are recorded: bench benchmarks list')

      const twice =
        "0123456789abcdef".split("").find((digit) => ids.filter((id) => id.startsWith(digit)).length > 1) ?? ""
      const matching = ids.filter((id) => id.startsWith(twice)).toReversed()
      assert.strictEqual(
        yield* shown("many", "--run", twice),
        `"${twice}" is the beginning of ${matching.length} run ids: ${matching.slice(0, 5).join(", ")}. Say more of it.`
      )
    })
  )

  it.scopedLive("page through listings, newest first", () =>
    Effect.gen(function* () {
      const here = yield* project
      const ids = yield* store(here, "many", 5)
      const Listing = Schema.Struct({
        items: Schema.Array(Schema.Struct({ id: Schema.String, benchmarkSlug: Schema.String }))
      })
      const page = (...flags: ReadonlyArray<string>) =>
        Effect.map(here.call(["runs", "list", "many", "--json", ...flags]), ({ stdout }) =>
          decode(Listing)(stdout).items.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* page(), ids.toReversed())
      assert.deepStrictEqual(yield* page("--limit", "2", "--offset=1"), ids.toReversed().slice(1, 3))
      assert.deepStrictEqual(yield* page("--offset", "5"), [])
    })
  )
})
