// Writes src/index.ts, the only barrel, from the public modules in src/. With --check it only compares.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"

/** Modules with heavy dependencies are reached by their subpath only, so that nobody else loads those. */
const subpathOnly = new Set([
  "Credentials",
  "PlatformApi",
  "PlatformClient",
  "PlatformServer",
  "SqlAccounts",
  "SqlPlatform"
])

const modules = readdirSync("src")
  .filter((file) => /^[A-Z]\w*\.ts$/.test(file))
  .map((file) => file.slice(0, -3))
  .filter((name) => !subpathOnly.has(name))
  .sort()
const text = modules.map((name) => `export * as ${name} from "./${name}.js"\n`).join("")
const current = (() => {
  try {
    return readFileSync("src/index.ts", "utf8")
  } catch {
    return ""
  }
})()
if (process.argv.includes("--check")) {
  if (current !== text) {
    console.error("src/index.ts is not up to date: run `npm run codegen`.")
    process.exit(1)
  }
} else if (current !== text) {
  writeFileSync("src/index.ts", text)
}
