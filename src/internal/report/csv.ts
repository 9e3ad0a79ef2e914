/** What was measured, one row per task, for spreadsheets and data frames: RFC 4180. */
import type { MetricPoint, RunAnalysis } from "../analysis/model.js"
import { exact } from "./numbers.js"
import { plain } from "./plainText.js"

/**
 * A column per metric, called by its key. A task that measured several values of a metric has a row for each of them, in
 * which metrics with fewer are empty. Text has no control characters, and one that a spreadsheet would run as a formula (it
 * begins with `=`, `+`, `-` or `@`, also in full width) gets an apostrophe before it; numbers stay as they are.
 */
export const csv = (analysis: RunAnalysis): string => {
  const keys = analysis.metrics.map(({ key }) => key)
  const lines = [line(["participant", "taskIndex", "passed", "phase", "startedAfterMs", ...keys])]
  for (const participant of analysis.participants) {
    const tasks = new Map<number, Row>()
    keys.forEach((key, column) => {
      const points = participant.metrics.find((metric) => metric.key === key)?.points ?? []
      for (const point of points) {
        let row = tasks.get(point.taskIndex)
        if (row === undefined) tasks.set(point.taskIndex, (row = { point, isTask: false, values: [] }))
        // The task knows best whether it passed; a step may succeed in a task that fails.
        if (key === taskKey && !row.isTask) {
          row.point = point
          row.isTask = true
        }
        const values = (row.values[column] ??= [])
        values.push(point.value)
      }
    })
    const rows = Array.from(tasks.entries()).sort(([a], [b]) => a - b)
    for (const [taskIndex, { isTask, point, values }] of rows) {
      const count = values.reduce((most, list) => Math.max(most, list?.length ?? 0), 0)
      for (let i = 0; i < count; i++) {
        lines.push(
          line([
            participant.name,
            taskIndex,
            isTask ? point.ok : undefined,
            point.phase,
            point.atMs,
            ...keys.map((_, column) => values[column]?.[i])
          ])
        )
      }
    }
  }
  return lines.join("")
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Row {
  /** Of the task itself, if there is one. */
  point: MetricPoint
  isTask: boolean
  /** By column, the values in their order. */
  readonly values: Array<Array<number> | undefined>
}

const taskKey = "task"

/** Nothing that is meant is longer. */
const longest = 10_000

type Cell = string | number | boolean | undefined

const line = (cells: ReadonlyArray<Cell>): string => `${cells.map(cellText).join(",")}\r\n`

const cellText = (cell: Cell): string => {
  if (cell === undefined) return ""
  if (typeof cell === "number") return String(exact(cell) ?? "")
  if (typeof cell === "boolean") return String(cell)
  const clean = plain(cell, longest)
  const text = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(clean) ? `'${clean}` : clean
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
