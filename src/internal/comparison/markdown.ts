/** A comparison as GitHub-flavoured Markdown, for a comment on a pull request: what changed in front, everything folded. */
import type { Comparison } from "../../Comparison.js"
import { inline } from "../report/markdown.js"
import { plain } from "../report/plainText.js"
import type { Finding } from "./conditions.js"
import type { Row } from "./words.js"
import { changeColumns, changeRow, method, successColumns, successesToShow, successRow, summary } from "./words.js"

export const markdown = (comparison: Comparison, findings: ReadonlyArray<Finding>): string => {
  const changes = comparison.changes.map((change) => changeRow(change))
  const successes = successesToShow(comparison).map(successRow)
  const shown = changes.filter(({ verdict }) => changed.has(verdict))
  const { baseline, candidate } = comparison
  const title =
    baseline.runId === candidate.runId
      ? `${cell(candidate.title)} compared with ${cell(baseline.title)}`
      : `${cell(candidate.title)}: run ${candidate.runId.slice(0, 8)} compared with ${baseline.runId.slice(0, 8)}`
  const blocks = [
    `### ${title}`,
    ...findings.map(({ text, violated }) => `- ${violated ? "❌" : "✅"} ${cell(text)}`),
    summary(comparison),
    ...(shown.length === 0 ? [] : [table(changeColumns, shown)]),
    ...(successes.length === 0 ? [] : [table(successColumns, successes)]),
    ...(comparison.unmatched.length === 0
      ? []
      : [`Only in one of them: ${comparison.unmatched.map(cell).join(", ")}.`]),
    ...comparison.notes.map((note) => `- ⚠️ ${cell(note)}`),
    `<details><summary>Everything that was compared</summary>\n\n${
      changes.length === 0 ? "Nothing." : table(changeColumns, changes)
    }\n\n${inline(method(comparison))}\n\n</details>`
  ]
  return `${blocks.join("\n\n")}\n`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const changed: ReadonlySet<string> = new Set(["faster", "slower", "better", "worse"])

const cell = (text: string): string => inline(plain(text, 200))

const table = (columns: ReadonlyArray<string>, rows: ReadonlyArray<Row>): string =>
  [
    `| ${columns.join(" | ")} |`,
    `| ${columns.map((_, i) => (i < 2 || i === columns.length - 1 ? "---" : "---:")).join(" | ")} |`,
    ...rows.map(({ cells }) => `| ${cells.map(cell).join(" | ")} |`)
  ].join("\n")
