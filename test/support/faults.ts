/** Runs against a host that misbehaves: real requests to a real store, with a spool on disk. */
import { spawn } from "node:child_process"
import * as net from "node:net"
import { fileURLToPath } from "node:url"
import { FetchHttpClient } from "@effect/platform"
import { assert } from "@effect/vitest"
import type { Duration, Exit } from "effect"
import { Context, Effect, Layer, Redacted, Schedule, Schema } from "effect"
import * as Benchmark from "../../src/Benchmark.js"
import type { RunRef } from "../../src/Platform.js"
import { Platform } from "../../src/Platform.js"
import * as PlatformClient from "../../src/PlatformClient.js"
import type { PushOptions } from "../../src/Push.js"
import * as Push from "../../src/Push.js"
import type { ReporterOptions, TelemetryFailure } from "../../src/Reporter.js"
import * as Reporter from "../../src/Reporter.js"
import type { RunEvent } from "../../src/RunEvent.js"
import { RunListener } from "../../src/RunEvent.js"
import * as Scheduler from "../../src/Scheduler.js"
import * as Spools from "../../src/Spool.js"
import { Spool } from "../../src/Spool.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import * as Task from "../../src/Task.js"
import type { Fault, Misbehaviour, PlatformHost, Received } from "./platformHost.js"
import * as Host from "./platformHost.js"
import { metadata } from "./reporter.js"
import { loggedInto } from "./reporting.js"
import { temporaryDirectory } from "./stores.js"

/** A batch that was stored; those that were acknowledged as duplicates are none. */
export interface Stored {
  readonly attemptId: string
  readonly sequenceNumber: number
  readonly isFinal: boolean
  readonly tasks: ReadonlyArray<number>
}

/** A host, what is behind it, and where those keep their records who report to it. */
export interface Setting {
  readonly host: PlatformHost
  readonly store: Platform["Type"]
  /** In the order in which they were stored. */
  readonly stored: ReadonlyArray<Stored>
  readonly spool: Spool["Type"]
}

export const setting = (
  options: { readonly misbehaviour?: Misbehaviour; readonly lease?: Duration.DurationInput } = {}
) =>
  Effect.gen(function* () {
    const { lease, misbehaviour } = options
    const directory = yield* temporaryDirectory
    const store = Context.get(yield* Layer.build(SqlPlatform.layerSqlite({ filename: ":memory:", lease })), Platform)
    const spool = Context.get(yield* Layer.build(Spools.layerDirectory({ directory })), Spool)
    const stored: Array<Stored> = []
    const sendTaskResults: Platform["Type"]["sendTaskResults"] = (ref, input) =>
      Effect.tap(store.sendTaskResults(ref, input), ({ duplicate }) => {
        const { attemptId, isFinal, records, sequenceNumber } = input
        if (!duplicate) {
          stored.push({ attemptId, sequenceNumber, isFinal, tasks: records.map(({ taskIndex }) => taskIndex) })
        }
      })
    const host = yield* Host.make({ platform: { ...store, sendTaskResults }, misbehaviour })
    const made: Setting = { host, store, stored, spool }
    return made
  })

// -----------------------------------------------------------------------------
// faults
// -----------------------------------------------------------------------------

export const answers = (status: number, headers: Readonly<Record<string, string>> = {}): Fault => ({
  fault: "answer",
  status,
  headers
})

export const unavailable = answers(503)

export const resets = (when: "before" | "after" | "midBody"): Fault => ({ fault: "reset", when })

export const garbage: Fault = { fault: "garbage" }

/** Whether a request is one with this method to a path with this ending. */
export const isTo = ({ method, path }: Received, wanted: string, ending: string): boolean =>
  method === wanted && (path.split("?")[0] ?? "").endsWith(ending)

/** The same fault for every request to paths with one of these endings. */
export const always =
  (fault: Fault, ...endings: ReadonlyArray<string>): Misbehaviour =>
  (request) =>
    endings.some((ending) => isTo(request, request.method, ending)) ? fault : "normal"

/** The tasks of a batch, as it arrived. */
export const tasksIn = ({ body }: Received): ReadonlyArray<number> =>
  isBatch(body) ? body.records.map(({ taskIndex }) => taskIndex) : []

const isBatch = Schema.is(Schema.Struct({ records: Schema.Array(Schema.Struct({ taskIndex: Schema.Int })) }))

// -----------------------------------------------------------------------------
// runs
// -----------------------------------------------------------------------------

export interface RunSettings {
  readonly tasks: number
  readonly concurrency?: number
  readonly task?: (taskIndex: number) => Effect.Effect<unknown>
  readonly runKey?: string
  readonly apiKey?: string
  /** Default that of the host. */
  readonly baseUrl?: string
  readonly scored?: boolean
  /** Whether each task writes to the log. Default false. */
  readonly logs?: boolean
  readonly reporter?: ReporterOptions
}

/** How a run went. */
export interface Ran {
  readonly exit: Exit.Exit<Benchmark.Outcome, Benchmark.RunError>
  /** Task indexes, in the order in which they were recorded. */
  readonly recorded: ReadonlyArray<number>
  readonly telemetry: ReadonlyArray<TelemetryFailure>
  /** What was logged. */
  readonly log: ReadonlyArray<string>
}

/** Often enough for every script of faults, and soon enough for a test. */
export const patient = Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(200))

/** Gives up at the fourth failure. */
export const impatient = Schedule.intersect(Schedule.spaced("5 millis"), Schedule.recurs(3))

const client = ({ host }: Setting, { apiKey = Host.apiKey, baseUrl = host.baseUrl }: Partial<RunSettings>) =>
  Layer.provide(PlatformClient.layer({ baseUrl, credentials: Redacted.make(apiKey) }), FetchHttpClient.layer)

const scoring = { metrics: [{ key: "half", unit: "ms", ceiling: 100, weights: { median: 1, p95: 0, p99: 0 } }] }

/** Runs a benchmark with one participant, in batches of five. */
export const run = (where: Setting, settings: RunSettings): Effect.Effect<Ran> =>
  Effect.gen(function* () {
    const recorded: Array<number> = []
    const telemetry: Array<TelemetryFailure> = []
    const log: Array<string> = []
    const { task = () => Effect.void } = settings
    const benchmark = Benchmark.make({
      benchmarkSlug: "demo",
      benchmarkName: "Demo",
      participants: [{ name: "alpha" }],
      iterations: settings.tasks,
      concurrency: settings.concurrency ?? 1,
      ...(settings.scored === true && { scoring }),
      task: ({ taskIndex }) =>
        Effect.gen(function* () {
          yield* task(taskIndex)
          if (settings.logs === true) yield* Task.log(`task ${taskIndex} says so`)
          return { data: { half: taskIndex / 2 } }
        })
    })
    const reporter = Reporter.layerWith({
      batchSize: 5,
      flushSchedule: patient,
      metadata: Effect.succeed(metadata),
      ...settings.reporter,
      onTelemetryError: (failure) => Effect.sync(() => void telemetry.push(failure))
    }).pipe(Layer.provide([client(where, settings), Layer.succeed(Spool, where.spool)]))
    const listen = (event: RunEvent) => {
      if (event._tag === "TaskCompleted") recorded.push(event.record.taskIndex)
    }
    const exit = yield* Benchmark.run(benchmark, { runKey: settings.runKey }).pipe(
      Effect.provide(Layer.merge(Scheduler.layer, Layer.orDie(reporter))),
      Effect.provideService(RunListener, listen),
      loggedInto(log),
      Effect.exit
    )
    return { exit, recorded, telemetry, log }
  })

/** Delivers everything that waits in the spool. */
export const pushAll = (where: Setting, options: PushOptions = { flushSchedule: patient }) =>
  Effect.flatMap(where.spool.list, ({ entries }) =>
    Effect.forEach(entries, (entry) => Effect.either(Push.push(entry, options)))
  ).pipe(Effect.provide(client(where, {})), Effect.provideService(Spool, where.spool))

// -----------------------------------------------------------------------------
// what there is in the end
// -----------------------------------------------------------------------------

export const range = (count: number, from = 0): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, i) => from + i)

/** What the store has of a run. */
export interface Held {
  readonly ref: RunRef
  readonly run: string
  readonly tasks: ReadonlyArray<number>
  /** Status of each worker of `alpha`. */
  readonly workers: ReadonlyArray<string>
}

/** What the store has of its only run. */
export const held = ({ store }: Setting): Effect.Effect<Held> =>
  Effect.gen(function* () {
    const runs = yield* store.listAllRuns({})
    assert.strictEqual(runs.length, 1)
    return yield* heldOf(store, { benchmark: "demo", run: runs[0]?.id ?? "" })
  }).pipe(Effect.orDie)

export const heldOf = (store: Platform["Type"], ref: RunRef): Effect.Effect<Held> =>
  Effect.gen(function* () {
    const { status } = yield* store.getRun(ref)
    const workers = yield* store.listWorkers({ ...ref, participant: "alpha" })
    const tasks = yield* store.iterations(ref, {})
    return {
      ref,
      run: status,
      tasks: tasks.map(({ taskIndex }) => taskIndex),
      workers: workers.map(({ status }) => status)
    }
  }).pipe(Effect.orDie)

/** That the batches of each attempt were stored in the order of their numbers, without gaps, and have these tasks. */
export const assertInOrder = ({ stored }: Setting, tasks: ReadonlyArray<number>): void => {
  for (const attempt of new Set(stored.map(({ attemptId }) => attemptId))) {
    const batches = stored.filter(({ attemptId }) => attemptId === attempt)
    assert.deepStrictEqual(
      batches.map(({ sequenceNumber }) => sequenceNumber),
      range(batches.length)
    )
  }
  assert.deepStrictEqual(
    stored.flatMap((batch) => batch.tasks),
    tasks
  )
}

/** Asserts that the run went well and that its store has every task, and each once. */
export const assertComplete = (where: Setting, { exit, recorded }: Ran, tasks: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (exit._tag === "Failure") return yield* Effect.failCause(exit.cause)
    assertInOrder(where, recorded)
    const { run, tasks: stored, workers } = yield* held(where)
    assert.deepStrictEqual(stored, range(tasks))
    assert.deepStrictEqual([run, workers], ["completed", ["completed"]])
    assert.deepStrictEqual((yield* where.spool.list).entries, [])
  }).pipe(Effect.orDie)

/** What a run failed with; dies when it did not fail. */
export const failureOf = ({ exit }: Ran): Benchmark.RunError => {
  if (exit._tag === "Success") throw new Error("the run did not fail")
  if (exit.cause._tag !== "Fail") throw new Error(`the run did not fail but: ${String(exit.cause)}`)
  return exit.cause.error
}

/** The records that a run could not deliver, with what they failed with; dies when it failed otherwise. */
export const undeliveredOf = (ran: Ran): Reporter.Undelivered => {
  const error = failureOf(ran)
  if (error._tag !== "UndeliveredResults") throw error
  const [only] = error.undelivered
  if (only === undefined || error.undelivered.length > 1) throw error
  return only
}

// -----------------------------------------------------------------------------
// a host that goes away
// -----------------------------------------------------------------------------

/** An address that leads to a port for as long as it is open. */
export class Door {
  private readonly server = net.createServer((socket) => this.connect(socket))
  private readonly sockets = new Set<net.Socket>()
  private ownPort = 0

  constructor(private target: number) {}

  get baseUrl(): string {
    return `http://127.0.0.1:${this.ownPort}`
  }

  /** Opens it, at the address that it had before. */
  readonly open = (target: number = this.target): Effect.Effect<void> =>
    Effect.async((resume) => {
      this.target = target
      this.server.listen(this.ownPort, "127.0.0.1", () => {
        const address = this.server.address()
        if (address !== null && typeof address === "object") this.ownPort = address.port
        resume(Effect.void)
      })
    })

  /** Nothing listens any more, and what was connected is cut off. */
  readonly close: Effect.Effect<void> = Effect.async((resume) => {
    this.server.close(() => resume(Effect.void))
    for (const socket of this.sockets) socket.resetAndDestroy()
  })

  private connect(socket: net.Socket): void {
    const upstream = net.connect(this.target, "127.0.0.1")
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket]
    ] as const) {
      this.sockets.add(one)
      one.on("error", () => {})
      one.on("close", () => {
        this.sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  }
}

export const portOf = (baseUrl: string): number => Number(new URL(baseUrl).port)

/** A door to a host. */
export const door = (target: number) =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const made = new Door(target)
      return Effect.as(made.open(), made)
    }),
    (made) => made.close
  )

// -----------------------------------------------------------------------------
// a host that is a process
// -----------------------------------------------------------------------------

const load = `
  import { createJiti } from "jiti"
  await createJiti(process.cwd() + "/").import(process.argv[1])
`

const batchesIn = (said: string): number => said.match(/^events$/gm)?.length ?? 0

/** A host in a process of its own, with its runs in a file. */
export interface HostProcess {
  readonly port: number
  /** Waits until so many requests with results have arrived from now on. */
  readonly batches: (count: number) => Effect.Effect<void>
  /** Ends it without giving it time for anything. */
  readonly kill: Effect.Effect<void>
}

export const hostProcess = (options: { readonly filename: string; readonly delayMillis?: number }) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const child = spawn(
          process.execPath,
          [
            ...["--input-type=module", "--eval", load],
            fileURLToPath(new URL("../fixtures/platformHostProcess.ts", import.meta.url)),
            ...[options.filename, String(options.delayMillis ?? 0)]
          ],
          { cwd: fileURLToPath(new URL("../..", import.meta.url)), stdio: ["ignore", "pipe", "inherit"] }
        )
        const ended = new Promise<void>((resolve) => child.on("close", () => resolve()))
        let said = ""
        const listeners = new Set<() => void>()
        child.stdout.on("data", (chunk) => {
          said += String(chunk)
          for (const listener of listeners) listener()
        })
        const saying = <A>(look: (said: string) => A | undefined) =>
          new Promise<A>((resolve, reject) => {
            const listener = () => {
              const found = look(said)
              if (found === undefined) return
              listeners.delete(listener)
              resolve(found)
            }
            listeners.add(listener)
            void ended.then(() => reject(new Error("the host has ended")))
            listener()
          })
        const port = await saying((text) => /^port (\d+)$/m.exec(text)?.[1])
        return { child, ended, port, saying, saidSoFar: () => said }
      }),
      ({ child, ended }) =>
        Effect.promise(() => {
          child.kill("SIGKILL")
          return ended
        })
    ),
    ({ child, ended, port, saidSoFar, saying }): HostProcess => ({
      port: Number(port),
      batches: (count) =>
        Effect.promise(async () => {
          const before = batchesIn(saidSoFar())
          await saying((text) => (batchesIn(text) >= before + count ? true : undefined))
        }),
      kill: Effect.promise(() => {
        child.kill("SIGKILL")
        return ended
      })
    })
  )
