import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Artifacts, SignedOptions } from "../../Artifacts.js"
import { PlatformFailure } from "../../Platform.js"
import { parseUrl } from "../http/address.js"
import { expirySeconds, formatSeconds } from "./expiry.js"
import * as Files from "./files.js"
import { headerType } from "./headers.js"
import { refuseKey } from "./keys.js"
import * as Secret from "./secret.js"
import type { Permission } from "./signedUrls.js"
import * as SignedUrls from "./signedUrls.js"

/** Objects as files, behind URLs of the server at `publicUrl`. */
export const make = (options: SignedOptions): Effect.Effect<Artifacts["Type"], PlatformFailure> =>
  Effect.gen(function* () {
    const root = yield* parsePublicUrl(options.publicUrl)
    const expiry = yield* expirySeconds(signing, options)
    const secret = yield* Secret.resolve(options.directory, options.secret)

    const sign = Effect.fnUntraced(function* (
      operation: string,
      seconds: number,
      permission: Omit<Permission, "expires">
    ) {
      yield* refuseKey(operation, permission.objectKey)
      const contentType = yield* headerType(operation, permission.contentType)
      const expires = Math.floor((yield* Clock.currentTimeMillis) / 1000) + seconds
      return {
        url: root + SignedUrls.format(secret, { ...permission, contentType, expires }),
        expiresAt: formatSeconds(expires)
      }
    })

    return {
      ...Files.make(options.directory),
      prepareUpload: (object) =>
        sign("prepare an upload", expiry.upload, { ...object, method: "PUT", fileName: undefined }),
      prepareDownload: (object) => sign("prepare a download", expiry.download, { ...object, method: "GET" })
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const signing = "sign URLs of artifacts"

const parsePublicUrl = (text: string): Effect.Effect<string, PlatformFailure> => {
  const url = parseUrl(text)
  return url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}${url.pathname}`
    ? Effect.succeed(url.href.replace(/\/+$/, ""))
    : new PlatformFailure({
        operation: signing,
        detail: "the public URL must be one like https://bench.example.com, without user name, query and fragment",
        retryable: false
      })
}
