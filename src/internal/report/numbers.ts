/** Numbers for reading. None is ever `NaN`, `Infinity`, `-0` or `undefined`. */

/** What stands for a number that there is not. */
export const absent = "–"

/**
 * With so many decimals, or else with three significant digits or more where there are as many, no integer digit lost. A
 * number that would be rounded to nothing keeps its significant digits.
 */
export const figure = (value: number | null | undefined, decimals?: number): string => {
  if (value === undefined || value === null || !Number.isFinite(value)) return absent
  if (decimals === undefined || Math.abs(value) >= 1e15) return significant(value)
  const text = value.toFixed(Math.min(decimals, 20))
  return value !== 0 && Number(text) === 0 ? significant(value) : grouped(text)
}

/** How many decimals show three significant digits of the least of them; undefined when they have too little in common. */
export const decimalsFor = (values: Iterable<number>): number | undefined => {
  let least = Infinity
  let greatest = 0
  let whole = true
  for (const value of values) {
    const size = Math.abs(value)
    if (!Number.isFinite(size) || size === 0) continue
    if (!Number.isInteger(size)) whole = false
    if (size < least) least = size
    if (size > greatest) greatest = size
  }
  if (whole) return greatest < 1e15 ? 0 : undefined
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(least)))
  return decimals <= 6 && greatest / least < 1e6 ? decimals : undefined
}

/** In tenths of a percent; what is not quite nothing or not quite all does not look like it. */
export const percent = (fraction: number | undefined): string => {
  if (fraction === undefined || !Number.isFinite(fraction)) return absent
  if (fraction > 0 && fraction < 0.001) return "< 0.1\u00a0%"
  if (fraction < 1 && fraction > 0.999) return "> 99.9\u00a0%"
  return `${Number((fraction * 100).toFixed(1)) + 0}\u00a0%`
}

/** A time span in the two largest of its units. */
export const duration = (ms: number | undefined): string => {
  if (ms === undefined || !Number.isFinite(ms) || ms < 0) return absent
  if (ms < 1000) return `${figure(ms)}\u00a0ms`
  if (ms < 60_000) return `${figure(ms / 1000)}\u00a0s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.round(seconds / 60)
  return `${grouped(String(Math.floor(minutes / 60)))} h ${minutes % 60} min`
}

/** A moment as it is read, in UTC; text that is none is left as it is. */
export const moment = (iso: string): string =>
  iso.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, "$1 $2 UTC")

export const plural = (count: number, noun: string): string => `${figure(count)} ${noun}${count === 1 ? "" : "s"}`

/** For other programs: all digits. Undefined for what is not a number. */
export const exact = (value: number | null | undefined): number | undefined =>
  value === undefined || value === null || !Number.isFinite(value) ? undefined : value + 0

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const significant = (value: number): string => {
  const size = Math.abs(value)
  if (size >= 1e15) return Number(value.toPrecision(4)).toExponential().replace("e+", "e")
  if (size >= 1000 || Number.isInteger(value)) return grouped((value + 0).toFixed(0))
  if (size >= 100) return value.toFixed(1)
  if (size >= 10) return value.toFixed(2)
  return size >= 0.1 ? value.toFixed(3) : String(Number(value.toPrecision(3)))
}

/** Digits in groups of three from five on, apart by a space that does not break; and no minus before nothing. */
const grouped = (text: string): string => {
  const [whole = "", fraction] = text.split(".")
  const groups = /\d{5}/.test(whole) ? whole.replace(/\B(?=(?:\d{3})+$)/g, "\u202f") : whole
  const number = fraction === undefined ? groups : `${groups}.${fraction}`
  return /^-[0.]*$/.test(number) ? number.slice(1) : number
}
