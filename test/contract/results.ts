import { assert, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Effect, FastCheck } from "effect"
import type { ResultSummary, RunSummary } from "../../src/Platform.js"
import { Platform } from "../../src/Platform.js"
import type { StepRecord, TaskRecord } from "../../src/Record.js"
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

export const summaries = (layer: Layer.Layer<Platform, unknown>) => {
  const summary = (compositeScore: number): RunSummary => ({
    run: { gitSha: "abc", gitRef: null, nodeVersion: "v20", platform: "linux", arch: "x64" },
    results: [
      {
        provider: "alpha",
        dimensions: { region: "eu" },
        metrics: [
          {
            name: "roundTripMs",
            unit: "ms",
            median: 1.5,
            p95: 2,
            p99: 3,
            raw: { count: 3, min: 1, median: 1.5, p95: 2, p99: 3, max: 3 }
          }
        ],
        compositeScore,
        successRate: 1,
        skipped: false
      }
    ],
    scoring: { metrics: [{ key: "roundTripMs" }] }
  })

  it.effect("a summary is stored, and replaced by a later one", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 1 } })
      assert.strictEqual(yield* failure(platform.getSummary(run)), "ResourceNotFound summary")
      for (const score of [98.5, 12]) {
        assert.deepStrictEqual(yield* platform.submitSummary(run, summary(score)), summary(score))
        assert.deepStrictEqual(yield* platform.getSummary(run), summary(score))
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("the summary of an unknown run is not stored", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { benchmark } = yield* createRun({})
      assert.strictEqual(
        yield* failure(platform.submitSummary({ benchmark, run: "nope" }, summary(1))),
        "ResourceNotFound run"
      )
    }).pipe(Effect.provide(layer))
  )
}

// -----------------------------------------------------------------------------
// results
// -----------------------------------------------------------------------------

const nothing: ResultSummary = {
  taskCount: 0,
  successCount: 0,
  errorCount: 0,
  otherCount: 0,
  latencyCount: 0,
  successRate: null,
  latencyMs: { min: null, avg: null, p50: null, p95: null, p99: null, max: null },
  firstStartedAt: null,
  lastCompletedAt: null
}

const nearestRank = (sorted: ReadonlyArray<number>, percent: number) =>
  sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? null

const count = (records: ReadonlyArray<TaskRecord | StepRecord>, status: string) =>
  records.filter((record) => record.status === status).length

/** Everything but the average, which is compared with a tolerance. */
const summarize = (records: ReadonlyArray<TaskRecord | StepRecord>, taskCount = records.length) => {
  const latencies = records.flatMap((record) => (typeof record.latencyMs === "number" ? [record.latencyMs] : []))
  const sorted = latencies.sort((a, b) => a - b)
  const times = (times: ReadonlyArray<string | null | undefined>) =>
    times.flatMap((time) => (typeof time === "string" ? [time] : [])).sort()
  return {
    taskCount,
    successCount: count(records, "success"),
    errorCount: count(records, "error"),
    otherCount: records.length - count(records, "success") - count(records, "error"),
    latencyCount: sorted.length,
    successRate: records.length === 0 ? null : count(records, "success") / records.length,
    latencyMs: {
      min: sorted[0] ?? null,
      p50: nearestRank(sorted, 50),
      p95: nearestRank(sorted, 95),
      p99: nearestRank(sorted, 99),
      max: sorted.at(-1) ?? null
    },
    firstStartedAt: times(records.map((record) => record.startedAt))[0] ?? null,
    lastCompletedAt: times(records.map((record) => record.completedAt)).at(-1) ?? null
  }
}

const assertSummary = (
  actual: ResultSummary,
  records: ReadonlyArray<TaskRecord | StepRecord>,
  taskCount = records.length
) => {
  const { avg, ...latencyMs } = actual.latencyMs
  const { errorCount, firstStartedAt, lastCompletedAt, latencyCount, otherCount, successCount, successRate } = actual
  assert.deepStrictEqual(
    {
      taskCount: actual.taskCount,
      successCount,
      errorCount,
      otherCount,
      latencyCount,
      successRate,
      latencyMs,
      firstStartedAt,
      lastCompletedAt
    },
    summarize(records, taskCount)
  )
  const latencies = records.flatMap((record) => (typeof record.latencyMs === "number" ? [record.latencyMs] : []))
  if (latencies.length === 0) return assert.isNull(avg)
  const mean = latencies.reduce((sum, latency) => sum + latency, 0) / latencies.length
  assert.closeTo(avg ?? Number.NaN, mean, 1e-9 * Math.max(1, mean))
}

const outcome = {
  status: FastCheck.constantFrom("success", "error", "cancelled"),
  latencyMs: FastCheck.oneof(
    { weight: 5, arbitrary: FastCheck.integer({ min: 0, max: 50_000 }).map((micros) => micros / 1000) },
    { weight: 1, arbitrary: FastCheck.constant(null) }
  ),
  startedAt: FastCheck.constantFrom(null, startedAt, "2025-12-31T23:59:59.999Z", "2026-01-02T03:04:05.001Z"),
  completedAt: FastCheck.constantFrom(null, completedAt, "2026-01-02T03:05:00.000Z")
}

const recordsArbitrary = FastCheck.array(
  FastCheck.record({
    ...outcome,
    steps: FastCheck.array(FastCheck.record({ ...outcome, name: FastCheck.constantFrom("get", "set", "ü", "Zap") }), {
      maxLength: 4
    })
  }),
  { maxLength: 60 }
).map((records) => records.map((record, taskIndex): TaskRecord => ({ taskIndex, ...record })))

export const results = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("a run without records has counts of zero and nulls", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const ref = yield* createRun({ alpha: { provider: "p" }, beta: {} })
      const { benchmark, generatedAt, overall, participants, run, steps } = yield* platform.runResults(ref)
      assert.deepStrictEqual(benchmark, yield* platform.getBenchmark("bench"))
      assert.deepStrictEqual(run, yield* platform.getRun(ref))
      assert.strictEqual(new Date(generatedAt).toISOString(), generatedAt)
      assert.deepStrictEqual(overall, nothing)
      assert.deepStrictEqual(participants, [
        { participantSlug: "alpha", provider: "p", ...nothing },
        { participantSlug: "beta", provider: null, ...nothing }
      ])
      assert.deepStrictEqual(steps, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("percentiles are nearest-rank over all latencies", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed(20)
      const records = Array.from({ length: 20 }, (_, i) =>
        task(19 - i, {
          latencyMs: i + 1,
          status: i < 15 ? "success" : i < 19 ? "error" : "cancelled",
          steps: [step("get", { latencyMs: 2 * (i + 1) }), ...(i === 0 ? [step("get", { latencyMs: 100 })] : [])]
        })
      )
      yield* platform.sendTaskResults(worker, batch(attemptId, 0, records))
      const { overall, participants, steps } = yield* platform.runResults(run)
      assert.deepStrictEqual(overall, {
        taskCount: 20,
        successCount: 15,
        errorCount: 4,
        otherCount: 1,
        latencyCount: 20,
        successRate: 0.75,
        latencyMs: { min: 1, avg: 10.5, p50: 10, p95: 19, p99: 20, max: 20 },
        firstStartedAt: startedAt,
        lastCompletedAt: completedAt
      })
      assert.deepStrictEqual(participants, [{ participantSlug: "alpha", provider: null, ...overall }])
      assert.strictEqual(steps.length, 1)
      const [get] = steps
      assert.deepStrictEqual(
        [get?.stepName, get?.stepCount, get?.taskCount, get?.successCount, get?.successRate],
        ["get", 21, 20, 21, 1]
      )
      assert.deepStrictEqual(get?.latencyMs, { min: 2, avg: 520 / 21, p50: 22, p95: 40, p99: 100, max: 100 })
    }).pipe(Effect.provide(layer))
  )

  it.effect.prop(
    "results equal those computed from the records",
    { alpha: recordsArbitrary, beta: recordsArbitrary },
    (sent) =>
      Effect.gen(function* () {
        const platform = yield* Platform
        const run = yield* createRun({ beta: { totalTasks: 60 }, alpha: { totalTasks: 60 } })
        for (const participant of ["alpha", "beta"] as const) {
          const { attemptId, worker } = yield* claim({ ...run, participant })
          const half = sent[participant].length >> 1
          yield* platform.sendTaskResults(worker, batch(attemptId, 0, sent[participant].slice(half)))
          yield* platform.sendTaskResults(worker, batch(attemptId, 1, sent[participant].slice(0, half)))
        }
        const { overall, participants, steps } = yield* platform.runResults(run)
        assertSummary(overall, [...sent.alpha, ...sent.beta])
        assert.deepStrictEqual(
          participants.map((summary) => summary.participantSlug),
          ["beta", "alpha"]
        )
        const expectedSteps: Array<string> = []
        for (const participant of ["beta", "alpha"] as const) {
          const summary = participants.find((summary) => summary.participantSlug === participant)
          assertSummary(summary ?? nothing, sent[participant])
          const names = new Set(sent[participant].flatMap((record) => (record.steps ?? []).map((s) => s.name)))
          for (const name of names) {
            expectedSteps.push(`${participant} ${name}`)
            const records = sent[participant].flatMap((record) => (record.steps ?? []).filter((s) => s.name === name))
            const tasks = sent[participant].filter((record) => record.steps?.some((s) => s.name === name))
            const found = steps.find((s) => s.participantSlug === participant && s.stepName === name)
            assert.strictEqual(found?.stepCount, records.length)
            assertSummary(found ?? nothing, records, tasks.length)
          }
        }
        assert.deepStrictEqual(steps.map((s) => `${s.participantSlug} ${s.stepName}`).sort(), expectedSteps.sort())
      }).pipe(Effect.provide(layer)),
    { fastCheck: { numRuns: 25 } }
  )

  it.effect("steps are summed up in the order in which tasks take them", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ beta: { totalTasks: 1 }, alpha: { totalTasks: 1 } })
      for (const participant of ["alpha", "beta"]) {
        const { attemptId, worker } = yield* claim({ ...run, participant })
        yield* platform.sendTaskResults(
          worker,
          batch(attemptId, 0, [task(0, { steps: [step("z"), step("m"), step("a"), step("m")] })])
        )
      }
      assert.deepStrictEqual(
        (yield* platform.runResults(run)).steps.map((s) => [s.participantSlug, s.stepName, s.stepCount]),
        [
          ["beta", "z", 1],
          ["beta", "m", 2],
          ["beta", "a", 1],
          ["alpha", "z", 1],
          ["alpha", "m", 2],
          ["alpha", "a", 1]
        ]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("iterations are ordered by participant, task and step, and filtered by participant and step", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ beta: { totalTasks: 12, provider: "b" }, alpha: { totalTasks: 12 } })
      for (const participant of ["alpha", "beta"]) {
        const { attemptId, worker } = yield* claim({ ...run, participant })
        for (const [sequenceNumber, taskIndex] of [10, 2, 9].entries()) {
          const record = task(taskIndex, { steps: [step("z"), step("a,b"), step("a")] })
          yield* platform.sendTaskResults(worker, batch(attemptId, sequenceNumber, [record]))
        }
      }
      const tasks = yield* platform.iterations(run, { type: "tasks" })
      const order = ["beta", "alpha"].flatMap((slug) => [2, 9, 10].map((taskIndex) => [slug, taskIndex]))
      assert.deepStrictEqual(
        tasks.map((iteration) => [iteration.participantSlug, iteration.taskIndex]),
        order
      )
      assert.deepStrictEqual(yield* platform.iterations(run, {}), tasks)
      assert.deepStrictEqual(yield* platform.iterations(run, { steps: ["z"] }), tasks)
      assert.deepStrictEqual(yield* platform.iterations(run, { participant: "alpha" }), tasks.slice(3))
      assert.strictEqual(tasks[0]?.provider, "b")
      assert.isUndefined(tasks[0]?.stepName)
      const steps = yield* platform.iterations(run, { type: "steps" })
      assert.deepStrictEqual(
        steps.map((iteration) => [iteration.participantSlug, iteration.taskIndex, iteration.stepName]),
        order.flatMap(([slug, taskIndex]) => ["z", "a,b", "a"].map((name) => [slug, taskIndex, name]))
      )
      const some = yield* platform.iterations(run, { type: "steps", participant: "beta", steps: ["a", "a,b"] })
      assert.deepStrictEqual(
        some,
        steps.slice(0, 9).filter((iteration) => iteration.stepName !== "z")
      )
      assert.deepStrictEqual(yield* platform.iterations(run, { type: "steps", steps: ["nope"] }), [])
      assert.strictEqual(
        yield* failure(platform.iterations(run, { participant: "nobody" })),
        "ResourceNotFound participant"
      )
    }).pipe(Effect.provide(layer))
  )
}
