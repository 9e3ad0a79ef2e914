/**
 * The control groups that this process is in, version 1, 2 or both. A limit of any ancestor holds for the process too,
 * so the tightest one counts, and usage is read where that limit is set: only there the two can be compared.
 */
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Files from "./files.js"
import { parseCount, parseFields } from "./host.js"

/** Where /proc and the control groups are mounted. */
export interface SystemRoots {
  readonly procRoot: string
  readonly cgroupRoot: string
}

/** A limit, null when there is none, and the directory of the group that sets it or else of the process's own. */
interface Governed {
  readonly limit: number | null
  readonly directory: string
}

interface Controller {
  readonly version: 1 | 2
  readonly governed: Governed
}

/** The limits on this process, as they were found. */
export interface Cgroups {
  readonly memory: Controller | null
  /** Limits are processors, such as 1.5. */
  readonly cpu: Controller | null
  readonly pids: Controller | null
}

export const none: Cgroups = { memory: null, cpu: null, pids: null }

export const discover = (roots: SystemRoots): Effect.Effect<Cgroups> =>
  Effect.flatMap(Files.read(Path.join(roots.procRoot, "self", "cgroup")), (membership) => {
    const memberships = parseMembership(membership)
    const find = (name: ControllerName) => findController(roots.cgroupRoot, memberships, name)
    return Effect.all({ memory: find("memory"), cpu: find("cpu"), pids: find("pids") })
  })

/** What the groups say now. Counters are since the group was created. */
export interface CgroupUsage {
  readonly memoryBytes: number | null
  readonly pids: number | null
  readonly throttledPeriods: number | null
  readonly throttledMs: number | null
}

export const usage = ({ cpu, memory, pids }: Cgroups): Effect.Effect<CgroupUsage> =>
  Effect.gen(function* () {
    const memoryFile = memory?.version === 1 ? "memory.usage_in_bytes" : "memory.current"
    const stat = parseFields(yield* readIn(cpu, "cpu.stat"))
    const micros = stat.get("throttled_usec")
    const nanos = stat.get("throttled_time")
    return {
      memoryBytes: parseCount((yield* readIn(memory, memoryFile))?.trim()),
      pids: parseCount((yield* readIn(pids, "pids.current"))?.trim()),
      throttledPeriods: stat.get("nr_throttled") ?? null,
      throttledMs: micros !== undefined ? micros / 1e3 : nanos !== undefined ? nanos / 1e6 : null
    }
  })

const readIn = (controller: Controller | null, file: string): Effect.Effect<string | null> =>
  controller === null ? Effect.succeed(null) : Files.read(Path.join(controller.governed.directory, file))

// -----------------------------------------------------------------------------
// membership
// -----------------------------------------------------------------------------

type ControllerName = "memory" | "cpu" | "pids"

interface Membership {
  /** Empty in version 2. */
  readonly controllers: ReadonlyArray<string>
  readonly segments: ReadonlyArray<string>
}

/** Deeper groups than this are not looked at. */
const maxDepth = 64

/** Lines such as `4:cpu,cpuacct:/a/b`, or `0::/a/b` in version 2. */
const parseMembership = (text: string | null): ReadonlyArray<Membership> =>
  (text?.split("\n") ?? []).flatMap((line) => {
    const fields = /^\d+:([^:]*):\/(.*)$/.exec(line)
    return fields === null
      ? []
      : [{ controllers: (fields[1] ?? "").split(",").filter(Boolean), segments: segmentsOf(fields[2] ?? "") }]
  })

// A path that leads out of the root names a group that is not visible here: what is visible is the root.
const segmentsOf = (path: string): ReadonlyArray<string> => {
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".")
  return segments.some((segment) => segment === ".." || segment.includes("\0")) ? [] : segments.slice(0, maxDepth)
}

const findController = (
  root: string,
  memberships: ReadonlyArray<Membership>,
  name: ControllerName
): Effect.Effect<Controller | null> => {
  const first = memberships.find(({ controllers }) => controllers.includes(name))
  const second = memberships.find(({ controllers }) => controllers.length === 0)
  const candidates: ReadonlyArray<readonly [1 | 2, string, ReadonlyArray<string>]> =
    first !== undefined && controllersAreNames(first.controllers)
      ? [
          [1, Path.join(root, first.controllers.join(",")), first.segments],
          [1, Path.join(root, name), first.segments]
        ]
      : second !== undefined
        ? [
            [2, root, second.segments],
            [2, Path.join(root, "unified"), second.segments]
          ]
        : []
  return Effect.gen(function* () {
    for (const [version, mount, segments] of candidates) {
      const governed = yield* tightest(mount, segments, readers[name][version])
      if (governed !== null) return { version, governed }
    }
    return null
  })
}

const controllersAreNames = (controllers: ReadonlyArray<string>): boolean =>
  controllers.every((name) => /^[a-z_]+$/.test(name))

/** A group's own limit: null for none, undefined when the group cannot be read. */
type LimitReader = (directory: string) => Effect.Effect<number | null | undefined>

const tightest = (
  mount: string,
  segments: ReadonlyArray<string>,
  limitOf: LimitReader
): Effect.Effect<Governed | null> =>
  Effect.gen(function* () {
    let found: Governed | null = null
    for (let depth = segments.length; depth >= 0; depth--) {
      const directory = Path.join(mount, ...segments.slice(0, depth))
      const limit = yield* limitOf(directory)
      if (limit === undefined) continue
      if (found === null || (limit !== null && (found.limit === null || limit < found.limit))) {
        found = { limit, directory }
      }
    }
    return found
  })

// -----------------------------------------------------------------------------
// limits
// -----------------------------------------------------------------------------

/** One number per file; anything that is none (`max`, `-1`, version 1's largest number) is no limit. */
const single =
  (file: string): LimitReader =>
  (directory) =>
    Effect.map(Files.read(Path.join(directory, file)), (text) => (text === null ? undefined : parseCount(text.trim())))

const processors = (quota: string | undefined, period: string | undefined): number | null => {
  const [a, b] = [parseCount(quota), parseCount(period)]
  return a === null || b === null || a === 0 || b === 0 ? null : Math.round((a / b) * 1e3) / 1e3
}

const cpuMax: LimitReader = (directory) =>
  Effect.map(Files.read(Path.join(directory, "cpu.max")), (text) => {
    if (text === null) return undefined
    const [quota, period] = text.trim().split(/\s+/)
    return processors(quota, period)
  })

const cpuQuota: LimitReader = (directory) =>
  Effect.gen(function* () {
    const quota = yield* Files.read(Path.join(directory, "cpu.cfs_quota_us"))
    if (quota === null) return undefined
    return processors(quota.trim(), (yield* Files.read(Path.join(directory, "cpu.cfs_period_us")))?.trim())
  })

const readers: { readonly [name in ControllerName]: { readonly 1: LimitReader; readonly 2: LimitReader } } = {
  memory: { 1: single("memory.limit_in_bytes"), 2: single("memory.max") },
  cpu: { 1: cpuQuota, 2: cpuMax },
  pids: { 1: single("pids.max"), 2: single("pids.max") }
}
