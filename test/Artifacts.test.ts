import { existsSync } from "node:fs"
import * as Fs from "node:fs/promises"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Either, FastCheck, Layer, Redacted, Stream, TestClock } from "effect"
import * as Artifacts from "../src/Artifacts.js"
import { attachment } from "../src/internal/artifacts/headers.js"
import { refuseKey, safeFileName } from "../src/internal/artifacts/keys.js"
import * as SignedUrls from "../src/internal/artifacts/signedUrls.js"
import { read, suite, text } from "./contract/objects.js"
import { temporaryDirectory } from "./support/stores.js"

const publicUrl = "https://bench.example.com/base/"

const layerTemporary = Layer.unwrapScoped(
  Effect.map(temporaryDirectory, (directory) => Artifacts.layerFiles({ directory: Path.join(directory, "objects") }))
)

const layerTemporarySigned = Layer.unwrapScoped(
  Effect.map(temporaryDirectory, (directory) => Artifacts.layerSigned({ directory, publicUrl }))
)

suite("Artifacts in files", layerTemporary)
suite("Artifacts in memory", Artifacts.layerMemory)
suite("Artifacts behind signed URLs", layerTemporarySigned)

describe("Artifacts without a server", () => {
  it.effect("their URLs do not expire", () =>
    Effect.forEach([layerTemporary, Artifacts.layerMemory], (layer) =>
      Effect.gen(function* () {
        const storage = yield* Artifacts.Artifacts
        const object = { objectKey: "a/b.txt", contentType: "text/plain" }
        const upload = yield* storage.prepareUpload(object)
        assert.isNull(upload.expiresAt)
        assert.isTrue(upload.url.endsWith("/a/b.txt"))
        assert.deepStrictEqual(yield* storage.prepareDownload({ ...object, fileName: "b.txt" }), upload)
      }).pipe(Effect.provide(layer))
    )
  )
})

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

// -----------------------------------------------------------------------------
// signed URLs
// -----------------------------------------------------------------------------

const secret = Redacted.make("0123456789abcdef0123456789abcdef")

const signed = (options: Omit<Artifacts.SignedOptions, "publicUrl"> & { readonly publicUrl?: string }) =>
  Effect.map(Layer.build(Artifacts.layerSigned({ publicUrl, ...options })), Context.get(Artifacts.Artifacts))

const targetOf = (url: string) => url.slice("https://bench.example.com/base".length)

const textOf = (options: Parameters<typeof signed>[0]) =>
  Effect.map(Effect.flip(Effect.scoped(signed(options))), (error) => `${error._tag} ${error.message}`)

describe("Artifacts behind signed URLs of a server", () => {
  it.scoped("a URL says what it is good for, and until when", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-01-02T03:04:05.678Z"))
      const storage = yield* signed({ directory: yield* temporaryDirectory, secret })
      const upload = yield* storage.prepareUpload({
        objectKey: "a/b~1.txt",
        contentType: " text/plain; charset=utf-8 "
      })
      assert.strictEqual(upload.expiresAt, "2026-01-02T03:19:05.000Z")
      const url = new URL(upload.url)
      assert.strictEqual(url.origin + url.pathname, "https://bench.example.com/base/objects/a/b~1.txt")
      assert.strictEqual(url.searchParams.get("type"), "text/plain; charset=utf-8")
      assert.strictEqual(url.searchParams.get("method"), "PUT")
      assert.strictEqual(url.searchParams.get("expires"), `${Date.parse("2026-01-02T03:19:05Z") / 1000}`)
      const download = yield* storage.prepareDownload({ objectKey: "a", contentType: undefined, fileName: "Ü b.txt" })
      assert.strictEqual(download.expiresAt, "2026-01-02T03:09:05.000Z")
      assert.deepStrictEqual(SignedUrls.verify(secret, targetOf(download.url)).pipe(Effect.runSync), {
        method: "GET",
        objectKey: "a",
        expires: Date.parse("2026-01-02T03:09:05Z") / 1000,
        contentType: undefined,
        fileName: "Ü b.txt"
      })
    })
  )

  it.scoped("URLs expire when they are told to", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const storage = yield* signed({ directory, uploadExpiry: "7 days", downloadExpiry: "1 millis" })
      const object = { objectKey: "a", contentType: undefined, fileName: "a" }
      assert.strictEqual((yield* storage.prepareUpload(object)).expiresAt, "1970-01-08T00:00:00.000Z")
      assert.strictEqual((yield* storage.prepareDownload(object)).expiresAt, "1970-01-01T00:00:01.000Z")
    })
  )

  it("a URL that is changed anywhere permits nothing else", () => {
    const permission: SignedUrls.Permission = {
      method: "PUT",
      objectKey: "org/run/worker.log",
      expires: 1_700_000_000,
      contentType: "text/plain; charset=utf-8",
      fileName: undefined
    }
    const url = SignedUrls.format(secret, permission)
    assert.deepStrictEqual(Effect.runSync(SignedUrls.verify(secret, url)), permission)
    for (let at = 0; at < url.length; at++) {
      for (const other of ["", "a", "0", "/", "&", "%", "é", url.charAt(at).toUpperCase(), `${url.charAt(at)}0`]) {
        const changed = url.slice(0, at) + other + url.slice(at + 1)
        const found = SignedUrls.verify(secret, changed)
        if (found._tag === "Some") assert.deepStrictEqual(found.value, permission, changed)
      }
    }
    for (const part of ["&name=x.html", "&type=text/html", "&expires=1800000000", "&method=GET", "&signature=x"]) {
      const found = SignedUrls.verify(secret, url + part)
      assert.strictEqual(found._tag, "None", part)
    }
    assert.strictEqual(SignedUrls.verify(Redacted.make("another secret, as long"), url)._tag, "None")
    for (const target of ["", "/", "/objects/", "/objects/a", "/objects/%", "/objects/a?signature=", "objects/a?"]) {
      assert.strictEqual(SignedUrls.verify(secret, target)._tag, "None", target)
    }
  })

  it.prop(
    "a permission comes back from its URL",
    {
      key: FastCheck.array(FastCheck.stringMatching(/^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,20}$/), {
        minLength: 1,
        maxLength: 4
      }),
      contentType: FastCheck.option(FastCheck.stringMatching(/^[!-~]{1,20}$/), { nil: undefined }),
      fileName: FastCheck.option(FastCheck.string({ unit: "grapheme" }), { nil: undefined })
    },
    ({ contentType, fileName, key }) => {
      const permission = { method: "GET" as const, objectKey: key.join("/"), expires: 1, contentType, fileName }
      assert.deepStrictEqual(
        Effect.runSync(SignedUrls.verify(secret, SignedUrls.format(secret, permission))),
        permission
      )
    }
  )

  it.scoped("the first process makes a secret that all others use", () =>
    Effect.gen(function* () {
      const directory = Path.join(yield* temporaryDirectory, "not", "yet")
      const storages = yield* Effect.forEach(Array.from({ length: 20 }), () => signed({ directory }), {
        concurrency: 20
      })
      const object = { objectKey: "a", contentType: undefined }
      const urls = yield* Effect.forEach([...storages, yield* signed({ directory })], (storage) =>
        storage.prepareUpload(object)
      )
      assert.strictEqual(new Set(urls.map(({ url }) => url)).size, 1)
      assert.deepStrictEqual(yield* Effect.promise(() => Fs.readdir(directory)), [".secret"])
      const kept = yield* Effect.promise(() => Fs.readFile(Path.join(directory, ".secret"), "utf8"))
      assert.match(kept, /^[A-Za-z0-9_-]{43}\n$/)
    })
  )

  it.scoped.skipIf(process.platform === "win32")("nobody else can read the secret", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const file = Path.join(directory, ".secret")
      const mode = Effect.map(
        Effect.promise(() => Fs.stat(file)),
        (found) => found.mode & 0o777
      )
      yield* signed({ directory })
      assert.strictEqual(yield* mode, 0o600)
      yield* Effect.promise(() => Fs.chmod(file, 0o644))
      yield* signed({ directory })
      assert.strictEqual(yield* mode, 0o600)
    })
  )

  it.scoped("a secret that is too short, or a file that is damaged, is refused", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const short = yield* textOf({ directory, secret: Redacted.make("hunter2") })
      assert.include(short, "PlatformFailure sign URLs of artifacts: the secret must have at least 16 characters")
      assert.notInclude(short, "hunter2")
      yield* Effect.promise(() => Fs.writeFile(Path.join(directory, ".secret"), "half\n"))
      const damaged = yield* textOf({ directory })
      assert.include(damaged, `.secret" is damaged; remove it, or give a secret instead`)
      assert.notInclude(damaged, "half")
      yield* Effect.promise(() => Fs.writeFile(Path.join(directory, "file"), ""))
      assert.include(yield* textOf({ directory: Path.join(directory, "file") }), "PlatformFailure")
    })
  )

  it.scoped("options that do not fit are refused", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      for (const url of ["", "bench.example.com", "ftp://a", "https://u:p@a", "https://a?b=c", "https://a/#b"]) {
        const message = yield* textOf({ directory, publicUrl: url })
        assert.include(message, "the public URL must be one like https://")
      }
      for (const expiry of [0, "8 days", Infinity] as const) {
        assert.include(yield* textOf({ directory, uploadExpiry: expiry }), "uploadExpiry must be from one second to")
        assert.include(
          yield* textOf({ directory, downloadExpiry: expiry }),
          "downloadExpiry must be from one second to"
        )
      }
      assert.deepStrictEqual(yield* Effect.promise(() => Fs.readdir(directory)), [])
    })
  )

  it.scoped("a content type that no header can hold is refused, and a blank one is none", () =>
    Effect.gen(function* () {
      const storage = yield* signed({ directory: yield* temporaryDirectory })
      for (const contentType of ["text/plain\r\nSet-Cookie: a=b", "té/xt"]) {
        const error = yield* Effect.flip(storage.prepareUpload({ objectKey: "a", contentType }))
        assert.include(error.message, "prepare an upload: the content type must be printable ASCII")
      }
      const { url } = yield* storage.prepareUpload({ objectKey: "a", contentType: " " })
      assert.isNull(new URL(url).searchParams.get("type"))
    })
  )
})

describe("attachment", () => {
  it("has a name for every client", () => {
    for (const [name, expected] of [
      ["worker.log", `attachment; filename="worker.log"; filename*=UTF-8''worker.log`],
      ["Übersicht 1.csv", `attachment; filename="Ubersicht_1.csv"; filename*=UTF-8''%C3%9Cbersicht%201.csv`],
      [
        `"; filename="evil.exe`,
        `attachment; filename="_filename_evil.exe"; filename*=UTF-8''%22%3B%20filename%3D%22evil.exe`
      ],
      ["it's (1)*!.txt", `attachment; filename="it_s_1_.txt"; filename*=UTF-8''it%27s%20%281%29%2A%21.txt`],
      ["a\r\nSet-Cookie: b", `attachment; filename="a_Set-Cookie_b"; filename*=UTF-8''a__Set-Cookie%3A%20b`],
      ["../../etc/passwd", `attachment; filename="passwd"; filename*=UTF-8''.._.._etc_passwd`],
      ["lone \ud800", `attachment; filename="lone_"; filename*=UTF-8''lone%20%EF%BF%BD`],
      ["\u202etxt.exe", `attachment; filename="_txt.exe"; filename*=UTF-8''_txt.exe`]
    ] as const) {
      assert.strictEqual(attachment(name), expected)
    }
  })
})

// -----------------------------------------------------------------------------
// locations
// -----------------------------------------------------------------------------

describe("parseLocation", () => {
  it("reads directories and buckets", () => {
    for (const [location, expected] of [
      ["/var/lib/bench", { kind: "directory", directory: "/var/lib/bench" }],
      [" data/artifacts ", { kind: "directory", directory: Path.resolve("data/artifacts") }],
      ["file:///var/lib/b%20c", { kind: "directory", directory: "/var/lib/b c" }],
      ["s3://my-bucket", { kind: "s3", bucket: "my-bucket" }],
      ["S3://my.bucket/", { kind: "s3", bucket: "my.bucket" }],
      [
        "s3://bucket/a/b/?endpoint=https://minio.example.com:9000&region=auto&pathStyle=false",
        {
          kind: "s3",
          bucket: "bucket",
          prefix: "a/b",
          endpoint: "https://minio.example.com:9000",
          region: "auto",
          pathStyle: false
        }
      ]
    ] as const) {
      assert.deepStrictEqual(Either.getOrThrow(Artifacts.parseLocation(location)), expected)
    }
  })

  it("says what is wrong, and repeats no secret", () => {
    for (const [location, expected] of [
      ["", "is empty: give a directory, or s3://bucket"],
      ["gs://bucket", "begins with gs://, and can only be a directory or s3://bucket"],
      ["https://bucket.s3.amazonaws.com/x", "begins with https://"],
      ["s3://", "names no bucket"],
      ["s3:///prefix", "names no bucket"],
      ["s3://ab", "the bucket must be called by 3 to 63"],
      ["s3://AKID:hunter2secret@bucket", "must not contain keys: set AWS_ACCESS_KEY_ID"],
      ["s3://bucket:9000/x", "has a port"],
      ["s3://bucket/a#b", `must not contain "#"`],
      ["s3://bucket?secretAccessKey=hunter2secret&region=a", "has unknown parameters (secretAccessKey); there are"],
      ["s3://bucket?region=a&region=b", "has region twice"],
      ["s3://bucket?region=a b", "the region must be letters"],
      ["s3://bucket?pathStyle=yes", "must have true or false as pathStyle"],
      ["s3://bucket?endpoint=minio:9000", "the endpoint must be a URL"],
      ["s3://bucket?endpoint=https://u:hunter2secret@minio", "the endpoint must be a URL"],
      ["s3://bucket/%ff", "has a prefix that cannot be decoded"],
      ["s3://bucket/a//b", "the prefix must be URL-safe segments"],
      ["s3://bucket/a b", "the prefix must be URL-safe segments"],
      ["s3://bucket/%2e%2e%2fother", "the prefix must be URL-safe segments"],
      ["file://elsewhere/x", "is no file: URL of this machine"]
    ] as const) {
      const { _tag, message } = Either.getOrThrow(Either.flip(Artifacts.parseLocation(location)))
      assert.strictEqual(_tag, "PlatformFailure")
      assert.isTrue(message.startsWith("open the artifact storage: the location "), message)
      assert.include(message, expected)
      assert.notInclude(message, "hunter2secret")
    }
  })
})

describe("layerFromUrl", () => {
  const open = (location: string, environment: Record<string, string>, options?: Partial<Artifacts.SignedOptions>) =>
    Layer.build(Artifacts.layerFromUrl(location, options)).pipe(
      Effect.map(Context.get(Artifacts.Artifacts)),
      Effect.provide(FetchHttpClient.layer),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment))))
    )
  const object = { objectKey: "a/b", contentType: undefined }
  const keys = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: " hunter2secret " }

  it.scoped("opens a directory, behind the URLs of a server if there is one", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const files = yield* open(directory, {})
      yield* files.write("a/b", text("kept"))
      assert.isTrue((yield* files.prepareUpload(object)).url.startsWith("file:///"))
      const served = yield* open(directory, {}, { publicUrl, secret, uploadExpiry: "1 hour" })
      const { expiresAt, url } = yield* served.prepareUpload(object)
      assert.isTrue(url.startsWith("https://bench.example.com/base/objects/a/b?"))
      assert.strictEqual(expiresAt, "1970-01-01T01:00:00.000Z")
      assert.strictEqual(yield* Effect.provideService(read("a/b"), Artifacts.Artifacts, served), "kept")
    })
  )

  it.scoped("takes key and region of a bucket from the environment", () =>
    Effect.gen(function* () {
      const credentialOf = (location: string, environment: Record<string, string>) =>
        Effect.gen(function* () {
          const storage = yield* open(location, environment)
          const url = new URL((yield* storage.prepareUpload(object)).url)
          return [
            url.host,
            url.pathname,
            url.searchParams.get("X-Amz-Credential"),
            url.searchParams.get("X-Amz-Security-Token")
          ]
        })
      assert.deepStrictEqual(yield* credentialOf("s3://bucket/p", { ...keys, AWS_DEFAULT_REGION: "eu-west-1" }), [
        "bucket.s3.eu-west-1.amazonaws.com",
        "/p/a/b",
        "AKIDEXAMPLE/19700101/eu-west-1/s3/aws4_request",
        null
      ])
      const minio = "s3://bucket?endpoint=http://minio:9000/base/"
      assert.deepStrictEqual(
        yield* credentialOf(minio, { ...keys, AWS_REGION: "eu-west-1", AWS_SESSION_TOKEN: "token" }),
        ["minio:9000", "/base/bucket/a/b", "AKIDEXAMPLE/19700101/auto/s3/aws4_request", "token"]
      )
    })
  )

  it.scoped("says what is missing in the environment", () =>
    Effect.gen(function* () {
      const message = (location: string, environment: Record<string, string>) =>
        Effect.map(Effect.flip(open(location, environment)), (error) => error.message)
      assert.include(
        yield* message("s3://bucket", {}),
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environ"
      )
      assert.include(
        yield* message("s3://bucket", { ...keys, AWS_SECRET_ACCESS_KEY: " " }),
        "is a bucket: set AWS_SECRET_ACCESS_KEY in the environment"
      )
      assert.include(
        yield* message("s3://bucket", keys),
        "AWS needs a region: set region, such as eu-central-1, or AWS"
      )
      assert.include(yield* message("s3://bucket?endpoint=https://s3.amazonaws.com", keys), "AWS needs a region")
      assert.include(yield* message("gs://bucket", keys), "begins with gs://")
    })
  )
})
