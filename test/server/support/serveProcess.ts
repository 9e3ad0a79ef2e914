/** `bench serve` as a process of its own, and keys for it. */
import { spawn } from "node:child_process"
import { Context, Effect, Layer, Redacted } from "effect"
import * as Database from "../../../src/internal/server/database.js"
import * as SqlAccounts from "../../../src/SqlAccounts.js"
import { bin } from "../../support/bench.js"

export interface ServeProcessOptions {
  /** Folder in which it is started, and where it keeps what `flags` do not put elsewhere. */
  readonly folder: string
  readonly flags?: ReadonlyArray<string> | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Flags of Node.js itself. */
  readonly node?: ReadonlyArray<string> | undefined
}

export interface ServeProcess {
  readonly url: string
  readonly pid: number
}

/** A server on a free port for as long as the scope lives; it is asked to stop, and ended if it does not. */
export const serveProcess = (options: ServeProcessOptions) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => start(options)),
      ({ stop }) => Effect.promise(stop)
    ),
    ({ pid, url }): ServeProcess => ({ pid, url })
  )

/** A key of an organization, which is created if there is none, in the database that is named. */
export const createKey = (database: string, organization: string): Effect.Effect<string> =>
  Effect.gen(function* () {
    const layer = Layer.provide(SqlAccounts.layer, Database.layerDatabase(Redacted.make(database)))
    const accounts = Context.get(yield* Layer.build(layer), SqlAccounts.SqlAccounts)
    const known = yield* accounts.organizations
    if (known.every(({ slug }) => slug !== organization)) yield* accounts.createOrganization({ slug: organization })
    const { key } = yield* accounts.createKey({ organization })
    return Redacted.value(key)
  }).pipe(Effect.scoped, Effect.orDie)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const graceMillis = 15_000

/** Without what would change where the server keeps things, or whom it lets in. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(BENCH|AWS_|NODE_OPTIONS$|VITEST)/.test(name))
)

const start = ({ env, flags = [], folder, node = [] }: ServeProcessOptions) =>
  new Promise<ServeProcess & { readonly stop: () => Promise<void> }>((resolve, reject) => {
    const child = spawn(process.execPath, [...node, bin, "serve", "--port", "0", ...flags], {
      cwd: folder,
      env: { ...environment, BENCH_HOME: folder, ...env },
      stdio: ["ignore", "ignore", "pipe"]
    })
    const closed = new Promise<void>((done) => child.once("close", () => done()))
    const stop = async () => {
      const late = setTimeout(() => child.kill("SIGKILL"), graceMillis)
      child.kill("SIGTERM")
      await closed
      clearTimeout(late)
    }
    let said = ""
    const listen = (chunk: unknown) => {
      said += String(chunk)
      const [, url] = /Listening on (http:\S+?),?\s/.exec(said) ?? []
      if (url === undefined || child.pid === undefined) return
      child.stderr.off("data", listen).resume()
      resolve({ url, pid: child.pid, stop })
    }
    child.stderr.on("data", listen)
    child.once("error", reject)
    void closed.then(() => reject(new Error(`bench serve has ended: ${said}`)))
  })
