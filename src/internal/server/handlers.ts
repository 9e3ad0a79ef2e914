/** The handlers of `PlatformApi`: each carries out one operation of what the request's authorization provides. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Accounts } from "../../Accounts.js"
import type { PlatformError } from "../../Platform.js"
import { Platform } from "../../Platform.js"
import type { Refusal } from "../../PlatformApi.js"
import { PlatformApi } from "../../PlatformApi.js"
import { refuse } from "../http/refusals.js"
import * as TaskResults from "./taskResults.js"

const benchmarks = HttpApiBuilder.group(PlatformApi, "benchmarks", (handlers) =>
  handlers
    .handle("listBenchmarks", ({ urlParams }) => items((platform) => platform.listBenchmarks(urlParams)))
    .handle("upsertBenchmark", ({ path, payload }) =>
      carryOut((platform) => platform.upsertBenchmark(path.benchmark, payload)).pipe(Effect.bindTo("benchmark"))
    )
    .handle("updateBenchmark", ({ path, payload }) =>
      carryOut((platform) => platform.updateBenchmark(path.benchmark, payload)).pipe(Effect.bindTo("benchmark"))
    )
    .handle("getBenchmark", ({ path }) =>
      carryOut((platform) => platform.getBenchmark(path.benchmark)).pipe(Effect.bindTo("benchmark"))
    )
    .handle("benchmarkResults", ({ path, urlParams }) =>
      carryOut((platform) => platform.benchmarkResults(path.benchmark, urlParams))
    )
)

const runs = HttpApiBuilder.group(PlatformApi, "runs", (handlers) =>
  handlers
    .handle("listAllRuns", ({ urlParams }) => items((platform) => platform.listAllRuns(urlParams)))
    .handle("createRun", ({ path, payload }) => carryOut((platform) => platform.createRun(path.benchmark, payload)))
    .handle("listRuns", ({ path, urlParams }) => items((platform) => platform.listRuns(path.benchmark, urlParams)))
    .handle("updateRun", ({ path, payload }) =>
      carryOut((platform) => platform.updateRun(path, payload)).pipe(Effect.bindTo("run"))
    )
    .handle("getRun", ({ path }) => carryOut((platform) => platform.getRun(path)).pipe(Effect.bindTo("run")))
    .handle("runProgress", ({ path }) => carryOut((platform) => platform.runProgress(path)))
    .handle("submitSummary", ({ path, payload }) =>
      carryOut((platform) => platform.submitSummary(path, payload)).pipe(Effect.bindTo("summary"))
    )
    .handle("getSummary", ({ path }) =>
      carryOut((platform) => platform.getSummary(path)).pipe(Effect.bindTo("summary"))
    )
)

const participants = HttpApiBuilder.group(PlatformApi, "participants", (handlers) =>
  handlers
    .handle("listParticipants", ({ path }) => items((platform) => platform.listParticipants(path)))
    .handle("upsertParticipant", ({ path, payload }) =>
      carryOut((platform) => platform.upsertParticipant(path, payload)).pipe(Effect.bindTo("participant"))
    )
    .handle("updateParticipant", ({ path, payload }) =>
      carryOut((platform) => platform.updateParticipant(path, payload)).pipe(Effect.bindTo("participant"))
    )
    .handle("getParticipant", ({ path }) =>
      carryOut((platform) => platform.getParticipant(path)).pipe(Effect.bindTo("participant"))
    )
    .handle("participantLogs", ({ path, urlParams }) =>
      carryOut((platform) => platform.participantLogs(path, urlParams))
    )
)

const workers = HttpApiBuilder.group(PlatformApi, "workers", (handlers) =>
  handlers
    .handle("planWorkers", ({ path, payload }) =>
      carryOut((platform) => platform.planWorkers(path, payload)).pipe(Effect.bindTo("workers"))
    )
    .handle("listWorkers", ({ path }) => items((platform) => platform.listWorkers(path)))
    .handle("claimWorker", ({ path, payload }) =>
      carryOut((platform) => platform.claimWorker(path, payload)).pipe(Effect.bindTo("assignment"))
    )
    .handle("getWorker", ({ path }) => carryOut((platform) => platform.getWorker(path)).pipe(Effect.bindTo("worker")))
    .handle("updateWorker", ({ path, payload }) =>
      carryOut((platform) => platform.updateWorker(path, payload)).pipe(Effect.bindTo("worker"))
    )
    .handle("heartbeat", ({ path, payload }) => carryOut((platform) => platform.heartbeat(path, payload)))
    .handleRaw("sendTaskResults", ({ path, request }) =>
      Effect.flatMap(taskResults(request), (payload) => carryOut((platform) => platform.sendTaskResults(path, payload)))
    )
    .handle("completeWorker", ({ path, payload }) => carryOut((platform) => platform.completeWorker(path, payload)))
    .handle("failWorker", ({ path, payload }) => carryOut((platform) => platform.failWorker(path, payload)))
    .handle("releaseWorker", ({ path, payload }) => carryOut((platform) => platform.releaseWorker(path, payload)))
)

const results = HttpApiBuilder.group(PlatformApi, "results", (handlers) =>
  handlers
    .handle("runResults", ({ path }) => carryOut((platform) => platform.runResults(path)))
    .handle("taskBuckets", ({ path, urlParams }) => carryOut((platform) => platform.taskBuckets(path, urlParams)))
    .handle("runTimeline", ({ path, urlParams }) => carryOut((platform) => platform.runTimeline(path, urlParams)))
    .handle("runImports", ({ path }) => carryOut((platform) => platform.runImports(path)))
    .handle("iterations", ({ path, urlParams }) =>
      carryOut((platform) =>
        Effect.all({
          run: platform.getRun(path),
          generatedAt: Effect.map(DateTime.now, DateTime.formatIso),
          [urlParams.type ?? "tasks"]: platform.iterations(path, urlParams)
        })
      )
    )
)

const artifacts = HttpApiBuilder.group(PlatformApi, "artifacts", (handlers) =>
  handlers
    .handle("createArtifact", ({ path, payload }) => carryOut((platform) => platform.createArtifact(path, payload)))
    .handle("listWorkerArtifacts", ({ path }) => items((platform) => platform.listWorkerArtifacts(path)))
    .handle("listRunArtifacts", ({ path }) => items((platform) => platform.listRunArtifacts(path)))
    .handle("getArtifact", ({ path }) => carryOut((platform) => platform.getArtifact(path, path.artifact)))
)

const accounts = HttpApiBuilder.group(PlatformApi, "accounts", (handlers) =>
  handlers
    .handle("me", () => Effect.flatMap(Accounts, ({ me }) => orRefuse(me)))
    .handle("organizations", () =>
      Effect.flatMap(Accounts, ({ organizations }) => orRefuse(organizations)).pipe(Effect.bindTo("items"))
    )
    .handle("activate", ({ payload }) =>
      Effect.flatMap(Accounts, ({ activate }) => orRefuse(activate(payload.slug))).pipe(
        Effect.map((organization) => ({ activeOrganizationId: organization.id, organization }))
      )
    )
)

export const layer = Layer.mergeAll(benchmarks, runs, participants, workers, results, artifacts, accounts)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What is wrong with a body is a defect here, as for every other payload: what is around the handlers answers it. */
const taskResults = (request: HttpServerRequest) =>
  Effect.orDie(request.json).pipe(
    Effect.flatMap(TaskResults.decode),
    Effect.catchTags({ InvalidRequest: refuse, BodyRefused: Effect.die })
  )

const orRefuse = <A>(operation: Effect.Effect<A, PlatformError>): Effect.Effect<A, Refusal> =>
  Effect.catchAll(operation, refuse)

const carryOut = <A>(operation: (platform: Platform["Type"]) => Effect.Effect<A, PlatformError>) =>
  Effect.flatMap(Platform, (platform) => orRefuse(operation(platform)))

const items = <A>(operation: (platform: Platform["Type"]) => Effect.Effect<ReadonlyArray<A>, PlatformError>) =>
  carryOut(operation).pipe(Effect.bindTo("items"))
