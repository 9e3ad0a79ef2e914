/** Where the objects of an S3 storage are reached. */
import * as Either from "effect/Either"
import type { S3Location } from "../../Artifacts.js"
import { parseUrl } from "../http/address.js"
import { isObjectKey } from "./keys.js"

export interface Address {
  readonly host: string
  readonly region: string
  /** Of a whole key, prefix included. */
  readonly urlOf: (key: string) => string
}

/** What is wrong with a location, its region aside; undefined when nothing is. */
export const problemOf = ({ bucket, endpoint, prefix, region }: S3Location): string | undefined => {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket)) {
    return "the bucket must be called by 3 to 63 letters, digits, dots, dashes and underscores"
  }
  if (prefix !== undefined && trimSlashes(prefix) !== "" && !isObjectKey(trimSlashes(prefix))) {
    return "the prefix must be URL-safe segments, none of which begins with a dot, between slashes"
  }
  if (region !== undefined && !/^[A-Za-z0-9-]+$/.test(region)) return "the region must be letters, digits and dashes"
  if (endpoint !== undefined && parseEndpoint(endpoint) === undefined) {
    return "the endpoint must be a URL like https://minio.example.com:9000, without keys and query"
  }
  return undefined
}

/** Fails with what is wrong with the location. */
export const addressOf = (location: S3Location): Either.Either<Address, string> => {
  const { bucket, endpoint, region } = location
  const problem = problemOf(location)
  if (problem !== undefined) return Either.left(problem)
  const base = parseEndpoint(endpoint ?? awsEndpoint(region ?? "auto"))
  if (base === undefined || ((region ?? "auto") === "auto" && awsHost.test(base.hostname))) {
    return Either.left("AWS needs a region: set region, such as eu-central-1, or AWS_REGION")
  }
  const root = base.href.replace(/\/+$/, "")
  const hosted = base.href.replace("://", `://${bucket}.`).replace(/\/+$/, "")
  const pathStyle = location.pathStyle ?? (endpoint !== undefined || !hostLabel.test(bucket))
  return Either.right({
    host: base.host,
    region: region ?? "auto",
    urlOf: (key) => {
      const path = key.split("/").map(encodeURIComponent).join("/")
      return pathStyle ? `${root}/${bucket}/${path}` : `${hosted}/${path}`
    }
  })
}

/** A prefix as keys have it. */
export const trimSlashes = (text: string): string => text.replace(/^\/+|\/+$/g, "")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// A certificate for *.s3.… is good for one label.
const hostLabel = /^[a-z0-9-]+$/

const awsHost = /(^|\.)amazonaws\.com(\.cn)?$/

const awsEndpoint = (region: string) => `https://s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`

const parseEndpoint = (text: string): URL | undefined => {
  const url = parseUrl(text)
  return url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}${url.pathname}`
    ? url
    : undefined
}
