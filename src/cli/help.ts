/**
 * Help that is written rather than generated: the overview, and the flags of `run` and `check`.
 */
import type { RunFlag } from "./runFlags.js"
import { runFlagTable, workerFlagTable } from "./runFlags.js"
import { table } from "./text.js"

const indent = (text: string): string => text.replace(/^(?=.)/gm, "  ")

const commandRows = [
  ["run FILE", "Run a bench file and record the results."],
  ["check FILE", "Check a bench file and its environment without running it."],
  ["worker FILE", "Take workers of a run that was started elsewhere."],
  ["results [SLUG]", "Show a run's results and its scores."],
  ["iterations [SLUG]", "List every task or step of a run."],
  ["runs list [SLUG]", "List runs, newest first."],
  ["runs show [RUN]", "Show a run with its participants and workers."],
  ["benchmarks list", "List the benchmarks that are recorded."],
  ["logs [SLUG]", "Show the logs of a run's workers."],
  ["artifacts list [SLUG]", "List the files that a run's workers left."],
  ["artifacts get ID", "Download one of those files."],
  ["export [SLUG]", "Write every task or step of a run as JSON, NDJSON or CSV."],
  ["compare RUN RUN", "Compare two runs; also: --baseline NAME, --participants A,B."],
  ["baseline save NAME", "Save a run to compare with; also: baseline list, use, remove."],
  ["push [RUN]", "Send results that could not be delivered when they were made."],
  ["auth login", "Sign in to a platform, in the browser or with a key."],
  ["auth logout", "Forget what was saved by signing in."],
  ["auth status", "Show who is signed in, to which platform."],
  ["org list", "List your organizations on the platform."],
  ["org use SLUG", "Choose the organization to record under."],
  ["serve", "Serve a platform that machines record their runs on."],
  ["serve keys create", "Make an API key for it; also: keys list, keys revoke PREFIX."],
  ["serve orgs create SLUG", "Make an organization on it; also: orgs list."],
  ["serve prune", "Remove runs that are older than asked."]
]

export const overview = (version: string): string =>
  [
    `bench ${version} — benchmarks as Effect programs: run them, record them, compare what they found.`,
    `Usage: bench COMMAND\n\n${indent(table([{ title: "" }, { title: "" }], commandRows).trimStart())}`,
    `Where a RUN is named, \`last\` (the default), \`last~N\` and the beginning of an id work.`,
    `bench COMMAND --help shows a command's flags; bench --completions bash|zsh|fish prints a completion script.`
  ].join("\n\n")

/** The usage of a command that only reads, before what is generated from its declaration. */
export const queryUsage = (command: string, generated: string): string => {
  const row = commandRows.find(([usage = ""]) => usage.replace(/ \[.*/, "") === command)
  return `Usage: bench ${row?.[0] ?? command} [FLAGS]\n\n${generated}`
}

const placeholders: { readonly [kind: string]: string | undefined } = { switch: "" }

const flagRows = (flags: ReadonlyArray<RunFlag>) =>
  flags.map(({ aliases, choices, description, kind, name, placeholder }) => [
    [[name, ...aliases].join(", "), placeholders[kind] ?? choices?.join("|") ?? placeholder ?? ""].join(" ").trim(),
    description
  ])

const intros = {
  run: "Usage: bench run FILE [FLAGS]\n\nRuns a bench file and records the results: on the platform you are signed in to, else in the project's store,\n.bench/bench.db.",
  check:
    "Usage: bench check FILE [FLAGS]\n\nChecks what `bench run` with the same flags would need, prints a JSON report, and runs nothing.",
  worker:
    "Usage: bench worker FILE --run ID --participant NAME [FLAGS]\n\nTakes the next worker of a run that was started elsewhere, runs its tasks and closes it. When no worker is left it says\nso and ends well."
}

export const runUsage = (command: keyof typeof intros): string =>
  [
    intros[command],
    `Flags go before or after FILE, as \`--flag value\` or \`--flag=value\`:\n\n${indent(
      table([{ title: "" }, { title: "" }], flagRows(command === "worker" ? workerFlagTable : runFlagTable)).trimStart()
    )}`,
    "A file can declare flags of its own with customCliFlags.",
    "Exit codes: 0 done, also when no participant can run here; 1 the run failed, or no task succeeded; 2 the platform does not\ntake the credentials; 4 a threshold is not kept; 130 and 143 interrupted."
  ].join("\n\n")
