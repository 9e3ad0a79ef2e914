import { assert, describe, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Chunk, Effect, Fiber, Stream } from "effect"
import * as Artifacts from "../../src/Artifacts.js"

export const text = (content: string) => new TextEncoder().encode(content)

export const read = (objectKey: string) =>
  Effect.gen(function* () {
    const storage = yield* Artifacts.Artifacts
    const chunks = yield* Stream.runCollect(storage.read(objectKey))
    return Buffer.concat(Chunk.toReadonlyArray(chunks)).toString()
  })

/** Keys that lead out of a storage, or that not every storage can hold. */
export const hostileKeys = [
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

/** What every storage of artifacts does. The layer is built anew for each test. */
export const suite = (name: string, layer: Layer.Layer<Artifacts.Artifacts, unknown>) =>
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
  })
