import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Schema } from "effect"
import * as TaskResults from "../../src/internal/server/taskResults.js"
import { TaskResultsInput } from "../../src/Platform.js"

// -----------------------------------------------------------------------------
// support
// -----------------------------------------------------------------------------

const accepts = Schema.is(TaskResultsInput)

const decodes = (value: unknown) => Schema.decodeUnknownEither(TaskResultsInput)(value)._tag === "Right"

/** What JSON can hold and a field of a batch cannot, often enough. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, "", "x", 0, -0, -1, 1, 0.5, 1e300, 9007199254740992, Infinity, [], {}, [
    []
  ]),
  fc.jsonValue()
)

/** Fields as they should be, some of them missing, null or something else. */
const spoiled = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(
      fc.record(fields, { requiredKeys: [] }),
      fc.record(fields),
      fc.dictionary(fc.constantFrom(...Object.keys(fields), "extra", "__proto__"), odd, { maxKeys: 1 }),
      fc.constantFrom("whole", "whole", "partial", "spoiled")
    )
    .map(([partial, whole, others, kind]) =>
      kind === "whole" ? whole : kind === "partial" ? partial : { ...whole, ...others }
    )

const text = fc.constantFrom("success", "error", "")
const textOrNothing = fc.option(text, { nil: null })
const numberOrNothing = fc.option(fc.double({ noNaN: true }), { nil: null })
const dataOrNothing = fc.option(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }), { nil: null })
const count = fc.constantFrom(0, 1, 4999)

const times = {
  startedAt: textOrNothing,
  completedAt: textOrNothing,
  latencyMs: numberOrNothing,
  errorCode: textOrNothing,
  data: dataOrNothing
}

const step = spoiled({ name: text, status: text, ...times, concurrency: odd, timeoutMs: odd })

const record = spoiled({
  taskIndex: count,
  status: text,
  ...times,
  firstCommandMs: numberOrNothing,
  steps: fc.option(fc.array(step, { maxLength: 2 }), { nil: null })
})

const batch = spoiled({
  type: fc.constant("task_results"),
  attemptId: text,
  sequenceNumber: count,
  isFinal: fc.boolean(),
  records: fc.array(record, { maxLength: 2 })
})

const valid = { type: "task_results", attemptId: "a", sequenceNumber: 0, isFinal: true }

const refusal = (json: unknown) =>
  Effect.map(Effect.flip(TaskResults.decode(json)), ({ _tag, issues }) => ({
    tag: _tag,
    fields: issues?.map(({ field }) => field)
  }))

// -----------------------------------------------------------------------------
// tests
// -----------------------------------------------------------------------------

describe("TaskResults", () => {
  it("what is recognised by hand is what the schema accepts", () => {
    const seen = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(batch, (value) => {
        const expected = decodes(value)
        seen[expected ? "accepted" : "refused"]++
        assert.strictEqual(TaskResults.isTaskResults(value), expected)
        assert.strictEqual(accepts(value), expected)
      }),
      { numRuns: 3000 }
    )
    assert.isAbove(seen.accepted, 300)
    assert.isAbove(seen.refused, 300)
  })

  it("of anything that JSON can hold nothing else is recognised", () => {
    fc.assert(
      fc.property(odd, (value) => {
        assert.strictEqual(TaskResults.isTaskResults(value), decodes(value))
      })
    )
  })

  it.effect("what is recognised is passed on as it is", () =>
    Effect.gen(function* () {
      const json = { ...valid, records: [{ taskIndex: 0, status: "success", data: { "a b": [1] }, steps: null }] }
      assert.strictEqual<unknown>(yield* TaskResults.decode(json), json)
    })
  )

  it.effect("the schema says what is wrong with the rest", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* refusal({ ...valid, isFinal: 1, records: [{ status: "x" }] }), {
        tag: "BodyRefused",
        fields: ["isFinal", "records[0].taskIndex"]
      })
      assert.deepStrictEqual(yield* refusal([]), { tag: "BodyRefused", fields: ["request"] })
    })
  )

  it.effect("a batch that is too long is refused before anything in it is looked at", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* refusal({ ...valid, records: Array.from({ length: 5001 }, () => 1) }), {
        tag: "InvalidRequest",
        fields: ["records"]
      })
      const steps = Array.from({ length: 101 }, () => 1)
      assert.deepStrictEqual(yield* refusal({ ...valid, records: [{ taskIndex: 0, status: "x", steps }] }), {
        tag: "InvalidRequest",
        fields: ["records[0].steps"]
      })
    })
  )

  it.effect("of very many records that do not fit a hundred are looked into", () =>
    Effect.gen(function* () {
      const records = Array.from({ length: 5000 }, () => ({ taskIndex: -1, status: "x" }))
      const error = yield* Effect.flip(TaskResults.decode({ ...valid, records }))
      assert.strictEqual(error.issues?.length, 21)
      assert.deepStrictEqual(error.issues?.[20], { field: "request", message: "has 80 more issues" })
    })
  )

  it.effect("what is nested too deeply to be told is refused", () =>
    Effect.gen(function* () {
      const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000))
      for (const json of [deep, { ...valid, records: [{ taskIndex: 0, status: deep }] }]) {
        const error = yield* Effect.flip(TaskResults.decode(json))
        assert.strictEqual(error.message, "The body is nested too deeply.")
      }
    })
  )
})
