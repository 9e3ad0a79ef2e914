import * as Schema from "effect/Schema"

/** A field that may be missing or null, which mean the same. */
export const optionalOrNull = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/** A field that is null when there is nothing to say; one that a platform leaves out reads the same. */
export const nullable = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalWith(Schema.NullOr(schema), { default: () => null })

export const nullableNumber = nullable(Schema.Number)
