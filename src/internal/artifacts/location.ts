/** Where artifacts are to be kept, as text. */
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { ArtifactsLocation, S3Location, S3Options } from "../../Artifacts.js"
import { PlatformFailure } from "../../Platform.js"
import { secret, setting } from "../credentials/environment.js"
import { parseUrl } from "../http/address.js"
import { problemOf, trimSlashes } from "./s3Address.js"

/** A directory, as a path or a `file:` URL, or `s3://bucket/prefix?endpoint=…&region=…&pathStyle=…`. */
export const parse = (text: string): Either.Either<ArtifactsLocation, PlatformFailure> => {
  const location = text.trim()
  if (location === "") return refused("is empty: give a directory, or s3://bucket")
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]+):\/\//.exec(location)?.[1]?.toLowerCase()
  switch (scheme) {
    case undefined:
      return Either.right({ kind: "directory", directory: Path.resolve(location) })
    case "file":
      return Option.match(Option.liftThrowable(fileURLToPath)(location), {
        onNone: () => refused("is no file: URL of this machine"),
        onSome: (directory) => Either.right({ kind: "directory", directory })
      })
    case "s3":
      return parseS3(location)
    default:
      return refused(`begins with ${scheme}://, and can only be a directory or s3://bucket`)
  }
}

/** What a location stands for, with the keys of the environment. */
export const resolve = (text: string): Effect.Effect<{ readonly directory: string } | S3Options, PlatformFailure> =>
  Effect.gen(function* () {
    const location = yield* parse(text)
    if (location.kind === "directory") return { directory: location.directory }
    const { kind: _, ...where } = location
    return {
      ...where,
      region: where.region ?? (where.endpoint === undefined ? yield* awsRegion : undefined),
      ...(yield* awsKey)
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// The text may have secrets where none belong: it is not repeated.
const failure = (detail: string) =>
  new PlatformFailure({ operation: "open the artifact storage", detail: `the location ${detail}`, retryable: false })

const refused = (detail: string) => Either.left(failure(detail))

const awsKey = Effect.gen(function* () {
  const accessKeyId = yield* secret("AWS_ACCESS_KEY_ID")
  const secretAccessKey = yield* secret("AWS_SECRET_ACCESS_KEY")
  const sessionToken = yield* secret("AWS_SESSION_TOKEN")
  if (accessKeyId !== undefined && secretAccessKey !== undefined) return { accessKeyId, secretAccessKey, sessionToken }
  const missing = [
    ...(accessKeyId === undefined ? ["AWS_ACCESS_KEY_ID"] : []),
    ...(secretAccessKey === undefined ? ["AWS_SECRET_ACCESS_KEY"] : [])
  ]
  return yield* failure(`is a bucket: set ${missing.join(" and ")} in the environment`)
})

const awsRegion = Effect.flatMap(setting("AWS_REGION"), (region) =>
  region === undefined ? setting("AWS_DEFAULT_REGION") : Effect.succeed(region)
)

const parameters = ["endpoint", "region", "pathStyle"]

const parseS3 = (text: string): Either.Either<ArtifactsLocation, PlatformFailure> => {
  const url = parseUrl(text)
  if (url === undefined || url.hostname === "") return refused("names no bucket: it is like s3://bucket/prefix")
  if (url.username !== "" || url.password !== "") {
    return refused("must not contain keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
  }
  if (url.port !== "") return refused("has a port: give the storage's address as ?endpoint=https://host:port")
  if (url.hash !== "") return refused(`must not contain "#"`)
  const names = [...url.searchParams.keys()]
  const unknown = names.filter((name) => !parameters.includes(name))
  if (unknown.length > 0) {
    return refused(`has unknown parameters (${unknown.join(", ")}); there are ${parameters.join(", ")}`)
  }
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) return refused(`has ${repeated} twice`)
  const pathStyle = url.searchParams.get("pathStyle")
  if (pathStyle !== null && pathStyle !== "true" && pathStyle !== "false") {
    return refused("must have true or false as pathStyle")
  }
  const prefix = Option.liftThrowable(decodeURIComponent)(trimSlashes(url.pathname))
  if (Option.isNone(prefix)) return refused("has a prefix that cannot be decoded")
  const endpoint = url.searchParams.get("endpoint")
  const region = url.searchParams.get("region")
  const where: S3Location = {
    bucket: url.hostname,
    ...(prefix.value !== "" && { prefix: prefix.value }),
    ...(endpoint !== null && { endpoint }),
    ...(region !== null && { region }),
    ...(pathStyle !== null && { pathStyle: pathStyle === "true" })
  }
  const problem = problemOf(where)
  return problem === undefined ? Either.right({ kind: "s3", ...where }) : refused(`does not fit: ${problem}`)
}
