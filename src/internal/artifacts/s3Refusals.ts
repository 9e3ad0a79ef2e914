/** What an S3 storage says when it refuses. */
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import { PlatformFailure } from "../../Platform.js"
import { readBeginning } from "../http/connection.js"
import { isTransient } from "../http/failures.js"
import { retryAfterMillis } from "../http/retryAfter.js"

/** The code and message of an answer, as far as it has them. */
export interface S3Refusal {
  readonly status: number
  readonly code: string | undefined
  readonly failure: PlatformFailure
}

/** Reads a refusal. The texts of `secrets` are taken out of what the storage says. */
export const read = (
  operation: string,
  storage: string,
  secrets: ReadonlyArray<string>,
  response: HttpClientResponse
): Effect.Effect<S3Refusal> =>
  Effect.gen(function* () {
    const { retryAfter, status, text } = yield* readBeginning(response)
    const code = element(text, "Code")
    const message = element(text, "Message")
    const said = [code, message].filter((part) => part !== undefined).join(": ")
    const safe = secrets.reduce((text, secret) => text.replaceAll(secret, "<redacted>"), said)
    const region = response.headers["x-amz-bucket-region"]
    const advice =
      region !== undefined && wrongRegion.has(code ?? "") && /^[a-z0-9-]{1,40}$/.test(region)
        ? `; the bucket is in the region ${region}`
        : (advices[code ?? ""] ?? "")
    return {
      status,
      code,
      failure: new PlatformFailure({
        operation,
        detail: `${storage} answered ${status}${safe === "" ? "" : ` ${safe}`}${advice}`,
        retryable: isTransient(status) || transientCodes.has(code ?? ""),
        retryAfterMillis: yield* retryAfterMillis(retryAfter)
      })
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const transientCodes = new Set(["RequestTimeout", "OperationAborted", "SlowDown"])

const wrongRegion = new Set(["PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed"])

const advices: Readonly<Record<string, string>> = {
  AccessDenied: "; the key must be allowed to get, put and delete objects below the prefix",
  ExpiredToken: "; give a new session token",
  InvalidAccessKeyId: "; check the access key id",
  NoSuchBucket: "; create the bucket, or correct its name",
  RequestTimeTooSkewed: "; set the clock of this machine",
  SignatureDoesNotMatch: "; check the secret access key and the region"
}

const element = (xml: string, name: string): string | undefined => {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? []
  const line = text
    ?.replace(/&(amp|lt|gt|quot|apos);/g, (entity, name: string) => entities[name] ?? entity)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, 300)
  return line === "" ? undefined : line
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: `"`, apos: "'" }
