import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import * as Benchmark from "../src/Benchmark.js"
import { layerTest, Reporter, TestReporter } from "../src/Reporter.js"
import * as Scheduler from "../src/Scheduler.js"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { record, recordAll, runPlan, source } from "./support/reporter.js"

const layer = Layer.merge(Scheduler.layer, layerTest)

const two = { benchmarkSlug: "bench", benchmarkName: "Bench", participants: [{ name: "alpha" }, { name: "beta" }] }

const runs = Effect.flatMap(TestReporter, (reporter) => reporter.runs)

const onlyRun = Effect.map(runs, (all) => (all.length === 1 && all[0] !== undefined ? all[0] : assert.fail("no run")))

describe("a reporter for tests", () => {
  it.effect("shows the plan, every record, and how the workers ended", () =>
    Effect.gen(function* () {
      const task = ({ participant, taskIndex }: Task.TaskContext) =>
        participant.name === "beta" && taskIndex === 1
          ? Effect.fail(new Task.TaskError("no", { code: "E_NO" }))
          : Task.measure({ taskIndex })
      const outcome = yield* Benchmark.run(Benchmark.make({ ...two, iterations: 2, task }))
      const run = yield* onlyRun
      assert.strictEqual(outcome.runId, run.runId)
      assert.deepInclude(run.plan, {
        benchmarkSlug: "bench",
        benchmarkName: "Bench",
        participants: ["alpha", "beta"],
        tasksPerParticipant: 2
      })
      assert.deepStrictEqual(
        run.records.map(({ participant, records }) => [
          participant,
          records.map(({ errorCode, status, taskIndex }) => [taskIndex, status, errorCode])
        ]),
        [
          [
            "alpha",
            [
              [0, "success", undefined],
              [1, "success", undefined]
            ]
          ],
          [
            "beta",
            [
              [0, "success", undefined],
              [1, "error", "E_NO"]
            ]
          ]
        ]
      )
      assert.deepStrictEqual(
        run.closed.map(({ exit, participant }) => [participant, Exit.isSuccess(exit)]),
        [
          ["alpha", true],
          ["beta", true]
        ]
      )
      assert.deepStrictEqual([run.summaries, run.artifacts, run.abandoned], [[], [], false])
    }).pipe(Effect.provide(layer))
  )

  it.effect("shows the scores", () =>
    Effect.gen(function* () {
      const scoring = { metrics: [{ key: "x", unit: "ms", ceiling: 10, weights: { median: 1, p95: 0, p99: 0 } }] }
      const outcome = yield* Benchmark.run(Benchmark.make({ ...two, scoring, task: Task.measure({ x: 5 }) }))
      const { summaries } = yield* onlyRun
      assert.strictEqual(summaries.length, 1)
      assert.deepStrictEqual(summaries[0]?.results, outcome.rows)
      assert.strictEqual(summaries[0]?.results[0]?.compositeScore, 50)
    }).pipe(Effect.provide(layer))
  )

  it.effect("opens every barrier", () =>
    Effect.gen(function* () {
      const task = Step.run("go", Effect.void, { readiness: "poll", target: 100 })
      yield* Benchmark.run(Benchmark.make({ ...two, task }))
      assert.deepStrictEqual(
        (yield* onlyRun).records.flatMap(({ records }) => records.map(({ status }) => status)),
        ["success", "success"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("shows an interrupted run with what it had recorded", () =>
    Effect.gen(function* () {
      const running = yield* Deferred.make<void>()
      const task = ({ taskIndex }: Task.TaskContext) =>
        taskIndex === 0 ? Effect.void : Effect.zipRight(Deferred.succeed(running, undefined), Effect.never)
      const fiber = yield* Effect.fork(Benchmark.run(Benchmark.make({ ...two, iterations: 3, task })))
      yield* Deferred.await(running)
      yield* Fiber.interrupt(fiber)
      const { abandoned, closed, records } = yield* onlyRun
      assert.isTrue(abandoned)
      assert.deepStrictEqual(
        closed.map(({ exit, participant }) => [participant, Exit.isInterrupted(exit)]),
        [["alpha", true]]
      )
      assert.deepStrictEqual(
        records.map(({ participant, records }) => [participant, records.map(({ status }) => status)]),
        [["alpha", ["success", "error"]]]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("keeps runs apart, in their order", () =>
    Effect.gen(function* () {
      const run = (size: number) => Benchmark.run(Benchmark.make({ ...two, iterations: size, task: Effect.void }))
      const outcomes = yield* Effect.forEach([1, 2], run)
      const reported = yield* runs
      assert.deepStrictEqual(
        reported.map(({ plan, records, runId }) => [runId, plan?.tasksPerParticipant, records[0]?.records.length]),
        outcomes.map(({ runId }, i) => [runId, i + 1, i + 1])
      )
      assert.strictEqual(new Set(outcomes.map(({ runId }) => runId)).size, 2)
    }).pipe(Effect.provide(layer))
  )

  it.effect("keeps artifacts, gives back what is stored, and calls onFinish before the end", () =>
    Effect.gen(function* () {
      const run = yield* Effect.flatMap(Reporter, (reporter) => reporter.openRun(runPlan))
      let closedBefore: number | undefined
      const reporter = yield* TestReporter
      const onFinish = Effect.map(reporter.runs, ([reported]) => {
        closedBefore = reported?.closed.length
      })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const worker = yield* run.openWorker("alpha", { ...source, onFinish })
          if (worker === undefined) return assert.fail("no worker")
          assert.deepInclude(worker, { start: 0, count: 100, concurrency: 1, workerIndex: 0, attemptNumber: 1 })
          assert.isTrue(worker.isCurrent())
          yield* recordAll(worker, [record(0), record(1, "error")])
          yield* worker.uploadArtifact({ kind: "trace", name: "a.bin" }, new Uint8Array([7]))
        })
      )
      assert.strictEqual(closedBefore, 0)
      const { artifacts, closed } = yield* onlyRun
      assert.deepStrictEqual(artifacts, [
        { participant: "alpha", kind: "trace", name: "a.bin", content: new Uint8Array([7]) }
      ])
      assert.strictEqual(closed.length, 1)
      assert.deepStrictEqual(
        (yield* run.storedTasks).map(({ participantSlug, status, taskIndex }) => [participantSlug, taskIndex, status]),
        [
          ["alpha", 0, "success"],
          ["alpha", 1, "error"]
        ]
      )
      assert.deepStrictEqual(yield* run.undelivered, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is empty each time it is built", () =>
    Effect.gen(function* () {
      const once = Effect.zipRight(Benchmark.run(Benchmark.make({ ...two, task: Effect.void })), runs)
      for (let i = 0; i < 2; i++) {
        assert.strictEqual((yield* Effect.provide(once, Layer.fresh(layer))).length, 1)
      }
    })
  )
})
