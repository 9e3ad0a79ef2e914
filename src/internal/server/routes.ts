/** The routes of `PlatformApi`: what a path is called in logs, and what may be asked of it. */
import * as HttpApi from "@effect/platform/HttpApi"
import { PlatformApi } from "../../PlatformApi.js"

/** An operation, as it is declared. */
export interface Operation {
  readonly name: string
  readonly method: string
  /** `/api/v1/benchmarks/:benchmark/…` */
  readonly path: string
}

export const operations: ReadonlyArray<Operation> = (() => {
  const found: Array<Operation> = []
  HttpApi.reflect(PlatformApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      found.push({ name: endpoint.name, method: endpoint.method, path: endpoint.path })
    }
  })
  return found
})()

/** A request's path without its query. */
export const pathOf = (url: string): string => {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}

/** The operation that a request asks for; undefined when there is none. */
export const find = (method: string, path: string): Operation | undefined => {
  const wanted = method === "HEAD" ? "GET" : method
  const fitting = matching(path).filter((operation) => operation.method === wanted)
  // A part that is written out in the route is meant, even where another route has a parameter.
  return fitting.find((operation) => !operation.path.includes(":")) ?? fitting[0]
}

/** What a path is called; undefined when it is not one of these. */
export const patternOf = (path: string): string | undefined => matching(path)[0]?.path

/** What may be asked of a path: nothing when it is not one of these. */
export const allowed = (path: string): ReadonlyArray<string> => {
  const methods = new Set(matching(path).map(({ method }) => method))
  return methods.size === 0 ? [] : withImplied([...methods])
}

/** `GET` comes with `HEAD`, and anything with `OPTIONS`. */
export const withImplied = (methods: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])),
  "OPTIONS"
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const bySize: ReadonlyMap<number, ReadonlyArray<readonly [Operation, ReadonlyArray<string>]>> = (() => {
  const groups = new Map<number, Array<readonly [Operation, ReadonlyArray<string>]>>()
  for (const operation of operations) {
    const parts = operation.path.split("/")
    const group = groups.get(parts.length) ?? []
    group.push([operation, parts])
    groups.set(parts.length, group)
  }
  return groups
})()

const matching = (path: string): ReadonlyArray<Operation> => {
  const parts = path.split("/")
  return (bySize.get(parts.length) ?? []).flatMap(([operation, pattern]) =>
    pattern.every((part, index) => (part.startsWith(":") ? parts[index] !== "" : part === parts[index]))
      ? [operation]
      : []
  )
}
