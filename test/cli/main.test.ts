import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { Project } from "../support/bench.js"
import { fixture, project } from "../support/bench.js"

const json = Schema.decodeUnknownSync(Schema.parseJson(Schema.Unknown))

/** Each command line does nothing: code 1, nothing on stdout, and this on stderr. */
const refusals = (here: Project, cases: Readonly<Record<string, string>>) =>
  Effect.forEach(
    Object.entries(cases),
    ([line, message]) =>
      Effect.map(here.call(line.split(" ")), ({ code, stderr, stdout }) =>
        assert.deepStrictEqual(
          { line, code, stdout, stderr: here.normalize(stderr).trimEnd() },
          { line, code: 1, stdout: "", stderr: message }
        )
      ),
    { discard: true }
  )

describe("bench run", () => {
  it.scopedLive("says what a file does not export", () =>
    Effect.gen(function* () {
      const here = yield* project
      here.write("nothing.ts", "export const x = 1\n")
      here.write("empty.ts", "\n")
      here.write("config.ts", "export const config = {}\n")
      here.write("task.ts", "export const task = async () => {}\n")
      here.write("number.ts", "export const config = {}\nexport const task = 5\n")
      here.write("layer.ts", "export const config = {}\nexport const task = () => {}\nexport const layer = 3\n")
      const howTo =
        "A bench file has `export default Benchmark.make({ …, task })`, or exports `config` and `task` (docs/writing-benchmarks.md)."
      yield* refusals(here, {
        "run nothing.ts": `<folder>/nothing.ts exports neither a config nor a task. ${howTo}`,
        "run empty.ts": `<folder>/empty.ts exports neither a config nor a task. ${howTo}`,
        "run config.ts": `<folder>/config.ts exports a config but no task. ${howTo}`,
        "check task.ts": `<folder>/task.ts exports no config. ${howTo}`,
        "run number.ts": `<folder>/number.ts exports a task that is neither a function nor an effect. ${howTo}`,
        "run layer.ts": "<folder>/layer.ts exports a layer that is not an effect Layer."
      })
    })
  )

  it.scopedLive("refuses flags, before it loads the file where it can, and names all unknown ones", () =>
    Effect.gen(function* () {
      const here = yield* project
      here.writeBench("ok.mjs", { participants: [{ name: "a" }, { name: "b" }] })
      here.write(
        "loaded.mjs",
        `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(here.path("loaded"))}, "")\n`
      )
      yield* refusals(here, {
        run: "Name a bench file: bench run path/to/file.bench.ts",
        "run --bogus": "Unknown flag(s): --bogus",
        "run --first ok.mjs --second=1 --iterations 2 -x more": "Unknown flag(s): --first, --second, -x",
        "run loaded.mjs --bogus --iterations 0": '--iterations expects an integer >= 1 (got "0")',
        "run loaded.mjs --run-key": "--run-key expects a value",
        "run loaded.mjs --run-key --dry-run": "--run-key expects a value",
        "check loaded.mjs --group-by time": "--group-by expects 'participant' or 'round' (got \"time\")",
        "run missing.mjs --iterations 1e3": '--iterations expects an integer >= 1 (got "1e3")',
        "run ok.mjs second.mjs": "Unknown flag(s): <folder>/second.mjs",
        "run ok.mjs --dry-run --provider c,a --provider d": "Unknown participant(s): c, d. Available: a, b",
        "run ok.mjs --dry-run --shape c": 'Unknown --shape "c": this benchmark declares no shapes.',
        "run ok.mjs --local --base-url http://localhost --api-key k --org o":
          "--local and --base-url, --api-key, --org contradict each other",
        "run ok.mjs --org o":
          "--org names an organization of a platform: sign in first with `bench auth login`, or pass --api-key",
        "run ok.mjs --worker-pool 2":
          "workerPool needs a run key, which the runs that share the workers have in common: --run-key KEY",
        "run ok.mjs --worker-pool 0": '--worker-pool expects an integer >= 1 (got "0")',
        worker: "Name a bench file: bench worker path/to/file.bench.ts",
        "worker ok.mjs --run r": "--participant is missing: bench worker FILE --run ID --participant NAME",
        "worker ok.mjs --participant a": "--run is missing: bench worker FILE --run ID --participant NAME",
        "worker ok.mjs --iterations 3": "Unknown flag(s): --iterations"
      })
      assert.isFalse(fs.existsSync(here.path("loaded")))
    })
  )

  it.scopedLive("names every fault of the project's settings", () =>
    Effect.gen(function* () {
      const here = yield* project
      here.writeBench("ok.mjs", {})
      here.write("bad.ts", 'export default { iterations: 0, concurency: 2, apiKeyEnv: "my key" }\n')
      here.write("throws.ts", 'throw new Error("no settings")\n')
      here.write("empty.ts", "export const x = 1\n")
      yield* refusals(here, {
        "run ok.mjs --config bad.ts": [
          "<folder>/bad.ts: Invalid project config:",
          "  - concurency: is not a project setting; these are: baseUrl, apiKeyEnv, providers, iterations, concurrency, staggerDelayMs, groupBy, shape, runKey, benchmark, name, dryRun",
          "  - apiKeyEnv: must be the name of an environment variable",
          "  - iterations: must be an integer >= 1 (got 0)",
          "",
          "Fix the fields above and try again."
        ].join("\n"),
        "run ok.mjs --config missing.ts": "--config: there is no file <folder>/missing.ts",
        "run ok.mjs --config empty.ts":
          "<folder>/empty.ts must export its settings: export default defineBenchConfig({ … })"
      })
      const { code, stderr } = yield* here.call(["check", "ok.mjs", "--config=throws.ts"])
      assert.strictEqual(code, 1)
      assert.include(stderr, `${here.path("throws.ts")} could not be loaded: Error: no settings\n    at `)
    })
  )

  it.scopedLive("takes a default export of config and task, of either module system", () =>
    Effect.gen(function* () {
      const here = yield* project
      const parts =
        '{ config: { benchmarkSlug: "d", benchmarkName: "D", participants: [{ name: "a" }] }, task: async () => {} }'
      here.write("default.mjs", `export default ${parts}\n`)
      here.write("common.cjs", `module.exports = ${parts}\n`)
      here.write("exports.cjs", `Object.assign(exports, ${parts})\n`)
      for (const file of ["default.mjs", "common.cjs", "exports.cjs"]) {
        const { code, stderr } = yield* here.call(["run", file, "--dry-run"])
        assert.strictEqual(code, 0, `${file}: ${stderr}`)
        assert.include(stderr, "a: 1/1 done, 0 failed")
      }
    })
  )

  it.scopedLive("fails when no task succeeded, whatever was thrown", () =>
    Effect.gen(function* () {
      const here = yield* project
      const names = ["undefined", "null", "text", "object", "never"]
      const file = here.writeBench(
        "throwing.mjs",
        { participants: names.map((name) => ({ name })) },
        `async ({ participant, step }) => {
          if (participant.name === "never") return step("wait", () => new Promise(() => {}), { timeoutMs: 50 })
          throw { undefined, null: null, text: "just text", object: { a: 1 } }[participant.name]
        }`
      )
      const [all, one, needy] = yield* Effect.all([
        here.call(["run", file, "--dry-run"]),
        here.call([
          "run",
          here.writeBench("half.mjs", { iterations: 2 }, "async ({ taskIndex }) => { if (taskIndex) throw 1 }")
        ]),
        here.call(["run", fixture("needy.bench.ts"), "--dry-run"])
      ])
      assert.strictEqual(all.code, 1)
      assert.match(all.stderr, /\nDry run: nothing was recorded.\nNo task succeeded.\n$/)
      const failures = all.stdout.split("\n").filter((line) => line.includes("×"))
      assert.deepStrictEqual(failures.sort(), [
        '  never: 1 × step_timeout in wait (task 0): Step "wait" timed out after 50ms for participant "never"',
        "  null: 1 × ERROR (task 0): null",
        "  object: 1 × ERROR (task 0): [object Object]",
        "  text: 1 × ERROR (task 0): just text",
        "  undefined: 1 × ERROR (task 0): undefined"
      ])
      assert.strictEqual(one.code, 0)
      assert.notInclude(one.stderr, "No task succeeded")
      assert.strictEqual(needy.code, 1)
      assert.include(needy.stdout, "Service not found: fixture/Missing")
    })
  )

  it.scopedLive("says why the store cannot be used", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench("ok.mjs", {})
      here.write("plain", "a file\n")
      here.write(
        "garbage/bench.db",
        "this is no database at all, but it is long enough to be taken for one\n".repeat(20)
      )
      const run = (home: string) => here.call(["run", file], { BENCH_HOME: home })
      const [below, proc, garbage, read] = yield* Effect.all([
        run(here.path("plain/sub")),
        run("/proc/x"),
        run(here.path("garbage")),
        here.call(["results"], { BENCH_HOME: here.path("garbage") })
      ])
      const notOne = `open the store: "${here.path("garbage/bench.db")}" is not a SQLite database; move it away or choose another file`
      assert.match(below.stderr, /^open the store: cannot create the directory "[^"]+\/plain\/sub" \(.*ENOTDIR/)
      assert.match(proc.stderr, /^open the store: cannot create the directory "\/proc\/x" \(/)
      assert.deepStrictEqual([below.code, proc.code, below.stdout, proc.stdout], [1, 1, "", ""])
      for (const result of [garbage, read]) {
        assert.deepStrictEqual(result, { code: 1, stdout: "", stderr: `${notOne}\n` })
      }
    })
  )

  it.scopedLive("says what is wrong with a file that cannot be loaded, and where", () =>
    Effect.gen(function* () {
      const here = yield* project
      fs.mkdirSync(here.path("folder.bench.ts"))
      here.write("throws.mjs", 'const open = () => {\n  throw new Error("no database")\n}\nopen()\n')
      here.write("text.mjs", 'throw "just text"\n')
      here.write("nothing.mjs", "throw undefined\n")
      here.write("syntax.ts", 'export const config = {\n  benchmarkSlug: "x"\n  benchmarkName: "y"\n}\n')
      here.write("import.ts", 'import { x } from "./missing.js"\nexport const config = x\n')
      const results = yield* Effect.forEach(
        ["missing.ts", "folder.bench.ts", "throws.mjs", "text.mjs", "nothing.mjs", "syntax.ts", "import.ts"],
        (name) => here.call(["run", name])
      )
      for (const { code, stdout } of results) assert.deepStrictEqual([code, stdout], [1, ""])
      assert.deepStrictEqual(
        results.map(({ stderr }) =>
          stderr
            .replaceAll(`${here.folder}/`, "")
            .replace(/:1:\d+/, ":1")
            .split(/\s*\n\s*/)
        ),
        [
          ["There is no file missing.ts. Name a bench file: bench run path/to/file.bench.ts", ""],
          ["folder.bench.ts is a folder. Name a bench file: bench run path/to/file.bench.ts", ""],
          ["throws.mjs could not be loaded: Error: no database", "at open (throws.mjs:2:9)", ""],
          ["text.mjs could not be loaded: just text", ""],
          ["nothing.mjs could not be loaded: undefined", ""],
          ['syntax.ts could not be loaded: Error: ParseError: Unexpected token, expected ","', "syntax.ts:3:2", ""],
          [
            "import.ts could not be loaded: Error: Cannot find module './missing.js'",
            "Require stack:",
            "- import.ts",
            "at import.ts:1",
            ""
          ]
        ]
      )
      assert.isFalse(fs.existsSync(here.path(".bench")))
    })
  )

  it.scopedLive("records nothing in a dry run, however it is asked for", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench("ok.mjs", {})
      here.write("dry.ts", "export default { dryRun: true }\n")
      const results = yield* Effect.all([
        here.call(["run", file, "--dry-run"]),
        here.call(["run", "--no-ingest", file]),
        here.call(["run", file], { BENCHSDK_NO_INGEST: "1" }),
        here.call(["run", file], { BENCHSDK_NO_INGEST: "true" }),
        here.call(["run", file, "--config", "dry.ts"])
      ])
      for (const { code, stderr, stdout } of results) {
        assert.deepStrictEqual([code, stdout.split("\n")[0]], [0, "Bench (bench)"])
        assert.match(stderr, /\nDry run: nothing was recorded.\n$/)
      }
      assert.isFalse(fs.existsSync(here.path(".bench")))
      const overruled = yield* here.call(["run", file, "--config", "dry.ts", "--local"], { BENCHSDK_NO_INGEST: "0" })
      assert.include(overruled.stderr, "Recorded in ")
      assert.isTrue(fs.existsSync(here.path(".bench")))
    })
  )
})

describe("bench check", () => {
  it.scopedLive("reports what would keep the file from running, and runs nothing", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench(
        "gated.mjs",
        { participants: [{ name: "a" }, { name: "b", requiredEnvVars: ["NOT_SET"] }] },
        'async () => { throw new Error("it ran") }'
      )
      here.write("plain", "a file\n")
      const [good, flagged, gated, unwritable] = yield* Effect.all([
        here.call(["check", fixture("scored.bench.ts"), "--shape", "paced"], { SCORED_TOKEN: "x" }),
        here.call(["run", file, "--validate", "--provider", "a"]),
        here.call(["check", file]),
        here.call(["check", file, "--provider", "a"], { BENCH_HOME: here.path("plain/sub") })
      ])
      assert.deepStrictEqual([good.code, good.stderr], [0, ""])
      assert.deepStrictEqual(json(good.stdout), {
        file: fixture("scored.bench.ts"),
        benchmarkSlug: "scored-paced",
        apiOk: true,
        envOk: true,
        participants: {
          requested: ["steady", "moody", "gated"],
          available: ["steady", "moody", "gated"],
          skipped: []
        },
        scoringOk: true
      })
      const report = { file: here.path(file), benchmarkSlug: "bench", apiOk: true, envOk: true, scoringOk: null }
      const onlyA = { requested: ["a"], available: ["a"], skipped: [] }
      assert.deepStrictEqual([flagged.code, json(flagged.stdout)], [0, { ...report, participants: onlyA }])
      assert.deepStrictEqual([gated.code, gated.stderr], [1, "Skipping b: missing NOT_SET\n"])
      assert.deepStrictEqual(json(gated.stdout), {
        ...report,
        envOk: false,
        participants: { requested: ["a", "b"], available: ["a"], skipped: [{ name: "b", missing: ["NOT_SET"] }] }
      })
      assert.strictEqual(unwritable.code, 1)
      assert.strictEqual(
        unwritable.stderr,
        `The store cannot be created: ${here.path("plain")} is not a folder that can be written to.\n`
      )
      assert.deepStrictEqual(json(unwritable.stdout), { ...report, apiOk: false, participants: onlyA })
      assert.isFalse(fs.existsSync(here.path(".bench")))
    })
  )
})

describe("commands", () => {
  it.scopedLive("that do not exist are refused with those that do", () =>
    Effect.gen(function* () {
      const here = yield* project
      const known =
        "There are: run, check, worker, results, iterations, runs list, runs show, benchmarks list, logs, artifacts list, artifacts get, export, report, compare, baseline save, baseline list, baseline use, baseline remove, push, auth login, auth logout, auth status, org list, org use, serve, serve keys create, serve keys list, serve keys revoke, serve orgs create, serve orgs list, serve prune"
      yield* refusals(here, {
        frob: `Unknown command "frob". ${known}`,
        RUN: `Unknown command "RUN". ${known}`,
        "frob --bogus": `Unknown command "frob". ${known}`,
        "runs frob": `Unknown command "runs frob". ${known}`,
        "benchmarks show": `Unknown command "benchmarks show". ${known}`
      })
    })
  )

  it.scopedLive("refuse flags that do not exist, all at once, or lack their value", () =>
    Effect.flatMap(project, (here) =>
      refusals(here, {
        "--bogus -x": "Unknown flag(s): --bogus, -x",
        "--json results": "Name the command first, then --json",
        "results --bogus --run x --other=1 -y": "Unknown flag(s): --bogus, --other, -y",
        "runs list --run last": "Unknown flag(s): --run",
        "results --run": "--run expects a value",
        "results --run --json": "--run expects a value",
        "results --run=": "--run expects a value",
        "runs list --limit --offset 3": "--limit expects a value",
        "iterations --steps": "--steps expects a value",
        "--completions": "--completions expects bash, zsh, fish, sh",
        "--completions cmd": "--completions expects bash, zsh, fish, sh"
      })
    )
  )

  it.scopedLive("refuse values that do not fit", () =>
    Effect.flatMap(project, (here) =>
      refusals(here, {
        "runs list --limit x": "--limit expects an integer from 1 to 500",
        "runs list --limit 0": "--limit expects an integer from 1 to 500",
        "runs list --limit 501": "--limit expects an integer from 1 to 500",
        "runs list --limit=1.5": "--limit expects an integer from 1 to 500",
        "benchmarks list --offset -1": "--offset expects an integer >= 0",
        "iterations --type all": "Expected one of the following cases: tasks, steps",
        "results --format xml": "Expected one of the following cases: json, table",
        "results a b": "Received unknown argument: 'b'"
      })
    )
  )
})
