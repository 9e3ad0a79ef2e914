/** One line in the log for each request. */
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"

/** A request that has been answered, or whose client has gone away (`status` 499). */
export interface Access {
  readonly method: string
  /** As it is declared, such as `/api/v1/benchmarks/:benchmark`: names and queries are not logged. */
  readonly route: string
  readonly status: number
  readonly millis: number
}

/** Says for whom the request is carried out, once its key has been checked. */
export const annotateOrganization = (slug: string): Effect.Effect<void> => FiberRef.set(currentOrganization, slug)

export const log = ({ method, millis, route, status }: Access): Effect.Effect<void> =>
  Effect.flatMap(FiberRef.get(currentOrganization), (organization) =>
    Effect.logInfo("request").pipe(
      Effect.annotateLogs({
        method,
        route,
        status,
        ms: Math.round(millis * 10) / 10,
        ...(organization !== undefined && { organization })
      })
    )
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const currentOrganization: FiberRef.FiberRef<string | undefined> = globalValue(
  "effect-bench/internal/server/currentOrganization",
  () => FiberRef.unsafeMake<string | undefined>(undefined)
)
