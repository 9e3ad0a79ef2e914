/**
 * From anything a task can fail with to what its record says about it.
 */
import * as Cause from "effect/Cause"
import * as ConfigError from "effect/ConfigError"
import * as Option from "effect/Option"
import { messageOf } from "./json.js"

export interface Failure {
  readonly code: string
  readonly message: string
  /** Of a task error: what it measured before it failed. */
  readonly data?: unknown
  readonly steps?: unknown
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

interface ErrorFields {
  readonly _tag?: unknown
  readonly code?: unknown
  readonly message?: unknown
  readonly data?: unknown
  readonly steps?: unknown
}

/** Whether this is a task error, of this copy of the package or of another. */
export const isTaskError = (error: unknown): error is Error & ErrorFields =>
  error instanceof Error && error.name === "TaskError"

/** The string `code` of an error, else its name or tag, else `ERROR`. */
export const errorCode = (error: unknown): string => {
  if (error instanceof Error) {
    const { code }: ErrorFields = error
    return isText(code) ? code : isText(error.name) ? error.name : "ERROR"
  }
  if (typeof error === "object" && error !== null) {
    const { _tag, code }: ErrorFields = error
    if (isText(_tag)) return isText(code) ? code : _tag
  }
  return "ERROR"
}

const fromError = (error: unknown): Failure => {
  const code = errorCode(error)
  // Its message leaves out which setting it is about.
  if (ConfigError.isConfigError(error)) return { code, message: String(error) }
  if (isTaskError(error)) {
    return { code, message: messageOf(error), data: error.data, steps: error.steps }
  }
  if (typeof error === "object" && error !== null && !(error instanceof Error)) {
    const { _tag, message }: ErrorFields = error
    if (isText(_tag)) return { code, message: isText(message) ? message : _tag }
  }
  return { code, message: messageOf(error) }
}

/** The code of what was interrupted rather than failed. */
export const interrupted = "interrupted"

/** The first failure of a cause, else its first defect, else its interruption. Reading a hostile error cannot throw. */
export const fromCause = (cause: Cause.Cause<unknown>): Failure => {
  const error = Option.orElse(Cause.failureOption(cause), () => Cause.dieOption(cause))
  if (Option.isNone(error)) {
    return { code: interrupted, message: "The task was interrupted before it ended" }
  }
  try {
    return fromError(error.value)
  } catch (thrown) {
    return { code: "ERROR", message: `an error that cannot be read (${messageOf(thrown)})` }
  }
}
