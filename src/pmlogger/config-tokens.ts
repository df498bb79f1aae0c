/** Words, numbers, texts and signs of a pmlogger configuration, and where they are. pmlogger(1) */

/** Where something stands. */
export interface Place {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1; 0 when it is not known. */
  readonly column: number
  /** Offset of the line in the whole text. */
  readonly start: number
}

/** One token. Keywords are words: what a word means depends on where it stands. */
export interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'sign' | 'end'
  readonly text: string
  readonly place: Place
}

const BLANKS = /[ \t\r\f\v]*/y
const MARKER = /# (\d+) "([^"\n]*)"(?=\n|$)/y
const COMMENT = /#[^\n]*/y
const TOKEN = /([A-Za-z][A-Za-z0-9_.]*)|(\d+)|"((?:[^"\\\n]|\\.)*)"|([{}[\],])/y
/** The rest of the header when `[` has been read; what follows it is a rule or nothing. */
const ACCESS_HEADER = /[ \t]*access[ \t]*\](?=(?:\s|#[^\n]*\n)*(?:allow\b|disallow\b|$))/y

/** The tokens of a text, one at a time. */
export class ConfigTokens {
  readonly #text: string
  readonly #fail: (message: string, place: Place) => never
  #file: string
  #pos = 0
  #line = 1
  #lineStart = 0

  /** `fail` is told of characters that cannot be. */
  constructor(text: string, file: string, fail: (message: string, place: Place) => never) {
    this.#text = text
    this.#file = file
    this.#fail = fail
  }

  /** The next token; at the end always the end. */
  next(): Token {
    this.#skip()
    const { place } = this
    if (this.#pos >= this.#text.length) return { kind: 'end', text: '', place }
    const match = this.#match(TOKEN)
    if (match === null) return this.#fail(`Unexpected character '${this.#text[this.#pos]}'`, place)
    const [, word, number, string, sign] = match
    if (word !== undefined) return { kind: 'word', text: word, place }
    if (number !== undefined) return { kind: 'number', text: number, place }
    if (sign !== undefined) return { kind: 'sign', text: sign, place }
    return { kind: 'string', text: string!.replaceAll(/\\(.)/g, '$1'), place }
  }

  /** Where the next character stands. */
  get place(): Place {
    const column = this.#pos - this.#lineStart + 1
    return { file: this.#file, line: this.#line, column, start: this.#lineStart }
  }

  /** Behind a `[`: is this the header of the access rules? */
  get isAccessHeader(): boolean {
    ACCESS_HEADER.lastIndex = this.#pos
    return ACCESS_HEADER.test(this.#text)
  }

  /** What follows the header of the access rules, from its line on. */
  get rest(): string {
    const close = this.#text.indexOf(']', this.#pos)
    return this.#text.slice(close + 1)
  }

  /** The line something stands on. */
  sourceLine({ start }: Place): string {
    const end = this.#text.indexOf('\n', start)
    return this.#text.slice(start, end < 0 ? undefined : end)
  }

  #skip(): void {
    for (;;) {
      this.#match(BLANKS)
      if (this.#text[this.#pos] === '\n') this.#newline()
      else if (this.#text[this.#pos] !== '#') return
      else this.#comment()
    }
  }

  #comment(): void {
    const marker = this.#pos === this.#lineStart ? this.#match(MARKER) : null
    if (marker === null) {
      this.#match(COMMENT)
      return
    }
    this.#pos++
    this.#lineStart = this.#pos
    this.#line = Number(marker[1])
    this.#file = marker[2]!
  }

  #newline(): void {
    this.#pos++
    this.#line++
    this.#lineStart = this.#pos
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#pos
    const match = pattern.exec(this.#text)
    if (match !== null) this.#pos += match[0].length
    return match
  }
}
