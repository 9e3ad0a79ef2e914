/** A run between the platform and those who work on it. */
import * as Effect from "effect/Effect"
import type { RunRef } from "../../Platform.js"
import type { RunPlan, RunReporter } from "../../Reporter.js"
import type { RunMetadata } from "../../RunMetadata.js"
import type { Ledger, WorkerSettings } from "./openWorker.js"
import { openWorker } from "./openWorker.js"
import { answered, openingRequest } from "./requests.js"
import { Telemetry } from "./telemetry.js"

/** Creates the run, or joins the one with its key, and registers its participants. */
export const create = Effect.fnUntraced(function* (settings: WorkerSettings, plan: RunPlan) {
  const { platform } = settings
  const workerCount = plan.workerPool ?? 1
  const metadata = yield* settings.metadata
  const identity = plan.identityIsOurs ? { name: plan.benchmarkName, config: plan.benchmarkConfig } : {}
  yield* openingRequest(settings, "upsertBenchmark", platform.upsertBenchmark(plan.benchmarkSlug, identity), true)
  const created = yield* openingRequest(
    settings,
    "createRun",
    platform.createRun(plan.benchmarkSlug, {
      runKey: plan.runKey,
      name: plan.benchmarkName,
      config: { ...plan.runConfig, environment: metadata },
      participants: plan.participants.map((slug) => ({
        slug,
        provider: slug,
        totalTasks: plan.tasksPerParticipant,
        workerCount
      }))
    }),
    plan.runKey !== undefined
  )
  const run = { benchmark: plan.benchmarkSlug, run: created.run.id }
  return makeReporter(settings, run, {
    dashboardUrl: dashboardUrl(settings, run, created.organizationSlug),
    planWorkers: workerCount,
    participants: plan.runKey === undefined ? plan.participants : undefined,
    metadata: Effect.succeed(metadata)
  })
})

/** Opens a run that exists; its workers are planned already. */
export const join = Effect.fnUntraced(function* (settings: WorkerSettings, run: RunRef) {
  yield* openingRequest(settings, "getRun", settings.platform.getRun(run), true)
  return makeReporter(settings, run, {
    dashboardUrl: undefined,
    planWorkers: undefined,
    participants: undefined,
    metadata: settings.metadata
  })
})

/** A run that is recorded nowhere. */
export const nowhere = (range: { readonly start?: number; readonly count: number }): RunReporter => ({
  runId: undefined,
  dashboardUrl: undefined,
  openWorker: (_, source) =>
    Effect.as(
      Effect.addFinalizer(() => source.onFinish ?? Effect.void),
      {
        start: range.start ?? 0,
        count: range.count,
        concurrency: source.concurrency(undefined),
        workerIndex: 0,
        attemptNumber: 1,
        record: () => Effect.void,
        isCurrent: () => true,
        activity: undefined,
        awaitReady: () => Effect.void,
        uploadArtifact: () => Effect.void,
        flush: Effect.void,
        heartbeat: Effect.void,
        assignment: undefined
      }
    ),
  submitSummary: () => Effect.void,
  storedRows: Effect.succeed([]),
  storedTasks: Effect.succeed([]),
  abandon: Effect.void,
  undelivered: Effect.succeed([])
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeReporter = (
  settings: WorkerSettings,
  run: RunRef,
  options: {
    readonly dashboardUrl: string | undefined
    readonly planWorkers: number | undefined
    /** Those that the run is over with; undefined when others may add to it. */
    readonly participants: ReadonlyArray<string> | undefined
    readonly metadata: Effect.Effect<RunMetadata>
  }
): RunReporter => {
  const { platform } = settings
  const ledger: Ledger = { undelivered: [], completed: new Set() }
  // An interruption that comes when everything is done and stored changes nothing about the run.
  const isOver = () => options.participants?.every((participant) => ledger.completed.has(participant)) !== false
  const abandon = Effect.suspend(() =>
    isOver()
      ? Effect.void
      : new Telemetry("", settings.onTelemetryError).attempt(
          "run",
          answered(settings, "updateRun", platform.updateRun(run, { status: "failed" }))
        )
  )
  return {
    runId: run.run,
    dashboardUrl: options.dashboardUrl,
    openWorker: (participant, source) =>
      openWorker(settings, { ...run, participant }, source, options.planWorkers, ledger),
    submitSummary: (summary) =>
      Effect.asVoid(
        Effect.flatMap(options.metadata, ({ arch, gitRef, gitSha, nodeVersion, platform: os, triggeredBy }) =>
          platform.submitSummary(run, {
            ...summary,
            run: { gitSha, gitRef, triggeredBy, nodeVersion, platform: os, arch }
          })
        )
      ),
    storedRows: platform.getSummary(run).pipe(
      Effect.map(({ results }) => results),
      Effect.catchTag("ResourceNotFound", () => Effect.succeed([]))
    ),
    storedTasks: platform.iterations(run, { type: "tasks" }),
    abandon,
    undelivered: Effect.sync(() => [...ledger.undelivered])
  }
}

const dashboardUrl = ({ platform }: WorkerSettings, ref: RunRef, organization: string): string | undefined => {
  if (platform.origin.kind === "store") return undefined
  const path = [organization, "benchmarks", ref.benchmark, "runs", ref.run].map(encodeURIComponent).join("/")
  return `${platform.origin.baseUrl.replace(/\/+$/, "")}/${path}`
}
