/** What a benchmark config must be, field by field, in the order in which issues are reported. */
import type * as Either from "effect/Either"
import type { BenchmarkConfig, Hook, Phase, Shape } from "../Config.js"
import type { Participant } from "../Participant.js"
import type { Data } from "../Record.js"
import type { DeclaredUnit } from "./displayRules.js"
import { display } from "./displayRules.js"
import { thresholds } from "./gates/rules.js"
import type { Inspected, Issue } from "./inspect.js"
import { inspect, jsonProblem, show, showJson } from "./inspect.js"
import {
  compact,
  count,
  countMessage,
  delay,
  duplicates,
  groupBy,
  isDefined,
  isPositiveInteger,
  isText,
  optional,
  rule,
  slug,
  strings,
  text
} from "./rules.js"
import { scoring } from "./scoringRules.js"

/** Reads anything as a benchmark config. Participants and hooks are kept by reference, everything else is copied. */
export const benchmarkConfig = (input: unknown): Either.Either<BenchmarkConfig, ReadonlyArray<Issue>> =>
  inspect(input, (root) => {
    const names: Array<string> = []
    const units = new Map<string, DeclaredUnit>()
    const phasesAt = root.get("phases")
    const iterationsAt = root.get("iterations")
    const onScoreAt = root.get("onScore")
    const scoringAt = root.get("scoring")
    const scored = scoringAt.raw !== undefined || onScoreAt.raw !== undefined

    const benchmarkSlug = benchmarkSlugOf(root.get("benchmarkSlug"))
    const benchmarkName = required(root.get("benchmarkName"))
    const participants = participantsOf(root.get("participants"), names)
    if (phasesAt.raw !== undefined && iterationsAt.raw !== undefined) {
      iterationsAt.fail("phases and iterations are mutually exclusive")
    }
    const phases = optional(phasesAt, phasesOf)
    const known = { participants: names, phases: (phases ?? []).map(({ name }) => name) }
    const optionals = {
      phases,
      iterations: optional(iterationsAt, count),
      concurrency: optional(root.get("concurrency"), count),
      staggerDelayMs: optional(root.get("staggerDelayMs"), delay),
      groupBy: optional(root.get("groupBy"), groupBy),
      defaultProviders: optional(root.get("defaultProviders"), (at) => providersOf(at, names)),
      shapes: optional(root.get("shapes"), shapesOf),
      dimensions: optional(root.get("dimensions"), dimensionsOf),
      customCliFlags: optional(root.get("customCliFlags"), flagsOf),
      onScore: optional(onScoreAt, hook),
      onComplete: optional(root.get("onComplete"), hook),
      display: optional(root.get("display"), (at) => display(at, units, scored)),
      scoring: optional(scoringAt, (at) => scoring(at, units)),
      thresholds: optional(root.get("thresholds"), (at) => thresholds(at, known))
    }
    return benchmarkSlug === undefined || benchmarkName === undefined || participants === undefined
      ? undefined
      : compact({ benchmarkSlug, benchmarkName, participants, ...optionals })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const required = rule(isText, "is required")

const benchmarkSlugOf = (at: Inspected): string | undefined => (isText(at.raw) ? slug(at) : required(at))

const participantsOf = (at: Inspected, names: Array<string>): ReadonlyArray<Participant> | undefined => {
  const items = at.items()
  if (items === undefined || items.length === 0) {
    return at.fail("must be a non-empty array")
  }
  const repeated = duplicates()
  return items.map((item) => participantOf(item, names, repeated)).filter(isDefined)
}

const participantOf = (
  at: Inspected,
  names: Array<string>,
  repeated: (name: string) => boolean
): Participant | undefined => {
  if (!at.isObject()) {
    return at.fail("must be an object")
  }
  const nameAt = at.get("name")
  const name = text(nameAt)
  if (name !== undefined) {
    if (repeated(name)) {
      nameAt.fail(`duplicate participant name: ${name}`)
    }
    names.push(name)
  }
  optional(at.get("requiredEnvVars"), envVars)
  return isParticipant(at.raw, name) ? at.raw : undefined
}

// Decided by the name that was read: a second reading could throw.
const isParticipant = (raw: unknown, name: string | undefined): raw is Participant =>
  typeof raw === "object" && name !== undefined

const envVars = strings(() => true, "must be an array of strings")

const phasesOf = (at: Inspected): ReadonlyArray<Phase> | undefined => {
  const items = at.items()
  if (items === undefined || items.length === 0) {
    return at.fail("must be a non-empty array")
  }
  const repeated = duplicates()
  return items.map((item) => phaseOf(item, repeated)).filter(isDefined)
}

const phaseOf = (at: Inspected, repeated: (name: string) => boolean): Phase | undefined => {
  if (!at.isObject()) {
    return at.fail("must be an object")
  }
  const name = phaseName(at.get("name").called(at.field))
  if (name === undefined) {
    return undefined
  }
  const named = at.called(`phases['${name}']`)
  if (repeated(name)) {
    named.fail(`duplicate phase name: ${name}`)
  }
  const iterations = phaseIterations(named.get("iterations"))
  return iterations === undefined ? undefined : { name, iterations }
}

const phaseName = rule(isText, "must have a non-empty string name")

const phaseIterations = rule(isPositiveInteger, countMessage)

const providersOf = (at: Inspected, names: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const items = at.items()
  if (items === undefined || !items.every(({ raw }) => typeof raw === "string")) {
    return at.fail("must be an array of strings")
  }
  const known = new Set(names)
  const available = [...known].join(", ")
  const isKnown = (value: unknown): value is string => typeof value === "string" && known.has(value)
  const provider = rule(isKnown, (name) => `unknown participant: ${show(name)}. Available: ${available}`)
  return items.map(provider).filter(isDefined)
}

const shapesOf = (at: Inspected): Readonly<Record<string, Shape>> | undefined => {
  if (!at.isPlain()) {
    return at.fail("must be a plain object")
  }
  const repeated = duplicates()
  const shapes = at.keys().flatMap((key) => {
    const shape = shapeOf(at.entry(key), repeated)
    return shape === undefined ? [] : [[key, shape] as const]
  })
  return Object.fromEntries(shapes)
}

const shapeOf = (at: Inspected, repeated: (slug: string) => boolean): Shape | undefined => {
  if (!at.isObject()) {
    return at.fail("must be an object")
  }
  const slugAt = at.get("slug")
  const shapeSlug = slug(slugAt)
  if (shapeSlug !== undefined && repeated(shapeSlug)) {
    slugAt.fail(`duplicate shape slug: ${shapeSlug}`)
  }
  const name = optional(at.get("name"), text)
  const staggerDelayMs = optional(at.get("staggerDelayMs"), delay)
  return shapeSlug === undefined ? undefined : compact({ slug: shapeSlug, name, staggerDelayMs })
}

const dimensionsOf = (at: Inspected): Data | undefined => {
  if (!at.isPlain()) {
    return at.fail("must be a plain object")
  }
  const dimensions = at.keys().map((key) => {
    const valueAt = at.get(key)
    const problem = jsonProblem(valueAt.raw)
    if (problem !== undefined) {
      valueAt.fail(`must be a value that JSON can hold (${problem})`)
    }
    return [key, valueAt.raw] as const
  })
  return Object.fromEntries(dimensions)
}

const flagsOf = (at: Inspected): ReadonlyArray<string> | undefined => {
  const items = at.items()
  if (items === undefined || !items.every(({ raw }) => typeof raw === "string" && raw.startsWith("--"))) {
    return at.fail('must be an array of strings starting with "--"')
  }
  return items.map(flag).filter(isDefined)
}

const isFlag = (value: unknown): value is string => typeof value === "string" && /^--[^\s=]*$/.test(value)

const flag = rule(isFlag, (value) => `must not contain "=" or white space (got ${showJson(value)})`)

const isHook = (value: unknown): value is Hook => typeof value === "function"

const hook = rule(isHook, (value) => `must be a function (got ${show(value)})`)
