import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"

const root = fileURLToPath(new URL("../..", import.meta.url))

const load = `
  import { createJiti } from "jiti"
  await createJiti(process.cwd() + "/").import(process.argv[1])
`

/**
 * Runs a TypeScript file in several processes, one for each list of arguments, and lets them go only once all of them
 * have loaded. Answers with the JSON that each printed; fails when one ends without.
 */
export const runTogether = (
  script: URL,
  processes: ReadonlyArray<ReadonlyArray<string>>,
  options: { readonly uid?: number } = {}
): Effect.Effect<ReadonlyArray<unknown>> =>
  Effect.promise(async (signal) => {
    const children = processes.map((args) => {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", load, fileURLToPath(script), ...args], {
        cwd: root,
        signal,
        stdio: ["pipe", "pipe", "pipe"],
        ...options
      })
      let out = ""
      let err = ""
      child.stderr.on("data", (chunk) => (err += String(chunk)))
      const ready = new Promise<void>((resolve) => {
        child.stdout.on("data", (chunk) => {
          out += String(chunk)
          if (out.startsWith("ready\n")) resolve()
        })
        child.on("close", () => resolve())
      })
      const done = new Promise<unknown>((resolve, reject) => {
        child.on("error", reject)
        child.on("close", (code) => {
          const answer = out.replace(/^ready\n/, "")
          if (code === 0 && answer !== "") resolve(JSON.parse(answer))
          else reject(new Error(`process ended with code ${code}: ${err}`))
        })
      })
      return { child, ready, done }
    })
    await Promise.all(children.map(({ ready }) => ready))
    children.forEach(({ child }) => child.stdin.end("go\n"))
    return Promise.all(children.map(({ done }) => done))
  })
