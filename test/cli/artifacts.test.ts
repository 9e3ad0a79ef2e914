import * as fs from "node:fs"
import * as path from "node:path"
import { gzipSync } from "node:zlib"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schema, Stream } from "effect"
import type { GetOptions } from "../../src/cli/artifacts.js"
import * as Artifacts from "../../src/cli/artifacts.js"
import { CliError } from "../../src/cli/CliError.js"
import type { ArtifactInput, RunRef } from "../../src/Platform.js"
import { Artifact, Platform, PlatformFailure, Run } from "../../src/Platform.js"
import * as SqlPlatform from "../../src/SqlPlatform.js"
import { call, claim, createRun, workerRef } from "../support/commands.js"

const folder = Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()).pipe(
  Effect.provide(NodeContext.layer)
)

/** Leaves a file with the next worker of a participant; without content it is only announced. */
const leave = (ref: RunRef, participant: string, input: Omit<ArtifactInput, "attemptId">, content?: string | Buffer) =>
  Effect.gen(function* () {
    const platform = yield* Platform
    const assignment = yield* claim({ ...ref, participant })
    const upload = yield* platform.createArtifact(workerRef({ ...ref, participant }, assignment), {
      ...input,
      attemptId: assignment.attemptId
    })
    if (content !== undefined) yield* platform.uploadArtifact(upload, Buffer.from(content))
    return upload.artifactId
  })

const list = (options: Partial<Artifacts.ListOptions> = {}) =>
  call(Artifacts.list({ benchmark: undefined, run: undefined, json: false, ...options }))

const get = (options: Pick<GetOptions, "id"> & Partial<GetOptions>) =>
  Artifacts.get({ run: undefined, out: undefined, force: false, gunzip: false, ...options })

const message = ({ error }: { readonly error: unknown }): string =>
  error instanceof CliError ? error.message : `no CliError: ${String(error)}`

/** The platform with other ids in its listing, and content that is not what was uploaded. */
const changed = (change: (platform: Platform["Type"]) => Partial<Platform["Type"]>) =>
  Layer.effect(
    Platform,
    Effect.map(Platform, (platform) => ({ ...platform, ...change(platform) }))
  )

const artifact = (id: string): Artifact => ({
  id,
  runId: "run",
  workerId: "worker",
  kind: "note",
  objectKey: id,
  createdAt: "2026-01-01T00:00:00.000Z"
})

describe("bench artifacts list", () => {
  it.effect("lists the artifacts of a run, newest first", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ alpha: 2, beta: 1 }, 2)
      yield* leave(
        ref,
        "alpha",
        { kind: "coordinator.log", name: "worker.log", contentType: "text/plain", metadata: { sizeBytes: 5 } },
        "hello"
      )
      const id = yield* leave(ref, "alpha", { kind: "note\u001b[2J" })
      const { error, stdout } = yield* list()
      assert.strictEqual(error, undefined)
      const rows = stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/ {2,}/))
      assert.deepStrictEqual(rows[0], [
        "id",
        "participant",
        "worker",
        "kind",
        "name",
        "content type",
        "bytes",
        "created"
      ])
      assert.deepStrictEqual(rows[1]?.slice(0, 7), [id.slice(0, 8), "alpha", "2", "note", "–", "–", "–"])
      assert.deepStrictEqual(rows[2]?.slice(1, 7), ["alpha", "1", "coordinator.log", "worker.log", "text/plain", "5"])
      assert.strictEqual(rows.length, 3)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("prints JSON with the run", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ alpha: 1 })
      const id = yield* leave(ref, "alpha", { kind: "note", metadata: { a: 1 } }, "x")
      const { stdout } = yield* list({ benchmark: "demo", json: true })
      const answer = Schema.decodeUnknownSync(
        Schema.parseJson(Schema.Struct({ run: Run, items: Schema.Array(Artifact) }))
      )(stdout)
      assert.strictEqual(answer.run.id, ref.run)
      assert.deepStrictEqual(
        answer.items.map(({ id, metadata }) => [id, metadata]),
        [[id, { a: 1 }]]
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("says that there are none", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ alpha: 1 })
      assert.strictEqual((yield* list()).stdout, `Run ${ref.run} has no artifacts.\n`)
      assert.deepStrictEqual(JSON.parse((yield* list({ json: true })).stdout).items, [])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("shows as much of the ids as tells them apart", () =>
    Effect.gen(function* () {
      yield* createRun({ alpha: 1 })
      const ids = ["12345678-aa", "12345678-ab", "87654321-aa"]
      const said = yield* Effect.provide(
        list(),
        changed(() => ({ listRunArtifacts: () => Effect.succeed(ids.map(artifact)) }))
      )
      assert.deepStrictEqual(
        said.stdout.split("\n").map((line) => line.split(" ")[0]),
        ["id", ...ids, ""]
      )
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )
})

describe("bench artifacts get", () => {
  it.scoped("saves the bytes by a prefix of the id", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ alpha: 1 })
      const content = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251))
      const id = yield* leave(ref, "alpha", { kind: "note" }, content)
      const out = path.join(yield* folder, "note.bin")
      const said = yield* call(get({ id: id.slice(0, 8), out }))
      assert.deepStrictEqual([said.error, said.stdout], [undefined, ""])
      assert.strictEqual(said.stderr, `Wrote ${out} (300000 bytes).\n`)
      assert.isTrue(content.equals(fs.readFileSync(out)))
      assert.deepStrictEqual(fs.readdirSync(path.dirname(out)), ["note.bin"])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("calls a file in a folder as the artifact is called, and never leaves the folder", () =>
    Effect.gen(function* () {
      const here = yield* folder
      const inner = path.join(here, "inner")
      fs.mkdirSync(inner)
      const names = ["../../evil.txt", "/etc/passwd", "..", ".hidden", "a\u0007b.txt", undefined]
      const ref = yield* createRun({ alpha: names.length }, names.length)
      for (const name of names) {
        const id = yield* leave(ref, "alpha", { kind: "coordinator.log", name }, "x")
        assert.strictEqual((yield* call(get({ id, out: inner }))).error, undefined)
      }
      assert.deepStrictEqual(fs.readdirSync(here), ["inner"])
      assert.deepStrictEqual(fs.readdirSync(inner).sort(), [
        "a_b.txt",
        "artifact",
        "coordinator.log",
        "evil.txt",
        "hidden",
        "passwd"
      ])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("replaces no file unless it is told to", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ alpha: 1 })
      const id = yield* leave(ref, "alpha", { kind: "note", name: "note.txt" }, "new")
      const here = yield* folder
      const out = path.join(here, "note.txt")
      fs.writeFileSync(out, "mine")
      assert.strictEqual(
        message(yield* call(get({ id, out: here }))),
        `${out} exists already: --force replaces it, --out writes elsewhere.`
      )
      assert.strictEqual(fs.readFileSync(out, "utf8"), "mine")
      assert.strictEqual((yield* call(get({ id, out, force: true }))).error, undefined)
      assert.strictEqual(fs.readFileSync(out, "utf8"), "new")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("replaces no file that appears while it downloads", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ alpha: 1 })
      const id = yield* leave(ref, "alpha", { kind: "note" }, "new")
      const out = path.join(yield* folder, "note.txt")
      const meanwhile = changed((platform) => ({
        downloadArtifact: (download) =>
          Stream.tap(platform.downloadArtifact(download), () => Effect.sync(() => fs.writeFileSync(out, "mine")))
      }))
      const said = yield* call(Effect.provide(get({ id, out }), meanwhile))
      assert.match(message(said), /exists already/)
      assert.strictEqual(fs.readFileSync(out, "utf8"), "mine")
      assert.deepStrictEqual(fs.readdirSync(path.dirname(out)), ["note.txt"])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("leaves no part of a file when the download fails or is interrupted", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ alpha: 1 })
      const id = yield* leave(ref, "alpha", { kind: "note" }, "new")
      const here = yield* folder
      const out = path.join(here, "note.txt")
      const begin = Stream.make(Buffer.from("begin"))
      const lost = new PlatformFailure({ operation: "downloadArtifact", detail: "connection lost", retryable: true })
      const failing = changed(() => ({ downloadArtifact: () => Stream.concat(begin, Stream.fail(lost)) }))
      assert.strictEqual((yield* call(Effect.provide(get({ id, out }), failing))).error, lost)
      assert.deepStrictEqual(fs.readdirSync(here), [])

      const begun = yield* Deferred.make<void>()
      const hanging = changed(() => ({
        downloadArtifact: () =>
          Stream.concat(begin, Stream.fromEffect(Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)))
      }))
      const fiber = yield* Effect.fork(call(Effect.provide(get({ id, out }), hanging)))
      yield* Deferred.await(begun)
      assert.deepStrictEqual(
        fs.readdirSync(here).filter((name) => !name.endsWith(".tmp")),
        []
      )
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(fs.readdirSync(here), [])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("writes nothing but the bytes to stdout", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ alpha: 1 })
      const content = Buffer.from([0, 255, 27, 10, 128])
      const id = yield* leave(ref, "alpha", { kind: "note" }, content)
      const said = yield* call(get({ id, out: "-" }))
      assert.deepStrictEqual([...said.bytes], [...content])
      assert.strictEqual(said.stderr, `Wrote 5 bytes of artifact ${id}.\n`)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("decompresses only when it is told to", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ alpha: 1 })
      const text = "line\n".repeat(50_000)
      const packed = gzipSync(text)
      const id = yield* leave(ref, "alpha", { kind: "coordinator.log", name: "worker.log.gz" }, packed)
      const here = yield* folder
      yield* call(get({ id, out: here }))
      assert.isTrue(packed.equals(fs.readFileSync(path.join(here, "worker.log.gz"))))
      const said = yield* call(get({ id, out: here, gunzip: true }))
      assert.strictEqual(said.stderr, `Wrote ${path.join(here, "worker.log")} (${text.length} bytes).\n`)
      assert.strictEqual(fs.readFileSync(path.join(here, "worker.log"), "utf8"), text)
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("leaves nothing of what cannot be decompressed", () =>
    Effect.gen(function* () {
      const here = yield* folder
      const packed = gzipSync("x".repeat(100_000))
      const contents = [Buffer.from("plain text"), packed.subarray(0, packed.length - 10), Buffer.alloc(0)]
      const ref = yield* createRun({ alpha: contents.length }, contents.length)
      const saidOf = (content: Buffer) =>
        Effect.gen(function* () {
          const id = yield* leave(ref, "alpha", { kind: "note" }, content)
          const said = yield* call(get({ id, out: path.join(here, "note"), gunzip: true }))
          return message(said).replace(id, "ID")
        })
      const [plain, cut] = yield* Effect.forEach(contents.slice(0, 2), saidOf)
      assert.strictEqual(
        plain,
        "Artifact ID cannot be decompressed (incorrect header check); without --gunzip it is written as it is."
      )
      assert.match(cut ?? "", /^Artifact ID cannot be decompressed \(unexpected end of file\)/)
      assert.deepStrictEqual(fs.readdirSync(here), [])

      const lost = new PlatformFailure({ operation: "downloadArtifact", detail: "connection lost", retryable: true })
      const failing = changed(() => ({
        downloadArtifact: () => Stream.concat(Stream.make(packed.subarray(0, 50)), Stream.fail(lost))
      }))
      const id = yield* leave(ref, "alpha", { kind: "note" }, packed)
      const said = yield* call(Effect.provide(get({ id, out: path.join(here, "note"), gunzip: true }), failing))
      assert.isDefined(said.error)
      assert.deepStrictEqual(fs.readdirSync(here), [])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.effect("says which artifacts there are when the id is not one", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ alpha: 1 })
      assert.strictEqual(
        message(yield* call(get({ id: "nope", out: "-" }))),
        `No artifact "nope" in run ${ref.run}. See which it has: bench artifacts list --run ${ref.run}`
      )
      assert.match(message(yield* call(get({ id: " ", out: "-" }))), /^Name an artifact/)
      const several = changed(() => ({
        listRunArtifacts: () => Effect.succeed(["abc", "abcd", "abx"].map(artifact)),
        getArtifact: (_, id) => Effect.succeed({ artifact: artifact(id), downloadUrl: "" }),
        downloadArtifact: ({ artifact: { id } }) => Stream.make(Buffer.from(id))
      }))
      const ambiguous = yield* call(Effect.provide(get({ id: "ab", out: "-" }), several))
      assert.strictEqual(message(ambiguous), '"ab" is the beginning of 3 artifact ids: abc, abcd, abx. Say more of it.')
      const exact = yield* call(Effect.provide(get({ id: "abc", out: "-" }), several))
      assert.strictEqual(exact.stdout, "abc")
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )

  it.scoped("says that an artifact was never uploaded", () =>
    Effect.gen(function* () {
      const ref = yield* createRun({ alpha: 1 })
      const id = yield* leave(ref, "alpha", { kind: "note" })
      const here = yield* folder
      assert.strictEqual(
        message(yield* call(get({ id, out: here }))),
        `Artifact ${id} was announced, but its bytes were never uploaded.`
      )
      assert.deepStrictEqual(fs.readdirSync(here), [])
    }).pipe(Effect.provide(SqlPlatform.layerMemory))
  )
})
