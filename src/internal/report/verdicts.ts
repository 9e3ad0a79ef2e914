/** The gates that a stored run was started with, measured again on what is stored. */
import type { ParticipantAnalysis, RunData } from "../../Analysis.js"
import type { Verdict } from "../../Gates.js"
import * as Gates from "../../Gates.js"
import type { Iteration, SummaryRow } from "../../Platform.js"
import type { ParticipantRecords, StepRecord } from "../../Record.js"

/** Of every participant that ran; empty when the run has no gates. */
export const verdictsOf = (
  data: Pick<RunData, "run" | "tasks" | "steps">,
  participants: ReadonlyArray<ParticipantAnalysis>
): ReadonlyArray<Verdict> => {
  const thresholds = Gates.fromRunConfig(data.run.config)
  if (thresholds.length === 0) return []
  const steps = grouped(data.steps, taskOf)
  const tasks = grouped(data.tasks, ({ participantSlug }) => participantSlug)
  const records = participants
    .filter(({ skipped }) => !skipped)
    .map(({ name }): ParticipantRecords => ({
      participant: name,
      records: (tasks.get(name) ?? []).map((task) => ({
        ...recordOf(task),
        taskIndex: task.taskIndex,
        steps: (steps.get(taskOf(task)) ?? []).map((step): StepRecord => ({
          ...recordOf(step),
          name: step.stepName ?? ""
        }))
      }))
    }))
  return Gates.evaluate(thresholds, records, participants.flatMap(rowOf))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const taskOf = ({ participantSlug, taskIndex }: Iteration): string => `${taskIndex} ${participantSlug}`

const grouped = (records: ReadonlyArray<Iteration>, by: (record: Iteration) => string) => {
  const groups = new Map<string, Array<Iteration>>()
  for (const record of records) {
    const key = by(record)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [record])
    else group.push(record)
  }
  return groups
}

const recordOf = ({ data, errorCode, latencyMs, status }: Iteration) => ({ status, latencyMs, errorCode, data })

/** Gates read nothing but the score. */
const rowOf = ({ name, score, skipped, successRate }: ParticipantAnalysis): ReadonlyArray<SummaryRow> =>
  score === undefined
    ? []
    : [{ provider: name, dimensions: {}, metrics: [], compositeScore: score, successRate: successRate ?? 0, skipped }]
