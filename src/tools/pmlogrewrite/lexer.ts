/** Tokenizer of rule files. pmlogrewrite(1) */
import { PcpError } from '../../model/errors.ts'

/** Kinds of tokens. Names, numbers and keywords are all `word`; their meaning depends on the position. */
export type TokenKind = 'word' | 'string' | 'mark' | 'end'

/** A token with the line on which it ends. */
export interface Token {
  readonly kind: TokenKind
  /** Strings without their quotes. */
  readonly text: string
  readonly line: number
}

const SPACE = /[ \t\r\n]/
const MARKS = '{},()'
/** Characters that end a word, besides white space, marks and an arrow. */
const WORD_END = '"#'

/** Splits text into tokens. */
export class Lexer {
  readonly #text: string
  #at = 0
  #line = 1
  #lookahead: Token | undefined
  #last = 1

  constructor(text: string) {
    this.#text = text
  }

  /** Line of the last token. */
  get line(): number {
    return this.#last
  }

  /** Sets the line to that of the next token, as PCP's parser does after looking for an optional token. */
  lookAhead(): void {
    this.#last = this.peek().line
  }

  /** Returns the next token without consuming it. Throws PM_ERR_ARG for an unterminated string. */
  peek(): Token {
    this.#lookahead ??= this.#scan(false)
    return this.#lookahead
  }

  /** Consumes the next token. Errors as for `peek`. */
  next(): Token {
    const token = this.peek()
    this.#lookahead = undefined
    this.#last = token.line
    return token
  }

  /** Consumes the next token; in a string a backslash escapes a quote, and newlines are allowed. Must not follow `peek`. */
  nextEscaped(): Token {
    const token = this.#lookahead ?? this.#scan(true)
    this.#lookahead = undefined
    this.#last = token.line
    return token
  }

  /** Like `peek`, with strings as in `nextEscaped`. */
  peekEscaped(): Token {
    this.#lookahead ??= this.#scan(true)
    return this.#lookahead
  }

  /** Consumes a pattern in slashes or quotes; undefined otherwise. Must not follow `peek`. */
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
