import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, ParseResult, Schema } from "effect"
import * as Config from "../src/Config.js"
import { readVectors } from "./support/vectors.js"

const Issue = Schema.Struct({ field: Schema.String, message: Schema.String })

const IssueCase = Schema.Struct({
  name: Schema.String,
  config: Schema.Unknown,
  expected: Schema.Struct({ issues: Schema.optional(Schema.Array(Issue)), message: Schema.optional(Schema.String) })
})

const issueCases = Schema.decodeUnknownSync(Schema.Array(IssueCase))(readVectors("config-issues"))

const issuesOf = (input: unknown): ReadonlyArray<Config.ConfigIssue> =>
  Either.match(Config.decodeEither(input), { onLeft: ({ issues }) => issues, onRight: () => [] })

const linesOf = (input: unknown): ReadonlyArray<string> =>
  issuesOf(input).map(({ field, message }) => `${field}: ${message}`)

const valid = { benchmarkSlug: "disk-scan", benchmarkName: "Disk scan", participants: [{ name: "alpha" }] }

const metric = { key: "scan_ms", ceiling: 500, weights: { median: 0.6, p95: 0.3, p99: 0.1 } }

const onScore = () => undefined
const onComplete = () => undefined
const full = {
  ...valid,
  participants: [{ name: "alpha", requiredEnvVars: ["ALPHA_KEY"], tier: 2 }, { name: "beta" }],
  phases: [{ name: "cold", iterations: 2, note: "x" }],
  shapes: { wide: { slug: "disk-scan-wide", staggerDelayMs: 5 } },
  defaultProviders: ["beta"],
  dimensions: { zone: "n1" },
  scoring: { metrics: [metric], success: { requireData: { complete: true } } },
  display: { metrics: [{ key: "scan_ms", label: "Scan" }], overview: { defaultMetric: "compositeScore" } },
  customCliFlags: ["--rows"],
  onScore,
  onComplete,
  task: () => undefined,
  layer: {}
}

/** Vectors that we answer differently: why, and our issues as "field: message". */
const deviations: Record<string, { readonly reason: string; readonly ours: ReadonlyArray<string> }> = {
  "config null throws": {
    reason: "an engine error tells nobody what is missing",
    ours: ["benchmarkSlug: is required", "benchmarkName: is required", "participants: must be a non-empty array"]
  },
  "config undefined throws": {
    reason: "an engine error tells nobody what is missing",
    ours: ["benchmarkSlug: is required", "benchmarkName: is required", "participants: must be a non-empty array"]
  },
  "benchmarkSlug whitespace only is accepted": {
    reason: "blank slugs are refused",
    ours: ["benchmarkSlug: is required"]
  },
  "benchmarkSlug with capitals, spaces and slash is accepted": {
    reason: "a slug stands in URLs and paths",
    ours: ['benchmarkSlug: needs a lowercase slug (got "Disk Scan/\u00e9")']
  },
  "benchmarkName whitespace only is accepted": {
    reason: "blank names are refused",
    ours: ["benchmarkName: is required"]
  },
  "participant name zero-width space is accepted": {
    reason: "a name that shows nothing is blank",
    ours: ["participants[0].name: must be a non-empty string"]
  },
  "iterations huge integer accepted": {
    reason: "tasks are counted in safe integers",
    ours: ["iterations: must be an integer between 1 and 9007199254740991 (got 1e+300)"]
  },
  "two shapes with the same slug are accepted": {
    reason: "results of two shapes would be mixed under one slug",
    ours: ["shapes['b'].slug: duplicate shape slug: same"]
  },
  "shape bigint slug throws": {
    reason: "no value makes validation throw",
    ours: ["shapes['a'].slug: needs a lowercase slug (got 1n)"]
  },
  "customCliFlags odd but accepted": {
    reason: "these flags could never match an argument",
    ours: [
      'customCliFlags[2]: must not contain "=" or white space (got "--a=b")',
      'customCliFlags[3]: must not contain "=" or white space (got "--a b")'
    ]
  },
  "display metrics decimals 500 accepted": {
    reason: "numbers cannot be printed with more than 100 decimals",
    ours: ["display.metrics[0].decimals: must be at most 100 (got 500)"]
  },
  "display overview defaultMetric anything goes without metrics": {
    reason: "a metric must be declared to be shown",
    ours: [
      "display.overview.defaultMetric: 'whatever' is not declared in display.metrics and is not a known default (compositeScore, task)"
    ]
  },
  "display compositeScore with onScore null": {
    reason: "null scores nothing",
    ours: ["onScore: must be a function (got null)"]
  },
  "scoring null": {
    reason: "an engine message is no help",
    ours: ["scoring.metrics: must be a non-empty array"]
  },
  "scoring success null": {
    reason: "an engine message is no help",
    ours: ["scoring.success.requireData: must be a plain object"]
  },
  "scoring unknown keys accepted": {
    reason: "a misspelt key would change scores silently",
    ours: ["scoring: contains unexpected key: 'extra'", "scoring.metrics[0]: contains unexpected key: 'colour'"]
  },
  "scoring groupBy is not checked": {
    reason: "records are grouped by a key",
    ours: ["scoring.groupBy: must be a non-empty string"]
  },
  "scoring higherIsBetter is not checked": {
    reason: '"maybe" would count as true or false by accident',
    ours: ["scoring.metrics[0].higherIsBetter: must be a boolean (got maybe)"]
  },
  "scoring ceiling zero accepted": {
    reason: "scores are fractions of the ceiling",
    ours: ["scoring.metrics[0].ceiling: must be greater than 0 (got 0)"]
  },
  "scoring ceiling negative accepted": {
    reason: "scores are fractions of the ceiling",
    ours: ["scoring.metrics[0].ceiling: must be greater than 0 (got -5)"]
  },
  "scoring floor above ceiling accepted": {
    reason: "scores run from floor to ceiling",
    ours: ["scoring.metrics[0].floor: must be below the ceiling 500 (got 900)"]
  },
  "scoring weights sum 1.01": { reason: "the tolerance includes 1.01", ours: [] },
  "scoring weights at the edge: refused here, accepted by validateScoringSpec": {
    reason: "the tolerance includes 0.99",
    ours: []
  },
  "scoring trim out of range accepted": {
    reason: "trim is a fraction dropped from each end",
    ours: ["scoring.metrics[0].trim: must be at least 0 and below 0.5 (got -3)"]
  },
  "scoring trim 5 accepted": {
    reason: "trim is a fraction dropped from each end",
    ours: ["scoring.metrics[0].trim: must be at least 0 and below 0.5 (got 5)"]
  }
}

describe("config vectors", () => {
  for (const { config, expected, name } of issueCases) {
    const deviation = deviations[name]
    if (deviation !== undefined) {
      it(`${name}: ${deviation.reason}`, () => {
        assert.deepStrictEqual(linesOf(config), deviation.ours)
        assert.notDeepEqual(Config.collapseIssues(issuesOf(config)), expected.issues)
      })
    } else {
      it(name, () => {
        const issues = Config.collapseIssues(issuesOf(config))
        assert.deepStrictEqual(issues, expected.issues)
        if (expected.message !== undefined) {
          assert.strictEqual(new Config.BenchmarkConfigError({ issues }).message, expected.message)
        }
      })
    }
  }

  it("deviations name existing cases", () => {
    const names = new Set(issueCases.map(({ name }) => name))
    assert.strictEqual(names.size, 311)
    assert.deepStrictEqual(
      Object.keys(deviations).filter((name) => !names.has(name)),
      []
    )
  })
})

describe("issues", () => {
  it("reports fifteen faults as fifteen issues", () => {
    const config = {
      benchmarkSlug: "Disk Scan",
      benchmarkName: " ",
      participants: [{ name: "alpha" }, { name: "" }, { name: "alpha", requiredEnvVars: "KEY" }],
      phases: [{ name: "cold", iterations: 0 }],
      concurrency: 1.5,
      staggerDelayMs: -1,
      groupBy: "rounds",
      defaultProviders: ["alpha", "gamma"],
      shapes: { wide: { slug: "Wide", name: "" } },
      scoring: {
        metrics: [
          { key: "a", ceiling: -1, weights: { median: 1, p95: "x", p99: 0 } },
          { key: "b", ceiling: 2, weights: { median: 0, p95: 0, p99: 0 }, trim: 0.5 }
        ]
      }
    }
    assert.deepStrictEqual(linesOf(config), [
      'benchmarkSlug: needs a lowercase slug (got "Disk Scan")',
      "benchmarkName: is required",
      "participants[1].name: must be a non-empty string",
      "participants[2].name: duplicate participant name: alpha",
      "participants[2].requiredEnvVars: must be an array of strings",
      "phases['cold'].iterations: must be an integer >= 1 (got 0)",
      "concurrency: must be an integer >= 1 (got 1.5)",
      "staggerDelayMs: must be a number >= 0 (got -1)",
      "groupBy: must be 'participant' or 'round' (got rounds)",
      "defaultProviders[1]: unknown participant: gamma. Available: alpha",
      "shapes['wide'].slug: needs a lowercase slug (got \"Wide\")",
      "shapes['wide'].name: must be a non-empty string",
      "scoring.metrics[0].ceiling: must be greater than 0 (got -1)",
      "scoring.metrics[0].weights.p95: must be a finite number (got x)",
      "scoring.metrics[1].trim: must be at least 0 and below 0.5 (got 0.5)"
    ])
  })

  it("reports every problem of display and scoring under its own field", () => {
    const config = {
      ...valid,
      display: {
        metrics: [
          { key: "", label: "", unit: 1 },
          { key: "a", label: "A" },
          { key: "a", label: "A" }
        ],
        steps: [
          { key: "open", label: "Open" },
          { key: "close", label: "Close", order: -1 }
        ],
        overview: { defaultLayout: "table", layout: "cards" }
      },
      scoring: {
        metrics: [{ key: "a", ceiling: 1, weights: { median: 1.2, p95: -0.2, p99: Number.NaN } }],
        groupBy: " "
      }
    }
    assert.deepStrictEqual(linesOf(config), [
      "display.metrics[0].key: must be a non-empty string",
      "display.metrics[0].label: must be a non-empty string",
      "display.metrics[0].unit: must be a string",
      "display.metrics[2].key: duplicate display metric key: a",
      "display.steps[1].order: must be a non-negative integer",
      "display.overview: contains unexpected key: 'layout'",
      "display.overview.defaultLayout: must be 'ranking', 'cards', 'chart', or 'leaderboard'",
      "scoring.metrics[0].weights.p95: must be non-negative (got -0.2)",
      "scoring.metrics[0].weights.p99: must be a finite number (got NaN)",
      "scoring.groupBy: must be a non-empty string"
    ])
  })

  it("names the display metric that a unit conflicts with; the collapsed form names the reference's index", () => {
    const issues = issuesOf({
      ...valid,
      scoring: { metrics: [{ ...metric, unit: "ms" }] },
      display: {
        metrics: [
          { key: "other", label: "O" },
          { key: "scan_ms", label: "S", unit: "s" }
        ]
      }
    })
    assert.deepStrictEqual(issues, [
      {
        field: "scoring.metrics[0].unit",
        message: "'ms' conflicts with display.metrics[1].unit 's' for key 'scan_ms'"
      }
    ])
    assert.deepStrictEqual(Config.collapseIssues(issues), [
      {
        field: "scoring",
        message: "scoring.metrics[0].unit 'ms' conflicts with display.metrics[0].unit 's' for key 'scan_ms'"
      }
    ])
  })

  it("refuses hooks that are no functions", () => {
    assert.deepStrictEqual(linesOf({ ...valid, onComplete: "later", onScore: {} }), [
      "onScore: must be a function (got [object Object])",
      "onComplete: must be a function (got later)"
    ])
  })

  it("refuses dimensions that JSON cannot hold", () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    assert.deepStrictEqual(linesOf({ ...valid, dimensions: { fine: [1, null], zone: 3n, run: () => "x", cycle } }), [
      "dimensions.zone: must be a value that JSON can hold (got a bigint)",
      "dimensions.run: must be a value that JSON can hold (got a function)",
      "dimensions.cycle: must be a value that JSON can hold (TypeError: Converting circular structure to JSON)"
    ])
  })

  it("refuses containers that hold nothing under their keys", () => {
    assert.deepStrictEqual(linesOf({ ...valid, dimensions: new Map([["zone", "n"]]), shapes: new Date(0) }), [
      "shapes: must be a plain object",
      "dimensions: must be a plain object"
    ])
  })

  for (const [weights, accepted] of [
    [{ median: 0.5, p95: 0.39, p99: 0.1 }, true],
    [{ median: 0.61, p95: 0.3, p99: 0.1 }, true],
    [{ median: 0.7, p95: 0.2, p99: 0.11 }, true],
    [{ median: 0.5, p95: 0.39, p99: 0.0999 }, false],
    [{ median: 0.61, p95: 0.3, p99: 0.1001 }, false]
  ] as const) {
    it(`weights ${JSON.stringify(weights)} are ${accepted ? "accepted" : "refused"}`, () => {
      const issues = issuesOf({ ...valid, scoring: { metrics: [{ ...metric, weights }] } })
      assert.deepStrictEqual(
        issues.map(({ field }) => field),
        accepted ? [] : ["scoring"]
      )
    })
  }

  it("shortens long values", () => {
    const [issue] = issuesOf({ ...valid, groupBy: "x".repeat(10_000) })
    assert.strictEqual(issue?.message, `must be 'participant' or 'round' (got ${"x".repeat(200)}\u2026)`)
  })
})

describe("hostile values", () => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const thrower = (): never => {
    throw new Error("boom")
  }
  const cycle: Array<unknown> = []
  cycle.push(cycle)
  const hostile: ReadonlyArray<readonly [string, unknown]> = [
    ["a revoked proxy", revoked.proxy],
    ["a proxy that throws", new Proxy({}, { get: thrower, ownKeys: thrower, getPrototypeOf: thrower, has: thrower })],
    ["an array proxy that throws", new Proxy([1], { get: thrower })],
    ["an endless array", new Proxy([], { get: (_, key) => (key === "length" ? Number.POSITIVE_INFINITY : undefined) })],
    ["an object without prototype", Object.create(null)],
    ["an object whose text throws", { toString: thrower, toJSON: thrower, [Symbol.toPrimitive]: thrower }],
    ["an object whose tag throws", Object.defineProperty({}, Symbol.toStringTag, { get: thrower })],
    [
      "an error that cannot be read",
      Object.defineProperties(new Error(), { message: { get: thrower }, name: { get: thrower } })
    ],
    ["a cycle", cycle],
    ["a symbol", Symbol("s")],
    ["a bigint", 3n],
    ["a function", thrower]
  ]
  const places: ReadonlyArray<readonly [string, (value: unknown) => unknown]> = [
    ["config", (value) => value],
    ["benchmarkSlug", (value) => ({ ...valid, benchmarkSlug: value })],
    ["participants", (value) => ({ ...valid, participants: value })],
    ["participants[0]", (value) => ({ ...valid, participants: [value] })],
    ["participants[0].name", (value) => ({ ...valid, participants: [{ name: value }] })],
    [
      "participants[0].requiredEnvVars",
      (value) => ({ ...valid, participants: [{ name: "a", requiredEnvVars: value }] })
    ],
    ["phases", (value) => ({ ...valid, phases: value })],
    ["phases[0]", (value) => ({ ...valid, phases: [value] })],
    ["phases['cold'].iterations", (value) => ({ ...valid, phases: [{ name: "cold", iterations: value }] })],
    ["concurrency", (value) => ({ ...valid, concurrency: value })],
    ["groupBy", (value) => ({ ...valid, groupBy: value })],
    ["shapes['x']", (value) => ({ ...valid, shapes: { x: value } })],
    ["shapes['x'].slug", (value) => ({ ...valid, shapes: { x: { slug: value } } })],
    ["defaultProviders[0]", (value) => ({ ...valid, defaultProviders: [value] })],
    ["customCliFlags", (value) => ({ ...valid, customCliFlags: value })],
    ["display.metrics", (value) => ({ ...valid, display: { metrics: value } })],
    ["display.metrics[0].key", (value) => ({ ...valid, display: { metrics: [{ key: value, label: "A" }] } })],
    ["display.overview.defaultMetric", (value) => ({ ...valid, display: { overview: { defaultMetric: value } } })],
    ["scoring", (value) => ({ ...valid, scoring: value })],
    ["scoring.metrics[0].weights", (value) => ({ ...valid, scoring: { metrics: [{ ...metric, weights: value }] } })],
    ["scoring.metrics[0].ceiling", (value) => ({ ...valid, scoring: { metrics: [{ ...metric, ceiling: value }] } })],
    ["scoring.success", (value) => ({ ...valid, scoring: { metrics: [metric], success: value } })]
  ]
  for (const [place, make] of places) {
    for (const [what, value] of hostile) {
      it(`${what} as ${place} is an issue`, () => {
        const fields = issuesOf(make(value)).map(({ field }) => field)
        assert.isAbove(fields.length, 0)
        if (place !== "config") {
          const list = place.replace(/\[0\]$/, "")
          assert.deepStrictEqual(
            fields.filter((field) => !field.startsWith(list)),
            []
          )
        }
      })
    }
  }

  it("an object whose keys cannot be listed is an issue", () => {
    const value = new Proxy({}, { ownKeys: thrower })
    assert.deepStrictEqual(linesOf({ ...valid, shapes: value, dimensions: value, display: value }), [
      "shapes: cannot be read (Error: boom)",
      "dimensions: cannot be read (Error: boom)",
      "display: cannot be read (Error: boom)"
    ])
  })

  it("every field is read once, so that what was checked is what is returned", () => {
    const reads: Array<PropertyKey> = []
    const config = new Proxy(full, {
      get: (target, key, receiver) => {
        reads.push(key)
        return Reflect.get(target, key, receiver)
      }
    })
    assert.isTrue(Either.isRight(Config.decodeEither(config)))
    assert.sameMembers(reads, [...new Set(reads)])
    assert.includeMembers(reads, ["benchmarkSlug", "participants", "phases", "scoring", "onScore"])
  })

  it("a getter that throws is one issue", () => {
    const config = {
      ...valid,
      get groupBy(): unknown {
        throw new Error("boom")
      },
      participants: [
        {
          get name(): unknown {
            throw 7
          }
        }
      ]
    }
    assert.deepStrictEqual(linesOf(config), [
      "participants[0].name: cannot be read (7)",
      "groupBy: cannot be read (Error: boom)"
    ])
  })

  it.prop(
    "no value makes decoding throw",
    [FastCheck.anything({ withBigInt: true, withNullPrototype: true })],
    ([any]) => {
      for (const [, make] of places) {
        const once = Config.decodeEither(make(any))
        if (Either.isRight(once)) {
          assert.deepStrictEqual(Config.decodeEither(once.right), once)
        } else {
          assert.isAbove(once.left.issues.length, 0)
        }
      }
    }
  )
})

describe("decoding", () => {
  it.effect("keeps what a config has, participants and hooks by reference", () =>
    Effect.gen(function* () {
      const config = yield* Config.decode(full)
      const { layer: _, task: __, ...known } = full
      assert.deepStrictEqual(config, { ...known, phases: [{ name: "cold", iterations: 2 }] })
      assert.strictEqual(config.participants[0], full.participants[0])
      assert.strictEqual(config.onScore, onScore)
      assert.strictEqual(config.onComplete, onComplete)
    })
  )

  it("copies what it checked", () => {
    const phases = [{ name: "cold", iterations: 2 }]
    const config = Either.getOrThrow(Config.decodeEither({ ...valid, phases }))
    phases.push({ name: "cold", iterations: -1 })
    assert.deepStrictEqual(config.phases, [{ name: "cold", iterations: 2 }])
  })

  it("keeps a shape named __proto__", () => {
    const shapes: unknown = JSON.parse('{"__proto__":{"slug":"odd"}}')
    const config = Either.getOrThrow(Config.decodeEither({ ...valid, shapes }))
    assert.deepStrictEqual(Either.getOrThrow(Config.resolveShape(config, "__proto__")), { slug: "odd" })
  })

  it.effect("fails with one error that lists the fields", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Config.decode({ ...valid, benchmarkSlug: "", concurrency: 0 }))
      assert.strictEqual(error._tag, "BenchmarkConfigError")
      assert.strictEqual(
        error.message,
        "Invalid benchmark config:\n" +
          "  - benchmarkSlug: is required\n" +
          "  - concurrency: must be an integer >= 1 (got 0)\n" +
          "\n" +
          "Fix the fields above and try again."
      )
    })
  )

  it("the schema reports every issue under its path", () => {
    const result = Schema.decodeUnknownEither(Config.BenchmarkConfig)({
      ...valid,
      phases: [{ name: "cold", iterations: 0 }],
      shapes: { wide: { slug: "Wide" } }
    })
    assert.isTrue(Either.isLeft(result))
    if (Either.isLeft(result)) {
      assert.deepStrictEqual(
        ParseResult.ArrayFormatter.formatErrorSync(result.left).map(({ message, path }) => ({ message, path })),
        [
          { path: ["phases", 0, "iterations"], message: "must be an integer >= 1 (got 0)" },
          { path: ["shapes", "wide", "slug"], message: 'needs a lowercase slug (got "Wide")' }
        ]
      )
    }
  })

  it("the schema accepts what decoding accepts", () => {
    assert.deepStrictEqual(
      Schema.decodeUnknownSync(Config.BenchmarkConfig)(full),
      Either.getOrThrow(Config.decodeEither(full))
    )
  })
})
