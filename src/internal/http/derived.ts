/** The client that is derived from `PlatformApi`, on a connection. */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { PlatformApi } from "../../PlatformApi.js"
import { copyJson, NotJson } from "../json.js"
import type { PlatformError } from "../platform/errors.js"
import {
  InvalidRequest,
  PlatformFailure,
  RequestTooLarge,
  ResourceConflict,
  ResourceNotFound,
  Unauthorized
} from "../platform/errors.js"
import type { Issue } from "../platform/validation.js"
import { bounded, issuesOf } from "../platform/validation.js"
import { encodePath, formatUrl } from "./address.js"
import type { Connection } from "./connection.js"
import { sendTaskResults } from "./endpoint.js"
import type { Subject, Target } from "./failures.js"
import { transient } from "./failures.js"

/** The call that a request of the derived client belongs to. */
export class CurrentCall extends Context.Tag("effect-bench/internal/http/CurrentCall")<CurrentCall, Target>() {}

/** An answer that is not what the operation answers. */
export class Unreadable extends Data.TaggedError("Unreadable")<{ readonly detail: string }> {}

/** The derived clients, and how their calls are made. */
export const make = Effect.fnUntraced(function* (connection: Connection) {
  const options = {
    httpClient: HttpClient.makeWith<never, never, PlatformError | Unreadable, CurrentCall>(
      Effect.flatMap((request) =>
        Effect.flatMap(CurrentCall, (call) =>
          Effect.map(connection.exchange(call, request), (body) =>
            HttpClientResponse.fromWeb(request, new Response(body, { status: successes.get(call.operation) ?? 200 }))
          )
        )
      ),
      Effect.succeed
    ),
    baseUrl: formatUrl(connection.root),
    transformResponse: Effect.mapError((error: unknown) =>
      ParseResult.isParseError(error) ? new Unreadable({ detail: detailOf(error) }) : error
    )
  }
  const api = yield* HttpApiClient.makeWith(PlatformApi, options)
  const { events } = yield* HttpApiClient.makeWith(EventsApi, options)

  /** Makes one call about `path`, whose parts are encoded for it. */
  const call = <K extends keyof Subject, A>(
    operation: string,
    path: Readonly<Record<K, string>>,
    send: (path: Record<K, string>) => Effect.Effect<A, unknown, CurrentCall>,
    options?: { readonly subject?: Subject; readonly payload?: unknown }
  ): Effect.Effect<A, PlatformError> => {
    const target = { operation, subject: options?.subject ?? path, host: connection.root.host }
    return Effect.flatMap(encodePath(path), (encoded) =>
      send(encoded).pipe(
        Effect.provideService(CurrentCall, target),
        Effect.catchAll((error) => {
          if (isPlatformError(error)) return Effect.fail(error)
          if (error instanceof Unreadable) {
            return Effect.fail(transient(target, `the answer of ${target.host} cannot be read: ${error.detail}`))
          }
          return ParseResult.isParseError(error)
            ? Effect.fail(new InvalidRequest({ issues: unsendable(error, options?.payload) }))
            : Effect.die(error)
        })
      )
    )
  }

  return { api, events, call }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// Records are sent as they are: there are many, the compiler has seen their type, and the server checks them anyway.
class EventsApi extends HttpApi.make("effect-bench/events")
  .add(HttpApiGroup.make("events").add(sendTaskResults.setPayload(Schema.Unknown)))
  .prefix("/api/v1") {}

const successes: ReadonlyMap<string, number> = (() => {
  const statuses = new Map<string, number>()
  HttpApi.reflect(PlatformApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, successes: answers }) => {
      for (const status of answers.keys()) statuses.set(endpoint.name, status)
    }
  })
  return statuses
})()

const isPlatformError = Schema.is(
  Schema.Union(ResourceNotFound, ResourceConflict, InvalidRequest, Unauthorized, RequestTooLarge, PlatformFailure)
)

const detailOf = (error: ParseResult.ParseError) => {
  const [first] = issuesOf(error)
  return first === undefined ? "it does not fit" : `${first.field}: ${first.message}`.slice(0, 500)
}

const unsendable = (error: ParseResult.ParseError, payload: unknown): ReadonlyArray<Issue> => {
  const copied = copyJson(payload)
  return copied instanceof NotJson
    ? [{ field: copied.path === "" ? "request" : copied.path, message: `must be JSON (it is ${copied.what})` }]
    : bounded(issuesOf(error))
}
