/**
 * How many results a server takes: workers send batches of 1000 records with 3 steps each, as fast as they are answered, to
 * one `bench serve` on SQLite and then to one on a PostgreSQL of its own. The load comes from a process beside it. What the
 * database takes without HTTP (the same batches, `SqlPlatform` in one process, 30 seconds at most) is measured after it, and
 * shown as a ratio.
 *
 *   npm run build && npm run bench:ingest          # both databases, 10 seconds each
 *   npm run bench:ingest -- sqlite --workers 8     # one database, more workers
 *   npm run bench:ingest -- --soak 10m             # for longer, with a line about memory every 30 seconds
 *   npm run bench:ingest -- sqlite --profile DIR   # leaves a CPU profile of the server in DIR
 *
 * CPU is that of the Node.js process alone, without PostgreSQL's own; it says, where rates do not, what a batch takes on a
 * machine that has other things to do. Linux only.
 */
import { spawn } from "node:child_process"
import * as Fs from "node:fs/promises"
import * as Os from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { Context, Effect, Fiber, Layer, Redacted, Schema } from "effect"
import * as Artifacts from "../src/Artifacts.js"
import * as Database from "../src/internal/server/database.js"
import { Platform } from "../src/Platform.js"
import type { TaskRecord } from "../src/Record.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import { createKey, serveProcess } from "../test/server/support/serveProcess.js"
import { bodyOf, client, textAt } from "../test/server/support/wire.js"
import { startServer } from "../test/support/postgresServer.js"

const batchSize = 1000
const stepsPerRecord = 3

/** More than any worker gets to. */
const tasksPerWorker = 50_000_000

// -----------------------------------------------------------------------------
// options
// -----------------------------------------------------------------------------

const args = process.argv.slice(2)
const option = (name: string): string | undefined => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
const secondsOf = (text: string): number => Number.parseFloat(text) * (text.endsWith("m") ? 60 : 1)

const soak = option("--soak")
const seconds = secondsOf(soak ?? option("--seconds") ?? "10")
const workers = Number(option("--workers") ?? 4)
const profile = option("--profile")
const databases = ["sqlite", "postgres"].filter((name) => args.includes(name))

// -----------------------------------------------------------------------------
// load
// -----------------------------------------------------------------------------

const times = { startedAt: "2026-01-01T00:00:00.000Z", completedAt: "2026-01-01T00:00:00.120Z" }

const steps = ["create", "run", "destroy"].map((name, index) => ({
  name,
  status: "success",
  ...times,
  latencyMs: 12.345 + index,
  data: { region: "eu-west", attempt: index }
}))

const recordOf = (taskIndex: number): TaskRecord => ({
  taskIndex,
  status: "success",
  ...times,
  latencyMs: 40 + (taskIndex % 1000) / 10,
  data: { ttiMs: 12.345, bytes: 1024, phase: "warm" },
  steps
})

const batchOf = (attemptId: string, sequenceNumber: number, start: number) => ({
  type: "task_results" as const,
  attemptId,
  sequenceNumber,
  isFinal: false,
  records: Array.from({ length: batchSize }, (_, i) => recordOf(start + sequenceNumber * batchSize + i))
})

/** All but the index is the same in each record: the load generator has no time to lose with writing JSON. */
const recordText = JSON.stringify(recordOf(0)).replace(/^\{"taskIndex":0/, "")

const batchText = (attemptId: string, sequenceNumber: number, start: number): string => {
  const first = start + sequenceNumber * batchSize
  const records = Array.from({ length: batchSize }, (_, i) => `{"taskIndex":${first + i}${recordText}`)
  return `{"type":"task_results","attemptId":"${attemptId}","sequenceNumber":${sequenceNumber},"isFinal":false,"records":[${records.join(",")}]}`
}

const Load = Schema.parseJson(
  Schema.Struct({
    records: Schema.Number,
    elapsedMs: Schema.Number,
    p50: Schema.Number,
    p99: Schema.Number,
    /** Of the process that sent them, while they were measured. */
    cpuMs: Schema.Number,
    /** Those that were not measured included. */
    batches: Schema.Number
  })
)
type Load = typeof Load.Type

/** Sends batch after batch for every worker until the time is over; the first of each are not measured. */
const drive = async (send: (worker: number, sequenceNumber: number) => Promise<unknown>): Promise<Load> => {
  const warmUp = 3
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let i = 0; i < warmUp; i++) await send(worker, i)
    })
  )
  const latencies: Array<number> = []
  const cpu = process.cpuUsage()
  const begin = performance.now()
  const work = async (worker: number) => {
    for (let sequence = warmUp; performance.now() - begin < seconds * 1000; sequence++) {
      const sent = performance.now()
      await send(worker, sequence)
      latencies.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
  const elapsedMs = performance.now() - begin
  const { system, user } = process.cpuUsage(cpu)
  latencies.sort((a, b) => a - b)
  const percentile = (p: number) => latencies[Math.max(0, Math.ceil((p / 100) * latencies.length) - 1)] ?? 0
  return {
    records: latencies.length * batchSize,
    elapsedMs,
    p50: percentile(50),
    p99: percentile(99),
    cpuMs: (system + user) / 1000,
    batches: latencies.length + warmUp * workers
  }
}

const plan = { participants: [{ slug: "alpha", provider: "alpha", totalTasks: tasksPerWorker * workers }] }

const overHttp = async (url: string, key: string): Promise<Load> => {
  const ask = client(url, key)
  const call = (method: string, path: string, body: unknown) => Effect.runPromise(ask(method, path, { body }))
  bodyOf(await call("PUT", "/api/v1/benchmarks/ingest", {}))
  const run = textAt(bodyOf(await call("POST", "/api/v1/benchmarks/ingest/runs", plan), 201), "run", "id")
  const participant = `/api/v1/benchmarks/ingest/runs/${run}/participants/alpha`
  bodyOf(await call("POST", `${participant}/workers`, { workerCount: workers }))
  const claimed: Array<{ readonly attemptId: string; readonly path: string }> = []
  for (let i = 0; i < workers; i++) {
    const answer = bodyOf(await call("POST", `${participant}/workers/claim`, {}))
    const path = `${participant}/workers/${textAt(answer, "assignment", "workerId")}/events`
    claimed.push({ attemptId: textAt(answer, "assignment", "attemptId"), path })
  }
  return drive(async (worker, sequenceNumber) => {
    const { attemptId = "", path = "" } = claimed[worker] ?? {}
    const body = batchText(attemptId, sequenceNumber, worker * tasksPerWorker)
    const answer = await Effect.runPromise(ask("POST", path, { body }))
    if (answer.status !== 202) throw new Error(`${answer.status}: ${answer.text}`)
  })
}

const inProcess = (database: string): Promise<Load> =>
  Effect.gen(function* () {
    const layer = SqlPlatform.layer.pipe(
      Layer.provide([Database.layerDatabase(Redacted.make(database)), Artifacts.layerMemory])
    )
    const platform = Context.get(yield* Layer.build(layer), Platform)
    yield* platform.upsertBenchmark("raw", {})
    const { run } = yield* platform.createRun("raw", plan)
    const participant = { benchmark: "raw", run: run.id, participant: "alpha" }
    yield* platform.planWorkers(participant, { workerCount: workers })
    const claimed = yield* Effect.replicateEffect(platform.claimWorker(participant, {}), workers)
    return yield* Effect.promise(() =>
      drive(async (worker, sequenceNumber) => {
        const { attemptId = "", workerId = "" } = claimed[worker] ?? {}
        const batch = batchOf(attemptId, sequenceNumber, worker * tasksPerWorker)
        await Effect.runPromise(platform.sendTaskResults({ ...participant, worker: workerId }, batch))
      })
    )
  }).pipe(Effect.scoped, Effect.runPromise)

/** The same in a process of its own. */
const elsewhere = (forSeconds: number, ...argv: ReadonlyArray<string>) =>
  Effect.promise(async (signal) => {
    const flags = ["--workers", `${workers}`, "--seconds", `${forSeconds}`]
    const child = spawn(
      process.execPath,
      ["--import", "jiti/register", fileURLToPath(import.meta.url), ...argv, ...flags],
      { signal, stdio: ["ignore", "pipe", "inherit"] }
    )
    let text = ""
    child.stdout.on("data", (chunk) => (text += String(chunk)))
    await new Promise((resolve) => child.once("close", resolve))
    return Schema.decodeUnknownSync(Load)(text)
  })

// -----------------------------------------------------------------------------
// the server
// -----------------------------------------------------------------------------

interface Usage {
  readonly cpuMs: number
  readonly rssMb: number
}

const usageOf = async (pid: number): Promise<Usage> => {
  const fields = (await Fs.readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ")
  const status = await Fs.readFile(`/proc/${pid}/status`, "utf8")
  const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0)
  return { cpuMs: ticks * 10, rssMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024 }
}

/** Looks at the memory of a process twice a second, and says how it is every 30 seconds of a soak. */
const watch = (pid: number, memory: Array<number>) =>
  Effect.gen(function* () {
    const { rssMb } = yield* Effect.promise(() => usageOf(pid))
    memory.push(rssMb)
    if (soak !== undefined && memory.length % 60 === 0) console.log(`  ${memory.length / 2} s: ${Math.round(rssMb)} MB`)
  }).pipe(Effect.zipRight(Effect.sleep("500 millis")), Effect.forever)

const perSecond = ({ elapsedMs, records }: Load): number => records / (elapsedMs / 1000)
const number = (value: number): string => Math.round(value).toLocaleString("en").replaceAll(",", " ")

const measure = (name: string, folder: string, served: string, raw: string) =>
  Effect.gen(function* () {
    const key = yield* createKey(served, "acme")
    const server = yield* serveProcess({
      folder,
      env: { BENCH_DATABASE: served },
      node: profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${Path.resolve(profile)}`]
    })
    const memory: Array<number> = []
    const watching = yield* Effect.forkScoped(watch(server.pid, memory))
    const before = yield* Effect.promise(() => usageOf(server.pid))
    const [load] = Os.loadavg()
    console.log(
      `\n${name}: ${workers} workers, batches of ${batchSize} records with ${stepsPerRecord} steps, ${seconds} s (load average ${load?.toFixed(1)})`
    )
    const http = yield* elsewhere(seconds, "load", server.url, key)
    const after = yield* Effect.promise(() => usageOf(server.pid))
    yield* Fiber.interrupt(watching)
    const cpu = (after.cpuMs - before.cpuMs) / http.batches
    const direct = yield* elsewhere(Math.min(seconds, 30), "raw", raw)
    const directCpu = direct.cpuMs / (direct.records / batchSize)
    const [httpRate, directRate] = [perSecond(http), perSecond(direct)]
    const rows = (rate: number) => `${number(rate)} records/s, ${number(rate * (1 + stepsPerRecord))} rows/s`
    console.log(`  over HTTP   ${rows(httpRate)}; a batch p50 ${number(http.p50)} ms, p99 ${number(http.p99)} ms`)
    console.log(`  in process  ${rows(directRate)}; a batch p50 ${number(direct.p50)} ms, p99 ${number(direct.p99)} ms`)
    console.log(`  HTTP takes  ${((100 * httpRate) / directRate).toFixed(0)} % of what the database takes in process`)
    const half = memory.slice(Math.floor(memory.length / 2))
    console.log(
      `  CPU         ${cpu.toFixed(1)} ms a batch in the server, ${directCpu.toFixed(1)} ms in process, ${(http.cpuMs / (http.records / batchSize)).toFixed(1)} ms in the load generator`
    )
    console.log(
      `  memory      RSS at most ${number(Math.max(...memory))} MB, at the end ${number(memory.at(-1) ?? 0)} MB (second half from ${number(Math.min(...half))} MB)`
    )
  }).pipe(Effect.scoped)

const temporary = Effect.acquireRelease(
  Effect.promise(() => Fs.mkdtemp(Path.join(Os.tmpdir(), "effect-bench-ingest-"))),
  (directory) => Effect.promise(() => Fs.rm(directory, { recursive: true, force: true }))
)

const onSqlite = Effect.gen(function* () {
  const folder = yield* temporary
  yield* measure("SQLite", folder, Path.join(folder, "server.db"), Path.join(folder, "raw.db"))
}).pipe(Effect.scoped)

// Durable, unlike those of the tests.
const onPostgres = Effect.gen(function* () {
  const folder = yield* temporary
  const { url } = yield* startServer({ settings: { shared_buffers: "256MB", max_wal_size: "4GB" } })
  const [served = "", raw = ""] = ["postgres", "template1"].map((database) => Redacted.value(url(database)))
  yield* measure("PostgreSQL", folder, served, raw)
}).pipe(Effect.scoped)

const [mode, first = "", second = ""] = args
if (mode === "load") process.stdout.write(JSON.stringify(await overHttp(first, second)))
else if (mode === "raw") process.stdout.write(JSON.stringify(await inProcess(first)))
else {
  if (databases.length === 0 || databases.includes("sqlite")) await Effect.runPromise(onSqlite)
  if (databases.length === 0 || databases.includes("postgres")) await Effect.runPromise(onPostgres)
}
