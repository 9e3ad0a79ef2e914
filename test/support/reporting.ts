import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { Effect, Logger } from "effect"
import * as Reporter from "../../src/Reporter.js"
import * as Spool from "../../src/Spool.js"
import type { Task, TaskServices } from "../../src/Task.js"
import type { EngineOptions } from "./engine.js"
import { runTask } from "./engine.js"
import { FakePlatform } from "./fakePlatform.js"
import { openRun, runPlan } from "./reporter.js"

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

/** A run on a spool of the test's own. */
export const openSpooledRun = (
  platform: FakePlatform,
  spool: Spool.Spool["Type"],
  options: Reporter.ReporterOptions = {}
) =>
  Effect.flatMap(Reporter.make(options), (reporter) => reporter.openRun(runPlan)).pipe(
    Effect.provide(platform.layer),
    Effect.provideService(Spool.Spool, spool)
  )

export const textOf = (content: Uint8Array | undefined): string | undefined =>
  content === undefined ? undefined : new TextDecoder().decode(content)
