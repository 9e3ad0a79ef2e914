/** Whether tasks started when the plan of the run says. */
import { hasProperty } from "effect/Predicate"
import type { Tasks } from "./measurements.js"

export interface Lag {
  /** Tasks that started too late. */
  readonly late: number
  readonly total: number
  /** Milliseconds by which the latest one was late. */
  readonly mostMs: number
  /** Milliseconds between the starts of two tasks, by the plan. */
  readonly delayMs: number
}

/** What timers and timestamps of whole milliseconds are off by, without anything being wrong. */
const toleranceMs = 10

/** Of the delay between two tasks: what is late by less hardly changes the load. */
const toleratedShare = 0.1

/**
 * Starts against the schedule of one worker that ran a participant's tasks in one go, one every `staggerDelayMs`. The start
 * of the schedule is not stored: it is the latest moment that no task started before its time by. Undefined when nothing
 * is scheduled: tasks that start as others end, or rounds, which are apart from the end of the one before.
 */
export const lagOf = (tasks: Tasks, runConfig: unknown): Lag | undefined => {
  const delayMs = delayOf(runConfig)
  if (delayMs === undefined) return undefined
  const { startedAt, taskIndexes } = tasks
  let origin = Infinity
  for (let row = 0; row < startedAt.length; row++) {
    const implied = (startedAt[row] ?? Number.NaN) - (taskIndexes[row] ?? 0) * delayMs
    if (implied < origin) origin = implied
  }
  if (!Number.isFinite(origin)) return undefined
  const tolerated = Math.max(toleranceMs, toleratedShare * delayMs)
  let late = 0
  let mostMs = 0
  for (let row = 0; row < startedAt.length; row++) {
    const lag = (startedAt[row] ?? Number.NaN) - (taskIndexes[row] ?? 0) * delayMs - origin
    if (!(lag > tolerated)) continue
    late++
    mostMs = Math.max(mostMs, lag)
  }
  return { late, total: tasks.count, mostMs, delayMs }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const delayOf = (runConfig: unknown): number | undefined => {
  const delay = hasProperty(runConfig, "staggerDelayMs") ? runConfig.staggerDelayMs : undefined
  const isByRound = hasProperty(runConfig, "groupBy") && runConfig.groupBy === "round"
  return typeof delay === "number" && delay > 0 && Number.isFinite(delay) && !isByRound ? delay : undefined
}
