import { execFile } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

const root = fileURLToPath(new URL("..", import.meta.url))
const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url))

if (!existsSync(bin)) throw new Error(`${bin} is missing: run "npm run build" before these tests`)

/** What `bench run --json` prints, as far as these tests look at it. */
const Report = Schema.Struct({
  runId: Schema.Null,
  benchmarkSlug: Schema.String,
  benchmarkName: Schema.String,
  participants: Schema.Array(
    Schema.Struct({
      participant: Schema.String,
      taskCount: Schema.Int,
      successCount: Schema.Int,
      errors: Schema.Array(Schema.Struct({ code: Schema.String, count: Schema.Int, message: Schema.String }))
    })
  ),
  skipped: Schema.Array(Schema.Struct({ participant: Schema.String, missing: Schema.Array(Schema.String) })),
  results: Schema.NullOr(
    Schema.Array(
      Schema.Struct({
        provider: Schema.String,
        successRate: Schema.Number,
        metrics: Schema.Array(Schema.Struct({ name: Schema.String, raw: Schema.Struct({ count: Schema.Int }) }))
      })
    )
  ),
  warnings: Schema.Array(Schema.String)
})
type Report = typeof Report.Type

const decode = Schema.decodeUnknown(Schema.parseJson(Report))

/** Without what could change where a run goes, what it is called, or who takes part in it. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^BENCH|^REDIS_URL$/.test(name)))

const twoAtATime = Effect.unsafeMakeSemaphore(2)

/** Runs an example as a process of its own, and reads the report that is all it may write to stdout. */
const run = (example: string, ...flags: ReadonlyArray<string>) =>
  Effect.async<{ readonly code: number | string | null | undefined; readonly stdout: string; readonly stderr: string }>(
    (resume) => {
      const args = [bin, "run", `examples/${example}`, "--dry-run", "--json", "--iterations", "2", ...flags]
      execFile(process.execPath, args, { cwd: root, env, timeout: 50_000 }, (error, stdout, stderr) =>
        resume(Effect.succeed({ code: error === null ? 0 : (error.signal ?? error.code), stdout, stderr }))
      )
    }
  ).pipe(
    twoAtATime.withPermits(1),
    Effect.tap(({ code, stderr }) => assert.strictEqual(code, 0, stderr)),
    Effect.tap(({ stderr }) => assert.include(stderr, "Dry run: nothing was recorded.")),
    Effect.flatMap(({ stdout }) => decode(stdout))
  )

interface Expected {
  readonly slug: string
  readonly participants: ReadonlyArray<string>
  /** Per participant. Default 2. */
  readonly tasks?: number
  readonly metrics: ReadonlyArray<string>
  /** Tasks behind each further row of a participant. Default: there is none. */
  readonly groups?: ReadonlyArray<number>
  readonly skipped?: Report["skipped"]
}

const examples: { readonly [file: string]: Expected } = {
  "sandbox-tti.bench.ts": {
    slug: "sandbox-tti",
    participants: ["node-process", "sh", "worker-thread", "vm-context"],
    metrics: ["ttiMs"]
  },
  "http-latency.bench.ts": {
    slug: "http-latency",
    participants: ["keep-alive", "new-connection"],
    tasks: 4,
    metrics: ["requestMs"],
    groups: [2, 2]
  },
  "sqlite-vs-json.bench.ts": {
    slug: "sqlite-vs-json",
    participants: ["json-file", "sqlite"],
    metrics: ["saveMs", "findMs"]
  },
  "env-gated.bench.ts": {
    slug: "kv-roundtrip",
    participants: ["memory"],
    metrics: ["roundTripMs"],
    skipped: [{ participant: "redis", missing: ["REDIS_URL"] }]
  },
  "shapes.bench.ts": {
    slug: "compression-burst",
    participants: ["gzip", "brotli"],
    metrics: ["compressMs", "ratio"]
  },
  "promise-hashing.bench.ts": {
    slug: "file-hashing",
    participants: ["sha256", "sha512", "md5"],
    metrics: ["throughput"]
  }
}

const failing = "errors-and-timeouts.bench.ts"

/** Waiting for a turn counts. */
const options = { timeout: 120_000 }

describe.concurrent("Examples", () => {
  it("are all run here", () => {
    const files = readdirSync(new URL("../examples", import.meta.url)).filter((file) => file.endsWith(".bench.ts"))
    assert.sameMembers(files, [...Object.keys(examples), failing])
  })

  for (const [file, expected] of Object.entries(examples)) {
    const { groups = [], metrics, participants, skipped = [], slug, tasks = 2 } = expected
    it.live(
      `${file} succeeds and measures what it scores`,
      () =>
        Effect.gen(function* () {
          const report = yield* run(file)
          assert.strictEqual(report.benchmarkSlug, slug)
          assert.deepStrictEqual(
            report.participants.map(({ participant, successCount, taskCount }) => [
              participant,
              taskCount,
              successCount
            ]),
            participants.map((name) => [name, tasks, tasks])
          )
          assert.deepStrictEqual(
            report.results?.map((row) => ({ ...row, metrics: row.metrics.map(({ name, raw }) => [name, raw.count]) })),
            participants.flatMap((provider) =>
              [tasks, ...groups].map((count) => ({
                provider,
                successRate: 1,
                metrics: metrics.map((name) => [name, count])
              }))
            )
          )
          assert.deepStrictEqual(report.skipped, skipped)
          assert.deepStrictEqual(report.warnings, [])
        }),
      options
    )
  }

  it.live(
    "shapes.bench.ts has another identity in its shape",
    () =>
      Effect.gen(function* () {
        const { benchmarkName, benchmarkSlug } = yield* run("shapes.bench.ts", "--shape", "paced")
        assert.deepStrictEqual([benchmarkSlug, benchmarkName], ["compression-paced", "Compression, one every 50 ms"])
      }),
    options
  )

  it.live(
    `${failing} fails as it says`,
    () =>
      Effect.gen(function* () {
        const report = yield* run(failing)
        assert.deepStrictEqual(
          report.participants.map(({ errors, participant, successCount, taskCount }) => ({
            participant,
            tasks: [taskCount, successCount],
            errors: errors.map(({ code, count }) => [code, count])
          })),
          [
            { participant: "timeout", tasks: [2, 0], errors: [["step_timeout", 2]] },
            { participant: "fallback", tasks: [2, 2], errors: [] },
            { participant: "task-error", tasks: [2, 0], errors: [["QUOTA_EXCEEDED", 2]] },
            { participant: "defect", tasks: [2, 0], errors: [["SyntaxError", 2]] },
            { participant: "parallel", tasks: [2, 2], errors: [] },
            { participant: "retried", tasks: [2, 2], errors: [] }
          ]
        )
        assert.isNull(report.results)
      }),
    options
  )
})
