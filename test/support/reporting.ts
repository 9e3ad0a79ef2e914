import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { Clock, Context, Effect, Fiber, Layer, Logger, TestClock } from "effect"
import * as Reporter from "../../src/Reporter.js"
import * as Spool from "../../src/Spool.js"
import type { Task, TaskServices } from "../../src/Task.js"
import type { EngineOptions } from "./engine.js"
import { runTask } from "./engine.js"
import type { Behaviour } from "./fakePlatform.js"
import { FakePlatform, transient } from "./fakePlatform.js"
import { metadata, openRun, runPlan } from "./reporter.js"

/** A platform whose only worker has this many tasks. */
export const platformWith = (count: number, start = 0): FakePlatform => {
  const platform = new FakePlatform()
  if (platform.assignment === null) throw new Error("there is no worker")
  platform.assignment = { ...platform.assignment, taskRange: { start, end: start + count - 1, count } }
  return platform
}

/** Runs a task in every slot of the platform's worker. */
export const runOn = <E, R>(
  platform: FakePlatform,
  task: Task<E, R | TaskServices>,
  options: Reporter.ReporterOptions = {},
  engine: Omit<EngineOptions, "run"> = {}
) =>
  Effect.gen(function* () {
    const run = yield* openRun(platform, options)
    const { log, records } = yield* runTask(task, { ...engine, run })
    return { log, records, undelivered: yield* run.undelivered }
  })

/** What was logged, in the order in which it was. */
export const loggedInto = (lines: Array<string>) =>
  Effect.provide(
    Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => {
        lines.push(Array.isArray(message) ? message.join(": ") : String(message))
      })
    )
  )

export const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "effect-bench-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
)

/** A spool in a directory, told what goes wrong with it. */
export const spoolIn = (directory: string, errors: Array<string> = []) =>
  Effect.map(
    Layer.build(
      Spool.layerDirectory({ directory, onError: (error) => Effect.sync(() => void errors.push(error.message)) })
    ),
    (context) => Context.get(context, Spool.Spool)
  )

/** Lets time pass until the fiber has ended; what it does for real happens in between. */
export const settled = <A, E>(fiber: Fiber.RuntimeFiber<A, E>, seconds = 600) =>
  Effect.gen(function* () {
    for (let passed = 0; fiber.unsafePoll() === null && passed < seconds; passed++) {
      yield* TestClock.adjust("1 second")
    }
    return fiber.unsafePoll() === null
      ? yield* Effect.dieMessage(`has not ended within ${seconds} seconds`)
      : yield* Fiber.join(fiber)
  })

/** Nothing works until this time has come, in milliseconds. */
export const downUntil = (millis: number): Behaviour => ({
  before: Effect.flatMap(Clock.currentTimeMillis, (now) => (now < millis ? Effect.fail(transient) : Effect.void))
})

/** A run on a spool of the test's own. */
export const openSpooledRun = (
  platform: FakePlatform,
  spool: Spool.Spool["Type"],
  options: Reporter.ReporterOptions = {}
) =>
  Effect.flatMap(Reporter.make({ metadata: Effect.succeed(metadata), ...options }), (reporter) =>
    reporter.openRun(runPlan)
  ).pipe(Effect.provide(platform.layer), Effect.provideService(Spool.Spool, spool))

export const textOf = (content: Uint8Array | undefined): string | undefined =>
  content === undefined ? undefined : new TextDecoder().decode(content)
