/**
 * Takes secrets out of text before it is kept or sent: the values one knows, in every form they usually have, and what
 * looks like a key, a token or a password.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { setOwn } from "./internal/json.js"

/**
 * Replaces secrets in a text by {@link marker}. A text without any is returned as it is.
 *
 * @since 0.1.0
 * @category models
 */
export type Redact = (text: string) => string

/**
 * What stands in the place of a secret: `[redacted]`.
 *
 * @since 0.1.0
 * @category models
 */
export const marker = "[redacted]"

/**
 * Makes a function that takes these secrets out of text: their values, also URL-encoded, base64-encoded and escaped in
 * JSON, every line of 16 characters or more of a secret of several lines, and whatever looks like a secret in itself
 * (bearer tokens, keys with a well-known prefix, values assigned to names such as `api_key`, JSON web tokens, passwords in
 * URLs, private keys in PEM). Secrets of fewer than 4 characters are ignored: the text would be destroyed. Time is linear
 * in the length of the text.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (secrets: Iterable<string | Redacted.Redacted<string>>): Redact => {
  const values = Array.from(secrets, (secret) => (typeof secret === "string" ? secret : Redacted.value(secret)))
  const forms = new Set(values.flatMap(textsOf).flatMap(formsOf))
  const needles = [...forms]
    .filter((form) => form.length >= minLength)
    .sort((a, b) => b.length - a.length)
    .map(needleOf)
  return (text) => redactLookalikes(redactNeedles(text, needles))
}

/**
 * Takes the values that these environment variables have now out of text, along with whatever looks like a secret in
 * itself. Names that are not set, and values such as `true`, say nothing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromEnvironment = (names: Iterable<string>): Effect.Effect<Redact> =>
  Effect.map(
    Effect.forEach(names, (name) => Effect.option(Config.string(name))),
    (values) => make(values.flatMap((value) => (value._tag === "Some" && !isWord(value.value) ? [value.value] : [])))
  )

/**
 * Takes secrets out of JSON data: out of every string in it, keys included, and whatever stands under a key such as
 * `apiKey`. What has none is returned as it is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const redactJson =
  (redact: Redact) =>
  (value: unknown): unknown =>
    redactValue(redact, value)

// -----------------------------------------------------------------------------
// known secrets
// -----------------------------------------------------------------------------

const minLength = 4

const minLineLength = 16

/** From this length on, a secret is also found inside of longer base64. */
const minAlignedLength = 8

/** A secret with and without the white space around it, and the lines it consists of. */
const textsOf = (secret: string): ReadonlyArray<string> => {
  const trimmed = secret.trim()
  const lines = trimmed.split(/[\r\n]+/)
  const long = lines.length > 1 ? lines.map((line) => line.trim()).filter((line) => line.length >= minLineLength) : []
  return trimmed === "" ? [] : [secret, trimmed, ...long].filter((text) => text.length >= minLength)
}

const formsOf = (text: string): ReadonlyArray<string> => [
  text,
  ...percentEncoded(text),
  escaped(text),
  escaped(escaped(text)),
  ...base64(text)
]

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

const percentEncoded = (text: string): ReadonlyArray<string> => {
  const wellFormed = Buffer.from(text).toString()
  return [encodeURIComponent(wellFormed), new URLSearchParams([["", wellFormed]]).toString().slice(1)].flatMap(
    (encoded) => [encoded, encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]
  )
}

/** Alone, and the characters that only depend on the secret when it begins at any byte of something longer. */
const base64 = (text: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(text)
  const alone = bytes.toString("base64")
  const within =
    text.length < minAlignedLength
      ? []
      : [0, 1, 2].map((offset) =>
          Buffer.concat([Buffer.alloc(offset), bytes])
            .toString("base64")
            .slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + bytes.length) * 4) / 3))
        )
  return [alone, alone.replace(/=+$/, ""), ...within].flatMap((encoded) => [
    encoded,
    encoded.replaceAll("+", "-").replaceAll("/", "_")
  ])
}

/** A text to search for, and what has to follow an occurrence for another one to overlap it. */
interface Needle {
  readonly text: string
  readonly tail: string
}

const needleOf = (text: string): Needle => {
  let period = 1
  while (!text.startsWith(text.slice(period))) period++
  return { text, tail: text.slice(-period) }
}

type Span = readonly [start: number, end: number]

// Overlapping occurrences are all found, so that no rest of one is left beside the marker of another.
const redactNeedles = (text: string, needles: ReadonlyArray<Needle>): string => {
  const spans: Array<Span> = []
  for (const needle of needles) {
    let start = text.indexOf(needle.text)
    while (start !== -1) {
      let end = start + needle.text.length
      while (text.startsWith(needle.tail, end)) end += needle.tail.length
      spans.push([start, end])
      start = text.indexOf(needle.text, end - needle.text.length + 1)
    }
  }
  return spans.length === 0
    ? text
    : replaceSpans(
        text,
        spans.sort(([a], [b]) => a - b)
      )
}

/** Replaces spans that are in order, those that overlap by one marker. */
const replaceSpans = (text: string, spans: ReadonlyArray<Span>): string => {
  const parts: Array<string> = []
  let last = 0
  for (const [start, end] of spans) {
    if (start >= last) parts.push(text.slice(last, start), marker)
    last = Math.max(last, end)
  }
  parts.push(text.slice(last))
  return parts.join("")
}

// -----------------------------------------------------------------------------
// what looks like a secret
// -----------------------------------------------------------------------------

// Every expression below either begins with fixed text, is bounded, or takes all that it has looked at: none looks at the
// same long stretch of text again and again.

/** Whether a text may contain any of what follows. */
const hint =
  /:\/\/|eyJ|bp_|sk[-_]|[pr]k_|gh[opsur]_|glpat-|github_pat_|npm_|hf_|xox|xapp-|AIza|ya29|A[KS]IA|bearer|authorization|key|secret|passw|passphrase|credential|signature|token|-----BEGIN /i

const redactLookalikes = (text: string): string =>
  hint.test(text) ? redactAssignments(redactTokens(redactPrivateKeys(text))) : text

const begin = "-----BEGIN "

/** Blocks of PEM that are private keys; one without an end is taken to the end of the text. */
const redactPrivateKeys = (text: string): string => {
  const spans: Array<Span> = []
  let start = text.indexOf(begin)
  while (start !== -1) {
    const body = closing(text, start + begin.length)
    let next = start + begin.length
    if (body !== -1 && text.slice(start, body).includes("PRIVATE KEY")) {
      const footer = text.indexOf("-----END ", body)
      const end = footer === -1 ? -1 : closing(text, footer + 9)
      next = end === -1 ? text.length : end
      spans.push([start, next])
    }
    start = text.indexOf(begin, next)
  }
  return spans.length === 0 ? text : replaceSpans(text, spans)
}

/** Where the line of a PEM label that begins here ends, or -1. */
const closing = (text: string, from: number): number => {
  const dashes = text.slice(from, from + 64).indexOf("-----")
  return dashes === -1 ? -1 : from + dashes + 5
}

/**
 * A prefix that is not in the middle of a word; an escaped or percent-encoded character before it is no part of the word.
 * That is looked at last, because searching is fast for what begins with fixed text.
 */
const prefix = (text: string): string => String.raw`${text}(?<=(?:^|[^A-Za-z0-9]|\\[bfnrt]|%[0-9A-Fa-f]{2})${text})`

const knownTokens = new RegExp(
  [
    String.raw`gh[opsur]_[A-Za-z0-9]{16,}`,
    String.raw`github_pat_[A-Za-z0-9_]{16,}`,
    String.raw`glpat-[A-Za-z0-9_-]{16,}`,
    String.raw`xox[a-z]-[A-Za-z0-9-]{8,}`,
    String.raw`xapp-[A-Za-z0-9-]{8,}`,
    String.raw`AIza[A-Za-z0-9_-]{30,}`,
    String.raw`ya29\.[A-Za-z0-9_-]{16,}`,
    String.raw`A[KS]IA(?<![A-Z0-9]....)[A-Z0-9]{16}(?![A-Z0-9])`,
    String.raw`${prefix("bp_")}[A-Za-z0-9_-]{8,}`,
    String.raw`${prefix("sk-")}[A-Za-z0-9_-]{16,}`,
    String.raw`${prefix("[prs]k_(?:live|test)_")}[A-Za-z0-9]{8,}`,
    String.raw`${prefix("npm_")}[A-Za-z0-9]{30,}`,
    String.raw`${prefix("hf_")}[A-Za-z0-9]{20,}`
  ].join("|"),
  "g"
)

const webToken = /eyJ[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]{2,}(?:\.[A-Za-z0-9_-]+){0,3})?/g

const bearer = /(bearer(?:\s{1,8}|%20|\+))([A-Za-z0-9._~+/=-]{6,})/gi

const userInfo = /(:\/\/[^\s/?#:@"'<>\\]*:)[^\s/?#"'<>\\]+@/g

const redactTokens = (text: string): string =>
  text
    .replace(knownTokens, marker)
    .replace(webToken, (found, rest: string | undefined) => (rest === undefined ? found : marker))
    .replace(bearer, (found, scheme: string, token: string) => (isOpaque(token) ? `${scheme}${marker}` : found))
    .replace(userInfo, (found, before: string) => (found === `${before}${marker}@` ? found : `${before}${marker}@`))

const isOpaque = (value: string): boolean => value.length >= 20 || (value.length >= 6 && /\d/.test(value))

const secretName =
  "authorization|api[_-]?keys?|access[_-]?keys?|private[_-]?keys?|auth[_-]?keys?|secrets?|passwords?|passwd|passphrase|credentials?|signature|token"

/** A name, what follows in the same word, and the sign that gives it a value. */
const assignment = new RegExp(
  String.raw`(${secretName})([\w-]{0,40})\\{0,8}["'\u0060]?\s{0,8}(:=|=>|:|=)(\s{0,8})`,
  "gi"
)

const opening = /(\\{0,8})(["'`])/y

const scheme = /(?:bearer|basic|token|apikey|bot)\s{1,8}/iy

/** What an unquoted value ends at. */
const delimiter = /[\s"'`&,;<>(){}|\\]/g

const redactAssignments = (text: string): string => {
  const spans: Array<Span> = []
  assignment.lastIndex = 0
  for (let found = assignment.exec(text); found !== null; found = assignment.exec(text)) {
    const [whole, name = "", suffix = "", sign = "", space = ""] = found
    if (!isSecretName(name, suffix)) continue
    const at = found.index + whole.length
    const quote = matchAt(opening, text, at)
    const start = at + (quote?.length ?? 0)
    const credentials = start + (matchAt(scheme, text, start)?.length ?? 0)
    const end = quote === undefined ? firstAt(delimiter, text, credentials) : closingQuote(text, start, quote)
    const certain = quote !== undefined || credentials > start || (sign === "=" && space === "")
    if (end > credentials && isSecretValue(text.slice(credentials, end), name, certain)) {
      spans.push([credentials, end])
      assignment.lastIndex = end
    }
  }
  return spans.length === 0 ? text : replaceSpans(text, spans)
}

const matchAt = (sticky: RegExp, text: string, at: number): string | undefined => {
  sticky.lastIndex = at
  return sticky.exec(text)?.[0]
}

const firstAt = (global: RegExp, text: string, at: number): number => {
  global.lastIndex = at
  return global.exec(text)?.index ?? text.length
}

/** Where the quoted text that begins here ends: at its quote, or else at the end of the line. */
const closingQuote = (text: string, from: number, quote: string): number => {
  let at = from
  while (at < text.length && text[at] !== "\n" && !text.startsWith(quote, at)) {
    at += quote.length === 1 && text[at] === "\\" ? 2 : 1
  }
  return Math.min(at, text.length)
}

/** `apiKey`, `apiKeyId` and `API_KEY_2` name a secret, `tokens` and `tokenizer` do not. */
const isSecretName = (name: string, suffix: string): boolean =>
  suffix === "" || (name === name.toUpperCase() ? /^[_\-0-9]/ : /^[_\-0-9A-Z]/).test(suffix)

/** Without a quote or a tight `=`, it may be prose: there, only what looks random is a secret. Counts of tokens never are. */
const isSecretValue = (value: string, name: string, certain: boolean): boolean =>
  value.replaceAll(marker, "").length >= minLength &&
  !isWord(value) &&
  !(/^token$/i.test(name) && /^\d{1,9}$/.test(value)) &&
  (certain || isOpaque(value))

const isWord = (value: string): boolean => /^(?:true|false|null|undefined|none|nan)$/i.test(value.trim())

const secretKey = new RegExp(String.raw`(${secretName})([\w-]{0,40})$`, "i")

const isSecretKey = (key: string, value: string): boolean => {
  const [, name, suffix] = secretKey.exec(key) ?? []
  return name !== undefined && isSecretName(name, suffix ?? "") && isSecretValue(value, name, true)
}

const redactValue = (redact: Redact, value: unknown): unknown => {
  if (typeof value === "string") return redact(value)
  if (typeof value !== "object" || value === null) return value
  let changed = false
  const same = <A>(before: A, after: A): A => {
    if (before !== after) changed = true
    return after
  }
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => same(item, redactValue(redact, item)))
    return changed ? items : value
  }
  const fields: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(value)) {
    const clean: unknown = typeof field === "string" && isSecretKey(key, field) ? marker : redactValue(redact, field)
    setOwn(fields, same(key, redact(key)), same<unknown>(field, clean))
  }
  return changed ? fields : value
}
