import * as ChildProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { Command, CommandExecutor, Error as PlatformError } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Fiber, Layer, Schema, TestClock } from "effect"
import * as RunMetadata from "../src/RunMetadata.js"
import { readVectors } from "./support/vectors.js"

const withEnv = (env: Record<string, string>) =>
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env))))

const OtherCase = Schema.Struct({
  name: Schema.String,
  kind: Schema.Literal("mergeConfig", "resolveShape", "applyIdentity", "runConfigToJson")
})

const TriggerCase = Schema.Struct({
  kind: Schema.Literal("trigger"),
  name: Schema.String,
  env: Schema.Record({ key: Schema.String, value: Schema.String }),
  expected: Schema.Struct({ triggerSource: Schema.String, trigger: Schema.Unknown })
})

const cases = Schema.decodeUnknownSync(Schema.Array(Schema.Union(TriggerCase, OtherCase)))(readVectors("merge-config"))

describe("trigger vectors", () => {
  for (const item of cases) {
    if (item.kind !== "trigger") continue
    it.effect(item.name, () =>
      Effect.gen(function* () {
        const trigger = yield* RunMetadata.trigger
        assert.deepStrictEqual(trigger, item.expected.trigger)
        assert.strictEqual(trigger.source, item.expected.triggerSource)
      }).pipe(withEnv(item.env))
    )
  }

  it.effect("a comma does not split a value", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* RunMetadata.trigger, { source: "a,b" })
    }).pipe(withEnv({ BENCH_TRIGGER_SOURCE: "a,b" }))
  )
})

/** A git that answers every command in this way. */
const layerGit = (answer: Effect.Effect<string, PlatformError.PlatformError>) =>
  Layer.succeed(CommandExecutor.CommandExecutor, {
    ...CommandExecutor.makeExecutor(() => Effect.dieMessage("not started")),
    string: () => answer
  })

/** The real git, in a new directory that `prepare` has filled. */
const layerRepository = (prepare: (git: (...args: Array<string>) => string) => void) =>
  Layer.scoped(
    CommandExecutor.CommandExecutor,
    Effect.gen(function* () {
      const executor = yield* CommandExecutor.CommandExecutor
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "run-metadata-"))),
        (created) => Effect.sync(() => fs.rmSync(created, { recursive: true }))
      )
      const identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
      prepare((...args) =>
        ChildProcess.execFileSync("git", [...identity, ...args], { cwd: directory, encoding: "utf8", stdio: "pipe" })
      )
      return {
        ...executor,
        string: (command: Command.Command, encoding?: string) =>
          executor.string(Command.workingDirectory(command, directory), encoding)
      }
    })
  ).pipe(Layer.provide(NodeContext.layer))

const host = { nodeVersion: process.version, platform: process.platform, arch: process.arch }

const commit = (git: (...args: Array<string>) => string): string => {
  git("init", "--quiet", "--initial-branch=trunk")
  git("commit", "--quiet", "--allow-empty", "--message=first")
  return git("rev-parse", "HEAD").trim()
}

describe("collect", () => {
  it.effect("takes the commit that CI names without asking git", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* RunMetadata.collect, {
        gitSha: "abc123",
        gitRef: "refs/pull/7/merge",
        triggeredBy: "push",
        ...host
      })
    }).pipe(
      Effect.provide(layerGit(Effect.dieMessage("git was asked"))),
      withEnv({ GITHUB_SHA: " abc123 ", GITHUB_REF: "refs/pull/7/merge", GITHUB_EVENT_NAME: "push" })
    )
  )

  it.live("asks git for the commit and the branch", () => {
    let head = ""
    return Effect.gen(function* () {
      const metadata = yield* RunMetadata.collect
      assert.match(head, /^[0-9a-f]{40}$/)
      assert.deepStrictEqual(metadata, {
        gitSha: head,
        gitRef: "refs/heads/trunk",
        triggeredBy: "manual",
        ...host
      })
    }).pipe(Effect.provide(layerRepository((git) => void (head = commit(git)))), withEnv({}))
  })

  it.live("a detached HEAD has no ref", () =>
    Effect.gen(function* () {
      const metadata = yield* RunMetadata.collect
      assert.hasAllKeys(metadata, ["gitSha", "triggeredBy", "nodeVersion", "platform", "arch"])
    }).pipe(
      Effect.provide(
        layerRepository((git) => {
          git("checkout", "--quiet", "--detach", commit(git))
        })
      ),
      withEnv({})
    )
  )

  it.live("there is no commit in a repository without one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* RunMetadata.collect, { triggeredBy: "manual", ...host })
    }).pipe(Effect.provide(layerRepository((git) => void git("init", "--quiet"))), withEnv({}))
  )

  it.live("there is no commit outside a repository", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* RunMetadata.collect, { triggeredBy: "manual", ...host })
    }).pipe(Effect.provide(layerRepository(() => undefined)), withEnv({}))
  )

  it.effect("there is no commit without git", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* RunMetadata.collect, { triggeredBy: "manual", ...host })
    }).pipe(
      Effect.provide(
        layerGit(Effect.fail(new PlatformError.SystemError({ reason: "NotFound", module: "Command", method: "spawn" })))
      ),
      withEnv({})
    )
  )

  for (const [what, answer] of [
    ["never answers", Effect.never],
    ["cannot be interrupted", Effect.uninterruptible(Effect.never)]
  ] as const) {
    it.effect(`gives up after 2 seconds on a git that ${what}`, () =>
      Effect.gen(function* () {
        const fiber = yield* Effect.fork(RunMetadata.collect)
        yield* TestClock.adjust("1999 millis")
        assert.isNull(fiber.unsafePoll())
        yield* TestClock.adjust("1 millis")
        const exit = yield* Fiber.await(fiber)
        assert.deepStrictEqual(exit, Exit.succeed({ triggeredBy: "manual", ...host }))
      }).pipe(Effect.provide(layerGit(answer)), withEnv({}))
    )
  }
})
