import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, Redacted } from "effect"
import { parseRunFlags, runFlagTable, splitRunArgv } from "../../src/cli/runFlags.js"
import { readVectors } from "../support/vectors.js"

interface Deviation {
  readonly reason: string
  readonly instead: { readonly error: string } | { readonly args: Record<string, unknown> }
}

const missing = (flag: string): Deviation => ({
  reason: "a flag is not the value of the one before it",
  instead: { error: `${flag} expects a value` }
})

const notDecimal = (flag: string, value: string): Deviation => ({
  reason: "numbers are plain decimals that a double holds exactly",
  instead: { error: `${flag} expects an integer >= 1 (got "${value}")` }
})

const noParticipant: Deviation = {
  reason: "an empty list would select nothing, or all",
  instead: { error: "--provider expects a comma-separated list of participants" }
}

const deviations: Readonly<Record<string, Deviation>> = {
  "--name takes the next flag as its value": missing("--name"),
  "--shape takes the next flag as its value": missing("--shape"),
  "--run-key takes the next flag as its value": missing("--run-key"),
  "--iterations exponent": notDecimal("--iterations", "2e1"),
  "--iterations hex": notDecimal("--iterations", "0x1f"),
  "--iterations padded": notDecimal("--iterations", " 7 "),
  "--iterations binary": notDecimal("--iterations", "0b11"),
  "--iterations huge": notDecimal("--iterations", "1e30"),
  "--concurrency exponent": notDecimal("--concurrency", "2e1"),
  "--concurrency hex": notDecimal("--concurrency", "0x1f"),
  "--concurrency padded": notDecimal("--concurrency", " 7 "),
  "--concurrency binary": notDecimal("--concurrency", "0b11"),
  "--concurrency huge": notDecimal("--concurrency", "1e30"),
  "--stagger-delay-ms exponent": {
    reason: "exponents are refused on the command line, for every flag alike",
    instead: { error: `--stagger-delay-ms expects a number >= 0 (got "1e3")` }
  },
  "provider only commas gives an empty list": noParticipant,
  "provider without value gives an empty list": noParticipant,
  "provider equals nothing": noParticipant,
  "provider takes the next flag as a name": noParticipant,
  "provider then a number left over": noParticipant,
  "no-ingest=false still means true": {
    reason: "it reads as the opposite of what it did",
    instead: { error: `--no-ingest takes no value (got "false")` }
  },
  "unknown flag with negative value reports both": {
    reason: "a negative number is a value",
    instead: { error: "Unknown flag(s): --bogus" }
  },
  "custom flag with negative value: value is unknown": {
    reason: "a negative number is a value",
    instead: { args: {} }
  },
  "two bare words: the second is taken as a value": {
    reason: "a stray word takes no value, so both are named",
    instead: { error: "Unknown flag(s): one, two" }
  },
  "three bare words": {
    reason: "a stray word takes no value, so all are named",
    instead: { error: "Unknown flag(s): one, two, three" }
  },
  "unknown flag followed by empty argument": {
    reason: "an empty argument is a value",
    instead: { error: "Unknown flag(s): --bogus" }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null
const isStrings = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

const observe = (result: ReturnType<typeof parseRunFlags>): unknown =>
  Either.match(result, { onLeft: ({ message }) => ({ error: message }), onRight: (args) => ({ args }) })

const parse = (...argv: ReadonlyArray<string>) => observe(parseRunFlags(argv, { customFlags: ["--rows"] }))

describe("cli-args.json", () => {
  const cases = readVectors("cli-args")

  const run = ({ allowedCustomFlags, argv, env }: Record<string, unknown>) => {
    if (!isStrings(argv)) throw new Error("unexpected shape in a vector")
    const noIngestEnv = isObject(env) ? env["BENCHSDK_NO_INGEST"] : undefined
    return observe(
      parseRunFlags(argv, {
        customFlags: isStrings(allowedCustomFlags) ? allowedCustomFlags : [],
        noIngestEnv: typeof noIngestEnv === "string" ? noIngestEnv : undefined
      })
    )
  }

  for (const vector of cases) {
    const name = String(vector["name"])
    const deviation = deviations[name]
    if (deviation === undefined) {
      it(name, () => assert.deepStrictEqual(run(vector), vector["expected"]))
    } else {
      it(`${name}: differs, since ${deviation.reason}`, () => {
        assert.notDeepEqual(run(vector), vector["expected"])
        assert.deepStrictEqual<unknown>(run(vector), deviation.instead)
      })
    }
  }

  it("every exception names a vector", () => {
    const names = cases.map(({ name }) => name)
    assert.deepStrictEqual(
      Object.keys(deviations).filter((name) => !names.includes(name)),
      []
    )
  })
})

describe("parseRunFlags", () => {
  it("refuses integers that a double does not hold exactly", () => {
    assert.deepStrictEqual(parse("--iterations", "9007199254740991"), { args: { iterations: 9007199254740991 } })
    assert.deepStrictEqual(parse("--iterations", "9007199254740992"), {
      error: `--iterations expects an integer >= 1 (got "9007199254740992")`
    })
  })

  it("refuses delays that are no plain decimals", () => {
    for (const value of ["0x10", " 5", "1_0", "5ms", ".", "+", "1e400"]) {
      assert.deepStrictEqual(parse("--stagger-delay-ms", value), {
        error: `--stagger-delay-ms expects a number >= 0 (got "${value}")`
      })
    }
    assert.deepStrictEqual(parse("--stagger-delay-ms", ".5"), { args: { staggerDelayMs: 0.5 } })
  })

  it("does not take the flag that follows for a missing value", () => {
    assert.deepStrictEqual(parse("--run-key", "--dry-run"), { error: "--run-key expects a value" })
    assert.deepStrictEqual(parse("--shape", "-x"), { error: "--shape expects a value" })
    assert.deepStrictEqual(parse("--api-key", "--local"), { error: "--api-key expects a value" })
    assert.deepStrictEqual(parse("--base-url", "--local"), { error: "--base-url expects a value" })
  })

  it("takes a value that looks like a flag after an equals sign", () => {
    assert.deepStrictEqual(parse("--name=--dry-run"), { args: { name: "--dry-run" } })
    assert.deepStrictEqual(parse("--provider=--odd,even"), { args: { providers: ["--odd", "even"] } })
  })

  it("takes negative numbers and a lone dash as values", () => {
    assert.deepStrictEqual(parse("--name", "-5", "--run-key", "-"), { args: { name: "-5", runKey: "-" } })
  })

  it("reads where a run goes", () => {
    assert.deepStrictEqual(
      parse("--base-url", "http://localhost:8787", "--org=acme", "--config", "bench.ci.ts", "--local"),
      { args: { baseUrl: "http://localhost:8787", org: "acme", config: "bench.ci.ts", local: true } }
    )
  })

  it("refuses a base URL that is not http", () => {
    for (const url of ["localhost:8787", "ftp://host", "https://", "platform"]) {
      assert.deepStrictEqual(parse("--base-url", url), {
        error: `--base-url expects an http or https URL (got "${url}")`
      })
    }
  })

  it("keeps the API key redacted", () => {
    const flags = Either.getOrThrow(parseRunFlags(["--api-key=bp_1_secret"], { customFlags: [] }))
    assert.strictEqual(flags.apiKey && Redacted.value(flags.apiKey), "bp_1_secret")
    assert.notInclude(JSON.stringify(flags), "secret")
  })

  it("reads how to print", () => {
    assert.deepStrictEqual(parse("--format", "table", "--json", "--quiet", "--verbose"), {
      args: { format: "table", json: true, quiet: true, verbose: true }
    })
    assert.deepStrictEqual(parse("--format", "yaml"), { error: `--format expects 'json' or 'table' (got "yaml")` })
  })

  it("refuses a value for any switch", () => {
    const switches = runFlagTable.filter(({ kind }) => kind === "switch")
    assert.isNotEmpty(switches)
    for (const { aliases, name } of switches) {
      for (const given of [name, ...aliases]) {
        assert.deepStrictEqual(parse(`${given}=0`), { error: `${given} takes no value (got "0")` })
        assert.deepStrictEqual(parse(`${given}=`), { error: `${given} takes no value (got "")` })
      }
    }
  })

  it("reads --validate as --check", () => {
    assert.deepStrictEqual(parse("--validate"), { args: { check: true } })
  })

  it("leaves a custom flag's value alone", () => {
    assert.deepStrictEqual(parse("--rows", "", "--rows", "-5", "--rows=x"), { args: {} })
  })
})

describe("runFlagTable", () => {
  it("has no name twice", () => {
    const names = runFlagTable.flatMap(({ aliases, name }) => [name, ...aliases])
    assert.deepStrictEqual(names, [...new Set(names)])
  })

  it("describes every flag, and names the value of those that take one", () => {
    for (const { choices, description, kind, placeholder } of runFlagTable) {
      assert.match(description, /^[A-Z].*\.$/)
      assert.strictEqual(placeholder === undefined, kind === "switch")
      assert.strictEqual(choices === undefined, kind !== "choice")
    }
  })
})

describe("splitRunArgv", () => {
  const split = (...argv: ReadonlyArray<string>) => {
    const { file, rest } = splitRunArgv(argv)
    return [file, ...rest]
  }

  it("finds the file before, after and between flags", () => {
    assert.deepStrictEqual(split("a.bench.ts", "--iterations", "2"), ["a.bench.ts", "--iterations", "2"])
    assert.deepStrictEqual(split("--iterations", "2", "a.bench.ts"), ["a.bench.ts", "--iterations", "2"])
    assert.deepStrictEqual(split("--iterations=2", "a.bench.ts", "--local"), [
      "a.bench.ts",
      "--iterations=2",
      "--local"
    ])
  })

  it("does not take the value of a known flag", () => {
    assert.deepStrictEqual(split("--config", "bench.config.ts", "a.bench.ts"), [
      "a.bench.ts",
      "--config",
      "bench.config.ts"
    ])
    assert.deepStrictEqual(split("--iterations", "a.bench.ts"), [undefined, "--iterations", "a.bench.ts"])
  })

  it("takes the word after a switch", () => {
    assert.deepStrictEqual(split("--dry-run", "a.bench.ts"), ["a.bench.ts", "--dry-run"])
  })

  it("leaves an unknown flag its value when there is another file", () => {
    assert.deepStrictEqual(split("--rows", "5", "a.bench.ts"), ["a.bench.ts", "--rows", "5"])
    assert.deepStrictEqual(split("--rows", "-5", "a.bench.ts"), ["a.bench.ts", "--rows", "-5"])
    assert.deepStrictEqual(split("--seed", "seed.ts", "a.bench.ts"), ["a.bench.ts", "--seed", "seed.ts"])
  })

  it("takes the word after an unknown flag when it alone looks like a file", () => {
    assert.deepStrictEqual(split("--rows", "a.bench.ts"), ["a.bench.ts", "--rows"])
    assert.deepStrictEqual(split("--rows", "a.bench.ts", "5"), ["a.bench.ts", "--rows", "5"])
    assert.deepStrictEqual(split("--rows", "5"), [undefined, "--rows", "5"])
  })

  it("prefers a word that looks like a module", () => {
    for (const file of ["a.ts", "a.js", "a.mts", "a.mjs", "a.cts", "a.cjs"]) {
      assert.deepStrictEqual(split("word", file), [file, "word"])
    }
    assert.deepStrictEqual(split("word", "a.json"), ["word", "a.json"])
  })

  it("takes no flag that follows for a value", () => {
    assert.deepStrictEqual(split("--name", "--local", "a.bench.ts"), ["a.bench.ts", "--name", "--local"])
  })

  it("finds nothing where there is nothing", () => {
    assert.deepStrictEqual(split(), [undefined])
    assert.deepStrictEqual(split("", "--local"), [undefined, "", "--local"])
  })

  it.prop(
    "finds the file wherever it is put among known flags",
    [
      FastCheck.shuffledSubarray([
        ["--iterations", "3"],
        ["--name", "x.ts"],
        ["--provider=a,b"],
        ["--dry-run"],
        ["--config=c.ts"]
      ]),
      FastCheck.nat()
    ],
    ([groups, at]) => {
      const position = at % (groups.length + 1)
      const argv = [...groups.slice(0, position), ["a.bench.ts"], ...groups.slice(position)].flat()
      assert.deepStrictEqual(splitRunArgv(argv), { file: "a.bench.ts", rest: groups.flat() })
    }
  )
})
