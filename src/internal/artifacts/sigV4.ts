/** Requests to S3, signed with AWS Signature Version 4. */
import { AwsV4Signer } from "aws4fetch"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

export interface SigningKey {
  readonly accessKeyId: Redacted.Redacted
  readonly secretAccessKey: Redacted.Redacted
  readonly sessionToken?: Redacted.Redacted | undefined
}

export interface Unsigned {
  readonly method: string
  readonly url: string
  /** All of them are signed. */
  readonly headers: Readonly<Record<string, string>>
  readonly region: string
  /** When it is signed. */
  readonly millis: number
}

/** A URL that permits a request with these headers for that long, whatever its body is. */
export const presign = (key: SigningKey, request: Unsigned, expiresSeconds: number): Effect.Effect<string> =>
  Effect.promise(async () => {
    const url = new URL(request.url)
    url.searchParams.set("X-Amz-Expires", `${expiresSeconds}`)
    const signer = makeSigner(key, { ...request, url: url.href }, true)
    // As it was signed, not as a form would write it: not every storage takes a plus for a blank.
    return `${signer.url.origin}${signer.encodedPath}?${signer.encodedSearch}&X-Amz-Signature=${await signer.signature()}`
  })

/** The headers with which a request is sent. The body's SHA-256 in hex must be among them as `x-amz-content-sha256`. */
export const sign = (key: SigningKey, request: Unsigned): Effect.Effect<Record<string, string>> =>
  Effect.promise(async () => Object.fromEntries((await makeSigner(key, request, false).sign()).headers))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeSigner = (key: SigningKey, request: Unsigned, signQuery: boolean) =>
  new AwsV4Signer({
    accessKeyId: Redacted.value(key.accessKeyId),
    secretAccessKey: Redacted.value(key.secretAccessKey),
    ...(key.sessionToken !== undefined && { sessionToken: Redacted.value(key.sessionToken) }),
    method: request.method,
    url: request.url,
    headers: request.headers,
    service: "s3",
    region: request.region,
    datetime: formatDate(request.millis),
    signQuery,
    allHeaders: true
  })

const formatDate = (millis: number) => DateTime.formatIso(DateTime.unsafeMake(millis)).replace(/[:-]|\.\d{3}/g, "")
