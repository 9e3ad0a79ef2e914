/**
 * What `bench push` says: what is waiting in the spool, and what became of it.
 */
import * as Data from "effect/Data"
import { hasProperty } from "effect/Predicate"
import { messageOf } from "../internal/json.js"
import type { PlatformError, PlatformOrigin } from "../Platform.js"
import { Unauthorized } from "../Platform.js"
import type { Pushed } from "../Push.js"
import type { SpoolEntry, SpoolListing } from "../Spool.js"
import { absent, oneLine, plural, table } from "./text.js"

export type Outcome = Data.TaggedEnum<{
  readonly Delivered: { readonly worker: Extract<Pushed, { readonly _tag: "Delivered" }>["worker"] }
  readonly Discarded: object
  /** Another process had it meanwhile, and it is not there any more. */
  readonly Gone: object
  /** A process has it, or has had it meanwhile. */
  readonly Held: object
  /** The worker has been given to another process, so the platform takes nothing of it any more. */
  readonly Superseded: { readonly error: unknown }
  readonly Failed: { readonly error: unknown }
}>

export const Outcome = Data.taggedEnum<Outcome>()

/** What became of a journal. */
export interface Result {
  /** As it is afterwards, or was before when it is gone. */
  readonly entry: SpoolEntry
  readonly outcome: Outcome
  /** Records that were acknowledged. */
  readonly delivered: number
}

/** Whether nothing of the journal is left. */
export const isDone = ({ outcome }: Result): boolean =>
  outcome._tag === "Delivered" || outcome._tag === "Discarded" || outcome._tag === "Gone"

/** 1 when something is left, 2 when that is for want of credentials only. */
export const exitCode = (results: ReadonlyArray<Result>, damaged: SpoolListing["damaged"]): 0 | 1 | 2 => {
  const left = results.filter((result) => !isDone(result))
  if (left.length === 0 && damaged.length === 0) return 0
  const forCredentials = ({ outcome }: Result) => outcome._tag === "Failed" && outcome.error instanceof Unauthorized
  return damaged.length === 0 && left.every(forCredentials) ? 2 : 1
}

export const destinationOf = (origin: PlatformOrigin): string =>
  origin.kind === "store"
    ? origin.location
    : `${origin.baseUrl}${origin.organization === undefined ? "" : ` (${origin.organization})`}`

// -----------------------------------------------------------------------------
// what is waiting
// -----------------------------------------------------------------------------

export const listingToJson = (location: string | undefined, { damaged, entries }: SpoolListing) => ({
  location: location ?? null,
  items: entries.map((entry) => ({
    ...identityOf(entry),
    records: entry.recordCount,
    bytes: entry.bytes,
    verdict: entry.verdict ?? null,
    state: states[entry.holder],
    heldBy: holderOf(entry)
  })),
  damaged: damagedToJson(damaged)
})

export const listingToText = ({ damaged, entries }: SpoolListing): string =>
  table(
    [
      { title: "run" },
      { title: "benchmark" },
      { title: "participant" },
      { title: "records", align: "right" },
      { title: "bytes", align: "right" },
      { title: "since" },
      { title: "destination" },
      { title: "state" }
    ],
    [
      ...entries.map((entry) => [
        entry.attempt.run,
        entry.attempt.benchmark,
        entry.attempt.participant,
        String(entry.recordCount),
        String(entry.bytes),
        entry.attempt.startedAt,
        destinationOf(entry.attempt.origin),
        stateOf(entry)
      ]),
      ...damaged.map(({ message }) => [...Array.from({ length: 7 }, () => absent), `damaged: ${message}`])
    ]
  )

// -----------------------------------------------------------------------------
// what became of it
// -----------------------------------------------------------------------------

export const toJson = (
  location: string | undefined,
  results: ReadonlyArray<Result>,
  damaged: SpoolListing["damaged"]
) => ({
  location: location ?? null,
  items: results.map((result) => {
    const { delivered, entry, outcome } = result
    return {
      ...identityOf(entry),
      outcome: outcome._tag.toLowerCase(),
      delivered,
      left: isDone(result) ? 0 : entry.recordCount,
      worker: outcome._tag === "Delivered" ? outcome.worker : null,
      heldBy: outcome._tag === "Held" ? holderOf(entry) : null,
      error: "error" in outcome ? errorToJson(outcome.error) : null
    }
  }),
  damaged: damagedToJson(damaged)
})

export const toText = (results: ReadonlyArray<Result>, damaged: SpoolListing["damaged"]): string =>
  [
    ...results.map((result) => textOf(result, results)),
    ...damaged.map(({ message }) => `Damaged, and left as it is: ${message}`)
  ]
    .map(oneLine)
    .join("\n")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const identityOf = ({ attempt: { version: _version, worker, ...attempt }, location }: SpoolEntry) => ({
  ...attempt,
  workerId: worker,
  location
})

const states = { nobody: "waiting", process: "held", otherMachine: "heldElsewhere" } as const

const stateOf = ({ heldBy: { host, pid }, holder }: SpoolEntry): string =>
  holder === "nobody" ? "waiting" : holder === "process" ? `held by pid ${pid}` : `held on host ${host}`

const holderOf = ({ heldBy, holder }: SpoolEntry): SpoolEntry["heldBy"] | null => (holder === "nobody" ? null : heldBy)

const damagedToJson = (damaged: SpoolListing["damaged"]) => damaged.map(({ detail, path }) => ({ path, detail }))

const errorToJson = (error: unknown) => ({
  tag: hasProperty(error, "_tag") && typeof error._tag === "string" ? error._tag : null,
  message: messageOf(error)
})

const textOf = (result: Result, results: ReadonlyArray<Result>): string => {
  const { delivered, entry, outcome } = result
  const { attempt, location, recordCount } = entry
  const of = `of ${attempt.participant} (run ${attempt.run})`
  const waiting = `${plural(recordCount, "record")} ${of}`
  const notClosed = `Not closed: the worker ${of}, whose records are delivered.`
  switch (outcome._tag) {
    case "Delivered":
      return `Delivered ${plural(delivered, "record")} ${of} to ${destinationOf(attempt.origin)}; its worker ${ends[outcome.worker]}.`
    case "Discarded":
      return `Removed ${waiting}.`
    case "Gone":
      return `Another process has delivered or removed the records ${of} meanwhile.`
    case "Held":
      return `Left alone: ${waiting}. ${heldText(entry)}`
    case "Superseded": {
      const refused = recordCount === 0 ? notClosed : `Not taken any more: ${waiting}.`
      return `${refused} Another process has taken over this worker, and its records count. Kept in ${location} until removed with: bench push --discard ${attempt.run}${discardWarning(entry, results)}`
    }
    case "Failed": {
      const before = delivered > 0 ? `, after ${delivered} that were` : ""
      const left = recordCount === 0 ? notClosed : `Not delivered: ${waiting}${before}.`
      return `${left} ${sentence(messageOf(outcome.error))} ${adviceOn(outcome.error, entry)}`
    }
  }
}

const ends = { completed: "is completed", failed: "is failed, as its run left it", asIs: "was closed before" } as const

const heldText = ({ attempt, heldBy: { host, pid }, holder }: SpoolEntry): string =>
  holder === "process"
    ? `Process ${pid}, which is still running, holds and delivers them.`
    : holder === "otherMachine"
      ? `Process ${pid} on host ${host} holds them: deliver them there, or, if it has ended, with --force.`
      : `Another process had them at the same time. Try again: bench push ${attempt.run}`

/** What else `--discard` would remove: it knows runs, not journals. */
const discardWarning = ({ attempt: { run } }: SpoolEntry, results: ReadonlyArray<Result>): string =>
  results.some((result) => result.entry.attempt.run === run && !isDone(result) && result.outcome._tag !== "Superseded")
    ? " (with everything else of this run that is waiting: deliver that first)"
    : ""

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** What the platform refused it will refuse again; everything else may pass. */
const adviceOn = (error: unknown, { attempt: { run }, location }: SpoolEntry): string =>
  hasProperty(error, "_tag") && typeof error._tag === "string" && refusals.has(error._tag)
    ? `Kept in ${location}; to give them up: bench push --discard ${run}`
    : `Kept in ${location}; to try again: bench push ${run}`

const refusals: ReadonlySet<string> = new Set<PlatformError["_tag"]>([
  "ResourceNotFound",
  "ResourceConflict",
  "InvalidRequest",
  "RequestTooLarge"
])
