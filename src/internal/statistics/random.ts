/** Random numbers that are the same ones for the same seed. */

/** Numbers from 0 to below 1, evenly distributed. */
export type Random = () => number

/**
 * The numbers of a seed, an integer.
 *
 * Source: Doty-Humphrey, "PractRand" (2014), the generator sfc32.
 */
export const generator = (seed: number): Random => {
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

/** One from a standard normal distribution. Source: Box & Muller, "A Note on the Generation of Random Normal Deviates" (1958). */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

/** One from a gamma distribution of this shape, at least 1. Source: Marsaglia & Tsang, "A Simple Method for Generating Gamma Variables" (2000). */
const gamma = (shape: number, random: Random): number => {
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = normal(random)
    const v = (1 + c * x) ** 3
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v
  }
}

/** One from the beta distribution with these shapes, at least 1 each. */
export const beta = (a: number, b: number, random: Random): number => {
  const x = gamma(a, random)
  return x / (x + gamma(b, random))
}

/**
 * How many of `n` independent trials succeed, each with probability `p`: by order statistics of uniform numbers, which halve
 * `n` at each step, so that it takes a time that grows with the logarithm of `n`.
 *
 * Source: Relles, "A Simple Algorithm for Generating Binomial Random Variables when N is Large" (1972).
 */
export const binomial = (n: number, p: number, random: Random): number => {
  let [successes, trials, probability] = [0, n, p]
  while (trials > fewTrials) {
    const rank = 1 + Math.floor(trials / 2)
    const middle = beta(rank, trials + 1 - rank, random)
    if (middle <= probability) {
      successes += rank
      trials -= rank
      probability = (probability - middle) / (1 - middle)
    } else {
      trials = rank - 1
      probability /= middle
    }
  }
  for (let i = 0; i < trials; i++) if (random() < probability) successes++
  return successes
}

const fewTrials = 16
