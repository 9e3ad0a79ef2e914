/**
 * What the process and the machine were doing while a worker ran, sampled now and then: whoever doubts a measurement sees
 * here whether the harness was busy, short of memory, or throttled.
 *
 * @since 0.1.0
 */
import * as Os from "node:os"
import * as Path from "node:path"
import type { IntervalHistogram } from "node:perf_hooks"
import { monitorEventLoopDelay, performance } from "node:perf_hooks"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { SystemRoots } from "./internal/metrics/cgroup.js"
import * as Cgroup from "./internal/metrics/cgroup.js"
import * as Files from "./internal/metrics/files.js"
import type { CpuTimes } from "./internal/metrics/host.js"
import * as Host from "./internal/metrics/host.js"
import { toMillis } from "./internal/timeline.js"

const number = (description: string) => Schema.Number.annotations({ description })

const nullable = (description: string) => Schema.NullOr(Schema.Number).annotations({ description })

/**
 * One sample, as it is stored. "In the interval" means since the sample before, or since the collector was opened. Null is
 * what this system does not tell.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Sample = Schema.Struct({
  timestamp: Schema.String.annotations({ description: "When the sample was taken, ISO-8601 UTC." }),
  intervalMs: number("Milliseconds since the sample before."),
  process: Schema.Struct({
    cpuUserMs: number("Processor time spent in the process in the interval, in milliseconds."),
    cpuSystemMs: number("Processor time spent in the kernel for the process in the interval, in milliseconds."),
    cpuPercent: nullable("Both as a percentage of the interval: 100 is one busy processor."),
    rssBytes: number("Resident memory."),
    heapUsedBytes: number("JavaScript heap in use."),
    heapTotalBytes: number("JavaScript heap allocated."),
    externalBytes: number("Memory outside the heap that JavaScript objects hold, buffers included."),
    openFileDescriptors: nullable("Open files, sockets and pipes.")
  }),
  eventLoop: Schema.Struct({
    utilization: number("Fraction of the interval, 0 to 1, in which the event loop was not idle."),
    delayP50Ms: nullable("By how much timers were late in the interval, median, in milliseconds."),
    delayP99Ms: nullable("The same, 99th percentile."),
    delayMaxMs: nullable("The same, at most.")
  }),
  host: Schema.Struct({
    cpuPercent: nullable("Busy share of all processors together in the interval, 0 to 100."),
    loadAverage1: nullable("Runnable processes, averaged over 1 minute."),
    loadAverage5: nullable("The same over 5 minutes."),
    loadAverage15: nullable("The same over 15 minutes."),
    memoryTotalBytes: nullable("Memory of the machine."),
    memoryAvailableBytes: nullable("Memory that could be given to processes without swapping.")
  }),
  sockets: Schema.NullOr(
    Schema.Struct({
      tcpInUse: number(
        "TCP sockets, IPv4 and IPv6, of every process in the network namespace, those listening included."
      ),
      tcpTimeWait: nullable("Closed TCP connections that wait for stray packets."),
      tcpOrphaned: nullable("TCP connections being closed that belong to no process any more."),
      udpInUse: nullable("UDP sockets, IPv4 and IPv6.")
    })
  ),
  cgroup: Schema.NullOr(
    Schema.Struct({
      memoryLimitBytes: nullable("The tightest memory limit on the process or a group around it."),
      memoryUsageBytes: nullable("Memory of the group that sets the limit, or else of the process's own."),
      cpuLimit: nullable("The tightest processor quota, in processors, such as 1.5."),
      cpuThrottledPeriods: nullable("Scheduling periods of the interval in which that quota was used up."),
      cpuThrottledMs: nullable("For how long threads were held back by it in the interval, in milliseconds."),
      pidsLimit: nullable("The tightest limit on processes and threads."),
      pidsCurrent: nullable("Processes and threads of the group that sets it, or else of the process's own.")
    })
  )
}).annotations({ identifier: "SystemMetricsSample" })

/**
 * @since 0.1.0
 * @category models
 */
export interface Sample extends Schema.Schema.Type<typeof Sample> {}

/**
 * @since 0.1.0
 * @category models
 */
export interface Collector {
  /**
   * Takes a sample. Never fails; files that do not answer within 2 seconds are left out. Samples are taken one at a time,
   * and an interrupted one does not end the interval.
   */
  readonly sample: Effect.Effect<Sample>
}

/**
 * Where collectors of system metrics come from. Each has intervals of its own, so every worker opens one.
 *
 * @since 0.1.0
 * @category services
 */
export class SystemMetrics extends Context.Tag("effect-bench/SystemMetrics")<
  SystemMetrics,
  {
    /** Opens a collector, which watches the event loop for as long as the scope lives. */
    readonly open: Effect.Effect<Collector, never, Scope.Scope>
  }
>() {}

/**
 * @since 0.1.0
 * @category models
 */
export interface SystemMetricsOptions {
  /** Where the proc file system is. Default `/proc`. */
  readonly procRoot?: string | undefined
  /** Where the hierarchies of control groups are. Default `/sys/fs/cgroup`. */
  readonly cgroupRoot?: string | undefined
}

/**
 * Opens a collector that looks at another place for the files of Linux. Limits of control groups are read once, now.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeWith = (options: SystemMetricsOptions): Effect.Effect<Collector, never, Scope.Scope> => {
  const roots = { procRoot: options.procRoot ?? "/proc", cgroupRoot: options.cgroupRoot ?? "/sys/fs/cgroup" }
  return Effect.gen(function* () {
    const delay = yield* Effect.acquireRelease(Effect.sync(watchEventLoop), (histogram) =>
      Effect.sync(() => void histogram.disable())
    )
    const system = yield* openSystem(roots)
    const turn = yield* Effect.makeSemaphore(1)
    let before = yield* read(system)
    const sample = Effect.gen(function* () {
      const timestamp = DateTime.formatIso(yield* DateTime.now)
      const now = yield* read(system)
      const taken = compare(timestamp, before, now, delay)
      before = now
      delay.reset()
      return taken
    })
    return { sample: turn.withPermits(1)(sample) }
  })
}

/**
 * Opens a collector of this system's metrics. Works everywhere; on systems without `/proc` less is known.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Collector, never, Scope.Scope> = Effect.suspend(() => makeWith({}))

/**
 * Collectors that look at another place for the files of Linux.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (options: SystemMetricsOptions): Layer.Layer<SystemMetrics> =>
  Layer.succeed(SystemMetrics, { open: makeWith(options) })

/**
 * Collectors of this system's metrics.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<SystemMetrics> = Layer.succeed(SystemMetrics, { open: make })

/**
 * Collectors that look at nothing: samples have the time of the `Clock`, zeros and nulls, and what `script` says for the
 * n-th sample of a collector, counted from 0.
 *
 * @since 0.1.0
 * @category testing
 */
export const layerTest = (script: (index: number) => Partial<Sample> = () => ({})): Layer.Layer<SystemMetrics> =>
  Layer.succeed(SystemMetrics, {
    open: Effect.sync(() => {
      let index = 0
      return {
        sample: Effect.map(DateTime.now, (now) => ({
          ...blank,
          timestamp: DateTime.formatIso(now),
          ...script(index++)
        }))
      }
    })
  })

/**
 * Samples as newline-delimited JSON: one line each, ended by a newline.
 *
 * @since 0.1.0
 * @category combinators
 */
export const encode = (samples: Iterable<Sample>): string =>
  Array.from(samples, (sample) => `${JSON.stringify(sample)}\n`).join("")

/**
 * The media type of {@link encode}d samples.
 *
 * @since 0.1.0
 * @category models
 */
export const contentType = "application/x-ndjson"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const blank: Sample = {
  timestamp: "",
  intervalMs: 0,
  process: {
    cpuUserMs: 0,
    cpuSystemMs: 0,
    cpuPercent: null,
    rssBytes: 0,
    heapUsedBytes: 0,
    heapTotalBytes: 0,
    externalBytes: 0,
    openFileDescriptors: null
  },
  eventLoop: { utilization: 0, delayP50Ms: null, delayP99Ms: null, delayMaxMs: null },
  host: {
    cpuPercent: null,
    loadAverage1: null,
    loadAverage5: null,
    loadAverage15: null,
    memoryTotalBytes: null,
    memoryAvailableBytes: null
  },
  sockets: null,
  cgroup: null
}

/** Milliseconds between two looks at the event loop. A wake-up costs a few microseconds. */
const resolution = 20

const watchEventLoop = (): IntervalHistogram => {
  const histogram = monitorEventLoopDelay({ resolution })
  histogram.enable()
  return histogram
}

/** The histogram holds the time from one look to the next, of which only what exceeds the resolution is delay. */
const delayMs = (nanos: number): number => toMillis(Math.max(0, nanos - resolution * 1e6))

const within = <A>(effect: Effect.Effect<A>, otherwise: A): Effect.Effect<A> =>
  Effect.timeoutTo(effect, { duration: Files.patience, onSuccess: (value) => value, onTimeout: () => otherwise })

/** What is found out once. */
interface System {
  readonly roots: SystemRoots
  readonly cgroups: Cgroup.Cgroups
  readonly descriptors: Effect.Effect<number | null>
}

const openSystem = (roots: SystemRoots): Effect.Effect<System> =>
  Effect.all({
    roots: Effect.succeed(roots),
    cgroups: within(Cgroup.discover(roots), Cgroup.none),
    descriptors: within(Files.descriptorCounter(roots.procRoot), Effect.succeed(null))
  })

/** What the files said. */
interface SystemReading {
  readonly cpu: CpuTimes | null
  readonly memory: Host.Memory
  readonly sockets: Sample["sockets"]
  readonly descriptors: number | null
  readonly usage: Cgroup.CgroupUsage | null
}

const nothing: SystemReading = {
  cpu: null,
  memory: { totalBytes: null, availableBytes: null },
  sockets: null,
  descriptors: null,
  usage: null
}

const readSystem = ({ cgroups, descriptors, roots }: System): Effect.Effect<SystemReading> => {
  const file = (...path: ReadonlyArray<string>) => Files.read(Path.join(roots.procRoot, ...path))
  return within(
    Effect.all({
      cpu: Effect.map(file("stat"), Host.parseCpuTimes),
      memory: Effect.map(file("meminfo"), Host.parseMemory),
      sockets: Effect.zipWith(file("net", "sockstat"), file("net", "sockstat6"), Host.parseSockets),
      descriptors,
      usage: Cgroup.usage(cgroups)
    }),
    nothing
  )
}

/** Everything that is known at one moment, counters included. */
interface Reading {
  readonly nanos: bigint
  readonly cpu: NodeJS.CpuUsage
  readonly loop: ReturnType<typeof performance.eventLoopUtilization>
  readonly osCpu: CpuTimes | null
  readonly limits: Cgroup.Cgroups
  readonly system: SystemReading
}

const read = (from: System): Effect.Effect<Reading> =>
  Effect.gen(function* () {
    const nanos = yield* Clock.currentTimeNanos
    const cpu = process.cpuUsage()
    const loop = performance.eventLoopUtilization()
    const system = yield* readSystem(from)
    return { nanos, cpu, loop, osCpu: system.cpu === null ? osCpuTimes() : null, limits: from.cgroups, system }
  })

const osCpuTimes = (): CpuTimes => {
  let [busy, total] = [0, 0]
  for (const { times } of Os.cpus()) {
    const active = times.user + times.nice + times.sys + times.irq
    busy += active
    total += active + times.idle
  }
  return { busy, total }
}

const compare = (timestamp: string, before: Reading, now: Reading, delay: IntervalHistogram): Sample => {
  const interval = Number(now.nanos - before.nanos)
  const { memory, sockets } = now.system
  return {
    timestamp,
    intervalMs: toMillis(interval),
    process: processSample(before, now, interval),
    eventLoop: {
      utilization: Math.round(performance.eventLoopUtilization(now.loop, before.loop).utilization * 1e4) / 1e4,
      delayP50Ms: delay.count === 0 ? null : delayMs(delay.percentile(50)),
      delayP99Ms: delay.count === 0 ? null : delayMs(delay.percentile(99)),
      delayMaxMs: delay.count === 0 ? null : delayMs(delay.max)
    },
    host: {
      cpuPercent: Host.cpuPercent(before.system.cpu, now.system.cpu) ?? Host.cpuPercent(before.osCpu, now.osCpu),
      ...loadAverages(),
      memoryTotalBytes: memory.totalBytes ?? Os.totalmem(),
      memoryAvailableBytes: memory.availableBytes ?? Os.freemem()
    },
    sockets,
    cgroup: cgroupSample(before, now)
  }
}

const processSample = (before: Reading, now: Reading, interval: number): Sample["process"] => {
  const user = now.cpu.user - before.cpu.user
  const system = now.cpu.system - before.cpu.system
  const memory = process.memoryUsage()
  return {
    cpuUserMs: user / 1e3,
    cpuSystemMs: system / 1e3,
    cpuPercent: interval > 0 ? Math.round(((user + system) * 1e7) / interval) / 100 : null,
    rssBytes: memory.rss,
    heapUsedBytes: memory.heapUsed,
    heapTotalBytes: memory.heapTotal,
    externalBytes: memory.external,
    openFileDescriptors: now.system.descriptors
  }
}

// Windows has no load average; Node.js answers zeros.
const loadAverages = (): Pick<Sample["host"], "loadAverage1" | "loadAverage5" | "loadAverage15"> => {
  const [one, five, fifteen] = process.platform === "win32" ? [] : Os.loadavg()
  return { loadAverage1: one ?? null, loadAverage5: five ?? null, loadAverage15: fifteen ?? null }
}

const cgroupSample = (before: Reading, now: Reading): Sample["cgroup"] => {
  const { cpu, memory, pids } = now.limits
  if (cpu === null && memory === null && pids === null) return null
  const [was, is] = [before.system.usage, now.system.usage]
  return {
    memoryLimitBytes: memory?.governed.limit ?? null,
    memoryUsageBytes: is?.memoryBytes ?? null,
    cpuLimit: cpu?.governed.limit ?? null,
    cpuThrottledPeriods: increase(was?.throttledPeriods, is?.throttledPeriods),
    cpuThrottledMs: increase(was?.throttledMs, is?.throttledMs),
    pidsLimit: pids?.governed.limit ?? null,
    pidsCurrent: is?.pids ?? null
  }
}

const increase = (before: number | null | undefined, now: number | null | undefined): number | null =>
  typeof before === "number" && typeof now === "number" ? Math.max(0, Math.round((now - before) * 1e3) / 1e3) : null
