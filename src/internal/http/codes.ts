/** The codes of refusals, which make errors exact again on the other side. */
import type { ResourceConflict, ResourceNotFound } from "../platform/errors.js"

export const conflictCodes = {
  AlreadyPlanned: "already_planned",
  StaleAttempt: "stale_attempt",
  WorkerClosed: "worker_closed"
} as const satisfies Readonly<Record<ResourceConflict["reason"], string>>

/** By resource, outermost first. */
export const notFoundCodes = {
  benchmark: "benchmark_not_found",
  run: "run_not_found",
  participant: "participant_not_found",
  worker: "worker_not_found",
  summary: "summary_not_found",
  artifact: "artifact_not_found"
} as const satisfies Readonly<Record<ResourceNotFound["resource"], string>>

/** Nothing is said of the resource: the platform does not know what was asked of it. */
export const routeNotFound = "route_not_found"
