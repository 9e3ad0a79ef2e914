/**
 * Options that several commands have in common.
 */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { DestinationFlags } from "./destination.js"

export const output = {
  json: Options.boolean("json").pipe(Options.withDescription("Print JSON on stdout.")),
  format: Options.choice("format", ["json", "table"]).pipe(
    Options.withDescription("How results are printed."),
    Options.optional
  )
}

export const wantsJson = (options: { readonly json: boolean; readonly format: Option.Option<string> }): boolean =>
  options.json || Option.contains(options.format, "json")

/** Unlike `Options.integer`, names the flag when the value is not a number. */
export const integer = (name: string, expected: string, accepts: (n: number) => boolean): Options.Options<number> =>
  Options.text(name).pipe(
    Options.withPseudoName("integer"),
    Options.filterMap(
      (text) => Option.liftPredicate(Number(text), (n) => /^\d+$/.test(text) && accepts(n)),
      `--${name} expects ${expected}`
    )
  )

export const page = {
  limit: integer("limit", "an integer from 1 to 500", (n) => n >= 1 && n <= 500).pipe(
    Options.withDescription("Entries to list, 1 to 500."),
    Options.withDefault(50)
  ),
  offset: integer("offset", "an integer >= 0", Number.isSafeInteger).pipe(
    Options.withDescription("Entries to leave out first."),
    Options.withDefault(0)
  )
}

export const slug = Args.text({ name: "SLUG" }).pipe(Args.withDescription("The benchmark's slug."), Args.optional)

export const runOption = Options.text("run").pipe(
  Options.withDescription("last (default), last~N, or the beginning of a run's id."),
  Options.optional
)

export const destination = {
  local: Options.boolean("local").pipe(Options.withDescription("Look into the project's own store.")),
  "base-url": Options.text("base-url").pipe(Options.withDescription("Platform to ask."), Options.optional),
  "api-key": Options.redacted("api-key").pipe(Options.withDescription("API key of the platform."), Options.optional),
  org: Options.text("org").pipe(Options.withDescription("Organization whose runs are meant."), Options.optional)
}

export interface DestinationOptions {
  readonly local: boolean
  readonly "base-url": Option.Option<string>
  readonly "api-key": Option.Option<Redacted.Redacted>
  readonly org: Option.Option<string>
}

export const flagsOf = (options: DestinationOptions): DestinationFlags => ({
  local: options.local,
  baseUrl: Option.getOrUndefined(options["base-url"]),
  apiKey: Option.getOrUndefined(options["api-key"]),
  org: Option.getOrUndefined(options.org)
})

/** Runs a query on the platform that is meant, by default the project's own store. */
export const query = <A, E, R>(
  options: DestinationOptions,
  load: () => Promise<A>,
  use: (module: A) => Effect.Effect<unknown, E, R>
) =>
  Effect.gen(function* () {
    const { choose, layerPlatform } = yield* Effect.promise(() => import("./destination.js"))
    const { settings } = yield* Effect.promise(() => import("./project.js"))
    const module = yield* Effect.promise(load)
    const chosen = yield* choose(flagsOf(options), yield* settings(undefined))
    yield* Effect.provide(use(module), layerPlatform(chosen, "read"))
  })
