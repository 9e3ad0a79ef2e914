import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { CliError } from "../../src/cli/CliError.js"
import type { ExportOptions } from "../../src/cli/export.js"
import { exportRun } from "../../src/cli/export.js"
import { Iteration, Platform, PlatformFailure, RunResults, RunSummary } from "../../src/Platform.js"
import type { TaskRecord } from "../../src/Record.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import { call, createRun, work } from "../support/commands.js"

const folder = Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()).pipe(
  Effect.provide(NodeContext.layer)
)

const options: ExportOptions = {
  benchmark: undefined,
  run: undefined,
  out: undefined,
  format: undefined,
  type: "tasks"
}

const task = (taskIndex: number, data: TaskRecord["data"], more: Partial<TaskRecord> = {}): TaskRecord => ({
  taskIndex,
  status: "success",
  startedAt: "2026-01-01T00:00:00.000Z",
  completedAt: "2026-01-01T00:00:01.000Z",
  latencyMs: 1.5,
  data,
  ...more
})

/** The cells of each line, read as RFC 4180 says. */
const parseCsv = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  const rows: Array<Array<string>> = []
  let row: Array<string> = []
  for (const [, quoted, plain = "", end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ",") continue
    rows.push(row)
    row = []
  }
  return rows
}

const Document = Schema.parseJson(
  Schema.Struct({
    benchmark: RunResults.fields.benchmark,
    run: RunResults.fields.run,
    results: Schema.Struct({
      overall: RunResults.fields.overall,
      participants: RunResults.fields.participants,
      steps: RunResults.fields.steps,
      summary: Schema.NullOr(RunSummary)
    }),
    iterations: Schema.Array(Iteration)
  })
)

/** A run of two participants, in registration order, that has ended. */
const recorded = Effect.gen(function* () {
  const ref = yield* createRun({ zoe: 2, abe: 1 })
  yield* work({ ...ref, participant: "abe" }, [task(0, { nested: { a: [1] } })])
  yield* work({ ...ref, participant: "zoe" }, [
    task(1, null, {
      status: "error",
      errorCode: "BOOM",
      steps: [{ name: "connect", status: "error", latencyMs: 2, errorCode: "BOOM", data: { port: 1 } }]
    }),
    task(0, { score: -5, note: 'a "b", c' }, { steps: [{ name: "connect", status: "success", latencyMs: 1 }] })
  ])
  return ref
})

describe("bench export", () => {
  it.scoped("writes one JSON document that holds the run, its results and every task", () =>
    Effect.gen(function* () {
      const ref = yield* recorded
      const said = yield* call(exportRun(options))
      assert.deepStrictEqual([said.error, said.stderr], [undefined, ""])
      const document = Schema.decodeUnknownSync(Document)(said.stdout)
      assert.strictEqual(document.benchmark.name, "Demo")
      assert.strictEqual(document.run.id, ref.run)
      assert.strictEqual(document.results.overall.taskCount, 3)
      assert.strictEqual(document.results.summary, null)
      assert.deepStrictEqual(Object.keys(JSON.parse(said.stdout)), ["benchmark", "run", "results", "iterations"])
      const platform = yield* Platform
      assert.sameDeepMembers([...document.iterations], [...(yield* platform.iterations(ref, {}))])
      assert.strictEqual(document.iterations.length, 3)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("includes the scored summary", () =>
    Effect.gen(function* () {
      const ref = yield* recorded
      const platform = yield* Platform
      const summary: RunSummary = { run: { gitSha: "abc" }, results: [] }
      yield* platform.submitSummary(ref, summary)
      const { stdout } = yield* call(exportRun(options))
      assert.deepStrictEqual(Schema.decodeUnknownSync(Document)(stdout).results.summary?.run.gitSha, "abc")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("writes one record a line", () =>
    Effect.gen(function* () {
      yield* recorded
      const { stdout } = yield* call(exportRun({ ...options, format: "ndjson", type: "steps" }))
      const records = stdout
        .trimEnd()
        .split("\n")
        .map((text) => Schema.decodeUnknownSync(Schema.parseJson(Iteration))(text))
      assert.deepStrictEqual(
        records.map(({ data, participantSlug, provider, status, stepName, taskIndex }) => [
          participantSlug,
          provider,
          taskIndex,
          stepName,
          status,
          data
        ]),
        [
          ["zoe", "provider of zoe", 0, "connect", "success", null],
          ["zoe", "provider of zoe", 1, "connect", "error", { port: 1 }]
        ]
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("writes CSV with a column for everything that was measured", () =>
    Effect.gen(function* () {
      yield* recorded
      const { stdout } = yield* call(exportRun({ ...options, format: "csv" }))
      const times = ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z"]
      const [header = [], ...rows] = parseCsv(stdout)
      assert.deepStrictEqual(header.slice(0, 8), [
        "participantSlug",
        "provider",
        "taskIndex",
        "status",
        "errorCode",
        "latencyMs",
        "startedAt",
        "completedAt"
      ])
      assert.sameMembers(header.slice(8), ["data.score", "data.note", "data.nested"])
      const named = rows.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i]])))
      assert.deepStrictEqual(
        rows.map((row) => row.slice(0, 8)),
        [
          ["zoe", "provider of zoe", "0", "success", "", "1.5", ...times],
          ["zoe", "provider of zoe", "1", "error", "BOOM", "1.5", ...times],
          ["abe", "provider of abe", "0", "success", "", "1.5", ...times]
        ]
      )
      assert.deepStrictEqual(
        named.map((row) => [row["data.score"], row["data.note"], row["data.nested"]]),
        [
          ["-5", 'a "b", c', ""],
          ["", "", ""],
          ["", "", '{"a":[1]}']
        ]
      )
      assert.match(stdout, /^participantSlug,.*\r\n/)
      assert.include(stdout, ',"a ""b"", c",')
      assert.isFalse(/[^\r]\n/.test(stdout))
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("names the step in CSV of steps", () =>
    Effect.gen(function* () {
      yield* recorded
      const { stdout } = yield* call(exportRun({ ...options, format: "csv", type: "steps" }))
      assert.deepStrictEqual(
        parseCsv(stdout).map((row) => [row[2], row[3], row[4], row[9]]),
        [
          ["taskIndex", "stepName", "status", "data.port"],
          ["0", "connect", "success", ""],
          ["1", "connect", "error", "1"]
        ]
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("keeps text in CSV from being run as a formula, and leaves numbers alone", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ "=cmd|' /C calc'!A0": 1 })
      const texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "a=1", "'=1"]
      const data = { ...Object.fromEntries(texts.map((text, i) => [`t${i}`, text])), low: -2, flag: false, none: null }
      yield* work({ ...ref, participant: "=cmd|' /C calc'!A0" }, [task(0, data)])
      const { stdout } = yield* call(exportRun({ ...options, format: "csv" }))
      const [header = [], row = []] = parseCsv(stdout)
      const named = Object.fromEntries(header.map((name, i) => [name, row[i]]))
      assert.deepStrictEqual(
        texts.map((_, i) => named[`data.t${i}`]),
        ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\tx", "'\rx", "a=1", "'=1"]
      )
      assert.deepStrictEqual([named["data.low"], named["data.flag"], named["data.none"]], ["-2", "false", ""])
      assert.strictEqual(named["participantSlug"], "'=cmd|' /C calc'!A0")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("takes only what a record measured for its columns", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ a: 2 })
      yield* work({ ...ref, participant: "a" }, [task(0, { constructor: "mine" }), task(1, { other: 1 })])
      const { stdout } = yield* call(exportRun({ ...options, format: "csv" }))
      assert.deepStrictEqual(
        parseCsv(stdout).map((row) => row.slice(8)),
        [
          ["data.constructor", "data.other"],
          ["mine", ""],
          ["", "1"]
        ]
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("takes the format from the name of the file, and replaces it whole", () =>
    Effect.gen(function* () {
      const ref = yield* recorded
      const here = yield* folder
      for (const [name, begin] of [
        ["a.csv", "participantSlug,"],
        ["a.ndjson", '{"participantSlug":"zoe"'],
        ["a.JSONL", '{"participantSlug":"zoe"'],
        ["a.json", '{"benchmark":'],
        ["a.txt", '{"benchmark":']
      ] as const) {
        const out = path.join(here, name)
        fs.writeFileSync(out, "before ".repeat(10_000))
        const said = yield* call(exportRun({ ...options, out }))
        const text = fs.readFileSync(out, "utf8")
        assert.isTrue(text.startsWith(begin), `${name}: ${text.slice(0, 50)}`)
        assert.isFalse(text.includes("before"))
        assert.strictEqual(said.stdout, "")
        assert.strictEqual(
          said.stderr,
          `Exported 3 tasks of run ${ref.run} to ${out} (${Buffer.byteLength(text)} bytes).\n`
        )
      }
      assert.deepStrictEqual(fs.readdirSync(here).sort(), ["a.JSONL", "a.csv", "a.json", "a.ndjson", "a.txt"])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("leaves an existing file as it was when the export fails", () =>
    Effect.gen(function* () {
      yield* recorded
      const here = yield* folder
      const out = path.join(here, "run.json")
      fs.writeFileSync(out, "before")
      const lost = new PlatformFailure({ operation: "iterations", detail: "connection lost", retryable: true })
      const failing = Layer.effect(
        Platform,
        Effect.map(Platform, (platform) => ({
          ...platform,
          iterations: (ref, query) =>
            query.participant === "zoe" ? platform.iterations(ref, query) : Effect.fail(lost)
        }))
      )
      const said = yield* call(Effect.provide(exportRun({ ...options, out }), failing))
      assert.strictEqual(said.error, lost)
      assert.strictEqual(fs.readFileSync(out, "utf8"), "before")
      assert.deepStrictEqual(fs.readdirSync(here), ["run.json"])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("asks for each participant once", () =>
    Effect.gen(function* () {
      yield* recorded
      const asked: Array<string | undefined> = []
      const counting = Layer.effect(
        Platform,
        Effect.map(Platform, (platform) => ({
          ...platform,
          iterations: (ref, query) => {
            asked.push(query.participant)
            return platform.iterations(ref, query)
          }
        }))
      )
      for (const format of ["json", "csv", "ndjson"] as const) {
        asked.length = 0
        yield* call(Effect.provide(exportRun({ ...options, format }), counting))
        assert.deepStrictEqual(asked, ["zoe", "abe"])
      }
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("says that a run has not ended, and exports what there is", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ a: 1 })
      const csv = yield* call(exportRun({ ...options, format: "csv" }))
      assert.match(csv.stdout, /^participantSlug,[^\r]*completedAt\r\n$/)
      assert.strictEqual(csv.stderr, `Run ${ref.run} has not ended: this is what it has recorded so far.\n`)
      const document = yield* call(exportRun(options))
      assert.deepStrictEqual(Schema.decodeUnknownSync(Document)(document.stdout).iterations, [])
      const lines = yield* call(exportRun({ ...options, format: "ndjson" }))
      assert.strictEqual(lines.stdout, "")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("keeps text as it is, except on a terminal", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ a: 1 })
      yield* work({ ...ref, participant: "a" }, [task(0, { text: "\u001b[31mred\u001b[0m\u009b" })])
      const plain = yield* call(exportRun({ ...options, format: "csv" }))
      assert.include(plain.stdout, "\u001b[31mred\u001b[0m\u009b")
      const shown = yield* call(exportRun({ ...options, format: "csv" }), { isTerminal: true })
      assert.match(shown.stdout, /,red\ufffd?\n$/)
      assert.notInclude(shown.stdout, "\u001b")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("ends well when the reader has seen enough", () =>
    Effect.gen(function* () {
      yield* recorded
      const said = yield* call(exportRun({ ...options, format: "csv" }), { reads: 1 })
      assert.strictEqual(said.error, undefined)
      assert.match(said.stdout, /^participantSlug,[^\n]*\n$/)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("says why a file cannot be written", () =>
    Effect.gen(function* () {
      yield* recorded
      const here = yield* folder
      const missing = path.join(here, "no", "run.json")
      const said = [
        yield* call(exportRun({ ...options, out: missing })),
        yield* call(exportRun({ ...options, out: here }))
      ]
      assert.deepStrictEqual(
        said.map(({ error }) => error instanceof CliError && error.message),
        [`${missing} cannot be written: its folder does not exist.`, `${here} is a folder; name a file in it.`]
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("replaces the file that a link leads to, and writes to what is no file as it stands", () =>
    Effect.gen(function* () {
      yield* recorded
      const here = yield* folder
      fs.writeFileSync(path.join(here, "real.csv"), "before")
      fs.symlinkSync("real.csv", path.join(here, "link.csv"))
      yield* call(exportRun({ ...options, out: path.join(here, "link.csv") }))
      assert.isTrue(fs.lstatSync(path.join(here, "link.csv")).isSymbolicLink())
      assert.match(fs.readFileSync(path.join(here, "real.csv"), "utf8"), /^participantSlug,/)

      const pipe = path.join(here, "pipe.csv")
      execFileSync("mkfifo", [pipe])
      const [, read] = yield* Effect.all(
        [call(exportRun({ ...options, out: pipe })), Effect.promise(() => fs.promises.readFile(pipe, "utf8"))],
        { concurrency: "unbounded" }
      )
      assert.match(read, /^participantSlug,/)
      assert.isTrue(fs.statSync(pipe).isFIFO())
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )
})
