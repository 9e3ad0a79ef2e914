import { gunzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect } from "effect"
import { errorCode, isTaskError } from "../src/internal/failure.js"
import * as Redaction from "../src/Redaction.js"
import { TaskError } from "../src/Task.js"
import * as WorkerLog from "../src/WorkerLog.js"
import { toError } from "./support/taskScript.js"
import { readVectors } from "./support/vectors.js"

const isOutput = (value: unknown): value is WorkerLog.StepOutput => typeof value === "object" && value !== null

const actual = (vector: Record<string, unknown>): unknown => {
  const { arg, error, kind, message, outcome, stepName, taskIndex, value } = vector
  switch (kind) {
    case "isStepOutcome":
      return WorkerLog.isStepOutput(value)
    case "getErrorCode": {
      const thrown = toError(error)
      return { errorCode: errorCode(thrown), isTaskError: isTaskError(thrown) }
    }
    case "taskErrorToString":
      return String(toError(error))
    case "logLine":
      return WorkerLog.formatLine("<ts>", String(message), arg).split("\n")
    case "logStep":
      assert(isOutput(outcome))
      return WorkerLog.formatStep("<ts>", Number(taskIndex), String(stepName), outcome).split("\n")
    default:
      return assert.fail(`unknown kind ${String(kind)}`)
  }
}

/** Where we differ from the reference on purpose: why, and what we do instead. */
const differences: { readonly [name: string]: { readonly why: string; readonly instead: unknown } } = {
  "multi-line message with task prefix keeps the prefix after the level": {
    why: "a line of a task is found by its prefix whether or not another line follows",
    instead: ["<ts> [task 4] [info] one", "two"]
  },
  "carriage return in message": {
    why: "a line of a task is found by its prefix whatever characters are in it",
    instead: ["<ts> [task 5] [info] a\rb"]
  }
}

const ts = "2026-01-02T03:04:05.678Z"

const lines = (log: WorkerLog.WorkerLog): ReadonlyArray<string> => log.text.split("\n")

describe("step outcomes", () => {
  const vectors = readVectors("step-outcome")

  for (const vector of vectors) {
    const name = String(vector["name"])
    it(name, () => {
      const difference = differences[name]
      assert.deepStrictEqual(actual(vector), difference === undefined ? vector["expected"] : difference.instead)
    })
  }

  it("every difference is a quirk of the reference", () => {
    for (const [name, { instead }] of Object.entries(differences)) {
      const vector = vectors.find((candidate) => candidate["name"] === name)
      assert.strictEqual(vector?.["quirk"], true, name)
      assert.notDeepEqual(vector?.["expected"], instead, name)
    }
  })

  it("a step output is recognised without listing the keys of other objects", () => {
    let listed = 0
    const large = new Proxy(
      {},
      {
        ownKeys: () => {
          listed++
          return []
        }
      }
    )
    assert.isFalse(WorkerLog.isStepOutput(large))
    assert.strictEqual(listed, 0)
  })

  it("a value that cannot be read is no step output", () => {
    const { proxy, revoke } = Proxy.revocable({ stdout: "x" }, {})
    revoke()
    const throwing = {
      get stdout(): string {
        throw new Error("no")
      }
    }
    assert.isFalse(WorkerLog.isStepOutput(proxy))
    assert.isFalse(WorkerLog.isStepOutput(throwing))
  })
})

describe("errors", () => {
  it("take their code from the tag when they are tagged values", () => {
    assert.strictEqual(errorCode({ _tag: "NotFound" }), "NotFound")
    assert.strictEqual(errorCode({ _tag: "NotFound", code: "E404" }), "E404")
    assert.strictEqual(errorCode({ _tag: "" }), "ERROR")
  })

  it("a task error whose data JSON cannot hold can still be shown", () => {
    const error = new TaskError("m", { data: { big: 1n } })
    assert.match(String(error), /^\[TaskError\] m\n {2}data: "\[not JSON: .*BigInt/i)
  })
})

describe("WorkerLog", () => {
  const written = ["debug", "info", "warn", "error"] as const

  for (const [i, level] of written.entries()) {
    it(`at level ${level} leaves out what is less urgent`, () => {
      const log = new WorkerLog.WorkerLog({ level })
      for (const each of written) log.message(ts, 0, each, { level: each })
      assert.deepStrictEqual(lines(log), [...written.slice(i).map((each) => `${ts} [task 0] [${each}] ${each}`), ""])
      for (const [j, each] of written.entries()) assert.strictEqual(log.accepts(each), j >= i)
    })
  }

  it("writes info and above by default", () => {
    const log = new WorkerLog.WorkerLog()
    assert.isTrue(log.accepts("info"))
    assert.isFalse(log.accepts("debug"))
  })

  it("has no text before the first line", () => {
    assert.strictEqual(new WorkerLog.WorkerLog().text, "")
  })

  it("a step is one info line, then its output line by line", () => {
    const log = new WorkerLog.WorkerLog()
    log.stepSucceeded(ts, 3, "run", { stdout: "a\nb\n", stderr: "c", error: "d" })
    assert.deepStrictEqual(lines(log), [
      `${ts} [task 3] [info] run`,
      `${ts} [task 3] run stdout: a`,
      `${ts} [task 3] run stdout: b`,
      `${ts} [task 3] run stderr: c`,
      `${ts} [task 3] run error: d`,
      ""
    ])
  })

  it("a failed step is an error line even where info is left out", () => {
    const log = new WorkerLog.WorkerLog({ level: "error" })
    log.stepSucceeded(ts, 3, "fine", { stdout: "a" })
    log.stepFailed(ts, 3, "run", "boom")
    assert.deepStrictEqual(lines(log), [`${ts} [task 3] [error] run`, "  error: boom", ""])
  })

  it("keeps the order in which lines were written", () => {
    const log = new WorkerLog.WorkerLog()
    log.message(ts, 1, "first")
    log.stepFailed(ts, 2, "second", "why")
    log.stepSucceeded(ts, 1, "third", undefined)
    log.message(ts, 2, "fourth")
    assert.deepStrictEqual(
      lines(log).map((line) => line.replace(`${ts} `, "")),
      [
        "[task 1] [info] first",
        "[task 2] [error] second",
        "  error: why",
        "[task 1] [info] third",
        "[task 2] [info] fourth",
        ""
      ]
    )
  })

  it("is truncated after its last line with one marker", () => {
    const log = new WorkerLog.WorkerLog({ maxLines: 2 })
    for (const message of ["one", "two", "three", "four"]) log.message(ts, 0, message)
    assert.deepStrictEqual(lines(log), [
      `${ts} [task 0] [info] one`,
      `${ts} [task 0] [info] two`,
      "[log truncated after 2 lines; raise BENCHMARK_LOG_MAX_LINES to keep more]",
      ""
    ])
  })

  it("is not truncated by exactly as many lines as it takes", () => {
    const log = new WorkerLog.WorkerLog({ maxLines: 3 })
    log.message(ts, 0, "one\ntwo")
    log.message(ts, 0, "three")
    assert.notInclude(log.text, "truncated")
    assert.strictEqual(lines(log).length, 4)
  })

  it("counts every line of an entry, and takes nothing after the marker however short", () => {
    const log = new WorkerLog.WorkerLog({ maxLines: 2 })
    log.message(ts, 0, "one")
    log.stepFailed(ts, 0, "two", "three")
    log.message(ts, 0, "four")
    assert.deepStrictEqual(lines(log), [
      `${ts} [task 0] [info] one`,
      "[log truncated after 1 lines; raise BENCHMARK_LOG_MAX_LINES to keep more]",
      ""
    ])
    assert.isFalse(log.accepts("error"))
  })

  it("metadata that JSON cannot hold does not throw", () => {
    const cyclic: Record<string, unknown> = {}
    cyclic["self"] = cyclic
    const unreadable = {
      get level(): string {
        throw new Error("no")
      }
    }
    const log = new WorkerLog.WorkerLog()
    log.message(ts, 0, "cycle", cyclic)
    log.message(ts, 0, "bigint", { meta: { n: 1n } })
    log.message(ts, 0, "unreadable", unreadable)
    const [cycle, bigint, unread] = lines(log)
    assert.match(cycle ?? "", /\[info\] cycle "\[not JSON: .*circular/i)
    assert.match(bigint ?? "", /\[info\] bigint "\[not JSON: .*BigInt/i)
    assert.strictEqual(unread, `${ts} [task 0] [info] unreadable "[cannot be read: no]"`)
  })
})

describe("WorkerLog.make", () => {
  const made = (settings: ReadonlyArray<readonly [string, string]>) =>
    WorkerLog.make.pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(settings))))

  it.effect("takes level and length from the environment", () =>
    Effect.gen(function* () {
      const log = yield* made([
        ["BENCHMARK_LOG_LEVEL", "warn"],
        ["BENCHMARK_LOG_MAX_LINES", "1"]
      ])
      for (const level of ["info", "warn", "error"]) log.message(ts, 0, level, { level })
      assert.deepStrictEqual(lines(log), [
        `${ts} [task 0] [warn] warn`,
        "[log truncated after 1 lines; raise BENCHMARK_LOG_MAX_LINES to keep more]",
        ""
      ])
    })
  )

  it.effect("has defaults", () =>
    Effect.gen(function* () {
      const log = yield* made([])
      assert.isTrue(log.accepts("info"))
      assert.isFalse(log.accepts("debug"))
      for (let i = 0; i <= 100_000; i++) log.message(ts, 0, "x")
      assert.include(log.text, "[log truncated after 100000 lines")
    })
  )

  it.effect("falls back to the defaults for settings that are not understood", () =>
    Effect.gen(function* () {
      const log = yield* made([
        ["BENCHMARK_LOG_LEVEL", "loud"],
        ["BENCHMARK_LOG_MAX_LINES", "-3"]
      ])
      log.message(ts, 0, "debug", { level: "debug" })
      log.message(ts, 0, "info")
      assert.deepStrictEqual(lines(log), [`${ts} [task 0] [info] info`, ""])
    })
  )

  it.effect("a blank length is none", () =>
    Effect.gen(function* () {
      const log = yield* made([["BENCHMARK_LOG_MAX_LINES", ""]])
      log.message(ts, 0, "info")
      assert.deepStrictEqual(lines(log), [`${ts} [task 0] [info] info`, ""])
    })
  )

  it.effect("redacts when it is told how", () =>
    Effect.gen(function* () {
      const log = yield* WorkerLog.makeWith({ redact: () => "x" })
      log.message(ts, 0, "info")
      assert.deepStrictEqual(lines(log), [`${ts} [task 0] [info] x`, ""])
    })
  )
})

describe("redaction", () => {
  const log = () => new WorkerLog.WorkerLog({ redact: Redaction.make(["hunter2", "first-half\nsecond-half"]) })

  it("is applied to messages and their metadata", () => {
    const written = log()
    written.message(ts, 4, "a hunter2", { level: "warn", meta: { b: ["hunter2"], apiKey: "x y z" } })
    written.message(ts, 4, "hunter2", "hunter2")
    assert.deepStrictEqual(lines(written), [
      `${ts} [task 4] [warn] a [redacted] {"b":["[redacted]"],"apiKey":"[redacted]"}`,
      `${ts} [task 4] [info] [redacted] "[redacted]"`,
      ""
    ])
  })

  it("is applied to names, output and errors of steps, before they are cut into lines", () => {
    const written = log()
    written.stepSucceeded(ts, 4, "run hunter2", { stdout: "x\nfirst-half\nsecond-half\ny", error: "hunter2" })
    written.stepFailed(ts, 4, "hunter2", "no hunter2")
    assert.deepStrictEqual(lines(written), [
      `${ts} [task 4] [info] run [redacted]`,
      `${ts} [task 4] run [redacted] stdout: x`,
      `${ts} [task 4] run [redacted] stdout: [redacted]`,
      `${ts} [task 4] run [redacted] stdout: y`,
      `${ts} [task 4] run [redacted] error: [redacted]`,
      `${ts} [task 4] [error] [redacted]`,
      "  error: no [redacted]",
      ""
    ])
  })

  it("does not touch what the log writes itself", () => {
    const written = new WorkerLog.WorkerLog({ redact: Redaction.make([ts, "task", "info"]) })
    written.message(ts, 4, "a task")
    assert.deepStrictEqual(lines(written), [`${ts} [task 4] [info] a [redacted]`, ""])
  })

  it("is not asked about what is left out", () => {
    let asked = 0
    const written = new WorkerLog.WorkerLog({
      level: "error",
      redact: (text) => {
        asked++
        return text
      }
    })
    written.message(ts, 4, "m", { level: "debug" })
    written.stepSucceeded(ts, 4, "s", { stdout: "o" })
    assert.strictEqual(asked, 0)
  })
})

describe("snapshot", () => {
  it("has the text so far and tells whether it is news", () => {
    const log = new WorkerLog.WorkerLog()
    assert.deepStrictEqual(log.snapshot(), { text: "", changed: false })
    log.message(ts, 0, "one")
    const first = `${ts} [task 0] [info] one\n`
    assert.deepStrictEqual(log.snapshot(), { text: first, changed: true })
    assert.deepStrictEqual(log.snapshot(), { text: first, changed: false })
    log.message(ts, 0, "two")
    const second = `${first}${ts} [task 0] [info] two\n`
    assert.strictEqual(log.text, second)
    assert.deepStrictEqual(log.snapshot(), { text: second, changed: true })
  })

  it("a log that is full has no more news", () => {
    const log = new WorkerLog.WorkerLog({ maxLines: 1 })
    for (const message of ["one", "two"]) log.message(ts, 0, message)
    assert.isTrue(log.snapshot().changed)
    log.message(ts, 0, "three")
    assert.isFalse(log.snapshot().changed)
  })

  it("is cheap however often it is taken", () => {
    const log = new WorkerLog.WorkerLog({ maxLines: Infinity })
    const padding = "x".repeat(1000)
    // Putting everything together each time would copy 200 GB.
    for (let i = 0; i < 20_000; i++) {
      log.message(ts, i, padding)
      assert.isTrue(log.snapshot().changed)
    }
    assert.strictEqual(lines(log).length, 20_001)
  })
})

describe("encode", () => {
  const text = "één\ntwo\n"

  it.effect("is UTF-8 as it is", () =>
    Effect.gen(function* () {
      const encoded = yield* WorkerLog.encode(text, "none")
      assert.strictEqual(new TextDecoder().decode(encoded.content), text)
      assert.strictEqual(encoded.contentType, "text/plain; charset=utf-8")
      assert.deepStrictEqual(encoded.metadata, { lineCount: 2, sizeBytes: 10 })
    })
  )

  it.effect("is compressed when asked for, with the size before", () =>
    Effect.gen(function* () {
      const long = text.repeat(1000)
      const encoded = yield* WorkerLog.encode(long, "gzip")
      assert.isBelow(encoded.content.length, 1000)
      assert.strictEqual(gunzipSync(encoded.content).toString(), long)
      assert.strictEqual(encoded.contentType, "application/gzip")
      assert.deepStrictEqual(encoded.metadata, { lineCount: 2000, sizeBytes: 10_000, encoding: "gzip" })
    })
  )

  it.effect("counts a last line without an end, and none in an empty text", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* WorkerLog.encode("a\nb", "none")).metadata.lineCount, 2)
      assert.deepStrictEqual((yield* WorkerLog.encode("", "none")).metadata, { lineCount: 0, sizeBytes: 0 })
      assert.strictEqual(gunzipSync((yield* WorkerLog.encode("", "gzip")).content).length, 0)
    })
  )
})

describe("WorkerLog.settings", () => {
  const read = (settings: Readonly<Record<string, string>>) =>
    WorkerLog.settings.pipe(
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(settings)))),
      Effect.map(({ logCompression, logFlushInterval, metricsInterval }) => [
        logCompression,
        Duration.toMillis(logFlushInterval),
        Duration.toMillis(metricsInterval)
      ])
    )

  const defaults = ["none", 0, 30_000]

  const cases: ReadonlyArray<
    readonly [what: string, settings: Readonly<Record<string, string>>, expected: ReadonlyArray<unknown>]
  > = [
    ["defaults", {}, defaults],
    [
      "the environment's values",
      {
        BENCHMARK_LOG_COMPRESSION: "gzip",
        BENCHMARK_LOG_FLUSH_INTERVAL_MS: "1500",
        BENCHMARK_METRICS_INTERVAL_MS: "0"
      },
      ["gzip", 1500, 0]
    ],
    [
      "defaults for what is blank",
      { BENCHMARK_LOG_COMPRESSION: "", BENCHMARK_LOG_FLUSH_INTERVAL_MS: "", BENCHMARK_METRICS_INTERVAL_MS: " " },
      defaults
    ],
    [
      "defaults for what is not understood",
      {
        BENCHMARK_LOG_COMPRESSION: "zip",
        BENCHMARK_LOG_FLUSH_INTERVAL_MS: "-1",
        BENCHMARK_METRICS_INTERVAL_MS: "soon"
      },
      defaults
    ],
    [
      "intervals that a timer can keep",
      { BENCHMARK_LOG_FLUSH_INTERVAL_MS: "0.5", BENCHMARK_METRICS_INTERVAL_MS: "999999999999" },
      ["none", 10, 2 ** 31 - 1]
    ]
  ]
  for (const [what, settings, expected] of cases) {
    it.effect(`has ${what}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* read(settings), expected)
      })
    )
  }
})
