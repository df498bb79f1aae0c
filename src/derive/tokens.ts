/** Tokens of a derived metric's expression. docs/derived.md */
import type { SyntaxFault } from './expr.ts'

/** What kinds of tokens there are; operators and punctuation are kinds of their own. */
export type TokenKind =
  | 'integer'
  | 'real'
  | 'name'
  /** A function's name and the parenthesis right after it. */
  | 'function'
  /** One of the reserved words. */
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

/** A token: its kind, its text without quotes, brackets, slashes or parenthesis, and where it begins. */
export interface Token {
  readonly kind: TokenKind
  readonly text: string
  /** Of the end: the last character's index. */
  readonly offset: number
}

/** Names of functions. */
export const FUNCTIONS: ReadonlySet<string> = new Set(
  (
    'avg count max min sum anon delta rate instant scalar defined rescale matchinst mkconst novalue ' +
    'topk bottomk quantile'
  ).split(' '),
)
const KEYS: ReadonlySet<string> = new Set(['type', 'semantics', 'units', 'indom', 'meta'])
/** Longer ones first. */
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

/** Thrown inside the parser only; `parseExpr` returns it. */
export class Fault extends Error implements SyntaxFault {
  readonly offset: number
  readonly why: string | undefined

  constructor(offset: number, why: string | undefined) {
    super(why)
    this.offset = offset
    this.why = why
  }
}

/** Reads tokens one by one. A slash begins a pattern only within `matchinst(...)`, which the parser tells. */
export class Lexer {
  readonly #text: string
  #at = 0
  /** Are we within `matchinst(...)`? */
  inMatch = false

  constructor(text: string) {
    this.#text = text
  }

  /** The next token; the end again and again. Throws Fault. */
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
    if (operator === undefined) throw new Fault(offset, 'Illegal character')
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
    if (Number(text) > MAX_INTEGER) throw new Fault(offset, 'Constant value too large')
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
    if (end < 0) throw new Fault(offset, 'unterminated STRING')
    this.#at = end + 1
    return { kind: 'string', text: this.#text.slice(offset + 1, end), offset }
  }

  /** Text up to `close`; a backslash goes away and takes the next character as it is. */
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
    throw new Fault(offset, unterminated)
  }
}
