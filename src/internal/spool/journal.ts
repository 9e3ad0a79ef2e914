import * as Effect from "effect/Effect"
import type { TaskRecord } from "../../Record.js"
import type { Journal, SpooledBatch } from "../../Spool.js"
import type { AttemptState, SpooledAttempt, Verdict } from "./attempt.js"
import * as Attempt from "./attempt.js"
import { Batch, fromLines, toLine } from "./batch.js"
import { refusal, SpoolError } from "./errors.js"
import type { JournalFiles } from "./files.js"

/** Buffered lines are written when they are more than this. */
const bufferBytes = 64 * 1024

/** What a journal starts with. */
export interface Contents {
  /** Sealed. */
  readonly batches: ReadonlyArray<Batch>
  readonly nextSequenceNumber: number
}

export interface RecordJournalOptions {
  readonly state: AttemptState
  readonly contents: Contents
  /** Where the batches are besides memory; without, memory is all there is. */
  readonly files: JournalFiles | undefined
  /** Told of every failure that no operation fails with. */
  readonly report: (error: SpoolError) => void
  /** Removes the journal from its spool. */
  readonly discard: Effect.Effect<void, SpoolError>
}

/**
 * Memory is what counts, the files follow. When they cannot, the records stay in memory, and all that the files lack is
 * written when the next batch is sealed or something else gives occasion.
 *
 * Appended lines are buffered, and written in a microtask. That is before the process takes up its next event, so before
 * it can tell anybody about work that it learns of later; and tasks that never wait for an event, which would keep a later
 * phase of the loop from coming, get their records written all the same. Tasks that do wait would pay the same in any phase.
 */
export class RecordJournal implements Journal {
  readonly attempt: SpooledAttempt
  verdict: Verdict | undefined
  private sealed: Array<Batch>
  private open: Batch
  private lines = ""
  private lineBytes = 0
  private flushIsDue = false
  /** Why records are kept in memory only. */
  private problem: SpoolError | undefined = undefined
  private readonly reported = new Set<string>()
  private closed = false
  private readonly exclusive = Effect.unsafeMakeSemaphore(1).withPermits(1)

  constructor(private readonly options: RecordJournalOptions) {
    this.attempt = options.state.attempt
    this.verdict = options.state.verdict
    this.sealed = [...options.contents.batches]
    this.open = new Batch(options.contents.nextSequenceNumber)
  }

  readonly append = (record: TaskRecord): void => {
    const entry = toLine(record)
    this.open.add(entry.record, entry.bytes)
    if (this.files === undefined || this.problem !== undefined) return
    this.lines += entry.line
    this.lineBytes += entry.bytes
    if (this.lineBytes > bufferBytes) {
      this.flush()
    } else if (!this.flushIsDue) {
      this.flushIsDue = true
      queueMicrotask(this.flush)
    }
  }

  /** Writes what was appended since the last time. */
  readonly flush = (): void => {
    const { lineBytes, lines, open } = this
    this.dropLines()
    this.flushIsDue = false
    if (lines === "") return
    this.guarded((files) => {
      files.write(open.sequenceNumber, open.writtenBytes, lines, lineBytes)
      open.allWritten()
    })
  }

  get openRecords(): number {
    return this.open.recordCount
  }

  get openBytes(): number {
    return this.open.bytes
  }

  get batches(): ReadonlyArray<SpooledBatch> {
    return this.waiting.map(({ recordCount, sequenceNumber }) => ({ recordCount, sequenceNumber }))
  }

  get nextSequenceNumber(): number {
    return this.open.sequenceNumber
  }

  get unsaved(): number {
    return [...this.waiting, this.open].reduce((count, batch) => count + batch.recordCount - batch.written, 0)
  }

  readonly seal: Effect.Effect<void> = Effect.sync(() => {
    if (this.open.recordCount === 0) return
    this.flush()
    this.sealOpen()
    if (this.problem === undefined) this.guarded((files) => files.ensure(this.open.sequenceNumber))
    if (this.problem !== undefined) this.save()
  })

  readonly read = (batch: SpooledBatch): Effect.Effect<ReadonlyArray<TaskRecord>, SpoolError> =>
    Effect.suspend(() => {
      const found = this.find(batch)
      const { files } = this.options
      if (found === undefined) {
        const detail = `has no batch ${batch.sequenceNumber} of ${batch.recordCount} record(s)`
        return new SpoolError({ path: files?.directory ?? "journal", detail })
      }
      if (found.onlyInFile === 0 || files === undefined) return Effect.succeed(found.inMemory)
      return Effect.try({
        try: () => fromLines(files.read(found.sequenceNumber), found.onlyInFile).concat(found.inMemory),
        catch: refusal(files.pathOf(found.sequenceNumber), "read records")
      })
    })

  readonly acknowledge = (batch: SpooledBatch): Effect.Effect<void> =>
    Effect.sync(() => {
      const found = this.find(batch)
      if (found === undefined) return
      found.acknowledged = true
      this.removeAcknowledged()
    })

  readonly split = (batch: SpooledBatch): Effect.Effect<boolean, SpoolError> =>
    Effect.suspend(() => {
      const found = this.find(batch)
      const index = this.sealed.findIndex(({ acknowledged }) => !acknowledged)
      const later = this.sealed.slice(index + 1)
      if (found === undefined || found !== this.sealed[index] || later.some(({ acknowledged }) => acknowledged)) {
        return Effect.dieMessage("Only a journal's first batch can be split, before any after it is acknowledged")
      }
      if (found.recordCount < 2) return Effect.succeed(false)
      const half = Math.ceil(found.recordCount / 2)
      const firstBytes = this.decideSplit(found, half)
      if (typeof firstBytes !== "number") return firstBytes
      let next = found.sequenceNumber + 1
      for (const moved of [...later, this.open]) {
        if (moved.sequenceNumber !== next) break
        moved.sequenceNumber = ++next
      }
      this.sealed.splice(index + 1, 0, found.splitAfter(half, firstBytes))
      this.guarded((files) => files.settle())
      return Effect.succeed(true)
    })

  readonly setVerdict = (verdict: Verdict): Effect.Effect<void, SpoolError> =>
    Effect.suspend(() => {
      this.verdict = verdict
      const { files } = this
      if (files === undefined) return Effect.void
      const write = Effect.suspend(() => Attempt.write(files.directory, { attempt: this.attempt, verdict }))
      return write.pipe(
        Effect.catchAll(() => {
          this.save()
          return write
        }),
        Effect.mapError(refusal(files.directory, "write how the worker ended"))
      )
    }).pipe(this.exclusive, Effect.uninterruptible)

  readonly evict: Effect.Effect<void> = Effect.sync(() => {
    this.flush()
    this.guarded((files) => {
      if (this.findMissing(files)) throw new Error("what was written is there no longer")
    })
    if (this.problem !== undefined) this.save()
    if (this.files !== undefined) for (const batch of [...this.waiting, this.open]) batch.evict()
  })

  readonly remove: Effect.Effect<void, SpoolError> = Effect.suspend(() => {
    this.flush()
    this.end()
    return this.options.discard
  }).pipe(
    Effect.tap(() => {
      this.sealed = []
      this.open = new Batch(this.open.sequenceNumber)
    }),
    this.exclusive,
    Effect.uninterruptible
  )

  /** Writes what can be written; from now on the journal is in memory only. */
  readonly close: Effect.Effect<void> = Effect.sync(() => {
    if (this.closed) return
    this.flush()
    if (this.problem !== undefined) this.save()
    const lost = this.files === undefined ? 0 : this.unsaved
    if (lost > 0) {
      const detail = `${lost} record(s) could not be written and are lost`
      this.options.report(new SpoolError({ path: this.options.files?.directory ?? "journal", detail }))
    }
    this.end()
  }).pipe(this.exclusive)

  /** What a journal that goes on from here starts with. */
  get contents(): Contents {
    const sealed = this.open.recordCount > 0
    return {
      batches: sealed ? [...this.waiting, this.open] : this.waiting,
      nextSequenceNumber: this.open.sequenceNumber + (sealed ? 1 : 0)
    }
  }

  private get files(): JournalFiles | undefined {
    return this.closed ? undefined : this.options.files
  }

  private get waiting(): ReadonlyArray<Batch> {
    return this.sealed.filter(({ acknowledged }) => !acknowledged)
  }

  private find({ recordCount, sequenceNumber }: SpooledBatch): Batch | undefined {
    return this.waiting.find((batch) => batch.sequenceNumber === sequenceNumber && batch.recordCount === recordCount)
  }

  /** Does something with the files; when they refuse, records are kept in memory from now on. */
  private guarded(use: (files: JournalFiles) => void): void {
    const { files } = this
    if (files === undefined) return
    try {
      use(files)
    } catch (cause) {
      this.dropLines()
      files.close()
      const path = files.pathOf(this.open.sequenceNumber)
      this.problem = refusal(path, "write records, which stay in memory until it can be done")(cause)
      this.reportOnce("write", this.problem)
    }
  }

  private reportOnce(kind: "write" | "remove", error: SpoolError): void {
    if (this.reported.has(kind)) return
    this.reported.add(kind)
    this.options.report(error)
  }

  private dropLines(): void {
    this.lines = ""
    this.lineBytes = 0
  }

  /** Tries to write all that the files lack. */
  private save(): void {
    this.dropLines()
    this.guarded((files) => {
      this.findMissing(files)
      files.restore()
      if (isGone(files, this.open)) this.sealOpen()
      for (const batch of [...this.waiting, this.open]) {
        if (batch.written === batch.recordCount || isGone(files, batch)) continue
        const bytes = batch.bytes - batch.writtenBytes
        files.write(batch.sequenceNumber, batch.writtenBytes, batch.unwrittenLines(), bytes)
        batch.allWritten()
      }
      files.ensure(this.open.sequenceNumber)
      this.problem = undefined
      this.reported.clear()
    })
    if (this.problem === undefined) this.removeAcknowledged()
  }

  /** Looks for files that somebody took away: their records, as far as they are in memory, count as not written. */
  private findMissing(files: JournalFiles): boolean {
    let missing = false
    for (const batch of [...this.waiting, this.open]) {
      if (batch.written === 0 || batch.onlyInFile > 0 || hasWritten(files, batch)) continue
      batch.nothingWritten()
      missing = true
    }
    return missing
  }

  private sealOpen(): void {
    this.sealed.push(this.open)
    this.open = new Batch(this.open.sequenceNumber + 1)
  }

  /**
   * In the order of their numbers, so that a missing file always means a batch that need not be sent; and only when a file
   * with a higher number is there.
   */
  private removeAcknowledged(): void {
    for (let first = this.sealed[0]; first?.acknowledged === true; first = this.sealed[0]) {
      const { files } = this
      try {
        files?.ensure(this.open.sequenceNumber)
        files?.remove(first.sequenceNumber)
      } catch (cause) {
        const path = files?.pathOf(first.sequenceNumber) ?? "journal"
        return this.reportOnce("remove", refusal(path, "remove a delivered batch, which may be sent again")(cause))
      }
      this.sealed.shift()
    }
  }

  /** The bytes of the first half; or the failure to split the file, unless no file holds anything. */
  private decideSplit(batch: Batch, half: number): number | Effect.Effect<never, SpoolError> {
    const { files } = this
    if (files === undefined) return batch.bytesOfFirst(half)
    this.flush()
    if (this.problem !== undefined) this.save()
    if (this.problem !== undefined) {
      const nothingWritten = [...this.waiting, this.open].every(({ written }) => written === 0)
      return nothingWritten ? batch.bytesOfFirst(half) : this.problem
    }
    try {
      if (this.waiting.some((other) => isGone(files, other))) throw new Error("what was written is there no longer")
      return files.decideSplit(batch.sequenceNumber, half, batch.bytes)
    } catch (cause) {
      return refusal(files.pathOf(batch.sequenceNumber), "split a batch")(cause)
    }
  }

  private end(): void {
    this.closed = true
    this.options.files?.close()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const hasWritten = (files: JournalFiles, batch: Batch): boolean =>
  (files.size(batch.sequenceNumber) ?? 0) >= batch.writtenBytes

/** Whether the only copy of some of its records was taken away. */
const isGone = (files: JournalFiles, batch: Batch): boolean => batch.onlyInFile > 0 && !hasWritten(files, batch)
