/**
 * Conditions as text: `METRIC.STAT OPERATOR NUMBER [participant=NAME] [phase=NAME]`. Read by position, so that what is wrong
 * can be pointed at.
 */
import * as Either from "effect/Either"
import type { Threshold } from "../../Gates.js"
import { compact } from "../rules.js"
import type { Stat } from "./stats.js"
import { isOfParticipant, isStat, stats } from "./stats.js"
import { figure } from "./text.js"

/** What a condition is about. */
export interface Measured {
  readonly metric?: string | undefined
  readonly step?: string | undefined
  readonly stat: Stat
}

export type Operator = "<=" | ">=" | "<" | ">"

/** A condition in its parts; `percent` when the number ended in `%`, `relative` when it had a sign. */
export interface Condition extends Measured {
  readonly operator: Operator
  readonly value: number
  readonly percent: boolean
  readonly relative: boolean
  readonly participant?: string | undefined
  readonly phase?: string | undefined
  readonly abortEarly?: boolean | undefined
}

/** The condition that a text says, or what is wrong with it. */
export const condition = (input: string): Either.Either<Condition, string> =>
  Either.gen(function* () {
    const text = input.trim()
    const match = /^(.*?)\s*(<=|>=|<|>)\s*(.*)$/s.exec(text)
    if (match === null) return yield* Either.left("it needs an operator: <= or >=")
    const [, left = "", operator = "", right = ""] = match
    const measured = yield* measuredOf(left)
    const number = /^([+-]?)(\d+(?:\.\d+)?|\.\d+)(%?)(?:\s+|$)/.exec(right)
    if (number === null) {
      return yield* Either.left(
        right === "" ? `a number is missing after "${operator}"` : `"${right}" does not start with a number`
      )
    }
    const [whole, sign = "", digits = "", percent = ""] = number
    const qualifiers = yield* qualifiersOf(right.slice(whole.length))
    return compact<Condition>({
      ...measured,
      operator: isOperator(operator) ? operator : "<=",
      value: Number(`${sign}${digits}`),
      percent: percent === "%",
      relative: sign !== "",
      ...qualifiers
    })
  })

/** A condition that has to hold, as a threshold. */
export const threshold = (input: string): Either.Either<Threshold, string> =>
  Either.flatMap(
    condition(input),
    ({ metric, operator, participant, percent, phase, relative, stat, step, value, abortEarly }) => {
      if (relative) return Either.left("a change in per cent needs a run to compare with: write the bound itself")
      if (operator === "<" || operator === ">") {
        return Either.left(`write "${operator}=": a bound belongs to what is good enough`)
      }
      if (abortEarly === true && stat === "compositeScore") {
        return Either.left("abortEarly is for what tasks alone decide, which a composite score is not")
      }
      const bound = percent ? Number((value / 100).toPrecision(15)) : value
      return Either.right(
        compact<Threshold>({
          metric,
          step,
          stat,
          ...(operator === "<=" ? { max: bound } : { min: bound }),
          participant,
          phase,
          abortEarly
        })
      )
    }
  )

/** As {@link threshold} reads it; both bounds, if there are two, as two conditions. */
export const format = ({ abortEarly, max, metric, min, participant, phase, stat, step }: Threshold): string => {
  const subject = isOfParticipant(stat)
    ? stat
    : `${step === undefined ? (metric ?? "task") : `step:${step}${metric === undefined ? "" : `:${metric}`}`}.${stat}`
  const bounds = [
    ...(min === undefined ? [] : [`>= ${figure(min)}`]),
    ...(max === undefined ? [] : [`<= ${figure(max)}`])
  ]
  const qualifiers = [
    ...(participant === undefined ? [] : [` participant=${quoted(participant)}`]),
    ...(phase === undefined ? [] : [` phase=${quoted(phase)}`]),
    ...(abortEarly === true ? [" abortEarly"] : [])
  ]
  return bounds.map((bound) => `${subject} ${bound}${qualifiers.join("")}`).join(", ")
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isOperator = (text: string): text is Operator => text === "<=" || text === ">=" || text === "<" || text === ">"

const measuredOf = (text: string): Either.Either<Measured, string> => {
  if (isStat(text) && isOfParticipant(text)) return Either.right({ stat: text })
  const p999 = text.endsWith(".p99.9")
  const dot = p999 ? text.length - ".p99.9".length : text.lastIndexOf(".")
  const stat = text.slice(dot + 1)
  const metric = text.slice(0, Math.max(0, dot))
  if (dot <= 0 || metric === "" || !isStat(stat) || isOfParticipant(stat)) {
    return Either.left(
      dot > 0 && metric !== "" && !isStat(stat)
        ? `"${stat}" is no statistic: ${stats.join(", ")}`
        : `"${text}" is not a metric and a statistic`
    )
  }
  if (!metric.startsWith("step:")) return Either.right({ metric, stat })
  const named = metric.slice("step:".length)
  const colon = named.lastIndexOf(":")
  const step = colon === -1 ? named : named.slice(0, colon)
  const key = colon === -1 ? undefined : named.slice(colon + 1)
  return step === "" || key === ""
    ? Either.left(`"${metric}" lacks ${step === "" ? "the name of the step" : "the key"}`)
    : Either.right(compact<Measured>({ step, metric: key, stat }))
}

const qualifiersOf = (text: string): Either.Either<Pick<Condition, "participant" | "phase" | "abortEarly">, string> => {
  const found: { participant?: string; phase?: string; abortEarly?: boolean } = {}
  let rest = text.trim()
  while (rest !== "") {
    const match = /^(?:(participant|phase)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))|(abortEarly))(?:\s+|$)/.exec(rest)
    if (match === null) return Either.left(`"${rest}" is not participant=NAME, phase=NAME or abortEarly`)
    const [whole, key, inQuotes, plain, abort] = match
    const name = inQuotes === undefined ? (plain ?? "") : inQuotes.replace(/\\(.)/g, "$1")
    if (abort !== undefined) found.abortEarly = true
    else if (key === "participant") found.participant = name
    else found.phase = name
    rest = rest.slice(whole.length)
  }
  return Either.right(found)
}

const quoted = (name: string): string => (/^[^\s"\\]+$/.test(name) ? name : `"${name.replace(/["\\]/g, "\\$&")}"`)
