/**
 * What judging a run needs of its records, taken while they pass by: about 24 bytes a task and 16 a value, so that even
 * a million tasks need not be kept as records.
 */
import type { Display, ScoringConfig } from "../../Config.js"
import type { StepRecord, TaskRecord } from "../../Record.js"
import { scoringConfigToSpec } from "../../Scoring.js"
import { Samples } from "../../Statistics.js"
import { Failures } from "./failures.js"

export type Task = Omit<TaskRecord, "steps">

type Step = Pick<StepRecord, "name" | "status" | "latencyMs">

export type Kind = "task" | "step" | "data"

/** More keys in the data of one participant's tasks than this are not looked at: they may be anything. */
const maxKeys = 100

/** Key of the latency of the whole task. */
export const taskKey = "task"

const stepPrefix = "step:"

/** Key of the latency of a step. */
export const stepKey = (name: string): string => `${stepPrefix}${name}`

/** Name of the one step that is recorded of a task without steps. */
const implicitStep = "task"

/** Values of one metric of one participant, in the order of task indexes. */
export interface Series {
  readonly values: Float64Array
  /** Which of the participant's tasks each is of: by the order in which they were added, and by their indexes. */
  readonly rows: Int32Array
  readonly places: Int32Array
  /** Whether it counts: the task, or the step, was successful. */
  readonly ok: Uint8Array
}

/** Of a metric that was not measured. */
export const nothing: Series = {
  values: new Float64Array(0),
  rows: new Int32Array(0),
  places: new Int32Array(0),
  ok: new Uint8Array(0)
}

/** The values that count, in the order of task indexes. */
export const counting = ({ ok, values }: Series): Float64Array => {
  const own = new Float64Array(values.length)
  let count = 0
  for (let i = 0; i < values.length; i++) if (ok[i] === 1) own[count++] = values[i] ?? 0
  return own.subarray(0, count)
}

/** Records of a run, participant by participant. */
export class Measurements {
  private readonly participants = new Map<string, Tasks>()
  private readonly passes: (task: Task) => unknown
  private readonly lists: ReadonlySet<string>

  constructor(scoring: ScoringConfig | undefined, display: Display | undefined) {
    const success = scoring === undefined ? undefined : scoringConfigToSpec(scoring).success
    this.passes = success ?? (({ status }) => status === "success")
    this.lists = new Set([...(scoring?.metrics ?? []), ...(display?.metrics ?? [])].map(({ key }) => key))
  }

  /** With its steps, if they are at hand; else they follow by {@link addStep}. */
  add(participant: string, task: Task, steps: ReadonlyArray<Step> | null | undefined = undefined): void {
    const tasks = this.of(participant)
    const row = tasks.add(task, Boolean(this.passes(task)), this.lists)
    for (const step of steps ?? []) tasks.addStep(row, task.taskIndex, step.name, step)
  }

  /** A step of a task that has been added. */
  addStep(participant: string, taskIndex: number, name: string, step: Omit<Step, "name">): void {
    const tasks = this.of(participant)
    const row = tasks.rowOf(taskIndex)
    if (row !== undefined) tasks.addStep(row, taskIndex, name, step)
  }

  /** Those with tasks, in the order in which their first ones came. */
  get names(): ReadonlyArray<string> {
    return [...this.participants.keys()]
  }

  /** Without tasks when nothing of the participant was added. */
  of(participant: string): Tasks {
    let tasks = this.participants.get(participant)
    if (tasks === undefined) this.participants.set(participant, (tasks = new Tasks()))
    return tasks
  }
}

/** Records of one participant. */
export class Tasks {
  count = 0
  passed = 0
  readonly failures = new Failures()
  readonly phases: Array<string> = []
  /** Milliseconds since 1970 of the first start and the last end, and as they were recorded. */
  first: { readonly at: number; readonly text: string } | undefined = undefined
  last: { readonly at: number; readonly text: string } | undefined = undefined
  /** How many keys of data were too many. */
  leftOut = 0
  private readonly leftOutKeys = new Set<string>()
  private readonly indexes = new Samples()
  private readonly starts = new Samples()
  /** Twice the number of the phase (from 1; 0 for none), plus 1 when the task passed. */
  private readonly flags = new Samples()
  private readonly columns = new Map<string, Column>()
  private rows: Map<number, number> | undefined = undefined
  private order: Int32Array | undefined = undefined

  add(task: Task, passed: boolean, lists: ReadonlySet<string>): number {
    const { completedAt, data, latencyMs, startedAt, taskIndex } = task
    const row = this.count++
    if (passed) this.passed++
    else this.failures.add(task)
    this.indexes.push(taskIndex)
    this.starts.push(this.sawTimes(startedAt, completedAt))
    this.flags.push(2 * this.phaseOf(data?.["phase"]) + (passed ? 1 : 0))
    this.push(taskKey, "task", row, latencyMs, passed)
    if (data !== null && data !== undefined) {
      for (const key of Object.keys(data)) this.addData(key, data[key], row, passed, lists)
    }
    return row
  }

  addStep(row: number, taskIndex: number, name: string, { latencyMs, status }: Omit<Step, "name">): void {
    const ok = status === "success"
    this.push(stepKey(name), "step", row, latencyMs, ok)
    if (!ok) this.failures.addStep(taskIndex, name === implicitStep ? undefined : name)
  }

  rowOf(taskIndex: number): number | undefined {
    if (this.rows === undefined) {
      const indexes = toArray(this.indexes)
      this.rows = new Map()
      for (let row = 0; row < indexes.length; row++) this.rows.set(indexes[row] ?? 0, row)
    }
    return this.rows.get(taskIndex)
  }

  /** Keys of everything that was measured, in the order in which it first was. */
  get keys(): ReadonlyArray<{ readonly key: string; readonly kind: Kind }> {
    return Array.from(this.columns, ([key, { kind }]) => ({ key, kind })).filter(
      ({ key }) => key !== stepKey(implicitStep) || !this.isImplicit
    )
  }

  series(key: string): Series | undefined {
    const column = this.columns.get(key)
    return column === undefined ? undefined : column.series(this.ranks)
  }

  /** By row: the task's index. */
  get taskIndexes(): Float64Array {
    return toArray(this.indexes)
  }

  /** By row: when the task started, in milliseconds since 1970; NaN when that is not known. */
  get startedAt(): Float64Array {
    return toArray(this.starts)
  }

  /** Places, in the order of task indexes, of the tasks that passed. */
  get passedPlaces(): Int32Array {
    const flags = toArray(this.flags)
    const ranks = this.ranks
    return upTo(this.count)
      .filter((row) => (flags[row] ?? 0) % 2 === 1)
      .map((row) => ranks[row] ?? 0)
      .sort()
  }

  /** By row: the phase of the task. */
  get phaseAt(): (row: number) => string | undefined {
    const flags = toArray(this.flags)
    return (row) => this.phases[((flags[row] ?? 0) >> 1) - 1]
  }

  private get isImplicit(): boolean {
    const task = this.columns.get(taskKey)
    const step = this.columns.get(stepKey(implicitStep))
    return task !== undefined && step !== undefined && step.isPartOf(task)
  }

  /** By row: its place in the order of task indexes. */
  private get ranks(): Int32Array {
    if (this.order?.length !== this.count) {
      const indexes = toArray(this.indexes)
      const rows = upTo(this.count)
      if (!isAscending(indexes)) rows.sort((a, b) => (indexes[a] ?? 0) - (indexes[b] ?? 0))
      this.order = new Int32Array(this.count)
      for (let place = 0; place < rows.length; place++) this.order[rows[place] ?? 0] = place
    }
    return this.order
  }

  private sawTimes(startedAt: string | null | undefined, completedAt: string | null | undefined): number {
    const start = millisOf(startedAt)
    const end = millisOf(completedAt)
    if (typeof startedAt === "string" && !Number.isNaN(start) && !(start >= (this.first?.at ?? Infinity))) {
      this.first = { at: start, text: startedAt }
    }
    if (typeof completedAt === "string" && !Number.isNaN(end) && !(end <= (this.last?.at ?? -Infinity))) {
      this.last = { at: end, text: completedAt }
    }
    return start
  }

  private phaseOf(phase: unknown): number {
    if (typeof phase !== "string") return 0
    const known = this.phases.indexOf(phase)
    if (known !== -1) return known + 1
    return this.phases.length < maxKeys ? this.phases.push(phase) : 0
  }

  private addData(key: string, value: unknown, row: number, passed: boolean, lists: ReadonlySet<string>): void {
    if (typeof value === "number") {
      if (this.isMetric(key)) this.push(key, "data", row, value, passed)
    } else if (Array.isArray(value) && lists.has(key) && this.isMetric(key)) {
      for (const item of value) if (typeof item === "number") this.push(key, "data", row, item, passed)
    }
  }

  /** The names of latencies are taken. */
  private isMetric(key: string): boolean {
    if (this.columns.has(key)) return this.columns.get(key)?.kind === "data"
    if (key === taskKey || key.startsWith(stepPrefix)) return false
    if (this.columns.size < maxKeys) return true
    if (this.leftOutKeys.size < maxKeys) this.leftOut = this.leftOutKeys.add(key).size
    return false
  }

  private push(key: string, kind: Kind, row: number, value: number | null | undefined, ok: boolean): void {
    if (typeof value !== "number" || !Number.isFinite(value)) return
    let column = this.columns.get(key)
    if (column === undefined) {
      if (kind === "step" && this.columns.size >= 2 * maxKeys) return
      this.columns.set(key, (column = new Column(kind)))
    }
    // A negative zero is a zero.
    column.push(value + 0, row, ok)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

class Column {
  private readonly values = new Samples()
  /** Twice the row, plus 1 when the value counts. */
  private readonly codes = new Samples()

  constructor(readonly kind: Kind) {}

  push(value: number, row: number, ok: boolean): void {
    this.values.push(value)
    this.codes.push(2 * row + (ok ? 1 : 0))
  }

  series(ranks: Int32Array): Series {
    const values = toArray(this.values)
    const codes = toArray(this.codes)
    const count = values.length
    const places = new Int32Array(count)
    for (let i = 0; i < count; i++) places[i] = ranks[Math.floor((codes[i] ?? 0) / 2)] ?? 0
    const order = upTo(count)
    if (!isAscending(places)) order.sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0))
    const sorted = {
      values: new Float64Array(count),
      rows: new Int32Array(count),
      places: places.slice().sort(),
      ok: new Uint8Array(count)
    }
    for (let place = 0; place < count; place++) {
      const i = order[place] ?? 0
      const code = codes[i] ?? 0
      sorted.values[place] = values[i] ?? 0
      sorted.rows[place] = Math.floor(code / 2)
      sorted.ok[place] = code % 2
    }
    return sorted
  }

  /** Whether the other column has the same value in every row that this one has. */
  isPartOf(other: Column): boolean {
    const others = new Map<number, number>()
    const [codes, values] = [toArray(other.codes), toArray(other.values)]
    codes.forEach((code, i) => others.set(code, values[i] ?? 0))
    const own = toArray(this.values)
    return toArray(this.codes).every((code, i) => others.get(code) === own[i])
  }
}

const toArray = (samples: Samples): Float64Array => {
  const array = new Float64Array(samples.count)
  samples.copyTo(array, 0)
  return array
}

/** The numbers from 0 to below `count`. */
export const upTo = (count: number): Int32Array => {
  const numbers = new Int32Array(count)
  for (let i = 0; i < count; i++) numbers[i] = i
  return numbers
}

const isAscending = (numbers: ArrayLike<number>): boolean => {
  for (let i = 1; i < numbers.length; i++) if ((numbers[i - 1] ?? 0) > (numbers[i] ?? 0)) return false
  return true
}

const millisOf = (time: string | null | undefined): number => (typeof time === "string" ? Date.parse(time) : Number.NaN)
