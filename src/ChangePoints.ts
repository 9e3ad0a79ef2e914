/**
 * Where a series of values, such as one statistic over the runs of a benchmark, changes its level, and by how much. Pure; what is
 * random has a seed.
 *
 * @since 0.1.0
 */
import type { Random } from "./internal/statistics/random.js"
import { generator } from "./internal/statistics/random.js"
import { median } from "./Statistics.js"

/**
 * A change of the level. The levels are the medians of the values between this change and the ones next to it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ChangePoint {
  /** Of the first value after the change, from 0. */
  readonly index: number
  readonly before: number
  readonly after: number
  /** What was added to `before`, as a fraction of its size; undefined when `before` is 0. */
  readonly change: number | undefined
  /** Of the permutation test that found it. */
  readonly p: number
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ChangePointOptions {
  /** A change is one when its p is at most this. Default 0.01. */
  readonly alpha?: number | undefined
  /** Fewest values on a level, at least 2. Default 3. */
  readonly fewest?: number | undefined
  /** How often values are permuted to find a p. Default 999. */
  readonly permutations?: number | undefined
  /** An integer: the same values and seed give the same changes. Default 1. */
  readonly seed?: number | undefined
}

/**
 * The changes in a series of finite values, in their order: e-divisive. The series is divided where its parts differ most by the
 * energy distance, then each part alike, as long as a difference that large is found in at most `alpha` of the permutations of
 * the values within the parts. It assumes no distribution. Empty when nothing is found, which is so below about 10 values:
 * fewer have too few permutations. Its time grows with the square of their number: 100 values take some 20 ms, 1000 about a second for each change.
 *
 * Sources: Matteson & James, "A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data" (2014), section 2,
 * with exponent 1; of each part only its division in two is looked at, as by Daly et al., "The Use of Change Point Detection to
 * Identify Software Performance Regressions in a Continuous Integration System" (2020).
 *
 * @since 0.1.0
 * @category combinators
 */
export const changePoints = (
  values: ReadonlyArray<number>,
  options: ChangePointOptions = {}
): ReadonlyArray<ChangePoint> => {
  const { alpha = 0.01, permutations = 999, seed = 1 } = options
  const fewest = Math.max(2, Math.ceil(options.fewest ?? 3))
  const random = generator(seed)
  const scaled = toUnit(values)
  const found: Array<{ readonly index: number; readonly p: number }> = []
  let parts: ReadonlyArray<Part> = [{ from: 0, to: scaled.length }]
  for (;;) {
    const best = strongest(scaled, parts, fewest)
    if (best === undefined) break
    const p = chanceOf(best.strength, scaled, parts, { alpha, fewest, permutations, random })
    if (p === undefined) break
    found.push({ index: best.index, p })
    parts = parts.flatMap((part) =>
      part.from < best.index && best.index < part.to
        ? [
            { from: part.from, to: best.index },
            { from: best.index, to: part.to }
          ]
        : [part]
    )
  }
  found.sort((a, b) => a.index - b.index)
  return found.flatMap(({ index, p }, i) => {
    const before = levelOf(values.slice(found[i - 1]?.index ?? 0, index))
    const after = levelOf(values.slice(index, found[i + 1]?.index))
    if (before === undefined || after === undefined) return []
    const change = (after - before) / Math.abs(before)
    return [{ index, before, after, change: Number.isFinite(change) ? change + 0 : undefined, p }]
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Of the series, without its end. */
interface Part {
  readonly from: number
  readonly to: number
}

interface Division {
  /** Where the second half begins. */
  readonly index: number
  readonly strength: number
}

/** Values from 0 to 1: what is found does not depend on their unit, and nothing overflows. */
const toUnit = (values: ReadonlyArray<number>): Float64Array => {
  const [min, max] = [
    values.reduce((a, b) => Math.min(a, b), Infinity),
    values.reduce((a, b) => Math.max(a, b), -Infinity)
  ]
  return Float64Array.from(values, (value) => (max > min ? (value / 2 - min / 2) / (max / 2 - min / 2) : 0))
}

const levelOf = (values: ReadonlyArray<number>): number | undefined => {
  const level = median(Float64Array.from(values).sort())
  return level === undefined ? undefined : level + 0
}

const strongest = (values: Float64Array, parts: ReadonlyArray<Part>, fewest: number): Division | undefined => {
  let best: Division | undefined
  for (const { from, to } of parts) {
    const division = divide(values.subarray(from, to), fewest)
    if (division !== undefined && division.strength > (best?.strength ?? 0)) {
      best = { index: from + division.index, strength: division.strength }
    }
  }
  return best
}

/** The division with the largest scaled energy distance between both sides. */
const divide = (values: Float64Array, fewest: number): Division | undefined => {
  const count = values.length
  if (count < 2 * fewest) return undefined
  // Sums of distances: within the left side, within the right one, and between them.
  let [left, right, between] = [0, 0, 0]
  const toRest = new Float64Array(count)
  for (let i = 0; i < count; i++) {
    let sum = 0
    for (let j = i + 1; j < count; j++) sum += Math.abs((values[i] ?? 0) - (values[j] ?? 0))
    toRest[i] = sum
    right += sum
  }
  let best: Division | undefined
  for (let moved = 0; moved < count - fewest; moved++) {
    let toLeft = 0
    for (let j = 0; j < moved; j++) toLeft += Math.abs((values[moved] ?? 0) - (values[j] ?? 0))
    const toRight = toRest[moved] ?? 0
    left += toLeft
    right -= toRight
    between += toRight - toLeft
    const [n, m] = [moved + 1, count - moved - 1]
    if (n < fewest) continue
    const distance = (2 * between) / (n * m) - (2 * left) / (n * (n - 1)) - (2 * right) / (m * (m - 1))
    const strength = ((n * m) / count) * distance
    if (best === undefined || strength > best.strength) best = { index: n, strength }
  }
  return best
}

/** How often chance finds a division this strong; undefined when that is more often than `alpha`. */
const chanceOf = (
  strength: number,
  values: Float64Array,
  parts: ReadonlyArray<Part>,
  options: { readonly alpha: number; readonly fewest: number; readonly permutations: number; readonly random: Random }
): number | undefined => {
  const { alpha, fewest, permutations, random } = options
  const permuted = values.slice()
  // The same values in another order may sum up to a little less.
  const asStrong = strength * (1 - 1e-9)
  let count = 1
  for (let i = 0; i < permutations && count / (permutations + 1) <= alpha; i++) {
    for (const { from, to } of parts) shuffle(permuted.subarray(from, to), random)
    if ((strongest(permuted, parts, fewest)?.strength ?? 0) >= asStrong) count++
  }
  const p = count / (permutations + 1)
  return p <= alpha ? p : undefined
}

/** Source: Durstenfeld, "Algorithm 235: Random Permutation" (1964). */
const shuffle = (values: Float64Array, random: Random): void => {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const value = values[i] ?? 0
    values[i] = values[j] ?? 0
    values[j] = value
  }
}
