/** What every spool does, wherever it keeps its journals. */
import { assert, describe, it } from "@effect/vitest"
import type { Layer, Scope } from "effect"
import { Cause, Effect, Exit } from "effect"
import type { TaskRecord } from "../../src/Record.js"
import { Spool } from "../../src/Spool.js"
import { check, commands, follow } from "./model.js"
import { append, attempt, contents, entryOf, range, record, records, takeIt } from "./support.js"

export const suite = (name: string, layer: Layer.Layer<Spool>): void => {
  const test = <A, E>(fact: string, effect: () => Effect.Effect<A, E, Spool | Scope.Scope>) =>
    it.scoped(fact, () => Effect.provide(effect(), layer))

  const openIt = (attemptId = "a") => Effect.flatMap(Spool, (spool) => spool.open(attempt(attemptId)))

  describe(name, () => {
    test("a journal starts with nothing", () =>
      Effect.gen(function* () {
        const journal = yield* openIt()
        assert.deepStrictEqual(journal.attempt, { ...attempt("a"), version: 1 })
        assert.deepStrictEqual(journal.batches, [])
        assert.strictEqual(journal.nextSequenceNumber, 0)
        assert.strictEqual(journal.openRecords, 0)
        assert.strictEqual(journal.openBytes, 0)
        assert.strictEqual(journal.unsaved, 0)
        assert.isUndefined(journal.verdict)
      }))

    test("appended records count towards the open batch", () =>
      Effect.gen(function* () {
        const journal = yield* openIt()
        const text = record(0, { data: { text: "é😀" } })
        journal.append(text)
        journal.append(record(1))
        assert.strictEqual(journal.openRecords, 2)
        // Two brackets and a comma, instead of a separator after each.
        assert.strictEqual(journal.openBytes, Buffer.byteLength(JSON.stringify([text, record(1)])) - 1)
        assert.deepStrictEqual(journal.batches, [])
      }))

    test("a sealed batch has the number and the records that it was sealed with", () =>
      Effect.gen(function* () {
        const journal = yield* openIt()
        append(journal, 0, 3)
        yield* journal.seal
        append(journal, 3, 5)
        yield* journal.seal
        append(journal, 5, 6)
        assert.deepStrictEqual(journal.batches, [
          { sequenceNumber: 0, recordCount: 3 },
          { sequenceNumber: 1, recordCount: 2 }
        ])
        assert.strictEqual(journal.nextSequenceNumber, 2)
        assert.strictEqual(journal.openRecords, 1)
        assert.deepStrictEqual(
          yield* records(journal),
          range(0, 5).map((i) => record(i))
        )
      }))

    test("sealing nothing makes no batch", () =>
      Effect.gen(function* () {
        const journal = yield* openIt()
        yield* journal.seal
        append(journal, 0, 1)
        yield* journal.seal
        yield* journal.seal
        assert.deepStrictEqual(journal.batches, [{ sequenceNumber: 0, recordCount: 1 }])
      }))

    test("records come back as they were, also when they were let go of", () =>
      Effect.gen(function* () {
        const journal = yield* openIt()
        const odd: ReadonlyArray<TaskRecord> = [
          record(0, { data: JSON.parse(`{"__proto__": {"a": 1}, "line\\n\\u2028": "\\ud800", "n": 1e300}`) }),
          record(1, { steps: [], latencyMs: null, errorCode: "x\ny" }),
          JSON.parse(`{"taskIndex": 2, "status": "error", "later": {"fields": [null, 1]}}`)
        ]
        odd.forEach(journal.append)
        yield* journal.seal
        yield* journal.evict
        assert.deepStrictEqual(yield* records(journal), odd)
      }))

    test("a record that JSON cannot hold says so and harms no other", () =>
      Effect.gen(function* () {
        const journal = yield* openIt()
        append(journal, 0, 1)
        journal.append(record(1, { data: { big: 1n } }))
        append(journal, 2, 3)
        yield* journal.seal
        yield* journal.evict
        const [, broken] = yield* records(journal)
        assert.deepStrictEqual(yield* contents(journal), [{ number: 0, tasks: [0, 1, 2] }])
        assert.strictEqual(broken?.status, "error")
        assert.match(String(broken?.data?.["errorMessage"]), /cannot be written as JSON.*BigInt/)
      }))

    test("an acknowledged batch is forgotten and its number is not used again", () =>
      Effect.gen(function* () {
        const journal = yield* openIt()
        append(journal, 0, 2)
        yield* journal.seal
        append(journal, 2, 4)
        yield* journal.seal
        yield* journal.acknowledge({ sequenceNumber: 0, recordCount: 2 })
        assert.deepStrictEqual(yield* contents(journal), [{ number: 1, tasks: [2, 3] }])
        yield* journal.acknowledge({ sequenceNumber: 1, recordCount: 2 })
        assert.deepStrictEqual(journal.batches, [])
        append(journal, 4, 5)
        yield* journal.seal
        assert.deepStrictEqual(yield* contents(journal), [{ number: 2, tasks: [4] }])
      }))

    test("acknowledging out of order or what is not there leaves the rest", () =>
      Effect.gen(function* () {
        const journal = yield* openIt()
        for (const from of [0, 2, 4]) {
          append(journal, from, from + 2)
          yield* journal.seal
        }
        yield* journal.acknowledge({ sequenceNumber: 1, recordCount: 2 })
        yield* journal.acknowledge({ sequenceNumber: 2, recordCount: 1 })
        yield* journal.acknowledge({ sequenceNumber: 7, recordCount: 2 })
        assert.deepStrictEqual(yield* contents(journal), [
          { number: 0, tasks: [0, 1] },
          { number: 2, tasks: [4, 5] }
        ])
        yield* journal.acknowledge({ sequenceNumber: 0, recordCount: 2 })
        assert.deepStrictEqual(yield* contents(journal), [{ number: 2, tasks: [4, 5] }])
      }))

    test("a batch that is not there cannot be read", () =>
      Effect.gen(function* () {
        const journal = yield* openIt()
        append(journal, 0, 1)
        yield* journal.seal
        const error = yield* Effect.flip(journal.read({ sequenceNumber: 0, recordCount: 2 }))
        assert.strictEqual(error._tag, "SpoolError")
        assert.match(error.message, /no batch 0 of 2 record\(s\)/)
      }))

    for (const evicted of [false, true]) {
      test(`splitting halves the first batch and moves up the others${evicted ? ", none of it in memory" : ""}`, () =>
        Effect.gen(function* () {
          const journal = yield* openIt()
          append(journal, 0, 5)
          yield* journal.seal
          append(journal, 5, 7)
          yield* journal.seal
          append(journal, 7, 8)
          if (evicted) yield* journal.evict
          assert.isTrue(yield* journal.split({ sequenceNumber: 0, recordCount: 5 }))
          assert.strictEqual(journal.nextSequenceNumber, 3)
          append(journal, 8, 9)
          yield* journal.seal
          yield* journal.evict
          assert.deepStrictEqual(yield* contents(journal), [
            { number: 0, tasks: [0, 1, 2] },
            { number: 1, tasks: [3, 4] },
            { number: 2, tasks: [5, 6] },
            { number: 3, tasks: [7, 8] }
          ])
        }))
    }

    test("one record cannot be split", () =>
      Effect.gen(function* () {
        const journal = yield* openIt()
        append(journal, 0, 1)
        yield* journal.seal
        assert.isFalse(yield* journal.split({ sequenceNumber: 0, recordCount: 1 }))
        assert.deepStrictEqual(yield* contents(journal), [{ number: 0, tasks: [0] }])
      }))

    test("only the first batch is split, and only before a later one is acknowledged", () =>
      Effect.gen(function* () {
        const journal = yield* openIt()
        for (const from of [0, 2]) {
          append(journal, from, from + 2)
          yield* journal.seal
        }
        const later = yield* Effect.exit(journal.split({ sequenceNumber: 1, recordCount: 2 }))
        assert.isTrue(Exit.isFailure(later) && Cause.isDie(later.cause))
        yield* journal.acknowledge({ sequenceNumber: 1, recordCount: 2 })
        const overtaken = yield* Effect.exit(journal.split({ sequenceNumber: 0, recordCount: 2 }))
        assert.isTrue(Exit.isFailure(overtaken) && Cause.isDie(overtaken.cause))
        assert.deepStrictEqual(yield* contents(journal), [{ number: 0, tasks: [0, 1] }])
      }))

    test("a journal that is held is listed, not given away", () =>
      Effect.gen(function* () {
        const spool = yield* Spool
        const journal = yield* openIt()
        append(journal, 0, 3)
        yield* journal.seal
        append(journal, 3, 4)
        yield* Effect.yieldNow()
        const entry = yield* entryOf("a")
        assert.deepInclude(entry, { attempt: journal.attempt, recordCount: 4, holder: "process", verdict: undefined })
        assert.strictEqual(
          entry.bytes,
          range(0, 4).reduce((n, i) => n + JSON.stringify(record(i)).length + 1, 0)
        )
        assert.strictEqual(entry.heldBy.pid, process.pid)
        assert.isUndefined(yield* spool.take(entry))
        assert.isUndefined(yield* spool.take(entry, { force: true }))
      }))

    test("a journal whose scope has ended is taken with all it has, sealed", () =>
      Effect.gen(function* () {
        const verdict = { how: "fail", errorCode: "flush_failed", errorMessage: "no network" } as const
        yield* Effect.scoped(
          Effect.gen(function* () {
            const journal = yield* openIt()
            append(journal, 0, 3)
            yield* journal.seal
            append(journal, 3, 5)
            yield* journal.setVerdict(verdict)
            assert.deepStrictEqual(journal.verdict, verdict)
          })
        )
        const entry = yield* entryOf("a")
        assert.deepInclude(entry, { recordCount: 5, holder: "nobody", verdict })
        assert.strictEqual(entry.heldBy.pid, process.pid)
        const journal = yield* takeIt("a")
        assert.deepStrictEqual(journal.attempt, { ...attempt("a"), version: 1 })
        assert.deepStrictEqual(journal.verdict, verdict)
        assert.deepStrictEqual(yield* contents(journal), [
          { number: 0, tasks: [0, 1, 2] },
          { number: 1, tasks: [3, 4] }
        ])
        assert.deepStrictEqual(
          yield* records(journal),
          range(0, 5).map((i) => record(i))
        )
        assert.strictEqual((yield* entryOf("a")).holder, "process")
      }))

    test("numbers go on where they were, even when nothing was left", () =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const journal = yield* openIt()
            append(journal, 0, 2)
            yield* journal.seal
            yield* journal.acknowledge({ sequenceNumber: 0, recordCount: 2 })
          })
        )
        const journal = yield* takeIt("a")
        assert.deepStrictEqual(journal.batches, [])
        append(journal, 2, 3)
        yield* journal.seal
        assert.deepStrictEqual(yield* contents(journal), [{ number: 1, tasks: [2] }])
      }))

    test("of fibers that take one journal at the same time one gets it", () =>
      Effect.gen(function* () {
        const spool = yield* Spool
        yield* Effect.scoped(Effect.map(openIt(), (journal) => append(journal, 0, 2)))
        const entry = yield* entryOf("a")
        const given = yield* Effect.all(
          range(0, 8).map(() => Effect.zipLeft(spool.take(entry), Effect.yieldNow())),
          { concurrency: "unbounded" }
        )
        const winners = given.filter((journal) => journal !== undefined)
        assert.lengthOf(winners, 1)
      }))

    test("a removed journal is gone", () =>
      Effect.gen(function* () {
        const spool = yield* Spool
        yield* Effect.scoped(Effect.map(openIt("a"), (journal) => append(journal, 0, 2)))
        const entry = yield* entryOf("a")
        const journal = yield* takeIt("a")
        yield* journal.remove
        yield* journal.remove
        assert.deepStrictEqual(journal.batches, [])
        assert.deepStrictEqual((yield* spool.list).entries, [])
        assert.isUndefined(yield* spool.take(entry))
        assert.isUndefined(yield* spool.take(entry, { force: true }))
      }))

    test("a journal removed by its holder stays gone when the scope ends", () =>
      Effect.gen(function* () {
        const spool = yield* Spool
        yield* Effect.scoped(
          Effect.gen(function* () {
            const journal = yield* openIt()
            append(journal, 0, 2)
            yield* journal.remove
            append(journal, 2, 3)
            yield* journal.seal
          })
        )
        assert.deepStrictEqual(yield* spool.list, { entries: [], damaged: [] })
      }))

    test("an attempt has one journal", () =>
      Effect.gen(function* () {
        yield* openIt()
        const held = yield* Effect.flip(openIt())
        assert.match(held.message, /a journal of this attempt already/)
        yield* Effect.scoped(openIt("b"))
        assert.match((yield* Effect.flip(openIt("b"))).message, /a journal of this attempt already/)
        assert.strictEqual((yield* entryOf("a")).holder, "process")
      }))

    test("journals are listed oldest first", () =>
      Effect.gen(function* () {
        const spool = yield* Spool
        for (const second of ["03", "01", "02"]) {
          yield* spool.open(attempt(second, { startedAt: `2026-01-02T03:04:${second}.000Z` }))
        }
        const { damaged, entries } = yield* spool.list
        assert.deepStrictEqual(
          entries.map((entry) => entry.attempt.attemptId),
          ["01", "02", "03"]
        )
        assert.deepStrictEqual(damaged, [])
      }))

    test("any text is an attempt's id", () =>
      Effect.gen(function* () {
        const spool = yield* Spool
        const ids = [
          "",
          ".",
          "..",
          "../../etc/passwd",
          "a/b",
          "a\\b",
          "a@b~1~2",
          "x".repeat(5000),
          "é😀",
          "\0",
          "A",
          "a"
        ]
        for (const [index, id] of ids.entries()) {
          yield* Effect.scoped(Effect.map(spool.open(attempt(id)), (journal) => journal.append(record(index))))
        }
        const { entries } = yield* spool.list
        assert.sameMembers(
          entries.map((entry) => entry.attempt.attemptId),
          ids
        )
        for (const [index, id] of ids.entries()) {
          const journal = yield* takeIt(id)
          assert.deepStrictEqual(yield* contents(journal), [{ number: 0, tasks: [index] }])
          yield* journal.remove
        }
        assert.deepStrictEqual(yield* spool.list, { entries: [], damaged: [] })
      }))

    it("whatever is done in whatever order, what goes in comes out", () =>
      check(commands(), (commands) => Effect.provide(follow(commands), layer)))
  })
}
