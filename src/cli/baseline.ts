/**
 * `bench baseline save|list|use|remove`: names for runs to compare with, kept in the project's `.bench`.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { messageOf } from "../internal/json.js"
import { Platform, PlatformOrigin } from "../Platform.js"
import { CliError } from "./CliError.js"
import { json, print, say } from "./output.js"
import * as Project from "./project.js"
import { resolveRun } from "./resolveRun.js"
import { oneLine, table } from "./text.js"
import { UsageError } from "./UsageError.js"

export interface SaveOptions {
  readonly name: string
  readonly run: string | undefined
  readonly benchmark: string | undefined
}

/** Gives a run a name. Another run that has it loses it. */
export const save = Effect.fnUntraced(function* ({ benchmark, name, run }: SaveOptions) {
  if (!/^[\w][\w.-]{0,63}$/.test(name)) {
    return yield* new UsageError({
      detail: `A baseline is named with letters, digits, dots, dashes and underscores, at most 64 (got ${JSON.stringify(name)})`
    })
  }
  const platform = yield* Platform
  const found = yield* resolveRun(benchmark, run)
  if (found.run.status !== "completed") {
    yield* say(`warning: run ${found.run.id} is ${found.run.status.replace("_", " ")}`)
  }
  const savedAt = DateTime.formatIso(yield* DateTime.now)
  const entry: Baseline = { run: found.run.id, benchmark: found.benchmark, origin: platform.origin, savedAt }
  const book = yield* read
  yield* write({ baselines: { ...book.baselines, [name]: entry }, current: book.current ?? name })
  yield* say(
    `Baseline ${name} is run ${found.run.id} of ${found.benchmark}. Compare with it: bench compare --baseline ${name} last`
  )
})

export const list = Effect.fnUntraced(function* (options: { readonly json: boolean }) {
  const { baselines, current } = yield* read
  const entries = Object.entries(baselines)
  if (options.json) {
    return yield* json({ items: entries.map(([name, entry]) => ({ name, current: name === current, ...entry })) })
  }
  if (entries.length === 0) return yield* print("There are no baselines. Save one: bench baseline save main last")
  yield* print(
    table(
      [{ title: "" }, { title: "name" }, { title: "benchmark" }, { title: "run" }, { title: "saved" }],
      entries.map(([name, { benchmark, run, savedAt }]) => [name === current ? "*" : "", name, benchmark, run, savedAt])
    )
  )
})

/** Makes a baseline the one that `bench compare --baseline current` means. */
export const use = Effect.fnUntraced(function* (name: string) {
  const book = yield* read
  yield* entryOf(book, name)
  yield* write({ ...book, current: name })
  yield* say(`bench compare --baseline current compares with ${oneLine(name)} now.`)
})

export const remove = Effect.fnUntraced(function* (name: string) {
  const book = yield* read
  yield* entryOf(book, name)
  const baselines = Object.fromEntries(Object.entries(book.baselines).filter(([key]) => key !== name))
  yield* write({ baselines, ...(book.current !== undefined && book.current !== name && { current: book.current }) })
  yield* say(`Removed baseline ${oneLine(name)}. Its run is kept.`)
})

/** The run of a baseline, which must be on the platform that is asked. */
export const baselineRun = Effect.fnUntraced(function* (name: string) {
  const platform = yield* Platform
  const entry = yield* entryOf(yield* read, name)
  if (!sameOrigin(entry.origin, platform.origin)) {
    return yield* new CliError({
      detail: `Baseline "${name}" is a run in ${placeOf(entry.origin)}, but ${placeOf(platform.origin)} is asked.`
    })
  }
  return entry
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Baseline = Schema.Struct({
  run: Schema.String,
  benchmark: Schema.String,
  origin: PlatformOrigin,
  savedAt: Schema.String
})

type Baseline = typeof Baseline.Type

const Book = Schema.Struct({
  baselines: Schema.Record({ key: Schema.String, value: Baseline }),
  /** What `current` means. */
  current: Schema.optional(Schema.String)
})

type Book = typeof Book.Type

const decode = Schema.decodeUnknown(Schema.parseJson(Book))

const encode = Schema.encode(Schema.parseJson(Book, { space: 2 }))

const file = Effect.gen(function* () {
  const path = yield* Path.Path
  return path.join(yield* Project.home, "baselines.json")
})

const read = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const name = yield* file
  if (!(yield* Effect.orElseSucceed(fs.exists(name), () => false))) return empty
  return yield* fs.readFileString(name).pipe(
    Effect.flatMap(decode),
    Effect.mapError(
      (cause) =>
        new CliError({
          detail: `${name} cannot be read: it is not what was written there. Mend it, or remove it and save again.`,
          cause
        })
    )
  )
})

const empty: Book = { baselines: {} }

/** Replaced as a whole: whoever reads it meanwhile sees the old one. */
const write = Effect.fnUntraced(function* (book: Book) {
  const fs = yield* FileSystem.FileSystem
  yield* Project.keepOutOfGit
  const name = yield* file
  const text = yield* Effect.orDie(encode(book))
  yield* fs.writeFileString(`${name}.new`, `${text}\n`).pipe(
    Effect.zipRight(fs.rename(`${name}.new`, name)),
    Effect.mapError((cause) => new CliError({ detail: `${name} cannot be written: ${messageOf(cause)}`, cause }))
  )
})

const entryOf = (book: Book, asked: string): Effect.Effect<Baseline, CliError> => {
  const name = asked === "current" ? (book.current ?? asked) : asked
  const entry = Option.fromNullable(Object.hasOwn(book.baselines, name) ? book.baselines[name] : undefined)
  const names = Object.keys(book.baselines)
  return Option.match(entry, {
    onNone: () =>
      Effect.fail(
        new CliError({
          detail:
            names.length === 0
              ? `There is no baseline "${asked}". Save one: bench baseline save ${asked} last`
              : `There is no baseline "${asked}". There are: ${names.join(", ")}`
        })
      ),
    onSome: Effect.succeed
  })
}

const placeOf = (origin: PlatformOrigin): string => (origin.kind === "store" ? origin.location : origin.baseUrl)

const sameOrigin = (a: PlatformOrigin, b: PlatformOrigin): boolean => a.kind === b.kind && placeOf(a) === placeOf(b)
