/** Tokens of a derived metric's expression. docs/reference/derived-metrics.md */
import type { SyntaxFault } from './expr.ts'

/** Kinds of tokens; each operator and punctuation mark is its own kind. */
export type TokenKind =
  | 'integer'
  | 'real'
  | 'name'
  /** A function name directly followed by a parenthesis. */
  | 'function'
  /** A reserved word. */
  | 'key'
  | 'string'
  | 'instance'
  | 'pattern'
  | Operator
  | 'end'

/** Operators and punctuation. */
export type Operator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '('
  | ')'
  | '<'
  | '<='
  | '=='
  | '>='
  | '>'
  | '!='
  | '&&'
  | '||'
  | '!'
  | '?'
  | ':'
  | ','
  | '='

/** A token: its kind, its text without delimiters, and its position. */
export interface Token {
  readonly kind: TokenKind
  readonly text: string
  /** For the end of the text, the index of the last character. */
  readonly offset: number
}

export const FUNCTIONS: ReadonlySet<string> = new Set(
  (
    'avg count max min sum anon delta rate instant scalar defined rescale matchinst mkconst novalue ' +
    'topk bottomk quantile'
  ).split(' '),
)
const KEYS: ReadonlySet<string> = new Set(['type', 'semantics', 'units', 'indom', 'meta'])
/** In order of decreasing length. */
const OPERATORS: readonly Operator[] = (['<=', '==', '>=', '!=', '&&', '||'] as readonly Operator[]).concat([
  '+',
  '-',
  '*',
  '/',
  '(',
  ')',
  '<',
  '>',
  '!',
  '?',
  ':',
  ',',
  '=',
])

const SPACE = /[ \t\n\v\f\r]*/y
const NUMBER = /\d*\.\d*|\d+/y
const NAME = /[A-Za-z][A-Za-z0-9_.]*/y
const MAX_INTEGER = 4294967295

/** Thrown within the parser; `parseExpr` returns it. */
export class SyntaxFaultError extends Error implements SyntaxFault {
  readonly offset: number
  readonly why: string | undefined

  constructor(offset: number, why: string | undefined) {
    super(why)
    this.offset = offset
    this.why = why
  }
}

/** Splits text into tokens. A slash starts a pattern only within `matchinst(...)`, which the parser signals. */
export class Lexer {
  readonly #text: string
  #at = 0
  /** Whether the position is within `matchinst(...)`. */
  inMatch = false

  constructor(text: string) {
    this.#text = text
  }

  /** Returns the next token; at the end always the end token. Throws Fault. */
  next(): Token {
    const text = this.#text
    this.#match(SPACE)
    const offset = this.#at
    if (offset >= text.length) return { kind: 'end', text: '', offset: text.length - 1 }
    const first = text[offset]!
    if (first === '.' || (first >= '0' && first <= '9')) return this.#number(offset)
    if (/[A-Za-z]/.test(first)) return this.#word(offset)
    if (first === '"') return this.#string(offset)
    if (first === '[') return this.#quoted(offset, ']', 'instance', 'unterminated instance name')
    if (first === '/' && this.inMatch) return this.#quoted(offset, '/', 'pattern', 'unterminated pattern')
    const operator = OPERATORS.find((candidate) => text.startsWith(candidate, offset))
    if (operator === undefined) throw new SyntaxFaultError(offset, 'Illegal character')
    this.#at += operator.length
    return { kind: operator, text: operator, offset }
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #number(offset: number): Token {
    const text = this.#match(NUMBER)
    if (text.includes('.')) return { kind: 'real', text, offset }
    if (Number(text) > MAX_INTEGER) throw new SyntaxFaultError(offset, 'Constant value too large')
    return { kind: 'integer', text, offset }
  }

  #word(offset: number): Token {
    const text = this.#match(NAME)
    if (KEYS.has(text)) return { kind: 'key', text, offset }
    if (this.#text[this.#at] !== '(' || !FUNCTIONS.has(text)) return { kind: 'name', text, offset }
    this.#at++
    if (text === 'matchinst') this.inMatch = true
    return { kind: 'function', text, offset }
  }

  #string(offset: number): Token {
    const end = this.#text.indexOf('"', offset + 1)
    if (end < 0) throw new SyntaxFaultError(offset, 'unterminated STRING')
    this.#at = end + 1
    return { kind: 'string', text: this.#text.slice(offset + 1, end), offset }
  }

  /** Reads text up to `close`; a backslash escapes the next character. */
  #quoted(offset: number, close: string, kind: 'instance' | 'pattern', unterminated: string): Token {
    const text = this.#text
    let inner = ''
    for (let i = offset + 1; i < text.length; i++) {
      const character = text[i]!
      if (character === close) {
        this.#at = i + 1
        return { kind, text: inner, offset }
      }
      if (character !== '\\') inner += character
      else if (++i < text.length) inner += text[i]
    }
    throw new SyntaxFaultError(offset, unterminated)
  }
}
