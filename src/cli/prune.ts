/**
 * `bench serve prune`
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Pruned } from "../internal/sql/prune.js"
import * as Prune from "../internal/sql/prune.js"
import { json, print, say } from "./output.js"
import { plural, table } from "./text.js"
import { UsageError } from "./UsageError.js"

/** What the command line says. */
export interface PruneOptions {
  /** An age such as `90d`. */
  readonly olderThan: string
  readonly dryRun: boolean
  readonly json: boolean
  /** As `bench serve` has it. Default 5 minutes. */
  readonly lease?: Duration.DurationInput | undefined
}

/** Removes runs that have not changed for a while, with everything in them, from the database and its artifacts. */
export const prune = Effect.fnUntraced(function* (options: PruneOptions) {
  const olderThan = yield* parseAge("--older-than", options.olderThan)
  const pruned = yield* Prune.prune({ olderThan, dryRun: options.dryRun, lease: options.lease })
  if (options.json) return yield* json({ ...pruned, dryRun: options.dryRun })
  yield* print(report(pruned, options.dryRun))
  if (!options.dryRun && pruned.runs > 0) yield* say(yield* adviceFor)
})

/**
 * A positive age: a number with `s`, `m`, `h`, `d` or `w` for seconds, minutes, hours, days or weeks. Fails naming the
 * option.
 */
export const parseAge = (option: string, text: string): Either.Either<Duration.Duration, UsageError> => {
  const [, number = "", unit = ""] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text.trim()) ?? []
  const millis = Number(number) * (millisOf[unit] ?? Number.NaN)
  if (Number.isNaN(millis)) {
    return Either.left(
      new UsageError({ detail: `${option} expects an age with its unit, like 90d, 12h or 2w (got "${text}")` })
    )
  }
  return millis > 0
    ? Either.right(Duration.millis(millis))
    : Either.left(new UsageError({ detail: `${option} expects an age above zero (got "${text}")` }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const millisOf: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000
}

const report = (pruned: Pruned, dryRun: boolean): string => {
  const since = `unchanged since ${pruned.before}`
  if (pruned.runs === 0) return `No runs ${since}: nothing to remove.`
  const counts: ReadonlyArray<readonly [string, number]> = [
    ["participants", pruned.participants],
    ["workers", pruned.workers],
    ["attempts", pruned.attempts],
    ["batches", pruned.eventBatches],
    ["task results", pruned.taskResults],
    ["step results", pruned.stepResults],
    ["heartbeat samples", pruned.heartbeats],
    ["artifacts", pruned.artifacts]
  ]
  const rows = counts.map(([name, count]) => [name, `${count}`])
  return `${dryRun ? "Would remove" : "Removed"} ${plural(pruned.runs, "run")} ${since}:\n\n${table([{ title: "what" }, { title: "count", align: "right" }], rows)}`
}

const adviceFor = Effect.map(SqlClient.SqlClient, (sql) =>
  sql.onDialectOrElse({
    pg: () =>
      "The space is used again once PostgreSQL has vacuumed, which it does by itself. VACUUM (ANALYZE) task_results, step_results, heartbeats does it now; VACUUM FULL gives it back to the disk, and locks these tables meanwhile.",
    orElse: () =>
      "The space is used again; the file stays as large as it was. VACUUM gives it back to the disk, with no server running on it."
  })
)
