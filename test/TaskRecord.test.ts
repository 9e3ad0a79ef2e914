import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { taskLine } from "../src/cli/taskLine.js"
import { fromFunction } from "../src/internal/promiseTask.js"
import type { RunReporter } from "../src/Reporter.js"
import type { Task } from "../src/Task.js"
import type { EngineResult } from "./support/engine.js"
import { runTask } from "./support/engine.js"
import type { Script } from "./support/taskScript.js"
import { effectTask, promiseTask } from "./support/taskScript.js"
import { readVectors } from "./support/vectors.js"

interface Expected {
  readonly record: unknown
  readonly log: unknown
  readonly console: unknown
  readonly warnings: unknown
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isScript = (value: unknown): value is Script => isObject(value) && Array.isArray(value["ops"])

const field = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined)

/** Compares with a vector's record, in which `<iso>` and `<ms>` stand for any timestamp and any latency. */
const assertMatches = (actual: unknown, expected: unknown, path: string): void => {
  if (expected === "<iso>") {
    assert.match(String(actual), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, path)
  } else if (expected === "<ms>") {
    assert.isTrue(typeof actual === "number" && actual >= 0, `${path}: ${String(actual)}`)
  } else if (Array.isArray(expected)) {
    assert.isTrue(Array.isArray(actual) && actual.length === expected.length, `${path}: ${JSON.stringify(actual)}`)
    expected.forEach((item, i) => assertMatches(Array.isArray(actual) ? actual[i] : undefined, item, `${path}[${i}]`))
  } else if (isObject(expected)) {
    assert.deepStrictEqual(Object.keys(isObject(actual) ? actual : {}).sort(), Object.keys(expected).sort(), path)
    for (const key of Object.keys(expected)) assertMatches(field(actual, key), expected[key], `${path}.${key}`)
  } else {
    assert.deepStrictEqual(actual, expected, path)
  }
}

const implicit = (status: string, errorCode: string | null, data?: unknown) => ({
  name: "task",
  status,
  startedAt: "<iso>",
  completedAt: "<iso>",
  latencyMs: "<ms>",
  errorCode,
  ...(data === undefined ? undefined : { data })
})

const success = (fields: object) => ({
  taskIndex: 0,
  status: "success",
  startedAt: "<iso>",
  completedAt: "<iso>",
  latencyMs: "<ms>",
  ...fields
})

const failure = (errorCode: string, data: object, steps: ReadonlyArray<unknown>) => ({
  ...success({ steps }),
  status: "error",
  errorCode,
  data
})

const step = (name: string, fields: object = {}) => ({
  name,
  status: "success",
  startedAt: "<iso>",
  completedAt: "<iso>",
  latencyMs: "<ms>",
  ...fields
})

const notRecorded = (detail: string) => {
  const errorMessage = `Cannot record this measure: ${detail}.`
  return {
    record: failure("InvalidMeasure", { errorMessage }, [implicit("error", "InvalidMeasure")]),
    console: [`  [alpha] Task 1/1: FAILED — InvalidMeasure: ${errorMessage}`]
  }
}

/** Where we differ from the reference on purpose: why, and what we do instead. */
const differences: { readonly [name: string]: { readonly why: string; readonly instead: Partial<Expected> } } = {
  "returned data sets phase": {
    why: "a task cannot overwrite its phase (SPEC 2)",
    instead: {
      record: success({ data: { phase: "cold", a: 1 }, steps: [implicit("success", null, { phase: "cold" })] }),
      console: ['  [alpha] Task 1/1: success {"phase":"cold","a":1}']
    }
  },
  "measure sets phase": {
    why: "a task cannot overwrite its phase (SPEC 2)",
    instead: {
      record: success({ data: { phase: "cold" }, steps: [implicit("success", null, { phase: "cold" })] }),
      console: ['  [alpha] Task 1/1: success {"phase":"cold"}']
    }
  },
  "returned latency and steps": {
    why: "returned steps and latencyMs are honoured in every mode (SPEC 2)",
    instead: {
      record: success({
        latencyMs: 123.5,
        steps: [step("open"), { name: "own", status: "success", latencyMs: 7, data: { n: 1 } }]
      })
    }
  },
  "returned latency, no steps": {
    why: "returned latencyMs is honoured in every mode (SPEC 2)",
    instead: {
      record: success({
        latencyMs: 42,
        data: { a: 1 },
        steps: [{ ...implicit("success", null, { a: 1 }), latencyMs: 42 }]
      })
    }
  },
  "returned data is an array": {
    why: "what cannot be recorded is a clear error instead of being lost",
    instead: notRecorded("the task's data: the value is an array, which JSON cannot hold as an object's fields")
  },
  "returned data is text": {
    why: "what cannot be recorded is a clear error instead of being lost",
    instead: notRecorded("the task's data: the value is a string, which JSON cannot hold as an object's fields")
  },
  "task error with steps": {
    why: "a task error's steps are honoured in every mode, and it cannot overwrite the phase (SPEC 2)",
    instead: {
      record: failure("c", { phase: "warm", k: 1, errorMessage: "bad" }, [
        step("open"),
        { name: "late", status: "error", latencyMs: 3, errorCode: "c" }
      ])
    }
  },
  "data with values JSON drops": {
    why: "a measure that JSON cannot hold is an error naming its key (SPEC 2)",
    instead: notRecorded('"b" is NaN, which JSON cannot hold')
  },
  "overlapping steps misattribute measures": {
    why: "measures follow the fiber or async context that made them (SPEC 2)",
    instead: {
      record: success({
        data: { after_all: 1 },
        steps: [step("left", { data: { from_left: 1 } }), step("right", { data: { from_right: 1 } })]
      }),
      console: ['  [alpha] Task 1/1: success {"after_all":1}']
    }
  },
  "deprecated concurrency option warns": {
    why: "the warning does not carry the reference's name",
    instead: { warnings: ['step "ping" option "concurrency" is deprecated; use "parallelInvocations"'] }
  },
  "parallelInvocations beats concurrency and still warns": {
    why: "the warning does not carry the reference's name",
    instead: { warnings: ['step "ping" option "concurrency" is deprecated; use "parallelInvocations"'] }
  }
}

/** These are not run as they stand: interrupted work never opens the gate that the script waits for. */
const elsewhere = ["timed-out body keeps running and its measure lands on the task"]

const expectedOf = (vector: Record<string, unknown>, name: string): Expected => {
  const expected = vector["expected"]
  const round = field(expected, "round")
  const platform = field(expected, "platform")
  const base: Expected = {
    record: field(expected, "sameRecord") === true ? field(round, "record") : field(platform, "record"),
    log: field(platform, "log"),
    console: field(platform, "console"),
    warnings: field(platform, "warnings") ?? []
  }
  return { ...base, ...differences[name]?.instead }
}

const check = (script: Script, expected: Expected, { log, records, warnings }: EngineResult) => {
  const record = records.at(-1)
  assert.isDefined(record)
  if (record === undefined) return
  const participant = script.participant ?? "alpha"
  assertMatches(JSON.parse(JSON.stringify(record)), expected.record, "record")
  const lines = log
    .replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/gm, "<ts>")
    .split("\n")
    .slice(0, -1)
  assert.deepStrictEqual(lines, expected.log)
  assert.deepStrictEqual([taskLine(participant, record, (script.scheduleIndex ?? 0) + 1)], expected.console)
  assert.deepStrictEqual([...new Set(warnings)], expected.warnings)
}

/** Slots before the scripted one run an empty task, as the vectors say. */
const only =
  (script: Script, task: Task<unknown>): Task<unknown> =>
  (context) =>
    context.taskIndex < (script.scheduleIndex ?? 0) ? Effect.void : Effect.isEffect(task) ? task : task(context)

const run = (script: Script, task: Task<unknown>, reporter?: RunReporter) =>
  runTask(only(script, task), {
    participant: { name: script.participant ?? "alpha" },
    start: script.taskIndexStart ?? 0,
    slots: (script.scheduleIndex ?? 0) + 1,
    phase: script.phase,
    ...(reporter === undefined ? undefined : { run: reporter })
  })

describe("task records", () => {
  for (const vector of readVectors("task-record")) {
    const name = String(vector["name"])
    const script = vector["task"]
    if (!isScript(script) || elsewhere.includes(name)) continue
    const expected = expectedOf(vector, name)
    it.live(`${name} (effect)`, () =>
      Effect.map(run(script, effectTask(script)), (result) => check(script, expected, result))
    )
    it.live(`${name} (promise)`, () =>
      Effect.map(run(script, fromFunction(promiseTask(script))), (result) => check(script, expected, result))
    )
  }

  it("names only differences that exist", () => {
    const names = readVectors("task-record").map((vector) => vector["name"])
    for (const name of [...Object.keys(differences), ...elsewhere]) assert.include(names, name)
  })
})
