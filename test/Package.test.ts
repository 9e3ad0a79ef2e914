import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"

const source = path.resolve(import.meta.dirname, "../src")

/** What a module imports at run time, directly: dynamic imports are what keeps the rest out. */
const importsOf = (file: string): ReadonlyArray<string> => {
  const text = fs.readFileSync(file, "utf8")
  return Array.from(
    text.matchAll(/^(?:import|export)\s+(?!type\b)[^"';]*?from\s+"([^"]+)"/gm),
    (match) => match[1] ?? ""
  )
}

const reachable = (entry: string): { readonly files: Set<string>; readonly packages: Set<string> } => {
  const files = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    for (const specifier of importsOf(file)) {
      if (specifier.startsWith(".")) visit(path.resolve(path.dirname(file), specifier.replace(/\.js$/, ".ts")))
      else packages.add(specifier)
    }
  }
  visit(path.join(source, entry))
  return { files, packages }
}

const heavy = /^(@effect\/(cli|sql|sql-sqlite-node|platform-node|printer|experimental)|better-sqlite3|jiti|cli-table3)/

describe("package", () => {
  it("loads no command, SQL or server code with the library", () => {
    const { files, packages } = reachable("index.ts")
    assert.isAbove(files.size, 20)
    assert.deepStrictEqual(
      [...packages].filter((name) => heavy.test(name)),
      []
    )
    assert.deepStrictEqual(
      [...files].filter((file) => /\/(cli|internal\/sql)\//.test(file)),
      []
    )
  })

  it("loads no SQL code with the command line before a command needs it", () => {
    const { packages } = reachable("bin.ts")
    assert.deepStrictEqual(
      [...packages].filter((name) => /sql|jiti/.test(name)),
      []
    )
  })

  it("reaches SQL code where it is asked for", () => {
    assert.isTrue([...reachable("SqlPlatform.ts").packages].some((name) => name.startsWith("@effect/sql")))
  })
})
