import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Artifacts } from "../../Artifacts.js"
import { ResourceNotFound } from "../../Platform.js"
import { refuseKey } from "./keys.js"

/** Objects in memory, for as long as this lives. */
export const make = (): Artifacts["Type"] => {
  const objects = new Map<string, Uint8Array>()
  const urlOf = (operation: string, objectKey: string) =>
    Effect.as(refuseKey(operation, objectKey), { url: `memory:///${objectKey}`, expiresAt: null })

  return {
    prepareUpload: ({ objectKey }) => urlOf("prepare an upload", objectKey),
    prepareDownload: ({ objectKey }) => urlOf("prepare a download", objectKey),
    write: (objectKey, content) =>
      Effect.map(refuseKey("write an artifact", objectKey), () => {
        objects.set(objectKey, content.slice())
      }),
    read: (objectKey) =>
      Stream.unwrap(
        Effect.map(refuseKey("read an artifact", objectKey), () => {
          const content = objects.get(objectKey)
          return content === undefined
            ? Stream.fail(new ResourceNotFound({ resource: "artifact", id: objectKey }))
            : Stream.make(content.slice())
        })
      ),
    remove: (objectKey) =>
      Effect.map(refuseKey("remove an artifact", objectKey), () => {
        objects.delete(objectKey)
      })
  }
}
