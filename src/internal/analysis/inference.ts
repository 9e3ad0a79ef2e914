/** What the analysis takes from inferential statistics. */
import { percentileInterval } from "../../Inference.js"
import { normalCdf } from "../statistics/distributions.js"
import type { Estimate } from "./distribution.js"

export { generator } from "../statistics/random.js"

/** Intervals at this level; `random` makes them the same ones again for the same seed. */
export const estimateWith =
  ({ level, random }: { readonly level: number; readonly random: () => number }): Estimate =>
  (sorted, p) =>
    percentileInterval(sorted, p, { level, seed: Math.floor(random() * 2 ** 31) })

/** Quantile of the standard normal distribution that a two-sided interval of this level reaches to, by bisection. */
export const quantile = (level: number): number => {
  let [low, high] = [0, 40]
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (normalCdf(middle) < (1 + level) / 2) low = middle
    else high = middle
  }
  return low
}
