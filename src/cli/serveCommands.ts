/**
 * The commands of those who run a platform: `bench serve` and what is below it.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { integer, output, wantsJson } from "./options.js"

/** A flag whose value is a time such as `90s`, `5m`, `12h` or `30d`. */
export const duration = (name: string): Options.Options<Duration.Duration> =>
  Options.text(name).pipe(
    Options.withPseudoName("duration"),
    Options.filterMap((text) => {
      const [, count = "", unit = ""] = /^(\d{1,6})([smhdw])$/.exec(text.trim()) ?? []
      const make = units[unit]
      return make === undefined || Number(count) === 0 ? Option.none() : Option.some(make(Number(count)))
    }, `--${name} expects seconds, minutes, hours, days or weeks, such as 90s, 5m or 30d`)
  )

const units: Readonly<Record<string, (count: number) => Duration.Duration>> = {
  s: Duration.seconds,
  m: Duration.minutes,
  h: Duration.hours,
  d: Duration.days,
  w: Duration.weeks
}

/** The database that all of these work on. */
export const database = {
  database: Options.redacted("database").pipe(
    Options.withPseudoName("url"),
    Options.withDescription(
      "A file, sqlite:PATH or postgres://user:password@host/name; default BENCH_DATABASE, else .bench/server.db."
    ),
    Options.optional
  )
}

interface DatabaseOptions {
  readonly database: Option.Option<Redacted.Redacted>
}

/** Loads a module and uses it on the accounts of a server. */
const accounts = <A, B, E, R>(
  options: DatabaseOptions,
  load: () => Promise<A>,
  use: (module: A) => Effect.Effect<B, E, R>
) =>
  Effect.gen(function* () {
    const { layerAccounts } = yield* Effect.promise(() => import("./serve.js"))
    const module = yield* Effect.promise(load)
    yield* Effect.provide(use(module), layerAccounts(Option.getOrUndefined(options.database)))
  })

// -----------------------------------------------------------------------------
// keys
// -----------------------------------------------------------------------------

const keys = () => import("./keys.js")

export const keysCreateCommand = Command.make(
  "create",
  {
    org: Options.text("org").pipe(Options.withDescription("Organization that the key is for.")),
    name: Options.text("name").pipe(Options.withDescription("What the key is for."), Options.optional),
    expires: Options.text("expires").pipe(
      Options.withDescription("For how long it is good, such as 90d; default for ever."),
      Options.optional
    ),
    quiet: Options.boolean("quiet").pipe(Options.withDescription("Say nothing but the key.")),
    ...database,
    ...output
  },
  (options) =>
    accounts(options, keys, ({ create }) =>
      create({
        org: options.org,
        name: Option.getOrUndefined(options.name),
        expires: Option.getOrUndefined(options.expires),
        quiet: options.quiet,
        json: wantsJson(options)
      })
    )
).pipe(Command.withDescription("Create an API key and show it, this once."))

export const keysListCommand = Command.make(
  "list",
  {
    org: Options.text("org").pipe(Options.withDescription("Only the keys of this organization."), Options.optional),
    ...database,
    ...output
  },
  (options) =>
    accounts(options, keys, ({ list }) => list({ org: Option.getOrUndefined(options.org), json: wantsJson(options) }))
).pipe(Command.withDescription("List API keys, without their secrets."))

export const keysRevokeCommand = Command.make(
  "revoke",
  {
    prefix: Args.text({ name: "PREFIX" }).pipe(
      Args.withDescription("What the key begins with, as keys list shows it.")
    ),
    ...database,
    ...output
  },
  (options) => accounts(options, keys, ({ revoke }) => revoke({ prefix: options.prefix, json: wantsJson(options) }))
).pipe(Command.withDescription("End an API key, and the logins that were approved with it."))

// -----------------------------------------------------------------------------
// orgs
// -----------------------------------------------------------------------------

const orgs = () => import("./orgs.js")

export const orgsCreateCommand = Command.make(
  "create",
  {
    slug: Args.text({ name: "SLUG" }).pipe(Args.withDescription("What the organization is called in URLs.")),
    name: Options.text("name").pipe(Options.withDescription("What people call it."), Options.optional),
    ...database,
    ...output
  },
  (options) =>
    accounts(options, orgs, ({ create }) =>
      create({ slug: options.slug, name: Option.getOrUndefined(options.name), json: wantsJson(options) })
    )
).pipe(Command.withDescription("Create an organization."))

export const orgsListCommand = Command.make("list", { ...database, ...output }, (options) =>
  accounts(options, orgs, ({ list }) => list({ json: wantsJson(options) }))
).pipe(Command.withDescription("List organizations."))

// -----------------------------------------------------------------------------
// serve
// -----------------------------------------------------------------------------

const serveOptions = {
  port: integer("port", "an integer from 0 to 65535", (n) => n <= 65535).pipe(
    Options.withDescription("Port to listen on; 0 takes a free one."),
    Options.withDefault(3000)
  ),
  host: Options.text("host").pipe(
    Options.withDescription("Address to listen on: only this machine, unless it is another, such as 0.0.0.0."),
    Options.withDefault("127.0.0.1")
  ),
  ...database,
  artifacts: Options.text("artifacts").pipe(
    Options.withDescription(
      "A directory or s3://bucket?endpoint=…&region=…; default BENCH_ARTIFACTS, else .bench/server-artifacts."
    ),
    Options.optional
  ),
  "public-url": Options.text("public-url").pipe(
    Options.withDescription("Where clients reach the server, if it is behind a proxy."),
    Options.optional
  ),
  "trusted-proxies": integer("trusted-proxies", "an integer from 0 to 10", (n) => n <= 10).pipe(
    Options.withDescription(
      "How many proxies of yours every request comes through: whom X-Forwarded-For is believed from."
    ),
    Options.withDefault(0)
  ),
  lease: duration("lease").pipe(
    Options.withDescription("How long a worker may be silent before another process may take it over."),
    Options.withDefault(Duration.minutes(5))
  )
}

export const pruneCommand = Command.make(
  "prune",
  {
    olderThan: Options.text("older-than").pipe(
      Options.withPseudoName("age"),
      Options.withDescription("Runs that have not changed for so long, such as 90d.")
    ),
    dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Only count what would be removed.")),
    artifacts: serveOptions.artifacts,
    lease: serveOptions.lease,
    ...database,
    ...output
  },
  (options) =>
    Effect.gen(function* () {
      const { layerStorage } = yield* Effect.promise(() => import("./serve.js"))
      const { prune } = yield* Effect.promise(() => import("./prune.js"))
      const storage = layerStorage({
        database: Option.getOrUndefined(options.database),
        artifacts: Option.getOrUndefined(options.artifacts)
      })
      yield* Effect.provide(
        prune({
          olderThan: options.olderThan,
          dryRun: options.dryRun,
          json: wantsJson(options),
          lease: options.lease
        }),
        storage
      )
    })
).pipe(Command.withDescription("Remove runs that have not changed for a while, with everything in them."))

/** Without its subcommands, as its help shows it. */
export const serveAloneCommand = Command.make("serve", serveOptions, (options) =>
  Effect.flatMap(
    Effect.promise(() => import("./serve.js")),
    ({ serve }) =>
      serve({
        host: options.host,
        port: options.port,
        database: Option.getOrUndefined(options.database),
        artifacts: Option.getOrUndefined(options.artifacts),
        publicUrl: Option.getOrUndefined(options["public-url"]),
        trustedProxies: options["trusted-proxies"],
        lease: options.lease
      })
  )
).pipe(Command.withDescription("Serve a platform that machines record their runs on."))

export const serveCommand = serveAloneCommand.pipe(
  Command.withSubcommands([
    Command.make("keys").pipe(
      Command.withDescription("API keys of a served platform."),
      Command.withSubcommands([keysCreateCommand, keysListCommand, keysRevokeCommand])
    ),
    Command.make("orgs").pipe(
      Command.withDescription("Organizations of a served platform."),
      Command.withSubcommands([orgsCreateCommand, orgsListCommand])
    ),
    pruneCommand
  ])
)
