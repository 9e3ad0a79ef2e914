/** URLs that permit one thing with one object, until they expire. */
import * as Crypto from "node:crypto"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { isObjectKey } from "./keys.js"

/** The path below which objects are. */
export const objectsPath = "/objects"

/** What a URL permits. A permission to GET is one to HEAD, too. */
export interface Permission {
  readonly method: "GET" | "PUT"
  readonly objectKey: string
  /** In seconds since 1970: from then on nothing is permitted. */
  readonly expires: number
  /** Of a PUT: what must be sent; any when undefined. Of a GET: what is answered. */
  readonly contentType: string | undefined
  /** Of a GET: what to save the object as. */
  readonly fileName: string | undefined
}

/** The path and query of a permission. */
export const format = (secret: Redacted.Redacted, permission: Permission): string => {
  const { contentType, expires, fileName, method, objectKey } = permission
  const query = new URLSearchParams({ expires: `${expires}`, method })
  if (contentType !== undefined) query.set("type", contentType)
  if (fileName !== undefined) query.set("name", fileName)
  query.set("signature", sign(secret, permission))
  return `${objectsPath}/${objectKey.split("/").map(encodeURIComponent).join("/")}?${query}`
}

/** The permission that a path and query stand for, whether it has expired or not; none when it is not signed with the secret. */
export const verify = (secret: Redacted.Redacted, target: string): Option.Option<Permission> =>
  Option.filter(parse(target), ({ permission, signature }) =>
    isSame(Buffer.from(sign(secret, permission)), Buffer.from(signature))
  ).pipe(Option.map(({ permission }) => permission))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// A secret may serve for other signatures, too: those are none of these.
const purpose = "effect-bench object URL 1"

// As JSON no part can be mistaken for another.
const sign = (secret: Redacted.Redacted, permission: Permission): string => {
  const { contentType, expires, fileName, method, objectKey } = permission
  const text = JSON.stringify([purpose, method, objectKey, expires, contentType ?? null, fileName ?? null])
  return Crypto.createHmac("sha256", Redacted.value(secret)).update(text).digest("base64url")
}

const isSame = (expected: Buffer, given: Buffer): boolean =>
  expected.length === given.length && Crypto.timingSafeEqual(expected, given)

const Query = Schema.Struct({
  method: Schema.Literal("GET", "PUT"),
  expires: Schema.NumberFromString.pipe(Schema.int()),
  type: Schema.optional(Schema.String),
  name: Schema.optional(Schema.String),
  signature: Schema.String
})

const decodePath = Option.liftThrowable(decodeURIComponent)

const parse = (target: string) => {
  const [path = "", search = ""] = target.split("?", 2)
  if (!path.startsWith(`${objectsPath}/`)) return Option.none()
  const query = Schema.decodeUnknownOption(Query)(Object.fromEntries(new URLSearchParams(search)))
  const key = Option.filter(decodePath(path.slice(objectsPath.length + 1)), isObjectKey)
  return Option.zipWith(query, key, ({ expires, method, name, signature, type }, objectKey) => {
    const permission: Permission = { method, objectKey, expires, contentType: type, fileName: name }
    return { permission, signature }
  })
}
