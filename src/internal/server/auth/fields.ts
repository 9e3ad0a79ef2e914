/** The fields of a small body: a form, or a JSON object. */
import type { RequestError } from "@effect/platform/HttpServerError"
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

export type Fields = Readonly<Record<string, string | undefined>>

/** None when the body is larger than any that is meant, or is not what it says it is. */
export const read = (request: HttpServerRequest): Effect.Effect<Option.Option<Fields>, RequestError> =>
  Effect.map(request.text, (text) => {
    if (text.length > maxLength) return Option.none()
    const isJson = /\bjson\b/i.test(request.headers["content-type"] ?? "")
    return isJson ? fromJson(text) : Option.some(Object.fromEntries(new URLSearchParams(text)))
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxLength = 16_384

const decode = Schema.decodeUnknownOption(
  Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
)

const fromJson = (text: string): Option.Option<Fields> =>
  Option.map(decode(text), (fields) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []))
    )
  )
