import { assert, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Effect, TestClock } from "effect"
import { Platform } from "../../src/Platform.js"
import { claim, claimed, createRun, failure } from "./support.js"

export const workers = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("progress is set where it is given", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      yield* platform.heartbeat(worker, { attemptId, progressDone: 1, progressInFlight: 2, currentStep: "get" })
      const before = yield* platform.getWorker(worker)
      const first = yield* platform.updateWorker(worker, { progressDone: 5, progressErrors: 1 })
      assert.deepStrictEqual(first, { ...before, progressDone: 5, progressErrors: 1 })
      const second = yield* platform.updateWorker(worker, {
        progressInFlight: 0,
        progressTotal: 20,
        currentStep: "set"
      })
      assert.deepStrictEqual(second, { ...first, progressInFlight: 0, progressTotal: 20, currentStep: "set" })
      assert.deepStrictEqual(yield* platform.getWorker(worker), second)
      yield* platform.heartbeat(worker, { attemptId })
    }).pipe(Effect.provide(layer))
  )

  it.effect("a worker ended by hand ends its participant and run, and takes nothing more", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      for (const status of ["completed", "failed"] as const) {
        const { attemptId, run, worker } = yield* claimed()
        yield* platform.heartbeat(worker, { attemptId, progressDone: 3, progressInFlight: 2 })
        const ended = yield* platform.updateWorker(worker, { status })
        assert.deepStrictEqual([ended.status, ended.progressDone, ended.progressInFlight], [status, 3, 0])
        assert.strictEqual((yield* platform.getParticipant(worker)).status, status)
        assert.strictEqual((yield* platform.getRun(run)).status, status)
        assert.strictEqual(yield* failure(platform.heartbeat(worker, { attemptId })), "ResourceConflict WorkerClosed")
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("participant and run follow a worker that is corrected", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 2 } })
      const alpha = { ...run, participant: "alpha" }
      const first = yield* claim(alpha, 2)
      const second = yield* claim(alpha)
      yield* platform.failWorker(first.worker, { attemptId: first.attemptId })
      yield* platform.completeWorker(second.worker, { attemptId: second.attemptId })
      const statuses = Effect.all([platform.getParticipant(alpha), platform.getRun(run)]).pipe(
        Effect.map((found) => found.map(({ status }) => status))
      )
      assert.deepStrictEqual(yield* statuses, ["failed", "failed"])
      yield* platform.updateWorker(first.worker, { status: "completed" })
      assert.deepStrictEqual(yield* statuses, ["completed", "completed"])
      yield* platform.updateWorker(second.worker, { status: "failed" })
      assert.deepStrictEqual(yield* statuses, ["failed", "failed"])
      yield* platform.updateRun(run, { status: "completed" })
      yield* platform.updateWorker(second.worker, { status: "completed" })
      assert.deepStrictEqual(yield* statuses, ["completed", "completed"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("a worker made pending by hand is lost to its attempt and claimed again", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      for (const close of [false, true]) {
        const { attemptId, run, worker } = yield* claimed()
        yield* platform.heartbeat(worker, { attemptId, progressDone: 3, currentStep: "get" })
        if (close) yield* platform.failWorker(worker, { attemptId })
        const pending = yield* platform.updateWorker(worker, { status: "pending" })
        assert.deepStrictEqual([pending.status, pending.progressDone, pending.currentStep], ["pending", 0, null])
        assert.strictEqual((yield* platform.getParticipant(worker)).status, "in_progress")
        assert.strictEqual((yield* platform.getRun(run)).status, "in_progress")
        assert.strictEqual(yield* failure(platform.heartbeat(worker, { attemptId })), "ResourceConflict StaleAttempt")
        assert.strictEqual((yield* claim(worker)).assignment.attemptNumber, 2)
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("a worker made running by hand starts its run, and is claimed once the lease is over", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 1 } })
      const alpha = { ...run, participant: "alpha" }
      const [planned] = yield* platform.planWorkers(alpha, {})
      const worker = { ...alpha, worker: planned?.id ?? "" }
      assert.strictEqual((yield* platform.updateWorker(worker, { status: "running" })).status, "running")
      assert.strictEqual((yield* platform.getRun(run)).status, "in_progress")
      assert.isNull(yield* platform.claimWorker(alpha, {}))
      yield* TestClock.adjust("6 minutes")
      assert.strictEqual((yield* claim(alpha)).assignment.attemptNumber, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("what the others are ready for is ready once the last one is ended by hand", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 2 } })
      const alpha = { ...run, participant: "alpha" }
      const first = yield* claim(alpha, 2)
      const second = yield* claim(alpha)
      const { attemptId, worker } = first
      yield* platform.heartbeat(worker, { attemptId, concurrency: [{ step: "get", active: 1, target: 1 }] })
      yield* platform.updateWorker(second.worker, { status: "failed" })
      yield* platform.heartbeat(worker, { attemptId })
      const { participants } = yield* platform.runProgress(run)
      assert.deepStrictEqual(
        participants[0]?.concurrency.map(({ ready, step }) => [step, ready]),
        [["get", true]]
      )
    }).pipe(Effect.provide(layer))
  )
}

export const participants = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("updating a participant sets what is given, and creates nothing", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 1 } })
      const alpha = { ...run, participant: "alpha" }
      assert.strictEqual(
        yield* failure(platform.updateParticipant({ ...run, participant: "beta" }, { label: "B" })),
        "ResourceNotFound participant"
      )
      const before = yield* platform.getParticipant(alpha)
      const updated = yield* platform.updateParticipant(alpha, { label: "A", totalTasks: 3, config: { z: 0 } })
      assert.deepStrictEqual(updated, { ...before, label: "A", totalTasks: 3, config: { z: 0 } })
      assert.deepStrictEqual(yield* platform.listParticipants(run), [updated])
      yield* platform.planWorkers(alpha, {})
      assert.strictEqual(
        yield* failure(platform.updateParticipant(alpha, { totalTasks: 4 })),
        "ResourceConflict AlreadyPlanned"
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("a status set by hand stays when workers end", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed(1)
      yield* platform.updateRun(run, { status: "failed" })
      yield* platform.completeWorker(worker, { attemptId })
      assert.strictEqual((yield* platform.getParticipant(worker)).status, "completed")
      assert.strictEqual((yield* platform.getRun(run)).status, "failed")
    }).pipe(Effect.provide(layer))
  )

  it.effect("participants ended by hand end their run", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: {}, beta: {} })
      yield* platform.upsertParticipant({ ...run, participant: "alpha" }, { status: "failed" })
      assert.strictEqual((yield* platform.getRun(run)).status, "planned")
      yield* platform.upsertParticipant({ ...run, participant: "beta" }, { status: "completed" })
      assert.strictEqual((yield* platform.getRun(run)).status, "failed")
    }).pipe(Effect.provide(layer))
  )

  it.effect("a run follows what is set on its participants", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: {}, beta: {} })
      const statuses: Array<string> = []
      for (const [participant, status] of [
        ["alpha", "in_progress"],
        ["alpha", "failed"],
        ["beta", "completed"],
        ["alpha", "completed"],
        ["beta", "failed"],
        ["beta", "planned"],
        ["beta", "completed"],
        ["beta", "in_progress"]
      ] as const) {
        const updated = yield* platform.updateParticipant({ ...run, participant }, { status })
        assert.strictEqual(updated.status, status)
        statuses.push((yield* platform.getRun(run)).status)
      }
      assert.deepStrictEqual(statuses, [
        "in_progress",
        "in_progress",
        "failed",
        "completed",
        "failed",
        "in_progress",
        "completed",
        "in_progress"
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("a run's own status set by hand stays when its participants are corrected", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: {} })
      const alpha = { ...run, participant: "alpha" }
      yield* platform.updateParticipant(alpha, { status: "completed" })
      yield* platform.updateRun(run, { status: "failed" })
      yield* platform.updateParticipant(alpha, { status: "completed" })
      assert.strictEqual((yield* platform.getRun(run)).status, "failed")
    }).pipe(Effect.provide(layer))
  )
}
