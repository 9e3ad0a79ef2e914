/** Stored runs made up for a test. */
import type { RunData } from "../../src/Analysis.js"
import type { Iteration, Run } from "../../src/Platform.js"

/** A task: its latency, or what differs from a successful one of 10 ms; its steps with their latencies. */
export type GivenTask = number | (Partial<Iteration> & { readonly steps?: Readonly<Record<string, number | null>> })

const origin = Date.parse("2026-01-02T03:04:05.000Z")

const iso = (ms: number): string => new Date(origin + ms).toISOString()

/** Tasks start a second apart. A step without latency failed. */
export const runData = (
  participants: Readonly<Record<string, ReadonlyArray<GivenTask>>>,
  fields: Partial<RunData> & { readonly config?: Run["config"] } = {}
): RunData => {
  const { config, ...rest } = fields
  const tasks = Object.entries(participants).flatMap(([participantSlug, given]) =>
    given.map((task, taskIndex) => {
      const { steps = {}, ...own } = typeof task === "number" ? { latencyMs: task } : task
      const all: Iteration = {
        participantSlug,
        provider: participantSlug,
        taskIndex,
        status: "success",
        latencyMs: 10,
        errorCode: own.status === "error" ? "ERROR" : null,
        startedAt: iso(1000 * taskIndex),
        completedAt: iso(1000 * taskIndex + 10),
        data: null,
        ...own
      }
      return { all, steps }
    })
  )
  return {
    benchmark: { slug: "round-trips", name: "Round trips" },
    run: {
      id: "5f0c2a86-0000-4000-8000-000000000000",
      benchmarkId: "b",
      status: "completed",
      totalTasks: tasks.length,
      config,
      createdAt: iso(0),
      updatedAt: iso(0)
    },
    participants: Object.keys(participants),
    tasks: tasks.map(({ all }) => all),
    steps: tasks.flatMap(({ all, steps }) =>
      Object.entries(steps).map(([stepName, latencyMs]) => ({
        ...all,
        stepName,
        latencyMs,
        status: latencyMs === null ? "error" : "success"
      }))
    ),
    summary: undefined,
    display: undefined,
    scoring: undefined,
    ...rest
  }
}

/** The numbers from 1 to n. */
export const upTo = (n: number): ReadonlyArray<number> => Array.from({ length: n }, (_, i) => i + 1)

export const failed = (errorCode: string, errorMessage?: string): GivenTask => ({
  status: "error",
  errorCode,
  data: errorMessage === undefined ? null : { errorMessage }
})
