/** Tokens of a pmlogger configuration with their positions. pmlogger(1) */

/** A position in a file. */
export interface SourcePosition {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1; 0 if unknown. */
  readonly column: number
  /** Offset of the line in the whole text. */
  readonly start: number
}

/** One token. Keywords are `word` tokens because they are reserved only in some positions. */
export interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'sign' | 'end'
  readonly text: string
  readonly place: SourcePosition
}

const BLANKS = /[ \t\r\f\v]*/y
const MARKER = /# (\d+) "([^"\n]*)"(?=\n|$)/y
const COMMENT = /#[^\n]*/y
const TOKEN = /([A-Za-z][A-Za-z0-9_.]*)|(\d+)|"((?:[^"\\\n]|\\.)*)"|([{}[\],])/y
/** Rest of the header after `[`, followed by a rule or the end of the file. */
const ACCESS_HEADER = /[ \t]*access[ \t]*\](?=(?:\s|#[^\n]*\n)*(?:allow\b|disallow\b|$))/y

/** Iterates over the tokens of a text. */
export class ConfigTokens {
  readonly #text: string
  readonly #fail: (message: string, place: SourcePosition) => never
  #file: string
  #pos = 0
  #line = 1
  #lineStart = 0

  /** Calls `fail` for unexpected characters. */
  constructor(text: string, file: string, fail: (message: string, place: SourcePosition) => never) {
    this.#text = text
    this.#file = file
    this.#fail = fail
  }

  /** Returns the next token; at the end of the text, `end` each time. */
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

  /** Position of the next character. */
  get place(): SourcePosition {
    const column = this.#pos - this.#lineStart + 1
    return { file: this.#file, line: this.#line, column, start: this.#lineStart }
  }

  /** Whether the `[` just read begins the header of the access section. */
  get isAccessHeader(): boolean {
    ACCESS_HEADER.lastIndex = this.#pos
    return ACCESS_HEADER.test(this.#text)
  }

  /** The text after the access section's header, starting on the header's line. */
  get rest(): string {
    const close = this.#text.indexOf(']', this.#pos)
    return this.#text.slice(close + 1)
  }

  /** Returns the source line at a position. */
  sourceLine({ start }: SourcePosition): string {
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
