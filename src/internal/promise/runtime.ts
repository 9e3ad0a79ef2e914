/** What the functions of promises run on: one runtime for all of them, made when the first one needs it. */
import type * as HttpClient from "@effect/platform/HttpClient"
import type { NodeContext } from "@effect/platform-node/NodeContext"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

/** Files, processes and HTTP of Node.js. */
export type Services = NodeContext | HttpClient.HttpClient

// Loaded with the first call: a benchmark file that only defines a task pays nothing for it.
const layer: Layer.Layer<Services> = Layer.unwrapEffect(
  Effect.promise(async () => {
    const [node, http] = await Promise.all([
      import("@effect/platform-node/NodeContext"),
      import("@effect/platform/FetchHttpClient")
    ])
    return Layer.merge(node.layer, http.layer)
  })
)

const runtime = ManagedRuntime.make(layer)

export interface RunPromiseOptions {
  /** Interrupts the effect when it is aborted. */
  readonly signal?: AbortSignal | undefined
}

/** Runs an effect; rejects with what it failed with, as it is. */
export const runPromise = async <A, E>(
  effect: Effect.Effect<A, E, Services>,
  { signal }: RunPromiseOptions = {}
): Promise<A> => {
  const exit = await runtime.runPromiseExit(effect, signal === undefined ? undefined : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  if (Cause.isInterruptedOnly(exit.cause)) throw new DOMException("The operation was aborted", "AbortError")
  throw Cause.squash(exit.cause)
}
