/** Parses JSON and keeps words as written: digits of numbers and escapes of strings stay unchanged. RFC 8259 */

/** A value. */
export type Json =
  /** A number, string, true, false or null as written. */
  | string
  | { readonly kind: 'array'; readonly items: readonly Json[] }
  /** Names as written, with their quotes. */
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, value: Json])[] }

/** A syntax error and its position. */
export class JsonError extends Error {
  /** Whether the text ends too early. */
  readonly isEnd: boolean
  /** Line and column from 1. */
  readonly line: number
  readonly column: number

  constructor(message: string, text: string, at: number) {
    super(message)
    this.isEnd = at >= text.length
    const before = text.slice(0, at)
    this.line = before.split('\n').length
    this.column = at - before.lastIndexOf('\n')
  }
}

const BLANKS = /[ \t\n\r]*/y
const STRING = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"/uy
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
/** Limit of nested arrays and objects. */
const MAX_DEPTH = 1000

/** What follows between items: a comma may be missing or repeated. */
const COMMAS = /[ \t\n\r,]*/y
const ITEM_START = /^["[{\w-]$/

/** Parses a text with exactly one value. Commas may be missing or too many, as for PCP. Throws JsonError. */
export function parseJson(text: string): Json {
  const reader = new Reader(text)
  const value = reader.value(0)
  reader.end()
  return value
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(depth: number): Json {
    if (depth > MAX_DEPTH) throw this.#wrong('nested too deeply')
    const first = this.#next()
    if (first === '[') return { kind: 'array', items: this.#list(']', () => this.value(depth + 1)) }
    if (first === '{') {
      const members = this.#list('}', () => {
        const name = this.#name()
        this.#take(':')
        return [name, this.value(depth + 1)] as const
      })
      return { kind: 'object', members }
    }
    const word = this.#match(first === '"' ? STRING : WORD)
    if (word === undefined) throw this.#unread(first === '"' ? 'a terminated string' : 'a value')
    return word
  }

  end(): void {
    if (this.#next() !== '') throw this.#wrong('unexpected text after the value')
  }

  #list<T>(close: string, item: () => T): T[] {
    this.#at++
    const items: T[] = []
    for (;;) {
      this.#match(COMMAS)
      const next = this.#text[this.#at] ?? ''
      if (next === close) {
        this.#at++
        return items
      }
      if (items.length > 0 && !ITEM_START.test(next)) throw this.#unread(`, or ${close}`)
      items.push(item())
    }
  }

  #name(): string {
    this.#next()
    const name = this.#match(STRING)
    if (name === undefined) throw this.#unread('a quoted name')
    return name
  }

  #take(mark: string): void {
    if (this.#next() !== mark) throw this.#unread(mark)
    this.#at++
  }

  /** Skips blanks and returns the next character, '' at the end. */
  #next(): string {
    this.#match(BLANKS)
    return this.#text[this.#at] ?? ''
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found === undefined) return undefined
    this.#at += found.length
    return found
  }

  #unread(wanted: string): JsonError {
    return this.#wrong(
      this.#at < this.#text.length ? `expected ${wanted}` : `unexpected end, expected ${wanted}`,
    )
  }

  #wrong(message: string): JsonError {
    return new JsonError(message, this.#text, this.#at)
  }
}
