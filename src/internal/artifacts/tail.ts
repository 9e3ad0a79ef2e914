/** The end of a text that may be large. */
import * as Zlib from "node:zlib"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { PlatformFailure, ResourceNotFound } from "../../Platform.js"
import { messageOf } from "../json.js"

/** The last lines; `truncated` tells that there are more before those. */
export interface Tail {
  readonly lines: ReadonlyArray<string>
  readonly truncated: boolean
}

/**
 * The last `maxLines` lines, without what ends them, in bounded memory: a line that is very long is cut off. Of a text
 * that cannot be decompressed to its end the last line says so.
 */
export const read = (
  bytes: Bytes,
  options: { readonly gzip: boolean; readonly maxLines: number }
): Effect.Effect<Tail, PlatformFailure | ResourceNotFound> =>
  Effect.suspend(() => {
    const tail = new LastLines(options.maxLines)
    return (options.gzip ? gunzip(bytes) : bytes).pipe(
      Stream.decodeText("utf-8"),
      Stream.runForEach((text) => Effect.sync(() => tail.add(text))),
      Effect.catchTag("DamagedText", ({ detail }) =>
        Effect.sync(() => tail.add(`\n[the rest cannot be decompressed: ${detail}]`))
      ),
      Effect.map(() => tail.end())
    )
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxLineLength = 64 * 1024

type Bytes = Stream.Stream<Uint8Array, PlatformFailure | ResourceNotFound>

class DamagedText extends Data.TaggedError("DamagedText")<{ readonly detail: string }> {}

// Of a text that was cut off, decompresses what there is.
const gunzip = (bytes: Bytes) =>
  NodeStream.pipeThroughDuplex(
    bytes,
    () => Zlib.createGunzip({ finishFlush: Zlib.constants.Z_SYNC_FLUSH }),
    (error) => new DamagedText({ detail: messageOf(error) })
  )

class LastLines {
  private lines: Array<string> = []
  private open = ""
  private dropped = false

  constructor(private readonly maxLines: number) {}

  add(text: string): void {
    const parts = text.split("\n")
    parts.forEach((part, index) => {
      if (this.open.length < maxLineLength) this.open += part
      if (index < parts.length - 1) this.close()
    })
  }

  end(): Tail {
    if (this.open !== "") this.close()
    this.drop()
    return { lines: this.lines, truncated: this.dropped }
  }

  private close(): void {
    this.lines.push(this.open.replace(/\r$/, "").slice(0, maxLineLength))
    this.open = ""
    if (this.lines.length >= 2 * this.maxLines) this.drop()
  }

  private drop(): void {
    if (this.lines.length <= this.maxLines) return
    this.lines = this.lines.slice(-this.maxLines)
    this.dropped = true
  }
}
