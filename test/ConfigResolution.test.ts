import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Either, FastCheck, Predicate, Schema } from "effect"
import * as Config from "../src/Config.js"
import * as RunMetadata from "../src/RunMetadata.js"
import { readVectors } from "./support/vectors.js"

/** Configs and arguments as the vectors have them: some are not what their types say. */
const Unchecked = Schema.declare((value): value is Config.BenchmarkConfig => Predicate.isRecord(value))
const UncheckedSettings = Schema.declare((value): value is Config.Overrides => Predicate.isRecord(value))

const Environment = Schema.Record({ key: Schema.String, value: Schema.String })

const MergeCase = Schema.Struct({
  kind: Schema.Literal("mergeConfig"),
  name: Schema.String,
  config: Unchecked,
  args: UncheckedSettings,
  expected: Schema.Struct({
    resolved: Schema.optional(Schema.Unknown),
    error: Schema.optional(Schema.String),
    warnings: Schema.Array(Schema.String),
    schedule: Schema.optional(
      Schema.Struct({
        length: Schema.Int,
        phases: Schema.optional(
          Schema.Union(
            Schema.Array(Schema.String),
            Schema.Struct({ runs: Schema.Array(Schema.Tuple(Schema.String, Schema.Int)) })
          )
        )
      })
    )
  })
})

const ShapeCase = Schema.Struct({
  kind: Schema.Literal("resolveShape"),
  name: Schema.String,
  config: Unchecked,
  shape: Schema.UndefinedOr(Schema.String),
  expected: Schema.Struct({ shape: Schema.optional(Schema.Unknown), error: Schema.optional(Schema.String) })
})

const IdentityCase = Schema.Struct({
  kind: Schema.Literal("applyIdentity"),
  name: Schema.String,
  config: Unchecked,
  args: UncheckedSettings,
  expected: Schema.Struct({
    identity: Schema.optional(Schema.Unknown),
    resolved: Schema.optional(Schema.Unknown),
    identityIsOurs: Schema.optional(Schema.Boolean),
    shapesKept: Schema.optional(Schema.Boolean),
    error: Schema.optional(Schema.String)
  })
})

const RunConfigCase = Schema.Struct({
  kind: Schema.Literal("runConfigToJson"),
  name: Schema.String,
  config: Unchecked,
  args: UncheckedSettings,
  participants: Schema.Array(Schema.String),
  env: Environment,
  expected: Schema.Struct({ runConfig: Schema.optional(Schema.Unknown), error: Schema.optional(Schema.String) })
})

const TriggerCase = Schema.Struct({ kind: Schema.Literal("trigger"), name: Schema.String })

const cases = Schema.decodeUnknownSync(
  Schema.Array(Schema.Union(MergeCase, ShapeCase, IdentityCase, RunConfigCase, TriggerCase))
)(readVectors("merge-config"))

/** Vectors that we answer differently: why, and the error that we give instead. */
const deviations: Record<string, { readonly reason: string; readonly error: string }> = {
  "empty providers list is kept": {
    reason: "asking for no participant is a mistake, such as an unset variable",
    error: "providers must name at least one participant"
  },
  "fractional phases summing to an integer": {
    reason: "the schedule would be shorter than the total",
    error: "phases['cold'].iterations must be an integer >= 1 (got 1.5)"
  },
  "staggerDelayMs and groupBy are not re-checked": {
    reason: "a negative delay cannot be waited for",
    error: "staggerDelayMs must be a number >= 0 (got -5)"
  },
  "shape named like an inherited property": {
    reason: "inherited properties are no shapes",
    error: 'Unknown --shape "constructor". Known shapes: burst, trickle, plain.'
  },
  "identity: inherited property as shape": {
    reason: "inherited properties are no shapes",
    error: 'Unknown --shape "constructor". Known shapes: burst, trickle, plain.'
  }
}

const outcome = <A>(result: Either.Either<A, Config.ConfigResolutionError>) =>
  Either.match(result, { onLeft: ({ message }) => ({ error: message }), onRight: (value) => ({ value }) })

/** The part of a merged config that the vectors compare. */
const knobs = ({ phases: _, warnings: __, ...rest }: Config.MergedConfig) => rest

const expand = (phases: typeof MergeCase.Type.expected.schedule): ReadonlyArray<string | undefined> => {
  const names = phases?.phases
  if (names === undefined) {
    return Array.from({ length: phases?.length ?? 0 }, () => undefined)
  }
  return "runs" in names ? names.runs.flatMap(([name, count]) => Array.from({ length: count }, () => name)) : names
}

describe("mergeConfig vectors", () => {
  for (const item of cases) {
    if (item.kind !== "mergeConfig") continue
    const { args, config, expected, name } = item
    const deviation = deviations[name]
    it(deviation === undefined ? name : `${name}: ${deviation.reason}`, () => {
      const merged = Config.mergeConfig(config, args)
      if (deviation !== undefined || expected.error !== undefined) {
        assert.isTrue(Either.isLeft(merged))
        if (Either.isLeft(merged)) {
          assert.strictEqual(merged.left.message, deviation?.error ?? expected.error)
          assert.deepStrictEqual(merged.left.warnings, expected.warnings)
        }
        return
      }
      const value = Either.getOrThrow(merged)
      const slots = expand(expected.schedule)
      assert.deepStrictEqual(knobs(value), expected.resolved)
      assert.deepStrictEqual(value.warnings, expected.warnings)
      assert.strictEqual(value.iterations, expected.schedule?.length)
      assert.deepStrictEqual(
        slots.map((_, index) => Config.phaseAt(value, index)),
        slots
      )
      assert.isUndefined(Config.phaseAt(value, slots.length))
    })
  }
})

describe("resolveShape vectors", () => {
  for (const item of cases) {
    if (item.kind !== "resolveShape") continue
    const { config, expected, name, shape } = item
    const deviation = deviations[name]
    it(deviation === undefined ? name : `${name}: ${deviation.reason}`, () => {
      const error = deviation?.error ?? expected.error
      assert.deepStrictEqual(
        outcome(Config.resolveShape(config, shape)),
        error === undefined ? { value: expected.shape } : { error }
      )
    })
  }
})

describe("applyIdentity vectors", () => {
  for (const item of cases) {
    if (item.kind !== "applyIdentity") continue
    const { args, config, expected, name } = item
    const deviation = deviations[name]
    it(deviation === undefined ? name : `${name}: ${deviation.reason}`, () => {
      const error = deviation?.error ?? expected.error
      const resolved = Config.resolve(config, args)
      if (error !== undefined) {
        assert.deepStrictEqual(outcome(resolved), { error })
        return
      }
      const value = Either.getOrThrow(resolved)
      const { benchmarkName, benchmarkSlug, staggerDelayMs } = value.config
      assert.deepStrictEqual({ benchmarkSlug, benchmarkName, staggerDelayMs }, expected.identity)
      assert.deepStrictEqual([value.benchmarkSlug, value.benchmarkName], [benchmarkSlug, benchmarkName])
      assert.strictEqual(value.identityIsOurs, expected.identityIsOurs)
      assert.strictEqual(value.config.shapes === config.shapes, expected.shapesKept)
      assert.deepStrictEqual(knobs(Either.getOrThrow(Config.mergeConfig(value.config, args))), expected.resolved)
    })
  }
})

describe("runConfigToJson vectors", () => {
  for (const item of cases) {
    if (item.kind !== "runConfigToJson") continue
    const { args, config, env, expected, name, participants } = item
    it.effect(name, () =>
      Effect.gen(function* () {
        const trigger = yield* Effect.withConfigProvider(
          RunMetadata.trigger,
          ConfigProvider.fromMap(new Map(Object.entries(env)))
        )
        const runConfig = Either.map(Config.resolve(config, args), (resolved) =>
          Config.runConfigToJson(resolved, participants, trigger)
        )
        assert.deepStrictEqual(
          outcome(runConfig),
          expected.error === undefined ? { value: expected.runConfig } : { error: expected.error }
        )
      })
    )
  }
})

describe("deviations", () => {
  it("name existing cases", () => {
    const names = new Set(cases.map(({ name }) => name))
    assert.strictEqual(cases.length, 80)
    assert.deepStrictEqual(
      Object.keys(deviations).filter((name) => !names.has(name)),
      []
    )
  })
})

describe("resolve", () => {
  const config: Config.BenchmarkConfig = {
    benchmarkSlug: "net-echo",
    benchmarkName: "Net echo",
    participants: [{ name: "alpha" }, { name: "beta" }],
    iterations: 2,
    concurrency: 2,
    staggerDelayMs: 2,
    groupBy: "round",
    defaultProviders: ["alpha"],
    shapes: { burst: { slug: "net-echo-burst", name: "Burst", staggerDelayMs: 7 }, slow: { slug: "net-echo-slow" } }
  }
  const project: Config.ProjectDefaults = {
    benchmark: "project-slug",
    name: "Project",
    shape: "slow",
    runKey: "project-key",
    iterations: 3,
    concurrency: 3,
    staggerDelayMs: 3,
    groupBy: "participant",
    providers: ["beta"],
    dryRun: true
  }
  const resolved = (overrides?: Config.Overrides, defaults?: Config.ProjectDefaults) =>
    Either.getOrThrow(Config.resolve(config, overrides, defaults))
  const errorOf = (overrides: Config.Overrides, of: Config.BenchmarkConfig = config) =>
    Either.getOrThrow(Either.flip(Config.resolve(of, overrides)))

  it("takes the file where nothing else speaks", () => {
    assert.deepStrictEqual(resolved(), {
      config,
      benchmarkSlug: "net-echo",
      benchmarkName: "Net echo",
      iterations: 2,
      concurrency: 2,
      staggerDelayMs: 2,
      groupBy: "round",
      providers: ["alpha"],
      dryRun: false,
      identityIsOurs: true,
      warnings: []
    })
  })

  it("project settings beat the file", () => {
    assert.deepStrictEqual(resolved({}, project), {
      config: { ...config, benchmarkSlug: "project-slug", benchmarkName: "Project" },
      benchmarkSlug: "project-slug",
      benchmarkName: "Project",
      runKey: "project-key",
      iterations: 3,
      concurrency: 3,
      staggerDelayMs: 3,
      groupBy: "participant",
      providers: ["beta"],
      dryRun: true,
      identityIsOurs: true,
      warnings: []
    })
  })

  it("flags beat project settings", () => {
    const flags: Config.Overrides = {
      benchmark: "flag-slug",
      name: "Flag",
      shape: "burst",
      runKey: "flag-key",
      iterations: 4,
      concurrency: 4,
      staggerDelayMs: 0,
      groupBy: "round",
      providers: ["alpha", "beta"],
      noIngest: false
    }
    assert.deepStrictEqual(resolved(flags, project), {
      config: { ...config, benchmarkSlug: "flag-slug", benchmarkName: "Flag", staggerDelayMs: 7 },
      benchmarkSlug: "flag-slug",
      benchmarkName: "Flag",
      runKey: "flag-key",
      iterations: 4,
      concurrency: 4,
      staggerDelayMs: 0,
      groupBy: "round",
      providers: ["alpha", "beta"],
      dryRun: false,
      identityIsOurs: true,
      warnings: []
    })
  })

  it("an empty flag leaves the project setting in force", () => {
    const { benchmarkName, benchmarkSlug, runKey } = resolved(
      { benchmark: "", name: "", shape: "", runKey: "" },
      project
    )
    assert.deepStrictEqual([benchmarkSlug, benchmarkName, runKey], ["project-slug", "Project", "project-key"])
  })

  it("only borrows the slug of another benchmark", () => {
    assert.isFalse(resolved({ benchmark: "elsewhere" }).identityIsOurs)
    assert.isTrue(resolved({ benchmark: "elsewhere", name: "Elsewhere" }).identityIsOurs)
  })

  it("refuses identities that no benchmark could have", () => {
    assert.strictEqual(
      errorOf({ benchmark: "Else Where" }).message,
      'benchmark needs a lowercase slug (got "Else Where")'
    )
    assert.strictEqual(errorOf({ name: "  " }).message, "name must be a non-empty string")
  })

  it("refuses counts that cannot be counted", () => {
    const huge = { ...config, iterations: undefined, phases: [{ name: "cold", iterations: 1e21 }] }
    assert.strictEqual(
      errorOf({}, huge).message,
      "iterations must be an integer between 1 and 9007199254740991 (got 1e+21)"
    )
    const phased = { ...config, iterations: undefined, phases: ["a", "b"].map((name) => ({ name, iterations: 1 })) }
    assert.strictEqual(errorOf({ iterations: 2.5 }, phased).message, "iterations must be an integer >= 1 (got 2.5)")
    assert.strictEqual(errorOf({ concurrency: Number.NaN }).message, "concurrency must be an integer >= 1 (got NaN)")
  })

  it("an error names the setting and keeps the warnings", () => {
    const phases = [
      { name: "cold", iterations: 1 },
      { name: "warm", iterations: 2 }
    ]
    const error = errorOf({ iterations: 5, concurrency: 0 }, { ...config, iterations: undefined, phases })
    assert.strictEqual(error._tag, "ConfigResolutionError")
    assert.strictEqual(error.setting, "concurrency")
    assert.lengthOf(error.warnings, 1)
  })
})

describe("phases", () => {
  const merged = (phases: ReadonlyArray<Config.Phase>) => ({ phases })

  it.prop(
    "a slot is in the phase that its place in the expanded schedule has",
    [FastCheck.array(FastCheck.nat(5), { maxLength: 12 })],
    ([counts]) => {
      const phases = counts.map((iterations, index) => ({ name: `p${index}`, iterations }))
      const slots = phases.flatMap(({ iterations, name }) => Array.from({ length: iterations }, () => name))
      const lookup = Config.phaseLookup(merged(phases))
      assert.deepStrictEqual(
        slots.map((_, index) => lookup(index)),
        slots
      )
      for (const index of [-1, ...slots.keys(), slots.length]) {
        assert.strictEqual(Config.phaseAt(merged(phases), index), lookup(index))
      }
      assert.isUndefined(lookup(slots.length))
      assert.isUndefined(lookup(-1))
    }
  )

  it("a schedule is never expanded", () => {
    const phases = Array.from({ length: 100_000 }, (_, index) => ({ name: `p${index}`, iterations: 1e10 }))
    const config = Either.getOrThrow(
      Config.decodeEither({ benchmarkSlug: "s", benchmarkName: "S", participants: [{ name: "a" }], phases })
    )
    const run = Either.getOrThrow(Config.resolve(config))
    const lookup = Config.phaseLookup(run)
    assert.strictEqual(run.iterations, 1e15)
    assert.strictEqual(lookup(1e15 - 1), "p99999")
    assert.strictEqual(lookup(1e10), "p1")
    assert.strictEqual(Config.phaseAt(run, 1e10 - 1), "p0")
    assert.isUndefined(lookup(1e15))
  })

  it("without phases no slot has one", () => {
    assert.isUndefined(Config.phaseAt({}, 0))
  })
})
