/**
 * Files written for the reference, which run here once the specifier of their import is another one. Each is run by the
 * real command, and looked at in the store.
 */
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import type { Iteration } from "../../src/Platform.js"
import { Platform } from "../../src/Platform.js"
import * as Promises from "../../src/promise.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import { createKey, serveProcess } from "../server/support/serveProcess.js"
import { bodyOf, client, textAt } from "../server/support/wire.js"
import type { Environment, Project } from "../support/bench.js"
import { fixture, project } from "../support/bench.js"

const root = fileURLToPath(new URL("../..", import.meta.url))

const specifier = /"@benchsdk\/(?:runner|client)"/

const files = fs.readdirSync(fixture("migration")).filter((name) => !name.endsWith(".d.ts"))

const sourceOf = (name: string): string => fs.readFileSync(fixture(`migration/${name}`), "utf8")

/** A project with these files in it, where this package is installed. */
const migrated = Effect.map(project, (here) => {
  for (const name of files) here.write(name, sourceOf(name).replace(specifier, `"effect-bench/promise"`))
  fs.mkdirSync(here.path("node_modules"))
  fs.symlinkSync(root, here.path("node_modules/effect-bench"), "dir")
  return here
})

const environment = (here: Project): Environment => ({ HOME: here.folder, BENCH_HOME: here.path("home") })

/** Runs one of the files; answers with what was said. It must end with this code. */
const bench = (here: Project, args: ReadonlyArray<string>, env: Environment = {}, expected = 0) =>
  Effect.map(here.bench(["run", ...args], { ...environment(here), ...env }), ({ code, stderr, stdout }) => {
    assert.strictEqual(code, expected, stderr)
    return stdout + stderr
  })

/** What the newest run of a benchmark left in the store. */
const stored = (here: Project, benchmark: string) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const runs = yield* platform.listRuns(benchmark, {})
    const [run] = runs
    if (run === undefined) return yield* Effect.dieMessage(`no run of ${benchmark} is stored`)
    const ref = { benchmark, run: run.id }
    const participants = yield* platform.listParticipants(ref)
    const logs = yield* Effect.forEach(participants, ({ slug }) =>
      platform.participantLogs({ ...ref, participant: slug }, {})
    )
    return {
      runs,
      run,
      name: (yield* platform.getBenchmark(benchmark)).name,
      tasks: yield* platform.iterations(ref, {}),
      steps: yield* platform.iterations(ref, { type: "steps" }),
      rows: Option.getOrUndefined(yield* Effect.option(platform.getSummary(ref)))?.results,
      log: logs.flatMap(({ workers }) => workers.flatMap(({ lines }) => lines))
    }
  }).pipe(Effect.provide(SqlPlatform.layerSqlite({ filename: here.path("home/bench.db") })))

const dataOf = (iterations: ReadonlyArray<Iteration>) => iterations.map(({ data }) => data)

const of = (iterations: ReadonlyArray<Iteration>, participant: string) =>
  iterations.filter(({ participantSlug }) => participantSlug === participant)

const started = ({ startedAt }: Iteration): number => Date.parse(startedAt ?? "")

const json = Schema.decodeUnknownSync(Schema.parseJson(Schema.Unknown))

const readJson = (here: Project, name: string): unknown => json(fs.readFileSync(here.path(name), "utf8"))

describe("a file of the reference", () => {
  it("names its runner once, and nothing of this package", () => {
    assert.isAbove(files.length, 10)
    for (const name of files) {
      assert.lengthOf(sourceOf(name).split(specifier), 2, name)
      assert.notInclude(sourceOf(name), "effect", name)
    }
  })

  it.scopedLive("is three benchmarks by its shapes", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      yield* bench(here, ["shapes.bench.ts"])
      yield* bench(here, ["shapes.bench.ts", "--shape", "burst", "--provider", "map"])
      yield* bench(here, ["shapes.bench.ts", "--shape=trickle", "--iterations", "3"])

      const plain = yield* stored(here, "lookup")
      assert.strictEqual(plain.name, "Lookup")
      assert.deepStrictEqual(dataOf(plain.tasks), new Array(8).fill({ found: 7 }))

      const burst = yield* stored(here, "lookup-burst")
      assert.strictEqual(burst.name, "Lookup (burst)")
      assert.deepStrictEqual(
        burst.tasks.map(({ participantSlug }) => participantSlug),
        ["map", "map", "map", "map"]
      )

      const trickle = yield* stored(here, "lookup-trickle")
      assert.strictEqual(trickle.name, "lookup-trickle")
      assert.strictEqual(trickle.run.config?.["staggerDelayMs"], 20)
      assert.lengthOf(trickle.tasks, 6)
    })
  )

  it.scopedLive("tells its tasks their phase, which they cannot overwrite", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      yield* bench(here, ["phases.bench.ts"])
      const { tasks } = yield* stored(here, "cache")
      assert.deepStrictEqual(dataOf(tasks), [
        { phase: "cold", hit: false, position: 0 },
        { phase: "cold", hit: false, position: 1 },
        { phase: "warm", hit: true, position: 2 },
        { phase: "warm", hit: true, position: 3 },
        { phase: "warm", hit: true, position: 4 }
      ])
    })
  )

  it.scopedLive("has its participants take turns, its task being the default export", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      yield* bench(here, ["rounds.bench.ts"])
      const { tasks } = yield* stored(here, "turns")
      const turns = (participant: string) => of(tasks, participant).map(({ data }) => data?.["turn"])
      assert.deepStrictEqual(
        [turns("east"), turns("west"), turns("south")],
        [
          [0, 3, 6],
          [1, 4, 7],
          [2, 5, 8]
        ]
      )
      assert.isTrue(tasks.every(({ data }) => data?.["asked"] === true))
    })
  )

  it.scopedLive("is scored by its groups, over what was verified", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      yield* bench(here, ["scoring.bench.ts"])
      const { rows, steps, tasks } = yield* stored(here, "transfer")
      assert.deepStrictEqual(
        rows?.map(({ compositeScore, dimensions, provider, successRate }) => [
          provider,
          dimensions,
          compositeScore,
          successRate
        ]),
        [
          ["steady", { region: "eu" }, 72, 1],
          ["steady", { region: "eu", size: "small" }, 72, 1],
          ["steady", { region: "eu", size: "large" }, 72, 1],
          ["sloppy", { region: "eu" }, 41.6, 0.8],
          ["sloppy", { region: "eu", size: "small" }, 41.6, 0.8],
          ["sloppy", { region: "eu", size: "large" }, 41.6, 0.8]
        ]
      )
      assert.deepStrictEqual(of(tasks, "sloppy")[0]?.data, { size: "small", verified: false, waitMs: 100, rate: 60 })
      assert.deepStrictEqual(dataOf(steps), new Array(20).fill({ bytes: 1024 }))
    })
  )

  it.scopedLive("reads flags of its own from process.argv, and no others pass", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      yield* bench(here, ["flags.bench.ts", "--rows", "5", "--iterations", "2", "--sorted", "--label=mine"])
      const { tasks } = yield* stored(here, "rows")
      assert.deepStrictEqual(dataOf(tasks), new Array(2).fill({ rows: 5, first: 1, label: "mine" }))
      const refused = yield* bench(here, ["flags.bench.ts", "--rows", "5", "--columns", "6"], {}, 1)
      assert.strictEqual(refused, "Unknown flag(s): --columns\n")
    })
  )

  it.scopedLive("keeps what each failure says, and cancels what exceeds its limit", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      yield* bench(here, ["failures.bench.ts"])
      const { run, steps, tasks } = yield* stored(here, "failures")
      assert.strictEqual(run.status, "completed")
      assert.deepStrictEqual(
        tasks.map(({ data, errorCode, status }) => [status, errorCode ?? undefined, data]),
        [
          ["error", "BOOT_FAILED", { attempt: 0, exitCode: 137, errorMessage: "sandbox did not start" }],
          [
            "error",
            "step_timeout",
            { attempt: 1, errorMessage: 'Step "hang" timed out after 30ms for participant "fragile"' }
          ],
          ["error", "E_QUOTA", { attempt: 2, errorMessage: "no quota left" }],
          ["error", "RangeError", { attempt: 3, errorMessage: "past the end" }],
          ["success", undefined, { attempt: 4, outcome: "step_timeout", aborted: ["hang"], cancelled: false }],
          ["success", undefined, { attempt: 5 }]
        ]
      )
      assert.deepStrictEqual(
        steps.map(({ stepName, status, taskIndex }) => [taskIndex, stepName, status]),
        [
          [0, "boot", "error"],
          [1, "hang", "error"],
          [2, "task", "error"],
          [3, "read", "error"],
          [4, "slow", "error"],
          [5, "fine", "success"]
        ]
      )
    })
  )

  it.scopedLive("leaves out participants without their variables, and hides the values of those it has", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      const nothing = yield* bench(here, ["gating.bench.ts"])
      assert.include(nothing, "No participant can run")

      const env = { MIGRATION_KEY: "sesame-1234" }
      const said = yield* bench(here, ["gating.bench.ts"], env)
      assert.include(said, "Skipping double: missing MIGRATION_SECRET")
      const gated = yield* stored(here, "accounts")
      assert.lengthOf(gated.runs, 1)
      assert.deepStrictEqual(
        gated.tasks.map(({ data, participantSlug }) => [participantSlug, data]),
        [["keyed", { hasKey: true }]]
      )
      assert.notInclude(gated.log.join("\n"), "sesame")

      yield* bench(here, ["gating.bench.ts", "--provider", "open,keyed"])
      const { tasks } = yield* stored(here, "accounts")
      assert.deepStrictEqual(
        tasks.map(({ data, participantSlug }) => [participantSlug, data]),
        [["open", { hasKey: false }]]
      )
    })
  )

  it.scopedLive("scores in its own way, and writes its report when it is done, also in a dry run", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      const statuses = new Array(5).fill("success")
      const tasks = [
        { participant: "left", statuses, costs: [2, 2, 2, 2, 2] },
        { participant: "right", statuses, costs: [4, 4, 4, 4, 4] }
      ]
      yield* bench(here, ["hooks.bench.ts", "--dry-run"])
      assert.deepStrictEqual(readJson(here, "report.json"), { slug: "reported", recorded: false, tasks })
      yield* bench(here, ["hooks.bench.ts"])
      assert.deepStrictEqual(readJson(here, "report.json"), { slug: "reported", recorded: true, tasks })
      const { rows, runs } = yield* stored(here, "reported")
      assert.lengthOf(runs, 1)
      assert.deepStrictEqual(
        rows?.map(({ compositeScore, provider }) => [provider, compositeScore]),
        [
          ["left", 65],
          ["right", 55]
        ]
      )
    })
  )

  it.scopedLive("is one run with one summary when several invocations share a key", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      yield* bench(here, ["shared.bench.ts", "--run-key", "nightly-7", "--provider", "first"])
      yield* bench(here, ["shared.bench.ts", "--run-key", "nightly-7", "--provider", "second"])
      const { rows, run, runs, tasks } = yield* stored(here, "nightly")
      assert.lengthOf(runs, 1)
      assert.deepStrictEqual([run.runKey, run.status], ["nightly-7", "completed"])
      assert.deepStrictEqual(
        [of(tasks, "first"), of(tasks, "second")].map((own) => own.map(({ data }) => data?.["cost"])),
        [
          [1, 1, 1],
          [3, 3, 3]
        ]
      )
      assert.deepStrictEqual(
        rows?.map(({ compositeScore, provider }) => [provider, compositeScore]),
        [
          ["first", 90],
          ["second", 70]
        ]
      )
    })
  )

  it.scopedLive("logs at its levels, with what its commands print, in order", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      const lines = (log: ReadonlyArray<string>) => log.map((line) => line.replace(/^\S+ /, ""))
      yield* bench(here, ["logging.bench.ts"])
      const task = (n: number) => [
        `[task ${n}] [info] started {"taskIndex":${n}}`,
        `[task ${n}] [warn] careful {"left":3}`,
        `[task ${n}] [info] command`,
        `[task ${n}] command stdout: out ${n}`,
        `[task ${n}] command stderr: err ${n}`,
        `[task ${n}] [info] printed out ${n}`,
        `[task ${n}] [info] silent`
      ]
      assert.deepStrictEqual(lines((yield* stored(here, "chatty")).log), [...task(0), ...task(1)])

      yield* bench(here, ["logging.bench.ts", "--iterations", "1"], { BENCHMARK_LOG_LEVEL: "debug" })
      const { log } = yield* stored(here, "chatty")
      assert.strictEqual(lines(log)[0], `[task 0] [debug] details {"taskIndex":0}`)
    })
  )

  it.scopedLive("measures under Promise.all into the step that measures, and runs work in parallel", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      yield* bench(here, ["concurrent.bench.ts"])
      const { steps, tasks } = yield* stored(here, "overlap")
      const measured = { parts: [1, 2, 3], tickets: [1, 2, 3, 4], single: 4 }
      assert.deepStrictEqual(dataOf(tasks), [
        { ...measured, taskIndex: 0 },
        { ...measured, taskIndex: 1 }
      ])
      for (const part of [1, 2, 3]) {
        const own = steps.filter(({ stepName }) => stepName === `part-${part}`)
        assert.deepStrictEqual(dataOf(own), new Array(2).fill({ part, sent: part * 100 }))
      }
      const parts = steps.filter(({ stepName, taskIndex }) => taskIndex === 0 && stepName?.startsWith("part-"))
      const firstEnd = Math.min(...parts.map(({ completedAt }) => Date.parse(completedAt ?? "")))
      assert.isTrue(parts.every((step) => started(step) <= firstEnd))
    })
  )

  it.scopedLive("gets the functions that its participants bring along", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      yield* bench(here, ["factories.bench.ts"])
      const { tasks } = yield* stored(here, "stores")
      assert.deepStrictEqual(dataOf(of(tasks, "map")), new Array(2).fill({ size: 1, retries: 1 }))
      assert.deepStrictEqual(dataOf(of(tasks, "list")), new Array(2).fill({ size: 2, retries: 2 }))
    })
  )
})

describe("docs/migrating.md", () => {
  it("says of every name what is the same and what is not", () => {
    const text = fs.readFileSync(path.join(root, "docs/migrating.md"), "utf8")
    const rows = text.split("\n").filter((line) => line.startsWith("|"))
    const names = Object.keys(Promises)
    assert.include(names, "defineTask")
    for (const name of names) {
      assert.isTrue(
        rows.some((row) => row.split("|")[1]?.includes(`\`${name}\``)),
        name
      )
    }
  })
})

describe("a program of the reference", () => {
  const jiti = path.join(path.dirname(createRequire(import.meta.url).resolve("jiti/package.json")), "lib")

  const program = (here: Project, command: string, env: Environment = {}) =>
    here.shell(`"${process.execPath}" --import "${path.join(jiti, "jiti-register.mjs")}" ${command}`, {
      ...environment(here),
      ...env
    })

  const run = (here: Project, flags: string) => program(here, `program.ts ${flags}`)

  it.scopedLive("runs its benchmark like a bench file, and gets the outcome", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      const { code, stderr, stdout } = yield* run(here, "--value 5 --iterations 3")
      assert.strictEqual(code, 0, stderr)
      assert.include(stdout, "Program (program)")
      assert.include(stderr, "Skipping away: missing MIGRATION_KEY\n")
      const { rows, run: recorded, tasks } = yield* stored(here, "program")
      assert.include(stderr, `Recorded in ${here.path("home/bench.db")} as run ${recorded.id}`)
      const data = new Array(3).fill({ value: 5 })
      assert.deepStrictEqual(readJson(here, "outcome.json"), {
        runId: recorded.id,
        benchmarkSlug: "program",
        iterations: 3,
        found: [["here", data]]
      })
      assert.deepStrictEqual(dataOf(tasks), data)
      assert.deepStrictEqual(
        rows?.map(({ compositeScore, provider }) => [provider, compositeScore]),
        [["here", 50]]
      )
    })
  )

  it.scopedLive("is told when nothing can run, and ends by itself", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      const { code, stderr, stdout } = yield* run(here, "--provider away --value 1")
      assert.deepStrictEqual([code, stdout, stderr], [0, "", ""])
      assert.include(JSON.stringify(readJson(here, "outcome.json")), "away: set MIGRATION_KEY")
    })
  )

  it.scopedLive("works with a server by its client alone, and takes every worker of its run there", () =>
    Effect.gen(function* () {
      const here = yield* migrated
      const key = yield* createKey(here.path("server.db"), "acme")
      const { url } = yield* serveProcess({ folder: here.folder })
      const { code, stderr } = yield* program(here, "client.ts", {
        BENCHMARKS_PLATFORM_URL: url,
        BENCHMARKS_PLATFORM_API_KEY: key
      })
      assert.strictEqual(code, 0, stderr)
      const answer = bodyOf(yield* client(url, key)("GET", "/api/v1/benchmarks/uploads/runs"))
      assert.deepStrictEqual(readJson(here, "client.json"), {
        runId: textAt(answer, "items", 0, "id"),
        status: "completed",
        ranges: [[0, 3, 1], [4, 6, 0], null],
        seen: [0, 1, 2, 3, 4, 5, 6],
        counts: [7, 6, 1],
        logged: true
      })
    })
  )
})
