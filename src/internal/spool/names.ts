/**
 * Directories are named `<attempt>@<host>~<pid>~<process start>`: a journal belongs to whom its name says. Whoever wants
 * one renames it, which only one can do, as the name it had is gone then. A holder that is done with a journal gives it up
 * by putting `free` where the process start was; one that died could not, and is looked for among the processes.
 *
 * Names with a leading dot are no journals: those that begin with `.new.` and `.removed.` are journals on their way in and
 * out.
 */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Effect from "effect/Effect"
import { errorCode } from "../failure.js"
import type { SpooledAttempt } from "./attempt.js"

/** A process, told from others that had the same id by when it was started (empty where that is not known). */
export interface Holder {
  readonly host: string
  readonly pid: number
  readonly start: string
}

/** The parts of a journal's name; `start` is `free` when the holder has given it up. */
export interface JournalName extends Holder {
  readonly attempt: string
}

const free = "free"

export const self: Effect.Effect<Holder> = Effect.sync(() => ({
  host: fit(Os.hostname() || "localhost", /[^A-Za-z0-9.-]/g, 64),
  pid: process.pid,
  start: processState(process.pid)?.start ?? ""
}))

/** The part of the name that is the attempt's: its id as far as file names allow, and a digest of what it belongs to. */
export const attemptName = (attempt: Omit<SpooledAttempt, "version">): string => {
  const { attemptId, benchmark, origin, participant, run, worker } = attempt
  const digest = digestOf(JSON.stringify([origin, benchmark, run, participant, worker, attemptId]))
  return `${attemptId.replace(/[^A-Za-z0-9-]/g, "_").slice(0, 40)}-${digest}`
}

export const format = ({ attempt, host, pid, start }: JournalName): string => `${attempt}@${host}~${pid}~${start}`

export const formatFree = (name: JournalName): string => format({ ...name, start: free })

export const newPrefix = ".new."

export const removedPrefix = ".removed."

export const parse = (text: string): JournalName | undefined => {
  const [, attempt, host, pid, start] = /^([A-Za-z0-9_-]+)@([A-Za-z0-9._-]+)~(\d{1,10})~(\d*|free)$/.exec(text) ?? []
  return attempt === undefined || host === undefined || start === undefined
    ? undefined
    : { attempt, host, pid: Number(pid), start }
}

/** Who holds a journal, as seen from a process. */
export const holderOf = (name: JournalName, observer: Holder): "nobody" | "process" | "otherMachine" => {
  if (name.start === free) return "nobody"
  if (name.host !== observer.host) return "otherMachine"
  return isAlive(name) ? "process" : "nobody"
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const digestOf = (text: string): string => Crypto.createHash("sha256").update(text).digest("hex").slice(0, 16)

const fit = (text: string, unsafe: RegExp, length: number): string => {
  const safe = text.replace(unsafe, "_").slice(0, length)
  return safe === text ? safe : `${safe}-${digestOf(text)}`
}

const isAlive = ({ pid, start }: Holder): boolean => {
  if (!takesSignals(pid)) return false
  const state = processState(pid)
  if (state === undefined) return true
  return !state.ended && (start === "" || start === state.start)
}

// A signal that is not allowed would have had somebody to go to.
const takesSignals = (pid: number): boolean => {
  if (pid === 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === "EPERM"
  }
}

/** What Linux says about a process: when it was started, in ticks since boot, and whether it only waits to be reaped. */
const processState = (pid: number): { readonly start: string; readonly ended: boolean } | undefined => {
  try {
    const stat = Fs.readFileSync(`/proc/${pid}/stat`, "latin1")
    // The fields after the name of the program, which may hold anything; the first is the third of all.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    const start = fields[19]
    return start === undefined ? undefined : { start, ended: fields[0] === "Z" || fields[0] === "X" }
  } catch {
    return undefined
  }
}
