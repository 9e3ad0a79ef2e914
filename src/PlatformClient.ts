/**
 * The platform of somebody else, over HTTP: what `PlatformApi` declares, on any `HttpClient`.
 *
 * ```ts
 * import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
 * import { Config, Effect, Layer } from "effect"
 * import { Platform } from "effect-bench/Platform"
 * import * as PlatformClient from "effect-bench/PlatformClient"
 *
 * const layer = Layer.unwrapEffect(
 *   Effect.map(Config.redacted("BENCHMARKS_PLATFORM_API_KEY"), (credentials) =>
 *     PlatformClient.layer({ baseUrl: "https://platform.example.com", credentials })
 *   )
 * ).pipe(Layer.provide(FetchHttpClient.layer))
 *
 * const runs = Platform.pipe(
 *   Effect.flatMap((platform) => platform.listAllRuns({ limit: 10 })),
 *   Effect.provide(layer)
 * )
 * ```
 *
 * Failures are not tried again here: an error says whether that can help.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { Accounts } from "./Accounts.js"
import { encodeNames, formatUrl, parseBaseUrl } from "./internal/http/address.js"
import * as Connection from "./internal/http/connection.js"
import * as Derived from "./internal/http/derived.js"
import * as Objects from "./internal/http/objects.js"
import type { Issue } from "./internal/platform/validation.js"
import { heartbeat, integer, limits, page, refuse } from "./internal/platform/validation.js"
import type { InvalidRequest, ParticipantRef, PlatformError, RunRef, Unauthorized, WorkerRef } from "./Platform.js"
import { Platform } from "./Platform.js"

/**
 * Where a platform is, and who asks.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlatformClientOptions {
  /** Its root; `/api/v1` is appended. https, or http on this machine. */
  readonly baseUrl: string
  /** A key or token; an effect is asked for it at each request, so that it can be refreshed. */
  readonly credentials: Redacted.Redacted | Effect.Effect<Redacted.Redacted, Unauthorized>
  /**
   * Told of credentials that the platform did not take (401). When it answers true, the request is sent once more with
   * those that come next.
   */
  readonly invalidate?: ((rejected: Redacted.Redacted) => Effect.Effect<boolean>) | undefined
  /** Slug of the organization to act for, where the credentials give access to several. */
  readonly organization?: string | undefined
  /** Its id, instead of the slug or besides it. */
  readonly organizationId?: string | undefined
  /** How long one request may take, answer included. Default 1 minute; an upload may take longer by its size. */
  readonly requestTimeout?: Duration.DurationInput | undefined
}

// -----------------------------------------------------------------------------
// constructors
// -----------------------------------------------------------------------------

/**
 * The platform at a base URL. Fails with {@link InvalidRequest} when that is no URL that credentials may be sent to.
 * Sends nothing yet.
 *
 * Redirects are followed for what only reads; credentials go to the origin of the base URL alone.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options: PlatformClientOptions
): Effect.Effect<Platform["Type"], InvalidRequest, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const connection = yield* connect(options)
    const { api, call, events } = yield* Derived.make(connection)
    const { artifacts, benchmarks, participants, results, runs, workers } = api
    return Platform.of({
      upsertBenchmark: (benchmark, payload) =>
        call("upsertBenchmark", { benchmark }, (path) => benchmarks.upsertBenchmark({ path, payload }), {
          payload
        }).pipe(Effect.map((answer) => answer.benchmark)),
      updateBenchmark: (benchmark, payload) =>
        call("updateBenchmark", { benchmark }, (path) => benchmarks.updateBenchmark({ path, payload }), {
          payload
        }).pipe(Effect.map((answer) => answer.benchmark)),
      getBenchmark: (benchmark) =>
        call("getBenchmark", { benchmark }, (path) => benchmarks.getBenchmark({ path })).pipe(
          Effect.map((answer) => answer.benchmark)
        ),
      listBenchmarks: (urlParams) =>
        checked(
          page(urlParams),
          call("listBenchmarks", {}, () => benchmarks.listBenchmarks({ urlParams }))
        ).pipe(Effect.map((answer) => answer.items)),
      benchmarkResults: (benchmark, urlParams) =>
        checked(
          page(urlParams),
          call("benchmarkResults", { benchmark }, (path) => benchmarks.benchmarkResults({ path, urlParams }))
        ),

      createRun: (benchmark, payload) =>
        call("createRun", { benchmark }, (path) => runs.createRun({ path, payload }), { payload }),
      updateRun: (ref, payload) =>
        call("updateRun", runOf(ref), (path) => runs.updateRun({ path, payload }), { payload }).pipe(
          Effect.map((answer) => answer.run)
        ),
      getRun: (ref) =>
        call("getRun", runOf(ref), (path) => runs.getRun({ path })).pipe(Effect.map((answer) => answer.run)),
      listRuns: (benchmark, urlParams) =>
        checked(
          page(urlParams),
          call("listRuns", { benchmark }, (path) => runs.listRuns({ path, urlParams }))
        ).pipe(Effect.map((answer) => answer.items)),
      listAllRuns: (urlParams) =>
        checked(
          page(urlParams),
          call("listAllRuns", {}, () => runs.listAllRuns({ urlParams }))
        ).pipe(Effect.map((answer) => answer.items)),
      runProgress: (ref) => call("runProgress", runOf(ref), (path) => runs.runProgress({ path })),
      // A platform that answers without the summary has stored what it was sent.
      submitSummary: (ref, payload) =>
        call("submitSummary", runOf(ref), (path) => runs.submitSummary({ path, payload }), { payload }).pipe(
          Effect.map((answer) => answer.summary ?? payload)
        ),
      getSummary: (ref) =>
        call("getSummary", runOf(ref), (path) => runs.getSummary({ path }), {
          subject: { ...runOf(ref), summary: ref.run }
        }).pipe(Effect.map((answer) => answer.summary)),

      upsertParticipant: (ref, payload) =>
        call("upsertParticipant", participantOf(ref), (path) => participants.upsertParticipant({ path, payload }), {
          payload
        }).pipe(Effect.map((answer) => answer.participant)),
      updateParticipant: (ref, payload) =>
        call("updateParticipant", participantOf(ref), (path) => participants.updateParticipant({ path, payload }), {
          payload
        }).pipe(Effect.map((answer) => answer.participant)),
      getParticipant: (ref) =>
        call("getParticipant", participantOf(ref), (path) => participants.getParticipant({ path })).pipe(
          Effect.map((answer) => answer.participant)
        ),
      listParticipants: (ref) =>
        call("listParticipants", runOf(ref), (path) => participants.listParticipants({ path })).pipe(
          Effect.map((answer) => answer.items)
        ),
      participantLogs: (ref, urlParams) =>
        checked(
          integer("maxLines", urlParams.maxLines, 1),
          call("participantLogs", participantOf(ref), (path) => participants.participantLogs({ path, urlParams }))
        ),

      planWorkers: (ref, payload) =>
        call("planWorkers", participantOf(ref), (path) => workers.planWorkers({ path, payload }), { payload }).pipe(
          Effect.map((answer) => answer.workers)
        ),
      claimWorker: (ref, payload) =>
        call("claimWorker", participantOf(ref), (path) => workers.claimWorker({ path, payload }), { payload }).pipe(
          Effect.map((answer) => answer.assignment)
        ),
      listWorkers: (ref) =>
        call("listWorkers", participantOf(ref), (path) => workers.listWorkers({ path })).pipe(
          Effect.map((answer) => answer.items)
        ),
      getWorker: (ref) =>
        call("getWorker", workerOf(ref), (path) => workers.getWorker({ path })).pipe(
          Effect.map((answer) => answer.worker)
        ),
      updateWorker: (ref, payload) =>
        call("updateWorker", workerOf(ref), (path) => workers.updateWorker({ path, payload }), { payload }).pipe(
          Effect.map((answer) => answer.worker)
        ),
      heartbeat: (ref, payload) =>
        checked(
          heartbeat(payload),
          call("heartbeat", workerOf(ref), (path) => workers.heartbeat({ path, payload }), { payload })
        ),
      sendTaskResults: (ref, payload) =>
        checked(
          limits(payload),
          call("sendTaskResults", workerOf(ref), (path) => events.sendTaskResults({ path, payload }), { payload })
        ),
      completeWorker: (ref, payload) =>
        call("completeWorker", workerOf(ref), (path) => workers.completeWorker({ path, payload }), { payload }),
      failWorker: (ref, payload) =>
        call("failWorker", workerOf(ref), (path) => workers.failWorker({ path, payload }), { payload }),
      releaseWorker: (ref, payload) =>
        call("releaseWorker", workerOf(ref), (path) => workers.releaseWorker({ path, payload }), { payload }),

      runResults: (ref) => call("runResults", runOf(ref), (path) => results.runResults({ path })),
      taskBuckets: (ref, urlParams) =>
        checked(
          [
            ...integer("bucketSize", urlParams.bucketSize, 1),
            ...integer("failureLimit", urlParams.failureLimit, 0, 1000)
          ],
          call("taskBuckets", runOf(ref), (path) => results.taskBuckets({ path, urlParams }))
        ),
      runTimeline: (ref, urlParams) =>
        checked(
          integer("bucketMs", urlParams.bucketMs, 1),
          call("runTimeline", runOf(ref), (path) => results.runTimeline({ path, urlParams }))
        ),
      runImports: (ref) => call("runImports", runOf(ref), (path) => results.runImports({ path })),
      iterations: (ref, query) =>
        Effect.flatMap(encodeNames("steps", query.steps), (steps) =>
          call("iterations", runOf(ref), (path) => results.iterations({ path, urlParams: { ...query, steps } }))
        ).pipe(Effect.map((answer) => answer.tasks ?? answer.steps ?? [])),

      createArtifact: (ref, payload) =>
        call("createArtifact", workerOf(ref), (path) => artifacts.createArtifact({ path, payload }), { payload }),
      listRunArtifacts: (ref) =>
        call("listRunArtifacts", runOf(ref), (path) => artifacts.listRunArtifacts({ path })).pipe(
          Effect.map((answer) => answer.items)
        ),
      listWorkerArtifacts: (ref) =>
        call("listWorkerArtifacts", workerOf(ref), (path) => artifacts.listWorkerArtifacts({ path })).pipe(
          Effect.map((answer) => answer.items)
        ),
      getArtifact: (ref, artifact) =>
        call("getArtifact", { ...runOf(ref), artifact }, (path) => artifacts.getArtifact({ path })),
      ...Objects.make(connection),

      origin: { kind: "remote", baseUrl: formatUrl(connection.root), organization: options.organization }
    })
  })

/**
 * The accounts of the platform at a base URL. Fails like {@link make}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeAccounts = (
  options: PlatformClientOptions
): Effect.Effect<Accounts["Type"], InvalidRequest, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { api, call } = yield* Derived.make(yield* connect(options))
    return Accounts.of({
      me: call("me", {}, () => api.accounts.me({})),
      organizations: Effect.map(
        call("organizations", {}, () => api.accounts.organizations({})),
        (answer) => answer.items
      ),
      activate: (slug) =>
        Effect.map(
          call("activate", {}, () => api.accounts.activate({ payload: { slug } })),
          (answer) => answer.organization
        )
    })
  })

// -----------------------------------------------------------------------------
// layers
// -----------------------------------------------------------------------------

/**
 * The platform at a base URL; see {@link make}.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: PlatformClientOptions): Layer.Layer<Platform, InvalidRequest, HttpClient.HttpClient> =>
  Layer.effect(Platform, make(options))

/**
 * The accounts of the platform at a base URL; see {@link makeAccounts}.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerAccounts = (
  options: PlatformClientOptions
): Layer.Layer<Accounts, InvalidRequest, HttpClient.HttpClient> => Layer.effect(Accounts, makeAccounts(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const connect = (options: PlatformClientOptions) =>
  Effect.gen(function* () {
    const root = yield* parseBaseUrl(options.baseUrl)
    return Connection.make(
      {
        root,
        credentials: options.credentials,
        invalidate: options.invalidate,
        organization: options.organization,
        organizationId: options.organizationId,
        requestTimeout: Duration.decode(options.requestTimeout ?? "1 minute")
      },
      yield* HttpClient.HttpClient
    )
  })

const checked = <A>(issues: ReadonlyArray<Issue>, call: Effect.Effect<A, PlatformError>) =>
  Effect.zipRight(refuse(issues), call)

const runOf = ({ benchmark, run }: RunRef) => ({ benchmark, run })

const participantOf = ({ benchmark, participant, run }: ParticipantRef) => ({ benchmark, run, participant })

const workerOf = ({ benchmark, participant, run, worker }: WorkerRef) => ({ benchmark, run, participant, worker })
