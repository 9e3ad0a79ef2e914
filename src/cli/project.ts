/**
 * Where a command works: the project it was called in, its settings, and its embedded store.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Platform, PlatformFailure } from "../Platform.js"
import type { ProjectConfig } from "../ProjectConfig.js"
import { decodeProjectConfig } from "../ProjectConfig.js"
import type { Spool } from "../Spool.js"
import { CliError } from "./CliError.js"
import { importModule } from "./importModule.js"
import { say } from "./output.js"

const settingsFiles = ["bench.config.ts", "bench.config.mts", "bench.config.js", "bench.config.mjs"]

const rootMarkers = [".bench", "package.json", ...settingsFiles]

/** The nearest folder, from the working directory upwards, that looks like a project; else the working directory. */
export const root = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const here = path.resolve(".")
  for (let folder = here; ; folder = path.dirname(folder)) {
    for (const marker of rootMarkers) {
      if (yield* Effect.orElseSucceed(fs.exists(path.join(folder, marker)), () => false)) return folder
    }
    if (path.dirname(folder) === folder) return here
  }
})

/** The project's settings: those of `file` when it is named, else of `bench.config.*` in the project's root. */
export const settings = Effect.fnUntraced(function* (file: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const found = file === undefined ? yield* findSettings : path.resolve(file)
  if (found === undefined) return {}
  if (!(yield* Effect.orElseSucceed(fs.exists(found), () => false))) {
    return yield* new CliError({ detail: `--config: there is no file ${found}` })
  }
  const module = yield* importModule(found)
  const exported = module["default"] ?? module["config"]
  if (exported === undefined) {
    return yield* new CliError({ detail: `${found} must export its settings: export default defineBenchConfig({ … })` })
  }
  return yield* Effect.mapError(
    decodeProjectConfig(exported),
    (error) => new CliError({ detail: `${found}: ${error.message}`, cause: error })
  )
})

const findSettings = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* root
  for (const name of settingsFiles) {
    const file = path.join(folder, name)
    if (yield* Effect.orElseSucceed(fs.exists(file), () => false)) return file
  }
  return undefined
})

export type Settings = ProjectConfig

/** Folder of the embedded store: `BENCH_HOME`, else `.bench` in the project's root. */
export const home = Effect.gen(function* () {
  const path = yield* Path.Path
  const configured = yield* Effect.orDie(Config.option(Config.nonEmptyString("BENCH_HOME")))
  return Option.isSome(configured) ? path.resolve(configured.value) : path.join(yield* root, ".bench")
})

export const storeFile = Effect.gen(function* () {
  const path = yield* Path.Path
  return path.join(yield* home, "bench.db")
})

/** Whether the folder of the store could be made: the nearest one that exists takes new entries. Says so if not. */
export const canMakeStore = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  let folder = yield* home
  while (path.dirname(folder) !== folder && !(yield* Effect.orElseSucceed(fs.exists(folder), () => false))) {
    folder = path.dirname(folder)
  }
  const isFolder = Effect.map(fs.stat(folder), ({ type }) => type === "Directory")
  const possible = yield* Effect.zipRight(fs.access(folder, { writable: true }), isFolder).pipe(
    Effect.orElseSucceed(() => false)
  )
  if (!possible) yield* say(`The store cannot be created: ${folder} is not a folder that can be written to.`)
  return possible
})

/**
 * The embedded store. A command that only reads does not create it: without a store there is nothing to show, and the
 * message says how to get something.
 */
export const layerStore = (
  mode: "read" | "write"
): Layer.Layer<Platform, PlatformFailure | CliError, FileSystem.FileSystem | Path.Path> =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const filename = yield* storeFile
      const exists = yield* Effect.orElseSucceed(fs.exists(filename), () => false)
      if (!exists && mode === "read") {
        return yield* new CliError({
          detail: `Nothing is recorded yet: there is no store at ${filename}. Run a benchmark first: bench run FILE`
        })
      }
      const { layerSqlite } = yield* Effect.promise(() => import("../SqlPlatform.js"))
      return exists ? layerSqlite({ filename }) : Layer.tap(layerSqlite({ filename }), () => keepOutOfGit)
    })
  )

/** A store at a place of its own, which has to exist. */
export const layerStoreFile = (
  filename: string
): Layer.Layer<Platform, PlatformFailure | CliError, FileSystem.FileSystem> =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      if (!(yield* Effect.orElseSucceed(fs.exists(filename), () => false))) {
        return yield* new CliError({ detail: `There is no store at ${filename} any more.` })
      }
      const { layerSqlite } = yield* Effect.promise(() => import("../SqlPlatform.js"))
      return layerSqlite({ filename })
    })
  )

/** Makes the project's `.bench` and keeps it out of git. A folder named by `BENCH_HOME` is left as it is. */
export const keepOutOfGit = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* home
  yield* Effect.ignore(fs.makeDirectory(folder))
  if (path.basename(folder) !== ".bench") return
  yield* Effect.ignore(fs.writeFileString(path.join(folder, ".gitignore"), "*\n", { flag: "wx" }))
})

/** The spool of the project: what could not be delivered waits there. */
export const layerSpool = (mode: "read" | "write"): Layer.Layer<Spool, never, FileSystem.FileSystem | Path.Path> =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const path = yield* Path.Path
      const folder = yield* home
      const { layerDirectory } = yield* Effect.promise(() => import("../Spool.js"))
      if (mode === "write") yield* keepOutOfGit
      return layerDirectory({ directory: path.join(folder, "spool") })
    })
  )
