/**
 * Reading a value that someone else made, which may be anything: every access can throw, and no answer can be trusted
 * to be of the right kind.
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"

/** One thing that is wrong with a value: where, as a path and as people write it, and what must be there instead. */
export interface Issue {
  readonly path: ReadonlyArray<PropertyKey>
  readonly field: string
  readonly message: string
}

/** Reads a document: what `read` makes of it, or every issue that it reported on the way. */
export const inspect = <A>(
  raw: unknown,
  read: (root: Inspected) => A | undefined
): Either.Either<A, ReadonlyArray<Issue>> => {
  const issues: Array<Issue> = []
  const value = read(Inspected.root(raw, issues))
  return value !== undefined && issues.length === 0 ? Either.right(value) : Either.left(issues)
}

/** A reader as a schema, whose parse error holds every issue under its path. */
export const schemaOf = <A>(
  identifier: string,
  read: (input: unknown) => Either.Either<A, ReadonlyArray<Issue>>
): Schema.Schema<A> => {
  const parse = () => (input: unknown, _: unknown, ast: AST.Declaration) =>
    Either.mapLeft(read(input), (issues) => {
      const parts = issues.map(({ message, path }) => {
        const issue = new ParseResult.Type(ast, undefined, message)
        return Arr.isNonEmptyReadonlyArray(path) ? new ParseResult.Pointer(path, undefined, issue) : issue
      })
      return Arr.isNonEmptyReadonlyArray(parts)
        ? new ParseResult.Composite(ast, undefined, parts)
        : new ParseResult.Type(ast, undefined)
    })
  return Schema.declare([], { decode: parse, encode: parse }, { identifier })
}

/** A value at a place in a document, with the list that the document's issues are collected in. */
export class Inspected {
  static readonly root = (raw: unknown, issues: Array<Issue>): Inspected => new Inspected(raw, [], "", issues, false)

  private constructor(
    readonly raw: unknown,
    private readonly path: ReadonlyArray<PropertyKey>,
    readonly field: string,
    private readonly issues: Array<Issue>,
    /** It could not be read: that is reported already, and nothing else can be said about it. */
    private readonly unreadable: boolean
  ) {}

  /** Reports an issue here. Returns nothing, so that a rule can end in it. */
  fail(message: string): undefined {
    if (!this.unreadable) {
      this.issues.push({ path: this.path, field: this.field, message })
    }
  }

  /** The same value under another name. */
  called(field: string): Inspected {
    return new Inspected(this.raw, this.path, field, this.issues, this.unreadable)
  }

  /** A property, written `parent.key`; its value is `undefined` on anything that has no properties. */
  get(key: string): Inspected {
    return this.child(key, this.field === "" ? key : `${this.field}.${key}`)
  }

  /** A property whose key is the user's, written `parent['key']`. */
  entry(key: string): Inspected {
    return this.child(key, `${this.field}['${key}']`)
  }

  /** The items of an array, written `parent[0]`; undefined when it is no array. */
  items(): ReadonlyArray<Inspected> | undefined {
    const length = attempt(() => (Array.isArray(this.raw) ? this.raw.length : undefined))
    return isLength(length)
      ? Array.from({ length }, (_, index) => this.child(index, `${this.field}[${index}]`))
      : undefined
  }

  /** The own enumerable keys, in order; none on anything that has no properties. To be asked once. */
  keys(): ReadonlyArray<string> {
    const raw = this.raw
    if (typeof raw !== "object" || raw === null) {
      return []
    }
    try {
      return Object.keys(raw)
    } catch (cause) {
      this.fail(`cannot be read (${show(cause)})`)
      return []
    }
  }

  /** Whether it is an object that is no array. */
  isObject(): boolean {
    const raw = this.raw
    return typeof raw === "object" && raw !== null && attempt(() => Array.isArray(raw)) !== true
  }

  /** Whether it is an object that holds data under its keys, unlike a Map, a Date or an Error. */
  isPlain(): boolean {
    const tag = attempt(() => Object.prototype.toString.call(this.raw))
    return tag === "[object Object]" || tag === "[object Module]"
  }

  private child(key: string | number, field: string): Inspected {
    const path = [...this.path, key]
    const raw = this.raw
    if (raw === null || (typeof raw !== "object" && typeof raw !== "function")) {
      return new Inspected(undefined, path, field, this.issues, this.unreadable)
    }
    try {
      return new Inspected(Reflect.get(raw, key), path, field, this.issues, false)
    } catch (cause) {
      this.issues.push({ path, field, message: `cannot be read (${show(cause)})` })
      return new Inspected(undefined, path, field, this.issues, true)
    }
  }
}

/** A value as short text, whatever it is. */
export const show = (value: unknown): string => shorten(attempt(() => String(value)) ?? typeof value)

/** A value as short JSON, or as text when JSON cannot hold it. */
export const showJson = (value: unknown): string =>
  typeof value === "bigint" ? `${value}n` : shorten(attempt(() => JSON.stringify(value)) ?? show(value))

/** Why JSON cannot hold a value, or nothing when it can. */
export const jsonProblem = (value: unknown): string | undefined => {
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") {
    return `got a ${typeof value}`
  }
  try {
    JSON.stringify(value)
    return undefined
  } catch (cause) {
    return show(cause).split("\n", 1).join()
  }
}

const attempt = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

// A proxy can claim any length.
const isLength = (length: unknown): length is number =>
  typeof length === "number" && Number.isInteger(length) && length >= 0 && length < 2 ** 32

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)
