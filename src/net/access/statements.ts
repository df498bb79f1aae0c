/** The [access] section of a server's configuration: who may do what. pmcd(1), pmlogger(1) */
import { PcpError } from '../../model/errors.ts'
import type { ConfigLexer, Token } from './lexer.ts'

/** Operation bit of a collector: everything but storing values. */
export const OP_FETCH = 1
/** Operation bit of a collector: storing values. */
export const OP_STORE = 2
/** Both operations of a collector. */
export const OP_ALL = 3

/** Bits of the operations that statements may name. */
export type Operations = ReadonlyMap<string, number>

/** The operations of a collector. */
export const COLLECTOR_OPERATIONS: Operations = new Map([
  ['fetch', OP_FETCH],
  ['store', OP_STORE],
])

/** The bits of all operations. */
export function allOperations(operations: Operations): number {
  return [...operations.values()].reduce((bits, bit) => bits | bit, 0)
}

/** One allow or disallow statement. */
export interface AccessStatement {
  readonly subject: 'host' | 'user' | 'group'
  readonly names: readonly string[]
  /** OP_* bits of the operations the statement names. */
  readonly specified: number
  /** OP_* bits of these that it denies. */
  readonly denied: number
  /** Connection limit; undefined when not given, Infinity for `unlimited connections`. */
  readonly maxConnections: number | undefined
  readonly line: number
}

const SUBJECTS = new Map<string, AccessStatement['subject']>([
  ['host', 'host'],
  ['hosts', 'host'],
  ['user', 'user'],
  ['users', 'user'],
  ['group', 'group'],
  ['groups', 'group'],
])

/**
 * Parses the rest of a configuration as access statements; with `hasHeader`, the `[` of the header has been read.
 * Throws PM_ERR_CONV with `[line N]: Error: ...` at the first error.
 */
export function parseAccess(
  lexer: ConfigLexer,
  hasHeader: boolean,
  operations: Operations = COLLECTOR_OPERATIONS,
): AccessStatement[] {
  return new AccessParser(lexer, operations).parse(hasHeader)
}

class AccessParser {
  readonly #lexer: ConfigLexer
  readonly #operations: Operations
  #token: Token

  constructor(lexer: ConfigLexer, operations: Operations) {
    this.#lexer = lexer
    this.#operations = operations
    this.#token = this.#read('[],:;')
  }

  parse(hasHeader: boolean): AccessStatement[] {
    if (hasHeader) {
      if (!this.#isWord('access')) this.#fail('"access" keyword expected')
      this.#advance()
      if (!this.#isSign(']')) this.#fail("']' expected")
      this.#advance()
    }
    const statements: AccessStatement[] = []
    while (this.#token.kind !== 'end') statements.push(this.#statement())
    if (hasHeader && statements.length === 0) this.#fail('no valid statements in [access] section')
    return statements
  }

  #statement(): AccessStatement {
    const { line } = this.#token
    const isAllow = this.#isWord('allow')
    if (!isAllow && !this.#isWord('disallow')) this.#fail('allow or disallow statement expected')
    this.#advance()
    const subject = this.#token.isQuoted ? undefined : SUBJECTS.get(this.#token.text.toLowerCase())
    if (subject !== undefined) this.#advance()
    const names = this.#names(subject ?? 'host')
    this.#advance()
    const rights = this.#permissions(isAllow)
    return { subject: subject ?? 'host', names, ...rights, line }
  }

  /** Reads names up to the colon. */
  #names(subject: string): string[] {
    const names: string[] = []
    while (this.#token.kind === 'word') {
      names.push(this.#token.text)
      this.#advance()
      if (!this.#isSign(',')) break
      this.#advance()
    }
    if (names.length === 0) this.#fail(`no ${subject}s in allow/disallow statement`)
    if (!this.#isSign(':')) this.#fail(`',' or ':' expected after "${names.at(-1)}"`)
    return names
  }

  /** Reads operations and connection limits up to the semicolon. */
  #permissions(isAllow: boolean): Pick<AccessStatement, 'specified' | 'denied' | 'maxConnections'> {
    let operations = 0
    let excepted = 0
    let isAll = false
    let inExcept = false
    let maxConnections: number | undefined
    for (;;) {
      if (this.#isWord('maximum') || this.#isWord('unlimited')) {
        if (!isAllow) this.#fail("can't specify connection limit in a disallow statement")
        if (inExcept && excepted === 0) this.#fail('connection limit may not immediately follow "all except"')
        if (maxConnections !== undefined) this.#fail('connection limit already specified')
        maxConnections = this.#limit()
      } else if (this.#isWord('all')) {
        if (inExcept) this.#fail('can\'t have "all" within an "all except"')
        if (operations !== 0 || isAll) this.#fail('can\'t have "all" mixed with specific permissions')
        isAll = true
        this.#advance()
        inExcept = this.#isWord('except')
        if (inExcept) {
          this.#advance()
          continue
        }
      } else {
        const word = this.#token.isQuoted ? '' : this.#token.text.toLowerCase()
        const operation = this.#token.kind === 'word' ? (this.#operations.get(word) ?? 0) : 0
        if (operation === 0) this.#fail('bad access specifier')
        if (isAll && !inExcept) this.#fail('can\'t have "all" mixed with specific permissions')
        if (inExcept) excepted |= operation
        else operations |= operation
        this.#advance()
      }
      if (this.#isSign(';')) break
      if (!this.#isSign(',')) this.#fail("',' or ';' expected in permission list")
      this.#advance()
      if (this.#isSign(';')) this.#fail("misplaced (trailing) ',' in permission list")
    }
    this.#advance()
    const granted = isAll ? allOperations(this.#operations) & ~excepted : operations
    return { ...rights(isAllow, granted, excepted), maxConnections }
  }

  /** `maximum N connections` or `unlimited connections`. */
  #limit(): number {
    let limit = Number.POSITIVE_INFINITY
    if (this.#isWord('maximum')) {
      this.#advance()
      limit = /^\d+$/.test(this.#token.text) ? Number(this.#token.text) : 0
      if (limit <= 0) this.#fail('maximum connection limit must be a positive number')
    }
    this.#advance()
    if (!this.#isWord('connections')) this.#fail('"connections" expected')
    this.#advance()
    return limit
  }

  #isWord(word: string): boolean {
    return this.#token.kind === 'word' && !this.#token.isQuoted && this.#token.text.toLowerCase() === word
  }

  #isSign(sign: string): boolean {
    return this.#token.kind === 'sign' && this.#token.text === sign
  }

  #advance(): void {
    this.#token = this.#read('],:;')
  }

  /** Returns the next token, skipping line ends: statements may span lines. */
  #read(signs: string): Token {
    for (;;) {
      const token = this.#lexer.next(signs)
      if (token.kind !== 'newline') return token
    }
  }

  #fail(message: string): never {
    throw new PcpError('PM_ERR_CONV', `[line ${this.#token.line}]: Error: ${message}`)
  }
}

/** An `all except X` statement allows the rest and denies X, or the reverse. */
function rights(
  isAllow: boolean,
  operations: number,
  excepted: number,
): { specified: number; denied: number } {
  return { specified: operations | excepted, denied: isAllow ? excepted : operations }
}
