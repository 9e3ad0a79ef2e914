/** The OpenAPI document as it is published. */
import type * as OpenApi from "@effect/platform/OpenApi"
import * as Record from "effect/Record"

interface Document {
  readonly paths?: OpenApi.OpenAPISpecPaths
  readonly components?: OpenApi.OpenAPIComponents
}

/**
 * Every refusal has the one body of `errorBodies`: the server never answers with the library's own for requests that do
 * not fit their schema.
 */
export const describe = (document: Document) => {
  const { HttpApiDecodeError: _, Issue: __, PropertyKey: ___, ...schemas } = document.components?.schemas ?? {}
  return {
    ...document,
    paths: Record.map(document.paths ?? {}, (item) =>
      Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, describeOperation(operation)]))
    ),
    components: { ...document.components, schemas }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const describeOperation = (operation: OpenApi.OpenAPISpecOperation): OpenApi.OpenAPISpecOperation => ({
  ...operation,
  responses: {
    ...operation.responses,
    400: {
      description: "The request is malformed.",
      content: { "application/json": { schema: { $ref: "#/components/schemas/BadRequest" } } }
    }
  }
})
