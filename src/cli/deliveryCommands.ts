/**
 * The commands around platforms: signing in, choosing an organization, sending what could not be delivered.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { ResolveOptions } from "../Credentials.js"
import { Platform } from "../Platform.js"
import { destination, output, wantsJson } from "./options.js"

// -----------------------------------------------------------------------------
// accounts
// -----------------------------------------------------------------------------

const baseUrl = { "base-url": destination["base-url"] }

const credentials = { ...baseUrl, "api-key": destination["api-key"], org: destination.org }

interface CredentialOptions {
  readonly "base-url": Option.Option<string>
  readonly "api-key"?: Option.Option<Redacted.Redacted>
  readonly org?: Option.Option<string>
}

/** Loads a module and uses it with what credentials are looked for in: flags, then what the project says. */
const account = <A, B, E, R>(
  options: CredentialOptions,
  load: () => Promise<A>,
  use: (module: A, options: ResolveOptions) => Effect.Effect<B, E, R>
) =>
  Effect.gen(function* () {
    const { layerHttp } = yield* Effect.promise(() => import("./destination.js"))
    const { settings } = yield* Effect.promise(() => import("./project.js"))
    const module = yield* Effect.promise(load)
    const project = yield* settings(undefined)
    const resolving: ResolveOptions = {
      apiKey: Option.getOrUndefined(options["api-key"] ?? Option.none()),
      apiKeyEnv: project.apiKeyEnv,
      baseUrl: Option.getOrUndefined(options["base-url"]) ?? project.baseUrl,
      organization: Option.getOrUndefined(options.org ?? Option.none())
    }
    yield* Effect.provide(use(module, resolving), layerHttp)
  })

const auth = () => import("./auth.js")

export const loginCommand = Command.make("login", credentials, (options) =>
  account(options, auth, ({ login }, given) => login(given))
).pipe(
  Command.withDescription("Sign in to a platform in the browser, or with --api-key (- reads it from standard input).")
)

export const logoutCommand = Command.make("logout", baseUrl, (options) =>
  account(options, auth, ({ logout }, given) => logout(given))
).pipe(Command.withDescription("Forget what was saved by signing in."))

export const statusCommand = Command.make("status", { ...output, ...credentials }, (options) =>
  account(options, auth, ({ status }, given) => status({ ...given, json: wantsJson(options) }))
).pipe(Command.withDescription("Show who is signed in, to which platform; exit code 2 when nobody is."))

export const authCommand = Command.make("auth").pipe(
  Command.withDescription("Credentials for a platform."),
  Command.withSubcommands([loginCommand, logoutCommand, statusCommand])
)

const org = () => import("./org.js")

export const orgListCommand = Command.make("list", { ...output, ...credentials }, (options) =>
  account(options, org, ({ list }, given) => list({ ...given, json: wantsJson(options) }))
).pipe(Command.withDescription("List your organizations on the platform."))

export const orgUseCommand = Command.make(
  "use",
  {
    slug: Args.text({ name: "SLUG" }).pipe(Args.withDescription("The organization's slug.")),
    ...baseUrl,
    "api-key": destination["api-key"]
  },
  ({ slug, ...options }) => account(options, org, ({ use }, given) => use({ ...given, slug }))
).pipe(Command.withDescription("Choose the organization to record under."))

export const orgCommand = Command.make("org").pipe(
  Command.withDescription("Organizations on a platform."),
  Command.withSubcommands([orgListCommand, orgUseCommand])
)

// -----------------------------------------------------------------------------
// push
// -----------------------------------------------------------------------------

export const pushCommand = Command.make(
  "push",
  {
    run: Args.text({ name: "RUN" }).pipe(
      Args.withDescription("The run's id, or the beginning of it; not needed when only one is waiting."),
      Args.optional
    ),
    all: Options.boolean("all").pipe(Options.withDescription("Deliver everything that is waiting.")),
    list: Options.boolean("list").pipe(Options.withDescription("Only show what is waiting.")),
    discard: Options.boolean("discard").pipe(
      Options.withDescription("Remove it instead: for records that the platform takes no more.")
    ),
    force: Options.boolean("force").pipe(
      Options.withDescription("Also what a process of another machine holds, if that has ended for sure.")
    ),
    "api-key": destination["api-key"],
    ...output
  },
  ({ all, discard, force, list, run, ...options }) =>
    Effect.gen(function* () {
      const { push } = yield* Effect.promise(() => import("./push.js"))
      const { layerOrigin } = yield* Effect.promise(() => import("./destination.js"))
      const { layerSpool, settings } = yield* Effect.promise(() => import("./project.js"))
      const project = yield* settings(undefined)
      const apiKey = Option.getOrUndefined(options["api-key"])
      yield* Effect.provide(
        push({
          run: Option.getOrUndefined(run),
          all,
          list,
          discard,
          force,
          json: wantsJson(options),
          platformFor: (origin) =>
            Effect.map(Layer.build(layerOrigin(origin, { apiKey }, project)), Context.get(Platform))
        }),
        layerSpool("read")
      )
    })
).pipe(Command.withDescription("Send results that could not be delivered when they were made."))
