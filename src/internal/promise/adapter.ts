/** A platform made of a client that somebody else wrote, such as the stand-in of a test. */
import * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { ArtifactUpload, Platform, PlatformError } from "../../Platform.js"
import type { Subject } from "../http/failures.js"
import { fromAnswer, permanent, transient } from "../http/failures.js"
import { messageOf } from "../json.js"
import type { PlatformMethods } from "./clientModel.js"

/**
 * Calls the client's methods, those it has. What they reject with is told apart by its `status`, as `BenchmarkApiError` has it;
 * without one it counts as a network that may work again. That a run exists need not be told by `getRun`: the claim of a
 * worker tells it, too.
 */
export const fromMethods = (theirs: Partial<PlatformMethods>): Platform["Type"] => {
  const client = bound(theirs)
  const call = <K extends keyof PlatformMethods, A>(
    method: K,
    subject: Subject,
    use: (method: PlatformMethods[K]) => Promise<A>
  ): Effect.Effect<A, PlatformError> => {
    const target = { operation: method, subject, host: "the client" }
    const found = client[method]
    if (found === undefined) return Effect.fail(permanent(target, `the client has no method ${method}`))
    return Effect.tryPromise({ try: async () => use(found), catch: (error) => error }).pipe(
      Effect.catchAll((error) => Effect.flatMap(platformError(target, error), Effect.fail))
    )
  }
  /** What is to be announced and sent in one. */
  const announced = new Map<string, (content: Uint8Array) => Effect.Effect<ArtifactUpload, PlatformError>>()

  return {
    origin: { kind: "remote", baseUrl: "client" },
    upsertBenchmark: (benchmark, input) =>
      call("upsertBenchmark", { benchmark }, async (method) => (await method(benchmark, input)).benchmark),
    updateBenchmark: (benchmark, input) =>
      call("updateBenchmark", { benchmark }, async (method) => (await method(benchmark, input)).benchmark),
    getBenchmark: (benchmark) =>
      call("getBenchmark", { benchmark }, async (method) => (await method(benchmark)).benchmark),
    listBenchmarks: (page) => call("listBenchmarks", {}, async (method) => (await method(page)).items),
    createRun: (benchmark, input) => call("createRun", { benchmark }, (method) => method(benchmark, input)),
    updateRun: ({ benchmark, run }, patch) =>
      call("updateRun", { benchmark, run }, async (method) => (await method(benchmark, run, patch)).run),
    getRun: ({ benchmark, run }) =>
      client.getRun === undefined
        ? Effect.succeed({ ...unknownRun, id: run })
        : call("getRun", { benchmark, run }, async (method) => (await method(benchmark, run)).run),
    listRuns: (benchmark, page) =>
      call("listRuns", { benchmark }, async (method) => (await method(benchmark, page)).items),
    listAllRuns: (page) => call("listAllRuns", {}, async (method) => (await method(page)).items),
    upsertParticipant: ({ benchmark, participant, run }, input) =>
      call(
        "upsertParticipant",
        { benchmark, run, participant },
        async (method) => (await method(benchmark, run, participant, input)).participant
      ),
    updateParticipant: ({ benchmark, participant, run }, input) =>
      call(
        "updateParticipant",
        { benchmark, run, participant },
        async (method) => (await method(benchmark, run, participant, input)).participant
      ),
    getParticipant: ({ benchmark, participant, run }) =>
      call(
        "getParticipant",
        { benchmark, run, participant },
        async (method) => (await method(benchmark, run, participant)).participant
      ),
    listParticipants: ({ benchmark, run }) =>
      call("listParticipants", { benchmark, run }, async (method) => (await method(benchmark, run)).items),
    planWorkers: ({ benchmark, participant, run }, input) =>
      call(
        "createWorkers",
        { benchmark, run, participant },
        async (method) => (await method(benchmark, run, participant, input)).workers
      ),
    claimWorker: ({ benchmark, participant, run }, input) =>
      call(
        "claimWorker",
        { benchmark, run, participant },
        async (method) => (await method(benchmark, run, participant, input)).assignment
      ),
    listWorkers: ({ benchmark, participant, run }) =>
      call(
        "listWorkers",
        { benchmark, run, participant },
        async (method) => (await method(benchmark, run, participant)).items
      ),
    getWorker: ({ benchmark, participant, run, worker }) =>
      call(
        "getWorker",
        { benchmark, run, participant, worker },
        async (method) => (await method(benchmark, run, participant, worker)).worker
      ),
    updateWorker: ({ benchmark, participant, run, worker }, patch) =>
      call(
        "updateWorker",
        { benchmark, run, participant, worker },
        async (method) => (await method(benchmark, run, participant, worker, patch)).worker
      ),
    heartbeat: ({ benchmark, participant, run, worker }, input) =>
      call("heartbeatWorker", { benchmark, run, participant, worker }, (method) =>
        method(benchmark, run, participant, worker, input)
      ),
    sendTaskResults: ({ benchmark, participant, run, worker }, input) =>
      call("sendTaskResults", { benchmark, run, participant, worker }, (method) =>
        method(benchmark, run, participant, worker, input)
      ),
    completeWorker: ({ benchmark, participant, run, worker }, input) =>
      call("completeWorker", { benchmark, run, participant, worker }, (method) =>
        method(benchmark, run, participant, worker, input)
      ),
    failWorker: ({ benchmark, participant, run, worker }, input) =>
      call("failWorker", { benchmark, run, participant, worker }, (method) =>
        method(benchmark, run, participant, worker, input)
      ),
    releaseWorker: ({ benchmark, participant, run, worker }, input) =>
      call("releaseWorker", { benchmark, run, participant, worker }, (method) =>
        method(benchmark, run, participant, worker, input)
      ),
    submitSummary: ({ benchmark, run }, summary) =>
      call("submitRunSummary", { benchmark, run }, async (method) => (await method(benchmark, run, summary)).summary),
    getSummary: ({ benchmark, run }) =>
      call("getRunSummary", { benchmark, run }, async (method) => (await method(benchmark, run)).summary),
    runResults: ({ benchmark, run }) => call("getRunResults", { benchmark, run }, (method) => method(benchmark, run)),
    iterations: ({ benchmark, run }, query) =>
      call("getRunIterations", { benchmark, run }, async (method) => (await method(benchmark, run, query)).items),
    runProgress: ({ benchmark, run }) => call("getRunProgress", { benchmark, run }, (method) => method(benchmark, run)),
    benchmarkResults: (benchmark, page) =>
      call("getBenchmarkResults", { benchmark }, (method) => method(benchmark, page)),
    taskBuckets: ({ benchmark, run }, query) =>
      call("getTaskResults", { benchmark, run }, (method) => method(benchmark, run, query)),
    runTimeline: ({ benchmark, run }, query) =>
      call("getRunTimeline", { benchmark, run }, (method) => method(benchmark, run, query)),
    runImports: ({ benchmark, run }) => call("getRunImports", { benchmark, run }, (method) => method(benchmark, run)),
    participantLogs: ({ benchmark, participant, run }, query) =>
      call("getParticipantLogs", { benchmark, run, participant }, (method) =>
        method(benchmark, run, participant, query)
      ),
    createArtifact: ({ benchmark, participant, run, worker }, input) =>
      Effect.sync(() => {
        const id = `artifact-${announced.size + 1}`
        announced.set(id, (content) =>
          call("uploadArtifact", { benchmark, run, participant, worker }, (method) =>
            method(benchmark, run, participant, worker, { ...input, body: content })
          )
        )
        const artifact = { id, runId: run, workerId: worker, kind: input.kind, objectKey: id, createdAt: "" }
        return { artifact, artifactId: id, uploadUrl: "", objectKey: id }
      }),
    uploadArtifact: ({ artifactId }, content) =>
      Effect.suspend(() => {
        const upload = announced.get(artifactId)
        return upload === undefined ? Effect.void : Effect.asVoid(upload(content))
      }),
    listRunArtifacts: ({ benchmark, run }) =>
      call("listRunArtifacts", { benchmark, run }, async (method) => (await method(benchmark, run)).items),
    listWorkerArtifacts: ({ benchmark, participant, run, worker }) =>
      call(
        "listWorkerArtifacts",
        { benchmark, run, participant, worker },
        async (method) => (await method(benchmark, run, participant, worker)).items
      ),
    getArtifact: ({ benchmark, run }, artifact) =>
      call("getArtifact", { benchmark, run, artifact }, (method) => method(benchmark, run, artifact)),
    downloadArtifact: ({ artifact }) =>
      Stream.fail(
        permanent(
          { operation: "downloadArtifact", subject: { artifact: artifact.id }, host: "the client" },
          "artifacts of this client are downloaded with its own method"
        )
      )
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unknownRun = { benchmarkId: "", status: "in_progress", totalTasks: 0, createdAt: "", updatedAt: "" } as const

/** Methods keep their `this`: the client may be an instance of a class. */
const bound = (client: Partial<PlatformMethods>): Partial<PlatformMethods> =>
  new Proxy(
    {},
    {
      get: (_, name) => {
        const value: unknown = Reflect.get(client, name)
        return typeof value === "function" ? value.bind(client) : value
      }
    }
  )

const platformError = (target: Parameters<typeof fromAnswer>[0], error: unknown): Effect.Effect<PlatformError> => {
  const status = hasProperty(error, "status") && typeof error.status === "number" ? error.status : 0
  if (status < 400) return Effect.succeed(transient(target, messageOf(error)))
  const body = hasProperty(error, "body") ? error.body : undefined
  const retryAfterMs = hasProperty(error, "retryAfterMs") ? error.retryAfterMs : undefined
  return fromAnswer(target, {
    status,
    text: typeof body === "string" ? body : (textOf(body) ?? messageOf(error)),
    retryAfter: typeof retryAfterMs === "number" ? `${Math.ceil(retryAfterMs / 1000)}` : undefined
  })
}

const textOf = (body: unknown): string | undefined => {
  try {
    return JSON.stringify(body)
  } catch {
    return undefined
  }
}
