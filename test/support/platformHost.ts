import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { HttpApp, HttpServer } from "@effect/platform"
import { Context, Effect, Layer, Redacted, Runtime, Stream } from "effect"
import { Accounts } from "../../src/Accounts.js"
import type { ArtifactDownload, ArtifactUpload, PlatformError } from "../../src/Platform.js"
import { InvalidRequest, Platform } from "../../src/Platform.js"
import { AccountsAuthorization, PlatformAuthorization, refusal } from "../../src/PlatformApi.js"
import * as PlatformServer from "../../src/PlatformServer.js"

/** The one key that a host accepts. */
export const apiKey = "bp_test_0123456789abcdef"

/** A request as it arrived. */
export interface Received {
  readonly method: string
  /** As it was sent, encoded, with its query. */
  readonly path: string
  readonly headers: Http.IncomingHttpHeaders
  readonly bytes: Buffer
  /** The body as JSON; undefined when there is none or it is not JSON. */
  readonly body: unknown
  /** How many requests with this method and path came before. */
  readonly n: number
}

/**
 * What goes wrong with a request. `"before"`: it is not carried out. `"after"`: it is, and the answer gets lost.
 *
 * - `answer`: something else is answered (by default `{ error: "fault" }`)
 * - `reset`: the connection is reset; `"midBody"` after half of the real answer's body
 * - `silence`: nothing is ever answered
 * - `garbage`: carried out, and answered with 200 and what is not JSON
 */
export type Fault =
  | {
      readonly fault: "answer"
      readonly when?: "before" | "after"
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  | { readonly fault: "reset"; readonly when: "before" | "after" | "midBody" }
  | { readonly fault: "silence"; readonly when?: "before" | "after" }
  | { readonly fault: "garbage" }

export type Misbehaviour = (request: Received) => "normal" | Fault

export interface PlatformHost {
  /** `http://127.0.0.1:<port>`. */
  readonly baseUrl: string
  /** Every request so far, in the order of arrival. */
  readonly requests: ReadonlyArray<Received>
  /** Those whose path (without query) ends with one of these texts. */
  readonly to: (...endings: ReadonlyArray<string>) => ReadonlyArray<Received>
  /** From now on. */
  readonly misbehave: (misbehaviour: Misbehaviour) => void
}

/** Faults for the first requests to paths with this ending, one each; what comes then is normal. */
export const scripted = (ending: string, faults: ReadonlyArray<"normal" | Fault>): Misbehaviour =>
  (() => {
    const left = [...faults]
    return (request) => (pathname(request).endsWith(ending) ? (left.shift() ?? "normal") : "normal")
  })()

/**
 * Serves a platform over HTTP on a port of its own, for as long as the scope lives. Handlers run on the clock and the
 * services of whoever starts it. The bytes of artifacts are taken and given at `/objects/<id>` of the same server,
 * without a key.
 */
export const make = (options: {
  readonly platform: Platform["Type"]
  readonly accounts?: Accounts["Type"] | undefined
  readonly misbehaviour?: Misbehaviour | undefined
}) =>
  Effect.gen(function* () {
    const requests: Array<Received> = []
    let misbehaviour = options.misbehaviour ?? (() => "normal" as const)
    const objects = makeObjects(options.platform)
    const server = Http.createServer()
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const baseUrl = `http://127.0.0.1:${portOf(server.address())}`
    const app = yield* PlatformServer.make.pipe(
      Effect.provide(authorization(objects.wrap(baseUrl), options.accounts ?? fakeAccounts))
    )
    const runtime = yield* Effect.provide(
      Effect.runtime<Layer.Layer.Success<typeof HttpServer.layerContext>>(),
      HttpServer.layerContext
    )
    const handle = HttpApp.toWebHandlerRuntime(runtime)(app)
    const run = Runtime.runPromise(runtime)

    const respond = (received: Received): Promise<Response> => {
      if (pathname(received).startsWith("/objects/")) return run(objects.respond(received))
      const headers = new Headers()
      for (const [name, value] of Object.entries(received.headers)) {
        if (typeof value === "string" && name !== "connection") headers.set(name, value)
      }
      return handle(
        new Request(baseUrl + received.path, {
          method: received.method,
          headers,
          ...(received.bytes.length > 0 && { body: new Uint8Array(received.bytes) })
        })
      )
    }

    server.on("request", (request, response) => {
      void readAll(request).then(async (bytes) => {
        const received = receive(request, bytes, requests)
        requests.push(received)
        const fault = misbehaviour(received)
        if (fault === "normal") return write(response, await respond(received))
        await misbehave(fault, response, () => respond(received))
      })
    })

    const host: PlatformHost = {
      baseUrl,
      requests,
      to: (...endings) => requests.filter((request) => endings.some((ending) => pathname(request).endsWith(ending))),
      misbehave: (next) => {
        misbehaviour = next
      }
    }
    return host
  })

/** The platform of a layer as a host. */
export const fromLayer = <E>(layer: Layer.Layer<Platform, E>, misbehaviour?: Misbehaviour) =>
  Effect.flatMap(Layer.build(layer), (context) => make({ platform: Context.get(context, Platform), misbehaviour }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pathname = ({ path }: Received) => path.split("?")[0] ?? ""

const portOf = (address: AddressInfo | string | null) =>
  address === null || typeof address === "string" ? 0 : address.port

const organization = { id: "00000000-0000-4000-8000-000000000001", slug: "local", name: "Local" }

const fakeAccounts = Accounts.of({
  me: Effect.succeed({ user: null, activeOrganizationId: organization.id, organizations: [organization] }),
  organizations: Effect.succeed([organization]),
  activate: (slug) =>
    slug === organization.slug
      ? Effect.succeed(organization)
      : new InvalidRequest({ issues: [{ field: "slug", message: `is no organization of yours (got "${slug}")` }] })
})

const authorization = (platform: Platform["Type"], accounts: Accounts["Type"]) => {
  const check =
    <A>(service: A) =>
    (key: Redacted.Redacted) => {
      const text = Redacted.value(key)
      return text === apiKey
        ? Effect.succeed(service)
        : Effect.fail(refusal("Unauthenticated", { error: text === "" ? "API key required" : "Invalid API key" }))
    }
  return Layer.merge(
    Layer.succeed(PlatformAuthorization, { bearer: check(platform) }),
    Layer.succeed(AccountsAuthorization, { bearer: check(accounts) })
  )
}

/** Artifacts of any platform, with their bytes on this server. */
const makeObjects = (platform: Platform["Type"]) => {
  const uploads = new Map<string, ArtifactUpload>()
  const downloads = new Map<string, ArtifactDownload>()
  const url = (baseUrl: string, id: string) => `${baseUrl}/objects/${encodeURIComponent(id)}`
  return {
    wrap: (baseUrl: string) =>
      Platform.of({
        ...platform,
        createArtifact: (ref, input) =>
          Effect.map(platform.createArtifact(ref, input), (upload) => {
            uploads.set(upload.artifactId, upload)
            return { ...upload, uploadUrl: url(baseUrl, upload.artifactId) }
          }),
        getArtifact: (ref, id) =>
          Effect.map(platform.getArtifact(ref, id), (download) => {
            downloads.set(id, download)
            return { ...download, downloadUrl: url(baseUrl, id) }
          })
      }),
    respond: ({ bytes, method, ...request }: Received): Effect.Effect<Response> => {
      const id = decodeURIComponent(pathname({ bytes, method, ...request }).slice("/objects/".length))
      const upload = uploads.get(id)
      const download = downloads.get(id)
      if (method === "PUT" && upload !== undefined) {
        return answerWith(Effect.as(platform.uploadArtifact(upload, bytes), new Response(null)))
      }
      if (method === "GET" && download !== undefined) {
        return answerWith(
          Effect.map(
            Stream.runCollect(platform.downloadArtifact(download)),
            (chunks) => new Response(Buffer.concat([...chunks]))
          )
        )
      }
      return Effect.succeed(new Response("no such object", { status: 404 }))
    }
  }
}

const answerWith = (response: Effect.Effect<Response, PlatformError>) =>
  Effect.catchAll(response, (error) =>
    Effect.succeed(new Response(error.message, { status: error._tag === "ResourceNotFound" ? 404 : 500 }))
  )

const readAll = async (request: Http.IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const receive = (request: Http.IncomingMessage, bytes: Buffer, earlier: ReadonlyArray<Received>): Received => {
  const method = request.method ?? ""
  const path = request.url ?? ""
  return {
    method,
    path,
    headers: request.headers,
    bytes,
    body: parse(bytes.toString("utf8")),
    n: earlier.filter((other) => other.method === method && other.path === path).length
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const write = async (response: Http.ServerResponse, answer: Response) => {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  response.end(Buffer.from(await answer.arrayBuffer()))
}

const misbehave = async (fault: Fault, response: Http.ServerResponse, respond: () => Promise<Response>) => {
  switch (fault.fault) {
    case "answer":
      if (fault.when === "after") await respond()
      response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers })
      response.end(fault.body ?? `{"error":"fault"}`)
      return
    case "reset": {
      if (fault.when === "before") return reset(response)
      const answer = await respond()
      if (fault.when === "after") return reset(response)
      const bytes = Buffer.from(await answer.arrayBuffer())
      response.writeHead(answer.status, { "content-type": "application/json", "content-length": bytes.length })
      response.write(bytes.subarray(0, bytes.length >> 1), () => reset(response))
      return
    }
    case "silence":
      if (fault.when === "after") await respond()
      return
    case "garbage":
      await respond()
      response.writeHead(200, { "content-type": "application/json" })
      response.end(`{"run": {"id": `)
  }
}

const reset = (response: Http.ServerResponse) => {
  response.socket?.resetAndDestroy()
}
