import * as ChildProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { Command, CommandExecutor, Error as PlatformError } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Layer, Schema, TestClock, TestServices } from "effect"
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
const layerRepository = (prepare: (git: (...args: Array<string>) => string, directory: string) => void) =>
  Layer.scoped(
    CommandExecutor.CommandExecutor,
    Effect.gen(function* () {
      const executor = yield* CommandExecutor.CommandExecutor
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "run-metadata-"))),
        (created) => Effect.sync(() => fs.rmSync(created, { recursive: true }))
      )
      const identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
      prepare(
        (...args) =>
          ChildProcess.execFileSync("git", [...identity, ...args], { cwd: directory, encoding: "utf8", stdio: "pipe" }),
        directory
      )
      return {
        ...executor,
        string: (command: Command.Command, encoding?: string) =>
          executor.string(Command.workingDirectory(command, directory), encoding)
      }
    })
  ).pipe(Layer.provide(NodeContext.layer))

const host = { nodeVersion: process.version, platform: process.platform, arch: process.arch }

/** Without what depends on the machine in other ways. */
const originOf = ({ arch, gitDirty, gitRef, gitSha, nodeVersion, platform, triggeredBy }: RunMetadata.RunMetadata) =>
  Object.fromEntries(
    Object.entries({ arch, gitDirty, gitRef, gitSha, nodeVersion, platform, triggeredBy }).filter(
      ([, value]) => value !== undefined
    )
  )

const collectOrigin = Effect.map(RunMetadata.collect, originOf)

const commit = (git: (...args: Array<string>) => string): string => {
  git("init", "--quiet", "--initial-branch=trunk")
  git("commit", "--quiet", "--allow-empty", "--message=first")
  return git("rev-parse", "HEAD").trim()
}

describe("collect", () => {
  it.effect("takes the commit that CI names without asking git", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* collectOrigin, {
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
      const metadata = yield* collectOrigin
      assert.match(head, /^[0-9a-f]{40}$/)
      assert.deepStrictEqual(metadata, {
        gitSha: head,
        gitRef: "refs/heads/trunk",
        gitDirty: false,
        triggeredBy: "manual",
        ...host
      })
    }).pipe(Effect.provide(layerRepository((git) => void (head = commit(git)))), withEnv({}))
  })

  it.live("a detached HEAD has no ref", () =>
    Effect.gen(function* () {
      const metadata = yield* collectOrigin
      assert.hasAllKeys(metadata, ["gitSha", "gitDirty", "triggeredBy", "nodeVersion", "platform", "arch"])
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
      assert.deepStrictEqual(yield* collectOrigin, { triggeredBy: "manual", ...host })
    }).pipe(Effect.provide(layerRepository((git) => void git("init", "--quiet"))), withEnv({}))
  )

  it.live("there is no commit outside a repository", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* collectOrigin, { triggeredBy: "manual", ...host })
    }).pipe(Effect.provide(layerRepository(() => undefined)), withEnv({}))
  )

  it.effect("there is no commit without git", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* collectOrigin, { triggeredBy: "manual", ...host })
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
        const fiber = yield* Effect.fork(collectOrigin)
        yield* TestClock.adjust("1999 millis")
        assert.isNull(fiber.unsafePoll())
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(yield* Fiber.join(fiber), { triggeredBy: "manual", ...host })
      }).pipe(Effect.provide(layerGit(answer)), withEnv({}))
    )
  }

  for (const [what, change, expected] of [
    ["a changed tracked file", "tracked", true],
    ["a staged file", "staged", true],
    ["an untracked file", "untracked", false]
  ] as const) {
    it.live(`${what} makes the working directory ${expected ? "dirty" : "no dirtier"}`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* RunMetadata.collect).gitDirty, expected)
      }).pipe(
        Effect.provide(
          layerRepository((git, directory) => {
            const write = (name: string, text: string) => fs.writeFileSync(path.join(directory, name), text)
            git("init", "--quiet", "--initial-branch=trunk")
            write("tracked", "before")
            git("add", "tracked")
            git("commit", "--quiet", "--message=first")
            write(change, "after")
            if (change === "staged") git("add", "staged")
          })
        ),
        withEnv({})
      )
    )
  }

  it.live("whether a repository without a commit is dirty is not said", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* RunMetadata.collect).gitDirty)
    }).pipe(
      Effect.provide(
        layerRepository((git, directory) => {
          git("init", "--quiet")
          fs.writeFileSync(path.join(directory, "staged"), "")
          git("add", "staged")
        })
      ),
      withEnv({})
    )
  )
})

/** A directory that holds these files. */
const makeRoot = (files: { readonly [name: string]: string }) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "run-metadata-root-"))),
      (created) => Effect.sync(() => fs.rmSync(created, { recursive: true }))
    ),
    (root) => {
      for (const [name, text] of Object.entries(files)) {
        fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
        fs.writeFileSync(path.join(root, name), text)
      }
      return root
    }
  )

const collectIn = (files: { readonly [name: string]: string }, env: Record<string, string> = {}) =>
  Effect.flatMap(makeRoot(files), (root) => RunMetadata.collectWith({ root })).pipe(
    withEnv(env),
    TestServices.provideLive
  )

describe("the machine", () => {
  it.scoped("is described as the operating system describes it", () =>
    Effect.gen(function* () {
      const metadata = yield* collectIn({})
      assert.strictEqual(metadata.memoryBytes, os.totalmem())
      assert.strictEqual(metadata.cpuModel, os.cpus()[0]?.model.trim() || undefined)
      assert.isAtLeast(metadata.cpuCount, os.cpus().length)
      assert.isAtLeast(metadata.cpuCount, 1)
      assert.notProperty(metadata, "memoryLimitBytes")
    })
  )

  it.scoped("limits of control groups are told when they are tighter", () =>
    Effect.gen(function* () {
      const metadata = yield* collectIn({
        "proc/self/cgroup": "0::/a/b\n",
        "sys/fs/cgroup/a/memory.max": "1048576\n",
        "sys/fs/cgroup/a/b/memory.max": "max\n",
        "sys/fs/cgroup/a/b/cpu.max": "50000 100000\n"
      })
      assert.strictEqual(metadata.memoryLimitBytes, 1_048_576)
      assert.strictEqual(metadata.cpuLimit, 0.5)
    })
  )

  it.scoped("limits beyond the machine are no limits", () =>
    Effect.gen(function* () {
      const metadata = yield* collectIn({
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": String(os.totalmem() + 1),
        "sys/fs/cgroup/cpu.max": "100000000 100000\n"
      })
      assert.notProperty(metadata, "memoryLimitBytes")
      assert.strictEqual(
        metadata.cpuLimit,
        os.availableParallelism() < metadata.cpuCount ? os.availableParallelism() : undefined
      )
    })
  )

  it.scoped("has no name unless it is asked for", () =>
    Effect.gen(function* () {
      const root = yield* makeRoot({})
      assert.notProperty(yield* RunMetadata.collectWith({ root }), "hostname")
      assert.strictEqual((yield* RunMetadata.collectWith({ root, hostname: true })).hostname, os.hostname())
    }).pipe(withEnv({}), TestServices.provideLive)
  )

  const containers: ReadonlyArray<
    readonly [what: string, files: Record<string, string>, env: Record<string, string>, expected: string]
  > = [
    ["nothing", {}, {}, "none"],
    ["a group of the system", { "proc/self/cgroup": "0::/system.slice/docker.service\n" }, {}, "none"],
    ["the file of docker", { ".dockerenv": "" }, {}, "docker"],
    ["a group of docker", { "proc/self/cgroup": "4:memory:/docker/0a1b\n" }, {}, "docker"],
    ["a scope of docker", { "proc/self/cgroup": "0::/system.slice/docker-0a1b.scope\n" }, {}, "docker"],
    ["the file of podman", { "run/.containerenv": "" }, {}, "podman"],
    ["the variable of podman", {}, { container: "podman" }, "podman"],
    ["a group of podman", { "proc/self/cgroup": "0::/machine.slice/libpod-0a1b.scope\n" }, {}, "podman"],
    ["a group of kubernetes", { "proc/self/cgroup": "0::/kubepods/pod1/c\n", ".dockerenv": "" }, {}, "kubernetes"],
    ["the variable of kubernetes", { ".dockerenv": "" }, { KUBERNETES_SERVICE_HOST: "10.0.0.1" }, "kubernetes"]
  ]
  for (const [what, files, env, expected] of containers) {
    it.scoped(`${what} is a mark of container "${expected}"`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* collectIn(files, env)).container, expected)
      })
    )
  }

  it.scoped("the fingerprint is JSON of its schema", () =>
    Effect.gen(function* () {
      const metadata = yield* collectIn({}, { CI: "true" })
      assert.deepStrictEqual(Schema.decodeUnknownSync(RunMetadata.RunMetadata)({ ...metadata }), metadata)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(metadata)), metadata)
    })
  )

  it.scoped("names this package and its version", () =>
    Effect.gen(function* () {
      const metadata = yield* collectIn({})
      const manifest: unknown = JSON.parse(fs.readFileSync(new URL("../package.json", import.meta.url), "utf8"))
      assert.deepInclude(manifest, { name: metadata.packageName, version: metadata.packageVersion })
    })
  )
})

describe("the CI service", () => {
  const services: ReadonlyArray<readonly [env: Record<string, string>, expected: string | undefined]> = [
    [{}, undefined],
    [{ CI: "false" }, undefined],
    [{ CI: "0" }, undefined],
    [{ CI: " " }, undefined],
    [{ CI: "true" }, "generic CI"],
    [{ CI: "true", GITHUB_ACTIONS: "true" }, "GitHub Actions"],
    [{ CI: "true", GITLAB_CI: "true" }, "GitLab CI"],
    [{ JENKINS_URL: "https://ci.example.com" }, "Jenkins"],
    [{ TF_BUILD: "True" }, "Azure Pipelines"]
  ]
  for (const [env, expected] of services) {
    it.scoped(`of ${JSON.stringify(env)} is ${String(expected)}`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* collectIn({}, env)).ci, expected)
      })
    )
  }
})
