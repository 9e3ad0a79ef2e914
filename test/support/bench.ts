import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { ConfigProvider, Console, Effect } from "effect"
import { main } from "../../src/cli/main.js"

export const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url))

if (!fs.existsSync(bin)) throw new Error(`${bin} is missing: run "npm run build" before these tests`)

/** Path of a file in test/fixtures. */
export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

/** Without what could change where a run goes, what it is called, or how it is shown. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(BENCH|GITHUB_|NO_COLOR$|FORCE_COLOR$|CI$|NODE_OPTIONS$|VITEST)/.test(name)
  )
)

export interface Result {
  readonly code: number | string | null
  readonly stdout: string
  readonly stderr: string
}

export type Environment = Readonly<Record<string, string>>

/** A process that is running. */
export interface Running {
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Waits until stderr holds this text; fails when the process ends without. */
  readonly says: (text: string) => Effect.Effect<void>
  readonly ended: Effect.Effect<Result>
}

const start = (command: string, args: ReadonlyArray<string>, folder: string, env: Environment): Running => {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...environment, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk))
  child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk))
  const ended = new Promise<Result>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code, signal) => resolve({ code: signal ?? code, stdout, stderr }))
  })
  return {
    kill: (signal) => Effect.sync(() => child.kill(signal)),
    says: (text) =>
      Effect.promise(
        () =>
          new Promise<void>((resolve, reject) => {
            const look = () => {
              if (stderr.includes(text)) resolve()
            }
            child.stderr.on("data", look)
            child.on("close", () => reject(new Error(`never said "${text}": ${stderr}`)))
            look()
          })
      ),
    ended: Effect.onInterrupt(
      Effect.promise(() => ended),
      () => Effect.sync(() => child.kill("SIGKILL"))
    )
  }
}

/** A folder that is a project of its own, where `bench` is called. */
export class Project {
  constructor(readonly folder: string) {}

  /** Path of a file in it. */
  path(name: string): string {
    return path.join(this.folder, name)
  }

  /** Writes a file and gives its name. */
  write(name: string, text: string): string {
    fs.mkdirSync(path.dirname(this.path(name)), { recursive: true })
    fs.writeFileSync(this.path(name), text)
    return name
  }

  /** Writes a bench file: fields of its config over defaults, and the source of its async task. */
  writeBench(name: string, config: Readonly<Record<string, unknown>>, task = "async () => {}"): string {
    const all = { benchmarkSlug: "bench", benchmarkName: "Bench", participants: [{ name: "alpha" }], ...config }
    return this.write(name, `export const config = ${JSON.stringify(all)}\nexport const task = ${task}\n`)
  }

  start(args: ReadonlyArray<string>, env: Environment = {}): Running {
    return start(process.execPath, [bin, ...args], this.folder, env)
  }

  /** Runs `bench` to its end. */
  bench(args: ReadonlyArray<string>, env: Environment = {}): Effect.Effect<Result> {
    return Effect.suspend(() => this.start(args, env).ended)
  }

  /** Runs a shell command in which `$BENCH` is the command line. */
  shell(command: string, env: Environment = {}): Effect.Effect<Result> {
    return Effect.suspend(
      () => start("/bin/sh", ["-c", command], this.folder, { ...env, BENCH: `${process.execPath} ${bin}` }).ended
    )
  }

  /**
   * The same as {@link bench} without a process: several times quicker, in the working directory of the tests, so files
   * of the project are called by their path, and with this environment only.
   */
  call(args: ReadonlyArray<string>, env: Environment = {}): Effect.Effect<Result> {
    const paths = args.map((arg) => arg.replace(/(?<=^|=)[\w.-]+\.[cm]?[jt]s$/, (name) => this.path(name)))
    const variables = { BENCH_HOME: this.path(".bench"), ...env }
    return Effect.gen(function* () {
      const console = yield* Effect.console
      let stdout = ""
      let stderr = ""
      const out = (text: unknown) => {
        stdout += `${String(text)}\n`
      }
      const err = (text: unknown) => {
        stderr += `${String(text)}\n`
      }
      const capture: Console.Console = {
        ...console,
        [Console.TypeId]: Console.TypeId,
        log: (text) => Effect.sync(() => out(text)),
        error: (text) => Effect.sync(() => err(text)),
        unsafe: { ...console.unsafe, log: out, error: err }
      }
      const code = yield* Effect.withConsole(main(paths), capture)
      return { code, stdout, stderr }
    }).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))))
  }

  /** What a run leaves at random, or depends on where it is made, replaced by its kind. */
  normalize(text: string): string {
    return text
      .replaceAll(this.folder, "<folder>")
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
      .replace(/--run [0-9a-f]{8}/g, "--run <prefix>")
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>")
  }
}

export const project = Effect.acquireRelease(
  Effect.sync(() => {
    const made = new Project(fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "effect-bench-"))))
    made.write("package.json", "{}\n")
    return made
  }),
  ({ folder }) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)
