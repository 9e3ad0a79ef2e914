/** What is asserted of JSON. */
import { assert } from "@effect/vitest"
import { at } from "./wire.js"

/** Asserts that these fields are there, with these values; others may be too. */
export const assertFields = (value: unknown, fields: Readonly<Record<string, unknown>>): void => {
  for (const [name, expected] of Object.entries(fields)) assert.deepStrictEqual(at(value, name), expected, name)
}

/** Asserts which names an object has; null or absent ones are `optional`. */
export const assertNames = (
  value: unknown,
  required: ReadonlyArray<string>,
  optional: ReadonlyArray<string> = []
): void => {
  const names = Object.keys(typeof value === "object" && value !== null ? value : {})
  assert.deepStrictEqual(
    required.filter((name) => !names.includes(name)),
    [],
    "missing"
  )
  assert.deepStrictEqual(
    names.filter((name) => !required.includes(name) && !optional.includes(name)),
    [],
    "not expected"
  )
}
