/**
 * Where a run came from: who or what asked for it, which commit it measured, and on what it ran.
 *
 * @since 0.1.0
 */
import * as Command from "@effect/platform/Command"
import * as CommandExecutor from "@effect/platform/CommandExecutor"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"

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

/**
 * The fingerprint that is stored with a run's summary. Absent fields could not be found out.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunMetadata {
  /** Full commit hash. */
  readonly gitSha?: string | undefined
  /** Full name of the branch or tag, such as `refs/heads/main`; absent on a detached HEAD outside of CI. */
  readonly gitRef?: string | undefined
  /** The source of the {@link Trigger}. */
  readonly triggeredBy: string
  /** Such as `v20.19.0`. */
  readonly nodeVersion: string
  /** Operating system, such as `linux`. */
  readonly platform: string
  /** Processor architecture, such as `x64`. */
  readonly arch: string
}

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
 * Collects the fingerprint of this process. The commit is `GITHUB_SHA` and `GITHUB_REF`, else what `git` says about the
 * working directory where commands can be run (a `CommandExecutor` is in the context); it is absent outside a
 * repository, without `git`, or when `git` takes longer than 2 seconds.
 *
 * @since 0.1.0
 * @category constructors
 */
export const collect: Effect.Effect<RunMetadata> = Effect.gen(function* () {
  const { source } = yield* trigger
  const [gitSha, gitRef] = yield* Effect.all([sha, ref], { concurrency: 2 })
  return {
    ...(gitSha !== undefined && { gitSha }),
    ...(gitRef !== undefined && { gitRef }),
    triggeredBy: source,
    nodeVersion: process.version,
    platform: process.platform,
    arch: process.arch
  }
})

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

const sha = Effect.flatMap(setting("GITHUB_SHA"), (found) =>
  found === undefined ? git(/^[0-9a-f]{40,64}$/, "rev-parse", "--verify", "HEAD") : Effect.succeed(found)
)

const ref = Effect.flatMap(setting("GITHUB_REF"), (found) =>
  found === undefined ? git(/^refs\//, "rev-parse", "--symbolic-full-name", "HEAD") : Effect.succeed(found)
)
