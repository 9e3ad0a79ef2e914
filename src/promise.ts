/**
 * Benchmarks written with async functions instead of effects, on the same engine.
 *
 * ```ts
 * import { defineBenchmarkConfig, defineTask } from "effect-bench/promise"
 *
 * export const config = defineBenchmarkConfig({
 *   benchmarkSlug: "sleep",
 *   benchmarkName: "Sleep",
 *   participants: [{ name: "timer" }],
 *   iterations: 5
 * })
 *
 * export const task = defineTask(async ({ step, measure }) => {
 *   await step("sleep", () => new Promise((resolve) => setTimeout(resolve, 5)), { timeoutMs: 1000 })
 *   measure({ asked: 5 })
 * })
 * ```
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import type { BenchmarkConfig } from "./Config.js"
import { BenchmarkConfigError, collapseIssues, decodeEither } from "./Config.js"
import type { PromiseTask } from "./internal/promiseTask.js"

export type {
  /**
   * @since 0.1.0
   * @category models
   */
  PromiseTask,
  /**
   * @since 0.1.0
   * @category models
   */
  PromiseTaskContext,
  /**
   * @since 0.1.0
   * @category models
   */
  StepContext
} from "./internal/promiseTask.js"
export type {
  /**
   * @since 0.1.0
   * @category models
   */
  TaskErrorOptions,
  /**
   * @since 0.1.0
   * @category models
   */
  TaskResult
} from "./Task.js"
export {
  /**
   * @since 0.1.0
   * @category errors
   */
  TaskError
} from "./Task.js"

/**
 * Checks a benchmark config and gives it back as it is. Throws a `BenchmarkConfigError` that lists its problems, those
 * of `display` and of `scoring` as one each.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defineBenchmarkConfig = <const C extends BenchmarkConfig>(config: C): C => {
  const decoded = decodeEither(config)
  if (Either.isLeft(decoded)) throw new BenchmarkConfigError({ issues: collapseIssues(decoded.left.issues) })
  return config
}

/**
 * Types an async task and gives it back as it is. Throws when it is not a function.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defineTask = <T extends PromiseTask>(task: T): T => {
  if (typeof task !== "function") throw new TypeError("defineTask requires a task function.")
  return task
}
