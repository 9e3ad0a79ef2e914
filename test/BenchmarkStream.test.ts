import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import * as Benchmark from "../src/Benchmark.js"
import { PlatformFailure } from "../src/Platform.js"
import type { RunEvent } from "../src/RunEvent.js"
import { RunListener } from "../src/RunEvent.js"
import type * as Task from "../src/Task.js"
import { onlyRun, recorded, recordedOn, unrecorded, workersOf } from "./support/runs.js"

const base = { benchmarkSlug: "bench", benchmarkName: "Bench", participants: [{ name: "alpha" }] }

const short = (event: RunEvent): string => {
  switch (event._tag) {
    case "RunStarted":
      return `run of ${event.benchmarkSlug}: ${event.participants.join(", ")}, ${event.tasksPerParticipant} each`
    case "ParticipantStarted":
      return `${event.participant} 0/${event.total}`
    case "TaskStarted":
      return `${event.participant} started ${event.taskIndex}`
    case "TaskCompleted":
      return `${event.participant} ${event.done}/${event.total} ${event.errors} failed, ${event.record.status}`
    case "ParticipantCompleted":
      return `${event.participant} completed ${event.done}/${event.total} ${event.errors} failed`
    case "Warning":
      return `warning: ${event.message}`
    case "RunCompleted":
      return "completed"
  }
}

const failsOdd = ({ taskIndex }: Task.TaskContext) => (taskIndex % 2 === 1 ? Effect.fail("no") : Effect.void)

describe("stream", () => {
  it.effect("tells what happens in order, with totals so far, and ends with the run", () =>
    Effect.gen(function* () {
      const benchmark = Benchmark.make({
        ...base,
        participants: [{ name: "alpha" }, { name: "beta" }, { name: "skipped", requiredEnvVars: ["NO_SUCH_VARIABLE"] }],
        iterations: 2,
        task: failsOdd
      })
      const events = Chunk.toReadonlyArray(yield* Stream.runCollect(Benchmark.stream(benchmark)))
      assert.deepStrictEqual(events.map(short), [
        "run of bench: alpha, beta, 2 each",
        "alpha 0/2",
        "alpha started 0",
        "alpha 1/2 0 failed, success",
        "alpha started 1",
        "alpha 2/2 1 failed, error",
        "alpha completed 2/2 1 failed",
        "beta 0/2",
        "beta started 0",
        "beta 1/2 0 failed, success",
        "beta started 1",
        "beta 2/2 1 failed, error",
        "beta completed 2/2 1 failed",
        "completed"
      ])
      const [started] = events
      const { run } = yield* onlyRun
      assert.strictEqual(started?._tag === "RunStarted" ? started.runId : undefined, run)
      assert.deepStrictEqual(
        started?._tag === "RunStarted" ? started.skipped.map(({ participant }) => participant.name) : [],
        ["skipped"]
      )
    }).pipe(Effect.provide(recorded))
  )

  it.effect("tells of settings that are not followed before the first task", () =>
    Effect.gen(function* () {
      const phases = [
        { name: "a", iterations: 1 },
        { name: "b", iterations: 2 }
      ]
      const benchmark = Benchmark.make({ ...base, phases, task: Effect.void })
      const events = Chunk.toReadonlyArray(yield* Stream.runCollect(Benchmark.stream(benchmark, { iterations: 9 })))
      assert.match(events.map(short)[1] ?? "", /^warning: .*iterations/)
      assert.strictEqual(events.map(short)[2], "alpha 0/3")
    }).pipe(Effect.provide(unrecorded))
  )

  it.effect("fails as the run fails, after the events before it", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const error = yield* Benchmark.stream(Benchmark.make({ ...base, task: Effect.void })).pipe(
        Stream.runForEach((event) => Effect.sync(() => seen.push(short(event)))),
        Effect.flip
      )
      assert.strictEqual(error._tag, "UndeliveredResults")
      assert.deepStrictEqual(seen, [
        "run of bench: alpha, 1 each",
        "alpha 0/1",
        "alpha started 0",
        "alpha 1/1 0 failed, success",
        "alpha completed 1/1 0 failed"
      ])
      const layer = Layer.fail("no database")
      const ofLayer = yield* Effect.flip(
        Stream.runDrain(Benchmark.stream(Benchmark.make({ ...base, layer, task: Effect.void })))
      )
      assert.strictEqual(ofLayer, "no database")
    }).pipe(
      Effect.provide(
        recordedOn(() => ({
          sendTaskResults: () =>
            Effect.fail(new PlatformFailure({ operation: "send", detail: "gone", retryable: false }))
        }))
      )
    )
  )

  it.effect("of a watcher that stands still does not slow the run, and loses no last event", () =>
    Effect.gen(function* () {
      const over = yield* Deferred.make<void>()
      const benchmark = Benchmark.make({
        ...base,
        iterations: 5000,
        task: Effect.void,
        onComplete: () => Deferred.succeed(over, undefined)
      })
      const seen: Array<RunEvent> = []
      yield* Stream.runForEach(Benchmark.stream(benchmark), (event) =>
        Effect.zipRight(
          seen.length === 0 ? Deferred.await(over) : Effect.void,
          Effect.sync(() => seen.push(event))
        )
      )
      assert.isBelow(seen.length, 2100)
      assert.strictEqual(seen[0]?._tag, "RunStarted")
      assert.deepStrictEqual(seen.slice(-3).map(short), [
        "alpha 5000/5000 0 failed, success",
        "alpha completed 5000/5000 0 failed",
        "completed"
      ])
    }).pipe(Effect.provide(unrecorded))
  )

  it.effect("that is left interrupts the run and waits for its end", () =>
    Effect.gen(function* () {
      const released: Array<string> = []
      const benchmark = Benchmark.make({
        ...base,
        iterations: 3,
        task: ({ taskIndex }) =>
          taskIndex === 0
            ? Effect.void
            : Effect.onInterrupt(Effect.never, () => Effect.sync(() => released.push(`task ${taskIndex}`)))
      })
      const first = yield* Benchmark.stream(benchmark).pipe(
        Stream.filter((event) => event._tag === "TaskCompleted"),
        Stream.runHead
      )
      assert.strictEqual(first._tag, "Some")
      assert.deepStrictEqual(released, ["task 1"])
      assert.deepStrictEqual(yield* workersOf(yield* onlyRun), [["alpha", "failed 2"]])
    }).pipe(Effect.provide(recorded))
  )

  it.effect("is interrupted with the one who reads it", () =>
    Effect.gen(function* () {
      const running = yield* Deferred.make<void>()
      const benchmark = Benchmark.make({
        ...base,
        task: Effect.zipRight(Deferred.succeed(running, undefined), Effect.never)
      })
      const reader = yield* Effect.fork(Stream.runDrain(Benchmark.stream(benchmark)))
      yield* Deferred.await(running)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(reader)))
      assert.deepStrictEqual(yield* workersOf(yield* onlyRun), [["alpha", "failed 1"]])
    }).pipe(Effect.provide(recorded))
  )
})

describe("listener", () => {
  it.effect("hears the runs of its context only", () =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      const benchmark = Benchmark.make({ ...base, task: Effect.void })
      yield* Effect.provideService(Benchmark.run(benchmark), RunListener, (event) => heard.push(event._tag))
      yield* Benchmark.run(benchmark)
      assert.deepStrictEqual(heard, [
        "RunStarted",
        "ParticipantStarted",
        "TaskStarted",
        "TaskCompleted",
        "ParticipantCompleted",
        "RunCompleted"
      ])
    }).pipe(Effect.provide(unrecorded))
  )
})
