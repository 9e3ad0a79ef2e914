import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { Effect, Layer } from "effect"

/** A request as a fake HTTP client was given it. */
export interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** An HTTP client without a network: keeps what it was asked to send, and answers what it is told to. */
export const make = (answer: (request: Sent) => Response | Error | "silence") => {
  const sent: Array<Sent> = []
  const layer = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) =>
      Effect.suspend(() => {
        const { body } = request
        const one: Sent = {
          method: request.method,
          url: url.href,
          headers: { ...request.headers },
          body: body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : undefined
        }
        sent.push(one)
        const answered = answer(one)
        if (answered === "silence") return Effect.never
        return answered instanceof Error
          ? Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport", cause: answered }))
          : Effect.succeed(HttpClientResponse.fromWeb(request, answered))
      })
    )
  )
  return { sent, layer }
}

export const json = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })
