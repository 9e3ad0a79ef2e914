/**
 * `bench compare A B`
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { RunAnalysis } from "../Analysis.js"
import * as Analysis from "../Analysis.js"
import * as Comparison from "../Comparison.js"
import type { Compared, FailOn, Finding } from "../internal/comparison/conditions.js"
import * as Conditions from "../internal/comparison/conditions.js"
import { markdown } from "../internal/comparison/markdown.js"
import {
  changeColumns,
  changeRow,
  method,
  successColumns,
  successesToShow,
  successRow,
  summary
} from "../internal/comparison/words.js"
import { baselineRun } from "./baseline.js"
import { CliError } from "./CliError.js"
import { ExitWith, json, print, say } from "./output.js"
import { resolveRun } from "./resolveRun.js"
import type { Style } from "./style.js"
import { style } from "./style.js"
import { oneLine, table, wrap } from "./text.js"
import { UsageError } from "./UsageError.js"

export interface CompareOptions {
  /** The runs: baseline and candidate, or the candidate alone. */
  readonly runs: ReadonlyArray<string>
  /** Name of a saved baseline. */
  readonly baseline: string | undefined
  /** Two participants of one run, separated by a comma. */
  readonly participants: string | undefined
  readonly benchmark: string | undefined
  readonly failOn: ReadonlyArray<string>
  readonly format: "table" | "markdown" | "json"
}

/** Compares two runs, or two participants of one; ends with 4 when a change is as it must not be. */
export const compare = Effect.fnUntraced(function* (options: CompareOptions) {
  const failOn = yield* Effect.forEach(options.failOn, (text) =>
    Either.mapLeft(
      Conditions.parse(text),
      (detail) =>
        new UsageError({
          detail: `--fail-on: cannot read "${text}": ${detail}. For example: "ttiMs.p95 > +10%", "step:create.median > 250", "successRate < 99%"`
        })
    )
  )
  const { comparison, pairs } = yield* options.participants === undefined
    ? ofRuns(options)
    : ofParticipants(options, options.participants)
  const findings = failOn.flatMap((each: FailOn) => Conditions.evaluate(each, pairs, comparison))
  switch (options.format) {
    case "json":
      yield* json({ ...comparison, failOn: findings })
      break
    case "markdown":
      yield* print(markdown(comparison, findings).trimEnd())
      break
    case "table":
      yield* print(render(comparison, findings, yield* style))
  }
  if (findings.some(({ violated }) => violated)) return yield* new ExitWith({ code: 4 })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const load = Effect.fnUntraced(function* (benchmark: string | undefined, run: string | undefined) {
  const found = yield* resolveRun(benchmark, run)
  return Analysis.make(yield* Analysis.load({ benchmark: found.benchmark, run: found.run.id }))
})

const ofRuns = Effect.fnUntraced(function* ({ baseline, benchmark, runs }: CompareOptions) {
  const [first, second, ...rest] = runs
  if (rest.length > 0) return yield* new UsageError({ detail: "compare takes two runs: bench compare last~1 last" })
  if (baseline !== undefined && second !== undefined) {
    return yield* new UsageError({ detail: "--baseline takes the place of the first run: name only the other one" })
  }
  if (baseline === undefined && second === undefined) {
    return yield* new UsageError({
      detail:
        "Name two runs (bench compare last~1 last), a saved baseline (--baseline NAME), or two participants of a run (--participants a,b)"
    })
  }
  const [before, after]: readonly [RunAnalysis, RunAnalysis] =
    baseline === undefined
      ? [yield* load(benchmark, first), yield* load(benchmark, second)]
      : yield* withBaseline(baseline, benchmark, first)
  if (before.run.id === after.run.id) {
    yield* say(`Both are run ${after.run.id}: there is nothing to find.`)
  }
  const pairs = before.participants.flatMap((participant): ReadonlyArray<Compared> => {
    const candidate = after.participants.find(({ name }) => name === participant.name)
    return candidate === undefined ? [] : [{ baseline: participant, candidate }]
  })
  return { comparison: Comparison.ofRuns(before, after), pairs }
})

const withBaseline = Effect.fnUntraced(function* (
  name: string,
  benchmark: string | undefined,
  run: string | undefined
) {
  const saved = yield* baselineRun(name)
  const before = yield* load(saved.benchmark, saved.run)
  const after = yield* load(benchmark ?? saved.benchmark, run)
  return [before, after] as const
})

const ofParticipants = Effect.fnUntraced(function* (
  { baseline: saved, benchmark, runs }: CompareOptions,
  participants: string
) {
  const [first = "", second = "", ...rest] = participants.split(",").map((name) => name.trim())
  if (first === "" || second === "" || rest.length > 0) {
    return yield* new UsageError({ detail: "--participants expects two names, separated by a comma" })
  }
  if (saved !== undefined || runs.length > 1) {
    return yield* new UsageError({ detail: "--participants compares within one run: name at most that one" })
  }
  const run = yield* load(benchmark, runs[0])
  const [baseline, candidate] = [first, second].map((name) => run.participants.find((each) => each.name === name))
  const comparison = Comparison.ofParticipants(run, first, second)
  if (comparison === undefined || baseline === undefined || candidate === undefined) {
    const missing = baseline === undefined ? first : second
    return yield* new CliError({
      detail: `Run ${run.run.id} has no participant "${missing}". It has: ${run.participants.map(({ name }) => name).join(", ")}`
    })
  }
  const pairs: ReadonlyArray<Compared> = [{ baseline, candidate }]
  return { comparison, pairs }
})

const render = (comparison: Comparison.Comparison, findings: ReadonlyArray<Finding>, style: Style): string => {
  const { baseline, candidate, changes, notes, unmatched } = comparison
  const options = { columns: style.columns, paintTitle: style.dim, mark: style.signs.cut }
  const title =
    baseline.runId === candidate.runId
      ? `${candidate.title} compared with ${baseline.title}, run ${candidate.runId}`
      : `${candidate.title}: run ${candidate.runId} compared with ${baseline.runId}`
  const paintVerdict =
    (verdicts: ReadonlyArray<string>) =>
    (text: string, row: number): string => {
      const verdict = verdicts[row] ?? ""
      if (verdict === "slower" || verdict === "worse") return style.red(text)
      return verdict === "faster" || verdict === "better" ? style.green(text) : text
    }
  const tableOf = (
    titles: ReadonlyArray<string>,
    rows: ReadonlyArray<{ readonly cells: ReadonlyArray<string>; readonly verdict: string }>
  ): string => {
    const paint = paintVerdict(rows.map(({ verdict }) => verdict))
    return table(
      titles.map((name, i) =>
        i < 2 && titles.length > 5
          ? { title: name, key: true, cut: true }
          : i === 0
            ? { title: name, key: true, cut: true }
            : i === titles.length - 1
              ? { title: name, paint }
              : { title: name, align: "right" as const }
      ),
      rows.map(({ cells }) => cells),
      options
    )
  }
  const successes = successesToShow(comparison).map(successRow)
  const list = (items: ReadonlyArray<string>): string =>
    items
      .map((item) => `  ${wrap(oneLine(item), style.columns === undefined ? undefined : style.columns - 2, "    ")}`)
      .join("\n")
  const parts = [
    style.bold(oneLine(title)),
    ...(changes.length === 0
      ? []
      : [
          tableOf(
            changeColumns,
            changes.map((change) => changeRow(change, style.signs.absent))
          )
        ]),
    ...(successes.length === 0 ? [] : [tableOf(successColumns, successes)]),
    ...(unmatched.length === 0 ? [] : [`Only in one of them:\n${list(unmatched)}`]),
    ...(notes.length === 0 ? [] : [`What else differs:\n${list(notes)}`]),
    ...(findings.length === 0
      ? []
      : [
          `Conditions:\n${findings.map(({ text, violated }) => list([`${violated ? "FAILED  " : "passed  "}  ${text}`])).join("\n")}`
        ]),
    wrap(summary(comparison), style.columns),
    style.dim(wrap(method(comparison), style.columns))
  ]
  return parts.join("\n\n")
}
