import { existsSync } from "node:fs"
import * as Fs from "node:fs/promises"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck, Fiber, Layer, Stream } from "effect"
import * as Artifacts from "../src/Artifacts.js"
import { refuseKey, safeFileName } from "../src/internal/artifacts/keys.js"
import { temporaryDirectory } from "./support/stores.js"

const text = (content: string) => new TextEncoder().encode(content)

const read = (objectKey: string) =>
  Effect.gen(function* () {
    const storage = yield* Artifacts.Artifacts
    const chunks = yield* Stream.runCollect(storage.read(objectKey))
    return Buffer.concat(Chunk.toReadonlyArray(chunks)).toString()
  })

/** Keys that lead out of a storage, or that not every storage can hold. */
const hostileKeys = [
  "",
  ".",
  "..",
  "../outside",
  "a/../../outside",
  "a/..",
  "a/./b",
  "/etc/passwd",
  "a//b",
  "a/",
  "..\\outside",
  "C:\\outside",
  "C:/outside",
  "nul\u0000byte",
  "line\nbreak",
  "sp ace",
  "日本語",
  "%2e%2e/outside",
  ".hidden",
  "a/.tmp",
  "a".repeat(256),
  "abcdefgh/".repeat(120) + "z"
]

const everyStorage = (name: string, layer: Layer.Layer<Artifacts.Artifacts>) =>
  describe(name, () => {
    it.effect("an object comes back as it was written", () =>
      Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        const content = Uint8Array.from({ length: 200_001 }, (_, i) => (i * 7) % 256)
        const expected = content.slice()
        yield* storage.write("a/b/object.bin", content)
        content.fill(0)
        const chunks = Chunk.toReadonlyArray(yield* Stream.runCollect(storage.read("a/b/object.bin")))
        assert.deepStrictEqual(new Uint8Array(Buffer.concat(chunks)), expected)
      }).pipe(Effect.provide(layer))
    )

    it.effect("an empty object is not a missing one", () =>
      Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        yield* storage.write("empty", new Uint8Array())
        assert.strictEqual(yield* read("empty"), "")
        const error = yield* Effect.flip(read("missing"))
        assert.strictEqual(error._tag, "ResourceNotFound")
      }).pipe(Effect.provide(layer))
    )

    it.effect("writing again replaces an object", () =>
      Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        yield* storage.write("a", text("first, and longer"))
        yield* storage.write("a", text("second"))
        assert.strictEqual(yield* read("a"), "second")
      }).pipe(Effect.provide(layer))
    )

    it.effect("an object is whole, whichever of many writers was last", () =>
      Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        const contents = Array.from({ length: 10 }, (_, i) => `${i}`.repeat(100_000))
        const readers = yield* Effect.fork(
          Effect.forEach(Array.from({ length: 10 }), () => Effect.option(read("shared/object")))
        )
        yield* Effect.forEach(contents, (content) => storage.write("shared/object", text(content)), {
          concurrency: 10
        })
        for (const seen of [...(yield* Fiber.join(readers)), yield* Effect.option(read("shared/object"))]) {
          assert.isTrue(seen._tag === "None" || contents.includes(seen.value))
        }
        assert.include(contents, yield* read("shared/object"))
      }).pipe(Effect.provide(layer))
    )

    it.effect("a removed object is gone, and removing it again is no failure", () =>
      Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        yield* storage.write("a/b", text("x"))
        yield* storage.write("a/c", text("y"))
        yield* storage.remove("a/b")
        yield* storage.remove("a/b")
        yield* storage.remove("a/b/below")
        assert.strictEqual((yield* Effect.flip(read("a/b")))._tag, "ResourceNotFound")
        assert.strictEqual(yield* read("a/c"), "y")
      }).pipe(Effect.provide(layer))
    )

    it.effect("what is above an object is none", () =>
      Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        yield* storage.write("a/b", text("x"))
        for (const key of ["a", "a/b/c"]) {
          assert.strictEqual((yield* Effect.flip(read(key)))._tag, "ResourceNotFound", key)
        }
      }).pipe(Effect.provide(layer))
    )

    it.effect("keys that are not relative paths of safe segments are refused", () =>
      Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        for (const objectKey of hostileKeys) {
          for (const attempt of [
            storage.write(objectKey, text("x")),
            Stream.runDrain(storage.read(objectKey)),
            storage.remove(objectKey),
            storage.prepareUpload({ objectKey, contentType: undefined }),
            storage.prepareDownload({ objectKey, contentType: undefined, fileName: "x" })
          ]) {
            const error = yield* Effect.flip(attempt)
            assert.strictEqual(error._tag, "PlatformFailure", objectKey)
            assert.include(error.message, "is not an object key")
          }
        }
      }).pipe(Effect.provide(layer))
    )

    it.effect("its URLs do not expire", () =>
      Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        const object = { objectKey: "a/b.txt", contentType: "text/plain" }
        const upload = yield* storage.prepareUpload(object)
        assert.isNull(upload.expiresAt)
        assert.isTrue(upload.url.endsWith("/a/b.txt"))
        assert.deepStrictEqual(yield* storage.prepareDownload({ ...object, fileName: "b.txt" }), upload)
      }).pipe(Effect.provide(layer))
    )
  })

const layerTemporary = Layer.unwrapScoped(
  Effect.map(temporaryDirectory, (directory) => Artifacts.layerFiles({ directory: Path.join(directory, "objects") }))
)

everyStorage("Artifacts in files", layerTemporary)
everyStorage("Artifacts in memory", Artifacts.layerMemory)

describe("Artifacts in files on the disk", () => {
  it.scoped("the directory appears with the first object, and holds nothing else", () =>
    Effect.gen(function* () {
      const directory = Path.join(yield* temporaryDirectory, "deep", "er")
      yield* Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        const { url } = yield* storage.prepareUpload({ objectKey: "a/b", contentType: undefined })
        assert.strictEqual(fileURLToPath(url), Path.join(directory, "a", "b"))
        assert.isFalse(existsSync(directory))
        yield* storage.write("a/b", text("x"))
        yield* storage.write("a/b", text("y"))
        const files = yield* Effect.promise(() => Fs.readdir(directory, { recursive: true }))
        assert.deepStrictEqual(files.sort(), ["a", Path.join("a", "b")])
      }).pipe(Effect.provide(Artifacts.layerFiles({ directory })))
    })
  )

  it.scoped("a write that fails leaves what was there, and no other file", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      yield* Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        yield* storage.write("a/taken/x", text("kept"))
        const error = yield* Effect.flip(storage.write("a/taken", text("a file where a directory is")))
        assert.strictEqual(error._tag, "PlatformFailure")
        assert.include(error.message, `write an artifact: "${Path.join(directory, "a", "taken")}"`)
        assert.strictEqual(yield* read("a/taken/x"), "kept")
        assert.deepStrictEqual(yield* Effect.promise(() => Fs.readdir(Path.join(directory, "a"))), ["taken"])
      }).pipe(Effect.provide(Artifacts.layerFiles({ directory })))
    })
  )

  it.scoped("objects outlive the layer", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const write = Effect.flatMap(Artifacts.Artifacts, (storage) => storage.write("a", text("kept")))
      yield* Effect.provide(write, Artifacts.layerFiles({ directory }))
      assert.strictEqual(yield* Effect.provide(read("a"), Artifacts.layerFiles({ directory })), "kept")
    })
  )

  it.scoped.skipIf(!existsSync("/proc/self/fd"))("a reader that stops early closes the file", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      yield* Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        yield* storage.write("a", new Uint8Array(1_000_000))
        const openFiles = Effect.map(
          Effect.promise(() => Fs.readdir("/proc/self/fd")),
          (names) => names.length
        )
        const before = yield* openFiles
        for (let i = 0; i < 20; i++) yield* Stream.runDrain(Stream.take(storage.read("a"), 1))
        assert.isBelow((yield* openFiles) - before, 10)
      }).pipe(Effect.provide(Artifacts.layerFiles({ directory })))
    })
  )
})

describe("safeFileName", () => {
  it("keeps what is safe and replaces what is not", () => {
    for (const [name, expected] of [
      ["worker.log", "worker.log"],
      ["my file (1).txt", "my_file_1_.txt"],
      ["../../etc/passwd", "passwd"],
      ["C:\\Windows\\evil.dll", "evil.dll"],
      ["dir/", "dir"],
      ["..", "artifact"],
      ["...", "artifact"],
      ["", "artifact"],
      ["日本語", "artifact"],
      ["日本語.log", "_.log"],
      ["Übersicht.csv", "Ubersicht.csv"],
      ["a\u0000b", "a_b"],
      ["new\r\nline.txt", "new_line.txt"],
      [".bashrc", "bashrc"],
      ["-rf", "rf"],
      ["ends with dots...", "ends_with_dots"],
      ["con", "_con"],
      ["NUL.txt", "_NUL.txt"],
      ["console.log", "console.log"],
      ["x".repeat(300), "x".repeat(100)],
      ["x".repeat(300) + ".tar.gz", "x".repeat(93) + ".tar.gz"],
      ["x".repeat(50) + "." + "y".repeat(300), "x".repeat(50) + "." + "y".repeat(49)]
    ] as const) {
      assert.strictEqual(safeFileName(name), expected, JSON.stringify(name))
    }
  })

  it.prop(
    "makes a segment of a key of any name",
    { name: FastCheck.string({ unit: "binary", maxLength: 400 }) },
    (input) => {
      const name = safeFileName(input.name)
      assert.isAtMost(name.length, 100)
      return Effect.runSync(Effect.isSuccess(refuseKey("test", `a/${name}`)))
    }
  )
})
