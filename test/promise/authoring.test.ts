import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { afterEach, expectTypeOf, vi } from "vitest"
import { parseRunFlags } from "../../src/cli/runFlags.js"
import * as Config from "../../src/Config.js"
import type { PromiseTaskContext, SummaryRow, TaskRecord } from "../../src/promise.js"
import * as Promises from "../../src/promise.js"
import * as Scoring from "../../src/Scoring.js"
import { readVectors } from "../support/vectors.js"

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldOf = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined)

/** What a call gives, or what it throws. */
const observe = (call: () => unknown): unknown => {
  try {
    return { value: call() }
  } catch (error) {
    assert.instanceOf(error, Error)
    return { error: { name: error.name, message: error.message } }
  }
}

/** Calls with what a vector holds, whatever its type says: these functions are called from JavaScript, too. */
const call = (callee: (...args: Array<never>) => unknown, ...args: ReadonlyArray<unknown>): unknown =>
  Reflect.apply(callee, undefined, args)

/** Vectors that are no quirks and answered differently all the same; the tests of the modules say why. */
const better: ReadonlySet<unknown> = new Set([
  "scoring null",
  "scoring success null",
  "scoring weights sum 1.01",
  "--stagger-delay-ms exponent"
])

/** What looks accidental, what crashed an engine, and what is better here. */
const isQuirk = (vector: Record<string, unknown>): boolean =>
  vector["quirk"] === true ||
  better.has(vector["name"]) ||
  fieldOf(fieldOf(vector["expected"], "error"), "message") === "<engine>"

// Where we differ on purpose is named in the tests of the modules; here: everything that is no quirk is as the vectors
// have it, and quirks are answered as the modules answer them.

describe("config-issues.json", () => {
  for (const vector of readVectors("config-issues")) {
    it(String(vector["name"]), () => {
      const { config, expected } = vector
      const defined = observe(() => call(Promises.defineBenchmarkConfig, config))
      const collapsed = Either.match(Config.decodeEither(config), {
        onLeft: ({ issues }) => Config.collapseIssues(issues),
        onRight: () => []
      })
      if (collapsed.length === 0) assert.deepStrictEqual(defined, { value: config })
      else assert.strictEqual(fieldOf(fieldOf(defined, "error"), "name"), "BenchmarkConfigError")
      const alone = Promises.validateBenchmarkConfig(config)
      const scored = collapsed.findLastIndex(({ field }) => field === "scoring")
      assert.deepStrictEqual(
        [...alone],
        collapsed.filter((_, i) => i !== scored)
      )
      if (!isQuirk(vector) && fieldOf(expected, "issues") !== undefined) {
        assert.deepStrictEqual<unknown>(collapsed, fieldOf(expected, "issues"))
        const message = fieldOf(expected, "message")
        if (message !== undefined) assert.strictEqual(fieldOf(fieldOf(defined, "error"), "message"), message)
      }
    })
  }
})

describe("cli-args.json", () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  for (const vector of readVectors("cli-args")) {
    it(String(vector["name"]), () => {
      const { allowedCustomFlags, argv, env, expected } = vector
      const noIngest = fieldOf(env, "BENCHSDK_NO_INGEST")
      vi.stubEnv("BENCHSDK_NO_INGEST", typeof noIngest === "string" ? noIngest : undefined)
      const customFlags = Array.isArray(allowedCustomFlags) ? allowedCustomFlags.map(String) : []
      const args = Array.isArray(argv) ? argv.map(String) : []
      const observed = observe(() => Promises.parseCliArgs(args, customFlags))
      const ours = Either.match(
        parseRunFlags(args, { customFlags, noIngestEnv: typeof noIngest === "string" ? noIngest : undefined }),
        { onLeft: ({ message, name }) => ({ error: { name, message } }), onRight: (value) => ({ value }) }
      )
      assert.deepStrictEqual(observed, ours)
      if (isQuirk(vector)) return
      const error = fieldOf(expected, "error")
      if (error === undefined) assert.deepStrictEqual(observed, { value: fieldOf(expected, "args") })
      else assert.strictEqual(fieldOf(fieldOf(observed, "error"), "message"), error)
    })
  }
})

describe("merge-config.json", () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  for (const vector of readVectors("merge-config").filter(({ kind }) => kind === "mergeConfig")) {
    it(String(vector["name"]), () => {
      const { args, config, expected } = vector
      const warned: Array<unknown> = []
      vi.spyOn(console, "warn").mockImplementation((line) => void warned.push(line))
      const observed = observe(() => call(Promises.mergeConfig, config, args))
      assert.deepStrictEqual<unknown>(warned, fieldOf(expected, "warnings"))
      if (isQuirk(vector)) return
      const error = fieldOf(expected, "error")
      if (error !== undefined) {
        assert.strictEqual(fieldOf(fieldOf(observed, "error"), "message"), error)
        return
      }
      const merged = fieldOf(observed, "value")
      const knobs = Object.entries(isObject(merged) ? merged : {}).filter(
        ([key]) => key !== "phases" && key !== "warnings"
      )
      assert.deepStrictEqual<unknown>(Object.fromEntries(knobs), fieldOf(expected, "resolved"))
    })
  }
})

const scripted = (script: Record<string, unknown>): ((record: TaskRecord) => unknown) => {
  const functions: Record<string, (record: TaskRecord) => unknown> = {
    latencyMs: ({ latencyMs }) => latencyMs,
    stepLatencies: ({ steps }) =>
      steps?.filter(({ name }) => name === script["step"]).map(({ latencyMs }) => latencyMs),
    returns: () => script["value"],
    always: () => true,
    never: () => false,
    statusIs: ({ status }) => status === script["status"],
    dataTruthy: ({ data }) => data?.[String(script["key"])]
  }
  return functions[String(script["fn"])] ?? assert.fail(`unknown function ${String(script["fn"])}`)
}

const withFunctions = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withFunctions)
  if (!isObject(value)) return value
  return value["$"] === "fn"
    ? scripted(value)
    : Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withFunctions(field)]))
}

const isRows = (value: unknown): value is ReadonlyArray<SummaryRow> => Array.isArray(value)

const withoutRaw = (value: unknown): unknown =>
  isRows(value) ? value.map((row) => ({ ...row, metrics: row.metrics.map(({ raw: _, ...metric }) => metric) })) : value

describe("scoring.json", () => {
  for (const vector of readVectors("scoring")) {
    it(String(vector["name"]), () => {
      const { dimensions, display, displayMetrics, expected, outcome, scoringConfig } = vector
      const spec =
        scoringConfig === undefined
          ? withFunctions(vector["spec"])
          : call(Promises.scoringConfigToSpec, scoringConfig, dimensions, display)
      const observed = observe(() => call(Promises.score, outcome, spec, displayMetrics))
      assert.isFalse(JSON.stringify(observed).includes("null,null"), "no NaN")
      if (isQuirk(vector)) return
      const error = fieldOf(expected, "error")
      if (error === undefined) {
        assert.deepStrictEqual<unknown>(withoutRaw(fieldOf(observed, "value")), fieldOf(expected, "results"))
      } else {
        assert.deepStrictEqual(fieldOf(observed, "error"), error)
      }
    })
  }
})

describe("scoring-spec-errors.json", () => {
  for (const vector of readVectors("scoring-spec-errors")) {
    it(String(vector["name"]), () => {
      const spec = withFunctions(vector["spec"])
      const observed = observe(() => call(Promises.validateScoringSpec, spec))
      const ours = Either.match(Scoring.validateSpec(spec), {
        onLeft: ({ message, name }) => ({ error: { name, message } }),
        onRight: (value) => ({ value })
      })
      assert.deepStrictEqual(observed, ours)
      if (isQuirk(vector)) return
      assert.deepStrictEqual(fieldOf(observed, "error"), fieldOf(vector["expected"], "error"))
    })
  }
})

describe("defining", () => {
  it("gives back what it is given", () => {
    const task = async () => {}
    assert.strictEqual(Promises.defineTask(task), task)
    const hook = () => {}
    assert.strictEqual(Promises.defineOnComplete(hook), hook)
    const config = { benchmarkSlug: "b", benchmarkName: "B", participants: [{ name: "a" }] }
    assert.strictEqual(Promises.defineBenchmarkConfig(config), config)
  })

  it("rejects what is no function", () => {
    assert.throws(() => call(Promises.defineTask, 3), TypeError, "defineTask requires a task function.")
    assert.throws(() => call(Promises.defineOnComplete, null), TypeError, "defineOnComplete requires a function.")
  })

  it("keeps the version of the surface", () => assert.strictEqual(Promises.BENCHSDK_RUNNER_VERSION, "0.5.2"))
})

describe("TaskError", () => {
  it("says what failed, in which step, after how long, with what was measured", () => {
    const error = new Promises.TaskError("too slow", { code: "E_SLOW", step: "get", timeoutMs: 5, data: { a: 1 } })
    assert.instanceOf(error, Error)
    assert.deepInclude({ ...error, message: error.message }, { message: "too slow", code: "E_SLOW", timeoutMs: 5 })
    assert.strictEqual(
      String(error),
      '[TaskError (E_SLOW)] too slow\n  step: get\n  timeoutMs: 5\n  data: {\n  "a": 1\n}'
    )
    assert.strictEqual(String(new Promises.TaskError("plain")), "[TaskError] plain")
  })
})

describe("participants", () => {
  const [alpha, beta] = [{ name: "alpha" }, { name: "beta", requiredEnvVars: ["BETA_KEY"], tier: 2 }] as const
  const participants: ReadonlyArray<Promises.Participant> = [alpha, beta]

  afterEach(() => {
    vi.unstubAllEnvs()
  })

  it("are selected by name, in their own order", () => {
    assert.deepStrictEqual(Promises.selectParticipants(participants, ["beta", "alpha"]), participants)
    assert.deepStrictEqual(Promises.selectParticipants(participants), participants)
    assert.throws(
      () => Promises.selectParticipants(participants, ["x"]),
      Promises.UnknownParticipantsError,
      "Unknown participant(s): x. Available: alpha, beta"
    )
  })

  it("are set apart by what they lack", () => {
    vi.stubEnv("BETA_KEY", "")
    assert.deepStrictEqual(Promises.filterParticipantsByEnv(participants), {
      available: [alpha],
      skipped: [{ participant: beta, missing: ["BETA_KEY"] }]
    })
    vi.stubEnv("BETA_KEY", "set")
    assert.deepStrictEqual(Promises.filterParticipantsByEnv(participants).skipped, [])
  })

  it("that are all skipped are an error that says what to set", () => {
    const error = new Promises.NoAvailableParticipantsError({ skipped: [{ participant: beta, missing: ["BETA_KEY"] }] })
    assert.match(error.message, /beta: set BETA_KEY/)
  })
})

describe("lowerIsBetter and higherIsBetter", () => {
  it("say in which direction a metric counts", () => {
    const metric = { name: "x", ceiling: 10, weights: { median: 0.5, p95: 0, p99: 0 } }
    const records = [{ taskIndex: 0, status: "success", data: { x: 4 } }]
    const spec = { metrics: [Promises.lowerIsBetter(metric), Promises.higherIsBetter({ ...metric, floor: 2 })] }
    const [row] = Promises.score({ participants: [{ participant: "a", records }] }, spec)
    assert.strictEqual(row?.compositeScore, 0.5 * 60 + 0.5 * 25)
    assert.throws(
      () => Promises.score({ participants: [] }, { metrics: [Promises.lowerIsBetter(metric)] }),
      Promises.ScoringSpecError
    )
  })
})

describe("types", () => {
  it("accept what files of the reference's kind hold", () => {
    interface Provider {
      readonly name: string
      readonly requiredEnvVars: Array<string>
      readonly createClient: () => { get: (key: string) => Promise<string> }
    }
    const providers: Array<Provider> = [
      { name: "a", requiredEnvVars: [], createClient: () => ({ get: async (key) => key }) }
    ]
    const config = Promises.defineBenchmarkConfig({
      benchmarkSlug: "typed",
      benchmarkName: "Typed",
      participants: providers,
      iterations: 3,
      groupBy: "round",
      shapes: { burst: { slug: "typed-burst" } },
      scoring: {
        metrics: [{ key: "ms", unit: "ms", ceiling: 100, weights: { median: 0.6, p95: 0.25, p99: 0.15 } }],
        success: { requireData: { ok: true } }
      },
      display: { metrics: [{ key: "ms", label: "Time", unit: "ms" }], overview: { defaultLayout: "ranking" } },
      onComplete: async ({ participants, runId }) => {
        expectTypeOf(runId).toEqualTypeOf<string | undefined>()
        expectTypeOf(participants[0]?.records[0]?.status).toEqualTypeOf<string | undefined>()
      }
    })
    expectTypeOf(config.participants).toEqualTypeOf<Array<Provider>>()
    expectTypeOf(Promises.runBenchmark).parameter(0).toExtend<object>()
    const run = () => Promises.runBenchmark(config, async () => {}, ["--dry-run"])
    expectTypeOf(run).returns.resolves.toHaveProperty("participants")
  })

  it("know what a step gives", () => {
    const typed = (context: PromiseTaskContext) => {
      const { log, measure, signal, step } = context
      expectTypeOf(step("one", () => 1)).resolves.toEqualTypeOf<number>()
      expectTypeOf(step("one", async () => "x", { timeoutMs: 5 })).resolves.toEqualTypeOf<string>()
      expectTypeOf(step("one", () => 1, { parallelInvocations: 1 })).resolves.toEqualTypeOf<number>()
      expectTypeOf(step("many", async () => 1, { parallelInvocations: 4 })).resolves.toEqualTypeOf<Array<number>>()
      const count: number = 2
      expectTypeOf(step("some", async () => 1, { parallelInvocations: count })).resolves.toEqualTypeOf<
        number | Array<number>
      >()
      expectTypeOf(measure).parameter(0).toExtend<{ readonly [key: string]: unknown }>()
      expectTypeOf(log).parameter(0).toEqualTypeOf<string>()
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
    }
    expectTypeOf(Promises.defineTask(typed)).toEqualTypeOf<typeof typed>()
  })
})
