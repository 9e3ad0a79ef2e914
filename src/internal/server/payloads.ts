/**
 * Large bodies that do not fit. The schema tells everything that is wrong with a body, which takes long and much when it is
 * one with a hundred thousand wrong items: of a large one only the first thing is looked for.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { PlatformApi } from "../../PlatformApi.js"
import { issuesOf } from "../platform/validation.js"
import { BodyRefused, malformed, tooDeep } from "./answers.js"

/** From this many characters on. */
export const largeSize = 4096

/** Why a body is not one of the operation; undefined when it is, or the operation has none. */
export const refuse = (operation: string, json: unknown): BodyRefused | undefined => {
  const decode = decoders.get(operation)
  if (decode === undefined) return undefined
  if (isTooDeep(json)) return tooDeep
  const decoded = decode(json)
  return Either.isRight(decoded)
    ? undefined
    : new BodyRefused({ status: 400, ...malformed(issuesOf(ParseResult.parseError(decoded.left))) })
}

/** Whether a value out of JSON is nested so deeply that what is wrong with it cannot be told. */
export const isTooDeep = (json: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [json]
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []))
  }
  return level.length > 0
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const maxDepth = 256

type Decode = (json: unknown) => Either.Either<unknown, ParseResult.ParseIssue>

const decoders: ReadonlyMap<string, Decode> = (() => {
  const found = new Map<string, Decode>()
  HttpApi.reflect(PlatformApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      if (endpoint.payloadSchema._tag === "None") return
      const ast = SchemaAST.annotations(endpoint.payloadSchema.value.ast, {
        [SchemaAST.ParseOptionsAnnotationId]: { errors: "first" }
      })
      found.set(endpoint.name, ParseResult.decodeUnknownEither(Schema.make<unknown>(ast)))
    }
  })
  return found
})()
