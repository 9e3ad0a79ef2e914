/** Whether samples have one peak or more. */
import { coarseStep } from "../../Diagnostics.js"
import type { Sorted } from "../../Statistics.js"
import { median } from "../../Statistics.js"

/** Samples that fall into two groups, the lower one first. */
export interface Peaks {
  /** Hartigan's dip, from 0 to 0.25. */
  readonly dip: number
  /** Fraction of the samples in the lower group. */
  readonly share: number
  /** Medians of the groups. */
  readonly low: number
  readonly high: number
}

/**
 * Two groups of samples, if one peak cannot explain them: the dip exceeds what 999 of 1000 uniform samples of this size have, and
 * is large enough to matter. Undefined otherwise, below 20 samples, and where the clock is too coarse to see peaks.
 *
 * Source: Hartigan & Hartigan, "The Dip Test of Unimodality" (1985). The uniform distribution is the hardest one to tell from
 * two peaks.
 */
export const peaks = (sorted: Sorted): Peaks | undefined => {
  if (sorted.length < fewest || coarseStep(sorted) !== undefined) return undefined
  const looked = thinned(withoutTies(sorted))
  const found = dip(looked)
  if (found < least || found * Math.sqrt(looked.length) < critical) return undefined
  const at = split(looked)
  const [low, high] = [median(looked.subarray(0, at)), median(looked.subarray(at))]
  return low === undefined || high === undefined ? undefined : { dip: found, share: at / looked.length, low, high }
}

/**
 * The dip: the largest distance between the distribution function of the samples and the unimodal one that is nearest to
 * it. It is found between the greatest convex minorant up to the mode and the least concave majorant from there on.
 *
 * Source: Hartigan, "Algorithm AS 217: Computation of the Dip Statistic to Test for Unimodality" (1985).
 */
export const dip = (sorted: Float64Array): number => {
  const last = sorted.length - 1
  const x = (i: number): number => sorted[i] ?? 0
  if (last < 1 || x(0) === x(last)) return 0
  const before = below(sorted)
  const after = above(sorted)
  let [low, high] = [0, last]
  // Distances are in steps of the distribution function until the end; no step is lower than one.
  let largest = 1
  for (;;) {
    const convex = chain(high, low, before).reverse()
    const concave = chain(low, high, after)
    const gap = widest(sorted, convex, concave)
    if (gap.distance <= largest) break
    largest = Math.max(largest, overConvex(sorted, convex, gap.left), underConcave(sorted, concave, gap.right))
    if (gap.left === low && gap.right === high) break
    low = gap.left
    high = gap.right
  }
  return largest / (2 * sorted.length)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const fewest = 20

/** A dip below this is none that matters: a second group with less than some 6 % of the samples. */
const least = 0.03

/** Times the square root of their number, the dip of uniform samples is below this in 999 of 1000 cases, of any number. */
const critical = 0.73

/** More than these are looked at by as many evenly spaced ones. */
const most = 2000

const thinned = (sorted: Float64Array): Float64Array =>
  sorted.length <= most
    ? sorted
    : Float64Array.from({ length: most }, (_, i) => sorted[Math.floor(((i + 0.5) * sorted.length) / most)] ?? 0)

/** Equal samples are spread over what the clock cannot tell apart: they would look like a peak each. */
const withoutTies = (sorted: Sorted): Float64Array => {
  const spread = Float64Array.from(sorted)
  let step = Infinity
  for (let i = 1; i < spread.length; i++) {
    const difference = (spread[i] ?? 0) - (spread[i - 1] ?? 0)
    if (difference > 0) step = Math.min(step, difference)
  }
  if (!Number.isFinite(step)) return spread
  for (let from = 0, to = 0; from < spread.length; from = to) {
    while (to < spread.length && sorted[to] === sorted[from]) to++
    const count = to - from
    for (let i = from; i < to; i++) spread[i] = (sorted[i] ?? 0) + step * ((i - from + 0.5) / count - 0.5)
  }
  return spread
}

/**
 * Where the upper group begins: the cut that leaves the least variance within both groups.
 *
 * Source: Otsu, "A Threshold Selection Method from Gray-Level Histograms" (1979).
 */
const split = (sorted: Float64Array): number => {
  const count = sorted.length
  const origin = sorted[0] ?? 0
  const total = sorted.reduce((sum, value) => sum + (value - origin), 0)
  let [at, best, sum] = [1, -1, 0]
  for (let i = 1; i < count; i++) {
    sum += (sorted[i - 1] ?? 0) - origin
    const between = ((total * i) / count - sum) ** 2 / (i * (count - i))
    if (between > best) [at, best] = [i, between]
  }
  return at
}

// -----------------------------------------------------------------------------
// minorants and majorants: of each vertex, the next one
// -----------------------------------------------------------------------------

/** Down from each sample, the vertex before it of the greatest convex minorant of all up to it. */
const below = (sorted: Float64Array): Int32Array => {
  const next = new Int32Array(sorted.length)
  for (let i = 1; i < sorted.length; i++) {
    let vertex = i - 1
    while (vertex > 0 && !isSteeper(sorted, next[vertex] ?? 0, vertex, i)) vertex = next[vertex] ?? 0
    next[i] = vertex
  }
  return next
}

/** Up from each sample, the vertex after it of the least concave majorant of all from it on. */
const above = (sorted: Float64Array): Int32Array => {
  const last = sorted.length - 1
  const next = new Int32Array(sorted.length).fill(last)
  for (let i = last - 1; i >= 0; i--) {
    let vertex = i + 1
    while (vertex < last && !isSteeper(sorted, next[vertex] ?? last, vertex, i)) vertex = next[vertex] ?? last
    next[i] = vertex
  }
  return next
}

/** Whether the line from `middle` to `end` rises faster than that from `start` to `middle`. */
const isSteeper = (sorted: Float64Array, start: number, middle: number, end: number): boolean =>
  ((sorted[end] ?? 0) - (sorted[middle] ?? 0)) * (middle - start) <
  ((sorted[middle] ?? 0) - (sorted[start] ?? 0)) * (end - middle)

const chain = (from: number, to: number, next: Int32Array): Array<number> => {
  const vertices = [from]
  for (let at = from; at !== to; vertices.push(at)) {
    at = next[at] ?? to
    // Beyond the end of the part that is looked at.
    if (from < to ? at > to : at < to) at = to
  }
  return vertices
}

/** By how many steps a line from one sample to another has risen at a sample between. */
const risen = (sorted: Float64Array, from: number, to: number, at: number): number => {
  const width = (sorted[to] ?? 0) - (sorted[from] ?? 0)
  return width > 0 ? (((sorted[at] ?? 0) - (sorted[from] ?? 0)) * (to - from)) / width : 0
}

/** Where minorant and majorant are farthest apart, and the vertices of both around it. */
const widest = (
  sorted: Float64Array,
  convex: ReadonlyArray<number>,
  concave: ReadonlyArray<number>
): { readonly distance: number; readonly left: number; readonly right: number } => {
  let gap = { distance: 0, left: convex[0] ?? 0, right: concave[concave.length - 1] ?? 0 }
  for (let c = 1, v = 1; c < convex.length && v < concave.length;) {
    const [a = 0, b = 0] = [convex[c - 1], convex[c]]
    const [from = 0, to = 0] = [concave[v - 1], concave[v]]
    const isConcave = to < b
    const distance = isConcave ? to - a + 1 - risen(sorted, a, b, to) : risen(sorted, from, to, b) - (b - from - 1)
    if (distance > gap.distance) gap = { distance, left: isConcave ? a : b, right: to }
    if (isConcave) v++
    else c++
  }
  return gap
}

/** How far the samples are above the minorant, left of a vertex. */
const overConvex = (sorted: Float64Array, convex: ReadonlyArray<number>, end: number): number => {
  let most = 1
  for (let c = 1; c < convex.length && (convex[c] ?? 0) <= end; c++) {
    const [a = 0, b = 0] = [convex[c - 1], convex[c]]
    if (b - a <= 1 || sorted[a] === sorted[b]) continue
    for (let i = a; i <= b; i++) most = Math.max(most, i - a + 1 - risen(sorted, a, b, i))
  }
  return most
}

/** How far the samples are below the majorant, right of a vertex. */
const underConcave = (sorted: Float64Array, concave: ReadonlyArray<number>, start: number): number => {
  let most = 1
  for (let v = 1; v < concave.length; v++) {
    const [a = 0, b = 0] = [concave[v - 1], concave[v]]
    if (a < start || b - a <= 1 || sorted[a] === sorted[b]) continue
    for (let i = a; i <= b; i++) most = Math.max(most, risen(sorted, a, b, i) - (i - a - 1))
  }
  return most
}
