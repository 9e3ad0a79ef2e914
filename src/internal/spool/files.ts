/**
 * The record files of one journal. The file of a batch is `<number>.ndjson`, a record a line, and the one with the highest
 * number is of the open batch: it is there even when it is empty, so that the number outlives the batches before it.
 *
 * Everything here is synchronous, and throws when the file system refuses.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { errorCode } from "../failure.js"
import { attemptFile } from "./attempt.js"

/** A batch as its file holds it: complete lines, and their bytes. */
export interface BatchFile {
  readonly sequenceNumber: number
  readonly records: number
  readonly bytes: number
}

/**
 * That a batch is being split: how many bytes of its file are the first half. A file named by this holds the second half.
 */
interface Split {
  readonly name: string
  readonly sequenceNumber: number
  readonly firstBytes: number
}

export const createFirst = (directory: string): void =>
  Fs.writeFileSync(pathOf(directory, 0), "", { flag: "wx", mode: 0o600 })

/** What the files hold, in the order of their numbers, changing nothing: others may be writing them. */
export const scan = (directory: string): ReadonlyArray<BatchFile> => {
  const { numbers, split } = layout(directory)
  const files: Array<BatchFile> = []
  for (const sequenceNumber of numbers) {
    const limit = split?.sequenceNumber === sequenceNumber ? split.firstBytes : Infinity
    const counted = countLines(pathOf(directory, sequenceNumber), limit)
    if (counted !== undefined) files.push({ sequenceNumber, ...counted })
    if (split?.sequenceNumber === sequenceNumber) {
      const second = countLines(Path.join(directory, split.name), Infinity)
      if (second !== undefined) files.push({ sequenceNumber: sequenceNumber + 1, ...second })
    }
  }
  return files
}

/**
 * Brings the files that a dead process left into order: finishes a split, and removes temporary files and those of batches
 * without a record, except the last. A last line that was not written to its end does not count: its record cannot have
 * been sent, as a batch is sealed only once its file is complete. A number that is missing stays missing, for the
 * others may have been sent under theirs.
 */
export const recover = (directory: string): ReadonlyArray<BatchFile> => {
  const { split, temporary } = layout(directory)
  if (split !== undefined) finishSplit(directory, split)
  for (const name of temporary) Fs.rmSync(Path.join(directory, name), { force: true })
  const files = scan(directory)
  const kept = files.filter(({ records }, index) => records > 0 || index === files.length - 1)
  for (const file of files) {
    if (!kept.includes(file)) Fs.rmSync(pathOf(directory, file.sequenceNumber))
  }
  return kept
}

export class JournalFiles {
  private handle: { readonly sequenceNumber: number; readonly fd: number } | undefined = undefined
  private split: Split | undefined = undefined

  /** `describe` is the text of the attempt's file, should that have to be written again. */
  constructor(
    readonly directory: string,
    private readonly describe: () => string
  ) {}

  /** Where the file of a batch is. */
  pathOf(sequenceNumber: number): string {
    return pathOf(this.directory, sequenceNumber)
  }

  /** Makes the file of a batch, unless it exists. */
  ensure(sequenceNumber: number): void {
    this.settle()
    if (this.handle?.sequenceNumber !== sequenceNumber) this.open(sequenceNumber, Fs.constants.O_CREAT)
  }

  /** Writes lines over whatever the file has from `position` on; at 0 it is made anew. */
  write(sequenceNumber: number, position: number, lines: string, bytes: number): void {
    this.settle()
    const fd =
      this.handle?.sequenceNumber === sequenceNumber
        ? this.handle.fd
        : this.open(sequenceNumber, position === 0 ? Fs.constants.O_CREAT | Fs.constants.O_TRUNC : 0)
    let written = Fs.writeSync(fd, lines, position)
    if (written === bytes) return
    const rest = Buffer.from(lines)
    while (written < bytes) written += Fs.writeSync(fd, rest, written, bytes - written, position + written)
  }

  /** Bytes in the file of a batch; undefined when there is none. */
  size(sequenceNumber: number): number | undefined {
    this.settle()
    try {
      return Fs.statSync(this.pathOf(sequenceNumber)).size
    } catch (error) {
      const code = errorCode(error)
      if (code === "ENOENT" || code === "ENOTDIR") return undefined
      throw error
    }
  }

  read(sequenceNumber: number): string {
    this.settle()
    return Fs.readFileSync(this.pathOf(sequenceNumber), "utf8")
  }

  remove(sequenceNumber: number): void {
    this.settle()
    Fs.rmSync(this.pathOf(sequenceNumber), { force: true })
  }

  /**
   * Decides that a file of `bytes` is split after its first `records`, and gives the bytes of those; {@link settle} carries
   * it out.
   *
   * The decision is the renaming of a file that names the batch and the place. Until then nothing has changed; from then
   * on every step can be found done or not done, so whoever comes next, in this process or a later one, goes on from
   * where it was left: the files after the batch move up by a number, the highest first; the batch's file is cut; the
   * second half takes the number that is free. No record is in two files, or in none, at any time.
   */
  decideSplit(sequenceNumber: number, records: number, bytes: number): number {
    this.settle()
    const lines = Fs.readFileSync(this.pathOf(sequenceNumber)).subarray(0, bytes)
    let firstBytes = 0
    for (let i = 0; i < records; i++) firstBytes = lines.indexOf(newline, firstBytes) + 1
    const split = { name: `${digits(sequenceNumber)}.split-${firstBytes}`, sequenceNumber, firstBytes }
    const temporary = Path.join(this.directory, "second-half.tmp")
    try {
      Fs.writeFileSync(temporary, lines.subarray(firstBytes), { mode: 0o600 })
      Fs.renameSync(temporary, Path.join(this.directory, split.name))
    } catch (cause) {
      removeQuietly(temporary)
      throw cause
    }
    this.split = split
    return firstBytes
  }

  /** Carries out what has been decided. Every other operation does so first. */
  settle(): void {
    if (this.split === undefined) return
    this.closeHandle()
    finishSplit(this.directory, this.split)
    this.split = undefined
  }

  /** Makes the directory again, if it is gone. */
  restore(): void {
    makeDirectory(Path.dirname(this.directory))
    makeDirectory(this.directory)
    const path = Path.join(this.directory, attemptFile)
    if (Fs.existsSync(path)) return
    const temporary = `${path}.restored.tmp`
    Fs.writeFileSync(temporary, this.describe(), { mode: 0o600 })
    Fs.renameSync(temporary, path)
  }

  close(): void {
    try {
      this.closeHandle()
    } catch {
      // What it did not write is missing from the file's size.
    }
  }

  private closeHandle(): void {
    const handle = this.handle
    this.handle = undefined
    if (handle !== undefined) Fs.closeSync(handle.fd)
  }

  private open(sequenceNumber: number, flags: number): number {
    this.closeHandle()
    const fd = Fs.openSync(this.pathOf(sequenceNumber), Fs.constants.O_WRONLY | flags, 0o600)
    this.handle = { sequenceNumber, fd }
    return fd
  }
}

/** Makes a directory that only this user can read, with its parents; fine when it exists. */
export const makeDirectory = (path: string, mode = 0o700): void => {
  if (makeOne(path, mode)) return
  const parent = Path.dirname(path)
  if (parent !== path) makeDirectory(parent, 0o777)
  if (!makeOne(path, mode)) throw new Error(`no directory can be made in ${parent}`)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const digits = (sequenceNumber: number): string => String(sequenceNumber).padStart(6, "0")

const pathOf = (directory: string, sequenceNumber: number): string =>
  Path.join(directory, `${digits(sequenceNumber)}.ndjson`)

const layout = (directory: string) => {
  const numbers: Array<number> = []
  const temporary: Array<string> = []
  let split: Split | undefined
  for (const name of Fs.readdirSync(directory)) {
    const [, batch] = /^(\d{6,})\.ndjson$/.exec(name) ?? []
    const [, from, firstBytes] = /^(\d{6,})\.split-(\d+)$/.exec(name) ?? []
    if (batch !== undefined) numbers.push(Number(batch))
    else if (from !== undefined) split = { name, sequenceNumber: Number(from), firstBytes: Number(firstBytes) }
    else if (name.endsWith(".tmp")) temporary.push(name)
  }
  return { numbers: numbers.sort((a, b) => a - b), split, temporary }
}

const finishSplit = (directory: string, { firstBytes, name, sequenceNumber }: Split): void => {
  const next = sequenceNumber + 1
  let end = next
  while (Fs.existsSync(pathOf(directory, end))) end++
  for (let number = end - 1; number >= next; number--) {
    Fs.renameSync(pathOf(directory, number), pathOf(directory, number + 1))
  }
  Fs.truncateSync(pathOf(directory, sequenceNumber), firstBytes)
  Fs.renameSync(Path.join(directory, name), pathOf(directory, next))
}

const chunkBytes = 256 * 1024

const newline = 10

/** Complete lines among the first `limit` bytes of a file; undefined when there is no such file. */
const countLines = (path: string, limit: number): { readonly records: number; readonly bytes: number } | undefined => {
  const fd = openIfExists(path)
  if (fd === undefined) return undefined
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    const end = Math.min(limit, Fs.fstatSync(fd).size)
    let position = 0
    let records = 0
    let bytes = 0
    while (position < end) {
      const read = Fs.readSync(fd, buffer, 0, Math.min(chunkBytes, end - position), position)
      if (read === 0) break
      const chunk = buffer.subarray(0, read)
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) {
        records++
        bytes = position + at + 1
      }
      position += read
    }
    return { records, bytes }
  } finally {
    Fs.closeSync(fd)
  }
}

const openIfExists = (path: string): number | undefined => {
  try {
    return Fs.openSync(path, "r")
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined
    throw error
  }
}

/** False when the directory it belongs in does not exist. */
const makeOne = (path: string, mode: number): boolean => {
  try {
    Fs.mkdirSync(path, mode)
  } catch (error) {
    const code = errorCode(error)
    if (code === "ENOENT") return false
    if (code !== "EEXIST" || !Fs.statSync(path).isDirectory()) throw error
  }
  return true
}

const removeQuietly = (path: string): void => {
  try {
    Fs.rmSync(path, { force: true })
  } catch {
    // It is removed when the journal is next taken.
  }
}
