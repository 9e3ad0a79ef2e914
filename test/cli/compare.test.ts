import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { project } from "../support/bench.js"

const task = `async ({ measure }) => measure({ x: Number(process.env.X) + Math.random() })`

/** A project with two runs, of which the second measured more. */
const recorded = Effect.gen(function* () {
  const here = yield* project
  const file = here.writeBench("x.mjs", { iterations: 20, participants: [{ name: "a" }, { name: "b" }] }, task)
  for (const X of ["10", "20"]) {
    const { code, stderr } = yield* here.bench(["run", file], { X })
    assert.strictEqual(code, 0, stderr)
  }
  return here
})

describe("bench compare", () => {
  it.scopedLive("compares two runs, as a table, as Markdown and as JSON, and fails on what must not be", () =>
    Effect.gen(function* () {
      const here = yield* recorded
      const table = yield* here.call(["compare", "last~1", "last"])
      assert.strictEqual(table.code, 0, table.stderr)
      assert.match(table.stdout, /\na +x +20 \/ 20 .* worse\n/)
      const failed = yield* here.call([
        "compare",
        "last~1",
        "last",
        "--fail-on",
        "x.median > +50%",
        "--format",
        "markdown"
      ])
      assert.strictEqual(failed.code, 4, failed.stderr)
      assert.match(failed.stdout, /^### Bench: run [0-9a-f]{8} compared with [0-9a-f]{8}\n\n- ❌ x.median/)
      const passed = yield* here.call(["compare", "last~1", "last", "--fail-on", "x.median > +500%", "--json"])
      assert.strictEqual(passed.code, 0, passed.stderr)
      assert.deepInclude(JSON.parse(passed.stdout), { unmatched: [], alpha: 0.05 })
      const participants = yield* here.call(["compare", "--participants", "a,b"])
      assert.strictEqual(participants.code, 0, participants.stderr)
      assert.include(participants.stdout, "a → b")
    })
  )

  it.scopedLive("compares with baselines", () =>
    Effect.gen(function* () {
      const here = yield* recorded
      const none = yield* here.call(["compare", "--baseline", "main", "last"])
      assert.deepStrictEqual(
        [none.code, none.stderr.trim()],
        [1, 'There is no baseline "main". Save one: bench baseline save main last']
      )
      const saved = yield* here.call(["baseline", "save", "main", "last~1"])
      assert.match(saved.stderr, /^Baseline main is run .* of bench\./)
      assert.match((yield* here.call(["baseline", "list"])).stdout, /\n\* {2}main {2}bench/)
      const compared = yield* here.call(["compare", "--baseline", "current", "last", "--fail-on", "x.min > +1%"])
      assert.strictEqual(compared.code, 4, compared.stderr)
      yield* here.call(["baseline", "save", "other"])
      assert.match((yield* here.call(["baseline", "use", "other"])).stderr, /compares with other now/)
      const items = JSON.parse((yield* here.call(["baseline", "list", "--json"])).stdout)
      assert.deepStrictEqual(
        items.items.map(({ current, name }: { current: boolean; name: string }) => [name, current]),
        [
          ["main", false],
          ["other", true]
        ]
      )
      assert.strictEqual((yield* here.call(["baseline", "remove", "other"])).code, 0)
      assert.match((yield* here.call(["baseline", "remove", "other"])).stderr, /There are: main/)
      assert.match((yield* here.call(["baseline", "save", "../x"])).stderr, /named with letters/)
      fs.writeFileSync(here.path(".bench/baselines.json"), "{")
      assert.match((yield* here.call(["baseline", "list"])).stderr, /cannot be read: .* Mend it/)
    })
  )

  it.scopedLive("says what to name, and what cannot be read", () =>
    Effect.gen(function* () {
      const here = yield* recorded
      const refused = (...args: ReadonlyArray<string>) =>
        Effect.map(here.call(["compare", ...args]), ({ code, stderr }) => `${code} ${stderr.trim()}`)
      assert.match(yield* refused(), /^1 Name two runs/)
      assert.match(yield* refused("last"), /^1 Name two runs/)
      assert.match(yield* refused("last", "last", "last"), /^1 compare takes two runs/)
      assert.match(yield* refused("--baseline", "m", "last", "last"), /^1 --baseline takes the place/)
      assert.match(yield* refused("--participants", "a"), /^1 --participants expects two names/)
      assert.match(yield* refused("--participants", "a,z"), /^1 Run .* has no participant "z". It has: /)
      assert.match(yield* refused("last~1", "last", "--fail-on", "x"), /^1 --fail-on: cannot read "x"/)
      assert.match(yield* refused("last", "last"), /^0 Both are run/)
    })
  )
})
