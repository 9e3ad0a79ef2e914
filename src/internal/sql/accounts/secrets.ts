/** Keys, tokens and codes: made from the system's secure random numbers, and compared without telling how far they match. */
import * as Crypto from "node:crypto"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** A new key `bp_<prefix>_<secret>`. */
export const newKey = Effect.sync(() => {
  const prefix = pick(prefixLetters, 8)
  return { prefix, key: Redacted.make(`bp_${prefix}_${random()}`) }
})

/** The prefix of a text that is written like a key; undefined for any other. */
export const prefixOf = (text: string): string | undefined => /^bp_([0-9a-z]{8})_[\w-]{32,128}$/.exec(text)?.[1]

/** A new token; what it is for can be seen at its beginning. */
export const newToken = (kind: TokenKind): Effect.Effect<Redacted.Redacted> =>
  Effect.sync(() => Redacted.make(`${tokenBeginnings[kind]}${random()}`))

export type TokenKind = "access" | "refresh" | "device"

export const isToken = (kind: TokenKind, text: string): boolean =>
  text.startsWith(tokenBeginnings[kind]) && text.length === tokenBeginnings[kind].length + secretLength

/** A code for people, such as `WDJB-MJHT`: no vowels, so no words, and no digits that look like letters. */
export const newUserCode = Effect.sync(() => `${pick(userCodeLetters, 4)}-${pick(userCodeLetters, 4)}`)

/** A code as {@link newUserCode} writes it, however it was typed. */
export const normalizeUserCode = (typed: string): string =>
  typed
    .toUpperCase()
    .replace(/[^A-Z]/g, "")
    .replace(/^(.{4})(?=.)/, "$1-")

/** SHA-256 in hexadecimal. */
export const hash = (secret: Redacted.Redacted): string =>
  Crypto.createHash("sha256").update(Redacted.value(secret)).digest("hex")

/** Compares two hashes in constant time. */
export const sameHash = (a: string, b: string): boolean =>
  Crypto.timingSafeEqual(Buffer.from(a, "hex"), Buffer.from(b, "hex"))

/** A hash that no secret has for all one knows: comparing with it takes the time that any comparison takes. */
export const noHash = "0".repeat(64)

/** Tells whether an admin key is still the same, without being a hash of it. */
export const fingerprint = (adminKey: Redacted.Redacted): string =>
  Crypto.createHmac("sha256", "admin key").update(Redacted.value(adminKey)).digest("hex").slice(0, 16)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const prefixLetters = "abcdefghjkmnpqrstuvwxyz23456789"

const userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"

const tokenBeginnings = { access: "ba_", refresh: "br_", device: "bd_" } as const satisfies Record<TokenKind, string>

const secretBytes = 32

const secretLength = Math.ceil((secretBytes * 4) / 3)

const random = (): string => Crypto.randomBytes(secretBytes).toString("base64url")

const pick = (letters: string, length: number): string =>
  Array.from({ length }, () => letters.charAt(Crypto.randomInt(letters.length))).join("")
