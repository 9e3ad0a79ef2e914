import * as Schema from "effect/Schema"
import { TaskRecord } from "../../Record.js"
import { messageOf } from "../json.js"
import type { BatchFile } from "./files.js"

/**
 * The records of one sequence number. The first `evicted` of them are in the batch's file only, the rest in memory; the
 * first `written` are in the file.
 */
export class Batch {
  private records: Array<TaskRecord> = []
  private evicted = 0
  written = 0
  /** Of the written records, in the file. */
  writtenBytes = 0
  /** Of all records, as lines. */
  bytes = 0
  /** The platform has it, but its file is not removed yet. */
  acknowledged = false

  constructor(public sequenceNumber: number) {}

  static fromFile({ bytes, records, sequenceNumber }: BatchFile): Batch {
    const batch = new Batch(sequenceNumber)
    batch.evicted = batch.written = records
    batch.bytes = batch.writtenBytes = bytes
    return batch
  }

  get recordCount(): number {
    return this.evicted + this.records.length
  }

  /** How many records a reader finds in the file, before those {@link inMemory}. */
  get onlyInFile(): number {
    return this.evicted
  }

  get inMemory(): ReadonlyArray<TaskRecord> {
    return this.records
  }

  add(record: TaskRecord, bytes: number): void {
    this.records.push(record)
    this.bytes += bytes
  }

  /** The lines that the file lacks. */
  unwrittenLines(): string {
    return this.records.slice(this.written - this.evicted).reduce((lines, record) => lines + toLine(record).line, "")
  }

  allWritten(): void {
    this.written = this.recordCount
    this.writtenBytes = this.bytes
  }

  nothingWritten(): void {
    this.written = 0
    this.writtenBytes = 0
  }

  /** Lets go of what is in the file. */
  evict(): void {
    this.records = this.records.slice(this.written - this.evicted)
    this.evicted = this.written
  }

  /** What the first `count` records take, of a batch that is in memory. */
  bytesOfFirst(count: number): number {
    return this.records.slice(0, count).reduce((bytes, record) => bytes + toLine(record).bytes, 0)
  }

  /** Keeps the first `count` records, which take `bytes`, and gives the others as a batch with the next number. */
  splitAfter(count: number, bytes: number): Batch {
    const rest = new Batch(this.sequenceNumber + 1)
    const kept = Math.max(0, count - this.evicted)
    rest.evicted = Math.max(0, this.evicted - count)
    rest.records = this.records.slice(kept)
    rest.bytes = this.bytes - bytes
    const wasWritten = this.written > 0
    this.evicted = Math.min(this.evicted, count)
    this.records = this.records.slice(0, kept)
    this.bytes = bytes
    if (wasWritten) {
      this.allWritten()
      rest.allWritten()
    }
    return rest
  }
}

/** A record with the line that is written for it. One that JSON cannot hold is reduced to what says so. */
export const toLine = (
  record: TaskRecord
): { readonly record: TaskRecord; readonly line: string; readonly bytes: number } => {
  try {
    return withBytes(record, JSON.stringify(record))
  } catch (error) {
    const { latencyMs, startedAt, completedAt, taskIndex } = record
    const errorMessage = `the record cannot be written as JSON: ${messageOf(error)}`
    const reduced = { taskIndex, status: "error", startedAt, completedAt, latencyMs, data: { errorMessage } }
    return withBytes(reduced, JSON.stringify(reduced))
  }
}

/** The first `count` records of a file; throws naming the line that is none. */
export const fromLines = (text: string, count: number): ReadonlyArray<TaskRecord> => {
  const lines = text.split("\n", count)
  if (lines.length < count) throw new Error(`it has ${lines.length} of ${count} records`)
  return lines.map((line, index) => {
    const value = parse(line)
    if (isTaskRecord(value)) return value
    throw new Error(`line ${index + 1} is not a task record; mend or delete it and try again`)
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const withBytes = (record: TaskRecord, json: string) => ({
  record,
  line: json + "\n",
  bytes: Buffer.byteLength(json) + 1
})

// Checked but not decoded: what a record holds beyond the schema is kept.
const isTaskRecord = Schema.is(TaskRecord)

const parse = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
