/**
 * Copies of user values that JSON can hold.
 *
 * A measure is copied when it is made, so that what the task does to the object afterwards cannot change the record,
 * and a value that JSON cannot hold is named instead of turning into `null` or into a crash at flush time.
 */

/** A value that JSON cannot hold, and where it stands in what was measured. */
export class NotJson {
  constructor(
    readonly path: string,
    readonly what: string,
    readonly why = "which JSON cannot hold"
  ) {}

  get message(): string {
    return `${this.path === "" ? "the value" : `"${this.path}"`} is ${this.what}, ${this.why}`
  }
}

const notFields = "which JSON cannot hold as an object's fields"

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

const isRecord = (value: unknown): value is Record<string, unknown> => isObject(value) && !Array.isArray(value)

const describe = (value: object): string | undefined => {
  if (value instanceof Map) return "a Map"
  if (value instanceof Set) return "a Set"
  if (value instanceof Error) return "an Error"
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return "binary data"
  return undefined
}

const join = (path: string, key: string | number): string =>
  typeof key === "number" ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`

/** Sets a key as an own property, `__proto__` included. */
export const setOwn = (target: Record<string, unknown>, key: string, value: unknown): void => {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    target[key] = value
  }
}

const copy = (value: unknown, path: string, parents: ReadonlyArray<object>): unknown => {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return value
    case "number":
      return Number.isFinite(value) ? value : new NotJson(path, String(value))
    case "bigint":
      return new NotJson(path, "a bigint")
    case "function":
      return new NotJson(path, "a function")
    case "symbol":
      return new NotJson(path, "a symbol")
  }
  return isObject(value) ? copyObject(value, path, parents) : null
}

const copyObject = (value: object, path: string, parents: ReadonlyArray<object>): unknown => {
  if (parents.includes(value)) return new NotJson(path, "a cycle")
  const problem = describe(value)
  if (problem !== undefined) return new NotJson(path, problem)
  const within = [...parents, value]
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return copy(value.toJSON(), path, within)
  }
  if (Array.isArray(value)) {
    const out: Array<unknown> = []
    for (let i = 0; i < value.length; i++) {
      const item = copy(value[i], join(path, i), within)
      if (item instanceof NotJson) return item
      out.push(item === undefined ? null : item)
    }
    return out
  }
  const out: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(value)) {
    const item = copy(field, join(path, key), within)
    if (item instanceof NotJson) return item
    if (item !== undefined) setOwn(out, key, item)
  }
  return out
}

/** Copies one value; a getter or `toJSON` that throws is a {@link NotJson} too. */
export const copyJson = (value: unknown): unknown => {
  try {
    return copy(value, "", [])
  } catch (error) {
    return new NotJson("", `an object that cannot be read (${messageOf(error)})`)
  }
}

/**
 * Merges the fields of `data` over `target` (created when absent), all or none of them. A field that is `undefined`
 * removes the key. Returns the merged object, or why `data` cannot be merged.
 */
export const mergeJson = (
  target: Record<string, unknown> | undefined,
  data: unknown
): Record<string, unknown> | NotJson => {
  try {
    if (!isRecord(data)) {
      return new NotJson("", data === null ? "null" : Array.isArray(data) ? "an array" : `a ${typeof data}`, notFields)
    }
    const unfit = describe(data)
    if (unfit !== undefined) return new NotJson("", unfit, notFields)
    const out = target ?? {}
    const keys = Object.keys(data)
    const values = keys.map((key) => copy(data[key], key, [data]))
    const problem = values.find((value) => value instanceof NotJson)
    if (problem !== undefined) return problem
    keys.forEach((key, i) => {
      if (values[i] === undefined) delete out[key]
      else setOwn(out, key, values[i])
    })
    return out
  } catch (error) {
    return new NotJson("", `an object that cannot be read (${messageOf(error)})`)
  }
}

/** The message of anything that was thrown, without throwing itself. */
export const messageOf = (error: unknown): string => {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return "an error without a readable message"
  }
}

/** `JSON.stringify` that answers for values JSON cannot hold instead of throwing. */
export const stringifySafe = (value: unknown, indent?: number): string => {
  try {
    return JSON.stringify(value, null, indent) ?? String(value)
  } catch (error) {
    return JSON.stringify(`[not JSON: ${messageOf(error)}]`)
  }
}
