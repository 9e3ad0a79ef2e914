/**
 * Help that is written rather than generated: the overview, and the flags of `run` and `check`.
 */
import { acceptedFlags } from "./runFlags.js"
import { table } from "./text.js"

const indent = (text: string): string => text.replace(/^(?=.)/gm, "  ")

const commandRows = [
  ["run FILE", "Run a bench file and record the results."],
  ["check FILE", "Check a bench file and its environment without running it."],
  ["results [SLUG]", "Show a run's results and its scores."],
  ["iterations [SLUG]", "List every task or step of a run."],
  ["runs list [SLUG]", "List runs, newest first."],
  ["runs show [RUN]", "Show a run with its participants and workers."],
  ["benchmarks list", "List the benchmarks that are recorded."]
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

const flagRows = acceptedFlags.map(({ aliases, choices, description, kind, name, placeholder }) => [
  [[name, ...aliases].join(", "), placeholders[kind] ?? choices?.join("|") ?? placeholder ?? ""].join(" ").trim(),
  description
])

export const runUsage = (command: "run" | "check"): string =>
  [
    command === "run"
      ? "Usage: bench run FILE [FLAGS]\n\nRuns a bench file and records the results in the project's store, .bench/bench.db."
      : "Usage: bench check FILE [FLAGS]\n\nChecks what `bench run` with the same flags would need, prints a JSON report, and runs nothing.",
    `Flags go before or after FILE, as \`--flag value\` or \`--flag=value\`:\n\n${indent(
      table([{ title: "" }, { title: "" }], flagRows).trimStart()
    )}`,
    "A file can declare flags of its own with customCliFlags.",
    "Exit codes: 0 done, also when no participant can run here; 1 the run failed, or no task succeeded; 130 and 143 interrupted."
  ].join("\n\n")
