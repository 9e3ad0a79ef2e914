import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, FastCheck, Fiber, TestClock } from "effect"
import { PlatformFailure, Unauthorized } from "../src/Platform.js"
import * as Push from "../src/Push.js"
import type { TaskRecord } from "../src/Record.js"
import * as Reporter from "../src/Reporter.js"
import * as Spool from "../src/Spool.js"
import * as Task from "../src/Task.js"
import { runTask } from "./support/engine.js"
import type { Behaviour } from "./support/fakePlatform.js"
import {
  FakePlatform,
  hangs,
  hangsAfter,
  losesAnswer,
  refuses,
  stale,
  tooLarge,
  transient,
  well
} from "./support/fakePlatform.js"
import {
  closes,
  completed,
  record,
  recordAll,
  records,
  retries,
  sent,
  source,
  withoutLogs
} from "./support/reporter.js"
import {
  downUntil,
  loggedInto,
  openSpooledRun,
  platformWith,
  settled,
  spoolIn,
  temporaryDirectory
} from "./support/reporting.js"

/** Four tries, a second apart. */
const impatient: Reporter.ReporterOptions = { batchSize: 10, bufferSize: 20, flushSchedule: retries(3) }

const inMemory = Effect.provide(Spool.Spool, Spool.layerMemory)

/** Begins to run a task in every slot of the worker, on this spool, and returns when the first has started. */
const started = <E>(
  platform: FakePlatform,
  spool: Spool.Spool["Type"],
  task: Task.Task<E>,
  options: Reporter.ReporterOptions = impatient
) =>
  Effect.gen(function* () {
    const first = yield* Deferred.make<void>()
    const run = yield* openSpooledRun(platform, spool, options)
    const signalling: Task.Task<E> = (context) =>
      Effect.zipRight(Deferred.succeed(first, undefined), Effect.isEffect(task) ? task : task(context))
    const fiber = yield* Effect.fork(runTask(signalling, { run }))
    yield* Deferred.await(first)
    return { fiber, undelivered: run.undelivered }
  })

/** Runs a task in every slot of the worker, on this spool, however long it takes; gives what was not delivered. */
const runSpooled = (...args: Parameters<typeof started>) =>
  Effect.flatMap(started(...args), ({ fiber, undelivered }) => Effect.zipRight(settled(fiber), undelivered))

/** Uses the platform's worker on this spool. */
const withSpooledWorker = <A>(
  platform: FakePlatform,
  spool: Spool.Spool["Type"],
  options: Reporter.ReporterOptions,
  use: (worker: Reporter.WorkerReporter) => Effect.Effect<A>
) =>
  Effect.gen(function* () {
    const run = yield* openSpooledRun(platform, spool, options)
    const open = Effect.flatMap(run.openWorker("alpha", source), (worker) =>
      worker === undefined ? Effect.dieMessage("no worker to claim") : use(worker)
    )
    yield* Effect.scoped(open)
    return yield* run.undelivered
  })

const taskIndexes = (all: ReadonlyArray<TaskRecord>) => all.map(({ taskIndex }) => taskIndex)

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

/** Numbers of the batches that are stored. */
const numbers = (platform: FakePlatform) => [...platform.batches.keys()].sort((a, b) => a - b)

const recordsIn = (spool: Spool.Spool["Type"]) =>
  Effect.map(spool.list, ({ entries }) =>
    entries.map(({ holder, recordCount, verdict }) => [recordCount, holder, verdict])
  )

const flushFailed = (errorMessage: string) => [
  [
    "failWorker",
    {
      attemptId: "attempt-id",
      errorCode: "flush_failed",
      errorMessage: `Failed to flush task results: ${errorMessage}`
    }
  ]
]

describe("an outage in the middle of a run", () => {
  it.scoped("holds up no task, and everything is delivered when it is over", () =>
    Effect.gen(function* () {
      const spool = yield* spoolIn(yield* temporaryDirectory)
      const platform = platformWith(200)
      platform.behave("sendTaskResults", [], downUntil(150_000))
      const run = yield* started(platform, spool, Effect.sleep("1 second"))
      yield* TestClock.adjust("149500 millis")
      assert.strictEqual(platform.heartbeats.at(-1)?.progressDone, 120)
      assert.deepStrictEqual(platform.records, [])
      assert.deepStrictEqual(yield* recordsIn(spool), [[149, "process", undefined]])
      yield* settled(run.fiber)
      assert.deepStrictEqual(taskIndexes(platform.records), upTo(200))
      assert.deepStrictEqual(numbers(platform), upTo(platform.batches.size))
      assert.deepStrictEqual(yield* run.undelivered, [])
      assert.deepStrictEqual(closes(platform), completed)
      assert.deepStrictEqual(yield* recordsIn(spool), [])
    })
  )

  it.scoped("keeps on disk what need not be in memory", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const spool = yield* spoolIn(directory)
      const platform = platformWith(100)
      platform.behave("sendTaskResults", [], downUntil(77_500))
      const task = Effect.zipRight(Effect.sleep("1 second"), Task.measure({ from: "memory" }))
      const run = yield* started(platform, spool, task)
      yield* TestClock.adjust("75500 millis")
      const [journal = ""] = Fs.readdirSync(directory)
      for (const name of Fs.readdirSync(Path.join(directory, journal))) {
        const path = Path.join(directory, journal, name)
        Fs.writeFileSync(path, Fs.readFileSync(path, "utf8").replaceAll("memory", "a disk"))
      }
      yield* settled(run.fiber)
      const from = platform.records.map(({ data }) => data?.["from"])
      assert.isAtMost(from.indexOf("memory"), 75)
      assert.isAtLeast(from.indexOf("memory"), 70)
      assert.deepStrictEqual(new Set(from.slice(0, 70)), new Set(["a disk"]))
      assert.deepStrictEqual(taskIndexes(platform.records), upTo(100))
    })
  )

  it.effect("loses nothing without a disk as long as the buffer holds it", () =>
    Effect.gen(function* () {
      const platform = platformWith(100)
      platform.behave("sendTaskResults", [], downUntil(60_000))
      const undelivered = yield* runSpooled(platform, yield* inMemory, Effect.sleep("1 second"), {
        ...impatient,
        bufferSize: 100
      })
      assert.deepStrictEqual(taskIndexes(platform.records), upTo(100))
      assert.deepStrictEqual(undelivered, [])
      assert.deepStrictEqual(closes(platform), completed)
    })
  )

  it.effect("without a disk ends the run all the same, and says what the buffer could not hold", () =>
    Effect.gen(function* () {
      const platform = platformWith(200)
      platform.behave("sendTaskResults", [], downUntil(100_000))
      const undelivered = yield* runSpooled(platform, yield* inMemory, Effect.sleep("1 second"))
      const delivered = platform.records.length
      assert.isAtLeast(delivered, 80)
      assert.isBelow(delivered, 130)
      assert.deepStrictEqual(undelivered, [
        { participant: "alpha", records: 200 - delivered, spool: undefined, error: transient }
      ])
      assert.deepStrictEqual(closes(platform), flushFailed("fake: busy"))
    })
  )
})

describe("an outage until the end of a run", () => {
  it.scoped("fails the worker, says where the records are, and a push delivers them", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const spool = yield* spoolIn(directory)
      const platform = platformWith(25)
      platform.behave("sendTaskResults", [], refuses(transient))
      const undelivered = yield* runSpooled(platform, spool, Effect.sleep("1 second"))
      assert.deepStrictEqual(undelivered, [{ participant: "alpha", records: 25, spool: directory, error: transient }])
      assert.strictEqual(
        new Reporter.UndeliveredResults({ runId: "run-id", undelivered }).message,
        `Failed to flush task results; these wait in ${directory} and can be sent again: bench push run-id\n  - alpha: 25 record(s): fake: busy`
      )
      assert.deepStrictEqual(closes(platform), flushFailed("fake: busy"))
      assert.deepStrictEqual(yield* recordsIn(spool), [[25, "nobody", { how: "complete" }]])

      platform.behave("sendTaskResults", [])
      const [entry] = (yield* spool.list).entries
      assert.isDefined(entry)
      const pushed = yield* Push.push(entry).pipe(
        Effect.provide(platform.layer),
        Effect.provideService(Spool.Spool, spool)
      )
      assert.deepStrictEqual(pushed, { _tag: "Delivered", records: 25, worker: "completed" })
      assert.deepStrictEqual(taskIndexes(platform.records), upTo(25))
      assert.deepStrictEqual(closes(platform).slice(1), completed)
      assert.deepStrictEqual(yield* recordsIn(spool), [])
    })
  )

  it.scoped("keeps that the run was interrupted", () =>
    Effect.gen(function* () {
      const spool = yield* spoolIn(yield* temporaryDirectory)
      const platform = platformWith(25)
      platform.behave("sendTaskResults", [], refuses(transient))
      const { fiber } = yield* started(platform, spool, Effect.sleep("1 second"))
      yield* TestClock.adjust("5500 millis")
      const exit = yield* Effect.flatMap(Effect.fork(Fiber.interrupt(fiber)), settled)
      assert.isTrue(Exit.isInterrupted(exit))
      assert.deepStrictEqual(yield* recordsIn(spool), [
        [6, "nobody", { how: "fail", errorCode: "interrupted", errorMessage: "The run was interrupted" }]
      ])
    })
  )

  it.scoped("of the closing alone keeps the worker's end for a push", () =>
    Effect.gen(function* () {
      const spool = yield* spoolIn(yield* temporaryDirectory)
      const platform = platformWith(5)
      platform.behave("completeWorker", [], refuses(transient))
      const undelivered = yield* runSpooled(platform, spool, Effect.void)
      assert.deepStrictEqual(undelivered, [])
      assert.deepStrictEqual(taskIndexes(platform.records), upTo(5))
      assert.deepStrictEqual(yield* recordsIn(spool), [[0, "nobody", { how: "complete" }]])
    }).pipe(withoutLogs)
  )
})

describe("a worker that was given to another process", () => {
  const secondLong = (begun: Array<number>) => (task: Task.TaskContext) =>
    Effect.zipRight(
      Effect.sync(() => void begun.push(task.taskIndex)),
      Effect.sleep("1 second")
    )

  it.scoped("starts no further task, closes nothing, and keeps its records", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const spool = yield* spoolIn(directory)
      const platform = platformWith(100)
      platform.behave("sendTaskResults", [well], refuses(stale))
      const begun: Array<number> = []
      const undelivered = yield* runSpooled(platform, spool, secondLong(begun))
      assert.deepStrictEqual(begun, upTo(21))
      assert.deepStrictEqual(taskIndexes(platform.records), upTo(10))
      assert.deepStrictEqual(undelivered, [{ participant: "alpha", records: 11, spool: directory, error: stale }])
      assert.deepStrictEqual(closes(platform), [])
      assert.notInclude(platform.operations(), "createArtifact")
      assert.deepStrictEqual(yield* recordsIn(spool), [[11, "nobody", { how: "complete" }]])
    })
  )

  it.scoped("learns it from a heartbeat, too", () =>
    Effect.gen(function* () {
      const spool = yield* spoolIn(yield* temporaryDirectory)
      const platform = platformWith(100)
      platform.behave("heartbeat", [], refuses(stale))
      platform.behave("sendTaskResults", [], refuses(stale))
      const begun: Array<number> = []
      const undelivered = yield* runSpooled(platform, spool, secondLong(begun), {
        batchSize: 1000,
        heartbeatInterval: "5500 millis"
      })
      assert.deepStrictEqual(begun, upTo(6))
      assert.deepStrictEqual(
        undelivered.map(({ error, records }) => [records, error]),
        [[6, stale]]
      )
      assert.deepStrictEqual(closes(platform), [])
    }).pipe(withoutLogs)
  )
})

describe("a platform that refuses batches for their size", () => {
  const limits = [1, 3, 7]
  for (const limit of limits) {
    it.scoped(`gets them in halves until they fit ${limit}`, () =>
      Effect.gen(function* () {
        for (const spool of [yield* inMemory, yield* spoolIn(yield* temporaryDirectory)]) {
          const platform = new FakePlatform()
          platform.isTooLarge = ({ records }) => records.length > limit
          const undelivered = yield* withSpooledWorker(platform, spool, { batchSize: 10 }, (worker) =>
            recordAll(worker, records(25))
          )
          assert.deepStrictEqual(platform.records, records(25))
          assert.deepStrictEqual(numbers(platform), upTo(platform.batches.size))
          assert.deepStrictEqual(
            [...platform.batches.values()].filter(({ isFinal }) => isFinal).map(({ sequenceNumber }) => sequenceNumber),
            [platform.batches.size - 1]
          )
          assert.deepStrictEqual(undelivered, [])
          assert.deepStrictEqual(closes(platform), completed)
        }
      })
    )
  }

  it.scoped("gets everything up to a record that is too large alone; that one and the rest are kept", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const spool = yield* spoolIn(directory)
      const platform = new FakePlatform()
      platform.isTooLarge = ({ records }) => records.some(({ taskIndex }) => taskIndex === 7)
      const undelivered = yield* withSpooledWorker(platform, spool, { batchSize: 10 }, (worker) =>
        recordAll(worker, records(25))
      )
      assert.deepStrictEqual(platform.records, records(7))
      assert.deepStrictEqual(undelivered, [{ participant: "alpha", records: 18, spool: directory, error: tooLarge }])
      assert.deepStrictEqual(
        closes(platform),
        flushFailed("sendTaskResults: the request is larger than the platform takes")
      )
      assert.deepStrictEqual(yield* recordsIn(spool), [[18, "nobody", { how: "complete" }]])
    })
  )

  it.scoped("gets them in halves after an outage, too", () =>
    Effect.gen(function* () {
      const spool = yield* spoolIn(yield* temporaryDirectory)
      const platform = platformWith(60)
      platform.isTooLarge = ({ records }) => records.length > 4
      platform.behave("sendTaskResults", [], downUntil(45_000))
      yield* runSpooled(platform, spool, Effect.sleep("1 second"))
      assert.deepStrictEqual(taskIndexes(platform.records), upTo(60))
      assert.deepStrictEqual(numbers(platform), upTo(platform.batches.size))
      assert.deepStrictEqual(closes(platform), completed)
    })
  )
})

describe("a batch", () => {
  it.effect("is full at 8 MiB of JSON", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      const large = (index: number): TaskRecord => ({ ...record(index), data: { text: "x".repeat(1024 * 1024) } })
      yield* withSpooledWorker(platform, yield* inMemory, {}, (worker) => recordAll(worker, upTo(18).map(large)))
      assert.deepStrictEqual(sent(platform), [
        [0, 8, false],
        [1, 8, false],
        [2, 2, true]
      ])
    })
  )
})

describe("a platform that asks for patience", () => {
  const busyFor = (retryAfterMillis: number) =>
    refuses(new PlatformFailure({ operation: "sendTaskResults", detail: "busy", retryable: true, retryAfterMillis }))

  it.effect("is tried again no sooner, even if the schedule would be over by then", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("sendTaskResults", [busyFor(20_000), busyFor(280_000), busyFor(10)])
      const fiber = yield* Effect.fork(
        withSpooledWorker(platform, yield* inMemory, impatient, (worker) => recordAll(worker, records(3)))
      )
      assert.deepStrictEqual(yield* settled(fiber), [])
      assert.deepStrictEqual(platform.times("sendTaskResults"), [0, 20_000, 300_000, 301_000])
    })
  )

  it.effect("for longer than the default schedule takes is tried again after that", () =>
    Effect.gen(function* () {
      const platform = new FakePlatform()
      platform.behave("sendTaskResults", [busyFor(200_000)])
      const fiber = yield* Effect.fork(
        withSpooledWorker(platform, yield* inMemory, {}, (worker) => recordAll(worker, records(3)))
      )
      assert.deepStrictEqual(yield* settled(fiber), [])
      assert.deepStrictEqual(platform.times("sendTaskResults"), [0, 200_000])
    })
  )

  it.scoped("for more than five minutes is left alone for so long while the run goes on", () =>
    Effect.gen(function* () {
      const spool = yield* spoolIn(yield* temporaryDirectory)
      const platform = platformWith(100)
      platform.behave("sendTaskResults", [busyFor(400_000)])
      const undelivered = yield* runSpooled(platform, spool, Effect.sleep("5 seconds"))
      assert.deepStrictEqual(platform.times("sendTaskResults").slice(0, 2), [30_000, 430_000])
      assert.deepStrictEqual(taskIndexes(platform.records), upTo(100))
      assert.deepStrictEqual(undelivered, [])
    })
  )

  it.scoped("for more than five minutes does not keep the end of a run waiting", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const spool = yield* spoolIn(directory)
      const platform = platformWith(5)
      platform.behave("sendTaskResults", [], busyFor(301_000))
      const undelivered = yield* runSpooled(platform, spool, Effect.void)
      assert.deepStrictEqual(
        undelivered.map(({ records, spool }) => [records, spool]),
        [[5, directory]]
      )
    })
  )
})

describe("a spool that cannot be used", () => {
  it.scoped("from the start leaves the records in memory, with one warning", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const file = Path.join(yield* temporaryDirectory, "file")
      Fs.writeFileSync(file, "")
      const spool = yield* spoolIn(Path.join(file, "spool"))
      const platform = platformWith(25)
      const undelivered = yield* runSpooled(platform, spool, Effect.sleep("1 second"))
      assert.deepStrictEqual(taskIndexes(platform.records), upTo(25))
      assert.deepStrictEqual(undelivered, [])
      assert.deepStrictEqual(closes(platform), completed)
      assert.strictEqual(lines.length, 1)
      assert.match(lines[0] ?? "", /^spool cannot be used, records are kept in memory: .*file/)
    }).pipe(loggedInto(lines))
  })

  /** Takes the spool's directory away and puts a file in its place. */
  const breakDown = (directory: string) =>
    Effect.sync(() => {
      Fs.rmSync(directory, { recursive: true, force: true })
      Fs.writeFileSync(directory, "")
    })

  it.scoped("from some time on loses nothing as long as the process lives", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const directory = Path.join(yield* temporaryDirectory, "spool")
      const errors: Array<string> = []
      const spool = yield* spoolIn(directory, errors)
      const platform = platformWith(60)
      platform.behave("sendTaskResults", [], downUntil(40_000))
      const run = yield* started(platform, spool, Effect.sleep("1 second"))
      yield* TestClock.adjust("5500 millis")
      yield* breakDown(directory)
      yield* settled(run.fiber)
      assert.deepStrictEqual(taskIndexes(platform.records), upTo(60))
      assert.deepStrictEqual(yield* run.undelivered, [])
      assert.deepStrictEqual(closes(platform), completed)
      assert.strictEqual(errors.filter((error) => error.includes("cannot write records")).length, 1)
      assert.strictEqual(lines.length, 1)
      assert.match(lines[0] ?? "", /^spool cannot be used, records are kept in memory: /)
    }).pipe(loggedInto(lines))
  })

  it.scoped("does not claim to keep what it could not write", () =>
    Effect.gen(function* () {
      const directory = Path.join(yield* temporaryDirectory, "spool")
      const spool = yield* spoolIn(directory)
      const platform = platformWith(8)
      platform.behave("sendTaskResults", [], refuses(transient))
      const run = yield* started(platform, spool, Effect.sleep("1 second"))
      yield* TestClock.adjust("5500 millis")
      yield* breakDown(directory)
      yield* settled(run.fiber)
      assert.deepStrictEqual(yield* run.undelivered, [
        { participant: "alpha", records: 8, spool: undefined, error: transient }
      ])
    }).pipe(withoutLogs)
  )
})

describe("credentials that expire in the middle of a run", () => {
  it.scoped("hold up no task, and the rest waits for a push", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const spool = yield* spoolIn(directory)
      const platform = platformWith(40)
      const expired = new Unauthorized({ reason: "Unauthenticated", detail: "the key has expired" })
      for (const operation of ["sendTaskResults", "failWorker"] as const) {
        platform.behave(operation, operation === "failWorker" ? [] : [well], refuses(expired))
      }
      const undelivered = yield* runSpooled(platform, spool, Effect.sleep("1 second"))
      assert.deepStrictEqual(undelivered, [{ participant: "alpha", records: 30, spool: directory, error: expired }])
      assert.strictEqual(platform.times("sendTaskResults").length, 2)
      assert.deepStrictEqual(yield* recordsIn(spool), [[30, "nobody", { how: "complete" }]])
    }).pipe(withoutLogs)
  )
})

describe("whatever the platform does", () => {
  const behaviours: Record<string, Behaviour> = { well, fails: refuses(transient), losesAnswer, hangs, hangsAfter }

  const scenario = FastCheck.record({
    /** Records that are made at once, with some time in between. */
    bursts: FastCheck.array(FastCheck.integer({ min: 0, max: 15 }), { maxLength: 6 }),
    batchSize: FastCheck.integer({ min: 1, max: 12 }),
    limit: FastCheck.integer({ min: 1, max: 12 }),
    answers: FastCheck.array(FastCheck.constantFrom(...Object.keys(behaviours)), { maxLength: 25 }),
    onDisk: FastCheck.boolean()
  })

  it.effect.prop(
    "what is stored is what was recorded, in its order, without gaps, nothing twice",
    [scenario],
    ([{ answers, batchSize, bursts, limit, onDisk }]) =>
      Effect.gen(function* () {
        const spool = onDisk ? yield* spoolIn(yield* temporaryDirectory) : yield* inMemory
        const platform = new FakePlatform()
        platform.isTooLarge = ({ records }) => records.length > limit
        platform.behave(
          "sendTaskResults",
          answers.map((name) => behaviours[name] ?? well)
        )
        const all = records(bursts.reduce((sum, size) => sum + size, 0))
        const options: Reporter.ReporterOptions = {
          batchSize,
          bufferSize: 1000,
          flushSchedule: retries(2),
          flushInterval: "3 seconds",
          requestTimeout: "2 seconds"
        }
        const use = (worker: Reporter.WorkerReporter) =>
          Effect.gen(function* () {
            let from = 0
            for (const size of bursts) {
              yield* recordAll(worker, all.slice(from, (from += size)))
              yield* Effect.sleep("4 seconds")
            }
          })
        const fiber = yield* Effect.fork(withSpooledWorker(platform, spool, options, use))
        const undelivered = yield* settled(fiber)
        const ensureStored = (count: number) => {
          assert.deepStrictEqual(platform.records, all.slice(0, count))
          assert.deepStrictEqual(numbers(platform), upTo(platform.batches.size))
        }
        const left = undelivered.reduce((sum, { records }) => sum + records, 0)
        const acknowledged = all.length - left
        assert.isAtLeast(platform.records.length, acknowledged)
        ensureStored(platform.records.length)
        if (undelivered.length === 0) {
          assert.deepStrictEqual(closes(platform), completed)
          return ensureStored(all.length)
        }
        assert.strictEqual(closes(platform)[0]?.[0], "failWorker")
        const [entry] = (yield* spool.list).entries
        assert.strictEqual(entry?.recordCount, left)
        if (entry === undefined || !onDisk) return
        platform.behave("sendTaskResults", [])
        const pushed = yield* Push.push(entry).pipe(
          Effect.provide(platform.layer),
          Effect.provideService(Spool.Spool, spool)
        )
        assert.deepStrictEqual(pushed, { _tag: "Delivered", records: left, worker: "completed" })
        ensureStored(all.length)
      }).pipe(Effect.scoped),
    { fastCheck: { numRuns: 60 } }
  )
})
