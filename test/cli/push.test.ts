import * as fs from "node:fs"
import * as path from "node:path"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schedule, Schema } from "effect"
import { CliError } from "../../src/cli/CliError.js"
import { ExitWith } from "../../src/cli/output.js"
import type { PushOptions } from "../../src/cli/push.js"
import { push } from "../../src/cli/push.js"
import { UsageError } from "../../src/cli/UsageError.js"
import type { PlatformError, PlatformOrigin, RunRef } from "../../src/Platform.js"
import {
  InvalidRequest,
  Platform,
  PlatformFailure,
  PlatformOrigin as Origin,
  RequestTooLarge,
  ResourceConflict,
  ResourceNotFound,
  Unauthorized
} from "../../src/Platform.js"
import type { TaskRecord } from "../../src/Record.js"
import type { SpoolEntry, Verdict } from "../../src/Spool.js"
import * as Spools from "../../src/Spool.js"
import { Spool } from "../../src/Spool.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import type { Said } from "../support/commands.js"
import { call, Captured, capturing, claim, createRun, workerRef } from "../support/commands.js"

const folder = Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()).pipe(
  Effect.provide(NodeContext.layer)
)

/** A store and a spool, each in files of their own. */
const places = Layer.unwrapScoped(
  Effect.map(folder, (here) =>
    Layer.merge(
      SqlPlatform.layerSqlite({ filename: path.join(here, "bench.db") }),
      Spools.layerDirectory({ directory: path.join(here, "spool") })
    )
  )
)

const records = (count: number, from = 0): ReadonlyArray<TaskRecord> =>
  Array.from({ length: count }, (_, i) => ({ taskIndex: from + i, status: "success", latencyMs: 1 }))

interface Left {
  readonly verdict?: Verdict
  /** Records of each batch. Default one batch of 3. */
  readonly batches?: ReadonlyArray<number>
  readonly origin?: PlatformOrigin
}

const complete: Verdict = { how: "complete" }

let journals = 0

/** Fills the journal of a participant's next worker. */
const journalOf = (run: RunRef, participant: string, { batches = [3], origin, verdict }: Left) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const spool = yield* Spool
    const ref = { ...run, participant }
    const assignment = yield* claim(ref)
    const { attemptId, attemptNumber } = assignment
    const journal = yield* spool.open({
      ...workerRef(ref, assignment),
      origin: origin ?? platform.origin,
      attemptId,
      attemptNumber,
      startedAt: `2026-01-01T00:00:00.${String(journals++).padStart(3, "0")}Z`
    })
    let from = 0
    for (const count of batches) {
      records(count, from).forEach((record) => journal.append(record))
      from += count
      yield* journal.seal
    }
    if (verdict !== undefined) yield* journal.setVerdict(verdict)
    return journal
  })

/** What a process leaves that has ended before it could deliver. */
const leave = (run: RunRef, participant: string, left: Left = {}) => Effect.scoped(journalOf(run, participant, left))

const waiting = Effect.flatMap(Spool, ({ list }) => Effect.map(list, ({ entries }) => entries))

type Options = Omit<PushOptions<unknown, never>, "platformFor">

const options: Options = { run: undefined, all: false, list: false, discard: false, force: false, json: false }

/** Every origin leads to the platform of the test. */
const pushed = (given: Partial<Options> = {}) =>
  Effect.flatMap(Platform, (platform) =>
    call(
      push({
        ...options,
        flushSchedule: Schedule.recurs(0),
        ...given,
        platformFor: () => Effect.succeed(platform)
      })
    )
  )

/** The code that the command ends with, or what it failed with. */
const ending = ({ error }: Said<unknown>): unknown =>
  error === undefined ? 0 : error instanceof ExitWith ? error.code : error

const message = ({ error }: Said<unknown>): string =>
  error instanceof CliError || error instanceof UsageError ? error.message : `unexpected: ${String(error)}`

/** The platform with the results of some participants refused. */
const refusing = (errors: Readonly<Record<string, Effect.Effect<never, PlatformError>>>) =>
  Layer.effect(
    Platform,
    Effect.map(Platform, (platform) => ({
      ...platform,
      sendTaskResults: (ref, input) => errors[ref.participant] ?? platform.sendTaskResults(ref, input)
    }))
  )

const spoolOf = ({ location }: SpoolEntry): string => path.dirname(location)

/** Gives a journal that nobody holds to a process of another machine. */
const giveAway = ({ location }: SpoolEntry) =>
  Effect.sync(() => fs.renameSync(location, location.replace(/@[^@]*$/, "@elsewhere~77~5")))

describe("bench push", () => {
  it.scoped("delivers what an ended process left, and closes its worker as that meant to", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 5, beta: 3 })
      yield* leave(run, "alpha", { verdict: complete, batches: [3, 2] })
      yield* leave(run, "beta")
      const said = yield* pushed()
      const platform = yield* Platform
      const destination = platform.origin.kind === "store" ? platform.origin.location : ""
      assert.strictEqual(ending(said), 0)
      assert.strictEqual(
        said.stdout,
        `Delivered 5 records of alpha (run ${run.run}) to ${destination}; its worker is completed.\n` +
          `Delivered 3 records of beta (run ${run.run}) to ${destination}; its worker is failed, as its run left it.\n`
      )
      assert.deepStrictEqual(said.stderr.trimEnd().split("\n"), [
        `Delivering 5 records of alpha (run ${run.run}) to ${destination}`,
        "  alpha: 3/5 records",
        "  alpha: 5/5 records",
        `Delivering 3 records of beta (run ${run.run}) to ${destination}`,
        "  beta: 3/3 records"
      ])
      const stored = yield* platform.iterations(run, {})
      assert.deepStrictEqual(
        stored.map(({ participantSlug, taskIndex }) => [participantSlug, taskIndex]),
        [0, 1, 2, 3, 4].map((i) => ["alpha", i]).concat([0, 1, 2].map((i) => ["beta", i]))
      )
      const statuses = yield* Effect.map(platform.listParticipants(run), (all) => all.map(({ status }) => status))
      assert.deepStrictEqual(statuses, ["completed", "failed"])
      assert.deepStrictEqual(yield* waiting, [])
    }).pipe(Effect.provide(places))
  )

  it.scoped("says that nothing is waiting", () =>
    Effect.gen(function* () {
      for (const given of [{}, { all: true }, { list: true }, { run: "abc" }]) {
        const said = yield* pushed(given)
        assert.deepStrictEqual([ending(said), said.stdout], [0, "Nothing is waiting to be delivered.\n"])
      }
      for (const given of [{ json: true }, { json: true, list: true }]) {
        const { stdout } = yield* pushed(given)
        const { location, ...rest } = JSON.parse(stdout)
        assert.match(location, /spool$/)
        assert.deepStrictEqual(rest, { items: [], damaged: [] })
      }
    }).pipe(Effect.provide(places))
  )

  it.scoped("delivers nothing before it knows which of several runs is meant", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* createRun({ alpha: 3 }), yield* createRun({ beta: 3 })]
      yield* leave(one, "alpha", { verdict: complete })
      yield* leave(two, "beta", { verdict: complete })
      const said = yield* pushed()
      assert.strictEqual(ending(said), 1)
      assert.include(said.stdout, one.run)
      assert.include(said.stdout, two.run)
      assert.strictEqual(said.stderr, "\n2 runs are waiting. Deliver one: bench push RUN. Or all: bench push --all\n")
      assert.strictEqual((yield* waiting).length, 2)

      assert.strictEqual(ending(yield* pushed({ run: two.run.slice(0, 13) })), 0)
      assert.deepStrictEqual(
        (yield* waiting).map(({ attempt }) => attempt.run),
        [one.run]
      )
      yield* leave(yield* createRun({ gamma: 3 }), "gamma", { verdict: complete })
      assert.strictEqual(ending(yield* pushed({ all: true })), 0)
      assert.deepStrictEqual(yield* waiting, [])
    }).pipe(Effect.provide(places))
  )

  it.scoped("refuses a run that is unknown or not told apart, and flags that contradict each other", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 3, beta: 3 })
      yield* leave(run, "alpha")
      yield* leave({ ...run, run: run.run }, "beta")
      const again = yield* createRun({ alpha: 3 })
      yield* leave(again, "alpha")
      const saidOf = (given: Partial<Options>) => Effect.map(pushed(given), message)
      const unknown = (name: string) =>
        `No records of a run "${name}" are waiting. See of which there are: bench push --list`
      assert.strictEqual(yield* saidOf({ run: "nope" }), unknown("nope"))
      assert.strictEqual(yield* saidOf({ run: "last" }), unknown("last"))
      assert.strictEqual(yield* saidOf({ run: "" }), unknown(""))
      assert.strictEqual(yield* saidOf({ run: "x", all: true }), "Name a run or say --all, not both")
      assert.strictEqual(yield* saidOf({ list: true, discard: true }), "--list and --discard contradict each other")
      assert.strictEqual(
        yield* saidOf({ discard: true }),
        "--discard removes records for good: name the run, or say --all"
      )
      assert.strictEqual((yield* waiting).length, 3)
    }).pipe(Effect.provide(places))
  )

  it.scoped("names the runs that a prefix could mean, and takes a whole id as it is", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const spool = yield* Spool
      for (const run of ["run-1", "run-12"]) {
        const attempt = { benchmark: "demo", run, participant: "a", worker: "w", attemptId: run, attemptNumber: 1 }
        yield* Effect.scoped(spool.open({ ...attempt, origin: platform.origin, startedAt: run }))
      }
      const said = yield* pushed({ run: "run" })
      assert.strictEqual(message(said), '"run" is the beginning of 2 run ids: run-1, run-12. Say more of it.')
      yield* pushed({ run: "run-1", discard: true })
      assert.deepStrictEqual(
        (yield* waiting).map(({ attempt }) => attempt.run),
        ["run-12"]
      )
    }).pipe(Effect.provide(places))
  )

  it.scoped("takes the one run that no running process holds", () =>
    Effect.gen(function* () {
      const [running, ended] = [yield* createRun({ alpha: 3 }), yield* createRun({ beta: 3 })]
      yield* journalOf(running, "alpha", {})
      yield* leave(ended, "beta", { verdict: complete })
      const said = yield* pushed()
      assert.strictEqual(ending(said), 0)
      assert.match(said.stdout, /^Delivered 3 records of beta .*\n$/)
      assert.deepStrictEqual(
        (yield* waiting).map(({ attempt }) => attempt.participant),
        ["alpha"]
      )
    }).pipe(Effect.provide(places))
  )

  it.scoped("leaves alone what a running process holds, and says which", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 3 })
      yield* journalOf(run, "alpha", {})
      for (const given of [{}, { all: true, force: true }, { run: run.run, discard: true }]) {
        const said = yield* pushed(given)
        assert.strictEqual(ending(said), 1)
        assert.strictEqual(
          said.stdout,
          `Left alone: 3 records of alpha (run ${run.run}). Process ${process.pid}, which is still running, holds and delivers them.\n`
        )
      }
      assert.strictEqual((yield* waiting).length, 1)
    }).pipe(Effect.provide(places))
  )

  it.scoped("takes from another machine only by force", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 3 })
      yield* leave(run, "alpha", { verdict: complete })
      yield* Effect.flatMap(waiting, Effect.forEach(giveAway))
      const said = yield* pushed()
      assert.strictEqual(ending(said), 1)
      assert.strictEqual(
        said.stdout,
        `Left alone: 3 records of alpha (run ${run.run}). Process 77 on host elsewhere holds them: deliver them there, or, if it has ended, with --force.\n`
      )
      assert.strictEqual(ending(yield* pushed({ force: true })), 0)
      assert.deepStrictEqual(yield* waiting, [])
    }).pipe(Effect.provide(places))
  )

  it.scoped("sends each journal once when two commands run at the same time", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 3, beta: 3 })
      yield* leave(run, "alpha", { verdict: complete })
      yield* leave(run, "beta", { verdict: complete })
      const sending = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const sent: Array<string> = []
      const slow = Layer.effect(
        Platform,
        Effect.map(Platform, (platform) => ({
          ...platform,
          sendTaskResults: (ref, input) =>
            Effect.gen(function* () {
              sent.push(ref.participant)
              yield* Deferred.succeed(sending, undefined)
              if (ref.participant === "alpha") yield* Deferred.await(go)
              return yield* platform.sendTaskResults(ref, input)
            })
        }))
      )
      const first = yield* Effect.fork(Effect.provide(pushed({ all: true }), slow))
      yield* Deferred.await(sending)
      const second = yield* Effect.provide(pushed({ all: true }), slow)
      assert.strictEqual(ending(second), 1)
      assert.match(second.stdout, /^Left alone: 3 records of alpha .*\nDelivered 3 records of beta .*\n$/)
      yield* Deferred.succeed(go, undefined)
      const other = yield* Fiber.join(first)
      assert.strictEqual(ending(other), 0)
      assert.match(
        other.stdout,
        /^Delivered 3 records of alpha .*\nAnother process has delivered or removed the records of beta .* meanwhile\.\n$/
      )
      assert.deepStrictEqual(sent, ["alpha", "beta"])
      const platform = yield* Platform
      assert.strictEqual((yield* platform.iterations(run, {})).length, 6)
    }).pipe(Effect.provide(places))
  )

  it.scoped("goes on after a failure, and says what is left and why", () =>
    Effect.gen(function* () {
      const names = ["gone", "invalid", "large", "closed", "busy", "broken", "fine"]
      const run = yield* createRun(Object.fromEntries(names.map((name) => [name, 1])))
      for (const name of names) yield* leave(run, name, { verdict: complete, batches: [1] })
      const said = yield* Effect.provide(
        pushed({ all: true }),
        refusing({
          gone: new ResourceNotFound({ resource: "run", id: run.run }),
          invalid: new InvalidRequest({ issues: [{ field: "records[0].data", message: "must be small" }] }),
          large: new RequestTooLarge({ operation: "sendTaskResults" }),
          closed: new ResourceConflict({ reason: "WorkerClosed", detail: "The worker is closed" }),
          busy: new PlatformFailure({ operation: "sendTaskResults", detail: "busy", retryable: true }),
          broken: Effect.dieMessage("unforeseen")
        })
      )
      assert.strictEqual(ending(said), 1)
      const where = new Map((yield* waiting).map((entry) => [entry.attempt.participant, entry.location]))
      const forGood = (name: string) => `Kept in ${where.get(name)}; to give them up: bench push --discard ${run.run}`
      const again = (name: string) => `Kept in ${where.get(name)}; to try again: bench push ${run.run}`
      const left = (name: string) => `Not delivered: 1 record of ${name} (run ${run.run}).`
      const lines = said.stdout.trimEnd().split("\n")
      assert.deepStrictEqual(lines.slice(0, 6), [
        `${left("gone")} No run "${run.run}". ${forGood("gone")}`,
        `${left("invalid")} records[0].data must be small. ${forGood("invalid")}`,
        `${left("large")} sendTaskResults: the request is larger than the platform takes. ${forGood("large")}`,
        `${left("closed")} The worker is closed. ${forGood("closed")}`,
        `${left("busy")} sendTaskResults: busy. ${again("busy")}`,
        `${left("broken")} sendTaskResults: unforeseen. ${again("broken")}`
      ])
      assert.match(lines[6] ?? "", /^Delivered 1 record of fine /)
      assert.deepStrictEqual([...where.keys()].sort(), ["broken", "busy", "closed", "gone", "invalid", "large"])
    }).pipe(Effect.provide(places))
  )

  it.scoped("says how much was delivered before it failed, and goes on from there", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 5 })
      yield* leave(run, "alpha", { verdict: complete, batches: [3, 2] })
      const busy = new PlatformFailure({ operation: "sendTaskResults", detail: "busy", retryable: true })
      const failing = Layer.effect(
        Platform,
        Effect.map(Platform, (platform) => ({
          ...platform,
          sendTaskResults: (ref, input) =>
            input.sequenceNumber === 1 ? Effect.fail(busy) : platform.sendTaskResults(ref, input)
        }))
      )
      const said = yield* Effect.provide(pushed(), failing)
      assert.match(said.stdout, /^Not delivered: 2 records of alpha \(run .*\), after 3 that were\. /)
      assert.strictEqual(ending(yield* pushed()), 0)
      const platform = yield* Platform
      assert.strictEqual((yield* platform.iterations(run, {})).length, 5)
    }).pipe(Effect.provide(places))
  )

  it.scoped("tells records that are delivered from a worker that could not be closed", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 3 })
      yield* leave(run, "alpha", { verdict: complete })
      const busy = new PlatformFailure({ operation: "completeWorker", detail: "busy", retryable: true })
      const failing = Layer.effect(
        Platform,
        Effect.map(Platform, (platform) => ({ ...platform, completeWorker: () => Effect.fail(busy) }))
      )
      const said = yield* Effect.provide(pushed(), failing)
      const [left] = yield* waiting
      assert.strictEqual(
        said.stdout,
        `Not closed: the worker of alpha (run ${run.run}), whose records are delivered. completeWorker: busy. ` +
          `Kept in ${left?.location}; to try again: bench push ${run.run}\n`
      )
      assert.strictEqual(ending(yield* pushed()), 0)
      const platform = yield* Platform
      assert.strictEqual((yield* platform.getRun(run)).status, "completed")
    }).pipe(Effect.provide(places))
  )

  it.scoped("ends with 2 when credentials are all that is missing", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 3, beta: 3, fine: 3 })
      for (const name of ["alpha", "beta", "fine"]) yield* leave(run, name, { verdict: complete })
      const unauthorized = new Unauthorized({ reason: "Unauthenticated", detail: "the key has expired" })
      const busy = new PlatformFailure({ operation: "sendTaskResults", detail: "busy", retryable: true })
      const mixed = yield* Effect.provide(pushed(), refusing({ alpha: unauthorized, beta: busy }))
      assert.strictEqual(ending(mixed), 1)
      assert.include(mixed.stdout, "Not signed in: the key has expired. Sign in with `bench auth login`")
      assert.match(mixed.stdout, /\nDelivered 3 records of fine /)
      const said = yield* Effect.provide(pushed(), refusing({ alpha: unauthorized, beta: unauthorized }))
      assert.strictEqual(ending(said), 2)
      assert.strictEqual((yield* waiting).length, 2)
    }).pipe(Effect.provide(places))
  )

  it.scoped("says that a worker has been taken over, and removes what is left of it when told to", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 3, beta: 3 })
      const ref = { ...run, participant: "alpha" }
      yield* leave(run, "alpha", { verdict: complete })
      yield* leave(run, "beta", { verdict: complete })
      const platform = yield* Platform
      const [entry] = (yield* waiting).filter(({ attempt }) => attempt.participant === "alpha")
      const { attemptId = "", worker = "" } = entry?.attempt ?? {}
      yield* platform.releaseWorker({ ...ref, worker }, { attemptId })
      yield* claim(ref)

      const busy = new PlatformFailure({ operation: "sendTaskResults", detail: "busy", retryable: true })
      const both = yield* Effect.provide(pushed(), refusing({ beta: busy }))
      assert.match(both.stdout, / \(with everything else of this run that is waiting: deliver that first\)\n/)

      const said = yield* pushed()
      assert.strictEqual(ending(said), 1)
      const [left] = yield* waiting
      assert.match(said.stdout, /\nDelivered 3 records of beta .*\n$/)
      assert.include(
        said.stdout,
        `Not taken any more: 3 records of alpha (run ${run.run}). Another process has taken over this worker, and its records count. ` +
          `Kept in ${left?.location} until removed with: bench push --discard ${run.run}\n`
      )
      const removed = yield* pushed({ run: run.run, discard: true })
      assert.deepStrictEqual([ending(removed), removed.stdout], [0, `Removed 3 records of alpha (run ${run.run}).\n`])
      assert.deepStrictEqual(yield* waiting, [])
      assert.strictEqual((yield* platform.iterations(ref, { participant: "alpha" })).length, 0)
    }).pipe(Effect.provide(places))
  )

  it.scoped("delivers to the platform that each journal names, opened once", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: 3, beta: 3, gamma: 3, delta: 3 })
      const remote = (baseUrl: string): PlatformOrigin => ({ kind: "remote", baseUrl, organization: "acme" })
      yield* leave(run, "alpha", { verdict: complete, origin: remote("https://one") })
      yield* leave(run, "beta", { verdict: complete, origin: remote("https://two") })
      yield* leave(run, "gamma", { verdict: complete, origin: remote("https://one") })
      yield* leave(run, "delta", { verdict: complete, origin: remote("https://three") })
      const events: Array<string> = []
      const platformFor = (origin: PlatformOrigin) => {
        const name = origin.kind === "remote" ? origin.baseUrl : ""
        if (name === "https://three") return Effect.fail(new CliError({ detail: "There are no credentials." }))
        return Effect.acquireRelease(
          Effect.sync(() => {
            events.push(`open ${name}`)
            return name === "https://one" ? platform : Platform.of({ ...platform, sendTaskResults: () => unreachable })
          }),
          () => Effect.sync(() => events.push(`close ${name}`))
        )
      }
      const unreachable = new PlatformFailure({ operation: "sendTaskResults", detail: "unreachable", retryable: true })
      const said = yield* call(push({ ...options, all: true, flushSchedule: Schedule.recurs(0), platformFor }))
      assert.strictEqual(ending(said), 1)
      assert.deepStrictEqual(events.sort(), [
        "close https://one",
        "close https://two",
        "open https://one",
        "open https://two"
      ])
      assert.match(said.stdout, /Delivered 3 records of alpha .* to https:\/\/one \(acme\);/)
      assert.match(said.stdout, /Not delivered: 3 records of beta .* sendTaskResults: unreachable\. /)
      assert.match(said.stdout, /Delivered 3 records of gamma /)
      assert.match(said.stdout, /Not delivered: 3 records of delta .* There are no credentials\. Kept in/)
    }).pipe(Effect.provide(places))
  )

  it.scoped("keeps everything when it is interrupted, and says so", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 3 })
      yield* leave(run, "alpha", { verdict: complete })
      const sending = yield* Deferred.make<void>()
      const hanging = refusing({ alpha: Effect.zipRight(Deferred.succeed(sending, undefined), Effect.never) })
      const said = new Captured()
      const command = Effect.flatMap(Platform, (platform) =>
        capturing(push({ ...options, platformFor: () => Effect.succeed(platform) }), said)
      )
      const fiber = yield* Effect.fork(Effect.provide(command, hanging))
      yield* Deferred.await(sending)
      yield* Fiber.interrupt(fiber)
      assert.match(said.stderr, /\nInterrupted\. What was not acknowledged is still waiting: bench push --list\n$/)
      assert.deepStrictEqual(
        (yield* waiting).map(({ holder, recordCount }) => [holder, recordCount]),
        [["nobody", 3]]
      )
    }).pipe(Effect.provide(places))
  )
})

describe("bench push --list", () => {
  it.scoped("shows what is waiting, for where, and who holds it", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 3, beta: 2, gamma: 1 })
      yield* leave(run, "alpha", { origin: { kind: "remote", baseUrl: "https://bench.example", organization: "acme" } })
      yield* Effect.flatMap(waiting, Effect.forEach(giveAway))
      yield* leave(run, "beta", { batches: [2] })
      yield* journalOf(run, "gamma", { batches: [1] })
      const [first] = yield* waiting
      const junk = path.join(first === undefined ? "" : spoolOf(first), "junk")
      fs.mkdirSync(junk)
      const platform = yield* Platform
      const store = platform.origin.kind === "store" ? platform.origin.location : ""
      const said = yield* pushed({ list: true })
      assert.strictEqual(ending(said), 0)
      const [header, ...rows] = said.stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/ {2,}/))
      assert.deepStrictEqual(header, [
        "run",
        "benchmark",
        "participant",
        "records",
        "bytes",
        "since",
        "destination",
        "state"
      ])
      const sized = rows.map(([run, benchmark, participant, records, , since, ...rest]) =>
        [run, benchmark, participant, records, since?.slice(0, 10), ...rest].join(" ")
      )
      assert.sameMembers(sized.slice(0, 3), [
        `${run.run} demo alpha 3 2026-01-01 https://bench.example (acme) held on host elsewhere`,
        `${run.run} demo beta 2 2026-01-01 ${store} waiting`,
        `${run.run} demo gamma 1 2026-01-01 ${store} held by pid ${process.pid}`
      ])
      assert.match(sized[3] ?? "", /^– – – – – – damaged: .*junk: /)
      assert.strictEqual(rows.length, 4)

      const json = yield* pushed({ list: true, json: true, run: run.run.slice(0, 8) })
      const { items } = Schema.decodeUnknownSync(Listing)(json.stdout)
      assert.deepStrictEqual(items.map(({ participant, records, state }) => [participant, records, state]).sort(), [
        ["alpha", 3, "heldElsewhere"],
        ["beta", 2, "waiting"],
        ["gamma", 1, "held"]
      ])
      assert.deepStrictEqual(items.find(({ participant }) => participant === "alpha")?.heldBy, {
        host: "elsewhere",
        pid: 77
      })
      assert.isTrue(items.every(({ run: id, verdict }) => id === run.run && verdict === null))
    }).pipe(Effect.provide(places))
  )

  it.scoped("tells of what is damaged, which is left as it is", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 3 })
      yield* leave(run, "alpha", { verdict: complete })
      const [entry] = yield* waiting
      const junk = path.join(entry === undefined ? "" : spoolOf(entry), "junk")
      fs.mkdirSync(junk)
      const said = yield* pushed()
      assert.strictEqual(ending(said), 1)
      assert.match(said.stdout, /^Delivered 3 records .*\nDamaged, and left as it is: .*junk: .*\n$/)
      assert.isTrue(fs.existsSync(junk))
      const json = yield* pushed({ list: true, json: true })
      const { damaged, items } = Schema.decodeUnknownSync(Listing)(json.stdout)
      assert.deepStrictEqual([items.length, damaged.length, damaged[0]?.path], [0, 1, junk])
    }).pipe(Effect.provide(places))
  )
})

const Identity = {
  run: Schema.String,
  benchmark: Schema.String,
  participant: Schema.String,
  workerId: Schema.String,
  attemptId: Schema.String,
  attemptNumber: Schema.Int,
  startedAt: Schema.String,
  origin: Origin,
  location: Schema.String
}

const Holder = Schema.NullOr(Schema.Struct({ host: Schema.String, pid: Schema.Int }))

const Damaged = Schema.Array(Schema.Struct({ path: Schema.String, detail: Schema.String }))

const Listing = Schema.parseJson(
  Schema.Struct({
    location: Schema.String,
    items: Schema.Array(
      Schema.Struct({
        ...Identity,
        records: Schema.Int,
        bytes: Schema.Int,
        verdict: Schema.NullOr(Schema.Struct({ how: Schema.String })),
        state: Schema.Literal("waiting", "held", "heldElsewhere"),
        heldBy: Holder
      })
    ),
    damaged: Damaged
  })
)

const Results = Schema.parseJson(
  Schema.Struct({
    location: Schema.String,
    items: Schema.Array(
      Schema.Struct({
        ...Identity,
        outcome: Schema.Literal("delivered", "discarded", "gone", "held", "superseded", "failed"),
        delivered: Schema.Int,
        left: Schema.Int,
        worker: Schema.NullOr(Schema.Literal("completed", "failed", "asIs")),
        heldBy: Holder,
        error: Schema.NullOr(Schema.Struct({ tag: Schema.NullOr(Schema.String), message: Schema.String }))
      })
    ),
    damaged: Damaged
  })
)

describe("bench push --json", () => {
  it.scoped("tells of each journal what became of it", () =>
    Effect.gen(function* () {
      const run = yield* createRun({ alpha: 3, beta: 3, gamma: 3, delta: 3 })
      for (const name of ["alpha", "beta", "gamma"]) yield* leave(run, name, { verdict: complete })
      yield* journalOf(run, "delta", {})
      const said = yield* Effect.provide(
        pushed({ run: run.run, json: true }),
        refusing({
          beta: new ResourceConflict({ reason: "StaleAttempt", detail: "Taken over" }),
          gamma: new Unauthorized({ reason: "Forbidden", detail: "another organization's" })
        })
      )
      assert.strictEqual(ending(said), 1)
      const { items } = Schema.decodeUnknownSync(Results, { onExcessProperty: "error" })(said.stdout)
      const told = items.map(({ delivered, error, heldBy, left, outcome, participant, worker }) => [
        participant,
        outcome,
        delivered,
        left,
        worker,
        heldBy?.pid ?? null,
        error
      ])
      assert.sameDeepMembers(told, [
        ["alpha", "delivered", 3, 0, "completed", null, null],
        ["beta", "superseded", 0, 3, null, null, { tag: "ResourceConflict", message: "Taken over" }],
        ["gamma", "failed", 0, 3, null, null, { tag: "Unauthorized", message: "Not allowed: another organization's." }],
        ["delta", "held", 0, 3, null, process.pid, null]
      ])
    }).pipe(Effect.provide(places))
  )
})
