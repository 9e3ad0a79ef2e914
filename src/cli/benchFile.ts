/**
 * From the path of a bench file to the benchmark in it.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Benchmark } from "../Benchmark.js"
import { fromParts, isBenchmark } from "../Benchmark.js"
import { fromUnknown } from "../internal/promiseTask.js"
import { CliError } from "./CliError.js"
import type { Module } from "./importModule.js"
import { importModule } from "./importModule.js"

/** A benchmark from a file: what its layer fails with and what its task needs cannot be known. */
export type LoadedBenchmark = Benchmark<unknown>

export interface BenchFile {
  /** Absolute. */
  readonly file: string
  readonly benchmark: LoadedBenchmark
}

export const load = Effect.fnUntraced(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.resolve(name)
  const info = yield* Effect.option(fs.stat(file))
  if (info._tag === "None") {
    return yield* new CliError({
      detail: `There is no file ${file}. Name a bench file: bench run path/to/file.bench.ts`
    })
  }
  if (info.value.type === "Directory") {
    return yield* new CliError({ detail: `${file} is a folder. Name a bench file: bench run path/to/file.bench.ts` })
  }
  const module = yield* importModule(file)
  const benchmark = find(module)
  return typeof benchmark === "string" ? yield* new CliError({ detail: `${file} ${benchmark}` }) : { file, benchmark }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isObject = (value: unknown): value is Module => typeof value === "object" && value !== null

const isLayer = (value: unknown): value is Layer.Layer<never, unknown> => Layer.isLayer(value)

/** The benchmark that a module exports, or what is wrong with the module. */
const find = (module: Module): LoadedBenchmark | string => {
  const main = module["default"]
  if (isBenchmark(main)) return main
  const parts: Module = isObject(main) && !Effect.isEffect(main) && !("config" in module) ? main : module
  const config = parts["config"]
  const task = parts["task"] ?? main
  if (config === undefined && task === undefined) return `exports neither a config nor a task. ${howTo}`
  if (config === undefined) return `exports no config. ${howTo}`
  if (task === undefined) return `exports a config but no task. ${howTo}`
  const runnable = fromUnknown(task)
  if (runnable === undefined) return `exports a task that is neither a function nor an effect. ${howTo}`
  const layer = parts["layer"]
  if (layer !== undefined && !isLayer(layer)) return "exports a layer that is not an effect Layer."
  return fromParts(config, runnable, layer)
}

const howTo =
  "A bench file has `export default Benchmark.make({ …, task })`, or exports `config` and `task` (docs/writing-benchmarks.md)."
