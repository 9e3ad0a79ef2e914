import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { Effect } from "effect"

const calls = ["mkdirSync", "openSync", "renameSync", "rmSync", "truncateSync", "writeFileSync", "writeSync"] as const

/** A disk on which chosen calls fail. */
export interface Faults {
  /** Lets the call fail that comes after so many others; only the next of that name, if one is given. */
  readonly plan: (after: number, name?: (typeof calls)[number]) => void
  readonly clear: () => void
}

const full = () => Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" })

/** Puts itself between this process and its synchronous file system calls, for as long as the scope lives. */
export const faults = Effect.acquireRelease(
  Effect.sync(() => {
    let planned: { after: number; readonly name: string | undefined } | undefined
    const originals = calls.map((name) => [name, fs[name]] as const)
    for (const [name, original] of originals) {
      const replacement = (...args: ReadonlyArray<unknown>): unknown => {
        if (planned !== undefined && (planned.name ?? name) === name && planned.after-- === 0) {
          planned = undefined
          throw full()
        }
        return Reflect.apply(original, fs, args)
      }
      Reflect.set(fs, name, replacement)
    }
    syncBuiltinESMExports()
    const faults: Faults = {
      plan: (after, name) => (planned = { after, name }),
      clear: () => (planned = undefined)
    }
    return { faults, originals }
  }),
  ({ originals }) =>
    Effect.sync(() => {
      for (const [name, original] of originals) Reflect.set(fs, name, original)
      syncBuiltinESMExports()
    })
).pipe(Effect.map(({ faults }) => faults))
