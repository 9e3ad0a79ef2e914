/**
 * The commands of `bench`, as help, completions and parsing see them. What a command needs is loaded when it is chosen.
 */
import * as Args from "@effect/cli/Args"
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Compare from "./compareCommands.js"
import * as Delivery from "./deliveryCommands.js"
import * as Queries from "./queryCommands.js"
import type { RunFlag } from "./runFlags.js"
import { runFlagTable, workerFlagTable } from "./runFlags.js"
import * as Serve from "./serveCommands.js"

// -----------------------------------------------------------------------------
// run, check
// -----------------------------------------------------------------------------

/**
 * These take the arguments as they stand, after a `--`: flags of the file's own are known only once the file is loaded.
 * Their options are declared for help and completions.
 */
export const rawCommands: ReadonlySet<string> = new Set(["run", "check", "worker"])

const declare = (table: ReadonlyArray<RunFlag>) =>
  Object.fromEntries(
    table.map(({ aliases, choices, description, kind, name }) => {
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

const runOptions = declare(runFlagTable)

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

const workerCommand = Command.make("worker", { ...declare(workerFlagTable), argv: rawArguments }, ({ argv }) =>
  Effect.flatMap(
    Effect.promise(() => import("./worker.js")),
    ({ worker }) => worker(argv)
  )
).pipe(Command.withDescription("Take workers of a run that was started elsewhere, and run their tasks."))

export const bench = Command.make("bench").pipe(
  Command.withDescription("Benchmarks as Effect programs: run them, record them, compare what they found."),
  Command.withSubcommands([
    runCommand,
    checkCommand,
    workerCommand,
    Queries.resultsCommand,
    Queries.iterationsCommand,
    Queries.runsCommand,
    Queries.benchmarksCommand,
    Queries.logsCommand,
    Queries.artifactsCommand,
    Queries.exportCommand,
    Queries.reportCommand,
    Compare.compareCommand,
    Compare.baselineCommand,
    Delivery.pushCommand,
    Delivery.authCommand,
    Delivery.orgCommand,
    Serve.serveCommand
  ])
)

const helpOf = <Name extends string, R, E, A>(command: Command.Command<Name, R, E, A>): string =>
  HelpDoc.toAnsiText(Command.getHelp(command, CliConfig.defaultConfig))

/** The help of each command whose flags are checked against it. */
export const help: { readonly [command: string]: (() => string) | undefined } = {
  results: () => helpOf(Queries.resultsCommand),
  iterations: () => helpOf(Queries.iterationsCommand),
  "runs list": () => helpOf(Queries.runsListCommand),
  "runs show": () => helpOf(Queries.runsShowCommand),
  "benchmarks list": () => helpOf(Queries.benchmarksListCommand),
  logs: () => helpOf(Queries.logsCommand),
  "artifacts list": () => helpOf(Queries.artifactsListCommand),
  "artifacts get": () => helpOf(Queries.artifactsGetCommand),
  export: () => helpOf(Queries.exportCommand),
  report: () => helpOf(Queries.reportCommand),
  compare: () => helpOf(Compare.compareCommand),
  "baseline save": () => helpOf(Compare.baselineSaveCommand),
  "baseline list": () => helpOf(Compare.baselineListCommand),
  "baseline use": () => helpOf(Compare.baselineUseCommand),
  "baseline remove": () => helpOf(Compare.baselineRemoveCommand),
  push: () => helpOf(Delivery.pushCommand),
  "auth login": () => helpOf(Delivery.loginCommand),
  "auth logout": () => helpOf(Delivery.logoutCommand),
  "auth status": () => helpOf(Delivery.statusCommand),
  "org list": () => helpOf(Delivery.orgListCommand),
  "org use": () => helpOf(Delivery.orgUseCommand),
  serve: () => helpOf(Serve.serveAloneCommand),
  "serve keys create": () => helpOf(Serve.keysCreateCommand),
  "serve keys list": () => helpOf(Serve.keysListCommand),
  "serve keys revoke": () => helpOf(Serve.keysRevokeCommand),
  "serve orgs create": () => helpOf(Serve.orgsCreateCommand),
  "serve orgs list": () => helpOf(Serve.orgsListCommand),
  "serve prune": () => helpOf(Serve.pruneCommand)
}
