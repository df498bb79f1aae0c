/** Reading tokens of rule files: the one that is looked at, the one behind it, and where mistakes are. docs/pmie.md */
import type { Lexer, Token } from './lexer.ts'
import type { Place } from './syntax.ts'

/** What is wrong with a statement. */
export class RuleError extends Error {
  /** Where reading stopped; undefined at the end of the file. */
  readonly line: number | undefined
  /** What could not be there. */
  readonly place: Place
  /** Why; '' where there is nothing to say but that. */
  readonly reason: string

  constructor(reason: string, place: Place, line: number | undefined) {
    super(`syntax error - ${line === undefined ? 'at end of file' : `near line ${line}`}`)
    this.reason = reason
    this.place = place
    this.line = line
  }
}

/** The tokens of a file, one after the other. */
export class TokenStream {
  readonly #lexer: Lexer
  #token: Token
  /** Read ahead of `#token`. */
  #following: Token | undefined

  constructor(lexer: Lexer) {
    this.#lexer = lexer
    this.#token = lexer.next()
  }

  /** The token that is next. */
  get token(): Token {
    return this.#token
  }

  /** The one behind it. */
  peek(): Token {
    this.#following ??= this.#lexer.next()
    return this.#following
  }

  /** Steps over the token, and returns it. */
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

  /** Steps over an operator, if it is next. */
  takeOp(text: string): boolean {
    const isHere = this.isOp(text)
    if (isHere) this.advance()
    return isHere
  }

  /** An error here. `place` is what it is about, if not the token that cannot be used; `isRead`: that token has been read, too. */
  error(
    reason: string,
    place: Place = this.#token.place,
    isRead: boolean = place === this.#token.place,
  ): RuleError {
    const { line } = this // looking for the end moves it
    const isLast = this.isOp(';')
    const isEnd = this.isEnd() || ((isLast || this.#token.type === 'bad') && this.#lexer.atEnd)
    // A semicolon is on the line of what follows, as in PCP.
    const isHere = isLast && isRead
    return new RuleError(reason, place, isEnd ? undefined : isHere ? this.line : line)
  }

  /** Where reading is. */
  get line(): number {
    return this.#lexer.place.line
  }
}
