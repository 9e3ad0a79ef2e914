import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Mailbox from "effect/Mailbox"
import type * as Scope from "effect/Scope"
import type { Spool, SpoolDirectoryOptions, SpoolEntry, SpoolListing } from "../../Spool.js"
import { apart } from "../apart.js"
import { errorCode } from "../failure.js"
import type { AttemptState, SpooledAttempt } from "./attempt.js"
import * as Attempt from "./attempt.js"
import { Batch } from "./batch.js"
import { alreadyThere, refusal, SpoolError } from "./errors.js"
import type { BatchFile } from "./files.js"
import * as Files from "./files.js"
import type { Contents } from "./journal.js"
import { RecordJournal } from "./journal.js"
import type { Holder, JournalName } from "./names.js"
import * as Names from "./names.js"

/** Journals as directories in one directory; their names say whose they are. */
export const make = (options: SpoolDirectoryOptions): Effect.Effect<Spool["Type"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const report = yield* reporting(options.onError ?? warn)
    const held = yield* flushedOnExit
    const spool = new Directory(Path.resolve(options.directory), yield* Names.self, held, report)
    return {
      location: spool.path,
      open: (attempt) =>
        Effect.map(Effect.acquireRelease(spool.start(attempt), spool.release), ({ journal }) => journal),
      list: spool.list,
      take: (entry, options) =>
        Effect.acquireRelease(spool.take(entry, options?.force === true), (held) =>
          held === undefined ? Effect.void : spool.release(held)
        ).pipe(Effect.map((held) => held?.journal))
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Held {
  readonly name: JournalName
  readonly journal: RecordJournal
}

class Directory {
  private swept = false

  constructor(
    readonly path: string,
    private readonly self: Holder,
    private readonly held: Set<Held>,
    private readonly report: (error: SpoolError) => void
  ) {}

  /** The journal appears under its name when it is complete. */
  start(attempt: Omit<SpooledAttempt, "version">): Effect.Effect<Held, SpoolError> {
    const name = { attempt: Names.attemptName(attempt), ...this.self }
    const state: AttemptState = { attempt: { ...attempt, version: 1 }, verdict: undefined }
    const path = this.pathOf(Names.format(name))
    const fresh = this.pathOf(Names.newPrefix + Names.format(name))
    const make = trying(() => {
      Files.makeDirectory(this.path)
      this.sweep()
      if (Fs.readdirSync(this.path).some((other) => Names.parse(other)?.attempt === name.attempt)) {
        throw new SpoolError({ path, detail: alreadyThere })
      }
      Fs.mkdirSync(fresh, 0o700)
    })
    const fill = Effect.zipRight(
      Attempt.write(fresh, state),
      trying(() => {
        Files.createFirst(fresh)
        Fs.renameSync(fresh, path)
      })
    ).pipe(Effect.tapErrorCause(() => Effect.sync(() => removeQuietly(fresh))))
    return Effect.zipRight(make, fill).pipe(
      Effect.map(() => this.hold(name, state, { batches: [], nextSequenceNumber: 0 })),
      Effect.mapError(refusal(path, "start a journal"))
    )
  }

  /** The description is read first, so that a journal of a version to come stays where it is. */
  take(entry: SpoolEntry, force: boolean): Effect.Effect<Held | undefined, SpoolError> {
    const text = Path.basename(entry.location)
    const source = this.pathOf(text)
    return Effect.suspend(() => {
      const name = Names.parse(text)
      if (name === undefined) return new SpoolError({ path: source, detail: "is not the name of a journal" })
      const holder = Names.holderOf(name, this.self)
      if (holder === "process" || (holder === "otherMachine" && !force)) return Effect.succeed(undefined)
      const taken = { ...this.self, attempt: name.attempt }
      const target = this.pathOf(Names.format(taken))
      return trying(() => readState(source)).pipe(
        Effect.tap(() => trying(() => Fs.renameSync(source, target))),
        Effect.catchIf(
          () => !Fs.existsSync(source),
          () => Effect.succeed(undefined)
        ),
        Effect.flatMap((state) =>
          state === undefined ? Effect.succeed(undefined) : trying(() => this.goOn(taken, state))
        )
      )
    }).pipe(Effect.mapError(refusal(source, "take a journal")))
  }

  /** Writes what is left to be written and lets others have the journal, unless it was removed. */
  readonly release = (held: Held): Effect.Effect<void> =>
    Effect.zipRight(
      held.journal.close,
      Effect.sync(() => {
        this.held.delete(held)
        this.free(held.name)
      })
    )

  /** A journal that changes its holder while this looks may be missed, so whatever was gone makes it look again. */
  readonly list: Effect.Effect<SpoolListing, SpoolError> = Effect.try({
    try: () => {
      for (let round = 1; ; round++) {
        const found = readNames(this.path).map((name) => this.look(name))
        if (round < 5 && found.includes(undefined)) continue
        const looked = found.filter((entry) => entry !== undefined)
        const entries = looked.filter(Either.isRight).map(({ right }) => right)
        return {
          entries: entries.sort(Attempt.byAge),
          damaged: looked.filter(Either.isLeft).map(({ left }) => left)
        }
      }
    },
    catch: (cause) => refusal(this.path, "list the spool")(cause)
  })

  /** Undefined when it is there no longer. */
  private look(text: string): Either.Either<SpoolEntry, SpoolError> | undefined {
    const location = this.pathOf(text)
    const name = Names.parse(text)
    if (name === undefined) {
      return Either.left(new SpoolError({ path: location, detail: "is not a journal; it may be moved away" }))
    }
    try {
      const { attempt, verdict } = readState(location)
      const files = Files.scan(location)
      return Either.right({
        attempt,
        location,
        recordCount: files.reduce((count, { records }) => count + records, 0),
        bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
        verdict,
        holder: Names.holderOf(name, this.self),
        heldBy: { host: name.host, pid: name.pid }
      })
    } catch (cause) {
      return Fs.existsSync(location) ? Either.left(refusal(location, "read a journal")(cause)) : undefined
    }
  }

  private goOn(name: JournalName, state: AttemptState): Held {
    try {
      return this.hold(name, state, toContents(Files.recover(this.pathOf(Names.format(name)))))
    } catch (cause) {
      this.free(name)
      throw cause
    }
  }

  private hold(name: JournalName, state: AttemptState, contents: Contents): Held {
    const path = this.pathOf(Names.format(name))
    const files = new Files.JournalFiles(path, () =>
      Attempt.encode({ attempt: state.attempt, verdict: held.journal.verdict })
    )
    const discard = Effect.mapError(
      trying(() => this.discard(path)),
      refusal(path, "remove a journal")
    )
    const held: Held = { name, journal: new RecordJournal({ state, contents, files, report: this.report, discard }) }
    this.held.add(held)
    return held
  }

  private free(name: JournalName): void {
    try {
      Fs.renameSync(this.pathOf(Names.format(name)), this.pathOf(Names.formatFree(name)))
    } catch {
      // It was removed; or it stays this process's until that ends.
    }
  }

  /** Out of the way first, so that half a journal is never taken for one. */
  private discard(path: string): void {
    const aside = this.pathOf(Names.removedPrefix + Path.basename(path))
    removeQuietly(aside)
    try {
      Fs.renameSync(path, aside)
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error
    }
    removeQuietly(aside)
  }

  /** Removes, once, what processes left that died on the way in or out. */
  private sweep(): void {
    if (this.swept) return
    this.swept = true
    for (const text of Fs.readdirSync(this.path)) {
      const unfinished = text.startsWith(Names.newPrefix) && Names.parse(text.slice(Names.newPrefix.length))
      const abandoned = unfinished && Names.holderOf(unfinished, this.self) === "nobody"
      if (abandoned || text.startsWith(Names.removedPrefix)) removeQuietly(this.pathOf(text))
    }
  }

  private pathOf(name: string): string {
    return Path.join(this.path, name)
  }
}

const trying = <A>(evaluate: () => A): Effect.Effect<A, unknown> =>
  Effect.try({ try: evaluate, catch: (cause) => cause })

const readNames = (directory: string): ReadonlyArray<string> => {
  try {
    return Fs.readdirSync(directory).filter((name) => !name.startsWith("."))
  } catch (error) {
    if (errorCode(error) === "ENOENT") return []
    throw error
  }
}

const readState = (directory: string): AttemptState => {
  const path = Path.join(directory, Attempt.attemptFile)
  return Either.getOrThrowWith(Attempt.decode(path, Fs.readFileSync(path, "utf8")), (error) => error)
}

/** Empty files only keep a number: the last one that of the open batch. */
const toContents = (files: ReadonlyArray<BatchFile>): Contents => {
  const last = files.at(-1)
  return {
    batches: files.filter(({ records }) => records > 0).map(Batch.fromFile),
    nextSequenceNumber: last === undefined ? 0 : last.sequenceNumber + (last.records > 0 ? 1 : 0)
  }
}

const removeQuietly = (path: string): void => {
  try {
    Fs.rmSync(path, { recursive: true, force: true })
  } catch {
    // The next process that opens a journal here tries again.
  }
}

const warn = (error: SpoolError): Effect.Effect<void> => Effect.logWarning("spool error", error.message)

/** Errors come up where no effect runs; a fiber tells them, all of them before the scope is closed. */
const reporting = Effect.fnUntraced(function* (onError: (error: SpoolError) => Effect.Effect<void>) {
  const errors = yield* Mailbox.make<SpoolError>()
  const tell = (error: SpoolError) =>
    Effect.catchAllCause(onError(error), (cause) => Effect.logWarning("spool error was not reported", cause))
  const fiber = yield* errors.take.pipe(
    Effect.flatMap(tell),
    Effect.forever,
    Effect.catchTag("NoSuchElementException", () => Effect.void),
    Effect.interruptible,
    Effect.forkScoped
  )
  yield* Effect.addFinalizer(() =>
    apart(Effect.zipRight(errors.end, Fiber.await(fiber)).pipe(Effect.timeoutOption("5 seconds")))
  )
  return (error: SpoolError): void => {
    errors.unsafeOffer(error)
  }
})

/** The journals that are held; what they have buffered is written when the process ends by itself. */
const flushedOnExit: Effect.Effect<Set<Held>, never, Scope.Scope> = Effect.suspend(() => {
  const held = new Set<Held>()
  const flush = () => held.forEach(({ journal }) => journal.flush())
  return Effect.acquireRelease(
    Effect.sync(() => {
      process.on("exit", flush)
      return held
    }),
    () => Effect.sync(() => process.off("exit", flush))
  )
})
