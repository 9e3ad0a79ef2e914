import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Either } from "effect"
import { Stdout } from "../../src/cli/outputFile.js"
import type { Assignment, ParticipantRef, RunRef } from "../../src/Platform.js"
import { Platform } from "../../src/Platform.js"
import type { TaskRecord } from "../../src/Record.js"

/** What the effect of a command left. */
export interface Said<E> {
  /** Text and bytes, in the order in which they were written. */
  readonly stdout: string
  readonly bytes: Uint8Array
  readonly stderr: string
  /** What it failed with; undefined when it succeeded. */
  readonly error: E | undefined
}

/** What a command says, as it says it. */
export class Captured {
  private readonly written: Array<Uint8Array> = []
  stderr = ""

  get bytes(): Uint8Array {
    return Buffer.concat(this.written)
  }

  get stdout(): string {
    return Buffer.concat(this.written).toString()
  }

  /** Everything that was said since the last time, stderr first. */
  take(): string {
    const said = this.stderr + this.stdout
    this.written.length = 0
    this.stderr = ""
    return said
  }

  readonly log = (text: unknown): void => {
    this.written.push(Buffer.from(`${String(text)}\n`))
  }

  readonly error = (text: unknown): void => {
    this.stderr += `${String(text)}\n`
  }

  readonly write = (bytes: Uint8Array): void => {
    this.written.push(bytes.slice())
  }
}

export const capturing = <A, E, R>(
  command: Effect.Effect<A, E, R>,
  said: Captured,
  stdout: { readonly isTerminal?: boolean; readonly reads?: number } = {}
): Effect.Effect<A, E, Exclude<R, NodeContext.NodeContext>> =>
  Effect.gen(function* () {
    const console = yield* Effect.console
    const capture: Console.Console = {
      ...console,
      [Console.TypeId]: Console.TypeId,
      log: (text) => Effect.sync(() => said.log(text)),
      error: (text) => Effect.sync(() => said.error(text)),
      unsafe: { ...console.unsafe, log: said.log, error: said.error }
    }
    let reads = stdout.reads ?? Infinity
    return yield* command.pipe(
      Effect.provideService(Stdout, {
        isTerminal: stdout.isTerminal ?? false,
        write: (bytes) =>
          Effect.sync(() => {
            if (reads-- <= 0) return false
            said.write(bytes)
            return true
          })
      }),
      Effect.withConsole(capture)
    )
  }).pipe(Effect.provide(NodeContext.layer))

/** Runs the effect of a command and gives what it left. `reads` is how many pieces the reader of stdout takes. */
export const call = <A, E, R>(
  command: Effect.Effect<A, E, R>,
  stdout: { readonly isTerminal?: boolean; readonly reads?: number } = {}
): Effect.Effect<Said<E>, never, Exclude<R, NodeContext.NodeContext>> =>
  Effect.gen(function* () {
    const said = new Captured()
    const result = yield* Effect.either(capturing(command, said, stdout))
    return {
      stdout: said.stdout,
      bytes: said.bytes,
      stderr: said.stderr,
      error: Either.isLeft(result) ? result.left : undefined
    }
  })

/** Creates a run with the workers of its participants, which have as many tasks as is said. */
export const createRun = (participants: Readonly<Record<string, number>>, workerCount = 1, benchmark = "demo") =>
  Effect.gen(function* () {
    const platform = yield* Platform
    yield* platform.upsertBenchmark(benchmark, { name: "Demo" })
    const { run } = yield* platform.createRun(benchmark, {
      participants: Object.entries(participants).map(([slug, totalTasks]) => ({
        slug,
        provider: `provider of ${slug}`,
        totalTasks,
        workerCount
      }))
    })
    const ref: RunRef = { benchmark, run: run.id }
    for (const participant of Object.keys(participants)) {
      yield* platform.planWorkers({ ...ref, participant }, { workerCount })
    }
    return ref
  })

/** The next worker of a participant. */
export const claim = (ref: ParticipantRef) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const assignment = yield* platform.claimWorker(ref, {})
    return assignment ?? (yield* Effect.dieMessage("no worker to claim"))
  })

export const workerRef = (ref: ParticipantRef, { workerId }: Assignment) => ({ ...ref, worker: workerId })

/** Runs the next worker of a participant: stores what it recorded and completes it. */
export const work = (ref: ParticipantRef, records: ReadonlyArray<TaskRecord>) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const assignment = yield* claim(ref)
    const worker = workerRef(ref, assignment)
    const { attemptId } = assignment
    yield* platform.sendTaskResults(worker, {
      type: "task_results",
      attemptId,
      sequenceNumber: 0,
      isFinal: true,
      records
    })
    yield* platform.completeWorker(worker, { attemptId })
  })
