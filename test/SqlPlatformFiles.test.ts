import { existsSync, realpathSync } from "node:fs"
import * as Fs from "node:fs/promises"
import * as Path from "node:path"
import { pathToFileURL } from "node:url"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema, Stream, TestClock } from "effect"
import * as Artifacts from "../src/Artifacts.js"
import { Platform } from "../src/Platform.js"
import * as SqlPlatform from "../src/SqlPlatform.js"
import { claim, claimed, failure } from "./contract/support.js"
import { runTogether } from "./support/processes.js"
import { connect, layerBoth, open, temporaryDirectory, temporaryFile } from "./support/stores.js"

/** Processes compile what they load, on however few cores there are. */
const processTimeout = 180_000

const storeProcess = new URL("./fixtures/storeProcess.ts", import.meta.url)

describe("SqlPlatform artifacts", () => {
  it.scoped("bytes are in files beside the store, or where they are asked for", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      const elsewhere = yield* temporaryDirectory
      for (const [artifacts, directory] of [
        [undefined, Path.join(Path.dirname(filename), "artifacts")],
        [elsewhere, elsewhere]
      ] as const) {
        const platform = yield* open(filename, { artifacts })
        const { attemptId, worker } = yield* Effect.provideService(claimed(), Platform, platform)
        const upload = yield* platform.createArtifact(worker, { attemptId, kind: "notes", name: "../my notes.txt" })
        const file = Path.join(directory, ...upload.objectKey.split("/"))
        assert.strictEqual(upload.uploadUrl, pathToFileURL(file).href)
        assert.isNull(upload.uploadUrlExpiresAt)
        assert.match(
          upload.objectKey,
          new RegExp(`^[0-9a-f-]{36}/${worker.run}/${worker.worker}/${upload.artifactId}/my_notes\\.txt$`)
        )
        assert.isFalse(existsSync(file))
        yield* platform.uploadArtifact(upload, new TextEncoder().encode("kept"))
        assert.strictEqual(yield* Effect.promise(() => Fs.readFile(file, "utf8")), "kept")
        const found = yield* platform.getArtifact(worker, upload.artifactId)
        assert.deepStrictEqual([found.downloadUrl, found.downloadUrlExpiresAt], [upload.uploadUrl, null])
      }
    })
  )

  it.effect("where an upload goes is what the store says, not the caller", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const mine = yield* platform.createArtifact(worker, { attemptId, kind: "mine" })
      const other = yield* platform.createArtifact(worker, { attemptId, kind: "other" })
      const content = new TextEncoder().encode("mine")
      yield* platform.uploadArtifact({ ...mine, objectKey: other.objectKey, uploadUrl: other.uploadUrl }, content)
      const read = (id: string) =>
        Effect.flatMap(platform.getArtifact(run, id), (found) => Stream.runDrain(platform.downloadArtifact(found)))
      yield* read(mine.artifactId)
      assert.strictEqual(yield* failure(read(other.artifactId)), "ResourceNotFound artifact")
      const elsewhere = { ...mine.artifact, runId: "another" }
      assert.strictEqual(
        yield* failure(platform.uploadArtifact({ ...mine, artifact: elsewhere }, content)),
        "ResourceNotFound artifact"
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("another organization's artifacts are refused", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      const theirs = yield* open(filename, { organization: "theirs" })
      const { attemptId, run, worker } = yield* Effect.provideService(claimed(), Platform, theirs)
      const upload = yield* theirs.createArtifact(worker, { attemptId, kind: "notes" })
      yield* theirs.uploadArtifact(upload, new Uint8Array(3))
      const found = yield* theirs.getArtifact(run, upload.artifactId)
      const ours = yield* open(filename, { organization: "ours" })
      yield* ours.upsertBenchmark("bench", {})
      assert.match(yield* failure(ours.getArtifact(run, upload.artifactId)), /^Unauthorized Not allowed: /)
      assert.strictEqual(yield* failure(ours.uploadArtifact(upload, new Uint8Array(1))), "ResourceNotFound artifact")
      assert.strictEqual(yield* failure(Stream.runDrain(ours.downloadArtifact(found))), "ResourceNotFound artifact")
    })
  )

  it.scoped("a directory that cannot be written is named, and the store as it was", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const filename = Path.join(directory, "store.db")
      const artifacts = Path.join(directory, "occupied")
      yield* Effect.promise(() => Fs.writeFile(artifacts, ""))
      const platform = yield* open(filename, { artifacts })
      const { attemptId, run, worker } = yield* Effect.provideService(claimed(), Platform, platform)
      const upload = yield* platform.createArtifact(worker, { attemptId, kind: "notes" })
      const message = yield* failure(platform.uploadArtifact(upload, new Uint8Array(1)))
      assert.include(message, `PlatformFailure write an artifact: "${artifacts}`)
      assert.strictEqual((yield* platform.listRunArtifacts(run)).length, 1)
    })
  )
})

describe("SqlPlatform of version 1", () => {
  const createVersion1 = (filename: string) =>
    Effect.gen(function* () {
      const dump = yield* Effect.promise(() =>
        Fs.readFile(new URL("./fixtures/storeVersion1.sql", import.meta.url), "utf8")
      )
      yield* Effect.promise(() => Fs.mkdir(Path.dirname(filename), { recursive: true }))
      const sql = yield* connect(filename)
      yield* Effect.forEach(dump.split(/;\n/).slice(0, -1), (statement) => sql.unsafe(statement))
    }).pipe(Effect.scoped)

  it.scoped("a store is brought up to date with what it holds", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      yield* createVersion1(filename)
      yield* TestClock.setTime(Date.UTC(2026, 0, 2, 3, 0, 50))
      const platform = yield* open(filename)
      const [unfinished, done] = yield* platform.listRuns("bench", {})
      assert.deepStrictEqual([done?.runKey, done?.status, unfinished?.status], ["done", "completed", "in_progress"])
      const ref = { benchmark: "bench", run: done?.id ?? "" }
      const { overall, steps } = yield* platform.runResults(ref)
      assert.deepStrictEqual([overall.successCount, overall.errorCount, overall.latencyMs.p99], [1, 1, 11])
      assert.strictEqual(steps[0]?.stepCount, 2)
      assert.deepStrictEqual((yield* platform.getSummary(ref)).run, { gitSha: "abc" })
      assert.strictEqual((yield* platform.runImports(ref)).summary.imported, 1)
      assert.strictEqual((yield* platform.runTimeline(ref, {})).concurrency.heartbeatCount, 1)
      assert.deepStrictEqual(yield* platform.listRunArtifacts(ref), [])
      const open1 = { benchmark: "bench", run: unfinished?.id ?? "", participant: "alpha" }
      const { participants } = yield* platform.runProgress(open1)
      assert.deepStrictEqual(participants[0]?.workers, {
        pending: 1,
        running: 1,
        completed: 0,
        failed: 0,
        stale: 0,
        total: 2
      })
      assert.deepStrictEqual(participants[0]?.concurrency, [
        { step: "get", active: 1, target: 1, ready: false, freshWorkerCount: 1 }
      ])
      const { attemptId, worker } = yield* Effect.provideService(claim(open1), Platform, platform)
      yield* platform.heartbeat(worker, { attemptId, concurrency: [{ step: "get", active: 1, target: 1 }] })
      yield* platform.createArtifact(worker, { attemptId, kind: "notes" })
      assert.isTrue((yield* platform.runProgress(open1)).participants[0]?.concurrency[0]?.ready)
    })
  )

  it.scoped(
    "two processes bring one up to date at once, and share its artifacts",
    () =>
      Effect.gen(function* () {
        const filename = yield* temporaryFile
        yield* createVersion1(filename)
        const answers = yield* runTogether(storeProcess, [
          [filename, "leave"],
          [filename, "leave"]
        ])
        const Answer = Schema.Struct({ run: Schema.String, artifact: Schema.String, text: Schema.String })
        const platform = yield* open(filename)
        const texts = yield* Effect.forEach(answers, (answer) =>
          Effect.gen(function* () {
            const { artifact, run, text } = Schema.decodeUnknownSync(Answer)(answer)
            const found = yield* platform.getArtifact({ benchmark: "left", run }, artifact)
            const stored = yield* Stream.mkString(Stream.decodeText(platform.downloadArtifact(found)))
            assert.strictEqual(stored, text)
            return stored
          })
        )
        assert.strictEqual(new Set(texts).size, 2)
      }),
    processTimeout
  )
})

describe("SqlPlatform origin", () => {
  it.scoped("a store says where it is, by its absolute path", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      const relative = Path.relative(process.cwd(), filename)
      const origin = (platform: Platform["Type"]) => platform.origin
      assert.deepStrictEqual(origin(yield* open(relative)), { kind: "store", location: filename })
      assert.deepStrictEqual(origin(yield* open(filename, { location: "ours" })), { kind: "store", location: "ours" })
      assert.deepStrictEqual(origin(yield* open(":memory:")), { kind: "store", location: ":memory:" })
      const overClient = SqlPlatform.layer.pipe(
        Layer.provide([SqliteClient.layer({ filename }), Artifacts.layerMemory])
      )
      assert.deepStrictEqual(yield* Effect.provide(Effect.map(Platform, origin), overClient), {
        kind: "store",
        location: realpathSync(filename)
      })
      assert.deepStrictEqual(yield* Effect.provide(Effect.map(Platform, origin), layerBoth), {
        kind: "store",
        location: ":memory:"
      })
    })
  )
})
