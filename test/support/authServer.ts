/**
 * The part of a platform that signs people in, with scripted answers: in memory, so that a test drives its clock, or on a
 * port of this machine.
 */
import * as fs from "node:fs"
import * as http from "node:http"
import * as os from "node:os"
import * as path from "node:path"
import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Clock, ConfigProvider, Effect, Layer } from "effect"

export const deviceCodePath = "/api/auth/device/code"

export const tokenPath = "/api/auth/oauth2/token"

export interface Call {
  readonly method: string
  readonly path: string
  readonly form: Readonly<Record<string, string>>
  /** JSON of the body, when it is no form. */
  readonly body: string
  readonly authorization: string | undefined
  /** When it was made, in milliseconds. */
  readonly at: number
}

/** An answer (late by `delayMillis`, in memory only), none because the connection breaks, or none ever. */
export type Answer =
  | {
      readonly status: number
      readonly body: unknown
      readonly headers?: Readonly<Record<string, string>>
      readonly delayMillis?: number
    }
  | "unreachable"
  | "silent"

export const ok = (body: unknown): Answer => ({ status: 200, body })

export const refuses = (error: string, status = 400): Answer => ({ status, body: { error } })

export const pending = refuses("authorization_pending")

export class AuthServer {
  readonly calls: Array<Call> = []
  private readonly scripts = new Map<string, { readonly next: Array<Answer>; readonly then: (call: Call) => Answer }>()

  /** What becomes of the next calls of a path, one each, and of all further ones. */
  script(
    path: string,
    next: ReadonlyArray<Answer>,
    then: Answer | ((call: Call) => Answer) = refuses("no_script")
  ): void {
    this.scripts.set(path, { next: [...next], then: typeof then === "function" ? then : () => then })
  }

  forms(path: string): ReadonlyArray<Call["form"]> {
    return this.calls.filter((call) => call.path === path).map(({ form }) => form)
  }

  times(path: string): ReadonlyArray<number> {
    return this.calls.filter((call) => call.path === path).map(({ at }) => at)
  }

  /** A client whose requests never leave the process. */
  get layer(): Layer.Layer<HttpClient.HttpClient> {
    const client = HttpClient.make((request, url) =>
      Effect.gen(this, function* () {
        const content = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
        const answer = this.receive({
          method: request.method,
          path: url.pathname,
          authorization: request.headers["authorization"],
          content,
          at: yield* Clock.currentTimeMillis
        })
        if (answer === "silent") return yield* Effect.never
        if (answer === "unreachable") {
          const cause = new Error("connect ECONNREFUSED")
          return yield* new HttpClientError.RequestError({ request, reason: "Transport", cause })
        }
        if (answer.delayMillis !== undefined) yield* Effect.sleep(answer.delayMillis)
        const response = new Response(textOf(answer.body), { status: answer.status, headers: { ...answer.headers } })
        return HttpClientResponse.fromWeb(request, response)
      })
    )
    return Layer.succeed(HttpClient.HttpClient, client)
  }

  /** Listens on a port of this machine for as long as the scope lives, and gives its base URL. */
  get serve() {
    return Effect.acquireRelease(
      Effect.async<http.Server>((resume) => {
        const server = http.createServer((request, response) => {
          let content = ""
          request.setEncoding("utf8").on("data", (chunk) => (content += chunk))
          request.on("end", () => {
            const { authorization, "content-type": type } = request.headers
            const answer = this.receive({
              method: request.method ?? "",
              path: new URL(request.url ?? "/", "http://localhost").pathname,
              authorization,
              content,
              at: 0,
              json: type?.includes("json") ?? false
            })
            if (answer === "unreachable") response.destroy()
            if (typeof answer === "string") return
            response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers })
            response.end(textOf(answer.body))
          })
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ).pipe(
      Effect.map((server) => {
        const address = server.address()
        return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
      })
    )
  }

  private receive(
    received: Pick<Call, "method" | "path" | "authorization" | "at"> & {
      readonly content: string
      readonly json?: boolean
    }
  ): Answer {
    const { content, json = false, ...rest } = received
    const form = json ? {} : Object.fromEntries(new URLSearchParams(content))
    const call: Call = { ...rest, form, body: json ? content : "" }
    this.calls.push(call)
    const script = this.scripts.get(call.path)
    return script === undefined ? refuses("not_found", 404) : (script.next.shift() ?? script.then(call))
  }
}

const textOf = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body))

/** A home directory for as long as the scope lives. */
export const temporaryHome = Effect.acquireRelease(
  Effect.sync(() => new Home(fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "effect-bench-home-"))))),
  ({ folder }) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

export class Home {
  constructor(readonly folder: string) {}

  path(name = ""): string {
    return path.join(this.folder, ".benchsdk", name)
  }

  exists(name: string): boolean {
    return fs.existsSync(this.path(name))
  }

  /** Permissions in octal, such as `600`. */
  mode(name = ""): string {
    return (fs.statSync(this.path(name)).mode & 0o777).toString(8)
  }

  write(name: string, content: unknown, mode = 0o600): void {
    fs.mkdirSync(this.path(), { recursive: true, mode: 0o700 })
    fs.writeFileSync(this.path(name), textOf(content))
    fs.chmodSync(this.path(name), mode)
  }

  read(name: string): string {
    return fs.readFileSync(this.path(name), "utf8")
  }

  json(name: string): unknown {
    return JSON.parse(this.read(name))
  }

  files(): ReadonlyArray<string> {
    return fs.readdirSync(this.path()).sort()
  }

  /** The files of this home, and an environment of nothing else. */
  layer(environment: Readonly<Record<string, string>> = {}) {
    const variables = new Map(Object.entries({ HOME: this.folder, ...environment }))
    return Layer.merge(NodeContext.layer, Layer.setConfigProvider(ConfigProvider.fromMap(variables)))
  }
}
