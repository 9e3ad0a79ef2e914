/**
 * The commands that show what is recorded.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import { destination, integer, output, page, query, runOption, slug, wantsJson } from "./options.js"

export const resultsCommand = Command.make("results", { slug, run: runOption, ...output, ...destination }, (options) =>
  query(
    options,
    () => import("./results.js"),
    ({ show }) =>
      show({
        benchmark: Option.getOrUndefined(options.slug),
        run: Option.getOrUndefined(options.run),
        json: wantsJson(options)
      })
  )
).pipe(Command.withDescription("Show a run's results and its scores."))

export const iterationsCommand = Command.make(
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
    ...output,
    ...destination
  },
  (options) =>
    query(
      options,
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

export const runsListCommand = Command.make(
  "list",
  { slug, ...page, ...output, ...destination },
  ({ limit, offset, slug, ...options }) =>
    query(
      options,
      () => import("./runs.js"),
      ({ list }) => list({ benchmark: Option.getOrUndefined(slug), limit, offset, json: wantsJson(options) })
    )
).pipe(Command.withDescription("List runs, newest first."))

export const runsShowCommand = Command.make(
  "show",
  {
    run: Args.text({ name: "RUN" }).pipe(
      Args.withDescription("last (default), last~N, or the beginning of a run's id."),
      Args.optional
    ),
    ...output,
    ...destination
  },
  ({ run, ...options }) =>
    query(
      options,
      () => import("./runs.js"),
      ({ show }) => show({ run: Option.getOrUndefined(run), json: wantsJson(options) })
    )
).pipe(Command.withDescription("Show a run with its participants and workers."))

export const runsCommand = Command.make("runs").pipe(
  Command.withDescription("Runs that are recorded."),
  Command.withSubcommands([runsListCommand, runsShowCommand])
)

export const benchmarksListCommand = Command.make(
  "list",
  { ...page, ...output, ...destination },
  ({ limit, offset, ...options }) =>
    query(
      options,
      () => import("./benchmarks.js"),
      ({ list }) => list({ limit, offset, json: wantsJson(options) })
    )
).pipe(Command.withDescription("List benchmarks, newest first."))

export const benchmarksCommand = Command.make("benchmarks").pipe(
  Command.withDescription("Benchmarks that are recorded."),
  Command.withSubcommands([benchmarksListCommand])
)

export const logsCommand = Command.make(
  "logs",
  {
    slug,
    run: runOption,
    participant: Options.text("participant").pipe(
      Options.withDescription("Only this participant's."),
      Options.optional
    ),
    worker: integer("worker", "a worker's number, from 1", (n) => n >= 1).pipe(
      Options.withDescription("Only this worker's: its number, from 1."),
      Options.optional
    ),
    maxLines: integer("max-lines", "an integer >= 1", (n) => n >= 1 && Number.isSafeInteger(n)).pipe(
      Options.withDescription("The last lines of each log, at most so many."),
      Options.withDefault(1000)
    ),
    follow: Options.boolean("follow").pipe(Options.withDescription("Go on with new lines until the run has ended.")),
    ...destination
  },
  ({ follow, maxLines, participant, run, slug, worker, ...options }) =>
    query(
      options,
      () => import("./logs.js"),
      ({ show }) =>
        show({
          benchmark: Option.getOrUndefined(slug),
          run: Option.getOrUndefined(run),
          participant: Option.getOrUndefined(participant),
          worker: Option.getOrUndefined(worker),
          maxLines,
          follow
        })
    )
).pipe(Command.withDescription("Show the logs of a run's workers."))

export const artifactsListCommand = Command.make(
  "list",
  { slug, run: runOption, ...output, ...destination },
  ({ run, slug, ...options }) =>
    query(
      options,
      () => import("./artifacts.js"),
      ({ list }) =>
        list({ benchmark: Option.getOrUndefined(slug), run: Option.getOrUndefined(run), json: wantsJson(options) })
    )
).pipe(Command.withDescription("List the files that a run's workers left, newest first."))

export const artifactsGetCommand = Command.make(
  "get",
  {
    id: Args.text({ name: "ID" }).pipe(Args.withDescription("The artifact's id, or the beginning of it.")),
    run: runOption,
    out: Options.text("out").pipe(
      Options.withPseudoName("path"),
      Options.withDescription(
        "File or folder to write, - for stdout; default: a file here, called as the artifact is."
      ),
      Options.optional
    ),
    force: Options.boolean("force").pipe(Options.withDescription("Replace a file that exists.")),
    gunzip: Options.boolean("gunzip").pipe(Options.withDescription("Decompress what was uploaded compressed.")),
    ...destination
  },
  ({ force, gunzip, id, out, run, ...options }) =>
    query(
      options,
      () => import("./artifacts.js"),
      ({ get }) => get({ id, run: Option.getOrUndefined(run), out: Option.getOrUndefined(out), force, gunzip })
    )
).pipe(Command.withDescription("Download one of those files."))

export const artifactsCommand = Command.make("artifacts").pipe(
  Command.withDescription("Files that workers left: logs, system metrics, and more."),
  Command.withSubcommands([artifactsListCommand, artifactsGetCommand])
)

export const exportCommand = Command.make(
  "export",
  {
    slug,
    run: runOption,
    out: Options.text("out").pipe(
      Options.withPseudoName("file"),
      Options.withDescription("File to write or replace; default: stdout."),
      Options.optional
    ),
    format: Options.choice("format", ["json", "csv", "ndjson"]).pipe(
      Options.withDescription("Default: what the file's name ends with, else json."),
      Options.optional
    ),
    type: Options.choice("type", ["tasks", "steps"]).pipe(
      Options.withDescription("What to write."),
      Options.withDefault("tasks")
    ),
    ...destination
  },
  ({ format, out, run, slug, type, ...options }) =>
    query(
      options,
      () => import("./export.js"),
      ({ exportRun }) =>
        exportRun({
          benchmark: Option.getOrUndefined(slug),
          run: Option.getOrUndefined(run),
          out: Option.getOrUndefined(out),
          format: Option.getOrUndefined(format),
          type: type === "steps" ? "steps" : "tasks"
        })
    )
).pipe(Command.withDescription("Write every task or step of a run as JSON, NDJSON or CSV."))

export const reportCommand = Command.make(
  "report",
  {
    run: Args.text({ name: "RUN" }).pipe(
      Args.withDescription("last (default), last~N, or the beginning of a run's id."),
      Args.optional
    ),
    benchmark: Options.text("benchmark").pipe(
      Options.withPseudoName("slug"),
      Options.withDescription("Only runs of this benchmark are meant."),
      Options.optional
    ),
    out: Options.text("out").pipe(
      Options.withPseudoName("file"),
      Options.withDescription("File to write or replace, - for stdout; default: stdout, and SLUG-ID.html for a page."),
      Options.optional
    ),
    format: Options.choice("format", ["html", "md", "json", "csv", "junit"]).pipe(
      Options.withDescription("Default: what the file's name ends with, else html."),
      Options.optional
    ),
    ...destination
  },
  ({ benchmark, format, out, run, ...options }) =>
    query(
      options,
      () => import("./report.js"),
      ({ formats, report }) =>
        report({
          run: Option.getOrUndefined(run),
          benchmark: Option.getOrUndefined(benchmark),
          out: Option.getOrUndefined(out),
          format: Option.getOrUndefined(Option.map(format, (name) => formats[name]))
        })
    )
).pipe(Command.withDescription("Write what a run found: a page to look at, or Markdown, JSON, CSV or JUnit XML."))
