import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { Project } from "../support/bench.js"
import { fixture, project } from "../support/bench.js"
import { sharedServer } from "../support/postgres.js"
import { assertFields } from "./support/assertions.js"
import { createKey, serveProcess } from "./support/serveProcess.js"
import type { Client } from "./support/wire.js"
import { at, bodyOf, client, listAt, textAt } from "./support/wire.js"

const postgres = sharedServer()

/** Many processes have to start, perhaps on a busy machine. */
const patience = 240_000

const range = (count: number): Array<number> => Array.from({ length: count }, (_, i) => i)

/** A database with a key, and as many servers on it as are wanted. */
const served = (servers: number, ...flags: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const here = yield* project
    const database = Redacted.value(yield* postgres.database)
    const key = yield* createKey(database, "acme")
    const options = { folder: here.folder, flags, env: { BENCH_DATABASE: database } }
    const started = yield* Effect.replicateEffect(serveProcess(options), servers, { concurrency: "unbounded" })
    const urls = started.map(({ url }) => url)
    return { key, urls, clients: urls.map((url) => client(url, key)) }
  })

/** A run with participants, whose workers are planned as is said. */
const planned = (
  send: Client,
  benchmark: string,
  participants: Readonly<Record<string, { readonly tasks: number; readonly workers: number }>>,
  runKey?: string
) =>
  Effect.gen(function* () {
    bodyOf(yield* send("PUT", `/api/v1/benchmarks/${benchmark}`, { body: { name: benchmark } }))
    const body = {
      runKey,
      participants: Object.entries(participants).map(([slug, { tasks, workers }]) => ({
        slug,
        provider: slug,
        totalTasks: tasks,
        workerCount: workers
      }))
    }
    const created = bodyOf(yield* send("POST", `/api/v1/benchmarks/${benchmark}/runs`, { body }), 201)
    const id = textAt(created, "run", "id")
    const path = `/api/v1/benchmarks/${benchmark}/runs/${id}`
    for (const [slug, { workers }] of Object.entries(participants)) {
      bodyOf(yield* send("POST", `${path}/participants/${slug}/workers`, { body: { workerCount: workers } }))
    }
    return { id, path }
  })

/** A machine that takes one worker of a run after the other. */
const workerProcess = (
  here: Project,
  run: string,
  participant: string,
  env: Readonly<Record<string, string>>,
  mode = ""
) =>
  here.start(["worker", fixture("distributed.bench.ts"), "--run", run, "--participant", participant, "--forever"], {
    ...env,
    ...machine(here),
    DISTRIBUTED_MODE: mode
  })

const machine = (here: Project) => ({ HOME: here.folder, BENCH_HOME: here.path(".bench") })

/** What there is of a step, in milliseconds since 1970. */
const timesOf = (steps: ReadonlyArray<unknown>, name: string, field: "startedAt" | "completedAt") =>
  steps.flatMap((step) => (at(step, "stepName") === name ? [Date.parse(textAt(step, field))] : []))

describe("a run on several machines", () => {
  it.scopedLive(
    "outlives one that is killed: every task is there once, and nobody passes a barrier alone",
    () =>
      Effect.gen(function* () {
        const { clients, key, urls } = yield* served(1, "--lease", "6s")
        const [send] = clients
        const [url] = urls
        if (send === undefined || url === undefined) return yield* Effect.dieMessage("no server")
        const run = yield* planned(
          send,
          "distributed",
          { alpha: { tasks: 2000, workers: 6 }, beta: { tasks: 2000, workers: 2 } },
          "shared"
        )
        const env = { BENCHMARKS_PLATFORM_URL: url, BENCHMARKS_PLATFORM_API_KEY: key }
        const machines = yield* Effect.replicateEffect(project, 4)
        const [first, second, third, fourth] = machines
        if (first === undefined || second === undefined || third === undefined || fourth === undefined) return

        const killed = workerProcess(first, run.id, "alpha", env, "stuck")
        const others = [
          workerProcess(second, run.id, "alpha", env),
          workerProcess(third, run.id, "beta", env),
          workerProcess(fourth, run.id, "beta", env)
        ]
        yield* killed.says("stuck")
        yield* killed.kill("SIGKILL")
        assert.strictEqual((yield* killed.ended).code, "SIGKILL")
        const ended = yield* Effect.forEach(others, (other) => other.ended, { concurrency: "unbounded" })
        for (const { code, stderr } of ended) assert.strictEqual(code, 0, stderr)
        assert.match(
          ended[0]?.stderr ?? "",
          /^Worker \d of alpha \(tasks \d+ to \d+, attempt 2\): \d+ tasks, 0 failed\.$/m
        )

        assertFields(at(bodyOf(yield* send("GET", run.path)), "run"), { status: "completed", totalTasks: 4000 })
        const results = bodyOf(yield* send("GET", `${run.path}/results`))
        assertFields(at(results, "overall"), { taskCount: 4000, successCount: 4000, errorCount: 0, latencyCount: 4000 })
        assert.deepStrictEqual(
          listAt(results, "steps").map((step) => [
            at(step, "participantSlug"),
            at(step, "stepName"),
            at(step, "stepCount")
          ]),
          [
            ["alpha", "arrive", 2000],
            ["alpha", "leave", 2000],
            ["beta", "arrive", 2000],
            ["beta", "leave", 2000],
            ["beta", "meet", 20]
          ]
        )
        for (const participant of ["alpha", "beta"]) {
          const { body } = yield* send("GET", `${run.path}/iterations?participant=${participant}`)
          assert.deepStrictEqual(
            listAt(body, "tasks").map((task) => at(task, "taskIndex")),
            range(2000)
          )
          const workers = bodyOf(yield* send("GET", `${run.path}/participants/${participant}/workers`))
          assert.deepStrictEqual(
            new Set(listAt(workers, "items").map((worker) => at(worker, "status"))),
            new Set(["completed"])
          )
        }

        const steps = listAt(
          (yield* send("GET", `${run.path}/iterations?type=steps&participant=beta&steps=arrive,meet`)).body,
          "steps"
        )
        const meeting = steps.filter((step) => at(step, "stepName") === "meet").map((step) => at(step, "taskIndex"))
        assert.deepStrictEqual<ReadonlyArray<unknown>>(meeting, [
          ...range(10),
          ...range(10).map((index) => 1000 + index)
        ])
        const arrived = timesOf(
          steps.filter((step) => meeting.includes(at(step, "taskIndex"))),
          "arrive",
          "completedAt"
        )
        assert.isAtLeast(Math.min(...timesOf(steps, "meet", "startedAt")), Math.max(...arrived))

        const pushed = yield* first.bench(["push", "--json"], { ...env, ...machine(first) })
        assert.strictEqual(pushed.code, 1, pushed.stderr)
        const delivery = listAt(JSON.parse(pushed.stdout), "items")
        assert.deepStrictEqual(
          delivery.map((item) => [at(item, "outcome"), at(item, "delivered")]),
          [["superseded", 0]]
        )
        assert.isAtLeast(Number(at(delivery[0], "left")), 90)
        const after = bodyOf(yield* send("GET", `${run.path}/results`))
        assert.deepStrictEqual(
          ["run", "overall", "participants", "steps"].map((name) => at(after, name)),
          ["run", "overall", "participants", "steps"].map((name) => at(results, name))
        )

        // Joining a run that has ended scores what all of its machines have stored.
        const summarizing = yield* second.bench(
          ["run", fixture("distributed.bench.ts"), "--run-key", "shared", "--worker-pool", "8"],
          { ...env, ...machine(second) }
        )
        assert.strictEqual(summarizing.code, 0, summarizing.stderr)
        const summary = at(bodyOf(yield* send("GET", `${run.path}/summary`)), "summary")
        assert.deepStrictEqual(
          listAt(summary, "results").map((row) => [at(row, "provider"), at(row, "metrics", 0, "raw", "count")]),
          [
            ["alpha", 2000],
            ["beta", 2000]
          ]
        )
      }),
    patience
  )
})

describe("several servers on one database", () => {
  it.scopedLive(
    "hand out each of 200 workers once to 50 who claim at the same time",
    () =>
      Effect.gen(function* () {
        const { clients } = yield* served(4)
        const [send] = clients
        if (send === undefined) return yield* Effect.dieMessage("no server")
        const run = yield* planned(send, "claims", { alpha: { tasks: 200, workers: 200 } })
        const claimer = (number: number) =>
          Effect.gen(function* () {
            const claimed: Array<readonly [unknown, unknown]> = []
            for (let turn = number; ; turn++) {
              const ask = clients[turn % clients.length] ?? send
              const body = { processKind: "test", processKey: `${number}` }
              const answer = bodyOf(yield* ask("POST", `${run.path}/participants/alpha/workers/claim`, { body }))
              const assignment = at(answer, "assignment")
              if (assignment === null) return claimed
              claimed.push([at(assignment, "workerIndex"), at(assignment, "attemptNumber")])
            }
          })
        const claims = yield* Effect.forEach(range(50), claimer, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          claims.flat().sort(([a], [b]) => Number(a) - Number(b)),
          range(200).map((index) => [index, 1])
        )
        const shares = claims.filter((claimed) => claimed.length > 0).length
        assert.isAbove(shares, 1)
      }),
    patience
  )
})
