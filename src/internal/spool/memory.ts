import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import type { Spool, SpoolEntry } from "../../Spool.js"
import type { AttemptState } from "./attempt.js"
import { byAge } from "./attempt.js"
import { alreadyThere, SpoolError } from "./errors.js"
import type { Contents } from "./journal.js"
import { RecordJournal } from "./journal.js"
import * as Names from "./names.js"

interface Entry {
  readonly journal: RecordJournal
  held: boolean
}

/** Journals by the name of their attempt. Each step is synchronous, so of two fibers that take one only one gets it. */
export const make: Effect.Effect<Spool["Type"]> = Effect.map(Names.self, ({ host, pid }) => {
  const entries = new Map<string, Entry>()

  const hold = (name: string, state: AttemptState, contents: Contents): Entry => {
    const discard = Effect.sync(() => entries.delete(name))
    const journal = new RecordJournal({ state, contents, files: undefined, report: constVoid, discard })
    const entry: Entry = { journal, held: true }
    entries.set(name, entry)
    return entry
  }

  const release = (entry: Entry | undefined) =>
    Effect.sync(() => {
      if (entry !== undefined) entry.held = false
    })

  const toEntry = ([location, { held, journal }]: readonly [string, Entry]): SpoolEntry => {
    const { attempt, contents, verdict } = journal
    return {
      attempt,
      location,
      recordCount: contents.batches.reduce((count, batch) => count + batch.recordCount, 0),
      bytes: contents.batches.reduce((bytes, batch) => bytes + batch.bytes, 0),
      verdict,
      holder: held ? "process" : "nobody",
      heldBy: { host, pid }
    }
  }

  return {
    location: undefined,
    open: (attempt) => {
      const name = Names.attemptName(attempt)
      const start = Effect.suspend(() =>
        entries.has(name)
          ? new SpoolError({ path: name, detail: alreadyThere })
          : Effect.succeed(hold(name, { attempt: { ...attempt, version: 1 }, verdict: undefined }, empty))
      )
      return Effect.map(Effect.acquireRelease(start, release), ({ journal }) => journal)
    },
    list: Effect.sync(() => ({ entries: Array.from(entries, toEntry).sort(byAge), damaged: [] })),
    take: ({ location }) => {
      const take = Effect.sync(() => {
        const found = entries.get(location)
        if (found === undefined || found.held) return undefined
        const { attempt, contents, verdict } = found.journal
        return hold(location, { attempt, verdict }, contents)
      })
      return Effect.map(Effect.acquireRelease(take, release), (entry) => entry?.journal)
    }
  }
})

const empty: Contents = { batches: [], nextSequenceNumber: 0 }
