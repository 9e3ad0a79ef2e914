/** Axes: their kind, their ends, and where they are marked. */

export interface Scale {
  readonly kind: "linear" | "log"
  readonly min: number
  readonly max: number
  /** Ascending, within the ends. */
  readonly ticks: ReadonlyArray<number>
}

/** From how many times the least value on a linear axis would squeeze most of what is drawn. */
const wide = 60

/**
 * An axis for values. It is logarithmic when they are positive and span more than {@link wide} times their least; a linear
 * one begins at 0 unless that would leave more than half of it empty.
 */
export const scaleOf = (values: Iterable<number>, ticks = 6): Scale => {
  let low = Infinity
  let high = -Infinity
  for (const value of values) {
    if (!Number.isFinite(value)) continue
    if (value < low) low = value
    if (value > high) high = value
  }
  if (low > high) return linear(0, 1, ticks)
  if (low > 0 && high / low > wide) return log(low, high, ticks)
  if (low === high) return low === 0 ? linear(0, 1, ticks) : linear(Math.min(0, 2 * low), Math.max(0, 2 * high), ticks)
  const fromZero = low >= 0 && low <= high / 2
  const toZero = high <= 0 && high >= low / 2
  return linear(fromZero ? 0 : low, toZero ? 0 : high, ticks)
}

/** A linear axis from 0, for amounts that are drawn as lengths. */
export const scaleFromZero = (values: Iterable<number>, ticks = 6): Scale => {
  const high = Math.max(0, ...Array.from(values).filter(Number.isFinite))
  return linear(0, high > 0 ? high : 1, ticks)
}

/** A number next to an axis: short, and without rounding what the axis is marked at. */
export const tickText = (value: number): string => {
  const size = Math.abs(value)
  if (size === 0) return "0"
  if (size >= 1e6 || size < 1e-3) {
    const [digits = "", exponent = ""] = Number(value.toPrecision(6)).toExponential().split("e")
    return `${digits}e${exponent.replace("+", "")}`
  }
  return String(Number(value.toPrecision(6)))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const linear = (low: number, high: number, count: number): Scale => {
  // Halves are subtracted because the whole may overflow.
  const step = niceStep((high / 2 - low / 2) * (2 / count))
  if (!Number.isFinite(step) || !(step > 0)) return { kind: "linear", min: low, max: high, ticks: [low, high] }
  const first = Math.floor(low / step + 1e-9)
  const last = Math.ceil(high / step - 1e-9)
  const digits = Math.max(0, -Math.floor(Math.log10(step)))
  const at = (n: number): number => Number((n * step).toFixed(Math.min(digits, 100))) + 0
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => at(first + i))
  return { kind: "linear", min: ticks[0] ?? low, max: ticks[ticks.length - 1] ?? high, ticks }
}

const niceStep = (rough: number): number => {
  const power = 10 ** Math.floor(Math.log10(rough))
  const nice = [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10
  return nice * power
}

/** Marked at powers of ten, and between them where there are few. */
const log = (low: number, high: number, count: number): Scale => {
  const min = downTo(low)
  const max = upTo(high)
  const decades = Math.log10(max / min)
  const factors = decades <= count / 3 ? [1, 2, 5] : decades <= count / 2 ? [1, 3] : [1]
  const every = Math.max(1, Math.ceil(decades / count))
  const first = Math.floor(Math.log10(min))
  const ticks: Array<number> = []
  for (let power = first; power <= Math.ceil(Math.log10(max)); power++) {
    if (power % every !== 0) continue
    for (const factor of factors) {
      const tick = Number(`${factor}e${power}`)
      if (tick >= min * (1 - 1e-9) && tick <= max * (1 + 1e-9)) ticks.push(tick)
    }
  }
  return { kind: "log", min, max, ticks }
}

/** The next lower number of one digit. */
const downTo = (value: number): number => {
  const power = Math.floor(Math.log10(value))
  return Number(`${Math.max(1, Math.floor(value / 10 ** power + 1e-9))}e${power}`)
}

const upTo = (value: number): number => {
  const power = Math.floor(Math.log10(value))
  return Number(`${Math.ceil(value / 10 ** power - 1e-9)}e${power}`)
}
