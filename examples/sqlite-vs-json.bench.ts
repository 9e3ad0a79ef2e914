// Two ways to keep 2000 people on disk, SQLite and one JSON file: how long to save them all, and to find ten of them.
// Run: bench run examples/sqlite-vs-json.bench.ts (neither store waits until a write has reached the disk)
import type { Error as PlatformError } from "@effect/platform"
import { FileSystem } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type { SqlError } from "@effect/sql"
import { SqlClient, SqlSchema } from "@effect/sql"
import { SqliteClient } from "@effect/sql-sqlite-node"
import type { ConfigError, ParseResult } from "effect"
import { Context, Duration, Effect, Layer, Option, Record, Schema } from "effect"
import { Benchmark, Step, Task } from "effect-bench"

const Person = Schema.Struct({ id: Schema.Int, name: Schema.String, email: Schema.String })
type Person = typeof Person.Type

const samePerson = Option.containsWith(Schema.equivalence(Person))

type StoreError = PlatformError.PlatformError | SqlError.SqlError | ParseResult.ParseError

class Store extends Context.Tag("Store")<
  Store,
  {
    readonly save: (people: ReadonlyArray<Person>) => Effect.Effect<unknown, StoreError>
    readonly find: (id: number) => Effect.Effect<Option.Option<Person>, StoreError>
  }
>() {}

const json = (file: string) =>
  Layer.effect(
    Store,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const People = Schema.parseJson(Schema.Array(Person))
      return {
        save: (people) => Effect.flatMap(Schema.encode(People)(people), (text) => fs.writeFileString(file, text)),
        find: (id) =>
          fs.readFileString(file).pipe(
            Effect.flatMap(Schema.decode(People)),
            Effect.map((people) => Option.fromNullable(people.find((person) => person.id === id)))
          )
      }
    })
  )

const sqlite = (file: string) =>
  Layer.effect(
    Store,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`PRAGMA synchronous = NORMAL`
      yield* sql`CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL)`
      return {
        save: (people) => sql`INSERT INTO people ${sql.insert(people)}`,
        find: SqlSchema.findOne({
          Request: Schema.Int,
          Result: Person,
          execute: (id) => sql`SELECT id, name, email FROM people WHERE id = ${id}`
        })
      }
    })
  ).pipe(Layer.provide(SqliteClient.layer({ filename: file })))

type OpenStore = (file: string) => Layer.Layer<Store, StoreError | ConfigError.ConfigError, FileSystem.FileSystem>

const stores: { readonly [name: string]: OpenStore } = { "json-file": json, sqlite }

const everyone = Array.from({ length: 2000 }, (_, id) => ({ id, name: `Person ${id}`, email: `p${id}@example.com` }))
const wanted = everyone.filter(({ id }) => id % 200 === 0)

const saveAndFind = Effect.gen(function* () {
  const store = yield* Store
  const find = (person: Person) =>
    Effect.filterOrFail(
      store.find(person.id),
      (found) => samePerson(found, person),
      () => new Task.TaskError(`person ${person.id} is not as it was saved`, { code: "WRONG_PERSON" })
    )
  const [saved] = yield* Effect.timed(Step.run("save", store.save(everyone)))
  const [found] = yield* Effect.timed(Step.run("find", Effect.forEach(wanted, find)))
  yield* Task.measure({ saveMs: Duration.toMillis(saved), findMs: Duration.toMillis(found) })
})

export default Benchmark.make({
  benchmarkSlug: "sqlite-vs-json",
  benchmarkName: "SQLite against a JSON file",
  iterations: 40,
  groupBy: "round",
  participants: Record.keys(stores).map((name) => ({ name })),
  scoring: {
    metrics: [
      { key: "saveMs", unit: "ms", ceiling: 100, weights: { median: 0.3, p95: 0.1, p99: 0.1 } },
      { key: "findMs", unit: "ms", ceiling: 100, weights: { median: 0.3, p95: 0.1, p99: 0.1 } }
    ]
  },
  display: {
    metrics: [
      { key: "saveMs", label: "save 2000", unit: "ms", decimals: 2, order: 0 },
      { key: "findMs", label: "find 10", unit: "ms", decimals: 2, order: 1 }
    ],
    overview: { defaultMetric: "compositeScore", defaultLayout: "ranking" }
  },
  layer: NodeFileSystem.layer,
  task: ({ participant }) =>
    Effect.gen(function* () {
      const store = yield* Record.get(stores, participant.name)
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped({ prefix: "bench-" })
      yield* Effect.provide(saveAndFind, store(`${directory}/people`))
    })
})
