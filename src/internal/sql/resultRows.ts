import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { InvalidRequest, TaskResultsInput } from "../../Platform.js"
import type { Data } from "../../Record.js"
import type { Issue } from "../platform/validation.js"
import { refuse } from "../platform/validation.js"
import type { BulkTable, ColumnType } from "./bulkInsert.js"
import type { WorkerState } from "./lookups.js"
import { jsonText } from "./requests.js"

/** The rows of one batch: one row a task, of every task all its steps. */
export interface ResultRows {
  readonly tasks: ReadonlyArray<TaskRow>
  readonly steps: ReadonlyArray<StepRow>
}

type TaskRow = {
  readonly participant_seq: number
  readonly task_index: number
  readonly attempt_number: number
  readonly sequence_number: number
  readonly status: string
  readonly started_at: string | null
  readonly completed_at: string | null
  readonly latency_ms: number | null
  readonly first_command_ms: number | null
  readonly error_code: string | null
  readonly data: string | null
}

type StepRow = {
  readonly participant_seq: number
  readonly name: string
  readonly task_index: number
  readonly step_index: number
  readonly status: string
  readonly started_at: string | null
  readonly completed_at: string | null
  readonly latency_ms: number | null
  readonly error_code: string | null
  readonly data: string | null
  readonly concurrency: number | null
  readonly timeout_ms: number | null
}

export const taskTable: BulkTable<Readonly<Record<keyof TaskRow, ColumnType>>> = {
  name: "task_results",
  columns: {
    participant_seq: "INTEGER",
    task_index: "INTEGER",
    attempt_number: "INTEGER",
    sequence_number: "INTEGER",
    status: "TEXT",
    started_at: "TEXT",
    completed_at: "TEXT",
    latency_ms: "DOUBLE PRECISION",
    first_command_ms: "DOUBLE PRECISION",
    error_code: "TEXT",
    data: "TEXT"
  }
}

export const stepTable: BulkTable<Readonly<Record<keyof StepRow, ColumnType>>> = {
  name: "step_results",
  columns: {
    participant_seq: "INTEGER",
    name: "TEXT",
    task_index: "INTEGER",
    step_index: "INTEGER",
    status: "TEXT",
    started_at: "TEXT",
    completed_at: "TEXT",
    latency_ms: "DOUBLE PRECISION",
    error_code: "TEXT",
    data: "TEXT",
    concurrency: "DOUBLE PRECISION",
    timeout_ms: "DOUBLE PRECISION"
  }
}

/**
 * Encodes a batch, failing with every record that cannot be stored. Of two records of one task the later one is kept;
 * numbers that are not finite become null.
 */
export const encodeResults = (
  worker: WorkerState,
  attemptNumber: number,
  input: TaskResultsInput
): Effect.Effect<ResultRows, InvalidRequest> => {
  const { participantSeq, taskIndexEnd, taskIndexStart } = worker
  const issues: Array<Issue> = []
  const text = (field: string, data: Data | null | undefined): string | null => {
    const encoded = jsonText(field, data)
    if (Either.isRight(encoded)) return encoded.right
    issues.push(encoded.left)
    return null
  }
  const tasks = new Map<number, TaskRow>()
  const steps = new Map<number, ReadonlyArray<StepRow>>()
  input.records.forEach((record, index) => {
    const { taskIndex } = record
    if (!Number.isInteger(taskIndex) || taskIndex < taskIndexStart || taskIndex > taskIndexEnd) {
      issues.push({
        field: `records[${index}].taskIndex`,
        message: `must be from ${taskIndexStart} to ${taskIndexEnd} (got ${taskIndex})`
      })
      return
    }
    tasks.set(taskIndex, {
      participant_seq: participantSeq,
      task_index: taskIndex,
      attempt_number: attemptNumber,
      sequence_number: input.sequenceNumber,
      status: storable(record.status),
      started_at: record.startedAt ?? null,
      completed_at: record.completedAt ?? null,
      latency_ms: finite(record.latencyMs),
      first_command_ms: finite(record.firstCommandMs),
      error_code: storableOrNull(record.errorCode),
      data: text(`records[${index}].data`, record.data)
    })
    steps.set(
      taskIndex,
      (record.steps ?? []).map((step, stepIndex) => ({
        participant_seq: participantSeq,
        name: storable(step.name),
        task_index: taskIndex,
        step_index: stepIndex,
        status: storable(step.status),
        started_at: step.startedAt ?? null,
        completed_at: step.completedAt ?? null,
        latency_ms: finite(step.latencyMs),
        error_code: storableOrNull(step.errorCode),
        data: text(`records[${index}].steps[${stepIndex}].data`, step.data),
        concurrency: finite(step.concurrency),
        timeout_ms: finite(step.timeoutMs)
      }))
    )
  })
  return Effect.as(refuse(issues), { tasks: [...tasks.values()], steps: [...steps.values()].flat() })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** PostgreSQL holds no NUL in a text: every database stores what stands for a character that there is not. */
const storable = (text: string): string => (text.includes("\u0000") ? text.replaceAll("\u0000", "\ufffd") : text)

const storableOrNull = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : storable(text)

const finite = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null)
