/**
 * Every TypeScript example of the README, of docs/ and of the docstrings is a whole module: it compiles, and what it
 * says can be run is run.
 */
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import ts from "typescript"

const root = path.resolve(import.meta.dirname, "..")
const folder = path.join(root, "test/.examples")

interface Example {
  readonly name: string
  readonly code: string
}

const examplesIn = (file: string): ReadonlyArray<Example> => {
  const text = fs.readFileSync(path.join(root, file), "utf8")
  const source = file.endsWith(".ts") ? text.replace(/^ \* ?/gm, "") : text
  return Array.from(source.matchAll(/^```ts\n([\s\S]*?)^```/gm), ([, code = ""], i) => ({
    name: `${file.replaceAll(/[/.]/g, "-")}-${i + 1}`,
    code
  }))
}

const files = (folder: string, ending: string): ReadonlyArray<string> =>
  fs
    .readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`)

const examples = ["README.md", ...files("docs", ".md"), ...files("src", ".ts")].flatMap(examplesIn)

const fileOf = ({ name }: Example): string => path.join(folder, `${name}.bench.ts`)

const isBenchFile = ({ code }: Example): boolean =>
  /^export default Benchmark\.make/m.test(code) || /^export const config\b/m.test(code)

const run = (args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>((resolve) => {
    execFile(process.execPath, args, { cwd: root, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : -1, stdout, stderr })
    })
  })

describe("documented examples", () => {
  beforeAll(() => {
    fs.mkdirSync(folder, { recursive: true })
    for (const example of examples) fs.writeFileSync(fileOf(example), example.code)
  })

  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

  it("are found", () => {
    assert.isAbove(examples.length, 10)
    for (const file of ["README.md", "docs/api.md", "docs/writing-benchmarks.md", "docs/cli.md", "src/Benchmark.ts"]) {
      assert.isNotEmpty(examplesIn(file), file)
    }
  })

  it("compile", () => {
    const read = ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile)
    const { tsBuildInfoFile: _, ...options } = ts.parseJsonConfigFileContent(read.config, ts.sys, root).options
    const program = ts.createProgram(examples.map(fileOf), {
      ...options,
      incremental: false,
      noUnusedLocals: false
    })
    const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      const where = file === undefined ? "" : path.basename(file.fileName)
      return `${where}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`
    })
    assert.deepStrictEqual(problems, [])
  })

  for (const example of examples) {
    it.concurrent(`${example.name} runs`, async () => {
      const file = fileOf(example)
      const { code, stderr, stdout } = isBenchFile(example)
        ? await run(["dist/bin.js", "run", file, "--dry-run", "--json", "--iterations", "2"])
        : await run(["--import", "jiti/register", file])
      assert.strictEqual(code, 0, stderr)
      if (isBenchFile(example)) {
        const outcome: unknown = JSON.parse(stdout)
        assert.include(JSON.stringify(outcome), '"errorCount":0')
        assert.notInclude(JSON.stringify(outcome), '"successCount":0')
      }
    })
  }
})
