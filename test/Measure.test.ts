import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Option } from "effect"
import * as Step from "../src/Step.js"
import * as Task from "../src/Task.js"
import { onlyRecord } from "./support/engine.js"

const cyclic = (): Record<string, unknown> => {
  const value: Record<string, unknown> = { name: "loop" }
  value["self"] = { list: [1, value] }
  return value
}

const throwing = Object.defineProperty({}, "a", {
  enumerable: true,
  get: () => {
    throw new Error("hostile")
  }
})

/** Untyped callers measure anything. */
const measureAny = (data: unknown) => Effect.suspend(() => Task.measure(Object.assign(Object(data))))

describe("a measure that JSON cannot hold", () => {
  const cases: ReadonlyArray<readonly [string, Record<string, unknown>, string]> = [
    ["NaN", { n: Number.NaN }, '"n" is NaN'],
    ["Infinity", { a: { b: [1, Number.POSITIVE_INFINITY] } }, '"a.b[1]" is Infinity'],
    ["-Infinity", { n: Number.NEGATIVE_INFINITY }, '"n" is -Infinity'],
    ["a bigint", { n: 3n }, '"n" is a bigint'],
    ["a function", { f: () => 1 }, '"f" is a function'],
    ["a symbol", { s: Symbol("s") }, '"s" is a symbol'],
    ["a Map", { m: new Map([["a", 1]]) }, '"m" is a Map'],
    ["a Set", { deep: [new Set([1])] }, '"deep[0]" is a Set'],
    ["an error", { e: new Error("x") }, '"e" is an Error'],
    ["binary data", { b: new Uint8Array(3) }, '"b" is binary data'],
    ["a cycle", cyclic(), '"self.list[1].self" is a cycle'],
    ["what toJSON gives", { o: { toJSON: () => 5n } }, '"o" is a bigint']
  ]

  for (const [name, data, what] of cases) {
    it.effect(`is an error that names its key: ${name}`, () =>
      Effect.gen(function* () {
        const task = Effect.gen(function* () {
          yield* Task.measure({ before: 1 })
          yield* Task.measure({ fine: 2, ...data })
        })
        const record = yield* onlyRecord(task)
        assert.strictEqual(record.status, "error")
        assert.strictEqual(record.errorCode, "InvalidMeasure")
        assert.deepStrictEqual(record.data, {
          before: 1,
          errorMessage: `Cannot record this measure: ${what}, which JSON cannot hold.`
        })
      })
    )
  }

  it.effect("fails its step with the same error, and can be recovered from as a defect", () =>
    Effect.gen(function* () {
      const task = Step.run("a", Task.measure({ n: Number.NaN })).pipe(
        Effect.catchSomeDefect((defect) =>
          defect instanceof Task.InvalidMeasure ? Option.some(Task.measure({ detail: defect.detail })) : Option.none()
        )
      )
      const record = yield* onlyRecord(task)
      assert.strictEqual(record.status, "success")
      assert.deepStrictEqual(record.data, { detail: '"n" is NaN, which JSON cannot hold' })
      assert.strictEqual(record.steps?.[0]?.errorCode, "InvalidMeasure")
    })
  )

  const unfit: ReadonlyArray<readonly [string, object, string]> = [
    ["a list", [1], "the value is an array, which JSON cannot hold as an object's fields"],
    ["a Map", new Map([["a", 1]]), "the value is a Map, which JSON cannot hold as an object's fields"],
    ["an error", new Error("x"), "the value is an Error, which JSON cannot hold as an object's fields"],
    ["an object that throws", throwing, "the value is an object that cannot be read (hostile), which JSON cannot hold"]
  ]

  for (const [name, data, detail] of unfit) {
    it.effect(`is an error when it is ${name} instead of fields`, () =>
      Effect.gen(function* () {
        const record = yield* onlyRecord(measureAny(data))
        assert.strictEqual(record.errorCode, "InvalidMeasure")
        assert.deepStrictEqual(record.data, { errorMessage: `Cannot record this measure: ${detail}.` })
      })
    )
  }
})

describe("a measure", () => {
  it.effect("merges shallowly, the later over the earlier, and undefined removes", () =>
    Effect.gen(function* () {
      const task = Effect.gen(function* () {
        yield* Task.measure({ a: { x: 1 }, b: 1, c: 1 })
        yield* Task.measure({ a: { y: 2 }, b: undefined })
      })
      assert.deepStrictEqual((yield* onlyRecord(task)).data, { a: { y: 2 }, c: 1 })
    })
  )

  it.effect("is taken as it was when it was made", () =>
    Effect.gen(function* () {
      const list = [1]
      const nested = { list, date: new Date(0) }
      const task = Effect.gen(function* () {
        yield* Task.measure({ nested })
        list.push(2)
        nested.date.setTime(1)
        Object.assign(nested, { added: true })
      })
      assert.deepStrictEqual((yield* onlyRecord(task)).data, {
        nested: { list: [1], date: "1970-01-01T00:00:00.000Z" }
      })
    })
  )

  it.effect("holds what JSON makes of dates, of toJSON, of gaps and of missing fields", () =>
    Effect.gen(function* () {
      const gaps: Array<unknown> = [1]
      gaps[2] = undefined
      const measured = {
        date: new Date(Date.UTC(2026, 0, 2)),
        custom: { toJSON: () => ({ inner: [new Date(0)] }) },
        option: Option.some(1),
        gaps,
        missing: { a: undefined, b: null },
        bare: Object.assign(Object.create(null), { a: 1 })
      }
      const { data } = yield* onlyRecord(Task.measure(measured))
      assert.strictEqual(JSON.stringify(data), JSON.stringify(measured))
      assert.deepStrictEqual(data, JSON.parse(JSON.stringify(measured)))
    })
  )

  it.effect("may have a key that JavaScript treats specially", () =>
    Effect.gen(function* () {
      const text = '{"__proto__":{"polluted":1},"constructor":2,"nested":{"__proto__":3}}'
      const task = Effect.gen(function* () {
        yield* Task.measure(JSON.parse(text))
        yield* Step.run("a", Task.measure(JSON.parse(text)))
        return { data: JSON.parse('{"__proto__":4}') }
      })
      const record = yield* onlyRecord(task)
      assert.strictEqual(JSON.stringify(record.data), text.replace('{"polluted":1}', "4"))
      assert.strictEqual(JSON.stringify(record.steps?.[0]?.data), text)
      assert.notProperty({}, "polluted")
    })
  )

  it.effect("may hold the same object twice", () =>
    Effect.gen(function* () {
      const shared = { n: 1 }
      assert.deepStrictEqual((yield* onlyRecord(Task.measure({ a: shared, b: [shared, shared] }))).data, {
        a: { n: 1 },
        b: [{ n: 1 }, { n: 1 }]
      })
    })
  )

  it.effect("too deep to be copied is an error", () =>
    Effect.gen(function* () {
      let deep: Record<string, unknown> = {}
      for (let i = 0; i < 20_000; i++) deep = { deep }
      const record = yield* onlyRecord(Task.measure({ deep }))
      assert.strictEqual(record.errorCode, "InvalidMeasure")
    })
  )

  const json = FastCheck.dictionary(FastCheck.string(), FastCheck.jsonValue({ maxDepth: 4 }))

  it.effect.prop(
    "of any JSON comes out equal in the record",
    [json, json, json],
    ([measured, inStep, returned]) =>
      Effect.gen(function* () {
        const task = Effect.gen(function* () {
          yield* Task.measure(measured)
          yield* Step.run("a", Task.measure(inStep))
          return { data: returned }
        })
        const record = yield* onlyRecord(task)
        assert.strictEqual(record.status, "success")
        assert.strictEqual(JSON.stringify(record.data), JSON.stringify({ ...measured, ...returned }))
        assert.strictEqual(JSON.stringify(record.steps?.[0]?.data), JSON.stringify(inStep))
      }),
    { fastCheck: { numRuns: 100 } }
  )
})
