import { createHash, createHmac } from "node:crypto"
import * as Http from "node:http"
import { Clock, Effect, Redacted, Runtime } from "effect"

/** A key of a storage, and the token that must come with it. */
export interface S3Key {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/** A request as it is on the wire; the names of headers are in lower case. */
export interface S3Request {
  readonly method: string
  /** Path and query, encoded. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface S3Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface S3Object {
  readonly content: Uint8Array
  readonly contentType: string | undefined
}

export interface S3Storage {
  readonly endpoint: string
  readonly port: number
  /** By key, prefix included. */
  readonly objects: Map<string, S3Object>
  readonly requests: ReadonlyArray<S3Request>
  /** From now on; what it does not answer is answered as usual. */
  readonly misbehave: (misbehaviour: (request: S3Request) => S3Answer | undefined) => void
}

export const bucket = "bench-artifacts"
export const region = "eu-test-1"

/** What the storage accepts unless told otherwise. */
export const key: S3Key = {
  accessKeyId: "AKIDTESTTESTTEST0001",
  secretAccessKey: "secret/of+the=stand-in/0123456789abcdef"
}

/** As options of a layer. */
export const redactedKey = ({ accessKeyId, secretAccessKey, sessionToken }: S3Key) => ({
  accessKeyId: Redacted.make(accessKeyId),
  secretAccessKey: Redacted.make(secretAccessKey),
  ...(sessionToken !== undefined && { sessionToken: Redacted.make(sessionToken) })
})

/**
 * A storage with one bucket, in memory, that takes nothing that is not signed to the letter. It answers under its path and
 * as `<bucket>.<any host>`, on the clock of whoever starts it.
 */
export const serve = (accepted: S3Key = key) =>
  Effect.gen(function* () {
    const now = Runtime.runSync(yield* Effect.runtime())
    const objects = new Map<string, S3Object>()
    const requests: Array<S3Request> = []
    let misbehaviour: (request: S3Request) => S3Answer | undefined = () => undefined
    const server = Http.createServer((message, response) => {
      const chunks: Array<Buffer> = []
      message.on("data", (chunk: Buffer) => chunks.push(chunk))
      message.on("end", () => {
        const request: S3Request = {
          method: message.method ?? "",
          target: message.url ?? "",
          headers: Object.fromEntries(
            Object.entries(message.headers).map(([name, value]) => [
              name,
              Array.isArray(value) ? value.join(",") : (value ?? "")
            ])
          ),
          body: Buffer.concat(chunks)
        }
        requests.push(request)
        const answer =
          misbehaviour(request) ??
          refusal(request, accepted, now(Clock.currentTimeMillis)) ??
          carryOut(request, objects)
        response.writeHead(answer.status, answer.headers)
        response.end(answer.body)
      })
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const address = server.address()
    const port = address === null || typeof address === "string" ? 0 : address.port
    const storage: S3Storage = {
      endpoint: `http://127.0.0.1:${port}`,
      port,
      objects,
      requests,
      misbehave: (next) => {
        misbehaviour = next
      }
    }
    return storage
  })

/** Why a request is refused; undefined when it is signed with the key and in time. */
export const refusal = (
  request: S3Request,
  accepted: S3Key,
  millis: number,
  inRegion = region
): S3Answer | undefined => {
  const query = queryOf(request.target)
  const said = query.has("X-Amz-Algorithm") ? fromQuery(query) : fromHeaders(request.headers)
  if (said === undefined) return error(403, "AccessDenied", "Anonymous access is forbidden.")
  const [accessKeyId, day, scopeRegion, service, terminator] = said.credential.split("/")
  if (accessKeyId !== accepted.accessKeyId) return error(403, "InvalidAccessKeyId", "There is no such key.")
  if (said.token !== accepted.sessionToken) return error(400, "InvalidToken", "The token is not that of the key.")
  if (scopeRegion !== inRegion) {
    return error(400, "AuthorizationHeaderMalformed", `The region '${scopeRegion}' is wrong; expecting '${inRegion}'`, {
      "x-amz-bucket-region": inRegion
    })
  }
  if (service !== "s3" || terminator !== "aws4_request" || day !== said.date.slice(0, 8)) {
    return error(400, "AuthorizationHeaderMalformed", "The scope is wrong.")
  }
  const signedAt = parseDate(said.date)
  if (Number.isNaN(signedAt) || signedAt > millis + skew) return error(403, "AccessDenied", "Request is not valid yet")
  if (said.expires === undefined && signedAt < millis - skew) {
    return error(403, "RequestTimeTooSkewed", "The difference between the times is too large.")
  }
  if (said.expires !== undefined && !/^[1-9]\d{0,5}$/.test(said.expires)) {
    return error(400, "AuthorizationQueryParametersError", "X-Amz-Expires must be from 1 to 604800 seconds")
  }
  if (said.expires !== undefined && millis >= signedAt + Number(said.expires) * 1000) {
    return error(403, "AccessDenied", "Request has expired")
  }
  const unsigned = Object.keys(request.headers).filter(
    (name) => (name === "host" || name.startsWith("x-amz-")) && !said.signedHeaders.includes(name)
  )
  if (unsigned.length > 0) return error(403, "AccessDenied", "There were headers present which were not signed")
  if (said.payloadHash !== "UNSIGNED-PAYLOAD" && said.payloadHash !== sha256(request.body)) {
    return error(400, "XAmzContentSHA256Mismatch", "The body is not the one that was signed.")
  }
  return signatureOf(request, accepted.secretAccessKey, said) === said.signature
    ? undefined
    : error(403, "SignatureDoesNotMatch", "The signature does not match.", {}, [
        `<AWSAccessKeyId>${accessKeyId}</AWSAccessKeyId>`,
        `<StringToSign>${request.target.replaceAll("&", "&amp;")}</StringToSign>`,
        `<SignatureProvided>${said.signature}</SignatureProvided>`
      ])
}

/** What a request says about its signature. */
export interface Claim {
  readonly credential: string
  readonly date: string
  readonly expires: string | undefined
  readonly signedHeaders: ReadonlyArray<string>
  readonly signature: string
  readonly token: string | undefined
  readonly payloadHash: string
}

/** The signature of a request, by Signature Version 4 as S3 has it. */
export const signatureOf = (
  { headers, method, target }: S3Request,
  secretAccessKey: string,
  { credential, date, payloadHash, signedHeaders }: Pick<Claim, "credential" | "date" | "payloadHash" | "signedHeaders">
): string => {
  const canonicalQuery = [...queryOf(target)]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join("&")
  const canonicalHeaders = signedHeaders
    .map((name) => `${name}:${(headers[name] ?? "").trim().replace(/ +/g, " ")}\n`)
    .join("")
  const canonical = [
    method,
    pathOf(target).split("/").map(encode).join("/"),
    canonicalQuery,
    canonicalHeaders,
    signedHeaders.join(";"),
    payloadHash
  ].join("\n")
  const scope = credential.split("/").slice(1)
  const text = ["AWS4-HMAC-SHA256", date, scope.join("/"), sha256(Buffer.from(canonical))].join("\n")
  const signingKey = scope.reduce<Buffer>((secret, part) => hmac(secret, part), Buffer.from(`AWS4${secretAccessKey}`))
  return hmac(signingKey, text).toString("hex")
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const skew = 15 * 60_000

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const hmac = (secret: Buffer, text: string) => createHmac("sha256", secret).update(text).digest()

// Byte by byte: whatever is not unreserved is written as its bytes.
const encode = (text: string) =>
  [...Buffer.from(text)]
    .map((byte) => {
      const char = String.fromCharCode(byte)
      return /[A-Za-z0-9._~-]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
    })
    .join("")

const pathOf = (target: string) => decodeURIComponent(target.split("?")[0] ?? "")

// A plus is a plus: only a form takes it for a blank.
const queryOf = (target: string): ReadonlyMap<string, string> =>
  new Map(
    (target.split("?")[1] ?? "")
      .split("&")
      .filter((part) => part !== "")
      .map((part) => {
        const [name = "", value = ""] = part.split("=")
        return [decodeURIComponent(name), decodeURIComponent(value)]
      })
  )

const fromQuery = (query: ReadonlyMap<string, string>): Claim | undefined =>
  query.get("X-Amz-Algorithm") === "AWS4-HMAC-SHA256"
    ? {
        credential: query.get("X-Amz-Credential") ?? "",
        date: query.get("X-Amz-Date") ?? "",
        expires: query.get("X-Amz-Expires") ?? "",
        signedHeaders: (query.get("X-Amz-SignedHeaders") ?? "").split(";"),
        signature: query.get("X-Amz-Signature") ?? "",
        token: query.get("X-Amz-Security-Token"),
        payloadHash: "UNSIGNED-PAYLOAD"
      }
    : undefined

const fromHeaders = (headers: Readonly<Record<string, string>>): Claim | undefined => {
  const [, credential, signedHeaders, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers["authorization"] ?? ""
    ) ?? []
  return credential === undefined || signedHeaders === undefined || signature === undefined
    ? undefined
    : {
        credential,
        date: headers["x-amz-date"] ?? "",
        expires: undefined,
        signedHeaders: signedHeaders.split(";"),
        signature,
        token: headers["x-amz-security-token"],
        payloadHash: headers["x-amz-content-sha256"] ?? "missing"
      }
}

const parseDate = (text: string) =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"))

/** An answer as a storage refuses. */
export const error = (
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  details: ReadonlyArray<string> = []
): S3Answer => ({
  status,
  headers: { "content-type": "application/xml", ...headers },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${details.join("")}</Error>`
})

const carryOut = (request: S3Request, objects: Map<string, S3Object>): S3Answer => {
  const path = pathOf(request.target)
  const hosted = request.headers["host"]?.startsWith(`${bucket}.`) === true
  const [, first, ...rest] = path.split("/")
  if (!hosted && first !== bucket) return error(404, "NoSuchBucket", "The specified bucket does not exist")
  const name = hosted ? path.slice(1) : rest.join("/")
  const query = queryOf(request.target)
  switch (request.method) {
    case "PUT":
      objects.set(name, { content: request.body, contentType: request.headers["content-type"] })
      return { status: 200, headers: { etag: `"${sha256(request.body)}"` } }
    case "GET": {
      const found = objects.get(name)
      if (found === undefined) return error(404, "NoSuchKey", "The specified key does not exist.")
      const disposition = query.get("response-content-disposition")
      return {
        status: 200,
        headers: {
          "content-type": query.get("response-content-type") ?? found.contentType ?? "binary/octet-stream",
          ...(disposition !== undefined && { "content-disposition": disposition })
        },
        body: found.content
      }
    }
    case "DELETE":
      objects.delete(name)
      return { status: 204 }
    default:
      return error(405, "MethodNotAllowed", "The method is not allowed against this resource.")
  }
}
