// Compiles src/ to dist/ from scratch, so that a deleted module leaves nothing behind.
import { execFileSync } from "node:child_process"
import { chmodSync, rmSync } from "node:fs"
import { createRequire } from "node:module"

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc")
rmSync("dist", { recursive: true, force: true })
rmSync("node_modules/.cache/tsconfig.build.tsbuildinfo", { force: true })
execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { stdio: "inherit" })
chmodSync("dist/bin.js", 0o755)
