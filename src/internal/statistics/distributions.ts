/** Distributions that tests refer to. */

/**
 * How probable a standard normal number at or below `z` is; to 1e-12 and better.
 *
 * Source: West, "Better Approximations to Cumulative Normal Functions" (2005), after Hart (1968).
 */
export const normalCdf = (z: number): number => {
  const x = Math.abs(z)
  if (x > 37) return z > 0 ? 1 : 0
  const exponential = Math.exp((-x * x) / 2)
  const upper =
    x < 7.07106781186547
      ? (exponential * polynomial(numerator, x)) / polynomial(denominator, x)
      : exponential / (x + 1 / (x + 2 / (x + 3 / (x + 4 / (x + 0.65))))) / 2.506628274631
  return z > 0 ? 1 - upper : upper
}

/** The number that a standard normal one is at or below with probability `p`, by bisection; infinite at 0 and 1. */
export const normalQuantile = (p: number): number => {
  if (p > 0.5) return -normalQuantile(1 - p)
  if (!(p > 0)) return -Infinity
  let [low, high] = [-40, 0]
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (normalCdf(middle) < p) low = middle
    else high = middle
  }
  return high
}

/** The logarithm of the gamma function of a positive number. Source: Lanczos, "A Precision Approximation of the Gamma Function" (1964). */
export const logGamma = (x: number): number => {
  let sum = lanczos[0] ?? 0
  for (let i = 1; i < lanczos.length; i++) sum += (lanczos[i] ?? 0) / (x - 1 + i)
  const t = x + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum)
}

export const logChoose = (n: number, k: number): number => logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const polynomial = (coefficients: ReadonlyArray<number>, x: number): number =>
  coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0)

const numerator = [
  220.206867912376, 221.213596169931, 112.079291497871, 33.912866078383, 6.37396220353165, 0.700383064443688,
  0.0352624965998911
]

const denominator = [
  440.413735824752, 793.826512519948, 637.333633378831, 296.564248779674, 86.7807322029461, 16.064177579207,
  1.75566716318264, 0.0883883476483184
]

const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7
]
