import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import * as Spool from "../src/Spool.js"
import { suite } from "./spool/contract.js"
import { faults } from "./spool/faults.js"
import { check, commands, follow } from "./spool/model.js"
import {
  append,
  attempt,
  contents,
  entryOf,
  range,
  record,
  records,
  takeIt,
  temporaryDirectory,
  turn
} from "./spool/support.js"

// -----------------------------------------------------------------------------
// support
// -----------------------------------------------------------------------------

const layerTemporary = Layer.unwrapScoped(
  Effect.map(temporaryDirectory, (directory) =>
    Spool.layerDirectory({ directory: Path.join(directory, "nested", "spool") })
  )
)

interface Place {
  readonly spool: Spool.Spool["Type"]
  readonly directory: string
  readonly errors: Array<Spool.SpoolError>
}

/** A spool in a directory of its own, with the errors that it told. */
const withSpool = <A, E>(use: (place: Place) => Effect.Effect<A, E, Spool.Spool | Scope.Scope>) =>
  Effect.gen(function* () {
    const directory = Path.join(yield* temporaryDirectory, "spool")
    const errors: Array<Spool.SpoolError> = []
    const onError = (error: Spool.SpoolError) => Effect.sync(() => void errors.push(error))
    const layer = Spool.layerDirectory({ directory, onError })
    return yield* Effect.provide(
      Effect.flatMap(Spool.Spool, (spool) => use({ spool, directory, errors })),
      layer
    )
  })

/** The journals' directories. */
const journals = (directory: string) =>
  Fs.readdirSync(directory)
    .filter((name) => !name.startsWith("."))
    .map((name) => Path.join(directory, name))

const only = (directory: string): string => {
  const [journal, ...others] = journals(directory)
  if (journal === undefined || others.length > 0) throw new Error(`${others.length + 1} journals`)
  return journal
}

const files = (directory: string) => Fs.readdirSync(directory).sort()

/** A journal of an attempt with 2 + 2 sealed records and one more, that nobody holds. */
const leave = (attemptId = "a") =>
  Effect.scoped(
    Effect.gen(function* () {
      const spool = yield* Spool.Spool
      const journal = yield* spool.open(attempt(attemptId))
      for (const from of [0, 2]) {
        append(journal, from, from + 2)
        yield* journal.seal
      }
      append(journal, 4, 5)
    })
  )

/** Makes a journal look as if somebody held it. */
const giveTo = (journal: string, holder: string): string => {
  const renamed = journal.replace(/@[^@]*$/, `@${holder}`)
  Fs.renameSync(journal, renamed)
  return renamed
}

const host = Os.hostname().replace(/[^A-Za-z0-9.-]/g, "_")

const startOf = (pid: number): string =>
  Fs.readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")[19] ?? ""

const onLinux = process.platform === "linux"

/** No process has it: more than any system gives. */
const deadPid = 999_999_999

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

suite("Spool in memory", Spool.layerMemory)
suite("Spool in a directory", layerTemporary)

describe("Spool files", () => {
  it.scoped("nothing is made before a journal is opened", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        assert.strictEqual(spool.location, directory)
        assert.deepStrictEqual(yield* spool.list, { entries: [], damaged: [] })
        assert.isFalse(Fs.existsSync(directory))
        yield* spool.open(attempt("a"))
        assert.isTrue(Fs.existsSync(directory))
      })
    )
  )

  it.scoped("only their owner may read them", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        append(journal, 0, 2)
        yield* journal.seal
        yield* journal.setVerdict({ how: "complete" })
        const mode = (path: string) => Fs.statSync(path).mode & 0o777
        const inside = only(directory)
        assert.deepStrictEqual(files(inside), ["000000.ndjson", "000001.ndjson", "attempt.json"])
        assert.deepStrictEqual([directory, inside].map(mode), [0o700, 0o700])
        assert.deepStrictEqual(
          files(inside).map((file) => mode(Path.join(inside, file))),
          [0o600, 0o600, 0o600]
        )
      })
    )
  )

  it.scoped("records are in their file when the turn is over", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        append(journal, 0, 3)
        assert.strictEqual(journal.unsaved, 3)
        yield* turn
        assert.strictEqual(journal.unsaved, 0)
        const text = Fs.readFileSync(Path.join(only(directory), "000000.ndjson"), "utf8")
        assert.strictEqual(
          text,
          range(0, 3)
            .map((i) => JSON.stringify(record(i)) + "\n")
            .join("")
        )
      })
    )
  )

  it.scoped("many records are in their file before the turn is over", () =>
    withSpool(({ spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        append(journal, 0, 1000)
        assert.isBelow(journal.unsaved, 400)
        assert.isAbove(journal.openBytes, 128 * 1024)
      })
    )
  )

  it.scoped("what is appended last is in its file when the scope has ended", () =>
    withSpool(({ spool }) =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const journal = yield* Scope.extend(spool.open(attempt("a")), scope)
        append(journal, 0, 3)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual((yield* entryOf("a")).recordCount, 3)
      })
    )
  )

  it.scoped("the file of an acknowledged batch is removed, the number kept", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        append(journal, 0, 2)
        yield* journal.seal
        yield* journal.acknowledge({ sequenceNumber: 0, recordCount: 2 })
        assert.deepStrictEqual(files(only(directory)), ["000001.ndjson", "attempt.json"])
      })
    )
  )

  it.scoped("a file goes only when those before it are gone", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        for (const from of [0, 2]) {
          append(journal, from, from + 2)
          yield* journal.seal
        }
        yield* journal.acknowledge({ sequenceNumber: 1, recordCount: 2 })
        assert.include(files(only(directory)), "000001.ndjson")
        yield* journal.acknowledge({ sequenceNumber: 0, recordCount: 2 })
        assert.deepStrictEqual(files(only(directory)), ["000002.ndjson", "attempt.json"])
      })
    )
  )

  it.scoped("a removed journal leaves nothing", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        append(journal, 0, 2)
        yield* journal.remove
        yield* turn
        assert.deepStrictEqual(Fs.readdirSync(directory), [])
      })
    )
  )
})

describe("Spool recovery", () => {
  it.scoped("a last line that was not written to its end is dropped", () =>
    withSpool(({ directory }) =>
      Effect.gen(function* () {
        yield* leave()
        const file = Path.join(only(directory), "000002.ndjson")
        Fs.appendFileSync(file, JSON.stringify(record(5)).slice(0, 40))
        assert.strictEqual((yield* entryOf("a")).recordCount, 5)
        const journal = yield* takeIt("a")
        assert.deepStrictEqual(yield* contents(journal), [
          { number: 0, tasks: [0, 1] },
          { number: 1, tasks: [2, 3] },
          { number: 2, tasks: [4] }
        ])
        append(journal, 5, 6)
        yield* journal.seal
        yield* journal.evict
        assert.deepStrictEqual((yield* contents(journal)).at(-1), { number: 3, tasks: [5] })
      })
    )
  )

  it.scoped("a batch of which no line was written to its end leaves its number", () =>
    withSpool(({ directory }) =>
      Effect.gen(function* () {
        yield* leave()
        Fs.writeFileSync(Path.join(only(directory), "000002.ndjson"), `{"taskIndex":4`)
        const journal = yield* takeIt("a")
        append(journal, 4, 5)
        yield* journal.seal
        yield* journal.evict
        assert.deepStrictEqual((yield* contents(journal)).at(-1), { number: 2, tasks: [4] })
        assert.strictEqual((yield* contents(journal)).length, 3)
      })
    )
  )

  it.scoped("a line that is damaged is named, the other batches are not affected", () =>
    withSpool(({ directory }) =>
      Effect.gen(function* () {
        yield* leave()
        const file = Path.join(only(directory), "000001.ndjson")
        Fs.writeFileSync(file, `${JSON.stringify(record(2))}\n{"taskIndex":"3"}\n`)
        const journal = yield* takeIt("a")
        const [first, second] = journal.batches
        assert.isDefined(first)
        assert.isDefined(second)
        assert.lengthOf(yield* journal.read(first), 2)
        const error = yield* Effect.flip(journal.read(second))
        assert.strictEqual(Path.basename(error.path), "000001.ndjson")
        assert.match(error.message, /line 2 is not a task record/)
      })
    )
  )

  it.scoped("batches keep their numbers when one is missing", () =>
    withSpool(({ directory }) =>
      Effect.gen(function* () {
        yield* leave()
        Fs.rmSync(Path.join(only(directory), "000001.ndjson"))
        const journal = yield* takeIt("a")
        assert.isTrue(yield* journal.split({ sequenceNumber: 0, recordCount: 2 }))
        yield* journal.evict
        assert.deepStrictEqual(yield* contents(journal), [
          { number: 0, tasks: [0] },
          { number: 1, tasks: [1] },
          { number: 2, tasks: [4] }
        ])
      })
    )
  )

  const second = range(2, 4)
    .map((i) => JSON.stringify(record(i)) + "\n")
    .join("")
  const firstBytes = range(0, 2).reduce((bytes, i) => bytes + JSON.stringify(record(i)).length + 1, 0)
  const move = (from: number, to: number) => (journal: string) =>
    Fs.renameSync(Path.join(journal, `00000${from}.ndjson`), Path.join(journal, `00000${to}.ndjson`))
  const steps = [
    [
      "its second half is written",
      (journal: string) => Fs.writeFileSync(Path.join(journal, "second-half.tmp"), second)
    ],
    [
      "it is decided",
      (journal: string) =>
        Fs.renameSync(Path.join(journal, "second-half.tmp"), Path.join(journal, `000000.split-${firstBytes}`))
    ],
    ["the last file has moved", move(2, 3)],
    ["all files have moved", move(1, 2)],
    ["the first half is cut", (journal: string) => Fs.truncateSync(Path.join(journal, "000000.ndjson"), firstBytes)],
    [
      "it is done",
      (journal: string) =>
        Fs.renameSync(Path.join(journal, `000000.split-${firstBytes}`), Path.join(journal, "000001.ndjson"))
    ]
  ] as const

  for (const [index, [when]] of steps.entries()) {
    it.scoped(`a split that ends when ${when} neither loses nor doubles a record`, () =>
      withSpool(({ directory, spool }) =>
        Effect.gen(function* () {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const journal = yield* spool.open(attempt("a"))
              append(journal, 0, 4)
              yield* journal.seal
              append(journal, 4, 6)
              yield* journal.seal
              append(journal, 6, 7)
            })
          )
          steps.slice(0, index + 1).forEach(([, step]) => step(only(directory)))
          assert.strictEqual((yield* entryOf("a")).recordCount, 7)
          const journal = yield* takeIt("a")
          assert.deepStrictEqual(
            yield* records(journal),
            range(0, 7).map((i) => record(i))
          )
          const decided = index >= 1
          assert.deepStrictEqual(
            journal.batches.map(({ recordCount, sequenceNumber }) => [sequenceNumber, recordCount]),
            decided
              ? [
                  [0, 2],
                  [1, 2],
                  [2, 2],
                  [3, 1]
                ]
              : [
                  [0, 4],
                  [1, 2],
                  [2, 1]
                ]
          )
          assert.deepStrictEqual(
            files(only(directory)).filter((name) => !name.endsWith(".ndjson")),
            ["attempt.json"]
          )
        })
      )
    )
  }

  it.scoped("what processes left that died on the way in or out is cleaned up", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        const left = [
          `.new.a-1@${host}~${deadPid}~1`,
          `.removed.b-1@${host}~${process.pid}~1`,
          `.new.c-1@${host}~${process.pid}~`,
          ".new.d-1@elsewhere~1~1",
          ".gitignore"
        ]
        for (const name of left) Fs.mkdirSync(Path.join(directory, name, "inside"), { recursive: true })
        assert.deepStrictEqual(yield* spool.list, { entries: [], damaged: [] })
        yield* spool.open(attempt("a"))
        assert.sameMembers(
          Fs.readdirSync(directory).filter((name) => name.startsWith(".")),
          left.slice(2)
        )
      })
    )
  )
})

describe("Spool holders", () => {
  it.scoped("the journal of a process that has ended is nobody's", () =>
    withSpool(({ directory }) =>
      Effect.gen(function* () {
        yield* leave()
        giveTo(only(directory), `${host}~${deadPid}~5`)
        const entry = yield* entryOf("a")
        assert.strictEqual(entry.holder, "nobody")
        assert.deepStrictEqual(entry.heldBy, { host, pid: deadPid })
        assert.lengthOf(yield* records(yield* takeIt("a")), 5)
      })
    )
  )

  it.scoped("a process that runs keeps its journal, by force too", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        yield* leave()
        giveTo(only(directory), `${host}~${process.ppid}~${onLinux ? startOf(process.ppid) : ""}`)
        const entry = yield* entryOf("a")
        assert.strictEqual(entry.holder, "process")
        assert.isUndefined(yield* spool.take(entry))
        assert.isUndefined(yield* spool.take(entry, { force: true }))
      })
    )
  )

  it.scoped("where the start of processes is not known a running one keeps its journal", () =>
    withSpool(({ directory }) =>
      Effect.gen(function* () {
        yield* leave()
        giveTo(only(directory), `${host}~${process.ppid}~`)
        assert.strictEqual((yield* entryOf("a")).holder, "process")
      })
    )
  )

  it.runIf(onLinux)("a process that got the id of one that has ended holds nothing", () =>
    withSpool(({ directory }) =>
      Effect.gen(function* () {
        yield* leave()
        giveTo(only(directory), `${host}~${process.pid}~${Number(startOf(process.pid)) - 1}`)
        assert.strictEqual((yield* entryOf("a")).holder, "nobody")
        assert.lengthOf(yield* records(yield* takeIt("a")), 5)
      })
    ).pipe(Effect.scoped, Effect.runPromise)
  )

  it.scoped("the journal of another machine is taken by force only", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        yield* leave()
        giveTo(only(directory), "elsewhere.example~1~7")
        const entry = yield* entryOf("a")
        assert.strictEqual(entry.holder, "otherMachine")
        assert.deepStrictEqual(entry.heldBy, { host: "elsewhere.example", pid: 1 })
        assert.isUndefined(yield* spool.take(entry))
        const journal = yield* spool.take(entry, { force: true })
        assert.isDefined(journal)
        assert.lengthOf(yield* records(journal), 5)
      })
    )
  )

  it.scoped("what another machine has given up is nobody's", () =>
    withSpool(({ directory }) =>
      Effect.gen(function* () {
        yield* leave()
        giveTo(only(directory), "elsewhere.example~1~free")
        assert.strictEqual((yield* entryOf("a")).holder, "nobody")
        yield* takeIt("a")
      })
    )
  )

  it.scoped("two spools of one process do not take from each other", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        const other = Context.get(yield* Layer.build(Spool.layerDirectory({ directory })), Spool.Spool)
        const scope = yield* Scope.make()
        yield* Scope.extend(spool.open(attempt("a")), scope)
        const entry = yield* entryOf("a")
        assert.isUndefined(yield* other.take(entry))
        yield* Scope.close(scope, Exit.void)
        assert.isUndefined(yield* other.take(entry))
        assert.isDefined(yield* other.take(yield* entryOf("a")))
      })
    )
  )
})

describe("Spool listing", () => {
  it.scoped("what is no journal, damaged or of a version to come is named and left alone", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        for (const id of ["good", "empty", "later", "text", "wrong"]) yield* leave(id)
        const of = (id: string) => journals(directory).find((path) => Path.basename(path).startsWith(`${id}-`)) ?? ""
        const file = (id: string) => Path.join(of(id), "attempt.json")
        Fs.rmSync(file("empty"))
        Fs.writeFileSync(file("later"), JSON.stringify({ version: 2, new: true }))
        Fs.writeFileSync(file("text"), "not JSON")
        Fs.writeFileSync(file("wrong"), JSON.stringify({ ...attempt("wrong"), version: 1, attemptNumber: "1" }))
        Fs.writeFileSync(Path.join(directory, "notes.txt"), "")
        Fs.mkdirSync(Path.join(directory, "folder"))
        const before = files(directory)
        const { damaged, entries } = yield* spool.list
        assert.deepStrictEqual(
          entries.map((entry) => entry.attempt.attemptId),
          ["good"]
        )
        const details = new Map(damaged.map(({ detail, path }) => [Path.relative(directory, path), detail]))
        const detail = (path: string) => details.get(Path.relative(directory, path)) ?? "not listed"
        assert.strictEqual(damaged.length, 6)
        assert.match(detail(of("empty")), /ENOENT/)
        assert.match(detail(file("later")), /in format 2, written by a newer version/)
        assert.match(detail(file("text")), /not the description of an attempt/)
        assert.match(detail(file("wrong")), /attemptNumber/)
        assert.match(detail(Path.join(directory, "notes.txt")), /is not a journal/)
        assert.match(detail(Path.join(directory, "folder")), /is not a journal/)
        assert.deepStrictEqual(files(directory), before)
      })
    )
  )

  it.scoped("a journal that has become unreadable is not taken", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        yield* leave()
        const entry = yield* entryOf("a")
        Fs.writeFileSync(Path.join(only(directory), "attempt.json"), JSON.stringify({ version: 2 }))
        const error = yield* Effect.flip(spool.take(entry))
        assert.match(error.message, /attempt\.json: is in format 2/)
        assert.deepStrictEqual(journals(directory), [entry.location])
      })
    )
  )

  it.scoped("only journals of the spool are taken", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        yield* leave()
        const entry = yield* entryOf("a")
        for (const location of ["/etc", Path.join(directory, ".."), ""]) {
          assert.match((yield* Effect.flip(spool.take({ ...entry, location }))).message, /not the name of a journal/)
        }
      })
    )
  )

  it.scoped("a spool that cannot be read fails", () =>
    Effect.gen(function* () {
      const file = Path.join(yield* temporaryDirectory, "file")
      Fs.writeFileSync(file, "")
      const spool = Context.get(yield* Layer.build(Spool.layerDirectory({ directory: file })), Spool.Spool)
      const listed = yield* Effect.flip(spool.list)
      assert.strictEqual(listed.path, file)
      assert.match(listed.message, /cannot list the spool: ENOTDIR/)
    })
  )
})

describe("Spool failures", () => {
  it("whichever calls fail and whenever the process dies, nothing that was saved is lost or doubled", () =>
    check(commands(["kill"]), (commands) =>
      withSpool(({ directory }) =>
        Effect.flatMap(faults, (faults) =>
          follow(commands, { faults, kill: () => void giveTo(only(directory), `${host}~${deadPid}~1`) })
        )
      )
    ))

  it.scoped("a spool in a place where there is none cannot open a journal", () =>
    Effect.gen(function* () {
      const file = Path.join(yield* temporaryDirectory, "file")
      Fs.writeFileSync(file, "")
      for (const directory of [file, Path.join(file, "spool"), "/proc/spool", "/proc/spool/inside"]) {
        const spool = Context.get(yield* Layer.build(Spool.layerDirectory({ directory })), Spool.Spool)
        const error = yield* Effect.flip(spool.open(attempt("a")))
        assert.match(error.message, /cannot start a journal: /)
      }
    })
  )

  it.scoped("on a full disk records stay in memory until it takes them", () =>
    withSpool(({ directory, errors, spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        const full = Path.join(only(directory), "000001.ndjson")
        Fs.symlinkSync("/dev/full", full)
        append(journal, 0, 2)
        yield* journal.seal
        append(journal, 2, 4)
        yield* turn
        append(journal, 4, 5)
        yield* journal.seal
        append(journal, 5, 6)
        yield* turn
        assert.strictEqual(journal.unsaved, 4)
        assert.lengthOf(errors, 1)
        assert.match(errors[0]?.message ?? "", /000001\.ndjson: cannot write records, .*ENOSPC/)
        yield* journal.evict
        assert.deepStrictEqual(
          yield* records(journal),
          range(0, 5).map((i) => record(i))
        )
        yield* journal.acknowledge({ sequenceNumber: 0, recordCount: 2 })
        assert.deepStrictEqual(yield* contents(journal), [{ number: 1, tasks: [2, 3, 4] }])

        Fs.rmSync(full)
        yield* journal.seal
        assert.strictEqual(journal.unsaved, 0)
        yield* journal.evict
        assert.deepStrictEqual(yield* contents(journal), [
          { number: 1, tasks: [2, 3, 4] },
          { number: 2, tasks: [5] }
        ])
        append(journal, 6, 7)
        yield* turn
        assert.strictEqual((yield* entryOf("a")).recordCount, 5)
        assert.lengthOf(errors, 1)
      })
    )
  )

  it.scoped("a second failure is told again after the first has passed", () =>
    withSpool(({ directory, errors, spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        for (const number of [1, 2]) {
          const file = Path.join(only(directory), `00000${number}.ndjson`)
          Fs.symlinkSync("/dev/full", file)
          append(journal, 0, 2)
          yield* journal.seal
          append(journal, 2, 4)
          yield* turn
          Fs.rmSync(file)
        }
        yield* journal.seal
        yield* turn
        assert.strictEqual(journal.unsaved, 0)
        assert.lengthOf(errors, 2)
      })
    )
  )

  it.scoped("a directory that gives way to a file costs nothing while the process lives", () =>
    withSpool(({ directory, errors, spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        append(journal, 0, 2)
        yield* journal.seal
        append(journal, 2, 3)
        yield* turn
        const inside = only(directory)
        Fs.rmSync(inside, { recursive: true })
        Fs.writeFileSync(inside, "")
        append(journal, 3, 4)
        yield* journal.seal
        append(journal, 4, 5)
        yield* turn
        assert.strictEqual(journal.unsaved, 5)
        assert.lengthOf(errors, 1)
        const [first] = journal.batches
        assert.isDefined(first)
        assert.isTrue(yield* journal.split(first))
        assert.deepStrictEqual(yield* contents(journal), [
          { number: 0, tasks: [0] },
          { number: 1, tasks: [1] },
          { number: 2, tasks: [2, 3] }
        ])
        assert.strictEqual((yield* Effect.flip(journal.setVerdict({ how: "complete" })))._tag, "SpoolError")

        Fs.rmSync(inside)
        yield* journal.seal
        assert.strictEqual(journal.unsaved, 0)
        const entry = yield* entryOf("a")
        assert.deepInclude(entry, { recordCount: 5, verdict: { how: "complete" } })
      })
    )
  )

  it.scoped("a directory that is taken away is made again", () =>
    withSpool(({ directory, errors, spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        append(journal, 0, 2)
        yield* turn
        Fs.rmSync(directory, { recursive: true })
        append(journal, 2, 3)
        yield* turn
        yield* journal.evict
        yield* turn
        assert.strictEqual(journal.unsaved, 0)
        assert.lengthOf(errors, 1)
        assert.strictEqual((yield* entryOf("a")).recordCount, 3)
        yield* journal.seal
        assert.deepStrictEqual(yield* contents(journal), [{ number: 0, tasks: [0, 1, 2] }])
      })
    )
  )

  it.scoped("records that were on disk only cannot be read when somebody removed them, others can", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        append(journal, 0, 2)
        yield* journal.seal
        append(journal, 2, 4)
        yield* turn
        yield* journal.evict
        Fs.rmSync(directory, { recursive: true })
        append(journal, 4, 5)
        yield* journal.seal
        append(journal, 5, 6)
        yield* journal.seal
        yield* journal.evict
        const [first, second, third] = journal.batches
        assert.isDefined(first)
        assert.isDefined(second)
        assert.isDefined(third)
        assert.match((yield* Effect.flip(journal.read(first))).message, /000000\.ndjson: cannot read records: ENOENT/)
        assert.match((yield* Effect.flip(journal.read(second))).message, /000001\.ndjson: cannot read records: ENOENT/)
        assert.deepStrictEqual(yield* journal.read(third), [record(5)])
        assert.strictEqual((yield* entryOf("a")).recordCount, 1)
      })
    )
  )

  for (const [call, after] of [
    ["renameSync", 1],
    ["renameSync", 2],
    ["truncateSync", 0],
    ["renameSync", 3]
  ] as const) {
    it.scoped(`a split that fails at ${call} ${after + 1} is finished later`, () =>
      withSpool(({ errors, spool }) =>
        Effect.gen(function* () {
          const { plan } = yield* faults
          const journal = yield* spool.open(attempt("a"))
          append(journal, 0, 4)
          yield* journal.seal
          append(journal, 4, 6)
          yield* journal.seal
          yield* journal.evict
          plan(after, call)
          assert.isTrue(yield* journal.split({ sequenceNumber: 0, recordCount: 4 }))
          append(journal, 6, 7)
          yield* turn
          assert.lengthOf(errors, 1)
          assert.strictEqual(journal.unsaved, 1)
          assert.strictEqual((yield* entryOf("a")).recordCount, 6)
          yield* journal.seal
          assert.strictEqual(journal.unsaved, 0)
          assert.deepStrictEqual(yield* contents(journal), [
            { number: 0, tasks: [0, 1] },
            { number: 1, tasks: [2, 3] },
            { number: 2, tasks: [4, 5] },
            { number: 3, tasks: [6] }
          ])
        })
      )
    )
  }

  it.scoped("a split that the disk refuses changes nothing", () =>
    withSpool(({ directory, spool }) =>
      Effect.gen(function* () {
        const journal = yield* spool.open(attempt("a"))
        append(journal, 0, 4)
        yield* journal.seal
        const inTheWay = Path.join(only(directory), "second-half.tmp")
        Fs.symlinkSync("/dev/full", inTheWay)
        const error = yield* Effect.flip(journal.split({ sequenceNumber: 0, recordCount: 4 }))
        assert.match(error.message, /cannot split a batch: ENOSPC/)
        assert.deepStrictEqual(yield* contents(journal), [{ number: 0, tasks: [0, 1, 2, 3] }])
        assert.isTrue(yield* journal.split({ sequenceNumber: 0, recordCount: 4 }))
      })
    )
  )

  it.scoped("records that are lost with the scope are told of", () =>
    withSpool(({ directory, errors, spool }) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const journal = yield* spool.open(attempt("a"))
            Fs.symlinkSync("/dev/full", Path.join(only(directory), "000001.ndjson"))
            append(journal, 0, 2)
            yield* journal.seal
            append(journal, 2, 5)
          })
        )
        yield* turn
        assert.match(errors.at(-1)?.message ?? "", /3 record\(s\) could not be written and are lost/)
        assert.lengthOf(errors, 2)
        assert.strictEqual((yield* entryOf("a")).recordCount, 2)
      })
    )
  )

  it.scoped("errors are told before the layer is gone, by default as a warning", () => {
    const logged: Array<unknown> = []
    const logger = Logger.make(({ logLevel, message }) => void logged.push(logLevel.label, message))
    return Effect.gen(function* () {
      const directory = Path.join(yield* temporaryDirectory, "spool")
      const run = Effect.scoped(
        Effect.gen(function* () {
          const spool = yield* Spool.Spool
          const journal = yield* spool.open(attempt("a"))
          Fs.rmSync(directory, { recursive: true })
          append(journal, 0, 2)
          yield* journal.evict
        })
      )
      yield* Effect.provide(run, Spool.layerDirectory({ directory }))
      assert.strictEqual(logged[0], "WARN")
      assert.match(String(logged[1]), /spool error.*cannot write records/)
    }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
  })
})
