import * as ChildProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Schema, Scope, TestClock, TestServices } from "effect"
import * as SystemMetrics from "../src/SystemMetrics.js"

const isLinux = process.platform === "linux"

type Files = { readonly [name: string]: string | Uint8Array }

/** A directory with these files, which can be changed. */
const makeTree = (files: Files) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "system-metrics-"))),
      (created) => Effect.sync(() => fs.rmSync(created, { recursive: true }))
    ),
    (root) => {
      const write = (changed: Files) => {
        for (const [name, content] of Object.entries(changed)) {
          fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
          fs.writeFileSync(path.join(root, name), content)
        }
      }
      write(files)
      return { roots: { procRoot: path.join(root, "proc"), cgroupRoot: path.join(root, "cgroup") }, write }
    }
  )

/** One sample of a system with these files. */
const sampleOf = (files: Files) => Effect.flatMap(makeTree(files), ({ roots }) => sampleIn(roots))

const sampleIn = (roots: SystemMetrics.SystemMetricsOptions) =>
  Effect.flatMap(SystemMetrics.makeWith(roots), (collector) => collector.sample)

/** In real time. */
const untilFilesAnswer = TestServices.provideLive(Effect.sleep("50 millis"))

const cgroupOf = (files: Files) => Effect.map(sampleOf(files), ({ cgroup }) => cgroup)

const noGroup = {
  memoryLimitBytes: null,
  memoryUsageBytes: null,
  cpuLimit: null,
  cpuThrottledPeriods: null,
  cpuThrottledMs: null,
  pidsLimit: null,
  pidsCurrent: null
}

const isSample = Schema.is(SystemMetrics.Sample)

describe("a sample of this system", () => {
  it.scoped("is complete on Linux", () =>
    Effect.gen(function* () {
      const collector = yield* SystemMetrics.make
      const sample = yield* collector.sample
      assert.isTrue(isSample(sample))
      assert.isAbove(sample.process.rssBytes, 0)
      assert.isAbove(sample.process.heapUsedBytes, 0)
      assert.isAtLeast(sample.process.heapTotalBytes, sample.process.heapUsedBytes)
      assert.isAbove(sample.host.memoryTotalBytes ?? 0, 0)
      if (isLinux) {
        assert.isAbove(sample.process.openFileDescriptors ?? 0, 2)
        assert.isNotNull(sample.sockets)
        assert.isNotNull(sample.host.loadAverage1)
      }
    })
  )

  it.scoped("sees one more file that is open", () =>
    Effect.gen(function* () {
      const collector = yield* SystemMetrics.make
      const before = (yield* collector.sample).process.openFileDescriptors
      yield* Effect.acquireRelease(
        Effect.sync(() => [1, 2, 3].map(() => fs.openSync(os.devNull, "r"))),
        (descriptors) => Effect.sync(() => descriptors.forEach((descriptor) => fs.closeSync(descriptor)))
      )
      const after = (yield* collector.sample).process.openFileDescriptors
      if (before === null || after === null) assert.isFalse(isLinux)
      else assert.isAtLeast(after, before + 1)
    })
  )

  it.scoped("measures the interval with the clock and the processor time against it", () =>
    Effect.gen(function* () {
      const { sample } = yield* SystemMetrics.make
      yield* TestClock.adjust("10 seconds")
      const first = yield* sample
      assert.strictEqual(first.timestamp, "1970-01-01T00:00:10.000Z")
      assert.strictEqual(first.intervalMs, 10_000)
      yield* TestClock.adjust("2 seconds")
      const second = yield* sample
      assert.strictEqual(second.timestamp, "1970-01-01T00:00:12.000Z")
      assert.strictEqual(second.intervalMs, 2000)
      const { cpuPercent, cpuSystemMs, cpuUserMs } = second.process
      assert.closeTo(cpuPercent ?? Number.NaN, (cpuUserMs + cpuSystemMs) / 20, 0.01)
    })
  )

  it.scoped("has no percentages of an interval without length", () =>
    Effect.gen(function* () {
      const { sample } = yield* SystemMetrics.make
      const taken = yield* sample
      assert.strictEqual(taken.intervalMs, 0)
      assert.isNull(taken.process.cpuPercent)
    })
  )

  it.scopedLive("sees that the event loop was blocked, in that interval only", () =>
    Effect.gen(function* () {
      const { sample } = yield* SystemMetrics.make
      yield* Effect.sleep("60 millis")
      yield* Effect.sync(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300))
      yield* Effect.sleep("60 millis")
      const blocked = yield* sample
      assert.isAbove(blocked.eventLoop.delayMaxMs ?? 0, 200)
      assert.isAtMost(blocked.eventLoop.delayP50Ms ?? Infinity, blocked.eventLoop.delayMaxMs ?? 0)
      assert.isAbove(blocked.eventLoop.utilization, 0)
      assert.isAtMost(blocked.eventLoop.utilization, 1)
      assert.isBelow((yield* sample).eventLoop.delayMaxMs ?? 0, blocked.eventLoop.delayMaxMs ?? 0)
    })
  )

  it.live("is taken one at a time, and an interrupted one does not end the interval", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { sample } = yield* Scope.extend(SystemMetrics.make, scope)
      const interrupted = yield* Effect.fork(sample)
      yield* Fiber.interrupt(interrupted)
      const [first, second] = yield* Effect.all([sample, sample], { concurrency: 2 })
      assert.isAbove(first.intervalMs, 0)
      assert.isAbove(second.intervalMs, 0)
      yield* Scope.close(scope, Exit.void)
    })
  )
})

describe("a sample of the host", () => {
  const proc = {
    "proc/stat": "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 100 0 50 800 50 0 0 0 0 0\nintr 1 2 3\n",
    "proc/meminfo": "MemTotal:        2048 kB\nMemFree:          512 kB\nMemAvailable:    1024 kB\n",
    "proc/net/sockstat": "sockets: used 20\nTCP: inuse 5 orphan 1 tw 7 alloc 9 mem 0\nUDP: inuse 2 mem 0\n",
    "proc/net/sockstat6": "TCP6: inuse 3\nUDP6: inuse 1\n",
    "proc/self/fd/0": "",
    "proc/self/fd/1": "",
    "proc/self/fd/2": ""
  }

  it.scoped("reads memory, sockets and descriptors", () =>
    Effect.gen(function* () {
      const { host, process: own, sockets } = yield* sampleOf(proc)
      assert.strictEqual(host.memoryTotalBytes, 2 * 1024 * 1024)
      assert.strictEqual(host.memoryAvailableBytes, 1024 * 1024)
      assert.deepStrictEqual(sockets, { tcpInUse: 8, tcpTimeWait: 7, tcpOrphaned: 1, udpInUse: 3 })
      assert.strictEqual(own.openFileDescriptors, 3)
    })
  )

  it.scoped("takes the processors' time since the sample before, waiting for disks not counted as busy", () =>
    Effect.gen(function* () {
      const { roots, write } = yield* makeTree(proc)
      const { sample } = yield* SystemMetrics.makeWith(roots)
      assert.isNull((yield* sample).host.cpuPercent)
      write({ "proc/stat": "cpu  130 0 60 850 60 0 0 0 0 0\n" })
      assert.strictEqual((yield* sample).host.cpuPercent, 40)
      write({ "proc/stat": "cpu  140 0 60 850 70 0 0 0 0 0\n" })
      assert.strictEqual((yield* sample).host.cpuPercent, 50)
    })
  )

  it.scoped("a counter that went backwards is no percentage", () =>
    Effect.gen(function* () {
      const { roots, write } = yield* makeTree(proc)
      const { sample } = yield* SystemMetrics.makeWith(roots)
      write({ "proc/stat": "cpu  1 0 1 1 0 0 0 0 0 0\n" })
      assert.isNull((yield* sample).host.cpuPercent)
    })
  )

  it.scoped("does without any of the files", () =>
    Effect.gen(function* () {
      const sample = yield* sampleOf({})
      assert.isTrue(isSample(sample))
      assert.isNull(sample.sockets)
      assert.isNull(sample.cgroup)
      assert.isNull(sample.process.openFileDescriptors)
      assert.strictEqual(sample.host.memoryTotalBytes, os.totalmem())
    })
  )

  for (const [what, content] of [
    ["empty", ""],
    ["binary", Uint8Array.from({ length: 512 }, (_, i) => i % 256)],
    ["huge", "cpu ".repeat(500_000)],
    ["a negative number", "-5"],
    ["a number beyond all", "9".repeat(400)],
    ["words", "cpu a b c d\nTCP: inuse x\nMemTotal: lots kB\nnr_throttled many\n"]
  ] as const) {
    it.scoped(`survives files that are ${what}`, () =>
      Effect.gen(function* () {
        const names = [
          ...Object.keys(proc).filter((name) => !name.includes("/fd/")),
          "cgroup/memory.max",
          "cgroup/memory.current",
          "cgroup/cpu.max",
          "cgroup/cpu.stat",
          "cgroup/pids.max",
          "cgroup/pids.current"
        ]
        const sample = yield* sampleOf({
          ...Object.fromEntries(names.map((name) => [name, content])),
          "proc/self/cgroup": "0::/\n"
        })
        assert.isTrue(isSample(sample))
        assert.isNull(sample.sockets)
        assert.deepStrictEqual(sample.cgroup, noGroup)
        const numbers = JSON.stringify(sample).match(/-?\d+(?:\.\d+)?(?:e\+?\d+)?/g) ?? []
        assert.isTrue(numbers.every((number) => Number.isFinite(Number(number))))
      })
    )
  }
})

describe("control groups, version 2", () => {
  it.scoped("are read at the root, which is the process's own in a container", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* cgroupOf({
          "proc/self/cgroup": "0::/\n",
          "cgroup/memory.max": "1073741824\n",
          "cgroup/memory.current": "536870912\n",
          "cgroup/cpu.max": "150000 100000\n",
          "cgroup/cpu.stat": "usage_usec 10\nnr_periods 5\nnr_throttled 2\nthrottled_usec 1500\n",
          "cgroup/pids.max": "512\n",
          "cgroup/pids.current": "17\n"
        }),
        {
          memoryLimitBytes: 1_073_741_824,
          memoryUsageBytes: 536_870_912,
          cpuLimit: 1.5,
          cpuThrottledPeriods: 0,
          cpuThrottledMs: 0,
          pidsLimit: 512,
          pidsCurrent: 17
        }
      )
    })
  )

  it.scoped("tell throttling since the sample before", () =>
    Effect.gen(function* () {
      const stat = (periods: number, micros: number) => ({
        "cgroup/a/cpu.stat": `nr_throttled ${periods}\nthrottled_usec ${micros}\n`
      })
      const { roots, write } = yield* makeTree({
        "proc/self/cgroup": "0::/a\n",
        "cgroup/a/cpu.max": "50000 100000",
        ...stat(10, 5000)
      })
      const { sample } = yield* SystemMetrics.makeWith(roots)
      write(stat(13, 7500))
      const first = (yield* sample).cgroup
      assert.deepStrictEqual([first?.cpuThrottledPeriods, first?.cpuThrottledMs], [3, 2.5])
      const second = (yield* sample).cgroup
      assert.deepStrictEqual([second?.cpuThrottledPeriods, second?.cpuThrottledMs], [0, 0])
    })
  )

  it.scoped("the tightest ancestor counts, each limit for itself, with the usage of that ancestor", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* cgroupOf({
          "proc/self/cgroup": "0::/pods/pod/c\n",
          "cgroup/pods/memory.max": "4000\n",
          "cgroup/pods/memory.current": "3000\n",
          "cgroup/pods/pod/memory.max": "2000\n",
          "cgroup/pods/pod/memory.current": "1500\n",
          "cgroup/pods/pod/c/memory.max": "max\n",
          "cgroup/pods/pod/c/memory.current": "500\n",
          "cgroup/pods/cpu.max": "100000 100000\n",
          "cgroup/pods/cpu.stat": "nr_throttled 1\nthrottled_usec 10\n",
          "cgroup/pods/pod/cpu.max": "200000 100000\n",
          "cgroup/pods/pod/c/cpu.max": "max 100000\n",
          "cgroup/pods/pod/c/pids.max": "100\n",
          "cgroup/pods/pod/c/pids.current": "9\n"
        }),
        {
          memoryLimitBytes: 2000,
          memoryUsageBytes: 1500,
          cpuLimit: 1,
          cpuThrottledPeriods: 0,
          cpuThrottledMs: 0,
          pidsLimit: 100,
          pidsCurrent: 9
        }
      )
    })
  )

  it.scoped("without a limit the usage is that of the process's own group", () =>
    Effect.gen(function* () {
      const cgroup = yield* cgroupOf({
        "proc/self/cgroup": "0::/a/b\n",
        "cgroup/a/memory.max": "max\n",
        "cgroup/a/memory.current": "900\n",
        "cgroup/a/b/memory.max": "max\n",
        "cgroup/a/b/memory.current": "300\n"
      })
      assert.deepStrictEqual([cgroup?.memoryLimitBytes, cgroup?.memoryUsageBytes], [null, 300])
    })
  )

  it.scoped("a group that is not visible from here is passed over", () =>
    Effect.gen(function* () {
      const cgroup = yield* cgroupOf({
        "proc/self/cgroup": "0::/docker/0a1b\n",
        "cgroup/memory.max": "700\n",
        "cgroup/memory.current": "70\n"
      })
      assert.deepStrictEqual([cgroup?.memoryLimitBytes, cgroup?.memoryUsageBytes], [700, 70])
    })
  )

  it.scoped("a path cannot lead out of the root", () =>
    Effect.gen(function* () {
      const cgroup = yield* cgroupOf({
        "proc/self/cgroup": "0::/../outside\n",
        "cgroup/memory.max": "700\n",
        "outside/memory.max": "1\n"
      })
      assert.strictEqual(cgroup?.memoryLimitBytes, 700)
    })
  )
})

describe("control groups, version 1", () => {
  it.scoped("are found per controller, whatever mounts they share", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* cgroupOf({
          "proc/self/cgroup":
            "11:pids:/u\n10:cpu,cpuacct:/u\n9:memory:/u/s\n8:name=systemd:/u\n7:cpuset:/\n0::/unified\n",
          "cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
          "cgroup/memory/u/memory.limit_in_bytes": "8000\n",
          "cgroup/memory/u/memory.usage_in_bytes": "6000\n",
          "cgroup/memory/u/s/memory.limit_in_bytes": "9223372036854771712\n",
          "cgroup/memory/u/s/memory.usage_in_bytes": "10\n",
          "cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
          "cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
          "cgroup/cpu,cpuacct/u/cpu.cfs_quota_us": "25000\n",
          "cgroup/cpu,cpuacct/u/cpu.cfs_period_us": "100000\n",
          "cgroup/cpu,cpuacct/u/cpu.stat": "nr_periods 4\nnr_throttled 3\nthrottled_time 7000000\n",
          "cgroup/pids/u/pids.max": "max\n",
          "cgroup/pids/u/pids.current": "5\n"
        }),
        {
          memoryLimitBytes: 8000,
          memoryUsageBytes: 6000,
          cpuLimit: 0.25,
          cpuThrottledPeriods: 0,
          cpuThrottledMs: 0,
          pidsLimit: null,
          pidsCurrent: 5
        }
      )
    })
  )

  it.scoped("tell throttling in nanoseconds", () =>
    Effect.gen(function* () {
      const { roots, write } = yield* makeTree({
        "proc/self/cgroup": "3:cpu:/\n",
        "cgroup/cpu/cpu.cfs_quota_us": "1000",
        "cgroup/cpu/cpu.cfs_period_us": "1000",
        "cgroup/cpu/cpu.stat": "nr_throttled 1\nthrottled_time 1000000\n"
      })
      const { sample } = yield* SystemMetrics.makeWith(roots)
      write({ "cgroup/cpu/cpu.stat": "nr_throttled 2\nthrottled_time 3500000\n" })
      assert.strictEqual((yield* sample).cgroup?.cpuThrottledMs, 2.5)
    })
  )

  it.scoped("a controller of version 2 beside them is found in the unified hierarchy", () =>
    Effect.gen(function* () {
      const cgroup = yield* cgroupOf({
        "proc/self/cgroup": "3:cpu:/\n0::/s\n",
        "cgroup/unified/s/memory.max": "5000\n"
      })
      assert.strictEqual(cgroup?.memoryLimitBytes, 5000)
    })
  )

  it.scoped("names of controllers are no paths", () =>
    Effect.gen(function* () {
      assert.isNull(
        yield* cgroupOf({
          "proc/self/cgroup": "3:memory,../../outside:/\n",
          "outside/memory.limit_in_bytes": "1\n"
        })
      )
    })
  )
})

describe("files that do not answer", () => {
  it.scoped.skipIf(!isLinux)("are left out after 2 seconds", () =>
    Effect.gen(function* () {
      const { roots } = yield* makeTree({ "proc/self/fd/0": "" })
      const silent = path.join(roots.procRoot, "meminfo")
      ChildProcess.execFileSync("mkfifo", [silent])
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => fs.closeSync(fs.openSync(silent, fs.constants.O_RDWR | fs.constants.O_NONBLOCK)))
      )
      const fiber = yield* Effect.fork(sampleIn(roots))
      yield* untilFilesAnswer
      assert.isNull(fiber.unsafePoll())
      yield* Effect.repeat(Effect.zipRight(TestClock.adjust("2 seconds"), untilFilesAnswer), {
        until: () => fiber.unsafePoll() !== null
      })
      const sample = yield* Fiber.join(fiber)
      assert.isTrue(isSample(sample))
      assert.isNull(sample.process.openFileDescriptors)
    })
  )
})

describe("encode", () => {
  it.effect("is one line of JSON per sample, which its schema reads", () =>
    Effect.gen(function* () {
      const { open } = yield* SystemMetrics.SystemMetrics
      const { sample } = yield* open
      const samples = [yield* sample, yield* sample]
      const text = SystemMetrics.encode(samples)
      assert.isTrue(text.endsWith("}\n"))
      const lines = text.trimEnd().split("\n")
      assert.deepStrictEqual(
        lines.map((line) => Schema.decodeSync(Schema.parseJson(SystemMetrics.Sample))(line)),
        samples
      )
    }).pipe(Effect.scoped, Effect.provide(SystemMetrics.layer))
  )

  it("is empty without samples", () => {
    assert.strictEqual(SystemMetrics.encode([]), "")
  })
})

describe("layerTest", () => {
  it.scoped("follows its script, with the time of the clock", () =>
    Effect.gen(function* () {
      const { open } = yield* SystemMetrics.SystemMetrics
      const one = yield* open
      const two = yield* open
      yield* TestClock.adjust(Duration.seconds(1))
      assert.strictEqual((yield* one.sample).intervalMs, 0)
      const second = yield* one.sample
      assert.strictEqual(second.intervalMs, 100)
      assert.strictEqual(second.timestamp, "1970-01-01T00:00:01.000Z")
      assert.isTrue(isSample(second))
      assert.strictEqual((yield* two.sample).intervalMs, 0)
    }).pipe(Effect.provide(SystemMetrics.layerTest((index) => ({ intervalMs: index * 100 }))))
  )
})
