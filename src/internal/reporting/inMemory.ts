/** A run that is reported to nobody but the test that looks at it. */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { TaskRecord } from "../../Record.js"
import type { NewArtifact, ReportedRun, RunPlan, RunReporter, Scored } from "../../Reporter.js"
import { nowhere } from "./openRun.js"

export class Run {
  private readonly records = new Map<string, Array<TaskRecord>>()
  private readonly summaries: Array<Scored> = []
  private readonly artifacts: Array<NewArtifact & { readonly participant: string; readonly content: Uint8Array }> = []
  private readonly closed: Array<{ readonly participant: string; readonly exit: Exit.Exit<unknown, unknown> }> = []
  private abandoned = false

  constructor(
    readonly plan: RunPlan | undefined,
    readonly runId: string
  ) {}

  get reported(): ReportedRun {
    return {
      plan: this.plan,
      runId: this.runId,
      records: Array.from(this.records, ([participant, records]) => ({ participant, records: [...records] })),
      summaries: [...this.summaries],
      artifacts: [...this.artifacts],
      closed: [...this.closed],
      abandoned: this.abandoned
    }
  }

  get reporter(): RunReporter {
    const inner = nowhere({ count: this.plan?.tasksPerParticipant ?? 0 })
    return {
      ...inner,
      runId: this.runId,
      openWorker: (participant, source) =>
        Effect.gen(this, function* () {
          const records: Array<TaskRecord> = []
          this.records.set(participant, records)
          yield* Effect.addFinalizer((exit) => Effect.sync(() => this.closed.push({ participant, exit })))
          const worker = yield* inner.openWorker(participant, source)
          return worker === undefined
            ? undefined
            : {
                ...worker,
                record: (record) => Effect.sync(() => void records.push(record)),
                uploadArtifact: (artifact, content) =>
                  Effect.sync(() => void this.artifacts.push({ ...artifact, participant, content }))
              }
        }),
      submitSummary: (summary) => Effect.sync(() => void this.summaries.push(summary)),
      storedRows: Effect.sync(() => this.summaries.at(-1)?.results ?? []),
      storedTasks: Effect.sync(() =>
        Array.from(this.records).flatMap(([participantSlug, records]) =>
          records.map((record) => ({
            participantSlug,
            provider: participantSlug,
            taskIndex: record.taskIndex,
            status: record.status,
            latencyMs: record.latencyMs ?? null,
            startedAt: record.startedAt ?? null,
            completedAt: record.completedAt ?? null,
            data: record.data ?? null
          }))
        )
      ),
      abandon: Effect.sync(() => {
        this.abandoned = true
      })
    }
  }
}
