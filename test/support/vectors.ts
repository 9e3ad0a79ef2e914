import * as fs from "node:fs"

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Turns the tokens for values that JSON cannot hold into those values; other `{"$": …}` objects stay as they are. */
export const revive = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(revive)
  }
  if (!isObject(value)) {
    return value
  }
  switch (value.$) {
    case "undefined":
      return undefined
    case "NaN":
      return Number.NaN
    case "Infinity":
      return Number.POSITIVE_INFINITY
    case "-Infinity":
      return Number.NEGATIVE_INFINITY
    case "-0":
      return -0
    case "bigint":
      return BigInt(String(value.value))
    case "function":
      return () => undefined
    default:
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revive(item)]))
  }
}

/** The cases of `../shared/vectors/<name>.json`, tokens revived. */
export const readVectors = (name: string): ReadonlyArray<Record<string, unknown>> => {
  const url = new URL(`../../../shared/vectors/${name}.json`, import.meta.url)
  const cases: unknown = revive(JSON.parse(fs.readFileSync(url, "utf8")))
  if (!Array.isArray(cases) || !cases.every(isObject)) {
    throw new Error(`${url.pathname} does not hold a list of cases`)
  }
  return cases
}
