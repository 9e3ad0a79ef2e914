// Compiles src/ to dist/ from scratch, so that a deleted module leaves nothing behind, and puts the chart library into the
// one module that uses it, so that nobody has to install all of it. dist/ is replaced when everything is done.
import { execFileSync } from "node:child_process"
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { build } from "esbuild"
import ts from "typescript"

const out = "node_modules/.cache/dist"
const charts = "internal/charts/engine.js"

rmSync(out, { recursive: true, force: true })
rmSync("node_modules/.cache/tsconfig.build.tsbuildinfo", { force: true })
// Maps are as large as the code, and what they lead to is of no use to those who install the package.
const options = ["-p", "tsconfig.build.json", "--outDir", out, "--sourceMap", "false", "--declarationMap", "false"]
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc")
execFileSync(process.execPath, [tsc, ...options], { stdio: "inherit" })

for (const file of readdirSync(out, { recursive: true })) {
  const path = join(out, file)
  // The command line is no API, and comments that matter to users are in the declarations.
  if (/^(cli\/.*|bin)\.d\.ts$/.test(file)) rmSync(path)
  else if (file.endsWith(".js")) writeFileSync(path, withoutComments(readFileSync(path, "utf8")))
}

const { metafile } = await build({
  entryPoints: [`src/${charts.replace(/js$/, "ts")}`],
  outfile: join(out, charts),
  bundle: true,
  minify: true,
  format: "esm",
  platform: "node",
  target: "node20",
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "none",
  banner: { js: "/*! Contains other packages: see THIRD_PARTY_NOTICES.txt */" },
  metafile: true,
  logLevel: "warning"
})
writeFileSync(join(out, "THIRD_PARTY_NOTICES.txt"), notices(bundledIn(metafile)))

chmodSync(join(out, "bin.js"), 0o755)
rmSync("dist", { recursive: true, force: true })
renameSync(out, "dist")

function withoutComments(code) {
  const compilerOptions = { removeComments: true, target: "ES2022", module: "ESNext" }
  return ts.transpileModule(code, { compilerOptions }).outputText
}

/** The folders of the packages that ended up in the bundle. */
function bundledIn({ inputs }) {
  const folders = Object.keys(inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [])
  return [...new Set(folders)].sort()
}

/** Their licences, word by word. A package whose licence is not known here stops the build. */
function notices(folders) {
  const texts = {
    echarts: ["NOTICE", "LICENSE", "licenses/LICENSE-d3"],
    zrender: ["LICENSE"],
    tslib: ["LICENSE.txt"]
  }
  const parts = folders.map((folder) => {
    const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    const files = texts[name]
    if (files === undefined) throw new Error(`${name} is in the bundle of charts: add its licence to scripts/build.mjs`)
    const text = files.map((file) => readFileSync(join(folder, file), "utf8").trim()).join("\n\n")
    return `${name} ${version} (${license})\n${"=".repeat(72)}\n\n${text}\n`
  })
  return `${charts} contains these packages.\n\n${[...new Set(parts)].join("\n\n")}`
}
