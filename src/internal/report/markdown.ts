/** A run as GitHub-flavoured Markdown, for a comment or a file. */
import type { Verdict } from "../../Gates.js"
import type { RunAnalysis } from "../analysis/model.js"
import { hasSamples, measuresOf } from "./measures.js"
import { moment } from "./numbers.js"
import { plain } from "./plainText.js"
import type { TableView } from "./tables.js"
import {
  cellText,
  environmentOf,
  failureTable,
  groupTable,
  hasFewMark,
  metricTable,
  rankingTable,
  scoreTable,
  stepTable
} from "./tables.js"
import { factsOf, failureText, fewNote, methodOf, rankedBy, scoringRules, titleOf, verdictOf } from "./words.js"

export interface MarkdownOptions {
  readonly generatedAt: string | undefined
  readonly gates: ReadonlyArray<Verdict>
}

export const markdown = (analysis: RunAnalysis, { gates, generatedAt }: MarkdownOptions): string => {
  const ranking = rankingTable(analysis)
  const statistics = measuresOf(analysis)
    .filter(({ info }) => hasSamples(analysis, info.key))
    .map((measure) => metricTable(analysis, measure))
  const steps = stepTable(analysis)
  const score = scoreTable(analysis)
  const groups = groupTable(analysis)
  const failures = failureTable(analysis)
  const few = (tables: ReadonlyArray<TableView | undefined>): ReadonlyArray<string> =>
    hasFewMark(tables) ? [inline(fewNote)] : []
  const shared = analysis.participants.some(({ tied }) => tied)
    ? [inline("= Shared rank: these samples do not tell them apart.")]
    : []
  const blocks = [
    `# ${inline(titleOf(analysis))}`,
    `**${inline(verdictOf(analysis))}**`,
    `Ranked by ${inline(rankedBy(analysis))}.`,
    table(ranking),
    ...shared,
    ...few([ranking]),
    ...(gates.length === 0
      ? []
      : [
          "## Gates",
          gates.map(({ passed, text }) => `- ${passed ? "✓" : "✗"} ${inline(plain(text, 400))}`).join("\n")
        ]),
    ...(analysis.warnings.length === 0
      ? []
      : [
          "## What to know about these numbers",
          analysis.warnings.map(({ text }) => `- ${inline(plain(text, 600))}`).join("\n")
        ]),
    ...(steps === undefined ? [] : ["## Steps", `${inline(steps.caption)}:`, table(steps), ...few([steps])]),
    ...(score === undefined && groups === undefined
      ? []
      : [
          "## How the score is made",
          scoringRules(analysis)
            .map((rule) => `- ${inline(rule)}`)
            .join("\n"),
          ...(score === undefined ? [] : [table(score)]),
          ...(groups === undefined ? [] : [`${inline(groups.caption)}:`, table(groups)])
        ]),
    "## Failures",
    inline(failureText(analysis)),
    ...(failures === undefined ? [] : [table(failures)]),
    ...(statistics.length === 0
      ? []
      : [
          "## Statistics",
          ...statistics.flatMap((view) => [`### ${inline(view.caption)}`, table(view)]),
          ...few(statistics)
        ]),
    "## Run and environment",
    facts([
      ...factsOf(analysis),
      ...environmentOf(analysis),
      ...(generatedAt === undefined ? [] : [["Report made", moment(plain(generatedAt, 40))] as const])
    ]),
    "## How this was computed",
    methodOf(analysis)
      .map((line) => `- ${inline(line)}`)
      .join("\n")
  ]
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`
}

/**
 * Text that is nothing but text: what Markdown or HTML would read is escaped, and what GitHub would turn into a link
 * (addresses, mentions, numbers of issues) is taken apart by a character that is not seen.
 */
export const inline = (text: string): string =>
  plain(text, 2000)
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/[\\`*_[\]|~$]/g, "\\$&")
    .replace(/^[-+#=]/, "\\$&")
    .replace(/^(\d+)([.)])(?=\s|$)/, "$1\\$2")
    .replace(/@|#(?=\d)|\bGH-(?=\d)|:(?=\/\/)|\bwww(?=\.)/gi, `$&${unseen}`)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Word joiner. */
const unseen = "\u2060"

const table = ({ columns, rows }: TableView): string => {
  const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
  return [
    line(columns.map(({ title }) => inline(title))),
    line(columns.map(({ align }) => (align === "right" ? "---:" : "---"))),
    ...rows.map((row) => line(row.map((cell) => inline(cellText(cell)))))
  ].join("\n")
}

const facts = (entries: ReadonlyArray<readonly [name: string, value: string]>): string =>
  entries.map(([name, value]) => `- ${inline(name)}: ${inline(value)}`).join("\n")
