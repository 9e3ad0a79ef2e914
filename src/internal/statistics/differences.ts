/** Order statistics of all differences between two sets of samples, without computing each of them. */
import type { Sorted } from "../../Statistics.js"
import * as Statistics from "../../Statistics.js"

/**
 * All `first[i] - second[j]`, which have to be finite. They form a matrix with sorted rows and columns, in which those up to a
 * value are counted in a time that grows with `n + m`.
 *
 * Source: Johnson & Mizoguchi, "Selecting the Kth Element in X + Y and X1 + X2 + … + Xm" (1978), for the matrix.
 */
export class Differences {
  private readonly first: Float64Array
  private readonly second: Float64Array
  private readonly cuts: Array<Cut>

  /** Neither is empty. */
  constructor(first: Sorted, second: Sorted) {
    this.first = Float64Array.from(first)
    this.second = Float64Array.from(second)
    const least = (first[0] ?? 0) - (second[second.length - 1] ?? 0)
    const most = (first[first.length - 1] ?? 0) - (second[0] ?? 0)
    this.cuts = [
      { count: 0, last: least, next: least },
      { count: first.length * second.length, last: most, next: most }
    ]
  }

  /** The middle one, or the mean of the middle two. */
  median(): number | undefined {
    const count = this.first.length * this.second.length
    return Statistics.median([this.at(Math.ceil(count / 2)), this.at(Math.floor(count / 2) + 1)])
  }

  /**
   * The `k`-th smallest, from 1: by bisection between differences that there are, which earlier searches have narrowed, until
   * few enough are left to be sorted.
   */
  at(k: number): number {
    for (;;) {
      const place = this.cuts.findIndex(({ count }) => count >= k)
      const [below, upTo] = [this.cuts[place - 1], this.cuts[place]]
      if (below === undefined || upTo === undefined) return this.cuts[0]?.next ?? 0
      if (below.next >= upTo.last) return upTo.last
      if (upTo.count - below.count <= this.fewEnough)
        return this.between(below.next, upTo.last)[k - below.count - 1] ?? 0
      const middle = below.next / 2 + upTo.last / 2
      // `below.next` is before it and `upTo.last` after it, so that each cut leaves fewer.
      this.cuts.splice(place, 0, this.cutAfter(middle < upTo.last ? Math.max(middle, below.next) : below.next))
    }
  }

  private get fewEnough(): number {
    return Math.max(64, (this.first.length + this.second.length) / 4)
  }

  private cutAfter(value: number): Cut {
    const { first, second } = this
    const [n, m] = [first.length, second.length]
    let [count, j, last, next] = [0, 0, -Infinity, Infinity]
    for (let i = 0; i < n; i++) {
      const each = first[i] ?? 0
      while (j < m && each - (second[j] ?? 0) > value) j++
      count += m - j
      if (j < m) last = Math.max(last, each - (second[j] ?? 0))
      if (j > 0) next = Math.min(next, each - (second[j - 1] ?? 0))
    }
    return { count, last, next }
  }

  /** In ascending order. */
  private between(low: number, high: number): Float64Array {
    const { first, second } = this
    const m = second.length
    const found: Array<number> = []
    let j = 0
    for (const each of first) {
      while (j < m && each - (second[j] ?? 0) > high) j++
      for (let k = j; k < m && each - (second[k] ?? 0) >= low; k++) found.push(each - (second[k] ?? 0))
    }
    return Float64Array.from(found).sort()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Where the differences in their order are cut in two. */
interface Cut {
  /** How many are before it. */
  readonly count: number
  /** The largest before it and the smallest after it; at the ends, the one that there is. */
  readonly last: number
  readonly next: number
}
