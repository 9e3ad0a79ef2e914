import { assert, describe, it } from "@effect/vitest"
import { createSystemMetricsCollector } from "../../src/promise.js"
import { messageOf, pause, reason } from "../support/promiseRun.js"

describe("createSystemMetricsCollector", () => {
  it("samples when it starts, when it is asked, and when it stops", async () => {
    const collector = createSystemMetricsCollector({ intervalMs: 0 })
    assert.match(messageOf(await reason(collector.sample())), /not started/)
    await Promise.all([collector.start(), collector.start()])
    assert.lengthOf(collector.samples, 1)
    const sample = await collector.sample()
    assert.deepStrictEqual(collector.samples[1], sample)
    await Promise.all([collector.stop(), collector.stop()])
    await collector.stop()
    assert.lengthOf(collector.samples, 3)
    const lines = collector.toNdjson().trimEnd().split("\n")
    assert.deepStrictEqual(
      lines.map((line) => JSON.parse(line)),
      [...collector.samples]
    )
    assert.isAbove(sample.process.rssBytes, 0)
  })

  it("samples now and then", async () => {
    const collector = createSystemMetricsCollector({ intervalMs: 10 })
    await collector.start()
    while (collector.samples.length < 3) await pause(5)
    await collector.stop()
    assert.isAtLeast(collector.samples.length, 4)
  })

  it("refuses an interval that is none", () => {
    assert.throws(() => createSystemMetricsCollector({ intervalMs: -1 }), /intervalMs must be a number >= 0/)
  })
})
