/**
 * One task as one line of `bench run --verbose`.
 */
import { stringifySafe } from "../internal/json.js"
import type { TaskRecord } from "../Record.js"

/** `iterations` is how many tasks the participant has. */
export const taskLine = (participant: string, record: TaskRecord, iterations: number): string => {
  const prefix = `  [${participant}] Task ${record.taskIndex + 1}/${iterations}`
  const { data, errorCode, status } = record
  if (status === "success") {
    return `${prefix}: success${data === undefined || data === null ? "" : ` ${stringifySafe(data)}`}`
  }
  const message = data?.["errorMessage"]
  return `${prefix}: FAILED — ${errorCode ?? "ERROR"}${typeof message === "string" ? `: ${message}` : ""}`
}
