import * as fs from "node:fs"
import { PassThrough } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import xterm from "@xterm/headless"
import { Effect, Schema, TestClock } from "effect"
import { Board } from "../../src/cli/live/board.js"
import { capacity, Recent } from "../../src/cli/live/recent.js"
import { open } from "../../src/cli/live/screen.js"
import { coloured, plain } from "../../src/cli/style.js"
import { widthOf } from "../../src/cli/text.js"
import type { TaskRecord } from "../../src/Record.js"
import * as RunEvent from "../../src/RunEvent.js"
import { project } from "../support/bench.js"

const started = (participants: ReadonlyArray<string>, tasksPerParticipant = 10) =>
  RunEvent.RunStarted({
    runId: "run-1",
    benchmarkSlug: "bench",
    benchmarkName: "Bench",
    participants,
    skipped: [],
    tasksPerParticipant
  })

const completed = (participant: string, done: number, fields: Partial<TaskRecord> = {}, errors = 0) =>
  RunEvent.TaskCompleted({
    participant,
    record: { taskIndex: done - 1, status: "success", latencyMs: 10 * done, ...fields },
    done,
    errors,
    total: 10
  })

const size = { columns: 80, rows: 24 }

/** A board that was told these events, one a second. */
const boardOf = (...events: ReadonlyArray<RunEvent.RunEvent>): Board => {
  const board = new Board()
  events.forEach((event, i) => board.take(event, i * 1000))
  return board
}

describe("the board", () => {
  it("shows what runs, what waits and what is done", () => {
    const board = boardOf(
      started(["alpha", "beta", "gamma"]),
      RunEvent.ParticipantStarted({ participant: "alpha", total: 10 }),
      RunEvent.ParticipantCompleted({ participant: "alpha", done: 10, errors: 1, total: 10 }),
      RunEvent.ParticipantStarted({ participant: "beta", total: 10 }),
      RunEvent.TaskStarted({ participant: "beta", taskIndex: 0 }),
      RunEvent.TaskStarted({ participant: "beta", taskIndex: 1 }),
      completed("beta", 1, { steps: [{ name: "get", status: "success", latencyMs: 7 }] })
    )
    assert.deepStrictEqual(board.draw(8000, size, plain), [
      "Bench",
      "alpha  ██████████████████████████  10/10  90 % ok  10/s  took 0:01",
      "beta   ██────────────────────────  1/10  100 % ok  1 in flight  0.2/s  eta 0:45",
      "  median/p95 ms: task 10/10  get 7/7",
      "gamma  waiting"
    ])
  })

  it("shows the last failures, with nothing in them that a terminal would act on", () => {
    const failed = (done: number, message: string) =>
      completed("alpha", done, { status: "error", errorCode: "E\u001b[31m", data: { errorMessage: message } }, done)
    const board = boardOf(started(["alpha"]), failed(1, "one"), failed(2, "two\u202e\nlines"), failed(3, "three"))
    assert.deepStrictEqual(board.draw(4000, size, plain).slice(-2), [
      "! alpha task 1: E: two\ufffd lines",
      "! alpha task 2: E: three"
    ])
  })

  it("is never wider or higher than the terminal", () => {
    const names = [
      "日本語プロバイダー",
      "👩‍👩‍👧‍👦 family",
      "x".repeat(10_000),
      ...Array.from({ length: 40 }, (_, i) => `p${i}`)
    ]
    const board = boardOf(
      started(names),
      ...names.flatMap((participant) => [
        RunEvent.ParticipantStarted({ participant, total: 10 }),
        completed(participant, 3, { steps: [{ name: "s".repeat(300), status: "success", latencyMs: 1 }] })
      ]),
      completed("p1", 4, { status: "error", data: { errorMessage: "日本".repeat(500) } }, 1)
    )
    for (const columns of [1, 10, 20, 40, 80, 200]) {
      for (const rows of [2, 5, 10, 24, 200]) {
        const lines = board.draw(100_000, { columns, rows }, plain)
        assert.isAtMost(lines.length, rows - 1)
        for (const line of lines) assert.isAtMost(widthOf(line), Math.max(20, columns), JSON.stringify(line))
      }
    }
  })

  it("shows those that run first when there is no room for all", () => {
    const names = Array.from({ length: 9 }, (_, i) => `p${i}`)
    const board = boardOf(started(names), RunEvent.ParticipantStarted({ participant: "p7", total: 10 }))
    assert.deepStrictEqual(
      board.draw(2000, { columns: 40, rows: 6 }, plain).map((line) => line.split("  ")[0]),
      ["Bench", "p0", "p1", "p7", "+6 more"]
    )
  })

  it("has nothing to divide by in the beginning", () => {
    const text = boardOf(started(["alpha"], 0), RunEvent.ParticipantStarted({ participant: "alpha", total: 0 }))
      .draw(1000, size, plain)
      .join("\n")
    assert.strictEqual(text, "Bench\nalpha  ██████████████████████████████  0/0  0 in flight")
  })
})

describe("recent samples", () => {
  it("are the last of all", () => {
    const recent = new Recent()
    assert.isUndefined(recent.quantiles())
    for (const nothing of [undefined, null, Number.NaN, Infinity]) recent.push(nothing)
    assert.isUndefined(recent.quantiles())
    recent.push(5)
    assert.deepStrictEqual(recent.quantiles(), { median: 5, p95: 5 })
    for (let i = 1; i <= 3 * capacity; i++) recent.push(i)
    assert.deepStrictEqual(recent.quantiles(), { median: 2.5 * capacity + 0.5, p95: 2.95 * capacity })
  })
})

/** What a terminal shows after these bytes. */
const shown = (bytes: string, columns: number, rows: number): Promise<ReadonlyArray<string>> =>
  new Promise((resolve) => {
    const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true })
    terminal.write(bytes, () => {
      const { active } = terminal.buffer
      const lines = Array.from({ length: active.length }, (_, i) => active.getLine(i)?.translateToString(true) ?? "")
      resolve(lines.filter((line) => line !== ""))
    })
  })

class FakeTerminal extends PassThrough {
  text = ""
  columns = 60
  rows = 12
  readonly isTTY = true

  constructor() {
    super()
    this.on("data", (chunk) => (this.text += String(chunk)))
  }
}

describe("the screen", () => {
  it.scoped("is drawn over itself, with lines that stay above it", () =>
    Effect.gen(function* () {
      const terminal = new FakeTerminal()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const screen = yield* open(terminal, coloured(undefined))
          screen.listener(started(["alpha"]))
          screen.listener(RunEvent.ParticipantStarted({ participant: "alpha", total: 10 }))
          yield* TestClock.adjust("1 second")
          screen.write("warning: look here")
          screen.listener(completed("alpha", 4))
          yield* TestClock.adjust("1 second")
          terminal.columns = 30
          screen.listener(completed("alpha", 5))
          yield* TestClock.adjust("1 second")
        })
      )
      const lines = yield* Effect.promise(() => shown(terminal.text, 60, 12))
      assert.deepStrictEqual(lines, [
        "warning: look here",
        "Bench",
        "alpha  5/10  100 % ok  0 in …",
        "  median/p95 ms: task 45/50"
      ])
    })
  )

  it.scoped("is drawn at most ten times a second, whatever happens", () =>
    Effect.gen(function* () {
      const terminal = new FakeTerminal()
      let writes = 0
      terminal.on("data", () => writes++)
      const screen = yield* open(terminal, plain)
      screen.listener(started(["alpha"], 100_000))
      for (let i = 1; i <= 1000; i++) screen.listener(completed("alpha", i))
      assert.strictEqual(writes, 0)
      yield* TestClock.adjust("2 seconds")
      assert.isAtMost(writes, 2 * 20 + 5)
    })
  )
})

const pty = "/usr/bin/script"

const slow = `async ({ step, taskIndex }) => {
  await step("get", () => new Promise((resolve) => setTimeout(resolve, 30)))
  if (taskIndex === 3) throw new Error("broken")
}`

describe("bench run", () => {
  it.scopedLive.skipIf(!fs.existsSync(pty))("shows a display on a terminal, then the result", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench("slow.mjs", { iterations: 20 }, slow)
      const quoted = `stty cols 80 rows 24; $BENCH run ${file}`
      const { code, stdout } = yield* here.shell(`${pty} -qefc '${quoted}' /dev/null`, { TERM: "xterm-256color" })
      assert.strictEqual(code, 0, stdout)
      const redraws = stdout.split("\u001b[?25l").length - 1
      assert.isAtLeast(redraws, 1)
      assert.isAbove(stdout.lastIndexOf("\u001b[?25h"), stdout.lastIndexOf("\u001b[?25l"), "the cursor is shown again")
      const lines = yield* Effect.promise(() => shown(stdout, 80, 60))
      assert.match(lines[0] ?? "", /^Bench$/)
      assert.match(lines[1] ?? "", /^alpha {2}█+ {2}20\/20 {2}95 % ok {2}[\d.]+\/s {2}took 0:0\d$/)
      assert.include(lines.slice(0, 5), "! alpha task 3: Error: broken")
      assert.strictEqual(lines.filter((line) => /in flight|took/.test(line)).length, 1, "the display is there once")
      assert.isTrue(lines.some((line) => line.startsWith("Recorded in ")))
    })
  )

  for (const [why, env] of Object.entries({
    CI: { CI: "true" },
    NO_COLOR: { NO_COLOR: "1" },
    dumb: { TERM: "dumb" }
  })) {
    it.scopedLive.skipIf(!fs.existsSync(pty))(`prints stable lines on a terminal with ${why}`, () =>
      Effect.gen(function* () {
        const here = yield* project
        const file = here.writeBench("slow.mjs", { iterations: 5 }, slow)
        const { stdout } = yield* here.shell(`${pty} -qefc '$BENCH run ${file}' /dev/null`, { TERM: "xterm", ...env })
        assert.include(stdout, "alpha: 5/5 done, 1 failed")
        assert.notInclude(stdout, "\u001b[?25l")
      })
    )
  }

  it.scopedLive("prints one event a line with --log-format json, and nothing else on stderr", () =>
    Effect.gen(function* () {
      const here = yield* project
      const file = here.writeBench(
        "slow.mjs",
        { iterations: 4, participants: [{ name: "al\u001b[31m\u2028pha\n" }] },
        slow
      )
      const { code, stderr } = yield* here.bench(["run", file, "--log-format", "json"])
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(stripVTControlCharacters(stderr), stderr)
      const Event = Schema.parseJson(
        Schema.Struct({ event: Schema.String, at: Schema.String }, { key: Schema.String, value: Schema.Unknown })
      )
      const events = stderr
        .trimEnd()
        .split("\n")
        .map((line) => Schema.decodeUnknownSync(Event)(line))
      const names = events.map(({ event }) => event)
      assert.deepStrictEqual(names.slice(0, 3), ["RunStarted", "ParticipantStarted", "TaskStarted"])
      assert.deepStrictEqual(
        ["TaskCompleted", "ParticipantCompleted", "RunCompleted"].map((name) => names.filter((n) => n === name).length),
        [4, 1, 1]
      )
      const last = events.at(-1)
      assert.strictEqual(last?.event, "Message")
      assert.match(String(last?.["text"]), /^Recorded in /)
    })
  )
})
