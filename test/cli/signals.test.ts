import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Project } from "../support/bench.js"
import { fixture, project } from "../support/bench.js"

const file = fixture("parts.bench.ts")

const notes = (here: Project) => fs.readFileSync(here.path("notes.txt"), "utf8").trimEnd().split("\n")

const statuses = (here: Project) =>
  Effect.map(here.call(["runs", "show"]), ({ stdout }) =>
    stdout
      .split("\n")
      .filter((line) => /^(alpha|beta)/.test(line))
      .map((line) => line.split(/ {2,}/).join(" "))
  )

describe("bench run", () => {
  for (const [signal, expected] of [
    ["SIGINT", 130],
    ["SIGTERM", 143]
  ] as const) {
    it.scopedLive(`stores what was measured on ${signal}, and runs finalizers`, () =>
      Effect.gen(function* () {
        const here = yield* project
        const running = here.start(["run", file], { PARTS_MODE: "wait" })
        yield* running.says("waiting")
        yield* running.kill(signal)
        const { code, stderr, stdout } = yield* running.ended
        assert.deepStrictEqual([code, stdout], [expected, ""])
        assert.deepStrictEqual(here.normalize(stderr).split("\n"), [
          "Running Parts (parts): 2 participants, 3 tasks each",
          "  alpha: 3 tasks",
          "waiting",
          "  alpha: 3/3 done, 1 failed",
          "Interrupted after 3 tasks of 6. What was measured is in run <id>.",
          ""
        ])
        assert.deepStrictEqual(notes(here), [
          "alpha 0 released",
          "alpha 1 released",
          "alpha 2 released",
          "layer released"
        ])
        const results = yield* here.call(["results", "parts"])
        assert.match(results.stdout, /\n1 {2}alpha +3 +66\.7 % /)
        assert.match(results.stdout, /\nRun \S+, (failed|in_progress), /)
        assert.deepStrictEqual(yield* statuses(here), ["alpha failed 1/1 failed 0–2 3/3 1", "beta planned"])
        const { stdout: iterations } = yield* here.call(["iterations", "--json"])
        assert.include(iterations, '"errorCode": "interrupted"')
        assert.match(iterations, /"half": 0\b[^]*"half": 0.5[^]*"half": 1\b/)
      })
    )
  }

  it.scopedLive("ends at once on a second signal although a finalizer hangs", () =>
    Effect.gen(function* () {
      const here = yield* project
      const running = here.start(["run", file], { PARTS_MODE: "hang" })
      yield* running.says("waiting")
      yield* running.kill("SIGTERM")
      yield* running.says("hanging")
      yield* running.kill("SIGINT")
      const { code } = yield* running.ended
      assert.strictEqual(code, 130)
      assert.notInclude(notes(here), "layer released")
    })
  )

  it.scopedLive("goes on until a signal where nothing but a promise is waited for", () =>
    Effect.gen(function* () {
      const here = yield* project
      const never = here.writeBench("never.mjs", {}, "() => { console.error('waiting'); return new Promise(() => {}) }")
      const running = here.start(["run", never, "--dry-run"])
      yield* running.says("waiting")
      yield* Effect.sleep("200 millis")
      yield* running.kill("SIGINT")
      const { code, stderr, stdout } = yield* running.ended
      assert.deepStrictEqual([code, stdout], [130, ""])
      assert.match(stderr, /\nInterrupted after 1 task of 1.\n$/)
    })
  )

  it.scopedLive("can be interrupted while the file is loaded", () =>
    Effect.gen(function* () {
      const here = yield* project
      const slow = here.write("slow.mjs", "console.error('loading')\nawait new Promise(() => {})\n")
      const running = here.start(["run", slow])
      yield* running.says("loading")
      yield* running.kill("SIGINT")
      const { code, stderr } = yield* running.ended
      assert.deepStrictEqual([code, stderr], [130, "loading\n"])
    })
  )

  it.scopedLive("stores what was measured when the file leaves an error unhandled", () =>
    Effect.gen(function* () {
      const here = yield* project
      const task = `async ({ taskIndex }) => {
        if (taskIndex === 2) Promise.reject(new Error("in the background"))
        await new Promise((resolve) => setTimeout(resolve, 20))
      }`
      const rejecting = here.writeBench("rejecting.mjs", { iterations: 9 }, task)
      const { code, stderr, stdout } = yield* here.bench(["run", rejecting])
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /\nUnhandled Error: in the background\n {4}at task \(.*rejecting\.mjs:3:\d+\)\n/)
      assert.match(here.normalize(stderr), /\nInterrupted after 3 tasks of 9. What was measured is in run <id>.\n$/)
      assert.deepStrictEqual(yield* statuses(here), ["alpha failed 1/1 failed 0–8 3/9 1"])
    })
  )
})
