import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import type { DisplayMetric, ScoringConfig } from "../src/Config.js"
import * as Platform from "../src/Platform.js"
import type { ParticipantRecords, TaskRecord } from "../src/Record.js"
import * as Scoring from "../src/Scoring.js"
import { readVectors } from "./support/vectors.js"

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

// -----------------------------------------------------------------------------
// where we differ from the reference on purpose
// -----------------------------------------------------------------------------

interface Deviation {
  readonly reason: string
  /** What we do instead: the issues of a `ScoringSpecError`, no error at all, or this composite score. */
  readonly instead: ReadonlyArray<string> | "accepted" | { readonly compositeScore: number }
}

const outsideTrim = (trim: string): Deviation => ({
  reason: "a trim below 0 drops nothing without saying so",
  instead: [`metrics[0].trim: must be a number from 0 (got ${trim})`]
})

const edge = (compositeScore: number): Deviation => ({
  reason: "the documented tolerance includes 0.99 and 1.01",
  instead: { compositeScore }
})

const scoringDeviations: Readonly<Record<string, Deviation>> = {
  "trim negative is no trim": outsideTrim("-0.3"),
  "trim NaN is no trim": outsideTrim("NaN"),
  "higher-better: floor above ceiling is a step function": {
    reason: "there is no scale between a floor and a lower ceiling",
    instead: ["metrics[0].floor: must be below the ceiling (got 70)"]
  },
  "higher-better: floor equals ceiling": {
    reason: "the scale between floor and ceiling is empty",
    instead: ["metrics[0].floor: must be below the ceiling (got 10)"]
  },
  "lower-better: negative samples score above 100": {
    reason: "scores are from 0 to 100; which samples come is not known when the spec is checked",
    instead: { compositeScore: 100 }
  },
  "lower-better: ceiling 0 with positive samples": {
    reason: "the score divides by the ceiling",
    instead: ["metrics[0].ceiling: must be a positive finite number (got 0)"]
  },
  "lower-better: ceiling 0 with zero samples gives NaN": {
    reason: "the score divides by the ceiling",
    instead: ["metrics[0].ceiling: must be a positive finite number (got 0)"]
  },
  "lower-better: negative ceiling": {
    reason: "scores above 100",
    instead: ["metrics[0].ceiling: must be a positive finite number (got -10)"]
  },
  "higherIsBetter truthy string counts as higher-better": {
    reason: `"no" would turn the score upside down`,
    instead: [`metrics[0].higherIsBetter: must be true or false (got "no")`]
  },
  "metric value empty string looks up the empty key": {
    reason: "an empty key is a slip, and a benchmark config refuses it too",
    instead: [`metrics[0].value: must be a non-empty string or a function (got "")`]
  },
  "weights sum 1.01 rejected by floating error": edge(90.9),
  "weights sum 0.99 rejected by floating error": edge(89.1),
  "negative weight accepted when the sum is 1": {
    reason: "a negative weight rewards being slow and allows scores above 100",
    instead: [
      "metrics[0].weights.p95: must not be negative (got -0.25)",
      "metrics[0].weights.p99: must not be negative (got -0.25)"
    ]
  },
  "NaN weight slips through and poisons the composite": {
    reason: "a row may not hold NaN",
    instead: ["metrics[0].weights.median: must be a finite number (got NaN)"]
  },
  "missing p99 weight slips through": {
    reason: "a row may not hold NaN",
    instead: ["metrics[0].weights.p99: must be a finite number (got undefined)"]
  }
}

const specDeviations: Readonly<Record<string, Deviation>> = {
  "sum 1.01": { reason: "the documented tolerance includes 1.01", instead: "accepted" },
  "sum 0.99": { reason: "the documented tolerance includes 0.99", instead: "accepted" },
  "at the edge: refused here, accepted by the config check": {
    reason: "the documented tolerance includes 0.99",
    instead: "accepted"
  },
  "negative weights summing to 1": {
    reason: "a negative weight rewards being slow and allows scores above 100",
    instead: [
      "metrics[0].weights.p95: must not be negative (got -0.5)",
      "metrics[0].weights.p99: must not be negative (got -0.5)"
    ]
  },
  "NaN weight": {
    reason: "makes the score NaN",
    instead: ["metrics[0].weights.median: must be a finite number (got NaN)"]
  },
  "missing p95 key": {
    reason: "makes the score NaN",
    instead: ["metrics[0].weights.p95: must be a finite number (got undefined)"]
  },
  "string weight turns the sum into text": {
    reason: "text is not a weight",
    instead: [`metrics[0].weights.median: must be a finite number (got "0.5")`]
  },
  "string weights that concatenate to a number far from 1": {
    reason: "text is not a weight; the reference crashes",
    instead: [
      `metrics[0].weights.median: must be a finite number (got "5")`,
      `metrics[0].weights.p95: must be a finite number (got "0")`,
      `metrics[0].weights.p99: must be a finite number (got "0")`
    ]
  },
  "weights object missing": {
    reason: "the reference crashes",
    instead: ["metrics[0].weights: must be an object (got undefined)"]
  },
  "metrics missing": { reason: "the reference crashes", instead: ["metrics: must be an array (got undefined)"] },
  "metrics null": { reason: "the reference crashes", instead: ["metrics: must be an array (got null)"] },
  "null metric entry": { reason: "the reference crashes", instead: ["metrics[0]: must be an object (got null)"] }
}

// -----------------------------------------------------------------------------
// reading vectors
// -----------------------------------------------------------------------------

const scriptedFunction = (script: Record<string, unknown>): ((record: TaskRecord) => unknown) => {
  switch (script["fn"]) {
    case "latencyMs":
      return (record) => record.latencyMs
    case "stepLatencies":
      return (record) => record.steps?.filter(({ name }) => name === script["step"]).map(({ latencyMs }) => latencyMs)
    case "returns":
      return () => script["value"]
    case "always":
      return () => true
    case "never":
      return () => false
    case "statusIs":
      return (record) => record.status === script["status"]
    case "dataTruthy":
      return (record) => record.data?.[String(script["key"])]
    default:
      throw new Error(`unknown function in a vector: ${String(script["fn"])}`)
  }
}

const withFunctions = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withFunctions)
  if (!isObject(value)) return value
  return value["$"] === "fn"
    ? scriptedFunction(value)
    : Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withFunctions(field)]))
}

const withoutUndefined = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => (field === undefined ? [] : [[key, withoutUndefined(field)]]))
  )
}

interface Outcome {
  readonly participants: ReadonlyArray<ParticipantRecords>
}
const isOutcome = (value: unknown): value is Outcome => isObject(value) && Array.isArray(value["participants"])
const isScoringConfig = (value: unknown): value is ScoringConfig => isObject(value) && Array.isArray(value["metrics"])
const isMetricList = (value: unknown): value is ReadonlyArray<DisplayMetric> => Array.isArray(value)
const isDisplay = (value: unknown): value is { readonly metrics?: ReadonlyArray<DisplayMetric> } => isObject(value)

const need = <A>(value: unknown, is: (value: unknown) => value is A): A => {
  if (!is(value)) throw new Error(`unexpected shape in a vector: ${JSON.stringify(value)}`)
  return value
}

const whenPresent = <A>(value: unknown, is: (value: unknown) => value is A): A | undefined =>
  value === undefined ? undefined : need(value, is)

const withoutRaw = (rows: ReadonlyArray<Platform.SummaryRow>) =>
  rows.map((row) => ({ ...row, metrics: row.metrics.map(({ raw: _, ...metric }) => metric) }))

const observe = (result: Either.Either<ReadonlyArray<Platform.SummaryRow>, Scoring.ScoringSpecError>) =>
  Either.match(result, {
    onLeft: ({ message, name }) => ({ error: { name, message } }),
    onRight: (rows) => ({ results: withoutRaw(rows) })
  })

const issueLines = (lines: ReadonlyArray<string>) =>
  ["Invalid scoring spec:", ...lines.map((line) => `  - ${line}`)].join("\n")

const assertOnlyNumbersAreFinite = (rows: ReadonlyArray<Platform.SummaryRow>) => {
  assert.isTrue(Schema.is(Schema.Array(Platform.SummaryRow))(rows))
  for (const row of rows) {
    assert.isTrue(row.compositeScore >= 0 && row.compositeScore <= 100, `score ${row.compositeScore}`)
    assert.isTrue(row.successRate >= 0 && row.successRate <= 1, `success rate ${row.successRate}`)
    for (const { median, p95, p99, raw } of row.metrics) {
      assert.isOk(raw)
      for (const value of [median, p95, p99, ...Object.values<number>({ ...raw })]) {
        assert.isTrue(Number.isFinite(value))
      }
    }
  }
}

// -----------------------------------------------------------------------------

describe("scoring.json", () => {
  const cases = readVectors("scoring")

  const run = (vector: Record<string, unknown>) => {
    const spec =
      vector["scoringConfig"] === undefined
        ? withFunctions(vector["spec"])
        : Scoring.scoringConfigToSpec(
            need(vector["scoringConfig"], isScoringConfig),
            whenPresent(vector["dimensions"], isObject),
            whenPresent(vector["display"], isDisplay)
          )
    const result = Either.flatMap(Scoring.validateSpec(spec), (valid) =>
      Scoring.score(need(vector["outcome"], isOutcome), valid, whenPresent(vector["displayMetrics"], isMetricList))
    )
    if (Either.isRight(result)) assertOnlyNumbersAreFinite(result.right)
    return { spec, result }
  }

  for (const vector of cases) {
    const name = String(vector["name"])
    const expected = need(vector["expected"], isObject)
    const deviation = scoringDeviations[name]
    if (deviation !== undefined) {
      it(`${name}: differs, since ${deviation.reason}`, () => {
        const observed = observe(run(vector).result)
        assert.notDeepEqual<unknown>(observed, expected)
        if (Array.isArray(deviation.instead)) {
          assert.deepStrictEqual(observed, {
            error: { name: "ScoringSpecError", message: issueLines(deviation.instead) }
          })
        } else {
          const [row] = "results" in observed ? observed.results : []
          assert.deepStrictEqual<unknown>({ compositeScore: row?.compositeScore }, deviation.instead)
        }
      })
      continue
    }
    it(name, () => {
      const { result, spec } = run(vector)
      const { hasSuccess, spec: expectedSpec, ...rest } = expected
      assert.deepStrictEqual<unknown>(observe(result), rest)
      if (expectedSpec !== undefined) {
        const { success, ...fields } = need(spec, isObject)
        assert.deepStrictEqual(withoutUndefined(fields), expectedSpec)
        assert.strictEqual(success !== undefined, hasSuccess)
      }
    })
  }

  it("every exception names a vector", () => {
    const names = cases.map(({ name }) => name)
    assert.deepStrictEqual(
      Object.keys(scoringDeviations).filter((name) => !names.includes(name)),
      []
    )
  })
})

describe("scoring-spec-errors.json", () => {
  const cases = readVectors("scoring-spec-errors")

  const run = (vector: Record<string, unknown>) =>
    Either.match(Scoring.validateSpec(vector["spec"]), {
      onLeft: ({ message, name }) => ({ error: { name, message } }),
      onRight: () => ({ ok: true })
    })

  for (const vector of cases) {
    const name = String(vector["name"])
    const deviation = specDeviations[name]
    if (deviation === undefined) {
      it(name, () => assert.deepStrictEqual<unknown>(run(vector), vector["expected"]))
    } else {
      it(`${name}: differs, since ${deviation.reason}`, () => {
        const observed = run(vector)
        assert.notDeepEqual<unknown>(observed, vector["expected"])
        assert.deepStrictEqual(
          observed,
          Array.isArray(deviation.instead)
            ? { error: { name: "ScoringSpecError", message: issueLines(deviation.instead) } }
            : { ok: true }
        )
      })
    }
  }

  it("every exception names a vector", () => {
    const names = cases.map(({ name }) => name)
    assert.deepStrictEqual(
      Object.keys(specDeviations).filter((name) => !names.includes(name)),
      []
    )
  })
})

const weights = { median: 0.6, p95: 0.3, p99: 0.1 }
const latency: Scoring.MetricSpec = { name: "ms", ceiling: 200, weights }

const success = (taskIndex: number, data: Record<string, unknown>): TaskRecord => ({
  taskIndex,
  status: "success",
  data
})

const refusal = (spec: unknown): ReadonlyArray<string> =>
  Either.match(Scoring.validateSpec(spec), {
    onLeft: ({ issues }) => issues.map(({ field, message }) => `${field}: ${message}`),
    onRight: () => []
  })

describe("validateSpec", () => {
  it("reports every issue at once", () => {
    const metric = { name: " ", value: 3, unit: 4, ceiling: "9", floor: Infinity, higherIsBetter: 1, trim: -0.5 }
    assert.deepStrictEqual(refusal({ metrics: [{ ...metric, weights }], dimensions: [], groupBy: 1, success: true }), [
      `metrics[0].name: must be a non-empty string (got " ")`,
      "metrics[0].value: must be a non-empty string or a function (got 3)",
      "metrics[0].unit: must be a string (got 4)",
      "metrics[0].floor: must be a finite number (got Infinity)",
      `metrics[0].ceiling: must be a positive finite number (got "9")`,
      "metrics[0].higherIsBetter: must be true or false (got 1)",
      "metrics[0].trim: must be a number from 0 (got -0.5)",
      "dimensions: must be an object (got array)",
      "groupBy: must be a string (got 1)",
      "success: must be a function (got true)"
    ])
  })

  it("refuses a scale too wide to divide by", () => {
    assert.deepStrictEqual(
      refusal({ metrics: [{ ...latency, ceiling: 1e308, floor: -1e308, higherIsBetter: true }] }),
      [`metrics[0].floor: must be within ${Number.MAX_VALUE} of the ceiling (got -1e+308)`]
    )
  })

  it("answers for hostile values", () => {
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    const hostile: ReadonlyArray<unknown> = [
      undefined,
      null,
      7n,
      Symbol("spec"),
      "spec",
      [],
      () => undefined,
      revoked.proxy,
      { metrics: { length: 1 } },
      { metrics: new Array(2) },
      { metrics: [Object.create(null)] },
      { metrics: [{ name: Object.create(null), weights: { median: 0, p95: 0, p99: 0 } }] },
      { metrics: [{ ...latency, weights: { median: 1n, p95: 0, p99: 0 } }] },
      {
        get metrics(): never {
          throw new Error("no metrics today")
        }
      },
      {
        metrics: [latency],
        dimensions: {
          get zone(): never {
            throw new Error("no zone today")
          }
        }
      }
    ]
    for (const spec of hostile) {
      const error = Either.getOrThrow(Either.flip(Scoring.validateSpec(spec)))
      assert.strictEqual(error._tag, "ScoringSpecError")
      assert.isNotEmpty(error.message)
    }
  })

  it("reads null options as absent", () => {
    const spec = {
      metrics: [{ ...latency, value: null, unit: null, floor: null, higherIsBetter: null, trim: null }],
      dimensions: null,
      groupBy: null,
      success: null
    }
    assert.deepStrictEqual(Scoring.validateSpec(spec), Either.right({ metrics: [latency] }))
  })
})

describe("score", () => {
  it("shows raw statistics beside the trimmed ones it scores", () => {
    const records = Array.from({ length: 100 }, (_, index) => success(index, { ms: index + 1 }))
    const [row] = Either.getOrThrow(
      Scoring.score({ participants: [{ participant: "alpha", records }] }, { metrics: [latency] })
    )
    assert.deepStrictEqual(row?.metrics, [
      {
        name: "ms",
        unit: "",
        median: 50.5,
        p95: 91,
        p99: 95,
        raw: { count: 100, min: 1, median: 50.5, p95: 95, p99: 99, max: 100 }
      }
    ])
    // 0.6 × (1 - 50.5/200) + 0.3 × (1 - 91/200) + 0.1 × (1 - 95/200)
    assert.strictEqual(row?.compositeScore, 66.45)
  })

  it("stays at 100 when the weights sum to 1.01", () => {
    const spec: Scoring.ScoringSpec = { metrics: [{ ...latency, weights: { median: 0.51, p95: 0.25, p99: 0.25 } }] }
    const outcome = { participants: [{ participant: "alpha", records: [success(0, { ms: 0 })] }] }
    assert.strictEqual(Either.getOrThrow(Scoring.score(outcome, spec))[0]?.compositeScore, 100)
  })

  it("does not read inherited properties", () => {
    const spec: Scoring.ScoringSpec = { metrics: [{ ...latency, value: "length" }], groupBy: "toString" }
    const outcome = { participants: [{ participant: "alpha", records: [success(0, {})] }] }
    assert.deepStrictEqual(
      Either.getOrThrow(Scoring.score(outcome, spec)).map(({ dimensions, metrics }) => ({ dimensions, metrics })),
      [
        { dimensions: {}, metrics: [] },
        { dimensions: {}, metrics: [] }
      ]
    )
  })

  it("groups by values that JSON cannot hold", () => {
    const cyclic: Record<string, unknown> = {}
    cyclic["self"] = cyclic
    const spec: Scoring.ScoringSpec = { metrics: [latency], groupBy: "by", dimensions: { big: 3n } }
    const records = [success(0, { by: 1n }), success(1, { by: "1" }), success(2, { by: cyclic })]
    const rows = Either.getOrThrow(Scoring.score({ participants: [{ participant: "alpha", records }] }, spec))
    assert.deepStrictEqual(
      rows.map(({ dimensions }) => dimensions),
      [{ big: "3" }, { big: "3", by: "1" }, { big: "3", by: "[object Object]" }]
    )
  })

  it("fails with the exception of a function in the spec", () => {
    const outcome = { participants: [{ participant: "alpha", records: [success(3, {})] }] }
    const boom = new Error("boom")
    const broken = () => {
      throw boom
    }
    const value = Either.flip(Scoring.score(outcome, { metrics: [{ ...latency, value: broken }] }))
    const predicate = Either.flip(Scoring.score(outcome, { metrics: [latency], success: broken }))
    assert.strictEqual(
      Either.getOrThrow(value).message,
      issueLines([`metrics[0].value: threw on task 3 of participant "alpha": boom`])
    )
    assert.strictEqual(
      Either.getOrThrow(predicate).message,
      issueLines([`success: threw on task 3 of participant "alpha": boom`])
    )
    assert.strictEqual(Either.getOrThrow(value).cause, boom)
  })

  it.prop(
    "never leaves 0 to 100, whatever the samples",
    {
      samples: FastCheck.array(
        FastCheck.oneof(
          FastCheck.double(),
          FastCheck.array(FastCheck.double(), { maxLength: 3 }),
          FastCheck.constantFrom<unknown>(null, "7", true)
        ),
        { maxLength: 40 }
      ),
      ceiling: FastCheck.double({ min: 0, minExcluded: true, noNaN: true, noDefaultInfinity: true }),
      higher: FastCheck.boolean(),
      trim: FastCheck.double({ min: 0, max: 1, noNaN: true })
    },
    ({ ceiling, higher, samples, trim }) => {
      const spec: Scoring.ScoringSpec = { metrics: [{ ...latency, ceiling, higherIsBetter: higher, trim }] }
      const records = samples.map((ms, index) => success(index, { ms }))
      assertOnlyNumbersAreFinite(
        Either.getOrThrow(Scoring.score({ participants: [{ participant: "alpha", records }] }, spec))
      )
    }
  )
})

describe("accumulator", () => {
  const spec: Scoring.ScoringSpec = { metrics: [latency], groupBy: "kind" }
  const alpha = [success(0, { ms: 10, kind: "read" }), success(1, { ms: 30, kind: "write" })]
  const beta = [success(0, { ms: 20, kind: "read" })]

  it("does not depend on how participants interleave", () => {
    const { add, rows } = Either.getOrThrow(Scoring.accumulator(spec))
    const [first, second] = alpha
    if (first !== undefined) add("alpha", first)
    for (const record of beta) add("beta", record)
    if (second !== undefined) add("alpha", second)
    assert.deepStrictEqual(
      Either.right(rows(["alpha", "beta"])),
      Scoring.score(
        {
          participants: [
            { participant: "alpha", records: alpha },
            { participant: "beta", records: beta }
          ]
        },
        spec
      )
    )
  })

  it("gives rows while records still come", () => {
    const { add, rows } = Either.getOrThrow(Scoring.accumulator({ metrics: [latency] }))
    const medians = alpha.map((record) => {
      add("alpha", record)
      return rows(["alpha"])[0]?.metrics[0]?.median
    })
    assert.deepStrictEqual(medians, [10, 20])
  })

  it("skips participants without records and leaves out others", () => {
    const { add, rows } = Either.getOrThrow(Scoring.accumulator(spec))
    for (const record of beta) add("beta", record)
    assert.deepStrictEqual(rows(["gamma"]), [
      { provider: "gamma", dimensions: {}, metrics: [], compositeScore: 0, successRate: 0, skipped: true }
    ])
  })

  it("keeps counting after a function threw", () => {
    const { add, failure, rows } = Either.getOrThrow(
      Scoring.accumulator({
        metrics: [latency],
        success: (record) => {
          if (record.taskIndex === 0) throw new Error("not the first")
          return true
        }
      })
    )
    assert.isUndefined(failure())
    for (const record of alpha) add("alpha", record)
    assert.strictEqual(rows(["alpha"])[0]?.successRate, 0.5)
    assert.match(failure()?.message ?? "", /threw on task 0 of participant "alpha": not the first/)
  })
})

describe("constructors", () => {
  it("lowerIsBetter and higherIsBetter set the direction", () => {
    assert.deepStrictEqual(Scoring.lowerIsBetter(latency), { ...latency, higherIsBetter: false })
    assert.deepStrictEqual(Scoring.higherIsBetter({ ...latency, floor: 5 }), {
      ...latency,
      floor: 5,
      higherIsBetter: true
    })
  })
})
