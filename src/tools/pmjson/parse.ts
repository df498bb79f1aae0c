/** Reads JSON and keeps words as they are written: digits of numbers and escapes of strings get through unchanged. RFC 8259 */

/** A value. */
export type Json =
  /** A number, string, true, false or null as written. */
  | string
  | { readonly kind: 'array'; readonly items: readonly Json[] }
  /** Names are written as in the text, with their quotes. */
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, value: Json])[] }

/** What is wrong with a text, and where. */
export class JsonError extends Error {
  /** The text ends too early. */
  readonly isEnd: boolean
  /** Both from 1. */
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
/** Nesting that nobody means. */
const MAX_DEPTH = 1000

/** Reads a text that is one value. Throws JsonError for one that is none. */
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
    if (word === undefined) throw this.#unread(first === '"' ? 'a string that ends' : 'a value')
    return word
  }

  end(): void {
    if (this.#next() !== '') throw this.#wrong('there is more after the value')
  }

  #list<T>(close: string, item: () => T): T[] {
    this.#at++
    const items: T[] = []
    if (this.#next() === close) {
      this.#at++
      return items
    }
    for (;;) {
      items.push(item())
      if (this.#next() === close) {
        this.#at++
        return items
      }
      this.#take(',', ` or ${close}`)
    }
  }

  #name(): string {
    this.#next()
    const name = this.#match(STRING)
    if (name === undefined) throw this.#unread('a name in quotes')
    return name
  }

  #take(mark: string, or = ''): void {
    if (this.#next() !== mark) throw this.#unread(`${mark}${or}`)
    this.#at++
  }

  /** The next character that is no blank, '' at the end. */
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
      this.#at < this.#text.length ? `${wanted} was expected` : `${wanted} is missing at the end`,
    )
  }

  #wrong(message: string): JsonError {
    return new JsonError(message, this.#text, this.#at)
  }
}
