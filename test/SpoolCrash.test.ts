import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import * as Spool from "../src/Spool.js"
import { attempt, entryOf, range, record, records, takeIt, temporaryDirectory } from "./spool/support.js"

const load = `
  import { createJiti } from "jiti"
  await createJiti(process.cwd() + "/").import(process.argv[1])
`

const script = fileURLToPath(new URL("./fixtures/spoolProcess.ts", import.meta.url))

/** A process with the spool, which does not outlive the scope. */
const start = (directory: string, job: "append" | "take") =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", load, script, directory, job], {
        cwd: fileURLToPath(new URL("..", import.meta.url))
      })
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      let errors = ""
      child.stderr.on("data", (chunk) => (errors += String(chunk)))
      /** What it says next; undefined when it has ended. */
      const next = Effect.promise(() => lines.next()).pipe(
        Effect.map((line) => (line.done === true ? undefined : line.value))
      )
      return { child, next, errors: () => errors }
    }),
    ({ child }) => kill(child)
  )

/** Waits until the process has ended and is reaped. */
const kill = (child: ChildProcessWithoutNullStreams) =>
  Effect.promise(
    () =>
      new Promise<void>((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve()
        child.once("exit", () => resolve())
        child.kill("SIGKILL")
      })
  )

/** Processes compile what they load, on however few cores there are. */
const timeout = 180_000

describe("Spool processes", () => {
  it.live(
    "what a process has told of survives its being killed at any moment",
    () =>
      Effect.forEach(
        range(0, 8),
        () =>
          Effect.gen(function* () {
            const directory = yield* temporaryDirectory
            const { child, errors, next } = yield* start(directory, "append")
            let appended = 0
            let acknowledging = 0
            let acknowledged = 0
            const hear = (line: string | undefined) => {
              const [what, count] = (line ?? "").split(" ")
              if (what === "appended") appended = Number(count)
              if (what === "acknowledging") acknowledging = Number(count)
              if (what === "acknowledged") acknowledged = Number(count)
            }
            while (appended === 0 && child.exitCode === null) hear(yield* next)
            assert.isAbove(appended, 0, errors())

            yield* Effect.gen(function* () {
              const spool = yield* Spool.Spool
              const held = yield* entryOf("crash")
              assert.strictEqual(held.holder, "process")
              assert.strictEqual(held.heldBy.pid, child.pid)
              assert.isUndefined(yield* spool.take(held))

              yield* Effect.sleep(yield* Random.nextIntBetween(0, 200))
              child.kill("SIGKILL")
              for (let line = yield* next; line !== undefined; line = yield* next) hear(line)
              yield* kill(child)

              assert.strictEqual((yield* entryOf("crash")).holder, "nobody")
              const journal = yield* takeIt("crash")
              const found = yield* records(journal)
              const from = found[0]?.taskIndex ?? acknowledged
              assert.include([acknowledged, acknowledging], from)
              assert.isAtLeast(from + found.length, appended)
              assert.deepStrictEqual(
                found,
                range(from, from + found.length).map((i) => record(i))
              )
              const [first] = journal.batches
              assert.deepStrictEqual(
                journal.batches.map(({ sequenceNumber }) => sequenceNumber),
                journal.batches.map((_, i) => (first?.sequenceNumber ?? 0) + i)
              )
            }).pipe(Effect.provide(Spool.layerDirectory({ directory })))
          }).pipe(Effect.scoped),
        { concurrency: 2, discard: true }
      ),
    timeout
  )

  it.live(
    "of two processes that take one journal at the same time one gets it, whole",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        const ids = range(0, 20).map((i) => `attempt-${i}`)
        yield* Effect.gen(function* () {
          const spool = yield* Spool.Spool
          for (const [index, id] of ids.entries()) {
            const journal = Effect.map(spool.open(attempt(id)), (journal) => {
              range(0, 3 + index).forEach((i) => journal.append(record(i)))
            })
            yield* Effect.scoped(journal)
            if (index % 2 === 0) continue
            const { location } = yield* entryOf(id)
            Fs.renameSync(location, location.replace(/~[^~]*~[^~]*$/, "~999999999~1"))
          }
        }).pipe(Effect.provide(Spool.layerDirectory({ directory })))

        const processes = yield* Effect.forEach([1, 2], () => start(directory, "take"))
        for (const { errors, next } of processes) assert.strictEqual(yield* next, "ready", errors())
        for (const [index, id] of ids.entries()) {
          processes.forEach(({ child }) => child.stdin.write(`${id}\n`))
          const answers = yield* Effect.forEach(processes, ({ next }) => next)
          assert.sameMembers(answers, ["none", String(3 + index)], id)
        }
        assert.lengthOf(
          Fs.readdirSync(directory).filter((name) => processes.some(({ child }) => name.includes(`~${child.pid}~`))),
          20
        )
      }).pipe(Effect.scoped),
    timeout
  )
})
