/**
 * The platform contract as REST resources. Client, server and the OpenAPI document are derived from it: every endpoint is
 * named like the operation of `Platform` (or `Accounts`) that it carries.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Accounts, Me, Organization } from "./Accounts.js"
import {
  benchmarkPath,
  benchmarkRoute,
  body,
  items,
  participantPath,
  participantRoute,
  runPath,
  runRoute,
  sendTaskResults,
  workerPath,
  workerRoute
} from "./internal/http/endpoint.js"
import {
  Forbidden,
  InternalError,
  Refusal,
  TooManyRequests,
  Unauthenticated,
  Unavailable
} from "./internal/http/errorBodies.js"
import { describe } from "./internal/http/openApi.js"
import { nullable, optionalOrNull } from "./internal/platform/schemas.js"
import { maxInteger } from "./internal/platform/validation.js"
import {
  Artifact,
  ArtifactDownload,
  ArtifactInput,
  ArtifactUpload,
  Assignment,
  Attempt,
  Benchmark,
  BenchmarkInput,
  BenchmarkResults,
  ClaimInput,
  CloseInput,
  HeartbeatInput,
  Iteration,
  Participant,
  ParticipantInput,
  ParticipantLogs,
  PlanWorkersInput,
  Platform,
  Run,
  RunImports,
  RunInput,
  RunPatch,
  RunProgress,
  RunResults,
  RunSummary,
  RunTimeline,
  TaskBuckets,
  Worker,
  WorkerPatch
} from "./Platform.js"

export * from "./internal/http/errorBodies.js"

// -----------------------------------------------------------------------------
// authorization
// -----------------------------------------------------------------------------

const authorization = {
  failure: Schema.Union(Unauthenticated, Forbidden, TooManyRequests, InternalError, Unavailable),
  security: { bearer: HttpApiSecurity.bearer }
}

/**
 * Turns the key of a request (empty when there is none) into the platform of the organization that it may use.
 *
 * @since 0.1.0
 * @category services
 */
export class PlatformAuthorization extends HttpApiMiddleware.Tag<PlatformAuthorization>()(
  "effect-bench/PlatformApi/PlatformAuthorization",
  { ...authorization, provides: Platform }
) {}

/**
 * Turns the key of a request (empty when there is none) into the accounts that it gives access to.
 *
 * @since 0.1.0
 * @category services
 */
export class AccountsAuthorization extends HttpApiMiddleware.Tag<AccountsAuthorization>()(
  "effect-bench/PlatformApi/AccountsAuthorization",
  { ...authorization, provides: Accounts }
) {}

// -----------------------------------------------------------------------------
// answers
// -----------------------------------------------------------------------------

const BenchmarkAnswer = Schema.Struct({ benchmark: Benchmark })
const RunAnswer = Schema.Struct({ run: Run })
const ParticipantAnswer = Schema.Struct({ participant: Participant })
const WorkerAnswer = Schema.Struct({ worker: Worker })
const AttemptAnswer = Schema.Struct({ worker: Worker, attempt: Attempt })

const CreatedRun = Schema.Struct({
  run: Run,
  participants: Schema.Array(Participant),
  organizationSlug: Schema.String
}).annotations(HttpApiSchema.annotations({ status: 201 }))

const Iterations = Schema.Struct({
  run: Run,
  generatedAt: Schema.String,
  tasks: optionalOrNull(Schema.Array(Iteration)),
  steps: optionalOrNull(Schema.Array(Iteration))
})

// -----------------------------------------------------------------------------
// queries
// -----------------------------------------------------------------------------

const whole = (minimum: number, maximum = maxInteger) =>
  Schema.optional(
    Schema.NumberFromString.pipe(
      Schema.compose(Schema.Int.pipe(Schema.between(minimum, maximum))),
      Schema.annotations({ jsonSchema: { type: "integer", minimum, maximum } })
    )
  )

const Page = Schema.Struct({ limit: whole(1, 500), offset: whole(0) })

// An empty text names no step.
const Names = Schema.transform(Schema.String, Schema.Array(Schema.String), {
  strict: true,
  decode: (text) => (text === "" ? [] : text.split(",")),
  encode: (names) => names.join(",")
})

// -----------------------------------------------------------------------------
// groups
// -----------------------------------------------------------------------------

class BenchmarksGroup extends HttpApiGroup.make("benchmarks")
  .add(HttpApiEndpoint.get("listBenchmarks", "/benchmarks").setUrlParams(Page).addSuccess(items(Benchmark)))
  .add(
    HttpApiEndpoint.put("upsertBenchmark", benchmarkRoute)
      .setPath(benchmarkPath)
      .setPayload(body("BenchmarkInput", BenchmarkInput))
      .addSuccess(BenchmarkAnswer)
  )
  .add(
    HttpApiEndpoint.patch("updateBenchmark", benchmarkRoute)
      .setPath(benchmarkPath)
      .setPayload(body("BenchmarkInput", BenchmarkInput))
      .addSuccess(BenchmarkAnswer)
  )
  .add(HttpApiEndpoint.get("getBenchmark", benchmarkRoute).setPath(benchmarkPath).addSuccess(BenchmarkAnswer))
  .add(
    HttpApiEndpoint.get("benchmarkResults", `${benchmarkRoute}/results`)
      .setPath(benchmarkPath)
      .setUrlParams(Page)
      .addSuccess(BenchmarkResults)
  )
  .middleware(PlatformAuthorization) {}

class RunsGroup extends HttpApiGroup.make("runs")
  .add(HttpApiEndpoint.get("listAllRuns", "/benchmarks/runs").setUrlParams(Page).addSuccess(items(Run)))
  .add(
    HttpApiEndpoint.post("createRun", `${benchmarkRoute}/runs`)
      .setPath(benchmarkPath)
      .setPayload(body("RunInput", RunInput))
      .addSuccess(CreatedRun)
  )
  .add(
    HttpApiEndpoint.get("listRuns", `${benchmarkRoute}/runs`)
      .setPath(benchmarkPath)
      .setUrlParams(Page)
      .addSuccess(items(Run))
  )
  .add(
    HttpApiEndpoint.patch("updateRun", runRoute)
      .setPath(runPath)
      .setPayload(body("RunPatch", RunPatch))
      .addSuccess(RunAnswer)
  )
  .add(HttpApiEndpoint.get("getRun", runRoute).setPath(runPath).addSuccess(RunAnswer))
  .add(HttpApiEndpoint.get("runProgress", `${runRoute}/progress`).setPath(runPath).addSuccess(RunProgress))
  .add(
    HttpApiEndpoint.post("submitSummary", `${runRoute}/summary`)
      .setPath(runPath)
      .setPayload(body("RunSummary", RunSummary))
      .addSuccess(Schema.Struct({ summary: optionalOrNull(RunSummary) }))
  )
  .add(
    HttpApiEndpoint.get("getSummary", `${runRoute}/summary`)
      .setPath(runPath)
      .addSuccess(Schema.Struct({ summary: RunSummary }))
  )
  .middleware(PlatformAuthorization) {}

class ParticipantsGroup extends HttpApiGroup.make("participants")
  .add(
    HttpApiEndpoint.get("listParticipants", `${runRoute}/participants`).setPath(runPath).addSuccess(items(Participant))
  )
  .add(
    HttpApiEndpoint.put("upsertParticipant", participantRoute)
      .setPath(participantPath)
      .setPayload(body("ParticipantInput", ParticipantInput))
      .addSuccess(ParticipantAnswer)
  )
  .add(
    HttpApiEndpoint.patch("updateParticipant", participantRoute)
      .setPath(participantPath)
      .setPayload(body("ParticipantInput", ParticipantInput))
      .addSuccess(ParticipantAnswer)
  )
  .add(HttpApiEndpoint.get("getParticipant", participantRoute).setPath(participantPath).addSuccess(ParticipantAnswer))
  .add(
    HttpApiEndpoint.get("participantLogs", `${participantRoute}/logs`)
      .setPath(participantPath)
      .setUrlParams(Schema.Struct({ maxLines: whole(1) }))
      .addSuccess(ParticipantLogs)
  )
  .middleware(PlatformAuthorization) {}

class WorkersGroup extends HttpApiGroup.make("workers")
  .add(
    HttpApiEndpoint.post("planWorkers", `${participantRoute}/workers`)
      .setPath(participantPath)
      .setPayload(body("PlanWorkersInput", PlanWorkersInput))
      .addSuccess(Schema.Struct({ workers: Schema.Array(Worker) }))
  )
  .add(
    HttpApiEndpoint.get("listWorkers", `${participantRoute}/workers`).setPath(participantPath).addSuccess(items(Worker))
  )
  .add(
    HttpApiEndpoint.post("claimWorker", `${participantRoute}/workers/claim`)
      .setPath(participantPath)
      .setPayload(body("ClaimInput", ClaimInput))
      .addSuccess(Schema.Struct({ assignment: nullable(Assignment) }))
  )
  .add(HttpApiEndpoint.get("getWorker", workerRoute).setPath(workerPath).addSuccess(WorkerAnswer))
  .add(
    HttpApiEndpoint.patch("updateWorker", workerRoute)
      .setPath(workerPath)
      .setPayload(body("WorkerPatch", WorkerPatch))
      .addSuccess(WorkerAnswer)
  )
  .add(
    HttpApiEndpoint.post("heartbeat", `${workerRoute}/heartbeat`)
      .setPath(workerPath)
      .setPayload(body("HeartbeatInput", HeartbeatInput))
      .addSuccess(AttemptAnswer)
  )
  .add(sendTaskResults)
  .add(
    HttpApiEndpoint.post("completeWorker", `${workerRoute}/complete`)
      .setPath(workerPath)
      .setPayload(body("CloseInput", CloseInput))
      .addSuccess(AttemptAnswer)
  )
  .add(
    HttpApiEndpoint.post("failWorker", `${workerRoute}/fail`)
      .setPath(workerPath)
      .setPayload(body("CloseInput", CloseInput))
      .addSuccess(AttemptAnswer)
  )
  .add(
    HttpApiEndpoint.post("releaseWorker", `${workerRoute}/release`)
      .setPath(workerPath)
      .setPayload(body("CloseInput", CloseInput))
      .addSuccess(AttemptAnswer)
  )
  .middleware(PlatformAuthorization) {}

class ResultsGroup extends HttpApiGroup.make("results")
  .add(HttpApiEndpoint.get("runResults", `${runRoute}/results`).setPath(runPath).addSuccess(RunResults))
  .add(
    HttpApiEndpoint.get("taskBuckets", `${runRoute}/results/tasks`)
      .setPath(runPath)
      .setUrlParams(Schema.Struct({ bucketSize: whole(1), failureLimit: whole(0, 1000) }))
      .addSuccess(TaskBuckets)
  )
  .add(
    HttpApiEndpoint.get("runTimeline", `${runRoute}/results/timeline`)
      .setPath(runPath)
      .setUrlParams(Schema.Struct({ bucketMs: whole(1) }))
      .addSuccess(RunTimeline)
  )
  .add(HttpApiEndpoint.get("runImports", `${runRoute}/results/imports`).setPath(runPath).addSuccess(RunImports))
  .add(
    HttpApiEndpoint.get("iterations", `${runRoute}/iterations`)
      .setPath(runPath)
      .setUrlParams(
        Schema.Struct({
          type: Schema.optional(Schema.Literal("tasks", "steps")),
          participant: Schema.optional(Schema.String),
          steps: Schema.optional(Names)
        })
      )
      .addSuccess(Iterations)
  )
  .middleware(PlatformAuthorization) {}

class ArtifactsGroup extends HttpApiGroup.make("artifacts")
  .add(
    HttpApiEndpoint.post("createArtifact", `${workerRoute}/artifacts`)
      .setPath(workerPath)
      .setPayload(body("ArtifactInput", ArtifactInput))
      .addSuccess(ArtifactUpload)
  )
  .add(
    HttpApiEndpoint.get("listWorkerArtifacts", `${workerRoute}/artifacts`)
      .setPath(workerPath)
      .addSuccess(items(Artifact))
  )
  .add(HttpApiEndpoint.get("listRunArtifacts", `${runRoute}/artifacts`).setPath(runPath).addSuccess(items(Artifact)))
  .add(
    HttpApiEndpoint.get("getArtifact", `${runRoute}/artifacts/:artifact`)
      .setPath(Schema.Struct({ ...runPath.fields, artifact: Schema.String }))
      .addSuccess(ArtifactDownload)
  )
  .middleware(PlatformAuthorization) {}

class AccountsGroup extends HttpApiGroup.make("accounts")
  .add(HttpApiEndpoint.get("me", "/me").addSuccess(Me))
  .add(HttpApiEndpoint.get("organizations", "/organizations").addSuccess(items(Organization)))
  .add(
    HttpApiEndpoint.post("activate", "/organizations")
      .setPayload(body("ActivateInput", Schema.Struct({ slug: Schema.NonEmptyString })))
      .addSuccess(Schema.Struct({ activeOrganizationId: optionalOrNull(Schema.String), organization: Organization }))
  )
  .middleware(AccountsAuthorization) {}

// -----------------------------------------------------------------------------
// api
// -----------------------------------------------------------------------------

/**
 * Every call of a platform, below `/api/v1`. Any of them may be refused with a {@link Refusal}. The bytes of artifacts
 * are not part of it: they travel to and from the URLs that `createArtifact` and `getArtifact` hand out.
 *
 * @since 0.1.0
 * @category schemas
 */
export class PlatformApi extends HttpApi.make("effect-bench")
  .add(BenchmarksGroup)
  .add(RunsGroup)
  .add(ParticipantsGroup)
  .add(WorkersGroup)
  .add(ResultsGroup)
  .add(ArtifactsGroup)
  .add(AccountsGroup)
  .addError(Refusal)
  .prefix("/api/v1")
  .annotateContext(
    OpenApi.annotations({
      title: "Benchmark platform",
      version: "1",
      description: "Benchmarks, their runs, the workers that carry them out, and the results those report.",
      transform: describe
    })
  ) {}

/**
 * The OpenAPI 3.1 document of {@link PlatformApi}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openApi = (): OpenApi.OpenAPISpec =>
  OpenApi.fromApi(PlatformApi, { additionalPropertiesStrategy: "allow" })
