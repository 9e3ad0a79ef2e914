import * as Http from "node:http"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Stream, TestClock } from "effect"
import * as Artifacts from "../src/Artifacts.js"
import * as SigV4 from "../src/internal/artifacts/sigV4.js"
import * as ArtifactsContract from "./contract/artifacts.js"
import { read, suite, text } from "./contract/objects.js"
import * as ObjectsHost from "./support/objectsHost.js"
import * as S3 from "./support/s3.js"

const optionsOf = (storage: S3.S3Storage, options: Partial<Artifacts.S3Options> = {}): Artifacts.S3Options => ({
  bucket: S3.bucket,
  endpoint: storage.endpoint,
  region: S3.region,
  ...S3.redactedKey(S3.key),
  ...options
})

const open = (options: Artifacts.S3Options, httpClient = FetchHttpClient.layer) =>
  Layer.build(Layer.provide(Artifacts.layerS3(options), httpClient)).pipe(Effect.map(Context.get(Artifacts.Artifacts)))

/** A storage, and what opens its bucket. */
const opened = (options: Partial<Artifacts.S3Options> = {}, key?: S3.S3Key) =>
  Effect.gen(function* () {
    const storage = yield* S3.serve(key)
    return { storage, artifacts: yield* open(optionsOf(storage, options)) }
  })

const ask = (url: string, init: RequestInit = {}) =>
  Effect.promise(async () => {
    const response = await fetch(url, init)
    return { status: response.status, headers: response.headers, text: await response.text() }
  })

const put = (url: string, contentType: string | undefined, body = "bytes") =>
  ask(url, {
    method: "PUT",
    body: text(body),
    headers: contentType === undefined ? {} : { "content-type": contentType }
  })

const object = { objectKey: "org/run/worker.log", contentType: "text/plain; charset=utf-8" }

// -----------------------------------------------------------------------------
// signing
// -----------------------------------------------------------------------------

/** The examples that AWS documents for S3. */
const documented = {
  key: { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" },
  root: "https://examplebucket.s3.amazonaws.com",
  millis: Date.parse("2013-05-24T00:00:00Z"),
  region: "us-east-1"
}

const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

const documentedRequests = [
  {
    method: "GET",
    target: "/test.txt",
    headers: { range: "bytes=0-9", "x-amz-content-sha256": emptyHash },
    signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
  },
  {
    method: "PUT",
    target: "/test%24file.text",
    headers: {
      date: "Fri, 24 May 2013 00:00:00 GMT",
      "x-amz-content-sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
      "x-amz-storage-class": "REDUCED_REDUNDANCY"
    },
    signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
  },
  {
    method: "GET",
    target: "/?lifecycle",
    headers: { "x-amz-content-sha256": emptyHash },
    signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
  },
  {
    method: "GET",
    target: "/?max-keys=2&prefix=J",
    headers: { "x-amz-content-sha256": emptyHash },
    signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
  }
]

const presigned = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"

describe("signing requests to S3", () => {
  it.effect("agrees with the documented example of a presigned URL", () =>
    Effect.gen(function* () {
      const { key, millis, region, root } = documented
      const request = { method: "GET", url: `${root}/test.txt`, headers: {}, region, millis }
      assert.strictEqual(
        yield* SigV4.presign(S3.redactedKey(key), request, 86_400),
        `${root}/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1` +
          `%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host` +
          `&X-Amz-Signature=${presigned}`
      )
    })
  )

  it.effect("agrees with the documented examples of signed headers", () =>
    Effect.gen(function* () {
      const { key, millis, region, root } = documented
      for (const { headers, method, signature, target } of documentedRequests) {
        const request = { method, url: root + target, headers, region, millis }
        const signed = yield* SigV4.sign(S3.redactedKey(key), request)
        assert.include(signed["authorization"], `Signature=${signature}`, target)
        assert.strictEqual(signed["x-amz-date"], "20130524T000000Z")
      }
    })
  )
})

describe("the storage that the tests are checked by", () => {
  it("signs as documented", () => {
    const { key } = documented
    const credential = `${key.accessKeyId}/20130524/us-east-1/s3/aws4_request`
    const date = "20130524T000000Z"
    const host = "examplebucket.s3.amazonaws.com"
    for (const { headers, method, signature, target } of documentedRequests) {
      const all = { ...headers, host, "x-amz-date": date }
      assert.strictEqual(
        S3.signatureOf({ method, target, headers: all, body: new Uint8Array() }, key.secretAccessKey, {
          credential,
          date,
          signedHeaders: Object.keys(all).sort(),
          payloadHash: headers["x-amz-content-sha256"]
        }),
        signature
      )
    }
    const vanilla = { host: "example.amazonaws.com", "x-amz-date": "20150830T123600Z" }
    assert.strictEqual(
      S3.signatureOf(
        { method: "GET", target: "/", headers: vanilla, body: new Uint8Array() },
        "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        {
          credential: "AKIDEXAMPLE/20150830/us-east-1/service/aws4_request",
          date: "20150830T123600Z",
          signedHeaders: ["host", "x-amz-date"],
          payloadHash: emptyHash
        }
      ),
      "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    )
  })

  it("accepts the documented presigned URL until it expires, and no other", () => {
    const { key, millis } = documented
    const target =
      `/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${key.accessKeyId}%2F20130524%2Fus-east-1%2Fs3` +
      `%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=${presigned}`
    const request = {
      method: "GET",
      target,
      headers: { host: "examplebucket.s3.amazonaws.com" },
      body: new Uint8Array()
    }
    const refusal = (changes: Partial<S3.S3Request>, at = millis) =>
      S3.refusal({ ...request, ...changes }, key, at, "us-east-1")?.status
    assert.isUndefined(refusal({}))
    assert.isUndefined(refusal({}, millis + 86_399_000))
    assert.strictEqual(refusal({}, millis + 86_400_000), 403)
    assert.strictEqual(refusal({}, millis - 16 * 60_000), 403)
    assert.strictEqual(refusal({ method: "PUT" }), 403)
    assert.strictEqual(refusal({ target: target.replace("test.txt", "test.tx") }), 403)
    assert.strictEqual(refusal({ target: target.replace("86400", "86401") }), 403)
    assert.strictEqual(refusal({ target: `${target}&x=y` }), 403)
    assert.strictEqual(refusal({ headers: { host: "other.s3.amazonaws.com" } }), 403)
    assert.strictEqual(refusal({ headers: { ...request.headers, "x-amz-acl": "public-read" } }), 403)
    assert.strictEqual(refusal({ target: "/test.txt" }), 403)
  })
})

// -----------------------------------------------------------------------------
// the storage
// -----------------------------------------------------------------------------

const layerTemporary = (options: Partial<Artifacts.S3Options> = {}, key?: S3.S3Key) =>
  Layer.unwrapScoped(Effect.map(S3.serve(key), (storage) => Artifacts.layerS3(optionsOf(storage, options)))).pipe(
    Layer.provide(FetchHttpClient.layer)
  )

suite("Artifacts in S3", layerTemporary())
suite("Artifacts in S3 below a prefix", layerTemporary({ prefix: "/bench/art~1/" }))

const token: S3.S3Key = { ...S3.key, sessionToken: "a+session/token==" }
suite("Artifacts in S3 with a session token", layerTemporary(S3.redactedKey(token), token))

describe("Artifacts in S3", () => {
  it.scoped("bytes are taken at the URL with the content type that was announced", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-01-02T03:04:05.678Z"))
      const { artifacts, storage } = yield* opened({ prefix: "bench" })
      const { expiresAt, url } = yield* artifacts.prepareUpload(object)
      assert.strictEqual(expiresAt, "2026-01-02T03:19:05.000Z")
      assert.strictEqual((yield* put(url, "text/html")).status, 403)
      assert.strictEqual((yield* put(url, undefined)).status, 403)
      assert.strictEqual(storage.objects.size, 0)
      assert.strictEqual((yield* put(url, object.contentType)).status, 200)
      assert.deepStrictEqual([...storage.objects.keys()], ["bench/org/run/worker.log"])
      assert.strictEqual(yield* Effect.provideService(read(object.objectKey), Artifacts.Artifacts, artifacts), "bytes")
    })
  )

  it.scoped("without an announced content type any is taken", () =>
    Effect.gen(function* () {
      const { artifacts } = yield* opened()
      const { url } = yield* artifacts.prepareUpload({ ...object, contentType: undefined })
      assert.strictEqual((yield* put(url, "text/anything")).status, 200)
      assert.strictEqual((yield* put(url, undefined)).status, 200)
    })
  )

  it.scoped("a download is saved under its name, and is of the type that was announced", () =>
    Effect.gen(function* () {
      const { artifacts } = yield* opened()
      yield* artifacts.write("a", text("bytes"))
      const named = yield* artifacts.prepareDownload({ ...object, objectKey: "a", fileName: "Ü (1)* b+c~.txt" })
      assert.strictEqual(named.expiresAt, "1970-01-01T00:05:00.000Z")
      const first = yield* ask(named.url)
      assert.strictEqual(first.text, "bytes")
      assert.strictEqual(first.headers.get("content-type"), "text/plain; charset=utf-8")
      assert.strictEqual(
        first.headers.get("content-disposition"),
        `attachment; filename="U_1_b_c_.txt"; filename*=UTF-8''%C3%9C%20%281%29%2A%20b%2Bc~.txt`
      )
      const plain = yield* artifacts.prepareDownload({ objectKey: "a", contentType: undefined, fileName: "a" })
      assert.strictEqual((yield* ask(plain.url)).headers.get("content-type"), "application/octet-stream")
    })
  )

  it.scoped("a URL that is changed, used otherwise or too late is refused", () =>
    Effect.gen(function* () {
      const { artifacts, storage } = yield* opened()
      yield* artifacts.write("a", text("bytes"))
      yield* artifacts.write("b", text("others'"))
      const { url } = yield* artifacts.prepareDownload({ objectKey: "a", contentType: undefined, fileName: "a.txt" })
      const root = `${storage.endpoint}/${S3.bucket}`
      for (const changed of [
        url.replace(`${root}/a?`, `${root}/b?`),
        url.replace("a.txt", "b.exe"),
        url.replace("octet-stream", "html"),
        url.replace("X-Amz-Expires=300", "X-Amz-Expires=3000"),
        url.slice(0, -1) + (url.endsWith("0") ? "1" : "0"),
        `${root}/a`
      ]) {
        assert.notStrictEqual(changed, url)
        assert.strictEqual((yield* ask(changed)).status, 403, changed)
      }
      assert.strictEqual((yield* ask(url, { method: "DELETE" })).status, 403)
      assert.strictEqual((yield* put(url, undefined)).status, 403)
      yield* TestClock.adjust("299 seconds")
      assert.strictEqual((yield* ask(url)).status, 200)
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual((yield* ask(url)).status, 403)
      assert.strictEqual((yield* ask(url)).text.includes("Request has expired"), true)
    })
  )

  it.scoped("an object is what was signed for, to the byte", () =>
    Effect.gen(function* () {
      const { artifacts, storage } = yield* opened()
      yield* artifacts.write("a", text("bytes"))
      const [written] = storage.requests
      const expected = "277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9"
      assert.strictEqual(written?.headers["x-amz-content-sha256"], expected)
      assert.include(
        written?.headers["authorization"],
        "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date"
      )
    })
  )

  it.scoped("the bucket is in the host at AWS, in the path at other addresses", () =>
    Effect.gen(function* () {
      const rootOf = (options: Partial<Artifacts.S3Options>) =>
        Effect.gen(function* () {
          const artifacts = yield* open({ bucket: "bucket", ...S3.redactedKey(S3.key), ...options })
          const { url } = yield* artifacts.prepareUpload({ objectKey: "a", contentType: undefined })
          return url.slice(0, url.indexOf("?"))
        })
      const endpoint = "https://minio.example.com:9000/"
      for (const [options, expected] of [
        [{ region: "eu-west-1" }, "https://bucket.s3.eu-west-1.amazonaws.com/a"],
        [{ region: "cn-north-1" }, "https://bucket.s3.cn-north-1.amazonaws.com.cn/a"],
        [{ region: "eu-west-1", bucket: "dotted.bucket" }, "https://s3.eu-west-1.amazonaws.com/dotted.bucket/a"],
        [{ region: "eu-west-1", pathStyle: true }, "https://s3.eu-west-1.amazonaws.com/bucket/a"],
        [{ endpoint }, "https://minio.example.com:9000/bucket/a"],
        [{ endpoint, pathStyle: false }, "https://bucket.minio.example.com:9000/a"],
        [{ endpoint: "https://x.supabase.co/storage/v1/s3" }, "https://x.supabase.co/storage/v1/s3/bucket/a"],
        [{ endpoint, prefix: "p/q/" }, "https://minio.example.com:9000/bucket/p/q/a"]
      ] as const) {
        assert.strictEqual(yield* rootOf(options), expected)
      }
    })
  )

  it.scoped("a bucket that is a host is written to and read from", () =>
    Effect.gen(function* () {
      const storage = yield* S3.serve()
      const options = optionsOf(storage, { endpoint: "http://s3.test", pathStyle: false })
      const artifacts = yield* open(options, atPort(storage.port))
      yield* artifacts.write("a/b", text("bytes"))
      assert.strictEqual(storage.requests[0]?.headers["host"], `${S3.bucket}.s3.test`)
      assert.strictEqual(yield* Effect.provideService(read("a/b"), Artifacts.Artifacts, artifacts), "bytes")
      const { url } = yield* artifacts.prepareDownload({ ...object, objectKey: "a/b", fileName: "b" })
      const { host, pathname, search } = new URL(url)
      const request = { method: "GET", target: pathname + search, headers: { host }, body: new Uint8Array() }
      assert.isUndefined(S3.refusal(request, S3.key, 0))
      assert.strictEqual(S3.refusal({ ...request, headers: { host: "s3.test" } }, S3.key, 0)?.status, 403)
    })
  )

  it.scoped("options that do not fit are refused, without asking the storage", () =>
    Effect.gen(function* () {
      const storage = yield* S3.serve()
      for (const [options, expected] of [
        [{ bucket: "a" }, "the bucket must be called by 3 to 63"],
        [{ bucket: "../bucket" }, "the bucket must be called by"],
        [{ prefix: "a/../b" }, "the prefix must be URL-safe segments"],
        [{ endpoint: "minio:9000" }, "the endpoint must be a URL like"],
        [{ endpoint: "https://a?b" }, "the endpoint must be a URL like"],
        [{ region: "eu west" }, "the region must be letters"],
        [{ accessKeyId: Redacted.make("") }, "the access key id and the secret access key must not be empty"],
        [{ uploadExpiry: "8 days" }, "uploadExpiry must be from one second to seven days (got 8d)"],
        [{ downloadExpiry: 0 }, "downloadExpiry must be from one second to seven days (got 0)"]
      ] as const) {
        const error = yield* Effect.flip(Effect.scoped(open(optionsOf(storage, options))))
        assert.strictEqual(error._tag, "PlatformFailure")
        assert.include(error.message, `open the artifact storage: ${expected}`)
      }
      assert.strictEqual(storage.requests.length, 0)
    })
  )

  it.scoped("a key that is too long with its prefix is refused", () =>
    Effect.gen(function* () {
      const { artifacts, storage } = yield* opened({ prefix: "p".repeat(200) })
      const objectKey = `${"k".repeat(200)}/`.repeat(4) + "end"
      const error = yield* Effect.flip(
        artifacts.prepareUpload({ objectKey: `${objectKey}/${"k".repeat(100)}`, contentType: undefined })
      )
      assert.include(error.message, "is not an object key")
      yield* artifacts.write(objectKey, text("fits"))
      assert.strictEqual(storage.objects.size, 1)
    })
  )
})

/** Every host is at this port of this machine. */
const atPort = (port: number) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) =>
      Effect.async((resume) => {
        const outgoing = Http.request(
          { host: "127.0.0.1", port, method: request.method, path: url.pathname + url.search },
          (incoming) => {
            const chunks: Array<Buffer> = []
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
            incoming.on("end", () => {
              const { statusCode = 0 } = incoming
              const response = new Response(Buffer.concat(chunks), { status: statusCode })
              resume(Effect.succeed(HttpClientResponse.fromWeb(request, response)))
            })
          }
        )
        for (const [name, value] of Object.entries(request.headers)) outgoing.setHeader(name, value)
        outgoing.setHeader("host", url.host)
        outgoing.end(request.body._tag === "Uint8Array" ? request.body.body : undefined)
      })
    )
  )

// -----------------------------------------------------------------------------
// failures
// -----------------------------------------------------------------------------

describe("Artifacts in S3 that fails", () => {
  const attempts = (artifacts: Artifacts.Artifacts["Type"]) => [
    artifacts.write("a", text("bytes")),
    Stream.runDrain(artifacts.read("a")),
    artifacts.remove("a")
  ]

  it.scoped("says what the storage says and what to do, and no secret", () =>
    Effect.gen(function* () {
      const { artifacts, storage } = yield* opened()
      const at = storage.endpoint.slice("http://".length)
      for (const [answer, expected, retryable] of [
        [
          S3.error(403, "AccessDenied", "Access Denied"),
          "403 AccessDenied: Access Denied; the key must be allowed to",
          false
        ],
        [
          S3.error(503, "SlowDown", "Please reduce your request rate."),
          "503 SlowDown: Please reduce your request rate.",
          true
        ],
        [
          S3.error(500, "InternalError", "We encountered an internal error."),
          "500 InternalError: We encountered",
          true
        ],
        [S3.error(400, "RequestTimeout", "Your socket was idle."), "400 RequestTimeout: Your socket was idle.", true],
        [
          S3.error(404, "NoSuchBucket", "No &lt;bucket&gt;\n  here"),
          "404 NoSuchBucket: No <bucket> here; create the",
          false
        ],
        [
          S3.error(403, "X", `it is ${S3.key.secretAccessKey}, ${S3.key.accessKeyId}`),
          "403 X: it is <redacted>, <redacted>",
          false
        ],
        [{ status: 502, body: "<html>Bad gateway</html>" }, "502", true],
        [{ status: 418 }, "418", false]
      ] as const) {
        storage.misbehave(() => answer)
        for (const attempt of attempts(artifacts)) {
          const error = yield* Effect.flip(attempt)
          if (error._tag !== "PlatformFailure") return assert.fail(error._tag)
          assert.match(error.message, /^(write|read|remove) an artifact: /)
          assert.include(error.message, `bucket ${S3.bucket} at ${at} answered ${expected}`)
          assert.strictEqual(error.retryable, retryable, error.message)
          assertNoSecret(error)
        }
      }
    })
  )

  it.scoped("a wrong key, region or clock is named", () =>
    Effect.gen(function* () {
      const storage = yield* S3.serve()
      const failure = (options: Partial<Artifacts.S3Options>) =>
        Effect.gen(function* () {
          const artifacts = yield* open(optionsOf(storage, options))
          const error = yield* Effect.flip(artifacts.write("a", text("bytes")))
          assertNoSecret(error)
          return error.message
        })
      const secretAccessKey = Redacted.make("another/secret+of=nobody")
      assert.include(
        yield* failure({ secretAccessKey }),
        "SignatureDoesNotMatch: The signature does not match.; check the"
      )
      assert.include(
        yield* failure({ accessKeyId: Redacted.make("AKIDUNKNOWN") }),
        "InvalidAccessKeyId: There is no such"
      )
      assert.include(yield* failure({ region: "us-east-1" }), `; the bucket is in the region ${S3.region}`)
      assert.include(
        yield* failure({ bucket: "no-bucket" }),
        "NoSuchBucket: The specified bucket does not exist; create"
      )
      const early = yield* opened()
      early.storage.misbehave((request) => S3.refusal(request, S3.key, 16 * 60_000))
      const error = yield* Effect.flip(early.artifacts.write("a", text("bytes")))
      assert.include(error.message, "RequestTimeTooSkewed")
      assert.include(error.message, "; set the clock of this machine")
    })
  )

  it.scoped("a storage that is busy says for how long", () =>
    Effect.gen(function* () {
      const { artifacts, storage } = yield* opened()
      storage.misbehave(() => S3.error(503, "SlowDown", "Slow down.", { "retry-after": "7" }))
      const error = yield* Effect.flip(artifacts.write("a", text("bytes")))
      assert.deepStrictEqual([error.retryable, error.retryAfterMillis], [true, 7000])
    })
  )

  it.scoped("nothing is sent elsewhere", () =>
    Effect.gen(function* () {
      const { artifacts, storage } = yield* opened()
      storage.misbehave(() => ({ status: 307, headers: { location: `${storage.endpoint}/elsewhere` } }))
      for (const attempt of attempts(artifacts)) {
        assert.include((yield* Effect.flip(attempt)).message, "answered 307")
      }
      assert.strictEqual(storage.requests.length, 3)
    })
  )

  it.scoped("a storage that is not there, or does not answer, may be later", () =>
    Effect.gen(function* () {
      const nowhere = yield* Effect.scoped(S3.serve())
      const artifacts = yield* open(optionsOf(nowhere))
      for (const attempt of attempts(artifacts)) {
        const error = yield* Effect.flip(attempt)
        assert.include(error.message, `cannot reach 127.0.0.1:${nowhere.port} (connect ECONNREFUSED`)
        assert.propertyVal(error, "retryable", true)
      }
      const silent = yield* withClient(() => Effect.never)
      // The clock may be ahead of the request, which is signed in real time.
      const error = yield* Effect.raceFirst(
        Effect.flip(silent.write("a", text("bytes"))),
        Effect.forever(TestClock.adjust("61 seconds"))
      )
      assert.include(error.message, "write an artifact: s3.test did not answer in time")
      assert.isTrue(error.retryable)
    })
  )

  it.scoped("an object that ends early is no object", () =>
    Effect.gen(function* () {
      const artifacts = yield* withClient((request) => {
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(text("the beg")),
          pull: (controller) => controller.error(new Error("socket hang up"))
        })
        return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(body)))
      })
      const error = yield* Effect.flip(Stream.runDrain(artifacts.read("a")))
      assert.include(error.message, "read an artifact: the answer of s3.test was cut off (socket hang up)")
      assert.propertyVal(error, "retryable", true)
    })
  )

  const withClient = (answer: Parameters<typeof HttpClient.make>[0]) =>
    open(
      { bucket: "bucket", endpoint: "https://s3.test", ...S3.redactedKey(S3.key) },
      Layer.succeed(HttpClient.HttpClient, HttpClient.make(answer))
    )

  const assertNoSecret = (error: Error) => {
    const everything = `${error.message} ${JSON.stringify(error)} ${error.stack ?? ""}`
    for (const secret of [S3.key.accessKeyId, S3.key.secretAccessKey, "Signature=", "StringToSign"]) {
      assert.notInclude(everything, secret)
    }
  }
})

// -----------------------------------------------------------------------------
// with a platform
// -----------------------------------------------------------------------------

describe("PlatformClient with artifacts in S3", () => {
  const layer = Layer.unwrapScoped(
    Effect.map(S3.serve(token), (storage) =>
      ObjectsHost.client(() => ({
        storage: Artifacts.layerS3(optionsOf(storage, { prefix: "bench", ...S3.redactedKey(token) }))
      }))
    )
  )
  describe("artifacts", () => ArtifactsContract.artifacts(layer))
  describe("logs", () => ArtifactsContract.logs(layer))
})
