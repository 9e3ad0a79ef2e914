/** The REST client of promises: `PlatformClient`, one method a request. */
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Accounts } from "../../Accounts.js"
import type {
  Artifact,
  ArtifactDownload,
  ArtifactUpload,
  Platform,
  PlatformError,
  Unauthorized
} from "../../Platform.js"
import {
  InvalidRequest,
  PlatformFailure,
  RequestTooLarge,
  ResourceConflict,
  ResourceNotFound,
  Unauthorized as UnauthorizedError
} from "../../Platform.js"
import * as BaseUrl from "../credentials/baseUrl.js"
import { isSendable } from "../credentials/documents.js"
import { secret, setting, trimmed } from "../credentials/environment.js"
import { messageOf } from "../json.js"
import { fromPlatformError } from "./apiError.js"
import type { BenchmarkClientOptions, PlatformMethods, UploadInput } from "./clientModel.js"
import { AuthError } from "./errors.js"
import { runPromise } from "./runtime.js"

/** Where to and as whom, decided. */
export interface Endpoint {
  readonly baseUrl: string
  readonly credentials: Redacted.Redacted | Effect.Effect<Redacted.Redacted, Unauthorized>
  readonly invalidate?: ((rejected: Redacted.Redacted) => Effect.Effect<boolean>) | undefined
  readonly organization?: string | undefined
  readonly organizationId?: string | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** What options and the environment say. Throws an `AuthError` when there are no credentials, or they cannot be used. */
export const endpointOf = (options: BenchmarkClientOptions): Endpoint => {
  const baseUrl = Either.getOrThrowWith(
    BaseUrl.parse(
      given(options.baseUrl) ?? Effect.runSync(setting("BENCHMARKS_PLATFORM_URL")) ?? BaseUrl.defaultBaseUrl,
      "baseUrl"
    ),
    ({ message }) => new AuthError(message)
  )
  const credentials =
    secretOf(options.token) ??
    secretOf(options.apiKey) ??
    Effect.runSync(secret("BENCHMARKS_PLATFORM_TOKEN")) ??
    Effect.runSync(secret("BENCHMARKS_PLATFORM_API_KEY"))
  if (credentials === undefined) throw new AuthError(noCredentials(baseUrl))
  if (!isSendable(Redacted.value(credentials))) {
    throw new AuthError(`The credentials for ${baseUrl} hold characters that no key and no token has: copy them again.`)
  }
  return {
    baseUrl,
    credentials,
    organization: given(options.orgSlug),
    organizationId: given(options.orgId),
    fetch: options.fetch
  }
}

export const noCredentials = (baseUrl: string): string =>
  `There are no credentials for ${baseUrl}: pass apiKey or token, set BENCHMARKS_PLATFORM_API_KEY, or sign in with \`bench auth login\` and use createApiClient.`

/** A method for every request of the contract. */
export const createMethods = (endpoint: Endpoint): PlatformMethods => {
  const connect = connection(endpoint)
  const ask = <A>(operation: string, use: (connected: Connected) => Effect.Effect<A, PlatformError>): Promise<A> =>
    run(operation, endpoint, Effect.flatMap(connect, use))
  const items = <A>(list: Effect.Effect<ReadonlyArray<A>, PlatformError>) => Effect.map(list, (items) => ({ items }))

  const methods: PlatformMethods = {
    listBenchmarks: (page = {}) => ask("listBenchmarks", ({ platform }) => items(platform.listBenchmarks(page))),
    getBenchmark: (slug) =>
      ask("getBenchmark", ({ platform }) => Effect.map(platform.getBenchmark(slug), (benchmark) => ({ benchmark }))),
    upsertBenchmark: (slug, input = {}) =>
      ask("upsertBenchmark", ({ platform }) =>
        Effect.map(platform.upsertBenchmark(slug, input), (benchmark) => ({ benchmark }))
      ),
    updateBenchmark: (slug, input) =>
      ask("updateBenchmark", ({ platform }) =>
        Effect.map(platform.updateBenchmark(slug, input), (benchmark) => ({ benchmark }))
      ),
    getBenchmarkResults: (slug, page = {}) =>
      ask("getBenchmarkResults", ({ platform }) => platform.benchmarkResults(slug, page)),

    createRun: (slug, input = {}) => ask("createRun", ({ platform }) => platform.createRun(slug, input)),
    listRuns: (slug, page = {}) => ask("listRuns", ({ platform }) => items(platform.listRuns(slug, page))),
    listAllRuns: (page = {}) => ask("listAllRuns", ({ platform }) => items(platform.listAllRuns(page))),
    getRun: (benchmark, run) =>
      ask("getRun", ({ platform }) => Effect.map(platform.getRun({ benchmark, run }), (run) => ({ run }))),
    updateRun: (benchmark, run, patch) =>
      ask("updateRun", ({ platform }) => Effect.map(platform.updateRun({ benchmark, run }, patch), (run) => ({ run }))),
    closeRun: (benchmark, run, { status = "completed" } = {}) =>
      ask("closeRun", ({ platform }) =>
        Effect.map(platform.updateRun({ benchmark, run }, { status }), (run) => ({ run }))
      ),
    getRunProgress: (benchmark, run) =>
      ask("getRunProgress", ({ platform }) => platform.runProgress({ benchmark, run })),
    submitRunSummary: (benchmark, run, summary) =>
      ask("submitRunSummary", ({ platform }) =>
        Effect.map(platform.submitSummary({ benchmark, run }, summary), (summary) => ({ summary }))
      ),
    getRunSummary: (benchmark, run) =>
      ask("getRunSummary", ({ platform }) =>
        Effect.map(platform.getSummary({ benchmark, run }), (summary) => ({ summary }))
      ),

    listParticipants: (benchmark, run) =>
      ask("listParticipants", ({ platform }) => items(platform.listParticipants({ benchmark, run }))),
    getParticipant: (benchmark, run, participant) =>
      ask("getParticipant", ({ platform }) =>
        Effect.map(platform.getParticipant({ benchmark, run, participant }), (participant) => ({ participant }))
      ),
    upsertParticipant: (benchmark, run, participant, input = {}) =>
      ask("upsertParticipant", ({ platform }) =>
        Effect.map(platform.upsertParticipant({ benchmark, run, participant }, input), (participant) => ({
          participant
        }))
      ),
    updateParticipant: (benchmark, run, participant, input) =>
      ask("updateParticipant", ({ platform }) =>
        Effect.map(platform.updateParticipant({ benchmark, run, participant }, input), (participant) => ({
          participant
        }))
      ),
    getParticipantLogs: (benchmark, run, participant, query = {}) =>
      ask("getParticipantLogs", ({ platform }) => platform.participantLogs({ benchmark, run, participant }, query)),

    createWorkers: (benchmark, run, participant, input = {}) =>
      ask("createWorkers", ({ platform }) =>
        Effect.map(platform.planWorkers({ benchmark, run, participant }, input), (workers) => ({ workers }))
      ),
    listWorkers: (benchmark, run, participant) =>
      ask("listWorkers", ({ platform }) => items(platform.listWorkers({ benchmark, run, participant }))),
    getWorker: (benchmark, run, participant, worker) =>
      ask("getWorker", ({ platform }) =>
        Effect.map(platform.getWorker({ benchmark, run, participant, worker }), (worker) => ({ worker }))
      ),
    updateWorker: (benchmark, run, participant, worker, patch) =>
      ask("updateWorker", ({ platform }) =>
        Effect.map(platform.updateWorker({ benchmark, run, participant, worker }, patch), (worker) => ({ worker }))
      ),
    claimWorker: (benchmark, run, participant, input = {}) =>
      ask("claimWorker", ({ platform }) =>
        Effect.map(platform.claimWorker({ benchmark, run, participant }, input), (assignment) => ({ assignment }))
      ),
    heartbeatWorker: (benchmark, run, participant, worker, input) =>
      ask("heartbeatWorker", ({ platform }) => platform.heartbeat({ benchmark, run, participant, worker }, input)),
    releaseWorker: (benchmark, run, participant, worker, input) =>
      ask("releaseWorker", ({ platform }) => platform.releaseWorker({ benchmark, run, participant, worker }, input)),
    completeWorker: (benchmark, run, participant, worker, input) =>
      ask("completeWorker", ({ platform }) => platform.completeWorker({ benchmark, run, participant, worker }, input)),
    failWorker: (benchmark, run, participant, worker, input) =>
      ask("failWorker", ({ platform }) => platform.failWorker({ benchmark, run, participant, worker }, input)),
    sendTaskResults: (benchmark, run, participant, worker, input) =>
      ask("sendTaskResults", ({ platform }) =>
        platform.sendTaskResults({ benchmark, run, participant, worker }, { ...input, type: "task_results" })
      ),

    createArtifact: (benchmark, run, participant, worker, input) =>
      ask("createArtifact", ({ platform }) => platform.createArtifact({ benchmark, run, participant, worker }, input)),
    uploadArtifact: (benchmark, run, participant, worker, input) =>
      ask("uploadArtifact", ({ platform }) =>
        Effect.flatMap(contentOf(input), ({ content, ...announced }) =>
          Effect.tap(
            platform.createArtifact({ benchmark, run, participant, worker }, announced),
            (upload: ArtifactUpload) => platform.uploadArtifact(upload, content)
          )
        )
      ),
    listRunArtifacts: (benchmark, run) =>
      ask("listRunArtifacts", ({ platform }) => items(platform.listRunArtifacts({ benchmark, run }))),
    listWorkerArtifacts: (benchmark, run, participant, worker) =>
      ask("listWorkerArtifacts", ({ platform }) =>
        items(platform.listWorkerArtifacts({ benchmark, run, participant, worker }))
      ),
    getArtifact: (benchmark, run, id) =>
      ask("getArtifact", ({ platform }) => platform.getArtifact({ benchmark, run }, id)),
    downloadArtifact: (benchmark, run, id) =>
      ask("downloadArtifact", ({ platform }) =>
        Effect.gen(function* () {
          const download: ArtifactDownload = yield* platform.getArtifact({ benchmark, run }, id)
          const chunks = yield* Stream.runCollect(platform.downloadArtifact(download))
          const { artifact } = download
          return { artifact, content: yield* uncompressed(artifact, Buffer.concat([...chunks])) }
        })
      ),

    getRunResults: (benchmark, run) => ask("getRunResults", ({ platform }) => platform.runResults({ benchmark, run })),
    getTaskResults: (benchmark, run, query = {}) =>
      ask("getTaskResults", ({ platform }) => platform.taskBuckets({ benchmark, run }, query)),
    getRunTimeline: (benchmark, run, query = {}) =>
      ask("getRunTimeline", ({ platform }) => platform.runTimeline({ benchmark, run }, query)),
    getRunImports: (benchmark, run) => ask("getRunImports", ({ platform }) => platform.runImports({ benchmark, run })),
    getRunIterations: (benchmark, run, query = {}) =>
      ask("getRunIterations", ({ platform }) => items(platform.iterations({ benchmark, run }, query))),

    getMe: () => ask("getMe", ({ accounts }) => accounts.me),
    listOrganizations: () => ask("listOrganizations", ({ accounts }) => items(accounts.organizations)),
    setActiveOrganization: (slug) =>
      ask("setActiveOrganization", ({ accounts }) =>
        Effect.map(accounts.activate(slug), (organization) => ({ organization }))
      )
  }
  platforms.set(methods, { endpoint, platform: Effect.map(connect, ({ platform }) => platform) })
  return methods
}

/** The platform behind a client that was made here, and how effects on it are run; undefined of any other client. */
export const platformOf = (client: object): PlatformOfClient | undefined => platforms.get(client)

export interface PlatformOfClient {
  readonly platform: Effect.Effect<Platform["Type"], PlatformError>
  readonly endpoint: Endpoint
}

/** Lets a client that has another's methods stand for the same platform. */
export const sharePlatform = (from: object, to: object): void => {
  const known = platforms.get(from)
  if (known !== undefined) platforms.set(to, known)
}

/** Requests of an effect go out by the `fetch` that the client was given. */
export const withFetch = <A, E, R>({ fetch }: Endpoint, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  fetch === undefined ? effect : Effect.provideService(effect, FetchHttpClient.Fetch, fetch)

/** An error of the platform as clients know it, after an answer of this status; anything else as it is. */
export const asApiError = (operation: string, error: unknown, answered?: number): unknown =>
  isPlatformError(error) ? fromPlatformError(operation, error, answered) : error

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const platforms = new WeakMap<object, PlatformOfClient>()

interface Connected {
  readonly platform: Platform["Type"]
  readonly accounts: Accounts["Type"]
}

const isPlatformError = Schema.is(
  Schema.Union(ResourceNotFound, ResourceConflict, InvalidRequest, UnauthorizedError, RequestTooLarge, PlatformFailure)
)

const given = (text: string | undefined): string | undefined => text?.trim() || undefined

const secretOf = (text: string | undefined): Redacted.Redacted | undefined =>
  text === undefined ? undefined : trimmed(Redacted.make(text))

/** Made once, with the first request: deriving the client from the contract takes some tens of milliseconds. */
const connection = (endpoint: Endpoint): Effect.Effect<Connected, PlatformError> => {
  let connected: Connected | undefined = undefined
  return Effect.suspend(() =>
    connected === undefined
      ? Effect.gen(function* () {
          const { make, makeAccounts } = yield* Effect.promise(() => import("../../PlatformClient.js"))
          const { fetch: _, ...options } = endpoint
          const platform = yield* make(options)
          const accounts = yield* makeAccounts(options)
          return (connected = { platform, accounts })
        }).pipe(Effect.provide(FetchHttpClient.layer))
      : Effect.succeed(connected)
  )
}

const run = async <A>(operation: string, endpoint: Endpoint, effect: Effect.Effect<A, PlatformError>): Promise<A> => {
  let answered: number | undefined = undefined
  const noting: typeof globalThis.fetch = async (input, init) => {
    answered = undefined
    const response = await (endpoint.fetch ?? globalThis.fetch)(input, init)
    answered = response.status
    return response
  }
  try {
    return await runPromise(withFetch({ ...endpoint, fetch: noting }, effect))
  } catch (error) {
    throw asApiError(operation, error, answered)
  }
}

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** What is announced, and the bytes that follow. */
const contentOf = ({ body, compression = "none", ...input }: UploadInput) => {
  const bytes = typeof body === "string" ? Buffer.from(body) : body
  if (compression === "none") return Effect.succeed({ ...input, content: bytes })
  return Effect.map(
    Effect.promise(() => compress(bytes)),
    (content) => ({
      ...input,
      contentType: "application/gzip",
      metadata: { ...input.metadata, sizeBytes: bytes.length, encoding: "gzip" },
      content
    })
  )
}

const uncompressed = (
  { contentType, id, metadata }: Artifact,
  content: Buffer
): Effect.Effect<Uint8Array, PlatformError> =>
  metadata?.["encoding"] !== "gzip" && contentType !== "application/gzip"
    ? Effect.succeed(content)
    : Effect.tryPromise({
        try: () => decompress(content),
        catch: (cause) =>
          new PlatformFailure({
            operation: "downloadArtifact",
            detail: `artifact ${id} cannot be decompressed (${messageOf(cause)})`,
            retryable: false,
            cause
          })
      })
