import * as fs from "node:fs"
import * as Command from "@effect/cli/Command"
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Fiber, Redacted } from "effect"
import * as Keys from "../../src/cli/keys.js"
import * as Orgs from "../../src/cli/orgs.js"
import type { ServeOptions } from "../../src/cli/serve.js"
import { layerAccounts, serve } from "../../src/cli/serve.js"
import { serveCommand } from "../../src/cli/serveCommands.js"
import { Platform } from "../../src/Platform.js"
import * as PlatformClient from "../../src/PlatformClient.js"
import { project } from "../support/bench.js"
import { call, Captured, capturing } from "../support/commands.js"

// -----------------------------------------------------------------------------
// support
// -----------------------------------------------------------------------------

const defaults: ServeOptions = { host: "127.0.0.1", port: 0, lease: Duration.minutes(5) }

/** A folder with an environment that knows nothing but it. */
const folder = Effect.map(project, (made) => ({
  path: (name: string) => made.path(name),
  within: <A, E, R>(effect: Effect.Effect<A, E, R>, env: Readonly<Record<string, string>> = {}) =>
    Effect.withConfigProvider(
      effect,
      ConfigProvider.fromMap(new Map(Object.entries({ BENCH_HOME: made.path(".bench"), ...env })))
    )
}))

type Folder = Effect.Effect.Success<typeof folder>

/** Serves until the scope closes, and gives what was said once the server listens. */
const serving = (here: Folder, options: Partial<ServeOptions> = {}, env: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const said = new Captured()
    const command = here.within(capturing(serve({ ...defaults, ...options }), said), env)
    const fiber = yield* Effect.forkScoped(command)
    const listening = Effect.gen(function* () {
      while (!said.stderr.includes("Listening on")) yield* Effect.promise(() => new Promise(setImmediate))
    })
    yield* Effect.raceFirst(listening, Fiber.join(fiber))
    const url = /Listening on (\S+?),?\s/.exec(said.stderr)?.[1] ?? ""
    return { said, url, stop: Fiber.interrupt(fiber) }
  })

const createKey = (here: Folder, organization: string, database?: string) =>
  Effect.gen(function* () {
    const layer = layerAccounts(database === undefined ? undefined : Redacted.make(database))
    yield* here.within(Effect.provide(Orgs.create({ slug: organization, json: false }), layer))
    yield* here.within(Effect.provide(Keys.create({ org: organization, json: false, quiet: true }), layer))
  }).pipe(
    call,
    Effect.map(({ stdout }) => Redacted.make(stdout.trim().split("\n").at(-1) ?? ""))
  )

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

describe("bench serve", () => {
  it.scoped("says where it listens, where things are kept, and how to get a first key", () =>
    Effect.gen(function* () {
      const here = yield* folder
      const { said, url } = yield* serving(here)
      assert.strictEqual(
        said.stderr,
        [
          `Listening on ${url}`,
          `  database   ${here.path(".bench/server.db")}`,
          `  artifacts  ${here.path(".bench/server-artifacts")}`,
          "There are no keys yet. Create the first one:",
          "  bench serve orgs create my-org",
          "  bench serve keys create --org my-org",
          ""
        ].join("\n")
      )
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
      assert.strictEqual(fs.readFileSync(here.path(".bench/.gitignore"), "utf8"), "*\n")
      const ready = yield* Effect.promise(() => fetch(`${url}/readyz`))
      assert.strictEqual(ready.status, 200)
    })
  )

  it.scoped("a key that was created beside it lets a client in, and its requests are logged", () =>
    Effect.gen(function* () {
      const here = yield* folder
      const { said, url } = yield* serving(here)
      const credentials = yield* createKey(here, "acme")
      const client = PlatformClient.layer({ baseUrl: url, credentials })
      const run = yield* Effect.gen(function* () {
        const platform = yield* Platform
        yield* platform.upsertBenchmark("demo", { name: "Demo" })
        return yield* platform.createRun("demo", { participants: [{ slug: "alpha", totalTasks: 1 }] })
      }).pipe(Effect.provide(client), Effect.provide(FetchHttpClient.layer))
      assert.strictEqual(run.organizationSlug, "acme")
      assert.match(said.stderr, /message=request .*organization=acme/)
      assert.notInclude(said.stderr, Redacted.value(credentials))
    })
  )

  it.scoped("bytes of artifacts go to the server itself, and come back", () =>
    Effect.gen(function* () {
      const here = yield* folder
      const { url } = yield* serving(here, { artifacts: here.path("files") })
      const credentials = yield* createKey(here, "acme")
      const text = yield* Effect.gen(function* () {
        const platform = yield* Platform
        yield* platform.upsertBenchmark("demo", {})
        const { run } = yield* platform.createRun("demo", { participants: [{ slug: "alpha", totalTasks: 1 }] })
        const participant = { benchmark: "demo", run: run.id, participant: "alpha" }
        yield* platform.planWorkers(participant, {})
        const assignment = yield* platform.claimWorker(participant, {})
        if (assignment === null) return yield* Effect.dieMessage("no worker")
        const upload = yield* platform.createArtifact(
          { ...participant, worker: assignment.workerId },
          { attemptId: assignment.attemptId, kind: "note", name: "a/../b.txt", contentType: "text/plain" }
        )
        assert.isTrue(upload.uploadUrl.startsWith(`${url}/objects/`))
        yield* platform.uploadArtifact(upload, Buffer.from("hello"))
        const { downloadUrl } = yield* platform.getArtifact({ benchmark: "demo", run: run.id }, upload.artifactId)
        return yield* Effect.promise(() => fetch(downloadUrl).then((response) => response.text()))
      }).pipe(
        Effect.provide(PlatformClient.layer({ baseUrl: url, credentials })),
        Effect.provide(FetchHttpClient.layer)
      )
      assert.strictEqual(text, "hello")
    })
  )

  it.scoped("places come from flags before the environment", () =>
    Effect.gen(function* () {
      const here = yield* folder
      const env = { BENCH_DATABASE: here.path("env.db"), BENCH_ARTIFACTS: here.path("env-files") }
      const byEnvironment = yield* serving(here, {}, env)
      assert.include(byEnvironment.said.stderr, here.path("env.db"))
      assert.include(byEnvironment.said.stderr, here.path("env-files"))
      const byFlag = yield* serving(here, { database: Redacted.make(`sqlite:${here.path("flag.db")}`) }, env)
      assert.include(byFlag.said.stderr, here.path("flag.db"))
      assert.include(byFlag.said.stderr, "bench serve keys create --org my-org --database …")
      assert.isTrue(fs.existsSync(here.path("flag.db")))
    })
  )

  it.scoped("a port that is taken is refused before anything is opened", () =>
    Effect.gen(function* () {
      const here = yield* folder
      const { url } = yield* serving(here)
      const port = Number(new URL(url).port)
      const database = Redacted.make(here.path("other.db"))
      const { error } = yield* here.within(call(serve({ ...defaults, port, database })))
      assert.strictEqual(
        error?.message,
        `Cannot listen on 127.0.0.1:${port}: the port is in use. Stop what listens there, or choose another port.`
      )
      assert.isFalse(fs.existsSync(here.path("other.db")))
    })
  )

  it.scoped("what cannot be followed is refused", () =>
    Effect.gen(function* () {
      const here = yield* folder
      for (const [options, message] of [
        [{ publicUrl: "bench.example.com" }, "--public-url expects a URL like https://bench.example.com"],
        [{ publicUrl: "https://user:secret@bench.example.com" }, "--public-url expects"],
        [{ database: Redacted.make("mysql://root:secret@h/d") }, "databases at mysql: are not supported"],
        [{ artifacts: "ftp://files" }, "begins with ftp://"]
      ] as const) {
        const { error, stderr } = yield* here.within(call(serve({ ...defaults, ...options })))
        assert.include(error?.message, message)
        assert.notInclude(`${error?.message}${stderr}`, "secret")
      }
    })
  )

  it.scoped("warns when others can listen in", () =>
    Effect.gen(function* () {
      const here = yield* folder
      const open = yield* serving(here, { host: "0.0.0.0" })
      assert.include(open.said.stderr, "warning: other machines can reach this server, unencrypted")
      const plain = yield* serving(here, { host: "0.0.0.0", publicUrl: "http://bench.example.com" })
      assert.include(plain.said.stderr, "warning: keys and results travel unencrypted to http://bench.example.com")
      const proxied = yield* serving(here, { host: "0.0.0.0", publicUrl: "https://bench.example.com/" })
      assert.notInclude(proxied.said.stderr, "warning")
      assert.include(proxied.said.stderr, ", for clients at https://bench.example.com\n")
    })
  )

  it.scoped("interrupted, it stops listening", () =>
    Effect.gen(function* () {
      const here = yield* folder
      const { stop, url } = yield* serving(here)
      yield* stop
      const refused = yield* Effect.promise(() =>
        fetch(`${url}/healthz`).then(
          () => false,
          () => true
        )
      )
      assert.isTrue(refused)
    })
  )
})

describe("the command line of bench serve", () => {
  const run = (...argv: ReadonlyArray<string>) =>
    call(Command.run(serveCommand, { name: "bench", version: "0" })(["node", "bench", ...argv]))

  it.scoped("a value that does not fit is refused by the name of its flag", () =>
    Effect.gen(function* () {
      const here = yield* folder
      for (const [flag, value, expected] of [
        ["--port", "65536", "--port expects an integer from 0 to 65535"],
        ["--lease", "5 minutes", "--lease expects seconds, minutes, hours, days or weeks, such as 90s, 5m or 30d"],
        ["--lease", "0s", "--lease expects"]
      ] as const) {
        const { error } = yield* here.within(run(flag, value))
        assert.include(JSON.stringify(error), expected)
      }
    })
  )

  it.scoped("keys and organizations are those of the database that is named", () =>
    Effect.gen(function* () {
      const here = yield* folder
      const other = ["--database", here.path("other.db")]
      yield* here.within(run("orgs", "create", "acme", "--name", "Acme", ...other))
      const created = yield* here.within(run("keys", "create", "--org", "acme", "--expires", "1d", "--quiet", ...other))
      const [, prefix = ""] = created.stdout.trim().split("_")
      const revoked = yield* here.within(run("keys", "revoke", prefix, ...other))
      assert.include(revoked.stdout, "is revoked")
      const listed = yield* here.within(run("keys", "list", "--json", ...other))
      assert.include(listed.stdout, prefix)
      assert.strictEqual((yield* here.within(run("orgs", "list"))).stdout.includes("acme"), false)
    })
  )
})
