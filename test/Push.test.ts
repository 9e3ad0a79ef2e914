import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import * as Benchmark from "../src/Benchmark.js"
import { Platform, PlatformFailure, ResourceConflict } from "../src/Platform.js"
import * as Push from "../src/Push.js"
import type { TaskRecord } from "../src/Record.js"
import * as Reporter from "../src/Reporter.js"
import * as Scheduler from "../src/Scheduler.js"
import * as Spool from "../src/Spool.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import * as Task from "../src/Task.js"
import type { Behaviour } from "./support/fakePlatform.js"
import { FakePlatform, hangs, losesAnswer, permanent, refuses, stale, transient, well } from "./support/fakePlatform.js"
import { closes, completed, metadata, record, records, retries, sent, workerRef } from "./support/reporter.js"
import { settled, spoolIn, temporaryDirectory } from "./support/reporting.js"
import { onlyRun, stored, workersOf } from "./support/runs.js"

const attempt = {
  origin: { kind: "remote", baseUrl: "https://bench.example" },
  ...workerRef,
  attemptId: "attempt-id",
  attemptNumber: 1,
  startedAt: "2026-01-01T00:00:00.000Z"
} as const

interface Left {
  /** Records by batch; the last one is as its process left it, not sealed. */
  readonly batches: ReadonlyArray<ReadonlyArray<TaskRecord>>
  readonly verdict?: Spool.Verdict
}

/** A journal that a process has left behind. */
const leave = (spool: Spool.Spool["Type"], { batches, verdict }: Left) =>
  Effect.scoped(
    Effect.gen(function* () {
      const journal = yield* spool.open(attempt)
      for (const batch of batches) {
        yield* journal.seal
        batch.forEach(journal.append)
      }
      if (verdict !== undefined) yield* journal.setVerdict(verdict)
    })
  )

const tens = [records(10), records(10, 10), records(5, 20)]

const complete: Spool.Verdict = { how: "complete" }

/** A spool with a journal in it that nobody holds. */
const withJournal = (left: Left) =>
  Effect.gen(function* () {
    const directory = yield* temporaryDirectory
    const spool = yield* spoolIn(directory)
    yield* leave(spool, left)
    return { directory, spool, platform: new FakePlatform() }
  })

type Setup = Effect.Effect.Success<ReturnType<typeof withJournal>>

const onlyEntry = (spool: Spool.Spool["Type"]) =>
  Effect.flatMap(spool.list, ({ entries: [entry, ...others] }) =>
    entry === undefined || others.length > 0
      ? Effect.dieMessage(`${others.length} journals beside the first`)
      : Effect.succeed(entry)
  )

const push = ({ platform, spool }: Pick<Setup, "platform" | "spool">, options: Push.PushOptions = {}) =>
  Effect.flatMap(onlyEntry(spool), (entry) => Push.push(entry, options)).pipe(
    Effect.provide(platform.layer),
    Effect.provideService(Spool.Spool, spool)
  )

const discard = ({ spool }: Pick<Setup, "spool">, options: Pick<Push.PushOptions, "force"> = {}) =>
  Effect.flatMap(onlyEntry(spool), (entry) => Push.discard(entry, options)).pipe(
    Effect.provideService(Spool.Spool, spool)
  )

const left = (spool: Spool.Spool["Type"]) =>
  Effect.map(spool.list, ({ entries }) => entries.map(({ holder, recordCount }) => [recordCount, holder]))

describe("pushing a journal", () => {
  it.scoped("sends its batches under their numbers, completes the worker, and removes the journal", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      const progress: Array<readonly [number, number]> = []
      const pushed = yield* push(setup, { onProgress: (delivered, total) => void progress.push([delivered, total]) })
      assert.deepStrictEqual(pushed, { _tag: "Delivered", records: 25, worker: "completed" })
      assert.deepStrictEqual(setup.platform.records, records(25))
      assert.deepStrictEqual(sent(setup.platform), [
        [0, 10, false],
        [1, 10, false],
        [2, 5, true]
      ])
      assert.deepStrictEqual(setup.platform.calls[0]?.input, [
        workerRef,
        { type: "task_results", attemptId: "attempt-id", sequenceNumber: 0, isFinal: false, records: records(10) }
      ])
      assert.deepStrictEqual(closes(setup.platform), completed)
      assert.deepStrictEqual(progress, [
        [10, 25],
        [20, 25],
        [25, 25]
      ])
      assert.deepStrictEqual(Fs.readdirSync(setup.directory), [])
    })
  )

  it.scoped("stores nothing twice that had arrived before", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      for (const [sequenceNumber, batch] of [tens[0], tens[1]].entries()) {
        setup.platform.batches.set(sequenceNumber, {
          type: "task_results",
          attemptId: "attempt-id",
          sequenceNumber,
          isFinal: false,
          records: batch ?? []
        })
      }
      assert.deepStrictEqual(yield* push(setup), { _tag: "Delivered", records: 25, worker: "completed" })
      assert.deepStrictEqual(setup.platform.records, records(25))
    })
  )

  it.scoped("keeps the numbers of a journal whose first batches were delivered", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      setup.platform.behave("sendTaskResults", [well, well], refuses(permanent))
      assert.strictEqual(yield* Effect.flip(push(setup)), permanent)
      assert.deepStrictEqual(yield* left(setup.spool), [[5, "nobody"]])
      assert.deepStrictEqual(closes(setup.platform), [])
      setup.platform.behave("sendTaskResults", [])
      assert.deepStrictEqual(yield* push(setup), { _tag: "Delivered", records: 5, worker: "completed" })
      assert.deepStrictEqual(sent(setup.platform).at(-1), [2, 5, true])
      assert.deepStrictEqual(setup.platform.records, records(25))
    })
  )

  it.scoped("tries again as the schedule says, after lost answers too", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      setup.platform.behave("sendTaskResults", [refuses(transient), losesAnswer, well, losesAnswer])
      setup.platform.behave("completeWorker", [refuses(transient), losesAnswer])
      const fiber = yield* Effect.fork(push(setup, { flushSchedule: retries(2) }))
      assert.deepStrictEqual(yield* settled(fiber), { _tag: "Delivered", records: 25, worker: "completed" })
      assert.deepStrictEqual(setup.platform.records, records(25))
      assert.strictEqual(closes(setup.platform).length, 3)
    })
  )

  it.scoped("does not wait for ever for an answer", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      setup.platform.behave("sendTaskResults", [], hangs)
      const options = { flushSchedule: retries(1), requestTimeout: "5 seconds" } as const
      const error = yield* Effect.flatMap(Effect.fork(Effect.flip(push(setup, options))), settled)
      assert.strictEqual(error.message, "sendTaskResults: no answer within 5s")
      assert.deepStrictEqual(yield* left(setup.spool), [[25, "nobody"]])
    })
  )

  it.scoped("that is interrupted keeps what was not acknowledged, for another time", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      setup.platform.behave("sendTaskResults", [well, hangs])
      const fiber = yield* Effect.fork(push(setup))
      while (setup.platform.times("sendTaskResults").length < 2) {
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.deepStrictEqual(yield* left(setup.spool), [[15, "nobody"]])
      assert.deepStrictEqual(yield* push(setup), { _tag: "Delivered", records: 15, worker: "completed" })
      assert.deepStrictEqual(setup.platform.records, records(25))
    })
  )

  it.scoped("sends in halves what is too large", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      setup.platform.isTooLarge = ({ records }) => records.length > 3
      assert.deepStrictEqual(yield* push(setup), { _tag: "Delivered", records: 25, worker: "completed" })
      assert.deepStrictEqual(setup.platform.records, records(25))
      assert.deepStrictEqual(
        [...setup.platform.batches.keys()],
        Array.from({ length: setup.platform.batches.size }, (_, i) => i)
      )
    })
  )

  it.scoped("fails, and keeps them, for records of a worker that another process has", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      setup.platform.behave("sendTaskResults", [], refuses(stale))
      assert.strictEqual(yield* Effect.flip(push(setup)), stale)
      assert.deepStrictEqual(yield* left(setup.spool), [[25, "nobody"]])
    })
  )
})

describe("the worker of a pushed journal", () => {
  const closed: Behaviour = refuses(new ResourceConflict({ reason: "WorkerClosed", detail: "it is closed" }))
  const endings: ReadonlyArray<
    readonly [string, Left["verdict"], Behaviour, "completed" | "failed" | "asIs", ReadonlyArray<unknown>]
  > = [
    ["completes as its process meant it to", complete, well, "completed", completed],
    [
      "fails as its process meant it to",
      { how: "fail", errorCode: "E_NO", errorMessage: "no" },
      well,
      "failed",
      [["failWorker", { attemptId: "attempt-id", errorCode: "E_NO", errorMessage: "no" }]]
    ],
    [
      "fails when its process ended without a word",
      undefined,
      well,
      "failed",
      [
        [
          "failWorker",
          {
            attemptId: "attempt-id",
            errorCode: "interrupted",
            errorMessage: "The process ended before its run did"
          }
        ]
      ]
    ],
    ["stays as it is when it was closed before", complete, closed, "asIs", completed]
  ]

  for (const [name, verdict, behaviour, worker, expected] of endings) {
    it.scoped(name, () =>
      Effect.gen(function* () {
        const setup = yield* withJournal(verdict === undefined ? { batches: tens } : { batches: tens, verdict })
        for (const operation of ["completeWorker", "failWorker"] as const) setup.platform.behave(operation, [behaviour])
        assert.deepStrictEqual(yield* push(setup), { _tag: "Delivered", records: 25, worker })
        assert.deepStrictEqual(closes(setup.platform), expected)
        assert.deepStrictEqual(yield* left(setup.spool), [])
      })
    )
  }

  it.scoped("is closed without a batch when there are no records", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: [] })
      assert.deepStrictEqual(yield* push(setup), { _tag: "Delivered", records: 0, worker: "failed" })
      assert.deepStrictEqual(sent(setup.platform), [])
    })
  )

  it.scoped("that could not be closed is all that the next push does", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      setup.platform.behave("completeWorker", [refuses(transient), refuses(transient)])
      const failing = Effect.flip(push(setup, { flushSchedule: retries(1) }))
      assert.strictEqual(yield* Effect.flatMap(Effect.fork(failing), settled), transient)
      assert.deepStrictEqual(yield* left(setup.spool), [[0, "nobody"]])
      assert.deepStrictEqual(yield* push(setup), { _tag: "Delivered", records: 0, worker: "completed" })
      assert.strictEqual(sent(setup.platform).length, 3)
      assert.deepStrictEqual(yield* left(setup.spool), [])
    })
  )
})

describe("a journal that is held", () => {
  it.scoped("by a process that runs is left alone", () =>
    Effect.gen(function* () {
      const spool = yield* spoolIn(yield* temporaryDirectory)
      const platform = new FakePlatform()
      const journal = yield* spool.open(attempt)
      journal.append(record(0))
      yield* journal.seal
      for (const force of [false, true]) {
        assert.deepStrictEqual(yield* push({ platform, spool }, { force }), { _tag: "Held" })
        assert.isFalse(yield* discard({ spool }, { force }))
      }
      assert.deepStrictEqual(platform.calls, [])
      assert.deepStrictEqual(yield* left(spool), [[1, "process"]])
    })
  )

  it.scoped("by a process of another machine is left alone, unless it is forced", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      const [name = ""] = Fs.readdirSync(setup.directory)
      const elsewhere = name.replace(/@.*$/, "@elsewhere~1~1")
      Fs.renameSync(Path.join(setup.directory, name), Path.join(setup.directory, elsewhere))
      assert.deepStrictEqual(yield* left(setup.spool), [[25, "otherMachine"]])
      assert.deepStrictEqual(yield* push(setup), { _tag: "Held" })
      assert.isFalse(yield* discard(setup))
      assert.deepStrictEqual(yield* push(setup, { force: true }), {
        _tag: "Delivered",
        records: 25,
        worker: "completed"
      })
      assert.deepStrictEqual(setup.platform.records, records(25))
    })
  )

  it.scoped("by one of two pushes at once is delivered by that one alone", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      setup.platform.behave("sendTaskResults", [{ before: Effect.sleep("1 second") }])
      const both = Effect.all([push(setup), push(setup)], { concurrency: 2 })
      const outcomes = yield* Effect.flatMap(Effect.fork(both), settled)
      assert.deepStrictEqual(outcomes.map(({ _tag }) => _tag).sort(), ["Delivered", "Held"])
      assert.deepStrictEqual(setup.platform.records, records(25))
      assert.strictEqual(sent(setup.platform).length, 3)
    })
  )
})

describe("discarding a journal", () => {
  it.scoped("removes it without a word to the platform", () =>
    Effect.gen(function* () {
      const setup = yield* withJournal({ batches: tens, verdict: complete })
      assert.isTrue(yield* discard(setup))
      assert.deepStrictEqual(yield* left(setup.spool), [])
      assert.deepStrictEqual(setup.platform.calls, [])
    })
  )
})

describe("a run that could not deliver", () => {
  it.scoped("is complete once its journals are pushed", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const spool = yield* spoolIn(yield* temporaryDirectory)
      const down = Effect.fail(new PlatformFailure({ operation: "sendTaskResults", detail: "down", retryable: true }))
      const reporter = Reporter.layerWith({
        metadata: Effect.succeed(metadata),
        batchSize: 2,
        flushSchedule: retries(0)
      }).pipe(
        Layer.provide(
          Layer.succeed(Platform, {
            ...platform,
            sendTaskResults: (ref, input) => (input.sequenceNumber === 0 ? platform.sendTaskResults(ref, input) : down)
          })
        ),
        Layer.provide(Layer.succeed(Spool.Spool, spool))
      )
      const benchmark = Benchmark.make({
        benchmarkSlug: "bench",
        benchmarkName: "Bench",
        participants: [{ name: "alpha" }, { name: "beta" }],
        iterations: 5,
        task: ({ taskIndex }) => Task.measure({ taskIndex })
      })
      const run = Effect.flip(Benchmark.run(benchmark)).pipe(Effect.provide([reporter, Scheduler.layer]))
      const error = yield* Effect.flatMap(Effect.fork(run), settled)
      assert.strictEqual(error._tag, "UndeliveredResults")
      const ref = yield* onlyRun
      assert.deepStrictEqual(yield* workersOf(ref), [
        ["alpha", "failed 2"],
        ["beta", "failed 2"]
      ])
      for (const entry of (yield* spool.list).entries) {
        assert.deepStrictEqual(yield* Effect.provideService(Push.push(entry), Spool.Spool, spool), {
          _tag: "Delivered",
          records: 3,
          worker: "completed"
        })
      }
      assert.deepStrictEqual(yield* workersOf(ref), [
        ["alpha", "completed 5"],
        ["beta", "completed 5"]
      ])
      assert.strictEqual((yield* platform.getRun(ref)).status, "completed")
      assert.deepStrictEqual(
        (yield* stored).map(({ data, participantSlug }) => [participantSlug, data?.["taskIndex"]]),
        ["alpha", "beta"].flatMap((name) => [0, 1, 2, 3, 4].map((index) => [name, index]))
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )
})
