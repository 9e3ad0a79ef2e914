import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Result } from "../support/bench.js"
import { fixture, project } from "../support/bench.js"

/** Gives a command a terminal of its own. */
const pty = "/usr/bin/script"

const evil = "e\u001b[31mvil\u0007\u009b2J\nname\r\u202eabc"

const evilBench = {
  benchmarkSlug: "evil",
  benchmarkName: `Evil ${evil}`,
  participants: [{ name: 'a|b <x> "q" ü' }, { name: evil }],
  iterations: 2
}

const evilTask = `async ({ step, log, measure, taskIndex }) => {
  const evil = ${JSON.stringify(evil)}
  log("log " + evil)
  await step("step " + evil, async () => {})
  measure({ [evil]: evil })
  if (taskIndex) throw Object.assign(new Error("bad " + evil), { code: "C" + evil })
}`

/** Control characters other than line breaks and tabs, and marks that change the direction of writing. */
const controls = /[^\P{Cc}\n\t]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

const assertHarmless = (text: string, from: string) => {
  const found = controls.exec(text)
  assert.isNull(found, `${from}: ${JSON.stringify(text.slice(Math.max(0, (found?.index ?? 0) - 40)).slice(0, 80))}`)
}

describe("output", () => {
  it.scopedLive("holds nothing of names and messages that a terminal would act on", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench("evil.mjs", evilBench, evilTask)
      const gated = here.writeBench("gated.mjs", {
        ...evilBench,
        participants: [{ name: evil, requiredEnvVars: ["NOT_SET"] }]
      })
      const first = yield* here.bench(["run", file, "--verbose", "--run-key", evil])
      assert.strictEqual(first.code, 0)
      assert.match(
        first.stdout,
        /\n=1 {2}.*\n=1 {2}.*\n[^]*\nFailures:\n {2}.*: 1 × C.*bad .*\n {2}.*: 1 × C.*bad .*\n/
      )
      assert.include(first.stdout, 'a|b <x> "q" ü')
      assert.match(first.stderr, /\n {2}a\|b <x> "q" ü: 2\/2 done, 1 failed\n/)
      const all: ReadonlyArray<ReadonlyArray<string>> = [
        ["run", file, "--provider", "none"],
        ["run", gated],
        ["run", file, "--json"],
        ["results"],
        ["results", "--json"],
        ["iterations", "--type", "steps"],
        ["runs", "list"],
        ["runs", "show", "last~1"],
        ["benchmarks", "list"]
      ]
      assertHarmless(first.stdout + first.stderr, "run")
      yield* Effect.forEach(
        all,
        (args) => Effect.map(here.call(args), ({ stderr, stdout }) => assertHarmless(stdout + stderr, args.join(" "))),
        { discard: true }
      )
    })
  )

  it.skipIf(!fs.existsSync(pty))("holds none in a terminal either", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench("evil.mjs", evilBench, evilTask)
      const inTerminal = (command: string) =>
        Effect.map(here.shell(`${pty} -qec "$BENCH ${command}" /dev/null`), ({ stdout }) =>
          stdout.replaceAll("\r\n", "\n")
        )
      const run = yield* inTerminal(`run ${file} --verbose`)
      assert.include(run, "--- log of a|b")
      // Apart from the colours of the summary, none of which are in a name.
      assert.notInclude(run, "\u001b[31mvil")
      assertHarmless(run.slice(run.indexOf("Running Evil")).replace(/\u001b\[(1|2|22|31|32|33|39)m/g, ""), "run")
      const refused = yield* inTerminal(`run ${file} --provider none`)
      assert.include(refused, "Unknown participant(s): none")
      assertHarmless(refused, "refused")
      const json = yield* inTerminal("results --json")
      assert.include(json, "\\u001b[31m")
      assertHarmless(json, "json")
    }).pipe(Effect.scoped, Effect.runPromise)
  )

  it.skipIf(!fs.existsSync(pty))("has colours only in a terminal, and not under NO_COLOR", () =>
    Effect.gen(function* () {
      const here = yield* project
      const command = `$BENCH run ${fixture("warns.bench.ts")} --dry-run`
      const inTerminal = (env: Record<string, string>) =>
        Effect.map(here.shell(`${pty} -qec "${command}" /dev/null`, env), ({ stdout }) => stdout)
      const coloured = yield* inTerminal({})
      assert.match(coloured, /\u001b\[.*careful/s)
      const plain = yield* inTerminal({ NO_COLOR: "1" })
      assert.include(plain, "careful")
      assert.notMatch(plain, /\u001b\[/)
    }).pipe(Effect.scoped, Effect.runPromise)
  )

  it.scopedLive("may end early in a pipe that is closed", () =>
    Effect.gen(function* () {
      const here = yield* project
      const chatty = `async ({ taskIndex }) => {
        console.log("chat " + taskIndex)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }`
      const file = here.writeBench("chatty.mjs", { iterations: 30 }, chatty)
      const failing = here.writeBench("failing.mjs", {}, "async () => { console.log('x'); throw 1 }")
      // The exit code of the command goes to a file, as that of the pipe is the reader's.
      const piped = (command: string, reader: string) =>
        Effect.map(here.shell(`{ $BENCH ${command}; echo $? > code; } | ${reader}`), (result) => ({
          ...result,
          code: fs.readFileSync(here.path("code"), "utf8").trim()
        }))
      const run = yield* piped(`run ${file}`, "head -1")
      assert.deepStrictEqual([run.code, run.stdout], ["0", "chat 0\n"])
      assert.match(run.stderr, /alpha: 30\/30 done, 0 failed\n\nRecorded in /)
      const results = yield* piped("results", "head -1")
      assert.deepStrictEqual(results, { code: "0", stdout: "Bench (bench)\n", stderr: "" })
      const both = yield* here.shell(`{ $BENCH run ${file} --dry-run; echo $? > code; } 2>&1 | head -1`)
      assert.strictEqual(both.stdout, "Running Bench (bench): 1 participant, 30 tasks each\n")
      assert.strictEqual(fs.readFileSync(here.path("code"), "utf8"), "0\n")
      assert.strictEqual((yield* piped(`run ${failing} --dry-run`, "true")).code, "1")
    })
  )

  it.scopedLive("that cannot be written fails the command", () =>
    Effect.gen(function* () {
      const here = yield* project
      const { code, stderr } = yield* here.shell(`$BENCH run ${fixture("scored.bench.ts")} --dry-run > /dev/full`)
      assert.strictEqual(code, 1)
      assert.match(stderr, /\nstdout could not be written: ENOSPC: no space left on device, write\n$/)
    })
  )
})

/** Texts that a person reads: the version is left out. */
const generic = ({ stdout }: Result): string => stdout.replace(/\b\d+\.\d+\.\d+\b/g, "<version>")

describe("help", () => {
  const texts: Readonly<Record<string, ReadonlyArray<string>>> = {
    "help.txt": ["--help"],
    "help-run.txt": ["run", "--help"],
    "help-check.txt": ["check", "x.bench.ts", "-h"],
    "help-results.txt": ["results", "--help"],
    "help-iterations.txt": ["iterations", "--help"],
    "help-runs-list.txt": ["runs", "list", "--help"],
    "help-runs-show.txt": ["runs", "show", "--help"],
    "help-benchmarks-list.txt": ["benchmarks", "list", "--help"],
    "completions.bash": ["--completions", "bash"],
    "completions.zsh": ["--completions", "zsh"],
    "completions.fish": ["--completions", "fish"]
  }

  for (const [file, args] of Object.entries(texts)) {
    it(`of ${args.join(" ")} is as it was`, async ({ expect }) => {
      const result = await Effect.runPromise(Effect.scoped(Effect.flatMap(project, (here) => here.call(args))))
      expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: "" })
      assertHarmless(result.stdout, file)
      await expect(generic(result)).toMatchFileSnapshot(`../snapshots/cli/${file}`)
    })
  }

  it.scopedLive("is what no command, and a command that only holds others, say", () =>
    Effect.gen(function* () {
      const here = yield* project
      const [overview, nothing, runs] = yield* Effect.all([here.bench(["-h"]), here.call([]), here.call(["runs"])])
      assert.match(overview.stdout, /^bench \d/)
      assert.deepStrictEqual([nothing, runs], [overview, overview])
    })
  )

  it.scopedLive("does not hold the version, which has a flag", () =>
    Effect.gen(function* () {
      const here = yield* project
      const { code, stderr, stdout } = yield* here.bench(["--version"])
      assert.deepStrictEqual([code, stderr], [0, ""])
      const text = fs.readFileSync(new URL("../../package.json", import.meta.url), "utf8")
      assert.include(text, `"version": "${stdout.trim()}"`)
    })
  )
})
