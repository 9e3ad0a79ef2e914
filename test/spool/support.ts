import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { Effect } from "effect"
import type { TaskRecord } from "../../src/Record.js"
import type { Journal, SpooledAttempt } from "../../src/Spool.js"
import { Spool } from "../../src/Spool.js"

export const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "effect-bench-spool-"))),
  (directory) => Effect.sync(() => Fs.rmSync(directory, { recursive: true, force: true }))
)

export const attempt = (attemptId: string, fields: Partial<SpooledAttempt> = {}): Omit<SpooledAttempt, "version"> => ({
  origin: { kind: "remote", baseUrl: "https://platform.example", organization: "acme" },
  benchmark: "bench",
  run: "run-1",
  participant: "alpha",
  worker: "worker-1",
  attemptId,
  attemptNumber: 1,
  startedAt: "2026-01-02T03:04:05.000Z",
  ...fields
})

export const record = (taskIndex: number, fields: Partial<TaskRecord> = {}): TaskRecord => ({
  taskIndex,
  status: "success",
  startedAt: "2026-01-02T03:04:05.000Z",
  completedAt: "2026-01-02T03:04:05.010Z",
  latencyMs: 10.125,
  steps: [{ name: "get", status: "success", latencyMs: 9.5, data: { bytes: taskIndex } }],
  ...fields
})

/** Appends records with these indices. */
export const append = (journal: Journal, from: number, to: number): void => {
  for (let index = from; index < to; index++) journal.append(record(index))
}

export const range = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: to - from }, (_, i) => from + i)

/** The task indices of every sealed batch, by its number. */
export const contents = (journal: Journal) =>
  Effect.forEach(journal.batches, (batch) =>
    Effect.map(journal.read(batch), (records) => ({
      number: batch.sequenceNumber,
      tasks: records.map(({ taskIndex }) => taskIndex)
    }))
  )

/** Every sealed record, in order. */
export const records = (journal: Journal) =>
  Effect.map(Effect.forEach(journal.batches, journal.read), (batches) => batches.flat())

export const entryOf = (attemptId: string) =>
  Effect.flatMap(Spool, (spool) =>
    Effect.map(spool.list, ({ entries }) => {
      const found = entries.find((entry) => entry.attempt.attemptId === attemptId)
      if (found === undefined) throw new Error(`no journal of ${attemptId}`)
      return found
    })
  )

/** Takes the journal of an attempt, which nobody must hold. */
export const takeIt = (attemptId: string) =>
  Effect.gen(function* () {
    const spool = yield* Spool
    const journal = yield* spool.take(yield* entryOf(attemptId))
    if (journal === undefined) throw new Error(`the journal of ${attemptId} was not given`)
    return journal
  })

/** Waits until what was due at the end of this turn of the event loop has been done. */
export const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
