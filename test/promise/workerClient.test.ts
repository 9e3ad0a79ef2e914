import { assert, describe, it } from "@effect/vitest"
import type { PlatformMethods } from "../../src/promise.js"
import { BenchmarkApiError, BenchmarkReporter, runWorker } from "../../src/promise.js"
import { messageOf, mocked, participantSlug, pause, quiet, reason, slug } from "../support/promiseRun.js"

const options = { benchmarkSlug: slug, runId: "r", participantSlug, ...quiet }

const answer = (status: number, more: object = {}) => Object.assign(new Error(`status ${status}`), { status, ...more })

describe("a client of somebody else", () => {
  it("is enough for a worker", async () => {
    const events: Array<string> = []
    const onFinish = async () => {
      await pause(5)
      events.push("onFinish")
    }
    const result = await runWorker(mocked(events), { ...options, onFinish, task: async ({ log }) => log("x") })
    assert.strictEqual(result?.taskCount, 2)
    assert.deepStrictEqual(events, ["batch 0: 2 records, final", "coordinator.log: some bytes", "onFinish", "complete"])
  })

  it("has no worker for the second who asks", async () => {
    const client = mocked([])
    await runWorker(client, { ...options, task: async () => {} })
    assert.isNull(await runWorker(client, { ...options, task: async () => {} }))
    assert.isNull(await BenchmarkReporter.claim(client, options))
  })

  it("is tried again when it is busy, or the network fails", async () => {
    const events: Array<string> = []
    const failures = [answer(503), answer(429, { retryAfterMs: 1 }), new TypeError("fetch failed")]
    await runWorker(mocked(events, { failures, tasks: 1 }), { ...options, task: async () => {} })
    assert.deepStrictEqual(events, ["batch 0: 1 records, final", "complete"])
  })

  it("is not tried again when it refuses", async () => {
    const events: Array<string> = []
    const failures = [answer(422, { body: { error: "one record is bad" } })]
    const error = await reason(runWorker(mocked(events, { failures, tasks: 1 }), { ...options, task: async () => {} }))
    assert.match(messageOf(error), /Failed to flush task results; these are not stored:\n.*1 record.*one record is bad/)
    assert.deepStrictEqual(events, ["fail"])
  })

  it("ends the worker when it says that another process has it", async () => {
    const events: Array<string> = []
    let ran = 0
    const task = async () => {
      ran++
      await pause(5)
    }
    const client = mocked(events, { failures: [answer(409)], tasks: 200 })
    const error = await reason(runWorker(client, { ...options, batchSize: 1, task }))
    assert.match(messageOf(error), /Failed to flush task results/)
    assert.isBelow(ran, 200)
    assert.deepStrictEqual(events, [], "nothing is said about a worker that is another's")
  })

  it("assigns how many tasks run at once", async () => {
    let [now, most] = [0, 0]
    const task = async () => {
      most = Math.max(most, ++now)
      await pause(5)
      now--
    }
    await runWorker(mocked([], { tasks: 6, targetConcurrency: 3 }), { ...options, task })
    assert.strictEqual(most, 3)
  })

  it("may be an instance of a class, have no getRun, and answer at once", async () => {
    class Recorder {
      readonly sequence: Array<number> = []
      private readonly methods = mocked([])
      readonly claimWorker = this.methods.claimWorker
      readonly completeWorker = this.methods.completeWorker
      readonly heartbeatWorker = this.methods.heartbeatWorker
      // A stand-in that is not async.
      sendTaskResults(...[, , , , input]: Parameters<PlatformMethods["sendTaskResults"]>) {
        this.sequence.push(input.sequenceNumber)
        return JSON.parse(`{ "accepted": 2, "eventBatchId": "e", "duplicate": false }`)
      }
    }
    const client = Object.freeze(new Recorder())
    const result = await runWorker(client, { ...options, task: async () => {} })
    assert.strictEqual(result?.successCount, 2)
    assert.deepStrictEqual(client.sequence, [0])
  })

  it("says which method it lacks", async () => {
    const { claimWorker: _, ...client } = mocked([])
    const error = await reason(runWorker(client, { ...options, task: async () => {} }))
    assert.instanceOf(error, BenchmarkApiError)
    assert.match(messageOf(error), /the client has no method claimWorker/)
  })
})
