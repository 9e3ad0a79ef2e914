import { assert, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Effect, FastCheck, TestClock } from "effect"
import { Platform } from "../../src/Platform.js"
import { batch, claim, claimed, createRun, failure, step, task } from "./support.js"

export const planning = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("planned workers are pending and split the tasks evenly", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 10 } })
      const alpha = { ...run, participant: "alpha" }
      const { benchmarkId, id: participantId } = yield* platform.getParticipant(alpha)
      const planned = yield* platform.planWorkers(alpha, { workerCount: 3 })
      assert.deepStrictEqual(
        planned.map((worker) => [worker.workerIndex, worker.taskIndexStart, worker.taskIndexEnd]),
        [
          [0, 0, 3],
          [1, 4, 6],
          [2, 7, 9]
        ]
      )
      assert.deepStrictEqual(planned[1], {
        id: planned[1]?.id ?? "",
        benchmarkId,
        runId: run.run,
        participantId,
        workerIndex: 1,
        workerCount: 3,
        taskIndexStart: 4,
        taskIndexEnd: 6,
        targetConcurrency: null,
        status: "pending",
        progressDone: 0,
        progressInFlight: 0,
        progressErrors: 0,
        progressTotal: 3,
        currentStep: null,
        concurrency: []
      })
      assert.deepStrictEqual(yield* platform.listWorkers(alpha), planned)
      assert.strictEqual((yield* platform.getParticipant(alpha)).workerCount, 3)
    }).pipe(Effect.provide(layer))
  )

  it.effect("targetConcurrency gives every worker that many tasks", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 10 } })
      const planned = yield* platform.planWorkers(
        { ...run, participant: "alpha" },
        { workerCount: 7, targetConcurrency: 4 }
      )
      assert.deepStrictEqual(
        planned.map((worker) => [worker.taskIndexStart, worker.taskIndexEnd, worker.targetConcurrency]),
        [
          [0, 3, 4],
          [4, 7, 4],
          [8, 9, 4]
        ]
      )
      assert.strictEqual((yield* platform.getParticipant({ ...run, participant: "alpha" })).workerCount, 3)
    }).pipe(Effect.provide(layer))
  )

  it.effect("the participant's own workerCount is the default", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 10, workerCount: 2 }, beta: { totalTasks: 10 } })
      assert.strictEqual((yield* platform.planWorkers({ ...run, participant: "alpha" }, {})).length, 2)
      assert.strictEqual((yield* platform.planWorkers({ ...run, participant: "beta" }, {})).length, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect.prop(
    "ranges are contiguous, lose no task and leave no worker without one",
    {
      totalTasks: FastCheck.integer({ min: 1, max: 300 }),
      workerCount: FastCheck.option(FastCheck.integer({ min: 1, max: 40 })),
      targetConcurrency: FastCheck.option(FastCheck.integer({ min: 1, max: 400 }))
    },
    ({ targetConcurrency, totalTasks, workerCount }) =>
      Effect.gen(function* () {
        const platform = yield* Platform
        const run = yield* createRun({ alpha: { totalTasks } })
        const planned = yield* platform.planWorkers(
          { ...run, participant: "alpha" },
          { workerCount, targetConcurrency }
        )
        let next = 0
        for (const [index, worker] of planned.entries()) {
          const size = worker.taskIndexEnd - worker.taskIndexStart + 1
          assert.strictEqual(worker.workerIndex, index)
          assert.strictEqual(worker.workerCount, planned.length)
          assert.strictEqual(worker.taskIndexStart, next)
          assert.isAtLeast(size, 1)
          assert.strictEqual(worker.progressTotal, size)
          next = worker.taskIndexEnd + 1
        }
        assert.strictEqual(next, totalTasks)
        const sizes = planned.map((worker) => worker.progressTotal)
        if (targetConcurrency !== null) {
          assert.isTrue(sizes.slice(0, -1).every((size) => size === targetConcurrency))
        } else {
          assert.strictEqual(planned.length, Math.min(totalTasks, workerCount ?? 1))
          assert.isAtMost(Math.max(...sizes) - Math.min(...sizes), 1)
        }
      }).pipe(Effect.provide(layer)),
    { fastCheck: { numRuns: 25 } }
  )

  it.effect("workers are planned once", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 10 } })
      const alpha = { ...run, participant: "alpha" }
      const results = yield* Effect.forEach(
        [1, 2, 3, 4, 5],
        (workerCount) => Effect.either(platform.planWorkers(alpha, { workerCount })),
        { concurrency: 5 }
      )
      assert.strictEqual(results.filter((result) => result._tag === "Right").length, 1)
      const planned = yield* platform.listWorkers(alpha)
      assert.strictEqual(yield* failure(platform.planWorkers(alpha, {})), "ResourceConflict AlreadyPlanned")
      assert.deepStrictEqual(yield* platform.listWorkers(alpha), planned)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a participant without tasks, or with too many workers, is refused", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ none: {}, many: { totalTasks: 10_001 } })
      const none = { ...run, participant: "none" }
      assert.strictEqual(
        yield* failure(platform.planWorkers(none, {})),
        "InvalidRequest totalTasks must be at least 1 (got 0)"
      )
      assert.strictEqual((yield* platform.getParticipant(none)).status, "planned")
      const many = { ...run, participant: "many" }
      assert.strictEqual(
        yield* failure(platform.planWorkers(many, { targetConcurrency: 1 })),
        "InvalidRequest workerCount must be at most 10000 (got 10001)"
      )
      assert.deepStrictEqual(yield* platform.listWorkers(many), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("an unknown participant is not found", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const ref = { ...(yield* createRun({})), participant: "nobody" }
      for (const attempt of [
        platform.getParticipant(ref),
        platform.planWorkers(ref, {}),
        platform.claimWorker(ref, {}),
        platform.listWorkers(ref),
        platform.getWorker({ ...ref, worker: "x" })
      ]) {
        assert.strictEqual(yield* failure(attempt), "ResourceNotFound participant")
      }
    }).pipe(Effect.provide(layer))
  )
}

export const claiming = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("a claim hands out the lowest pending worker, then nothing", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 5 } })
      const alpha = { ...run, participant: "alpha" }
      assert.isNull(yield* platform.claimWorker(alpha, {}))
      const planned = yield* platform.planWorkers(alpha, { workerCount: 2 })
      const claims = yield* Effect.forEach([0, 1, 2], () => platform.claimWorker(alpha, {}))
      assert.deepStrictEqual(
        claims.map((assignment) => assignment?.workerId),
        [planned[0]?.id, planned[1]?.id, undefined]
      )
      assert.isNull(claims[2])
    }).pipe(Effect.provide(layer))
  )

  it.effect("an assignment says what to do", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const benchmark = yield* platform.upsertBenchmark("bench", {})
      const { participants, run } = yield* platform.createRun("bench", {
        config: { from: "run", run: true },
        participants: [{ slug: "alpha", provider: "p", totalTasks: 7, config: { from: "participant", own: [1] } }]
      })
      const alpha = { benchmark: "bench", run: run.id, participant: "alpha" }
      yield* platform.planWorkers(alpha, { targetConcurrency: 4, config: { from: "plan" } })
      yield* platform.claimWorker(alpha, {})
      const assignment = yield* platform.claimWorker(alpha, { processKind: "vm", processKey: "i-1" })
      assert.deepStrictEqual(assignment, {
        benchmarkId: benchmark.id,
        benchmarkSlug: "bench",
        runId: run.id,
        participantId: participants[0]?.id ?? "",
        participantSlug: "alpha",
        provider: "p",
        workerId: assignment?.workerId ?? "",
        workerIndex: 1,
        workerCount: 2,
        attemptId: assignment?.attemptId ?? "",
        attemptNumber: 1,
        taskRange: { start: 4, end: 6, count: 3 },
        targetConcurrency: 4,
        config: { from: "plan", run: true, own: [1] }
      })
      const worker = yield* platform.getWorker({ ...alpha, worker: assignment?.workerId ?? "" })
      assert.strictEqual(worker.status, "running")
    }).pipe(Effect.provide(layer))
  )

  it.effect("no two claimers get the same worker", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 20 } })
      const alpha = { ...run, participant: "alpha" }
      yield* platform.planWorkers(alpha, { workerCount: 20 })
      const claims = yield* Effect.forEach(Array.from({ length: 50 }), () => platform.claimWorker(alpha, {}), {
        concurrency: 50
      })
      const workers = claims.flatMap((assignment) => (assignment === null ? [] : [assignment.workerIndex]))
      assert.deepStrictEqual(
        workers.sort((a, b) => a - b),
        Array.from({ length: 20 }, (_, i) => i)
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("a released worker is pending, and its next attempt has the next number", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { assignment, attemptId, worker } = yield* claimed()
      yield* platform.heartbeat(worker, { attemptId, progressDone: 4, currentStep: "get" })
      const released = yield* platform.releaseWorker(worker, { attemptId })
      assert.strictEqual(released.worker.status, "pending")
      assert.strictEqual(released.worker.progressDone, 0)
      assert.isNull(released.worker.currentStep)
      assert.strictEqual(released.attempt.status, "released")
      const next = yield* platform.claimWorker(worker, {})
      assert.strictEqual(next?.workerId, assignment.workerId)
      assert.strictEqual(next?.attemptNumber, 2)
      assert.notStrictEqual(next?.attemptId, attemptId)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a worker silent for longer than the lease is claimed again, after those that are pending", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 2 } })
      const alpha = { ...run, participant: "alpha" }
      const first = yield* claim(alpha, 2)
      yield* TestClock.adjust("5 minutes")
      const second = yield* claim(alpha)
      assert.strictEqual(second.assignment.workerIndex, 1)
      assert.isNull(yield* platform.claimWorker(alpha, {}))
      yield* TestClock.adjust("1 millis")
      const again = yield* claim(alpha)
      assert.strictEqual(again.assignment.workerId, first.assignment.workerId)
      assert.strictEqual(again.assignment.attemptNumber, 2)
      assert.isNull(yield* platform.claimWorker(alpha, {}))
    }).pipe(Effect.provide(layer))
  )

  it.effect("a worker that is claimed again starts from nothing", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      const before = yield* platform.getWorker(worker)
      yield* platform.heartbeat(worker, {
        attemptId,
        progressDone: 4,
        progressInFlight: 2,
        progressErrors: 1,
        currentStep: "get",
        concurrency: [{ step: "get", active: 2, target: 2 }]
      })
      yield* TestClock.adjust("6 minutes")
      yield* claim(worker)
      assert.deepStrictEqual(yield* platform.getWorker(worker), before)
    }).pipe(Effect.provide(layer))
  )

  it.effect("heartbeats and batches renew the lease", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      yield* TestClock.adjust("4 minutes")
      yield* platform.heartbeat(worker, { attemptId })
      yield* TestClock.adjust("4 minutes")
      assert.isNull(yield* platform.claimWorker(worker, {}))
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0)]))
      yield* TestClock.adjust("4 minutes")
      assert.isNull(yield* platform.claimWorker(worker, {}))
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* claim(worker)).assignment.attemptNumber, 2)
    }).pipe(Effect.provide(layer))
  )

  it.effect("an attempt that lost its worker changes nothing any more", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      yield* TestClock.adjust("6 minutes")
      const next = yield* claim(worker)
      yield* platform.heartbeat(worker, { attemptId: next.attemptId, progressDone: 1, currentStep: "mine" })
      const before = yield* platform.getWorker(worker)
      for (const attempt of [
        platform.heartbeat(worker, { attemptId, progressDone: 9 }),
        platform.sendTaskResults(worker, batch(attemptId, 0, [task(0)])),
        platform.completeWorker(worker, { attemptId }),
        platform.failWorker(worker, { attemptId }),
        platform.releaseWorker(worker, { attemptId }),
        platform.heartbeat(worker, { attemptId: "no-such-attempt" })
      ]) {
        assert.strictEqual(yield* failure(attempt), "ResourceConflict StaleAttempt")
      }
      assert.deepStrictEqual(yield* platform.getWorker(worker), before)
      assert.deepStrictEqual(yield* platform.iterations(run, {}), [])
      yield* platform.completeWorker(worker, { attemptId: next.attemptId })
    }).pipe(Effect.provide(layer))
  )

  it.effect("a released attempt is stale, claimed again or not", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      yield* platform.releaseWorker(worker, { attemptId })
      const heartbeat = platform.heartbeat(worker, { attemptId })
      assert.strictEqual(yield* failure(heartbeat), "ResourceConflict StaleAttempt")
      yield* claim(worker)
      assert.strictEqual(yield* failure(heartbeat), "ResourceConflict StaleAttempt")
    }).pipe(Effect.provide(layer))
  )
}

export const heartbeats = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("a heartbeat says where the worker is now", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { assignment, attemptId, worker } = yield* claimed()
      const concurrency = [
        { step: "get", active: 3, target: 4 },
        { step: "set", active: 1, target: 4 }
      ]
      const first = yield* platform.heartbeat(worker, {
        attemptId,
        progressDone: 2,
        progressInFlight: 4,
        progressErrors: 1,
        progressTotal: 10,
        currentStep: "get",
        concurrency
      })
      assert.deepStrictEqual(first.attempt, {
        id: attemptId,
        benchmarkId: assignment.benchmarkId,
        runId: assignment.runId,
        participantId: assignment.participantId,
        workerId: assignment.workerId,
        attemptNumber: 1,
        status: "running"
      })
      assert.strictEqual(first.worker.currentStep, "get")
      assert.deepStrictEqual(first.worker.concurrency, concurrency)
      const { progressDone, progressErrors, progressInFlight, progressTotal } = first.worker
      assert.deepStrictEqual([progressDone, progressInFlight, progressErrors, progressTotal], [2, 4, 1, 10])
      const second = yield* platform.heartbeat(worker, { attemptId, progressDone: 5 })
      assert.deepStrictEqual(second.worker, { ...first.worker, progressDone: 5, currentStep: null, concurrency: [] })
      assert.deepStrictEqual(yield* platform.getWorker(worker), second.worker)
    }).pipe(Effect.provide(layer))
  )

  it.effect("more than 20 samples, or two of one step, are refused", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      const samples = Array.from({ length: 21 }, (_, i) => ({ step: `s${i}`, active: i, target: i }))
      yield* platform.heartbeat(worker, { attemptId, concurrency: samples.slice(1) })
      assert.strictEqual(
        yield* failure(platform.heartbeat(worker, { attemptId, concurrency: samples })),
        "InvalidRequest concurrency must be at most 20 (got 21)"
      )
      const twice = [...samples.slice(0, 2), ...samples.slice(1, 2)]
      assert.strictEqual(
        yield* failure(platform.heartbeat(worker, { attemptId, concurrency: twice })),
        `InvalidRequest concurrency[2].step must be unique (got "s1" again)`
      )
      assert.strictEqual((yield* platform.getWorker(worker)).concurrency?.length, 20)
    }).pipe(Effect.provide(layer))
  )

  it.effect("an unknown worker is not found", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      yield* platform.upsertParticipant({ ...run, participant: "beta" }, {})
      for (const wrong of [
        { ...worker, worker: "00000000-0000-4000-8000-000000000000" },
        { ...worker, participant: "beta" }
      ]) {
        for (const attempt of [
          platform.getWorker(wrong),
          platform.heartbeat(wrong, { attemptId }),
          platform.sendTaskResults(wrong, batch(attemptId, 0, [])),
          platform.completeWorker(wrong, { attemptId }),
          platform.failWorker(wrong, { attemptId }),
          platform.releaseWorker(wrong, { attemptId })
        ]) {
          assert.strictEqual(yield* failure(attempt), "ResourceNotFound worker")
        }
      }
      assert.strictEqual((yield* platform.getWorker(worker)).status, "running")
    }).pipe(Effect.provide(layer))
  )
}

export const closing = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("closing counts what is stored", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 6 } })
      const alpha = { ...run, participant: "alpha" }
      for (const close of [platform.completeWorker, platform.failWorker]) {
        const { assignment, attemptId, worker } = yield* claim(alpha, 2)
        const at = (offset: number) => assignment.taskRange.start + offset
        yield* platform.heartbeat(worker, {
          attemptId,
          progressDone: 1,
          progressInFlight: 2,
          currentStep: "get",
          concurrency: [{ step: "get", active: 1, target: 1 }]
        })
        yield* platform.sendTaskResults(
          worker,
          batch(attemptId, 0, [task(at(0)), task(at(1), { status: "error", steps: [step("get")] }), task(at(2))], true)
        )
        const closed = yield* close(worker, { attemptId })
        const status = close === platform.completeWorker ? "completed" : "failed"
        assert.strictEqual(closed.attempt.status, status)
        assert.deepStrictEqual(
          { ...closed.worker },
          {
            ...closed.worker,
            status,
            progressDone: 3,
            progressErrors: 1,
            progressInFlight: 0,
            progressTotal: 3,
            currentStep: null,
            concurrency: []
          }
        )
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("a closed worker takes nothing more, but a failed one late results", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      for (const [close, others] of [
        [platform.completeWorker, [platform.failWorker, platform.releaseWorker]],
        [platform.failWorker, [platform.completeWorker, platform.releaseWorker]]
      ] as const) {
        const { attemptId, run, worker } = yield* claimed()
        yield* close(worker, { attemptId })
        const before = yield* platform.getWorker(worker)
        const send = platform.sendTaskResults(worker, batch(attemptId, 0, [task(0)]))
        for (const attempt of [
          platform.heartbeat(worker, { attemptId }),
          ...(close === platform.completeWorker ? [send] : []),
          ...others.map((other) => other(worker, { attemptId }))
        ]) {
          assert.strictEqual(yield* failure(attempt), "ResourceConflict WorkerClosed")
        }
        assert.deepStrictEqual(yield* platform.getWorker(worker), before)
        assert.deepStrictEqual(yield* platform.iterations(run, {}), [])
        assert.isNull(yield* platform.claimWorker(worker, {}))
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("closing the same way again is acknowledged and changes nothing", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      for (const close of [platform.completeWorker, platform.failWorker, platform.releaseWorker]) {
        const { attemptId, run, worker } = yield* claimed()
        const first = yield* close(worker, { attemptId })
        const status = (yield* platform.getRun(run)).status
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(yield* close(worker, { attemptId }), first)
        assert.strictEqual((yield* platform.getRun(run)).status, status)
      }
    }).pipe(Effect.provide(layer))
  )
}
