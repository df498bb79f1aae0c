/** Token stream of rule files with one token of lookahead and error positions. docs/reference/pmie.md */
import type { Lexer, Token } from './lexer.ts'
import type { SourcePosition } from './syntax.ts'

/** A syntax error in a statement. */
export class RuleError extends Error {
  /** Line of the parser; undefined at the end of the file. */
  readonly line: number | undefined
  /** Position of the unexpected token. */
  readonly place: SourcePosition
  /** Explanation; '' if there is nothing to add. */
  readonly reason: string

  constructor(reason: string, place: SourcePosition, line: number | undefined) {
    super(`syntax error - ${line === undefined ? 'at end of file' : `near line ${line}`}`)
    this.reason = reason
    this.place = place
    this.line = line
  }
}

/** Tokens of a file. */
export class TokenStream {
  readonly #lexer: Lexer
  #token: Token
  /** Token after `#token`, if already read. */
  #following: Token | undefined

  constructor(lexer: Lexer) {
    this.#lexer = lexer
    this.#token = lexer.next()
  }

  /** The current token. */
  get token(): Token {
    return this.#token
  }

  /** Returns the token after the current one. */
  peek(): Token {
    this.#following ??= this.#lexer.next()
    return this.#following
  }

  /** Returns the current token and advances. */
  advance(): Token {
    const token = this.#token
    this.#token = this.#following ?? this.#lexer.next()
    this.#following = undefined
    return token
  }

  isOp(text: string): boolean {
    return this.#token.type === 'op' && this.#token.text === text
  }

  isWord(text: string): boolean {
    return this.#token.type === 'word' && this.#token.text === text
  }

  isEnd(): boolean {
    return this.#token.type === 'end'
  }

  /** Skips an operator if it is the current token. */
  takeOp(text: string): boolean {
    const isHere = this.isOp(text)
    if (isHere) this.advance()
    return isHere
  }

  /** Creates an error. `place` is its position if not the current token's; `isRead`: PCP's parser has already read that token. */
  error(
    reason: string,
    place: SourcePosition = this.#token.place,
    isRead: boolean = place === this.#token.place,
  ): RuleError {
    const { line } = this // looking for the end changes it
    const isLast = this.isOp(';')
    const isEnd = this.isEnd() || ((isLast || this.#token.type === 'bad') && this.#lexer.atEnd)
    // As in PCP, a semicolon counts as being on the line of the following token.
    const isHere = isLast && isRead
    return new RuleError(reason, place, isEnd ? undefined : isHere ? this.line : line)
  }

  /** The line of the lexer. */
  get line(): number {
    return this.#lexer.place.line
  }
}
