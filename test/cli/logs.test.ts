import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Layer, Option, Ref, TestClock } from "effect"
import { CliError } from "../../src/cli/CliError.js"
import type { LogsOptions, LogWindow } from "../../src/cli/logs.js"
import * as Logs from "../../src/cli/logs.js"
import type { Assignment, ParticipantRef } from "../../src/Platform.js"
import { Platform, PlatformFailure, ResourceNotFound } from "../../src/Platform.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import { call, Captured, capturing, claim, createRun, workerRef } from "../support/commands.js"

const show = (options: Partial<LogsOptions> = {}) =>
  Logs.show({
    benchmark: undefined,
    run: undefined,
    participant: undefined,
    worker: undefined,
    maxLines: 1000,
    follow: false,
    ...options
  })

const upload = (ref: ParticipantRef, assignment: Assignment, text: string) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const created = yield* platform.createArtifact(workerRef(ref, assignment), {
      attemptId: assignment.attemptId,
      kind: "coordinator.log",
      name: "worker.log",
      contentType: "text/plain"
    })
    yield* platform.uploadArtifact(created, Buffer.from(text))
  })

const logOf = (ref: ParticipantRef, text: string) =>
  Effect.flatMap(claim(ref), (assignment) => upload(ref, assignment, text))

const complete = (ref: ParticipantRef, assignment: Assignment) =>
  Effect.flatMap(Platform, (platform) =>
    platform.completeWorker(workerRef(ref, assignment), { attemptId: assignment.attemptId })
  )

/** Follows in the background; `polled` gives what was said at the next look. */
const following = (options: Partial<LogsOptions> = {}) =>
  Effect.gen(function* () {
    const said = new Captured()
    const fiber = yield* Effect.fork(capturing(show({ follow: true, ...options }), said))
    const polled = Effect.gen(function* () {
      yield* TestClock.adjust("2 seconds")
      yield* idle(fiber)
      return said.take()
    })
    yield* idle(fiber)
    return { fiber, said, polled }
  })

/** Waits until the fiber sleeps or has ended: it reads files, which takes turns of the event loop that no clock counts. */
const idle = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (Option.isNone(yield* Fiber.poll(fiber)) && Chunk.isEmpty(yield* TestClock.sleeps())) {
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
  })

describe("bench logs", () => {
  it.effect("prints the lines of the only log as they are", () =>
    Effect.gen(function* () {
      const ref = { ...(yield* createRun({ alpha: 1 })), participant: "alpha" }
      yield* logOf(ref, "one\n  two\n\nthree\n")
      const said = yield* call(show())
      assert.deepStrictEqual([said.error, said.stdout, said.stderr], [undefined, "one\n  two\n\nthree\n", ""])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("says before each line whose it is when there are several", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 2, beta: 2 }, 2)
      for (const participant of ["alpha", "beta"]) {
        yield* logOf({ ...run, participant }, `${participant} first\nmore\n`)
        yield* logOf({ ...run, participant }, `${participant} second\n`)
      }
      assert.deepStrictEqual((yield* call(show())).stdout.split("\n"), [
        "[alpha 1/2] alpha first",
        "[alpha 1/2] more",
        "[alpha 2/2] alpha second",
        "[beta 1/2] beta first",
        "[beta 1/2] more",
        "[beta 2/2] beta second",
        ""
      ])
      assert.strictEqual(
        (yield* call(show({ participant: "beta" }))).stdout,
        "[beta 1/2] beta first\n[beta 1/2] more\n[beta 2/2] beta second\n"
      )
      assert.strictEqual((yield* call(show({ worker: 2 }))).stdout, "[alpha] alpha second\n[beta] beta second\n")
      assert.strictEqual((yield* call(show({ participant: "beta", worker: 1 }))).stdout, "beta first\nmore\n")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("prints the last lines and says that there are more", () =>
    Effect.gen(function* () {
      const ref = { ...(yield* createRun({ alpha: 1 })), participant: "alpha" }
      yield* logOf(ref, "1\n2\n3\n")
      const said = yield* call(show({ maxLines: 2 }))
      assert.strictEqual(said.stdout, "2\n3\n")
      assert.strictEqual(said.stderr, "(earlier lines are left out: --max-lines says how many to show)\n")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("lets nothing in a log or a name act on the terminal", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ "al\u001b[31mpha": 1, beta: 1 })
      yield* logOf({ ...run, participant: "al\u001b[31mpha" }, "\u001b]0;title\u0007\u001b[2Jred\u009b\rover\u202e\n")
      const { stdout } = yield* call(show())
      assert.strictEqual(stdout.replaceAll("\ufffd", ""), "[alpha] red over\n")
      assert.notMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("says that there is no log, and when there will be", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 1 })
      const ref = { ...run, participant: "alpha" }
      const before = yield* call(show())
      assert.strictEqual(before.stdout, "")
      assert.strictEqual(
        before.stderr,
        `Run ${run.run} has no log yet: a worker uploads its log when it ends, and before that every BENCHMARK_LOG_FLUSH_INTERVAL_MS if that is set. To wait for it: bench logs --run ${run.run} --follow\n`
      )
      yield* complete(ref, yield* claim(ref))
      assert.strictEqual((yield* call(show())).stderr, `Run ${run.run} has no log.\n`)
      assert.strictEqual(
        (yield* call(show({ participant: "alpha" }))).stderr,
        `Run ${run.run} has no log that was asked for.\n`
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("refuses participants and workers that do not exist", () =>
    Effect.gen(function* () {
      yield* createRun({ alpha: 2, beta: 2 }, 2)
      const unknown = yield* call(show({ participant: "gamma" }))
      assert.instanceOf(unknown.error, ResourceNotFound)
      const messages = yield* Effect.forEach([{ worker: 3 }, { worker: 3, participant: "alpha" }], (options) =>
        Effect.map(call(show(options)), ({ error }) => error instanceof CliError && error.message)
      )
      assert.deepStrictEqual(messages, [
        "There is no worker 3: no participant has more than 2 workers.",
        "There is no worker 3: the participant has 2 workers."
      ])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )
})

describe("bench logs --follow", () => {
  it.effect("prints each line once, until the run has ended", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 1 })
      const ref = { ...run, participant: "alpha" }
      const { fiber, polled, said } = yield* following()
      assert.strictEqual(said.take(), `Run ${run.run} has no log yet; waiting for it.\n`)
      assert.strictEqual(yield* polled, "")
      const assignment = yield* claim(ref)
      yield* upload(ref, assignment, "1\n2\n")
      assert.strictEqual(yield* polled, "1\n2\n")
      assert.strictEqual(yield* polled, "")
      yield* upload(ref, assignment, "1\n2\n3\n")
      assert.strictEqual(yield* polled, "3\n")
      yield* upload(ref, assignment, "1\n2\n3\n4\n")
      yield* complete(ref, assignment)
      assert.strictEqual(yield* polled, "4\n")
      yield* Fiber.join(fiber)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("begins with the last lines and goes on with the rest, however much is added", () =>
    Effect.gen(function* () {
      const ref = { ...(yield* createRun({ alpha: 1 })), participant: "alpha" }
      const lines = (count: number) => Array.from({ length: count }, (_, i) => `${i}\n`).join("")
      const assignment = yield* claim(ref)
      yield* upload(ref, assignment, lines(10))
      const { fiber, polled, said } = yield* following({ maxLines: 2 })
      assert.match(said.take(), /^\(earlier lines .*\)\n8\n9\n$/)
      yield* upload(ref, assignment, lines(15))
      assert.strictEqual(yield* polled, "10\n11\n12\n13\n14\n")
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("prints what a finished run has and ends", () =>
    Effect.gen(function* () {
      const ref = { ...(yield* createRun({ alpha: 1 })), participant: "alpha" }
      const assignment = yield* claim(ref)
      yield* upload(ref, assignment, "1\n")
      yield* complete(ref, assignment)
      const said = yield* call(show({ follow: true }))
      assert.deepStrictEqual([said.stdout, said.stderr], ["1\n", ""])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("starts over with the log of another attempt, and says so", () =>
    Effect.gen(function* () {
      const ref = { ...(yield* createRun({ alpha: 1 })), participant: "alpha" }
      const platform = yield* Platform
      const first = yield* claim(ref)
      yield* upload(ref, first, "1\n2\n")
      const { fiber, polled, said } = yield* following()
      assert.strictEqual(said.take(), "1\n2\n")
      yield* platform.releaseWorker(workerRef(ref, first), { attemptId: first.attemptId })
      yield* logOf(ref, "other\n2\n")
      assert.strictEqual(yield* polled, "(another process has taken over this worker)\nother\n2\n")
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("goes on when the platform was not reachable for a while", () =>
    Effect.gen(function* () {
      const ref = { ...(yield* createRun({ alpha: 1 })), participant: "alpha" }
      const lost = new PlatformFailure({ operation: "getRun", detail: "connection lost", retryable: true })
      const failures = yield* Ref.make(0)
      const flaky = Layer.effect(
        Platform,
        Effect.map(Platform, (platform) => ({
          ...platform,
          getRun: (run) =>
            Effect.flatMap(
              Ref.getAndUpdate(failures, (n) => n - 1),
              (left) => (left > 0 ? Effect.fail(lost) : platform.getRun(run))
            )
        }))
      )
      yield* logOf(ref, "1\n")
      const { fiber, polled, said } = yield* Effect.provide(following(), flaky)
      assert.strictEqual(said.take(), "1\n")
      yield* Ref.set(failures, 3)
      yield* polled
      yield* Effect.replicateEffect(polled, 4)
      assert.strictEqual(said.take(), "")
      assert.isTrue((yield* Ref.get(failures)) <= 0)
      yield* Ref.set(failures, 1000)
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), lost)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )
})

describe("what was added to a log", () => {
  const window = (text: string, truncated: boolean, attemptId = "a"): LogWindow => ({
    attemptId,
    truncated,
    lines: [...text]
  })
  const added = (before: LogWindow, now: LogWindow) => {
    const { gap, lines } = Logs.added(before, now)
    return `${gap ? "…" : ""}${lines.join("")}`
  }

  it("is what comes after the known lines of a whole log", () => {
    assert.strictEqual(added(window("", false), window("ab", false)), "ab")
    assert.strictEqual(added(window("aaa", false), window("aaaaa", false)), "aa")
    assert.strictEqual(added(window("ab", false), window("ab", false)), "")
  })

  it("is what comes after the lines that two windows share", () => {
    assert.strictEqual(added(window("abcd", true), window("cdef", true)), "ef")
    assert.strictEqual(added(window("abc", false), window("cdef", true)), "def")
    assert.strictEqual(added(window("abab", true), window("abab", true)), "")
    assert.strictEqual(added(window("xaab", true), window("aabaa", true)), "aa")
    assert.strictEqual(added(window("aaabaaac", true), window("aaacaaad", true)), "aaad")
  })

  it("is everything, after a gap, when they share none", () => {
    assert.strictEqual(added(window("abcd", true), window("wxyz", true)), "…wxyz")
    assert.strictEqual(added(window("", false), window("yz", true)), "…yz")
  })

  it("is everything of another attempt's log", () => {
    assert.strictEqual(added(window("ab", false), window("ab", false, "b")), "ab")
    assert.strictEqual(added(window("ab", false), window("ab", true, "b")), "…ab")
  })
})
