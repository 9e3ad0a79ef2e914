/**
 * Project settings: what `bench.config.ts` asks for on behalf of every benchmark of a project. Flags beat them, they beat
 * the benchmark file.
 *
 * ```ts
 * import { ProjectConfig } from "effect-bench"
 *
 * export default ProjectConfig.defineBenchConfig({
 *   apiKeyEnv: "BENCH_TOKEN",
 *   providers: ["memory"],
 *   concurrency: 4
 * })
 * ```
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { ProjectDefaults } from "./Config.js"
import type { Inspected, Issue } from "./internal/inspect.js"
import { inspect, schemaOf, show } from "./internal/inspect.js"
import {
  boolean,
  compact,
  count,
  delay,
  groupBy,
  isText,
  optional,
  rule,
  slug,
  strings,
  text
} from "./internal/rules.js"

/**
 * The settings of a project.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProjectConfig extends ProjectDefaults {
  /** Root of the platform to report to: an http or https URL, without `/api/v1`. */
  readonly baseUrl?: string | undefined
  /** Name of the environment variable that holds the API key. */
  readonly apiKeyEnv?: string | undefined
}

/**
 * Project settings that cannot be used; `issues` holds everything that is wrong with them.
 *
 * @since 0.1.0
 * @category errors
 */
export class ProjectConfigError extends Schema.TaggedError<ProjectConfigError>("effect-bench/ProjectConfigError")(
  "ProjectConfigError",
  { issues: Schema.Array(Schema.Struct({ field: Schema.String, message: Schema.String })) }
) {
  override get message(): string {
    const lines = this.issues.map(({ field, message }) => `  - ${field}: ${message}`)
    return ["Invalid project config:", ...lines, "", "Fix the fields above and try again."].join("\n")
  }
}

/**
 * The settings of a project. Decoding reports every issue at once and throws on no input.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ProjectConfig: Schema.Schema<ProjectConfig> = schemaOf("ProjectConfig", (input) => read(input))

/**
 * Types the settings of a project where they are written; it checks nothing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defineBenchConfig = (config: ProjectConfig): ProjectConfig => config

/**
 * Decodes anything as a {@link ProjectConfig}; fails with {@link ProjectConfigError}. Unknown settings are refused.
 *
 * @since 0.1.0
 * @category constructors
 */
export const decodeProjectConfig = (input: unknown): Effect.Effect<ProjectConfig, ProjectConfigError> =>
  Either.mapLeft(
    read(input),
    (issues) => new ProjectConfigError({ issues: issues.map(({ field, message }) => ({ field, message })) })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isHttpUrl = (value: unknown): value is string =>
  typeof value === "string" && URL.canParse(value) && ["http:", "https:"].includes(new URL(value).protocol)

const isVariableName = (value: unknown): value is string =>
  typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value)

const providers = (at: Inspected): ReadonlyArray<string> | undefined => {
  const names = strings(isText, "must be a non-empty array of participant names")(at)
  return names?.length === 0 ? at.fail("must be a non-empty array of participant names") : names
}

const rules = {
  baseUrl: rule(isHttpUrl, (value) => `must be an http or https URL (got ${show(value)})`),
  // The value is not shown: it may be the key itself, put here by mistake.
  apiKeyEnv: rule(isVariableName, "must be the name of an environment variable"),
  providers,
  iterations: count,
  concurrency: count,
  staggerDelayMs: delay,
  groupBy,
  shape: text,
  runKey: text,
  benchmark: slug,
  name: text,
  dryRun: boolean
}

const known = Object.keys(rules)

const read = (input: unknown): Either.Either<ProjectConfig, ReadonlyArray<Issue>> =>
  inspect(input, (root) => {
    if (!root.isObject()) {
      return root.called("default export").fail("must be an object")
    }
    for (const key of root.keys()) {
      if (!known.includes(key)) {
        root.get(key).fail(`is not a project setting; these are: ${known.join(", ")}`)
      }
    }
    return compact<ProjectConfig>({
      baseUrl: optional(root.get("baseUrl"), rules.baseUrl),
      apiKeyEnv: optional(root.get("apiKeyEnv"), rules.apiKeyEnv),
      providers: optional(root.get("providers"), rules.providers),
      iterations: optional(root.get("iterations"), rules.iterations),
      concurrency: optional(root.get("concurrency"), rules.concurrency),
      staggerDelayMs: optional(root.get("staggerDelayMs"), rules.staggerDelayMs),
      groupBy: optional(root.get("groupBy"), rules.groupBy),
      shape: optional(root.get("shape"), rules.shape),
      runKey: optional(root.get("runKey"), rules.runKey),
      benchmark: optional(root.get("benchmark"), rules.benchmark),
      name: optional(root.get("name"), rules.name),
      dryRun: optional(root.get("dryRun"), rules.dryRun)
    })
  })
