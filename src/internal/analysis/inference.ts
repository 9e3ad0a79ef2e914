/** What the analysis takes from inferential statistics. */
import { percentileInterval } from "../../Inference.js"
import type { Estimate } from "./distribution.js"

export { generator } from "../statistics/random.js"

/** Intervals at this level; `random` makes them the same ones again for the same seed. */
export const estimateWith =
  ({ level, random }: { readonly level: number; readonly random: () => number }): Estimate =>
  (sorted, p) =>
    percentileInterval(sorted, p, { level, seed: Math.floor(random() * 2 ** 31) })

/** Quantile of the standard normal distribution that a two-sided interval of this level reaches to. */
export const quantile = (level: number): number => (level === 0.95 ? 1.959964 : 2.575829)
