/**
 * The commands of `bench`, as help, completions and parsing see them. What a command needs is loaded when it is chosen.
 */
import * as Args from "@effect/cli/Args"
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { acceptedFlags } from "./runFlags.js"

// -----------------------------------------------------------------------------
// run, check
// -----------------------------------------------------------------------------

/**
 * `run` and `check` take the arguments as they stand, after a `--`: flags of the file's own are known only once the file
 * is loaded. Their options are declared for help and completions.
 */
export const rawCommands: ReadonlySet<string> = new Set(["run", "check"])

const runOptions = Object.fromEntries(
  acceptedFlags.map(({ aliases, choices, description, kind, name }) => {
    const declared =
      kind === "switch"
        ? Options.boolean(name.slice(2))
        : choices === undefined
          ? Options.text(name.slice(2))
          : Options.choice(name.slice(2), choices)
    const withAliases = aliases.reduce(
      (option: Options.Options<unknown>, alias) => Options.withAlias(option, alias.slice(2)),
      declared
    )
    return [name, Options.optional(Options.withDescription(withAliases, description))]
  })
)

const rawArguments = Args.text({ name: "FILE" }).pipe(
  Args.withDescription("The bench file, before or after the flags."),
  Args.repeated
)

const runCommand = Command.make("run", { ...runOptions, argv: rawArguments }, ({ argv }) =>
  Effect.flatMap(
    Effect.promise(() => import("./run.js")),
    ({ run }) => run(argv)
  )
).pipe(Command.withDescription("Run a bench file and record the results."))

const checkCommand = Command.make("check", { ...runOptions, argv: rawArguments }, ({ argv }) =>
  Effect.flatMap(
    Effect.promise(() => import("./run.js")),
    ({ run }) => run([...argv, "--check"])
  )
).pipe(Command.withDescription("Check a bench file and its environment without running it; prints a JSON report."))

// -----------------------------------------------------------------------------
// queries
// -----------------------------------------------------------------------------

const output = {
  json: Options.boolean("json").pipe(Options.withDescription("Print JSON on stdout.")),
  format: Options.choice("format", ["json", "table"]).pipe(
    Options.withDescription("How results are printed."),
    Options.optional
  )
}

const wantsJson = (options: { readonly json: boolean; readonly format: Option.Option<string> }): boolean =>
  options.json || Option.contains(options.format, "json")

/** Unlike `Options.integer`, names the flag when the value is not a number. */
const integer = (name: string, expected: string, accepts: (n: number) => boolean): Options.Options<number> =>
  Options.text(name).pipe(
    Options.withPseudoName("integer"),
    Options.filterMap(
      (text) => Option.liftPredicate(Number(text), (n) => /^\d+$/.test(text) && accepts(n)),
      `--${name} expects ${expected}`
    )
  )

const page = {
  limit: integer("limit", "an integer from 1 to 500", (n) => n >= 1 && n <= 500).pipe(
    Options.withDescription("Entries to list, 1 to 500."),
    Options.withDefault(50)
  ),
  offset: integer("offset", "an integer >= 0", Number.isSafeInteger).pipe(
    Options.withDescription("Entries to leave out first."),
    Options.withDefault(0)
  )
}

const slug = Args.text({ name: "SLUG" }).pipe(Args.withDescription("The benchmark's slug."), Args.optional)

const runOption = Options.text("run").pipe(
  Options.withDescription("last (default), last~N, or the beginning of a run's id."),
  Options.optional
)

const store = Effect.promise(() => import("./project.js"))

/** Runs a query on the embedded store. */
const query = <A, E, R>(load: () => Promise<A>, use: (module: A) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const project = yield* store
    const module = yield* Effect.promise(load)
    yield* Effect.provide(use(module), project.layerStore("read"))
  })

const resultsCommand = Command.make("results", { slug, run: runOption, ...output }, (options) =>
  query(
    () => import("./results.js"),
    ({ show }) =>
      show({
        benchmark: Option.getOrUndefined(options.slug),
        run: Option.getOrUndefined(options.run),
        json: wantsJson(options)
      })
  )
).pipe(Command.withDescription("Show a run's results and its scores."))

const iterationsCommand = Command.make(
  "iterations",
  {
    slug,
    run: runOption,
    type: Options.choice("type", ["tasks", "steps"]).pipe(
      Options.withDescription("What to list."),
      Options.withDefault("tasks")
    ),
    participant: Options.text("participant").pipe(
      Options.withDescription("Only this participant's."),
      Options.optional
    ),
    steps: Options.text("steps").pipe(
      Options.withDescription("Only these steps, separated by commas; implies --type steps."),
      Options.optional
    ),
    ...output
  },
  (options) =>
    query(
      () => import("./iterations.js"),
      ({ show }) => {
        const steps = Option.getOrUndefined(options.steps)
          ?.split(",")
          .map((step) => step.trim())
          .filter((step) => step !== "")
        return show({
          benchmark: Option.getOrUndefined(options.slug),
          run: Option.getOrUndefined(options.run),
          type: steps === undefined ? (options.type === "steps" ? "steps" : "tasks") : "steps",
          participant: Option.getOrUndefined(options.participant),
          steps,
          json: wantsJson(options)
        })
      }
    )
).pipe(Command.withDescription("List every task or step of a run."))

const runsListCommand = Command.make("list", { slug, ...page, ...output }, ({ limit, offset, slug, ...options }) =>
  query(
    () => import("./runs.js"),
    ({ list }) => list({ benchmark: Option.getOrUndefined(slug), limit, offset, json: wantsJson(options) })
  )
).pipe(Command.withDescription("List runs, newest first."))

const runsShowCommand = Command.make(
  "show",
  {
    run: Args.text({ name: "RUN" }).pipe(
      Args.withDescription("last (default), last~N, or the beginning of a run's id."),
      Args.optional
    ),
    ...output
  },
  ({ run, ...options }) =>
    query(
      () => import("./runs.js"),
      ({ show }) => show({ run: Option.getOrUndefined(run), json: wantsJson(options) })
    )
).pipe(Command.withDescription("Show a run with its participants and workers."))

const runsCommand = Command.make("runs").pipe(
  Command.withDescription("Runs that are recorded."),
  Command.withSubcommands([runsListCommand, runsShowCommand])
)

const benchmarksListCommand = Command.make("list", { ...page, ...output }, ({ limit, offset, ...options }) =>
  query(
    () => import("./benchmarks.js"),
    ({ list }) => list({ limit, offset, json: wantsJson(options) })
  )
).pipe(Command.withDescription("List benchmarks, newest first."))

const benchmarksCommand = Command.make("benchmarks").pipe(
  Command.withDescription("Benchmarks that are recorded."),
  Command.withSubcommands([benchmarksListCommand])
)

export const bench = Command.make("bench").pipe(
  Command.withDescription("Benchmarks as Effect programs: run them, record them, compare what they found."),
  Command.withSubcommands([runCommand, checkCommand, resultsCommand, runsCommand, benchmarksCommand, iterationsCommand])
)

const helpOf = <Name extends string, R, E, A>(command: Command.Command<Name, R, E, A>): string =>
  HelpDoc.toAnsiText(Command.getHelp(command, CliConfig.defaultConfig))

/** The help of each command whose flags are checked against it. */
export const help: { readonly [command: string]: (() => string) | undefined } = {
  results: () => helpOf(resultsCommand),
  iterations: () => helpOf(iterationsCommand),
  "runs list": () => helpOf(runsListCommand),
  "runs show": () => helpOf(runsShowCommand),
  "benchmarks list": () => helpOf(benchmarksListCommand)
}
