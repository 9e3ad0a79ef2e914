/** Requests as any client makes them: `fetch`, and JSON as it is on the wire. */
import { Effect } from "effect"

export interface WireAnswer {
  readonly status: number
  readonly headers: Headers
  /** Out of JSON; undefined when it is none. */
  readonly body: unknown
  readonly text: string
}

export interface WireRequest {
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** A text goes as it is, anything else as JSON. */
  readonly body?: unknown
}

/** A client of the server at `url`, which shows `key` unless a request has an `authorization` of its own. */
export const client =
  (url: string, key: string) =>
  (method: string, path: string, { body, headers }: WireRequest = {}): Effect.Effect<WireAnswer> =>
    Effect.promise(async (signal) => {
      const response = await fetch(`${url}${path}`, {
        method,
        signal,
        headers: {
          accept: "application/json",
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: parse(text) }
    })

export type Client = ReturnType<typeof client>

/** What a value out of JSON has at a path of names and positions. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (found, name) => (typeof found === "object" && found !== null ? Reflect.get(found, name) : undefined),
    value
  )

/** A text that is there. */
export const textAt = (value: unknown, ...path: ReadonlyArray<string | number>): string => {
  const found = at(value, ...path)
  if (typeof found === "string") return found
  throw new Error(`there is no text at ${path.join(".")} of ${JSON.stringify(value)}`)
}

/** A list that is there. */
export const listAt = (value: unknown, ...path: ReadonlyArray<string | number>): ReadonlyArray<unknown> => {
  const found = at(value, ...path)
  if (Array.isArray(found)) return found
  throw new Error(`there is no list at ${path.join(".")} of ${JSON.stringify(value)}`)
}

/** The body of an answer, which must have this status. */
export const bodyOf = (answer: WireAnswer, status = 200): unknown => {
  if (answer.status !== status) throw new Error(`answered ${answer.status} instead of ${status}: ${answer.text}`)
  const type = answer.headers.get("content-type") ?? "nothing"
  if (!type.startsWith("application/json")) throw new Error(`answered with ${type} instead of JSON: ${answer.text}`)
  return answer.body
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
