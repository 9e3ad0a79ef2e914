/** Means of resamples. */
import type { Sorted } from "../../Statistics.js"
import { mean } from "../../Statistics.js"
import type { Random } from "./random.js"
import { binomial, normal } from "./random.js"

/** Of samples: their mean, and what the bootstrap needs to know about how they deviate from it. */
export class Means {
  readonly mean: number
  /** Sums of the second and the third power of the deviations, in units of the largest of them. */
  readonly squares: number
  readonly cubes: number
  /** The largest deviation: infinite where the samples are too far apart to be computed with. */
  readonly scale: number
  private readonly deviations: Float64Array

  constructor(sorted: Sorted) {
    const center = mean(sorted) ?? 0
    const n = sorted.length
    this.mean = center
    this.scale = Math.max(center - (sorted[0] ?? 0), (sorted[n - 1] ?? 0) - center)
    const unit = this.scale > 0 ? this.scale : 1
    this.deviations = Float64Array.from(sorted, (value) => (value - center) / unit)
    this.squares = this.deviations.reduce((sum, each) => sum + each ** 2, 0)
    this.cubes = this.deviations.reduce((sum, each) => sum + each ** 3, 0)
  }

  /**
   * Draws the mean of one resample after another. Of many samples only those in the tails are drawn one by one, with their number
   * from its binomial distribution; the mean of what is drawn of the rest, which has no tails, is a normal number.
   */
  draws(random: Random): () => number {
    const { deviations, mean: center, scale } = this
    const n = deviations.length
    if (n <= drawnOneByOne) {
      return () => {
        let sum = 0
        for (let i = 0; i < n; i++) sum += deviations[Math.floor(random() * n)] ?? 0
        return center + (sum / n) * scale
      }
    }
    const body = deviations.subarray(tail, n - tail)
    const average = body.reduce((sum, each) => sum + each, 0) / body.length
    const variance = body.reduce((sum, each) => sum + (each - average) ** 2, 0) / body.length
    return () => {
      const drawn = binomial(n, (2 * tail) / n, random)
      const rest = n - drawn
      let sum = rest * average + Math.sqrt(rest * variance) * normal(random)
      for (let i = 0; i < drawn; i++) {
        const at = Math.floor(random() * 2 * tail)
        sum += deviations[at < tail ? at : n - 2 * tail + at] ?? 0
      }
      return center + (sum / n) * scale
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const drawnOneByOne = 1000

/** Samples at each end of many. */
const tail = 200
