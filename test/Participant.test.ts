import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Either, FastCheck } from "effect"
import * as Participant from "../src/Participant.js"

const alpha = { name: "alpha", requiredEnvVars: ["ALPHA_KEY", "ALPHA_ZONE"], tier: 2 }
const beta = { name: "beta", requiredEnvVars: ["BETA_KEY"] }
const gamma = { name: "gamma" }
const all: ReadonlyArray<Participant.Participant> = [alpha, beta, gamma]

describe("select", () => {
  const namesOf = (names?: ReadonlyArray<string>) =>
    Either.getOrThrow(Participant.select(all, names)).map(({ name }) => name)

  it("takes all participants when none are asked for", () => {
    assert.deepStrictEqual(namesOf(), ["alpha", "beta", "gamma"])
    assert.deepStrictEqual(namesOf([]), ["alpha", "beta", "gamma"])
  })

  it("keeps the config's order", () => {
    assert.deepStrictEqual(namesOf(["gamma", "alpha"]), ["alpha", "gamma"])
  })

  it("takes a participant once however often it is named", () => {
    assert.deepStrictEqual(namesOf(["beta", "beta"]), ["beta"])
  })

  it("returns the participants themselves", () => {
    assert.strictEqual(Either.getOrThrow(Participant.select([alpha, beta], ["alpha"]))[0], alpha)
  })

  it("names every unknown participant once, and those that exist", () => {
    const error = Either.getOrThrow(Either.flip(Participant.select(all, ["delta", "beta", "Alpha", "delta"])))
    assert.strictEqual(error._tag, "UnknownParticipantsError")
    assert.deepStrictEqual(error.unknown, ["delta", "Alpha"])
    assert.strictEqual(error.message, "Unknown participant(s): delta, Alpha. Available: alpha, beta, gamma")
  })

  it.prop(
    "selects exactly the named ones",
    [FastCheck.subarray(["alpha", "beta", "gamma"], { minLength: 1 })],
    ([names]) => {
      assert.deepStrictEqual(namesOf([...names].reverse()), names)
    }
  )
})

describe("gate", () => {
  const gated = (participants: ReadonlyArray<Participant.Participant>, env: Record<string, string>) =>
    Effect.withConfigProvider(Participant.gate(participants), ConfigProvider.fromMap(new Map(Object.entries(env))))

  it.effect("skips a participant that lacks any of its variables, unset or empty", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* gated(all, { ALPHA_ZONE: "", BETA_KEY: "b" }), {
        available: [beta, gamma],
        skipped: [{ participant: alpha, missing: ["ALPHA_KEY", "ALPHA_ZONE"] }]
      })
    })
  )

  it.effect("lists only what is missing", () =>
    Effect.gen(function* () {
      const { available, skipped } = yield* gated([alpha], { ALPHA_KEY: "a" })
      assert.deepStrictEqual(available, [])
      assert.deepStrictEqual(skipped, [{ participant: alpha, missing: ["ALPHA_ZONE"] }])
    })
  )

  it.effect("keeps every participant when everything is set", () =>
    Effect.gen(function* () {
      const env = { ALPHA_KEY: "a", ALPHA_ZONE: " ", BETA_KEY: "b,c" }
      assert.deepStrictEqual(yield* gated(all, env), { available: all, skipped: [] })
    })
  )

  it.effect("a blank name requires nothing, a repeated one is missing once", () =>
    Effect.gen(function* () {
      const blank = { name: "blank", requiredEnvVars: ["", " "] }
      const twice = { name: "twice", requiredEnvVars: ["KEY", "KEY"] }
      assert.deepStrictEqual(yield* gated([blank, twice], {}), {
        available: [blank],
        skipped: [{ participant: twice, missing: ["KEY"] }]
      })
    })
  )

  it.effect("a variable named like an inherited property is missing in the process environment", () =>
    Effect.gen(function* () {
      const odd = { name: "odd", requiredEnvVars: ["constructor"] }
      const result = yield* Effect.withConfigProvider(Participant.gate([odd]), ConfigProvider.fromEnv())
      assert.deepStrictEqual(result.skipped, [{ participant: odd, missing: ["constructor"] }])
    })
  )
})

describe("messages", () => {
  const skipped = [
    { participant: alpha, missing: ["ALPHA_KEY", "ALPHA_ZONE"] },
    { participant: beta, missing: ["BETA_KEY"] }
  ]

  it("a skipped participant is named with what it lacks", () => {
    assert.deepStrictEqual(skipped.map(Participant.skipMessage), [
      "Skipping alpha: missing ALPHA_KEY, ALPHA_ZONE",
      "Skipping beta: missing BETA_KEY"
    ])
  })

  it("no available participant: every one is listed with what to set", () => {
    const error = new Participant.NoAvailableParticipantsError({ skipped })
    assert.strictEqual(error._tag, "NoAvailableParticipantsError")
    assert.strictEqual(
      error.message,
      "No participant can run: each of them lacks environment variables.\n" +
        "  - alpha: set ALPHA_KEY, ALPHA_ZONE\n" +
        "  - beta: set BETA_KEY\n" +
        "\n" +
        "Set the variables of at least one participant and try again."
    )
  })
})
