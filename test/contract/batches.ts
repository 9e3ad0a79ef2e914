import { assert, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Effect, TestClock } from "effect"
import { Platform } from "../../src/Platform.js"
import { batch, claim, claimed, completedAt, createRun, failure, startedAt, step, task } from "./support.js"

export const batches = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("stored records come back as they were sent", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const records = [
        task(1, {
          latencyMs: 12.345,
          firstCommandMs: 3,
          data: { roundTripMs: 1.5, nested: { text: `"ü\u0000` }, list: [1, null] },
          steps: [
            step("set", { latencyMs: 0.001, data: { bytes: 3 }, concurrency: 4, timeoutMs: 500 }),
            step("get", { status: "error", errorCode: "step_timeout", latencyMs: 500.25 }),
            step("set", { latencyMs: 7 })
          ]
        }),
        task(0, { status: "error", errorCode: "BOOM", latencyMs: 1 }),
        { taskIndex: 2, status: "skipped" }
      ]
      const sent = yield* platform.sendTaskResults(worker, batch(attemptId, 0, records, true))
      assert.isString(sent.eventBatchId)
      assert.deepStrictEqual(sent, { accepted: 3, eventBatchId: sent.eventBatchId, duplicate: false })
      const common = { participantSlug: "alpha", provider: null }
      assert.deepStrictEqual(yield* platform.iterations(run, {}), [
        {
          ...common,
          taskIndex: 0,
          status: "error",
          latencyMs: 1,
          errorCode: "BOOM",
          startedAt,
          completedAt,
          data: null
        },
        {
          ...common,
          taskIndex: 1,
          status: "success",
          latencyMs: 12.345,
          errorCode: null,
          startedAt,
          completedAt,
          data: { roundTripMs: 1.5, nested: { text: `"ü\u0000` }, list: [1, null] }
        },
        {
          ...common,
          taskIndex: 2,
          status: "skipped",
          latencyMs: null,
          errorCode: null,
          startedAt: null,
          completedAt: null,
          data: null
        }
      ])
      const steps = yield* platform.iterations(run, { type: "steps" })
      assert.deepStrictEqual(
        steps.map((iteration) => [
          iteration.stepName,
          iteration.taskIndex,
          iteration.status,
          iteration.latencyMs,
          iteration.errorCode,
          iteration.data
        ]),
        [
          ["set", 1, "success", 0.001, null, { bytes: 3 }],
          ["get", 1, "error", 500.25, "step_timeout", null],
          ["set", 1, "success", 7, null, null]
        ]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("a repeated batch is acknowledged and stored once", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const first = yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0), task(1)]))
      const again = yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0, { latencyMs: 99 })]))
      assert.deepStrictEqual(again, { ...first, duplicate: true })
      yield* platform.completeWorker(worker, { attemptId })
      assert.deepStrictEqual(yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0)])), again)
      assert.deepStrictEqual(
        (yield* platform.iterations(run, {})).map((iteration) => iteration.latencyMs),
        [10, 10]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("another worker's batch is not acknowledged as a repeated one", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 10 } })
      const first = yield* claim({ ...run, participant: "alpha" }, 2)
      const second = yield* claim({ ...run, participant: "alpha" })
      yield* platform.sendTaskResults(first.worker, batch(first.attemptId, 0, [task(0)]))
      assert.strictEqual(
        yield* failure(platform.sendTaskResults(second.worker, batch(first.attemptId, 0, [task(5)]))),
        "ResourceConflict StaleAttempt"
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("one batch sent many times at once is stored once", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const sent = yield* Effect.forEach(
        Array.from({ length: 10 }),
        () => platform.sendTaskResults(worker, batch(attemptId, 0, [task(0, { steps: [step("a")] })])),
        { concurrency: 10 }
      )
      assert.strictEqual(sent.filter((result) => !result.duplicate).length, 1)
      assert.strictEqual(new Set(sent.map((result) => result.eventBatchId)).size, 1)
      assert.strictEqual((yield* platform.iterations(run, { type: "steps" })).length, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a batch of 5000 records of 3 steps is stored, one of 5001 is not", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed(6000)
      const records = Array.from({ length: 5001 }, (_, i) => task(i, { steps: [step("a"), step("b"), step("c")] }))
      assert.strictEqual(
        yield* failure(platform.sendTaskResults(worker, batch(attemptId, 0, records))),
        "InvalidRequest records must be at most 5000 (got 5001)"
      )
      assert.deepStrictEqual(yield* platform.iterations(run, {}), [])
      const sent = yield* platform.sendTaskResults(worker, batch(attemptId, 0, records.slice(1)))
      assert.strictEqual(sent.accepted, 5000)
      assert.strictEqual((yield* platform.iterations(run, { type: "steps" })).length, 15_000)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a record of 100 steps is stored, one of 101 is refused with its whole batch", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const steps = Array.from({ length: 101 }, (_, i) => step(`s${i}`))
      assert.strictEqual(
        yield* failure(
          platform.sendTaskResults(worker, batch(attemptId, 0, [task(0), task(1), task(2), task(3, { steps })]))
        ),
        "InvalidRequest records[3].steps must be at most 100"
      )
      assert.deepStrictEqual(yield* platform.iterations(run, {}), [])
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(3, { steps: steps.slice(1) })]))
      assert.strictEqual((yield* platform.iterations(run, { type: "steps" })).length, 100)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a task outside the worker's range is refused with its whole batch", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 10 } })
      yield* claim({ ...run, participant: "alpha" }, 2)
      const { attemptId, worker } = yield* claim({ ...run, participant: "alpha" })
      assert.strictEqual(
        yield* failure(platform.sendTaskResults(worker, batch(attemptId, 0, [task(5), task(4), task(10)]))),
        "InvalidRequest records[1].taskIndex must be from 5 to 9 (got 4); records[2].taskIndex must be from 5 to 9 (got 10)"
      )
      assert.deepStrictEqual(yield* platform.iterations(run, {}), [])
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(5), task(9)]))
    }).pipe(Effect.provide(layer))
  )

  it.effect("a later attempt's record replaces an earlier one's, steps included", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      yield* platform.sendTaskResults(
        worker,
        batch(attemptId, 0, [
          task(0, { latencyMs: 1, steps: [step("kept")] }),
          task(1, { latencyMs: 1, steps: [step("old"), step("both", { latencyMs: 1 })] })
        ])
      )
      yield* platform.releaseWorker(worker, { attemptId })
      const next = yield* claim(worker)
      yield* platform.sendTaskResults(
        worker,
        batch(next.attemptId, 0, [
          task(1, { latencyMs: 2, steps: [step("both", { latencyMs: 2 }), step("new")] }),
          task(2, { latencyMs: 2 })
        ])
      )
      assert.deepStrictEqual(
        (yield* platform.iterations(run, {})).map((iteration) => [iteration.taskIndex, iteration.latencyMs]),
        [
          [0, 1],
          [1, 2],
          [2, 2]
        ]
      )
      assert.deepStrictEqual(
        (yield* platform.iterations(run, { type: "steps" })).map((iteration) => [
          iteration.taskIndex,
          iteration.stepName,
          iteration.latencyMs
        ]),
        [
          [0, "kept", 1],
          [1, "both", 2],
          [1, "new", 1]
        ]
      )
      const results = yield* platform.runResults(run)
      assert.strictEqual(results.overall.taskCount, 3)
      assert.deepStrictEqual(
        results.steps.map((summary) => [summary.stepName, summary.stepCount]),
        [
          ["both", 1],
          ["kept", 1],
          ["new", 1]
        ]
      )
      const closed = yield* platform.completeWorker(worker, { attemptId: next.attemptId })
      assert.strictEqual(closed.worker.progressDone, 3)
    }).pipe(Effect.provide(layer))
  )

  it.effect("replacing a record removes its steps, however many names there are", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const steps = (from: number) => Array.from({ length: 100 }, (_, i) => step(`s${from + i}`))
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0, { steps: steps(0) })]))
      yield* platform.sendTaskResults(worker, batch(attemptId, 1, [task(1, { steps: steps(50) })]))
      yield* platform.sendTaskResults(worker, batch(attemptId, 2, [task(0, { steps: [step("only")] })]))
      const names = (yield* platform.iterations(run, { type: "steps" })).map((iteration) => iteration.stepName)
      assert.deepStrictEqual(names, ["only", ...steps(50).map((record) => record.name)])
    }).pipe(Effect.provide(layer))
  )

  it.effect("within an attempt the later batch's record counts, whichever arrives first", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const send = (sequenceNumber: number, taskIndexes: ReadonlyArray<number>) =>
        platform.sendTaskResults(
          worker,
          batch(
            attemptId,
            sequenceNumber,
            taskIndexes.map((taskIndex) =>
              task(taskIndex, { latencyMs: sequenceNumber, steps: [step(`in ${sequenceNumber}`)] })
            )
          )
        )
      yield* send(0, [0])
      yield* send(2, [0, 1])
      const late = yield* send(1, [1, 2])
      assert.strictEqual(late.accepted, 2)
      assert.isFalse(late.duplicate)
      const expected = [
        [0, 2],
        [1, 2],
        [2, 1]
      ]
      assert.deepStrictEqual(
        (yield* platform.iterations(run, {})).map((iteration) => [iteration.taskIndex, iteration.latencyMs]),
        expected
      )
      assert.deepStrictEqual(
        (yield* platform.iterations(run, { type: "steps" })).map((iteration) => iteration.stepName),
        expected.map(([, sequenceNumber]) => `in ${sequenceNumber}`)
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("of two records of one task in one batch the later one counts", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const sent = yield* platform.sendTaskResults(
        worker,
        batch(attemptId, 0, [
          task(0, { latencyMs: 1, steps: [step("a"), step("b")] }),
          task(0, { latencyMs: 2, steps: [step("c")] })
        ])
      )
      assert.strictEqual(sent.accepted, 2)
      const [stored, ...others] = yield* platform.iterations(run, {})
      assert.strictEqual(stored?.latencyMs, 2)
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(
        (yield* platform.iterations(run, { type: "steps" })).map((iteration) => iteration.stepName),
        ["c"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("step settings that are not numbers do not matter", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      yield* platform.sendTaskResults(
        worker,
        batch(attemptId, 0, [task(0, { steps: [step("a", { concurrency: "many", timeoutMs: { ms: 5 } })] })])
      )
      assert.strictEqual((yield* platform.iterations(run, { type: "steps" })).length, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("an empty final batch is accepted", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      const sent = yield* platform.sendTaskResults(worker, batch(attemptId, 0, [], true))
      assert.deepStrictEqual([sent.accepted, sent.duplicate], [0, false])
    }).pipe(Effect.provide(layer))
  )
}

export const late = (layer: Layer.Layer<Platform, unknown>) => {
  const undelivered = { errorCode: "flush_failed", errorMessage: "Failed to flush task results" }

  it.effect("a failed attempt delivers what it could not before, and completes its worker", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const first = yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0)]))
      yield* platform.failWorker(worker, { attemptId, ...undelivered })
      assert.strictEqual((yield* platform.getRun(run)).status, "failed")
      yield* TestClock.adjust("1 day")
      const again = yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0)]))
      assert.deepStrictEqual(again, { ...first, duplicate: true })
      const sent = yield* platform.sendTaskResults(
        worker,
        batch(attemptId, 1, [task(1), task(2, { status: "error" })], true)
      )
      assert.deepStrictEqual([sent.accepted, sent.duplicate], [2, false])
      const failed = yield* platform.getWorker(worker)
      assert.deepStrictEqual([failed.status, failed.progressDone, failed.progressErrors], ["failed", 3, 1])
      assert.strictEqual((yield* platform.runResults(run)).overall.taskCount, 3)
      const closed = yield* platform.completeWorker(worker, { attemptId })
      assert.strictEqual(closed.worker.status, "completed")
      assert.strictEqual(closed.attempt.status, "completed")
      assert.strictEqual((yield* platform.getParticipant(worker)).status, "completed")
      assert.strictEqual((yield* platform.getRun(run)).status, "completed")
      assert.deepStrictEqual(yield* platform.completeWorker(worker, { attemptId }), closed)
      assert.strictEqual(
        yield* failure(platform.sendTaskResults(worker, batch(attemptId, 2, [task(3)]))),
        "ResourceConflict WorkerClosed"
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("participant and run stay failed when something else has failed", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 2 }, beta: { totalTasks: 1 } })
      const alpha = { ...run, participant: "alpha" }
      const first = yield* claim(alpha, 2)
      const second = yield* claim(alpha)
      const beta = yield* claim({ ...run, participant: "beta" })
      for (const { attemptId, worker } of [first, second, beta]) {
        yield* platform.failWorker(worker, { attemptId, ...undelivered })
      }
      const statuses: Array<string> = []
      for (const { attemptId, worker } of [first, second, beta]) {
        yield* platform.completeWorker(worker, { attemptId })
        statuses.push((yield* platform.getParticipant(alpha)).status, (yield* platform.getRun(run)).status)
      }
      assert.deepStrictEqual(statuses, ["failed", "failed", "completed", "failed", "completed", "completed"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("a run that is still open is not ended by a late completion", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 1 }, beta: { totalTasks: 1 } })
      const { attemptId, worker } = yield* claim({ ...run, participant: "alpha" })
      yield* platform.failWorker(worker, { attemptId, ...undelivered })
      yield* platform.completeWorker(worker, { attemptId })
      assert.strictEqual((yield* platform.getParticipant(worker)).status, "completed")
      assert.strictEqual((yield* platform.getRun(run)).status, "in_progress")
    }).pipe(Effect.provide(layer))
  )

  it.effect("an attempt that failed for another reason delivers but does not complete", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      yield* platform.failWorker(worker, { attemptId, errorCode: "interrupted" })
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0)]))
      assert.strictEqual((yield* platform.getWorker(worker)).progressDone, 1)
      assert.strictEqual(
        yield* failure(platform.completeWorker(worker, { attemptId })),
        "ResourceConflict WorkerClosed"
      )
      assert.strictEqual((yield* platform.getRun(run)).status, "failed")
    }).pipe(Effect.provide(layer))
  )

  it.effect("a released attempt, and one that lost its worker, deliver only what was delivered before", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const first = yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0)]))
      yield* platform.releaseWorker(worker, { attemptId })
      for (const claims of [false, true]) {
        if (claims) yield* claim(worker)
        assert.strictEqual(
          yield* failure(platform.sendTaskResults(worker, batch(attemptId, 1, [task(1)]))),
          "ResourceConflict StaleAttempt"
        )
        const again = yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0)]))
        assert.deepStrictEqual(again, { ...first, duplicate: true })
      }
      assert.strictEqual((yield* platform.iterations(run, {})).length, 1)
    }).pipe(Effect.provide(layer))
  )
}
