/** Tasks that did not pass, by what they failed with. */
import type { TaskRecord } from "../../Record.js"
import type { Failure } from "./model.js"

/** More kinds than this are counted together: error codes may hold anything. */
const maxKinds = 100

const others = "(other)"

/** Code of tasks that succeeded without the data that the scoring requires of one that counts. */
export const unmetCode = "success.requireData"

const maxIndexes = 20

export class Failures {
  private readonly kinds = new Map<string, Kind>()
  /** Failed tasks of which no failed step is known yet. */
  private readonly open = new Map<number, Kind>()

  add({ data, errorCode, status, taskIndex }: Omit<TaskRecord, "steps">): void {
    const code = status === "success" ? unmetCode : (errorCode ?? "ERROR")
    const known = this.kinds.has(code) || this.kinds.size < maxKinds ? code : others
    let kind = this.kinds.get(known)
    if (kind === undefined) this.kinds.set(known, (kind = new Kind()))
    kind.count++
    if (kind.taskIndexes.length < maxIndexes) kind.taskIndexes.push(taskIndex)
    const message = data?.["errorMessage"]
    if (kind.message === undefined && typeof message === "string") kind.message = message
    if (status !== "success") this.open.set(taskIndex, kind)
  }

  /** Undefined when the step that failed is the task itself. Of the failed steps of a task the first counts. */
  addStep(taskIndex: number, name: string | undefined): void {
    const kind = this.open.get(taskIndex)
    if (kind === undefined) return
    this.open.delete(taskIndex)
    if (name !== undefined) kind.addStep(name)
  }

  /** Most frequent first. */
  get list(): ReadonlyArray<Failure> {
    return Array.from(this.kinds, ([code, { count, message, step, taskIndexes }]) => ({
      code,
      count,
      step,
      message: message ?? (code === unmetCode ? "successful, but without the data that counts as success" : undefined),
      taskIndexes: [...taskIndexes].sort((a, b) => a - b)
    })).sort((a, b) => b.count - a.count)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

class Kind {
  count = 0
  message: string | undefined = undefined
  readonly taskIndexes: Array<number> = []
  private name: string | undefined = undefined
  private named = 0

  addStep(name: string): void {
    this.name ??= name
    if (this.name === name) this.named++
  }

  /** The step that all of them failed in. */
  get step(): string | undefined {
    return this.named === this.count ? this.name : undefined
  }
}
