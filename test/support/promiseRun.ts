import { Effect } from "effect"
import { assert, vi } from "vitest"
import type { Attempt, BenchmarkClient, PlatformMethods, Worker } from "../../src/promise.js"
import { createBenchmarkClient } from "../../src/promise.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import { project } from "./bench.js"
import * as PlatformHost from "./platformHost.js"

export const slug = "bench"

export const participantSlug = "alpha"

/** A server with a run of so many tasks, over so many workers, and a client of it. */
export const prepared = (totalTasks: number, workerCount = 1) =>
  Effect.gen(function* () {
    const here = yield* project
    const home = here.path("home")
    // Where what cannot be delivered is kept.
    yield* Effect.acquireRelease(
      Effect.sync(() => vi.stubEnv("BENCH_HOME", home)),
      () => Effect.sync(() => vi.unstubAllEnvs())
    )
    const host = yield* PlatformHost.fromLayer(SqlPlatform.layerMemory)
    const client = createBenchmarkClient({ baseUrl: host.baseUrl, apiKey: PlatformHost.apiKey })
    const runId = yield* Effect.promise(() => plan(client, totalTasks, workerCount))
    return { here, home, host, client, runId, at: { benchmarkSlug: slug, runId, participantSlug } }
  })

/** Creates a run with its workers and gives its id. */
export const plan = async (client: BenchmarkClient, totalTasks: number, workerCount = 1): Promise<string> => {
  await client.upsertBenchmark(slug)
  const { run } = await client.createRun(slug, { participants: [{ slug: participantSlug, totalTasks, workerCount }] })
  await client.createWorkers(slug, run.id, participantSlug, { workerCount })
  return run.id
}

export const quiet = { metricsIntervalMs: 0 }

export const reason = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail("it was not rejected"),
    (error: unknown) => error
  )

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const pause = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

/** Waits until something is so. */
export const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await pause(5)
}

/** Index and status of the tasks that the platform has. */
export const storedTasks = (client: BenchmarkClient, runId: string) =>
  client
    .getRunIterations(slug, runId, {})
    .then(({ items }) => items.map(({ status, taskIndex }) => [taskIndex, status]))

export interface MockOptions {
  /** What sending results is rejected with, the first times. */
  readonly failures?: ReadonlyArray<Error>
  readonly tasks?: number
  readonly targetConcurrency?: number
}

/** A client as a test of a user would write it, with what a worker needs. */
export const mocked = (events: Array<string>, { failures = [], tasks = 2, targetConcurrency }: MockOptions = {}) => {
  const left = [...failures]
  const ids = { benchmarkId: "b", runId: "r", participantId: "p" }
  const run = {
    id: "r",
    benchmarkId: "b",
    status: "in_progress",
    totalTasks: tasks,
    createdAt: "",
    updatedAt: ""
  } as const
  const worker: Worker = {
    id: "w",
    ...ids,
    workerIndex: 0,
    workerCount: 1,
    taskIndexStart: 0,
    taskIndexEnd: tasks - 1,
    status: "running",
    progressDone: 0,
    progressInFlight: 0,
    progressErrors: 0,
    progressTotal: tasks
  }
  const attempt: Attempt = { id: "a", ...ids, workerId: "w", attemptNumber: 1, status: "running" }
  let claims = 0
  const closed = (how: string) => async () => {
    events.push(how)
    return { worker, attempt }
  }
  return {
    getRun: async () => ({ run }),
    claimWorker: async () => ({
      assignment:
        claims++ > 0
          ? null
          : {
              ...ids,
              benchmarkSlug: slug,
              participantSlug,
              workerId: "w",
              workerIndex: 0,
              workerCount: 1,
              attemptId: "a",
              attemptNumber: 1,
              targetConcurrency,
              taskRange: { start: 0, end: tasks - 1, count: tasks }
            }
    }),
    heartbeatWorker: async () => ({ worker, attempt }),
    sendTaskResults: async (_benchmark, _run, _participant, _worker, { isFinal, records, sequenceNumber }) => {
      const failure = left.shift()
      if (failure !== undefined) throw failure
      events.push(`batch ${sequenceNumber}: ${records.length} records${isFinal ? ", final" : ""}`)
      return { accepted: records.length, eventBatchId: "e", duplicate: false }
    },
    uploadArtifact: async (_benchmark, runId, _participant, workerId, { body, kind }) => {
      events.push(`${kind}: ${body.length > 0 ? "some bytes" : "empty"}`)
      const artifact = { id: "x", runId, workerId, kind, objectKey: "x", createdAt: "" }
      return { artifact, artifactId: "x", uploadUrl: "", objectKey: "x" }
    },
    completeWorker: closed("complete"),
    failWorker: closed("fail"),
    releaseWorker: closed("release")
  } satisfies Partial<PlatformMethods>
}
