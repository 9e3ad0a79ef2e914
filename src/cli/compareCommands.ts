/**
 * The commands that compare runs, and those that keep what to compare with.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import { destination, output, query, wantsJson } from "./options.js"

const benchmark = Options.text("benchmark").pipe(
  Options.withDescription("Of which benchmark `last` is meant."),
  Options.optional
)

export const compareCommand = Command.make(
  "compare",
  {
    runs: Args.text({ name: "RUN" }).pipe(
      Args.withDescription(
        "The runs: the one before, then the one after; each last, last~N, or the beginning of an id."
      ),
      Args.repeated
    ),
    baseline: Options.text("baseline").pipe(
      Options.withDescription("Compare with this saved baseline, or with `current`."),
      Options.optional
    ),
    participants: Options.text("participants").pipe(
      Options.withDescription("Two participants of one run, separated by a comma."),
      Options.optional
    ),
    benchmark,
    "fail-on": Options.text("fail-on").pipe(
      Options.withDescription('Exit with 4 when it holds, such as "ttiMs.p95 > +10%"; may be repeated.'),
      Options.repeated
    ),
    json: output.json,
    format: Options.choice("format", ["table", "markdown", "json"]).pipe(
      Options.withDescription("How the comparison is printed."),
      Options.optional
    ),
    ...destination
  },
  (options) =>
    query(
      options,
      () => import("./compare.js"),
      ({ compare }) =>
        compare({
          runs: options.runs,
          baseline: Option.getOrUndefined(options.baseline),
          participants: Option.getOrUndefined(options.participants),
          benchmark: Option.getOrUndefined(options.benchmark),
          failOn: options["fail-on"],
          format: options.json ? "json" : Option.getOrElse(options.format, () => "table" as const)
        })
    )
).pipe(Command.withDescription("Compare two runs, or two participants of one."))

const name = Args.text({ name: "NAME" }).pipe(Args.withDescription("What the baseline is called."))

export const baselineSaveCommand = Command.make(
  "save",
  {
    name,
    run: Args.text({ name: "RUN" }).pipe(
      Args.withDescription("last (default), last~N, or the beginning of a run's id."),
      Args.optional
    ),
    benchmark,
    ...destination
  },
  (options) =>
    query(
      options,
      () => import("./baseline.js"),
      ({ save }) =>
        save({
          name: options.name,
          run: Option.getOrUndefined(options.run),
          benchmark: Option.getOrUndefined(options.benchmark)
        })
    )
).pipe(Command.withDescription("Save a run as a baseline to compare with."))

export const baselineListCommand = Command.make("list", { ...output, ...destination }, (options) =>
  query(
    options,
    () => import("./baseline.js"),
    ({ list }) => list({ json: wantsJson(options) })
  )
).pipe(Command.withDescription("List the baselines of the project."))

export const baselineUseCommand = Command.make("use", { name, ...destination }, (options) =>
  query(
    options,
    () => import("./baseline.js"),
    ({ use }) => use(options.name)
  )
).pipe(Command.withDescription("Choose the baseline that `current` means."))

export const baselineRemoveCommand = Command.make("remove", { name, ...destination }, (options) =>
  query(
    options,
    () => import("./baseline.js"),
    ({ remove }) => remove(options.name)
  )
).pipe(Command.withDescription("Forget a baseline; its run is kept."))

export const baselineCommand = Command.make("baseline").pipe(
  Command.withDescription("Runs to compare with, by name."),
  Command.withSubcommands([baselineSaveCommand, baselineListCommand, baselineUseCommand, baselineRemoveCommand])
)
