import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { Project, Result } from "../support/bench.js"
import { fixture, project } from "../support/bench.js"

const json = Schema.decodeUnknownSync(Schema.parseJson(Schema.Unknown))

/** Nothing was done: code 1, nothing on stdout, and this on stderr. */
const refuses = ({ code, stderr, stdout }: Result, message: string) =>
  assert.deepStrictEqual({ code, stdout, stderr: stderr.trimEnd() }, { code: 1, stdout: "", stderr: message })

const isRecorded = (within: Project) => fs.existsSync(within.path(".bench"))

describe("bench run", () => {
  it.scopedLive("names every fault of a config, in one line each", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench("faults.mjs", {
        benchmarkSlug: "Bad Slug",
        benchmarkName: "",
        participants: [{ name: "" }, { name: "a", requiredEnvVars: "X" }, { name: "a" }],
        iterations: 0,
        concurrency: 1.5,
        groupBy: "x",
        shapes: { x: { slug: "X" } },
        customCliFlags: ["rows"],
        onScore: 3,
        display: { overview: { defaultLayout: "zzz" } },
        scoring: { metrics: [{ key: "k", ceiling: -1, weights: { median: "x", p95: -1, p99: 0 } }] }
      })
      const result = yield* here.bench(["run", file])
      refuses(
        result,
        [
          "Invalid benchmark config:",
          '  - benchmarkSlug: needs a lowercase slug (got "Bad Slug")',
          "  - benchmarkName: is required",
          "  - participants[0].name: must be a non-empty string",
          "  - participants[1].requiredEnvVars: must be an array of strings",
          "  - participants[2].name: duplicate participant name: a",
          "  - iterations: must be an integer >= 1 (got 0)",
          "  - concurrency: must be an integer >= 1 (got 1.5)",
          "  - groupBy: must be 'participant' or 'round' (got x)",
          "  - shapes['x'].slug: needs a lowercase slug (got \"X\")",
          '  - customCliFlags: must be an array of strings starting with "--"',
          "  - onScore: must be a function (got 3)",
          "  - display.overview.defaultLayout: must be 'ranking', 'cards', 'chart', or 'leaderboard'",
          "  - scoring.metrics[0].ceiling: must be greater than 0 (got -1)",
          "  - scoring.metrics[0].weights.median: must be a finite number (got x)",
          "  - scoring.metrics[0].weights.p95: must be non-negative (got -1)",
          "",
          "Fix the fields above and try again."
        ].join("\n")
      )
    })
  )

  it.scopedLive("prints the scored result on stdout and what happens on stderr", () =>
    Effect.gen(function* () {
      const here = yield* project
      const { code, stderr, stdout } = yield* here.bench(["run", fixture("scored.bench.ts")])
      assert.strictEqual(code, 0)
      const [judged = "", rest = ""] = stdout.split("Steps (ms):\n")
      assert.deepStrictEqual(judged.replace(/\d\d\.\d\d–8\d\.\d\d\n/g, "<interval>\n").split("\n"), [
        "Scored (scored)",
        "",
        "Wait (ms)",
        " #  participant  tasks  success   min  median   p95   p99   max  score  95 % interval",
        "=1  steady          20    100 %  20.0    20.0  20.0  20.0  20.0  80.00    <interval>",
        "=1  moody           20     80 %   1.0    10.0  19.0  19.0  19.0  68.40    <interval>",
        "Ranked by composite score. Those that share a rank (=) cannot be told apart by these samples.",
        "",
        "Wait (ms): min to p95, the middle half and the median; then the histogram of each:",
        "        1.0                                 20.0  min to max",
        "steady                                         █  █",
        "moody   ├─────▒▒▒▒▒▒▒▒▒▒▒▒█▒▒▒▒▒▒▒▒▒─────────┤    ▆▄▆▄▄█",
        "",
        "Scored on Wait (ms) without 5 % of the samples at each end: 0 scores 100, 100 scores 0:",
        "participant  trimmed median  trimmed p95  trimmed p99  points      of",
        "steady                 20.0         20.0         20.0   80.00  100.00",
        "moody                  10.0         19.0         19.0   68.40  100.00",
        "",
        ""
      ])
      assert.match(
        rest,
        /^step +participant +count +success .*\nprepare +steady +20 +100 % .*\nprepare +moody +20 +100 % /
      )
      assert.match(rest, /\n\(whole task\) +steady +20 +100 % .*\n\(whole task\) +moody +20 +80 % /)
      assert.deepStrictEqual(rest.split("\n").slice(6), [
        "Failures:",
        "  moody: 4 × MOODY (tasks 0, 5, 10, 15): in a bad mood",
        "",
        "Warnings:",
        "  4 of 20 tasks of moody failed: its numbers are those of the other 16",
        "  Wait (ms): with as few as 16 samples, p95 and p99 are the maximum: p95 needs 20, p99 needs 100",
        "  Wait (ms) of moody grows from task to task (Mann-Kendall, tau 1.00): the median is 2.5 ms in the first quarter and 17.5 ms in the last",
        "  Wait (ms) of moody: all samples are whole multiples of 1 ms apart: the clock is too coarse for them",
        "",
        "Notes:",
        "  Skipping gated: missing SCORED_TOKEN",
        ""
      ])
      assert.deepStrictEqual(here.normalize(stderr).split("\n"), [
        "Skipping gated: missing SCORED_TOKEN",
        "Running Scored (scored): 2 participants, 20 tasks each",
        "  steady: 20 tasks",
        "  steady: 20/20 done, 0 failed",
        "  moody: 20 tasks",
        "  moody: 20/20 done, 4 failed",
        "",
        "Recorded in <folder>/.bench/bench.db as run <id>.",
        "Show it again: bench results scored --run <prefix>",
        ""
      ])
      assert.strictEqual(fs.readFileSync(here.path(".bench/.gitignore"), "utf8"), "*\n")
    })
  )

  it.scopedLive("prints only JSON on stdout under --json, and nothing else under --quiet", () =>
    Effect.gen(function* () {
      const here = yield* project
      const args = [
        "run",
        fixture("scored.bench.ts"),
        "--provider",
        "moody,gated",
        "--shape=paced",
        "--iterations",
        "5"
      ]
      const { code, stderr, stdout } = yield* here.bench([...args, "--json", "--quiet"])
      assert.deepStrictEqual([code, stderr], [0, "Skipping gated: missing SCORED_TOKEN\n"])
      const { participants, results, runId, ...rest } = Schema.decodeUnknownSync(
        Schema.parseJson(
          Schema.Struct({
            runId: Schema.UUID,
            benchmarkSlug: Schema.String,
            benchmarkName: Schema.String,
            participants: Schema.Tuple(
              Schema.Struct({
                participant: Schema.String,
                taskCount: Schema.Int,
                successCount: Schema.Int,
                errorCount: Schema.Int,
                latencyMs: Schema.Record({ key: Schema.String, value: Schema.NonNegative }),
                errors: Schema.Unknown
              })
            ),
            skipped: Schema.Unknown,
            results: Schema.Tuple(
              Schema.Struct({ provider: Schema.String, compositeScore: Schema.Number, dimensions: Schema.Unknown })
            ),
            warnings: Schema.Unknown
          })
        )
      )(stdout, { onExcessProperty: "ignore" })
      const [{ latencyMs, ...moody }] = participants
      assert.isNotEmpty(runId)
      assert.deepStrictEqual(Object.keys(latencyMs), ["min", "avg", "p50", "p95", "p99", "max"])
      assert.deepStrictEqual(moody, {
        participant: "moody",
        taskCount: 5,
        successCount: 4,
        errorCount: 1,
        errors: [{ code: "MOODY", count: 1, message: "in a bad mood" }]
      })
      assert.deepStrictEqual(rest, {
        benchmarkSlug: "scored-paced",
        benchmarkName: "Scored, 1 ms apart",
        skipped: [{ participant: "gated", missing: ["SCORED_TOKEN"] }],
        warnings: []
      })
      // 4 of 5 succeed, with waits 1 to 4: 0.8 × (0.5 × 97.5 + 0.3 × 96 + 0.2 × 96)
      assert.deepStrictEqual(results, [{ provider: "moody", compositeScore: 77.4, dimensions: { region: "here" } }])
    })
  )

  it.scopedLive("takes a config, a task and a layer by name, and releases the layer", () =>
    Effect.gen(function* () {
      const here = yield* project
      const { code, stdout } = yield* here.bench(["run", fixture("parts.bench.ts"), "--iterations", "1"])
      assert.strictEqual(code, 0)
      assert.include(stdout, "Parts (parts)")
      assert.deepStrictEqual(fs.readFileSync(here.path("notes.txt"), "utf8").split("\n"), [
        "alpha 0 released",
        "beta 0 released",
        "layer released",
        ""
      ])
    })
  )

  it.scopedLive("says when the layer cannot be built, and leaves no run behind", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = fixture("parts.bench.ts")
      refuses(
        yield* here.bench(["run", file], { PARTS_MODE: "unbuildable" }),
        `the layer of ${file} failed: no notebook`
      )
      assert.strictEqual((yield* here.call(["runs", "list"])).stdout, "No runs.\n")
    })
  )

  it.scopedLive("takes files of the Promise dialect and leaves flags of their own to them", () =>
    Effect.gen(function* () {
      const here = yield* project
      const { code, stderr } = yield* here.bench(["run", "--rows", "12", "--verbose", fixture("promise.bench.ts")])
      assert.strictEqual(code, 0)
      const lines = here.normalize(stderr).split("\n")
      assert.deepStrictEqual(
        lines.slice(
          lines.findIndex((line) => line.startsWith("Running")),
          -3
        ),
        [
          "Running Promise (promise): 1 participant, 3 tasks each",
          "  alpha: 3 tasks",
          '  [alpha] Task 1/3: success {"phase":"cold","rows":12}',
          '  [alpha] Task 2/3: success {"phase":"warm","rows":12}',
          '  [alpha] Task 3/3: success {"phase":"warm","rows":12}',
          "  alpha: 3/3 done, 0 failed",
          "--- log of alpha",
          "<time> [task 0] [info] sleep",
          '<time> [task 0] [info] slept {"phase":"cold"}',
          "<time> [task 1] [info] sleep",
          '<time> [task 1] [info] slept {"phase":"warm"}',
          "<time> [task 2] [info] sleep",
          '<time> [task 2] [info] slept {"phase":"warm"}',
          ""
        ]
      )
    })
  )

  it.scopedLive("is done when no participant can run here, and says so", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench("gated.mjs", {
        participants: [
          { name: "a", requiredEnvVars: ["NOT_SET_A", "NOT_SET_B"] },
          { name: "b", requiredEnvVars: ["NOT_SET_B"] }
        ]
      })
      const { code, stderr, stdout } = yield* here.bench(["run", file])
      assert.deepStrictEqual([code, stdout], [0, ""])
      assert.strictEqual(
        stderr,
        [
          "No participant can run: each of them lacks environment variables.",
          "  - a: set NOT_SET_A, NOT_SET_B",
          "  - b: set NOT_SET_B",
          "",
          "Set the variables of at least one participant and try again.",
          ""
        ].join("\n")
      )
      const asJson = yield* here.bench(["run", file, "--json"])
      assert.deepStrictEqual([asJson.code, asJson.stderr], [0, stderr])
      assert.deepStrictEqual(JSON.parse(asJson.stdout), {
        runId: null,
        participants: [],
        skipped: [
          { participant: "a", missing: ["NOT_SET_A", "NOT_SET_B"] },
          { participant: "b", missing: ["NOT_SET_B"] }
        ],
        results: null,
        thresholds: [],
        warnings: []
      })
      const some = yield* here.call(["run", file, "--dry-run"], { NOT_SET_B: "x" })
      assert.strictEqual(some.code, 0)
      assert.match(some.stderr, /^Skipping a: missing NOT_SET_A\nRunning Bench \(bench\): 1 participant, 1 task each\n/)
    })
  )

  it.scopedLive("follows the project's settings below flags and above the file", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench("deep/ok.mjs", { participants: [{ name: "a" }, { name: "b" }], iterations: 5 })
      here.write(
        "bench.config.ts",
        'interface Settings { iterations: number }\nexport default { iterations: 3, providers: ["b"] } satisfies Settings & object\n'
      )
      here.write("other.ts", 'export default { iterations: 2, name: "Other" }\n')
      const line = (result: Result) => [result.code, result.stderr.split("\n")[0]]
      const [settings, flags, other] = yield* Effect.all(
        [
          here.bench(["run", file, "--dry-run"]),
          here.bench(["run", file, "--dry-run", "--iterations", "1", "--provider", "a"]),
          here.bench(["run", file, "--dry-run", "--config=other.ts"])
        ],
        { concurrency: 2 }
      )
      assert.deepStrictEqual(line(settings), [0, "Running Bench (bench): 1 participant, 3 tasks each"])
      assert.deepStrictEqual(line(flags), [0, "Running Bench (bench): 1 participant, 1 task each"])
      assert.deepStrictEqual(line(other), [0, "Running Other (bench): 2 participants, 2 tasks each"])
      here.write("platform.ts", 'export default { baseUrl: "https://example.com" }\n')
      const elsewhere = yield* here.bench(["run", file, "--config=platform.ts"])
      assert.deepStrictEqual(line(elsewhere), [
        0,
        "warning: not signed in to https://example.com, which the project names: using the project's own store. Sign in with `bench auth login`"
      ])
      const dry = yield* here.bench(["run", file, "--config=platform.ts", "--dry-run"], {
        BENCHMARKS_PLATFORM_URL: "http://not-this-machine.example"
      })
      assert.deepStrictEqual(line(dry), [0, "Running Bench (bench): 2 participants, 5 tasks each"])
    })
  )

  it.scopedLive("ends with a code that tells how it went", () =>
    Effect.gen(function* () {
      const here = yield* project
      here.writeBench("ok.mjs", {})
      here.writeBench("failing.mjs", { iterations: 2 }, "async () => { throw undefined }")
      here.writeBench("half.mjs", { iterations: 2 }, "async ({ taskIndex }) => { if (taskIndex) throw null }")
      here.writeBench("gated.mjs", { participants: [{ name: "a" }, { name: "b", requiredEnvVars: ["NOT_SET"] }] })
      here.write("throws.mjs", 'throw new Error("no database")\n')
      here.write("syntax.ts", "export const config = {\n")
      const codes = {
        "run --first ok.mjs --second --dry-run": 1,
        "run throws.mjs": 1,
        "run syntax.ts": 1,
        "run failing.mjs": 1,
        "run half.mjs": 0,
        "check gated.mjs": 1,
        "run gated.mjs": 0
      }
      const ended = yield* Effect.forEach(
        Object.keys(codes),
        (line) =>
          Effect.map(here.bench(line.split(" "), { BENCHSDK_NO_INGEST: "1" }), ({ code, stderr }) => ({
            line,
            code,
            stderr
          })),
        { concurrency: 2 }
      )
      assert.deepStrictEqual(Object.fromEntries(ended.map(({ code, line }) => [line, code])), codes)
      const said = ended.map(({ stderr }) => stderr)
      assert.strictEqual(said[0], "Unknown flag(s): --first, --second\n")
      assert.match(said[1] ?? "", /throws\.mjs could not be loaded: Error: no database\n {4}at .*throws\.mjs:1:\d+\n$/)
      assert.match(said[2] ?? "", /syntax\.ts could not be loaded: Error: ParseError: .*\n .*syntax\.ts:2:0/)
      assert.match(said[3] ?? "", /\nDry run: nothing was recorded.\nNo task succeeded.\n$/)
      assert.match(said[4] ?? "", /\nDry run: nothing was recorded.\n$/)
      assert.isFalse(isRecorded(here))
    })
  )

  it.scopedLive("records where BENCH_HOME says", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench("ok.mjs", {})
      const { code, stderr } = yield* here.bench(["run", file], { BENCH_HOME: "elsewhere/deep" })
      assert.strictEqual(code, 0)
      assert.include(stderr, `Recorded in ${here.path("elsewhere/deep/bench.db")} as run `)
      assert.isFalse(isRecorded(here))
    })
  )

  it.scopedLive("exits with 4 when a threshold is not kept, after everything is recorded", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench("gated.mjs", { iterations: 3, thresholds: [{ stat: "count", min: 3 }] })
      const kept = yield* here.bench(["run", file])
      assert.strictEqual(kept.code, 0, kept.stderr)
      assert.include(kept.stdout, "Thresholds:\n  kept      task count of alpha: 3 >= 3 (3 samples)\n")
      const violated = yield* here.bench(["run", file, "--threshold", "task.count >= 4", "--json"])
      assert.strictEqual(violated.code, 4, violated.stderr)
      assert.include(violated.stderr, "Recorded in ")
      assert.deepInclude(json(violated.stdout), {
        thresholds: [
          {
            threshold: { stat: "count", min: 3 },
            participant: "alpha",
            passed: true,
            measured: 3,
            samples: 3,
            stoppedEarly: false,
            text: "task count of alpha: 3 >= 3 (3 samples)"
          },
          {
            threshold: { metric: "task", stat: "count", min: 4 },
            participant: "alpha",
            passed: false,
            measured: 3,
            samples: 3,
            stoppedEarly: false,
            text: "task count of alpha: 3 < 4 (3 samples)"
          }
        ]
      })
      refuses(
        yield* here.bench(["run", file, "--threshold", "count"]),
        '--threshold: cannot read the threshold "count": it needs an operator: <= or >=. For example: "ttiMs.p95 <= 250", "step:create.median <= 100 participant=alpha", "successRate >= 99%"'
      )
    })
  )

  it.scopedLive("of two processes at once ends in one store", () =>
    Effect.gen(function* () {
      const here = yield* project
      const slow = "() => new Promise((resolve) => setTimeout(resolve, 5))"
      const file = here.writeBench("slow.mjs", { participants: [{ name: "a" }, { name: "b" }], iterations: 20 }, slow)
      const results = yield* Effect.all(
        [
          here.bench(["run", file, "--run-key", "shared", "--provider", "a"]),
          here.bench(["run", file, "--run-key", "shared", "--provider", "b"]),
          here.bench(["run", file])
        ],
        { concurrency: 2 }
      )
      for (const { code, stderr } of results) assert.strictEqual(code, 0, stderr)
      const runs = json((yield* here.call(["runs", "list", "--json"])).stdout)
      const Runs = Schema.Struct({
        items: Schema.Array(
          Schema.Struct({ status: Schema.String, totalTasks: Schema.Int, runKey: Schema.NullOr(Schema.String) })
        )
      })
      const { items } = Schema.decodeUnknownSync(Runs)(runs)
      const expected = { status: "completed", totalTasks: 40 }
      assert.sameDeepMembers(
        [...items],
        [
          { ...expected, runKey: "shared" },
          { ...expected, runKey: null }
        ]
      )
    })
  )
})
