/** A journal beside lists that do the same. */
import { assert } from "@effect/vitest"
import { Effect, Either, Exit, FastCheck, Scope } from "effect"
import type { Journal } from "../../src/Spool.js"
import { Spool } from "../../src/Spool.js"
import type { Faults } from "./faults.js"
import { append, attempt, contents, entryOf, range, takeIt, turn } from "./support.js"

export type Command =
  | { readonly does: "append" | "fail"; readonly count: number }
  | { readonly does: "seal" | "acknowledge" | "split" | "evict" | "turn" | "read" | "reopen" | "kill" }

/** What a test can do to a spool on disk. */
export interface Disk {
  readonly faults: Faults
  /** Makes the one journal look as if its process had died. */
  readonly kill: () => void
}

export const commands = (more: ReadonlyArray<"kill"> = []): FastCheck.Arbitrary<ReadonlyArray<Command>> =>
  FastCheck.array(
    FastCheck.oneof(
      {
        weight: 6,
        arbitrary: FastCheck.record({
          does: FastCheck.constant("append" as const),
          count: FastCheck.integer({ min: 1, max: 5 })
        })
      },
      {
        weight: 9,
        arbitrary: FastCheck.record({
          does: FastCheck.constantFrom(
            ...(["seal", "seal", "acknowledge", "split", "evict", "turn", "read", "reopen"] as const),
            ...more
          )
        })
      },
      {
        weight: more.length === 0 ? 0 : 3,
        arbitrary: FastCheck.record({
          does: FastCheck.constant("fail" as const),
          count: FastCheck.integer({ min: 0, max: 6 })
        })
      }
    ),
    { maxLength: 40 }
  )

export const check = <A, E>(
  commands: FastCheck.Arbitrary<ReadonlyArray<Command>>,
  follow: (commands: ReadonlyArray<Command>) => Effect.Effect<A, E, Scope.Scope>
) =>
  FastCheck.assert(
    FastCheck.asyncProperty(commands, (commands) => Effect.runPromise(Effect.scoped(Effect.asVoid(follow(commands))))),
    { numRuns: 200 }
  )

export const follow = (commands: ReadonlyArray<Command>, disk?: Disk) =>
  Effect.gen(function* () {
    const spool = yield* Spool
    let batches: Array<ReadonlyArray<number>> = []
    let open: Array<number> = []
    let first = 0
    let appended = 0
    let scope = yield* Scope.make()
    let journal: Journal = yield* Scope.extend(spool.open(attempt("model")), scope)

    const seal = () => {
      if (open.length > 0) batches = [...batches, open]
      open = []
    }
    const compare = Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* contents(journal),
        batches.map((tasks, i) => ({ number: first + i, tasks }))
      )
      assert.strictEqual(journal.openRecords, open.length)
      assert.strictEqual(journal.nextSequenceNumber, first + batches.length)
    })
    const takeAgain = Effect.gen(function* () {
      scope = yield* Scope.make()
      journal = yield* Scope.extend(takeIt("model"), scope)
      seal()
      // Those whose files could not be removed, and which would be sent again.
      for (const batch of journal.batches) {
        if (batch.sequenceNumber < first) yield* journal.acknowledge(batch)
      }
      yield* compare
    })
    const reopen = Effect.gen(function* () {
      yield* Effect.sync(() => disk?.faults.clear())
      yield* Scope.close(scope, Exit.void)
      const entry = yield* entryOf("model")
      assert.isAtLeast(entry.recordCount, batches.flat().length + open.length)
      yield* takeAgain
    })

    for (const command of commands) {
      const batch = journal.batches[0]
      switch (command.does) {
        case "append":
          append(journal, appended, appended + command.count)
          open.push(...range(appended, appended + command.count))
          appended += command.count
          break
        case "fail":
          disk?.faults.plan(command.count)
          break
        case "seal":
          yield* journal.seal
          seal()
          break
        case "acknowledge":
          if (batch === undefined) break
          yield* journal.acknowledge(batch)
          batches.shift()
          first++
          break
        case "split": {
          if (batch === undefined) break
          const [tasks = []] = batches
          const half = Math.ceil(tasks.length / 2)
          const done = yield* Effect.either(journal.split(batch))
          if (Either.isLeft(done)) {
            assert.match(done.left.message, /ENOSPC/)
          } else {
            assert.strictEqual(done.right, tasks.length > 1)
            if (done.right) batches.splice(0, 1, tasks.slice(0, half), tasks.slice(half))
          }
          break
        }
        case "evict":
          yield* journal.evict
          break
        case "turn":
          yield* turn
          break
        case "read":
          disk?.faults.clear()
          yield* compare
          break
        case "reopen":
          yield* reopen
          break
        case "kill":
          disk?.faults.clear()
          yield* turn
          if (journal.unsaved > 0) break
          disk?.kill()
          yield* takeAgain
      }
    }
    disk?.faults.clear()
    yield* compare
    yield* journal.seal
    seal()
    if (disk !== undefined) assert.strictEqual(journal.unsaved, 0)
    yield* reopen
    yield* Scope.close(scope, Exit.void)
  })
