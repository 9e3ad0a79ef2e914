import { existsSync } from "node:fs"
import * as Fs from "node:fs/promises"
import * as Http from "node:http"
import * as Path from "node:path"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Redacted, TestClock } from "effect"
import * as Artifacts from "../../src/Artifacts.js"
import * as SignedUrls from "../../src/internal/artifacts/signedUrls.js"
import * as Objects from "../../src/internal/server/objects.js"
import { Platform } from "../../src/Platform.js"
import * as PlatformServer from "../../src/PlatformServer.js"
import * as ArtifactsContract from "../contract/artifacts.js"
import * as ObjectsHost from "../support/objectsHost.js"
import { temporaryDirectory } from "../support/stores.js"

// -----------------------------------------------------------------------------
// support
// -----------------------------------------------------------------------------

const text = (content: string) => new TextEncoder().encode(content)

const open = (options: Artifacts.SignedOptions) =>
  Effect.map(Layer.build(Artifacts.layerSigned(options)), Context.get(Artifacts.Artifacts))

/** A server of the objects in a directory, and the storage that signs for it. */
const started = (options: Omit<Objects.ObjectsOptions, "directory"> = {}, given?: string) =>
  Effect.gen(function* () {
    const directory = given ?? (yield* temporaryDirectory)
    const { baseUrl, port, serve } = yield* ObjectsHost.listen
    const artifacts = yield* open({ directory, publicUrl: baseUrl, secret: options.secret })
    const { app } = yield* Objects.make({ directory, ...options })
    yield* Effect.provide(serve(app), NodeHttpServer.layerContext)
    return { artifacts, baseUrl, directory, port }
  })

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  readonly json: unknown
}

const ask = (url: string, init: RequestInit = {}): Effect.Effect<Answered> =>
  Effect.promise(async () => {
    const response = await fetch(url, init)
    const bytes = Buffer.from(await response.arrayBuffer())
    const isJson = response.headers.get("content-type") === "application/json" && bytes.length > 0
    return { status: response.status, headers: response.headers, bytes, json: isJson ? JSON.parse(`${bytes}`) : null }
  })

const put = (url: string, body: RequestInit["body"], contentType?: string) =>
  ask(url, {
    method: "PUT",
    headers: contentType === undefined ? {} : { "content-type": contentType },
    ...(body !== undefined && { body }),
    ...(body instanceof ReadableStream && { duplex: "half" })
  })

/** So many bytes, in pieces, whose number is not announced. */
const chunked = (total: number, piece = 64 * 1024) => {
  let left = total
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (left === 0) return controller.close()
      const size = Math.min(piece, left)
      left -= size
      controller.enqueue(new Uint8Array(size).fill(120))
    }
  })
}

const filesIn = (directory: string) =>
  Effect.promise(async () => {
    const entries = await Fs.readdir(directory, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => Path.relative(directory, Path.join(entry.parentPath, entry.name)))
      .filter((name) => name !== ".secret")
      .sort()
  })

const object = { objectKey: "org/run/worker.log", contentType: "text/plain; charset=utf-8" }

const forbidden = {
  error: "This URL is not good for this request, or not any more: ask the platform for another.",
  code: "forbidden"
}

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

describe("uploading an object", () => {
  it.scoped("its bytes come back as they were sent", () =>
    Effect.gen(function* () {
      const { artifacts } = yield* started()
      const content = Uint8Array.from({ length: 1_000_003 }, (_, i) => (i * 31) % 256)
      const upload = yield* artifacts.prepareUpload(object)
      const stored = yield* put(upload.url, content, object.contentType)
      assert.deepStrictEqual([stored.status, stored.bytes.length], [200, 0])
      const download = yield* artifacts.prepareDownload({ ...object, fileName: "worker.log" })
      const { bytes } = yield* ask(download.url)
      assert.deepStrictEqual(new Uint8Array(bytes), content)
    })
  )

  it.scoped("it may be empty, and of unknown length", () =>
    Effect.gen(function* () {
      const { artifacts, directory } = yield* started()
      const { url } = yield* artifacts.prepareUpload({ objectKey: "a", contentType: undefined })
      assert.strictEqual((yield* put(url, chunked(200_000))).status, 200)
      assert.strictEqual((yield* Effect.promise(() => Fs.stat(Path.join(directory, "a")))).size, 200_000)
      assert.strictEqual((yield* put(url, undefined)).status, 200)
      assert.strictEqual((yield* Effect.promise(() => Fs.stat(Path.join(directory, "a")))).size, 0)
    })
  )

  it.scoped("only the announced content type is taken, and any when none was announced", () =>
    Effect.gen(function* () {
      const { artifacts, directory } = yield* started()
      const { url } = yield* artifacts.prepareUpload(object)
      for (const type of ["text/html", "text/plain", undefined]) {
        const answer = yield* put(url, text("x"), type)
        assert.deepStrictEqual([answer.status, answer.json], [403, forbidden])
      }
      assert.deepStrictEqual(yield* filesIn(directory), [])
      const any = yield* artifacts.prepareUpload({ ...object, contentType: undefined })
      for (const type of ["text/html", undefined]) {
        assert.strictEqual((yield* put(any.url, text("x"), type)).status, 200)
      }
    })
  )

  it.scoped("what is there is replaced only by a whole object", () =>
    Effect.gen(function* () {
      const { artifacts, directory, port } = yield* started()
      const { url } = yield* artifacts.prepareUpload({ ...object, contentType: undefined })
      yield* put(url, text("first, and longer"))
      const content = () => Effect.promise(() => Fs.readFile(Path.join(directory, object.objectKey), "utf8"))
      for (const headers of [{ "content-length": "1000" }, { "transfer-encoding": "chunked" }]) {
        const { pathname, search } = new URL(url)
        const request = Http.request({ host: "127.0.0.1", port, method: "PUT", path: pathname + search, headers })
        request.on("error", () => undefined)
        request.write("sec")
        yield* eventually(filesIn(directory), (files) => files.length === 2)
        assert.strictEqual(yield* content(), "first, and longer")
        request.destroy()
        yield* eventually(filesIn(directory), (files) => files.length === 1)
        assert.strictEqual(yield* content(), "first, and longer")
      }
      yield* put(url, text("second"))
      assert.strictEqual(yield* content(), "second")
      assert.deepStrictEqual(yield* filesIn(directory), [object.objectKey])
    })
  )

  it.scoped("one that is too large is refused, announced or not, and nothing is kept", () =>
    Effect.gen(function* () {
      const limit = 1_000_000
      const { artifacts, directory } = yield* started({ maxBytes: limit })
      const { url } = yield* artifacts.prepareUpload({ objectKey: "a", contentType: undefined })
      for (const body of [new Uint8Array(limit + 1), chunked(limit + 1), chunked(20 * limit)]) {
        const answer = yield* put(url, body)
        assert.deepStrictEqual(
          [answer.status, answer.json],
          [413, { error: "The body is larger than 1000000 bytes.", code: "too_large" }]
        )
        assert.deepStrictEqual(yield* filesIn(directory), [])
      }
      for (const body of [new Uint8Array(limit), chunked(limit)]) {
        assert.strictEqual((yield* put(url, body)).status, 200)
      }
    })
  )

  it.scoped("what cannot be stored is not told why", () =>
    Effect.gen(function* () {
      const { artifacts, directory } = yield* started()
      yield* Effect.promise(() => Fs.mkdir(Path.join(directory, "a", "b"), { recursive: true }))
      const { url } = yield* artifacts.prepareUpload({ objectKey: "a", contentType: undefined })
      const answer = yield* put(url, text("x"))
      assert.deepStrictEqual(
        [answer.status, answer.json],
        [500, { error: "The platform failed; its log says why.", code: "internal_error" }]
      )
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
  )
})

describe("downloading an object", () => {
  it.scoped("a browser saves it, and shows nothing", () =>
    Effect.gen(function* () {
      const { artifacts } = yield* started()
      yield* artifacts.write("a", text("<script>alert(1)</script>"))
      const { url } = yield* artifacts.prepareDownload({
        objectKey: "a",
        contentType: "text/html",
        fileName: `Ü"\r\nevil: 1.html`
      })
      for (const method of ["GET", "HEAD"]) {
        const { bytes, headers, status } = yield* ask(url, { method, headers: { range: "bytes=0-3" } })
        assert.strictEqual(status, 200)
        assert.strictEqual(bytes.length, method === "GET" ? 25 : 0)
        assert.strictEqual(headers.get("content-length"), "25")
        assert.strictEqual(headers.get("content-type"), "text/html")
        assert.strictEqual(
          headers.get("content-disposition"),
          `attachment; filename="U_evil_1.html"; filename*=UTF-8''%C3%9C%22__evil%3A%201.html`
        )
        assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
        assert.strictEqual(headers.get("content-security-policy"), "sandbox; default-src 'none'")
        assert.strictEqual(headers.get("cache-control"), "private, no-store")
        assert.isNull(headers.get("evil"))
      }
      const plain = yield* artifacts.prepareDownload({ objectKey: "a", contentType: undefined, fileName: "a" })
      assert.strictEqual((yield* ask(plain.url)).headers.get("content-type"), "application/octet-stream")
    })
  )

  it.scoped("one whose bytes never came is not found", () =>
    Effect.gen(function* () {
      const { artifacts } = yield* started()
      yield* artifacts.write("a/b", text("x"))
      for (const objectKey of ["nothing", "a", "a/b/c"]) {
        const { url } = yield* artifacts.prepareDownload({ objectKey, contentType: undefined, fileName: "x" })
        const answer = yield* ask(url)
        assert.deepStrictEqual(
          [answer.status, answer.json],
          [404, { error: `No artifact "${objectKey}".`, code: "artifact_not_found" }]
        )
        assert.strictEqual((yield* ask(url, { method: "HEAD" })).status, 404)
      }
    })
  )

  it.scoped("it is read as it was when the download began", () =>
    Effect.gen(function* () {
      const { artifacts } = yield* started()
      const size = 8_000_000
      yield* artifacts.write("a", new Uint8Array(size).fill(1))
      const { url } = yield* artifacts.prepareDownload({ objectKey: "a", contentType: undefined, fileName: "a" })
      const response = yield* Effect.promise(() => fetch(url))
      yield* artifacts.write("a", text("replaced"))
      const bytes = new Uint8Array(yield* Effect.promise(() => response.arrayBuffer()))
      assert.strictEqual(bytes.length, size)
      assert.isFalse(bytes.includes(0))
    })
  )

  it.scoped.skipIf(!existsSync("/proc/self/fd"))("a client that goes away leaves no file open", () =>
    Effect.gen(function* () {
      const { artifacts, directory } = yield* started()
      yield* artifacts.write("a", new Uint8Array(8_000_000))
      const { url } = yield* artifacts.prepareDownload({ objectKey: "a", contentType: undefined, fileName: "a" })
      const open = Effect.promise(async () => {
        const links = (await Fs.readdir("/proc/self/fd")).map((fd) =>
          Fs.readlink(`/proc/self/fd/${fd}`).catch(() => "")
        )
        return (await Promise.all(links)).filter((link) => link.startsWith(directory)).length
      })
      for (let i = 0; i < 5; i++) {
        const leaving = new AbortController()
        yield* Effect.promise(() => fetch(url, { signal: leaving.signal }))
        leaving.abort()
        yield* ask(url, { method: "HEAD" })
      }
      yield* eventually(open, (count) => count === 0)
    })
  )
})

describe("the URL of an object", () => {
  it.scoped("it is good for its method and object, until it expires", () =>
    Effect.gen(function* () {
      const { artifacts, baseUrl, directory } = yield* started()
      yield* artifacts.write(object.objectKey, text("x"))
      yield* artifacts.write("other", text("others'"))
      const upload = (yield* artifacts.prepareUpload({ ...object, contentType: undefined })).url
      const download = (yield* artifacts.prepareDownload({ ...object, fileName: "a.txt" })).url
      const refused = [
        ask(upload),
        ask(upload, { method: "HEAD" }),
        put(download, text("y"), object.contentType),
        ask(upload.replace("method=PUT", "method=GET")),
        ask(download.replace(object.objectKey, "other")),
        ask(download.replace("a.txt", "a.exe")),
        ask(download.replace(/expires=\d+/, "expires=9999999999")),
        ask(download.replace("text%2Fplain", "text%2Fhtml")),
        ask(`${baseUrl}/objects/${object.objectKey}`),
        ask(`${baseUrl}/objects/`),
        ask(`${baseUrl}/objects/%`),
        ask(`${baseUrl}/`)
      ]
      for (const attempt of refused) {
        const answer = yield* attempt
        assert.strictEqual(answer.status, 403)
        if (answer.bytes.length > 0) assert.deepStrictEqual(answer.json, forbidden)
      }
      yield* TestClock.adjust("299 seconds")
      assert.strictEqual((yield* ask(download)).status, 200)
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual((yield* ask(download)).json, forbidden)
      yield* TestClock.adjust("599 seconds")
      assert.strictEqual((yield* put(upload, text("y"))).status, 200)
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual((yield* put(upload, text("z"))).status, 403)
      assert.strictEqual(yield* Effect.promise(() => Fs.readFile(Path.join(directory, object.objectKey), "utf8")), "y")
    })
  )

  it.scoped("no key leads out of the directory, not even one that is signed", () =>
    Effect.gen(function* () {
      const secret = Redacted.make("0123456789abcdef0123456789abcdef")
      const parent = yield* temporaryDirectory
      const directory = Path.join(parent, "objects")
      yield* Effect.promise(() => Fs.writeFile(Path.join(parent, "outside"), "secret"))
      const { baseUrl, port } = yield* started({ secret }, directory)
      const raw = (method: string, path: string) =>
        Effect.async<number>((resume) => {
          const request = Http.request({ host: "127.0.0.1", port, method, path }, (response) => {
            response.resume().on("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
          })
          request.end(method === "PUT" ? "x" : undefined)
        })
      const keys = ["../outside", "a/../../outside", "..", ".secret", "/etc/passwd", "a//b", "nul\u0000", "日本語", ""]
      for (const objectKey of keys) {
        for (const method of ["GET", "PUT"] as const) {
          const path = SignedUrls.format(secret, {
            method,
            objectKey,
            expires: 9_999_999_999,
            contentType: undefined,
            fileName: undefined
          })
          assert.strictEqual(yield* raw(method, path), 403, objectKey)
          assert.strictEqual(yield* raw(method, path.replaceAll("%2F", "/").replaceAll("..", "%2e%2e")), 403, objectKey)
        }
      }
      assert.strictEqual(yield* Effect.promise(() => Fs.readFile(Path.join(parent, "outside"), "utf8")), "secret")
      assert.deepStrictEqual(yield* filesIn(parent), ["outside"])
      assert.strictEqual((yield* ask(`${baseUrl}/objects/..%2Foutside`)).status, 403)
    })
  )

  it.scoped("every process that serves the directory takes it", () =>
    Effect.gen(function* () {
      const first = yield* started()
      const second = yield* started({}, first.directory)
      const { url } = yield* first.artifacts.prepareUpload({ objectKey: "a", contentType: undefined })
      assert.strictEqual((yield* put(url.replace(first.baseUrl, second.baseUrl), text("x"))).status, 200)
      const stranger = yield* started({ secret: Redacted.make("another secret of its own") }, first.directory)
      assert.strictEqual((yield* put(url.replace(first.baseUrl, stranger.baseUrl), text("x"))).status, 403)
    })
  )

  it.scoped("keys with every safe character come back", () =>
    Effect.gen(function* () {
      const { artifacts } = yield* started()
      for (const objectKey of ["a~b/-rf/_.~", "A.B-C_D~E/1..2", "objects/objects/objects", "CON", "a".repeat(255)]) {
        const { url } = yield* artifacts.prepareUpload({ objectKey, contentType: undefined })
        assert.strictEqual((yield* put(url, text(objectKey))).status, 200, objectKey)
        const download = yield* artifacts.prepareDownload({ objectKey, contentType: undefined, fileName: "x" })
        assert.strictEqual((yield* ask(download.url)).bytes.toString(), objectKey)
      }
    })
  )

  it.scoped("other methods are refused as such", () =>
    Effect.gen(function* () {
      const { artifacts } = yield* started()
      const { url } = yield* artifacts.prepareUpload({ objectKey: "a", contentType: undefined })
      for (const method of ["DELETE", "POST", "PATCH"]) {
        const answer = yield* ask(url, { method })
        assert.strictEqual(answer.status, 405)
        assert.strictEqual(answer.headers.get("allow"), "GET, HEAD, PUT, OPTIONS")
        assert.deepPropertyVal(answer.json, "code", "method_not_allowed")
      }
      const options = yield* ask(url, { method: "OPTIONS" })
      assert.deepStrictEqual([options.status, options.headers.get("allow")], [204, "GET, HEAD, PUT, OPTIONS"])
    })
  )
})

describe("objects of a platform server", () => {
  it.scoped("they may be larger than other requests, up to a limit of their own", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const limit = 3_000_000
      const objects = yield* Objects.make({ directory, maxBytes: limit })
      const platform = Layer.mock(Platform, { origin: { kind: "store", location: ":memory:" } })
      const authorization = ObjectsHost.authorization(Context.get(yield* Layer.build(platform), Platform))
      const { url: publicUrl } = yield* Effect.provide(
        PlatformServer.serve({ port: 0, apps: [objects] }),
        authorization
      )
      const artifacts = yield* open({ directory, publicUrl })
      const { url } = yield* artifacts.prepareUpload({ objectKey: "a", contentType: undefined })
      for (const body of [new Uint8Array(limit), chunked(limit)]) {
        assert.strictEqual((yield* put(url, body)).status, 200)
      }
      for (const body of [new Uint8Array(limit + 1), chunked(limit + 1), chunked(5 * limit)]) {
        const answer = yield* put(url, body)
        assert.deepStrictEqual(
          [answer.status, answer.json],
          [413, { error: "The body is larger than 3000000 bytes.", code: "too_large" }]
        )
      }
      assert.deepStrictEqual(yield* filesIn(directory), ["a"])
      const download = yield* artifacts.prepareDownload({ objectKey: "a", contentType: undefined, fileName: "a" })
      const { bytes, headers } = yield* ask(download.url)
      assert.strictEqual(bytes.length, limit)
      assert.strictEqual(headers.get("content-security-policy"), "sandbox; default-src 'none'")
      assert.strictEqual((yield* put(url.replace("a?", "b?"), text("x"))).status, 403)
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
  )
})

describe("PlatformClient with artifacts behind signed URLs", () => {
  const layer = Layer.unwrapScoped(
    Effect.map(temporaryDirectory, (directory) =>
      ObjectsHost.client((publicUrl) => ({
        storage: Artifacts.layerSigned({ directory, publicUrl }),
        objects: Objects.make({ directory })
      }))
    )
  )
  describe("artifacts", () => ArtifactsContract.artifacts(layer))
  describe("logs", () => ArtifactsContract.logs(layer))
})

/** Waits in real time: what is waited for happens outside of the test. */
const eventually = <A>(effect: Effect.Effect<A>, holds: (value: A) => boolean): Effect.Effect<void> =>
  Effect.flatMap(effect, (value) =>
    holds(value)
      ? Effect.void
      : Effect.zipRight(
          Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10))),
          eventually(effect, holds)
        )
  )
