import { gzipSync } from "node:zlib"
import { assert, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Chunk, Effect, Stream, TestClock } from "effect"
import type { ArtifactInput, RunRef, WorkerRef } from "../../src/Platform.js"
import { Platform } from "../../src/Platform.js"
import { claim, claimed, createRun, failure } from "./support.js"

const text = (content: string) => new TextEncoder().encode(content)

/** Creates an artifact and uploads its bytes. */
const leave = (worker: WorkerRef, input: ArtifactInput, content: Uint8Array) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const upload = yield* platform.createArtifact(worker, input)
    yield* platform.uploadArtifact(upload, content)
    return upload
  })

const download = (run: RunRef, id: string) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const found = yield* platform.getArtifact(run, id)
    const chunks = yield* Stream.runCollect(platform.downloadArtifact(found))
    return new Uint8Array(Buffer.concat(Chunk.toReadonlyArray(chunks)))
  })

export const artifacts = (layer: Layer.Layer<Platform, unknown>) => {
  it.effect("an artifact is listed once created, and comes back as it was uploaded", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { assignment, attemptId, run, worker } = yield* claimed()
      assert.deepStrictEqual(yield* platform.listRunArtifacts(run), [])
      assert.deepStrictEqual(yield* platform.listWorkerArtifacts(worker), [])
      const upload = yield* platform.createArtifact(worker, {
        attemptId,
        kind: "system-metrics",
        name: "metrics.jsonl",
        contentType: "application/x-ndjson",
        metadata: { samples: 3, nested: { a: [null, "ü"] } }
      })
      const { artifact } = upload
      assert.deepStrictEqual(artifact, {
        id: upload.artifactId,
        benchmarkId: assignment.benchmarkId,
        runId: run.run,
        participantId: assignment.participantId,
        participantSlug: "alpha",
        workerId: worker.worker,
        workerIndex: 0,
        attemptId,
        kind: "system-metrics",
        name: "metrics.jsonl",
        contentType: "application/x-ndjson",
        metadata: { samples: 3, nested: { a: [null, "ü"] } },
        objectKey: upload.objectKey,
        createdAt: "1970-01-01T00:00:00.000Z"
      })
      assert.deepStrictEqual(yield* platform.listRunArtifacts(run), [artifact])
      assert.deepStrictEqual(yield* platform.listWorkerArtifacts(worker), [artifact])
      const content = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 31) % 256)
      yield* platform.uploadArtifact(upload, content)
      assert.deepStrictEqual((yield* platform.getArtifact(run, artifact.id)).artifact, artifact)
      assert.deepStrictEqual(yield* download(run, artifact.id), content)
    }).pipe(Effect.provide(layer))
  )

  it.effect("an empty artifact is one", () =>
    Effect.gen(function* () {
      const { attemptId, run, worker } = yield* claimed()
      const { artifactId } = yield* leave(worker, { attemptId, kind: "empty" }, new Uint8Array())
      assert.deepStrictEqual(yield* download(run, artifactId), new Uint8Array())
    }).pipe(Effect.provide(layer))
  )

  it.effect("uploading again replaces the bytes", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const upload = yield* leave(worker, { attemptId, kind: "notes" }, text("first, and longer"))
      yield* platform.uploadArtifact(upload, text("second"))
      assert.deepStrictEqual(yield* download(run, upload.artifactId), text("second"))
      assert.strictEqual((yield* platform.listRunArtifacts(run)).length, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("an artifact whose bytes never came is not found", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const { artifactId } = yield* platform.createArtifact(worker, { attemptId, kind: "notes" })
      const found = yield* platform.getArtifact(run, artifactId)
      assert.strictEqual(yield* failure(Stream.runDrain(platform.downloadArtifact(found))), "ResourceNotFound artifact")
    }).pipe(Effect.provide(layer))
  )

  it.effect("artifacts are listed newest first, of a run and of each of its workers", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 1 }, beta: { totalTasks: 1 } })
      const alpha = yield* claim({ ...run, participant: "alpha" })
      const beta = yield* claim({ ...run, participant: "beta" })
      for (const [index, { attemptId, worker }] of [alpha, beta, beta, alpha].entries()) {
        if (index === 2) yield* TestClock.adjust("1 second")
        yield* platform.createArtifact(worker, { attemptId, kind: `${index}` })
      }
      const kinds = (items: ReadonlyArray<{ readonly kind: string }>) => items.map(({ kind }) => kind)
      assert.deepStrictEqual(kinds(yield* platform.listRunArtifacts(run)), ["3", "2", "1", "0"])
      assert.deepStrictEqual(kinds(yield* platform.listWorkerArtifacts(alpha.worker)), ["3", "0"])
      assert.deepStrictEqual(kinds(yield* platform.listWorkerArtifacts(beta.worker)), ["2", "1"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("an artifact is called anything", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const names = [
        "../../../../etc/passwd",
        "/etc/passwd",
        "..",
        ".",
        "...",
        "C:\\Windows\\system32\\evil.dll",
        "escape\u001b[31m.txt",
        "new\nline\r\n.txt",
        "日本語.log",
        "a".repeat(5000) + ".tar.gz",
        "%2e%2e%2f%2e%2e%2f",
        ' "quoted" <b>; name?#&.txt',
        "CON",
        "-rf",
        "trailing/"
      ]
      for (const [index, name] of names.entries()) {
        const upload = yield* leave(worker, { attemptId, kind: name, name }, text(`${index}`))
        assert.strictEqual(upload.artifact.name, name)
        assert.strictEqual(upload.artifact.kind, name)
        assert.deepStrictEqual(yield* download(run, upload.artifactId), text(`${index}`))
      }
      const keys = (yield* platform.listRunArtifacts(run)).map(({ objectKey }) => objectKey)
      assert.strictEqual(new Set(keys).size, names.length)
    }).pipe(Effect.provide(layer))
  )

  it.effect("an artifact without a kind, or that no file can be called, is refused", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      for (const [field, input] of [
        ["kind", { kind: "" }],
        ["kind", { kind: "nul\u0000" }],
        ["name", { kind: "notes", name: "" }],
        ["name", { kind: "notes", name: "nul\u0000byte.txt" }],
        ["contentType", { kind: "notes", contentType: "text/plain\r\nSet-Cookie: a=b" }]
      ] as const) {
        const message = yield* failure(platform.createArtifact(worker, { attemptId, ...input }))
        assert.isTrue(message.startsWith(`InvalidRequest ${field} `), message)
      }
      assert.deepStrictEqual(yield* platform.listRunArtifacts(run), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("a worker leaves artifacts after its end too, however it ended", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      for (const close of [platform.completeWorker, platform.failWorker, platform.releaseWorker]) {
        const { attemptId, run, worker } = yield* claimed()
        yield* close(worker, { attemptId })
        const { artifactId } = yield* leave(worker, { attemptId, kind: "late" }, text("late"))
        assert.deepStrictEqual(yield* download(run, artifactId), text("late"))
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("an attempt that lost its worker leaves nothing more", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      yield* platform.releaseWorker(worker, { attemptId })
      yield* claim(worker)
      for (const stale of [attemptId, "no-such-attempt"]) {
        assert.strictEqual(
          yield* failure(platform.createArtifact(worker, { attemptId: stale, kind: "late" })),
          "ResourceConflict StaleAttempt"
        )
      }
      assert.deepStrictEqual(yield* platform.listRunArtifacts(run), [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("an artifact is found under its own run only", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, run, worker } = yield* claimed()
      const { artifactId } = yield* leave(worker, { attemptId, kind: "notes" }, text("mine"))
      const other = yield* claimed()
      const unknown = "00000000-0000-4000-8000-000000000000"
      assert.strictEqual(yield* failure(platform.getArtifact(other.run, artifactId)), "ResourceNotFound artifact")
      assert.strictEqual(yield* failure(platform.getArtifact(run, unknown)), "ResourceNotFound artifact")
      assert.deepStrictEqual(yield* platform.listRunArtifacts(other.run), [])
      const elsewhere = { ...other.run, participant: "alpha", worker: worker.worker }
      assert.strictEqual(yield* failure(platform.listWorkerArtifacts(elsewhere)), "ResourceNotFound worker")
      assert.strictEqual(
        yield* failure(platform.createArtifact(elsewhere, { attemptId, kind: "notes" })),
        "ResourceNotFound worker"
      )
      const nowhere = { ...run, run: unknown }
      assert.strictEqual(yield* failure(platform.getArtifact(nowhere, artifactId)), "ResourceNotFound run")
      assert.strictEqual(yield* failure(platform.listRunArtifacts(nowhere)), "ResourceNotFound run")
    }).pipe(Effect.provide(layer))
  )
}

export const logs = (layer: Layer.Layer<Platform, unknown>) => {
  const log = { kind: "coordinator.log", name: "worker.log", contentType: "text/plain" }

  it.effect("without logs there are none", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      yield* leave(worker, { attemptId, kind: "system-metrics" }, text("{}"))
      const { participantSlug, workers } = yield* platform.participantLogs(worker, {})
      assert.strictEqual(participantSlug, "alpha")
      assert.deepStrictEqual(workers, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("the newest log of each worker is shown, by worker", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({ alpha: { totalTasks: 3 }, beta: { totalTasks: 1 } })
      const alpha = { ...run, participant: "alpha" }
      const first = yield* claim(alpha, 3)
      const second = yield* claim(alpha)
      const other = yield* claim({ ...run, participant: "beta" })
      yield* leave(second.worker, { ...log, attemptId: second.attemptId }, text("b1\nb2\n"))
      yield* leave(first.worker, { ...log, attemptId: first.attemptId }, text("old"))
      yield* TestClock.adjust("1 second")
      const newest = yield* leave(first.worker, { ...log, attemptId: first.attemptId }, text("a1\r\n\na3"))
      yield* leave(other.worker, { ...log, attemptId: other.attemptId }, text("beta's"))
      const { generatedAt, workers } = yield* platform.participantLogs(alpha, {})
      assert.strictEqual(generatedAt, "1970-01-01T00:00:01.000Z")
      assert.deepStrictEqual(workers[0], {
        workerId: first.worker.worker,
        workerIndex: 0,
        attemptId: first.attemptId,
        artifactId: newest.artifactId,
        createdAt: "1970-01-01T00:00:01.000Z",
        lines: ["a1", "", "a3"],
        truncated: false
      })
      assert.deepStrictEqual(
        workers.map(({ lines, workerIndex }) => [workerIndex, lines]),
        [
          [0, ["a1", "", "a3"]],
          [1, ["b1", "b2"]]
        ]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("of a log whose bytes never came the one before is shown", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      yield* platform.createArtifact(worker, { ...log, attemptId })
      assert.deepStrictEqual((yield* platform.participantLogs(worker, {})).workers, [])
      const uploaded = yield* leave(worker, { ...log, attemptId }, text("here"))
      yield* platform.createArtifact(worker, { ...log, attemptId })
      const { workers } = yield* platform.participantLogs(worker, {})
      assert.deepStrictEqual(
        workers.map(({ artifactId, lines }) => [artifactId, lines]),
        [[uploaded.artifactId, ["here"]]]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("the last lines are shown, 1000 by default, and whether there are more", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      const lines = Array.from({ length: 5001 }, (_, i) => `line ${i} äöü €`)
      yield* leave(worker, { ...log, attemptId }, text(lines.join("\n") + "\n"))
      const shown = (maxLines?: number) =>
        Effect.map(platform.participantLogs(worker, { maxLines }), ({ workers }) =>
          workers.map(({ lines, truncated }) => ({ lines, truncated }))
        )
      assert.deepStrictEqual(yield* shown(), [{ lines: lines.slice(-1000), truncated: true }])
      assert.deepStrictEqual(yield* shown(1), [{ lines: lines.slice(-1), truncated: true }])
      assert.deepStrictEqual(yield* shown(5000), [{ lines: lines.slice(1), truncated: true }])
      assert.deepStrictEqual(yield* shown(5001), [{ lines, truncated: false }])
    }).pipe(Effect.provide(layer))
  )

  it.effect("an empty log has no lines", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      yield* leave(worker, { ...log, attemptId }, new Uint8Array())
      const { workers } = yield* platform.participantLogs(worker, {})
      assert.deepStrictEqual([workers[0]?.lines, workers[0]?.truncated], [[], false])
    }).pipe(Effect.provide(layer))
  )

  it.effect("compressed logs are shown as text", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const lines = Array.from({ length: 2500 }, (_, i) => `${i} ${"compressed ".repeat(20)}`)
      const content = new Uint8Array(gzipSync(lines.join("\n")))
      for (const fields of [
        { contentType: "application/gzip" },
        { contentType: "text/plain", metadata: { encoding: "gzip" } }
      ]) {
        const { attemptId, run, worker } = yield* claimed()
        const { artifactId } = yield* leave(worker, { ...log, ...fields, attemptId }, content)
        const { workers } = yield* platform.participantLogs(worker, { maxLines: 3000 })
        assert.deepStrictEqual(workers[0]?.lines, lines)
        assert.deepStrictEqual(yield* download(run, artifactId), content)
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("a compressed log that is damaged says so in its last line", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      yield* leave(worker, { ...log, contentType: "application/gzip", attemptId }, text("this is no gzip"))
      const { workers } = yield* platform.participantLogs(worker, {})
      assert.match(workers[0]?.lines.at(-1) ?? "", /^\[the rest cannot be decompressed: /)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a compressed log that was cut off is shown as far as it goes", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const { attemptId, worker } = yield* claimed()
      const lines = Array.from({ length: 2000 }, (_, i) => `line ${i * i}`)
      const whole = new Uint8Array(gzipSync(lines.join("\n")))
      yield* leave(
        worker,
        { ...log, contentType: "application/gzip", attemptId },
        whole.subarray(0, Math.floor(whole.length / 2))
      )
      const { workers } = yield* platform.participantLogs(worker, { maxLines: 2000 })
      const shown = workers[0]?.lines ?? []
      assert.isAbove(shown.length, 100)
      assert.deepStrictEqual(shown.slice(0, -1), lines.slice(0, shown.length - 1))
    }).pipe(Effect.provide(layer))
  )

  it.effect("the logs of an unknown participant are not found", () =>
    Effect.gen(function* () {
      const platform = yield* Platform
      const run = yield* createRun({})
      assert.strictEqual(
        yield* failure(platform.participantLogs({ ...run, participant: "nobody" }, {})),
        "ResourceNotFound participant"
      )
    }).pipe(Effect.provide(layer))
  )
}
