/** How the U of two sets of samples is distributed when both come from the same distribution. */
import type { Sorted } from "../../Statistics.js"

export interface RankSums {
  /** Pairs in which the first sample is larger than the second, ties counting half. */
  readonly u: number
  /** Sum of `t³ - t` over groups of `t` equal samples. */
  readonly ties: number
}

export const rankSums = (first: Sorted, second: Sorted): RankSums => {
  let [u, ties] = [0, 0]
  forEachValue(first, second, (ofFirst, ofSecond, secondBefore) => {
    u += ofFirst * (secondBefore + ofSecond / 2)
    const t = ofFirst + ofSecond
    ties += t ** 3 - t
  })
  return { u, ties }
}

/**
 * Probability of a U that is at least as far from its mean as this one, of samples without ties: by counting the orders of n
 * and m samples that give each U.
 *
 * Source: Mann & Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other" (1947).
 */
export const exactP = (u: number, n: number, m: number): number => {
  const counts = ordersByU(n, m)
  const extreme = Math.floor(Math.min(u, n * m - u))
  let tail = 0
  for (let each = 0; each <= extreme; each++) tail += counts[each] ?? 0
  return Math.min(1, (2 * tail) / total(counts))
}

/**
 * The same of samples with ties, by counting the ways to choose the first set from all samples by the sum of their mean ranks.
 *
 * Source: Streitberg & Röhmel, "Exact Distributions for Permutation and Rank Tests: An Introduction to Some Recently
 * Published Algorithms" (1986), the shift algorithm.
 */
export const exactPOfTies = (first: Sorted, second: Sorted): number => {
  const ranks: Array<number> = []
  let sum = 0
  // Twice the mean rank, which is whole. The smaller set is counted: it tells as much as the other one.
  forEachValue(first, second, (ofFirst, ofSecond, _, from) => {
    const rank = 2 * from + ofFirst + ofSecond + 1
    for (let i = 0; i < ofFirst + ofSecond; i++) ranks.push(rank)
    sum += rank * (first.length <= second.length ? ofFirst : ofSecond)
  })
  const chosen = Math.min(first.length, second.length)
  const largest = ranks.slice(ranks.length - chosen).reduce((all, rank) => all + rank, 0)
  const width = largest + 1
  const ways = new Float64Array((chosen + 1) * width)
  ways[0] = 1
  ranks.forEach((rank, seen) => {
    for (let size = Math.min(chosen, seen + 1); size >= 1; size--) {
      const [to, from] = [size * width, (size - 1) * width - rank]
      for (let at = rank; at < width; at++) ways[to + at] = (ways[to + at] ?? 0) + (ways[from + at] ?? 0)
    }
  })
  const counts = ways.subarray(chosen * width)
  const mean = chosen * (ranks.length + 1)
  const distance = Math.abs(sum - mean)
  let tail = 0
  for (let at = 0; at < width; at++) if (Math.abs(at - mean) >= distance) tail += counts[at] ?? 0
  return Math.min(1, tail / total(counts))
}

/** The largest rank `c` with a probability of at most `tail` that U is below it; undefined when there is none above 0. */
export const lowerRank = (tail: number, n: number, m: number): number | undefined => {
  const counts = ordersByU(n, m)
  const all = total(counts)
  let [c, sum] = [0, counts[0] ?? 0]
  while (sum / all <= tail) sum += counts[++c] ?? all
  return c === 0 ? undefined : c
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Orders of n and m samples that give each U, as coefficients of a generating function. */
const ordersByU = (n: number, m: number): Float64Array => {
  const pairs = n * m
  const [fewer, more] = [Math.min(n, m), Math.max(n, m)]
  const ways = new Float64Array(pairs + 1)
  ways[0] = 1
  for (let k = 1; k <= fewer; k++) {
    for (let at = pairs; at >= more + k; at--) ways[at] = (ways[at] ?? 0) - (ways[at - more - k] ?? 0)
    for (let at = k; at <= pairs; at++) ways[at] = (ways[at] ?? 0) + (ways[at - k] ?? 0)
  }
  // It is symmetric; of the upper half, rounding has left the less.
  for (let at = 0; at < pairs - at; at++) ways[pairs - at] = ways[at] ?? 0
  return ways
}

const total = (counts: Float64Array): number => counts.reduce((sum, count) => sum + count, 0)

/** Goes through the distinct values in ascending order: how often each is in both, and how many samples are before it. */
const forEachValue = (
  first: Sorted,
  second: Sorted,
  visit: (ofFirst: number, ofSecond: number, secondBefore: number, before: number) => void
): void => {
  let [i, j] = [0, 0]
  while (i < first.length || j < second.length) {
    const value = Math.min(first[i] ?? Infinity, second[j] ?? Infinity)
    const [fromI, fromJ] = [i, j]
    while (i < first.length && first[i] === value) i++
    while (j < second.length && second[j] === value) j++
    visit(i - fromI, j - fromJ, fromJ, fromI + fromJ)
  }
}
