/** How many tasks a run has, phase by phase, and whether a run can be sized and ordered like this at all. */
import type { BenchmarkConfig, MergedConfig, Phase } from "../Config.js"
import { countMessage, delayMessage, groupByMessage, isCount, isDelay, isGroupBy } from "./rules.js"

export type Size = Pick<MergedConfig, "iterations" | "phaseIterations" | "phases" | "warnings">

/** The size of a benchmark when `requested` tasks were asked for, per phase where there are phases of equal counts. */
export const sizeOf = ({ iterations, phases }: BenchmarkConfig, requested: number | undefined): Size => {
  if (phases === undefined) {
    return { iterations: requested ?? iterations ?? 1, warnings: [] }
  }
  if (requested === undefined) {
    return { iterations: total(phases), phases, warnings: [] }
  }
  if (phases.some((phase) => phase.iterations !== phases[0]?.iterations)) {
    return { iterations: total(phases), phases, warnings: [ignored] }
  }
  const resized = phases.map(({ name }) => ({ name, iterations: requested }))
  return { iterations: total(resized), phaseIterations: requested, phases: resized, warnings: [] }
}

/** The first setting that a run cannot have, and what it must be. */
export const problemOf = (merged: MergedConfig): readonly [setting: string, message: string] | undefined => {
  const perPhase = merged.phaseIterations ?? merged.iterations
  if (!isCount(perPhase)) return ["iterations", countMessage(perPhase)]
  if (!isCount(merged.iterations)) return ["iterations", countMessage(merged.iterations)]
  const broken = merged.phases?.find(({ iterations }) => !Number.isInteger(iterations))
  if (broken !== undefined) return [`phases['${broken.name}'].iterations`, countMessage(broken.iterations)]
  if (!isCount(merged.concurrency)) return ["concurrency", countMessage(merged.concurrency)]
  if (!isDelay(merged.staggerDelayMs)) return ["staggerDelayMs", delayMessage(merged.staggerDelayMs)]
  if (!isGroupBy(merged.groupBy)) return ["groupBy", groupByMessage(merged.groupBy)]
  return undefined
}

/** The phase of a slot, found without preparation in time linear in the number of phases. */
export const phaseAt = (phases: ReadonlyArray<Phase>, scheduleIndex: number): string | undefined => {
  if (!(scheduleIndex >= 0)) {
    return undefined
  }
  let end = 0
  for (const { iterations, name } of phases) {
    end += iterations
    if (scheduleIndex < end) return name
  }
  return undefined
}

/** Finds the phase of a slot in time logarithmic in the number of phases. */
export const phaseLookup = (phases: ReadonlyArray<Phase>): ((scheduleIndex: number) => string | undefined) => {
  let end = 0
  const ends = phases.map(({ iterations }) => (end += iterations))
  return (scheduleIndex) => {
    if (!(scheduleIndex >= 0)) {
      return undefined
    }
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((ends[middle] ?? 0) <= scheduleIndex) low = middle + 1
      else high = middle
    }
    return phases[low]?.name
  }
}

const total = (phases: ReadonlyArray<Phase>): number => phases.reduce((sum, { iterations }) => sum + iterations, 0)

const ignored = "--iterations is ignored because this benchmark sizes its phases individually."
