import { gunzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import type { HeartbeatInput } from "../src/Platform.js"
import * as Reporter from "../src/Reporter.js"
import * as Spool from "../src/Spool.js"
import * as Step from "../src/Step.js"
import * as SystemMetrics from "../src/SystemMetrics.js"
import * as Task from "../src/Task.js"
import { WorkerLog } from "../src/WorkerLog.js"
import { within } from "./support/engine.js"
import type { Operation } from "./support/fakePlatform.js"
import { FakePlatform, hangs, permanent, refuses, transient, well } from "./support/fakePlatform.js"
import {
  closes,
  completed,
  openRun,
  recordAll,
  records,
  runPlan,
  source,
  withoutLogs,
  withWorker
} from "./support/reporter.js"
import { loggedInto, openSpooledRun, platformWith, runOn, textOf } from "./support/reporting.js"

/** Step, how many are running, and how many should be. */
const samplesOf = (heartbeat: HeartbeatInput | undefined) =>
  heartbeat?.concurrency?.map(({ active, step, target }) => [step, active, target])

describe("heartbeats of running steps", () => {
  it.effect("follow the steps, but no more than once a second", () =>
    Effect.gen(function* () {
      const platform = platformWith(100)
      yield* within(10_000, runOn(platform, Step.run("work", Effect.sleep(100))))
      assert.deepStrictEqual(
        platform.times("heartbeat"),
        Array.from({ length: 9 }, (_, i) => (i + 1) * 1000)
      )
      assert.deepStrictEqual(samplesOf(platform.heartbeats[0]), [["work", 1, 1]])
    })
  )

  it.effect("come every 30 seconds while nothing starts or ends", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      yield* within(100_000, runOn(platform, Step.run("work", Effect.sleep("100 seconds"))))
      assert.deepStrictEqual(platform.times("heartbeat"), [1_000, 31_000, 61_000, 91_000])
    })
  )

  it.effect("are never two at once, and the one after a slow one tells the latest", () =>
    Effect.gen(function* () {
      const platform = platformWith(100)
      let [open, most] = [0, 0]
      const slow = Effect.acquireUseRelease(
        Effect.sync(() => (most = Math.max(most, ++open))),
        () => Effect.sleep("5 seconds"),
        () => Effect.sync(() => open--)
      )
      platform.behave("heartbeat", [], { before: slow })
      yield* within(
        20_000,
        runOn(platform, ({ taskIndex }) => Step.run(`work ${Math.floor(taskIndex / 10)}`, Effect.sleep(200)))
      )
      assert.strictEqual(most, 1)
      assert.deepStrictEqual(platform.times("heartbeat"), [1_000, 7_000, 13_000, 19_000])
      assert.deepStrictEqual(
        platform.heartbeats.map(({ currentStep }) => currentStep),
        ["work 0", "work 3", "work 6", "work 9"]
      )
    })
  )

  it.effect("hold twenty different steps, the busiest first and named as the current one", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      const names = [...Array.from({ length: 25 }, (_, i) => `s${i}`), "s24", "s24", "s7"]
      const steps = names.map((name) => Step.run(name, Effect.sleep("2 seconds")))
      yield* within(2_000, runOn(platform, Effect.all(steps, { concurrency: 30 })))
      const [heartbeat] = platform.heartbeats
      assert.strictEqual(heartbeat?.currentStep, "s24")
      assert.deepStrictEqual(samplesOf(heartbeat)?.slice(0, 3), [
        ["s24", 3, 1],
        ["s7", 2, 1],
        ["s0", 1, 1]
      ])
      assert.strictEqual(new Set(heartbeat?.concurrency?.map(({ step }) => step)).size, 20)
      assert.strictEqual(heartbeat?.concurrency?.length, 20)
    })
  )

  it.effect("count what runs in all tasks, and the tasks", () =>
    Effect.gen(function* () {
      const platform = platformWith(6)
      const task = ({ taskIndex }: Task.TaskContext) =>
        taskIndex === 2
          ? Effect.sleep("2500 millis")
          : Step.run("outer", Step.run("inner", Effect.sleep("2500 millis")))
      yield* within(5_000, runOn(platform, task, {}, { concurrency: 3 }))
      const { progressDone, progressInFlight, progressTotal } = platform.heartbeats[0] ?? {}
      assert.deepStrictEqual([progressDone, progressInFlight, progressTotal], [0, 3, 6])
      assert.deepStrictEqual(samplesOf(platform.heartbeats[0]), [
        ["outer", 2, 3],
        ["inner", 2, 3]
      ])
      assert.strictEqual(platform.times("heartbeat")[2], 3_500)
      assert.deepInclude(platform.heartbeats[2], { progressDone: 3, progressInFlight: 3, progressErrors: 0 })
    })
  )

  it.effect("give as target the worker's concurrency, or what the step asks for", () =>
    Effect.gen(function* () {
      const platform = platformWith(8)
      const task = Effect.all(
        [
          Step.run("a", Effect.sleep("2 seconds")),
          Step.run("b", Effect.sleep("2 seconds"), { target: 3 }),
          Step.run("c", Effect.sleep("2 seconds"), { parallelInvocations: 5 })
        ],
        { concurrency: 3 }
      )
      yield* within(2_000, runOn(platform, task, {}, { concurrency: 8 }))
      assert.deepStrictEqual(samplesOf(platform.heartbeats[0]), [
        ["a", 8, 8],
        ["b", 8, 3],
        ["c", 8, 8]
      ])
    })
  )

  it.effect("expect no more of a worker than it has tasks", () =>
    Effect.gen(function* () {
      const platform = platformWith(2)
      yield* within(2_000, runOn(platform, Step.run("a", Effect.sleep("2 seconds")), {}, { concurrency: 8 }))
      assert.deepStrictEqual(samplesOf(platform.heartbeats[0]), [["a", 2, 2]])
    })
  )

  it.effect("leave out a step that does not want to be reported", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      const task = Step.run("quiet", Effect.sleep("40 seconds"), { reportConcurrency: false })
      yield* within(40_000, runOn(platform, task))
      assert.deepStrictEqual(platform.times("heartbeat"), [30_000])
      assert.deepStrictEqual(samplesOf(platform.heartbeats[0]), [])
      assert.notProperty(platform.heartbeats[0], "currentStep")
    })
  )

  const endings: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown, Task.CurrentTask>]> = [
    ["has failed", Step.run("gone", Effect.fail("no"))],
    ["has died", Step.run("gone", Effect.die("no"))],
    [
      "has timed out, though it has not ended",
      Step.run(
        "gone",
        Effect.onInterrupt(Effect.never, () => Effect.sleep("20 seconds")),
        { timeoutMs: 10 }
      )
    ],
    ["was interrupted", Effect.timeout(Step.run("gone", Effect.never), 10)],
    ["is one too many", Effect.forEach(Array(101).keys(), () => Step.run("gone", Effect.void))]
  ]

  for (const [name, step] of endings) {
    it.effect(`do not count a step that ${name}`, () =>
      Effect.gen(function* () {
        const platform = platformWith(1)
        const task = Effect.zipRight(Effect.exit(step), Step.run("next", Effect.sleep("2 seconds")))
        yield* within(
          30_000,
          runOn(
            platform,
            Effect.catchAllCause(task, () => Effect.sleep("2 seconds"))
          )
        )
        assert.deepStrictEqual(platform.times("heartbeat")[0], 1_000)
        assert.notInclude(JSON.stringify(platform.heartbeats), "gone")
      })
    )
  }

  it.effect("are not made of runs that are not recorded: nothing is counted", () =>
    Effect.gen(function* () {
      const reporter = yield* Reporter.Reporter
      const run = yield* reporter.openRun(runPlan)
      const worker = yield* Effect.scoped(run.openWorker("alpha", source))
      assert.isUndefined(worker?.activity)
    }).pipe(Effect.provide(Reporter.layerNoIngest))
  )
})

describe("a telemetry failure", () => {
  /** Keeps one task in a barrier, or has it log something; the worker may have an artifact to keep, too. */
  const scenario = (platform: FakePlatform, options: Reporter.ReporterOptions, spool: Spool.Spool["Type"]) =>
    Effect.gen(function* () {
      const log = new WorkerLog()
      log.message("2026-01-01T00:00:00.000Z", 0, "hello")
      const run = yield* openSpooledRun(platform, spool, options)
      const use = Effect.gen(function* () {
        const worker = yield* run.openWorker("alpha", { ...source, log })
        if (worker === undefined) return
        yield* Effect.ignore(worker.uploadArtifact({ kind: "mine" }, new Uint8Array([1])))
        yield* Effect.ignore(worker.awaitReady("barrier", { pollIntervalMs: 1000, timeoutMs: 10_000 }))
        yield* recordAll(worker, records(3))
        yield* Effect.sleep("61 seconds")
      })
      yield* Effect.scoped(use)
      yield* run.abandon
      assert.deepStrictEqual(yield* run.undelivered, [])
    })

  const inMemory = Effect.provide(Spool.Spool, Spool.layerMemory)

  const unusable = Spool.Spool.of({
    location: "/nowhere",
    open: () => Effect.fail(new Spool.SpoolError({ path: "/nowhere", detail: "no space left" })),
    list: Effect.succeed({ entries: [], damaged: [] }),
    take: () => Effect.succeed(undefined)
  })

  const kinds: ReadonlyArray<readonly [Reporter.TelemetryFailure["telemetry"], Operation | undefined, string]> = [
    ["heartbeat", "heartbeat", "heartbeat failed"],
    ["readiness", "runProgress", "progress of the run could not be read"],
    ["artifact", "createArtifact", "artifact could not be uploaded"],
    ["log", "createArtifact", "log of the worker could not be uploaded"],
    ["metrics", "uploadArtifact", "system metrics could not be uploaded"],
    ["close", "completeWorker", "worker could not be closed"],
    ["run", "updateRun", "run could not be marked failed"],
    ["spool", undefined, "spool cannot be used, records are kept in memory"]
  ]

  for (const [kind, operation, phrase] of kinds) {
    it.effect(`of kind ${kind} is told, logged once in a row, and fails nothing`, () => {
      const lines: Array<string> = []
      const told: Array<Reporter.TelemetryFailure> = []
      return Effect.gen(function* () {
        const platform = platformWith(3)
        if (operation !== undefined) platform.behave(operation, [], refuses(permanent))
        const onTelemetryError = (failure: Reporter.TelemetryFailure) => Effect.sync(() => void told.push(failure))
        const spool = operation === undefined ? unusable : yield* inMemory
        yield* within(100_000, scenario(platform, { onTelemetryError }, spool))
        const failures = told.filter(({ telemetry }) => telemetry === kind)
        assert.isNotEmpty(failures)
        assert.deepInclude(failures[0], { participant: kind === "run" ? "" : "alpha" })
        if (operation !== undefined) assert.strictEqual(failures[0]?.error, permanent)
        assert.strictEqual(lines.filter((line) => line.startsWith(phrase)).length, 1)
        assert.deepStrictEqual(platform.records, records(3))
        assert.deepStrictEqual(closes(platform).at(-1)?.[0], "completeWorker")
      }).pipe(Effect.provide(SystemMetrics.layerTest()), loggedInto(lines))
    })
  }

  it.effect("is told each time, but logged again only after it had worked", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const platform = new FakePlatform()
      let told = 0
      platform.behave("heartbeat", [refuses(transient), refuses(transient), well], refuses(permanent))
      const onTelemetryError = () => Effect.sync(() => void told++)
      yield* withWorker(platform, { onTelemetryError }, () => TestClock.adjust("150 seconds"))
      assert.strictEqual(told, 4)
      assert.deepStrictEqual(lines, ["heartbeat failed: fake: busy", "heartbeat failed: fake: disk full"])
    }).pipe(loggedInto(lines))
  })

  const brokenHooks: ReadonlyArray<readonly [string, () => Effect.Effect<void>]> = [
    ["dies", () => Effect.die("broken hook")],
    ["is interrupted", () => Effect.interrupt],
    [
      "throws",
      () => {
        throw new Error("broken hook")
      }
    ]
  ]

  for (const [name, onTelemetryError] of brokenHooks) {
    it.effect(`is harmless when the hook that is told of it ${name}`, () =>
      Effect.gen(function* () {
        const platform = new FakePlatform()
        platform.behave("heartbeat", [], refuses(permanent))
        platform.behave("completeWorker", [], refuses(permanent))
        const { undelivered } = yield* withWorker(platform, { onTelemetryError }, (worker) =>
          Effect.zipRight(recordAll(worker, records(3)), TestClock.adjust("100 seconds"))
        )
        assert.deepStrictEqual(platform.times("heartbeat"), [30_000, 60_000, 90_000])
        assert.deepStrictEqual(platform.records, records(3))
        assert.deepStrictEqual(undelivered, [])
      }).pipe(withoutLogs)
    )
  }
})

describe("a hook that does not end", () => {
  it.effect("holds up neither heartbeats nor the end of a worker for more than five seconds each", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      platform.behave("heartbeat", [], refuses(permanent))
      platform.behave("completeWorker", [], refuses(permanent))
      const options = { onTelemetryError: () => Effect.never }
      const { undelivered } = yield* within(75_000, runOn(platform, Effect.sleep("70 seconds"), options))
      assert.deepStrictEqual(platform.times("heartbeat"), [30_000, 65_000])
      assert.deepStrictEqual(undelivered, [])
    }).pipe(withoutLogs)
  )
})

describe("the log of a worker", () => {
  const saying = (line: string) => Effect.zipRight(Task.log(line), Effect.sleep("10 seconds"))

  const written = (platform: FakePlatform) =>
    Array.from(platform.artifacts.values(), ({ content, input }) => [input.kind, textOf(content)?.split("\n").length])

  it.effect("is uploaded at the end as text", () =>
    Effect.gen(function* () {
      const platform = platformWith(2, 5)
      const { log } = yield* within(20_000, runOn(platform, saying("hällo")))
      assert.include(log, "[task 6] [info] hällo")
      assert.deepStrictEqual(
        [...platform.artifacts.values()].map(({ content, input }) => [input, textOf(content)]),
        [
          [
            {
              attemptId: "attempt-id",
              kind: "coordinator.log",
              name: "worker.log",
              contentType: "text/plain; charset=utf-8",
              metadata: { lineCount: 2, sizeBytes: Buffer.byteLength(log) }
            },
            log
          ]
        ]
      )
    })
  )

  it.effect("is compressed when that is asked for", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      const fiber = yield* Effect.fork(runOn(platform, saying("hello"), { logCompression: "gzip" }))
      yield* TestClock.adjust("10 seconds")
      const { log } = yield* Fiber.join(fiber)
      const [artifact] = platform.artifacts.values()
      assert.strictEqual(gunzipSync(artifact?.content ?? "").toString(), log)
      assert.deepInclude(artifact?.input, { kind: "coordinator.log", contentType: "application/gzip" })
      assert.deepInclude(artifact?.input.metadata, { encoding: "gzip" })
    })
  )

  it.effect("is not uploaded when nothing is in it", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      yield* within(50_000, runOn(platform, Effect.sleep("50 seconds"), { logFlushInterval: "10 seconds" }))
      assert.notInclude(platform.operations(), "createArtifact")
    })
  )

  it.effect("is uploaded over itself while the worker runs, whenever there is more in it", () =>
    Effect.gen(function* () {
      const platform = platformWith(3)
      const task = ({ taskIndex }: Task.TaskContext) =>
        taskIndex === 1 ? Effect.sleep("20 seconds") : saying(`task ${taskIndex}`)
      yield* within(40_000, runOn(platform, task, { logFlushInterval: "15 seconds" }))
      assert.deepStrictEqual(platform.times("createArtifact"), [15_000])
      assert.deepStrictEqual(platform.times("uploadArtifact"), [15_000, 40_000])
      assert.deepStrictEqual(written(platform), [["coordinator.log", 3]])
    })
  )

  it.effect("is a new artifact when the platform refuses to replace the old one", () =>
    Effect.gen(function* () {
      const platform = platformWith(3)
      platform.behave("uploadArtifact", [well, refuses(permanent)])
      yield* within(30_000, runOn(platform, saying("hello"), { logFlushInterval: "14 seconds" }))
      assert.deepStrictEqual(platform.times("createArtifact"), [14_000, 28_000])
      assert.deepStrictEqual(written(platform), [
        ["coordinator.log", 3],
        ["coordinator.log", 4]
      ])
    })
  )

  for (const [name, behaviour] of [
    ["failed", refuses(permanent)],
    ["was on its way when the worker ended", hangs]
  ] as const) {
    it.effect(`is uploaded at the end when the upload before it ${name}`, () =>
      Effect.gen(function* () {
        const platform = platformWith(1)
        platform.behave("uploadArtifact", [behaviour])
        yield* within(11_000, runOn(platform, saying("hello"), { logFlushInterval: "8 seconds" }))
        assert.strictEqual(platform.times("uploadArtifact").length, 2)
        assert.deepStrictEqual(written(platform).at(-1), ["coordinator.log", 2])
        assert.deepStrictEqual(closes(platform), completed)
      }).pipe(withoutLogs)
    )
  }
})

describe("system metrics", () => {
  const sampledAt = (platform: FakePlatform) => {
    const artifact = [...platform.artifacts.values()].find(({ input }) => input.kind === "system-metrics")
    const lines = textOf(artifact?.content)?.trimEnd().split("\n") ?? []
    return lines.map((line) => Date.parse(JSON.parse(line).timestamp))
  }

  it.effect("are sampled at the start, every 30 seconds and at the end", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      yield* within(70_000, runOn(platform, Effect.sleep("70 seconds")))
      assert.deepStrictEqual(sampledAt(platform), [0, 30_000, 60_000, 70_000])
      assert.deepStrictEqual(platform.inputs("createArtifact"), [
        [
          { benchmark: "demo", run: "run-id", participant: "alpha", worker: "worker-id" },
          {
            attemptId: "attempt-id",
            kind: "system-metrics",
            name: "metrics.jsonl",
            contentType: "application/x-ndjson",
            metadata: { sampleCount: 4 }
          }
        ]
      ])
    }).pipe(Effect.provide(SystemMetrics.layerTest()))
  )

  it.effect("are sampled as often as is asked for, or never", () =>
    Effect.gen(function* () {
      const often = platformWith(1)
      yield* within(5_000, runOn(often, Effect.sleep("5 seconds"), { metricsInterval: "2 seconds" }))
      assert.deepStrictEqual(sampledAt(often), [0, 2_000, 4_000, 5_000])
      const never = platformWith(1)
      yield* within(70_000, runOn(never, Effect.sleep("70 seconds"), { metricsInterval: 0 }))
      assert.notInclude(never.operations(), "createArtifact")
    }).pipe(Effect.provide(SystemMetrics.layerTest()))
  )

  it.effect("are not sampled where nobody provides them", () =>
    Effect.gen(function* () {
      const platform = platformWith(1)
      yield* within(70_000, runOn(platform, Effect.sleep("70 seconds")))
      assert.notInclude(platform.operations(), "createArtifact")
    })
  )
})

describe("the end of a worker", () => {
  const withFinish = (
    platform: FakePlatform,
    onFinish: Effect.Effect<void>,
    end: Effect.Effect<void> = Effect.void,
    options: Reporter.ReporterOptions = {}
  ) =>
    Effect.gen(function* () {
      const log = new WorkerLog()
      log.message("2026-01-01T00:00:00.000Z", 0, "hello")
      const run = yield* openRun(platform, options)
      return yield* Effect.scoped(
        Effect.gen(function* () {
          const worker = yield* run.openWorker("alpha", { ...source, log, onFinish })
          if (worker !== undefined) yield* recordAll(worker, records(3))
          yield* end
        })
      )
    }).pipe(Effect.provide(SystemMetrics.layerTest()))

  const telemetry = ["createArtifact", "uploadArtifact"] as const

  it.effect("sends the results, the log, the metrics, calls onFinish, and closes", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      let before: ReadonlyArray<Operation> = []
      const onFinish = Effect.sync(() => {
        before = platform.operations()
      })
      yield* withFinish(platform, onFinish)
      const claimed = before.indexOf("claimWorker") + 1
      assert.deepStrictEqual(before.slice(claimed), ["sendTaskResults", ...telemetry, ...telemetry])
      assert.deepStrictEqual(
        [...platform.artifacts.values()].map(({ input }) => input.kind),
        ["coordinator.log", "system-metrics"]
      )
      assert.deepStrictEqual(platform.operations().slice(before.length), ["completeWorker"])
    })
  )

  it.effect("is the same when the run is interrupted", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      let finished = 0
      const onFinish = Effect.sync(() => void finished++)
      const exit = yield* Effect.exit(withFinish(platform, onFinish, Effect.interrupt))
      assert.isTrue(Exit.isInterrupted(exit))
      assert.strictEqual(finished, 1)
      assert.strictEqual(platform.artifacts.size, 2)
      assert.strictEqual(closes(platform)[0]?.[0], "failWorker")
    })
  )

  it.effect("closes the worker also when onFinish dies, which the run then fails with", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      const exit = yield* Effect.exit(withFinish(platform, Effect.die("broken")))
      assert.isTrue(Exit.isFailure(exit))
      assert.include(JSON.stringify(exit), "broken")
      assert.deepStrictEqual(closes(platform), completed)
    })
  )

  it.effect("tries an upload again twice when that may help", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("createArtifact", [refuses(transient), refuses(transient)])
      platform.behave("uploadArtifact", [], refuses(transient))
      yield* within(6_000, withFinish(platform, Effect.void))
      assert.deepStrictEqual(platform.times("createArtifact"), [0, 1_000, 2_000, 4_000])
      assert.deepStrictEqual(platform.times("uploadArtifact"), [2_000, 3_000, 4_000, 4_000, 5_000, 6_000])
      assert.deepStrictEqual(closes(platform), completed)
    }).pipe(withoutLogs)
  )

  it.effect("waits for uploads without an answer no longer than for one request each", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("createArtifact", [], hangs)
      yield* within(20_000, withFinish(platform, Effect.void, Effect.void, { requestTimeout: "10 seconds" }))
      assert.deepStrictEqual(platform.records, records(3))
      assert.deepStrictEqual(closes(platform), completed)
    }).pipe(withoutLogs)
  )

  it.effect("uploads nothing for a worker that is given back", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      const run = yield* openRun(platform)
      const opened = yield* Deferred.make<void>()
      const use = Effect.zipRight(
        run.openWorker("alpha", source),
        Effect.zipRight(Deferred.succeed(opened, undefined), Effect.never)
      )
      const fiber = yield* Effect.fork(Effect.scoped(use))
      yield* Deferred.await(opened)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(closes(platform), [["releaseWorker", { attemptId: "attempt-id" }]])
      assert.notInclude(platform.operations(), "createArtifact")
    }).pipe(Effect.provide(SystemMetrics.layerTest()))
  )
})

describe("an artifact of the benchmark's own", () => {
  it.effect("is kept with the worker", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      const artifact = { kind: "trace", name: "a.bin", contentType: "application/x-trace", metadata: { of: 1 } }
      yield* withWorker(platform, {}, (worker) => worker.uploadArtifact(artifact, new Uint8Array([1, 2])))
      assert.deepStrictEqual(
        [...platform.artifacts.values()],
        [{ input: { attemptId: "attempt-id", ...artifact }, content: new Uint8Array([1, 2]) }]
      )
    })
  )

  it.effect("fails its uploader when the platform refuses it", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("uploadArtifact", [], refuses(permanent))
      const { result } = yield* withWorker(platform, {}, (worker) =>
        Effect.flip(worker.uploadArtifact({ kind: "trace" }, new Uint8Array()))
      )
      assert.strictEqual(result, permanent)
      assert.deepStrictEqual(closes(platform), completed)
    }).pipe(withoutLogs)
  )
})

describe("secrets of a participant", () => {
  const secret = "hunter2/very+private"

  it.effect("reach neither records nor log nor artifacts", () =>
    Effect.gen(function* () {
      const platform = platformWith(2)
      const task = ({ taskIndex }: Task.TaskContext) =>
        Effect.gen(function* () {
          yield* Task.log(`connecting with ${secret}`, { meta: { url: encodeURIComponent(secret) } })
          yield* Step.run("shell", Effect.succeed({ stdout: `> echo ${secret}\n${secret}` }))
          yield* Effect.addFinalizer(() => Effect.die(new Error(`cannot log out ${secret}`)))
          yield* Step.run("login", taskIndex === 0 ? Effect.fail(new Error(`denied: ${secret}`)) : Effect.die(secret))
        })
      const participant = { name: "alpha", requiredEnvVars: ["SERVICE_LOGIN"] }
      const { log } = yield* runOn(platform, task, {}, { participant }).pipe(
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["SERVICE_LOGIN", secret]])))
      )
      const uploaded = [...platform.artifacts.values()].map(({ content }) => textOf(content) ?? "")
      const everything = JSON.stringify(platform.calls) + uploaded.join() + log
      assert.notInclude(everything, secret)
      assert.notInclude(everything, encodeURIComponent(secret))
      assert.deepStrictEqual(
        platform.records.map(({ data }) => data),
        [
          { errorMessage: "denied: [redacted]", finalizerError: "cannot log out [redacted]" },
          { errorMessage: "[redacted]", finalizerError: "cannot log out [redacted]" }
        ]
      )
      assert.include(uploaded.join(), "connecting with [redacted]")
    })
  )
})
