/**
 * `bench export SLUG`
 *
 * `json` is one document, `ndjson` one record a line. `csv` follows RFC 4180: a header, then a line per record, with a
 * column `data.KEY` for every key that any record measured, and nested values as JSON. Text in it that a spreadsheet would
 * run as a formula (it begins with `=`, `+`, `-`, `@`, a tab or a carriage return) gets an apostrophe before it; numbers
 * stay as they are. The other formats hold every text unchanged.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { stringifySafe } from "../internal/json.js"
import type { Iteration, PlatformError, RunRef } from "../Platform.js"
import { Platform } from "../Platform.js"
import { say } from "./output.js"
import { Stdout, writeFile, writeStdout } from "./outputFile.js"
import { resolveRun } from "./resolveRun.js"
import { lines, oneLine, plural } from "./text.js"

export type ExportFormat = "json" | "csv" | "ndjson"

export interface ExportOptions {
  readonly benchmark: string | undefined
  readonly run: string | undefined
  /** A file, which is replaced when it exists, or `-` for stdout. Default stdout. */
  readonly out: string | undefined
  /** Default: what the name of the file ends with, else `json`. */
  readonly format: ExportFormat | undefined
  readonly type: "tasks" | "steps"
}

/**
 * Every task or step that a run recorded, for other programs. The records of one participant at a time are in memory; for
 * `csv`, whose header names what is measured in any of them, all are.
 */
export const exportRun = Effect.fnUntraced(function* (options: ExportOptions) {
  const platform = yield* Platform
  const { benchmark, run } = yield* resolveRun(options.benchmark, options.run)
  if (run.status === "planned" || run.status === "in_progress") {
    yield* say(`Run ${run.id} has not ended: this is what it has recorded so far.`)
  }
  const source = new Source(platform, { benchmark, run: run.id }, options.type)
  const text = formats[options.format ?? formatOf(options.out)](source)
  if (options.out === undefined || options.out === "-") {
    const { isTerminal } = yield* Stdout
    yield* writeStdout(encoded(isTerminal ? Stream.map(text, lines) : text))
    return
  }
  const bytes = yield* writeFile({ file: options.out, overwrite: true, content: encoded(text) })
  const what = plural(source.count, options.type === "tasks" ? "task" : "step")
  yield* say(`Exported ${what} of run ${run.id} to ${oneLine(options.out)} (${plural(bytes, "byte")}).`)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Text = Stream.Stream<string, PlatformError>

/** What is exported. */
class Source {
  /** Records that were read so far. */
  count = 0

  constructor(
    private readonly platform: Platform["Type"],
    private readonly ref: RunRef,
    readonly type: "tasks" | "steps"
  ) {}

  /** Read from the platform participant by participant. */
  get records(): Stream.Stream<Iteration, PlatformError> {
    return Stream.fromIterableEffect(this.platform.listParticipants(this.ref)).pipe(
      Stream.flatMap(({ slug }) =>
        Stream.fromIterableEffect(this.platform.iterations(this.ref, { type: this.type, participant: slug }))
      ),
      Stream.mapChunks((records) => {
        this.count += records.length
        return records
      })
    )
  }

  get summary() {
    return Effect.all({
      results: this.platform.runResults(this.ref),
      summary: this.platform.getSummary(this.ref).pipe(Effect.catchTag("ResourceNotFound", () => Effect.succeed(null)))
    })
  }
}

/** One document, with each record on a line of its own. */
const toJson = (source: Source): Text =>
  Stream.unwrap(
    Effect.map(source.summary, ({ results: { benchmark, run, ...results }, summary }) => {
      const head = JSON.stringify({ benchmark, run, results: { ...results, summary } }).slice(0, -1)
      return source.records.pipe(
        Stream.map((record) => `\n${JSON.stringify(record)}`),
        Stream.intersperse(","),
        (records) => Stream.concat(Stream.succeed(`${head},"iterations":[`), records),
        (text) => Stream.concat(text, Stream.succeed("\n]}\n"))
      )
    })
  )

const toNdjson = (source: Source): Text => Stream.map(source.records, (record) => `${JSON.stringify(record)}\n`)

const toCsv = (source: Source): Text =>
  Stream.unwrap(
    Effect.map(Stream.runCollect(source.records), (records) => {
      const columns = source.type === "steps" ? stepColumns : taskColumns
      const keys = measuredIn(records)
      const header = [...columns, ...keys.map((key) => `data.${key}`)]
      return Stream.concat(
        Stream.succeed(line(header)),
        Stream.map(Stream.fromChunk(records), (record) =>
          line([...columns.map((column) => record[column]), ...keys.map((key) => own(record.data, key))])
        )
      )
    })
  )

const formats: { readonly [Format in ExportFormat]: (source: Source) => Text } = {
  json: toJson,
  ndjson: toNdjson,
  csv: toCsv
}

const formatOf = (file: string | undefined): ExportFormat => {
  const [, extension] = /\.(csv|ndjson|jsonl)$/i.exec(file ?? "") ?? []
  return extension === undefined ? "json" : extension.toLowerCase() === "csv" ? "csv" : "ndjson"
}

const taskColumns = [
  "participantSlug",
  "provider",
  "taskIndex",
  "status",
  "errorCode",
  "latencyMs",
  "startedAt",
  "completedAt"
] as const

const stepColumns = ["participantSlug", "provider", "taskIndex", "stepName", ...taskColumns.slice(3)] as const

/** The keys of all data, in the order in which they first appear. */
const measuredIn = (records: Iterable<Iteration>): ReadonlyArray<string> => {
  const keys = new Set<string>()
  for (const { data } of records) {
    for (const key of Object.keys(data ?? {})) keys.add(key)
  }
  return [...keys]
}

const own = (data: Iteration["data"], key: string): unknown =>
  data !== null && Object.hasOwn(data, key) ? data[key] : undefined

const line = (values: ReadonlyArray<unknown>): string => `${values.map(cell).join(",")}\r\n`

const cell = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  const text = typeof value === "string" ? withoutFormula(value) : stringifySafe(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const withoutFormula = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)

/** A chunk of lines becomes one piece of bytes. */
const encoded = (text: Text): Stream.Stream<Uint8Array, PlatformError> =>
  Stream.encodeText(Stream.mapChunks(text, (chunk) => Chunk.of(Chunk.join(chunk, ""))))
