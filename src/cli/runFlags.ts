/**
 * The flags of `bench run` and `bench worker`: declared once in {@link runFlagTable} and {@link workerFlagTable}, which parsing, help and shell completion read.
 */
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { Threshold } from "../Gates.js"
import * as Gates from "../Gates.js"
import { UsageError } from "./UsageError.js"

/**
 * What the command line of `bench run` or `bench worker` asks for. A flag that was not given is absent; the last one wins when one is given
 * twice, except that the participants of several `--provider` and the conditions of several `--threshold` add up.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunFlags {
  readonly benchmark?: string
  readonly name?: string
  readonly shape?: string
  readonly runKey?: string
  readonly workerPool?: number
  readonly run?: string
  readonly participant?: string
  readonly forever?: true
  readonly iterations?: number
  readonly concurrency?: number
  readonly staggerDelayMs?: number
  readonly groupBy?: "participant" | "round"
  readonly providers?: ReadonlyArray<string>
  readonly thresholds?: ReadonlyArray<Threshold>
  readonly noIngest?: true
  readonly check?: true
  readonly config?: string
  readonly baseUrl?: string
  readonly apiKey?: Redacted.Redacted
  readonly org?: string
  readonly local?: true
  readonly format?: "json" | "table"
  readonly json?: true
  readonly logFormat?: "text" | "json"
  readonly quiet?: true
  readonly verbose?: true
}

/**
 * One flag as it was given: under which of its names, with which value, and whether that value is only the next flag, for
 * want of a value.
 *
 * @since 0.1.0
 * @category models
 */
export interface GivenFlag {
  readonly name: string
  readonly value: string | undefined
  readonly valueIsFlag: boolean
}

/**
 * One flag: a `switch` takes no value, every other kind takes one (shown as `placeholder` in help). `read` adds it to the
 * flags read so far.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunFlag {
  readonly name: string
  readonly aliases: ReadonlyArray<string>
  readonly kind: "switch" | "slug" | "text" | "secret" | "url" | "path" | "integer" | "number" | "list" | "choice"
  readonly placeholder?: string
  readonly choices?: ReadonlyArray<string>
  readonly description: string
  readonly read: (given: GivenFlag, flags: RunFlags) => Either.Either<RunFlags, UsageError>
}

/**
 * Which flags of the bench file's own are allowed, and the value of `BENCHSDK_NO_INGEST`: `1` or `true` mean `--no-ingest`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ParseRunFlagsOptions {
  readonly customFlags: ReadonlyArray<string>
  /** Default {@link runFlagTable}. */
  readonly table?: ReadonlyArray<RunFlag>
  readonly noIngestEnv?: string | undefined
}

// -----------------------------------------------------------------------------
// kinds
// -----------------------------------------------------------------------------

interface Declaration {
  readonly name: string
  readonly aliases?: ReadonlyArray<string>
  readonly placeholder?: string
  readonly description: string
}

const flag = (
  kind: RunFlag["kind"],
  { aliases = [], ...declaration }: Declaration,
  read: (given: GivenFlag, flags: RunFlags) => RunFlags | undefined,
  refusal: (given: GivenFlag) => string
): RunFlag => ({
  ...declaration,
  aliases,
  kind,
  read: (given, flags) =>
    Either.fromNullable(read(given, flags), () => new UsageError({ detail: `${given.name} ${refusal(given)}` }))
})

const got = (given: GivenFlag): string => `(got "${given.value ?? ""}")`

const expectsValue = (): string => "expects a value"

const isBlank = (value: string | undefined): boolean => value === undefined || value.trim() === ""

/** The value, unless it is blank or only the next flag. */
const textOf = (given: GivenFlag): string | undefined =>
  given.valueIsFlag || isBlank(given.value) ? undefined : given.value

const switchFlag = (declaration: Declaration, patch: RunFlags): RunFlag =>
  flag(
    "switch",
    declaration,
    (given, flags) => (given.value === undefined ? { ...flags, ...patch } : undefined),
    (given) => `takes no value ${got(given)}`
  )

const textFlag = (
  kind: "text" | "secret" | "path",
  declaration: Declaration,
  patch: (value: string) => RunFlags
): RunFlag =>
  flag(
    kind,
    declaration,
    (given, flags) => {
      const value = textOf(given)
      return value === undefined ? undefined : { ...flags, ...patch(value) }
    },
    expectsValue
  )

const slugFlag = (declaration: Declaration, patch: (slug: string) => RunFlags): RunFlag =>
  flag(
    "slug",
    declaration,
    ({ value = "" }, flags) => (/^[a-z0-9][a-z0-9-]*$/.test(value) ? { ...flags, ...patch(value) } : undefined),
    (given) => `expects a lowercase benchmark slug ${got(given)}`
  )

const urlFlag = (declaration: Declaration, patch: (url: string) => RunFlags): RunFlag =>
  flag(
    "url",
    declaration,
    ({ value = "" }, flags) =>
      /^https?:\/\//i.test(value) && URL.canParse(value) ? { ...flags, ...patch(value) } : undefined,
    (given) => (textOf(given) === undefined ? expectsValue() : `expects an http or https URL ${got(given)}`)
  )

const numberFlag = (
  kind: "integer" | "number",
  declaration: Declaration,
  rule: { readonly pattern: RegExp; readonly accepts: (value: number) => boolean; readonly expected: string },
  patch: (value: number) => RunFlags
): RunFlag =>
  flag(
    kind,
    declaration,
    ({ value = "" }, flags) => {
      const number = Number(value)
      return rule.pattern.test(value) && rule.accepts(number) ? { ...flags, ...patch(number) } : undefined
    },
    (given) => (isBlank(given.value) ? expectsValue() : `expects ${rule.expected} ${got(given)}`)
  )

const positiveInteger = {
  pattern: /^\+?\d+(\.0+)?$/,
  accepts: (value: number) => value >= 1 && Number.isSafeInteger(value),
  expected: "an integer >= 1"
}

const nonNegativeNumber = {
  pattern: /^[+-]?(\d+\.?\d*|\.\d+)$/,
  accepts: (value: number) => value >= 0 && Number.isFinite(value),
  expected: "a number >= 0"
}

const choiceFlag = <const Choice extends string>(
  declaration: Declaration,
  choices: readonly [Choice, Choice],
  patch: (choice: Choice) => RunFlags
): RunFlag => ({
  ...flag(
    "choice",
    declaration,
    (given, flags) => {
      const choice = choices.find((candidate) => candidate === given.value)
      return choice === undefined ? undefined : { ...flags, ...patch(choice) }
    },
    (given) => `expects ${choices.map((choice) => `'${choice}'`).join(" or ")} ${got(given)}`
  ),
  choices
})

const listFlag = (
  declaration: Declaration,
  what: string,
  patch: (items: ReadonlyArray<string>, flags: RunFlags) => RunFlags
): RunFlag =>
  flag(
    "list",
    declaration,
    (given, flags) => {
      const items = (textOf(given) ?? "")
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "")
      return items.length === 0 ? undefined : { ...flags, ...patch(items, flags) }
    },
    () => `expects a comma-separated list of ${what}`
  )

const thresholdFlag: RunFlag = {
  name: "--threshold",
  aliases: [],
  kind: "text",
  placeholder: "CONDITION",
  description: 'Exit with 4 unless it holds, such as "ttiMs.p95 <= 250"; may be repeated.',
  read: (given, flags) => {
    const value = textOf(given)
    if (value === undefined) return Either.left(new UsageError({ detail: `${given.name} ${expectsValue()}` }))
    return Either.mapBoth(Gates.parse(value), {
      onLeft: ({ message }) => new UsageError({ detail: `${given.name}: ${message}` }),
      onRight: (threshold) => ({ ...flags, thresholds: [...(flags.thresholds ?? []), threshold] })
    })
  }
}

// -----------------------------------------------------------------------------
// table
// -----------------------------------------------------------------------------

/**
 * Every flag of `bench run`, in the order in which help lists them.
 *
 * @since 0.1.0
 * @category models
 */
export const runFlagTable: ReadonlyArray<RunFlag> = [
  textFlag("text", { name: "--shape", placeholder: "NAME", description: "Run this shape of the file." }, (shape) => ({
    shape
  })),
  listFlag(
    { name: "--provider", placeholder: "A,B", description: "Run only these participants; may be repeated." },
    "participants",
    (items, { providers = [] }) => ({ providers: [...providers, ...items] })
  ),
  numberFlag(
    "integer",
    { name: "--iterations", placeholder: "N", description: "Tasks per participant, or per phase." },
    positiveInteger,
    (iterations) => ({ iterations })
  ),
  numberFlag(
    "integer",
    { name: "--concurrency", placeholder: "N", description: "Tasks in flight at once." },
    positiveInteger,
    (concurrency) => ({ concurrency })
  ),
  numberFlag(
    "number",
    { name: "--stagger-delay-ms", placeholder: "MS", description: "Milliseconds between the starts of two tasks." },
    nonNegativeNumber,
    (staggerDelayMs) => ({ staggerDelayMs })
  ),
  choiceFlag(
    { name: "--group-by", placeholder: "GROUP", description: "Finish a participant first, or a round of all." },
    ["participant", "round"],
    (groupBy) => ({ groupBy })
  ),
  slugFlag(
    {
      name: "--benchmark",
      aliases: ["--slug"],
      placeholder: "SLUG",
      description: "Record under this benchmark instead of the file's."
    },
    (benchmark) => ({ benchmark })
  ),
  textFlag("text", { name: "--name", placeholder: "TEXT", description: "Name of the benchmark." }, (name) => ({
    name
  })),
  textFlag(
    "text",
    {
      name: "--run-key",
      placeholder: "KEY",
      description: "Join the run that has this key, or create it."
    },
    (runKey) => ({ runKey })
  ),
  numberFlag(
    "integer",
    {
      name: "--worker-pool",
      placeholder: "N",
      description: "Split each participant over N workers; every run with the same --run-key takes the next."
    },
    positiveInteger,
    (workerPool) => ({ workerPool })
  ),
  thresholdFlag,
  switchFlag(
    { name: "--no-ingest", aliases: ["--dry-run"], description: "Run and score, but store and send nothing." },
    { noIngest: true }
  ),
  switchFlag(
    { name: "--check", aliases: ["--validate"], description: "Check the file and its environment without running." },
    { check: true }
  ),
  textFlag(
    "path",
    { name: "--config", placeholder: "FILE", description: "Project defaults, instead of bench.config.ts." },
    (config) => ({ config })
  ),
  switchFlag(
    { name: "--local", description: "Record in the project's own store, not on a platform." },
    { local: true }
  ),
  urlFlag({ name: "--base-url", placeholder: "URL", description: "Platform to record on." }, (baseUrl) => ({
    baseUrl
  })),
  textFlag("secret", { name: "--api-key", placeholder: "KEY", description: "API key of the platform." }, (key) => ({
    apiKey: Redacted.make(key)
  })),
  textFlag("text", { name: "--org", placeholder: "SLUG", description: "Organization to record under." }, (org) => ({
    org
  })),
  choiceFlag(
    { name: "--format", placeholder: "FORMAT", description: "How results are printed." },
    ["json", "table"],
    (format) => ({ format })
  ),
  switchFlag({ name: "--json", description: "Print results as JSON on stdout." }, { json: true }),
  choiceFlag(
    {
      name: "--log-format",
      placeholder: "FORMAT",
      description: "How progress is printed on stderr: json is one event a line."
    },
    ["text", "json"],
    (logFormat) => ({ logFormat })
  ),
  switchFlag({ name: "--quiet", description: "Print results only, no progress." }, { quiet: true }),
  switchFlag({ name: "--verbose", description: "Print diagnostics in detail." }, { verbose: true })
]

const ofRun = (...names: ReadonlyArray<string>): ReadonlyArray<RunFlag> =>
  runFlagTable.filter(({ name }) => names.includes(name))

/**
 * Every flag of `bench worker`, in the order in which help lists them.
 *
 * @since 0.1.0
 * @category models
 */
export const workerFlagTable: ReadonlyArray<RunFlag> = [
  textFlag("text", { name: "--run", placeholder: "ID", description: "Run to take a worker of." }, (run) => ({ run })),
  textFlag(
    "text",
    { name: "--participant", placeholder: "NAME", description: "Participant to take a worker of." },
    (participant) => ({ participant })
  ),
  switchFlag(
    { name: "--forever", description: "Take one worker after another, and wait for more, until the run has ended." },
    { forever: true }
  ),
  ...ofRun("--concurrency", "--stagger-delay-ms", "--shape", "--benchmark", "--config"),
  ...ofRun("--local", "--base-url", "--api-key", "--org", "--format", "--json", "--log-format", "--quiet", "--verbose")
]

// -----------------------------------------------------------------------------
// parsing
// -----------------------------------------------------------------------------

/**
 * Reads flags, given as `--flag value` or `--flag=value`. Fails with a {@link UsageError} on the first value that does not
 * fit, else with one that names every flag (and stray word) that is neither known nor among `customFlags`. A flag of the
 * bench file's own takes the next argument as its value unless that is a flag; the file reads both from `process.argv`.
 *
 * A missing value is an error even where a flag follows (`--run-key --dry-run`); `--name=--odd` gives such a value on
 * purpose. Numbers are decimal: no exponent, hex, binary or blanks.
 *
 * @since 0.1.0
 * @category combinators
 */
export const parseRunFlags = (
  argv: ReadonlyArray<string>,
  options: ParseRunFlagsOptions
): Either.Either<RunFlags, UsageError> => {
  const unknown: Array<string> = []
  let flags: RunFlags = /^(1|true)$/i.test(options.noIngestEnv ?? "") ? { noIngest: true } : {}
  const flagsByName = byName(options.table)
  for (let i = 0; i < argv.length; i++) {
    const { inline, name } = splitArgument(argv[i] ?? "")
    const next = argv[i + 1]
    const known = flagsByName.get(name)
    if (known === undefined) {
      const custom = options.customFlags.includes(name)
      if (!custom) unknown.push(name)
      if (inline === undefined && next !== undefined && (custom || isFlag(name)) && !isFlag(next)) i++
      continue
    }
    const takesNext = known.kind !== "switch" && inline === undefined && next !== undefined
    if (takesNext) i++
    const read = known.read({ name, value: takesNext ? next : inline, valueIsFlag: takesNext && isFlag(next) }, flags)
    if (Either.isLeft(read)) return read
    flags = read.right
  }
  return unknown.length === 0
    ? Either.right(flags)
    : Either.left(new UsageError({ detail: `Unknown flag(s): ${unknown.join(", ")}` }))
}

/**
 * Finds the bench file among the arguments of `bench run` (or another command, with its `table`), wherever it stands. Of the words that are not the value of a
 * known flag it takes the first that looks like a module and does not follow an unknown flag, else the first after an
 * unknown flag that looks like one (`--rows x.bench.ts`), else the first that follows no unknown flag. `rest` is
 * everything else, in order, for {@link parseRunFlags}.
 *
 * @since 0.1.0
 * @category combinators
 */
export const splitRunArgv = (
  argv: ReadonlyArray<string>,
  table: ReadonlyArray<RunFlag> = runFlagTable
): { readonly file: string | undefined; readonly rest: ReadonlyArray<string> } => {
  const flagsByName = byName(table)
  const words: Array<number> = []
  const possibleValues: Array<number> = []
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? ""
    if (!isFlag(argument)) {
      if (argument !== "") words.push(i)
      continue
    }
    const { inline, name } = splitArgument(argument)
    const known = flagsByName.get(name)
    const next = argv[i + 1]
    if (known?.kind === "switch" || inline !== undefined || next === undefined || isFlag(next)) continue
    if (known === undefined) possibleValues.push(i + 1)
    i++
  }
  const looksLikeModule = (index: number) => /\.[cm]?[jt]s$/.test(argv[index] ?? "")
  const index = words.find(looksLikeModule) ?? possibleValues.find(looksLikeModule) ?? words[0]
  return index === undefined
    ? { file: undefined, rest: argv }
    : { file: argv[index], rest: argv.filter((_, other) => other !== index) }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const byName = (table: ReadonlyArray<RunFlag> = runFlagTable): ReadonlyMap<string, RunFlag> =>
  new Map(table.flatMap((entry) => [entry.name, ...entry.aliases].map((name) => [name, entry] as const)))

// A negative number and a lone dash are values.
const isFlag = (argument: string): boolean => /^-(-|[^\d.-])/.test(argument)

const splitArgument = (argument: string): { readonly name: string; readonly inline: string | undefined } => {
  const equals = argument.indexOf("=")
  return equals === -1
    ? { name: argument, inline: undefined }
    : { name: argument.slice(0, equals), inline: argument.slice(equals + 1) }
}
