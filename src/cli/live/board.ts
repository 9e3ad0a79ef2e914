/** What is known of a run while it goes, for people who watch: counts that cost next to nothing, and how they are drawn. */
import type { RunEvent } from "../../RunEvent.js"
import type { Style } from "../style.js"
import { fit, oneLine, percent, widthOf } from "../text.js"
import { Recent } from "./recent.js"

/** Of a terminal, in characters. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

export class Board {
  private readonly participants = new Map<string, Lane>()
  private readonly failures: Array<string> = []
  private title = ""

  /** Counts only: it runs between tasks. `now` is in milliseconds, of any clock that does not jump. */
  take(event: RunEvent, now: number): void {
    switch (event._tag) {
      case "RunStarted":
        this.title = event.benchmarkName
        for (const name of event.participants) this.participants.set(name, new Lane(name, event.tasksPerParticipant))
        return
      case "ParticipantStarted":
        return this.laneOf(event.participant).start(event.total, now)
      case "TaskStarted":
        this.laneOf(event.participant).inFlight++
        return
      case "TaskCompleted": {
        const { errors, participant, record } = event
        const lane = this.laneOf(participant)
        lane.complete(event.done, errors, now)
        if (record.status === "success") {
          lane.sampleOf("task").push(record.latencyMs)
          for (const step of record.steps ?? []) {
            if (step.status === "success" && step.name !== "task") lane.sampleOf(step.name).push(step.latencyMs)
          }
          return
        }
        const message = record.data?.["errorMessage"]
        const text = typeof message === "string" ? `: ${message.slice(0, longest)}` : ""
        this.failures.push(`${participant} task ${record.taskIndex}: ${record.errorCode ?? "ERROR"}${text}`)
        if (this.failures.length > shownFailures) this.failures.shift()
        return
      }
      case "ParticipantCompleted":
        this.laneOf(event.participant).end(event.done, event.errors, now)
        return
      case "Warning":
      case "RunCompleted":
        return
    }
  }

  /** Lines of at most `columns` (or 20, if there are fewer), at most `rows - 1` of them. */
  draw(now: number, size: Size, style: Style): ReadonlyArray<string> {
    const columns = Math.max(narrowest, size.columns)
    const { rows } = size
    const lanes = [...this.participants.values()]
    const names = Math.min(Math.max(0, ...lanes.map(({ label }) => widthOf(label))), Math.floor(columns / 5))
    const head = [style.bold(fit(oneLine(this.title), columns - 1, style.signs.cut))]
    const tail = this.failures.map((line) => style.red(fit(`! ${oneLine(line)}`, columns - 1, style.signs.cut)))
    const room = Math.max(1, rows - 1 - head.length - tail.length)
    const facts = lanes.map((lane) => fit(lane.facts(now), Math.max(0, columns - names - 3), style.signs.cut))
    const widest = Math.max(0, ...facts.map(widthOf))
    const gauge = Math.min(widestBar, columns - names - widest - 5)
    const blocks = lanes
      .map((lane, order) => {
        const label = pad(fit(lane.label, names, style.signs.cut), names)
        const bar = gauge < narrowestBar ? "" : lane.bar(gauge, style)
        const line = lane.isWaiting
          ? style.dim(fit(`${label}  waiting`, columns - 1))
          : `${label}  ${bar}${facts[order] ?? ""}`
        return { order, importance: lane.importance, lines: [line, ...lane.latencies(columns - 1, style)] }
      })
      .sort((a, b) => a.importance - b.importance || a.order - b.order)
    const shown: Array<(typeof blocks)[number]> = []
    let used = 0
    for (const block of blocks) {
      const isLast = shown.length === blocks.length - 1
      if (used + block.lines.length > room - (isLast ? 0 : 1)) break
      shown.push(block)
      used += block.lines.length
    }
    const hidden = blocks.length - shown.length
    const body = shown.sort((a, b) => a.order - b.order).flatMap(({ lines }) => lines)
    const more = hidden === 0 ? [] : [style.dim(fit(`+${hidden} more`, columns - 1))]
    return [...head, ...body, ...more, ...tail].slice(0, Math.max(1, rows - 1))
  }

  private laneOf(name: string): Lane {
    const known = this.participants.get(name)
    if (known !== undefined) return known
    const lane = new Lane(name, 0)
    this.participants.set(name, lane)
    return lane
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Columns below which nothing can be laid out. */
const narrowest = 20

const shownFailures = 2

/** Characters of a message that are kept. */
const longest = 500

/** Steps that are shown with their latencies. */
const shownSteps = 8

class Lane {
  readonly label: string
  inFlight = 0
  private done = 0
  private errors = 0
  private startedAt: number | undefined = undefined
  private endedAt: number | undefined = undefined
  private readonly samples = new Map<string, Recent>()

  constructor(
    name: string,
    private total: number
  ) {
    this.label = oneLine(name.slice(0, longest))
  }

  start(total: number, now: number): void {
    this.total = total
    this.startedAt = now
  }

  complete(done: number, errors: number, now: number): void {
    this.startedAt ??= now
    this.inFlight = Math.max(0, this.inFlight - 1)
    this.done = done
    this.errors = errors
  }

  end(done: number, errors: number, now: number): void {
    this.done = done
    this.errors = errors
    this.inFlight = 0
    this.endedAt = now
  }

  sampleOf(step: string): { readonly push: (latencyMs: number | null | undefined) => void } {
    const known = this.samples.get(step)
    if (known !== undefined) return known
    const recent = new Recent()
    if (this.samples.size < shownSteps) this.samples.set(step, recent)
    return recent
  }

  /** Those that run come first, then those that are done, the latest first, then those that wait. */
  get importance(): number {
    if (this.startedAt === undefined) return 2
    return this.endedAt === undefined ? 0 : 1
  }

  get isWaiting(): boolean {
    return this.startedAt === undefined
  }

  /** Counts, rate and time. */
  facts(now: number): string {
    if (this.startedAt === undefined) return ""
    const elapsed = ((this.endedAt ?? now) - this.startedAt) / 1000
    const rate = elapsed > 0 ? this.done / elapsed : 0
    const isRunning = this.endedAt === undefined
    return [
      `${this.done}/${this.total}`,
      ...(this.done === 0 ? [] : [`${percent((this.done - this.errors) / this.done)} ok`]),
      ...(isRunning ? [`${this.inFlight} in flight`] : []),
      ...(rate > 0 ? [`${brief(rate)}/s`] : []),
      ...(isRunning
        ? rate > 0 && this.total > this.done
          ? [`eta ${clock((this.total - this.done) / rate)}`]
          : []
        : [`took ${clock(elapsed)}`])
    ].join("  ")
  }

  /** How much is done, with two blanks behind. */
  bar(columns: number, style: Style): string {
    const filled = this.total === 0 ? columns : Math.min(columns, Math.floor((this.done / this.total) * columns))
    const full = style.signs.bars[7] ?? "#"
    return `${style.green(full.repeat(filled))}${style.dim(style.signs.box.line.repeat(columns - filled))}  `
  }

  /** While it runs, a line with the latencies of its tasks and steps. */
  latencies(columns: number, style: Style): ReadonlyArray<string> {
    if (this.startedAt === undefined || this.endedAt !== undefined) return []
    const parts = [...this.samples].flatMap(([step, recent]) => {
      const quantiles = recent.quantiles()
      return quantiles === undefined
        ? []
        : [`${oneLine(step.slice(0, longest))} ${brief(quantiles.median)}/${brief(quantiles.p95)}`]
    })
    return parts.length === 0 ? [] : [style.dim(fit(`  median/p95 ms: ${parts.join("  ")}`, columns, style.signs.cut))]
  }
}

const pad = (text: string, columns: number): string => `${text}${" ".repeat(Math.max(0, columns - widthOf(text)))}`

const narrowestBar = 8
const widestBar = 30

/** Three significant digits, no integer digit lost. */
const brief = (value: number): string => (value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3))))

/** Minutes and seconds, hours where there are any. */
const clock = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds))
  const two = (value: number): string => String(value).padStart(2, "0")
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}
