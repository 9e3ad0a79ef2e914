/** What is said about an object over HTTP. */
import * as Effect from "effect/Effect"
import { PlatformFailure } from "../../Platform.js"
import { safeFileName } from "./keys.js"

/** The content type of what has none. */
export const unknownType = "application/octet-stream"

/**
 * A content type as a client sends it, without blanks around it; undefined for none. Fails when no header can hold it.
 */
export const headerType = (
  operation: string,
  contentType: string | undefined
): Effect.Effect<string | undefined, PlatformFailure> => {
  const text = contentType?.trim() ?? ""
  if (text === "") return Effect.succeed(undefined)
  return /^[\x20-\x7e]+$/.test(text)
    ? Effect.succeed(text)
    : new PlatformFailure({ operation, detail: "the content type must be printable ASCII", retryable: false })
}

/**
 * `Content-Disposition` that has an object saved under a name, whatever characters it has; those that stand for a path or
 * for nothing visible are replaced. Clients that do not read encoded names get one of plain letters.
 */
export const attachment = (fileName: string): string => {
  const name = fileName.replace(/[/\\]|\p{Cc}|\p{Bidi_Control}/gu, "_").replace(/\p{Surrogate}/gu, "\ufffd")
  return `attachment; filename="${safeFileName(fileName)}"; filename*=UTF-8''${encodeExtended(name)}`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// RFC 8187 has fewer characters that stand for themselves than a URL.
const encodeExtended = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
