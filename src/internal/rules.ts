/**
 * What the settings of a benchmark must be: each rule gives the value it accepts, or reports an issue and gives nothing.
 */
import type { GroupBy } from "../Config.js"
import type { Inspected } from "./inspect.js"
import { show, showJson } from "./inspect.js"

/** Applies a rule to what may be left out. */
export const optional = <A>(at: Inspected, rule: (at: Inspected) => A | undefined): A | undefined =>
  at.raw === undefined ? undefined : rule(at)

/** A rule that accepts what `is` does; `message` tells what else it must be. */
export const rule =
  <A>(is: (value: unknown) => value is A, message: string | ((value: unknown) => string)) =>
  (at: Inspected): A | undefined =>
    is(at.raw) ? at.raw : at.fail(typeof message === "string" ? message : message(at.raw))

/** The object without the keys whose value is undefined. */
export const compact = <A extends object>(fields: A): A => {
  const copy = { ...fields }
  for (const [key, value] of Object.entries(copy)) {
    if (value === undefined) {
      Reflect.deleteProperty(copy, key)
    }
  }
  return copy
}

export const isDefined = <A>(value: A | undefined): value is A => value !== undefined

/** Reports every key that is not in `known`. */
export const onlyKeys = (at: Inspected, known: ReadonlyArray<string>): void => {
  for (const key of at.keys()) {
    if (!known.includes(key)) {
      at.fail(`contains unexpected key: '${key}'`)
    }
  }
}

/** Tells, value by value, which were there before. */
export const duplicates = (): ((value: string) => boolean) => {
  const seen = new Set<string>()
  return (value) => {
    const known = seen.has(value)
    seen.add(value)
    return known
  }
}

// -----------------------------------------------------------------------------
// text
// -----------------------------------------------------------------------------

// White space, control characters and characters that show nothing, such as the zero-width space.
const blank = /^[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u

export const isText = (value: unknown): value is string => typeof value === "string" && !blank.test(value)

export const isSlug = (value: unknown): value is string =>
  typeof value === "string" && /^[a-z0-9][a-z0-9-]*$/.test(value)

const isString = (value: unknown): value is string => typeof value === "string"

export const slugMessage = (value: unknown): string => `needs a lowercase slug (got ${showJson(value)})`

export const textMessage = "must be a non-empty string"

export const slug = rule(isSlug, slugMessage)

export const text = rule(isText, textMessage)

export const string = rule(isString, "must be a string")

/** A list of strings, reported as a whole. */
export const strings =
  (accepts: (value: string) => boolean, message: string) =>
  (at: Inspected): ReadonlyArray<string> | undefined => {
    const values = at.items()?.map(({ raw }) => raw)
    return values !== undefined && values.every(isString) && values.every(accepts) ? values : at.fail(message)
  }

/** A key of a list, reported when the list had it before. */
export const uniqueKey = (at: Inspected, repeated: (key: string) => boolean, noun: string): string | undefined => {
  const key = text(at)
  return key !== undefined && repeated(key) ? at.fail(`duplicate ${noun} key: ${key}`) : key
}

// -----------------------------------------------------------------------------
// numbers and choices
// -----------------------------------------------------------------------------

export const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 1

export const countMessage = (value: unknown): string =>
  isPositiveInteger(value)
    ? `must be an integer between 1 and ${Number.MAX_SAFE_INTEGER} (got ${show(value)})`
    : `must be an integer >= 1 (got ${show(value)})`

export const isPositiveInteger = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1

export const isFinite = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value)

export const isDelay = (value: unknown): value is number => isFinite(value) && value >= 0

export const delayMessage = (value: unknown): string => `must be a number >= 0 (got ${show(value)})`

export const isGroupBy = (value: unknown): value is GroupBy => value === "participant" || value === "round"

export const groupByMessage = (value: unknown): string => `must be 'participant' or 'round' (got ${show(value)})`

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean"

/** An integer from 1 that can be counted up to. */
export const count = rule(isCount, countMessage)

export const delay = rule(isDelay, delayMessage)

export const groupBy = rule(isGroupBy, groupByMessage)

export const finite = rule(isFinite, (value) => `must be a finite number (got ${show(value)})`)

export const boolean = rule(isBoolean, (value) => `must be a boolean (got ${show(value)})`)
