/**
 * Where a run came from: who or what asked for it, which commit it measured, and on what it ran.
 *
 * @since 0.1.0
 */
import * as Os from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import * as Command from "@effect/platform/Command"
import * as CommandExecutor from "@effect/platform/CommandExecutor"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Cgroup from "./internal/metrics/cgroup.js"
import * as Files from "./internal/metrics/files.js"

/**
 * What started the run.
 *
 * @since 0.1.0
 * @category models
 */
export interface Trigger {
  /** `BENCH_TRIGGER_SOURCE`, else `GITHUB_EVENT_NAME`, else `"manual"`. */
  readonly source: string
  /** `GITHUB_EVENT_NAME`. */
  readonly event?: string | undefined
  /** `BENCH_TRIGGER_REQUESTED_BY`. */
  readonly requestedBy?: string | undefined
  /** `BENCH_TRIGGER_REQUEST_ID`. */
  readonly requestId?: string | undefined
}

const text = (description: string) => Schema.optional(Schema.String.annotations({ description }))

const amount = (description: string) => Schema.optional(Schema.Number.annotations({ description }))

/**
 * The fingerprint of a run: two runs with different fingerprints are compared with care. Absent fields could not be found
 * out, or do not apply.
 *
 * @since 0.1.0
 * @category schemas
 */
export const RunMetadata = Schema.Struct({
  gitSha: text("Full commit hash."),
  gitRef: text("Full name of the branch or tag, such as `refs/heads/main`; absent on a detached HEAD outside of CI."),
  gitDirty: Schema.optional(
    Schema.Boolean.annotations({
      description: "Whether tracked files differ from the commit; absent when CI named the commit."
    })
  ),
  triggeredBy: Schema.String.annotations({ description: "The source of the trigger." }),
  ci: text("The CI service, such as `GitHub Actions`; `generic CI` for an unknown one. Absent outside of CI."),
  nodeVersion: Schema.String.annotations({ description: "Such as `v20.19.0`." }),
  platform: Schema.String.annotations({ description: "Operating system, such as `linux`." }),
  arch: Schema.String.annotations({ description: "Processor architecture, such as `x64`." }),
  cpuModel: text("As the operating system calls the first processor."),
  cpuCount: Schema.Number.annotations({ description: "Logical processors of the machine." }),
  cpuLimit: amount("How many of them the process can use at a time, such as 1.5; absent when it can use all."),
  memoryBytes: Schema.Number.annotations({ description: "Memory of the machine." }),
  memoryLimitBytes: amount("How much of it the process and its control group may use; absent when they may use all."),
  container: Schema.Literal("docker", "podman", "kubernetes", "none").annotations({
    description: "What the process runs in, by the usual marks."
  }),
  packageName: Schema.String.annotations({ description: "The package that ran the benchmark: this one." }),
  packageVersion: text("Its version."),
  hostname: text("Name of the machine, only when it was asked for.")
}).annotations({ identifier: "RunMetadata" })

/**
 * @since 0.1.0
 * @category models
 */
export interface RunMetadata extends Schema.Schema.Type<typeof RunMetadata> {}

/**
 * What started the run, read from the environment. Values are trimmed and blank ones count as unset.
 *
 * @since 0.1.0
 * @category constructors
 */
export const trigger: Effect.Effect<Trigger> = Effect.gen(function* () {
  const source = yield* setting("BENCH_TRIGGER_SOURCE")
  const event = yield* setting("GITHUB_EVENT_NAME")
  const requestedBy = yield* setting("BENCH_TRIGGER_REQUESTED_BY")
  const requestId = yield* setting("BENCH_TRIGGER_REQUEST_ID")
  return {
    source: source ?? event ?? "manual",
    ...(event !== undefined && { event }),
    ...(requestedBy !== undefined && { requestedBy }),
    ...(requestId !== undefined && { requestId })
  }
})

/**
 * @since 0.1.0
 * @category models
 */
export interface RunMetadataOptions {
  /** Whether to include the name of the machine. Default false. */
  readonly hostname?: boolean | undefined
  /** The directory that the files of Linux are looked for in. Default `/`. */
  readonly root?: string | undefined
}

/**
 * Collects the fingerprint of this process. The commit is `GITHUB_SHA` and `GITHUB_REF`, else what `git` says about the
 * working directory where commands can be run (a `CommandExecutor` is in the context); it is absent outside a
 * repository, without `git`, or when `git` takes longer than 2 seconds. Reading files is limited to 2 seconds as well.
 *
 * The name of the machine is left out unless it is asked for: it often names a person, a customer or an internal network,
 * and a fingerprint goes wherever results are shown, while nothing about a measurement follows from a name.
 *
 * @since 0.1.0
 * @category constructors
 */
export const collectWith = (options: RunMetadataOptions): Effect.Effect<RunMetadata> =>
  Effect.gen(function* () {
    const { source } = yield* trigger
    const root = options.root ?? "/"
    const [commit, service, limits, kind, version] = yield* Effect.all(
      [commitOf, ci, limitsIn(root), container(root), packageVersion],
      { concurrency: "unbounded" }
    )
    const cpuModel = Os.cpus()[0]?.model.trim()
    return {
      ...commit,
      triggeredBy: source,
      ...(service !== undefined && { ci: service }),
      nodeVersion: process.version,
      platform: process.platform,
      arch: process.arch,
      ...(cpuModel && { cpuModel }),
      cpuCount: cpuCount(),
      ...limits,
      memoryBytes: Os.totalmem(),
      container: kind,
      packageName,
      ...(version !== undefined && { packageVersion: version }),
      ...(options.hostname === true && { hostname: Os.hostname() })
    }
  })

/**
 * {@link collectWith} without options.
 *
 * @since 0.1.0
 * @category constructors
 */
export const collect: Effect.Effect<RunMetadata> = Effect.suspend(() => collectWith({}))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const setting = (name: string): Effect.Effect<string | undefined> =>
  Config.string(name).pipe(
    Effect.map((value) => value.trim() || undefined),
    Effect.orElseSucceed(() => undefined)
  )

// Disconnected, so that a git that does not react to its signal cannot hold up the deadline.
const git = (expected: RegExp, ...args: ReadonlyArray<string>): Effect.Effect<string | undefined> =>
  Effect.flatten(Effect.serviceOption(CommandExecutor.CommandExecutor)).pipe(
    Effect.flatMap((executor) => executor.string(Command.make("git", ...args))),
    Effect.map((output) => output.trim()),
    Effect.disconnect,
    Effect.timeout("2 seconds"),
    Effect.map((output) => (expected.test(output) ? output : undefined)),
    Effect.orElseSucceed(() => undefined)
  )

const ref = Effect.flatMap(setting("GITHUB_REF"), (found) =>
  found === undefined ? git(/^refs\//, "rev-parse", "--symbolic-full-name", "HEAD") : Effect.succeed(found)
)

// The line about the branch tells a clean working directory from no answer.
const dirty = Effect.map(
  git(/^# branch\.oid /, "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=no"),
  (output) => output?.split("\n").some((line) => !line.startsWith("#"))
)

type Commit = Pick<RunMetadata, "gitSha" | "gitRef" | "gitDirty">

const commitOf: Effect.Effect<Commit> = Effect.flatMap(setting("GITHUB_SHA"), (named) =>
  named !== undefined
    ? Effect.map(ref, (gitRef): Commit => ({ gitSha: named, ...(gitRef !== undefined && { gitRef }) }))
    : Effect.map(
        Effect.all([git(/^[0-9a-f]{40,64}$/, "rev-parse", "--verify", "HEAD"), ref, dirty], { concurrency: 3 }),
        ([gitSha, gitRef, gitDirty]): Commit => ({
          ...(gitSha !== undefined && { gitSha }),
          ...(gitRef !== undefined && { gitRef }),
          ...(gitSha !== undefined && gitDirty !== undefined && { gitDirty })
        })
      )
)

/** Which variable tells which service, the more particular first. */
const services: ReadonlyArray<readonly [variable: string, service: string]> = [
  ["GITHUB_ACTIONS", "GitHub Actions"],
  ["GITLAB_CI", "GitLab CI"],
  ["CIRCLECI", "CircleCI"],
  ["BUILDKITE", "Buildkite"],
  ["JENKINS_URL", "Jenkins"],
  ["TF_BUILD", "Azure Pipelines"],
  ["BITBUCKET_BUILD_NUMBER", "Bitbucket Pipelines"],
  ["CODEBUILD_BUILD_ID", "AWS CodeBuild"],
  ["TEAMCITY_VERSION", "TeamCity"],
  ["TRAVIS", "Travis CI"],
  ["DRONE", "Drone"],
  ["SEMAPHORE", "Semaphore"],
  ["APPVEYOR", "AppVeyor"],
  ["CIRRUS_CI", "Cirrus CI"],
  ["VERCEL", "Vercel"],
  ["NETLIFY", "Netlify"],
  ["CI", "generic CI"]
]

const ci: Effect.Effect<string | undefined> = Effect.map(
  Effect.findFirst(services, ([variable]) =>
    Effect.map(setting(variable), (value) => value !== undefined && !/^(?:false|0|no|off)$/i.test(value))
  ),
  (found) => Option.getOrUndefined(found)?.[1]
)

const within = <A>(effect: Effect.Effect<A>, otherwise: A): Effect.Effect<A> =>
  Effect.timeoutTo(effect, { duration: Files.patience, onSuccess: (value) => value, onTimeout: () => otherwise })

/** `availableParallelism` counts those that the process may run on. */
const cpuCount = (): number => Math.max(Os.cpus().length, Os.availableParallelism())

const limitsIn = (root: string): Effect.Effect<Pick<RunMetadata, "cpuLimit" | "memoryLimitBytes">> => {
  const roots = { procRoot: Path.join(root, "proc"), cgroupRoot: Path.join(root, "sys", "fs", "cgroup") }
  return Effect.map(within(Cgroup.discover(roots), Cgroup.none), ({ cpu, memory }) => {
    const cpuLimit = Math.min(Os.availableParallelism(), cpu?.governed.limit ?? Infinity)
    const memoryLimitBytes = memory?.governed.limit ?? Infinity
    return {
      ...(cpuLimit < cpuCount() && { cpuLimit }),
      ...(memoryLimitBytes < Os.totalmem() && { memoryLimitBytes })
    }
  })
}

const container = (root: string): Effect.Effect<RunMetadata["container"]> =>
  within(
    Effect.gen(function* () {
      const groups = (yield* Files.read(Path.join(root, "proc", "self", "cgroup"))) ?? ""
      const declared = yield* setting("container")
      const cluster = yield* setting("KUBERNETES_SERVICE_HOST")
      if (cluster !== undefined || groups.includes("kubepods")) return "kubernetes"
      if (declared === "podman" || groups.includes("libpod")) return "podman"
      if (yield* Files.exists(Path.join(root, "run", ".containerenv"))) return "podman"
      if (declared === "docker" || /[/-]docker[/-]/.test(groups)) return "docker"
      return (yield* Files.exists(Path.join(root, ".dockerenv"))) ? "docker" : "none"
    }),
    "none"
  )

const packageName = "effect-bench"

const Manifest = Schema.parseJson(Schema.Struct({ name: Schema.Literal(packageName), version: Schema.String }))

// The same place from src and from dist. In a bundle another package may be there, which is not asked for its version.
const packageVersion: Effect.Effect<string | undefined> = Effect.suspend(() =>
  within(
    Files.read(fileURLToPath(new URL("../package.json", import.meta.url))).pipe(
      Effect.flatMap(Schema.decodeUnknown(Manifest)),
      Effect.map(({ version }) => version),
      Effect.orElseSucceed(() => undefined)
    ),
    undefined
  )
)
