import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, Schema } from "effect"
import * as Config from "../src/Config.js"
import * as ProjectConfig from "../src/ProjectConfig.js"

const full = ProjectConfig.defineBenchConfig({
  baseUrl: "https://bench.example.com",
  apiKeyEnv: "BENCH_TOKEN",
  providers: ["alpha", "beta"],
  iterations: 5,
  concurrency: 2,
  staggerDelayMs: 0.5,
  groupBy: "round",
  shape: "burst",
  runKey: "nightly",
  benchmark: "net-echo",
  name: "Net echo",
  dryRun: false
})

const linesOf = (input: unknown) =>
  Effect.map(Effect.flip(ProjectConfig.decodeProjectConfig(input)), ({ issues }) =>
    issues.map(({ field, message }) => `${field}: ${message}`)
  )

describe("ProjectConfig", () => {
  it.effect("decodes every setting", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ProjectConfig.decodeProjectConfig(full), full)
      assert.deepStrictEqual(yield* Schema.decodeUnknown(ProjectConfig.ProjectConfig)(full), full)
    })
  )

  it.effect("leaves out what is undefined", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ProjectConfig.decodeProjectConfig({ iterations: 2, name: undefined }), {
        iterations: 2
      })
      assert.deepStrictEqual(yield* ProjectConfig.decodeProjectConfig({}), {})
    })
  )

  it.effect("reports every issue at once, unknown settings first", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* linesOf({
          concurency: 4,
          baseUrl: "ftp://bench",
          apiKeyEnv: "sk-secret-key",
          providers: [],
          iterations: 0,
          concurrency: "2",
          staggerDelayMs: -1,
          groupBy: "both",
          shape: "",
          runKey: 7,
          benchmark: "Net Echo",
          name: " ",
          dryRun: "yes"
        }),
        [
          "concurency: is not a project setting; these are: baseUrl, apiKeyEnv, providers, iterations, concurrency, staggerDelayMs, groupBy, shape, runKey, benchmark, name, dryRun",
          "baseUrl: must be an http or https URL (got ftp://bench)",
          "apiKeyEnv: must be the name of an environment variable",
          "providers: must be a non-empty array of participant names",
          "iterations: must be an integer >= 1 (got 0)",
          "concurrency: must be an integer >= 1 (got 2)",
          "staggerDelayMs: must be a number >= 0 (got -1)",
          "groupBy: must be 'participant' or 'round' (got both)",
          "shape: must be a non-empty string",
          "runKey: must be a non-empty string",
          'benchmark: needs a lowercase slug (got "Net Echo")',
          "name: must be a non-empty string",
          "dryRun: must be a boolean (got yes)"
        ]
      )
    })
  )

  it.effect("refuses what is no object", () =>
    Effect.gen(function* () {
      for (const input of [null, undefined, [], "x", () => ({})]) {
        assert.deepStrictEqual(yield* linesOf(input), ["default export: must be an object"])
      }
    })
  )

  it.effect("fails with one error that lists the fields", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(ProjectConfig.decodeProjectConfig({ iterations: 0 }))
      assert.strictEqual(error._tag, "ProjectConfigError")
      assert.strictEqual(
        error.message,
        "Invalid project config:\n" +
          "  - iterations: must be an integer >= 1 (got 0)\n" +
          "\n" +
          "Fix the fields above and try again."
      )
    })
  )

  it.effect("serves as the defaults of a run", () =>
    Effect.gen(function* () {
      const config = { benchmarkSlug: "s", benchmarkName: "S", participants: [{ name: "alpha" }] }
      const project = yield* ProjectConfig.decodeProjectConfig({ iterations: 5, concurrency: 2 })
      const { concurrency, iterations } = yield* Config.resolve(config, { iterations: 9 }, project)
      assert.deepStrictEqual([iterations, concurrency], [9, 2])
    })
  )

  it.prop(
    "no value makes decoding throw",
    [FastCheck.anything({ withBigInt: true, withNullPrototype: true })],
    ([any]) => {
      for (const input of [any, { baseUrl: any }, { providers: [any] }, { dryRun: any, iterations: any }]) {
        const decoded = Effect.runSync(Effect.either(ProjectConfig.decodeProjectConfig(input)))
        if (Either.isLeft(decoded)) {
          assert.isAbove(decoded.left.issues.length, 0)
        } else {
          assert.deepStrictEqual(Effect.runSync(ProjectConfig.decodeProjectConfig(decoded.right)), decoded.right)
        }
      }
    }
  )
})
