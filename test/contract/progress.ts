import { assert, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Effect, TestClock } from "effect"
import type { ConcurrencySample, RunRef } from "../../src/Platform.js"
import { Platform } from "../../src/Platform.js"
import { batch, claim, claimed, createRun, task } from "./support.js"

const progressOf = (run: RunRef, participant = "alpha") =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const progress = yield* platform.runProgress(run)
    const found = progress.participants.find(({ slug }) => slug === participant)
    return found ?? (yield* Effect.dieMessage(`no progress of ${participant}`))
  })

/** What is said about one step: its row, or undefined. */
const stepOf = (run: RunRef, step: string, participant = "alpha") =>
  Effect.map(progressOf(run, participant), ({ concurrency }) => concurrency.find((row) => row.step === step))

const isReady = (run: RunRef, step: string, participant = "alpha") =>
  Effect.map(stepOf(run, step, participant), (row) => row?.ready ?? false)

const sample = (step: string, active: number, target: number): ConcurrencySample => ({ step, active, target })

/** A run whose participant "alpha" has this many workers, all claimed. */
const claimAll = (count: number) =>
  Effect.gen(function* () {
    const run = yield* createRun({ alpha: { totalTasks: count } })
    const workers = yield* Effect.forEach(Array.from({ length: count }), () =>
      claim({ ...run, participant: "alpha" }, count)
    )
    const report = (index: number, concurrency: ReadonlyArray<ConcurrencySample>, progressInFlight?: number) =>
      Effect.gen(function* () {
        const platform = yield* Platform
        const found = workers[index] ?? (yield* Effect.dieMessage("no such worker"))
        yield* platform.heartbeat(found.worker, { attemptId: found.attemptId, concurrency, progressInFlight })
      })
    return { run, workers, report }
  })

export const progress = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("a run without participants has not started", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({})
      assert.deepStrictEqual(yield* platform.runProgress(run), {
        run: { id: run.run, status: "planned", totalTasks: 0, workerCount: 0 },
        summary: {
          status: "planned",
          started: false,
          completed: false,
          participants: { planned: 0, inProgress: 0, completed: 0, failed: 0, total: 0 }
        },
        freshnessWindowSeconds: 15,
        generatedAt: "1970-01-01T00:00:00.000Z",
        participants: []
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("workers and their tasks are counted, participant by participant", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ beta: { totalTasks: 8, provider: "b" }, alpha: {} })
      const beta = { ...run, participant: "beta" }
      const workers = yield* Effect.forEach([0, 1, 2], () => claim(beta, 4))
      const [first, second, third] = workers
      if (first === undefined || second === undefined || third === undefined) return assert.fail("three were claimed")
      yield* platform.sendTaskResults(first.worker, batch(first.attemptId, 0, [task(0), task(1, { status: "error" })]))
      yield* platform.completeWorker(first.worker, { attemptId: first.attemptId })
      yield* platform.failWorker(second.worker, { attemptId: second.attemptId })
      yield* platform.heartbeat(third.worker, {
        attemptId: third.attemptId,
        progressDone: 1,
        progressInFlight: 2,
        progressErrors: 1
      })
      const { participants, run: shown, summary } = yield* platform.runProgress(run)
      assert.deepStrictEqual(shown, { id: run.run, status: "in_progress", totalTasks: 8, workerCount: 5 })
      assert.deepStrictEqual(summary, {
        status: "in_progress",
        started: true,
        completed: false,
        participants: { planned: 1, inProgress: 1, completed: 0, failed: 0, total: 2 }
      })
      const ids = new Map((yield* platform.listParticipants(run)).map(({ id, slug }) => [slug, id]))
      assert.deepStrictEqual(participants, [
        {
          id: ids.get("beta") ?? "",
          slug: "beta",
          provider: "b",
          status: "in_progress",
          totalTasks: 8,
          workerCount: 4,
          workers: { pending: 1, running: 1, completed: 1, failed: 1, stale: 0, total: 4 },
          tasks: { done: 3, inFlight: 2, errors: 2, total: 8, completionRatio: 0.375 },
          concurrency: []
        },
        {
          id: ids.get("alpha") ?? "",
          slug: "alpha",
          provider: null,
          status: "planned",
          totalTasks: 0,
          workerCount: 1,
          workers: { pending: 0, running: 0, completed: 0, failed: 0, stale: 0, total: 0 },
          tasks: { done: 0, inFlight: 0, errors: 0, total: 0, completionRatio: null },
          concurrency: []
        }
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("its status is the run's at every moment", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 1 } })
      const seen = Effect.gen(function* () {
        const { run: shown, summary } = yield* platform.runProgress(run)
        const { status } = yield* platform.getRun(run)
        assert.strictEqual(shown.status, status)
        assert.strictEqual(summary.status, status)
        return [status, summary.started, summary.completed]
      })
      assert.deepStrictEqual(yield* seen, ["planned", false, false])
      const { attemptId, worker } = yield* claim({ ...run, participant: "alpha" })
      assert.deepStrictEqual(yield* seen, ["in_progress", true, false])
      yield* platform.completeWorker(worker, { attemptId })
      assert.deepStrictEqual(yield* seen, ["completed", true, true])
      yield* platform.updateRun(run, { status: "failed" })
      assert.deepStrictEqual(yield* seen, ["failed", true, false])
    }).pipe(Effect.provide(layer))
  )

  it.effect("a worker is stale once its last heartbeat is 15 seconds old; batches are no heartbeats", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const heartbeat = platform.heartbeat(worker, { attemptId, concurrency: [sample("get", 1, 2)] })
      yield* TestClock.adjust("10 seconds")
      yield* heartbeat
      yield* TestClock.adjust("14999 millis")
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, [task(0)]))
      const fresh = yield* progressOf(run)
      assert.strictEqual(fresh.workers.stale, 0)
      assert.deepStrictEqual(fresh.concurrency, [
        { step: "get", active: 1, target: 2, ready: false, freshWorkerCount: 1 }
      ])
      yield* TestClock.adjust("1 millis")
      const stale = yield* progressOf(run)
      assert.strictEqual(stale.workers.stale, 1)
      assert.strictEqual(stale.workers.running, 1)
      assert.deepStrictEqual(stale.concurrency, [
        { step: "get", active: 0, target: 0, ready: false, freshWorkerCount: 0 }
      ])
      yield* heartbeat
      assert.strictEqual((yield* progressOf(run)).workers.stale, 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a worker is fresh from when it is claimed, and an ended one never stale", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      assert.strictEqual((yield* progressOf(run)).workers.stale, 0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* progressOf(run)).workers.stale, 1)
      yield* platform.failWorker(worker, { attemptId })
      assert.strictEqual((yield* progressOf(run)).workers.stale, 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("steps are summed up over the workers that reported them", () =>
    Effect.gen(function* () {
      const { report, run } = yield* claimAll(3)
      yield* report(0, [sample("set", 1, 4), sample("get", 3, 4)])
      yield* report(1, [sample("get", 2, 5)])
      assert.deepStrictEqual((yield* progressOf(run)).concurrency, [
        { step: "get", active: 5, target: 9, ready: false, freshWorkerCount: 2 },
        { step: "set", active: 1, target: 4, ready: false, freshWorkerCount: 1 }
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("a step is ready when every worker has reached its target", () =>
    Effect.gen(function* () {
      const { report, run } = yield* claimAll(2)
      yield* report(0, [sample("get", 4, 4)])
      assert.isFalse(yield* isReady(run, "get"))
      yield* report(1, [sample("get", 3, 4), sample("set", 4, 4)])
      assert.isFalse(yield* isReady(run, "get"))
      yield* report(1, [sample("get", 5, 4)])
      assert.deepStrictEqual(yield* stepOf(run, "get"), {
        step: "get",
        active: 9,
        target: 8,
        ready: true,
        freshWorkerCount: 2
      })
      assert.isFalse(yield* isReady(run, "set"))
    }).pipe(Effect.provide(layer))
  )

  it.effect("a ready step stays ready for whoever asks late", () =>
    Effect.gen(function* () {
      const { report, run } = yield* claimAll(2)
      yield* report(0, [sample("get", 1, 1)])
      yield* report(1, [sample("get", 1, 1)])
      yield* report(0, [sample("set", 1, 1)])
      yield* report(1, [])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual((yield* progressOf(run)).concurrency, [
        { step: "get", active: 0, target: 0, ready: true, freshWorkerCount: 0 },
        { step: "set", active: 0, target: 0, ready: false, freshWorkerCount: 0 }
      ])
      yield* report(0, [sample("get", 0, 1)])
      assert.isTrue(yield* isReady(run, "get"))
    }).pipe(Effect.provide(layer))
  )

  it.effect("a ready step stays ready after its workers have ended", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { report, run, workers } = yield* claimAll(1)
      yield* report(0, [sample("get", 1, 1)])
      for (const { attemptId, worker } of workers) yield* platform.completeWorker(worker, { attemptId })
      assert.isTrue(yield* isReady(run, "get"))
    }).pipe(Effect.provide(layer))
  )

  it.effect("nothing is ready while a worker has not been claimed", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 2 } })
      const alpha = { ...run, participant: "alpha" }
      const ready = [sample("get", 1, 1)]
      const first = yield* claim(alpha, 2)
      yield* platform.heartbeat(first.worker, { attemptId: first.attemptId, concurrency: ready })
      assert.isFalse(yield* isReady(run, "get"))
      const second = yield* claim(alpha)
      assert.isFalse(yield* isReady(run, "get"))
      yield* platform.heartbeat(second.worker, { attemptId: second.attemptId, concurrency: ready })
      assert.isTrue(yield* isReady(run, "get"))
    }).pipe(Effect.provide(layer))
  )

  it.effect("nothing is ready while a worker is stale, whatever it has reported", () =>
    Effect.gen(function* () {
      const { report, run } = yield* claimAll(2)
      yield* report(0, [sample("get", 1, 1)])
      yield* TestClock.adjust("15 seconds")
      yield* report(1, [sample("get", 1, 1)])
      assert.deepStrictEqual(yield* stepOf(run, "get"), {
        step: "get",
        active: 1,
        target: 1,
        ready: false,
        freshWorkerCount: 1
      })
      yield* report(0, [sample("get", 1, 1)])
      assert.isTrue(yield* isReady(run, "get"))
    }).pipe(Effect.provide(layer))
  )

  it.effect("workers that have completed or failed do not keep a step from being ready", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { report, run, workers } = yield* claimAll(3)
      yield* report(2, [sample("get", 1, 1)])
      for (const [index, { attemptId, worker }] of workers.slice(0, 2).entries()) {
        assert.isFalse(yield* isReady(run, "get"))
        yield* index === 0 ? platform.completeWorker(worker, { attemptId }) : platform.failWorker(worker, { attemptId })
      }
      yield* report(2, [])
      assert.isTrue(yield* isReady(run, "get"))
    }).pipe(Effect.provide(layer))
  )

  it.effect("a step of a participant is not ready because another's is", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 1 }, beta: { totalTasks: 1 } })
      for (const [participant, active] of [
        ["alpha", 1],
        ["beta", 0]
      ] as const) {
        const { attemptId, worker } = yield* claim({ ...run, participant })
        yield* platform.heartbeat(worker, { attemptId, concurrency: [sample("get", active, 1)] })
      }
      assert.isTrue(yield* isReady(run, "get", "alpha"))
      assert.isFalse(yield* isReady(run, "get", "beta"))
    }).pipe(Effect.provide(layer))
  )

  it.effect("of worker.ready and sandbox.live as many are active as tasks are in flight", () =>
    Effect.gen(function* () {
      const { report, run } = yield* claimAll(2)
      const steps = ["worker.ready", "sandbox.live"]
      const samples = steps.map((step) => sample(step, 0, 3))
      yield* report(0, samples, 3)
      yield* report(1, samples, 2)
      for (const step of steps) {
        assert.deepStrictEqual(yield* stepOf(run, step), {
          step,
          active: 5,
          target: 6,
          ready: false,
          freshWorkerCount: 2
        })
      }
      yield* report(1, samples, 3)
      yield* report(1, [], 0)
      for (const step of steps) assert.isTrue(yield* isReady(run, step))
    }).pipe(Effect.provide(layer))
  )
}
