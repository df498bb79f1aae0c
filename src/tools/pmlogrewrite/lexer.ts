/** Words of a file of rewriting rules. pmlogrewrite(1) */
import { PcpError } from '../../model/errors.ts'

/** What a token is. Words are names, numbers and keywords alike: what they mean depends on where they stand. */
export type TokenKind = 'word' | 'string' | 'mark' | 'end'

/** A token and the line that it ends in. */
export interface Token {
  readonly kind: TokenKind
  /** A string without its quotes. */
  readonly text: string
  readonly line: number
}

const SPACE = /[ \t\r\n]/
const MARKS = '{},()'
/** What ends a word besides white space, marks and an arrow. */
const WORD_END = '"#'

/** Takes text apart, one token at a time. */
export class Lexer {
  readonly #text: string
  #at = 0
  #line = 1
  #ahead: Token | undefined
  #last = 1

  constructor(text: string) {
    this.#text = text
  }

  /** The line of the token taken last. */
  get line(): number {
    return this.#last
  }

  /** Looks for what may follow but does not: the line is that of the next token then. */
  lookAhead(): void {
    this.#last = this.peek().line
  }

  /** The next token, which stays. PM_ERR_ARG for a string without end. */
  peek(): Token {
    this.#ahead ??= this.#scan(false)
    return this.#ahead
  }

  /** Takes the next token. Errors as `peek`. */
  next(): Token {
    const token = this.peek()
    this.#ahead = undefined
    this.#last = token.line
    return token
  }

  /** Takes the next token; in a string a backslash makes a quote part of it, and lines may end. Nothing may be ahead. */
  nextEscaped(): Token {
    const token = this.#ahead ?? this.#scan(true)
    this.#ahead = undefined
    this.#last = token.line
    return token
  }

  /** As `peek`, strings as in `nextEscaped`. */
  peekEscaped(): Token {
    this.#ahead ??= this.#scan(true)
    return this.#ahead
  }

  /** Takes a pattern between slashes or quotes; undefined when there is none. Nothing may be ahead. */
  pattern(): string | undefined {
    this.#skip()
    const delimiter = this.#text[this.#at]
    if (delimiter !== '/' && delimiter !== '"') return undefined
    const end = this.#text.indexOf(delimiter, this.#at + 1)
    const line = this.#text.indexOf('\n', this.#at)
    if (end === -1 || (line !== -1 && line < end)) return undefined
    const pattern = this.#text.slice(this.#at + 1, end)
    this.#at = end + 1
    this.#last = this.#line
    return pattern
  }

  #skip(): void {
    const text = this.#text
    for (;;) {
      const char = text[this.#at]
      if (char === '\n') this.#line++
      else if (char === '#') {
        while (this.#at + 1 < text.length && text[this.#at + 1] !== '\n') this.#at++
      } else if (char === undefined || !SPACE.test(char)) return
      this.#at++
    }
  }

  #scan(isEscaped: boolean): Token {
    this.#skip()
    const start = this.#at
    const char = this.#text[start]
    if (char === undefined) return { kind: 'end', text: '', line: this.#line }
    if (char === '"') return this.#string(isEscaped)
    if (MARKS.includes(char) || this.#isArrow(start)) {
      this.#at += this.#isArrow(start) ? 2 : 1
      return { kind: 'mark', text: this.#text.slice(start, this.#at), line: this.#line }
    }
    while (!this.#endsWord(this.#at)) this.#at++
    return { kind: 'word', text: this.#text.slice(start, this.#at), line: this.#line }
  }

  #isArrow(at: number): boolean {
    return this.#text.startsWith('->', at)
  }

  #endsWord(at: number): boolean {
    const char = this.#text[at]
    if (char === undefined || SPACE.test(char) || MARKS.includes(char) || WORD_END.includes(char)) return true
    return this.#isArrow(at)
  }

  #string(isEscaped: boolean): Token {
    const from = this.#line
    let text = ''
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const char = this.#text[at]!
      if (char === '"') {
        this.#at = at + 1
        return { kind: 'string', text, line: this.#line }
      }
      if (char === '\n') {
        if (!isEscaped) break
        this.#line++
      }
      if (isEscaped && char === '\\' && this.#text[at + 1] === '"') at++
      text += this.#text[at]!
    }
    throw new PcpError('PM_ERR_ARG', `[line ${from}] String without closing quote`)
  }
}
