/** Names of objects: relative paths of URL-safe segments. */
import * as Effect from "effect/Effect"
import { PlatformFailure } from "../../Platform.js"

/** Whether a text can name an object on every kind of storage, and nothing outside of it. */
export const isObjectKey = (text: string): boolean =>
  text.length <= maxKeyLength &&
  text.split("/").every((segment) => segment.length <= maxSegmentLength && safeSegment.test(segment))

/** Fails unless the key is one, as {@link isObjectKey} tells. */
export const refuseKey = (operation: string, objectKey: string): Effect.Effect<void, PlatformFailure> =>
  isObjectKey(objectKey)
    ? Effect.void
    : Effect.fail(
        new PlatformFailure({
          operation,
          detail: `${JSON.stringify(objectKey.slice(0, 100))} is not an object key: those are URL-safe segments, none of which begins with a dot, between slashes`,
          retryable: false
        })
      )

/**
 * What an artifact is called in a key and on any disk, whatever it is called elsewhere: the last segment of its name, of
 * letters, digits, dots, dashes and underscores, at most 100 of them; a long name keeps its extension.
 */
export const safeFileName = (name: string): string => {
  const last = name.split(/[/\\]/).findLast((segment) => segment.trim() !== "") ?? ""
  const safe = last
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^A-Za-z0-9._-]+/g, "_")
    .replace(/^[.-]+/, "")
  if (!/[A-Za-z0-9]/.test(safe)) return "artifact"
  return shorten(windowsDevice.test(safe) ? `_${safe}` : safe).replace(/\.+$/, "")
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxKeyLength = 1024
const maxSegmentLength = 255
const maxNameLength = 100
const maxExtensionLength = 20

// None begins with a dot: neither a way up nor the name of a file that is still being written.
const safeSegment = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$/

const windowsDevice = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

const shorten = (name: string): string => {
  if (name.length <= maxNameLength) return name
  const [extension = ""] = /(\.[A-Za-z0-9]+)+$/.exec(name) ?? []
  const kept = extension.length <= maxExtensionLength ? extension : ""
  return name.slice(0, maxNameLength - kept.length) + kept
}
