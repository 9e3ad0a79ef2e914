/** Where and on what a run ran, in words. */
import * as Option from "effect/Option"
import { hasProperty } from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { RunSummary } from "../../Platform.js"
import { RunMetadata } from "../../RunMetadata.js"
import type { Judgement } from "./model.js"

type Entry = readonly [label: string, value: string | undefined]

/** What is known of it: stored with the run, or at least with its summary. */
export const environmentOf = (
  runConfig: unknown,
  summary: Pick<RunSummary, "run"> | undefined
): Judgement["environment"] => {
  const environment = hasProperty(runConfig, "environment") ? runConfig.environment : undefined
  const known = Option.getOrElse(decode(environment), (): Known => ({}))
  const facts: Known = { ...definedOf(summary?.run ?? {}), ...known }
  const trigger = hasProperty(runConfig, "trigger")
    ? Option.getOrUndefined(decodeTrigger(runConfig.trigger))
    : undefined
  const entries: ReadonlyArray<Entry> = [
    ["Commit", facts.gitSha === undefined ? undefined : `${facts.gitSha}${facts.gitDirty === true ? ", changed" : ""}`],
    ["Branch or tag", facts.gitRef],
    ["Trigger", triggerText(facts.triggeredBy ?? trigger?.source, trigger?.requestedBy)],
    ["CI", facts.ci],
    ["Node.js", facts.nodeVersion],
    ["System", listOf([facts.platform, facts.arch], " ")],
    ["Processor", facts.cpuModel],
    ["Processors", limited(facts.cpuCount, facts.cpuLimit, String)],
    ["Memory", limited(facts.memoryBytes, facts.memoryLimitBytes, gibibytes)],
    ["Container", facts.container],
    ["Run by", listOf([facts.packageName, facts.packageVersion], " ")],
    ["Host", facts.hostname]
  ]
  return entries.flatMap(([label, value]) => (value === undefined || value === "" ? [] : [{ label, value }]))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Other clients may store less. */
const Known = Schema.partial(RunMetadata)

type Known = typeof Known.Type

const decode = Schema.decodeUnknownOption(Known)

const decodeTrigger = Schema.decodeUnknownOption(
  Schema.Struct({ source: Schema.optional(Schema.String), requestedBy: Schema.optional(Schema.String) })
)

const definedOf = (facts: RunSummary["run"]): Known =>
  Option.getOrElse(
    decode(Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined && fact !== null))),
    (): Known => ({})
  )

const triggerText = (source: string | undefined, requestedBy: string | undefined): string | undefined =>
  requestedBy === undefined ? source : `${source ?? "unknown"}, for ${requestedBy}`

const listOf = (parts: ReadonlyArray<string | undefined>, separator: string): string =>
  parts.filter((part) => part !== undefined).join(separator)

const limited = (
  amount: number | undefined,
  limit: number | undefined,
  show: (amount: number) => string
): string | undefined => {
  if (amount === undefined) return limit === undefined ? undefined : show(limit)
  return limit === undefined ? show(amount) : `${show(limit)} of ${show(amount)}`
}

const gibibytes = (bytes: number): string => `${Number((bytes / 2 ** 30).toFixed(1))} GiB`
