import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FastCheck as fc, Redacted } from "effect"
import * as Redaction from "../src/Redaction.js"

const secret = "p@ss/w0rd+\"quoted\" & 'more'"

const redact = Redaction.make([secret])

const lookalikes = Redaction.make([])

const base64 = (text: string) => Buffer.from(text).toString("base64")

describe("known secrets", () => {
  const forms: ReadonlyArray<readonly [form: string, text: string]> = [
    ["as they are", secret],
    ["URL-encoded", encodeURIComponent(secret)],
    ["URL-encoded with small letters", encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase())],
    ["in a query string", new URLSearchParams({ q: secret }).toString().slice(2)],
    ["in base64", base64(secret)],
    ["in base64 for URLs", Buffer.from(secret).toString("base64url")],
    ["escaped in JSON", JSON.stringify(secret).slice(1, -1)],
    ["escaped in JSON within JSON", JSON.stringify(JSON.stringify(secret)).slice(3, -3)]
  ]
  for (const [form, text] of forms) {
    it(`are taken out ${form}`, () => {
      assert.strictEqual(redact(`a ${text} b ${text}`), "a [redacted] b [redacted]")
    })
  }

  for (const before of ["", "u", "us", "user"]) {
    it(`are taken out of base64 that has "${before}" before them`, () => {
      const key = "0123456789abcdef"
      const text = Redaction.make([key])(base64(`${before}:${key}:after`))
      assert.include(text, "[redacted]")
      assert.notInclude(Buffer.from(text.split("[redacted]").join(""), "base64").toString("latin1"), key.slice(2, -2))
    })
  }

  it("the longest of several is taken out first", () => {
    const both = Redaction.make(["hunter2", "hunter2-and-more"])
    assert.strictEqual(both("x hunter2-and-more y hunter2"), "x [redacted] y [redacted]")
  })

  it("no part of overlapping ones is left", () => {
    assert.strictEqual(Redaction.make(["abcdef", "defghi"])("-abcdefghi-"), "-[redacted]-")
    assert.strictEqual(Redaction.make(["abcabc"])("-abcabcabcabc-"), "-[redacted]-")
    assert.strictEqual(Redaction.make(["aXbXa"])("-aXbXaXbXa-"), "-[redacted]-")
  })

  it("side by side each has its marker", () => {
    assert.strictEqual(Redaction.make(["12345"])("1234512345"), "[redacted]")
    assert.strictEqual(Redaction.make(["1234a", "b5678"])("1234ab5678"), "[redacted][redacted]")
  })

  it("of fewer than 4 characters are ignored, and so are blank ones", () => {
    const text = "abc a    b abcd"
    assert.strictEqual(Redaction.make(["abc", "a", "", "    "])(text), text)
    assert.strictEqual(Redaction.make(["abcd"])(text), "abc a    b [redacted]")
  })

  it("are found without the white space around them", () => {
    assert.strictEqual(Redaction.make(["hunter2\n"])("a hunter2 b"), "a [redacted] b")
  })

  it("of several lines are found line by line", () => {
    const lines = ["first-line-0123456789", "second-line-0123456789", "short"]
    const many = Redaction.make([lines.join("\n")])
    assert.strictEqual(many(`[${lines[1]}]`), "[[redacted]]")
    assert.strictEqual(many("short"), "short")
    assert.strictEqual(many(lines.join("\n")), "[redacted]")
  })

  it("may be redacted values", () => {
    assert.strictEqual(Redaction.make([Redacted.make("hunter2")])("a hunter2"), "a [redacted]")
  })

  it("with lone surrogates are no problem", () => {
    assert.strictEqual(Redaction.make(["ab\ud800cd"])("ab\ud800cd"), "[redacted]")
  })

  it("do not survive in any position, in any form", () => {
    const units = ["binary", fc.constantFrom(..."bghijkxyz0123456789+/ %\"'\\\n&=")] as const
    fc.assert(
      fc.property(
        fc.array(fc.oneof(...units.map((unit) => fc.string({ minLength: 4, maxLength: 40, unit }))), {
          minLength: 1,
          maxLength: 4
        }),
        fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 0, max: 5 }),
        (secrets, around, form) => {
          fc.pre(secrets.every((text) => text.trim() !== ""))
          // What the marker itself brings in cannot be kept out.
          fc.pre(!secrets.some((text) => /[[\]redacted]/.test(text)))
          const encode = [
            (text: string) => text,
            encodeURIComponent,
            base64,
            (text: string) => JSON.stringify(text).slice(1, -1),
            (text: string) => Buffer.from(text).toString("base64url"),
            (text: string) => new URLSearchParams({ "": text }).toString().slice(1)
          ][form]
          assert(encode !== undefined)
          const text = secrets.map((each, i) => `${around[i % around.length]}${encode(each)}`).join("")
          const clean = Redaction.make(secrets)(text)
          for (const each of secrets) {
            assert.notInclude(clean, each)
            assert.notInclude(clean, encode(each))
          }
        }
      ),
      { numRuns: 500 }
    )
  })

  it("leave a text without them unchanged", () => {
    const words = fc.array(fc.constantFrom("task", "took", "12.5 ms", "{}", "\n", "région", "id=4", "a.b(c)", "ok"))
    fc.assert(
      fc.property(words, (parts) => {
        const text = parts.join(" ")
        assert.strictEqual(redact(text), text)
      })
    )
  })

  it("leave a text of other characters than theirs unchanged", () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789 \n") })
    const letters = fc.string({ minLength: 4, unit: fc.constantFrom(..."ghijklmn") })
    fc.assert(
      fc.property(fc.array(letters), digits, (secrets, text) => {
        assert.strictEqual(Redaction.make(secrets)(text), text)
      })
    )
  })
})

describe("what looks like a secret", () => {
  const replaced: ReadonlyArray<readonly [text: string, expected: string]> = [
    ["Authorization: Bearer abcdefgh", "Authorization: Bearer [redacted]"],
    ["authorization: Basic dXNlcjpwYXNz, next", "authorization: Basic [redacted], next"],
    [`{"Authorization":"Bearer abcdefgh"}`, `{"Authorization":"Bearer [redacted]"}`],
    [`{\\"Authorization\\":\\"Bearer abcdefgh\\"}`, `{\\"Authorization\\":\\"Bearer [redacted]\\"}`],
    ["proxy-authorization: abcdefgh1", "proxy-authorization: [redacted]"],
    ["sent Bearer a1b2c3d4e5", "sent Bearer [redacted]"],
    ["key bp_live_0123456789", "key [redacted]"],
    ["(sk-0123456789abcdefghij)", "([redacted])"],
    ["sk-proj-0123456789_abcdef", "[redacted]"],
    [`a\\nsk-0123456789abcdefghij`, `a\\n[redacted]`],
    ["q%3Dsk-0123456789abcdefghij", "q%3D[redacted]"],
    ["sk_live_0123456789", "[redacted]"],
    ["ghp_0123456789abcdefghijABCDEFGHIJ012345", "[redacted]"],
    ["github_pat_0123456789_abcdefghij", "[redacted]"],
    ["glpat-0123456789abcdefghij", "[redacted]"],
    ["xoxb-0123456789-abcdef", "[redacted]"],
    ["AKIAIOSFODNN7EXAMPLE.", "[redacted]."],
    ["ASIAIOSFODNN7EXAMPLE", "[redacted]"],
    ["aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key=[redacted]"],
    ["AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY: [redacted]"],
    ["?api_key=hunter&x=1", "?api_key=[redacted]&x=1"],
    ["x-api-key: 12345678", "x-api-key: [redacted]"],
    [`{"apiKey": "hunter", "n": 1}`, `{"apiKey": "[redacted]", "n": 1}`],
    [`{"password":"a\\"b c","n":1}`, `{"password":"[redacted]","n":1}`],
    ["password='two words' x", "password='[redacted]' x"],
    ["PASSWORD=hunter", "PASSWORD=[redacted]"],
    ["access_token=abcd;", "access_token=[redacted];"],
    ["{ clientSecret: 'abcd' }", "{ clientSecret: '[redacted]' }"],
    ["token=[redacted]rest", "token=[redacted]"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "[redacted]"],
    ["https://user:pa:ss@example.com/x", "https://user:[redacted]@example.com/x"],
    ["redis://:p@ss@host:6379", "redis://:[redacted]@host:6379"],
    ["a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb", "a\n[redacted]\nb"],
    ["-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n", "[redacted]\\n"],
    ["-----BEGIN PRIVATE KEY-----\nMIIE", "[redacted]"]
  ]
  for (const [text, expected] of replaced) {
    it(`is replaced in ${JSON.stringify(text)}`, () => {
      assert.strictEqual(lookalikes(text), expected)
      assert.strictEqual(lookalikes(expected), expected.replace("[redacted]rest", "[redacted]"))
    })
  }

  for (const text of [
    "task-force-of-something-rather-long",
    "Unexpected token: JSON is malformed",
    "invalid token: expired",
    "password: must not be empty",
    "total_tokens: 4521, max_tokens=100, tokenCount=17",
    "tokenizer=cl100k_base",
    "the Bearer authentication scheme",
    "token: true, secret: null",
    "http://localhost:3000/path?q=a@b",
    "ssh://git@example.com",
    "see eyJustice and AKIA",
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    '2026-01-02T03:04:05.678Z [task 4] [info] step done {"latencyMs":12.5}',
    ""
  ]) {
    it(`is not seen in ${JSON.stringify(text)}`, () => {
      assert.strictEqual(lookalikes(text), text)
    })
  }

  it("is found on every call", () => {
    const text = "api_key=hunter api_key=hunter"
    for (let i = 0; i < 3; i++) assert.strictEqual(lookalikes(text), "api_key=[redacted] api_key=[redacted]")
  })

  it("what is redacted stays as it is", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...replaced.map(([text]) => text))), (parts) => {
        const once = lookalikes(parts.join("\n"))
        assert.strictEqual(lookalikes(once), once)
      })
    )
  })
})

// Linear time takes a tenth of a second for each of these; anything else would take hours and run into the timeout.
describe("a megabyte of hostile text is done with", () => {
  const parts = [
    "a",
    " ",
    "eyJ",
    "eyJaaaaaaaa-",
    "eyJaaaaaaaa.",
    "token",
    "token=",
    'token="',
    'token=\\"',
    `token=\\"token=\\\\\\"token='`,
    "token='' ",
    "token                    ",
    "token: ",
    "api_key-_-_",
    "password=[redacted]",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "-----END ",
    "://",
    "://a:",
    ":",
    "@",
    "bearer ",
    "Bearer a",
    "bp_",
    "sk-",
    "ghp_",
    "AKIA",
    "\\",
    '"',
    "%41",
    "hunter2-hunter2-hunter",
    "ab".repeat(31) + "b"
  ]
  const hostile = Redaction.make(["hunter2-hunter2-hunter2-hunter3", "a".repeat(64), "ab".repeat(32)])
  for (const part of parts) {
    it(`of ${JSON.stringify(part)}`, () => {
      const text = part.repeat(Math.ceil(1_000_000 / part.length))
      const bearers = `Bearer ${text}`
      const login = `://${text}`
      for (const each of [text, bearers, login]) assert.isAtMost(hostile(each).length, 3 * each.length)
    })
  }
})

describe("fromEnvironment", () => {
  it.effect("takes the values that the variables have", () =>
    Effect.gen(function* () {
      const clean = yield* Redaction.fromEnvironment(["A_KEY", "B_SHORT", "NOT_SET", "C_FLAG", "D_LIST"])
      assert.strictEqual(clean("hunter2 abc true x,y,z"), "[redacted] abc true [redacted]")
    }).pipe(
      Effect.withConfigProvider(
        ConfigProvider.fromMap(
          new Map([
            ["A_KEY", "hunter2"],
            ["B_SHORT", "abc"],
            ["C_FLAG", "true"],
            ["D_LIST", "x,y,z"]
          ])
        )
      )
    )
  )

  it.effect("takes what looks like a secret without any", () =>
    Effect.gen(function* () {
      const clean = yield* Redaction.fromEnvironment([])
      assert.strictEqual(clean("api_key=hunter"), "api_key=[redacted]")
    })
  )
})

describe("redactJson", () => {
  const clean = Redaction.redactJson(Redaction.make(["hunter2"]))

  it("takes secrets out of strings and keys at any depth", () => {
    assert.deepStrictEqual(clean({ a: ["x hunter2", { "hunter2-key": 1 }], b: "hunter2" }), {
      a: ["x [redacted]", { "[redacted]-key": 1 }],
      b: "[redacted]"
    })
  })

  it("takes what stands under a name of a secret", () => {
    assert.deepStrictEqual(clean({ apiKey: "some words", tokens: "some words", token: 12, password: "" }), {
      apiKey: "[redacted]",
      tokens: "some words",
      token: 12,
      password: ""
    })
  })

  it("returns data without secrets as it is", () => {
    const data = { a: [1, "x", null, { b: true }], c: undefined }
    assert.strictEqual(clean(data), data)
    for (const each of [1, true, null, undefined, "x"]) assert.strictEqual(clean(each), each)
  })

  it("keeps what has none inside of what has one", () => {
    const untouched = { b: ["x"] }
    const result = clean({ untouched, a: "hunter2" })
    assert(typeof result === "object" && result !== null && "untouched" in result)
    assert.strictEqual(result.untouched, untouched)
  })

  it("keeps every name of JSON", () => {
    const data: unknown = JSON.parse('{"__proto__":{"a":"hunter2"},"constructor":"x"}')
    assert.strictEqual(JSON.stringify(clean(data)), '{"__proto__":{"a":"[redacted]"},"constructor":"x"}')
  })
})
